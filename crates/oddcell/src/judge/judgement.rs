//! One batch of judged rows.

use arrow_array::{ArrayRef, StringArray};

use super::Judge;
use crate::{Matrix, cells::Sets, encode::Surprises, explain::Explainer, table::Rows};

/// What was found about rows, in row order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// One finite score per row. **Higher = more anomalous.**
    pub scores: Vec<f64>,
    /// The share of normal rows that score at least as high.
    pub p_values: Vec<f64>,
    /// The noise in each cell, rows × features, if the detector explains cells and they were requested.
    pub cells: Option<Matrix>,
}

/// A batch of rows and everything that was found about them.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The rows as they came.
    pub rows: Rows,
    /// The rows as features.
    pub features: Matrix,
    /// Scores, p-values and cells.
    pub findings: Findings,
    /// Cells unlike anything in training, counted by column.
    pub surprises: Surprises,
    /// Which rows are anomalies, if known.
    pub truths: Option<Vec<bool>>,
    /// The cells that make rows odd, if they were requested and the judge can tell.
    pub sets: Option<Sets>,
    /// The reasons of every row in the requested form, if the detector explains cells.
    pub reasons: Option<StringArray>,
    /// The arrays of the encoder's columns, matched by name.
    pub columns: Vec<ArrayRef>,
}

impl Judgement {
    /// Returns an explainer for these rows; `judge` must be the one that judged them.
    #[must_use]
    pub fn explainer<'a>(&'a self, judge: &'a dyn Judge) -> Explainer<'a> {
        Explainer::new(judge.encoder(), judge.cell_unit(), &self.rows, &self.columns)
    }
}
