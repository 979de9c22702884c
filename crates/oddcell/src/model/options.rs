//! How a model is fitted.

use crate::{
    DetectorSpec,
    detect::{CellUnit, ranges::require},
    encode::EncodeOptions,
    error::ParamError,
    parameters::parameters,
};

/// The most folds, and so the most members of a model.
pub(super) const MAX_FOLDS: usize = 100;

/// How a model is fitted. The seed comes with the [`crate::Context`].
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// The detector and its parameters.
    pub detector: DetectorSpec,
    /// How columns become features.
    pub encode: EncodeOptions,
    /// A column with labels; never used as a feature.
    pub label: Option<String>,
    /// Which rows train and which calibrate.
    pub split: SplitOptions,
    /// Whether to learn what judges cells, too: without it, there are no sets of odd cells and no expected values.
    pub cells: bool,
}

parameters! {
    /// Which rows train and which calibrate.
    #[derive(Copy)]
    pub struct SplitOptions {
        /// The share of rows held out for calibration, unless rows are cross-fitted.
        pub holdout: f64 = 0.2,
        /// The most rows held out. More would make p-values finer than needed and training worse.
        pub max_holdout_rows: usize = 50_000,
        /// The number of folds for cross-fitting; at most one per row.
        pub folds: usize = 5,
        /// Tables with fewer rows than this are cross-fitted; `None`: 5,000 for `columns`, 1,000 for the others.
        pub cross_fit_below: Option<usize> = None,
    }
}

impl FitOptions {
    /// The default options for this detector.
    #[must_use]
    pub fn new(detector: DetectorSpec) -> Self {
        Self {
            detector,
            encode: EncodeOptions::default(),
            label: None,
            split: SplitOptions::default(),
            cells: true,
        }
    }

    /// The options to judge every cell of a table: columns that identify rows are judged, too.
    #[must_use]
    pub fn for_cells() -> Self {
        let encode = EncodeOptions { keep_identifiers: true, ..EncodeOptions::default() };
        Self { encode, ..Self::new(DetectorSpec::of_cells()) }
    }

    /// How columns become features for this detector.
    pub(super) fn encode_options(&self) -> Result<EncodeOptions, ParamError> {
        let one_hot = self.encode.one_hot || self.detector.abilities()?.one_hot;
        Ok(EncodeOptions { one_hot, ..self.encode.clone() })
    }

    /// Tables with fewer rows than this are cross-fitted. Where scores are surprises, learning is fast, and with 400 rows held out
    /// a model flags up to 2 % of normal rows instead of 1 %.
    pub(super) fn cross_fit_below(&self) -> usize {
        let are_surprises = self.detector.entry().abilities.cells == Some(CellUnit::SurpriseInContext);
        self.split.cross_fit_below.unwrap_or(if are_surprises { 5_000 } else { 1_000 })
    }

    /// Checks all ranges except those of the detector's own parameters, which its `build` checks.
    pub fn validate(&self) -> Result<(), ParamError> {
        self.split.validate()
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
