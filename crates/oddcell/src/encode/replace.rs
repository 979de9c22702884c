//! Rows whose cells can be replaced: "how odd would this row be if that cell held what is expected?"

use arrow_array::{Array, StringArray};

use super::{EncodeError, Encoder};
use crate::{
    detect::Guess,
    kinds::{Cells, Checked, read},
    table::Rows,
};

/// What a cell could hold, as its column's kind reads it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CellValue {
    /// A number; a date in seconds; a boolean as 0 or 1.
    Number(f64),
    /// A name.
    Name(String),
    /// Nothing.
    Empty,
    /// Anything normal: the cell says nothing.
    Neutral,
    /// About this number: others are compared with it, but nobody asks whether the cell itself is odd.
    About(f64),
}

/// The cells of some rows, read once.
#[derive(Debug, Clone)]
pub(crate) struct ReadRows {
    /// For every column of the encoder.
    pub(super) columns: Vec<Checked>,
    /// The cells as columns are compared with each other, where that differs.
    moments: Vec<Option<Cells>>,
    pub(super) n_rows: usize,
    /// Cells that nobody is asked about: row, column, and whether there is a number.
    unasked: Vec<(usize, usize, bool)>,
}

impl ReadRows {
    /// The cells of a column as they are compared with those of others.
    pub(super) fn moments(&self, column: usize) -> &Cells {
        self.moments[column].as_ref().unwrap_or(&self.columns[column].cells)
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// A cell as it was read; `None` if it cannot be read.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<CellValue> {
        let Checked { cells, unreadable } = &self.columns[column];
        if unreadable.binary_search(&(row as u32)).is_ok() {
            return None;
        }
        Some(match cells {
            Cells::Numbers(numbers) if numbers[row].is_nan() => CellValue::Empty,
            Cells::Numbers(numbers) => CellValue::Number(numbers[row]),
            Cells::Names(names) if names.is_null(row) => CellValue::Empty,
            Cells::Names(names) => CellValue::Name(names.value(row).to_owned()),
        })
    }

    /// These rows, in this order, one of them perhaps several times, with the cells that `changes` gives for each.
    pub(crate) fn pick(&self, rows: &[usize], changes: &[Vec<(usize, CellValue)>]) -> Self {
        let change = |at: usize, column: usize| {
            changes[at].iter().rev().find(|(changed, _)| *changed == column).map(|(_, value)| value)
        };
        let pick_cells = |column: usize, cells: &Cells| match cells {
            Cells::Numbers(numbers) => {
                let number = |(at, &row): (usize, &usize)| match change(at, column) {
                    None => numbers[row],
                    Some(CellValue::Number(number) | CellValue::About(number)) => *number,
                    Some(CellValue::Name(_) | CellValue::Empty | CellValue::Neutral) => f64::NAN,
                };
                Cells::Numbers(rows.iter().enumerate().map(number).collect())
            }
            Cells::Names(names) => {
                let own = |row: usize| names.is_valid(row).then(|| names.value(row));
                let name = |(at, &row): (usize, &usize)| match change(at, column) {
                    None => own(row),
                    Some(CellValue::Name(name)) => Some(name.as_str()),
                    Some(
                        CellValue::Number(_) | CellValue::About(_) | CellValue::Empty | CellValue::Neutral,
                    ) => None,
                };
                Cells::Names(rows.iter().enumerate().map(name).collect::<StringArray>())
            }
        };
        let pick = |(column, Checked { cells, unreadable }): (usize, &Checked)| {
            let was_unreadable = |row: usize| unreadable.binary_search(&(row as u32)).is_ok();
            let still = |&(at, &row): &(usize, &usize)| change(at, column).is_none() && was_unreadable(row);
            let unreadable = rows.iter().enumerate().filter(still).map(|(at, _)| at as u32).collect();
            let cells = pick_cells(column, cells);
            Checked { cells, unreadable }
        };
        let changed = changes
            .iter()
            .enumerate()
            .flat_map(|(at, some)| some.iter().map(move |&(column, _)| (at, column)));
        let unasked = |(at, column): (usize, usize)| match change(at, column)? {
            CellValue::Neutral => Some((at, column, false)),
            CellValue::About(_) => Some((at, column, true)),
            CellValue::Number(_) | CellValue::Name(_) | CellValue::Empty => None,
        };
        let unasked = changed.filter_map(unasked).collect();
        Self {
            columns: self.columns.iter().enumerate().map(pick).collect(),
            moments: self
                .moments
                .iter()
                .enumerate()
                .map(|(column, cells)| cells.as_ref().map(|cells| pick_cells(column, cells)))
                .collect(),
            n_rows: rows.len(),
            unasked,
        }
    }

    /// The cells that nobody is asked about: row, column, and whether there is a number.
    pub(super) fn unasked(&self) -> &[(usize, usize, bool)] {
        &self.unasked
    }
}

impl Encoder {
    /// Reads the cells of `rows`, whose arrays are `arrays`, one for every column.
    pub(crate) fn read_rows(
        &self,
        rows: &Rows,
        arrays: &[arrow_array::ArrayRef],
    ) -> Result<ReadRows, EncodeError> {
        let mut columns = Vec::with_capacity(arrays.len());
        for (column, array) in self.columns().iter().zip(arrays) {
            let (name, reading) = (column.name(), column.reading());
            columns.push(read(name, array, reading, rows.first_row, &rows.origin, self.is_strict())?);
        }
        let (n_rows, moments) = (rows.n_rows(), self.moments(rows, arrays)?);
        Ok(ReadRows { columns, moments, n_rows, unasked: Vec::new() })
    }

    /// What a guess about the column at position `column` means as a cell; `None` if it means nothing.
    pub(crate) fn value_of(&self, column: usize, guess: &Guess) -> Option<CellValue> {
        match guess {
            Guess::Nothing => None,
            Guess::Number { feature, middle, .. } => {
                self.number_of(column, *feature, *middle).map(CellValue::Number)
            }
            Guess::Levels { chances, .. } => {
                self.level_of(column, chances.first().map_or(0, |&(level, _)| level))
            }
        }
    }

    /// What a text means as a cell of the column at position `column`; `None` if it cannot be read.
    pub(crate) fn value_written(&self, column: usize, text: &str) -> Option<CellValue> {
        let encoded = &self.columns()[column];
        let one: arrow_array::ArrayRef = std::sync::Arc::new(StringArray::from(vec![text]));
        let checked = read(encoded.name(), &one, encoded.reading(), 0, "", false).ok()?;
        let one = ReadRows { columns: vec![checked], moments: vec![None], n_rows: 1, unasked: Vec::new() };
        one.value(0, 0)
    }

    /// The cell of a column at whose level a guess points.
    pub(crate) fn level_of(&self, column: usize, level: u32) -> Option<CellValue> {
        let kind = self.columns()[column].content().as_kind();
        kind.level(level as usize).map(|name| match kind.level_number(level as usize) {
            Some(number) => CellValue::Number(number),
            None => CellValue::Name(name.to_owned()),
        })
    }

    /// The number of a column that one of its features stands for.
    pub(crate) fn number_of(&self, column: usize, feature: usize, x: f64) -> Option<f64> {
        let encoded = &self.columns()[column];
        let kind = encoded.content().as_kind();
        if encoded.value_features().contains(&feature) {
            let feature = &self.features()[feature];
            kind.plausible(feature.mean + feature.std * x)
        } else {
            kind.unscaled(x)
        }
    }
}
