//! `dpad`: nearest neighbors after a net has pulled normal rows together, in the style of dense projection
//! (DPAD).
//!
//! *Why:* a net without biases learns to bring rows that are close even closer, without collapsing into one
//! point; then a row far from all training rows is odd.
//!
//! *Formula:* h the net; per batch, Dᵢⱼ = ‖hᵢ − hⱼ‖² and weights wᵢⱼ = exp(−`gamma`·Dᵢⱼ), which count as
//! constants; loss = mean wᵢⱼ·Dᵢⱼ + `penalty` · Σ over layers |‖W‖ − 1|. Score = distance of h(x) to the
//! `n_neighbors`-th nearest h of a training row.
//!
//! *Source:* Fu, Zhang, Fan (2024), "Dense projection for anomaly detection". **A re-implementation in its
//! style:** we could read neither the paper's body nor the authors' code. The objective follows the abstract
//! and a third party; we chose the sizes by comparing with published figures on twelve datasets.

use super::{
    Keeps, Training, held,
    neighbors::{self, Neighbor, Neighbors},
    neural::prelude::*,
    saved,
};
use crate::net::stack::{Products, dot};

/// The tensor of the embedded training rows.
const EMBEDDED: &str = "embedded";

parameters! {
    /// The parameters of `dpad`.
    pub(super) struct DpadParams {
        /// Widths of the layers, the last of them the embedding: 1 to 16 of them, each 1 to 4096.
        pub hidden: Vec<usize> = vec![128, 64, 32, 16],
        /// How fast the weight of a pair falls with its squared distance, finite and at least 0.
        pub gamma: f64 = 0.1,
        /// Weight of the penalty that keeps the matrices at length 1, finite and at least 0.
        pub penalty: f64 = 1.0,
        /// Which neighbor's distance is the score: at least 1, at most as many as there are training rows.
        pub n_neighbors: usize = 1,
        /// How long to train: `100 epochs` or `4000 steps`.
        pub train_for: TrainFor = TrainFor::Epochs(100),
        /// Rows per step, 1 to 16384.
        pub batch_size: usize = 512,
        /// Learning rate, finite and above 0.
        pub learning_rate: f64 = 1e-3,
    }
}

impl DpadParams {
    /// Layers without bias, ReLU between them.
    fn layers(&self) -> Vec<Layer> {
        let mut layers: Vec<Layer> = self
            .hidden
            .iter()
            .flat_map(|&outputs| [Layer::torch_without_bias(outputs), Layer::Curve(Curve::Relu)])
            .collect();
        layers.pop();
        layers
    }
}

impl Params for DpadParams {
    const NAME: &'static str = "dpad";
    const SUMMARY: &'static str = "DPAD style: nearest neighbors after a net has pulled normal rows together";
    const ABILITIES: Abilities = Abilities {
        training: Training::in_steps(&[("train_for", "50 steps")]),
        keeps: Keeps::Projections,
        slow_to_score: true,
        ..Abilities::SMALL_NET
    };

    fn check(&self) -> Result<(), ParamError> {
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::widths("hidden", &self.hidden)?;
        ranges::not_negative("gamma", self.gamma)?;
        ranges::not_negative("penalty", self.penalty)?;
        ranges::at_least_one("n_neighbors", self.n_neighbors)
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        neighbors::check_count(self.n_neighbors, rows.n_rows(), rows.n_rows())?;
        let plan = Plan::new(rows, self.train_for, self.batch_size, self.learning_rate, context.seed);
        let training = TrainingRows::new(rows, None);
        let learner = Drawing::new(self, training, plan.batch_rows(), context.seed);
        neural::fit(learner, plan, context, |learner| {
            let stack = learner.net.stack.clone();
            let neighbors = Neighbors::new(embed(&stack, rows));
            FittedDpad { stack, n_neighbors: self.n_neighbors, neighbors }
        })
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let width = neural::take_width(tensors)?;
        let stack = Stack::load("net", width, &self.layers(), tensors)?;
        let embedded = saved::take_table(tensors, EMBEDDED)?;
        if embedded.n_cols() != stack.n_outputs() {
            let (got, expected) = (vec![embedded.n_rows(), embedded.n_cols()], vec![1, stack.n_outputs()]);
            return Err(TensorError::WrongShape { name: EMBEDDED.to_owned(), got, expected });
        }
        neighbors::check_count(self.n_neighbors, embedded.n_rows(), embedded.n_rows())
            .map_err(|error| saved::invalid(EMBEDDED, &error))?;
        let neighbors = Neighbors::new(embedded);
        Ok(Box::new(FittedDpad { stack, n_neighbors: self.n_neighbors, neighbors }))
    }
}

/// The net's output for all rows; what overflowed counts as the largest number.
fn embed(stack: &Stack, rows: &Matrix) -> Matrix {
    let mut embedded = Vec::with_capacity(rows.n_rows() * stack.n_outputs());
    neural::for_each_output(stack, rows, None, |line| {
        embedded.extend(line.iter().map(|&value| f64::from(held::net_output(value))));
    });
    Matrix::new(embedded, rows.n_rows(), stack.n_outputs())
}

/// The training of the net.
struct Drawing {
    rows: TrainingRows,
    net: Trainee,
    gamma: f32,
    penalty: f64,
    products: Products,
    /// hᵢ·hⱼ, then the weights wᵢⱼ.
    pairs: Vec<f32>,
    squares: Vec<f32>,
    /// Σⱼ wᵢⱼ·hⱼ.
    mixed: Vec<f32>,
}

impl Drawing {
    fn new(params: &DpadParams, rows: TrainingRows, batch_rows: usize, seed: Seed) -> Self {
        let stack = Stack::new(rows.width(), &params.layers(), seed);
        let mixed = vec![0.0; batch_rows * padded(stack.n_outputs())];
        Self {
            rows,
            net: Trainee::new(stack, batch_rows, Flavour::Torch, 0.0),
            gamma: params.gamma as f32,
            penalty: params.penalty,
            products: Products::new(),
            pairs: vec![0.0; batch_rows * padded(batch_rows)],
            squares: vec![0.0; batch_rows],
            mixed,
        }
    }

    /// Σ |‖W‖ − 1| over the layers, times the penalty; adds its gradient to the net's.
    fn keep_lengths(&mut self) -> f64 {
        let penalty = self.penalty;
        let off_one = |length: f64| {
            let by_length = if length == 1.0 { 0.0 } else { penalty * (length - 1.0).signum() };
            ((length - 1.0).abs(), by_length)
        };
        penalty * neural::penalize_lengths(&mut self.net, off_one)
    }
}

impl Learner for Drawing {
    fn learn(&mut self, batch: &[u32], _: usize) -> f64 {
        let n_rows = batch.len();
        let width = self.net.stack.n_outputs();
        let (stride, pair_stride) = (padded(width), padded(n_rows));
        self.rows.gather(batch, self.net.tape.input_mut());
        self.net.forward(n_rows, 0);
        let (output, delta) = self.net.tape.output_and_delta(&self.net.stack, n_rows);
        let pairs = &mut self.pairs[..n_rows * pair_stride];
        self.products.dots(width, output, output, pairs);
        for (square, line) in self.squares.iter_mut().zip(output.chunks_exact(stride)) {
            *square = dot(line, line);
        }
        // The derivative by hᵢ is 4/B² · Σⱼ wᵢⱼ·(hᵢ − hⱼ): both places of a pair, and both orders of it.
        let mut sum = 0.0;
        for (i, line) in pairs.chunks_exact_mut(pair_stride).enumerate() {
            for (pair, square) in line.iter_mut().zip(&self.squares[..n_rows]) {
                let distance = (self.squares[i] + square - 2.0 * *pair).max(0.0);
                *pair = libm::expf(-self.gamma * distance);
                sum += f64::from(*pair * distance);
            }
        }
        let mixed = &mut self.mixed[..n_rows * stride];
        self.products.mix(width, pairs, output, mixed);
        let n_pairs = (n_rows * n_rows) as f64;
        let slope = (4.0 / n_pairs) as f32;
        let lines = output.chunks_exact(stride).zip(mixed.chunks_exact(stride));
        for ((pairs, delta), (output, mixed)) in
            pairs.chunks_exact(pair_stride).zip(delta.chunks_exact_mut(stride)).zip(lines)
        {
            let total: f32 = pairs[..n_rows].iter().sum();
            for column in 0..width {
                delta[column] = slope * (total * output[column] - mixed[column]);
            }
        }
        self.net.backward(n_rows, false);
        sum / n_pairs + self.keep_lengths()
    }

    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
        visit(&mut self.net);
    }
}

/// A trained net and its outputs for the training rows.
#[derive(Debug)]
struct FittedDpad {
    stack: Stack,
    n_neighbors: usize,
    neighbors: Neighbors,
}

impl Fitted for FittedDpad {
    fn n_features(&self) -> usize {
        self.stack.n_inputs()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let k = self.n_neighbors;
        let distance = |nearest: &[Neighbor]| nearest[k - 1].distance();
        let scores = self.neighbors.map(&embed(&self.stack, rows), k, distance);
        Judged { scores, cells: None }
    }

    fn save_to(&self, tensors: &mut Tensors) {
        neural::put_width(tensors, self.n_features());
        self.stack.save("net", tensors);
        saved::put_table(tensors, EMBEDDED, self.neighbors.rows());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learner(params: &DpadParams, rows: &Matrix) -> Drawing {
        let training = TrainingRows::new(rows, None);
        Drawing::new(params, training, rows.n_rows(), Seed(1))
    }

    #[test] // Only without weights: the weights count as constants in the gradient, but not in a difference.
    fn the_gradient_matches_finite_differences() {
        let mut stream = Seed(3).stream("rows", &[]);
        let rows = Matrix::new((0..40).map(|_| stream.normal()).collect(), 8, 5);
        let params = DpadParams { gamma: 0.0, penalty: 0.01, ..DpadParams::default() };
        neural::check_gradient(&mut learner(&params, &rows), &[0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    // Rows 0 and 2, h(x) = W·x with W = 1: D = 4 between them, w = exp(−0.1·4) = 0.670320. Of the four pairs
    // two count: loss = 2·0.670320·4/4 = 1.340640, plus 0.5·|1 − 1|. By h(2): 4/2²·w·(2 − 0) = 1.340640; by W
    // twice that. With W = 3: D = 36, w = exp(−3.6) = 0.0273237, loss = 2·w·36/4 + 0.5·2 = 1.491827. By W:
    // (4/4·w·6)·2 + 0.5 = 0.827885.
    fn loss_and_gradient_match_the_values_worked_out_by_hand() {
        let params = DpadParams { hidden: vec![1], penalty: 0.5, ..DpadParams::default() };
        for (weight, loss, slope) in [(1.0, 1.340_640, 2.681_280), (3.0, 1.491_827, 0.827_885)] {
            let mut learner = learner(&params, &Matrix::from_rows(&[[0.0], [2.0]]));
            learner.net.stack.change(|weights| weights[0] = weight);
            let got = learner.learn(&[0, 1], 1);
            assert!((got - loss).abs() < 1e-5, "{got} against {loss}");
            let got = f64::from(learner.net.gradient[0]); // at length 1 the penalty has no slope
            assert!((got - slope).abs() < 1e-5, "{got} against {slope}");
        }
    }

    #[test] // W = 2: training rows 0, 1, 5 are seen at 0, 2, 10, and the row 4 at 8.
    fn the_score_is_the_distance_to_the_nearest_training_row_as_the_net_sees_it() {
        let mut tensors = Tensors::default();
        tensors.put_f32("net.0.weight", &[1, 1], vec![2.0]);
        let params = |n_neighbors| DpadParams { hidden: vec![1], n_neighbors, ..DpadParams::default() };
        let stack = Stack::load("net", 1, &params(1).layers(), &mut tensors).unwrap();
        let seen = embed(&stack, &Matrix::from_rows(&[[0.0], [1.0], [5.0]]));
        for (n_neighbors, expected) in [(1, 2.0), (2, 6.0), (3, 8.0)] {
            let neighbors = Neighbors::new(seen.clone());
            let fitted = FittedDpad { stack: stack.clone(), n_neighbors, neighbors };
            assert_eq!(fitted.score(&Matrix::from_rows(&[[4.0]])).unwrap(), [expected]);
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let default = DpadParams::default;
        for (name, params) in [
            ("hidden", DpadParams { hidden: vec![0], ..default() }),
            ("gamma", DpadParams { gamma: f64::NAN, ..default() }),
            ("penalty", DpadParams { penalty: -1.0, ..default() }),
            ("n_neighbors", DpadParams { n_neighbors: 0, ..default() }),
        ] {
            let error = params.build().unwrap_err();
            assert!(matches!(error, ParamError::OutOfRange { name: found, .. } if found == name), "{error}");
        }
    }
}
