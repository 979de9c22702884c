//! How a model is fitted.

use serde::{Deserialize, Serialize};

use crate::{DetectorSpec, detect::ranges::require, encode::EncodeOptions, error::ParamError};

/// The most folds that rows are split into, and so the most members of a model.
pub const MAX_FOLDS: usize = 100;

/// How a model is fitted. The seed comes with the [`crate::Context`].
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// The detector and its parameters.
    pub detector: DetectorSpec,
    /// How columns become features.
    pub encode: EncodeOptions,
    /// A column that holds labels: never a feature.
    pub label: Option<String>,
    /// Which rows train and which calibrate.
    pub split: SplitOptions,
}

/// Which rows train and which calibrate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitOptions {
    /// The share of the rows held out for calibration, where rows are not cross-fitted.
    pub holdout: f64,
    /// The most rows held out. More make p-values finer than is of use, and training poorer.
    pub max_holdout_rows: usize,
    /// The number of folds where rows are cross-fitted, as far as there are rows for them.
    pub folds: usize,
    /// With fewer rows than this, rows are cross-fitted instead of held out.
    pub cross_fit_below: usize,
}

impl FitOptions {
    /// The usual options for this detector.
    #[must_use]
    pub fn new(detector: DetectorSpec) -> Self {
        Self { detector, encode: EncodeOptions::default(), label: None, split: SplitOptions::default() }
    }

    /// Checks the ranges of everything but the detector's own parameters, which its `build` checks.
    pub fn validate(&self) -> Result<(), ParamError> {
        self.split.validate()?;
        self.encode.validate()
    }
}

impl Default for SplitOptions {
    fn default() -> Self {
        Self { holdout: 0.2, max_holdout_rows: 50_000, folds: 5, cross_fit_below: 1_000 }
    }
}

impl SplitOptions {
    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), ParamError> {
        let holdout = self.holdout > 0.0 && self.holdout < 1.0;
        require(holdout, "holdout", self.holdout, "more than 0 and less than 1")?;
        let (most, folds) = (self.max_holdout_rows, self.folds);
        require(most > 0, "max_holdout_rows", most, "at least 1")?;
        require((2..=MAX_FOLDS).contains(&folds), "folds", folds, "from 2 to 100")
    }
}
