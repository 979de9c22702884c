//! The three matrix products of a linear layer, for thin `f32` matrices.
//!
//! ```text
//! forward          Y[r, n] = X[r, k] · W[k, n]      `rows_times_panels` on W
//! back to inputs   X'[r, k] = Y'[r, n] · Wᵀ[n, k]   `rows_times_panels` on Wᵀ
//! weight gradient  W'[k, n] += Xᵀ[k, r] · Y'[r, n]  `add_outer_products`
//! ```
//!
//! *Why our own:* at the shapes of this library (widths 5 to 500, a few hundred rows) packing and blocking
//! for large matrices is what a general GEMM spends its time on, and none promises what we need: **every
//! output element is one chain of fused multiply-adds in the order of the summed index**, so a row's result
//! depends on that row alone and is the same on every CPU.
//!
//! *Layout:* widths are padded to a multiple of [`LANES`] ([`padded`]); padding is zero and stays zero. The
//! right-hand matrix is packed into panels of `PANEL` columns (the last may be [`LANES`] wide), so that the
//! inner loop reads memory front to back.

use crate::simd::{self, Work};

/// Widths are padded to a multiple of this.
pub const LANES: usize = 8;
/// Columns of a panel.
const PANEL: usize = 16;
/// Rows that the weight gradient takes at a time, so that its packed operands stay in the first-level cache.
const OUTER_ROWS: usize = 48;

/// `width` rounded up to a multiple of [`LANES`].
pub const fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// A matrix of `n_rows` (the summed index) × `padded(n_cols)`, packed into panels.
#[derive(Debug, Clone)]
pub struct Panels {
    values: Vec<f32>,
    n_rows: usize,
    width: usize,
}

impl Panels {
    /// Room for a matrix, all zeros.
    pub fn zeros(n_rows: usize, n_cols: usize) -> Self {
        let width = padded(n_cols);
        Self { values: vec![0.0; n_rows * width], n_rows, width }
    }

    /// Makes room for another matrix; all values become zero.
    pub(crate) fn resize(&mut self, n_rows: usize, n_cols: usize) {
        (self.n_rows, self.width) = (n_rows, padded(n_cols));
        self.values.clear();
        self.values.resize(n_rows * self.width, 0.0);
    }

    /// Packs the row-major `n_rows × stride` matrix `source`; takes its first `width` columns.
    pub fn pack(&mut self, source: &[f32], stride: usize) {
        let (n_rows, width) = (self.n_rows, self.width);
        for column in panel_starts(width) {
            let columns = PANEL.min(width - column);
            let panel = &mut self.values[column * n_rows..][..columns * n_rows];
            for (row, packed) in panel.chunks_exact_mut(columns).enumerate() {
                packed.copy_from_slice(&source[row * stride + column..][..columns]);
            }
        }
    }

    /// Packs the transpose of the row-major matrix `source` (`n_cols × stride`, first `n_rows` columns
    /// taken).
    pub fn pack_transposed(&mut self, source: &[f32], n_cols: usize, stride: usize) {
        let (n_rows, width) = (self.n_rows, self.width);
        for column in panel_starts(width) {
            let columns = PANEL.min(width - column);
            let panel = &mut self.values[column * n_rows..][..columns * n_rows];
            for lane in 0..columns.min(n_cols.saturating_sub(column)) {
                let line = &source[(column + lane) * stride..][..n_rows];
                for (packed, &value) in panel[lane..].iter_mut().step_by(columns).zip(line) {
                    *packed = value;
                }
            }
        }
    }
}

/// First columns of the panels of a padded width; a panel goes on for [`PANEL`] columns or to the end.
#[inline(always)]
fn panel_starts(width: usize) -> std::iter::StepBy<std::ops::Range<usize>> {
    (0..width).step_by(PANEL)
}

/// Where the sums of a tile start from, and what becomes of them.
pub trait Edge {
    /// The values the sums of `row` start from, at `column` and the columns after it.
    fn start<const N: usize>(&self, row: usize, column: usize) -> [f32; N];
    /// Takes the finished sums of `row`.
    fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]);
}

/// `finish(row, start(row) + X[row, ..] · panels)` for every row of the row-major `x` (`n_rows × stride`,
/// `stride` a multiple of [`LANES`]); only its first `panels.n_rows` columns take part.
pub fn rows_times_panels<E: Edge>(x: &[f32], n_rows: usize, stride: usize, panels: &Panels, edge: E) {
    simd::run(RowsTimesPanels { x, n_rows, stride, panels, edge });
}

struct RowsTimesPanels<'a, E> {
    x: &'a [f32],
    n_rows: usize,
    stride: usize,
    panels: &'a Panels,
    edge: E,
}

impl<E: Edge> Work for RowsTimesPanels<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(mut self) {
        let depth = self.panels.n_rows;
        for column in panel_starts(self.panels.width) {
            let columns = PANEL.min(self.panels.width - column);
            let panel = &self.panels.values[column * depth..][..columns * depth];
            if columns == PANEL {
                self.panel::<ROWS, PANEL>(panel, column);
            } else {
                self.panel::<ROWS, LANES>(panel, column);
            }
        }
    }
}

impl<E: Edge> RowsTimesPanels<'_, E> {
    #[inline(always)]
    fn panel<const ROWS: usize, const N: usize>(&mut self, panel: &[f32], column: usize) {
        let mut row = 0;
        while row + ROWS <= self.n_rows {
            self.tile::<ROWS, N>(panel, row, column);
            row += ROWS;
        }
        while row + 4 <= self.n_rows {
            self.tile::<4, N>(panel, row, column);
            row += 4;
        }
        while row < self.n_rows {
            self.tile::<1, N>(panel, row, column);
            row += 1;
        }
    }

    #[inline(always)]
    fn tile<const ROWS: usize, const N: usize>(&mut self, panel: &[f32], row: usize, column: usize) {
        let mut sums = [[0.0f32; N]; ROWS];
        for i in 0..ROWS {
            sums[i] = self.edge.start::<N>(row + i, column);
        }
        let (weights, _) = panel.as_chunks::<N>();
        let first = row * self.stride;
        let rows = &self.x[first..first + (ROWS - 1) * self.stride + weights.len()];
        let sums = multiply_add(rows, self.stride, weights, sums);
        for i in 0..ROWS {
            self.edge.finish::<N>(row + i, column, sums[i]);
        }
    }
}

/// `sums[i, j] + Σ_p rows[i·stride + p] · weights[p, j]`, with all sums in registers.
#[inline(always)]
#[expect(unsafe_code, reason = "a bounds check per value keeps the sums out of registers: 20 times slower")]
fn multiply_add<const ROWS: usize, const N: usize>(
    rows: &[f32],
    stride: usize,
    weights: &[[f32; N]],
    mut sums: [[f32; N]; ROWS],
) -> [[f32; N]; ROWS] {
    assert!(rows.len() >= (ROWS - 1) * stride + weights.len(), "{ROWS} rows of {} values", weights.len());
    for (p, weights) in weights.iter().enumerate() {
        for i in 0..ROWS {
            // SAFETY: i ≤ ROWS − 1 and p < weights.len(), so the index is below what the assertion above
            // found `rows` to hold.
            let value = unsafe { *rows.get_unchecked(i * stride + p) };
            for j in 0..N {
                sums[i][j] = value.mul_add(weights[j], sums[i][j]);
            }
        }
    }
    sums
}

/// Packed operands of [`add_outer_products`], allocated once per worker.
#[derive(Debug, Clone, Default)]
pub struct OuterScratch {
    left: Vec<f32>,
    right: Vec<f32>,
}

/// `gradient[k, n] += Σ_rows x[row, k] · y[row, n]`, for `x` of `n_rows × x_stride` (first `depth` columns)
/// and `y` of `n_rows × width`; `gradient` is row-major `depth × width`.
pub fn add_outer_products(
    x: &[f32],
    x_stride: usize,
    depth: usize,
    y: &[f32],
    width: usize,
    gradient: &mut [f32],
    scratch: &mut OuterScratch,
) {
    simd::run(OuterProducts { x, x_stride, depth, y, width, gradient, scratch });
}

struct OuterProducts<'a> {
    x: &'a [f32],
    x_stride: usize,
    depth: usize,
    y: &'a [f32],
    width: usize,
    gradient: &'a mut [f32],
    scratch: &'a mut OuterScratch,
}

/// The tallest tile. A taller one the compiler does not unroll: with AVX-512 it goes down its columns instead
/// of along its lines, gathers and scatters sums that should stay in registers, and training takes 16 times
/// as long (measured on Zen 4 with 12).
const OUTER_TILE: usize = 6;

/// Rows up to this wide are read where they lie; of wider ones, the columns of a tile are packed first.
const PACK_ABOVE: usize = 96;

impl Work for OuterProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        if ROWS > OUTER_TILE { self.by_tiles::<OUTER_TILE>() } else { self.by_tiles::<ROWS>() }
    }
}

impl OuterProducts<'_> {
    #[inline(always)]
    fn by_tiles<const ROWS: usize>(self) {
        let Self { x, x_stride, depth, y, width, gradient, scratch } = self;
        let OuterScratch { left, right } = scratch;
        let packs = x_stride > PACK_ABOVE || width > PACK_ABOVE;
        if packs {
            left.resize(depth.next_multiple_of(ROWS) * OUTER_ROWS, 0.0);
            right.resize(PANEL * OUTER_ROWS, 0.0);
        }
        let n_tall = tall_tiles::<ROWS>(x_stride);
        for (x, y) in x.chunks(x_stride * OUTER_ROWS).zip(y.chunks(width * OUTER_ROWS)) {
            let n_rows = y.len() / width;
            if packs {
                pack_columns::<ROWS>(x, x_stride, depth, n_rows, left);
            }
            for column in panel_starts(width) {
                let mut target = Target { gradient: &mut *gradient, depth, width, column };
                let columns = PANEL.min(width - column);
                let right = if packs && columns == PANEL {
                    pack_panel(y, width, column, right);
                    Strided { values: &*right, stride: PANEL }
                } else {
                    Strided { values: &y[column..], stride: width }
                };
                if packs {
                    for first in (0..depth).step_by(ROWS) {
                        let left = Strided { values: &left[first * n_rows..], stride: ROWS };
                        target.add::<ROWS>(left, right, n_rows, first, columns);
                    }
                    continue;
                }
                for first in (0..depth.min(n_tall * ROWS)).step_by(ROWS) {
                    let left = Strided { values: &x[first..], stride: x_stride };
                    target.add::<ROWS>(left, right, n_rows, first, columns);
                }
                for first in (n_tall * ROWS..depth).step_by(SHORT) {
                    let left = Strided { values: &x[first..], stride: x_stride };
                    target.add::<SHORT>(left, right, n_rows, first, columns);
                }
            }
        }
    }
}

/// Lines of the tiles that fill up what tall ones leave over.
const SHORT: usize = 4;

/// The most tiles of `ROWS` lines such that tiles of [`SHORT`] lines fill up the rest of a padded width
/// exactly: then every tile can be read in place.
#[inline(always)]
fn tall_tiles<const ROWS: usize>(width: usize) -> usize {
    let mut count = width / ROWS;
    while !(width - count * ROWS).is_multiple_of(SHORT) {
        count -= 1;
    }
    count
}

/// Rows that start every `stride` values.
#[derive(Clone, Copy)]
struct Strided<'a> {
    values: &'a [f32],
    stride: usize,
}

/// Copies a panel of `y`, row after row.
#[inline(always)]
fn pack_panel(y: &[f32], width: usize, column: usize, packed: &mut [f32]) {
    for (packed, line) in packed.as_chunks_mut::<PANEL>().0.iter_mut().zip(y.chunks_exact(width)) {
        packed.copy_from_slice(&line[column..][..PANEL]);
    }
}

/// Packs the columns of `x` in blocks of `ROWS`: within a block, row after row.
#[inline(always)]
fn pack_columns<const ROWS: usize>(
    x: &[f32],
    stride: usize,
    depth: usize,
    n_rows: usize,
    packed: &mut [f32],
) {
    for (block, packed) in packed.chunks_exact_mut(ROWS * n_rows).take(depth.div_ceil(ROWS)).enumerate() {
        let first = block * ROWS;
        let columns = ROWS.min(depth - first);
        for (packed, line) in packed.as_chunks_mut::<ROWS>().0.iter_mut().zip(x.chunks(stride)) {
            if columns == ROWS {
                packed.copy_from_slice(&line[first..][..ROWS]);
            } else {
                packed[..columns].copy_from_slice(&line[first..][..columns]);
                packed[columns..].fill(0.0);
            }
        }
    }
}

/// A panel of the gradient.
struct Target<'a> {
    gradient: &'a mut [f32],
    depth: usize,
    width: usize,
    column: usize,
}

impl Target<'_> {
    /// Adds `Σ_row left[row, i] · right[row, j]` to the lines from `first` on, `ROWS` of them or as many as
    /// there are.
    #[inline(always)]
    fn add<const ROWS: usize>(
        &mut self,
        left: Strided<'_>,
        right: Strided<'_>,
        n_rows: usize,
        first: usize,
        columns: usize,
    ) {
        if columns == PANEL {
            self.add_tile::<ROWS, PANEL>(left, right, n_rows, first);
        } else {
            self.add_tile::<ROWS, LANES>(left, right, n_rows, first);
        }
    }

    #[inline(always)]
    fn add_tile<const ROWS: usize, const N: usize>(
        &mut self,
        left: Strided<'_>,
        right: Strided<'_>,
        n_rows: usize,
        first: usize,
    ) {
        let sums = outer_sums::<ROWS, N>(left, right, n_rows);
        let lines = ROWS.min(self.depth - first);
        let target = &mut self.gradient[first * self.width..][..lines * self.width];
        if lines == ROWS {
            for i in 0..ROWS {
                add_to(&mut target[i * self.width + self.column..][..N], &sums[i]);
            }
        } else {
            // A copy, because sums that are looked up by a number unknown at compile time cannot stay in
            // registers.
            let sums = std::hint::black_box(sums);
            for (line, sums) in target.chunks_exact_mut(self.width).zip(&sums) {
                add_to(&mut line[self.column..][..N], sums);
            }
        }
    }
}

#[inline(always)]
#[expect(unsafe_code, reason = "as in `multiply_add`")]
fn outer_sums<const ROWS: usize, const N: usize>(
    left: Strided<'_>,
    right: Strided<'_>,
    n_rows: usize,
) -> [[f32; N]; ROWS] {
    assert!(n_rows > 0 && left.values.len() >= (n_rows - 1) * left.stride + ROWS, "{n_rows} rows of {ROWS}");
    assert!(right.values.len() >= (n_rows - 1) * right.stride + N, "{n_rows} rows of {N}");
    let mut sums = [[0.0f32; N]; ROWS];
    for row in 0..n_rows {
        for i in 0..ROWS {
            for j in 0..N {
                // SAFETY: row < n_rows, i < ROWS and j < N, so both places are below what the assertions
                // above found the values to hold.
                let (a, b) = unsafe {
                    (
                        *left.values.get_unchecked(row * left.stride + i),
                        *right.values.get_unchecked(row * right.stride + j),
                    )
                };
                sums[i][j] = a.mul_add(b, sums[i][j]);
            }
        }
    }
    sums
}

#[inline(always)]
fn add_to<const N: usize>(target: &mut [f32], sums: &[f32; N]) {
    for (value, sum) in target.iter_mut().zip(sums) {
        *value += sum;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Seed, simd::on_every_path};

    struct Store<'a>(&'a mut [f32], usize);

    impl Edge for Store<'_> {
        fn start<const N: usize>(&self, _: usize, _: usize) -> [f32; N] {
            [0.0; N]
        }
        fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]) {
            self.0[row * self.1 + column..][..N].copy_from_slice(&sums);
        }
    }

    /// Row-major `rows × padded(cols)` with random cells and zero padding.
    fn random(rows: usize, cols: usize, stream: u64) -> Vec<f32> {
        let mut stream = Seed(1).stream("gemm", &[stream]);
        let mut values = vec![0.0; rows * padded(cols)];
        for line in values.chunks_exact_mut(padded(cols)) {
            line[..cols].fill_with(|| stream.normal() as f32);
        }
        values
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    // Fewer rows than a tile, tiles and a rest, panels and a half one, operands that are packed (width > 96).
    #[test]
    fn every_vector_path_gives_the_same_bits() {
        for (n_rows, depth, width) in [(1, 1, 1), (3, 5, 8), (37, 13, 29), (70, 61, 24), (131, 23, 101)] {
            let (x, w) = (random(n_rows, depth, 7), random(depth, width, 8));
            let (mut panels, mut transposed) = (Panels::zeros(depth, width), Panels::zeros(width, depth));
            panels.pack(&w, padded(width));
            transposed.pack_transposed(&w, depth, padded(width));
            on_every_path(|| {
                let mut y = vec![0.0; n_rows * padded(width)];
                rows_times_panels(&x, n_rows, padded(depth), &panels, Store(&mut y, padded(width)));
                let mut back = vec![0.0; n_rows * padded(depth)];
                rows_times_panels(&y, n_rows, padded(width), &transposed, Store(&mut back, padded(depth)));
                let mut gradient = vec![1.0; depth * padded(width)];
                let mut scratch = OuterScratch::default();
                add_outer_products(&x, padded(depth), depth, &y, padded(width), &mut gradient, &mut scratch);
                [bits(&y), bits(&back), bits(&gradient)]
            });
        }
    }

    proptest! {
        #[test] // The kernel against the plain loop: the same chain of multiply-adds, so the same bits.
        fn rows_times_panels_equals_the_plain_loop_to_the_bit(
            n_rows in 1usize..40, depth in 1usize..70, width in 1usize..70,
        ) {
            let (x, w) = (random(n_rows, depth, 1), random(depth, width, 2));
            let mut panels = Panels::zeros(depth, width);
            panels.pack(&w, padded(width));
            let mut y = vec![0.0; n_rows * padded(width)];
            rows_times_panels(&x, n_rows, padded(depth), &panels, Store(&mut y, padded(width)));
            for row in 0..n_rows {
                for column in 0..padded(width) {
                    let expected = (0..depth).fold(0.0f32, |sum, p| {
                        x[row * padded(depth) + p].mul_add(w[p * padded(width) + column], sum)
                    });
                    prop_assert_eq!(y[row * padded(width) + column], expected);
                }
            }
        }

        #[test]
        fn transposed_panels_give_the_product_with_the_transpose(
            n_rows in 1usize..20, depth in 1usize..40, width in 1usize..40,
        ) {
            // w is width × depth; its transpose is depth × width.
            let (x, w) = (random(n_rows, depth, 3), random(width, depth, 4));
            let mut panels = Panels::zeros(depth, width);
            panels.pack_transposed(&w, width, padded(depth));
            let mut y = vec![0.0; n_rows * padded(width)];
            rows_times_panels(&x, n_rows, padded(depth), &panels, Store(&mut y, padded(width)));
            for row in 0..n_rows {
                for column in 0..width {
                    let expected = (0..depth).fold(0.0f32, |sum, p| {
                        x[row * padded(depth) + p].mul_add(w[column * padded(depth) + p], sum)
                    });
                    prop_assert_eq!(y[row * padded(width) + column], expected);
                }
            }
        }

        // Summed in blocks, so equal up to rounding: 1e-4 of sums of at most 200 standard normal products.
        #[test]
        fn outer_products_equal_the_plain_loop(
            n_rows in 1usize..200, depth in 1usize..40, width in 1usize..40,
        ) {
            let (x, y) = (random(n_rows, depth, 5), random(n_rows, width, 6));
            let mut gradient = vec![1.0; depth * padded(width)];
            let mut scratch = OuterScratch::default();
            add_outer_products(&x, padded(depth), depth, &y, padded(width), &mut gradient, &mut scratch);
            for k in 0..depth {
                for n in 0..width {
                    let sum: f64 = (0..n_rows)
                        .map(|r| f64::from(x[r * padded(depth) + k]) * f64::from(y[r * padded(width) + n]))
                        .sum();
                    prop_assert!((f64::from(gradient[k * padded(width) + n]) - 1.0 - sum).abs() < 1e-4);
                }
            }
        }
    }
}
