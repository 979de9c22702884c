//! The contrastive loss of one row: does every rest of the row find its own window among all windows?

use crate::net::{gemm::padded, stack::Products};

/// −qⱼ·pⱼ/τ + ln Σₗ exp(qⱼ·pₗ/τ), its mean over the windows j, with buffers that are used again and again.
#[derive(Debug)]
pub(super) struct Contrast {
    n_windows: usize,
    units: usize,
    temperature: f32,
    products: Products,
    /// qⱼ·pₗ, then what share pₗ has in the sum of qⱼ, then the derivative of the loss by qⱼ·pₗ.
    dots: Vec<f32>,
}

impl Contrast {
    pub(super) fn new(n_windows: usize, units: usize, temperature: f32) -> Self {
        let dots = vec![0.0; n_windows * padded(n_windows)];
        Self { n_windows, units, temperature, products: Products::new(), dots }
    }

    /// The mean loss over the windows of one row.
    pub(super) fn loss(&mut self, q: &[f32], p: &[f32]) -> f64 {
        self.products.dots(self.units, q, p, &mut self.dots);
        let lines = self.dots.chunks_exact_mut(padded(self.n_windows)).enumerate();
        let sum: f64 =
            lines.map(|(own, line)| share_out(&mut line[..self.n_windows], own, self.temperature)).sum();
        sum / self.n_windows as f64
    }

    /// The same, and its derivative by q and p, times `scale`.
    pub(super) fn learn(
        &mut self,
        q: &[f32],
        p: &[f32],
        scale: f32,
        q_delta: &mut [f32],
        p_delta: &mut [f32],
    ) -> f64 {
        let loss = self.loss(q, p);
        let slope = scale / (self.n_windows as f32 * self.temperature);
        for (own, line) in self.dots.chunks_exact_mut(padded(self.n_windows)).enumerate() {
            line[own] -= 1.0;
            for dot in line {
                *dot *= slope;
            }
        }
        self.products.mix(self.units, &self.dots, p, q_delta);
        self.products.mix_transposed(self.units, &self.dots, q, p_delta);
        loss
    }
}

/// The loss of the window `own` by its products with all windows, which are replaced by their shares in the
/// sum.
fn share_out(dots: &mut [f32], own: usize, temperature: f32) -> f64 {
    let most = dots.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let of_own = f64::from((dots[own] - most) / temperature);
    let mut total = 0.0;
    for dot in &mut *dots {
        *dot = libm::expf((*dot - most) / temperature);
        total += f64::from(*dot);
    }
    for dot in dots {
        *dot = (f64::from(*dot) / total) as f32;
    }
    libm::log(total) - of_own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Seed,
        net::stack::{Layer, Stack, Tape},
    };

    /// Three rows of two units, normalized as the nets end.
    fn normalized(rows: [[f32; 2]; 3]) -> Vec<f32> {
        let stack = Stack::new(2, &[Layer::NormalizeGroups(3), Layer::NormalizeRows], Seed(1));
        let mut tape = Tape::for_scoring(&stack, 3);
        for (line, row) in tape.input_mut().chunks_exact_mut(8).zip(rows) {
            line[..2].copy_from_slice(&row);
        }
        tape.forward(&stack, 3);
        tape.output().to_vec()
    }

    #[test] // Worked out in double precision from the formula, outside of this library.
    fn the_loss_matches_the_worked_example() {
        let q = normalized([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]]);
        let p = normalized([[0.8, 1.5], [1.0, -0.4], [0.2, 0.9]]);
        assert!((q[0] - 0.441_694_36).abs() < 1e-6 && (q[1] - 0.897_165_6).abs() < 1e-6, "{q:?}");
        for (temperature, expected) in [(0.1, 1.859_338_661_030_391_2), (0.01, 16.066_879_333_666_126)] {
            let loss = Contrast::new(3, 2, temperature).loss(&q, &p);
            assert!((loss - expected).abs() < 2e-5 * expected, "{loss} against {expected}");
        }
        let mut dots = [0.0; 3];
        for (dot, p) in dots.iter_mut().zip(p.chunks(8)) {
            *dot = q[0] * p[0] + q[1] * p[1];
        }
        let first = share_out(&mut dots, 0, 0.1);
        assert!((first - 0.709_813_208_676_692_4).abs() < 1e-5, "{first}");
        assert!((dots.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }
}
