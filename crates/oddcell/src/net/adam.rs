//! Adam (Kingma, Ba 2015) with L2 decay added to the gradient, in the forms that published results come from.
//!
//! ```text
//! g ← g + decay·w          m ← β₁m + (1−β₁)g          v ← β₂v + (1−β₂)g²
//! w ← w − rate/(1−β₁ᵗ) · m / (√v / √(1−β₂ᵗ) + ε)
//! ```
//!
//! PyTorch has ε = 1e-8. Keras adds ε = 1e-7 to the √v that was *not* corrected, which is the same as
//! 1e-7/√(1−β₂ᵗ) here: far more in the first steps. AMSGrad (Reddi, Kale, Kumar 2018), as PyTorch's
//! `Adam(amsgrad=True)`, has v̂ ← max(v̂, v) in the place of v.
//!
//! Numbers that decay toward zero would become subnormal and slow everything down by an order of magnitude,
//! so what is too small to matter is set to zero on the way.

use crate::simd::{self, Work};

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;

/// Weights smaller than this become zero.
const FLUSH_WEIGHT: f32 = 1e-15;
/// Gradients smaller than this become zero; its square is still a normal number.
const FLUSH_GRADIENT: f32 = 1e-15;
/// First moments smaller than this become zero.
const FLUSH_MOMENT: f32 = 1e-20;
/// Second moments smaller than this become zero.
const FLUSH_SQUARE: f32 = 1e-30;

/// Which form of Adam.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// As Keras computes it.
    Keras,
    /// As PyTorch computes it.
    Torch,
    /// AMSGrad, as PyTorch computes it.
    AmsGrad,
}

/// The state of the optimizer: two numbers per weight, three with AMSGrad.
#[derive(Debug, Clone)]
pub struct Adam {
    flavour: Flavour,
    decay: f32,
    first: Vec<f32>,
    second: Vec<f32>,
    /// v̂ of AMSGrad; empty in the other forms.
    largest: Vec<f32>,
}

impl Adam {
    /// A fresh state for `n_weights` weights.
    pub fn new(flavour: Flavour, n_weights: usize, decay: f64) -> Self {
        let zeros = || vec![0.0; n_weights];
        let largest = if flavour == Flavour::AmsGrad { zeros() } else { Vec::new() };
        Self { flavour, decay: decay as f32, first: zeros(), second: zeros(), largest }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.first.fill(0.0);
        self.second.fill(0.0);
        self.largest.fill(0.0);
    }

    /// Step number `step` (from 1) down the gradient.
    pub fn step(&mut self, step: usize, rate: f64, weights: &mut [f32], gradient: &[f32]) {
        // Beyond any step count that fits, both corrections are 1.
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        let root = (1.0 - f64::from(BETA2).powi(step)).sqrt();
        let epsilon = match self.flavour {
            Flavour::Keras => 1e-7 / root,
            Flavour::Torch | Flavour::AmsGrad => 1e-8,
        };
        let rate = (rate / (1.0 - f64::from(BETA1).powi(step))) as f32;
        let (root, epsilon) = (root as f32, epsilon as f32);
        match self.flavour {
            Flavour::AmsGrad => {
                simd::run(Update::<true> { state: self, weights, gradient, rate, root, epsilon });
            }
            Flavour::Keras | Flavour::Torch => {
                simd::run(Update::<false> { state: self, weights, gradient, rate, root, epsilon });
            }
        }
    }
}

struct Update<'a, const AMSGRAD: bool> {
    state: &'a mut Adam,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    rate: f32,
    root: f32,
    epsilon: f32,
}

impl<const AMSGRAD: bool> Work for Update<'_, AMSGRAD> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        let n = self.weights.len();
        // One length for all, so that the loop needs no bounds checks.
        let (weights, gradient) = (&mut self.weights[..n], &self.gradient[..n]);
        let (first, second) = (&mut self.state.first[..n], &mut self.state.second[..n]);
        let largest = &mut self.state.largest[..if AMSGRAD { n } else { 0 }];
        for i in 0..n {
            let slope = flush(self.state.decay.mul_add(weights[i], gradient[i]), FLUSH_GRADIENT);
            first[i] = flush(BETA1.mul_add(first[i], (1.0 - BETA1) * slope), FLUSH_MOMENT);
            second[i] = flush(BETA2.mul_add(second[i], (1.0 - BETA2) * slope * slope), FLUSH_SQUARE);
            let square = if AMSGRAD {
                largest[i] = largest[i].max(second[i]);
                largest[i]
            } else {
                second[i]
            };
            let step = self.rate * first[i] / (square.sqrt() / self.root + self.epsilon);
            weights[i] = flush(weights[i] - step, FLUSH_WEIGHT);
        }
    }
}

#[inline(always)]
fn flush(value: f32, least: f32) -> f32 {
    if value.abs() < least { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seed, simd::on_every_path};

    #[test] // 37 weights are four vectors of eight and a rest.
    fn every_vector_path_gives_the_same_bits() {
        for flavour in [Flavour::Keras, Flavour::Torch, Flavour::AmsGrad] {
            on_every_path(|| {
                let mut stream = Seed(1).stream("optimizer", &[]);
                let mut normals = || (0..37).map(|_| stream.normal() as f32).collect::<Vec<f32>>();
                let mut weights = normals();
                let mut adam = Adam::new(flavour, 37, 0.01);
                (1..=20).for_each(|step| adam.step(step, 1e-2, &mut weights, &normals()));
                let all = [&weights, &adam.first, &adam.second, &adam.largest];
                all.map(|values| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>())
            });
        }
    }

    #[test]
    // By hand, w = 1, decay 0, rate 0.1. Step 1, g = 2: m = 0.2, v = 0.004, v̂ = 0.004;
    //   m/(1−0.9) = 2, √(v̂/(1−0.999)) = 2 ⇒ w = 1 − 0.1·2/2 = 0.9.
    // Step 2, g = 0: m = 0.18, v = 0.003996, v̂ stays 0.004; m/(1−0.81) = 0.947368,
    //   √(0.004/0.001999) = 1.414567 ⇒ w = 0.9 − 0.1·0.947368/1.414567 = 0.833028.
    fn two_steps_of_amsgrad_match_the_values_worked_out_by_hand() {
        let mut weights = [1.0];
        let mut adam = Adam::new(Flavour::AmsGrad, 1, 0.0);
        adam.step(1, 0.1, &mut weights, &[2.0]);
        assert!((weights[0] - 0.9).abs() < 1e-6, "{}", weights[0]);
        adam.step(2, 0.1, &mut weights, &[0.0]);
        assert!((weights[0] - 0.833_028).abs() < 1e-6, "{}", weights[0]);
    }

    #[test]
    fn nothing_becomes_subnormal_when_gradients_vanish() {
        let mut weights = [1e-3; 4];
        let mut adam = Adam::new(Flavour::AmsGrad, 4, 0.1);
        for step in 1..=5_000 {
            let gradient = if step == 1 { [1e-12, 1.0, -1.0, 1e-30] } else { [0.0; 4] };
            adam.step(step, 1e-2, &mut weights, &gradient);
        }
        let all = [&weights[..], &adam.first, &adam.second, &adam.largest];
        assert!(all.iter().flat_map(|values| values.iter()).all(|value| !value.is_subnormal()));
    }

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
        for flavour in [Flavour::Keras, Flavour::Torch, Flavour::AmsGrad] {
            let (mut decayed, mut plain) = ([2.0], [2.0]);
            Adam::new(flavour, 1, 0.5).step(1, 0.01, &mut decayed, &[0.25]);
            Adam::new(flavour, 1, 0.0).step(1, 0.01, &mut plain, &[1.25]); // 0.25 + 0.5·2
            assert_eq!(decayed, plain);
        }
    }
}
