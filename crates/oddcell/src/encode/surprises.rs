//! What later rows have that the training rows did not.

use super::Encoder;
use crate::count::counted;

/// Cells unlike anything in training, counted by column; of several batches they can be added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surprises {
    /// Nulls in columns that had none in training, by position in [`Encoder::columns`]. They took the mean.
    pub unexpected_nulls: Vec<u64>,
    /// Names that no training row had, by position in [`Encoder::columns`]. They count as "other" levels.
    pub unseen_levels: Vec<u64>,
}

impl Surprises {
    /// No surprises in any of `n_columns` columns.
    #[must_use]
    pub fn none(n_columns: usize) -> Self {
        Self { unexpected_nulls: vec![0; n_columns], unseen_levels: vec![0; n_columns] }
    }

    /// Adds those of another batch.
    pub fn add(&mut self, other: &Self) {
        add_up(&mut self.unexpected_nulls, &other.unexpected_nulls);
        add_up(&mut self.unseen_levels, &other.unseen_levels);
    }

    /// What there is to say, a sentence without a full stop for each column that has surprises.
    #[must_use]
    pub fn notes(&self, encoder: &Encoder) -> Vec<String> {
        let nulls = self.unexpected_nulls.iter().zip(encoder.columns()).filter(|(count, _)| **count > 0);
        let nulls = nulls.map(|(&count, column)| {
            let cells = counted(count as usize, "empty cell", "empty cells");
            format!("column `{}`: {cells}, but none in training; read as an average value", column.name())
        });
        let unseen = self.unseen_levels.iter().zip(encoder.columns()).filter(|(count, _)| **count > 0);
        let unseen = unseen.map(|(&count, column)| {
            let cells = counted(count as usize, "cell with a value", "cells with values");
            format!("column `{}`: {cells} that training never had", column.name())
        });
        nulls.chain(unseen).collect()
    }
}

fn add_up(sums: &mut Vec<u64>, counts: &[u64]) {
    sums.resize(sums.len().max(counts.len()), 0);
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}
