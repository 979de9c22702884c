//! The training loop of noise evaluation.
//!
//! A step takes a batch of rows, cuts it into shards of [`SHARD_ROWS`] rows, and sends each shard (clean rows and
//! noised copies) forward and back on whatever thread is free. The shards' gradients are summed in shard order,
//! so any number of threads gives the same bits.

use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{NoiseFitted, NoiseParams, params::Loss, to_f32};
use crate::{
    Context, Matrix, Progress, Seed,
    error::FitError,
    net::{AmsGrad, Net, Packed, Pass, Weights, gemm::padded},
    noise::{Extremes, Noise, Rows, Scratch, Shard},
    simd::{self, Work},
    team::with_team,
};

/// Rows of a shard, before their noised copies.
const SHARD_ROWS: usize = 64;
/// The monitor is told of, and asked after, the first step and every this many steps.
const STEPS_PER_REPORT: usize = 16;

/// Trains `net` on `rows` and gives its last weights; `fitted` is what the monitor is shown of earlier ones.
pub(super) fn train(
    params: &NoiseParams,
    net: &Net,
    rows: &Matrix,
    context: &Context<'_>,
    fitted: &(dyn Fn(Weights) -> NoiseFitted + Sync),
) -> Result<Weights, FitError> {
    let noise = params.noise();
    let stride = padded(rows.n_cols());
    let values = to_padded(rows, stride);
    let data = Rows { values: &values, stride, width: rows.n_cols() };

    let batch_size = params.batch_size.min(rows.n_rows());
    let total = params.budget.steps(rows.n_rows().div_ceil(batch_size));
    let n_workers = batch_size.div_ceil(SHARD_ROWS);
    let capacity = noise.rows_for(SHARD_ROWS.min(batch_size));
    let mut weights = net.init(context.seed);
    let mut optimizer = AmsGrad::new(net.n_weights(), params.weight_decay);
    let mut gradient = vec![0.0f32; net.n_weights()];

    let shared = Shared {
        net,
        noise: &noise,
        data,
        loss: params.loss,
        packed: RwLock::new(Packed::for_training(net, &weights)),
        batch: RwLock::new(Batches::new(context.seed, rows.n_rows(), batch_size)),
        workers: (0..n_workers).map(|_| Mutex::new(Worker::new(net, capacity, stride))).collect(),
        learned: (0..n_workers).map(|_| Mutex::new(Learned::new(net))).collect(),
        is_learning: AtomicBool::new(false),
    };
    with_team(
        n_workers,
        |shard| shared.work(shard),
        |team| {
            let mut n_shards = shared.next_batch();
            team.burst(n_shards, || {});
            for done in 1..=total {
                shared.is_learning.store(true, Ordering::SeqCst);
                team.burst(n_shards, || {});
                let learned: Vec<_> = shared.learned[..n_shards].iter().map(lock).collect();
                let loss = learned.iter().map(|learned| learned.loss).sum::<f64>() / shared.n_cells() as f64;
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
                // The next batch's noise does not depend on the weights: it is drawn while they change.
                shared.is_learning.store(false, Ordering::SeqCst);
                n_shards = if done < total { shared.next_batch() } else { 0 };
                team.burst(n_shards, || {
                    simd::run(Sum { parts: &learned, sum: &mut gradient });
                    optimizer.step(&mut weights, &gradient, rate);
                    shared.packed.write().unwrap_or_else(PoisonError::into_inner).refresh(net, &weights);
                });
                if context.monitor.wants_state(done, total) {
                    context.monitor.state(done, total, &fitted(weights.clone()));
                }
            }
            Ok(())
        },
    )?;
    // The loss speaks of the weights before the last step; a net that cannot be loaded must not be saved.
    if weights.0.iter().all(|weight| weight.is_finite()) {
        Ok(weights)
    } else {
        Err(FitError::Diverged { step: total, loss: f64::INFINITY })
    }
}

/// What the threads of a training share. Locks say who may touch what; none is ever waited for, because a shard is one
/// thread's, and the packed weights change only while nobody learns.
struct Shared<'a> {
    net: &'a Net,
    noise: &'a Noise,
    data: Rows<'a>,
    loss: Loss,
    packed: RwLock<Packed>,
    batch: RwLock<Batches>,
    workers: Vec<Mutex<Worker>>,
    learned: Vec<Mutex<Learned>>,
    /// Whether shards learn now, or are filled with the next batch.
    is_learning: AtomicBool,
}

/// The rows of one shard on their way through the net; allocated once.
struct Worker {
    pass: Pass,
    targets: Vec<f32>,
    scratch: Scratch,
    n_rows: usize,
}

/// What one shard has to say.
struct Learned {
    gradient: Vec<f32>,
    loss: f64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    /// One shard's part of the present burst.
    fn work(&self, shard: usize) {
        let mut worker = lock(&self.workers[shard]);
        if self.is_learning.load(Ordering::SeqCst) {
            let slope = match self.loss {
                Loss::Sum => 2.0,
                Loss::Mean => 2.0 / self.n_cells() as f32,
            };
            let packed = self.packed.read().unwrap_or_else(PoisonError::into_inner);
            worker.learn(self.net, &packed, slope, &mut lock(&self.learned[shard]));
        } else {
            let batch = self.batch.read().unwrap_or_else(PoisonError::into_inner);
            let rows = batch.rows().chunks(SHARD_ROWS).nth(shard).expect("as many shards as the batch has");
            let (extremes, epoch_key) = (&batch.extremes, batch.noise_key());
            worker.prepare(self.noise, Shard { data: self.data, rows, extremes, epoch_key });
        }
    }

    /// Goes on to the next batch; gives the number of its shards.
    fn next_batch(&self) -> usize {
        let mut batch = self.batch.write().unwrap_or_else(PoisonError::into_inner);
        batch.advance();
        if self.noise.needs_extremes() {
            let Batches { extremes, order, current, .. } = &mut *batch;
            extremes.of(self.data, &order[current.clone()]);
        }
        batch.rows().len().div_ceil(SHARD_ROWS)
    }

    /// Cells of the present batch, noised copies included.
    fn n_cells(&self) -> usize {
        let batch = self.batch.read().unwrap_or_else(PoisonError::into_inner);
        self.noise.rows_for(batch.rows().len()) * self.data.width
    }
}

/// Rows in random order, a batch at a time, each row once per epoch.
struct Batches {
    seed: Seed,
    order: Vec<u32>,
    size: usize,
    epochs: u64,
    current: Range<usize>,
    /// Of the present batch, where the noise needs them.
    extremes: Extremes,
}

impl Batches {
    fn new(seed: Seed, n_rows: usize, size: usize) -> Self {
        let order = (0..n_rows as u32).collect();
        Self { seed, order, size, epochs: 0, current: n_rows..n_rows, extremes: Extremes::default() }
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

    fn rows(&self) -> &[u32] {
        &self.order[self.current.clone()]
    }

    /// The key of this epoch's noise.
    fn noise_key(&self) -> u64 {
        self.seed.key("noise", &[self.epochs - 1])
    }
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
        Self { pass, targets: vec![0.0; capacity * stride], scratch: Scratch::default(), n_rows: 0 }
    }

    /// Draws the noise of a shard.
    fn prepare(&mut self, noise: &Noise, shard: Shard<'_>) {
        self.n_rows = noise.rows_for(shard.rows.len());
        noise.fill(shard, shard.data.stride, self.pass.input_mut(), &mut self.targets, &mut self.scratch);
    }

    /// Forward, loss, backward.
    fn learn(&mut self, net: &Net, packed: &Packed, slope: f32, learned: &mut Learned) {
        self.pass.forward(net, packed, self.n_rows);
        let cells = self.n_rows * padded(net.n_outputs());
        let (output, delta) = self.pass.output_and_delta();
        learned.loss = simd::run(LossDelta {
            output: &output[..cells],
            target: &self.targets[..cells],
            delta: &mut delta[..cells],
            slope,
        });
        learned.gradient.fill(0.0);
        self.pass.backward(net, packed, self.n_rows, &mut learned.gradient);
    }
}

impl Learned {
    fn new(net: &Net) -> Self {
        Self { gradient: vec![0.0; net.n_weights()], loss: 0.0 }
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

/// The gradients of all shards, added in shard order.
struct Sum<'a, 'lock> {
    parts: &'a [MutexGuard<'lock, Learned>],
    sum: &'a mut [f32],
}

impl Work for Sum<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<const ROWS: usize>(self) {
        let (first, others) = self.parts.split_first().expect("a batch has a shard");
        self.sum.copy_from_slice(&first.gradient);
        for other in others {
            for (sum, value) in self.sum.iter_mut().zip(&other.gradient) {
                *sum += *value;
            }
        }
    }
}
