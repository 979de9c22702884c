//! How rows reach a net: as 32-bit numbers, padded, and never beyond what 32-bit products can hold.

use rayon::prelude::*;

use super::Scaler;
use crate::{
    Matrix,
    detect::{Judged, held},
    net::{
        gemm::padded,
        stack::{Stack, Tape},
    },
    tensors::{TensorError, Tensors},
};

/// Rows that are scored together by most nets; any number gives the same bits.
pub(in crate::detect) const SCORE_ROWS: usize = 256;

/// Writes rows of `width` values to the padded lines of a net's input, scaled if there is a scaler.
pub(in crate::detect) fn fill(lines: &mut [f32], rows: &[f64], width: usize, scaler: Option<&Scaler>) {
    for (line, row) in lines.chunks_exact_mut(padded(width)).zip(rows.chunks_exact(width)) {
        for (column, (cell, &value)) in line.iter_mut().zip(row).enumerate() {
            *cell = held::net_input(scaler.map_or(value, |scaler| scaler.apply(column, value)));
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
    /// The rows, scaled if there is a scaler.
    pub(in crate::detect) fn new(rows: &Matrix, scaler: Option<&Scaler>) -> Self {
        let (stride, width) = (padded(rows.n_cols()), rows.n_cols());
        let mut values = vec![0.0; rows.n_rows() * stride];
        fill(&mut values, rows.values(), width, scaler);
        Self { values, stride, width }
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

/// Scores rows in blocks of `block_rows` on all threads; a row's score must depend on that row alone. `score`
/// gets the buffers that `prepare` made, a block of rows, and its scores.
pub(in crate::detect) fn judge_in_blocks<B>(
    rows: &Matrix,
    block_rows: usize,
    prepare: impl Fn() -> B + Send + Sync,
    score: impl Fn(&mut B, &[f64], &mut [f64]) + Send + Sync,
) -> Judged {
    let mut scores = vec![0.0; rows.n_rows()];
    scores
        .par_chunks_mut(block_rows)
        .zip(rows.values().par_chunks(block_rows * rows.n_cols()))
        .for_each_init(prepare, |buffers, (scores, rows)| {
            score(buffers, rows, scores);
            for score in scores {
                *score = held::score(*score);
            }
        });
    Judged { scores, cells: None }
}

/// Scores rows by what a net makes of them. `score` gets a row as the net saw it, and the net's output.
pub(in crate::detect) fn judge_by_output(
    stack: &Stack,
    rows: &Matrix,
    scaler: Option<&Scaler>,
    score: impl Fn(&[f32], &[f32]) -> f64 + Send + Sync,
) -> Judged {
    let (inputs, outputs) = (stack.n_inputs(), stack.n_outputs());
    let prepare = || Tape::for_scoring(stack, SCORE_ROWS);
    judge_in_blocks(rows, SCORE_ROWS, prepare, |tape, rows, scores| {
        fill(tape.input_mut(), rows, inputs, scaler);
        tape.forward(stack, scores.len());
        let seen = tape.input().chunks_exact(padded(inputs));
        let said = tape.output().chunks_exact(padded(outputs));
        for (place, (seen, said)) in scores.iter_mut().zip(seen.zip(said)) {
            *place = score(&seen[..inputs], &said[..outputs]);
        }
    })
}

/// Sends all rows through a net and passes on its output for each, in row order.
pub(in crate::detect) fn for_each_output(
    stack: &Stack,
    rows: &Matrix,
    scaler: Option<&Scaler>,
    mut take: impl FnMut(&[f32]),
) {
    let width = stack.n_outputs();
    let mut tape = Tape::for_scoring(stack, SCORE_ROWS);
    for block in rows.values().chunks(SCORE_ROWS * rows.n_cols()) {
        fill(tape.input_mut(), block, rows.n_cols(), scaler);
        let n_rows = block.len() / rows.n_cols();
        tape.forward(stack, n_rows);
        tape.output().chunks_exact(padded(width)).take(n_rows).for_each(|line| take(&line[..width]));
    }
}

/// The tensor of the number of features, for detectors whose other tensors do not imply it.
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

/// The number of features: the first side of the saved tensor `name`.
pub(in crate::detect) fn width_of(tensors: &Tensors, name: &str) -> Result<usize, TensorError> {
    match tensors.shape(name)? {
        &[width, ..] if width > 0 => Ok(width),
        got => {
            let (name, got) = (name.to_owned(), got.to_vec());
            Err(TensorError::WrongShape { name, got, expected: vec![1] })
        }
    }
}
