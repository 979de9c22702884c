//! What later rows have and the training rows did not.

use super::Encoder;
use crate::count::counted;

/// Cells unlike anything in training, counted by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surprises {
    /// Nulls in columns that had none in training, by position in [`Encoder::columns`]. Their features are average.
    pub unexpected_nulls: Vec<u64>,
    /// Values that no training row had, by position in [`Encoder::columns`]. They count as "other" levels.
    pub unseen_levels: Vec<u64>,
}

impl Surprises {
    /// No surprises in any of `n_columns` columns.
    #[must_use]
    pub fn none(n_columns: usize) -> Self {
        Self { unexpected_nulls: vec![0; n_columns], unseen_levels: vec![0; n_columns] }
    }

    /// Adds the surprises of another batch.
    pub fn add(&mut self, other: &Self) {
        add_up(&mut self.unexpected_nulls, &other.unexpected_nulls);
        add_up(&mut self.unseen_levels, &other.unseen_levels);
    }

    /// One sentence, without a full stop, for each column with surprises.
    #[must_use]
    pub fn notes(&self, encoder: &Encoder) -> Vec<String> {
        let surprising = |counts: &[u64], says: fn(&str, usize) -> String| -> Vec<String> {
            let columns = counts.iter().zip(encoder.columns()).filter(|(count, _)| **count > 0);
            columns.map(|(&count, column)| says(column.name(), count as usize)).collect()
        };
        let nulls = surprising(&self.unexpected_nulls, |column, count| {
            let cells = counted(count, "empty cell", "empty cells");
            format!("column `{column}`: {cells}, but none in training; treated as average")
        });
        let unseen = surprising(&self.unseen_levels, |column, count| {
            format!("column `{column}`: {} never seen in training", counted(count, "value", "values"))
        });
        [nulls, unseen].concat()
    }
}

fn add_up(sums: &mut Vec<u64>, counts: &[u64]) {
    sums.resize(sums.len().max(counts.len()), 0);
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}
