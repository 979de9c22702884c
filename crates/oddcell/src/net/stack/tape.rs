//! One batch of rows on its way through a stack, forward and back.

use super::{Layer, Placed, Stack, batch_norm, batch_norm::Batch, elementwise, normalize};
use crate::{
    net::{
        gemm::{OuterScratch, padded},
        linear,
    },
    seed::subkey,
};

/// Buffers for up to `capacity` rows, allocated once.
#[derive(Debug, Clone)]
pub struct Tape {
    /// The input, and what every layer that does not work in place gave: capacity × padded width.
    slots: Vec<Vec<f32>>,
    /// What a layer has to remember for the way back: a mask, means and deviations, lengths.
    pub(super) notes: Vec<Vec<f32>>,
    /// The deltas by the output and by the input of the layer at hand, in turns; empty when only scoring.
    deltas: [Vec<f32>; 2],
    /// Which of the two holds the delta last written.
    current: usize,
    /// Whether the last rows went forward in training mode.
    training: bool,
    penalty: f64,
    scratch: OuterScratch,
    sums: Vec<f64>,
    along: Vec<f32>,
}

impl Tape {
    /// Room for scoring up to `capacity` rows at a time.
    pub fn for_scoring(stack: &Stack, capacity: usize) -> Self {
        let mut widths = vec![stack.inputs; stack.n_slots];
        stack.layers.iter().for_each(|placed| widths[placed.slot] = placed.outputs);
        let slots = widths.iter().map(|&width| vec![0.0; capacity * padded(width)]).collect();
        let notes = |placed: &Placed| match placed.layer {
            Layer::Dropout(_) => capacity * padded(placed.outputs),
            Layer::BatchNorm { channels, .. } => 2 * channels.count(placed.inputs),
            Layer::NormalizeRows => capacity,
            Layer::NormalizeGroups(size) => capacity.div_ceil(size) * padded(placed.outputs),
            Layer::Linear { .. } | Layer::Curve(_) | Layer::ActivityPenalty(_) => 0,
        };
        Self {
            slots,
            notes: stack.layers.iter().map(|placed| vec![0.0; notes(placed)]).collect(),
            deltas: [Vec::new(), Vec::new()],
            current: 0,
            training: false,
            penalty: 0.0,
            scratch: OuterScratch::default(),
            sums: Vec::new(),
            along: Vec::new(),
        }
    }

    /// Room for training on up to `capacity` rows at a time.
    pub fn for_training(stack: &Stack, capacity: usize) -> Self {
        let tape = Self::for_scoring(stack, capacity);
        let widest = tape.slots.iter().map(Vec::len).max().unwrap_or(0);
        Self { deltas: [vec![0.0; widest], vec![0.0; widest]], ..tape }
    }

    /// The input rows, to be filled before going forward: row-major, padded width, zero padding.
    pub fn input_mut(&mut self) -> &mut [f32] {
        &mut self.slots[0]
    }

    /// The input rows.
    pub fn input(&self) -> &[f32] {
        &self.slots[0]
    }

    /// What the stack gave, row-major, padded width.
    pub fn output(&self) -> &[f32] {
        &self.slots[self.slots.len() - 1]
    }

    /// What the activity penalties added to the loss of the last rows.
    pub fn penalty(&self) -> f64 {
        self.penalty
    }

    /// The output, and its delta (the derivative of the loss) to be filled before [`Tape::backward`]; as long
    /// as `n_rows` rows, with zero padding.
    pub fn output_and_delta(&mut self, stack: &Stack, n_rows: usize) -> (&[f32], &mut [f32]) {
        let (_, output, delta) = self.ends_and_delta(stack, n_rows);
        (output, delta)
    }

    /// Like [`Tape::output_and_delta`], with the input rows before them.
    pub fn ends_and_delta(&mut self, stack: &Stack, n_rows: usize) -> (&[f32], &[f32], &mut [f32]) {
        let length = n_rows * padded(stack.n_outputs());
        let delta = &mut self.deltas[self.current][..length];
        delta.fill(0.0);
        let input = &self.slots[0][..n_rows * padded(stack.inputs)];
        (input, &self.slots[self.slots.len() - 1][..length], delta)
    }

    /// After [`Tape::backward`] with `to_input`: the derivative of the loss by the input rows.
    pub fn input_delta(&self) -> &[f32] {
        &self.deltas[self.current]
    }

    /// Sends the first `n_rows` input rows through the stack, as for scoring: nothing is dropped, and batch
    /// norms use their running statistics.
    pub fn forward(&mut self, stack: &Stack, n_rows: usize) {
        self.training = false;
        for (placed, notes) in stack.layers.iter().zip(&mut self.notes) {
            match placed.layer {
                Layer::Dropout(_) => notes.fill(1.0),
                Layer::BatchNorm { .. } => {
                    batch_norm::running_notes(&stack.running[placed.running.clone()], notes);
                }
                Layer::Linear { .. }
                | Layer::Curve(_)
                | Layer::ActivityPenalty(_)
                | Layer::NormalizeRows
                | Layer::NormalizeGroups(_) => {}
            }
            step(placed, &stack.weights, &mut self.slots, notes, n_rows);
        }
    }

    /// Sends the first `n_rows` input rows through the stack, as for training: cells are dropped by the
    /// numbers of `key`, and batch norms use the batch's statistics and move their running ones.
    pub fn forward_training(&mut self, stack: &mut Stack, n_rows: usize, key: u64) {
        self.training = true;
        self.penalty = 0.0;
        for (index, (placed, notes)) in stack.layers.iter().zip(&mut self.notes).enumerate() {
            let n_cells = n_rows * padded(placed.outputs);
            match placed.layer {
                Layer::Dropout(rate) => {
                    elementwise::draw_mask(rate, subkey(key, index as u64), &mut notes[..n_cells]);
                }
                Layer::BatchNorm { channels, .. } => {
                    let input = &self.slots[placed.slot - 1][..n_cells];
                    let batch = Batch { channels, width: placed.outputs, input };
                    batch.measure(notes, &mut stack.running[placed.running.clone()], &mut self.sums);
                }
                Layer::ActivityPenalty(weight) => {
                    let values = &self.slots[placed.slot][..n_cells];
                    self.penalty += f64::from(weight) * elementwise::sum_of_squares(values) / n_rows as f64;
                }
                Layer::Linear { .. } | Layer::Curve(_) | Layer::NormalizeRows | Layer::NormalizeGroups(_) => {
                }
            }
            step(placed, &stack.weights, &mut self.slots, notes, n_rows);
        }
    }

    /// Sends the output's delta back. **Adds** the gradient of these rows to `gradient`, if one is wanted,
    /// and goes on to the input's delta if `to_input`. May be called several times after one way forward.
    ///
    /// # Panics
    /// If there is a batch norm and the rows went forward as for scoring.
    pub fn backward(
        &mut self,
        stack: &Stack,
        n_rows: usize,
        mut gradient: Option<&mut [f32]>,
        to_input: bool,
    ) {
        for (index, placed) in stack.layers.iter().enumerate().rev() {
            let (inputs, outputs) = (n_rows * padded(placed.inputs), n_rows * padded(placed.outputs));
            let notes = &self.notes[index];
            let values = &self.slots[placed.slot][..outputs];
            let [first, second] = &mut self.deltas;
            let (delta, next) = if self.current == 0 { (first, second) } else { (second, first) };
            let delta = &mut delta[..outputs];
            let part = gradient.as_deref_mut().map(|gradient| &mut gradient[placed.weights.clone()]);
            match placed.layer {
                Layer::Linear { bias, .. } => {
                    let input = &self.slots[placed.slot - 1][..inputs];
                    if let Some(part) = part {
                        let shape = (placed.inputs, placed.outputs, bias);
                        linear::add_gradient(shape, input, delta, part, &mut self.scratch);
                    }
                    if index > 0 || to_input {
                        placed.packed().backward(placed.inputs, delta, n_rows, &mut next[..inputs]);
                        self.current = 1 - self.current;
                    }
                }
                Layer::BatchNorm { channels, .. } => {
                    assert!(self.training, "a batch norm goes back only from a batch it measured");
                    let input = &self.slots[placed.slot - 1][..inputs];
                    let batch = Batch { channels, width: placed.outputs, input };
                    let weights = &stack.weights[placed.weights.clone()];
                    next[..inputs].fill(0.0);
                    batch.backward(notes, weights, delta, &mut next[..inputs], part, &mut self.sums);
                    self.current = 1 - self.current;
                }
                Layer::Dropout(_) => {
                    delta.iter_mut().zip(notes).for_each(|(delta, mask)| *delta *= mask);
                }
                Layer::ActivityPenalty(weight) if self.training => {
                    let slope = 2.0 * weight / n_rows as f32;
                    delta.iter_mut().zip(values).for_each(|(delta, value)| *delta += slope * value);
                }
                Layer::ActivityPenalty(_) => {}
                Layer::NormalizeRows => normalize::rows_back(placed.outputs, values, notes, delta),
                Layer::NormalizeGroups(size) => {
                    normalize::groups_back(size, placed.outputs, values, notes, delta, &mut self.along);
                }
                Layer::Curve(curve) => curve.back(values, delta),
            }
        }
    }
}

/// Input and output of a layer that does not work in place.
fn sides<'a>(slots: &'a mut [Vec<f32>], placed: &Placed, n_rows: usize) -> (&'a [f32], &'a mut [f32]) {
    let (before, after) = slots.split_at_mut(placed.slot);
    let (inputs, outputs) = (n_rows * padded(placed.inputs), n_rows * padded(placed.outputs));
    (&before[placed.slot - 1][..inputs], &mut after[0][..outputs])
}

/// Takes rows through a layer; its notes say what training and scoring do differently.
fn step(placed: &Placed, weights: &[f32], slots: &mut [Vec<f32>], notes: &mut [f32], n_rows: usize) {
    let width = placed.outputs;
    if let Layer::Curve(curve) = placed.layer {
        return curve.apply(&mut slots[placed.slot][..n_rows * padded(width)], width);
    }
    if let Layer::ActivityPenalty(_) = placed.layer {
        return;
    }
    let (input, output) = sides(slots, placed, n_rows);
    match placed.layer {
        Layer::Linear { .. } => placed.packed().forward(placed.inputs, input, n_rows, output),
        Layer::Dropout(_) => {
            output
                .iter_mut()
                .zip(input)
                .zip(notes)
                .for_each(|((output, input), mask)| *output = input * *mask);
        }
        Layer::BatchNorm { channels, .. } => {
            Batch { channels, width, input }.apply(notes, &weights[placed.weights.clone()], output);
        }
        Layer::NormalizeRows => {
            output.copy_from_slice(input);
            normalize::rows(width, output, notes);
        }
        Layer::NormalizeGroups(size) => {
            output.copy_from_slice(input);
            normalize::groups(size, width, output, notes);
        }
        Layer::Curve(_) | Layer::ActivityPenalty(_) => {}
    }
}
