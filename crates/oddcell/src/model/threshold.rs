//! The threshold that a model file may carry.

use serde::{Deserialize, Serialize};

use crate::{detect::ranges::require, error::ParamError, verdict::Rule};

/// The score above which a program calls a row odd, kept in the file of a model.
///
/// *Why:* the share `contamination` refers to the scores of the training table, which is not in the file. So whoever
/// chose the share keeps the score, and calls the same rows odd after loading. The rules of this library
/// ([`crate::verdict::Rule`]) do not use it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// The share of the training rows that score higher; above 0 and at most 0.5.
    pub contamination: f64,
    /// Rows that score higher are odd.
    pub score: f64,
}

impl Threshold {
    /// Checks the ranges.
    pub(super) fn check(self) -> Result<(), ParamError> {
        Rule::contamination(self.contamination)?;
        require(self.score.is_finite(), "threshold", self.score, "finite")
    }
}
