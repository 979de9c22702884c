//! JSON lines: one object per line, keys are columns. A text that starts with `[` is one array of such objects.
//!
//! Columns are text, as in CSV: a column may start with whole numbers and turn to decimals or names after a
//! million rows; kind inference decides later. JSON nulls and missing keys are nulls.
//!
//! *Which columns:* the keys of the first batch, in order of appearance. A key that first appears later
//! becomes a column at the end of its batch and of all following batches. If the wanted columns are known
//! ([`Wanted::Only`]), all batches have those plus the keys of the first batch; earlier rows may have been
//! written by then, so later keys are left out and reported in a note.

mod array;
mod raw;
mod row;

use std::{
    io::{BufRead, BufReader, Read},
    sync::Arc,
};

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use self::{
    array::Array,
    row::{Columns, read_row},
};
use super::{
    LineProblem, ReadOptions, TableError, Wanted,
    limits::LONGEST_ROW,
    quoted,
    reader::{BatchSource, Opened},
    source::{Input, without_marks},
};

/// A batch ends early once its lines reach this size.
const BATCH_BYTES: usize = 16 << 20;
/// The most keys that may appear after the first batch: with more, keys are values rather than names. It
/// bounds the memory for a table whose lines have no key in common.
const MOST_LATE_KEYS: usize = 1 << 12;

pub(super) fn open(input: Input, options: &ReadOptions) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let array = without_marks(&input.start).trim_ascii_start().starts_with(b"[").then(Array::default);
    let mut source = JsonBatches {
        origin,
        reader: BufReader::with_capacity(256 << 10, input.into_text()?),
        array,
        line_number: 0,
        line: Vec::new(),
        columns: Columns::new(&options.wanted),
        batch_rows: options.batch_rows.max(1),
        schema: Arc::new(Schema::empty()),
        awaited: Vec::new(),
    };
    // Only the first batch tells the keys.
    let first = source.read_first(&options.wanted)?;
    Ok(Opened { first, ..Opened::new(Arc::clone(&source.schema), source) })
}

struct JsonBatches {
    origin: String,
    reader: BufReader<Box<dyn Read + Send>>,
    /// Where we are in an array of objects; `None` if every line is an object.
    array: Option<Array>,
    /// The line on which the current object starts.
    line_number: u64,
    /// The text of the current object.
    line: Vec<u8>,
    columns: Columns,
    batch_rows: usize,
    schema: SchemaRef,
    /// Wanted columns that have had no value so far.
    awaited: Vec<usize>,
}

impl BatchSource for JsonBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let n_rows = self.read_rows()?;
        let batch = self.finish_batch(n_rows)?;
        if let Some(batch) = &batch {
            self.awaited.retain(|&index| batch.column(index).null_count() == n_rows);
        }
        Ok(batch)
    }

    fn late_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let Columns { left_out, first_rows, all, .. } = &self.columns;
        if !left_out.is_empty() {
            let keys: Vec<String> = left_out.iter().cloned().collect();
            notes.push(format!(
                "keys that first appear after row {first_rows} are left out: {}",
                quoted(&keys)
            ));
        }
        if !self.awaited.is_empty() {
            let keys: Vec<String> = self.awaited.iter().map(|&index| all[index].name.clone()).collect();
            notes.push(format!("no line has a value for {}", quoted(&keys)));
        }
        notes
    }
}

impl JsonBatches {
    /// Reads the first batch and adds missing wanted columns as nulls. A table with none of the wanted
    /// columns is returned as it is: whoever needs the columns reports that they are missing.
    fn read_first(&mut self, wanted: &Wanted) -> Result<Option<RecordBatch>, TableError> {
        let n_rows = self.read_rows()?;
        if let Wanted::Only(names) = wanted
            && names.iter().any(|name| self.columns.by_name.contains_key(name))
        {
            for name in names {
                if !self.columns.by_name.contains_key(name) {
                    self.awaited.push(self.columns.add(name.clone()));
                }
            }
        }
        self.columns.settle();
        self.finish_batch(n_rows)
    }

    /// Reads the lines of a batch and returns the number of rows.
    fn read_rows(&mut self) -> Result<usize, TableError> {
        let mut bytes = 0;
        while self.columns.n_rows < self.batch_rows && bytes < BATCH_BYTES && self.next_line()? {
            let line = self.line.trim_ascii();
            if !line.is_empty() {
                bytes += line.len() + self.columns.len();
                read_row(&mut self.columns, line).map_err(|problem| self.wrong(problem))?;
            }
        }
        Ok(self.columns.n_rows)
    }

    fn finish_batch(&mut self, n_rows: usize) -> Result<Option<RecordBatch>, TableError> {
        if n_rows == 0 {
            return Ok(None);
        }
        if self.columns.len() == 0 {
            return Err(TableError::NoColumns { origin: self.origin.clone() });
        }
        if self.columns.len() > self.schema.fields().len() {
            self.schema = Arc::new(Schema::new(self.columns.fields()));
        }
        let arrays: Vec<ArrayRef> = self.columns.finish();
        Ok(Some(
            RecordBatch::try_new(Arc::clone(&self.schema), arrays).expect("columns of one length and type"),
        ))
    }

    /// Reads the next line, or the next element of the array; returns false at the end of the input.
    fn next_line(&mut self) -> Result<bool, TableError> {
        self.line.clear();
        if let Some(array) = &mut self.array {
            let found =
                array.next(&mut self.reader, &mut self.line).map_err(TableError::reading(&self.origin))?;
            self.line_number = array.line;
            return found.map_err(|problem| self.wrong(problem));
        }
        self.line_number += 1;
        let mut reader = self.reader.by_ref().take(LONGEST_ROW as u64 + 1);
        let read = reader.read_until(b'\n', &mut self.line);
        read.map_err(TableError::reading(&self.origin))?;
        if self.line.len() > LONGEST_ROW {
            return Err(self.wrong(LineProblem::TooLong(LONGEST_ROW)));
        }
        Ok(!self.line.is_empty())
    }

    /// The error about the current line.
    fn wrong(&self, problem: LineProblem) -> TableError {
        TableError::Line { origin: self.origin.clone(), line: self.line_number, problem }
    }
}
