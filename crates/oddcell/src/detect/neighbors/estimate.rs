//! A lower bound of squared distances that costs one multiplication and addition per column in single
//! precision.
//!
//! *Formula:* with the rows moved by the column means m and scaled by a power of two s, a = s·(query − m) and
//! b = s·(row − m), the scaled squared distance is A + B − 2·a·b with A = |a|², B = |b|². The product a·b is
//! computed in `f32`. Rounding a, b and d additions changes it by at most (d + 2)·u·Σ|aᵢ||bᵢ|, u = 2⁻²⁴ (to
//! first order), and 2·Σ|aᵢ||bᵢ| ≤ A + B. Storing B and the last subtraction add at most 4·u·(A + B). So
//!
//! ```text
//! scaled squared distance ≥ (1 − γ)·(A + B) − 2·product − tiny,     γ = (d + 16)·u
//! ```
//!
//! where the ten units to spare cover the second order and the rounding of the exact distance in `f64`, and
//! `tiny` = d·2⁻⁸⁰ what is lost where single precision has no smaller number, even if such numbers become
//! zero. s makes every |bᵢ| ≤ 1; a query with some |aᵢ| > 2⁴⁰ is not estimated, so nothing overflows.
//!
//! *Invariant:* a row is ruled out only if its distance as [`super::squared_distance`] computes it is larger
//! than the limit. The bound holds for any order of the additions, fused or not.

use std::ops::Range;

use crate::{
    Matrix,
    net::gemm::{self, Edge, Panels, padded},
};

/// Training rows that are looked at between two looks at the limits.
const TILE_ROWS: usize = 128;
/// The largest |aᵢ| that is estimated: 2⁴⁰.
const LARGEST: f64 = (1u64 << 40) as f64;

/// The training rows in single precision, packed for products.
#[derive(Debug)]
pub(super) struct Estimate {
    means: Vec<f64>,
    scale: f64,
    /// 1 − γ.
    share: f64,
    /// What single precision may lose below its smallest number.
    tiny: f64,
    tiles: Vec<Tile>,
}

/// Some training rows.
#[derive(Debug)]
pub(super) struct Tile {
    /// Where they lie among all.
    pub(super) rows: Range<usize>,
    /// Columns × rows.
    panels: Panels,
    /// (1 − γ)·B of every row; infinite beyond the last.
    lower_parts: Vec<f32>,
}

/// A block of queries in single precision.
#[derive(Debug)]
pub(super) struct Block {
    /// Row-major, padded.
    values: Vec<f32>,
    /// (1 − γ)·A − tiny of every query; negative infinity where nothing may be ruled out.
    parts: Vec<f64>,
    scale: f64,
}

impl Estimate {
    /// `None` if means or deviations are too large or all too small to be scaled.
    pub(super) fn new(rows: &Matrix) -> Option<Self> {
        let (n_rows, n_cols) = (rows.n_rows(), rows.n_cols());
        let mut means = vec![0.0; n_cols];
        for row in rows.rows() {
            for (mean, value) in means.iter_mut().zip(row) {
                *mean += value / n_rows as f64;
            }
        }
        let deviations =
            rows.rows().flat_map(|row| row.iter().zip(&means).map(|(value, mean)| (value - mean).abs()));
        let largest = deviations.fold(0.0, f64::max);
        if !(1e-250..1e250).contains(&largest) || means.iter().any(|mean| !mean.is_finite()) {
            return None;
        }
        // A power of two that brings the largest deviation to between 1/4 and 1.
        let scale = 2f64.powi(-(largest.log2().ceil() as i32 + 1));
        let share = 1.0 - (n_cols as f64 + 16.0) * f64::from(f32::EPSILON) / 2.0;
        let tiny = n_cols as f64 * 2f64.powi(-80);
        let mut estimate = Self { means, scale, share, tiny, tiles: Vec::new() };
        for start in (0..n_rows).step_by(TILE_ROWS) {
            let tile = estimate.tile(rows, start..n_rows.min(start + TILE_ROWS));
            estimate.tiles.push(tile);
        }
        Some(estimate)
    }

    fn tile(&self, rows: &Matrix, range: Range<usize>) -> Tile {
        let n_cols = self.means.len();
        let stride = padded(n_cols);
        let mut values = vec![0.0; range.len() * stride];
        let mut lower_parts = vec![f32::INFINITY; padded(range.len())];
        for ((row, line), lower) in range.clone().zip(values.chunks_exact_mut(stride)).zip(&mut lower_parts) {
            let (square, _) = self.narrow(rows.row(row), line);
            *lower = (self.share * square) as f32;
        }
        let mut panels = Panels::zeros(n_cols, range.len());
        panels.pack_transposed(&values, range.len(), stride);
        Tile { rows: range, panels, lower_parts }
    }

    /// Moves and scales a row into single precision; gives its square and its largest value.
    fn narrow(&self, row: &[f64], line: &mut [f32]) -> (f64, f64) {
        let (mut square, mut largest) = (0.0, 0.0f64);
        for ((narrow, value), mean) in line.iter_mut().zip(row).zip(&self.means) {
            let moved = (value - mean) * self.scale;
            square += moved * moved;
            largest = largest.max(moved.abs());
            *narrow = moved as f32;
        }
        (square, largest)
    }

    /// The training rows, in order.
    pub(super) fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Some queries, ready to be compared.
    pub(super) fn pack(&self, queries: &Matrix, range: Range<usize>) -> Block {
        let stride = padded(self.means.len());
        let mut values = vec![0.0; range.len() * stride];
        let mut parts = Vec::with_capacity(range.len());
        for (query, line) in range.zip(values.chunks_exact_mut(stride)) {
            let (square, largest) = self.narrow(queries.row(query), line);
            if largest <= LARGEST {
                parts.push(self.share * square - self.tiny);
            } else {
                line.fill(0.0);
                parts.push(f64::NEG_INFINITY);
            }
        }
        Block { values, parts, scale: self.scale }
    }
}

impl Block {
    /// A row whose lower part minus twice its product is above this is farther from the query than the limit.
    pub(super) fn threshold(&self, query: usize, limit: f64) -> f32 {
        // Rounded up, so that rounding never rules a row out.
        ((limit * self.scale * self.scale - self.parts[query]) as f32).next_up()
    }

    /// Appends to `candidates` the pairs of query and row, both counted within block and tile, that the
    /// thresholds of the queries do not rule out.
    pub(super) fn compare(&self, tile: &Tile, thresholds: &[f32], candidates: &mut Vec<(u32, u32)>) {
        let n_queries = self.parts.len();
        let stride = self.values.len() / n_queries;
        let sieve = Sieve { lower_parts: &tile.lower_parts, thresholds, candidates };
        gemm::rows_times_panels(&self.values, n_queries, stride, &tile.panels, sieve);
    }
}

/// Looks at the products while they are in registers.
struct Sieve<'a> {
    lower_parts: &'a [f32],
    thresholds: &'a [f32],
    candidates: &'a mut Vec<(u32, u32)>,
}

impl Edge for Sieve<'_> {
    #[inline(always)]
    fn start<const N: usize>(&self, _: usize, _: usize) -> [f32; N] {
        [0.0; N]
    }

    #[inline(always)]
    fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]) {
        let (lower_parts, threshold) = (&self.lower_parts[column..][..N], self.thresholds[row]);
        // First checks, without branches, whether there is any candidate; usually there is none.
        let mut n_ruled_out = 0;
        for j in 0..N {
            n_ruled_out += u32::from(lower_parts[j] - 2.0 * sums[j] > threshold);
        }
        if n_ruled_out < N as u32 {
            self.keep(row, column, &sums);
        }
    }
}

impl Sieve<'_> {
    #[cold]
    fn keep(&mut self, row: usize, column: usize, sums: &[f32]) {
        let (lower_parts, threshold) = (&self.lower_parts[column..], self.thresholds[row]);
        for (offset, (lower, sum)) in lower_parts.iter().zip(sums).enumerate() {
            let ruled_out = lower - 2.0 * sum > threshold;
            if !ruled_out {
                self.candidates.push((row as u32, (column + offset) as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test] // The bound must hold, and be close enough to be of use.
    fn a_row_is_kept_at_its_own_distance_and_ruled_out_just_below_it() {
        let mut stream = Seed(2).stream("rows", &[]);
        let rows = Matrix::new((0..300 * 100).map(|_| stream.normal() + 5.0).collect(), 300, 100);
        let estimate = Estimate::new(&rows).unwrap();
        let block = estimate.pack(&rows, 3..8);
        for tile in estimate.tiles() {
            for row in tile.rows.clone() {
                for query in 0..5 {
                    let squared = super::super::squared_distance(rows.row(3 + query), rows.row(row));
                    let is_kept = |limit: f64| {
                        let mut thresholds = [f32::NEG_INFINITY; 5];
                        thresholds[query] = block.threshold(query, limit);
                        let mut candidates = Vec::new();
                        block.compare(tile, &thresholds, &mut candidates);
                        candidates.contains(&(query as u32, (row - tile.rows.start) as u32))
                    };
                    assert!(is_kept(squared), "row {row} would be ruled out at its own distance");
                    assert!(row == 3 + query || !is_kept(squared * 0.9999), "row {row} is not ruled out");
                }
            }
        }
    }

    #[test]
    fn values_that_cannot_be_scaled_are_not_estimated() {
        assert!(Estimate::new(&Matrix::zeros(3, 2)).is_none());
        assert!(Estimate::new(&Matrix::from_rows(&[[1e300], [-1e300]])).is_none());
        assert!(Estimate::new(&Matrix::from_rows(&[[f64::MAX], [-f64::MAX]])).is_none());
        let estimate = Estimate::new(&Matrix::from_rows(&[[0.0], [1.0]])).unwrap();
        let block = estimate.pack(&Matrix::from_rows(&[[1e300]]), 0..1);
        assert_eq!(block.threshold(0, 1.0), f32::INFINITY);
    }
}
