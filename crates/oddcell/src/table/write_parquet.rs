//! Writing Parquet, through the arrow crates.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::{
    arrow::ArrowWriter, basic::Compression, errors::ParquetError, file::properties::WriterProperties,
};

use super::reader::without_panic;

/// A row group ends at this size, so that memory does not grow with the table.
const ROW_GROUP_BYTES: usize = 32 << 20;

/// A column stops using a dictionary once the dictionary is larger than this. Looking up every measurement in
/// one took more than a third of the time of `score`.
const DICTIONARY_BYTES: usize = 64 << 10;

/// A Parquet file under construction.
pub(super) struct ParquetSink<W: Write + Send> {
    writer: ArrowWriter<Watched<W>>,
    failure: Failure,
}

impl<W: Write + Send> ParquetSink<W> {
    pub(super) fn create(sink: W, schema: Schema) -> io::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_page_size_limit(DICTIONARY_BYTES)
            .build();
        let failure = Failure::default();
        let sink = Watched { sink, failure: Arc::clone(&failure) };
        let writer = guarded(&failure, || ArrowWriter::try_new(sink, Arc::new(schema), Some(properties)))?;
        Ok(Self { writer, failure })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let writer = &mut self.writer;
        guarded(&self.failure, || {
            writer.write(batch)?;
            let full = writer.in_progress_size() > ROW_GROUP_BYTES;
            if full { writer.flush() } else { Ok(()) }
        })
    }

    pub(super) fn finish(self) -> io::Result<W> {
        let Self { writer, failure } = self;
        guarded(&failure, || writer.into_inner().map(|watched| watched.sink))
    }
}

/// Runs the encoder. It panics at columns it does not expect, which must not end a caller's long-running process.
fn guarded<T>(failure: &Failure, encode: impl FnOnce() -> Result<T, ParquetError>) -> io::Result<T> {
    without_panic(encode)
        .map_err(|reason| io::Error::other(format!("the encoder gave up: {reason}")))?
        .map_err(|error| cause(failure, error))
}

/// The last error of the system.
type Failure = Arc<Mutex<Option<io::Error>>>;

/// A sink that remembers its error. The Parquet encoder passes on only the error's text, but callers must be
/// able to recognize a full disk.
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

/// The system's error if there is one, else the encoder's.
fn cause(failure: &Failure, error: ParquetError) -> io::Error {
    let system = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    system.unwrap_or_else(|| io::Error::other(error))
}
