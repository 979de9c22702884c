//! The one training loop of the neural baselines.

use std::ops::ControlFlow;

use crate::{
    Context, Matrix, Progress, Seed,
    detect::{Fitted, Generation, TrainFor},
    error::FitError,
    net::stack::{Stack, Trainee},
};

/// Reports the first step to the monitor, and then one step in this many.
const STEPS_PER_REPORT: usize = 16;

/// What learns: one or several nets with one loss.
pub(in crate::detect) trait Learner {
    /// The loss of these training rows at step number `step` (from 1), and its gradient, left in the
    /// trainees. The same rows, step and weights give the same bits.
    fn learn(&mut self, batch: &[u32], step: usize) -> f64;

    /// Every net that is trained.
    fn for_each_trainee(&mut self, visit: &mut dyn FnMut(&mut Trainee));

    /// Moves the weights down the gradient.
    fn update(&mut self, step: usize, rate: f64) {
        self.for_each_trainee(&mut |trainee| trainee.update(step, rate));
    }

    /// Called after every epoch (counted from 1) with its mean loss; may end the training.
    fn end_epoch(&mut self, _epoch: usize, _loss: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// How an epoch is cut into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::detect) enum Batches {
    /// Every row once; the last batch may be smaller.
    All,
    /// Only whole batches, if there are enough rows for one.
    Whole,
    /// One batch of rows drawn without replacement.
    One,
}

/// How long, on which rows, in what batches.
#[derive(Debug)]
pub(in crate::detect) struct Plan {
    /// The training rows.
    rows: Vec<u32>,
    train_for: TrainFor,
    batch_size: usize,
    batches: Batches,
    learning_rate: f64,
}

impl Plan {
    /// All `rows`, in random order, every one of them once in an epoch.
    pub(in crate::detect) fn new(
        rows: &Matrix,
        train_for: TrainFor,
        batch_size: usize,
        learning_rate: f64,
        seed: Seed,
    ) -> Self {
        let mut rows: Vec<u32> = (0..rows.n_rows() as u32).collect();
        seed.stream("holdout", &[]).shuffle(&mut rows);
        Self { rows, train_for, batch_size, batches: Batches::All, learning_rate }
    }

    /// The same with other batches.
    pub(in crate::detect) fn in_batches(self, batches: Batches) -> Self {
        Self { batches, ..self }
    }

    /// The batches of a generation of PyOD, on a random share 1 − `holdout` of the rows, at least one.
    pub(in crate::detect) fn of_generation(mut self, generation: Generation, holdout: f64) -> Self {
        self.rows.truncate(((self.rows.len() as f64 * (1.0 - holdout)) as usize).max(1));
        self.in_batches(match generation {
            Generation::Keras => Batches::All,
            Generation::Torch => Batches::Whole,
        })
    }

    /// Rows of the largest batch.
    pub(in crate::detect) fn batch_rows(&self) -> usize {
        self.batch_size.min(self.rows.len())
    }

    fn steps_per_epoch(&self) -> usize {
        match self.batches {
            Batches::All => self.rows.len().div_ceil(self.batch_size),
            Batches::Whole => (self.rows.len() / self.batch_size).max(1),
            Batches::One => 1,
        }
    }
}

/// Trains a detector; `fitted` makes it of what was learned so far, at the end and whenever the monitor wants
/// to see it.
pub(in crate::detect) fn fit<L: Learner, F: Fitted + 'static>(
    mut learner: L,
    plan: Plan,
    context: &Context<'_>,
    fitted: impl Fn(&L) -> F,
) -> Result<Box<dyn Fitted>, FitError> {
    run(&mut learner, plan, context, |learner, done, total| {
        if context.monitor.wants_state(done, total) {
            context.monitor.state(done, total, &fitted(learner));
        }
    })?;
    Ok(Box::new(fitted(&learner)))
}

/// Trains for as long as the plan says, or until the learner ends it; `look` is called after every step with
/// its number and the number of all, and after the last of an epoch once the epoch has ended.
pub(in crate::detect) fn run<L: Learner>(
    learner: &mut L,
    mut plan: Plan,
    context: &Context<'_>,
    look: impl Fn(&L, usize, usize),
) -> Result<(), FitError> {
    let steps_per_epoch = plan.steps_per_epoch();
    let total = plan.train_for.steps(steps_per_epoch);
    let (mut done, mut epoch) = (0, 0);
    while done < total {
        context.seed.stream("shuffle", &[epoch as u64]).shuffle(&mut plan.rows);
        let steps = steps_per_epoch.min(total - done);
        let mut sum = 0.0;
        for (at, batch) in plan.rows.chunks(plan.batch_size).take(steps).enumerate() {
            done += 1;
            let loss = learner.learn(batch, done);
            if !loss.is_finite() {
                return Err(FitError::Diverged { step: done, loss });
            }
            if done == 1 || done % STEPS_PER_REPORT == 0 || done == total {
                context.monitor.advanced(Progress { done, total, loss: Some(loss) });
            }
            crate::context::go_on(context.monitor)?;
            learner.update(done, plan.learning_rate);
            sum += loss;
            if at + 1 < steps {
                look(learner, done, total);
            }
        }
        epoch += 1;
        let flow = learner.end_epoch(epoch, sum / steps as f64);
        look(learner, done, total);
        if flow.is_break() {
            break;
        }
    }
    // The loss was computed before the last step; a net that cannot be loaded must not be saved.
    let mut finite = true;
    learner.for_each_trainee(&mut |trainee| finite &= trainee.stack.is_finite());
    if finite { Ok(()) } else { Err(FitError::Diverged { step: done, loss: f64::INFINITY }) }
}

/// The nets of the epoch with the lowest loss.
#[derive(Debug, Default)]
pub(in crate::detect) struct Best {
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    loss: f64,
    epoch: usize,
    stacks: Vec<Stack>,
}

impl Best {
    /// Keeps the nets if no earlier epoch had a loss as low.
    pub(in crate::detect) fn offer<'a>(
        &mut self,
        epoch: usize,
        loss: f64,
        stacks: impl Iterator<Item = &'a Stack>,
    ) {
        if self.kept.as_ref().is_none_or(|kept| loss < kept.loss) {
            self.kept = Some(Kept { loss, epoch, stacks: stacks.cloned().collect() });
        }
    }

    /// Epochs since the best one.
    pub(in crate::detect) fn age(&self, epoch: usize) -> usize {
        self.kept.as_ref().map_or(0, |kept| epoch - kept.epoch)
    }

    /// The nets kept, in the order they were offered in; `None` if none ever were.
    pub(in crate::detect) fn stacks(&self) -> Option<&[Stack]> {
        self.kept.as_ref().map(|kept| &*kept.stacks)
    }
}

#[cfg(test)]
pub(in crate::detect) mod tests;
