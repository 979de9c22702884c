//! The training loop of noise evaluation.
//!
//! A step takes a batch of rows, cuts it into shards of [`SHARD_ROWS`] rows, and sends each shard (clean rows and
//! noised copies) forward and back on whatever thread is free. The shards' gradients are summed in shard order,
//! so any number of threads gives the same bits.

use std::ops::Range;

use rayon::prelude::*;

use super::{NoiseParams, params::Loss, to_f32};
use crate::{
    Context, Matrix, Progress, Seed,
    error::FitError,
    net::{AmsGrad, Net, Packed, Pass, Weights, gemm::padded},
    noise::{Extremes, Noise, Rows, Scratch, Shard},
    simd::{self, Work},
};

/// Rows of a shard, before their noised copies.
const SHARD_ROWS: usize = 64;
/// The monitor is told of, and asked after, the first step and every this many steps.
const STEPS_PER_REPORT: usize = 16;

/// Everything one shard needs, allocated once.
struct Worker {
    pass: Pass,
    targets: Vec<f32>,
    scratch: Scratch,
    loss: f64,
    n_rows: usize,
}

/// Trains `net` on `rows` and gives its last weights.
pub(super) fn train(
    params: &NoiseParams,
    net: &Net,
    rows: &Matrix,
    context: &Context<'_>,
) -> Result<Weights, FitError> {
    let noise = params.noise();
    let stride = padded(rows.n_cols());
    let values = to_padded(rows, stride);
    let data = Rows { values: &values, stride, width: rows.n_cols() };

    let batch_size = params.batch_size.min(rows.n_rows());
    let total = params.budget.steps(rows.n_rows().div_ceil(batch_size));
    let n_workers = batch_size.div_ceil(SHARD_ROWS);
    let capacity = noise.rows_for(SHARD_ROWS.min(batch_size));
    let mut workers: Vec<Worker> = (0..n_workers).map(|_| Worker::new(net, capacity, stride)).collect();
    let mut gradients = vec![vec![0.0f32; net.n_weights()]; n_workers];
    let mut weights = net.init(context.seed);
    let mut packed = Packed::for_training(net, &weights);
    let mut optimizer = AmsGrad::new(net.n_weights(), params.weight_decay);

    let mut batches = Batches::new(context.seed, rows.n_rows(), batch_size);
    batches.advance();
    prepare(&mut workers, &noise, data, &batches);
    for done in 1..=total {
        let n_rows = batches.batch().len();
        let n_cells = noise.rows_for(n_rows) * data.width;
        let slope = match params.loss {
            Loss::Sum => 2.0,
            Loss::Mean => 2.0 / n_cells as f32,
        };
        let n_shards = n_rows.div_ceil(SHARD_ROWS);
        let shards = workers[..n_shards].par_iter_mut().zip(&mut gradients);
        shards.for_each(|(worker, gradient)| worker.learn(net, &packed, slope, gradient));
        let loss = workers[..n_shards].iter().map(|worker| worker.loss).sum::<f64>() / n_cells as f64;
        if !loss.is_finite() {
            return Err(FitError::Diverged { step: done, loss });
        }
        if done == 1 || done % STEPS_PER_REPORT == 0 || done == total {
            context.monitor.advanced(Progress { done, total, loss: Some(loss) });
            if context.monitor.cancelled() {
                return Err(FitError::Cancelled);
            }
        }
        let rate = params.learning_rate * params.schedule.factor(done - 1, total);
        batches.advance();
        // The next batch's noise does not depend on the weights: it is drawn while they change.
        rayon::join(
            || {
                optimizer.step(&mut weights, summed(&mut gradients[..n_shards]), rate);
                packed.refresh(net, &weights);
            },
            || {
                if done < total {
                    prepare(&mut workers, &noise, data, &batches);
                }
            },
        );
    }
    // The loss speaks of the weights before the last step; a net that cannot be loaded must not be saved.
    if weights.0.iter().all(|weight| weight.is_finite()) {
        Ok(weights)
    } else {
        Err(FitError::Diverged { step: total, loss: f64::INFINITY })
    }
}

/// Rows in random order, a batch at a time, each row once per epoch.
struct Batches {
    seed: Seed,
    order: Vec<u32>,
    size: usize,
    epochs: u64,
    current: Range<usize>,
}

impl Batches {
    fn new(seed: Seed, n_rows: usize, size: usize) -> Self {
        let order = (0..n_rows as u32).collect();
        Self { seed, order, size, epochs: 0, current: n_rows..n_rows }
    }

    /// Goes on to the next batch, and to the next epoch when all rows had their turn.
    fn advance(&mut self) {
        let mut start = self.current.end;
        if start == self.order.len() {
            self.seed.stream("shuffle", &[self.epochs]).shuffle(&mut self.order);
            self.epochs += 1;
            start = 0;
        }
        self.current = start..self.order.len().min(start + self.size);
    }

    fn batch(&self) -> &[u32] {
        &self.order[self.current.clone()]
    }

    /// The key of this epoch's noise.
    fn noise_key(&self) -> u64 {
        self.seed.key("noise", &[self.epochs - 1])
    }
}

/// Fills the workers with the clean and noised rows of the batch, shard by shard.
fn prepare(workers: &mut [Worker], noise: &Noise, data: Rows<'_>, batches: &Batches) {
    let epoch_key = batches.noise_key();
    let mut extremes = Extremes::default();
    if noise.needs_extremes() {
        extremes.of(data, batches.batch());
    }
    workers.par_iter_mut().zip(batches.batch().par_chunks(SHARD_ROWS)).for_each(|(worker, rows)| {
        worker.prepare(noise, Shard { data, rows, extremes: &extremes, epoch_key });
    });
}

fn to_padded(rows: &Matrix, stride: usize) -> Vec<f32> {
    let mut values = vec![0.0f32; rows.n_rows() * stride];
    for (line, row) in values.chunks_exact_mut(stride).zip(rows.rows()) {
        line.iter_mut().zip(row).for_each(|(cell, &value)| *cell = to_f32(value));
    }
    values
}

impl Worker {
    fn new(net: &Net, capacity: usize, stride: usize) -> Self {
        let pass = Pass::for_training(net, capacity);
        Self {
            pass,
            targets: vec![0.0; capacity * stride],
            scratch: Scratch::default(),
            loss: 0.0,
            n_rows: 0,
        }
    }

    /// Draws the noise of a shard.
    fn prepare(&mut self, noise: &Noise, shard: Shard<'_>) {
        self.n_rows = noise.rows_for(shard.rows.len());
        noise.fill(shard, shard.data.stride, self.pass.input_mut(), &mut self.targets, &mut self.scratch);
    }

    /// Forward, loss, backward: leaves the shard's loss in the worker and its gradient in `gradient`.
    fn learn(&mut self, net: &Net, packed: &Packed, slope: f32, gradient: &mut [f32]) {
        self.pass.forward(net, packed, self.n_rows);
        let cells = self.n_rows * padded(net.n_outputs());
        let (output, delta) = self.pass.output_and_delta();
        self.loss = simd::run(LossDelta {
            output: &output[..cells],
            target: &self.targets[..cells],
            delta: &mut delta[..cells],
            slope,
        });
        gradient.fill(0.0);
        self.pass.backward(net, packed, self.n_rows, gradient);
    }
}

/// Σ (output − target)² and its derivative. Padding is zero on both sides and so adds nothing.
struct LossDelta<'a> {
    output: &'a [f32],
    target: &'a [f32],
    delta: &'a mut [f32],
    slope: f32,
}

impl Work for LossDelta<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const ROWS: usize>(self) -> f64 {
        let Self { output, target, delta, slope } = self;
        // Eight sums side by side, and blocks of them in `f64`: fast, exact enough, in a fixed order.
        let mut total = 0.0f64;
        for ((output, target), delta) in output.chunks(512).zip(target.chunks(512)).zip(delta.chunks_mut(512))
        {
            let mut sums = [0.0f32; 8];
            for ((output, target), delta) in
                output.chunks_exact(8).zip(target.chunks_exact(8)).zip(delta.chunks_exact_mut(8))
            {
                for i in 0..8 {
                    let error = output[i] - target[i];
                    delta[i] = slope * error;
                    sums[i] = error.mul_add(error, sums[i]);
                }
            }
            total += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
        }
        total
    }
}

/// Adds the gradients of all shards, in shard order, into the first one.
fn summed(gradients: &mut [Vec<f32>]) -> &[f32] {
    let (first, others) = gradients.split_first_mut().expect("a batch has a shard");
    for other in others {
        for (sum, value) in first.iter_mut().zip(other) {
            *sum += *value;
        }
    }
    first
}
