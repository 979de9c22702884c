//! Writing tables: CSV, JSON lines, Parquet.
//!
//! CSV gives text back exactly as it was read and quotes only where it must. JSON lines and Parquet know numbers,
//! truth values and nulls, so text that was read from CSV or JSON lines is written as what it means, see [`typed`].

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::{
    arrow::ArrowWriter, basic::Compression, errors::ParquetError, file::properties::WriterProperties,
};

use super::{
    ColumnInfo, Format, TableError,
    typed::{typed_batch, typed_schema},
    write_text::{csv_header, csv_rows, json_rows},
};

/// A Parquet row group ends at this size, so that memory does not grow with the table.
const ROW_GROUP_BYTES: usize = 32 << 20;

/// A Parquet column goes on without a dictionary once that is larger than this: to look every measurement up in one took
/// a third of the time of `score` and more.
const DICTIONARY_BYTES: usize = 64 << 10;

/// Writes a table batch by batch. Nothing is complete before [`TableWriter::finish`].
pub struct TableWriter<W: Write + Send> {
    format: Format,
    schema: SchemaRef,
    kinds: Vec<ColumnInfo>,
    delimiter: u8,
    n_rows: usize,
    header_written: bool,
    /// The text of one batch, reused.
    buffer: Vec<u8>,
    sink: Sink<W>,
}

enum Sink<W: Write + Send> {
    Text(W),
    Parquet(Box<ArrowWriter<Watched<W>>>, Failure),
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a table of `schema` on `sink`. `format` is CSV, JSON lines or Parquet.
    ///
    /// `kinds` says what the text columns of a CSV or JSON lines input mean; columns that are not named there, and
    /// columns of other inputs, keep their types.
    pub fn create(
        sink: W,
        format: Format,
        schema: &SchemaRef,
        kinds: &[ColumnInfo],
    ) -> Result<Self, TableError> {
        let sink = match format {
            Format::Csv | Format::JsonLines => Sink::Text(sink),
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_dictionary_page_size_limit(DICTIONARY_BYTES)
                    .build();
                let schema = Arc::new(typed_schema(schema, kinds));
                let failure = Failure::default();
                let sink = Watched { sink, failure: Arc::clone(&failure) };
                let writer = ArrowWriter::try_new(sink, schema, Some(properties));
                Sink::Parquet(Box::new(writer.map_err(|error| parquet_error(error, &failure))?), failure)
            }
            Format::ArrowIpc | Format::Npy | Format::Npz => return Err(TableError::NotWritable { format }),
        };
        Ok(Self {
            format,
            schema: Arc::clone(schema),
            kinds: kinds.to_vec(),
            delimiter: b',',
            n_rows: 0,
            header_written: false,
            buffer: Vec::new(),
            sink,
        })
    }

    /// Separates the fields of a CSV by `delimiter` instead of a comma.
    pub fn with_delimiter(mut self, delimiter: u8) -> Result<Self, TableError> {
        if matches!(delimiter, b'"' | b'\n' | b'\r' | 0x80..) {
            return Err(TableError::BadDelimiter { delimiter });
        }
        self.delimiter = delimiter;
        Ok(self)
    }

    /// Appends the rows of `batch`, which has the columns of the schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.buffer.clear();
        self.write_header();
        match &mut self.sink {
            Sink::Text(sink) => {
                if self.format == Format::Csv {
                    csv_rows(&mut self.buffer, batch, self.delimiter)?;
                } else {
                    json_rows(&mut self.buffer, batch, &self.kinds)?;
                }
                sink.write_all(&self.buffer).map_err(|source| text_error(self.format, source))?;
            }
            Sink::Parquet(writer, failure) => {
                let batch = typed_batch(batch, &self.kinds, self.n_rows, "output")?;
                writer.write(&batch).map_err(|error| parquet_error(error, failure))?;
                if writer.in_progress_size() > ROW_GROUP_BYTES {
                    writer.flush().map_err(|error| parquet_error(error, failure))?;
                }
            }
        }
        self.n_rows += batch.num_rows();
        Ok(())
    }

    /// Completes the table and gives the sink back, flushed.
    pub fn finish(mut self) -> Result<W, TableError> {
        self.buffer.clear();
        self.write_header();
        match self.sink {
            Sink::Text(mut sink) => {
                let written = sink.write_all(&self.buffer).and_then(|()| sink.flush());
                written.map(|()| sink).map_err(|source| text_error(self.format, source))
            }
            Sink::Parquet(writer, failure) => {
                let mut sink = writer.into_inner().map_err(|error| parquet_error(error, &failure))?.sink;
                sink.flush().map(|()| sink).map_err(|source| text_error(Format::Parquet, source))
            }
        }
    }

    fn write_header(&mut self) {
        if self.format == Format::Csv && !self.header_written {
            csv_header(&mut self.buffer, &self.schema, self.delimiter);
        }
        self.header_written = true;
    }
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TableWriter")
            .field("format", &self.format)
            .field("n_rows", &self.n_rows)
            .finish_non_exhaustive()
    }
}

fn text_error(format: Format, source: io::Error) -> TableError {
    TableError::Write { format, source }
}

/// What the system last refused.
type Failure = Arc<Mutex<Option<io::Error>>>;

/// A sink that remembers its error: the Parquet encoder passes on no more than its text, but callers must be able to
/// tell a full disk from everything else.
struct Watched<W> {
    sink: W,
    failure: Failure,
}

impl<W> Watched<W> {
    fn remembered<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let text = io::Error::new(error.kind(), error.to_string());
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            text
        })
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.sink.write(bytes);
        self.remembered(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.sink.flush();
        self.remembered(result)
    }
}

/// The system's own error where there is one underneath.
fn parquet_error(error: ParquetError, failure: &Failure) -> TableError {
    let system = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    TableError::Write { format: Format::Parquet, source: system.unwrap_or_else(|| io::Error::other(error)) }
}
