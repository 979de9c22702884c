//! Layers that work on every cell by itself: activations, the activity penalty, dropout.

use super::Layer;
use crate::seed::{GOLDEN, mix};

/// A batch of rows of which only the first `width` columns of every `stride` mean something.
pub(super) fn cells(values: &mut [f32], stride: usize, width: usize) -> impl Iterator<Item = &mut f32> {
    values.chunks_exact_mut(stride).flat_map(move |line| &mut line[..width])
}

/// Applies an activation in place.
pub(super) fn activate(layer: Layer, values: &mut [f32], stride: usize, width: usize) {
    let cells = cells(values, stride, width);
    match layer {
        Layer::Relu => cells.for_each(|value| *value = value.max(0.0)),
        Layer::LeakyRelu(slope) => {
            cells.for_each(|value| *value = if *value > 0.0 { *value } else { slope * *value });
        }
        Layer::Tanh => cells.for_each(|value| *value = libm::tanhf(*value)),
        Layer::Sigmoid => cells.for_each(|value| *value = sigmoid(*value)),
        other => unreachable!("{other:?} is no activation"),
    }
}

/// 1 / (1 + e⁻ˣ).
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

/// Multiplies the delta by the slope of the activation, known by the values it gave.
pub(super) fn activate_back(layer: Layer, values: &[f32], delta: &mut [f32]) {
    let both = delta.iter_mut().zip(values);
    match layer {
        Layer::Relu => both.for_each(|(delta, &value)| *delta = if value > 0.0 { *delta } else { 0.0 }),
        Layer::LeakyRelu(slope) => {
            both.for_each(|(delta, &value)| *delta = if value > 0.0 { *delta } else { slope * *delta });
        }
        Layer::Tanh => both.for_each(|(delta, &value)| *delta *= 1.0 - value * value),
        Layer::Sigmoid => both.for_each(|(delta, &value)| *delta *= value * (1.0 - value)),
        other => unreachable!("{other:?} is no activation"),
    }
}

/// Σx² of all cells.
pub(super) fn sum_of_squares(values: &[f32]) -> f64 {
    // Rows are padded to eight cells: eight sums side by side, blocks of them in `f64`.
    let block = |block: &[f32]| {
        let mut sums = [0.0f32; 8];
        for eight in block.chunks_exact(8) {
            for i in 0..8 {
                sums[i] += eight[i] * eight[i];
            }
        }
        sums.iter().map(|&sum| f64::from(sum)).sum::<f64>()
    };
    values.chunks(512).map(block).sum()
}

/// Draws a mask of 0 and 1/(1 − rate) by the numbers of `key`, and applies it.
pub(super) fn drop_out(rate: f32, key: u64, input: &[f32], mask: &mut [f32], output: &mut [f32]) {
    let below = (f64::from(rate) * 4_294_967_296.0) as u32;
    let scale = 1.0 / (1.0 - rate);
    for (pair, mask) in mask.chunks_mut(2).enumerate() {
        let bits = mix(key.wrapping_add((pair as u64 + 1).wrapping_mul(GOLDEN)));
        for (mask, bits) in mask.iter_mut().zip([bits as u32, (bits >> 32) as u32]) {
            *mask = if bits < below { 0.0 } else { scale };
        }
    }
    for ((output, input), mask) in output.iter_mut().zip(input).zip(mask) {
        *output = input * *mask;
    }
}
