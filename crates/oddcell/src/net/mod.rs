//! Small feed-forward nets: forward, backward, optimizer. No framework: a handful of dense layers is all that
//! the detectors of this library need, and owning them buys speed and the same bits everywhere.
//!
//! ```text
//! Net      the architecture: layers, where their weights lie           (immutable)
//! Weights  all weights and biases in one flat array                     (changed by the optimizer)
//! Packed   the weights once more, laid out for the kernels              (refreshed after every change)
//! Pass     the activations and deltas of one shard of rows              (one per worker, allocated once)
//! ```
//!
//! *Shapes:* a layer holds W as `inputs × padded(outputs)` followed by the bias; activations are
//! `rows × padded(width)`. Padding is zero and stays zero: its gradient is zero.

#![allow(clippy::must_use_candidate, reason = "hidden: only our own crates call it")]

mod adam;
pub mod gemm;
mod layer;
mod linear;
mod pass;
mod schedule;
pub mod stack;

pub use adam::{Adam, Flavour};
pub use layer::{Activation, Layer};
pub use pass::{Packed, Pass};
pub use schedule::Schedule;

use crate::{seed::Seed, tensors::TensorError, tensors::Tensors};
use gemm::padded;

/// An architecture: dense layers in a row; some add an earlier activation.
#[derive(Debug, Clone, PartialEq)]
pub struct Net {
    layers: Vec<Layer>,
    offsets: Vec<usize>,
    n_weights: usize,
}

/// All weights and biases of a net in one flat, padded array.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights(pub Vec<f32>);

impl Net {
    /// A net from its layers.
    ///
    /// # Panics
    /// If the layers do not fit each other: architectures are built by this library, not by users.
    pub fn new(layers: Vec<Layer>) -> Self {
        assert!(!layers.is_empty(), "a net has layers");
        for (index, pair) in layers.windows(2).enumerate() {
            assert_eq!(pair[0].outputs, pair[1].inputs, "layer {} feeds layer {}", index, index + 1);
        }
        for (index, layer) in layers.iter().enumerate() {
            let fits = !layer.skip || (index > 0 && layers[index - 1].inputs == layer.outputs);
            assert!(fits, "layer {index} adds the input of the layer before it");
        }
        let mut offsets = Vec::with_capacity(layers.len());
        let mut n_weights = 0;
        for layer in &layers {
            offsets.push(n_weights);
            n_weights += layer.n_weights();
        }
        Self { layers, offsets, n_weights }
    }

    /// The paper's MLP: four dense layers d–h–h–h–d with ReLU between them.
    pub fn mlp(n_features: usize, hidden: usize, output: Activation) -> Self {
        Self::new(vec![
            Layer::dense(n_features, hidden, Activation::Relu),
            Layer::dense(hidden, hidden, Activation::Relu),
            Layer::dense(hidden, hidden, Activation::Relu),
            Layer::dense(hidden, n_features, output),
        ])
    }

    /// The paper's ResMLP: into h, five blocks relu(x + W₂ relu(W₁ x)), out of h.
    pub fn resmlp(n_features: usize, hidden: usize, output: Activation) -> Self {
        let mut layers = vec![Layer::dense(n_features, hidden, Activation::Linear)];
        for _ in 0..5 {
            let dense = Layer::dense(hidden, hidden, Activation::Relu);
            layers.extend([dense, Layer { skip: true, ..dense }]);
        }
        layers.push(Layer::dense(hidden, n_features, output));
        Self::new(layers)
    }

    /// The layers in order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Width of the input.
    pub fn n_inputs(&self) -> usize {
        self.layers[0].inputs
    }

    /// Width of the output.
    pub fn n_outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }

    /// Width of the last hidden layer: the input of the last layer.
    pub fn n_hidden(&self) -> usize {
        self.layers[self.layers.len() - 1].inputs
    }

    /// Length of the flat array of weights, padding included.
    pub fn n_weights(&self) -> usize {
        self.n_weights
    }

    /// Fresh weights: U(−1/√inputs, +1/√inputs) for weights and biases, as PyTorch's `Linear` has them.
    pub fn init(&self, seed: Seed) -> Weights {
        let mut weights = vec![0.0f32; self.n_weights];
        for (index, (layer, &offset)) in self.layers.iter().zip(&self.offsets).enumerate() {
            let mut stream = seed.stream("init", &[index as u64]);
            let bound = 1.0 / (layer.inputs as f64).sqrt();
            let part = &mut weights[offset..][..layer.n_weights()];
            for line in part.chunks_exact_mut(padded(layer.outputs)) {
                line[..layer.outputs].fill_with(|| ((2.0 * stream.uniform() - 1.0) * bound) as f32);
            }
        }
        Weights(weights)
    }

    /// Adds the weights as tensors `layer.N.weight` (inputs × outputs) and `layer.N.bias`, without padding.
    pub fn save(&self, weights: &Weights, tensors: &mut Tensors) {
        for (index, (layer, &offset)) in self.layers.iter().zip(&self.offsets).enumerate() {
            let lines: Vec<f32> = weights.0[offset..][..layer.n_weights()]
                .chunks_exact(padded(layer.outputs))
                .flat_map(|line| &line[..layer.outputs])
                .copied()
                .collect();
            let (weight, bias) = lines.split_at(layer.inputs * layer.outputs);
            let shape = [layer.inputs, layer.outputs];
            tensors.put_f32(&format!("layer.{index}.weight"), &shape, weight.to_vec());
            tensors.put_f32(&format!("layer.{index}.bias"), &[layer.outputs], bias.to_vec());
        }
    }

    /// The weights that [`Net::save`] gave. Shapes are checked before anything is sized by them, so a file
    /// that claims a huge net costs nothing.
    pub fn load(&self, tensors: &mut Tensors) -> Result<Weights, TensorError> {
        let mut lines = Vec::with_capacity(self.layers.len());
        for (index, layer) in self.layers.iter().enumerate() {
            let shape = [layer.inputs, layer.outputs];
            let mut values = tensors.take_f32(&format!("layer.{index}.weight"), &shape)?;
            values.extend(tensors.take_f32(&format!("layer.{index}.bias"), &[layer.outputs])?);
            lines.push(values);
        }
        let mut weights = vec![0.0f32; self.n_weights];
        for ((layer, &offset), values) in self.layers.iter().zip(&self.offsets).zip(&lines) {
            let part = &mut weights[offset..][..layer.n_weights()];
            let lines = part.chunks_exact_mut(padded(layer.outputs));
            for (line, values) in lines.zip(values.chunks_exact(layer.outputs)) {
                line[..layer.outputs].copy_from_slice(values);
            }
        }
        Ok(Weights(weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // 3·8 + 8 for 3 → 5 (padded to 8), 5·8 + 8 for 5 → 2.
    fn weights_lie_padded_one_layer_after_the_other() {
        let net =
            Net::new(vec![Layer::dense(3, 5, Activation::Relu), Layer::dense(5, 2, Activation::Linear)]);
        assert_eq!(net.n_weights(), (3 * 8 + 8) + (5 * 8 + 8));
        let weights = net.init(Seed(1));
        let (used, padding) = weights.0[..8].split_at(5);
        assert!(used.iter().all(|w| w.abs() <= 1.0 / 3f32.sqrt() && *w != 0.0));
        assert_eq!(padding, [0.0; 3]);
    }

    #[test]
    fn saved_weights_load_to_the_same_bits_and_wrong_shapes_are_refused() {
        let net = Net::resmlp(3, 8, Activation::Linear);
        let weights = net.init(Seed(2));
        let mut saved = Tensors::default();
        net.save(&weights, &mut saved);
        assert_eq!(net.load(&mut saved.clone()), Ok(weights));
        let wider = Net::resmlp(4, 8, Activation::Linear);
        assert!(matches!(wider.load(&mut saved), Err(TensorError::WrongShape { .. })));
    }
}
