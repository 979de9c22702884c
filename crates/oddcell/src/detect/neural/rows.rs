//! Rows on their way to a net: 32 bits, padded, and never beyond what 32-bit products can hold.

use rayon::prelude::*;

use super::Scaler;
use crate::{
    Matrix,
    net::gemm::padded,
    tensors::{TensorError, Tensors},
};

/// Scaled values beyond this count as this: products of 32-bit numbers could overflow, and a cell that far out is
/// odd enough.
const FARTHEST: f64 = 1e6;

/// Writes scaled rows of `width` values to the padded lines of a net's input.
pub(in crate::detect) fn fill(lines: &mut [f32], rows: &[f64], scaler: &Scaler) {
    let width = scaler.width();
    for (line, row) in lines.chunks_exact_mut(padded(width)).zip(rows.chunks_exact(width)) {
        for (column, (cell, &value)) in line.iter_mut().zip(row).enumerate() {
            *cell = scaler.apply(column, value).clamp(-FARTHEST, FARTHEST) as f32;
        }
    }
}

/// All training rows as a net takes them.
#[derive(Debug)]
pub(in crate::detect) struct TrainingRows {
    values: Vec<f32>,
    stride: usize,
    width: usize,
}

impl TrainingRows {
    pub(in crate::detect) fn new(rows: &Matrix, scaler: &Scaler) -> Self {
        let stride = padded(rows.n_cols());
        let mut values = vec![0.0; rows.n_rows() * stride];
        fill(&mut values, rows.values(), scaler);
        Self { values, stride, width: rows.n_cols() }
    }

    /// Columns of a row, without padding.
    pub(in crate::detect) fn width(&self) -> usize {
        self.width
    }

    /// One row with its padding.
    pub(in crate::detect) fn row(&self, row: u32) -> &[f32] {
        &self.values[row as usize * self.stride..][..self.stride]
    }

    /// Copies the rows of a batch one after the other.
    pub(in crate::detect) fn gather(&self, batch: &[u32], lines: &mut [f32]) {
        for (line, &row) in lines.chunks_exact_mut(self.stride).zip(batch) {
            line.copy_from_slice(self.row(row));
        }
    }
}

/// Scores rows in blocks of `block_rows`, on whatever threads there are; a row's score must depend on that row
/// alone. `score` gets the buffers that `prepare` made, a block of rows, and its scores.
pub(in crate::detect) fn score_in_blocks<B>(
    rows: &Matrix,
    block_rows: usize,
    prepare: impl Fn() -> B + Send + Sync,
    score: impl Fn(&mut B, &[f64], &mut [f64]) + Send + Sync,
) -> Vec<f64> {
    let mut scores = vec![0.0; rows.n_rows()];
    scores
        .par_chunks_mut(block_rows)
        .zip(rows.values().par_chunks(block_rows * rows.n_cols()))
        .for_each_init(prepare, |buffers, (scores, rows)| {
            score(buffers, rows, scores);
            for score in scores {
                *score = held(*score);
            }
        });
    scores
}

/// What overflowed on its way through a net is as odd as can be. Trained nets do not get there; a file may hold
/// any weights.
fn held(score: f64) -> f64 {
    if score.is_finite() { score } else { f64::MAX }
}

/// The tensor of the number of features, for detectors whose other tensors do not confirm it.
const FEATURES: &str = "features";

/// Adds the number of features.
pub(in crate::detect) fn put_width(tensors: &mut Tensors, width: usize) {
    tensors.put_u32(FEATURES, &[1], vec![width as u32]);
}

/// Takes the number of features.
pub(in crate::detect) fn take_width(tensors: &mut Tensors) -> Result<usize, TensorError> {
    match tensors.take_u32(FEATURES, &[1])?[0] {
        0 => Err(TensorError::Invalid { name: FEATURES.to_owned(), reason: "there are none".to_owned() }),
        width => Ok(width as usize),
    }
}

/// The number of features that the saved tensor `name` speaks of on its first axis.
pub(in crate::detect) fn width_of(tensors: &Tensors, name: &str) -> Result<usize, TensorError> {
    match tensors.shape(name)? {
        &[width, ..] if width > 0 => Ok(width),
        got => {
            let (name, got) = (name.to_owned(), got.to_vec());
            Err(TensorError::WrongShape { name, got, expected: vec![1] })
        }
    }
}
