//! Plants errors in a table.

use std::path::Path;

use oddcell::Seed;

use super::{column::Column, error_kinds::ErrorKind, sheet::Sheet};
use crate::{
    LabError,
    files::{create_folder, write_whole},
};

/// The fewest rows that are spoiled.
const FEWEST_ROWS: usize = 5;

/// A spoiled cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoiledCell {
    /// The column.
    pub column: usize,
    /// What was there.
    pub before: String,
    /// What is there now.
    pub after: String,
    /// Whether a look at the column alone shows it: it cannot be read, is outside the range of the others, or is a category
    /// that none of them has.
    pub shows: bool,
}

/// A spoiled row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoiledRow {
    /// The row, counted from 0.
    pub row: usize,
    /// The kind of error.
    pub kind: ErrorKind,
    /// One cell, or two that changed places.
    pub cells: Vec<SpoiledCell>,
}

/// A table with errors.
#[derive(Debug, Clone)]
pub struct Spoiled {
    /// The table with the errors.
    pub sheet: Sheet,
    /// The spoiled rows, in row order.
    pub rows: Vec<SpoiledRow>,
}

/// Spoils a share of the rows of a table, at least five. The kinds that fit the table are dealt in turn, in a random order;
/// rows and cells are random. The same table, name, share and seed give the same errors.
#[must_use]
pub fn spoil(mut sheet: Sheet, name: &str, share: f64, seed: Seed) -> Spoiled {
    let seed = seed.child(&format!("spoil {name}"), 0);
    let columns: Vec<Column> = (0..sheet.n_columns()).map(|column| Column::of(&sheet, column)).collect();
    let n_spoiled = ((sheet.n_rows() as f64 * share).round() as usize).max(FEWEST_ROWS).min(sheet.n_rows());
    let mut kinds = ErrorKind::ALL.to_vec();
    seed.stream("kinds", &[]).shuffle(&mut kinds);
    let mut left = seed.stream("rows", &[]).permutation(sheet.n_rows());
    let mut rows: Vec<SpoiledRow> = Vec::new();
    let mut turn = 0;
    while rows.len() < n_spoiled && !kinds.is_empty() {
        let at = turn % kinds.len();
        let kind = kinds[at];
        let found = left.iter().enumerate().find_map(|(place, &row)| {
            let mut stream = seed.stream("cell", &[kind as u64, row as u64]);
            Some((place, kind.change(&sheet, &columns, row, &mut stream)?))
        });
        let Some((place, changes)) = found else {
            // No row is left that this kind fits. The kind after it has the next turn.
            kinds.remove(at);
            turn = at;
            continue;
        };
        let row = left.remove(place);
        let cell = |(column, after): (usize, String)| SpoiledCell {
            column,
            before: sheet.cell(row, column).to_owned(),
            shows: columns[column].shows(&after),
            after,
        };
        rows.push(SpoiledRow { row, kind, cells: changes.into_iter().map(cell).collect() });
        turn = at + 1;
    }
    rows.sort_by_key(|spoiled| spoiled.row);
    for SpoiledRow { row, cells, .. } in &rows {
        for SpoiledCell { column, after, .. } in cells {
            sheet.replace(*row, *column, after.clone());
        }
    }
    Spoiled { sheet, rows }
}

impl Spoiled {
    /// Writes the table as `NAME.csv` and its errors as `NAME-truth.csv`.
    pub fn write(&self, folder: &Path, name: &str) -> Result<(), LabError> {
        create_folder(folder)?;
        write_whole(&folder.join(format!("{name}.csv")), self.sheet.text().as_bytes())?;
        write_whole(&folder.join(format!("{name}-truth.csv")), self.truth_csv().as_bytes())
    }

    /// Which rows are spoiled.
    #[must_use]
    pub fn truth(&self) -> Vec<bool> {
        let mut truth = vec![false; self.sheet.n_rows()];
        self.rows.iter().for_each(|spoiled| truth[spoiled.row] = true);
        truth
    }

    /// The spoiled cells as CSV: row (counted from 1), column, kind, before, after, and whether the column alone shows it.
    ///
    /// # Panics
    /// Never: writing to memory cannot fail.
    #[must_use]
    pub fn truth_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header = ["row", "column", "kind", "before", "after", "shows"];
        writer.write_record(header).expect("writing to memory cannot fail");
        for SpoiledRow { row, kind, cells } in &self.rows {
            for SpoiledCell { column, before, after, shows } in cells {
                let (row, shows) = ((row + 1).to_string(), if *shows { "yes" } else { "no" });
                let line = [&row, &self.sheet.names[*column], kind.name(), before, after, shows];
                writer.write_record(line).expect("writing to memory cannot fail");
            }
        }
        let bytes = writer.into_inner().expect("writing to memory cannot fail");
        String::from_utf8(bytes).expect("all cells are UTF-8")
    }
}
