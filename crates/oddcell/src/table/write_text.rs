//! Writes rows as text: CSV and JSON lines.

use std::{borrow::Cow, fmt::Write as _};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, cast::AsArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{Field, Schema};

use super::{
    ColumnInfo, ColumnKind, Format, TableError,
    csv::DELIMITERS,
    is_null,
    raw_json::{is_json, plain_text},
    typed::{held_json_values, reading_to_write},
};
use crate::kinds::{TypeGroup, displayable, is_json_number, to_text, write_json_string};

/// Nulls are empty cells. A value that cannot be displayed shows its error instead of stopping the whole
/// table.
const OPTIONS: FormatOptions<'static> = FormatOptions::new().with_display_error(true);

enum Column<'a> {
    Text(StringArray),
    Other(&'a ArrayRef, ArrayFormatter<'a>),
}

impl<'a> Column<'a> {
    fn new(field: &Field, array: &'a ArrayRef) -> Result<Self, TableError> {
        if let Some(TypeGroup::Text) = TypeGroup::of(array.data_type()) {
            return to_text(field.name(), array).map(Self::Text);
        }
        match ArrayFormatter::try_new(array.as_ref(), &OPTIONS) {
            Ok(formatter) => Ok(Self::Other(array, formatter)),
            Err(_) => Err(TableError::UnsupportedType {
                origin: "output".to_owned(),
                column: field.name().clone(),
                found: array.data_type().to_string(),
            }),
        }
    }

    /// The text of a cell; `None` if it is null. Writes what is not text into `scratch`.
    fn cell<'b>(&'b self, row: usize, scratch: &'b mut String) -> Option<&'b str> {
        match self {
            Self::Text(cells) => cells.is_valid(row).then(|| cells.value(row)),
            Self::Other(array, formatter) => array.is_valid(row).then(|| {
                scratch.clear();
                write!(scratch, "{}", formatter.value(row)).expect("a string takes everything");
                scratch.as_str()
            }),
        }
    }
}

pub(super) fn csv_header(out: &mut Vec<u8>, schema: &Schema, delimiter: u8, formulas: Formulas) {
    for (index, field) in schema.fields().iter().enumerate() {
        if index > 0 {
            out.push(delimiter);
        }
        let name = formulas.shown(field.name());
        if misleads(&name, index == 0) {
            quoted_cell(out, &name);
        } else {
            csv_cell(out, &name, delimiter);
        }
    }
    out.push(b'\n');
}

/// What becomes of text that a spreadsheet would run as a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formulas {
    /// It is written as it is.
    AsWritten,
    /// An apostrophe before it makes spreadsheets show it as text.
    Disarmed,
}

impl Formulas {
    fn shown(self, cell: &str) -> Cow<'_, str> {
        if self == Self::Disarmed && is_formula(cell) {
            Cow::Owned(format!("'{cell}"))
        } else {
            Cow::Borrowed(cell)
        }
    }
}

/// Whether a spreadsheet takes the text for a formula. A number with a sign is none.
fn is_formula(cell: &str) -> bool {
    let is_number = || {
        let digits = cell.trim_start_matches(['+', '-']);
        let usual = |byte: u8| byte.is_ascii_digit() || b".,eE+-".contains(&byte);
        digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && cell.bytes().all(usual)
            && cell.replace(',', "").parse::<f64>().is_ok()
    };
    cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number()
}

/// Whether a reader could take this name, if it had no quotes, for something else: for several names, since it guesses
/// the delimiter from the first row, or for the beginning of another format.
fn misleads(name: &str, is_first: bool) -> bool {
    name.bytes().any(|byte| DELIMITERS.contains(&byte))
        || (is_first
            && (name.starts_with(['\u{FEFF}', '{', '[']) || Format::from_magic(name.as_bytes()).is_some()))
}

pub(super) fn csv_rows(
    out: &mut Vec<u8>,
    batch: &RecordBatch,
    delimiter: u8,
    formulas: Formulas,
) -> Result<(), TableError> {
    let (schema, arrays) = (batch.schema(), shown(batch));
    let columns = schema.fields().iter().zip(&arrays).map(|(field, array)| {
        let column = if is_json(field) {
            Column::Text(plain_text(array.as_string()))
        } else {
            Column::new(field, array)?
        };
        // Checking a whole column at once is faster than checking each of its cells.
        let plain = formulas == Formulas::AsWritten
            && matches!(&column, Column::Text(cells) if !needs_quotes(cells.value_data(), delimiter));
        let is_number = matches!(TypeGroup::of(array.data_type()), Some(TypeGroup::Number));
        Ok((column, plain, if is_number { Formulas::AsWritten } else { formulas }))
    });
    let columns = columns.collect::<Result<Vec<_>, TableError>>()?;
    let mut scratch = String::new();
    for row in 0..batch.num_rows() {
        let row_begin = out.len();
        for (index, (column, plain, formulas)) in columns.iter().enumerate() {
            if index > 0 {
                out.push(delimiter);
            }
            match column {
                Column::Text(cells) if *plain && cells.is_valid(row) => append_cell(out, cells, row),
                Column::Text(_) | Column::Other(..) => {
                    if let Some(cell) = column.cell(row, &mut scratch) {
                        csv_cell(out, &formulas.shown(cell), delimiter);
                    }
                }
            }
        }
        // Readers skip empty lines.
        if out.len() == row_begin {
            out.extend_from_slice(b"\"\"");
        }
        out.push(b'\n');
    }
    Ok(())
}

/// Most cells are short. Copying a fixed number of bytes and truncating the surplus takes a few instructions;
/// copying a varying number takes a call.
#[inline]
fn append_cell(out: &mut Vec<u8>, cells: &StringArray, row: usize) {
    const SHORT: usize = 16;
    let (begin, end) = (cells.value_offsets()[row] as usize, cells.value_offsets()[row + 1] as usize);
    match cells.value_data()[begin..].first_chunk::<SHORT>() {
        Some(chunk) if end - begin <= SHORT => {
            out.extend_from_slice(chunk);
            out.truncate(out.len() - SHORT + (end - begin));
        }
        _ => out.extend_from_slice(&cells.value_data()[begin..end]),
    }
}

fn shown(batch: &RecordBatch) -> Vec<ArrayRef> {
    batch.columns().iter().map(displayable).collect()
}

fn csv_cell(out: &mut Vec<u8>, cell: &str, delimiter: u8) {
    if needs_quotes(cell.as_bytes(), delimiter) {
        quoted_cell(out, cell);
    } else {
        out.extend_from_slice(cell.as_bytes());
    }
}

fn quoted_cell(out: &mut Vec<u8>, cell: &str) {
    out.push(b'"');
    for (index, piece) in cell.split('"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(piece.as_bytes());
    }
    out.push(b'"');
}

/// Whether `text` contains a delimiter, quote, line end or zero (which could look like UTF-16 to a reader). The inner
/// loop has no early exit, so that the compiler can vectorize it.
fn needs_quotes(text: &[u8], delimiter: u8) -> bool {
    let has_special = |piece: &[u8]| {
        let mut found = 0;
        for &byte in piece {
            found |= u8::from(byte == delimiter) | u8::from(byte == b'"');
            found |= u8::from(byte == b'\n') | u8::from(byte == b'\r') | u8::from(byte == 0);
        }
        found != 0
    };
    let (pieces, rest) = text.as_chunks::<64>();
    pieces.iter().any(|piece| has_special(piece)) || has_special(rest)
}

pub(super) fn json_rows(
    out: &mut Vec<u8>,
    batch: &RecordBatch,
    kinds: &[ColumnInfo],
) -> Result<(), TableError> {
    let (schema, arrays) = (batch.schema(), shown(batch));
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, array) in schema.fields().iter().zip(&arrays) {
        let mut key = Vec::new();
        write_json_string(field.name(), &mut key);
        key.push(b':');
        let meaning = match (TypeGroup::of(array.data_type()), reading_to_write(field, kinds)) {
            (Some(TypeGroup::Text), _) if is_json(field) => Meaning::Raw,
            (Some(TypeGroup::Text), _) if held_json_values(field) => Meaning::Value,
            (Some(TypeGroup::Number | TypeGroup::Boolean), _) => Meaning::Bare,
            (Some(TypeGroup::Null | TypeGroup::Date | TypeGroup::Text) | None, reading) => {
                Meaning::Text(reading.map(|reading| reading.kind))
            }
        };
        columns.push((key, meaning, Column::new(field, array)?));
    }
    let mut scratch = String::new();
    for row in 0..batch.num_rows() {
        let mut separator = b'{';
        for (key, meaning, column) in &columns {
            out.push(separator);
            separator = b',';
            out.extend_from_slice(key);
            match column.cell(row, &mut scratch) {
                Some(cell) => json_cell(out, cell, meaning),
                None => out.extend_from_slice(b"null"),
            }
        }
        out.extend_from_slice(b"}\n");
    }
    Ok(())
}

enum Meaning {
    /// Already JSON.
    Raw,
    /// Text, written as its kind if that is known; dates and times.
    Text(Option<ColumnKind>),
    /// The text of a JSON value that may have been a number, a truth value or a string.
    Value,
    /// Numbers and truth values.
    Bare,
}

/// JSON has no NaN and no infinity; both become null.
fn json_cell(out: &mut Vec<u8>, cell: &str, meaning: &Meaning) {
    let is_bare = || is_json_number(cell.as_bytes()) || matches!(cell, "true" | "false");
    match meaning {
        Meaning::Raw => out.extend_from_slice(cell.as_bytes()),
        Meaning::Bare | Meaning::Value if is_bare() => out.extend_from_slice(cell.as_bytes()),
        Meaning::Text(Some(kind)) if !is_null(cell) => kind.write_json(cell, out),
        Meaning::Text(Some(_)) | Meaning::Bare => out.extend_from_slice(b"null"),
        Meaning::Text(None) | Meaning::Value => write_json_string(cell, out),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Date32Array, Float64Array, Int64Array, TimestampSecondArray};
    use arrow_schema::DataType;
    use proptest::prelude::*;

    use super::{
        super::{raw_json::json_field, typed::untyped_field},
        *,
    };

    fn csv(batch: &RecordBatch, delimiter: u8) -> String {
        let mut out = Vec::new();
        csv_header(&mut out, &batch.schema(), delimiter, Formulas::AsWritten);
        csv_rows(&mut out, batch, delimiter, Formulas::AsWritten).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn json(batch: &RecordBatch, kinds: &[ColumnInfo]) -> String {
        let mut out = Vec::new();
        json_rows(&mut out, batch, kinds).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn batch(columns: Vec<(Field, ArrayRef)>) -> RecordBatch {
        let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
    }

    fn typed_columns() -> RecordBatch {
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        let berlin = DataType::Timestamp(arrow_schema::TimeUnit::Second, Some("Europe/Berlin".into()));
        batch(vec![
            (
                field("f", DataType::Float64),
                Arc::new(Float64Array::from(vec![Some(0.5), Some(f64::NAN), None])),
            ),
            (field("i", DataType::Int64), Arc::new(Int64Array::from(vec![Some(i64::MAX), None, Some(-1)]))),
            (
                field("b", DataType::Boolean),
                Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            ),
            (field("d", DataType::Date32), Arc::new(Date32Array::from(vec![Some(1), None, Some(0)]))),
            (
                field("t", berlin),
                Arc::new(
                    TimestampSecondArray::from(vec![Some(0), None, Some(1)]).with_timezone("Europe/Berlin"),
                ),
            ),
        ])
    }

    #[test]
    fn formulas_are_disarmed_and_numbers_are_left_alone() {
        for formula in
            ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(A1)", "\t=1", "\r=1", "-", "-inf", "+"]
        {
            assert_eq!(Formulas::Disarmed.shown(formula), format!("'{formula}"));
            assert_eq!(Formulas::AsWritten.shown(formula), formula);
        }
        for cell in ["-5", "+5", "-1.5e-3", "-1,234.50", "-.5", "1=2", "a", "", "'=1"] {
            assert_eq!(Formulas::Disarmed.shown(cell), cell);
        }
    }

    #[test]
    fn typed_columns_are_written_as_plain_values() {
        let expected = "f,i,b,d,t\n\
                        0.5,9223372036854775807,true,1970-01-02,1970-01-01T00:00:00Z\n\
                        NaN,,,,\n\
                        ,-1,false,1970-01-01,1970-01-01T00:00:01Z\n";
        assert_eq!(csv(&typed_columns(), b','), expected);
        let expected = r#"{"f":0.5,"i":9223372036854775807,"b":true,"d":"1970-01-02","t":"1970-01-01T00:00:00Z"}
{"f":null,"i":null,"b":null,"d":null,"t":null}
{"f":null,"i":-1,"b":false,"d":"1970-01-01","t":"1970-01-01T00:00:01Z"}
"#;
        assert_eq!(json(&typed_columns(), &[]), expected);
    }

    #[test]
    fn csv_is_quoted_only_where_it_must_be() {
        let cells = ["plain", "a;b", "a,b", "say \"x\"", "two\nlines", " spaces "];
        let batch = batch(vec![(untyped_field("c".into()), Arc::new(StringArray::from(cells.to_vec())))]);
        assert_eq!(
            csv(&batch, b','),
            "c\nplain\na;b\n\"a,b\"\n\"say \"\"x\"\"\"\n\"two\nlines\"\n spaces \n"
        );
        assert!(csv(&batch, b';').starts_with("c\nplain\n\"a;b\"\na,b\n"));
    }

    #[test]
    fn the_only_cell_of_a_row_is_never_an_empty_line() {
        let batch =
            batch(vec![(untyped_field("c".into()), Arc::new(StringArray::from(vec![Some(""), None])))]);
        assert_eq!(csv(&batch, b','), "c\n\"\"\n\"\"\n");
    }

    #[test]
    fn untyped_text_is_written_to_json_as_its_kind() {
        let cells: ArrayRef =
            Arc::new(StringArray::from(vec!["12345678901234567890", "+3", "007", "NA", "x", " 1.5 "]));
        let kinds = [ColumnInfo::new("n", ColumnKind::Number)];
        let numbers = batch(vec![(untyped_field("n".into()), Arc::clone(&cells))]);
        let expected = [
            r#"{"n":12345678901234567890}"#, // keeps every digit
            r#"{"n":"+3"}"#,                 // JSON has no plus and no leading zeros
            r#"{"n":"007"}"#,
            r#"{"n":null}"#,
            r#"{"n":"x"}"#,
            r#"{"n":1.5}"#,
        ];
        assert_eq!(json(&numbers, &kinds).lines().collect::<Vec<_>>(), expected);
        // Text columns of typed formats, and columns of unknown kind, stay text.
        let chosen = batch(vec![(Field::new("n", DataType::Utf8, true), cells)]);
        assert!(json(&chosen, &kinds).starts_with("{\"n\":\"12345678901234567890\"}\n{\"n\":\"+3\"}\n"));
        assert!(json(&numbers, &[]).starts_with("{\"n\":\"12345678901234567890\"}\n{\"n\":\"+3\"}\n"));
    }

    #[test]
    fn columns_of_json_are_json_in_json_lines_and_text_elsewhere() {
        let cells: ArrayRef = Arc::new(StringArray::from(vec![Some(r#"[{"a":1}]"#), Some(r#""x""#), None]));
        let batch = batch(vec![(json_field("c"), cells)]);
        assert_eq!(json(&batch, &[]), "{\"c\":[{\"a\":1}]}\n{\"c\":\"x\"}\n{\"c\":null}\n");
        assert_eq!(csv(&batch, b','), "c\n\"[{\"\"a\"\":1}]\"\nx\n\"\"\n");
    }

    proptest! {
        // Law: a JSON number is what a JSON parser accepts as one.
        #[test]
        fn json_numbers_are_those_of_the_parser(text in "[-+]?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][-+]?[0-9]{0,2})?") {
            let parsed = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            prop_assert_eq!(is_json_number(text.as_bytes()), parsed, "{}", text);
        }

        #[test]
        fn every_row_is_valid_json_whatever_the_cells(cells in prop::collection::vec(".{0,8}", 1..5), number in any::<bool>()) {
            let kind = if number { ColumnKind::Number } else { ColumnKind::Boolean };
            let kinds = [ColumnInfo::new("\"k\\\n", kind)];
            let array: ArrayRef = Arc::new(StringArray::from(cells.clone()));
            let text = json(&batch(vec![(untyped_field(kinds[0].name.clone()), array)]), &kinds);
            prop_assert_eq!(text.lines().count(), cells.len());
            for line in text.lines() {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                prop_assert!(value.get("\"k\\\n").is_some());
            }
        }
    }
}
