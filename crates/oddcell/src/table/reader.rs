//! Reading a table batch by batch: one reader for all formats.

use std::{
    fmt::Debug,
    io::Read,
    panic::{AssertUnwindSafe, catch_unwind},
};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

#[cfg(feature = "ipc")]
use super::ipc;
#[cfg(feature = "numpy")]
use super::npz;
#[cfg(feature = "parquet")]
use super::parquet;
use super::{Format, ReadOptions, Source, TableError, csv, json_lines, source::Input};

/// Reads a table batch by batch. Memory depends on the size of a batch, not of the table.
///
/// Every batch holds at least one row, and all batches share one schema. JSON lines are the exception: a
/// batch may have additional columns at its end, unless the wanted columns are known
/// ([`Wanted::Only`](super::Wanted::Only)). Columns of CSV and JSON lines are text (CSV exactly as written,
/// JSON lines with nulls); other formats keep their Arrow types. There are no batches after an error.
pub struct TableReader {
    origin: String,
    format: Format,
    schema: SchemaRef,
    delimiter: Option<u8>,
    notes: Vec<String>,
    batch_rows: usize,
    /// Rows that were read but not yet returned.
    pending: Option<RecordBatch>,
    source: Option<Box<dyn BatchSource>>,
}

/// A format's reader: returns batches, then `None`.
pub(super) trait BatchSource: Send {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError>;

    /// Notes that are known only after the last batch.
    fn late_notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A format's reader once the columns are known.
pub(super) struct Opened {
    pub(super) schema: SchemaRef,
    pub(super) source: Box<dyn BatchSource>,
    /// The first batch, if it had to be read to know the columns.
    pub(super) first: Option<RecordBatch>,
    pub(super) notes: Vec<String>,
    pub(super) delimiter: Option<u8>,
}

impl Opened {
    /// A reader that has nothing more to say.
    pub(super) fn new(schema: SchemaRef, source: impl BatchSource + 'static) -> Self {
        Self { schema, source: Box::new(source), first: None, notes: Vec::new(), delimiter: None }
    }
}

impl TableReader {
    /// Opens a file or standard input and reads the first batch, so that most errors surface early.
    pub fn open(source: &Source, options: &ReadOptions) -> Result<Self, TableError> {
        Self::start(Input::open(source)?, options)
    }

    /// Reads from any reader; `origin` names it in messages.
    pub fn from_reader(
        origin: &str,
        reader: impl Read + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Self, TableError> {
        Self::start(Input::from_reader(origin, Box::new(reader))?, options)
    }

    /// Reads bytes in memory; `origin` names them in messages.
    pub fn from_bytes(origin: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Self, TableError> {
        Self::from_reader(origin, std::io::Cursor::new(bytes), options)
    }

    fn start(input: Input, options: &ReadOptions) -> Result<Self, TableError> {
        let origin = input.origin.clone();
        let format = Format::detect(options.format, input.path.as_deref(), &input.start)
            .map_err(|(asked, found)| TableError::WrongFormat { origin: origin.clone(), asked, found })?;
        let opened = guarded(&origin, format, || match format {
            Format::Csv => csv::open(input, options),
            Format::JsonLines => json_lines::open(input, options),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::open(input, options),
            #[cfg(feature = "ipc")]
            Format::ArrowIpc => ipc::open(input),
            #[cfg(feature = "numpy")]
            Format::Npy => npz::open_npy(input, options),
            #[cfg(feature = "numpy")]
            Format::Npz => npz::open_npz(input, options),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => missing_feature(input, "Parquet", "parquet"),
            #[cfg(not(feature = "ipc"))]
            Format::ArrowIpc => missing_feature(input, "Arrow IPC", "ipc"),
            #[cfg(not(feature = "numpy"))]
            Format::Npy | Format::Npz => missing_feature(input, "NumPy files", "numpy"),
        })?;
        let Opened { schema, source, first, notes, delimiter } = opened;
        check_schema(&origin, &schema)?;
        let batch_rows = options.batch_rows.max(1);
        let mut reader = Self {
            origin,
            format,
            schema,
            delimiter,
            notes,
            batch_rows,
            pending: first.filter(|first| first.num_rows() > 0),
            source: Some(source),
        };
        if reader.pending.is_none() {
            reader.pending = reader.next_from_source()?;
        }
        if reader.pending.is_none() {
            return Err(TableError::NoRows {
                n_columns: reader.schema.fields().len(),
                origin: reader.origin,
            });
        }
        Ok(reader)
    }

    /// Names and types of the columns known so far.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Where the table comes from: a path, or "standard input".
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The format, as requested or as recognized.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The delimiter of a CSV, as requested or as guessed.
    #[must_use]
    pub fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    /// Notes about the input so far: arrays and keys that were left out.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The next batch that has rows.
    fn next_from_source(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let Some(source) = &mut self.source else { return Ok(None) };
        loop {
            let result = guarded(&self.origin, self.format, || source.next_batch());
            match result {
                Ok(Some(batch)) if batch.num_rows() == 0 => {}
                Ok(Some(batch)) => {
                    if batch.num_columns() > self.schema.fields().len() {
                        self.schema = batch.schema();
                    }
                    return Ok(Some(batch));
                }
                end_or_error => {
                    self.notes.extend(source.late_notes());
                    self.source = None;
                    return end_or_error;
                }
            }
        }
    }
}

impl Iterator for TableReader {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.pending.is_none() {
            match self.next_from_source() {
                Ok(batch) => self.pending = batch,
                Err(error) => return Some(Err(error)),
            }
        }
        // An Arrow file may hold all its rows in one batch; slicing it costs nothing.
        let batch = self.pending.take()?;
        let rest = batch.num_rows().saturating_sub(self.batch_rows);
        if rest == 0 {
            return Some(Ok(batch));
        }
        self.pending = Some(batch.slice(self.batch_rows, rest));
        Some(Ok(batch.slice(0, self.batch_rows)))
    }
}

impl Debug for TableReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TableReader")
            .field("origin", &self.origin)
            .field("format", &self.format)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

#[cfg(not(all(feature = "parquet", feature = "ipc", feature = "numpy")))]
fn missing_feature(input: Input, what: &'static str, feature: &'static str) -> Result<Opened, TableError> {
    Err(TableError::MissingFeature { origin: input.origin, what, feature })
}

/// Runs a decoder and turns a panic into an error. Broken files have made every third-party decoder panic at
/// some time, and that must not end a caller's long-running process.
fn guarded<T>(
    origin: &str,
    format: Format,
    decode: impl FnOnce() -> Result<T, TableError>,
) -> Result<T, TableError> {
    // After a panic the decoder is dropped, so nobody sees its broken state.
    without_panic(decode).unwrap_or_else(|reason| {
        Err(TableError::malformed(origin, format, format!("the decoder gave up: {reason}")))
    })
}

/// Runs code of others; the text of its panic, if it panics.
pub(super) fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        text.unwrap_or("no reason given").to_owned()
    })
}

/// Checks that there are columns and that their names are not empty and differ.
pub(super) fn check_schema(origin: &str, schema: &Schema) -> Result<(), TableError> {
    let origin = || origin.to_owned();
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    if names.is_empty() {
        return Err(TableError::NoColumns { origin: origin() });
    }
    let empty = |&position: &usize| names[position - 1].trim().is_empty();
    let positions: Vec<usize> = (1..=names.len()).filter(empty).collect();
    if !positions.is_empty() {
        return Err(TableError::EmptyNames { origin: origin(), positions });
    }
    let mut sorted = names;
    sorted.sort_unstable();
    let repeated = sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone());
    let mut repeated: Vec<String> = repeated.collect();
    repeated.dedup();
    if !repeated.is_empty() {
        return Err(TableError::DuplicateNames { origin: origin(), names: repeated });
    }
    Ok(())
}
