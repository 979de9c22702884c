//! A part of a table on its way: the cells, and where they come from.

use std::{ops::Range, sync::Arc};

use arrow_array::RecordBatch;

use crate::error::ScoreError;

/// Some rows of a table, and where they come from.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The cells.
    pub batch: RecordBatch,
    /// The number of rows of the table before this batch.
    pub first_row: usize,
    /// The name of the table in messages: a path, or "standard input".
    pub origin: Arc<str>,
}

impl Rows {
    /// The rows of `batch`, which follow `first_row` other rows of the table `origin`.
    pub fn new(batch: RecordBatch, first_row: usize, origin: impl Into<Arc<str>>) -> Self {
        Self { batch, first_row, origin: origin.into() }
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The positions of these rows in a table of `known` rows that was judged as a whole; an error if they are not all
    /// in it.
    #[doc(hidden)]
    pub fn positions(&self, known: usize) -> Result<Range<usize>, ScoreError> {
        let end = self.first_row + self.n_rows();
        if end > known {
            return Err(ScoreError::OtherTable { known, row: end });
        }
        Ok(self.first_row..end)
    }

    /// The `len` rows from `offset` on. Copies no cells.
    ///
    /// # Panics
    /// If there are fewer than `offset + len` rows.
    #[must_use]
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        Self {
            batch: self.batch.slice(offset, len),
            first_row: self.first_row + offset,
            origin: Arc::clone(&self.origin),
        }
    }
}
