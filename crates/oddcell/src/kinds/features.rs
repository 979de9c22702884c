//! Writing features, and folding their noise back.

use std::ops::Range;

use arrow_array::Array;

use super::Cells;
use crate::encode::{Feature, STD_FLOOR};

/// Mean and standard deviation of a feature in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) mean: f64,
    pub(crate) std: f64,
}

impl Scale {
    /// The scale of a 0/1 feature that was 1 in `ones` of `of` training rows.
    pub(crate) fn of_flag(ones: u64, of: u64) -> Self {
        let mean = ones as f64 / of as f64;
        Self { mean, std: (mean * (1.0 - mean)).sqrt().max(STD_FLOOR) }
    }
}

/// The features of one column in a block of consecutive rows.
pub(crate) struct Block<'a> {
    /// All features of the rows.
    pub(crate) rows: &'a mut [f64],
    /// The number of all features of a row.
    pub(crate) n_features: usize,
    /// The positions of the column's features in a row.
    pub(crate) features: Range<usize>,
    /// The row of the batch with which the block starts.
    pub(crate) first_row: usize,
    /// Whether the rows are no training rows. A training row is compared with the others.
    pub(crate) is_new: bool,
}

impl Block<'_> {
    /// The same block, to be handed on.
    pub(crate) fn reborrowed(&mut self) -> Block<'_> {
        let Self { n_features, first_row, is_new, .. } = *self;
        Block { rows: self.rows, n_features, features: self.features.clone(), first_row, is_new }
    }

    /// The features of the column, row by row.
    pub(super) fn rows(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let Range { start, end } = self.features;
        self.rows.chunks_exact_mut(self.n_features).map(move |row| &mut row[start..end])
    }

    /// Fills the only feature of the column with standardized numbers; a null takes the mean.
    pub(super) fn write_numbers(mut self, cells: &Cells, feature: Feature) {
        let first_row = self.first_row;
        for (row, &x) in self.rows().zip(&cells.numbers()[first_row..]) {
            row[0] = if x.is_nan() { 0.0 } else { feature.scale(x) };
        }
    }
}

/// Fills the only feature in `block` with 1 for null and 0 for a value, standardized.
pub(crate) fn write_null_flags(cells: &Cells, flag: Feature, mut block: Block<'_>) {
    let (no, yes) = (flag.scale(0.0), flag.scale(1.0));
    let flag = |is_null: bool| if is_null { yes } else { no };
    let first_row = block.first_row;
    match cells {
        Cells::Numbers(numbers) => {
            block.rows().zip(&numbers[first_row..]).for_each(|(row, x)| row[0] = flag(x.is_nan()));
        }
        Cells::Names(names) => {
            block.rows().zip(first_row..).for_each(|(row, at)| row[0] = flag(names.is_null(at)));
        }
    }
}
