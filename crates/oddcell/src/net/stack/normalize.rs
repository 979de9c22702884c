//! Division by Euclidean lengths: of rows, or of columns within groups of rows.
//!
//! *Formula:* u = z/‖z‖; back: z' = (u' − u·(u·u'))/‖z‖. What has no length stays 0 and has no gradient.

use crate::net::gemm::padded;

/// Lengths up to this count as none.
const FLOOR: f32 = 1e-12;

fn inverse(square: f32) -> f32 {
    let length = square.sqrt();
    if length > FLOOR { 1.0 / length } else { 0.0 }
}

/// Σ aᵢ·bᵢ in eight sums side by side; rows are padded to eight cells.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

/// Divides every row by its length; `notes` keeps 1/length.
pub(super) fn rows(width: usize, values: &mut [f32], notes: &mut [f32]) {
    for (line, note) in values.chunks_exact_mut(padded(width)).zip(notes) {
        *note = inverse(dot(line, line));
        for value in line {
            *value *= *note;
        }
    }
}

/// The way back of [`rows`], in place.
pub(super) fn rows_back(width: usize, values: &[f32], notes: &[f32], delta: &mut [f32]) {
    let stride = padded(width);
    for ((line, values), note) in delta.chunks_exact_mut(stride).zip(values.chunks_exact(stride)).zip(notes) {
        let along = dot(values, line);
        for (delta, value) in line.iter_mut().zip(values) {
            *delta = (*delta - value * along) * note;
        }
    }
}

/// Divides every column of each group of `size` rows by its length; `notes` keeps 1/length, a line per group.
pub(super) fn groups(size: usize, width: usize, values: &mut [f32], notes: &mut [f32]) {
    let stride = padded(width);
    for (group, notes) in values.chunks_exact_mut(size * stride).zip(notes.chunks_exact_mut(stride)) {
        notes.fill(0.0);
        for line in group.chunks_exact(stride) {
            notes.iter_mut().zip(line).for_each(|(note, value)| *note += value * value);
        }
        for note in &mut *notes {
            *note = inverse(*note);
        }
        for line in group.chunks_exact_mut(stride) {
            line.iter_mut().zip(&*notes).for_each(|(value, note)| *value *= note);
        }
    }
}

/// The way back of [`groups`], in place.
pub(super) fn groups_back(
    size: usize,
    width: usize,
    values: &[f32],
    notes: &[f32],
    delta: &mut [f32],
    along: &mut Vec<f32>,
) {
    let stride = padded(width);
    let both = delta.chunks_exact_mut(size * stride).zip(values.chunks_exact(size * stride));
    for ((delta, values), notes) in both.zip(notes.chunks_exact(stride)) {
        along.clear();
        along.resize(stride, 0.0);
        for (delta, values) in delta.chunks_exact(stride).zip(values.chunks_exact(stride)) {
            for column in 0..stride {
                along[column] += delta[column] * values[column];
            }
        }
        for (delta, values) in delta.chunks_exact_mut(stride).zip(values.chunks_exact(stride)) {
            for column in 0..stride {
                delta[column] = (delta[column] - values[column] * along[column]) * notes[column];
            }
        }
    }
}
