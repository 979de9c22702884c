//! Writing tables: CSV, JSON lines, Parquet.
//!
//! CSV returns text exactly as it was read and adds quotes only where needed. JSON lines and Parquet have
//! numbers, truth values and nulls, so they get the meaning of text that was read from CSV or JSON lines; see
//! [`typed`](super::typed).

use std::{
    io::{self, Write},
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::{
    ColumnInfo, Format, TableError,
    csv::checked_delimiter,
    write_text::{Formulas, csv_header, csv_rows, json_rows},
};
#[cfg(feature = "parquet")]
use super::{
    typed::{typed_batch, typed_schema},
    write_parquet::ParquetSink,
};

/// Writes a table batch by batch. The table is complete only after [`TableWriter::finish`].
pub struct TableWriter<W: Write + Send> {
    target: String,
    format: Format,
    /// The columns whose names a CSV still has to start with.
    header: Option<SchemaRef>,
    kinds: Vec<ColumnInfo>,
    delimiter: u8,
    formulas: Formulas,
    n_rows: usize,
    /// The text of one batch, reused.
    buffer: Vec<u8>,
    sink: Sink<W>,
}

enum Sink<W: Write + Send> {
    Text(W),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetSink<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a table of `schema` on `sink`. `target` names the sink in messages; `format` is CSV, JSON lines
    /// or Parquet.
    ///
    /// `kinds` tells what the text columns of a CSV or JSON lines input mean. Other columns keep their types.
    pub fn create(
        target: &str,
        sink: W,
        format: Format,
        schema: &SchemaRef,
        kinds: &[ColumnInfo],
    ) -> Result<Self, TableError> {
        let sink = match format {
            Format::Csv | Format::JsonLines => Sink::Text(sink),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let parquet = ParquetSink::create(sink, typed_schema(schema, kinds));
                Sink::Parquet(Box::new(parquet.map_err(|source| write_error(target, format, source))?))
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                let origin = target.to_owned();
                return Err(TableError::MissingFeature { origin, what: "Parquet", feature: "parquet" });
            }
            Format::ArrowIpc | Format::Npy | Format::Npz => return Err(TableError::NotWritable { format }),
        };
        Ok(Self {
            target: target.to_owned(),
            format,
            header: (format == Format::Csv).then(|| Arc::clone(schema)),
            kinds: kinds.to_vec(),
            delimiter: b',',
            formulas: Formulas::AsWritten,
            n_rows: 0,
            buffer: Vec::new(),
            sink,
        })
    }

    /// Separates the fields of a CSV with `delimiter` instead of a comma.
    pub fn with_delimiter(mut self, delimiter: u8) -> Result<Self, TableError> {
        self.delimiter = checked_delimiter(delimiter)?;
        Ok(self)
    }

    /// Writes an apostrophe before cells of a CSV that a spreadsheet would run as formulas: those that begin with `=`, `+`, `-`,
    /// `@`, a tab or a carriage return, and are no numbers.
    #[must_use]
    pub fn with_disarmed_formulas(mut self) -> Self {
        self.formulas = Formulas::Disarmed;
        self
    }

    /// Begins a CSV with its first row, not with the names of the columns.
    #[must_use]
    pub fn without_header(mut self) -> Self {
        self.header = None;
        self
    }

    /// Appends the rows of `batch`, which has the columns of the schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.buffer.clear();
        self.write_header();
        let written = match &mut self.sink {
            Sink::Text(sink) => {
                if self.format == Format::Csv {
                    csv_rows(&mut self.buffer, batch, self.delimiter, self.formulas)?;
                } else {
                    json_rows(&mut self.buffer, batch, &self.kinds)?;
                }
                sink.write_all(&self.buffer)
            }
            #[cfg(feature = "parquet")]
            Sink::Parquet(parquet) => parquet.write(&typed_batch(batch, &self.kinds, self.n_rows, "output")?),
        };
        written.map_err(|source| write_error(&self.target, self.format, source))?;
        self.n_rows += batch.num_rows();
        Ok(())
    }

    /// Completes the table, flushes the sink and returns it.
    pub fn finish(mut self) -> Result<W, TableError> {
        self.buffer.clear();
        self.write_header();
        let finished = match self.sink {
            Sink::Text(mut sink) => sink.write_all(&self.buffer).map(|()| sink),
            #[cfg(feature = "parquet")]
            Sink::Parquet(parquet) => parquet.finish(),
        };
        let flushed = finished.and_then(|mut sink| sink.flush().map(|()| sink));
        flushed.map_err(|source| write_error(&self.target, self.format, source))
    }

    fn write_header(&mut self) {
        if let Some(schema) = self.header.take() {
            csv_header(&mut self.buffer, &schema, self.delimiter, self.formulas);
        }
    }
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TableWriter")
            .field("target", &self.target)
            .field("format", &self.format)
            .field("n_rows", &self.n_rows)
            .finish_non_exhaustive()
    }
}

fn write_error(target: &str, format: Format, source: io::Error) -> TableError {
    TableError::Write { target: target.to_owned(), format, source }
}
