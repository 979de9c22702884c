//! Training rows with one block at a time in memory.

use std::{fmt::Debug, io};

use crate::{Context, Fitted, Matrix, error::FitError};

/// Why most methods cannot learn from blocks.
pub(super) const NEEDS_ALL_ROWS: &str = "it needs all rows in memory at once";

/// Rows in blocks. Every block is a random sample of all rows: which block a row is in says nothing about the
/// row.
pub trait RowBlocks: Sync + Debug {
    /// Number of features.
    fn n_cols(&self) -> usize;

    /// Number of blocks, at least one.
    fn n_blocks(&self) -> usize;

    /// Number of rows of a block.
    fn block_rows(&self, block: usize) -> usize;

    /// Hands over the rows of a block, one after the other, always in the same order.
    fn each_row(&self, block: usize, take: &mut dyn FnMut(&[f64])) -> io::Result<()>;
}

/// A detector that needs no more than one block of rows in memory.
pub trait BlockDetector {
    /// The most rows it would look at if there were `n_rows`: that many, drawn at random, are as good as all.
    fn rows_needed(&self, n_rows: usize) -> usize;

    /// Learns "normal" from `rows`, which are finite. Same blocks + same seed ⇒ same bits.
    fn fit_blocks(&self, rows: &dyn RowBlocks, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError>;
}

/// All in memory: one block.
impl RowBlocks for Matrix {
    fn n_cols(&self) -> usize {
        self.n_cols()
    }

    fn n_blocks(&self) -> usize {
        1
    }

    fn block_rows(&self, _block: usize) -> usize {
        self.n_rows()
    }

    fn each_row(&self, _block: usize, take: &mut dyn FnMut(&[f64])) -> io::Result<()> {
        self.rows().for_each(take);
        Ok(())
    }
}

/// Rows of one number, their place in all blocks together.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Numbered(pub(super) Vec<usize>);

#[cfg(test)]
impl RowBlocks for Numbered {
    fn n_cols(&self) -> usize {
        1
    }

    fn n_blocks(&self) -> usize {
        self.0.len()
    }

    fn block_rows(&self, block: usize) -> usize {
        self.0[block]
    }

    fn each_row(&self, block: usize, take: &mut dyn FnMut(&[f64])) -> io::Result<()> {
        let first: usize = self.0[..block].iter().sum();
        (first..first + self.0[block]).for_each(|row| take(&[row as f64]));
        Ok(())
    }
}
