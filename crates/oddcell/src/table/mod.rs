//! Tables: files and streams become Arrow record batches, and every column gets a kind.
//!
//! A table keeps the batches as they were read (CSV cells stay text, Parquet keeps its types), so that the input can
//! be written again unchanged. The [`ColumnKind`] of a column says what its cells *mean*.
//!
//! ```
//! use oddcell::{Table, table::{ColumnKind, ReadOptions, TableReader}};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! let csv = b"amount,day\n3.5,2024-02-29\n4,2024-03-01\n".to_vec();
//! let table = Table::from_reader(TableReader::from_bytes("orders.csv", csv, &ReadOptions::default())?)?;
//! let kinds: Vec<ColumnKind> = table.columns.iter().map(|column| column.kind).collect();
//! assert_eq!((table.n_rows(), kinds), (2, vec![ColumnKind::Number, ColumnKind::Date]));
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! source      open, decompress, look at the first bytes
//! format      which format the bytes are in
//! reader      one stream of batches for all formats: csv (over records), json_lines, parquet, ipc, numpy
//! rows        some rows, and where they come from
//! sample      some of the rows of a stream, at random
//! write       batches ─► CSV, JSON lines, Parquet
//! ```

mod csv;
mod error;
mod format;
#[cfg(feature = "ipc")]
mod ipc;
mod json_lines;
mod limits;
#[cfg(feature = "numpy")]
mod npz;
#[cfg(feature = "numpy")]
mod numpy;
#[cfg(feature = "parquet")]
mod parquet;
mod raw_json;
mod reader;
mod records;
mod rows;
mod sample;
mod source;
mod typed;
mod write;
#[cfg(feature = "parquet")]
mod write_parquet;
mod write_text;

use std::{path::PathBuf, sync::Arc};

use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{FieldRef, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

#[doc(hidden)]
pub use self::typed::typed;
pub use self::{
    error::{LineProblem, TableError},
    format::{Format, UnknownFormat},
    reader::TableReader,
    rows::Rows,
    sample::Sample,
    write::TableWriter,
};
pub(crate) use self::{
    error::{excerpt, quoted},
    raw_json::{is_json, json_field, plain_json},
};
use crate::kinds::{self, Judge, Unreadable};
#[doc(hidden)]
pub use crate::kinds::{Affix, NumberNotation};
#[doc(hidden)]
pub use crate::kinds::{Cells, NULL_TOKENS, Reading, cell_text, format_date, is_null, read_cells};
pub use crate::kinds::{ColumnKind, Epoch, Notation, UnknownKind};

/// Name and kind of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// The name in the header.
    pub name: String,
    /// What its cells mean.
    pub kind: ColumnKind,
    /// How they are written.
    #[serde(default)]
    pub notation: Notation,
    /// What a reader should know about how it was recognized. Not stored.
    #[serde(skip)]
    pub note: Option<String>,
}

impl ColumnInfo {
    /// A column with the usual notation of its kind.
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Self {
        Self { name: name.into(), kind, notation: Notation::default(), note: None }
    }

    /// How its cells are read.
    #[doc(hidden)]
    #[must_use]
    pub fn reading(&self) -> Reading {
        Reading { kind: self.kind, notation: self.notation }
    }
}

/// A whole table in memory.
#[derive(Debug, Clone)]
pub struct Table {
    /// Where it came from, for messages: a path, or "standard input".
    pub origin: String,
    /// Name and kind of every column, in table order.
    pub columns: Vec<ColumnInfo>,
    /// The rows as they were read; all batches have the same schema.
    pub batches: Vec<RecordBatch>,
    /// What a reader should know about the whole table; columns have notes of their own.
    pub notes: Vec<String>,
}

/// Where a table comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// Which columns will be read. The others are passed on unread: their cells may be anything, also nested.
///
/// Only the JSON lines reader needs it: other formats state their columns and types first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All.
    #[default]
    All,
    /// All but these.
    Except(Vec<String>),
    /// These, even if the first rows, or all rows, do not have them. Keys that first appear after the first batch are
    /// left out with a note.
    Only(Vec<String>),
    /// None: every value comes through as it is written.
    Nothing,
}

/// How to read a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format. By default it is detected from the first bytes, then from the name; otherwise it is CSV.
    pub format: Option<Format>,
    /// The separator of a CSV. By default it is detected among `,` `;` tab and `|`.
    pub delimiter: Option<u8>,
    /// Whether the first row of a CSV holds the names. If not, columns are called `x1`, `x2`, …
    pub header: bool,
    /// The most rows per batch.
    pub batch_rows: usize,
    /// Which columns will be read.
    pub wanted: Wanted,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { format: None, delimiter: None, header: true, batch_rows: 2048, wanted: Wanted::All }
    }
}

impl Table {
    /// Reads a whole table and infers the kind of every column from all rows.
    pub fn read(source: &Source, options: &ReadOptions) -> Result<Self, TableError> {
        Self::from_reader(TableReader::open(source, options)?)
    }

    /// Reads all batches of a reader and infers the kind of every column.
    pub fn from_reader(mut reader: TableReader) -> Result<Self, TableError> {
        let batches = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
        let batches = batches.into_iter().map(|batch| widened(batch, reader.schema())).collect();
        let mut table = Self::from_batches(reader.origin(), batches)?;
        table.notes.splice(0..0, reader.notes().iter().cloned());
        Ok(table)
    }

    /// Makes a table of batches with one schema; `origin` names it in messages.
    pub fn from_batches(origin: &str, batches: Vec<RecordBatch>) -> Result<Self, TableError> {
        let Some(first) = batches.first() else {
            return Err(TableError::NoColumns { origin: origin.to_owned() });
        };
        let schema = first.schema();
        reader::check_schema(origin, &schema)?;
        for (index, batch) in batches.iter().enumerate() {
            if !same_columns(&schema, &batch.schema()) {
                return Err(TableError::SchemaChanged {
                    origin: origin.to_owned(),
                    batch: index + 1,
                    found: describe(&batch.schema()),
                    expected: describe(&schema),
                });
            }
        }
        if batches.iter().all(|batch| batch.num_rows() == 0) {
            return Err(TableError::NoRows { origin: origin.to_owned(), n_columns: schema.fields().len() });
        }
        let mut columns = Vec::with_capacity(schema.fields().len());
        for (index, field) in schema.fields().iter().enumerate() {
            let mut judge = Judge::new(field.name());
            for batch in &batches {
                judge.observe(batch.column(index))?;
            }
            let (Reading { kind, notation }, note) = judge.finish();
            columns.push(ColumnInfo { name: field.name().clone(), kind, notation, note });
        }
        Ok(Self { origin: origin.to_owned(), columns, batches, notes: Vec::new() })
    }

    /// The notes about the table and about its columns, as sentences without a full stop.
    #[must_use]
    pub fn all_notes(&self) -> Vec<String> {
        let of_column = |column: &ColumnInfo| {
            column.note.as_ref().map(|note| format!("column `{}`: {note}", column.name))
        };
        self.notes.iter().cloned().chain(self.columns.iter().filter_map(of_column)).collect()
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The rows, batch by batch.
    pub fn rows(&self) -> impl Iterator<Item = Rows> {
        let origin: Arc<str> = self.origin.as_str().into();
        let mut first_row = 0;
        self.batches.iter().map(move |batch| {
            let rows = Rows::new(batch.clone(), first_row, Arc::clone(&origin));
            first_row += rows.n_rows();
            rows
        })
    }

    /// The names and types of the columns as they were read.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.batches.first().map_or_else(|| Schema::empty().into(), RecordBatch::schema)
    }

    /// The position of the column `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Reads the column `name` as `kind` from now on. Some cell must be of that kind; a note counts the others. Any cell can be a
    /// category.
    pub fn set_kind(&mut self, name: &str, kind: ColumnKind) -> Result<(), TableError> {
        let index = self.position(name)?;
        if self.columns[index].kind == kind {
            return Ok(());
        }
        let reading = kinds::reading_as(name, kind, self.batches.iter().map(|batch| batch.column(index)))?;
        let (mut n_values, mut unreadable) = (0, Unreadable::default());
        let mut first_error = None;
        for Rows { batch, first_row, origin } in self.rows() {
            let array = batch.column(index);
            let checked = kinds::read(name, array, reading, first_row, &origin, false)?;
            n_values += array.len() - checked.null_count() - checked.unreadable.len();
            if !checked.unreadable.is_empty() && first_error.is_none() {
                first_error = read_cells(name, array, reading, first_row, &origin).err();
            }
            unreadable.add(&Unreadable::of(array, &checked.unreadable, first_row));
        }
        if let Some(error) = first_error.filter(|_| n_values == 0) {
            return Err(error);
        }
        let note = unreadable.note(reading);
        let notation = Notation { mixed: note.is_some() || reading.notation.mixed, ..reading.notation };
        self.columns[index] = ColumnInfo { name: name.to_owned(), kind, notation, note };
        Ok(())
    }

    /// Returns the table without the columns `names`. All of them must exist, and at least one column must remain.
    pub fn without<S: AsRef<str>>(&self, names: &[S]) -> Result<Self, TableError> {
        let mut keep = vec![true; self.columns.len()];
        for name in names {
            keep[self.position(name.as_ref())?] = false;
        }
        let kept: Vec<usize> = (0..keep.len()).filter(|&index| keep[index]).collect();
        if kept.is_empty() {
            return Err(TableError::NoColumns { origin: self.origin.clone() });
        }
        Ok(Self {
            origin: self.origin.clone(),
            columns: kept.iter().map(|&index| self.columns[index].clone()).collect(),
            batches: self.batches.iter().map(|batch| projected(batch, &kept)).collect(),
            notes: self.notes.clone(),
        })
    }

    fn position(&self, name: &str) -> Result<usize, TableError> {
        self.column(name).ok_or_else(|| TableError::NoSuchColumn {
            origin: self.origin.clone(),
            column: name.to_owned(),
            known: self.columns.iter().map(|column| column.name.clone()).collect(),
        })
    }
}

fn projected(batch: &RecordBatch, columns: &[usize]) -> RecordBatch {
    batch.project(columns).expect("columns of the table")
}

/// Adds nulls for the columns at the end of `schema` that appeared after this batch.
fn widened(batch: RecordBatch, schema: &SchemaRef) -> RecordBatch {
    let missing = &schema.fields()[batch.num_columns().min(schema.fields().len())..];
    if missing.is_empty() {
        return batch;
    }
    let nulls = missing.iter().map(|field| new_null_array(field.data_type(), batch.num_rows()));
    let columns = batch.columns().iter().cloned().chain(nulls).collect();
    RecordBatch::try_new(schema.clone(), columns).expect("batches start with the same columns")
}

fn same_columns(one: &Schema, other: &Schema) -> bool {
    let columns = |field: &FieldRef| (field.name().clone(), field.data_type().clone());
    one.fields().iter().map(columns).eq(other.fields().iter().map(columns))
}

fn describe(schema: &Schema) -> String {
    let columns = schema.fields().iter().map(|field| format!("{} ({})", field.name(), field.data_type()));
    error::excerpt(&columns.collect::<Vec<_>>().join(", "))
}
