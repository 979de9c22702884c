//! Arrow columns of any type as what kinds read: text, numbers, or something to show.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray, cast::AsArray, types::Int64Type};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_cast::{cast, display::array_value_to_string};
use arrow_schema::DataType;

use super::scan;
use crate::table::TableError;

/// The values of a dictionary that holds no text, such as the whole numbers of a pandas `Categorical`.
pub(super) fn unpacked(array: &ArrayRef) -> Option<ArrayRef> {
    let DataType::Dictionary(_, values) = array.data_type() else { return None };
    let group = TypeGroup::of(values).filter(|&group| group != TypeGroup::Text);
    group.map(|_| cast(array, values).expect("a dictionary can be unpacked"))
}

/// What an Arrow type holds, whatever its width and unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeGroup {
    Null,
    Number,
    Boolean,
    Date,
    Text,
}

impl TypeGroup {
    /// The group of a type; `None` for nested and binary types, which cannot be read.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Null => Some(Self::Null),
            DataType::Boolean => Some(Self::Boolean),
            DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Time32(_)
            | DataType::Time64(_) => Some(Self::Date),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Self::Text),
            // Other dictionaries are unpacked where they are read, and are categories whatever they hold.
            DataType::Dictionary(_, values) => Self::of(values).filter(|&group| group == Self::Text),
            other => other.is_numeric().then_some(Self::Number),
        }
    }
}

/// One cell as people would write it; empty if it cannot be shown.
pub(super) fn written(array: &ArrayRef, index: usize) -> String {
    array_value_to_string(&displayable(array), index).unwrap_or_default()
}

/// The same values in a type that can be shown: times with a named zone become times in UTC, because the library
/// does not know the zones by name.
pub(crate) fn displayable(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Timestamp(unit, Some(_)) => {
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            cast(array, &utc).unwrap_or_else(|_| Arc::clone(array))
        }
        _ => Arc::clone(array),
    }
}

/// Any array of [`TypeGroup::Text`] as plain text; without a copy for CSV and JSON lines.
pub(crate) fn to_text(column: &str, array: &ArrayRef) -> Result<StringArray, TableError> {
    let (values, keys) = match array.data_type() {
        DataType::Utf8 => return Ok(array.as_string::<i32>().clone()),
        DataType::LargeUtf8 => return collected(column, array.as_string::<i64>().iter()),
        DataType::Utf8View => return collected(column, array.as_string_view().iter()),
        _ => {
            let dictionary = array.as_any_dictionary();
            let keys = cast(dictionary.keys(), &DataType::Int64).expect("keys are whole numbers");
            (to_text(column, dictionary.values())?, keys)
        }
    };
    let name = |key: Option<i64>| {
        let key = usize::try_from(key?).ok()?;
        (key < values.len() && values.is_valid(key)).then(|| values.value(key))
    };
    collected(column, keys.as_primitive::<Int64Type>().iter().map(name))
}

/// Plain text holds at most 2³¹ bytes per batch.
fn collected<'a>(
    column: &str,
    cells: impl Iterator<Item = Option<&'a str>> + Clone,
) -> Result<StringArray, TableError> {
    let bytes: usize = cells.clone().flatten().map(str::len).sum();
    if i32::try_from(bytes).is_err() {
        return Err(TableError::TooMuchText { column: column.to_owned(), bytes });
    }
    Ok(cells.collect())
}

/// The same text, with nulls where a cell stands for "no value".
pub(super) fn null_tokens_as_nulls(cells: &StringArray) -> StringArray {
    let mut valid = BooleanBufferBuilder::new(cells.len());
    for cell in cells {
        valid.append(cell.is_some_and(|cell| !scan::is_null(cell)));
    }
    let nulls = NullBuffer::new(valid.finish());
    StringArray::new(cells.offsets().clone(), cells.values().clone(), Some(nulls))
}
