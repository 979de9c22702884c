//! One cell, looked at for its reason.

use std::borrow::Cow;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::Float64Type};
use arrow_schema::DataType;

use super::{
    Cells, Reading, Side,
    arrow::written,
    cells::{Checked, read},
};
use crate::table::{Rows, TableError};

/// Where a cell is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellAt<'a> {
    pub(crate) column: &'a str,
    pub(crate) reading: Reading,
    pub(crate) array: &'a ArrayRef,
    pub(crate) rows: &'a Rows,
    /// The row within `rows`.
    pub(crate) row: usize,
}

/// The facts about a cell that a reason needs. The default is an empty cell.
#[derive(Debug, Default)]
pub(crate) struct Seen<'a> {
    /// The value for people; `None` if the cell is empty.
    pub(crate) value: Option<Cow<'a, str>>,
    /// Where the value lies beside the normal range.
    pub(crate) side: Option<Side>,
    /// The same as a figure: 0 at the lower end of the normal range, 1 at the upper.
    pub(crate) place: Option<f64>,
    /// The share of training rows with the same value.
    pub(crate) training_share: Option<f64>,
    /// Whether the cell holds something that is not of the column's kind.
    pub(crate) unreadable: bool,
}

/// What is odd about a cell besides its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    /// As the end of a sentence: `looks like a misspelled `London` (24 % of training rows)`.
    pub(crate) text: String,
    /// What probably should stand there.
    pub(crate) expected: Option<String>,
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self { text, expected: None }
    }
}

impl<'a> CellAt<'a> {
    /// The text of a cell in a plain text column, without the spaces around it.
    pub(super) fn text(&self) -> Option<&'a str> {
        if self.array.is_null(self.row) {
            return None;
        }
        let text = match self.array.data_type() {
            DataType::Utf8 => self.array.as_string::<i32>().value(self.row),
            DataType::LargeUtf8 => self.array.as_string::<i64>().value(self.row),
            DataType::Utf8View => self.array.as_string_view().value(self.row),
            _ => return None,
        };
        Some(text.trim_ascii())
    }

    /// The number in a column of 64-bit floats, if it is finite.
    pub(super) fn float(&self) -> Option<f64> {
        let numbers = self.array.as_primitive_opt::<Float64Type>()?;
        numbers.is_valid(self.row).then(|| numbers.value(self.row)).filter(|number| number.is_finite())
    }

    /// The name in a cell without the spaces around it, and whether there were any.
    pub(super) fn name(&self) -> Result<Option<(String, bool)>, TableError> {
        let cells = self.read()?;
        let name = cells.names().iter().flatten().next();
        Ok(name.map(|name| (name.trim_ascii().to_owned(), name.trim_ascii().len() < name.len())))
    }

    /// The cell read as its column's kind, in an array of one.
    pub(crate) fn read(&self) -> Result<Cells, TableError> {
        self.checked().map(|checked| checked.cells)
    }

    fn checked(&self) -> Result<Checked, TableError> {
        let (one, row) = (self.array.slice(self.row, 1), self.rows.first_row + self.row);
        read(self.column, &one, self.reading, row, &self.rows.origin, false)
    }

    /// The cell read as a number, or what is seen of a cell without one: it is empty, or cannot be read.
    pub(crate) fn number(&self) -> Result<Result<f64, Seen<'a>>, TableError> {
        let Checked { cells, unreadable } = self.checked()?;
        let number = cells.numbers()[0];
        if !unreadable.is_empty() {
            let text = self.text().map_or_else(|| Cow::Owned(written(self.array, self.row)), Cow::Borrowed);
            return Ok(Err(Seen { value: Some(text), unreadable: true, ..Seen::default() }));
        }
        Ok(if number.is_nan() { Err(Seen::default()) } else { Ok(number) })
    }
}
