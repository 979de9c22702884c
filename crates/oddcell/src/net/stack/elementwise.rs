//! Layers that work on every cell by itself: activations, the activity penalty, dropout.

use crate::{
    net::gemm::padded,
    seed::{GOLDEN, mix},
};

/// A curve that every value goes through. It overwrites its input, because its slope follows from its output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// max(x, 0).
    Relu,
    /// x where it is positive, `slope`·x elsewhere.
    LeakyRelu(f32),
    /// Hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
}

impl Curve {
    /// Applies it in place to rows of `width` columns; the padding stays zero.
    pub(super) fn apply(self, values: &mut [f32], width: usize) {
        let cells = values.chunks_exact_mut(padded(width)).flat_map(|line| &mut line[..width]);
        match self {
            Curve::Relu => cells.for_each(|value| *value = value.max(0.0)),
            Curve::LeakyRelu(slope) => {
                cells.for_each(|value| *value = if *value > 0.0 { *value } else { slope * *value });
            }
            Curve::Tanh => cells.for_each(|value| *value = libm::tanhf(*value)),
            Curve::Sigmoid => cells.for_each(|value| *value = sigmoid(*value)),
        }
    }

    /// Multiplies the delta by the slope, known by the values that the curve gave.
    pub(super) fn back(self, values: &[f32], delta: &mut [f32]) {
        let both = delta.iter_mut().zip(values);
        match self {
            Curve::Relu => both.for_each(|(delta, &value)| *delta = if value > 0.0 { *delta } else { 0.0 }),
            Curve::LeakyRelu(slope) => {
                both.for_each(|(delta, &value)| *delta = if value > 0.0 { *delta } else { slope * *delta });
            }
            Curve::Tanh => both.for_each(|(delta, &value)| *delta *= 1.0 - value * value),
            Curve::Sigmoid => both.for_each(|(delta, &value)| *delta *= value * (1.0 - value)),
        }
    }
}

/// 1 / (1 + e⁻ˣ).
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
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

/// Draws a mask of 0 and 1/(1 − rate) by the numbers of `key`.
pub(super) fn draw_mask(rate: f32, key: u64, mask: &mut [f32]) {
    let below = (f64::from(rate) * 4_294_967_296.0) as u32;
    let scale = 1.0 / (1.0 - rate);
    for (pair, mask) in mask.chunks_mut(2).enumerate() {
        let bits = mix(key.wrapping_add((pair as u64 + 1).wrapping_mul(GOLDEN)));
        for (mask, bits) in mask.iter_mut().zip([bits as u32, (bits >> 32) as u32]) {
            *mask = if bits < below { 0.0 } else { scale };
        }
    }
}
