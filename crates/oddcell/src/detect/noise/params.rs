//! The parameters of noise evaluation and its presets.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{KEPT, NoiseFitted, nearest::Nearest};
use crate::{
    Context, DetectorSpec, Matrix,
    aggregate::{Aggregation, Statistic},
    detect::{
        Abilities, BlockDetector, CellUnit, Fitted, Keeps, Params, Preset, Size, TrainFor, Training, neural,
        parameters, ranges, saved,
    },
    error::{FitError, ParamError},
    net::{Activation, Net, Schedule},
    noise::{Form, Kind, Noise},
    tensors::{TensorError, Tensors},
};

/// In a table that is judged by itself, fewer odd rows of one kind than this do not vouch for each other.
const NEAREST_IN_ONE_TABLE: usize = 10;

/// Which net judges the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetKind {
    /// Four dense layers.
    Mlp,
    /// Five residual blocks.
    ResMlp,
}

/// What the squared errors of a batch are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// Nothing: the paper's formula. Weight decay then hardly acts.
    Sum,
    /// The number of cells. Weight decay then acts strongly.
    Mean,
}

parameters! {
    /// The parameters of `noise`.
    pub struct NoiseParams {
        /// Which net: `mlp` or `resmlp`.
        pub net: NetKind = NetKind::Mlp,
        /// Width of the hidden layers; `null`: 64 for up to 64 features, 256 above.
        pub hidden: Option<usize> = Some(128),
        /// The last layer's activation: `linear` or `relu`.
        pub output: Activation = Activation::Linear,
        /// Distribution of the noise: `gaussian`, `laplace`, `uniform`, `rayleigh`, `gamma`, `poisson`,
        /// `salt-pepper`, `bernoulli`.
        pub noise: Kind = Kind::Gaussian,
        /// Highest noise level, in standard deviations of a column.
        pub sigma_max: f64 = 1.0,
        /// Number of noise levels within a row.
        pub levels: usize = 3,
        /// Noised copies per row and epoch, each with the share of its cells that gets noise.
        pub ratios: Vec<f64> = vec![0.5, 0.8, 1.0],
        /// Share of the noised rows that gets difference noise instead.
        pub difference: f64 = 0.5,
        /// Scale of gamma noise.
        pub beta: f64 = 1.0,
        /// Gamma and Poisson noise as `printed` in the paper, or `corrected` to the standard deviation it
        /// promises.
        pub form: Form = Form::Corrected,
        /// How long to train: `500 epochs` or `4000 steps`.
        pub train_for: TrainFor = TrainFor::Steps(2_000),
        /// Rows per optimization step, before their noised copies.
        pub batch_size: usize = 128,
        /// Learning rate at the start.
        pub learning_rate: f64 = 1e-3,
        /// How it changes: `step` (× 0.1 after a fifth), `cosine`, `constant`.
        pub schedule: Schedule = Schedule::Cosine,
        /// L2 decay added to the gradient.
        pub weight_decay: f64 = 0.0,
        /// Squared errors of a batch as `sum` or `mean`.
        pub loss: Loss = Loss::Sum,
        /// How the net's cells of a row become its score.
        pub aggregate: Aggregation = Statistic::L2.into(),
        /// Training rows kept in the model to compare with, drawn at random if there are more; 0: the net
        /// decides alone, and the model holds no rows.
        pub keep_rows: usize = 10_000,
        /// Which of them, by distance, a row is measured by; `null`: the nearest one, and the tenth for a
        /// table that is judged by itself, since odd rows may come in groups there.
        pub n_neighbors: Option<usize> = None,
        /// Whether categories become plain 0/1 features, one for each level, as in the paper.
        pub one_hot: bool = false,
        /// Share of the training rows, the least odd ones, that the net learns from anew after it has learned
        /// from all; 1: it learns once.
        pub trust: f64 = 1.0,
    }
}

impl NoiseParams {
    /// The parameters of a spec, or `None` if it is of another detector.
    pub fn of(spec: &DetectorSpec) -> Option<Self> {
        let params = || serde_json::from_value(Value::Object(spec.params().clone())).ok();
        (spec.entry().name == Self::NAME).then(params).flatten()
    }

    /// Exactly what the paper says, open details decided as in docs/method.md.
    pub fn paper() -> Self {
        Self {
            hidden: None,
            sigma_max: 2.0,
            difference: 0.0,
            form: Form::Printed,
            train_for: TrainFor::Epochs(500),
            batch_size: 256,
            learning_rate: 1e-4,
            schedule: Schedule::Step,
            weight_decay: 5e-4,
            aggregate: Statistic::Max.into(),
            keep_rows: 0,
            one_hot: true,
            ..Self::default()
        }
    }

    /// Learns and scores fastest: a small net alone.
    pub fn fast() -> Self {
        Self { hidden: Some(64), train_for: TrainFor::Steps(1_000), keep_rows: 0, ..Self::default() }
    }

    /// Most accurate and slowest: a wider net, twice the steps, and five times as many rows to compare with.
    pub fn best() -> Self {
        Self { hidden: Some(256), train_for: TrainFor::Steps(4_000), keep_rows: 50_000, ..Self::default() }
    }

    /// The width of the hidden layers for this many features.
    fn hidden(&self, n_features: usize) -> usize {
        self.hidden.unwrap_or(if n_features <= 64 { 64 } else { 256 })
    }

    /// The architecture for this many features.
    pub fn net(&self, n_features: usize) -> Net {
        let hidden = self.hidden(n_features);
        match self.net {
            NetKind::Mlp => Net::mlp(n_features, hidden, self.output),
            NetKind::ResMlp => Net::resmlp(n_features, hidden, self.output),
        }
    }

    /// The noise to train with.
    pub(super) fn noise_to_train_with(&self) -> Noise {
        Noise {
            kind: self.noise,
            sigma_max: self.sigma_max,
            levels: self.levels,
            ratios: self.ratios.clone(),
            beta: self.beta,
            form: self.form,
            difference: self.difference,
        }
    }

    /// The rows to compare with, from a model file.
    fn kept_rows(&self, tensors: &mut Tensors, n_features: usize) -> Result<Matrix, TensorError> {
        let rows = saved::take_table(tensors, KEPT)?;
        if rows.n_cols() != n_features {
            return Err(saved::invalid(
                KEPT,
                &format!("it has {} columns, the net {n_features}", rows.n_cols()),
            ));
        }
        if rows.n_rows() > self.keep_rows {
            let said = format!("it has {} rows, but at most {} are kept", rows.n_rows(), self.keep_rows);
            return Err(saved::invalid(KEPT, &said));
        }
        Ok(rows)
    }
}

impl Params for NoiseParams {
    const NAME: &'static str = "noise";
    const SUMMARY: &'static str = "noise evaluation: a small net says how much noise sits in each cell";
    const PRESETS: &'static [Preset<Self>] =
        &[("default", Self::default), ("fast", Self::fast), ("best", Self::best), ("paper", Self::paper)];
    const ABILITIES: Abilities = Abilities {
        cells: Some(CellUnit::StandardDeviations),
        training: Training::InSteps { short: &[("train_for", "200 steps")], counted: true },
        streams: true,
        keeps: Keeps::Rows(10_000),
        slow_to_score: true,
        ..Abilities::SMALL_NET
    };

    fn for_one_table(self) -> Self {
        Self { n_neighbors: self.n_neighbors.or(Some(NEAREST_IN_ONE_TABLE)), ..self }
    }

    fn check(&self) -> Result<(), ParamError> {
        let require = ranges::require;
        ranges::training(self.batch_size, self.learning_rate)?;
        ranges::count("hidden", self.hidden.unwrap_or(1), 1..=4_096, "between 1 and 4096, or null")?;
        let sigma_max = self.sigma_max;
        require(sigma_max > 0.0 && sigma_max <= 100.0, "sigma_max", sigma_max, "above 0 and at most 100")?;
        ranges::count("levels", self.levels, 1..=10_000, "between 1 and 10000")?;
        ranges::count("ratios", self.ratios.len(), 1..=64, "a list of 1 to 64 numbers")?;
        for &ratio in &self.ratios {
            require(ratio > 0.0 && ratio <= 1.0, "ratios", ratio, "numbers above 0 and at most 1")?;
        }
        require((0.0..=1.0).contains(&self.difference), "difference", self.difference, "between 0 and 1")?;
        require((1e-3..=1e3).contains(&self.beta), "beta", self.beta, "between 0.001 and 1000")?;
        ranges::not_negative("weight_decay", self.weight_decay)?;
        ranges::count("keep_rows", self.keep_rows, 0..=1_000_000, "between 0 and 1000000")?;
        let n_neighbors = self.n_neighbors.unwrap_or(1);
        ranges::count("n_neighbors", n_neighbors, 1..=1_000, "between 1 and 1000, or null")?;
        require(self.trust > 0.0 && self.trust <= 1.0, "trust", self.trust, "above 0 and at most 1")
    }

    fn seconds(&self, Size { n_train, n_cols, .. }: Size) -> f64 {
        let batch = self.batch_size.min(n_train).max(1);
        let steps = self.train_for.steps(n_train.div_ceil(batch)) as f64;
        let rows = (batch * (1 + self.ratios.len())) as f64;
        let (columns, hidden) = (n_cols as f64, self.hidden(n_cols) as f64);
        let inner_layers = match self.net {
            NetKind::Mlp => 2.0,
            NetKind::ResMlp => 10.0,
        };
        steps * rows * 6.0 * (2.0 * columns * hidden + inner_layers * hidden * hidden) / 3e10
    }

    fn abilities(&self) -> Abilities {
        let defaults = Abilities { streams: self.trust == 1.0, one_hot: self.one_hot, ..Self::ABILITIES };
        match self.keep_rows {
            0 => Abilities { keeps: Keeps::Nothing, slow_to_score: false, ..defaults },
            rows => Abilities { keeps: Keeps::Rows(rows), ..defaults },
        }
    }

    fn noise(&self) -> Option<Noise> {
        Some(self.noise_to_train_with())
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        self.learn_all(rows, context)
    }

    fn in_blocks(&self) -> Result<&dyn BlockDetector, &'static str> {
        if self.trust == 1.0 {
            Ok(self)
        } else {
            Err("with `trust` below 1 it needs all rows in memory at once")
        }
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        // The rest of the first layer's shape is checked when the net is loaded.
        let n_features = neural::width_of(tensors, "layer.0.weight")?;
        let net = self.net(n_features);
        let weights = net.load(tensors)?;
        let nearest = if self.keep_rows > 0 {
            let kept = self.kept_rows(tensors, n_features)?;
            Some(Arc::new(Nearest::of(&kept, self.n_neighbors.unwrap_or(1))))
        } else {
            None
        };
        Ok(Box::new(NoiseFitted::new(net, weights, self.aggregate.clone(), nearest)))
    }
}
