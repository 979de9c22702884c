//! Holds judged rows until all rows have been seen and their verdicts are known.

use arrow_array::RecordBatch;

use crate::Error;

/// Where judged rows wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Spool {
    /// In memory, for a table that is in memory anyway.
    #[default]
    Memory,
    /// In an unnamed temporary file, for a stream.
    #[cfg(feature = "ipc")]
    Disk,
}

/// Rows that have waited.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send + Sync>;

/// The waiting rows.
pub(crate) enum Waiting {
    Memory(Vec<RecordBatch>),
    #[cfg(feature = "ipc")]
    Disk(Box<disk::File>),
}

impl Waiting {
    pub(crate) fn new(spool: Spool) -> Self {
        match spool {
            Spool::Memory => Self::Memory(Vec::new()),
            #[cfg(feature = "ipc")]
            Spool::Disk => Self::Disk(Box::default()),
        }
    }

    pub(crate) fn push(&mut self, judged: RecordBatch) -> Result<(), Error> {
        match self {
            Self::Memory(batches) => batches.push(judged),
            #[cfg(feature = "ipc")]
            Self::Disk(file) => file.push(&judged)?,
        }
        Ok(())
    }

    /// All rows, in order.
    pub(crate) fn batches(self) -> Result<Batches, Error> {
        match self {
            Self::Memory(batches) => Ok(Box::new(batches.into_iter().map(Ok))),
            #[cfg(feature = "ipc")]
            Self::Disk(file) => file.batches(),
        }
    }
}

#[cfg(feature = "ipc")]
mod disk {
    use std::io::{Seek, SeekFrom};

    use arrow_array::RecordBatch;
    use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
    use arrow_schema::{ArrowError, SchemaRef};

    use super::Batches;
    use crate::{Error, error::ScoreError};

    /// Rows in an Arrow stream, once there are some. The system deletes the file when it is closed.
    #[derive(Default)]
    pub(crate) struct File(Option<(StreamWriter<std::fs::File>, SchemaRef)>);

    impl File {
        pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), Error> {
            let (writer, schema) = match &mut self.0 {
                Some(started) => started,
                none => {
                    let file = tempfile::tempfile().map_err(failed)?;
                    let writer = StreamWriter::try_new(file, &batch.schema()).map_err(failed)?;
                    none.insert((writer, batch.schema()))
                }
            };
            // The writer itself does not check, and the rows would be read back wrong.
            if batch.schema() != *schema {
                return Err(failed(ArrowError::SchemaError("the columns of the batches differ".to_owned())));
            }
            writer.write(batch).map_err(failed)
        }

        pub(super) fn batches(self) -> Result<Batches, Error> {
            let Some((writer, _)) = self.0 else { return Ok(Box::new(std::iter::empty())) };
            let mut file = writer.into_inner().map_err(failed)?;
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            let batches = StreamReader::try_new(file, None).map_err(failed)?;
            Ok(Box::new(batches.map(|batch| batch.map_err(failed))))
        }
    }

    fn failed(error: impl Into<ArrowError>) -> Error {
        ScoreError::Spool(error.into().to_string()).into()
    }
}
