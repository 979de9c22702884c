//! Rows that are equal to earlier ones, or nearly so.
//!
//! *Compared* are all columns but those that are left out: row identifiers, ignored columns, labels.
//! *Nearly equal* are rows that differ from an earlier one in case, spaces or punctuation alone, or in one column alone. In a
//! table of a few categories, most rows differ from many others in one column. So at most [`MOST_ALIKE`] rows may agree in the
//! other columns, and there must be at least two of these.
//!
//! Cells are compared by 64-bit hashes of what is written in them.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

use serde::Serialize;

use super::{EncodeError, EncodeOptions, fit::learn_columns};
use crate::{
    Table,
    kinds::{Learned, cell_text},
    seed::{GOLDEN, mix},
};

/// More rows that agree in all columns but one are no accident.
const MOST_ALIKE: usize = 3;

/// Equal and nearly equal rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// The columns that were compared.
    pub columns: Vec<String>,
    /// Rows that are equal to an earlier one, in table order.
    pub equal: Vec<Duplicate>,
    /// Rows that are nearly equal to an earlier one, in table order.
    pub nearly_equal: Vec<Duplicate>,
}

/// A row that is like an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// The row, counted from 1.
    pub row: usize,
    /// The first row that it is like.
    pub first: usize,
    /// The only column in which they differ, if there is one, with the cell of the first row and that of this row.
    pub differs: Option<(String, [Option<String>; 2])>,
}

/// What is written in the cells of the compared columns, as hashes: row by row, exactly and in essence.
struct Hashes {
    n_columns: usize,
    exact: Vec<u64>,
    essence: Vec<u64>,
}

/// Finds equal and nearly equal rows. `options` and `label` tell which columns are left out, as in [`super::Encoder::fit`].
pub fn duplicates(
    table: &Table,
    options: &EncodeOptions,
    label: Option<&str>,
) -> Result<Duplicates, EncodeError> {
    let learned = learn_columns(table, None, options, label)?;
    let compared: Vec<usize> =
        (0..learned.len()).filter(|&at| matches!(learned[at], Learned::Column { .. })).collect();
    let hashes = Hashes::of(table, &compared);
    let mut equal = Vec::new();
    let mut different: Vec<usize> = Vec::new();
    let mut firsts: HashMap<u64, usize> = HashMap::new();
    for row in 0..table.n_rows() {
        let first = *firsts.entry(hashes.row(row)).or_insert(row);
        if first == row {
            different.push(row);
        } else {
            equal.push(Duplicate { row: row + 1, first: first + 1, differs: None });
        }
    }
    let mut nearly = nearly_equal(&hashes, &different);
    nearly.sort_unstable();
    let cell = |row: usize, column: usize| {
        let (mut row, at) = (row, compared[column]);
        let batch = table.batches.iter().find(|batch| {
            let is_here = row < batch.num_rows();
            row -= if is_here { 0 } else { batch.num_rows() };
            is_here
        });
        batch.and_then(|batch| cell_text(batch.column(at), row))
    };
    let name = |column: usize| table.columns[compared[column]].name.clone();
    let told = |&(row, first, column): &(usize, usize, Option<usize>)| Duplicate {
        row: row + 1,
        first: first + 1,
        differs: column.map(|column| (name(column), [cell(first, column), cell(row, column)])),
    };
    let columns = (0..compared.len()).map(name).collect();
    Ok(Duplicates { columns, equal, nearly_equal: nearly.iter().map(told).collect() })
}

/// Rows that are nearly equal to an earlier one, each once: the row, the earlier one, and the only column in which they differ,
/// if there is one. `rows` all differ.
fn nearly_equal(hashes: &Hashes, rows: &[usize]) -> Vec<(usize, usize, Option<usize>)> {
    let mut found: HashMap<usize, (usize, Option<usize>)> = HashMap::new();
    let mut firsts: HashMap<u64, usize> = HashMap::new();
    for &row in rows {
        let first = *firsts.entry(hashes.essence_of(row)).or_insert(row);
        if first != row {
            let differ: Vec<usize> =
                (0..hashes.n_columns).filter(|&c| hashes.cell(row, c) != hashes.cell(first, c)).collect();
            found.insert(row, (first, (differ.len() == 1).then(|| differ[0])));
        }
    }
    if hashes.n_columns >= 3 {
        for column in 0..hashes.n_columns {
            let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
            for &row in rows {
                let others = hashes.row(row).wrapping_sub(hashes.placed(row, column));
                let alike = alike.entry(others).or_default();
                if alike.len() <= MOST_ALIKE {
                    alike.push(row);
                }
            }
            for rows in alike.into_values().filter(|rows| (2..=MOST_ALIKE).contains(&rows.len())) {
                for &row in &rows[1..] {
                    found.entry(row).or_insert((rows[0], Some(column)));
                }
            }
        }
    }
    found.into_iter().map(|(row, (first, column))| (row, first, column)).collect()
}

impl Hashes {
    fn of(table: &Table, columns: &[usize]) -> Self {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let n_cells = table.n_rows() * columns.len();
        let (mut exact, mut essence) = (Vec::with_capacity(n_cells), Vec::with_capacity(n_cells));
        for batch in &table.batches {
            for row in 0..batch.num_rows() {
                for &at in columns {
                    let cell = cell_text(batch.column(at), row);
                    exact.push(hasher.hash_one(&cell));
                    let letters = |cell: &String| {
                        let kept = cell.chars().filter(|c| c.is_alphanumeric());
                        kept.flat_map(char::to_lowercase).collect::<String>()
                    };
                    // Of a number, the point and the sign are no punctuation.
                    let has_letters = |cell: &&String| cell.chars().any(char::is_alphabetic);
                    let essential = cell.as_ref().filter(has_letters).map(letters).or_else(|| cell.clone());
                    essence.push(hasher.hash_one(essential.map(|cell| cell.trim().to_owned())));
                }
            }
        }
        Self { n_columns: columns.len(), exact, essence }
    }

    fn cell(&self, row: usize, column: usize) -> u64 {
        self.exact[row * self.n_columns + column]
    }

    /// The hash of a cell in its column; those of a row add up.
    fn placed(&self, row: usize, column: usize) -> u64 {
        place(self.cell(row, column), column)
    }

    fn row(&self, row: usize) -> u64 {
        (0..self.n_columns).fold(0, |sum: u64, column| sum.wrapping_add(self.placed(row, column)))
    }

    fn essence_of(&self, row: usize) -> u64 {
        let cells = &self.essence[row * self.n_columns..][..self.n_columns];
        cells.iter().enumerate().fold(0, |sum: u64, (column, &cell)| sum.wrapping_add(place(cell, column)))
    }
}

fn place(cell: u64, column: usize) -> u64 {
    mix(cell ^ GOLDEN.wrapping_mul(column as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{ReadOptions, TableReader};

    #[test]
    fn equal_and_nearly_equal_rows_are_found_whatever_their_numbers() {
        let mut csv = String::from("order,name,city,amount,weight\n");
        for row in 0..40 {
            let (name, city) = (format!("Ann {}", row / 2), ["Oslo", "Voss", "Bodø"][row % 3]);
            let line = format!("{},{name} Larsen,{city},{},{}\n", 100 + row, row * 7 + 1, row % 5);
            csv.push_str(&line);
        }
        csv.push_str("140,Ann 1 Larsen,Bodø,15,2\n"); // row 3 is Ann 1 Larsen, Bodø, 15, 2
        csv.push_str("141,Ann 2 Larsen,Voss,290,4\n"); // row 5 has the amount 29
        csv.push_str("142,ann 3 larsen,Oslo,43,1\n"); // row 7 in lower case
        let reader = TableReader::from_bytes("t.csv", csv.into_bytes(), &ReadOptions::default()).unwrap();
        let table = Table::from_reader(reader).unwrap();
        let found = duplicates(&table, &EncodeOptions::default(), None).unwrap();
        assert_eq!(found.columns, ["name", "city", "amount", "weight"]);
        assert_eq!(found.equal, [Duplicate { row: 41, first: 3, differs: None }]);
        let differs = |column: &str, cells: [&str; 2]| {
            Some((column.to_owned(), cells.map(|cell| Some(cell.to_owned()))))
        };
        let expected = [
            Duplicate { row: 42, first: 5, differs: differs("amount", ["29", "290"]) },
            Duplicate { row: 43, first: 7, differs: differs("name", ["Ann 3 Larsen", "ann 3 larsen"]) },
        ];
        assert_eq!(found.nearly_equal, expected);
    }

    #[test]
    fn rows_that_differ_from_many_others_in_one_column_are_not_told() {
        let rows: Vec<String> =
            (0..64).map(|row| format!("{},{},{}\n", row % 4, row / 4 % 4, row / 16)).collect();
        let csv = format!("a,b,c\n{}", rows.concat());
        let reader = TableReader::from_bytes("t.csv", csv.into_bytes(), &ReadOptions::default()).unwrap();
        let table = Table::from_reader(reader).unwrap();
        let found = duplicates(&table, &EncodeOptions::default(), None).unwrap();
        assert_eq!((found.equal.len(), found.nearly_equal.len()), (0, 0));
    }
}
