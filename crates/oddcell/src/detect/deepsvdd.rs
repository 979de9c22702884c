//! `deepsvdd`: deep support vector data description.
//!
//! *Why:* a net without biases learns to map normal rows close to one point c; rows unlike them land
//! elsewhere.
//!
//! *Formula:* z the standardized row, net f; score = ‖f(z) − c‖². The loss of a batch is the mean of that,
//! plus `activity_penalty` · Σ activations² / rows (Keras generation), or plus 1e-6 · Σ ‖W‖ (PyTorch
//! generation).
//!
//! c is the mean output of an untrained net, with entries between 0 and 0.1 raised to 0.1. The Keras
//! generation discards that net and trains *another* one, with fresh weights, toward c.
//!
//! *Source:* Ruff et al. (2018), "Deep one-class classification"; PyOD's `DeepSVDD`.

use std::ops::ControlFlow;

use super::neural::prelude::*;

/// Entries of the center between 0 and this are raised to this: a net without biases reaches 0 by itself.
const LEAST_CENTER: f32 = 0.1;
/// Weight of the lengths of the matrices in the loss of the PyTorch generation.
const LENGTH_PENALTY: f64 = 1e-6;
/// The tensor of the center, by the name that it has in model files.
const CENTER: &str = "centre";

parameters! {
    /// The parameters of `deepsvdd`.
    pub(super) struct DeepSvddParams {
        /// Whose center, loss and optimizer: `keras` or `torch`.
        pub generation: Generation = Generation::Keras,
        /// Widths of the layers, the last of them the output: 1 to 16 of them, each 1 to 4096.
        pub hidden: Vec<usize> = vec![64, 32],
        /// Weight of the penalty on squared activations, finite and at least 0.
        pub activity_penalty: f64 = 0.1,
        /// L2 decay added to the gradient, finite and at least 0.
        pub weight_decay: f64 = 0.0,
        /// Share of the rows that is never trained on, at least 0 and below 1.
        pub holdout: f64 = 0.1,
        /// How long to train: `100 epochs` or `4000 steps`.
        pub train_for: TrainFor = TrainFor::Epochs(100),
        /// Rows per step, 1 to 16384.
        pub batch_size: usize = 32,
        /// Learning rate, finite and above 0.
        pub learning_rate: f64 = 1e-3,
    }
}

impl DeepSvddParams {
    /// What PyOD does since version 3.6, the first whose PyTorch form trains.
    #[must_use]
    pub(super) fn torch() -> Self {
        Self {
            generation: Generation::Torch,
            activity_penalty: 0.0,
            weight_decay: 5e-7,
            holdout: 0.0,
            learning_rate: 1e-4,
            ..Self::default()
        }
    }

    fn layers(&self) -> Vec<Layer> {
        let init = match self.generation {
            Generation::Keras => Init::Glorot,
            Generation::Torch => Init::Torch,
        };
        let penalty = Layer::ActivityPenalty(self.activity_penalty as f32);
        let linear = |outputs| Layer::Linear { outputs, bias: false, init };
        self.hidden
            .iter()
            .flat_map(|&outputs| [linear(outputs), Layer::Curve(Curve::Relu), penalty])
            .collect()
    }
}

impl Params for DeepSvddParams {
    const NAME: &'static str = "deepsvdd";
    const SUMMARY: &'static str = "deep SVDD: how far from one point a net maps the row";
    const PRESETS: &'static [Preset<Self>] = &[("default", Self::default), ("torch", Self::torch)];
    const ABILITIES: Abilities = Abilities::SMALL_NET;

    fn check(&self) -> Result<(), ParamError> {
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::widths("hidden", &self.hidden)?;
        ranges::share("holdout", self.holdout)?;
        ranges::not_negative("activity_penalty", self.activity_penalty)?;
        ranges::not_negative("weight_decay", self.weight_decay)
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let scaler = Scaler::standard(rows, self.generation);
        let plan = Plan::new(rows, self.train_for, self.batch_size, self.learning_rate, context.seed)
            .of_generation(self.generation, self.holdout);
        let stack = Stack::new(rows.n_cols(), &self.layers(), context.seed);
        let center = match self.generation {
            Generation::Torch => center(&stack, rows, &scaler),
            Generation::Keras => {
                let other = context.seed.child("centre", 0);
                center(&Stack::new(rows.n_cols(), &self.layers(), other), rows, &scaler)
            }
        };
        let rows = TrainingRows::new(rows, Some(&scaler));
        let learner = Shrinking::new(self, rows, stack, center, plan.batch_rows());
        neural::fit(learner, plan, context, |Shrinking { net, center, best, .. }| {
            let best = best.as_ref().and_then(Best::stacks).map(|stacks| &stacks[0]);
            let (stack, center) = (best.unwrap_or(&net.stack).clone(), center.clone());
            FittedDeepSvdd { scaler: scaler.clone(), stack, center }
        })
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let scaler = Scaler::load(tensors)?;
        let stack = Stack::load("net", scaler.width(), &self.layers(), tensors)?;
        let center = tensors.take_f32(CENTER, &[stack.n_outputs()])?;
        Ok(Box::new(FittedDeepSvdd { scaler, stack, center }))
    }
}

/// The mean output of the net over all rows, its entries kept away from 0.
fn center(stack: &Stack, rows: &Matrix, scaler: &Scaler) -> Vec<f32> {
    let mut sums = vec![0.0f64; stack.n_outputs()];
    neural::for_each_output(stack, rows, Some(scaler), |line| {
        sums.iter_mut().zip(line).for_each(|(sum, &value)| *sum += f64::from(value));
    });
    let mean = |sum: f64| (sum / rows.n_rows() as f64) as f32;
    sums.into_iter().map(|sum| away_from_zero(mean(sum))).collect()
}

/// Units that never fired stay at 0; outputs of a ReLU are never negative.
fn away_from_zero(mean: f32) -> f32 {
    if mean > 0.0 && mean < LEAST_CENTER { LEAST_CENTER } else { mean }
}

/// The training of a net toward the center.
struct Shrinking {
    rows: TrainingRows,
    net: Trainee,
    center: Vec<f32>,
    generation: Generation,
    /// The PyTorch generation goes back to its best epoch.
    best: Option<Best>,
}

impl Shrinking {
    fn new(
        params: &DeepSvddParams,
        rows: TrainingRows,
        stack: Stack,
        center: Vec<f32>,
        batch_rows: usize,
    ) -> Self {
        let generation = params.generation;
        let best = match generation {
            Generation::Keras => None,
            Generation::Torch => Some(Best::default()),
        };
        let net = Trainee::new(stack, batch_rows, generation.flavour(), params.weight_decay);
        Self { rows, net, center, generation, best }
    }

    /// Σ ‖W‖ over the layers; adds its gradient to the net's.
    fn lengths(&mut self) -> f64 {
        neural::penalize_lengths(&mut self.net, |length| (length, LENGTH_PENALTY))
    }
}

impl Learner for Shrinking {
    fn learn(&mut self, batch: &[u32], _: usize) -> f64 {
        let n_rows = batch.len();
        self.rows.gather(batch, self.net.tape.input_mut());
        self.net.forward(n_rows, 0);
        let width = padded(self.center.len());
        let slope = 2.0 / n_rows as f32;
        let (output, delta) = self.net.output_and_delta(n_rows);
        let mut sum = 0.0;
        for (output, delta) in output.chunks_exact(width).zip(delta.chunks_exact_mut(width)) {
            for (column, center) in self.center.iter().enumerate() {
                let distance = output[column] - center;
                delta[column] = slope * distance;
                sum += f64::from(distance * distance);
            }
        }
        self.net.backward(n_rows, false);
        let penalty = match self.generation {
            Generation::Keras => self.net.tape.penalty(),
            Generation::Torch => self.net.tape.penalty() + LENGTH_PENALTY * self.lengths(),
        };
        sum / n_rows as f64 + penalty
    }

    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
        visit(&mut self.net);
    }

    fn end_epoch(&mut self, epoch: usize, loss: f64) -> ControlFlow<()> {
        if let Some(best) = &mut self.best {
            best.offer(epoch, loss, std::iter::once(&self.net.stack));
        }
        ControlFlow::Continue(())
    }
}

/// A trained net and its center.
#[derive(Debug)]
struct FittedDeepSvdd {
    scaler: Scaler,
    stack: Stack,
    center: Vec<f32>,
}

impl Fitted for FittedDeepSvdd {
    fn n_features(&self) -> usize {
        self.scaler.width()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        neural::judge_by_output(&self.stack, rows, Some(&self.scaler), |_, output| {
            let square = |(&value, &center): (&f32, &f32)| (f64::from(value) - f64::from(center)).powi(2);
            output.iter().zip(&self.center).map(square).sum()
        })
    }

    fn save_to(&self, tensors: &mut Tensors) {
        self.stack.save("net", tensors);
        self.scaler.save(tensors);
        tensors.put_f32(CENTER, &[self.center.len()], self.center.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// W1 is 3 × 2 and W2 2 × 3, the rows are four: the figures of the specification.
    fn worked_example() -> (Stack, Matrix) {
        let params = DeepSvddParams { hidden: vec![2, 3], ..DeepSvddParams::default() };
        let mut tensors = Tensors::default();
        tensors.put_f32("net.0.weight", &[3, 2], vec![0.5, -0.2, 0.1, 0.4, -0.3, 0.6]);
        tensors.put_f32("net.3.weight", &[2, 3], vec![1.0, -0.5, 0.2, 0.3, 0.8, -0.4]);
        let rows = [[1.0, 2.0, 3.0], [0.0, -1.0, 0.5], [2.0, 1.0, -1.0], [-0.2, 0.3, -0.9]];
        (Stack::load("net", 3, &params.layers(), &mut tensors).unwrap(), Matrix::from_rows(&rows))
    }

    #[test] // Outputs (.72, 1.92, 0), (0, 0, 0), (1.4, 0, .28), (.2, 0, .04); their mean (.58, .48, .08).
    fn center_and_scores_match_the_worked_example() {
        let (stack, rows) = worked_example();
        let scaler = Scaler::identity(3);
        let center = center(&stack, &rows, &scaler);
        for (got, expected) in center.iter().zip([0.58, 0.48, 0.1]) {
            assert!((got - expected).abs() < 1e-6, "{center:?}");
        }
        let scores = FittedDeepSvdd { scaler, stack, center }.score(&rows).unwrap();
        for (got, expected) in scores.iter().zip([2.1032, 0.5768, 0.9352, 0.3784]) {
            assert!((got - expected).abs() < 1e-5, "{scores:?}");
        }
    }

    #[test]
    fn a_unit_that_never_answers_stays_at_zero() {
        assert_eq!([0.0, 0.05, 0.1, 2.0].map(away_from_zero), [0.0, 0.1, 0.1, 2.0]);
    }

    #[test]
    fn the_gradient_of_both_losses_matches_finite_differences() {
        let mut stream = Seed(3).stream("rows", &[]);
        let rows = Matrix::new((0..40).map(|_| stream.normal()).collect(), 8, 5);
        for params in [DeepSvddParams::default(), DeepSvddParams::torch()] {
            let scaler = Scaler::identity(5);
            let stack = Stack::new(5, &params.layers(), Seed(1));
            let center = center(&Stack::new(5, &params.layers(), Seed(2)), &rows, &scaler);
            let mut learner =
                Shrinking::new(&params, TrainingRows::new(&rows, Some(&scaler)), stack, center, 8);
            neural::check_gradient(&mut learner, &[0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn the_lengths_of_the_matrices_are_in_the_gradient_of_the_torch_form() {
        let params = DeepSvddParams { hidden: vec![2], ..DeepSvddParams::torch() };
        let mut tensors = Tensors::default();
        tensors.put_f32("net.0.weight", &[1, 2], vec![3.0, 4.0]);
        let stack = Stack::load("net", 1, &params.layers(), &mut tensors).unwrap();
        let rows = TrainingRows::new(&Matrix::zeros(1, 1), None);
        let mut learner = Shrinking::new(&params, rows, stack, vec![0.0; 2], 1);
        assert_eq!(learner.lengths(), 5.0); // √(3² + 4²)
        assert_eq!(learner.net.gradient[..2], [0.6e-6, 0.8e-6]); // 1e-6 · (3, 4)/5
    }
}
