//! Diverse noise: turns normal rows into rows whose distance from normal is known cell by cell.
//!
//! *Why:* without labeled anomalies, the net learns to answer a question whose answer we know: how much noise
//! sits in each cell of this row?
//!
//! *Formula* (Algorithm 1 of the paper): split [0, σmax] into m equal intervals; a row draws one level
//! uniformly from each; each level is given to d/m of the cells, at random places; a cell's noise e is drawn
//! at its level; a cell keeps its noise with probability r (the noise ratio) and has none otherwise. The
//! noised row is x + e and the target |e|.
//!
//! *Ours:* a share of the noised rows gets **difference noise** instead, e = s·(a − b)/√2 with two random
//! training rows a, b and s ~ U(0, σmax), masked by the same ratio. It has the data's own covariance, so the
//! noised row stays near the places where rows live, and the net must learn what sets those apart.
//!
//! *Invariants:* the noise of row i, copy k, epoch t depends on (seed, t, i, k) alone, so batch size and
//! threads never change a value. Where e = 0, x + e is x to the bit.

#![allow(clippy::must_use_candidate, reason = "hidden: only our own crates call it")]

mod kind;
mod levels;
mod random;

pub use kind::{Form, Kind};
pub use levels::Levels;

use crate::{
    Matrix, Seed,
    seed::subkey,
    simd::{self, Work},
};
use levels::GROUP;
use random::Bits;

/// Cells to a vector of most CPUs.
const LANES: usize = 8;

/// What noise to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Distribution of the noise.
    pub kind: Kind,
    /// Highest level, in standard deviations of a column.
    pub sigma_max: f64,
    /// Number of level intervals, m.
    pub levels: usize,
    /// Noised copies per row and epoch, each with its noise ratio.
    pub ratios: Vec<f64>,
    /// Gamma's scale.
    pub beta: f64,
    /// Gamma and Poisson as the paper prints them, or with the standard deviation it promises.
    pub form: Form,
    /// Share of noised rows that get difference noise instead.
    pub difference: f64,
}

/// Normal rows, row-major with the given stride (padding included, which is zero) and width.
#[derive(Debug, Clone, Copy)]
pub struct PaddedRows<'a> {
    /// The cells.
    pub values: &'a [f32],
    /// Cells from one row to the next.
    pub stride: usize,
    /// Cells of a row that are not padding.
    pub width: usize,
}

impl<'a> PaddedRows<'a> {
    /// One row without its padding.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [f32] {
        &self.values[row * self.stride..][..self.width]
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.stride
    }
}

/// Least and greatest value of every column of a batch; only Salt&Pepper needs them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extremes {
    low: Vec<f32>,
    high: Vec<f32>,
}

impl Extremes {
    /// The extremes of the rows `batch` of `data`.
    pub fn of(&mut self, data: PaddedRows<'_>, batch: &[u32]) {
        self.low.clear();
        self.low.resize(data.width, f32::INFINITY);
        self.high.clear();
        self.high.resize(data.width, f32::NEG_INFINITY);
        for &row in batch {
            for ((low, high), &cell) in self.low.iter_mut().zip(&mut self.high).zip(data.row(row as usize)) {
                *low = low.min(cell);
                *high = high.max(cell);
            }
        }
    }
}

/// Buffers of one worker.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    noise: Vec<f32>,
    bits: Bits,
    /// The levels of a group of rows, cell by cell, and those of one row.
    group_levels: Vec<[f32; GROUP]>,
    levels: Vec<f32>,
}

/// A shard of a batch: which rows, and what they are noised with.
#[derive(Debug, Clone, Copy)]
pub struct Shard<'a> {
    /// The training rows.
    pub data: PaddedRows<'a>,
    /// The rows of this shard, as indices into `data`.
    pub rows: &'a [u32],
    /// The extremes of the whole batch (empty unless the kind needs them).
    pub extremes: &'a Extremes,
    /// The key of this epoch's noise.
    pub epoch_key: u64,
}

impl Noise {
    /// Rows that a shard of `n_rows` becomes: each row clean and once per ratio noised.
    pub fn rows_for(&self, n_rows: usize) -> usize {
        n_rows * (1 + self.ratios.len())
    }

    /// Whether [`Extremes`] of the batch are needed.
    pub fn needs_extremes(&self) -> bool {
        self.kind == Kind::SaltPepper
    }

    /// Fills `inputs` and `targets`, whose rows have the data's stride: first the clean rows with target 0,
    /// then every noised copy of every row. Padding, if it is touched, becomes zero.
    pub fn fill(&self, shard: Shard<'_>, inputs: &mut [f32], targets: &mut [f32], scratch: &mut Scratch) {
        simd::run(Fill { noise: self, shard, inputs, targets, scratch });
    }

    /// The given rows of `train` with the noise of the last copy, which has the highest ratio in all presets:
    /// for people who want to see noised rows.
    pub fn noised(&self, train: &Matrix, rows: &[u32], seed: Seed) -> Matrix {
        let width = train.n_cols();
        let values: Vec<f32> = train.values().iter().map(|&cell| cell as f32).collect();
        let data = PaddedRows { values: &values, stride: width, width };
        let mut extremes = Extremes::default();
        extremes.of(data, rows);
        let shard = Shard { data, rows, extremes: &extremes, epoch_key: seed.key("noised", &[]) };
        let n_filled = self.rows_for(rows.len());
        let (mut inputs, mut targets) = (vec![0.0; n_filled * width], vec![0.0; n_filled * width]);
        self.fill(shard, &mut inputs, &mut targets, &mut Scratch::default());
        let last = &inputs[(n_filled - rows.len()) * width..];
        Matrix::new(last.iter().map(|&cell| f64::from(cell)).collect(), rows.len(), width)
    }
}

struct Fill<'a> {
    noise: &'a Noise,
    shard: Shard<'a>,
    inputs: &'a mut [f32],
    targets: &'a mut [f32],
    scratch: &'a mut Scratch,
}

impl Work for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        let Self { noise, shard, inputs, targets, scratch } = self;
        let data @ PaddedRows { stride, width, .. } = shard.data;
        scratch.noise.resize(width.next_multiple_of(random::CHUNK), 0.0);
        // Whole vectors as far as there is padding, because their ends would be done cell by cell.
        let n_cells = width.next_multiple_of(LANES).min(stride);
        let mut lines = inputs.chunks_exact_mut(stride).zip(targets.chunks_exact_mut(stride));
        for (&row, (input, target)) in shard.rows.iter().zip(lines.by_ref()) {
            input[..width].copy_from_slice(data.row(row as usize));
            target[..width].fill(0.0);
        }
        for (copy, &ratio) in noise.ratios.iter().enumerate() {
            for group in shard.rows.chunks(GROUP) {
                let mut keys = [0; GROUP];
                for (key, &row) in keys.iter_mut().zip(group) {
                    *key = subkey(subkey(shard.epoch_key, u64::from(row)), copy as u64);
                }
                noise.draw_levels(&keys, width, scratch);
                for (place, (&row, (input, target))) in group.iter().zip(lines.by_ref()).enumerate() {
                    noise.draw(keys[place], data.row(row as usize), &shard, place, scratch);
                    scratch.noise[width..].fill(0.0);
                    let clean = &data.values[row as usize * stride..][..n_cells];
                    let (input, target) = (&mut input[..n_cells], &mut target[..n_cells]);
                    if ratio < 1.0 {
                        let draws = scratch.bits.draw(subkey(keys[place], streams::MASK), n_cells);
                        add_some(clean, &scratch.noise, (draws, ratio), input, target);
                    } else {
                        add(clean, &scratch.noise, input, target);
                    }
                }
            }
        }
    }
}

/// `input = clean + noise` and `target = |noise|`.
#[inline(always)]
fn add(clean: &[f32], noise: &[f32], input: &mut [f32], target: &mut [f32]) {
    for ((input, target), (&clean, &e)) in input.iter_mut().zip(target).zip(clean.iter().zip(noise)) {
        *input = clean + e;
        *target = e.abs();
    }
}

/// As [`add`], but each cell keeps its noise with probability `ratio` below 1. (Not in two steps: zeroing the
/// other cells in place would take masked stores, which are slow.)
#[inline(always)]
fn add_some(
    clean: &[f32],
    noise: &[f32],
    (draws, ratio): (&[u32], f64),
    input: &mut [f32],
    target: &mut [f32],
) {
    let below = (ratio * 4_294_967_296.0) as u32;
    let noise = noise.iter().zip(draws);
    for ((input, target), (&clean, (&e, &draw))) in input.iter_mut().zip(target).zip(clean.iter().zip(noise))
    {
        let e = if draw < below { e } else { 0.0 };
        *input = clean + e;
        *target = e.abs();
    }
}

/// The streams below a noised row's key.
mod streams {
    pub(super) const PARTNERS: u64 = 0;
    pub(super) const LEVELS: u64 = 1;
    pub(super) const CELLS: u64 = 2;
    pub(super) const MASK: u64 = 3;
}

impl Noise {
    /// Draws the levels of a group of rows, for noise that has levels.
    #[inline(always)]
    fn draw_levels(&self, keys: &[u64; GROUP], width: usize, scratch: &mut Scratch) {
        if self.kind.has_levels() {
            // No `map`, whose closure may stay a function of its own, see [`Work::run`].
            let mut level_keys = [0; GROUP];
            for (level_key, &key) in level_keys.iter_mut().zip(keys) {
                *level_key = subkey(key, streams::LEVELS);
            }
            let levels = Levels { sigma_max: self.sigma_max as f32, count: self.levels };
            levels.assign(&level_keys, width, &mut scratch.bits, &mut scratch.group_levels);
        }
    }

    /// Draws the noise of the row at `place` in its group into `scratch.noise`, before the ratio's mask.
    #[inline(always)]
    fn draw(&self, key: u64, clean: &[f32], shard: &Shard<'_>, place: usize, scratch: &mut Scratch) {
        if self.difference > 0.0 && self.draw_difference(subkey(key, streams::PARTNERS), shard, scratch) {
            return;
        }
        let Scratch { noise, bits, group_levels, levels } = scratch;
        let cells_key = subkey(key, streams::CELLS);
        if self.kind.has_levels() {
            levels.resize(noise.len(), 0.0);
            for (level, of_group) in levels.iter_mut().zip(group_levels) {
                *level = of_group[place];
            }
            self.fill_at_levels(cells_key, levels, bits, noise);
        } else {
            self.fill_by_altering(cells_key, clean, shard.extremes, noise);
        }
    }

    /// Difference noise, if this row's turn comes up.
    #[inline(always)]
    fn draw_difference(&self, key: u64, shard: &Shard<'_>, scratch: &mut Scratch) -> bool {
        let draw = |index: u64| crate::seed::mix(key.wrapping_add(index.wrapping_mul(crate::seed::GOLDEN)));
        if random::unit(draw(1)) >= self.difference as f32 {
            return false;
        }
        let n_rows = shard.data.n_rows();
        let pick = |index: u64| ((u128::from(draw(index)) * n_rows as u128) >> 64) as usize;
        let (a, b) = (shard.data.row(pick(2)), shard.data.row(pick(3)));
        let scale = random::unit(draw(4)) * self.sigma_max as f32 * std::f32::consts::FRAC_1_SQRT_2;
        for (e, (a, b)) in scratch.noise.iter_mut().zip(a.iter().zip(b)) {
            *e = scale * (a - b);
        }
        true
    }
}

#[cfg(test)]
mod tests;
