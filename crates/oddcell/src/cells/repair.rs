//! Called cells replaced by what is expected there, with every change on record, and back again.
//!
//! *Invariants:* a cell that is not called comes through as it is · a cell is changed only if its change can be taken back: a
//! typed column must be able to hold the new value, and the old one read from its text · `undone(repaired(table)) = table`.
//!
//! A cell that was read from JSON lines as JSON ([`Wanted::Nothing`](crate::table::Wanted::Nothing)) is replaced by JSON, and the
//! record of its change holds JSON: a number stays a number, and a text a text.

use std::{cmp::Reverse, sync::Arc};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::interleave::interleave;
use serde::Serialize;

use super::CalledCell;
use crate::{
    encode::Encoder,
    kinds::{cell_text, is_json_number, write_json_string},
    table::{ColumnKind, Rows, is_json, plain_json},
};

/// What becomes of called cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cure {
    /// They are replaced by what is expected, if that is at least so sure, from 0 to 1. The others are left alone.
    Expected {
        /// The least [`Expected::sure`](super::Expected::sure).
        sure: f64,
    },
    /// They are emptied.
    Blank,
}

impl Cure {
    /// Replaces cells by values that are more likely right than wrong.
    pub const DEPENDABLE: Self = Self::Expected { sure: 0.5 };

    /// The columns of a repaired table: any cell of it can be emptied.
    #[must_use]
    pub fn schema(self, table: &Schema) -> SchemaRef {
        let field = |field: &FieldRef| field.as_ref().clone().with_nullable(true);
        match self {
            Self::Expected { .. } => Arc::new(table.clone()),
            Self::Blank => {
                let fields: Vec<Field> = table.fields().iter().map(field).collect();
                Arc::new(Schema::new_with_metadata(fields, table.metadata().clone()))
            }
        }
    }
}

/// A cell that was changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The row, counted from 0.
    pub row: usize,
    /// The column's name.
    pub column: String,
    /// The cell as it was, and `None` if it was null.
    pub before: Option<String>,
    /// The cell as it is now, and `None` if it is null.
    pub after: Option<String>,
    /// The share of normal cells of the column that are at least as odd as the cell was.
    pub p_value: f64,
    /// How sure it is that the new value is right; `None` if the cell was emptied whatever was expected.
    pub sure: Option<f64>,
    /// What was odd about the cell.
    pub reason: String,
}

/// Why cells cannot be changed, or changed back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The table has no such column.
    #[error("{origin} has no column `{column}`, of which {}", .row.map_or("a cell is odd".to_owned(), |row| format!("row {row} was changed")))]
    NoColumn {
        /// The table.
        origin: String,
        /// The column.
        column: String,
        /// The row of the change that should be taken back, counted from 1.
        row: Option<usize>,
    },
    /// A cell is not what it should be.
    #[error("{origin}, row {row}, column `{column}`: found {found}, but expected {expected}")]
    OtherCell {
        /// The table.
        origin: String,
        /// The row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The cell.
        found: String,
        /// What it was when it was judged, or what the change made of it.
        expected: String,
    },
    /// The table ends before a change.
    #[error("{origin} has {n_rows} rows, but row {row} was changed")]
    NoRow {
        /// The table.
        origin: String,
        /// Its rows.
        n_rows: usize,
        /// The row of the change, counted from 1.
        row: usize,
    },
    /// A value cannot stand in the column.
    #[error("{origin}, row {row}, column `{column}`: {value} cannot be a value of type {data_type}")]
    WrongType {
        /// The table.
        origin: String,
        /// The row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The type of the column.
        data_type: String,
    },
    /// A record of changes cannot be read.
    #[error("{origin}, row {row}: {problem}")]
    BadLog {
        /// The log.
        origin: String,
        /// Its row, counted from 1.
        row: usize,
        /// What is wrong.
        problem: String,
    },
    /// A record of changes lacks a column.
    #[error("{origin} has no column `{column}`, so it is no log of changes; its columns must be {}", super::changes::COLUMNS.join(", "))]
    NoLog {
        /// The log.
        origin: String,
        /// The column.
        column: &'static str,
    },
}

/// A repaired table.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// What was changed, row by row.
    pub changes: Vec<Change>,
    /// Called cells that were left alone: nothing dependable is expected there, or the column cannot hold it.
    pub n_left_alone: usize,
}

/// Changes the `called` cells of a table. `encoder` is that of the judge that called them.
pub fn repaired(
    batches: &[RecordBatch],
    encoder: &Encoder,
    called: &[CalledCell],
    cure: Cure,
) -> Result<Repaired, RepairError> {
    let mut repairs = Repairs::new(encoder, called, cure);
    let (mut first_row, mut done) = (0, Vec::with_capacity(batches.len()));
    for batch in batches {
        done.push(repairs.apply(&Rows::new(batch.clone(), first_row, "the table"))?);
        first_row += batch.num_rows();
    }
    let (changes, n_left_alone) = repairs.finish("the table", first_row)?;
    Ok(Repaired { batches: done, changes, n_left_alone })
}

/// Changes called cells, batch by batch.
#[derive(Debug)]
pub struct Repairs {
    cure: Cure,
    /// The cells to change, the last one first.
    open: Vec<Plan>,
    changes: Vec<Change>,
    n_left_alone: usize,
}

/// A cell to change.
#[derive(Debug)]
struct Plan {
    row: usize,
    column: String,
    kind: ColumnKind,
    now: Option<String>,
    then: Option<String>,
    p_value: f64,
    sure: Option<f64>,
    reason: String,
}

impl Repairs {
    /// Plans the changes of `called` cells.
    #[must_use]
    pub fn new(encoder: &Encoder, called: &[CalledCell], cure: Cure) -> Self {
        let plan = |cell: &CalledCell| {
            let column = &encoder.columns()[cell.column];
            let (then, sure) = match cure {
                Cure::Blank => (None, None),
                Cure::Expected { sure } => {
                    let expected = cell.expected.as_ref().filter(|expected| expected.sure >= sure)?;
                    (Some(expected.value.clone()).filter(|value| !value.is_empty()), Some(expected.sure))
                }
            };
            Some(Plan {
                row: cell.row,
                column: column.name().to_owned(),
                kind: column.kind(),
                now: cell.value.clone(),
                then,
                p_value: cell.p_value,
                sure,
                reason: cell.reason.clone(),
            })
        };
        let mut open: Vec<Plan> = called.iter().filter_map(plan).collect();
        let n_left_alone = called.len() - open.len();
        // The first of a row stays the first.
        open.reverse();
        open.sort_by_key(|plan| Reverse(plan.row));
        Self { cure, open, changes: Vec::new(), n_left_alone }
    }

    /// The rows with their cells changed. Batches come in order.
    ///
    /// # Panics
    /// Only if the columns do not fit each other, which would be a bug of the library.
    pub fn apply(&mut self, rows: &Rows) -> Result<RecordBatch, RepairError> {
        let end = rows.first_row + rows.n_rows();
        let first = self.open.partition_point(|plan| plan.row >= end);
        let plans: Vec<Plan> = self.open.drain(first..).rev().collect();
        let schema = self.cure.schema(&rows.batch.schema());
        let batch = rows.batch.clone().with_schema(schema).expect("only nullability differs");
        let rows = &Rows { batch, ..rows.clone() };
        let mut edit = Edit::new(rows);
        for plan in plans {
            let (row, column) = (plan.row - rows.first_row, plan.column.as_str());
            let (field, array) = edit.column(column, None)?;
            let was = cell_text(array, row);
            let (seen, then) = if is_json(&field) {
                let json = plan.then.as_deref().map(|then| json_like(then, was.as_deref(), plan.kind));
                (was.as_deref().map(plain_json), json)
            } else {
                (was.clone(), plan.then)
            };
            if !is_same_cell(seen.as_deref(), plan.now.as_deref()) {
                return Err(edit.other(row, column, seen.as_deref(), plan.now.as_deref()));
            }
            let is_same = then == was || (then.is_none() && was.as_deref() == Some(""));
            let held = if is_same { None } else { held(&field, array, then.as_deref()) };
            // The old value must be readable from its text, too.
            let back = held.as_ref().and_then(|_| held_text(&field, array, was.as_deref()));
            let Some(new) = held.filter(|_| back == Some(was.clone())) else {
                self.n_left_alone += 1;
                continue;
            };
            let Plan { row: number, column, p_value, sure, reason, .. } = plan;
            let after = cell_text(&new, 0);
            edit.put(&column, row, new);
            self.changes.push(Change { row: number, column, before: was, after, p_value, sure, reason });
        }
        Ok(edit.finish())
    }

    /// The changes, and the number of called cells that were left alone. An error if some of them never came.
    pub fn finish(self, origin: &str, n_rows: usize) -> Result<(Vec<Change>, usize), RepairError> {
        no_more(origin, n_rows, self.open.first().map(|plan| plan.row))?;
        Ok((self.changes, self.n_left_alone))
    }
}

/// Takes changes back, batch by batch.
#[derive(Debug)]
pub struct Undo {
    /// The changes to take back, the last one first.
    open: Vec<Change>,
}

impl Undo {
    /// Will take these changes back.
    #[must_use]
    pub fn new(mut changes: Vec<Change>) -> Self {
        changes.sort_by_key(|change| Reverse(change.row));
        Self { open: changes }
    }

    /// The rows as they were. Batches come in order. An error if a cell is not what the change made of it.
    pub fn apply(&mut self, rows: &Rows) -> Result<RecordBatch, RepairError> {
        let end = rows.first_row + rows.n_rows();
        let first = self.open.partition_point(|change| change.row >= end);
        let changes: Vec<Change> = self.open.drain(first..).rev().collect();
        let mut edit = Edit::new(rows);
        for Change { row, column, before, after, .. } in changes {
            let at = row - rows.first_row;
            let (field, array) = edit.column(&column, Some(row))?;
            let found = cell_text(array, at);
            // A CSV has no nulls.
            let is_empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
            if found != after && !(is_empty(&found) && is_empty(&after)) {
                return Err(edit.other(at, &column, found.as_deref(), after.as_deref()));
            }
            let Some(old) = held(&field, array, before.as_deref()) else {
                return Err(RepairError::WrongType {
                    origin: rows.origin.to_string(),
                    row: row + 1,
                    column,
                    value: quoted(before.as_deref()),
                    data_type: array.data_type().to_string(),
                });
            };
            edit.put(&column, at, old);
        }
        Ok(edit.finish())
    }

    /// An error if changes are left that no row came for.
    pub fn finish(self, origin: &str, n_rows: usize) -> Result<(), RepairError> {
        no_more(origin, n_rows, self.open.first().map(|change| change.row))
    }
}

fn no_more(origin: &str, n_rows: usize, row: Option<usize>) -> Result<(), RepairError> {
    match row {
        None => Ok(()),
        Some(row) => Err(RepairError::NoRow { origin: origin.to_owned(), n_rows, row: row + 1 }),
    }
}

/// Cells of a batch on their way to others.
struct Edit<'a> {
    rows: &'a Rows,
    /// Column, row, and the new cell.
    cells: Vec<(usize, usize, ArrayRef)>,
}

impl<'a> Edit<'a> {
    fn new(rows: &'a Rows) -> Self {
        Self { rows, cells: Vec::new() }
    }

    /// A column; `row` is that of the change that should be taken back.
    fn column(&self, name: &str, row: Option<usize>) -> Result<(Field, &'a ArrayRef), RepairError> {
        if let Ok(index) = self.rows.batch.schema().index_of(name) {
            Ok((self.rows.batch.schema().field(index).clone(), self.rows.batch.column(index)))
        } else {
            let (origin, column) = (self.rows.origin.to_string(), name.to_owned());
            Err(RepairError::NoColumn { origin, column, row: row.map(|row| row + 1) })
        }
    }

    fn other(&self, row: usize, column: &str, found: Option<&str>, expected: Option<&str>) -> RepairError {
        RepairError::OtherCell {
            origin: self.rows.origin.to_string(),
            row: self.rows.first_row + row + 1,
            column: column.to_owned(),
            found: quoted(found),
            expected: quoted(expected),
        }
    }

    fn put(&mut self, column: &str, row: usize, cell: ArrayRef) {
        let column = self.rows.batch.schema().index_of(column).expect("it was found before");
        self.cells.push((column, row, cell));
    }

    fn finish(self) -> RecordBatch {
        let batch = &self.rows.batch;
        if self.cells.is_empty() {
            return batch.clone();
        }
        let changed = |(index, array): (usize, &ArrayRef)| {
            let mut arrays: Vec<&dyn Array> = vec![array];
            let mut places: Vec<(usize, usize)> = (0..array.len()).map(|row| (0, row)).collect();
            for (_, row, cell) in self.cells.iter().filter(|(column, ..)| *column == index) {
                places[*row] = (arrays.len(), 0);
                arrays.push(cell);
            }
            if arrays.len() == 1 {
                Arc::clone(array)
            } else {
                interleave(&arrays, &places).expect("cells of one type")
            }
        };
        let columns = batch.columns().iter().enumerate().map(changed).collect();
        RecordBatch::try_new(batch.schema(), columns).expect("one cell for each")
    }
}

/// Whether two texts are the same cell. A number that is written `1.50` in JSON was judged as `1.5`.
fn is_same_cell(one: Option<&str>, other: Option<&str>) -> bool {
    let number = |text: Option<&str>| {
        text.filter(|text| is_json_number(text.as_bytes())).and_then(|text| text.parse::<f64>().ok())
    };
    one == other || number(one).is_some_and(|value| number(other) == Some(value))
}

/// A text as a cell of a column like `array`; `None` if the column cannot hold it.
fn held(field: &Field, array: &ArrayRef, text: Option<&str>) -> Option<ArrayRef> {
    let one: ArrayRef = Arc::new(StringArray::from(vec![text]));
    if is_json(field) || array.data_type() == one.data_type() {
        return Some(one);
    }
    // Zones are not known by name: a time is read in UTC, and then given the zone of the column.
    let plain = match array.data_type() {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        other => other.clone(),
    };
    let cell = cast(&cast(&one, &plain).ok()?, array.data_type()).ok()?;
    (cell.is_null(0) == text.is_none() && cell.data_type() == array.data_type()).then_some(cell)
}

/// What a text becomes that is put into a column like `array`, as text.
#[allow(clippy::option_option, reason = "a null is something a column can hold")]
fn held_text(field: &Field, array: &ArrayRef, text: Option<&str>) -> Option<Option<String>> {
    held(field, array, text).map(|cell| cell_text(&cell, 0))
}

/// A value as JSON, written like the cell in whose place it comes.
fn json_like(value: &str, was: Option<&str>, kind: ColumnKind) -> String {
    let is_bare = |text: &str| is_json_number(text.as_bytes()) || matches!(text, "true" | "false");
    let bare = match was {
        Some(was) if is_bare(was) => true,
        // Numbers that are written as text stay text.
        Some(was) if is_bare(&plain_json(was)) => false,
        _ => matches!(kind, ColumnKind::Number | ColumnKind::Boolean),
    };
    if bare && is_bare(value) {
        return value.to_owned();
    }
    let mut text = Vec::new();
    write_json_string(value, &mut text);
    String::from_utf8(text).expect("JSON of a text")
}

fn quoted(cell: Option<&str>) -> String {
    cell.map_or_else(|| "an empty cell".to_owned(), |cell| format!("`{}`", crate::table::excerpt(cell)))
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BooleanArray, Date32Array, DictionaryArray, Float32Array, Int64Array, TimestampSecondArray,
        types::Int8Type,
    };
    use arrow_schema::DataType;

    use super::{super::Expected, *};
    use crate::{
        Table,
        encode::EncodeOptions,
        table::{ReadOptions, TableReader, Wanted},
    };

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
            .unwrap()
    }

    fn encoder(batch: &RecordBatch) -> Encoder {
        let table = Table::from_batches("t", vec![batch.clone()]).unwrap();
        let options = EncodeOptions { keep_identifiers: true, ..EncodeOptions::default() };
        Encoder::fit(&table, &options, None).unwrap()
    }

    /// A called cell; `expected` with how sure it is.
    fn called(
        encoder: &Encoder,
        row: usize,
        column: &str,
        value: Option<&str>,
        expected: Option<(&str, f64)>,
    ) -> CalledCell {
        let expected = expected.map(|(value, sure)| Expected {
            value: value.to_owned(),
            low: None,
            high: None,
            levels: Vec::new(),
            sure,
        });
        CalledCell {
            row,
            column: encoder.columns().iter().position(|known| known.name() == column).unwrap(),
            value: value.map(str::to_owned),
            surprise: 9.0,
            p_value: 1e-4,
            expected,
            reason: "odd".to_owned(),
        }
    }

    fn texts(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
        let cells = batches.iter().flat_map(|batch| {
            let array = Arc::clone(batch.column_by_name(column).unwrap());
            (0..array.len()).map(move |row| cell_text(&array, row))
        });
        cells.collect()
    }

    fn undone(repaired: &Repaired) -> Vec<RecordBatch> {
        let mut undo = Undo::new(repaired.changes.clone());
        let mut first_row = 0;
        let batches = repaired.batches.iter().map(|batch| {
            let rows = Rows::new(batch.clone(), first_row, "t");
            first_row += rows.n_rows();
            undo.apply(&rows).unwrap()
        });
        batches.collect()
    }

    fn typed() -> RecordBatch {
        let names: DictionaryArray<Int8Type> =
            vec![Some("Oslo"), Some("Oslp"), None, Some("Bern")].into_iter().collect();
        batch(vec![
            ("city", Arc::new(names)),
            ("n", Arc::new(Int64Array::from(vec![Some(1), Some(900), Some(3), None]))),
            ("x", Arc::new(Float32Array::from(vec![0.1, 0.2, 1e30, 0.4]))),
            ("yes", Arc::new(BooleanArray::from(vec![true, false, true, false]))),
            ("day", Arc::new(Date32Array::from(vec![1, 2, 30_000, 4]))),
            ("at", Arc::new(TimestampSecondArray::from(vec![0, 5, 7, 9]).with_timezone("Europe/Berlin"))),
        ])
    }

    #[test]
    fn cells_of_every_type_are_replaced_and_come_back() {
        let whole = typed();
        let encoder = encoder(&whole);
        let cells = [
            called(&encoder, 1, "city", Some("Oslp"), Some(("Oslo", 0.9))),
            called(&encoder, 1, "n", Some("900"), Some(("2", 0.9))),
            called(&encoder, 3, "n", None, Some(("4", 0.9))),
            called(&encoder, 2, "x", Some("1e30"), Some(("0.3", 0.9))),
            called(&encoder, 3, "yes", Some("false"), Some(("true", 0.9))),
            called(&encoder, 2, "day", Some("2052-02-20"), Some(("1970-01-04", 0.9))),
            called(&encoder, 0, "at", Some("1970-01-01T00:00:00Z"), Some(("1970-01-01T00:00:01Z", 0.9))),
        ];
        let parts = [whole.slice(0, 2), whole.slice(2, 2)];
        let done = repaired(&parts, &encoder, &cells, Cure::DEPENDABLE).unwrap();
        assert_eq!((done.changes.len(), done.n_left_alone), (7, 0), "{:?}", done.changes);
        let own = |texts: &[&str]| texts.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>();
        assert_eq!(
            texts(&done.batches, "city"),
            [own(&["Oslo", "Oslo"]), vec![None], own(&["Bern"])].concat()
        );
        assert_eq!(texts(&done.batches, "n"), own(&["1", "2", "3", "4"]));
        assert_eq!(texts(&done.batches, "x"), own(&["0.1", "0.2", "0.3", "0.4"]));
        assert_eq!(texts(&done.batches, "yes"), own(&["true", "false", "true", "true"]));
        assert_eq!(texts(&done.batches, "day")[2].as_deref(), Some("1970-01-04"));
        assert_eq!(texts(&done.batches, "at")[0].as_deref(), Some("1970-01-01T00:00:01Z"));
        assert_eq!(done.changes[0].row, 0);
        for column in ["city", "n", "x", "yes", "day", "at"] {
            assert_eq!(texts(&undone(&done), column), texts(&parts, column), "{column}");
        }
        assert_eq!(undone(&done)[1].schema(), whole.schema());
    }

    #[test]
    fn what_is_not_dependable_or_does_not_fit_is_left_alone_and_counted() {
        let whole = typed();
        let encoder = encoder(&whole);
        let cells = [
            called(&encoder, 1, "city", Some("Oslp"), Some(("Oslo", 0.49))),
            called(&encoder, 1, "n", Some("900"), Some(("2.5", 0.9))),
            called(&encoder, 2, "x", Some("1e30"), None),
        ];
        let done = repaired(std::slice::from_ref(&whole), &encoder, &cells, Cure::DEPENDABLE).unwrap();
        assert_eq!((done.changes.len(), done.n_left_alone), (0, 3));
        assert_eq!(done.batches, std::slice::from_ref(&whole));
        // Emptied, all of them, also in columns that could not be empty.
        let fields: Vec<Field> = whole.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
        let fields =
            fields.into_iter().enumerate().map(|(at, field)| field.with_nullable(at < 2)).collect::<Vec<_>>();
        let strict = RecordBatch::try_new(Arc::new(Schema::new(fields)), whole.columns().to_vec()).unwrap();
        let done = repaired(&[strict], &encoder, &cells, Cure::Blank).unwrap();
        assert_eq!((done.changes.len(), done.n_left_alone), (3, 0));
        assert_eq!(done.batches[0].column(2).null_count(), 1);
        assert_eq!(texts(&undone(&done), "x"), texts(&[whole], "x"));
    }

    #[test]
    fn a_table_that_is_not_the_judged_one_is_refused() {
        let whole = batch(vec![("city", Arc::new(StringArray::from(vec!["Oslo", "Oslp", "Bern"])))]);
        let encoder = encoder(&whole);
        let cell = |row, value| [called(&encoder, row, "city", Some(value), Some(("Oslo", 0.9)))];
        let wrong = |cells: &[CalledCell], table: RecordBatch| {
            repaired(&[table], &encoder, cells, Cure::DEPENDABLE).unwrap_err().to_string()
        };
        assert_eq!(
            wrong(&cell(1, "Bonn"), whole.clone()),
            "the table, row 2, column `city`: found `Oslp`, but expected `Bonn`"
        );
        assert_eq!(wrong(&cell(1, "Oslp"), whole.slice(0, 1)), "the table has 1 rows, but row 2 was changed");
        let done =
            repaired(std::slice::from_ref(&whole), &encoder, &cell(1, "Oslp"), Cure::DEPENDABLE).unwrap();
        let back = |table: RecordBatch| {
            Undo::new(done.changes.clone()).apply(&Rows::new(table, 0, "t")).unwrap_err().to_string()
        };
        assert_eq!(back(whole.clone()), "t, row 2, column `city`: found `Oslp`, but expected `Oslo`");
        let other = batch(vec![("town", Arc::clone(whole.column(0)))]);
        assert_eq!(back(other), "t has no column `city`, of which row 2 was changed");
        assert_eq!(whole.column(0).data_type(), &DataType::Utf8);
    }

    #[test] // Row 2: the text "9" is no number in a column of numbers; row 3 writes numbers as text.
    fn json_stays_json() {
        let lines = concat!(
            "{\"n\":1.50,\"code\":\"7\",\"city\":\"Oslo\"}\n",
            "{\"n\":\"l2\",\"code\":\"8\",\"city\":null}\n",
            "{\"n\":99,\"code\":\"99\",\"city\":\"Os\\\"lo\"}\n"
        );
        let read = |wanted: Wanted| {
            let options = ReadOptions { wanted, ..ReadOptions::default() };
            let reader = TableReader::from_bytes("t", lines.as_bytes().to_vec(), &options).unwrap();
            reader.collect::<Result<Vec<_>, _>>().unwrap()
        };
        let encoder = encoder(&read(Wanted::All)[0]);
        let cells = [
            called(&encoder, 1, "n", Some("l2"), Some(("12", 0.9))),
            called(&encoder, 1, "city", None, Some(("Bern", 0.9))),
            called(&encoder, 2, "n", Some("99"), Some(("9", 0.9))),
            called(&encoder, 2, "code", Some("99"), Some(("9", 0.9))),
            called(&encoder, 2, "city", Some("Os\"lo"), Some(("Oslo", 0.9))),
        ];
        let raw = read(Wanted::Nothing);
        let done = repaired(&raw, &encoder, &cells, Cure::DEPENDABLE).unwrap();
        assert_eq!(done.n_left_alone, 0);
        let own = |texts: &[&str]| texts.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>();
        // One cell in three of `n` is a string: it is no column of numbers, and its string stays one.
        assert_eq!(texts(&done.batches, "n"), own(&["1.50", "\"12\"", "9"]));
        assert_eq!(texts(&done.batches, "code"), own(&["\"7\"", "\"8\"", "\"9\""]));
        assert_eq!(texts(&done.batches, "city"), own(&["\"Oslo\"", "\"Bern\"", "\"Oslo\""]));
        assert_eq!(done.changes[0].before.as_deref(), Some("\"l2\""));
        assert_eq!(undone(&done), raw);
    }
}
