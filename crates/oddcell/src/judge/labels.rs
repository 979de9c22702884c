//! The label column, which holds the truth. It is compared with the scores and never learned from.

use arrow_array::{Array, ArrayRef};

use super::{Judge, Judgement, Observer};
use crate::{
    Error,
    metrics::{Metrics, TieRule, auc, average_precision, f1_at_n},
    table::{Cells, ColumnKind, Rows, TableError, cell_text, read_cells},
};

/// Which rows are anomalies, if known.
#[derive(Debug, Clone, Copy, Default)]
pub enum Truths<'a> {
    /// Nothing is known.
    #[default]
    Unknown,
    /// A column of the table holds 0 or 1, true or false.
    Column(&'a str),
    /// One truth for every row of the table.
    Known(&'a [bool]),
}

/// What is wrong with a label column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// A cell is neither 0 nor 1, neither true nor false.
    #[error(
        "{origin}, row {row}, label column `{column}`: found {}, but expected 0 or 1, true or false",
        found.as_ref().map_or_else(|| "an empty cell".to_owned(), |text| format!("`{text}`"))
    )]
    NoTruth {
        /// Where the table comes from.
        origin: String,
        /// The row, counted from 1.
        row: usize,
        /// The label column.
        column: String,
        /// The cell, cut if it is long; `None` if it is empty.
        found: Option<String>,
    },
    /// There are fewer truths than rows.
    #[error("there are truths for {known} rows, but the table has at least {rows}")]
    TooFew {
        /// The number of truths.
        known: usize,
        /// The number of rows so far.
        rows: usize,
    },
    /// The model uses the column as a feature.
    #[error("the model learned from the column `{column}`, so it cannot be the label")]
    Learned {
        /// The column.
        column: String,
    },
}

impl Truths<'_> {
    /// The truths of these rows.
    pub(super) fn of(self, rows: &Rows) -> Result<Option<Vec<bool>>, Error> {
        match self {
            Self::Unknown => Ok(None),
            Self::Column(column) => read_labels(column, rows).map(Some),
            Self::Known(truths) => {
                let some = truths.get(rows.first_row..rows.first_row + rows.n_rows());
                let too_few =
                    LabelError::TooFew { known: truths.len(), rows: rows.first_row + rows.n_rows() };
                some.map(|truths| Some(truths.to_vec())).ok_or_else(|| too_few.into())
            }
        }
    }

    /// Refuses a label column that `judge` learned from.
    pub(super) fn check(self, judge: &dyn Judge) -> Result<(), LabelError> {
        match self {
            Self::Column(label) if judge.encoder().columns().iter().any(|known| known.name() == label) => {
                Err(LabelError::Learned { column: label.to_owned() })
            }
            Self::Column(_) | Self::Unknown | Self::Known(_) => Ok(()),
        }
    }
}

/// Scores and truths of the rows seen so far.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    /// The scores of the rows with a known truth.
    pub scores: Vec<f64>,
    /// Which of these rows are anomalies.
    pub anomalous: Vec<bool>,
}

impl Labels {
    /// How well scores and truths agree; `None` if no row has a known truth.
    #[must_use]
    pub fn metrics(&self) -> Option<Metrics> {
        let Self { scores, anomalous } = self;
        (!anomalous.is_empty()).then(|| Metrics {
            anomalies: anomalous.iter().filter(|&&anomalous| anomalous).count(),
            auc: auc(scores, anomalous),
            average_precision: average_precision(scores, anomalous),
            f1: f1_at_n(scores, anomalous, TieRule::Strict),
        })
    }
}

impl Observer for Labels {
    fn observe(&mut self, _: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        if let Some(truths) = &judgement.truths {
            self.anomalous.extend_from_slice(truths);
            self.scores.extend_from_slice(&judgement.findings.scores);
        }
        Ok(())
    }
}

/// Which of `rows` are anomalies, by the label column `column`.
pub fn read_labels(column: &str, rows: &Rows) -> Result<Vec<bool>, Error> {
    let Some(array) = rows.batch.column_by_name(column) else {
        let schema = rows.batch.schema();
        let known = schema.fields().iter().map(|field| field.name().clone()).collect();
        let (origin, column) = (rows.origin.to_string(), column.to_owned());
        return Err(TableError::NoSuchColumn { origin, column, known }.into());
    };
    let wrong = |row: usize| LabelError::NoTruth {
        origin: rows.origin.to_string(),
        row: rows.first_row + row + 1,
        column: column.to_owned(),
        found: cell_text(array, row).map(|text| crate::table::excerpt(&text)),
    };
    let numbers = KINDS.into_iter().find_map(|kind| truth_values(array, kind));
    let numbers = numbers.ok_or_else(|| wrong(first_unreadable(array)))?;
    let truth = |(row, number): (usize, &f64)| match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(wrong(row).into()),
    };
    numbers.iter().enumerate().map(truth).collect()
}

/// The kinds of columns that may hold truths.
const KINDS: [ColumnKind; 2] = [ColumnKind::Number, ColumnKind::Boolean];

fn truth_values(array: &ArrayRef, kind: ColumnKind) -> Option<Vec<f64>> {
    match read_cells("", array, kind, 0, "") {
        Ok(Cells::Numbers(numbers)) => Some(numbers),
        Ok(Cells::Names(_)) | Err(_) => None,
    }
}

/// The first cell that is neither a number nor a truth value.
fn first_unreadable(array: &ArrayRef) -> usize {
    let fits = |row: &usize| {
        let cell = array.slice(*row, 1);
        KINDS.iter().any(|&kind| truth_values(&cell, kind).is_some())
    };
    (0..array.len()).find(|row| !fits(row)).unwrap_or(0)
}
