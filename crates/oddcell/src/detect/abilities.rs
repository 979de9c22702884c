//! What a method can do, what it costs, and what its models keep of the training table.
//!
//! Every detector states this once, with its parameters (`Params`). The command line, the
//! laboratory, the explanations and the tests ask the detector's [`super::Entry`]; none of them knows
//! detectors by name.

use serde::Serialize;

/// What the number in a cell means. A reason must not claim more than the unit says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellUnit {
    /// How far off the value is, in standard deviations of the training column after encoding.
    #[serde(rename = "sd")]
    StandardDeviations,
    /// How rare the value is in its column: −ln of the share of training values at least as far out (both
    /// tails added for a column without skew). It says nothing about a distance.
    Surprise,
    /// How rare the value is, in its column or given the other columns, whichever is odder, as a surprise.
    #[serde(rename = "surprise in context")]
    SurpriseInContext,
}

impl CellUnit {
    /// From here on a cell counts as odd by itself: one standard deviation, or one training value in a hundred.
    #[must_use]
    pub fn odd_from(self) -> f64 {
        match self {
            Self::StandardDeviations => 1.0,
            Self::Surprise | Self::SurpriseInContext => 4.6,
        }
    }
}

/// How a method learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Training {
    /// In one go: its parameters cannot make it shorter.
    AtOnce,
    /// In steps, for as long as the parameter `train_for` says.
    InSteps {
        /// Parameters and values that make training short: enough for tests of everything but accuracy.
        short: &'static [(&'static str, &'static str)],
        /// Whether its progress counts optimization steps, even where no state can be looked at.
        counted: bool,
    },
}

impl Training {
    /// In steps, which its progress need not count.
    pub(super) const fn in_steps(short: &'static [(&'static str, &'static str)]) -> Self {
        Self::InSteps { short, counted: false }
    }
}

/// The size of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Rows to learn from.
    pub n_train: usize,
    /// Rows to score.
    pub n_test: usize,
    /// Features of a row.
    pub n_cols: usize,
}

/// What a model holds of the training table itself, beside what was learned from it: a matter of privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing.
    Nothing,
    /// Encoded rows, at most this many.
    Rows(usize),
    /// Encoded values of every column, sorted, at most this many of each: no rows.
    Values(usize),
    /// How far encoded values lie from the median of their column, sorted, at most this many of each column: no rows.
    Distances(usize),
    /// What a net makes of each row.
    Projections,
}

/// What a method can do, and what it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// The unit of its cells; `None` if it only scores whole rows and so gives no reasons.
    pub cells: Option<CellUnit>,
    /// How it learns.
    pub training: Training,
    /// Whether it can learn from a table larger than memory.
    pub streams: bool,
    /// Whether it wants categories as plain 0/1 features, one for each level.
    pub one_hot: bool,
    /// What its models keep of the training table.
    pub keeps: Keeps,
    /// Whether scoring a row takes far longer than one pass through a small net.
    pub slow_to_score: bool,
    /// A rough estimate of the bytes of memory it needs beside the rows.
    pub memory: u64,
}

impl Abilities {
    /// The abilities of a method that learns in one go, scores fast and keeps nothing.
    pub(super) const SIMPLE: Self = Self {
        cells: None,
        training: Training::AtOnce,
        streams: false,
        one_hot: false,
        keeps: Keeps::Nothing,
        slow_to_score: false,
        memory: 64 << 20,
    };

    /// The abilities of a method that keeps all training rows and compares with them.
    pub(super) const COMPARING: Self =
        Self { keeps: Keeps::Rows(usize::MAX), slow_to_score: true, ..Self::SIMPLE };

    /// The abilities of a method that trains small nets.
    pub(super) const SMALL_NET: Self =
        Self { training: Training::in_steps(&[("train_for", "200 steps")]), ..Self::SIMPLE };

    /// Seconds that most methods with these abilities take.
    pub(super) fn seconds(&self, Size { n_train, n_test, n_cols }: Size) -> f64 {
        let (n_rows, n_train, n_cols) = ((n_train + n_test) as f64, n_train as f64, n_cols as f64);
        match (self.training, self.keeps) {
            // The small nets of the baselines.
            (Training::InSteps { .. }, _) => 1e-3 * n_train * n_cols.sqrt(),
            // Every row is compared with every training row.
            (Training::AtOnce, Keeps::Rows(_)) => 3e-11 * n_rows * n_train * n_cols,
            // Every cell is looked at a few times.
            (
                Training::AtOnce,
                Keeps::Nothing | Keeps::Values(_) | Keeps::Distances(_) | Keeps::Projections,
            ) => 1e-7 * n_rows * n_cols,
        }
    }
}
