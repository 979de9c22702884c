//! Exact nearest neighbors of a row among the training rows, for the detectors that compare rows with them.
//!
//! *Why exact:* the scores are compared with other libraries to nine digits, and a model must give the same
//! answer on every machine. *Why two ways:* a tree skips most rows when there are few columns and hardly any
//! when there are many, where comparing with every row, block by block and most of them by a cheap bound
//! only, is faster.
//!
//! *Invariants:* neighbors come nearest first, equal distances by the lower row index, so the answer is a
//! function of the rows alone: not of the way of searching, of the other queries, or of threads. Both ways
//! compute a squared distance by the same additions in the same order ([`squared_distance`]). Memory beside
//! the training rows is bounded by a block of queries and never grows with queries × rows.
//!
//! A squared distance beyond the largest number counts as the largest number, so every distance is finite.

mod brute;
mod compared;
mod estimate;
mod tree;

use std::{collections::BinaryHeap, ops::Range};

use rayon::prelude::*;

pub(super) use self::compared::{Compared, Digest, load, take_rows};
use crate::{Matrix, error::FitError};

/// Up to this many columns a tree is used; above, comparing with every row is faster (measured with 10,000
/// and 100,000 normally distributed rows, the worst case for a tree).
const TREE_COLUMNS: usize = 6;
/// Below this many rows a tree does not pay.
const TREE_ROWS: usize = 256;
/// Queries that walk the training rows together.
const QUERIES: usize = 48;

/// Checks that `n_neighbors` is at most the neighbors that there are with so many training rows.
pub(super) fn check_count(n_neighbors: usize, n_rows: usize, most: usize) -> Result<(), FitError> {
    if n_neighbors <= most {
        return Ok(());
    }
    let allowed = format!("at most {most}");
    Err(FitError::ParamForData { name: "n_neighbors", got: n_neighbors, n_rows, allowed })
}

/// A training row and how far it is. The nearest row comes first; of rows at one distance, that with the lowest index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Neighbor {
    /// The bits of the squared Euclidean distance. No distance is negative, so they sort like the numbers.
    squared: u64,
    /// The training row, counted from 0.
    pub(crate) row: usize,
}

impl Neighbor {
    fn new(squared: f64, row: usize) -> Self {
        Self { squared: squared.to_bits(), row }
    }

    fn squared(self) -> f64 {
        f64::from_bits(self.squared)
    }

    /// The Euclidean distance.
    pub(crate) fn distance(self) -> f64 {
        self.squared().sqrt()
    }
}

/// The k best candidates seen so far.
#[derive(Debug)]
struct Best {
    k: usize,
    /// The training row that must not be its own neighbor.
    excluded: Option<usize>,
    heap: BinaryHeap<Neighbor>,
    /// What a candidate has to beat: the worst of k, or infinity while there are fewer.
    limit: Neighbor,
}

impl Best {
    fn new(k: usize, excluded: Option<usize>) -> Self {
        let limit = Neighbor::new(f64::INFINITY, usize::MAX);
        Self { k, excluded, heap: BinaryHeap::with_capacity(k), limit }
    }

    /// Whether nothing at `squared` or farther, with row index `row` or higher, can be among the best.
    #[inline]
    fn rules_out(&self, squared: f64, row: usize) -> bool {
        Neighbor::new(squared, row) > self.limit
    }

    #[inline]
    fn offer(&mut self, squared: f64, row: usize) {
        if !self.rules_out(squared, row) {
            self.insert(Neighbor::new(squared, row));
        }
    }

    fn insert(&mut self, candidate: Neighbor) {
        if self.excluded == Some(candidate.row) {
            return;
        }
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut() {
            *worst = candidate;
        }
        if self.heap.len() == self.k
            && let Some(worst) = self.heap.peek()
        {
            self.limit = *worst;
        }
    }

    /// Moves the best into `sorted`, nearest first.
    fn finish(&mut self, sorted: &mut Vec<Neighbor>) {
        sorted.clear();
        sorted.extend(self.heap.drain());
        sorted.sort_unstable();
    }
}

/// The square of the Euclidean distance, in four interleaved sums: vectorizable, and the same bits wherever
/// it is computed.
#[inline]
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 4];
    let (a_fours, b_fours) = (a.chunks_exact(4), b.chunks_exact(4));
    let (a_rest, b_rest) = (a_fours.remainder(), b_fours.remainder());
    for (a, b) in a_fours.zip(b_fours) {
        for lane in 0..4 {
            let difference = a[lane] - b[lane];
            sums[lane] += difference * difference;
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        let difference = a - b;
        *sum += difference * difference;
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).min(f64::MAX)
}

#[derive(Debug)]
enum Search {
    Tree(tree::Tree),
    Brute(brute::Brute),
}

/// The training rows, indexed for the search for neighbors.
#[derive(Debug)]
pub(crate) struct Neighbors {
    rows: Matrix,
    search: Search,
}

impl Neighbors {
    /// Takes the training rows: at least one row and one column, all finite.
    pub(crate) fn new(rows: Matrix) -> Self {
        let search = if rows.n_cols() <= TREE_COLUMNS && rows.n_rows() >= TREE_ROWS {
            Search::Tree(tree::Tree::new(&rows))
        } else {
            Search::Brute(brute::Brute::new(&rows))
        };
        Self { rows, search }
    }

    /// The training rows, in their own order.
    pub(crate) fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// `digest` of the `k` nearest training rows, nearest first, for each of `queries`, in order.
    pub(crate) fn map<T: Send>(
        &self,
        queries: &Matrix,
        k: usize,
        digest: impl Fn(&[Neighbor]) -> T + Sync,
    ) -> Vec<T> {
        self.map_some(queries, 0..queries.n_rows(), false, k, &digest)
    }

    /// The same for some of the training rows themselves; none is its own neighbor, but its duplicates are.
    pub(crate) fn map_training<T: Send>(
        &self,
        range: Range<usize>,
        k: usize,
        digest: impl Fn(&[Neighbor]) -> T + Sync,
    ) -> Vec<T> {
        self.map_some(&self.rows, range, true, k, &digest)
    }

    fn map_some<T: Send>(
        &self,
        queries: &Matrix,
        range: Range<usize>,
        themselves: bool,
        k: usize,
        digest: &(impl Fn(&[Neighbor]) -> T + Sync),
    ) -> Vec<T> {
        let n_blocks = range.len().div_ceil(QUERIES);
        let blocks: Vec<Vec<T>> = (0..n_blocks)
            .into_par_iter()
            .map(|block| {
                let first = range.start + block * QUERIES;
                let block = first..range.end.min(first + QUERIES);
                let start = |row| Best::new(k, themselves.then_some(row));
                let mut best: Vec<Best> = block.clone().map(start).collect();
                match &self.search {
                    Search::Tree(tree) => {
                        for (best, row) in best.iter_mut().zip(block) {
                            tree.search(queries.row(row), best);
                        }
                    }
                    Search::Brute(brute) => brute.search(&self.rows, queries, block, &mut best),
                }
                let mut sorted = Vec::with_capacity(k);
                let digested = best.iter_mut().map(|best| {
                    best.finish(&mut sorted);
                    digest(&sorted)
                });
                digested.collect()
            })
            .collect();
        blocks.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    /// All rows sorted by (distance, index): what neighbors are by definition.
    fn by_definition(rows: &Matrix, query: &[f64], k: usize, excluded: Option<usize>) -> Vec<Neighbor> {
        let mut all: Vec<Neighbor> = (0..rows.n_rows())
            .filter(|&row| Some(row) != excluded)
            .map(|row| Neighbor::new(squared_distance(rows.row(row), query), row))
            .collect();
        all.sort_unstable();
        all.truncate(k);
        all
    }

    fn both_ways(rows: &Matrix) -> [Neighbors; 2] {
        let tree = Search::Tree(tree::Tree::new(rows));
        let brute = Search::Brute(brute::Brute::new(rows));
        [tree, brute].map(|search| Neighbors { rows: rows.clone(), search })
    }

    fn normal(n_rows: usize, n_cols: usize, seed: u64) -> Matrix {
        let mut stream = Seed(seed).stream("rows", &[]);
        Matrix::new((0..n_rows * n_cols).map(|_| stream.normal()).collect(), n_rows, n_cols)
    }

    #[test] // (0,0) to (3,4): 9 + 16 = 25, distance 5. Six columns of ones and minus ones: 6 · 2² = 24.
    fn distances_match_the_values_worked_out_by_hand() {
        assert_eq!(squared_distance(&[0.0, 0.0], &[3.0, 4.0]), 25.0);
        assert_eq!(squared_distance(&[1.0; 6], &[-1.0; 6]), 24.0);
        assert_eq!(Neighbor::new(25.0, 0).distance(), 5.0);
    }

    #[test]
    fn a_distance_too_large_for_a_number_counts_as_the_largest_one() {
        assert_eq!(squared_distance(&[1e200], &[-1e200]), f64::MAX);
        assert_eq!(squared_distance(&[f64::MAX], &[-f64::MAX]), f64::MAX);
    }

    #[test] // All at the same place: every distance ties, so the lowest indices are the neighbors.
    fn equal_distances_are_won_by_the_lowest_index() {
        let rows = Matrix::zeros(500, 3);
        for neighbors in both_ways(&rows) {
            let found = neighbors.map(&Matrix::zeros(1, 3), 4, <[Neighbor]>::to_vec);
            assert_eq!(found[0].iter().map(|one| one.row).collect::<Vec<_>>(), [0, 1, 2, 3]);
            let found = neighbors.map_training(2..3, 3, <[Neighbor]>::to_vec);
            assert_eq!(found[0].iter().map(|one| one.row).collect::<Vec<_>>(), [0, 1, 3]);
        }
    }

    #[test]
    fn the_chosen_way_finds_the_neighbors_by_definition_for_few_and_many_columns() {
        for (n_rows, n_cols) in [(700, 1), (700, 2), (2000, 6), (600, 7), (500, 13), (1100, 40), (40, 3)] {
            let rows = normal(n_rows, n_cols, 1);
            let queries = normal(50, n_cols, 2);
            let found = Neighbors::new(rows.clone()).map(&queries, 9, <[Neighbor]>::to_vec);
            for (query, found) in queries.rows().zip(found) {
                assert_eq!(found, by_definition(&rows, query, 9, None), "{n_rows} × {n_cols}");
            }
        }
    }

    #[test] // Values far from zero, far apart and far too large: nothing may be lost to rounding or overflow.
    fn hard_values_are_searched_as_exactly_as_easy_ones() {
        for (scale, shift) in [(1e-3, 1e9), (1e200, 0.0), (1e-200, 0.0), (1e30, 1e35), (1.0, -1e18)] {
            let mut rows = normal(400, 20, 3);
            rows.values_mut().iter_mut().for_each(|value| *value = *value * scale + shift);
            let queries = rows.take(&[0, 17, 399]);
            for neighbors in both_ways(&rows) {
                let found = neighbors.map(&queries, 5, <[Neighbor]>::to_vec);
                for (query, found) in queries.rows().zip(found) {
                    assert_eq!(found, by_definition(&rows, query, 5, None), "{scale} {shift}");
                }
            }
        }
    }

    proptest! {
        // Law: whatever the way of searching, neighbors are what the definition says. Coordinates on a coarse
        // grid make ties and duplicates common.
        #[test]
        fn tree_and_brute_force_find_the_neighbors_by_definition(
            n_cols in 1usize..7,
            cells in prop::collection::vec(-3i8..4, 7..300),
            k in 1usize..12,
        ) {
            let n_rows = cells.len() / n_cols;
            let values = cells[..n_rows * n_cols].iter().map(|&cell| f64::from(cell) * 0.5).collect();
            let rows = Matrix::new(values, n_rows, n_cols);
            let mut queries = rows.clone();
            queries.values_mut().iter_mut().for_each(|value| *value += 0.25);
            for neighbors in both_ways(&rows) {
                let found = neighbors.map(&queries, k, <[Neighbor]>::to_vec);
                let among = neighbors.map_training(0..n_rows, k, <[Neighbor]>::to_vec);
                for row in 0..n_rows {
                    prop_assert_eq!(&found[row], &by_definition(&rows, queries.row(row), k, None));
                    prop_assert_eq!(&among[row], &by_definition(&rows, rows.row(row), k, Some(row)));
                }
            }
        }
    }
}
