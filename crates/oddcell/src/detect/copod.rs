//! `copod`, copula-based outlier detection: how far a row sits in the tails of its columns, added up.
//!
//! The tail a column is skewed to counts in full, the mean of both tails at least; see [`super::tails`] for the
//! formula and for what `joint` means.
//!
//! *Source:* Li, Zhao, Botta, Ionescu, Hu (2020), "COPOD: copula-based outlier detection". Like `PyOD`, the
//! larger of the two is taken per column and then added up. With `joint`, scores agree with `PyOD`'s `COPOD`.

use serde::{Deserialize, Serialize};

use super::{
    Detector, Fitted, Params,
    tails::{Rule, TailDetector},
};
use crate::{
    error::ParamError,
    tensors::{TensorError, Tensors},
};

/// The parameters of `copod`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CopodParams {
    /// Whether the rows of one call are ranked among each other too, as in `PyOD`. Then a row's score depends on
    /// the rows scored with it; meant for repeating published results.
    pub joint: bool,
}

impl CopodParams {
    /// The detector itself; every parameter is always valid.
    #[must_use]
    pub fn detector(self) -> TailDetector {
        TailDetector { rule: Rule::Copod, joint: self.joint }
    }
}

impl Params for CopodParams {
    const NAME: &'static str = "copod";
    const SUMMARY: &'static str = "copula-based: how far a row sits in the tails of its columns";
    const PRESETS: &'static [&'static str] = &["default", "paper"];

    fn preset(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::default()),
            "paper" => Some(Self { joint: true }),
            _ => None,
        }
    }

    fn build(self) -> Result<Box<dyn Detector>, ParamError> {
        Ok(Box::new(self.detector()))
    }

    fn load(self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        Ok(Box::new(self.detector().load(tensors)?))
    }
}
