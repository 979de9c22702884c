//! Tables: files and streams become Arrow record batches, and every column gets a kind.
//!
//! A table keeps the batches as they were read (CSV cells stay text, Parquet keeps its types), so that outlets
//! can give the input back untouched; what the cells *mean* is said by the [`ColumnKind`] of their column.
//!
//! ```text
//! source      open, decompress, look at the first bytes
//! format      which format the bytes are in
//! reader      one stream of batches for all formats: csv (over records), json_lines, parquet, ipc, numpy
//! rows        some rows, and where they come from
//! sample      some of the rows of a stream, at random
//! infer       batches ─► the kind of every column
//! cells       column + kind ─► numbers or names (text says what one cell means, dates what a date means)
//! write       batches ─► CSV, JSON lines, Parquet
//! ```

mod cells;
mod csv;
mod dates;
mod error;
mod format;
mod infer;
mod ipc;
mod json_lines;
mod notes;
mod npz;
mod numpy;
mod parquet;
mod raw_json;
mod reader;
mod records;
mod rows;
mod sample;
mod source;
mod text;
mod typed;
mod write;
mod write_text;

use std::{path::PathBuf, sync::Arc};

use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};

pub use self::{
    cells::{Cells, cell_text, read_cells},
    dates::format_date,
    error::TableError,
    format::{Format, UnknownFormat},
    notes::Note,
    raw_json::json_field,
    reader::TableReader,
    rows::Rows,
    sample::Sample,
    text::{NULL_TOKENS, is_null},
    typed::typed,
    write::TableWriter,
};
pub(crate) use self::{error::excerpt, text::finite_number};

/// What the cells of a column mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Whole or decimal numbers.
    Number,
    /// True or false.
    Boolean,
    /// Dates, times of day, or both; as numbers they are seconds (since 1970-01-01 or since midnight).
    /// Text like `1/2/2024` is read month first.
    Date,
    /// The same, but text like `1/2/2024` is read day first. A kind of its own, because a later table must be read
    /// in the order that the training table showed, whatever its own cells allow.
    #[serde(rename = "day-first-date")]
    DayFirstDate,
    /// Names out of a list. Columns of nested or binary types are listed as categories, too, but their cells cannot be
    /// read: such columns can only be ignored.
    Category,
}

impl ColumnKind {
    /// Whether the cells are dates or times.
    #[must_use]
    pub fn is_date(self) -> bool {
        matches!(self, Self::Date | Self::DayFirstDate)
    }
}

/// Name and kind of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// The name in the header.
    pub name: String,
    /// What its cells mean.
    pub kind: ColumnKind,
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
    /// What is worth telling about it: columns read otherwise than one might expect.
    pub notes: Vec<Note>,
}

/// Where a table comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// Which columns somebody will read. The others are carried along: their cells may be anything, also nested.
///
/// Only JSON lines need to know: in other formats the columns and their types come first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All.
    #[default]
    All,
    /// All but these.
    Except(Vec<String>),
    /// These: they are columns even if the first rows, or all, do not have them. Keys that first turn up after the
    /// first batch are left out with a note.
    Only(Vec<String>),
}

/// How to read a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format. By default the first bytes tell it, else the name, else it is CSV.
    pub format: Option<Format>,
    /// What separates the fields of a CSV. By default it is guessed among `,` `;` tab and `|`.
    pub delimiter: Option<u8>,
    /// Whether the first row of a CSV holds the names; without, columns are called `x1`, `x2`, …
    pub header: bool,
    /// The most rows a batch may hold.
    pub batch_rows: usize,
    /// Which columns somebody will read.
    pub wanted: Wanted,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { format: None, delimiter: None, header: true, batch_rows: 2048, wanted: Wanted::All }
    }
}

impl Table {
    /// Reads a whole table and judges the kind of every column from all its rows.
    pub fn read(source: &Source, options: &ReadOptions) -> Result<Self, TableError> {
        Self::from_reader(TableReader::open(source, options)?)
    }

    /// Reads all batches of a reader and judges the kind of every column.
    pub fn from_reader(mut reader: TableReader) -> Result<Self, TableError> {
        let batches = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
        let batches = batches.into_iter().map(|batch| widened(batch, reader.schema())).collect();
        let mut table = Self::from_batches(reader.origin(), batches)?;
        table.notes.splice(0..0, reader.notes().iter().cloned());
        Ok(table)
    }

    /// A table from batches of one schema; `origin` names it in messages.
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
        let mut notes = Vec::new();
        for (index, field) in schema.fields().iter().enumerate() {
            let mut judge = infer::Judge::new(field.name());
            for batch in &batches {
                judge.observe(batch.column(index))?;
            }
            let (kind, note) = judge.finish();
            columns.push(ColumnInfo { name: field.name().clone(), kind });
            notes.extend(note);
        }
        Ok(Self { origin: origin.to_owned(), columns, batches, notes })
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

    /// Names and types of the columns as they were read.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.batches.first().map_or_else(|| Schema::empty().into(), RecordBatch::schema)
    }

    /// The position of the column `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Reads the column `name` as `kind` from now on. Every cell must fit; every cell fits a category.
    pub fn set_kind(&mut self, name: &str, kind: ColumnKind) -> Result<(), TableError> {
        let index = self.position(name)?;
        let mut first_row = 0;
        for batch in &self.batches {
            read_cells(name, batch.column(index), kind, first_row, &self.origin)?;
            first_row += batch.num_rows();
        }
        self.columns[index].kind = kind;
        Ok(())
    }

    /// The table without the columns `names`. All of them must be there, and one column must remain.
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
    batch.project(columns).expect("positions within the schema")
}

/// The batch with nulls in the columns at the end of `schema` that it was read too early to have.
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
    let columns = |schema: &Schema| {
        schema
            .fields()
            .iter()
            .map(|field| (field.name().clone(), field.data_type().clone()))
            .collect::<Vec<_>>()
    };
    columns(one) == columns(other)
}

fn describe(schema: &Schema) -> String {
    let columns = schema.fields().iter().map(|field| format!("{} ({})", field.name(), field.data_type()));
    error::excerpt(&columns.collect::<Vec<_>>().join(", "))
}
