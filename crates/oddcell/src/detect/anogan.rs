//! `anogan`: how well a generator of normal rows can imitate a row.
//!
//! *Why:* a generator G and a discriminator D are trained against each other until G makes rows like the
//! normal ones; what G cannot make is odd.
//!
//! *Formula:* E(z) = mean |x − G(z)| + mean |φ(x) − φ(G(z))|, with φ the second hidden layer of D. From z =
//! 0, z is moved by Adam; the score is E after `search_steps` − 1 moves. Training: G lowers BCE(D(G(z)), 1),
//! D lowers BCE(D(x), 0.9) + BCE(D(G(z)), 0), both from one pass with the same weights.
//!
//! *Source:* Schlegl et al. (2017), "Unsupervised anomaly detection with generative adversarial networks";
//! PyOD's `AnoGAN` on Keras. G and D share one optimizer there, so G sees its odd step numbers and D its even
//! ones.

use super::neural::prelude::*;

/// Width of the generator's input.
const LATENT: usize = 2;
/// The label of a real row for the discriminator.
const REAL: f32 = 0.9;
/// Widths of the generator's hidden layers.
const GENERATOR: [usize; 5] = [20, 10, 3, 10, 20];
/// Widths of the discriminator's hidden layers up to the one that is compared, and behind it.
const FEATURES: [usize; 2] = [20, 10];
const HEAD: [usize; 1] = [5];

parameters! {
    /// The parameters of `anogan`.
    pub(super) struct AnoGanParams {
        /// Share of the units dropped in a training step, at least 0 and below 1.
        pub dropout: f64 = 0.2,
        /// How long to train: `500 steps`. An epoch is one step, on rows drawn afresh.
        pub train_for: TrainFor = TrainFor::Steps(500),
        /// Rows per step, 1 to 16384.
        pub batch_size: usize = 32,
        /// Learning rate, finite and above 0.
        pub learning_rate: f64 = 1e-3,
        /// Attempts to imitate a row that is scored, 1 to 10000.
        pub search_steps: usize = 20,
        /// Learning rate of the search, finite and above 0.
        pub search_rate: f64 = 0.01,
    }
}

impl AnoGanParams {
    /// Dropout before tanh layers of these widths, one after the other.
    fn hidden(&self, widths: &[usize]) -> impl Iterator<Item = Layer> {
        let dropout = Layer::Dropout(self.dropout as f32);
        widths.iter().flat_map(move |&outputs| [dropout, dense(outputs), Layer::Curve(Curve::Tanh)])
    }

    fn generator(&self, width: usize) -> Vec<Layer> {
        let last = [Layer::Dropout(self.dropout as f32), dense(width)];
        self.hidden(&GENERATOR).chain(last).collect()
    }

    /// The discriminator up to the layer φ.
    fn features(&self) -> Vec<Layer> {
        self.hidden(&FEATURES).collect()
    }

    /// The discriminator behind φ, up to the sum that a sigmoid would be taken of.
    fn head(&self) -> Vec<Layer> {
        let last = [Layer::Dropout(self.dropout as f32), dense(1)];
        self.hidden(&HEAD).chain(last).collect()
    }
}

fn dense(outputs: usize) -> Layer {
    Layer::Linear { outputs, bias: true, init: Init::Glorot }
}

impl Params for AnoGanParams {
    const NAME: &'static str = "anogan";
    const SUMMARY: &'static str = "AnoGAN: how well a generator of normal rows can imitate the row";
    const ABILITIES: Abilities = Abilities { slow_to_score: true, ..Abilities::SMALL_NET };

    fn check(&self) -> Result<(), ParamError> {
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::share("dropout", self.dropout)?;
        ranges::count("search_steps", self.search_steps, 1..=10_000, "between 1 and 10000")?;
        ranges::rate("search_rate", self.search_rate)
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let plan = Plan::new(rows, self.train_for, self.batch_size, self.learning_rate, context.seed)
            .in_batches(Batches::One);
        let rows = TrainingRows::new(rows, None);
        let learner = Contest::new(self, rows, plan.batch_rows(), context.seed);
        neural::fit(learner, plan, context, |learner| FittedAnoGan {
            params: self.clone(),
            generator: learner.generator.stack.clone(),
            features: learner.features.stack.clone(),
        })
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        // The layer after the discriminator's first dropout.
        let width = neural::width_of(tensors, "features.1.weight")?;
        let generator = Stack::load("generator", LATENT, &self.generator(width), tensors)?;
        let features = Stack::load("features", width, &self.features(), tensors)?;
        Ok(Box::new(FittedAnoGan { params: self.clone(), generator, features }))
    }
}

/// Generator and discriminator in training.
struct Contest {
    rows: TrainingRows,
    generator: Trainee,
    features: Trainee,
    head: Trainee,
    seed: Seed,
    dropout_key: u64,
    /// The two losses of the last step.
    generator_loss: f64,
    discriminator_loss: f64,
}

impl Contest {
    fn new(params: &AnoGanParams, rows: TrainingRows, batch_rows: usize, seed: Seed) -> Self {
        let width = rows.width();
        let trainee = |name: &str, inputs: usize, layers: &[Layer]| {
            let stack = Stack::new(inputs, layers, seed.child(name, 0));
            Trainee::new(stack, batch_rows, Flavour::Keras, 0.0)
        };
        Self {
            generator: trainee("generator", LATENT, &params.generator(width)),
            features: trainee("features", width, &params.features()),
            head: trainee("head", FEATURES[1], &params.head()),
            rows,
            seed,
            dropout_key: seed.key("dropout", &[]),
            generator_loss: 0.0,
            discriminator_loss: 0.0,
        }
    }

    /// Sends what lies in the input of `features` through the whole discriminator.
    fn discriminate(&mut self, n_rows: usize, key: u64) {
        self.features.forward(n_rows, key);
        let (output, input) = (self.features.tape.output(), self.head.tape.input_mut());
        input.copy_from_slice(output);
        self.head.forward(n_rows, subkey(key, 0));
    }

    /// The mean of BCE(D, `label`) over the rows just seen, and its delta at the discriminator's output.
    fn judge(&mut self, n_rows: usize, label: f32) -> f64 {
        let (output, delta) = self.head.output_and_delta(n_rows);
        let mut sum = 0.0;
        for (output, delta) in output.iter().step_by(padded(1)).zip(delta.iter_mut().step_by(padded(1))) {
            sum += neural::cross_entropy(*output, label);
            *delta = (sigmoid(*output) - label) / n_rows as f32;
        }
        sum / n_rows as f64
    }

    /// Sends the delta at the discriminator's output back; with `learning`, into its gradient, otherwise only
    /// through it to its input.
    fn back(&mut self, n_rows: usize, learning: bool) {
        let Trainee { stack, tape, gradient, .. } = &mut self.head;
        tape.backward(stack, n_rows, learning.then_some(gradient), true);
        let cells = n_rows * padded(FEATURES[1]);
        let (_, delta) = self.features.output_and_delta(n_rows);
        delta.copy_from_slice(&self.head.tape.input_delta()[..cells]);
        let Trainee { stack, tape, gradient, .. } = &mut self.features;
        tape.backward(stack, n_rows, learning.then_some(gradient), !learning);
    }
}

impl Learner for Contest {
    /// Gives the discriminator's loss.
    fn learn(&mut self, batch: &[u32], step: usize) -> f64 {
        let n_rows = batch.len();
        let key = subkey(self.dropout_key, step as u64);
        let mut noise = self.seed.stream("latent", &[step as u64]);
        for line in self.generator.tape.input_mut().chunks_exact_mut(padded(LATENT)).take(n_rows) {
            line[..LATENT].fill_with(|| noise.normal() as f32);
        }
        self.generator.forward(n_rows, subkey(key, 0));

        self.rows.gather(batch, self.features.tape.input_mut());
        self.discriminate(n_rows, subkey(key, 1));
        self.discriminator_loss = self.judge(n_rows, REAL);
        self.back(n_rows, true);

        let cells = n_rows * padded(self.rows.width());
        let made = &self.generator.tape.output()[..cells];
        self.features.tape.input_mut()[..cells].copy_from_slice(made);
        self.discriminate(n_rows, subkey(key, 2));
        self.discriminator_loss += self.judge(n_rows, 0.0);
        self.back(n_rows, true);
        self.generator_loss = self.judge(n_rows, 1.0);
        self.back(n_rows, false);
        let (_, delta) = self.generator.output_and_delta(n_rows);
        delta.copy_from_slice(&self.features.tape.input_delta()[..cells]);
        self.generator.backward(n_rows, false);
        self.discriminator_loss
    }

    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
        [&mut self.generator, &mut self.features, &mut self.head].into_iter().for_each(visit);
    }

    fn update(&mut self, step: usize, rate: f64) {
        self.generator.update(2 * step - 1, rate);
        self.features.update(2 * step, rate);
        self.head.update(2 * step, rate);
    }
}

/// A trained generator, and the part of the discriminator that compares rows.
#[derive(Debug)]
struct FittedAnoGan {
    params: AnoGanParams,
    generator: Stack,
    features: Stack,
}

/// Buffers of one thread that scores.
struct Search {
    rows: Vec<f32>,
    row_features: Vec<f32>,
    latent: Vec<f32>,
    adam: Adam,
    generator: Tape,
    features: Tape,
}

impl Search {
    fn new(fitted: &FittedAnoGan) -> Self {
        let latent = SCORE_ROWS * padded(LATENT);
        Self {
            rows: vec![0.0; SCORE_ROWS * padded(fitted.n_features())],
            row_features: vec![0.0; SCORE_ROWS * padded(FEATURES[1])],
            latent: vec![0.0; latent],
            adam: Adam::new(Flavour::Keras, latent, 0.0),
            generator: Tape::for_training(&fitted.generator, SCORE_ROWS),
            features: Tape::for_training(&fitted.features, SCORE_ROWS),
        }
    }

    /// E of every row at its current latent point, and the derivative by that point in the generator's tape.
    fn evaluate(&mut self, fitted: &FittedAnoGan, scores: &mut [f64]) {
        let (n_rows, width) = (scores.len(), fitted.n_features());
        let cells = n_rows * padded(width);
        self.generator.input_mut().copy_from_slice(&self.latent);
        self.generator.forward(&fitted.generator, n_rows);
        self.features.input_mut()[..cells].copy_from_slice(&self.generator.output()[..cells]);
        self.features.forward(&fitted.features, n_rows);

        scores.fill(0.0);
        let (features, delta) = self.features.output_and_delta(&fitted.features, n_rows);
        add_distances(features, &self.row_features, FEATURES[1], delta, scores);
        self.features.backward(&fitted.features, n_rows, None, true);
        let (made, delta) = self.generator.output_and_delta(&fitted.generator, n_rows);
        add_distances(made, &self.rows, width, delta, scores);
        for (delta, by_features) in delta.iter_mut().zip(self.features.input_delta()) {
            *delta += by_features;
        }
        self.generator.backward(&fitted.generator, n_rows, None, true);
    }
}

/// Adds mean |made − given| of every row to its score; writes the derivative by `made` to `delta`.
fn add_distances(made: &[f32], given: &[f32], width: usize, delta: &mut [f32], scores: &mut [f64]) {
    let stride = padded(width);
    let slope = 1.0 / width as f32;
    for (row, score) in scores.iter_mut().enumerate() {
        let mut sum = 0.0;
        for at in row * stride..row * stride + width {
            let distance = made[at] - given[at];
            sum += f64::from(distance.abs());
            delta[at] = if distance == 0.0 { 0.0 } else { slope.copysign(distance) };
        }
        *score += sum / width as f64;
    }
}

impl Fitted for FittedAnoGan {
    fn n_features(&self) -> usize {
        self.features.n_inputs()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let width = self.n_features();
        let prepare = || Search::new(self);
        neural::judge_in_blocks(rows, SCORE_ROWS, prepare, |search, rows, scores| {
            neural::fill(&mut search.rows, rows, width, None);
            search.features.input_mut().copy_from_slice(&search.rows);
            search.features.forward(&self.features, scores.len());
            search.row_features.copy_from_slice(search.features.output());
            search.latent.fill(0.0);
            search.adam.reset();
            for step in 1..=self.params.search_steps {
                search.evaluate(self, scores);
                let Search { latent, adam, generator, .. } = search;
                let delta = generator.input_delta();
                adam.step(step, self.params.search_rate, latent, delta);
            }
        })
    }

    fn save_to(&self, tensors: &mut Tensors) {
        self.generator.save("generator", tensors);
        self.features.save("features", tensors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, width: usize) -> Matrix {
        let mut stream = Seed(3).stream("rows", &[]);
        Matrix::new((0..n * width).map(|_| stream.normal()).collect(), n, width)
    }

    fn contest(params: &AnoGanParams) -> Contest {
        Contest::new(params, TrainingRows::new(&rows(8, 5), None), 8, Seed(1))
    }

    /// One of the two players, with its own loss.
    struct Player<'a> {
        contest: &'a mut Contest,
        is_generator: bool,
    }

    impl Learner for Player<'_> {
        fn learn(&mut self, batch: &[u32], step: usize) -> f64 {
            self.contest.learn(batch, step);
            if self.is_generator { self.contest.generator_loss } else { self.contest.discriminator_loss }
        }

        fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee)) {
            let Contest { generator, features, head, .. } = &mut *self.contest;
            if self.is_generator {
                visit(generator);
            } else {
                [features, head].into_iter().for_each(visit);
            }
        }
    }

    #[test]
    fn the_gradients_of_both_players_match_finite_differences() {
        for is_generator in [true, false] {
            let mut contest = contest(&AnoGanParams::default());
            let mut player = Player { contest: &mut contest, is_generator };
            neural::check_gradient(&mut player, &[0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    // An untrained discriminator whose last sum is 0 says 1/2 of everything: −ln(1/2) for every label.
    #[test]
    fn the_losses_of_a_discriminator_that_knows_nothing_are_logarithms_of_two() {
        let mut contest = contest(&AnoGanParams::default());
        contest.head.stack.change(|weights| weights.fill(0.0));
        contest.learn(&[0, 1, 2], 1);
        let ln2 = std::f64::consts::LN_2;
        assert!((contest.generator_loss - ln2).abs() < 1e-6, "{}", contest.generator_loss);
        assert!((contest.discriminator_loss - 2.0 * ln2).abs() < 1e-6, "{}", contest.discriminator_loss);
    }

    #[test]
    fn searching_brings_the_generated_row_closer() {
        let train = rows(100, 3);
        let score = |search_steps| {
            let params = AnoGanParams { search_steps, search_rate: 0.05, ..AnoGanParams::default() };
            params.build().unwrap().fit(&train, &Context::silent(Seed(1))).unwrap().score(&train).unwrap()
        };
        let (first, last): (f64, f64) = (score(1).iter().sum(), score(60).iter().sum());
        assert!(last < 0.97 * first, "{last} after the search, {first} before");
    }

    #[test] // With z kept at 0 the score is mean |x − G(0)| + mean |φ(x) − φ(G(0))|.
    fn the_score_is_the_distance_of_rows_and_of_their_features() {
        let params = AnoGanParams { search_steps: 1, ..AnoGanParams::default() };
        let generator = Stack::new(LATENT, &params.generator(3), Seed(1));
        let features = Stack::new(3, &params.features(), Seed(2));
        let answer = |stack: &Stack, row: &[f32]| {
            let mut tape = Tape::for_scoring(stack, 1);
            tape.input_mut()[..row.len()].copy_from_slice(row);
            tape.forward(stack, 1);
            tape.output()[..stack.n_outputs()].to_vec()
        };
        let mean = |a: &[f32], b: &[f32]| {
            a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>() / a.len() as f64
        };
        let row = [0.5f32, -1.25, 2.0];
        let made = answer(&generator, &[0.0, 0.0]);
        let expected = mean(&row, &made) + mean(&answer(&features, &row), &answer(&features, &made));
        let fitted = FittedAnoGan { params, generator, features };
        let score = fitted.score(&Matrix::from_rows(&[row.map(f64::from)])).unwrap()[0];
        assert!((score - expected).abs() < 1e-6, "{score} against {expected}");
    }
}
