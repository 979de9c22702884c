//! `plad`: a classifier of rows against slightly changed rows, in the style of perturbation learning (PLAD).
//!
//! *Why:* a net g learns small changes of normal rows that a classifier f can recognize; f then knows where
//! normal ends.
//!
//! *Formula:* changed row x̃ = α ∘ x + β with (α, β) from g(x); both nets lower together mean [ BCE(f(x), 0)
//! + BCE(f(x̃), 1) + `penalty` · (‖α − 1‖² + ‖β‖²) ]. The score is f(x), before the sigmoid.
//!
//! *Source:* Cai, Fan (2022), "Perturbation learning based anomaly detection". **A re-implementation in its
//! style:** we could read neither the paper's body nor the authors' code. The objective agrees with the
//! abstract; the form of g, all sizes and all rates are ours, and we could not reproduce the published
//! figures.

use super::neural::prelude::*;

/// How g's answer (a, b) changes a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Perturbation {
    /// α = 1 + a ∘ ε, β = b ∘ ε′ with standard normal ε and ε′, drawn afresh in every step.
    Random,
    /// α = 1 + a, β = b. The two nets then agree on one direction, and f looks that way only.
    Fixed,
}

parameters! {
    /// The parameters of `plad`.
    pub(super) struct PladParams {
        /// How rows are changed: `random` or `fixed`.
        pub perturbation: Perturbation = Perturbation::Random,
        /// Weight of the size of the changes in the loss, finite and at least 0.
        pub penalty: f64 = 1e-3,
        /// Width of the classifier's four hidden layers, 1 to 4096; `null`: 64 for up to 64 features, 256
        /// above.
        pub hidden: Option<usize> = None,
        /// How long to train: `100 epochs` or `4000 steps`.
        pub train_for: TrainFor = TrainFor::Epochs(100),
        /// Rows per step, 1 to 16384.
        pub batch_size: usize = 128,
        /// Learning rate, finite and above 0.
        pub learning_rate: f64 = 1e-3,
    }
}

impl PladParams {
    fn classifier(&self, width: usize) -> Vec<Layer> {
        let hidden = self.hidden.unwrap_or(if width <= 64 { 64 } else { 256 });
        let mut layers = [Layer::torch(hidden), Layer::Curve(Curve::Relu)].repeat(4);
        layers.push(Layer::torch(1));
        layers
    }

    /// The net g. Fixed changes start close to none. Random ones could not grow from there: as often to one
    /// side as to the other, small changes leave the classifier nothing to recognize.
    fn perturbator(&self, width: usize) -> Vec<Layer> {
        let init = match self.perturbation {
            Perturbation::Random => Init::Torch,
            Perturbation::Fixed => Init::NearZero,
        };
        let mut layers = [Layer::torch(64), Layer::Curve(Curve::Relu)].repeat(2);
        layers.push(Layer::Linear { outputs: 2 * width, bias: true, init });
        layers
    }
}

impl Params for PladParams {
    const NAME: &'static str = "plad";
    const SUMMARY: &'static str =
        "PLAD style: a classifier of rows against rows that another net has changed a little";
    const ABILITIES: Abilities = Abilities::SMALL_NET;

    fn check(&self) -> Result<(), ParamError> {
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::not_negative("penalty", self.penalty)?;
        ranges::count("hidden", self.hidden.unwrap_or(1), 1..=4_096, "between 1 and 4096, or null")
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let plan = Plan::new(rows, self.train_for, self.batch_size, self.learning_rate, context.seed);
        let rows = TrainingRows::new(rows, None);
        let learner = Perturbing::new(self, rows, plan.batch_rows(), context.seed);
        neural::fit(learner, plan, context, |learner| FittedPlad {
            classifier: learner.classifier.stack.clone(),
        })
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let width = neural::take_width(tensors)?;
        let classifier = Stack::load("classifier", width, &self.classifier(width), tensors)?;
        Ok(Box::new(FittedPlad { classifier }))
    }
}

/// The joint training of both nets.
struct Perturbing {
    rows: TrainingRows,
    classifier: Trainee,
    perturbator: Trainee,
    perturbation: Perturbation,
    penalty: f32,
    seed: Seed,
    /// ε and ε′ of every row, or ones: 2 · width values a row.
    factors: Vec<f32>,
}

impl Perturbing {
    fn new(params: &PladParams, rows: TrainingRows, batch_rows: usize, seed: Seed) -> Self {
        let width = rows.width();
        let trainee = |name: &str, layers: &[Layer], capacity: usize| {
            let stack = Stack::new(width, layers, seed.child(name, 0));
            Trainee::new(stack, capacity, Flavour::Torch, 0.0)
        };
        Self {
            classifier: trainee("classifier", &params.classifier(width), 2 * batch_rows),
            perturbator: trainee("perturbator", &params.perturbator(width), batch_rows),
            rows,
            perturbation: params.perturbation,
            penalty: params.penalty as f32,
            seed,
            factors: vec![1.0; batch_rows * 2 * width],
        }
    }

    /// Writes the changed rows behind the rows themselves; gives Σ (‖α − 1‖² + ‖β‖²).
    fn change_rows(&mut self, n_rows: usize) -> f64 {
        let width = self.rows.width();
        let stride = padded(width);
        let said = self.perturbator.tape.output().chunks_exact(padded(2 * width));
        let (rows, changed) = self.classifier.tape.input_mut().split_at_mut(n_rows * stride);
        let mut sizes = 0.0;
        let lines = rows.chunks_exact(stride).zip(changed.chunks_exact_mut(stride));
        for (((row, changed), said), factors) in lines.zip(said).zip(self.factors.chunks_exact(2 * width)) {
            for column in 0..width {
                let stretch = said[column] * factors[column];
                let shift = said[width + column] * factors[width + column];
                changed[column] = row[column] + stretch * row[column] + shift;
                sizes += f64::from(stretch * stretch + shift * shift);
            }
        }
        sizes
    }
}

impl Learner for Perturbing {
    fn learn(&mut self, batch: &[u32], step: usize) -> f64 {
        let (n_rows, width) = (batch.len(), self.rows.width());
        let stride = padded(width);
        self.rows.gather(batch, self.perturbator.tape.input_mut());
        self.rows.gather(batch, self.classifier.tape.input_mut());
        if self.perturbation == Perturbation::Random {
            let mut noise = self.seed.stream("perturbation", &[step as u64]);
            self.factors[..n_rows * 2 * width].fill_with(|| noise.normal() as f32);
        }
        self.perturbator.forward(n_rows, 0);
        let sizes = self.change_rows(n_rows);
        self.classifier.forward(2 * n_rows, 0);

        let (output, delta) = self.classifier.output_and_delta(2 * n_rows);
        let mut sum = f64::from(self.penalty) * sizes;
        let sums = output.iter().step_by(padded(1)).zip(delta.iter_mut().step_by(padded(1)));
        for (at, (output, delta)) in sums.enumerate() {
            let label = if at < n_rows { 0.0 } else { 1.0 };
            sum += neural::cross_entropy(*output, label);
            *delta = (sigmoid(*output) - label) / n_rows as f32;
        }
        self.classifier.backward(2 * n_rows, true);

        let changed = &self.classifier.tape.input_delta()[n_rows * stride..2 * n_rows * stride];
        let slope = 2.0 * self.penalty / n_rows as f32;
        let Trainee { stack, tape, gradient, .. } = &mut self.perturbator;
        let (rows, said, delta) = tape.ends_and_delta(stack, n_rows);
        let said = said.chunks_exact(padded(2 * width)).zip(delta.chunks_exact_mut(padded(2 * width)));
        let rows = rows.chunks_exact(stride).zip(changed.chunks_exact(stride));
        for (((said, delta), (row, changed)), factors) in
            said.zip(rows).zip(self.factors.chunks_exact(2 * width))
        {
            for column in 0..width {
                let (stretch, shift) = (factors[column], factors[width + column]);
                delta[column] = (changed[column] * row[column] + slope * said[column] * stretch) * stretch;
                delta[width + column] = (changed[column] + slope * said[width + column] * shift) * shift;
            }
        }
        tape.backward(stack, n_rows, Some(gradient), false);
        sum / n_rows as f64
    }

    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
        [&mut self.classifier, &mut self.perturbator].into_iter().for_each(visit);
    }
}

/// A trained classifier.
#[derive(Debug)]
struct FittedPlad {
    classifier: Stack,
}

impl Fitted for FittedPlad {
    fn n_features(&self) -> usize {
        self.classifier.n_inputs()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        neural::judge_by_output(&self.classifier, rows, None, |_, output| f64::from(output[0]))
    }

    fn save_to(&self, tensors: &mut Tensors) {
        neural::put_width(tensors, self.n_features());
        self.classifier.save("classifier", tensors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learner(params: &PladParams) -> Perturbing {
        let mut stream = Seed(3).stream("rows", &[]);
        let rows = Matrix::new((0..40).map(|_| stream.normal()).collect(), 8, 5);
        Perturbing::new(params, TrainingRows::new(&rows, None), 8, Seed(1))
    }

    #[test]
    fn the_gradient_matches_finite_differences_for_both_perturbations() {
        for perturbation in [Perturbation::Random, Perturbation::Fixed] {
            let params = PladParams { perturbation, penalty: 0.3, ..PladParams::default() };
            let mut learner = learner(&params);
            // Fresh weights give sums so close to 0 that any difference crosses a kink, and changes close to
            // none.
            let doubled = |weight: &mut f32| *weight *= 2.0;
            learner.classifier.stack.change(|weights| weights.iter_mut().for_each(doubled));
            let last = learner.perturbator.stack.matrices().last().unwrap();
            let larger = |weight: &mut f32| *weight = weight.signum() * 0.1;
            learner.perturbator.stack.change(|weights| weights[last].iter_mut().for_each(larger));
            neural::check_gradient(&mut learner, &[0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    // f says 0 of everything: 2·ln 2. g says (a, b) = (0.5, …, −0.25, …) of five columns: 5·(0.25 + 0.0625).
    #[test]
    fn the_loss_is_two_cross_entropies_and_the_size_of_the_changes() {
        let params = PladParams { perturbation: Perturbation::Fixed, penalty: 2.0, ..PladParams::default() };
        let mut learner = learner(&params);
        learner.classifier.stack.change(|weights| weights.fill(0.0));
        learner.perturbator.stack.change(|weights| {
            weights.fill(0.0);
            let bias = weights.len() - padded(10);
            weights[bias..bias + 5].fill(0.5);
            weights[bias + 5..bias + 10].fill(-0.25);
        });
        let loss = learner.learn(&[2, 0, 1], 1);
        let expected = 2.0 * std::f64::consts::LN_2 + 2.0 * 5.0 * (0.25 + 0.0625);
        assert!((loss - expected).abs() < 1e-6, "{loss} against {expected}");
        let input = learner.classifier.tape.input();
        assert_eq!(input[3 * 8], 1.5 * input[0] - 0.25);
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let default = PladParams::default;
        for (name, params) in [
            ("penalty", PladParams { penalty: f64::NAN, ..default() }),
            ("hidden", PladParams { hidden: Some(0), ..default() }),
            ("learning_rate", PladParams { learning_rate: -1.0, ..default() }),
        ] {
            let error = params.build().unwrap_err();
            assert!(matches!(error, ParamError::OutOfRange { name: found, .. } if found == name), "{error}");
        }
    }
}
