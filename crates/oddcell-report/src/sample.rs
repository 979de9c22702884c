//! A random sample of the rows of a stream, as features, for the map.
//!
//! *How:* every row has a random key, made from the seed and its row number, and the rows with the smallest keys are
//! kept. So all rows are equally likely, and the sample does not depend on the batches.

use std::collections::BTreeMap;

use oddcell::Seed;

/// A row of the sample.
#[derive(Debug, Clone)]
pub(crate) struct Sampled {
    /// Counted from 1.
    pub(crate) row: usize,
    pub(crate) score: f64,
    pub(crate) p: f64,
    pub(crate) features: Vec<f64>,
}

/// The rows with the smallest keys.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    seed: Seed,
    capacity: usize,
    rows: BTreeMap<(u64, usize), Sampled>,
}

impl Sample {
    pub(crate) fn new(seed: Seed, capacity: usize) -> Self {
        Self { seed, capacity, rows: BTreeMap::new() }
    }

    fn key(&self, row: usize) -> (u64, usize) {
        (self.seed.key("report sample", &[row as u64]), row)
    }

    /// The rows of a batch, by their index in it, that belong to the sample of the rows so far.
    pub(crate) fn candidates(&self, first_row: usize, n_rows: usize) -> Vec<usize> {
        let last =
            self.rows.last_key_value().filter(|_| self.rows.len() == self.capacity).map(|(key, _)| key);
        let mut rows: Vec<usize> =
            (0..n_rows).filter(|&row| last.is_none_or(|last| self.key(first_row + row) < *last)).collect();
        if rows.len() > self.capacity {
            rows.sort_by_key(|&row| self.key(first_row + row));
            rows.truncate(self.capacity);
            rows.sort_unstable();
        }
        rows
    }

    pub(crate) fn put(&mut self, row: Sampled) {
        self.rows.insert(self.key(row.row - 1), row);
        if self.rows.len() > self.capacity {
            self.rows.pop_last();
        }
    }

    /// The rows of the sample, in row order.
    pub(crate) fn into_rows(self) -> Vec<Sampled> {
        let mut rows: Vec<Sampled> = self.rows.into_values().collect();
        rows.sort_by_key(|row| row.row);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(n_rows: usize, size: usize) -> Vec<usize> {
        let mut sample = Sample::new(Seed(3), 10);
        for first_row in (0..n_rows).step_by(size) {
            for row in sample.candidates(first_row, size.min(n_rows - first_row)) {
                let row = first_row + row + 1;
                sample.put(Sampled { row, score: 0.0, p: 1.0, features: Vec::new() });
            }
        }
        sample.into_rows().iter().map(|row| row.row).collect()
    }

    #[test]
    fn the_sample_does_not_depend_on_the_batches_and_few_rows_are_all_taken() {
        let rows = sampled(1000, 1000);
        assert_eq!(rows.len(), 10);
        assert_ne!(rows, (1..=10).collect::<Vec<_>>());
        for size in [1, 7, 64] {
            assert_eq!(sampled(1000, size), rows);
        }
        assert_eq!(sampled(4, 3), [1, 2, 3, 4]);
    }
}
