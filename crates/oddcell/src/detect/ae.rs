//! `ae`: an auto-encoder's reconstruction error.
//!
//! *Why:* a net that learned to squeeze normal rows through few units and to restore them does worse on rows
//! unlike those.
//!
//! *Formula:* z the standardized row, net h; score = ‖z − h(z)‖₂. The loss of a batch is the mean over rows
//! and columns of (z − h(z))², plus `activity_penalty` · Σ activations² / rows over all layers (Keras
//! generation).
//!
//! *Source:* PyOD's `AutoEncoder`. The Keras generation has two layers as wide as the data before the hidden
//! ones and ends in a sigmoid, which cannot reach most standardized values; with its activity penalty the
//! output is nearly the same for every row, and the score nearly ‖z‖. It is reproduced because published
//! results used it.

use super::neural::prelude::*;

parameters! {
    /// The parameters of `ae`.
    pub(super) struct AeParams {
        /// Whose architecture: `keras` or `torch`.
        pub generation: Generation = Generation::Keras,
        /// Widths of the hidden layers, 1 to 16 of them, each 1 to 4096. With `keras`, all of them; with
        /// `torch`, down to the narrowest, and the way up is the mirror image.
        pub hidden: Vec<usize> = vec![64, 32, 32, 64],
        /// Share of the hidden units dropped in a training step, at least 0 and below 1.
        pub dropout: f64 = 0.2,
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

impl AeParams {
    /// What PyOD 2.0 and later do.
    #[must_use]
    pub(super) fn torch() -> Self {
        Self {
            generation: Generation::Torch,
            hidden: vec![64, 32],
            activity_penalty: 0.0,
            weight_decay: 1e-5,
            holdout: 0.0,
            train_for: TrainFor::Epochs(10),
            ..Self::default()
        }
    }

    /// The net for rows of `width` columns.
    fn layers(&self, width: usize) -> Vec<Layer> {
        let dropout = Layer::Dropout(self.dropout as f32);
        let penalty = Layer::ActivityPenalty(self.activity_penalty as f32);
        match self.generation {
            Generation::Keras => {
                let dense = |outputs| Layer::Linear { outputs, bias: true, init: Init::Glorot };
                let hidden = [width, width].into_iter().chain(self.hidden.iter().copied());
                let mut layers: Vec<Layer> = hidden
                    .flat_map(|outputs| [dense(outputs), Layer::Curve(Curve::Relu), penalty, dropout])
                    .collect();
                layers.extend([dense(width), Layer::Curve(Curve::Sigmoid), penalty]);
                layers
            }
            Generation::Torch => {
                let norm = Layer::BatchNorm { channels: Channels::Columns, affine: true };
                let linear = |outputs| Layer::Linear { outputs, bias: true, init: Init::Kaiming };
                let up = self.hidden.iter().rev().skip(1);
                let mut layers: Vec<Layer> = (self.hidden.iter().chain(up))
                    .flat_map(|&outputs| [linear(outputs), norm, Layer::Curve(Curve::Relu), penalty, dropout])
                    .collect();
                layers.push(Layer::torch(width));
                layers
            }
        }
    }
}

impl Params for AeParams {
    const NAME: &'static str = "ae";
    const SUMMARY: &'static str = "auto-encoder: how badly a net restores the row";
    const PRESETS: &'static [Preset<Self>] = &[("default", Self::default), ("torch", Self::torch)];
    const ABILITIES: Abilities = Abilities::SMALL_NET;

    fn check(&self) -> Result<(), ParamError> {
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::widths("hidden", &self.hidden)?;
        ranges::share("dropout", self.dropout)?;
        ranges::share("holdout", self.holdout)?;
        ranges::not_negative("activity_penalty", self.activity_penalty)?;
        ranges::not_negative("weight_decay", self.weight_decay)
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let scaler = Scaler::standard(rows, self.generation);
        let plan = Plan::new(rows, self.train_for, self.batch_size, self.learning_rate, context.seed)
            .of_generation(self.generation, self.holdout);
        let learner =
            Restoring::new(self, TrainingRows::new(rows, Some(&scaler)), plan.batch_rows(), context);
        neural::fit(learner, plan, context, |learner| FittedAe {
            scaler: scaler.clone(),
            stack: learner.net.stack.clone(),
        })
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let scaler = Scaler::load(tensors)?;
        let width = scaler.width();
        let stack = Stack::load("net", width, &self.layers(width), tensors)?;
        Ok(Box::new(FittedAe { scaler, stack }))
    }
}

/// The training of an auto-encoder.
struct Restoring {
    rows: TrainingRows,
    net: Trainee,
    dropout_key: u64,
}

impl Restoring {
    fn new(params: &AeParams, rows: TrainingRows, batch_rows: usize, context: &Context<'_>) -> Self {
        let width = rows.width();
        let stack = Stack::new(width, &params.layers(width), context.seed);
        let net = Trainee::new(stack, batch_rows, params.generation.flavour(), params.weight_decay);
        Self { rows, net, dropout_key: context.seed.key("dropout", &[]) }
    }
}

impl Learner for Restoring {
    fn learn(&mut self, batch: &[u32], step: usize) -> f64 {
        let (n_rows, width) = (batch.len(), self.rows.width());
        self.rows.gather(batch, self.net.tape.input_mut());
        self.net.forward(n_rows, subkey(self.dropout_key, step as u64));
        let n_cells = (n_rows * width) as f64;
        let slope = (2.0 / n_cells) as f32;
        let (output, delta) = self.net.output_and_delta(n_rows);
        let mut sum = 0.0;
        let lines = output.chunks_exact(padded(width)).zip(delta.chunks_exact_mut(padded(width)));
        for ((output, delta), &row) in lines.zip(batch) {
            let row = self.rows.row(row);
            for column in 0..width {
                let error = output[column] - row[column];
                delta[column] = slope * error;
                sum += f64::from(error * error);
            }
        }
        self.net.backward(n_rows, false);
        sum / n_cells + self.net.tape.penalty()
    }

    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
        visit(&mut self.net);
    }
}

/// A trained auto-encoder.
#[derive(Debug)]
struct FittedAe {
    scaler: Scaler,
    stack: Stack,
}

impl Fitted for FittedAe {
    fn n_features(&self) -> usize {
        self.scaler.width()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        neural::judge_by_output(&self.stack, rows, Some(&self.scaler), |row, output| {
            let error = |(&output, &value): (&f32, &f32)| f64::from(output - value).powi(2);
            output.iter().zip(row).map(error).sum::<f64>().sqrt()
        })
    }

    fn save_to(&self, tensors: &mut Tensors) {
        self.stack.save("net", tensors);
        self.scaler.save(tensors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn rows(n: usize, width: usize) -> Matrix {
        let mut stream = Seed(3).stream("rows", &[]);
        Matrix::new((0..n * width).map(|_| stream.normal()).collect(), n, width)
    }

    #[test]
    fn the_gradient_of_both_losses_matches_finite_differences() {
        let rows = rows(8, 5);
        for params in [AeParams::default(), AeParams { activity_penalty: 0.05, ..AeParams::torch() }] {
            let scaler = Scaler::standard(&rows, params.generation);
            let context = Context::silent(Seed(1));
            let mut learner = Restoring::new(&params, TrainingRows::new(&rows, Some(&scaler)), 8, &context);
            neural::check_gradient(&mut learner, &[0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn the_nets_have_the_widths_of_the_two_generations() {
        let widths = |params: AeParams| {
            let width =
                |layer: &Layer| if let Layer::Linear { outputs, .. } = layer { Some(*outputs) } else { None };
            params.layers(7).iter().filter_map(width).collect::<Vec<_>>()
        };
        assert_eq!(widths(AeParams::default()), [7, 7, 64, 32, 32, 64, 7]);
        assert_eq!(widths(AeParams::torch()), [64, 32, 64, 7]);
    }

    #[test] // The Keras form learns to say the same small vector for every row: the score is close to ‖z‖.
    fn scores_of_the_keras_form_are_close_to_the_length_of_the_row() {
        let train = rows(300, 20);
        let detector = AeParams { train_for: TrainFor::Epochs(30), ..AeParams::default() }.build().unwrap();
        let fitted = detector.fit(&train, &Context::silent(Seed(1))).unwrap();
        let scaler = Scaler::standard(&train, Generation::Keras);
        for (row, score) in train.rows().zip(fitted.score(&train).unwrap()) {
            let square = |(column, &value): (usize, &f64)| scaler.apply(column, value).powi(2);
            let length = row.iter().enumerate().map(square).sum::<f64>().sqrt();
            assert!((score / length - 1.0).abs() < 0.15, "{score} beside {length}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let default = AeParams::default;
        for (name, params) in [
            ("hidden", AeParams { hidden: vec![], ..default() }),
            ("hidden", AeParams { hidden: vec![64, 0], ..default() }),
            ("dropout", AeParams { dropout: 1.0, ..default() }),
            ("dropout", AeParams { dropout: f64::NAN, ..default() }),
            ("holdout", AeParams { holdout: -0.1, ..default() }),
            ("activity_penalty", AeParams { activity_penalty: f64::INFINITY, ..default() }),
            ("weight_decay", AeParams { weight_decay: -1.0, ..default() }),
            ("batch_size", AeParams { batch_size: 0, ..default() }),
            ("learning_rate", AeParams { learning_rate: 0.0, ..default() }),
        ] {
            let error = params.build().unwrap_err();
            assert!(matches!(error, ParamError::OutOfRange { name: found, .. } if found == name), "{error}");
        }
    }
}
