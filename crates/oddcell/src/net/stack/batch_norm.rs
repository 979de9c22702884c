//! Batch norm.
//!
//! *Training:* x̂ = (x − mean)/√(variance + ε) with mean and (biased) variance of the channel in this batch,
//! then scale·x̂ + shift; the running statistics move a tenth of the way to the batch's mean and unbiased
//! variance. *Scoring:* the same with the running statistics. As PyTorch's `BatchNorm1d` with its defaults.

use super::Channels;
use crate::net::gemm::padded;

const EPSILON: f32 = 1e-5;
const MOMENTUM: f64 = 0.1;

/// The rows of a batch and which channel their cells belong to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) channels: Channels,
    pub(super) width: usize,
    pub(super) input: &'a [f32],
}

impl Batch<'_> {
    fn n_channels(self) -> usize {
        self.channels.count(self.width)
    }

    /// Calls `visit(channel, cell)` for all cells in order.
    #[inline(always)]
    fn for_each(self, mut visit: impl FnMut(usize, usize)) {
        let stride = padded(self.width);
        for row in 0..self.input.len() / stride {
            match self.channels {
                Channels::Columns => (0..self.width).for_each(|column| visit(column, row * stride + column)),
                Channels::Groups(rows) => {
                    (0..self.width).for_each(|column| visit(row % rows, row * stride + column));
                }
            }
        }
    }

    /// Writes mean and 1/√(variance + ε) of every channel to `notes`, and moves the running statistics.
    pub(super) fn measure(self, notes: &mut [f32], running: &mut [f32], sums: &mut Vec<f64>) {
        let n_channels = self.n_channels();
        let n_rows = self.input.len() / padded(self.width);
        let count = (n_rows * self.width / n_channels) as f64;
        let (means, inverses) = notes.split_at_mut(n_channels);
        let (running_means, running_variances) = running.split_at_mut(n_channels);

        sums.clear();
        sums.resize(n_channels, 0.0);
        self.for_each(|channel, cell| sums[channel] += f64::from(self.input[cell]));
        for (mean, sum) in means.iter_mut().zip(&*sums) {
            *mean = (sum / count) as f32;
        }
        sums.fill(0.0);
        self.for_each(|channel, cell| {
            let distance = f64::from(self.input[cell] - means[channel]);
            sums[channel] += distance * distance;
        });
        for channel in 0..n_channels {
            let variance = sums[channel] / count;
            inverses[channel] = 1.0 / (variance as f32 + EPSILON).sqrt();
            // One value has no unbiased variance.
            let unbiased = if count > 1.0 { sums[channel] / (count - 1.0) } else { variance };
            follow(&mut running_means[channel], f64::from(means[channel]));
            follow(&mut running_variances[channel], unbiased);
        }
    }

    /// `output = scale · (input − mean) · inverse + shift`.
    pub(super) fn apply(self, notes: &[f32], weights: &[f32], output: &mut [f32]) {
        let n_channels = self.n_channels();
        let (means, inverses) = notes.split_at(n_channels);
        if weights.is_empty() {
            self.for_each(|channel, cell| {
                output[cell] = (self.input[cell] - means[channel]) * inverses[channel];
            });
        } else {
            let (scales, shifts) = weights.split_at(n_channels);
            self.for_each(|channel, cell| {
                let normal = (self.input[cell] - means[channel]) * inverses[channel];
                output[cell] = scales[channel] * normal + shifts[channel];
            });
        }
    }

    /// From the delta by the output to the delta by the input; adds to the gradient of scale and shift.
    ///
    /// With x̂ the normalized input and N the cells of a channel:
    /// `input_delta = scale · inverse · (delta − Σdelta/N − x̂ · Σ(delta·x̂)/N)`.
    pub(super) fn backward(
        self,
        notes: &[f32],
        weights: &[f32],
        delta: &[f32],
        input_delta: &mut [f32],
        gradient: Option<&mut [f32]>,
        sums: &mut Vec<f64>,
    ) {
        let n_channels = self.n_channels();
        let n_rows = self.input.len() / padded(self.width);
        let count = (n_rows * self.width / n_channels) as f64;
        let (means, inverses) = notes.split_at(n_channels);
        sums.clear();
        sums.resize(2 * n_channels, 0.0);
        let (of_delta, of_product) = sums.split_at_mut(n_channels);
        self.for_each(|channel, cell| {
            let normal = (self.input[cell] - means[channel]) * inverses[channel];
            of_delta[channel] += f64::from(delta[cell]);
            of_product[channel] += f64::from(delta[cell] * normal);
        });
        if let (Some(gradient), false) = (gradient, weights.is_empty()) {
            let (scales, shifts) = gradient.split_at_mut(n_channels);
            for channel in 0..n_channels {
                scales[channel] += of_product[channel] as f32;
                shifts[channel] += of_delta[channel] as f32;
            }
        }
        for sum in &mut *sums {
            *sum /= count;
        }
        let (mean_delta, mean_product) = sums.split_at(n_channels);
        self.for_each(|channel, cell| {
            let normal = (self.input[cell] - means[channel]) * inverses[channel];
            let scale = weights.get(channel).copied().unwrap_or(1.0);
            let centered = delta[cell] - mean_delta[channel] as f32 - normal * mean_product[channel] as f32;
            input_delta[cell] = scale * inverses[channel] * centered;
        });
    }
}

/// The notes that scoring works with: the running statistics.
pub(super) fn running_notes(running: &[f32], notes: &mut [f32]) {
    notes.copy_from_slice(running);
    let n_channels = running.len() / 2;
    notes[n_channels..].iter_mut().for_each(|value| *value = 1.0 / (*value + EPSILON).sqrt());
}

fn follow(running: &mut f32, batch: f64) {
    *running = ((1.0 - MOMENTUM) * f64::from(*running) + MOMENTUM * batch) as f32;
}
