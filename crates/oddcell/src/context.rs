//! What long work needs besides its data: a seed, and a monitor that watches and may stop it.
//!
//! The context has no threads: parallel work runs on the rayon pool it is called from, and gives the same bits on any
//! number of threads.

use crate::{Fitted, Seed, error::FitError};

/// The progress of long work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Units of work done (optimization steps, trees, rows).
    pub done: usize,
    /// Units of work in all.
    pub total: usize,
    /// The training loss, if there is one.
    pub loss: Option<f64>,
}

/// Watches long work and may stop it.
pub trait Monitor: Sync {
    /// Reports progress; called from time to time, from any thread.
    fn advanced(&self, progress: Progress);

    /// Polled from time to time; once it returns true, the work stops with [`crate::error::FitError::Cancelled`].
    fn cancelled(&self) -> bool {
        false
    }

    /// The calling thread enters another stage of judging; `None` means that it waits. Returns the stage it was in.
    /// The library reads no clock; a monitor with a clock can measure where the time goes.
    fn turned_to(&self, _stage: Option<Stage>) -> Option<Stage> {
        None
    }

    /// Whether to call [`Monitor::state`] after optimization step `done` (from 1) of `total`.
    fn wants_state(&self, _done: usize, _total: usize) -> bool {
        false
    }

    /// Receives what fitting would return if it ended after a requested step. All detectors trained in steps report
    /// their states, except those that train several nets one after the other. Requesting states does not change what
    /// is learned.
    fn state(&self, _done: usize, _total: usize, _fitted: &dyn Fitted) {}
}

/// A stage of judging rows.
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
    /// Observers at work: oddest rows, labels, the report.
    Observing,
    /// Verdicts, and from judged rows to the file.
    Writing,
}

/// Runs `work` as part of `stage`.
pub(crate) fn timed<T>(monitor: &dyn Monitor, stage: Stage, work: impl FnOnce() -> T) -> T {
    let before = monitor.turned_to(Some(stage));
    let result = work();
    monitor.turned_to(before);
    result
}

/// A monitor that ignores progress and never stops the work.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Monitor for Silent {
    fn advanced(&self, _: Progress) {}
}

/// The seed and monitor of long work.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The source of all randomness.
    pub seed: Seed,
    /// Watches the work and may stop it.
    pub monitor: &'a dyn Monitor,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Context").field("seed", &self.seed).finish_non_exhaustive()
    }
}

/// An error if the work was cancelled.
pub(crate) fn go_on(monitor: &dyn Monitor) -> Result<(), FitError> {
    if monitor.cancelled() { Err(FitError::Cancelled) } else { Ok(()) }
}

impl Context<'static> {
    /// A context without a monitor.
    #[must_use]
    pub fn silent(seed: Seed) -> Self {
        Context { seed, monitor: &Silent }
    }
}
