//! Reading Parquet, through the arrow crates.
//!
//! Their decoders allocate what a file claims to hold, and a failed allocation ends the whole process, which no guard
//! can stop. So every claim that the size of the file does not bound is checked before the decoder sees it: `header`
//! reads how large a page says it is, `pages` refuses what is too large, and `deltas` counts the texts of a page that
//! stores them as differences.

mod deltas;
mod header;
mod pages;

use std::{fs::File, io::BufReader, sync::Arc};

use arrow_array::{RecordBatch, RecordBatchReader};
use bytes::Bytes;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups},
        parquet_to_arrow_field_levels,
    },
    column::page::PageIterator,
    errors::ParquetError,
    file::{
        metadata::{ParquetMetaData, RowGroupMetaData},
        reader::{ChunkReader, Length},
    },
};

use self::pages::Chunks;
use super::{
    Format, ReadOptions, TableError, limits,
    reader::{BatchSource, Opened},
    source::Input,
};

pub(super) fn open(input: Input, options: &ReadOptions) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let file = input.into_file()?;
    let length = file.metadata().map_err(TableError::reading(&origin))?;
    let file = Arc::new(CheckedFile { file, length: length.len() });
    let malformed = |error| TableError::malformed(&origin, Format::Parquet, error);
    let claims = ArrowReaderMetadata::load(&*file, ArrowReaderOptions::default()).map_err(malformed)?;
    let metadata = claims.metadata();
    limits::check_columns(&origin, metadata.file_metadata().schema_descr().num_columns())?;
    let levels = parquet_to_arrow_field_levels(
        metadata.file_metadata().schema_descr(),
        ProjectionMask::all(),
        Some(claims.schema().fields()),
    )
    .map_err(malformed)?;
    let groups = Groups { file, metadata: Arc::clone(metadata) };
    let batch_rows = options.batch_rows.max(1);
    let reader = ParquetRecordBatchReader::try_new_with_row_groups(&levels, &groups, batch_rows, None)
        .map_err(malformed)?;
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

/// All row groups of a file, with pages that are checked before they are decoded.
struct Groups {
    file: Arc<CheckedFile>,
    metadata: Arc<ParquetMetaData>,
}

impl RowGroups for Groups {
    fn num_rows(&self) -> usize {
        self.row_groups().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).sum()
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        Ok(Box::new(Chunks::new(Arc::clone(&self.file), Arc::clone(&self.metadata), column)))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
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
