//! Products of two batches of rows, for losses that compare rows with each other.

use crate::net::{
    gemm::{self, OuterScratch, Panels, padded},
    linear::Store,
};

/// Buffers of the products, used again and again.
#[derive(Debug, Clone)]
pub(crate) struct Products {
    panels: Panels,
    scratch: OuterScratch,
}

impl Products {
    pub(crate) fn new() -> Self {
        Self { panels: Panels::zeros(0, 0), scratch: OuterScratch::default() }
    }

    /// `out[i, j] = aᵢ · bⱼ`, for rows of `width` columns; `out` has a line of `padded(rows of b)` for every
    /// row of `a`.
    pub(crate) fn dots(&mut self, width: usize, a: &[f32], b: &[f32], out: &mut [f32]) {
        let stride = padded(width);
        let (n_a, n_b) = (a.len() / stride, b.len() / stride);
        self.panels.resize(width, n_b);
        self.panels.pack_transposed(b, n_b, stride);
        gemm::rows_times_panels(a, n_a, stride, &self.panels, Store { width: padded(n_b), output: out });
    }

    /// `outᵢ = Σⱼ weights[i, j] · bⱼ`.
    pub(crate) fn mix(&mut self, width: usize, weights: &[f32], b: &[f32], out: &mut [f32]) {
        let stride = padded(width);
        let n_b = b.len() / stride;
        let n_rows = weights.len() / padded(n_b);
        self.panels.resize(n_b, width);
        self.panels.pack(b, stride);
        let edge = Store { width: stride, output: out };
        gemm::rows_times_panels(weights, n_rows, padded(n_b), &self.panels, edge);
    }

    /// `outⱼ = Σᵢ weights[i, j] · aᵢ`.
    pub(crate) fn mix_transposed(&mut self, width: usize, weights: &[f32], a: &[f32], out: &mut [f32]) {
        let stride = padded(width);
        let n_out = out.len() / stride;
        out.fill(0.0);
        gemm::add_outer_products(weights, padded(n_out), n_out, a, stride, out, &mut self.scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two columns, padded to eight.
    fn lines(rows: &[[f32; 2]]) -> Vec<f32> {
        rows.iter().flat_map(|&[x, y]| [x, y, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).collect()
    }

    #[test] // a = (1, 2), (3, 4), (0, 1); b = (5, 6), (7, 8).
    fn products_match_the_values_worked_out_by_hand() {
        let (a, b) = (lines(&[[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]), lines(&[[5.0, 6.0], [7.0, 8.0]]));
        let mut products = Products::new();
        let mut dots = vec![9.0; 3 * 8];
        products.dots(2, &a, &b, &mut dots);
        // (1·5 + 2·6, 1·7 + 2·8), (3·5 + 4·6, 3·7 + 4·8), (6, 8)
        assert_eq!(dots, lines(&[[17.0, 23.0], [39.0, 53.0], [6.0, 8.0]]));

        let weights = lines(&[[1.0, 0.0], [2.0, -1.0], [0.5, 0.5]]);
        let mut mixed = vec![9.0; 3 * 8];
        products.mix(2, &weights, &b, &mut mixed);
        // b₀, 2·b₀ − b₁, (b₀ + b₁)/2
        assert_eq!(mixed, lines(&[[5.0, 6.0], [3.0, 4.0], [6.0, 7.0]]));

        let mut mixed = vec![9.0; 2 * 8];
        products.mix_transposed(2, &weights, &a, &mut mixed);
        // a₀ + 2·a₁ + a₂/2, −a₁ + a₂/2
        assert_eq!(mixed, lines(&[[7.0, 10.5], [-3.0, -3.5]]));
    }
}
