//! One cell of a batch, as seen and as meant.

use std::borrow::Cow;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::Float64Type};
use arrow_schema::DataType;

use crate::{
    encode::{Content, DateStyle, EncodeError, EncodedColumn, Place, words},
    table::{Cells, finite_number, read_cells},
};

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    /// No value.
    Null,
    /// A number, date or boolean, with the text it was written as.
    Number { number: f64, text: Option<&'a str> },
    /// A name.
    Name(Cow<'a, str>),
}

impl<'a> Cell<'a> {
    /// Reads the cell in `row` of `array`, which belongs to `column`.
    pub(super) fn read(
        column: &EncodedColumn,
        array: &'a ArrayRef,
        row: usize,
        first_row: usize,
        origin: &str,
    ) -> Result<Self, EncodeError> {
        let text = text(array, row);
        if let Some(cell) = Self::read_quickly(column, array, row, text) {
            return Ok(cell);
        }
        let one = array.slice(row, 1);
        Ok(match read_cells(column.name(), &one, column.kind(), first_row + row, origin)? {
            Cells::Numbers(numbers) if numbers[0].is_nan() => Cell::Null,
            Cells::Numbers(numbers) => Cell::Number { number: numbers[0], text },
            Cells::Names(names) if names.is_null(0) => Cell::Null,
            Cells::Names(names) => {
                Cell::Name(text.map_or_else(|| Cow::Owned(names.value(0).to_owned()), Cow::Borrowed))
            }
        })
    }

    /// The usual cells, without the detour through an array of one; `None` where only [`read_cells`] knows.
    fn read_quickly(
        column: &EncodedColumn,
        array: &ArrayRef,
        row: usize,
        text: Option<&'a str>,
    ) -> Option<Self> {
        match (column.content(), text) {
            (Content::Number(_), Some(text)) => {
                Some(Cell::Number { number: finite_number(text)?, text: Some(text) })
            }
            (Content::Number(_), None) => {
                let numbers = array.as_primitive_opt::<Float64Type>()?;
                let number =
                    numbers.is_valid(row).then(|| numbers.value(row)).filter(|number| number.is_finite())?;
                Some(Cell::Number { number, text: None })
            }
            // A level that was kept cannot be one of the words for null.
            (Content::Category(levels), Some(text)) if matches!(levels.place(text), Place::Kept(_)) => {
                Some(Cell::Name(Cow::Borrowed(text)))
            }
            _ => None,
        }
    }

    /// The cell as it should be shown; `None` for null.
    pub(super) fn into_text(self, column: &EncodedColumn) -> Option<Cow<'a, str>> {
        let (number, text) = match self {
            Cell::Null => return None,
            Cell::Name(name) => return Some(name),
            Cell::Number { number, text } => (number, text),
        };
        Some(match (column.content(), text) {
            (Content::Date { style, .. }, text) => iso(number, *style, text),
            (_, Some(text)) => Cow::Borrowed(text),
            (Content::Boolean { .. }, None) => Cow::Borrowed(if number == 0.0 { "false" } else { "true" }),
            (_, None) => Cow::Owned(shortest(number)),
        })
    }
}

/// A date as written if that is the ISO form or a time of day. Beside a normal range in ISO form nobody could tell
/// which of 1 and 2 is the month in `1/2/2024`.
fn iso(seconds: f64, style: DateStyle, text: Option<&str>) -> Cow<'_, str> {
    let is_iso = |text: &str| text.as_bytes().get(4) == Some(&b'-');
    match (text, style) {
        (Some(text), _) if style == DateStyle::Time || is_iso(text) => Cow::Borrowed(text),
        // A time in a column of days is not to be lost.
        (_, DateStyle::Day) if seconds % 86_400.0 != 0.0 => {
            Cow::Owned(words::date(seconds, DateStyle::Moment))
        }
        _ => Cow::Owned(words::date(seconds, style)),
    }
}

/// All digits of a number if they are few; else those a reader wants. 0.1 + 0.2 is 0.3 to a reader.
fn shortest(number: f64) -> String {
    let all = number.to_string();
    if all.len() <= 12 { all } else { words::number_within(number, number / 1e4).to_string() }
}

/// The text of a cell in a plain text column, without the spaces around it.
fn text(array: &ArrayRef, row: usize) -> Option<&str> {
    if array.is_null(row) {
        return None;
    }
    let text = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row),
        DataType::Utf8View => array.as_string_view().value(row),
        _ => return None,
    };
    Some(text.trim_ascii())
}
