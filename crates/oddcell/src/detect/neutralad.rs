//! `neutralad`: anomaly detection with learned transformations.
//!
//! *Why:* K small nets learn to change a row, each in its own way, so that an encoder can tell the changed
//! rows apart and still see the original in each. For rows unlike the training rows that fails.
//!
//! *Formula:* with u(0) … u(K) the encodings of the row and of its K views, each of length 1,
//!
//! ```text
//! S(k, j) = u(k)·u(j) / temperature
//! score = loss = 1/(K ln K) · Σ over k ≥ 1 of [ ln Σ over j ≠ k of exp S(k, j)  −  S(k, 0) ]
//! ```
//!
//! *Source:* Qiu et al. (2021), "Neural transformation learning for deep anomaly detection beyond images".

use std::ops::ControlFlow;

use super::neural::prelude::*;
use crate::net::stack::dot;

/// Rows that are scored together; any number gives the same bits.
const SCORE_ROWS: usize = 64;
/// Epochs before the weights with the lowest loss are kept.
const WARM_UP: usize = 5;

/// What a transformation does with what its net says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Transform {
    /// x + v(x).
    Residual,
    /// x · sigmoid(v(x)).
    Mul,
}

parameters! {
    /// The parameters of `neutralad`.
    pub(super) struct NeuTralAdParams {
        /// Number of views, 2 to 1000.
        pub n_transforms: usize = 11,
        /// How a view comes from its net: `residual` or `mul`.
        pub transform: Transform = Transform::Residual,
        /// What similarities are divided by, finite and above 0.
        pub temperature: f64 = 0.1,
        /// How long to train at most: `200 epochs` or `4000 steps`.
        pub train_for: TrainFor = TrainFor::Epochs(200),
        /// Epochs without a lower loss that end the training, at least 1.
        pub patience: usize = 100,
        /// Rows per step, 1 to 16384.
        pub batch_size: usize = 128,
        /// Learning rate, finite and above 0.
        pub learning_rate: f64 = 1e-3,
        /// L2 decay added to the gradient, finite and at least 0.
        pub weight_decay: f64 = 1e-5,
    }
}

impl NeuTralAdParams {
    fn views(&self) -> Views {
        Views { transform: self.transform, count: self.n_transforms, temperature: self.temperature }
    }
}

/// Two layers without bias, as wide as the rows.
fn transform_layers(width: usize) -> [Layer; 3] {
    [Layer::torch_without_bias(width), Layer::Curve(Curve::Relu), Layer::torch_without_bias(width)]
}

/// Four hidden layers and a linear one, without bias; widths by the width of the rows.
fn encoder_layers(width: usize) -> Vec<Layer> {
    let (hidden, latent) = match width {
        0..32 => (2 * width, 2 * width),
        32..=300 => (64, 32),
        _ => (256, 64),
    };
    let mut layers = [Layer::torch_without_bias(hidden), Layer::Curve(Curve::Relu)].repeat(4);
    layers.extend([Layer::torch_without_bias(latent), Layer::NormalizeRows]);
    layers
}

impl Params for NeuTralAdParams {
    const NAME: &'static str = "neutralad";
    const SUMMARY: &'static str =
        "NeuTraL AD: how well a net tells learned views of the row apart and matches them with it";
    const ABILITIES: Abilities = Abilities::SMALL_NET;

    fn check(&self) -> Result<(), ParamError> {
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::count("n_transforms", self.n_transforms, 2..=1_000, "between 2 and 1000")?;
        ranges::at_least_one("patience", self.patience)?;
        ranges::divisor("temperature", self.temperature)?;
        ranges::not_negative("weight_decay", self.weight_decay)
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let plan = Plan::new(rows, self.train_for, self.batch_size, self.learning_rate, context.seed)
            .in_batches(Batches::Whole);
        let rows = TrainingRows::new(rows, None);
        let learner = Viewing::new(self, rows, plan.batch_rows(), context.seed);
        neural::fit(
            learner,
            plan,
            context,
            |&Viewing { views, ref transforms, ref encoder, ref best, .. }| {
                let last = || stacks(transforms, encoder).cloned().collect();
                let mut transforms = best.stacks().map_or_else(last, <[Stack]>::to_vec);
                let encoder = transforms.pop().expect("the encoder is the last net");
                FittedNeuTralAd { views, transforms, encoder }
            },
        )
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let width = neural::width_of(tensors, "encoder.0.weight")?;
        let layers = transform_layers(width);
        let transform = |index| Stack::load(&format!("transform.{index}"), width, &layers, tensors);
        let transforms = (0..self.n_transforms).map(transform).collect::<Result<_, _>>()?;
        let encoder = Stack::load("encoder", width, &encoder_layers(width), tensors)?;
        Ok(Box::new(FittedNeuTralAd { views: self.views(), transforms, encoder }))
    }
}

/// How rows become views, and views a loss.
#[derive(Debug, Clone, Copy)]
struct Views {
    transform: Transform,
    count: usize,
    temperature: f64,
}

impl Views {
    /// Row and view number `view` (1 to `count`) of every row, as lines of the encoder's input: a row's own
    /// line and those of its views follow each other.
    fn write(self, view: usize, rows: &[f32], said: &[f32], width: usize, encoder_input: &mut [f32]) {
        let stride = padded(width);
        let groups = encoder_input.chunks_exact_mut((self.count + 1) * stride);
        for ((group, row), said) in groups.zip(rows.chunks_exact(stride)).zip(said.chunks_exact(stride)) {
            group[..stride].copy_from_slice(row);
            let line = &mut group[view * stride..][..stride];
            for column in 0..width {
                line[column] = match self.transform {
                    Transform::Residual => row[column] + said[column],
                    Transform::Mul => row[column] * sigmoid(said[column]),
                };
            }
        }
    }

    /// The derivative of the loss by what the net of `view` said, from that by the encoder's input.
    fn write_back(
        self,
        view: usize,
        rows: &[f32],
        said: &[f32],
        width: usize,
        encoder_delta: &[f32],
        delta: &mut [f32],
    ) {
        let stride = padded(width);
        let groups = encoder_delta.chunks_exact((self.count + 1) * stride);
        for (at, (delta, group)) in delta.chunks_exact_mut(stride).zip(groups).enumerate() {
            let line = &group[view * stride..][..stride];
            for column in 0..width {
                delta[column] = match self.transform {
                    Transform::Residual => line[column],
                    Transform::Mul => {
                        let share = sigmoid(said[at * stride + column]);
                        line[column] * rows[at * stride + column] * share * (1.0 - share)
                    }
                };
            }
        }
    }

    /// The loss of one row by the encodings of its line and of its views, a line of `stride` values each.
    /// With `learning`, also its derivative by the encodings, times a scale. `table` is room to work in.
    ///
    /// With G(k, j) the share of exp S(k, j) in its sum, less 1 if j = 0, the derivative by u(i) is
    /// Σ over j of (G(i, j) + G(j, i)) · u(j) / temperature.
    fn loss(
        self,
        encodings: &[f32],
        stride: usize,
        table: &mut Vec<f64>,
        learning: Option<(&mut [f32], f64)>,
    ) -> f64 {
        let size = self.count + 1;
        let unit = |index: usize| &encodings[index * stride..][..stride];
        table.clear();
        table.resize(size * size, 0.0);
        for k in 1..size {
            for j in 0..k {
                let similarity = f64::from(dot(unit(k), unit(j))) / self.temperature;
                table[k * size + j] = similarity;
                table[j * size + k] = similarity;
            }
        }
        let mut sum = 0.0;
        for (k, line) in table.chunks_exact_mut(size).enumerate().skip(1) {
            let original = line[0];
            // A view is not compared with itself.
            line[k] = f64::NEG_INFINITY;
            let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut total = 0.0;
            for similarity in &mut *line {
                *similarity = libm::exp(*similarity - most);
                total += *similarity;
            }
            for share in &mut *line {
                *share /= total;
            }
            line[0] -= 1.0;
            sum += libm::log(total) + most - original;
        }
        let normalizer = 1.0 / (self.count as f64 * libm::log(self.count as f64));
        if let Some((delta, scale)) = learning {
            // The original is compared with nothing by itself.
            table[..size].fill(0.0);
            let slope = scale * normalizer / self.temperature;
            for (i, delta) in delta.chunks_exact_mut(stride).enumerate() {
                for j in 0..size {
                    let weight = ((table[i * size + j] + table[j * size + i]) * slope) as f32;
                    delta.iter_mut().zip(unit(j)).for_each(|(delta, value)| *delta += weight * value);
                }
            }
        }
        sum * normalizer
    }
}

/// The training of all transformations and the encoder.
struct Viewing {
    rows: TrainingRows,
    views: Views,
    transforms: Vec<Trainee>,
    encoder: Trainee,
    patience: usize,
    best: Best,
    table: Vec<f64>,
}

impl Viewing {
    fn new(params: &NeuTralAdParams, rows: TrainingRows, batch_rows: usize, seed: Seed) -> Self {
        let width = rows.width();
        let trainee = |stack, capacity| Trainee::new(stack, capacity, Flavour::Torch, params.weight_decay);
        let transform = |index| {
            let stack = Stack::new(width, &transform_layers(width), seed.child("transform", index as u64));
            trainee(stack, batch_rows)
        };
        let encoder = Stack::new(width, &encoder_layers(width), seed.child("encoder", 0));
        Self {
            rows,
            views: params.views(),
            transforms: (0..params.n_transforms).map(transform).collect(),
            encoder: trainee(encoder, batch_rows * (params.n_transforms + 1)),
            patience: params.patience,
            best: Best::default(),
            table: Vec::new(),
        }
    }
}

/// The nets of the transformations, and that of the encoder after them.
fn stacks<'a>(transforms: &'a [Trainee], encoder: &'a Trainee) -> impl Iterator<Item = &'a Stack> {
    transforms.iter().chain([encoder]).map(|trainee| &trainee.stack)
}

impl Learner for Viewing {
    fn learn(&mut self, batch: &[u32], _: usize) -> f64 {
        let (n_rows, width) = (batch.len(), self.rows.width());
        let (n_lines, cells) = (n_rows * (self.views.count + 1), n_rows * padded(width));
        for (index, net) in self.transforms.iter_mut().enumerate() {
            self.rows.gather(batch, net.tape.input_mut());
            net.forward(n_rows, 0);
            let (rows, said) = (&net.tape.input()[..cells], &net.tape.output()[..cells]);
            self.views.write(index + 1, rows, said, width, self.encoder.tape.input_mut());
        }
        self.encoder.forward(n_lines, 0);
        let stride = padded(self.encoder.stack.n_outputs());
        let group = stride * (self.views.count + 1);
        let (output, delta) = self.encoder.output_and_delta(n_lines);
        let mut sum = 0.0;
        for (encodings, delta) in output.chunks_exact(group).zip(delta.chunks_exact_mut(group)) {
            let learning = Some((delta, 1.0 / n_rows as f64));
            sum += self.views.loss(encodings, stride, &mut self.table, learning);
        }
        self.encoder.backward(n_lines, true);
        let encoder_delta = &self.encoder.tape.input_delta()[..n_lines * padded(width)];
        for (index, net) in self.transforms.iter_mut().enumerate() {
            let Trainee { stack, tape, gradient, .. } = net;
            let (rows, said, delta) = tape.ends_and_delta(stack, n_rows);
            self.views.write_back(index + 1, rows, said, width, encoder_delta, delta);
            tape.backward(stack, n_rows, Some(gradient), false);
        }
        sum / n_rows as f64
    }

    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
        self.transforms.iter_mut().chain([&mut self.encoder]).for_each(visit);
    }

    fn end_epoch(&mut self, epoch: usize, loss: f64) -> ControlFlow<()> {
        if epoch > WARM_UP {
            self.best.offer(epoch, loss, stacks(&self.transforms, &self.encoder));
        }
        if self.best.age(epoch) >= self.patience { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Trained transformations and their encoder.
#[derive(Debug)]
struct FittedNeuTralAd {
    views: Views,
    transforms: Vec<Stack>,
    encoder: Stack,
}

impl Fitted for FittedNeuTralAd {
    fn n_features(&self) -> usize {
        self.encoder.n_inputs()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let width = self.n_features();
        let n_lines = self.views.count + 1;
        let prepare = || {
            // All transformations have nets of the same shape.
            let transform = Tape::for_scoring(&self.transforms[0], SCORE_ROWS);
            (transform, Tape::for_scoring(&self.encoder, SCORE_ROWS * n_lines), Vec::new())
        };
        neural::judge_in_blocks(rows, SCORE_ROWS, prepare, |(transform, encoder, table), rows, scores| {
            neural::fill(transform.input_mut(), rows, width, None);
            for (index, net) in self.transforms.iter().enumerate() {
                transform.forward(net, scores.len());
                let (rows, said) = (transform.input(), transform.output());
                self.views.write(index + 1, rows, said, width, encoder.input_mut());
            }
            encoder.forward(&self.encoder, scores.len() * n_lines);
            let stride = padded(self.encoder.n_outputs());
            for (score, encodings) in scores.iter_mut().zip(encoder.output().chunks_exact(stride * n_lines)) {
                *score = self.views.loss(encodings, stride, table, None);
            }
        })
    }

    fn save_to(&self, tensors: &mut Tensors) {
        for (index, transform) in self.transforms.iter().enumerate() {
            transform.save(&format!("transform.{index}"), tensors);
        }
        self.encoder.save("encoder", tensors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Worked out in double precision from the formula, outside of this library.
    fn the_loss_matches_the_worked_example() {
        let stack = Stack::new(2, &[Layer::NormalizeRows], Seed(1));
        let mut tape = Tape::for_scoring(&stack, 4);
        let rows = [[1.0, 0.0], [0.9, 0.3], [0.2, -1.0], [-0.5, 0.8]];
        for (line, row) in tape.input_mut().chunks_exact_mut(8).zip(rows) {
            line[..2].copy_from_slice(&row);
        }
        tape.forward(&stack, 4);
        let views = Views { transform: Transform::Residual, count: 3, temperature: 0.1 };
        let loss = views.loss(tape.output(), 8, &mut Vec::new(), None);
        assert!((loss - 0.923_958_477_680_621_4).abs() < 1e-6, "{loss}");
    }

    #[test]
    fn the_gradient_matches_finite_differences_for_both_transformations() {
        let mut stream = Seed(3).stream("rows", &[]);
        let rows = Matrix::new((0..40).map(|_| stream.normal()).collect(), 8, 5);
        for transform in [Transform::Residual, Transform::Mul] {
            let params =
                NeuTralAdParams { transform, n_transforms: 3, temperature: 0.5, ..Default::default() };
            let rows = TrainingRows::new(&rows, None);
            let mut learner = Viewing::new(&params, rows, 8, Seed(1));
            neural::check_gradient(&mut learner, &[0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn the_widths_of_the_encoder_follow_those_of_the_rows() {
        let widths = |width| {
            let encoder = Stack::new(width, &encoder_layers(width), Seed(1));
            let first = encoder.matrices().next().unwrap().len() / width;
            (first, encoder.n_outputs())
        };
        assert_eq!(
            [widths(4), widths(32), widths(300), widths(301)],
            [(8, 8), (64, 32), (64, 32), (256, 64)]
        );
    }

    #[test]
    fn training_ends_when_patience_does() {
        let mut stream = Seed(3).stream("rows", &[]);
        let rows = Matrix::new((0..40).map(|_| stream.normal()).collect(), 8, 5);
        let params = NeuTralAdParams { patience: 2, ..Default::default() };
        let rows = TrainingRows::new(&rows, None);
        let mut learner = Viewing::new(&params, rows, 8, Seed(1));
        // Losses of epochs 1, 2, …: the lowest from the sixth on is that of the seventh.
        let losses = [0.1, 5.0, 5.0, 5.0, 5.0, 3.0, 2.0, 4.0, 2.0];
        let stopped = (1..).zip(losses).find(|&(epoch, loss)| learner.end_epoch(epoch, loss).is_break());
        assert_eq!(stopped.map(|(epoch, _)| epoch), Some(9));
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let default = NeuTralAdParams::default;
        for (name, params) in [
            ("n_transforms", NeuTralAdParams { n_transforms: 1, ..default() }),
            ("temperature", NeuTralAdParams { temperature: f64::NAN, ..default() }),
            ("patience", NeuTralAdParams { patience: 0, ..default() }),
            ("weight_decay", NeuTralAdParams { weight_decay: -1.0, ..default() }),
        ] {
            let error = params.build().unwrap_err();
            assert!(matches!(error, ParamError::OutOfRange { name: found, .. } if found == name), "{error}");
        }
    }
}
