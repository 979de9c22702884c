//! A stack that is being trained, with its buffers, its gradient and its optimizer.

use super::{Stack, Tape};
use crate::net::{Adam, Flavour};

/// Everything the training of one stack needs, allocated once.
#[derive(Debug, Clone)]
pub struct Trainee {
    /// What is trained.
    pub stack: Stack,
    /// The batch at hand.
    pub tape: Tape,
    /// The derivative of the loss by the weights; zero after every [`Trainee::update`].
    pub gradient: Vec<f32>,
    adam: Adam,
}

impl Trainee {
    /// Room to train `stack` on up to `capacity` rows at a time.
    pub fn new(stack: Stack, capacity: usize, flavour: Flavour, decay: f64) -> Self {
        let n_weights = stack.weights().len();
        let tape = Tape::for_training(&stack, capacity);
        Self { stack, tape, gradient: vec![0.0; n_weights], adam: Adam::new(flavour, n_weights, decay) }
    }

    /// [`Tape::forward_training`].
    pub fn forward(&mut self, n_rows: usize, key: u64) {
        self.tape.forward_training(&mut self.stack, n_rows, key);
    }

    /// The output of the first `n_rows` rows, and its delta to be filled.
    pub fn output_and_delta(&mut self, n_rows: usize) -> (&[f32], &mut [f32]) {
        self.tape.output_and_delta(&self.stack, n_rows)
    }

    /// Sends the output's delta back and adds to the gradient.
    pub fn backward(&mut self, n_rows: usize, to_input: bool) {
        self.tape.backward(&self.stack, n_rows, Some(&mut self.gradient), to_input);
    }

    /// Step number `step` (from 1) down the gradient.
    pub fn update(&mut self, step: usize, rate: f64) {
        let Self { stack, gradient, adam, .. } = self;
        stack.change(|weights| adam.step(step, rate, weights, gradient));
        gradient.fill(0.0);
    }
}
