//! Linear layers: thin safe calls of the kernels in [`super::gemm`].

use super::gemm::{self, Edge, OuterScratch, Panels, padded};
use crate::simd::{self, Work};

/// Deltas smaller than this become zero: they carry nothing a 32-bit weight could feel, and their products
/// would end in subnormal numbers, which are slow.
const FLUSH_DELTA: f32 = 1e-20;

/// Rows that go through a product together: all panels of W pass by them, so they should stay in the
/// second-level cache. A multiple of the heights of all register tiles.
const BLOCK_ROWS: usize = 96;

/// W and, for training, Wᵀ, laid out for the kernels, and the bias.
#[derive(Debug, Clone)]
pub(super) struct PackedLayer {
    pub(super) forward: Panels,
    backward: Option<Panels>,
    pub(super) bias: Vec<f32>,
}

impl PackedLayer {
    pub(super) fn zeros(inputs: usize, outputs: usize, training: bool) -> Self {
        Self {
            forward: Panels::zeros(inputs, outputs),
            backward: training.then(|| Panels::zeros(outputs, inputs)),
            bias: vec![0.0; padded(outputs)],
        }
    }

    /// Takes over changed weights.
    pub(super) fn refresh(&mut self, weights: &[f32], inputs: usize, outputs: usize) {
        let width = padded(outputs);
        let (matrix, bias) = weights.split_at(inputs * width);
        self.forward.pack(matrix, width);
        if let Some(backward) = &mut self.backward {
            backward.pack_transposed(matrix, inputs, width);
        }
        self.bias.copy_from_slice(bias);
    }

    /// Wᵀ.
    ///
    /// # Panics
    /// If the weights were packed for scoring only.
    pub(super) fn transposed(&self) -> &Panels {
        self.backward.as_ref().expect("packed for training")
    }

    /// `output = input · W + bias`.
    pub(super) fn forward(&self, inputs: usize, input: &[f32], n_rows: usize, output: &mut [f32]) {
        let (stride, width) = (padded(inputs), self.bias.len());
        for (input, output) in blocks(input, stride, output, width, n_rows) {
            let edge = Forward { bias: &self.bias, width, output };
            gemm::rows_times_panels(input, input.len() / stride, stride, &self.forward, edge);
        }
    }

    /// `input_delta = delta · Wᵀ`.
    pub(super) fn backward(&self, inputs: usize, delta: &[f32], n_rows: usize, input_delta: &mut [f32]) {
        let (stride, width) = (self.bias.len(), padded(inputs));
        for (delta, input_delta) in blocks(delta, stride, input_delta, width, n_rows) {
            let edge = Store { width, output: input_delta };
            gemm::rows_times_panels(delta, delta.len() / stride, stride, self.transposed(), edge);
        }
    }
}

/// The same rows of the left side and of the result, a block at a time.
fn blocks<'a>(
    left: &'a [f32],
    left_stride: usize,
    result: &'a mut [f32],
    width: usize,
    n_rows: usize,
) -> impl Iterator<Item = (&'a [f32], &'a mut [f32])> {
    let left = left[..n_rows * left_stride].chunks(BLOCK_ROWS * left_stride);
    left.zip(result[..n_rows * width].chunks_mut(BLOCK_ROWS * width))
}

/// Adds `inputᵀ · delta` to W's part of `gradient`, and the sum of the deltas to the bias's part.
pub(super) fn add_gradient(
    (inputs, outputs, bias): (usize, usize, bool),
    input: &[f32],
    delta: &[f32],
    gradient: &mut [f32],
    scratch: &mut OuterScratch,
) {
    let width = padded(outputs);
    let (matrix, sums) = gradient.split_at_mut(inputs * width);
    gemm::add_outer_products(input, padded(inputs), inputs, delta, width, matrix, scratch);
    if bias {
        simd::run(AddRows { lines: delta, sum: sums });
    }
}

/// `sum += Σ rows of lines`, in row order.
struct AddRows<'a> {
    lines: &'a [f32],
    sum: &'a mut [f32],
}

impl Work for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        for line in self.lines.chunks_exact(self.sum.len()) {
            for (sum, value) in self.sum.iter_mut().zip(line) {
                *sum += value;
            }
        }
    }
}

#[inline(always)]
pub(super) fn flush(delta: f32) -> f32 {
    if delta.abs() < FLUSH_DELTA { 0.0 } else { delta }
}

struct Forward<'a> {
    bias: &'a [f32],
    width: usize,
    output: &'a mut [f32],
}

impl Edge for Forward<'_> {
    #[inline(always)]
    fn start<const N: usize>(&self, _: usize, column: usize) -> [f32; N] {
        let mut sums = [0.0; N];
        sums.copy_from_slice(&self.bias[column..][..N]);
        sums
    }

    #[inline(always)]
    fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]) {
        self.output[row * self.width + column..][..N].copy_from_slice(&sums);
    }
}

/// Stores the sums; what is too small to matter becomes zero.
pub(super) struct Store<'a> {
    pub(super) width: usize,
    pub(super) output: &'a mut [f32],
}

impl Edge for Store<'_> {
    #[inline(always)]
    fn start<const N: usize>(&self, _: usize, _: usize) -> [f32; N] {
        [0.0; N]
    }

    #[inline(always)]
    fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]) {
        let output = &mut self.output[row * self.width + column..][..N];
        for j in 0..N {
            output[j] = flush(sums[j]);
        }
    }
}
