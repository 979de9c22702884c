//! Reads a file with the arrays `X` and `y` as a labeled set. Any table works if its columns are named `x1`, `x2`, …,
//! `y` and, if there was a test file, `is_test`.

use std::path::Path;

use oddcell::{
    Matrix, Table,
    table::{Cells, ColumnKind, ReadOptions, Source, read_cells},
};

use super::LabeledSet;
use crate::LabError;

/// Rows per batch: sets are read completely, so batches may be large.
const BATCH_ROWS: usize = 1 << 16;

pub(super) fn read(name: &str, path: &Path, n_numeric: Option<usize>) -> Result<LabeledSet, LabError> {
    let bad = |reason: String| LabError::BadSet { path: path.to_owned(), reason };
    let table_error = |error: oddcell::table::TableError| bad(oddcell::Error::from(error).to_string());
    let options = ReadOptions { batch_rows: BATCH_ROWS, ..ReadOptions::default() };
    let table = Table::read(&Source::Path(path.to_owned()), &options).map_err(table_error)?;
    let features: Vec<usize> =
        (0..table.columns.len()).filter(|&at| is_feature(&table.columns[at].name)).collect();
    if features.is_empty() {
        return Err(bad("the array `X` is missing".to_owned()));
    }
    let mut rows = Matrix::zeros(table.n_rows(), features.len());
    for (column, &at) in features.iter().enumerate() {
        for (row, value) in numbers(&table, at).map_err(table_error)?.into_iter().enumerate() {
            rows.row_mut(row)[column] = value;
        }
    }
    if let Some((row, column)) = rows.first_not_finite() {
        return Err(bad(format!("`X` is empty or not finite at row {}, column {}", row + 1, column + 1)));
    }
    // Reads a column of whole numbers; empty cells and fractions are errors.
    let whole = |name: &str, at: usize| -> Result<Vec<i64>, LabError> {
        let values = numbers(&table, at).map_err(table_error)?;
        match values.iter().position(|value| value.fract() != 0.0) {
            None => Ok(values.into_iter().map(|value| value as i64).collect()),
            Some(row) => {
                let (row, value) = (row + 1, values[row]);
                let found = if value.is_nan() { "empty".to_owned() } else { value.to_string() };
                Err(bad(format!("`{name}` is {found} at row {row}, expected a whole number")))
            }
        }
    };
    let labels = table.column("y").ok_or_else(|| bad("the array `y` is missing".to_owned()))?;
    let labels = whole("y", labels)?;
    let is_test = match table.column("is_test") {
        Some(at) => Some(whole("is_test", at)?.into_iter().map(|flag| flag != 0).collect()),
        None => None,
    };
    let n_numeric = n_numeric.unwrap_or(rows.n_cols()).min(rows.n_cols());
    Ok(LabeledSet { name: name.to_owned(), rows, labels, n_numeric, is_test })
}

/// `x1`, `x2`, …
fn is_feature(name: &str) -> bool {
    name.strip_prefix('x').is_some_and(|number| number.parse::<usize>().is_ok())
}

fn numbers(table: &Table, column: usize) -> Result<Vec<f64>, oddcell::table::TableError> {
    let name = &table.columns[column].name;
    let mut values = Vec::with_capacity(table.n_rows());
    for batch in &table.batches {
        match read_cells(name, batch.column(column), ColumnKind::Number, values.len(), &table.origin)? {
            Cells::Numbers(part) => values.extend(part),
            Cells::Names(_) => unreachable!("the kind is number"),
        }
    }
    Ok(values)
}
