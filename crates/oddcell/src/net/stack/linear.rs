//! Linear layers: thin safe calls of the kernels in [`crate::net::gemm`].

use crate::net::gemm::{self, Edge, OuterScratch, Panels, padded};

/// Deltas smaller than this become zero, as in [`crate::net::Pass`]: their products would end in subnormal
/// numbers, which are slow.
const FLUSH_DELTA: f32 = 1e-20;

/// Rows that go through a product together: all panels of W pass by them, so they should stay in the
/// second-level cache. A multiple of the heights of all register tiles.
const BLOCK_ROWS: usize = 96;

/// W and Wᵀ, laid out for the kernels, and the bias.
#[derive(Debug, Clone, Default)]
pub(super) struct Packed(Option<Box<Layouts>>);

#[derive(Debug, Clone)]
struct Layouts {
    forward: Panels,
    backward: Panels,
    bias: Vec<f32>,
}

impl Packed {
    pub(super) fn zeros(inputs: usize, outputs: usize) -> Self {
        Self(Some(Box::new(Layouts {
            forward: Panels::zeros(inputs, outputs),
            backward: Panels::zeros(outputs, inputs),
            bias: vec![0.0; padded(outputs)],
        })))
    }

    fn layouts(&self) -> &Layouts {
        self.0.as_ref().expect("a linear layer is packed")
    }

    /// Takes over changed weights.
    pub(super) fn refresh(&mut self, weights: &[f32], inputs: usize, outputs: usize) {
        let layouts = self.0.as_mut().expect("a linear layer is packed");
        let width = padded(outputs);
        let (matrix, bias) = weights.split_at(inputs * width);
        layouts.forward.pack(matrix, width);
        layouts.backward.pack_transposed(matrix, inputs, width);
        layouts.bias.copy_from_slice(bias);
    }

    /// `output = input · W + bias`.
    pub(super) fn forward(&self, inputs: usize, input: &[f32], n_rows: usize, output: &mut [f32]) {
        let layouts = self.layouts();
        let (stride, width) = (padded(inputs), layouts.bias.len());
        for (input, output) in blocks(input, stride, output, width, n_rows) {
            let edge = Forward { bias: &layouts.bias, width, output };
            gemm::rows_times_panels(input, input.len() / stride, stride, &layouts.forward, edge);
        }
    }

    /// `input_delta = delta · Wᵀ`.
    pub(super) fn backward(&self, inputs: usize, delta: &[f32], n_rows: usize, input_delta: &mut [f32]) {
        let layouts = self.layouts();
        let (stride, width) = (layouts.bias.len(), padded(inputs));
        for (delta, input_delta) in blocks(delta, stride, input_delta, width, n_rows) {
            let edge = Store { width, output: input_delta };
            gemm::rows_times_panels(delta, delta.len() / stride, stride, &layouts.backward, edge);
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
        for line in delta.chunks_exact(width) {
            sums.iter_mut().zip(line).for_each(|(sum, delta)| *sum += delta);
        }
    }
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
            output[j] = if sums[j].abs() < FLUSH_DELTA { 0.0 } else { sums[j] };
        }
    }
}
