//! The oddest rows of a stream.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::verdict::Oddness;

/// Keeps the rows with the highest scores, each with a value from the caller; among equal scores, the earlier rows.
#[derive(Debug, Clone)]
pub struct Oddest<T> {
    /// The least odd row comes first.
    rows: BTreeMap<Oddness, T>,
    capacity: usize,
}

impl<T> Oddest<T> {
    /// Keeps up to `capacity` rows.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { rows: BTreeMap::new(), capacity }
    }

    /// The rows of a batch that are odd enough to be kept so far: ascending indices into `scores`. The batch starts at
    /// `first_row`.
    #[must_use]
    pub fn candidates(&self, first_row: usize, scores: &[f64]) -> Vec<usize> {
        let place = |row: usize| Oddness::of(scores[row], first_row + row);
        let is_full = self.rows.len() == self.capacity;
        let least = self.rows.keys().next().filter(|_| is_full);
        let mut rows: Vec<usize> =
            (0..scores.len()).filter(|&row| least.is_none_or(|least| place(row) > *least)).collect();
        if rows.len() > self.capacity {
            rows.sort_by_key(|&row| Reverse(place(row)));
            rows.truncate(self.capacity);
            rows.sort_unstable();
        }
        rows
    }

    /// Keeps `what` for the row with this score, unless all kept rows are odder. Rows are counted from 0.
    pub fn put(&mut self, row: usize, score: f64, what: T) {
        self.rows.insert(Oddness::of(score, row), what);
        if self.rows.len() > self.capacity {
            self.rows.pop_first();
        }
    }

    /// What was kept, oddest row first.
    #[must_use]
    pub fn into_rows(self) -> Vec<T> {
        self.rows.into_values().rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test] // Law: in any batches, the rows kept are those that sorting puts first, in that order.
        fn the_oddest_are_kept_whatever_the_batches(
            scores in prop::collection::vec((-3i8..4).prop_map(f64::from), 0..60), size in 1usize..20
        ) {
            let mut oddest = Oddest::new(7);
            for (at, batch) in scores.chunks(size).enumerate() {
                for row in oddest.candidates(at * size, batch) {
                    oddest.put(at * size + row, batch[row], at * size + row);
                }
            }
            let mut expected: Vec<usize> = (0..scores.len()).collect();
            expected.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            expected.truncate(7);
            prop_assert_eq!(oddest.into_rows(), expected);
        }
    }
}
