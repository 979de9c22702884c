//! Dense layers and their activations.

use serde::{Deserialize, Serialize};

use super::gemm::padded;

/// What happens to a layer's sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// Nothing.
    Linear,
    /// max(x, 0): negative sums become 0.
    Relu,
}

impl Activation {
    #[inline(always)]
    pub(super) fn apply(self, sum: f32) -> f32 {
        match self {
            Activation::Linear => sum,
            Activation::Relu => sum.max(0.0),
        }
    }

    /// The derivative, by the value that [`Activation::apply`] gave.
    #[inline(always)]
    pub(super) fn slope(self, value: f32) -> f32 {
        match self {
            Activation::Linear => 1.0,
            Activation::Relu => f32::from(value > 0.0),
        }
    }
}

/// `activation(x · W + bias [+ skip])`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
    /// Whether the input of the layer before this one is added before the activation.
    pub skip: bool,
    /// What happens to the sums.
    pub activation: Activation,
}

impl Layer {
    /// A layer without a skip.
    pub fn dense(inputs: usize, outputs: usize, activation: Activation) -> Self {
        Self { inputs, outputs, skip: false, activation }
    }

    /// Numbers it takes in the flat array: W, then the bias, padded.
    pub(super) fn n_weights(&self) -> usize {
        (self.inputs + 1) * padded(self.outputs)
    }
}
