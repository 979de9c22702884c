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

/// The waiting rows.
pub(super) enum Waiting {
    Memory(Vec<RecordBatch>),
    #[cfg(feature = "ipc")]
    Disk(Box<disk::File>),
}

impl Waiting {
    pub(super) fn new(spool: Spool) -> Self {
        match spool {
            Spool::Memory => Self::Memory(Vec::new()),
            #[cfg(feature = "ipc")]
            Spool::Disk => Self::Disk(Box::default()),
        }
    }

    pub(super) fn push(&mut self, judged: RecordBatch) -> Result<(), Error> {
        match self {
            Self::Memory(batches) => batches.push(judged),
            #[cfg(feature = "ipc")]
            Self::Disk(file) => file.push(&judged)?,
        }
        Ok(())
    }

    /// Hands out all rows, in order.
    pub(super) fn for_each(self, take: impl FnMut(RecordBatch) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Memory(batches) => batches.into_iter().try_for_each(take),
            #[cfg(feature = "ipc")]
            Self::Disk(file) => file.for_each(take),
        }
    }
}

#[cfg(feature = "ipc")]
mod disk {
    use std::io::{Seek, SeekFrom};

    use arrow_array::RecordBatch;
    use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
    use arrow_schema::ArrowError;

    use crate::{Error, error::ScoreError};

    /// Rows in an Arrow stream, once there are some. The system deletes the file when it is closed.
    #[derive(Default)]
    pub(in crate::judge) struct File(Option<StreamWriter<std::fs::File>>);

    impl File {
        pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), Error> {
            let writer = match &mut self.0 {
                Some(writer) => writer,
                none => {
                    let file = tempfile::tempfile().map_err(failed)?;
                    none.insert(StreamWriter::try_new(file, &batch.schema()).map_err(failed)?)
                }
            };
            writer.write(batch).map_err(failed)
        }

        pub(super) fn for_each(
            self,
            mut take: impl FnMut(RecordBatch) -> Result<(), Error>,
        ) -> Result<(), Error> {
            let Some(writer) = self.0 else { return Ok(()) };
            let mut file = writer.into_inner().map_err(failed)?;
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            let batches = StreamReader::try_new(file, None).map_err(failed)?;
            batches.map(|batch| batch.map_err(failed)).try_for_each(|batch| take(batch?))
        }
    }

    fn failed(error: impl Into<ArrowError>) -> Error {
        ScoreError::Spool(error.into().to_string()).into()
    }
}
