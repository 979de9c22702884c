//! Noise evaluation: the detector this library is built around.
//!
//! *Method* (AAAI 2025): noise of known strength is added to normal rows, and a small net h is trained to say
//! how much noise sits in each cell: h(x) → 0 for a clean row, h(x + e) → |e| for a noised one. For a new
//! row, h(x) gives both the score, g(h(x)), and the reasons, cell by cell.
//!
//! *Ours:* the distances to the nearest normal rows, in two spaces (`nearest.rs`), join the net. Each of the
//! three gives a row a norm, and the cells their shares of its square. The score is the geometric mean of the
//! norms, so that none needs a scale; a cell is the score times the root of its mean share. So the Euclidean
//! norm of the cells is the score (less, if one of the three finds nothing in any cell): the reasons explain
//! the score that is shown. With `keep_rows` 0 the net decides alone, as in the paper.
//!
//! If some training rows are odd themselves, the net learns to call them normal. So it can learn twice
//! (`trust`): from all rows, then anew from the share of them that was least odd. The rows to compare with
//! remain all rows: there an odd row vouches only for rows like itself.
//!
//! *Cost:* one training step takes about 6·(2dh + 2h²) floating point operations per row (MLP); scoring takes
//! a third of that, and 4d for every row kept.

#![allow(clippy::must_use_candidate, reason = "hidden: only our own crates call it")]

mod nearest;
mod params;
mod ranks;
mod train;

use std::sync::Arc;

use rayon::prelude::*;

use nearest::{Evidence, Nearest};
pub use params::{Loss, NetKind, NoiseParams};

use super::{BlockDetector, Fitted, Judged, Params, RowBlocks, check_rows, check_shape, held, neural, saved};
use crate::{
    Context, Matrix,
    aggregate::Aggregation,
    error::{FitError, ScoreError},
    net::{Net, Packed, Pass, Weights, gemm::padded},
    progress::Parts,
    tensors::Tensors,
};

/// Rows that go through the net together when scoring. Any number gives the same bits; this one keeps a
/// block's activations in the second-level cache.
const SCORE_ROWS: usize = 256;
/// The tensor of the rows kept to compare with.
const KEPT: &str = "nearest.rows";
/// What every cell adds to a norm before norms are multiplied, in standard deviations: a row that one of them
/// finds nothing odd about can still be odd.
const FLOOR: f64 = 0.03;

impl BlockDetector for NoiseParams {
    fn rows_needed(&self, n_rows: usize) -> usize {
        let NoiseParams { train_for, batch_size, keep_rows, .. } = *self;
        let steps = train_for.steps(n_rows.div_ceil(batch_size));
        steps.saturating_mul(batch_size).max(keep_rows).min(n_rows)
    }

    fn fit_blocks(&self, rows: &dyn RowBlocks, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let n_rows = (0..rows.n_blocks()).map(|block| rows.block_rows(block)).sum();
        check_shape::<NoiseParams>([n_rows, rows.n_cols()])?;
        let nearest = self.nearest(rows, context)?;
        Ok(Box::new(self.learn(rows, nearest.as_ref(), context)?))
    }
}

impl NoiseParams {
    /// Learns from rows in memory: once, or twice if not all rows are trusted.
    fn learn_all(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        if self.trust == 1.0 {
            return self.fit_blocks(rows, context);
        }
        let nearest = self.nearest(rows, context)?;
        let parts = Parts::new(context.monitor, 2);
        let first = parts.run(0, *context, |context| self.learn(rows, nearest.as_ref(), context))?;
        let scores = first.judge_checked(rows, false).scores;
        let trusted = rows.take(&least_odd(&scores, self.trust));
        Ok(Box::new(parts.run(1, *context, |context| self.learn(&trusted, nearest.as_ref(), context))?))
    }

    /// The rows to compare with, if any are kept.
    fn nearest(&self, rows: &dyn RowBlocks, context: &Context<'_>) -> Result<Option<Arc<Nearest>>, FitError> {
        let NoiseParams { keep_rows, n_neighbors, .. } = *self;
        match keep_rows {
            0 => Ok(None),
            most => Ok(Some(Arc::new(Nearest::learn(rows, most, n_neighbors.unwrap_or(1), context.seed)?))),
        }
    }

    /// Trains a net.
    fn learn(
        &self,
        rows: &dyn RowBlocks,
        nearest: Option<&Arc<Nearest>>,
        context: &Context<'_>,
    ) -> Result<NoiseFitted, FitError> {
        let net = self.net(rows.n_cols());
        let aggregate = &self.aggregate;
        let fitted = |weights| NoiseFitted::new(net.clone(), weights, aggregate.clone(), nearest.cloned());
        train::train(self, &net, rows, context, &fitted).map(fitted)
    }
}

/// This share of the rows, but `LEAST_ROWS` at least: those with the lowest scores, in row order.
fn least_odd(scores: &[f64], share: f64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    rows.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    rows.truncate(((share * scores.len() as f64) as usize).max(NoiseParams::LEAST_ROWS));
    rows.sort_unstable();
    rows
}

/// A trained net, how its answers become a score, and the rows to compare with.
#[derive(Debug, Clone)]
pub struct NoiseFitted {
    net: Net,
    weights: Weights,
    packed: Packed,
    aggregate: Aggregation,
    nearest: Option<Arc<Nearest>>,
}

impl NoiseFitted {
    fn new(net: Net, weights: Weights, aggregate: Aggregation, nearest: Option<Arc<Nearest>>) -> Self {
        let packed = Packed::for_scoring(&net, &weights);
        Self { net, weights, packed, aggregate, nearest }
    }

    /// Sends a block of rows through the net.
    fn forward(&self, rows: &[f64], pass: &mut Pass) {
        let width = self.net.n_inputs();
        neural::fill(pass.input_mut(), rows, width, None);
        pass.forward(&self.net, &self.packed, rows.len() / width);
    }
}

impl Fitted for NoiseFitted {
    fn n_features(&self) -> usize {
        self.net.n_inputs()
    }

    fn judge_checked(&self, rows: &Matrix, want_cells: bool) -> Judged {
        let mut judged = self.judge_alone(rows, want_cells);
        if let Some(nearest) = &self.nearest {
            join(&mut judged, &nearest.compare(rows, want_cells), self.n_features() as f64);
        }
        judged
    }

    fn embed(&self, rows: &Matrix) -> Result<Option<Matrix>, ScoreError> {
        check_rows(rows, self.n_features())?;
        let units = self.net.n_hidden();
        let mut pass = Pass::for_scoring(&self.net, SCORE_ROWS);
        let mut values = Vec::with_capacity(rows.n_rows() * units);
        for block in rows.values().chunks(SCORE_ROWS * self.n_features()) {
            self.forward(block, &mut pass);
            let lines = pass.penultimate().chunks_exact(padded(units)).take(block.len() / self.n_features());
            values.extend(
                lines.flat_map(|line| &line[..units]).map(|&value| f64::from(held::net_output(value))),
            );
        }
        Ok(Some(Matrix::new(values, rows.n_rows(), units)))
    }

    fn save_to(&self, tensors: &mut Tensors) {
        self.net.save(&self.weights, tensors);
        if let Some(nearest) = &self.nearest {
            saved::put_table(tensors, KEPT, nearest.kept());
        }
    }
}

impl NoiseFitted {
    /// What the net says.
    fn judge_alone(&self, rows: &Matrix, want_cells: bool) -> Judged {
        let width = self.n_features();
        let judge_block = |(pass, said, scratch): &mut (Pass, Vec<f32>, Vec<f32>), rows: &[f64]| {
            self.forward(rows, pass);
            let (mut scores, mut cells) = (Vec::new(), Vec::new());
            for line in pass.output().chunks_exact(padded(width)).take(rows.len() / width) {
                said.clear();
                said.extend(line[..width].iter().copied().map(held::net_output));
                scores.push(self.aggregate.score(said, scratch));
                if want_cells {
                    cells.extend(said.iter().map(|&said| f64::from(said.max(0.0))));
                }
            }
            (scores, cells)
        };
        let prepare = || (Pass::for_scoring(&self.net, SCORE_ROWS), Vec::new(), Vec::new());
        let blocks = rows.values().par_chunks(SCORE_ROWS * width).map_init(prepare, judge_block);
        let (scores, cells): (Vec<Vec<f64>>, Vec<Vec<f64>>) = blocks.unzip();
        let cells = want_cells.then(|| Matrix::new(cells.concat(), rows.n_rows(), width));
        Judged { scores: scores.concat(), cells }
    }
}

/// Joins what the net said with the other two.
fn join(judged: &mut Judged, others: &[Evidence; 2], width: f64) {
    let n_rows = judged.scores.len();
    if let Some(cells) = &mut judged.cells {
        for row in 0..n_rows {
            let cells = cells.row_mut(row);
            for cell in &mut *cells {
                *cell *= *cell;
            }
            to_shares(cells);
            for other in others {
                let mut shares = other.squares.as_ref().expect("cells are wanted of all").row(row).to_vec();
                to_shares(&mut shares);
                cells.iter_mut().zip(shares).for_each(|(cell, share)| *cell += share);
            }
        }
    }
    for (row, score) in judged.scores.iter_mut().enumerate() {
        let lifted = |norm: f64| (norm * norm + width * FLOOR * FLOOR).sqrt();
        *score =
            libm::cbrt(lifted(score.max(0.0)) * lifted(others[0].norms[row]) * lifted(others[1].norms[row]));
        if let Some(cells) = &mut judged.cells {
            cells.row_mut(row).iter_mut().for_each(|cell| *cell = *score * (*cell / 3.0).sqrt());
        }
    }
}

/// Makes the sum 1, unless nothing is there.
fn to_shares(squares: &mut [f64]) {
    let sum: f64 = squares.iter().sum();
    if sum > 0.0 {
        for square in squares {
            *square /= sum;
        }
    }
}

#[cfg(test)]
mod tests;
