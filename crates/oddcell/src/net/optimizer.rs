//! AMSGrad (Reddi, Kale, Kumar 2018) with L2 decay added to the gradient, as PyTorch's `Adam(amsgrad=True)`.
//!
//! ```text
//! g ← g + decay·w          m ← β₁m + (1−β₁)g          v ← β₂v + (1−β₂)g²          v̂ ← max(v̂, v)
//! w ← w − rate/(1−β₁ᵗ) · m / (√v̂ / √(1−β₂ᵗ) + ε)
//! ```
//!
//! Numbers that decay towards zero would become subnormal and slow everything down by an order of magnitude,
//! so what is too small to matter is set to zero on the way.

use super::Weights;
use crate::simd::{self, Work};

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Weights smaller than this become zero.
pub const FLUSH_WEIGHT: f32 = 1e-15;
/// Gradients smaller than this become zero; its square is still a normal number.
pub(super) const FLUSH_GRADIENT: f32 = 1e-15;
/// First moments smaller than this become zero.
pub(super) const FLUSH_MOMENT: f32 = 1e-20;
/// Second moments smaller than this become zero.
pub(super) const FLUSH_SQUARE: f32 = 1e-30;

/// The state of the optimizer: three numbers per weight and the step count.
#[derive(Debug, Clone)]
pub struct AmsGrad {
    decay: f32,
    first: Vec<f32>,
    second: Vec<f32>,
    largest: Vec<f32>,
    steps: i32,
}

impl AmsGrad {
    /// A fresh state for `n_weights` weights.
    #[must_use]
    pub fn new(n_weights: usize, decay: f64) -> Self {
        let zeros = || vec![0.0; n_weights];
        Self { decay: decay as f32, first: zeros(), second: zeros(), largest: zeros(), steps: 0 }
    }

    /// One step down the gradient.
    pub fn step(&mut self, weights: &mut Weights, gradient: &[f32], rate: f64) {
        self.steps += 1;
        let rate = (rate / (1.0 - f64::from(BETA1).powi(self.steps))) as f32;
        let root = (1.0 - f64::from(BETA2).powi(self.steps)).sqrt() as f32;
        simd::run(Update { state: self, weights: &mut weights.0, gradient, rate, root });
    }
}

struct Update<'a> {
    state: &'a mut AmsGrad,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    rate: f32,
    root: f32,
}

impl Work for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        let decay = self.state.decay;
        let n = self.weights.len();
        // One length for all five, so that the loop needs no bounds checks.
        let (weights, gradient) = (&mut self.weights[..n], &self.gradient[..n]);
        let (first, second) = (&mut self.state.first[..n], &mut self.state.second[..n]);
        let largest = &mut self.state.largest[..n];
        for i in 0..n {
            let slope = flush(decay.mul_add(weights[i], gradient[i]), FLUSH_GRADIENT);
            first[i] = flush(BETA1.mul_add(first[i], (1.0 - BETA1) * slope), FLUSH_MOMENT);
            second[i] = flush(BETA2.mul_add(second[i], (1.0 - BETA2) * slope * slope), FLUSH_SQUARE);
            largest[i] = largest[i].max(second[i]);
            let step = self.rate * first[i] / (largest[i].sqrt() / self.root + EPSILON);
            weights[i] = flush(weights[i] - step, FLUSH_WEIGHT);
        }
    }
}

#[inline(always)]
pub(super) fn flush(value: f32, least: f32) -> f32 {
    if value.abs() < least { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seed, simd::on_every_path};

    #[test] // 37 weights are four vectors of eight and a rest.
    fn every_vector_path_gives_the_same_bits() {
        on_every_path(|| {
            let mut stream = Seed(1).stream("optimizer", &[]);
            let mut normals = || (0..37).map(|_| stream.normal() as f32).collect::<Vec<f32>>();
            let mut weights = Weights(normals());
            let mut optimizer = AmsGrad::new(37, 0.01);
            (0..20).for_each(|_| optimizer.step(&mut weights, &normals(), 1e-2));
            let all = [&weights.0, &optimizer.first, &optimizer.second, &optimizer.largest];
            all.map(|values| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>())
        });
    }

    #[test]
    // By hand, w = 1, decay 0, rate 0.1. Step 1, g = 2: m = 0.2, v = 0.004, v̂ = 0.004;
    //   m/(1−0.9) = 2, √(v̂/(1−0.999)) = 2 ⇒ w = 1 − 0.1·2/2 = 0.9.
    // Step 2, g = 0: m = 0.18, v = 0.003996, v̂ stays 0.004; m/(1−0.81) = 0.947368,
    //   √(0.004/0.001999) = 1.414567 ⇒ w = 0.9 − 0.1·0.947368/1.414567 = 0.833028.
    fn two_steps_match_the_values_worked_out_by_hand() {
        let mut weights = Weights(vec![1.0]);
        let mut optimizer = AmsGrad::new(1, 0.0);
        optimizer.step(&mut weights, &[2.0], 0.1);
        assert!((weights.0[0] - 0.9).abs() < 1e-6, "{}", weights.0[0]);
        optimizer.step(&mut weights, &[0.0], 0.1);
        assert!((weights.0[0] - 0.833_028).abs() < 1e-6, "{}", weights.0[0]);
    }

    #[test]
    fn decay_is_added_to_the_gradient() {
        let (mut decayed, mut plain) = (Weights(vec![2.0]), Weights(vec![2.0]));
        AmsGrad::new(1, 0.5).step(&mut decayed, &[0.25], 0.01);
        AmsGrad::new(1, 0.0).step(&mut plain, &[1.25], 0.01); // 0.25 + 0.5·2
        assert_eq!(decayed, plain);
    }

    #[test]
    fn nothing_becomes_subnormal_when_gradients_vanish() {
        let mut weights = Weights(vec![1e-3; 4]);
        let mut optimizer = AmsGrad::new(4, 0.1);
        for step in 0..5_000 {
            let gradient = if step == 0 { [1e-12, 1.0, -1.0, 1e-30] } else { [0.0; 4] };
            optimizer.step(&mut weights, &gradient, 1e-2);
        }
        let all = [&weights.0, &optimizer.first, &optimizer.second, &optimizer.largest];
        assert!(all.iter().flat_map(|values| values.iter()).all(|value| !value.is_subnormal()));
    }
}
