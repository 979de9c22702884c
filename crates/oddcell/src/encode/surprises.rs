//! What later rows have and the training rows did not.

use super::{EncodedColumn, Encoder};
use crate::{count::counted, kinds::Unreadable};

/// Cells unlike anything in training, counted by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surprises {
    /// Nulls in columns that had none in training, by position in [`Encoder::columns`]. Their features are average.
    pub unexpected_nulls: Vec<u64>,
    /// Values that no training row had, by position in [`Encoder::columns`]. Dates: those later than all training dates.
    pub unseen_levels: Vec<u64>,
    /// Cells that are not of their column's kind, by position in [`Encoder::columns`]. Their features are average.
    pub unreadable: Vec<Unreadable>,
}

impl Surprises {
    /// No surprises in any of `n_columns` columns.
    #[must_use]
    pub(crate) fn none(n_columns: usize) -> Self {
        let zeros = vec![0; n_columns];
        let unreadable = vec![Unreadable::default(); n_columns];
        Self { unexpected_nulls: zeros.clone(), unseen_levels: zeros, unreadable }
    }

    /// Adds the surprises of a later batch.
    pub(crate) fn add(&mut self, other: &Self) {
        add_up(&mut self.unexpected_nulls, &other.unexpected_nulls);
        add_up(&mut self.unseen_levels, &other.unseen_levels);
        self.unreadable.resize_with(self.unreadable.len().max(other.unreadable.len()), Unreadable::default);
        self.unreadable.iter_mut().zip(&other.unreadable).for_each(|(sum, more)| sum.add(more));
    }

    /// One sentence, without a full stop, for each column with surprises.
    #[must_use]
    pub fn notes(&self, encoder: &Encoder) -> Vec<String> {
        let surprising = |counts: &[u64], says: fn(&EncodedColumn, usize) -> String| -> Vec<String> {
            let columns = counts.iter().zip(encoder.columns()).filter(|(count, _)| **count > 0);
            columns.map(|(&count, column)| says(column, count as usize)).collect()
        };
        let nulls = surprising(&self.unexpected_nulls, |column, count| {
            let cells = counted(count, "empty cell", "empty cells");
            format!("column `{}`: {cells}, but none in training", column.name())
        });
        let unseen = surprising(&self.unseen_levels, |column, count| {
            format!("column `{}`: {}", column.name(), column.content().as_kind().unfamiliar(count))
        });
        let unreadable = self.unreadable.iter().zip(encoder.columns()).filter_map(|(unreadable, column)| {
            let note = unreadable.note(column.reading())?;
            Some(format!("column `{}`: {note}", column.name()))
        });
        [unreadable.collect(), nulls, unseen].concat()
    }
}

fn add_up(sums: &mut Vec<u64>, counts: &[u64]) {
    sums.resize(sums.len().max(counts.len()), 0);
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}
