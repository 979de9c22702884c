//! A lower bound of squared distances that costs one multiplication and addition per column in single precision.
//!
//! *Formula:* with the rows moved by the column means m and scaled by a power of two s, a = s·(query − m) and
//! b = s·(row − m), the scaled squared distance is A + B − 2·a·b with A = |a|², B = |b|². The product a·b is
//! computed in `f32`. Rounding a, b and d additions changes it by at most (d + 2)·u·Σ|aᵢ||bᵢ|, u = 2⁻²⁴ (to first
//! order), and 2·Σ|aᵢ||bᵢ| ≤ A + B. Storing B and the last subtraction add at most 4·u·(A + B). So
//!
//! ```text
//! scaled squared distance ≥ (1 − γ)·(A + B) − 2·product − tiny,     γ = (d + 16)·u
//! ```
//!
//! where the ten units to spare cover the second order and the rounding of the exact distance in `f64`, and
//! `tiny` = d·2⁻⁸⁰ what is lost where single precision has no smaller number, even if such numbers become
//! zero. s makes every |bᵢ| ≤ 1; a query with some |aᵢ| > 2⁴⁰ is not estimated, so nothing overflows.
//!
//! *Invariant:* a row is ruled out only if its distance as [`super::squared_distance`] computes it is larger than
//! the limit. The bound holds for any order of the additions, fused or not.

use std::ops::Range;

use crate::{
    Matrix,
    simd::{self, Work},
};

/// Queries whose products are computed together.
pub(super) const GROUP: usize = 6;
/// Training rows whose products are computed together. Panels are filled up with zeros.
pub(super) const PANEL: usize = 32;
/// Values in a tile of panels: 64 KiB of `f32`, to stay in a core's cache while the groups pass.
const TILE_VALUES: usize = 16 * 1024;
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
    /// Panel after panel, and in a panel column after column, [`PANEL`] rows each.
    panels: Vec<f32>,
    /// (1 − γ)·B of every row.
    lower_parts: Vec<f32>,
}

/// A few queries in single precision, packed for products.
#[derive(Debug)]
pub(super) struct Group {
    /// Column after column, [`GROUP`] queries each.
    values: Vec<f32>,
    /// (1 − γ)·A − tiny of every query; negative infinity where nothing may be ruled out.
    parts: [f64; GROUP],
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
        let n_panels = n_rows.div_ceil(PANEL);
        let mut estimate = Self {
            tiny: n_cols as f64 * 2f64.powi(-80),
            panels: vec![0.0; n_panels * PANEL * n_cols],
            lower_parts: vec![0.0; n_panels * PANEL],
            means,
            scale,
            share,
        };
        for (index, row) in rows.rows().enumerate() {
            let panel = &mut estimate.panels[index / PANEL * PANEL * n_cols..][..PANEL * n_cols];
            let mut square = 0.0;
            for ((packed, value), mean) in panel.chunks_exact_mut(PANEL).zip(row).zip(&estimate.means) {
                let moved = (value - mean) * scale;
                square += moved * moved;
                packed[index % PANEL] = moved as f32;
            }
            estimate.lower_parts[index] = (share * square) as f32;
        }
        Some(estimate)
    }

    /// The panels, as many at a time as stay in the cache.
    pub(super) fn tiles(&self) -> impl Iterator<Item = Range<usize>> {
        let n_panels = self.lower_parts.len() / PANEL;
        let per_tile = (TILE_VALUES / (PANEL * self.means.len())).max(1);
        (0..n_panels).step_by(per_tile).map(move |start| start..n_panels.min(start + per_tile))
    }

    /// (1 − γ)·B of the rows of a panel.
    pub(super) fn lower_parts(&self, panel: usize) -> &[f32] {
        &self.lower_parts[panel * PANEL..][..PANEL]
    }

    /// At most [`GROUP`] queries.
    pub(super) fn pack(&self, queries: &Matrix, group: Range<usize>) -> Group {
        let mut values = vec![0.0; GROUP * self.means.len()];
        let mut parts = [0.0; GROUP];
        for (member, query) in group.enumerate() {
            let (mut square, mut largest) = (0.0, 0.0f64);
            for ((packed, value), mean) in
                values.chunks_exact_mut(GROUP).zip(queries.row(query)).zip(&self.means)
            {
                let moved = (value - mean) * self.scale;
                square += moved * moved;
                largest = largest.max(moved.abs());
                packed[member] = moved as f32;
            }
            parts[member] =
                if largest <= LARGEST { self.share * square - self.tiny } else { f64::NEG_INFINITY };
        }
        Group { values, parts, scale: self.scale }
    }

    /// The products of the group with the rows of some panels: panel after panel, query after query.
    pub(super) fn products(&self, group: &Group, tile: Range<usize>, products: &mut Vec<f32>) {
        let n_cols = self.means.len();
        products.resize(tile.len() * GROUP * PANEL, 0.0);
        let panels = &self.panels[tile.start * PANEL * n_cols..tile.end * PANEL * n_cols];
        simd::run(Products { group: &group.values, panels, output: products });
    }
}

impl Group {
    /// A row whose lower part minus twice its product is above this is farther than the limit.
    pub(super) fn threshold(&self, member: usize, limit: f64) -> f32 {
        // Rounded up, so that rounding never rules a row out.
        ((limit * self.scale * self.scale - self.parts[member]) as f32).next_up()
    }
}

/// The inner loop, compiled for what the processor can do.
struct Products<'a> {
    group: &'a [f32],
    panels: &'a [f32],
    output: &'a mut [f32],
}

/// Training rows whose sums are held in registers at a time, times [`GROUP`] queries.
const LANES: usize = 16;

impl Work for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        let panel_values = self.group.len() / GROUP * PANEL;
        let panels = self.panels.chunks_exact(panel_values);
        for (panel, products) in panels.zip(self.output.chunks_exact_mut(GROUP * PANEL)) {
            for first in (0..PANEL).step_by(LANES) {
                let mut sums = [[0.0f32; LANES]; GROUP];
                for (rows, queries) in panel.chunks_exact(PANEL).zip(self.group.chunks_exact(GROUP)) {
                    let rows = &rows[first..][..LANES];
                    for member in 0..GROUP {
                        for lane in 0..LANES {
                            sums[member][lane] = queries[member].mul_add(rows[lane], sums[member][lane]);
                        }
                    }
                }
                for (products, sums) in products.chunks_exact_mut(PANEL).zip(&sums) {
                    products[first..][..LANES].copy_from_slice(sums);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test] // By the plain definition in f64, to the precision of f32.
    fn products_are_those_of_the_moved_and_scaled_rows() {
        let mut stream = Seed(1).stream("rows", &[]);
        let rows = Matrix::new((0..70 * 19).map(|_| stream.normal() + 5.0).collect(), 70, 19);
        let estimate = Estimate::new(&rows).unwrap();
        let group = estimate.pack(&rows, 3..8);
        let mut products = Vec::new();
        let mut seen = 0;
        for tile in estimate.tiles() {
            estimate.products(&group, tile.clone(), &mut products);
            for row in tile.start * PANEL..(tile.end * PANEL).min(70) {
                for member in 0..5 {
                    let moved = |row: usize, column: usize| {
                        (rows.row(row)[column] - estimate.means[column]) * estimate.scale
                    };
                    let expected: f64 =
                        (0..19).map(|column| moved(row, column) * moved(3 + member, column)).sum();
                    let at = (row / PANEL - tile.start) * GROUP * PANEL + member * PANEL + row % PANEL;
                    assert!((f64::from(products[at]) - expected).abs() < 1e-5, "row {row}, member {member}");
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 70 * 5);
    }

    #[test] // The bound must hold, and be close enough to be of use.
    fn the_lower_bound_is_below_the_distance_and_close_to_it() {
        let mut stream = Seed(2).stream("rows", &[]);
        let rows = Matrix::new((0..64 * 100).map(|_| stream.normal()).collect(), 64, 100);
        let estimate = Estimate::new(&rows).unwrap();
        let group = estimate.pack(&rows, 0..1);
        let mut products = Vec::new();
        estimate.products(&group, 0..2, &mut products);
        for row in 1..64 {
            let squared = super::super::squared_distance(rows.row(0), rows.row(row));
            let (panel, offset) = (row / PANEL, row % PANEL);
            let estimated =
                estimate.lower_parts(panel)[offset] - 2.0 * products[panel * GROUP * PANEL + offset];
            assert!(
                estimated <= group.threshold(0, squared),
                "row {row} would be ruled out at its own distance"
            );
            assert!(estimated > group.threshold(0, squared * 0.9999), "row {row} is not ruled out below it");
        }
    }

    #[test]
    fn values_that_cannot_be_scaled_are_not_estimated() {
        assert!(Estimate::new(&Matrix::zeros(3, 2)).is_none());
        assert!(Estimate::new(&Matrix::from_rows(&[[1e300], [-1e300]])).is_none());
        assert!(Estimate::new(&Matrix::from_rows(&[[f64::MAX], [-f64::MAX]])).is_none());
        let estimate = Estimate::new(&Matrix::from_rows(&[[0.0], [1.0]])).unwrap();
        let group = estimate.pack(&Matrix::from_rows(&[[1e300]]), 0..1);
        assert_eq!(group.threshold(0, 1.0), f32::INFINITY);
    }
}
