//! Converts text columns to typed ones, for formats with types.
//!
//! The readers of CSV and JSON lines mark their columns as *untyped*: they are text because the format has no
//! types (or shows them only in the last row), not because somebody chose text. Only such columns are
//! converted; a text column of a Parquet file stays text, even if every cell is a number. A column of JSON lines that
//! only has strings was chosen to be text, too.

use std::{collections::HashMap, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, cast::AsArray};
use arrow_schema::{DataType, Field, Schema};

use super::{
    ColumnInfo, Reading, TableError,
    raw_json::{RAW_JSON, is_json, plain_text},
};
use crate::kinds::Source;

/// The key of the mark in a field's metadata.
const UNTYPED: &str = "oddcell.untyped";

/// The mark of a column of JSON values.
const JSON_VALUES: &str = "json";

/// A text column of a format without types.
pub(super) fn untyped_field(name: String) -> Field {
    let mark = HashMap::from([(UNTYPED.to_owned(), "true".to_owned())]);
    Field::new(name, DataType::Utf8, true).with_metadata(mark)
}

/// A text column of JSON values that are not all strings.
pub(super) fn json_values_field(name: String) -> Field {
    let mark = HashMap::from([(UNTYPED.to_owned(), JSON_VALUES.to_owned())]);
    Field::new(name, DataType::Utf8, true).with_metadata(mark)
}

/// Whether a column holds the text of such values.
pub(super) fn held_json_values(field: &Field) -> bool {
    field.metadata().get(UNTYPED).is_some_and(|mark| mark == JSON_VALUES)
}

/// What an untyped column is written as; `None` for columns that keep their type.
pub(super) fn reading_to_write(field: &Field, kinds: &[ColumnInfo]) -> Option<Reading> {
    let untyped = field.data_type() == &DataType::Utf8 && field.metadata().contains_key(UNTYPED);
    let info = kinds.iter().find(|info| &info.name == field.name());
    info.filter(|_| untyped).map(ColumnInfo::reading)
}

/// Converts the text columns of CSV and JSON lines to the types that `kinds` stands for: whole numbers to `Int64`,
/// other numbers to `Float64`, `true` and `false` to `Boolean`. Everything else stays text as written, but null tokens
/// become nulls: dates, names, other truth values, numbers in other notations, and columns in which some cell cannot be
/// read. In a later table, a cell that does not fit the type becomes null.
/// JSON values that nobody read become text. All other columns, and columns that `kinds` does not name, stay
/// as they are.
///
/// Whole numbers of 16 digits or more lose digits as `Float64`. Reading a table notes such columns
/// ([`super::Table::notes`]); as categories they keep every digit.
pub fn typed(batch: &RecordBatch, kinds: &[ColumnInfo]) -> Result<RecordBatch, TableError> {
    typed_batch(batch, kinds, 0, "the table")
}

/// [`typed`], with the position for error messages.
pub(super) fn typed_batch(
    batch: &RecordBatch,
    kinds: &[ColumnInfo],
    first_row: usize,
    origin: &str,
) -> Result<RecordBatch, TableError> {
    let schema = batch.schema();
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        columns.push(match reading_to_write(field, kinds) {
            Some(reading) => {
                reading.typed(&Source::new(field.name(), column, reading, first_row, origin)?.lenient())?
            }
            None if is_json(field) => Arc::new(plain_text(column.as_string())),
            None => Arc::clone(column),
        });
    }
    let typed = RecordBatch::try_new(Arc::new(typed_schema(&schema, kinds)), columns);
    Ok(typed.expect("columns of one length, and types as in the schema"))
}

/// The schema of [`typed`] batches.
pub(super) fn typed_schema(schema: &Schema, kinds: &[ColumnInfo]) -> Schema {
    let typed_field = |field: &Field| {
        let reading = reading_to_write(field, kinds);
        let data_type = reading.map_or_else(|| field.data_type().clone(), Reading::arrow_type);
        let mut metadata = field.metadata().clone();
        metadata.remove(UNTYPED);
        metadata.remove(RAW_JSON);
        field.clone().with_data_type(data_type).with_metadata(metadata)
    };
    let fields: Vec<Field> = schema.fields().iter().map(|field| typed_field(field)).collect();
    Schema::new(fields)
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, StringArray, types::Float64Type};

    use super::{super::ColumnKind, *};

    fn batch(untyped: bool) -> RecordBatch {
        let field = |name: &str| {
            if untyped { untyped_field(name.into()) } else { Field::new(name, DataType::Utf8, true) }
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec!["1.5", "NA"])),
            Arc::new(StringArray::from(vec!["yes", ""])),
            Arc::new(StringArray::from(vec![" red", "?"])),
            Arc::new(StringArray::from(vec!["7", "NA"])),
        ];
        let schema = Schema::new(vec![field("n"), field("b"), field("c"), field("other")]);
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    fn kinds() -> Vec<ColumnInfo> {
        let info = |name: &str, kind| ColumnInfo::new(name, kind);
        vec![info("n", ColumnKind::Number), info("b", ColumnKind::Boolean), info("c", ColumnKind::Category)]
    }

    #[test]
    fn untyped_columns_get_their_types_and_unnamed_ones_stay_text() {
        let typed = typed(&batch(true), &kinds()).unwrap();
        let numbers: Vec<_> = typed.column(0).as_primitive::<Float64Type>().iter().collect();
        assert_eq!(numbers, [Some(1.5), None]);
        assert_eq!(typed.column(1).as_boolean().iter().collect::<Vec<_>>(), [Some(true), None]);
        let names: Vec<_> = typed.column(2).as_string::<i32>().iter().collect();
        assert_eq!(names, [Some(" red"), None]);
        let other: Vec<_> = typed.column(3).as_string::<i32>().iter().collect();
        assert_eq!(other, [Some("7"), Some("NA")]);
        assert!(typed.schema().fields().iter().all(|field| field.metadata().is_empty()));
    }

    #[test]
    fn text_that_was_chosen_to_be_text_stays_text() {
        let typed = typed(&batch(false), &kinds()).unwrap();
        assert_eq!(typed, batch(false));
    }

    #[test]
    fn a_cell_that_does_not_fit_becomes_null() {
        let kinds = [ColumnInfo::new("c", ColumnKind::Number)];
        let typed = typed(&batch(true), &kinds).unwrap();
        assert_eq!(typed.column(2).as_primitive::<Float64Type>().null_count(), 2);
    }
}
