//! `scad`: self-contrastive anomaly detection, also known as internal contrastive learning (ICL).
//!
//! *Why:* in normal rows, a few neighboring columns reveal which rest of a row they belong to. Two nets learn
//! to match a window of columns with the rest; if they cannot, the row is odd.
//!
//! *Formula:* a row of d columns has m = d − k + 1 windows of k columns. qⱼ = F(row without window j) and pⱼ
//! = G(window j), both normalized over the windows, unit by unit, and then to length 1. The loss of window j
//! is −qⱼ·pⱼ/τ + ln Σₗ exp(qⱼ·pₗ/τ); the training loss is its mean over rows and windows, and the score its
//! mean over windows, summed over `repeats` pairs of nets, each with the columns in another random order.
//!
//! *Source:* Shenkar, Wolf (2022), "Anomaly detection for tabular data with internal contrastive learning".

mod contrast;
mod windows;

use std::ops::ControlFlow;

use self::{contrast::Contrast, windows::Windows};
use super::{Training, neural::prelude::*, saved};
use crate::progress::Parts;

/// The tensor of the orders of the columns, one line for every repeat, and that of their number.
const ORDERS: &str = "orders";
const REPEATS: &str = "repeats";
/// The most windows in memory at a time, about 15 KB each by default: with many columns a batch has fewer
/// rows.
const MOST_WINDOWS: usize = 32_768;
/// Windows that are scored together; any number gives the same bits.
const SCORE_WINDOWS: usize = 2_048;

parameters! {
    /// The parameters of `scad`.
    pub(super) struct ScadParams {
        /// What similarities are divided by, finite and above 0.
        pub temperature: f64 = 0.01,
        /// Width of what the two nets are compared by, 4 to 4096; their hidden layers are in proportion.
        pub units: usize = 200,
        /// Pairs of nets, each with another order of the columns, 1 to 1000; `null`: 100 / (ln rows +
        /// columns), rounded down, plus 1.
        pub repeats: Option<usize> = None,
        /// How long to train each pair at most: `2000 epochs` or `4000 steps`. It ends earlier once the mean
        /// loss of an epoch is below 0.001 (up to 40 columns) or 0.01.
        pub train_for: TrainFor = TrainFor::Epochs(2_000),
        /// Rows per step, 1 to 16384.
        pub batch_size: usize = 3_000,
        /// Learning rate, finite and above 0.
        pub learning_rate: f64 = 1e-3,
    }
}

impl ScadParams {
    fn repeats(&self, rows: &Matrix) -> usize {
        let by_size = || (100.0 / (libm::log(rows.n_rows() as f64) + rows.n_cols() as f64)) as usize + 1;
        self.repeats.unwrap_or_else(by_size)
    }

    /// The net that sees a row without its window.
    fn outside(&self, n_windows: usize) -> Vec<Layer> {
        let norm = Layer::BatchNorm { channels: Channels::Groups(n_windows), affine: true };
        let leaky = Layer::Curve(Curve::LeakyRelu(0.2));
        let mut layers = vec![Layer::torch(self.units), Layer::Curve(Curve::Tanh), norm];
        layers.extend([Layer::torch(2 * self.units), leaky, norm, Layer::torch(self.units), leaky]);
        layers.extend([Layer::NormalizeGroups(n_windows), Layer::NormalizeRows]);
        layers
    }

    /// The net that sees a window.
    fn inside(&self, n_windows: usize) -> Vec<Layer> {
        let norm = Layer::BatchNorm { channels: Channels::Groups(n_windows), affine: true };
        let leaky = Layer::Curve(Curve::LeakyRelu(0.2));
        let mut layers = vec![Layer::torch(self.units / 4), leaky, norm];
        layers.extend([Layer::torch(self.units / 2), leaky, Layer::torch(self.units), leaky]);
        layers.extend([Layer::NormalizeGroups(n_windows), Layer::NormalizeRows]);
        layers
    }
}

impl Params for ScadParams {
    const NAME: &'static str = "scad";
    const SUMMARY: &'static str =
        "internal contrastive learning: how well some columns match the rest of their row";
    const ABILITIES: Abilities = Abilities {
        training: Training::in_steps(&[("train_for", "60 steps"), ("units", "16"), ("repeats", "4")]),
        slow_to_score: true,
        memory: 600 << 20,
        ..Abilities::SMALL_NET
    };

    fn check(&self) -> Result<(), ParamError> {
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::divisor("temperature", self.temperature)?;
        ranges::count("units", self.units, 4..=4_096, "between 4 and 4096")?;
        ranges::count("repeats", self.repeats.unwrap_or(1), 1..=1_000, "between 1 and 1000, or null")
    }

    fn seconds(&self, size: Size) -> f64 {
        1e-2 * size.n_train as f64 * size.n_cols as f64
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let width = rows.n_cols();
        if width < Windows::LEAST_COLUMNS {
            let (detector, needed) = (Self::NAME, Windows::LEAST_COLUMNS);
            return Err(FitError::TooFewColumns { detector, needed, got: width });
        }
        let repeats = self.repeats(rows);
        let mut training = TrainingRows::new(rows, None);
        let parts = Parts::new(context.monitor, repeats);
        let mut members = Vec::with_capacity(repeats);
        for repeat in 0..repeats {
            let seed = context.seed.child("repeat", repeat as u64);
            let order: Vec<u32> = if repeats == 1 {
                (0..width as u32).collect()
            } else {
                seed.stream("columns", &[])
                    .permutation(width)
                    .into_iter()
                    .map(|column| column as u32)
                    .collect()
            };
            let windows = Windows::new(order);
            let batch_size = self.batch_size.min((MOST_WINDOWS / windows.count()).max(1));
            let plan = Plan::new(rows, self.train_for, batch_size, self.learning_rate, seed);
            let mut learner = Matching::new(self, training, windows, plan.batch_rows(), seed);
            parts.run(repeat, Context { seed, ..*context }, |context| {
                neural::run(&mut learner, plan, context, |_, _, _| ())
            })?;
            let Matching { rows, windows, outside, inside, .. } = learner;
            members.push(Member { windows, outside: outside.stack, inside: inside.stack });
            training = rows;
        }
        Ok(Box::new(FittedScad { temperature: self.temperature as f32, width, members }))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let count = tensors.take_u32(REPEATS, &[1])?[0] as usize;
        let (n_orders, width) = match *tensors.shape(ORDERS)? {
            [n_orders, width] => (n_orders, width),
            _ => (0, 0),
        };
        if count == 0 || count != n_orders || self.repeats.is_some_and(|repeats| repeats != count) {
            return Err(saved::invalid(ORDERS, &format!("{count} orders of columns were expected")));
        }
        if width < Windows::LEAST_COLUMNS {
            return Err(saved::invalid(ORDERS, &format!("{width} columns are too few")));
        }
        let orders = tensors.take_u32(ORDERS, &[count, width])?;
        let member = |(index, order): (usize, &[u32])| Member::load(self, index, order, tensors);
        let members = orders.chunks_exact(width).enumerate().map(member).collect::<Result<_, _>>()?;
        Ok(Box::new(FittedScad { temperature: self.temperature as f32, width, members }))
    }
}

/// The training of one pair of nets.
struct Matching {
    rows: TrainingRows,
    windows: Windows,
    outside: Trainee,
    inside: Trainee,
    contrast: Contrast,
    /// The loss of an epoch that ends the training.
    enough: f64,
}

impl Matching {
    fn new(params: &ScadParams, rows: TrainingRows, windows: Windows, batch_rows: usize, seed: Seed) -> Self {
        let count = windows.count();
        let trainee = |name: &str, inputs: usize, layers: &[Layer]| {
            let stack = Stack::new(inputs, layers, seed.child(name, 0));
            Trainee::new(stack, batch_rows * count, Flavour::Torch, 0.0)
        };
        Self {
            outside: trainee("outside", windows.outside_width(), &params.outside(count)),
            inside: trainee("inside", windows.inside_width(), &params.inside(count)),
            contrast: Contrast::new(count, params.units, params.temperature as f32),
            enough: if rows.width() <= 40 { 1e-3 } else { 1e-2 },
            rows,
            windows,
        }
    }
}

impl Learner for Matching {
    fn learn(&mut self, batch: &[u32], _: usize) -> f64 {
        let n_rows = batch.len() * self.windows.count();
        for (at, &row) in batch.iter().enumerate() {
            let (outside, inside) = (self.outside.tape.input_mut(), self.inside.tape.input_mut());
            self.windows.cut(self.rows.row(row), at, outside, inside);
        }
        self.outside.forward(n_rows, 0);
        self.inside.forward(n_rows, 0);
        let row_cells = self.windows.count() * padded(self.outside.stack.n_outputs());
        let (outside, outside_delta) = self.outside.output_and_delta(n_rows);
        let (inside, inside_delta) = self.inside.output_and_delta(n_rows);
        let mut sum = 0.0;
        for row in 0..batch.len() {
            let cells = row * row_cells..(row + 1) * row_cells;
            sum += self.contrast.learn(
                &outside[cells.clone()],
                &inside[cells.clone()],
                1.0 / batch.len() as f32,
                &mut outside_delta[cells.clone()],
                &mut inside_delta[cells],
            );
        }
        self.outside.backward(n_rows, false);
        self.inside.backward(n_rows, false);
        sum / batch.len() as f64
    }

    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
        [&mut self.outside, &mut self.inside].into_iter().for_each(visit);
    }

    fn end_epoch(&mut self, _: usize, loss: f64) -> ControlFlow<()> {
        if loss < self.enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// One order of the columns and its pair of nets.
#[derive(Debug)]
struct Member {
    windows: Windows,
    outside: Stack,
    inside: Stack,
}

impl Member {
    fn save(&self, index: usize, tensors: &mut Tensors) {
        self.outside.save(&format!("outside.{index}"), tensors);
        self.inside.save(&format!("inside.{index}"), tensors);
    }

    fn load(
        params: &ScadParams,
        index: usize,
        order: &[u32],
        tensors: &mut Tensors,
    ) -> Result<Self, TensorError> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..order.len() as u32) {
            return Err(saved::invalid(ORDERS, &format!("number {index} is no order of the columns")));
        }
        let windows = Windows::new(order.to_vec());
        let (name, layers) = (format!("outside.{index}"), params.outside(windows.count()));
        let outside = Stack::load(&name, windows.outside_width(), &layers, tensors)?;
        let (name, layers) = (format!("inside.{index}"), params.inside(windows.count()));
        let inside = Stack::load(&name, windows.inside_width(), &layers, tensors)?;
        Ok(Self { windows, outside, inside })
    }
}

/// All pairs of nets.
#[derive(Debug)]
struct FittedScad {
    temperature: f32,
    width: usize,
    members: Vec<Member>,
}

impl Fitted for FittedScad {
    fn n_features(&self) -> usize {
        self.width
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let (count, units) = (self.members[0].windows.count(), self.members[0].outside.n_outputs());
        let block = (SCORE_WINDOWS / count).max(1);
        let prepare = || {
            let tape = |stack: &Stack| Tape::for_scoring(stack, block * count);
            // All members have nets of the same shapes.
            let tapes = (tape(&self.members[0].outside), tape(&self.members[0].inside));
            (tapes, vec![0.0; block * padded(self.width)], Contrast::new(count, units, self.temperature))
        };
        neural::judge_in_blocks(rows, block, prepare, |buffers, rows, scores| {
            let ((outside, inside), values, contrast) = buffers;
            neural::fill(values, rows, self.width, None);
            for member in &self.members {
                for (at, row) in values.chunks_exact(padded(self.width)).take(scores.len()).enumerate() {
                    member.windows.cut(row, at, outside.input_mut(), inside.input_mut());
                }
                outside.forward(&member.outside, scores.len() * count);
                inside.forward(&member.inside, scores.len() * count);
                let row_cells = count * padded(units);
                let pairs =
                    outside.output().chunks_exact(row_cells).zip(inside.output().chunks_exact(row_cells));
                for (score, (outside, inside)) in scores.iter_mut().zip(pairs) {
                    *score += contrast.loss(outside, inside);
                }
            }
        })
    }

    fn save_to(&self, tensors: &mut Tensors) {
        let orders: Vec<u32> =
            self.members.iter().flat_map(|member| member.windows.order()).copied().collect();
        tensors.put_u32(ORDERS, &[self.members.len(), self.width], orders);
        tensors.put_u32(REPEATS, &[1], vec![self.members.len() as u32]);
        self.members.iter().enumerate().for_each(|(index, member)| member.save(index, tensors));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_matches_finite_differences() {
        let mut stream = Seed(3).stream("rows", &[]);
        let rows = Matrix::new((0..40).map(|_| stream.normal()).collect(), 8, 5);
        // At the default temperature the loss bends too much for a difference of 32-bit numbers.
        let params = ScadParams { temperature: 0.5, ..ScadParams::default() };
        let training = TrainingRows::new(&rows, None);
        let windows = Windows::new(vec![3, 0, 4, 1, 2]);
        let mut learner = Matching::new(&params, training, windows, 8, Seed(1));
        neural::check_gradient(&mut learner, &[0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test] // ln 100 = 4.6: 100/(4.6 + 3) = 13.2, 100/(4.6 + 96) = 0.99.
    fn the_number_of_repeats_follows_rows_and_columns() {
        let params = ScadParams::default();
        assert_eq!(params.repeats(&Matrix::zeros(100, 3)), 14);
        assert_eq!(params.repeats(&Matrix::zeros(100, 96)), 1);
        assert_eq!(ScadParams { repeats: Some(7), ..params }.repeats(&Matrix::zeros(100, 3)), 7);
    }

    #[test]
    fn one_column_is_too_few_and_the_error_says_so() {
        let scad = ScadParams::default().build().unwrap();
        let error = scad.fit(&Matrix::zeros(10, 1), &Context::silent(Seed(1))).unwrap_err();
        assert_eq!(error.to_string(), "scad needs at least 2 feature columns, but got 1");
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let default = ScadParams::default;
        for (name, params) in [
            ("temperature", ScadParams { temperature: 0.0, ..default() }),
            ("temperature", ScadParams { temperature: f64::NAN, ..default() }),
            ("units", ScadParams { units: 3, ..default() }),
            ("repeats", ScadParams { repeats: Some(0), ..default() }),
            ("batch_size", ScadParams { batch_size: 0, ..default() }),
        ] {
            let error = params.build().unwrap_err();
            assert!(matches!(error, ParamError::OutOfRange { name: found, .. } if found == name), "{error}");
        }
    }
}
