//! From the cells of a row to its score: the paper's g.
//!
//! Written as text: `max`, `mean`, `min`, `median`, `l2` (the Euclidean norm of the noise found; a negative
//! estimate counts as none), `top3` (mean of the three largest), or a weighted mix such as `0.7*max +
//! 0.3*mean`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::parameters::stored_as_text;

/// One way to make a number of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The largest cell.
    Max,
    /// The mean of all cells.
    Mean,
    /// The smallest cell.
    Min,
    /// The middle cell (the mean of the two in the middle when their number is even).
    Median,
    /// The Euclidean norm of the noise found. A negative estimate counts as none, so that what makes a score
    /// high is always a cell that is itself reported as odd.
    L2,
    /// The mean of the k largest cells (of all, if there are fewer).
    Top(usize),
}

/// A weighted mix of [`Statistic`]s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Aggregation {
    parts: Vec<(f64, Statistic)>,
}

/// A text that is no aggregation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no aggregation; expected max, mean, min, median, l2, top1, top2, ..., or a mix like 0.7*max + \
     0.3*mean"
)]
pub struct AggregationError(String);

impl From<Statistic> for Aggregation {
    fn from(part: Statistic) -> Self {
        Self { parts: vec![(1.0, part)] }
    }
}

impl Aggregation {
    /// The score of a row from its cells. `scratch` is only there to be reused.
    ///
    /// # Panics
    /// If there are no cells: a fitted detector has features.
    #[must_use]
    pub fn score(&self, cells: &[f32], scratch: &mut Vec<f32>) -> f64 {
        assert!(!cells.is_empty(), "a row has cells");
        self.parts.iter().map(|&(weight, part)| weight * part.of(cells, scratch)).sum()
    }
}

impl Statistic {
    fn of(self, cells: &[f32], scratch: &mut Vec<f32>) -> f64 {
        let numbers = cells.iter().map(|&cell| f64::from(cell));
        match self {
            Statistic::Max => numbers.fold(f64::NEG_INFINITY, f64::max),
            Statistic::Min => numbers.fold(f64::INFINITY, f64::min),
            Statistic::Mean => numbers.sum::<f64>() / cells.len() as f64,
            Statistic::L2 => numbers.map(|cell| cell.max(0.0).powi(2)).sum::<f64>().sqrt(),
            Statistic::Median => {
                sort_into(cells, scratch);
                let middle = cells.len() / 2;
                if cells.len() % 2 == 1 {
                    f64::from(scratch[middle])
                } else {
                    f64::midpoint(f64::from(scratch[middle - 1]), f64::from(scratch[middle]))
                }
            }
            Statistic::Top(k) => {
                sort_into(cells, scratch);
                let k = k.min(cells.len());
                scratch[cells.len() - k..].iter().map(|&cell| f64::from(cell)).sum::<f64>() / k as f64
            }
        }
    }
}

fn sort_into(cells: &[f32], scratch: &mut Vec<f32>) {
    scratch.clear();
    scratch.extend_from_slice(cells);
    scratch.sort_unstable_by(f32::total_cmp);
}

impl FromStr for Aggregation {
    type Err = AggregationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || AggregationError(text.to_owned());
        let part = |word: &str| match word {
            "max" => Some(Statistic::Max),
            "mean" => Some(Statistic::Mean),
            "min" => Some(Statistic::Min),
            "median" => Some(Statistic::Median),
            "l2" => Some(Statistic::L2),
            _ => match word.strip_prefix("top")?.parse() {
                Ok(k) if k > 0 => Some(Statistic::Top(k)),
                _ => None,
            },
        };
        let weighted = |term: &str| -> Option<(f64, Statistic)> {
            let Some((weight, word)) = term.split_once('*') else { return Some((1.0, part(term.trim())?)) };
            let weight: f64 = weight.trim().parse().ok()?;
            // A negative weight would turn "higher = more anomalous" around.
            (weight > 0.0 && weight <= 1e6).then_some((weight, part(word.trim())?))
        };
        let parts: Option<Vec<_>> = text.split('+').map(weighted).collect();
        Ok(Self { parts: parts.ok_or_else(wrong)? })
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Max => formatter.write_str("max"),
            Statistic::Mean => formatter.write_str("mean"),
            Statistic::Min => formatter.write_str("min"),
            Statistic::Median => formatter.write_str("median"),
            Statistic::L2 => formatter.write_str("l2"),
            Statistic::Top(k) => write!(formatter, "top{k}"),
        }
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (weight, part)) in self.parts.iter().enumerate() {
            if index > 0 {
                formatter.write_str(" + ")?;
            }
            if *weight == 1.0 { write!(formatter, "{part}")? } else { write!(formatter, "{weight}*{part}")? }
        }
        Ok(())
    }
}

stored_as_text!(Aggregation, AggregationError);

#[cfg(test)]
mod tests {
    use super::*;

    fn score(text: &str) -> f64 {
        text.parse::<Aggregation>().unwrap().score(&[3.0, 0.0, -1.0, 4.0], &mut Vec::new())
    }

    #[test]
    // Of 3, 0, −1, 4: mean 6/4; median (0 + 3)/2; norm √(9 + 16) = 5; the two largest (4 + 3)/2; all five:
    // 6/4.
    fn every_aggregation_gives_the_value_worked_out_by_hand() {
        let values = ["max", "mean", "min", "median", "l2", "top2", "top5"].map(score);
        assert_eq!(values, [4.0, 1.5, -1.0, 1.5, 5.0, 3.5, 1.5]);
        assert_eq!(score("0.5*max + 0.25*mean"), 2.375);
        assert_eq!("median".parse::<Aggregation>().unwrap().score(&[9.0, 1.0, 5.0], &mut Vec::new()), 5.0);
    }

    #[test]
    fn texts_read_back_and_nonsense_is_refused() {
        for text in ["max", "top3", "0.7*max + 0.3*mean", "l2 + 2*median"] {
            assert_eq!(text.parse::<Aggregation>().unwrap().to_string(), text);
        }
        for text in ["", "top0", "topx", "-1*max", "NaN*max", "1e7*max", "max +", "maximum"] {
            assert!(text.parse::<Aggregation>().is_err(), "{text}");
        }
    }
}
