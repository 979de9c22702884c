//! The record of changes as a table, and back.
//!
//! | column | content |
//! |---|---|
//! | `row` | counted from 1 |
//! | `column` | the name of the column |
//! | `before`, `after` | the cell: as it is written in a CSV, as JSON for tables that have types or nulls |
//! | `p` | the share of normal cells of the column that are at least as odd as the cell was |
//! | `sure` | how sure the new value is, from 0 to 1; empty if the cell was emptied whatever was expected |
//! | `reason` | what was odd |

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array, cast::AsArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{Change, RepairError};
use crate::{
    kinds::write_json_string,
    table::{Rows, is_json},
};

/// The columns of a record of changes.
pub(super) const COLUMNS: [&str; 7] = ["row", "column", "before", "after", "p", "sure", "reason"];

/// How a record of changes writes cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellForm {
    /// As they stand in a CSV, where an empty cell and none are the same.
    Plain,
    /// As JSON: texts in quotes, `null`.
    Json,
    /// As they are, because they are JSON already.
    RawJson,
}

impl CellForm {
    /// The form for the changes of a table with these columns; `is_csv`: it is read from a CSV.
    #[must_use]
    pub fn of(table: &Schema, is_csv: bool) -> Self {
        match (is_csv, table.fields().iter().any(|field| is_json(field))) {
            (true, _) => Self::Plain,
            (false, true) => Self::RawJson,
            (false, false) => Self::Json,
        }
    }

    fn written(self, cell: Option<&str>) -> String {
        match (self, cell) {
            (Self::Plain, cell) => cell.unwrap_or_default().to_owned(),
            (Self::Json | Self::RawJson, None) => "null".to_owned(),
            (Self::RawJson, Some(json)) => json.to_owned(),
            (Self::Json, Some(text)) => {
                let mut json = Vec::new();
                write_json_string(text, &mut json);
                String::from_utf8(json).expect("JSON of a text")
            }
        }
    }

    fn read(self, text: &str) -> Result<Option<String>, serde_json::Error> {
        match self {
            Self::Plain => Ok(Some(text.to_owned())),
            Self::Json => serde_json::from_str(text),
            Self::RawJson if text == "null" => Ok(None),
            Self::RawJson => {
                serde_json::from_str::<serde::de::IgnoredAny>(text).map(|_| Some(text.to_owned()))
            }
        }
    }
}

/// The columns of a record of changes.
#[must_use]
pub fn changes_schema() -> SchemaRef {
    let types = COLUMNS.map(|name| match name {
        "row" => DataType::UInt64,
        "p" | "sure" => DataType::Float64,
        _ => DataType::Utf8,
    });
    let fields = COLUMNS.into_iter().zip(types);
    Arc::new(Schema::new(
        fields.map(|(name, data_type)| Field::new(name, data_type, name == "sure")).collect::<Vec<_>>(),
    ))
}

/// Changes as rows.
///
/// # Panics
/// Only if the columns do not fit each other, which would be a bug of the library.
#[must_use]
pub fn changes_batch(changes: &[Change], form: CellForm) -> RecordBatch {
    let texts = |text: &dyn Fn(&Change) -> String| -> ArrayRef {
        Arc::new(changes.iter().map(|change| Some(text(change))).collect::<StringArray>())
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(changes.iter().map(|change| Some(change.row as u64 + 1)).collect::<UInt64Array>()),
        texts(&|change| change.column.clone()),
        texts(&|change| form.written(change.before.as_deref())),
        texts(&|change| form.written(change.after.as_deref())),
        Arc::new(changes.iter().map(|change| Some(change.p_value)).collect::<Float64Array>()),
        Arc::new(changes.iter().map(|change| change.sure).collect::<Float64Array>()),
        texts(&|change| change.reason.clone()),
    ];
    RecordBatch::try_new(changes_schema(), columns).expect("columns of the schema")
}

/// Reads rows of a record of changes back, all of whose columns are text.
pub fn read_changes(rows: &Rows, form: CellForm) -> Result<Vec<Change>, RepairError> {
    let column = |name: &'static str| {
        let found = rows.batch.column_by_name(name).and_then(|array| array.as_string_opt::<i32>());
        found.ok_or_else(|| RepairError::NoLog { origin: rows.origin.to_string(), column: name })
    };
    let [row, name, before, after, p, sure, reason] = COLUMNS.map(column);
    let (row, name, before, after, p, sure, reason) = (row?, name?, before?, after?, p?, sure?, reason?);
    let change = |at: usize| {
        let bad = |problem: String| RepairError::BadLog {
            origin: rows.origin.to_string(),
            row: rows.first_row + at + 1,
            problem,
        };
        let number = |name: &str, text: &str| {
            text.parse::<f64>().map_err(|_| bad(format!("{name} is `{text}`, but must be a number")))
        };
        let cell = |name: &str, text: &str| {
            form.read(text).map_err(|_| {
                bad(format!("{name} is `{text}`, but must be JSON, as in the log of this kind of table"))
            })
        };
        let counted = row.value(at).parse::<usize>().ok().and_then(|row| row.checked_sub(1));
        Ok(Change {
            row: counted
                .ok_or_else(|| bad(format!("row is `{}`, but must be a number from 1", row.value(at))))?,
            column: name.value(at).to_owned(),
            before: cell("before", before.value(at))?,
            after: cell("after", after.value(at))?,
            p_value: number("p", p.value(at))?,
            sure: if sure.value(at).is_empty() { None } else { Some(number("sure", sure.value(at))?) },
            reason: reason.value(at).to_owned(),
        })
    };
    (0..rows.n_rows()).map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Format, ReadOptions, TableReader, TableWriter};

    fn change(before: Option<&str>, after: Option<&str>, sure: Option<f64>) -> Change {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let (column, reason) = (" a,b".to_owned(), "because \"x\"\nand y".to_owned());
        Change { row: 6, column, before: own(before), after: own(after), p_value: 1.25e-17, sure, reason }
    }

    /// The changes after they were written to a CSV and read back.
    fn back(changes: &[Change], form: CellForm) -> Result<Vec<Change>, RepairError> {
        let mut writer = TableWriter::create("log", Vec::new(), Format::Csv, &changes_schema(), &[]).unwrap();
        writer.write(&changes_batch(changes, form)).unwrap();
        let reader =
            TableReader::from_bytes("log", writer.finish().unwrap(), &ReadOptions::default()).unwrap();
        let batches = reader.map(|batch| read_changes(&Rows::new(batch.unwrap(), 0, "log"), form));
        Ok(batches.collect::<Result<Vec<_>, _>>()?.concat())
    }

    #[test]
    fn changes_come_back_from_a_csv() {
        let plain = [change(Some(" 7,5\t\"\n"), Some(""), Some(0.75)), change(Some(""), Some("null"), None)];
        assert_eq!(back(&plain, CellForm::Plain).unwrap(), plain);
        let typed = [
            change(None, Some(""), Some(0.75)),
            change(Some("null"), None, None),
            change(Some("\"7"), Some("7"), None),
        ];
        assert_eq!(back(&typed, CellForm::Json).unwrap(), typed);
        let raw = [change(None, Some("\"\""), Some(0.75)), change(Some("1.50"), Some("[1]"), None)];
        assert_eq!(back(&raw, CellForm::RawJson).unwrap(), raw);
    }

    #[test]
    fn a_log_of_another_kind_of_table_is_refused() {
        let error = back(&[change(Some("Oslo"), Some("Bern"), None)], CellForm::Plain);
        assert!(error.is_ok());
        let log = b"row,column,before,after,p,sure,reason\n2,c,Oslo,Bern,0.1,,x\n".to_vec();
        let read = |log: Vec<u8>, form| {
            let batch = TableReader::from_bytes("log", log, &ReadOptions::default())
                .unwrap()
                .next()
                .unwrap()
                .unwrap();
            read_changes(&Rows::new(batch, 0, "log"), form).unwrap_err().to_string()
        };
        assert_eq!(
            read(log, CellForm::Json),
            "log, row 1: before is `Oslo`, but must be JSON, as in the log of this kind of table"
        );
        let zero = b"row,column,before,after,p,sure,reason\n0,c,Oslo,Bern,0.1,,x\n".to_vec();
        assert_eq!(read(zero, CellForm::Plain), "log, row 1: row is `0`, but must be a number from 1");
        let other = b"row,name\n1,x\n".to_vec();
        assert_eq!(
            read(other, CellForm::Plain),
            "log has no column `column`, so it is no log of changes; its columns must be row, column, before, after, p, \
             sure, reason"
        );
    }
}
