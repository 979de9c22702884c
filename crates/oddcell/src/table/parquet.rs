//! Reading Parquet, through the arrow crates.

use std::{fs::File, io::BufReader};

use arrow_array::{RecordBatch, RecordBatchReader};
use bytes::Bytes;
use parquet::{
    arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder},
    errors::ParquetError,
    file::reader::{ChunkReader, Length},
};

use super::{
    Format, ReadOptions, TableError,
    reader::{BatchSource, Opened},
    source::Input,
};

pub(super) fn open(input: Input, options: &ReadOptions) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let file = input.into_file()?;
    let length = file.metadata().map_err(TableError::reading(&origin))?;
    let file = CheckedFile { file, length: length.len() };
    let malformed = |error| TableError::malformed(&origin, Format::Parquet, error);
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(malformed)?;
    let reader = builder.with_batch_size(options.batch_rows.max(1)).build().map_err(malformed)?;
    let schema = reader.schema();
    Ok(Opened::new(schema, ParquetBatches { reader, origin }))
}

struct ParquetBatches {
    reader: ParquetRecordBatchReader,
    origin: String,
}

impl BatchSource for ParquetBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let malformed = |error| TableError::malformed(&self.origin, Format::Parquet, error);
        self.reader.next().transpose().map_err(malformed)
    }
}

/// A file that refuses reads beyond its end before memory is allocated for them.
struct CheckedFile {
    file: File,
    length: u64,
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for CheckedFile {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            let claim =
                format!("{length} bytes at {start} are beyond the end of the file at {}", self.length);
            return Err(ParquetError::EOF(claim));
        }
        self.file.get_bytes(start, length)
    }
}
