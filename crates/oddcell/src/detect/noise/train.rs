//! The training loop of noise evaluation.
//!
//! A step takes a batch of rows, cuts it into shards of [`SHARD_ROWS`] rows, and sends each shard (clean rows
//! and noised copies) forward and back on whatever thread is free. The shards' gradients are summed in shard
//! order, so any number of threads gives the same bits.

use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{NoiseFitted, NoiseParams, params::Loss};
use crate::{
    Context, Progress, Seed,
    detect::{RowBlocks, held},
    error::FitError,
    net::{Adam, Flavour, Net, Packed, Pass, Weights, gemm::padded},
    noise::{Extremes, Noise, PaddedRows, Scratch, Shard},
    simd::{self, Work},
    team::with_team,
};

/// Rows of a shard, before their noised copies.
const SHARD_ROWS: usize = 64;
/// Reports the first step to the monitor, asks whether to stop, and then does so once in this many steps.
const STEPS_PER_REPORT: usize = 16;

/// Trains `net` on `rows` and gives its last weights; `fitted` is what the monitor is shown of earlier ones.
pub(super) fn train(
    params: &NoiseParams,
    net: &Net,
    rows: &dyn RowBlocks,
    context: &Context<'_>,
    fitted: &(dyn Fn(Weights) -> NoiseFitted + Sync),
) -> Result<Weights, FitError> {
    let noise = params.noise_to_train_with();
    let stride = padded(rows.n_cols());
    let batches = Batches::new(context.seed, rows, params.batch_size);
    let batch_size = batches.size;
    let total = params.train_for.steps(batches.per_epoch());
    let n_workers = batch_size.div_ceil(SHARD_ROWS);
    let capacity = noise.rows_for(SHARD_ROWS.min(batch_size));
    let mut weights = net.init(context.seed);
    let mut optimizer = Adam::new(Flavour::AmsGrad, net.n_weights(), params.weight_decay);
    let mut gradient = vec![0.0f32; net.n_weights()];

    let shared = Shared {
        net,
        noise: &noise,
        loss: params.loss,
        packed: RwLock::new(Packed::for_training(net, &weights)),
        batch: RwLock::new(batches),
        workers: (0..n_workers).map(|_| Mutex::new(Worker::new(net, capacity, stride))).collect(),
        learned: (0..n_workers).map(|_| Mutex::new(Learned::new(net))).collect(),
        is_learning: AtomicBool::new(false),
    };
    with_team(
        n_workers,
        |shard| shared.work(shard),
        |team| {
            let mut n_shards = shared.next_batch()?;
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
                    crate::context::go_on(context.monitor)?;
                }
                let rate = params.learning_rate * params.schedule.factor(done - 1, total);
                // The next batch's noise does not depend on the weights: it is drawn while they change.
                shared.is_learning.store(false, Ordering::SeqCst);
                n_shards = if done < total { shared.next_batch()? } else { 0 };
                team.burst(n_shards, || {
                    simd::run(Sum { parts: &learned, sum: &mut gradient });
                    optimizer.step(done, rate, &mut weights.0, &gradient);
                    shared.packed.write().unwrap_or_else(PoisonError::into_inner).refresh(net, &weights);
                });
                if context.monitor.wants_state(done, total) {
                    context.monitor.state(done, total, &fitted(weights.clone()));
                }
            }
            Ok(())
        },
    )?;
    // The loss was computed before the last step; a net that cannot be loaded must not be saved.
    if weights.0.iter().all(|weight| weight.is_finite()) {
        Ok(weights)
    } else {
        Err(FitError::Diverged { step: total, loss: f64::INFINITY })
    }
}

/// What the threads of a training share. Locks say who may touch what; none is ever waited for, because a
/// shard is one thread's, and the packed weights change only while nobody learns.
struct Shared<'a> {
    net: &'a Net,
    noise: &'a Noise,
    loss: Loss,
    packed: RwLock<Packed>,
    batch: RwLock<Batches<'a>>,
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
            worker.prepare(self.noise, Shard { data: batch.data(), rows, extremes, epoch_key });
        }
    }

    /// Goes on to the next batch; gives the number of its shards.
    fn next_batch(&self) -> Result<usize, FitError> {
        let mut batch = self.batch.write().unwrap_or_else(PoisonError::into_inner);
        batch.advance()?;
        if self.noise.needs_extremes() {
            let mut extremes = std::mem::take(&mut batch.extremes);
            extremes.of(batch.data(), batch.rows());
            batch.extremes = extremes;
        }
        Ok(batch.rows().len().div_ceil(SHARD_ROWS))
    }

    /// Cells of the present batch, noised copies included.
    fn n_cells(&self) -> usize {
        let batch = self.batch.read().unwrap_or_else(PoisonError::into_inner);
        self.noise.rows_for(batch.rows().len()) * batch.data().width
    }
}

/// Rows in random order, a batch at a time, each row once per epoch: block after block in random order, and
/// the rows of a block in random order. Where all rows are in memory they are one block, and a visit to it is
/// an epoch.
struct Batches<'a> {
    seed: Seed,
    source: &'a dyn RowBlocks,
    /// The order of the blocks in this epoch.
    blocks: Vec<usize>,
    /// Visits to blocks so far.
    visits: u64,
    /// The rows of the present block.
    values: Vec<f32>,
    order: Vec<u32>,
    size: usize,
    current: Range<usize>,
    /// Of the present batch, where the noise needs them.
    extremes: Extremes,
}

impl<'a> Batches<'a> {
    /// Batches of at most `size` rows.
    fn new(seed: Seed, source: &'a dyn RowBlocks, size: usize) -> Self {
        // Room for any block at once: one that grows would be there twice for a moment.
        let most_rows = (0..source.n_blocks()).map(|block| source.block_rows(block)).max().unwrap_or(0);
        Self {
            seed,
            source,
            blocks: Vec::new(),
            visits: 0,
            values: Vec::with_capacity(most_rows * padded(source.n_cols())),
            order: Vec::with_capacity(most_rows),
            size: size.min(most_rows),
            current: 0..0,
            extremes: Extremes::default(),
        }
    }

    fn per_epoch(&self) -> usize {
        let batches = |block| self.source.block_rows(block).div_ceil(self.size);
        (0..self.source.n_blocks()).map(batches).sum()
    }

    /// Goes on to the next batch, and to the next block when all rows of this one had their turn.
    fn advance(&mut self) -> Result<(), FitError> {
        let mut start = self.current.end;
        if start == self.order.len() {
            self.next_block()?;
            start = 0;
        }
        self.current = start..self.order.len().min(start + self.size);
        Ok(())
    }

    fn next_block(&mut self) -> Result<(), FitError> {
        let n_blocks = self.source.n_blocks();
        let (epoch, turn) = (self.visits / n_blocks as u64, self.visits as usize % n_blocks);
        if turn == 0 {
            self.blocks = self.seed.stream("blocks", &[epoch]).permutation(n_blocks);
        }
        // A single block stays where it is.
        if n_blocks > 1 || self.visits == 0 {
            self.load(self.blocks[turn])?;
        }
        self.seed.stream("shuffle", &[self.visits]).shuffle(&mut self.order);
        self.visits += 1;
        Ok(())
    }

    fn load(&mut self, block: usize) -> Result<(), FitError> {
        let (n_rows, stride) = (self.source.block_rows(block), self.stride());
        self.order.clear();
        self.order.extend(0..n_rows as u32);
        let values = &mut self.values;
        values.clear();
        self.source.each_row(block, &mut |row| {
            values.extend(row.iter().map(|&value| held::net_input(value)));
            values.resize(values.len().next_multiple_of(stride), 0.0);
        })?;
        Ok(())
    }

    fn stride(&self) -> usize {
        padded(self.source.n_cols())
    }

    /// The present block.
    fn data(&self) -> PaddedRows<'_> {
        PaddedRows { values: &self.values, stride: self.stride(), width: self.source.n_cols() }
    }

    /// The rows of the present batch, as indices into the block.
    fn rows(&self) -> &[u32] {
        &self.order[self.current.clone()]
    }

    /// The key of this visit's noise.
    fn noise_key(&self) -> u64 {
        self.seed.key("noise", &[self.visits - 1])
    }
}

impl Worker {
    fn new(net: &Net, capacity: usize, stride: usize) -> Self {
        let pass = Pass::for_training(net, capacity);
        Self { pass, targets: vec![0.0; capacity * stride], scratch: Scratch::default(), n_rows: 0 }
    }

    /// Draws the noise of a shard.
    fn prepare(&mut self, noise: &Noise, shard: Shard<'_>) {
        self.n_rows = noise.rows_for(shard.rows.len());
        noise.fill(shard, self.pass.input_mut(), &mut self.targets, &mut self.scratch);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::detect::blocks::Numbered;

    proptest! {
        #[test]
        fn every_row_has_its_turn_once_per_epoch_and_a_batch_never_crosses_blocks(
            sizes in prop::collection::vec(1usize..40, 1..5), size in 1usize..20, seed in any::<u64>()
        ) {
            let blocks = Numbered(sizes.clone());
            let n_rows: usize = sizes.iter().sum();
            let mut batches = Batches::new(Seed(seed), &blocks, size);
            for _ in 0..3 {
                let mut seen = Vec::new();
                for _ in 0..batches.per_epoch() {
                    batches.advance().unwrap();
                    let data = batches.data();
                    prop_assert!((1..=size).contains(&batches.rows().len()));
                    seen.extend(batches.rows().iter().map(|&row| data.row(row as usize)[0] as usize));
                }
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..n_rows).collect::<Vec<_>>());
            }
            prop_assert_eq!(batches.visits, 3 * sizes.len() as u64);
        }
    }
}
