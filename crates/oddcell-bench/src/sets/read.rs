//! A file with the arrays `X` and `y` as a labelled set. Any table will do that names its columns so: `x1`, `x2`, … and
//! `y`, and `is_test` where there was a test file.

use std::path::Path;

use oddcell::{
    Matrix, Table,
    table::{Cells, ColumnKind, ReadOptions, Source, read_cells},
};

use super::LabelledSet;
use crate::LabError;

/// Rows per batch: the sets are read whole, so batches may be large.
const BATCH_ROWS: usize = 1 << 16;

pub(super) fn read(name: &str, path: &Path, n_numeric: Option<usize>) -> Result<LabelledSet, LabError> {
    let bad = |reason: String| LabError::BadSet { path: path.to_owned(), reason };
    let table_error = |error: oddcell::table::TableError| bad(oddcell::Error::from(error).to_string());
    let options = ReadOptions { batch_rows: BATCH_ROWS, ..ReadOptions::default() };
    let table = Table::read(&Source::Path(path.to_owned()), &options).map_err(table_error)?;
    let features: Vec<usize> =
        (0..table.columns.len()).filter(|&at| is_feature(&table.columns[at].name)).collect();
    if features.is_empty() {
        return Err(bad("there is no array `X`".to_owned()));
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
    let labels = table.column("y").ok_or_else(|| bad("there is no array `y`".to_owned()))?;
    let labels =
        numbers(&table, labels).map_err(table_error)?.into_iter().map(|label| label as i64).collect();
    let is_test = match table.column("is_test") {
        Some(at) => {
            Some(numbers(&table, at).map_err(table_error)?.into_iter().map(|flag| flag != 0.0).collect())
        }
        None => None,
    };
    let n_numeric = n_numeric.unwrap_or(rows.n_cols()).min(rows.n_cols());
    Ok(LabelledSet { name: name.to_owned(), rows, labels, n_numeric, is_test })
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
            Cells::Names(_) => unreachable!("numbers were asked for"),
        }
    }
    Ok(values)
}
