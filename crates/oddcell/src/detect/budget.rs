//! How long to train, with its unit.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How long to train: `500 epochs` or `4000 steps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Budget {
    /// Every training row is seen this often.
    Epochs(usize),
    /// The weights are changed this often, whatever the number of rows.
    Steps(usize),
}

impl Budget {
    /// Optimisation steps when an epoch takes `steps_per_epoch`.
    #[must_use]
    pub fn steps(self, steps_per_epoch: usize) -> usize {
        match self {
            Budget::Epochs(epochs) => epochs.saturating_mul(steps_per_epoch),
            Budget::Steps(steps) => steps,
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "`{text}` is no budget; expected a number with its unit, like `500 epochs` or `4000 steps`"
            )
        };
        let (count, unit) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let count: usize = count.parse().map_err(|_| wrong())?;
        match unit.trim() {
            _ if count == 0 => Err(wrong()),
            "epoch" | "epochs" => Ok(Budget::Epochs(count)),
            "step" | "steps" => Ok(Budget::Steps(count)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::Epochs(count) => write!(formatter, "{count} epochs"),
            Budget::Steps(count) => write!(formatter, "{count} steps"),
        }
    }
}

impl TryFrom<String> for Budget {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Budget> for String {
    fn from(budget: Budget) -> Self {
        budget.to_string()
    }
}
