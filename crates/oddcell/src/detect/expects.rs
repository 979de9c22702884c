//! What a detector that predicts columns from each other expects in a cell.

use std::{fmt::Debug, ops::Range};

/// A detector that predicts columns from each other.
#[doc(hidden)]
pub trait Expects: Send + Sync + Debug {
    /// What should stand in the column with these features, by the other columns of the row; by the column alone where
    /// they say nothing. The features of the column itself do not count.
    fn expected(&self, row: &[f64], column: Range<usize>) -> Guess;
}

/// What is expected of one feature of a column, the one that tells its value.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub enum Guess {
    /// The column has no feature that tells its value, as free text.
    Nothing,
    /// A number, or a position in time.
    Number {
        /// The feature.
        feature: usize,
        /// What is expected, and the range that nine in ten training rows fell into.
        middle: f64,
        low: f64,
        high: f64,
        /// How much of the usual error the other columns take away: 0 if they say nothing, 1 if they determine it.
        sure: f64,
    },
    /// A level, or one of two values.
    Levels {
        /// The feature.
        feature: usize,
        /// Levels with their chances, the likeliest first; at most [`Guess::MOST_LEVELS`].
        chances: Vec<(u32, f64)>,
    },
}

impl Guess {
    /// The most levels that a guess names.
    pub const MOST_LEVELS: usize = 3;

    /// Levels, the likeliest first, equal ones in order.
    pub(super) fn of_levels(feature: usize, mut chances: Vec<(u32, f64)>) -> Self {
        chances.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        chances.truncate(Self::MOST_LEVELS);
        if chances.is_empty() { Self::Nothing } else { Self::Levels { feature, chances } }
    }
}
