//! Cells as people write them: dates, numbers, and whole columns whose kind is recognized.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use oddcell::table::{Cells, ColumnKind, Table, format_date, read_cells};

use super::readers::look;

/// One cell, read as `kind`; `None` if it is none.
fn cell(text: &str, kind: ColumnKind) -> Option<f64> {
    let column: ArrayRef = Arc::new(StringArray::from(vec![text]));
    match read_cells("fuzzed", &column, kind, 0, "fuzzed").ok()? {
        Cells::Numbers(numbers) => Some(numbers[0]).filter(|number| !number.is_nan()),
        Cells::Names(names) => panic!("{kind:?} gives names: {names:?}"),
    }
}

/// A date is a finite number of seconds, and shown and read again it is the same to the millisecond.
pub fn dates(data: &[u8]) {
    for text in String::from_utf8_lossy(data).lines() {
        let Some(seconds) = cell(text, ColumnKind::Date) else { continue };
        assert!(seconds.is_finite(), "{text:?} is {seconds}");
        let shown = format_date(seconds);
        if !shown.ends_with(" s") {
            let again = cell(&shown, ColumnKind::Date)
                .unwrap_or_else(|| panic!("{text:?} is shown as {shown:?}, which is no date"));
            assert!((again - seconds).abs() < 0.001, "{text:?} is {seconds}, but {shown:?} is {again}");
        }
    }
}

/// A number is finite, and one that Rust can read is what Rust reads.
pub fn numbers(data: &[u8]) {
    for text in String::from_utf8_lossy(data).lines() {
        let found = cell(text, ColumnKind::Number);
        assert!(found.is_none_or(f64::is_finite), "{text:?} is {found:?}");
        let plain =
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
        if let Some(expected) = text.parse::<f64>().ok().filter(|number| plain && number.is_finite()) {
            assert_eq!(found, Some(expected), "{text:?}");
        }
    }
}

/// A column of texts is recognized as something, and everything about it can be shown.
pub fn column(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let cells: Vec<&str> = text.split('\n').collect();
    let column: ArrayRef = Arc::new(StringArray::from(cells));
    let batch = RecordBatch::try_from_iter([("fuzzed", column)]).expect("one column");
    let Ok(table) = Table::from_batches("fuzzed", vec![batch]) else { return };
    let _ = look(&table);
}
