//! The column that knows the truth: read beside the scores, never learned from.

use arrow_array::{Array, RecordBatch};
use oddcell::{
    Table,
    metrics::{self, TieRule},
    table::{Cells, ColumnKind, cell_text, read_cells},
};
use serde::Serialize;

use crate::{failure::Failure, show};

/// Scores and truths seen so far.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    scores: Vec<f64>,
    anomalous: Vec<bool>,
}

/// How well scores and truths agree; `None` where one class is absent.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Metrics {
    pub(crate) anomalies: usize,
    pub(crate) auc: Option<f64>,
    pub(crate) average_precision: Option<f64>,
    /// Precision among the n highest scores, n = number of true anomalies.
    pub(crate) f1: Option<f64>,
}

impl std::fmt::Display for Metrics {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
        let (auc, precision, f1) = (figure(self.auc), figure(self.average_precision), figure(self.f1));
        let anomalies = crate::summary::count(self.anomalies);
        write!(formatter, "(anomalies: {anomalies}): AUC {auc}, average precision {precision}, F1 {f1}")
    }
}

impl Labels {
    /// Adds the rows of a batch; gives which of them are anomalous.
    pub(crate) fn add(
        &mut self,
        column: &str,
        batch: &RecordBatch,
        scores: &[f64],
        first_row: usize,
        origin: &str,
    ) -> Result<&[bool], Failure> {
        let before = self.anomalous.len();
        self.anomalous.extend(truths(column, batch, first_row, origin)?);
        self.scores.extend_from_slice(scores);
        Ok(&self.anomalous[before..])
    }

    /// How well scores and truths agree.
    pub(crate) fn metrics(&self) -> Metrics {
        Metrics {
            anomalies: self.anomalous.iter().filter(|&&anomalous| anomalous).count(),
            auc: metrics::auc(&self.scores, &self.anomalous),
            average_precision: metrics::average_precision(&self.scores, &self.anomalous),
            f1: metrics::f1_at_n(&self.scores, &self.anomalous, TieRule::Strict),
        }
    }
}

/// Tells what is wrong with a label before anything is learned.
pub(crate) fn check(column: &str, table: &Table) -> Result<(), Failure> {
    let mut first_row = 0;
    for batch in &table.batches {
        truths(column, batch, first_row, &table.origin)?;
        first_row += batch.num_rows();
    }
    Ok(())
}

/// Which rows of a batch are anomalous, by its label column.
fn truths(column: &str, batch: &RecordBatch, first_row: usize, origin: &str) -> Result<Vec<bool>, Failure> {
    let Some(array) = batch.column_by_name(column) else {
        let schema = batch.schema();
        let names = show::name_list(schema.fields().iter().map(|field| field.name().as_str()));
        let message = format!("{origin} has no column `{column}` to be the label; it has {names}");
        return Err(Failure::bad_input(message));
    };
    let numbers = [ColumnKind::Number, ColumnKind::Boolean].into_iter().find_map(|kind| {
        match read_cells(column, array, kind, first_row, origin) {
            Ok(Cells::Numbers(numbers)) => Some(numbers),
            _ => None,
        }
    });
    let wrong = |row: usize| {
        let text = cell_text(array, row).map_or_else(
            || "an empty cell".to_owned(),
            |text| format!("`{}`", show::cut(&show::clean(&text), 40)),
        );
        Failure::bad_input(format!(
            "{origin}, row {}, label column `{column}`: found {text}, but 0 or 1, true or false was expected",
            first_row + row + 1
        ))
        .with_hint("1 and true mean anomalous; rows without a known truth cannot be in a labelled table")
    };
    let numbers = numbers.ok_or_else(|| wrong(first_odd_one(array)))?;
    let truth = |(row, number): (usize, &f64)| match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(wrong(row)),
    };
    numbers.iter().enumerate().map(truth).collect()
}

/// The first cell that is neither a number nor a truth value.
fn first_odd_one(array: &arrow_array::ArrayRef) -> usize {
    let fits = |row: &usize| {
        let cell = array.slice(*row, 1);
        [ColumnKind::Number, ColumnKind::Boolean]
            .iter()
            .any(|&kind| read_cells("", &cell, kind, 0, "").is_ok())
    };
    (0..array.len()).find(|row| !fits(row)).unwrap_or(0)
}
