//! Tables with errors, beside the same tables without: how well are the wrong cells found?
//!
//! ```text
//! pairs     a folder of dirty and clean tables, read cell by cell
//! judge     our verdict on every cell of a dirty table
//! simple    detectors that look at one column, or at pairs of columns, to compare with
//! measure   average precision, precision, recall and F1 of the cells
//! results   one line per table and method, and the tables made from them
//! ```
//!
//! Nothing is learned from the clean table: it is only compared with what was found.

mod judge;
mod measure;
mod pairs;
mod results;
mod simple;

pub use measure::measure;
pub use pairs::{Grid, Pair, pairs};
pub use results::{Measured, Results, summaries};

/// How a method judges the cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `oddcell cells`, with its default rule.
    Cells,
    /// The cells of `ecod`.
    Ecod,
    /// Robust z for numbers, rarity for names.
    Rarity,
    /// Mixtures of normal distributions for numbers, rarity for names, as in dBoost.
    Mixture,
    /// Values that are rare beside the value of another column, as in dBoost.
    Pairs,
}

impl Method {
    /// All of them, ours first.
    pub const ALL: [Self; 5] = [Self::Cells, Self::Ecod, Self::Rarity, Self::Mixture, Self::Pairs];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Ecod => "ecod",
            Self::Rarity => "rarity",
            Self::Mixture => "mixture",
            Self::Pairs => "pairs",
        }
    }

    /// The method of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// What a method says of every cell, rows × columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// How odd; higher is odder.
    pub scores: Vec<f64>,
    /// Whether the cell is called wrong; `None` if the method has no rule.
    pub called: Option<Vec<bool>>,
    /// What should stand there, if the method says so.
    pub expected: Vec<Option<String>>,
}

impl Said {
    /// Scores alone.
    fn of_scores(scores: Vec<f64>) -> Self {
        Self { called: None, expected: vec![None; scores.len()], scores }
    }
}
