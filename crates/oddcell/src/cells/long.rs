//! Called cells as a table, one row for each.
//!
//! | column | content |
//! |---|---|
//! | `row` | the row, counted from 1 |
//! | `column` | the name of the column |
//! | `value` | the cell as it is; null if it is empty |
//! | `p` | the share of normal cells of the column that are at least as odd |
//! | `expected` | what should stand there, written as the column is written; null if nothing can be said |
//! | `low`, `high` | numbers and dates: nine in ten predicted cells lay between these two |
//! | `reason` | what is odd, in a sentence |

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array,
    cast::AsArray,
    types::{Float64Type, UInt64Type},
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{CalledCell, Expected};
use crate::encode::{Encoder, Share};

/// The columns of called cells.
const COLUMNS: [(&str, DataType, bool); 8] = [
    ("row", DataType::UInt64, false),
    ("column", DataType::Utf8, false),
    ("value", DataType::Utf8, true),
    ("p", DataType::Float64, false),
    ("expected", DataType::Utf8, true),
    ("low", DataType::Utf8, true),
    ("high", DataType::Utf8, true),
    ("reason", DataType::Utf8, false),
];

/// The columns of called cells.
#[must_use]
pub fn cells_schema() -> SchemaRef {
    Arc::new(Schema::new(
        COLUMNS.map(|(name, data_type, nullable)| Field::new(name, data_type, nullable)).to_vec(),
    ))
}

/// Called cells as rows. `encoder` is that of the judge that called them.
///
/// # Panics
/// Only if the columns do not fit each other, which would be a bug of the library.
#[must_use]
pub fn cells_batch(encoder: &Encoder, cells: &[CalledCell]) -> RecordBatch {
    let expected =
        |of: fn(&Expected) -> Option<&str>| texts(cells, |cell| cell.expected.as_ref().and_then(of));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(cells.iter().map(|cell| Some(cell.row as u64 + 1)).collect::<UInt64Array>()),
        texts(cells, |cell| Some(encoder.columns()[cell.column].name())),
        texts(cells, |cell| cell.value.as_deref()),
        floats(cells, |cell| Some(cell.p_value)),
        expected(|expected| Some(&expected.value)),
        expected(|expected| expected.low.as_deref()),
        expected(|expected| expected.high.as_deref()),
        texts(cells, |cell| Some(&cell.reason)),
    ];
    RecordBatch::try_new(cells_schema(), columns).expect("columns of the schema")
}

fn texts<'a>(cells: &'a [CalledCell], text: impl Fn(&'a CalledCell) -> Option<&'a str>) -> ArrayRef {
    Arc::new(cells.iter().map(text).collect::<StringArray>())
}

fn floats(cells: &[CalledCell], number: impl Fn(&CalledCell) -> Option<f64>) -> ArrayRef {
    Arc::new(cells.iter().map(number).collect::<Float64Array>())
}

/// Called cells with everything about them, to wait on disk.
pub(super) fn spooled(cells: &[CalledCell]) -> RecordBatch {
    let expected =
        |of: fn(&Expected) -> Option<&str>| texts(cells, |cell| cell.expected.as_ref().and_then(of));
    let levels = |cell: &CalledCell| {
        let levels = cell.expected.as_ref().map(|expected| &expected.levels)?.iter();
        let levels: Vec<(&str, u64)> =
            levels.map(|level| (level.name.as_str(), level.share.to_bits())).collect();
        Some(serde_json::to_string(&levels).expect("names and numbers"))
    };
    let columns: [(&str, ArrayRef); 10] = [
        ("row", Arc::new(cells.iter().map(|cell| Some(cell.row as u64)).collect::<UInt64Array>())),
        ("column", Arc::new(cells.iter().map(|cell| Some(cell.column as u64)).collect::<UInt64Array>())),
        ("value", texts(cells, |cell| cell.value.as_deref())),
        ("surprise", floats(cells, |cell| Some(cell.surprise))),
        ("p", floats(cells, |cell| Some(cell.p_value))),
        ("expected", expected(|expected| Some(&expected.value))),
        ("low", expected(|expected| expected.low.as_deref())),
        ("high", expected(|expected| expected.high.as_deref())),
        ("sure", floats(cells, |cell| cell.expected.as_ref().map(|expected| expected.sure))),
        ("reason", texts(cells, |cell| Some(&cell.reason))),
    ];
    let levels: ArrayRef = Arc::new(cells.iter().map(levels).collect::<StringArray>());
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().chain([("levels", levels)]).map(|(name, array)| (name, array, true)),
    )
    .expect("columns of one length")
}

/// What [`spooled`] wrote.
pub(super) fn from_spooled(batch: &RecordBatch) -> Vec<CalledCell> {
    let column = |name: &str| batch.column_by_name(name).expect("a column of the spool");
    let text = |name: &str, row: usize| {
        let texts = column(name).as_string::<i32>();
        texts.is_valid(row).then(|| texts.value(row).to_owned())
    };
    let whole = |name: &str, row: usize| column(name).as_primitive::<UInt64Type>().value(row) as usize;
    let float = |name: &str, row: usize| column(name).as_primitive::<Float64Type>().value(row);
    let levels = |row: usize| -> Vec<Share> {
        let levels: Vec<(String, u64)> = text("levels", row)
            .map(|json| serde_json::from_str(&json).expect("written by us"))
            .unwrap_or_default();
        levels.into_iter().map(|(name, bits)| Share { name, share: f64::from_bits(bits) }).collect()
    };
    let cell = |row: usize| CalledCell {
        row: whole("row", row),
        column: whole("column", row),
        value: text("value", row),
        surprise: float("surprise", row),
        p_value: float("p", row),
        expected: text("expected", row).map(|value| Expected {
            value,
            low: text("low", row),
            high: text("high", row),
            levels: levels(row),
            sure: float("sure", row),
        }),
        reason: text("reason", row).unwrap_or_default(),
    };
    (0..batch.num_rows()).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_from_the_spool_to_the_bit() {
        let levels = vec![
            Share { name: "a\"b".to_owned(), share: 0.1 + 0.2 },
            Share { name: String::new(), share: 0.1 },
        ];
        let cell = |expected: Option<Expected>, value: Option<&str>| CalledCell {
            row: 5_000_000_000,
            column: 3,
            value: value.map(str::to_owned),
            surprise: 12.3,
            p_value: 1e-300,
            expected,
            reason: "x, \"y\"\n".to_owned(),
        };
        let own = |text: &str| Some(text.to_owned());
        let named = Expected { value: "a\"b".to_owned(), low: None, high: None, levels, sure: 0.1 + 0.2 };
        let number =
            Expected { value: String::new(), low: own("1"), high: own("2"), levels: Vec::new(), sure: 0.0 };
        let cells = [cell(Some(named), None), cell(Some(number), Some("")), cell(None, Some("7"))];
        assert_eq!(from_spooled(&spooled(&cells)), cells);
    }
}
