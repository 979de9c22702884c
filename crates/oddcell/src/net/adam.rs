//! Adam (Kingma, Ba 2015) with L2 decay added to the gradient, in the two forms that published results come
//! from.
//!
//! ```text
//! g ← g + decay·w          m ← β₁m + (1−β₁)g          v ← β₂v + (1−β₂)g²
//! w ← w − rate/(1−β₁ᵗ) · m / (√v / √(1−β₂ᵗ) + ε)
//! ```
//!
//! PyTorch has ε = 1e-8. Keras adds ε = 1e-7 to the √v that was *not* corrected, which is the same as
//! 1e-7/√(1−β₂ᵗ) here: far more in the first steps.

use crate::{
    net::optimizer::{FLUSH_GRADIENT, FLUSH_MOMENT, FLUSH_SQUARE, FLUSH_WEIGHT, flush},
    simd::{self, Work},
};

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;

/// Whose form of Adam.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// As Keras computes it.
    Keras,
    /// As PyTorch computes it.
    Torch,
}

/// The state of the optimizer: two numbers per weight.
#[derive(Debug, Clone)]
pub struct Adam {
    flavour: Flavour,
    decay: f32,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Adam {
    /// A fresh state for `n_weights` weights.
    #[must_use]
    pub fn new(flavour: Flavour, n_weights: usize, decay: f64) -> Self {
        let zeros = || vec![0.0; n_weights];
        Self { flavour, decay: decay as f32, first: zeros(), second: zeros() }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.first.fill(0.0);
        self.second.fill(0.0);
    }

    /// Step number `step` (from 1) down the gradient.
    pub fn step(&mut self, step: usize, rate: f64, weights: &mut [f32], gradient: &[f32]) {
        // Beyond any step count that fits, both corrections are 1.
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        let root = (1.0 - f64::from(BETA2).powi(step)).sqrt();
        let epsilon = match self.flavour {
            Flavour::Keras => 1e-7 / root,
            Flavour::Torch => 1e-8,
        };
        let rate = rate / (1.0 - f64::from(BETA1).powi(step));
        simd::run(Update {
            state: self,
            weights,
            gradient,
            rate: rate as f32,
            root: root as f32,
            epsilon: epsilon as f32,
        });
    }
}

struct Update<'a> {
    state: &'a mut Adam,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    rate: f32,
    root: f32,
    epsilon: f32,
}

impl Work for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        let n = self.weights.len();
        // One length for all four, so that the loop needs no bounds checks.
        let (weights, gradient) = (&mut self.weights[..n], &self.gradient[..n]);
        let (first, second) = (&mut self.state.first[..n], &mut self.state.second[..n]);
        for i in 0..n {
            let slope = flush(self.state.decay.mul_add(weights[i], gradient[i]), FLUSH_GRADIENT);
            first[i] = flush(BETA1.mul_add(first[i], (1.0 - BETA1) * slope), FLUSH_MOMENT);
            second[i] = flush(BETA2.mul_add(second[i], (1.0 - BETA2) * slope * slope), FLUSH_SQUARE);
            let step = self.rate * first[i] / (second[i].sqrt() / self.root + self.epsilon);
            weights[i] = flush(weights[i] - step, FLUSH_WEIGHT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // By hand, w = 1, rate 0.1. Step 1, g = 2: m = 0.2, v = 0.004; m/(1−0.9) = 2, √(v/(1−0.999)) = 2, w =
    // 0.9. Step 2, g = 0: m = 0.18, v = 0.003996; m/(1−0.81) = 0.947368, √(0.003996/0.001999) = 1.413860,
    //   w = 0.9 − 0.1·0.947368/1.413860 = 0.832994.
    fn two_steps_match_the_values_worked_out_by_hand() {
        for flavour in [Flavour::Keras, Flavour::Torch] {
            let mut adam = Adam::new(flavour, 1, 0.0);
            let mut weights = [1.0];
            adam.step(1, 0.1, &mut weights, &[2.0]);
            assert!((weights[0] - 0.9).abs() < 1e-6, "{}", weights[0]);
            adam.step(2, 0.1, &mut weights, &[0.0]);
            assert!((weights[0] - 0.832_994).abs() < 1e-6, "{}", weights[0]);
        }
    }

    #[test]
    // By hand, g = 1e-6, rate 1. Both: m/(1−0.9) = 1e-6. √v = √0.001·1e-6 = 3.1623e-8.
    // PyTorch: 1e-6/(1e-6 + 1e-8) = 0.990099. Keras: √0.001·1e-6/(3.1623e-8 + 1e-7) = 0.240253.
    fn keras_adds_its_epsilon_before_the_correction() {
        let moved = |flavour| {
            let mut weights = [0.0];
            Adam::new(flavour, 1, 0.0).step(1, 1.0, &mut weights, &[1e-6]);
            -weights[0]
        };
        assert!((moved(Flavour::Torch) - 0.990_099).abs() < 1e-4, "{}", moved(Flavour::Torch));
        assert!((moved(Flavour::Keras) - 0.240_253).abs() < 1e-4, "{}", moved(Flavour::Keras));
    }

    #[test]
    fn decay_is_added_to_the_gradient() {
        let (mut decayed, mut plain) = ([2.0], [2.0]);
        Adam::new(Flavour::Torch, 1, 0.5).step(1, 0.01, &mut decayed, &[0.25]);
        Adam::new(Flavour::Torch, 1, 0.0).step(1, 0.01, &mut plain, &[1.25]); // 0.25 + 0.5·2
        assert_eq!(decayed, plain);
    }
}
