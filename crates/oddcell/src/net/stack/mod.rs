//! A general stack of layers, for the detectors that need more than the fused engine of [`super::Net`]: batch
//! norm, dropout, tanh, sigmoid, normalized rows, gradients by the input.
//!
//! ```text
//! Stack    the layers, their weights and running statistics     (weights changed by an optimizer)
//! Tape     what a batch of rows left behind on its way forward  (allocated once, used for every batch)
//! Trainee  the two together with a gradient and an optimizer: a stack that is being trained
//! ```
//!
//! *Shapes:* rows are row-major, `rows × padded(width)`; padding is zero and stays zero. A linear layer holds
//! W as `inputs × padded(outputs)` followed by its bias.
//!
//! *Invariant:* outside of training a row's output depends on that row alone (with
//! [`Layer::NormalizeGroups`] and [`Channels::Groups`]: on its own group).

mod batch_norm;
mod elementwise;
mod normalize;
mod products;
mod tape;
mod trainee;

use std::ops::Range;

pub use elementwise::Curve;
pub(crate) use elementwise::sigmoid;
pub(crate) use normalize::dot;
pub(crate) use products::Products;
pub use tape::Tape;
pub use trainee::Trainee;

use super::{gemm::padded, linear::PackedLayer};
use crate::{
    seed::Seed,
    tensors::{TensorError, Tensors},
};

/// Where fresh weights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// Keras's `Dense`: W from U(±√(6 / (inputs + outputs))), bias 0.
    Glorot,
    /// PyTorch's `Linear`: W and bias from U(±1/√inputs).
    Torch,
    /// He's uniform: W from U(±√(6 / inputs)), bias as `Torch`.
    Kaiming,
    /// A hundredth of `Torch`: a layer that starts close to saying nothing.
    NearZero,
}

impl Init {
    /// The bounds of weights and bias.
    fn bounds(self, inputs: usize, outputs: usize) -> (f64, f64) {
        let (inputs, outputs) = (inputs as f64, outputs as f64);
        let torch = 1.0 / inputs.sqrt();
        match self {
            Init::Glorot => ((6.0 / (inputs + outputs)).sqrt(), 0.0),
            Init::Torch => (torch, torch),
            Init::Kaiming => ((6.0 / inputs).sqrt(), torch),
            Init::NearZero => (0.01 * torch, 0.01 * torch),
        }
    }
}

/// What shares one mean and one variance in a batch norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channels {
    /// A column.
    Columns,
    /// All cells of the rows at the same place in their groups of so many rows.
    Groups(usize),
}

impl Channels {
    /// The number of channels of rows of `width` columns.
    fn count(self, width: usize) -> usize {
        match self {
            Channels::Columns => width,
            Channels::Groups(rows) => rows,
        }
    }
}

/// One step of a stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layer {
    /// x·W, plus a bias if there is one.
    Linear {
        /// Width of the output.
        outputs: usize,
        /// Whether there is a bias.
        bias: bool,
        /// Where fresh weights come from.
        init: Init,
    },
    /// A curve that every value goes through.
    Curve(Curve),
    /// Passes x on; adds `weight` · Σx² / rows to the loss, as Keras's activity penalties do.
    ActivityPenalty(f32),
    /// In training, drops a cell with this probability and divides the others by what is left.
    Dropout(f32),
    /// Mean 0 and variance 1 in every channel, then a learned scale and shift per channel if `affine`.
    BatchNorm {
        /// What shares a mean and a variance.
        channels: Channels,
        /// Whether there are a scale and a shift.
        affine: bool,
    },
    /// Every row divided by its Euclidean length.
    NormalizeRows,
    /// In every group of so many rows, each column divided by its Euclidean length.
    NormalizeGroups(usize),
}

impl Layer {
    /// PyTorch's `Linear` with bias.
    pub fn torch(outputs: usize) -> Self {
        Layer::Linear { outputs, bias: true, init: Init::Torch }
    }

    /// PyTorch's `Linear` without bias.
    pub fn torch_without_bias(outputs: usize) -> Self {
        Layer::Linear { outputs, bias: false, init: Init::Torch }
    }

    /// Whether the layer works in place, without a buffer of its own; and whether the way back needs what it gave.
    fn in_place_and_needed(self) -> (bool, bool) {
        match self {
            Layer::Curve(_) | Layer::ActivityPenalty(_) => (true, true),
            Layer::NormalizeRows | Layer::NormalizeGroups(_) => (false, true),
            Layer::Linear { .. } | Layer::Dropout(_) | Layer::BatchNorm { .. } => (false, false),
        }
    }
}

/// Name and shape of a tensor.
type Named = (&'static str, Vec<usize>);

/// A layer with its place in a stack.
#[derive(Debug, Clone)]
struct Placed {
    layer: Layer,
    inputs: usize,
    outputs: usize,
    /// Its part of the weights: W and bias, or scale and shift.
    weights: Range<usize>,
    /// Its part of the running statistics: means, then variances.
    running: Range<usize>,
    /// The tensors of either part, in order.
    names: (Vec<Named>, Vec<Named>),
    /// Values per line of the weights, with and without padding.
    line: (usize, usize),
    /// The buffer of its output.
    slot: usize,
    /// The weights of a linear layer.
    packed: Option<PackedLayer>,
}

impl Placed {
    fn packed(&self) -> &PackedLayer {
        self.packed.as_ref().expect("a linear layer is packed")
    }
}

/// Layers one after the other, with their weights.
#[derive(Debug, Clone)]
pub struct Stack {
    inputs: usize,
    layers: Vec<Placed>,
    n_slots: usize,
    weights: Vec<f32>,
    running: Vec<f32>,
}

impl Stack {
    /// Layers with fresh weights.
    pub fn new(inputs: usize, layers: &[Layer], seed: Seed) -> Self {
        let mut stack = Self::place(inputs, layers);
        stack.allocate();
        for (index, placed) in stack.layers.iter().enumerate() {
            let part = &mut stack.weights[placed.weights.clone()];
            match placed.layer {
                Layer::Linear { bias, init, .. } => {
                    let mut stream = seed.stream("init", &[index as u64]);
                    let (bound, bias_bound) = init.bounds(placed.inputs, placed.outputs);
                    let lines = part.chunks_exact_mut(padded(placed.outputs));
                    for (line, values) in lines.take(placed.inputs + usize::from(bias)).enumerate() {
                        let bound = if line < placed.inputs { bound } else { bias_bound };
                        values[..placed.outputs]
                            .fill_with(|| ((2.0 * stream.uniform() - 1.0) * bound) as f32);
                    }
                }
                Layer::BatchNorm { .. } => {
                    let n_channels = part.len() / 2;
                    part[..n_channels].fill(1.0);
                    let running = &mut stack.running[placed.running.clone()];
                    let n_channels = running.len() / 2;
                    running[n_channels..].fill(1.0);
                }
                Layer::Curve(_)
                | Layer::ActivityPenalty(_)
                | Layer::Dropout(_)
                | Layer::NormalizeRows
                | Layer::NormalizeGroups(_) => {}
            }
        }
        stack.refresh();
        stack
    }

    /// The layers in their places, not allocated yet.
    ///
    /// # Panics
    /// If an activation would write over what the layer before it needs on the way back: architectures are
    /// built by this library, not by users.
    fn place(inputs: usize, layers: &[Layer]) -> Self {
        let overwrites =
            |pair: &[Layer]| pair[0].in_place_and_needed().1 && matches!(pair[1], Layer::Curve(_));
        assert!(
            !layers.windows(2).any(overwrites),
            "an activation overwrites what is needed on the way back"
        );
        let (mut width, mut n_weights, mut n_running, mut slot) = (inputs, 0, 0, 0);
        let mut place = |&layer: &Layer| {
            let before = width;
            let (mut names, mut line) = ((vec![], vec![]), (1, 1));
            let (mut of_weights, mut of_running) = (0, 0);
            match layer {
                Layer::Linear { outputs, bias, .. } => {
                    width = outputs;
                    line = (padded(outputs), outputs);
                    of_weights = (before + 1) * padded(outputs);
                    names.0.push(("weight", vec![before, outputs]));
                    names.0.extend(bias.then(|| ("bias", vec![outputs])));
                }
                Layer::BatchNorm { channels, affine } => {
                    let n_channels = channels.count(width);
                    line = (n_channels, n_channels);
                    of_running = 2 * n_channels;
                    names.1 = ["mean", "variance"].map(|name| (name, vec![n_channels])).to_vec();
                    if affine {
                        of_weights = 2 * n_channels;
                        names.0 = ["scale", "shift"].map(|name| (name, vec![n_channels])).to_vec();
                    }
                }
                Layer::Curve(_)
                | Layer::ActivityPenalty(_)
                | Layer::Dropout(_)
                | Layer::NormalizeRows
                | Layer::NormalizeGroups(_) => {}
            }
            slot += usize::from(!layer.in_place_and_needed().0);
            n_weights += of_weights;
            n_running += of_running;
            Placed {
                layer,
                inputs: before,
                outputs: width,
                weights: n_weights - of_weights..n_weights,
                running: n_running - of_running..n_running,
                names,
                line,
                slot,
                packed: None,
            }
        };
        let layers: Vec<Placed> = layers.iter().map(&mut place).collect();
        Self { inputs, layers, n_slots: slot + 1, weights: Vec::new(), running: Vec::new() }
    }

    fn allocate(&mut self) {
        self.weights = vec![0.0; self.layers.last().map_or(0, |last| last.weights.end)];
        self.running = vec![0.0; self.layers.last().map_or(0, |last| last.running.end)];
        for placed in &mut self.layers {
            if let Layer::Linear { .. } = placed.layer {
                placed.packed = Some(PackedLayer::zeros(placed.inputs, placed.outputs, true));
            }
        }
    }

    /// Lays the weights out for the kernels, after every change.
    fn refresh(&mut self) {
        for placed in &mut self.layers {
            if let Some(packed) = &mut placed.packed {
                packed.refresh(&self.weights[placed.weights.clone()], placed.inputs, placed.outputs);
            }
        }
    }

    /// Width of the input.
    pub fn n_inputs(&self) -> usize {
        self.inputs
    }

    /// Width of the output.
    pub fn n_outputs(&self) -> usize {
        self.layers.last().map_or(self.inputs, |last| last.outputs)
    }

    /// All trained weights, padding included.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Whether every weight and every running statistic is a finite number.
    pub fn is_finite(&self) -> bool {
        self.weights.iter().chain(&self.running).all(|value| value.is_finite())
    }

    /// Changes the weights by `change`.
    pub fn change(&mut self, change: impl FnOnce(&mut [f32])) {
        change(&mut self.weights);
        self.refresh();
    }

    /// Where the matrices of the linear layers lie among the weights, without their biases.
    pub fn matrices(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let matrix = |placed: &Placed| placed.weights.start..placed.weights.end - padded(placed.outputs);
        self.layers.iter().filter(|placed| matches!(placed.layer, Layer::Linear { .. })).map(matrix)
    }

    /// Adds weights and statistics as tensors `NAME.N.weight`, `.bias`, `.scale`, `.shift`, `.mean`,
    /// `.variance` for every layer N that has them.
    pub fn save(&self, stack_name: &str, tensors: &mut Tensors) {
        for (index, placed) in self.layers.iter().enumerate() {
            let (stride, width) = placed.line;
            let mut put = |names: &[Named], values: &[f32]| {
                let mut values = values.chunks_exact(stride).flat_map(|line| &line[..width]).copied();
                for (name, shape) in names {
                    let part = values.by_ref().take(shape.iter().product()).collect();
                    tensors.put_f32(&format!("{stack_name}.{index}.{name}"), shape, part);
                }
            };
            put(&placed.names.0, &self.weights[placed.weights.clone()]);
            put(&placed.names.1, &self.running[placed.running.clone()]);
        }
    }

    /// Takes what [`Stack::save`] added. Shapes are checked before anything is sized by them.
    pub fn load(
        stack_name: &str,
        inputs: usize,
        layers: &[Layer],
        tensors: &mut Tensors,
    ) -> Result<Self, TensorError> {
        let mut stack = Self::place(inputs, layers);
        let mut taken = Vec::with_capacity(layers.len());
        for (index, placed) in stack.layers.iter().enumerate() {
            let mut take = |names: &[Named]| -> Result<Vec<f32>, TensorError> {
                let mut values = Vec::new();
                for (name, shape) in names {
                    let name = format!("{stack_name}.{index}.{name}");
                    let part = tensors.take_f32(&name, shape)?;
                    if name.ends_with(".variance") && !part.iter().all(|&variance| variance >= 0.0) {
                        let reason = "a variance is negative".to_owned();
                        return Err(TensorError::Invalid { name, reason });
                    }
                    values.extend(part);
                }
                Ok(values)
            };
            taken.push((take(&placed.names.0)?, take(&placed.names.1)?));
        }
        stack.allocate();
        for (placed, (trained, running)) in stack.layers.iter().zip(taken) {
            let (stride, width) = placed.line;
            let lines = stack.weights[placed.weights.clone()].chunks_exact_mut(stride);
            for (line, values) in lines.zip(trained.chunks_exact(width)) {
                line[..width].copy_from_slice(values);
            }
            stack.running[placed.running.clone()].copy_from_slice(&running);
        }
        stack.refresh();
        Ok(stack)
    }
}

#[cfg(test)]
mod tests;
