//! `ecod`, outlier detection by empirical distributions: how far out each value is, added up.
//!
//! The farther of the two tails counts; see [`super::tails`] for the formula and for what `joint` means.
//!
//! *Source:* Li, Zhao, Hu, Botta, Ionescu, Chen (2022), "ECOD: unsupervised outlier detection using empirical
//! cumulative distribution functions". Like `PyOD`, the maximum is taken per column and then added up; the
//! publication adds up first. With `joint`, scores agree with `PyOD`'s `ECOD`.

use serde::{Deserialize, Serialize};

use super::{
    Detector, Fitted, Params,
    tails::{Rule, TailDetector},
};
use crate::{
    error::ParamError,
    tensors::{TensorError, Tensors},
};

/// The parameters of `ecod`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EcodParams {
    /// Whether the rows of one call are ranked among each other too, as in `PyOD`. Then a row's score depends on
    /// the rows scored with it; meant for repeating published results.
    pub joint: bool,
}

impl EcodParams {
    /// The detector itself; every parameter is always valid.
    #[must_use]
    pub fn detector(self) -> TailDetector {
        TailDetector { rule: Rule::Ecod, joint: self.joint }
    }
}

impl Params for EcodParams {
    const NAME: &'static str = "ecod";
    const SUMMARY: &'static str = "empirical tails: how rare the value of each column is";
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
