//! One shard of rows going forward and back through a net.

use super::{
    Activation, Layer, Net, Weights,
    gemm::{self, Edge, OuterScratch, padded},
    linear::{self, PackedLayer, flush},
};
use crate::simd::{self, Work};

/// The weights of a net, laid out for the kernels.
#[derive(Debug, Clone)]
pub struct Packed {
    layers: Vec<PackedLayer>,
}

impl Packed {
    /// Room for scoring only.
    pub fn for_scoring(net: &Net, weights: &Weights) -> Self {
        Self::new(net, weights, false)
    }

    /// Room for training: [`Packed::refresh`] after every change of the weights.
    pub fn for_training(net: &Net, weights: &Weights) -> Self {
        Self::new(net, weights, true)
    }

    fn new(net: &Net, weights: &Weights, training: bool) -> Self {
        let layer = |layer: &Layer| PackedLayer::zeros(layer.inputs, layer.outputs, training);
        let mut packed = Self { layers: net.layers.iter().map(layer).collect() };
        packed.refresh(net, weights);
        packed
    }

    /// Takes over changed weights.
    pub fn refresh(&mut self, net: &Net, weights: &Weights) {
        for ((layer, &offset), packed) in net.layers.iter().zip(&net.offsets).zip(&mut self.layers) {
            packed.refresh(&weights.0[offset..][..layer.n_weights()], layer.inputs, layer.outputs);
        }
    }
}

/// Activations and deltas of up to `capacity` rows; allocated once, used for every shard.
#[derive(Debug, Clone)]
pub struct Pass {
    /// `values[0]` is the input, `values[i + 1]` what layer i gave: capacity × padded width.
    values: Vec<Vec<f32>>,
    /// The derivative of the loss by `values[i]`; empty when only scoring.
    deltas: Vec<Vec<f32>>,
    scratch: OuterScratch,
}

impl Pass {
    /// Room for scoring up to `capacity` rows at a time.
    pub fn for_scoring(net: &Net, capacity: usize) -> Self {
        let buffer = |width: usize| vec![0.0; capacity * padded(width)];
        let outputs = net.layers.iter().map(|layer| buffer(layer.outputs));
        let values: Vec<Vec<f32>> = std::iter::once(buffer(net.n_inputs())).chain(outputs).collect();
        Self { values, deltas: Vec::new(), scratch: OuterScratch::default() }
    }

    /// Room for training on up to `capacity` rows at a time.
    pub fn for_training(net: &Net, capacity: usize) -> Self {
        let pass = Self::for_scoring(net, capacity);
        Self { deltas: pass.values.clone(), ..pass }
    }

    /// The input rows, to be filled before [`Pass::forward`]: row-major, padded width, zero padding.
    pub fn input_mut(&mut self) -> &mut [f32] {
        &mut self.values[0]
    }

    /// What the net gave, row-major, padded width.
    pub fn output(&self) -> &[f32] {
        &self.values[self.values.len() - 1]
    }

    /// What the last but one layer gave, row-major, padded width.
    pub fn penultimate(&self) -> &[f32] {
        &self.values[self.values.len() - 2]
    }

    /// The output, and its delta to be filled before [`Pass::backward`].
    pub fn output_and_delta(&mut self) -> (&[f32], &mut [f32]) {
        let last = self.values.len() - 1;
        (&self.values[last], &mut self.deltas[last])
    }

    /// Sends the first `n_rows` input rows through the net.
    pub fn forward(&mut self, net: &Net, packed: &Packed, n_rows: usize) {
        for (index, (layer, packed)) in net.layers.iter().zip(&packed.layers).enumerate() {
            let (before, after) = self.values.split_at_mut(index + 1);
            let width = padded(layer.outputs);
            let edge = Forward {
                layer: *layer,
                bias: &packed.bias,
                skip: if layer.skip { &before[index - 1] } else { &[] },
                width,
                output: &mut after[0],
            };
            gemm::rows_times_panels(&before[index], n_rows, padded(layer.inputs), &packed.forward, edge);
        }
    }

    /// Sends the output's delta back and **adds** the gradient of these rows to `gradient`.
    ///
    /// # Panics
    /// If the weights were packed for scoring only.
    pub fn backward(&mut self, net: &Net, packed: &Packed, n_rows: usize, gradient: &mut [f32]) {
        let last = net.layers.len() - 1;
        // From the loss by the output to the loss by the last layer's sums.
        let n_cells = n_rows * padded(net.n_outputs());
        simd::run(Slopes {
            activation: net.layers[last].activation,
            values: &self.values[last + 1][..n_cells],
            deltas: &mut self.deltas[last + 1][..n_cells],
        });
        // Skips have put something into the delta of `values[index]` before its own layer gets there.
        let mut holds_skip = false;
        for index in (0..=last).rev() {
            let layer = &net.layers[index];
            let (width, rows) = (padded(layer.outputs), n_rows * padded(layer.outputs));
            let part = &mut gradient[net.offsets[index]..][..layer.n_weights()];
            let (earlier, later) = self.deltas.split_at_mut(index + 1);
            let delta = &later[0][..rows];
            let inputs = &self.values[index][..n_rows * padded(layer.inputs)];
            let shape = (layer.inputs, layer.outputs, true);
            linear::add_gradient(shape, inputs, delta, part, &mut self.scratch);
            if index == 0 {
                break;
            }
            if layer.skip {
                earlier[index - 1][..rows].copy_from_slice(delta);
            }
            let edge = Backward {
                activation: net.layers[index - 1].activation,
                value: &self.values[index],
                width: padded(layer.inputs),
                adds: holds_skip,
                delta: &mut earlier[index],
            };
            gemm::rows_times_panels(delta, n_rows, width, packed.layers[index].transposed(), edge);
            holds_skip = layer.skip;
        }
    }
}

/// Sums start from bias and skip and end in the activation.
struct Forward<'a> {
    layer: Layer,
    bias: &'a [f32],
    skip: &'a [f32],
    width: usize,
    output: &'a mut [f32],
}

impl Edge for Forward<'_> {
    #[inline(always)]
    fn start<const N: usize>(&self, row: usize, column: usize) -> [f32; N] {
        let mut sums = [0.0; N];
        sums.copy_from_slice(&self.bias[column..][..N]);
        if self.layer.skip {
            let skip = &self.skip[row * self.width + column..][..N];
            for j in 0..N {
                sums[j] += skip[j];
            }
        }
        sums
    }

    #[inline(always)]
    fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]) {
        let mut output = sums;
        if self.layer.activation == Activation::Relu {
            for j in 0..N {
                output[j] = Activation::Relu.apply(sums[j]);
            }
        }
        *cells_mut::<N>(self.output, row * self.width + column) = output;
    }
}

/// Sums start from what a skip left and end multiplied by the slope of the layer before.
struct Backward<'a> {
    activation: Activation,
    value: &'a [f32],
    width: usize,
    adds: bool,
    delta: &'a mut [f32],
}

impl Edge for Backward<'_> {
    #[inline(always)]
    fn start<const N: usize>(&self, row: usize, column: usize) -> [f32; N] {
        let mut sums = [0.0; N];
        if self.adds {
            sums.copy_from_slice(&self.delta[row * self.width + column..][..N]);
        }
        sums
    }

    #[inline(always)]
    fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]) {
        let at = row * self.width + column;
        let mut delta = sums;
        if self.activation == Activation::Relu {
            // A copy, because what is stored below might otherwise change what is still to be read, as far as
            // the compiler knows: then there would be no vectors.
            let value = *cells::<N>(self.value, at);
            for j in 0..N {
                delta[j] *= Activation::Relu.slope(value[j]);
            }
        }
        for j in 0..N {
            delta[j] = flush(delta[j]);
        }
        *cells_mut::<N>(self.delta, at) = delta;
    }
}

/// `N` cells from `at` on.
#[inline(always)]
fn cells<const N: usize>(values: &[f32], at: usize) -> &[f32; N] {
    values[at..].first_chunk().expect("tiles lie within their rows")
}

#[inline(always)]
fn cells_mut<const N: usize>(values: &mut [f32], at: usize) -> &mut [f32; N] {
    values[at..].first_chunk_mut().expect("tiles lie within their rows")
}

/// The loss by what a layer gave becomes the loss by its sums.
struct Slopes<'a> {
    activation: Activation,
    values: &'a [f32],
    deltas: &'a mut [f32],
}

impl Work for Slopes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        for (delta, &value) in self.deltas.iter_mut().zip(self.values) {
            *delta = flush(*delta * self.activation.slope(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// The net in plain `f64` loops: what the engine is held against.
    fn plain_forward(net: &Net, weights: &[f64], row: &[f64]) -> Vec<f64> {
        let mut values = vec![row.to_vec()];
        for (index, (layer, &offset)) in net.layers.iter().zip(&net.offsets).enumerate() {
            let width = padded(layer.outputs);
            let output = (0..layer.outputs).map(|j| {
                let mut sum = weights[offset + layer.inputs * width + j];
                sum += (0..layer.inputs)
                    .map(|i| values[index][i] * weights[offset + i * width + j])
                    .sum::<f64>();
                if layer.skip {
                    sum += values[index - 1][j];
                }
                if layer.activation == Activation::Relu { sum.max(0.0) } else { sum }
            });
            let output: Vec<f64> = output.collect();
            values.push(output);
        }
        values.pop().expect("an output")
    }

    fn plain_loss(net: &Net, weights: &[f64], rows: &[Vec<f64>], targets: &[Vec<f64>]) -> f64 {
        let row_loss = |(row, target): (&Vec<f64>, &Vec<f64>)| -> f64 {
            plain_forward(net, weights, row).iter().zip(target).map(|(y, t)| (y - t).powi(2)).sum()
        };
        rows.iter().zip(targets).map(row_loss).sum()
    }

    /// Loss = Σ (output − target)²; every weight's derivative against the central difference of the plain
    /// net.
    fn check_gradient(net: &Net) {
        let n_rows = 11;
        let (d_in, d_out) = (net.n_inputs(), net.n_outputs());
        let mut stream = Seed(5).stream("gradient", &[]);
        let mut random = |width: usize| -> Vec<Vec<f64>> {
            (0..n_rows).map(|_| (0..width).map(|_| f64::from(stream.normal() as f32)).collect()).collect()
        };
        let (rows, targets) = (random(d_in), random(d_out));
        let weights = net.init(Seed(6));

        let packed = Packed::for_training(net, &weights);
        let mut pass = Pass::for_training(net, n_rows + 3);
        for (line, row) in pass.input_mut().chunks_exact_mut(padded(d_in)).zip(&rows) {
            line.iter_mut().zip(row).for_each(|(cell, &value)| *cell = value as f32);
        }
        pass.forward(net, &packed, n_rows);
        let (output, delta) = pass.output_and_delta();
        for (row, target) in targets.iter().enumerate() {
            for (column, target) in target.iter().enumerate() {
                let at = row * padded(d_out) + column;
                delta[at] = 2.0 * (output[at] - *target as f32);
            }
        }
        let mut gradient = vec![0.0; net.n_weights()];
        pass.backward(net, &packed, n_rows, &mut gradient);

        let mut plain: Vec<f64> = weights.0.iter().map(|&weight| f64::from(weight)).collect();
        let scale = gradient.iter().fold(0.0f32, |most, g| most.max(g.abs()));
        for (layer, &offset) in net.layers.iter().zip(&net.offsets) {
            for at in 0..layer.n_weights() {
                if at % padded(layer.outputs) >= layer.outputs {
                    assert_eq!(gradient[offset + at], 0.0, "padding has no gradient");
                    continue;
                }
                let mut loss_at = |shift: f64| {
                    let kept = plain[offset + at];
                    plain[offset + at] = kept + shift;
                    let loss = plain_loss(net, &plain, &rows, &targets);
                    plain[offset + at] = kept;
                    loss
                };
                let expected = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
                let got = f64::from(gradient[offset + at]);
                assert!((got - expected).abs() < 1e-5 * f64::from(scale), "{at}: {got} against {expected}");
            }
        }
    }

    #[test]
    fn gradients_of_the_mlp_match_finite_differences() {
        check_gradient(&Net::mlp(5, 9, Activation::Linear));
        check_gradient(&Net::mlp(3, 16, Activation::Relu));
    }

    #[test]
    fn gradients_of_the_resmlp_match_finite_differences() {
        check_gradient(&Net::resmlp(5, 9, Activation::Linear));
    }

    #[test]
    fn a_row_gives_the_same_bits_alone_and_in_company() {
        let net = Net::resmlp(7, 24, Activation::Linear);
        let packed = Packed::for_scoring(&net, &net.init(Seed(1)));
        let mut stream = Seed(2).stream("rows", &[]);
        let mut together = Pass::for_scoring(&net, 23);
        for line in together.input_mut().chunks_exact_mut(padded(7)) {
            line[..7].fill_with(|| stream.normal() as f32);
        }
        together.forward(&net, &packed, 23);
        for row in 0..23 {
            let mut alone = Pass::for_scoring(&net, 1);
            let line = together.values[0][row * padded(7)..][..padded(7)].to_vec();
            alone.input_mut().copy_from_slice(&line);
            alone.forward(&net, &packed, 1);
            assert_eq!(alone.output(), &together.output()[row * padded(7)..][..padded(7)]);
        }
    }
}
