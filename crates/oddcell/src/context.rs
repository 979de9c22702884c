//! What a long piece of work needs besides its data: a seed, and somebody who watches and may stop it.
//!
//! Threads are not part of it: parallel work runs on the rayon pool it is called from, and gives the same bits
//! on any number of threads.

use crate::{Fitted, Seed};

/// How far a piece of work has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Units of work done (optimisation steps, trees, rows).
    pub done: usize,
    /// Units of work in all.
    pub total: usize,
    /// The training loss, where there is one.
    pub loss: Option<f64>,
}

/// Watches a long piece of work and may stop it.
pub trait Monitor: Sync {
    /// Called now and then, from any thread.
    fn advanced(&self, progress: Progress);

    /// Asked now and then; once it is true the work stops with [`crate::error::FitError::Cancelled`].
    fn cancelled(&self) -> bool {
        false
    }

    /// The calling thread turns to another stage of judging; `None` means that it waits. Returns the stage it was in.
    /// The library reads no clock: a monitor that has one can tell where the time goes.
    fn turned_to(&self, _stage: Option<Stage>) -> Option<Stage> {
        None
    }

    /// Whether [`Monitor::state`] is wanted after optimisation step `done` (from 1) of `total`.
    fn wants_state(&self, _done: usize, _total: usize) -> bool {
        false
    }

    /// What fitting would give if it ended after a step that was asked for. All that are trained in steps give their states away, but those of
    /// nets that are trained one after the other; asking for them changes nothing in what is learned.
    fn state(&self, _done: usize, _total: usize, _fitted: &dyn Fitted) {}
}

/// A stage on the road of judged rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// From the file to cells: reading, decompressing, parsing the format.
    Reading,
    /// From cells to features.
    Encoding,
    /// From features to scores, p-values and noise.
    Judging,
    /// From noise to reasons.
    Reasons,
    /// Observers look: oddest rows, labels, the report.
    Observing,
    /// Verdicts, and from rows to the file.
    Writing,
}

/// Does `work`, which belongs to `stage`.
pub(crate) fn timed<T>(monitor: &dyn Monitor, stage: Stage, work: impl FnOnce() -> T) -> T {
    let before = monitor.turned_to(Some(stage));
    let result = work();
    monitor.turned_to(before);
    result
}

/// Watches nothing, stops nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Monitor for Silent {
    fn advanced(&self, _: Progress) {}
}

/// Seed and monitor of one piece of work.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Where all randomness comes from.
    pub seed: Seed,
    /// Who watches.
    pub monitor: &'a dyn Monitor,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Context").field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl Context<'static> {
    /// A context without a watcher.
    #[must_use]
    pub fn silent(seed: Seed) -> Self {
        Context { seed, monitor: &Silent }
    }
}

impl<'a> Context<'a> {
    /// The same watcher, another seed.
    #[must_use]
    pub fn with_seed(self, seed: Seed) -> Context<'a> {
        Context { seed, ..self }
    }
}
