//! How long to train, with its unit.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::parameters::stored_as_text;

/// How long to train: `500 epochs` or `4000 steps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TrainFor {
    /// Every training row is seen this many times.
    Epochs(usize),
    /// The weights are updated this many times, whatever the number of rows.
    Steps(usize),
}

impl TrainFor {
    /// Optimization steps when an epoch takes `steps_per_epoch`.
    #[must_use]
    pub fn steps(self, steps_per_epoch: usize) -> usize {
        match self {
            TrainFor::Epochs(epochs) => epochs.saturating_mul(steps_per_epoch),
            TrainFor::Steps(steps) => steps,
        }
    }
}

impl FromStr for TrainFor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "`{text}` is no length of training; expected a number with its unit, like `500 epochs` or \
                 `4000 steps`"
            )
        };
        let (count, unit) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let count: usize = count.parse().map_err(|_| wrong())?;
        match unit.trim() {
            _ if count == 0 => Err(wrong()),
            "epoch" | "epochs" => Ok(TrainFor::Epochs(count)),
            "step" | "steps" => Ok(TrainFor::Steps(count)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for TrainFor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrainFor::Epochs(count) => write!(formatter, "{count} epochs"),
            TrainFor::Steps(count) => write!(formatter, "{count} steps"),
        }
    }
}

stored_as_text!(TrainFor, String);
