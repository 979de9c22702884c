//! One run: fit, score, measure.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use oddcell::{
    Context, DetectorSpec, Error, Fitted, Matrix, Monitor, Progress, Seed, Silent,
    detect::Training,
    error::Blame,
    metrics::{self, TieRule},
};

use crate::{
    cells::{self, CellSplit},
    contest::Contest,
    methods::Method,
    protocol::{Protocol, Split},
};

/// Points of a training at which its state is scored.
pub const STATES: usize = 20;
/// With more test rows than this, the states of a training are not scored if scoring is slow.
const MOST_LOOKED_AT: usize = 5_000;

/// One run.
#[derive(Debug, Clone)]
pub struct Job {
    /// How the set is split.
    pub protocol: Protocol,
    /// The set's name.
    pub set: String,
    /// The class that is normal.
    pub class: i64,
    /// What is run.
    pub method: Method,
    /// Seed of the split and of the method.
    pub seed: u64,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Well.
    Done(Measured),
    /// It exceeded this time limit.
    TimedOut(Duration),
    /// With an error.
    Failed(String),
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Area under the ROC curve.
    pub auc: f64,
    /// Average precision.
    pub ap: f64,
    /// F1 at the number of anomalies; ties across the cut count as normal.
    pub f1: f64,
    /// The same; of ties the earlier rows count as anomalous.
    pub f1_row_order: f64,
    /// Share of the rows whose oddest cell was spoiled; only if cells are judged.
    pub top1: Option<f64>,
    /// Seconds of fitting, without the scoring of its states.
    pub fit_seconds: f64,
    /// Seconds of scoring the test rows.
    pub score_seconds: f64,
    /// Optimization steps, if all nets are trained at once.
    pub steps: Option<usize>,
    /// The test AUC during training, as (share of the training, AUC). Only for oracle columns: it decides
    /// nothing.
    pub path: Vec<(f64, f64)>,
}

/// Fits and scores on the threads of the present rayon pool.
#[must_use]
pub fn run(method: &Method, split: &Split, seed: u64, limit: Option<Duration>) -> Outcome {
    outcome(limit, run_rows(method, split, Seed(seed), limit))
}

/// The same for cells: which of them were spoiled?
#[must_use]
pub fn run_cells(method: &Method, split: &CellSplit, seed: u64, limit: Option<Duration>) -> Outcome {
    outcome(limit, find_cells(method, split, Seed(seed), limit))
}

fn run_rows(
    method: &Method,
    split: &Split,
    seed: Seed,
    limit: Option<Duration>,
) -> Result<Measured, Stopped> {
    let spec = method.spec.as_ref().ok_or_else(|| Stopped::Error("it only judges cells".to_owned()))?;
    let contest = Contest::new(spec, seed, &split.test)?;
    let is_slow = method.abilities().is_some_and(|abilities| abilities.slow_to_score);
    let looks = split.test.n_rows() <= MOST_LOOKED_AT || !is_slow;
    let path_of = looks.then_some((&contest, &*split.truth));
    let counts_steps = matches!(spec.entry().abilities.training, Training::InSteps { counted: true, .. });
    let watch = Watch { counts_steps, ..Watch::new(limit, path_of) };
    let fitted = watch.fit(spec, &split.train, seed)?;
    let fit_time = watch.worked();
    let judged = contest.judge(&*fitted, split.is_one_table, false, &watch)?;
    watch.measured(&judged.scores, &split.truth, fit_time)
}

fn find_cells(
    method: &Method,
    split: &CellSplit,
    seed: Seed,
    limit: Option<Duration>,
) -> Result<Measured, Stopped> {
    let (watch, cells, fit_time);
    if let Some(spec) = &method.spec {
        let contest = Contest::new(spec, seed, &split.test)?;
        watch = Watch::new(limit, None);
        let fitted = watch.fit(spec, &split.train, seed)?;
        fit_time = watch.worked();
        let found = contest.judge(&*fitted, false, true, &watch)?.cells;
        cells = found.ok_or_else(|| Stopped::Error("it knows no cells".to_owned()))?;
    } else {
        watch = Watch::new(limit, None);
        fit_time = watch.worked();
        let sizes = split.test.values().iter().map(|cell| cell.abs()).collect();
        cells = Matrix::new(sizes, split.test.n_rows(), split.test.n_cols());
    }
    let measured = watch.measured(cells.values(), &split.truth, fit_time)?;
    Ok(Measured { top1: Some(cells::top1(&cells, &split.truth)), ..measured })
}

fn outcome(limit: Option<Duration>, result: Result<Measured, Stopped>) -> Outcome {
    match result {
        Ok(measured) => Outcome::Done(measured),
        Err(Stopped::Time) => Outcome::TimedOut(limit.unwrap_or_default()),
        Err(Stopped::Error(message)) => Outcome::Failed(message),
    }
}

enum Stopped {
    Time,
    Error(String),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        match error.blame() {
            Blame::Cancelled => Stopped::Time,
            Blame::Input | Blame::Type | Blame::System(_) | Blame::Run => Stopped::Error(error.to_string()),
        }
    }
}

/// Stops a run at its time limit, and scores the states of a training.
struct Watch<'a> {
    start: Instant,
    limit: Option<Duration>,
    /// The rows that states of a training are scored with, and which of them are anomalies.
    path_of: Option<(&'a Contest<'a>, &'a [bool])>,
    /// Whether progress counts steps even if no states are scored.
    counts_steps: bool,
    steps: AtomicUsize,
    looked: Mutex<Looked>,
}

#[derive(Default)]
struct Looked {
    path: Vec<(f64, f64)>,
    time: Duration,
    /// When the current state was asked for: making it takes time, too.
    asked: Option<Instant>,
}

impl<'a> Watch<'a> {
    #[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
    fn new(limit: Option<Duration>, path_of: Option<(&'a Contest<'a>, &'a [bool])>) -> Self {
        let (steps, looked) = (AtomicUsize::new(0), Mutex::default());
        Self { start: Instant::now(), limit, path_of, counts_steps: false, steps, looked }
    }

    fn fit(&self, spec: &DetectorSpec, train: &Matrix, seed: Seed) -> Result<Box<dyn Fitted>, Error> {
        Ok(spec.build()?.fit(train, &Context { seed, monitor: self })?)
    }

    fn measured(&self, scores: &[f64], truth: &[bool], fit_time: Duration) -> Result<Measured, Stopped> {
        // Not every method can be stopped midway.
        if self.cancelled() {
            return Err(Stopped::Time);
        }
        let score_time = self.worked().saturating_sub(fit_time);
        let one_kind = || Stopped::Error("the test rows are all normal or all anomalous".to_owned());
        let auc = metrics::auc(scores, truth).ok_or_else(one_kind)?;
        let figure = |figure: Option<f64>| figure.expect("both classes are there: there is an AUC");
        let steps = self.steps.load(Ordering::Relaxed);
        Ok(Measured {
            auc,
            ap: figure(metrics::average_precision(scores, truth)),
            f1: figure(metrics::f1_at_n(scores, truth, TieRule::Strict)),
            f1_row_order: figure(metrics::f1_at_n(scores, truth, TieRule::RowOrder)),
            top1: None,
            fit_seconds: fit_time.as_secs_f64(),
            score_seconds: score_time.as_secs_f64(),
            steps: (steps > 0).then_some(steps),
            path: std::mem::take(&mut self.looked().path),
        })
    }

    /// Time since the start without the time spent on states.
    fn worked(&self) -> Duration {
        self.start.elapsed().saturating_sub(self.looked().time)
    }

    fn looked(&self) -> std::sync::MutexGuard<'_, Looked> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Monitor for Watch<'_> {
    fn advanced(&self, progress: Progress) {
        if self.counts_steps {
            self.steps.store(progress.done, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.limit.is_some_and(|limit| self.worked() > limit)
    }

    #[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
    fn wants_state(&self, done: usize, total: usize) -> bool {
        // Asked after every step.
        self.steps.store(done, Ordering::Relaxed);
        let is_place = self.path_of.is_some() && done * STATES / total > (done - 1) * STATES / total;
        let mut looked = self.looked();
        // Scoring states may take as long as the run itself, no longer.
        let wants = is_place && self.limit.is_none_or(|limit| looked.time <= limit);
        looked.asked = wants.then(Instant::now);
        wants
    }

    fn state(&self, done: usize, total: usize, fitted: &dyn Fitted) {
        // If a state cannot be scored, neither can the result, which then reports the error.
        let auc = self.path_of.and_then(|(contest, truth)| {
            let judged = contest.judge(fitted, false, false, &Silent).ok()?;
            metrics::auc(&judged.scores, truth)
        });
        let mut looked = self.looked();
        looked.path.extend(auc.map(|auc| (done as f64 / total as f64, auc)));
        let took = looked.asked.take().map(|asked| asked.elapsed());
        looked.time += took.unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rows 0, 1, 3 and 10 on a line; the nearest other row is 1, 1, 2 and 7 off. With itself among them, all
    // are 0 off. The odd row is the last and has the largest distance: AUC 1. All distances 0 would be a tie:
    // AUC 0.5.
    #[test]
    fn rows_judged_among_themselves_are_not_their_own_neighbors() {
        let rows = Matrix::from_rows(&[[0.0], [1.0], [3.0], [10.0]]);
        let truth = vec![false, false, false, true];
        let mut split = Split { train: rows.clone(), test: rows, truth, is_one_table: true };
        let knn = Method::named("knn").unwrap().with("n_neighbors", "1").unwrap();
        let auc = |method: &Method, split: &Split| match run(method, split, 0, None) {
            Outcome::Done(measured) => measured.auc,
            other => panic!("{other:?}"),
        };
        assert_eq!(auc(&knn, &split), 1.0);
        // Rows of another table that happen to be equal are new rows.
        split.is_one_table = false;
        assert_eq!(auc(&knn, &split), 0.5);
    }

    // Of 40 steps every second is looked at, of 25 all but every fifth; `knn` has neither steps nor a path.
    #[test]
    fn nets_have_steps_and_a_path_that_ends_at_the_result() {
        let rows = Matrix::new((0..90).map(|at| f64::from(at * 37 % 101)).collect(), 30, 3);
        let truth = (0..30).map(|row| row % 7 == 0).collect();
        let split = Split { train: rows.clone(), test: rows, truth, is_one_table: false };
        let measured = |method: &Method| match run(method, &split, 0, None) {
            Outcome::Done(measured) => measured,
            other => panic!("{other:?}"),
        };
        for name in ["noise", "noise-paper-mlp", "ae", "deepsvdd", "anogan", "neutralad", "plad", "dpad"] {
            for (length, steps) in [("40 steps", 40), ("25 steps", 25)] {
                let run = measured(&Method::named(name).unwrap().with("train_for", length).unwrap());
                assert_eq!((run.steps, run.path.len()), (Some(steps), STATES), "{name}");
                assert_eq!(run.path[STATES - 1], (1.0, run.auc), "{name}");
            }
        }
        // What learns twice is not looked at, and counts the steps of both times.
        let twice = Method::named("noise").unwrap().with("trust", "0.5").unwrap();
        let twice = measured(&twice.with("train_for", "40 steps").unwrap());
        assert_eq!((twice.steps, twice.path.len()), (Some(80), 0));
        // The encoder's best epoch is the first that counts: it stops after one more, between two looks.
        let mut early = Method::named("neutralad").unwrap();
        for (key, value) in [("train_for", "400 steps"), ("patience", "1"), ("learning_rate", "0.5")] {
            early = early.with(key, value).unwrap();
        }
        let early = measured(&early);
        assert!(early.steps.unwrap() < 400 && early.path.len() < STATES, "{early:?}");
        let knn = measured(&Method::named("knn").unwrap());
        assert_eq!((knn.steps, knn.path.len()), (None, 0));
    }

    #[test]
    fn what_cannot_be_stopped_on_its_way_is_still_over_its_time() {
        let rows = Matrix::from_rows(&[[0.0], [1.0], [3.0], [10.0]]);
        let truth = vec![false, false, false, true];
        let split = Split { train: rows.clone(), test: rows, truth, is_one_table: true };
        for name in ["copod", "ecod"] {
            let outcome = run(&Method::named(name).unwrap(), &split, 0, Some(Duration::ZERO));
            assert_eq!(outcome, Outcome::TimedOut(Duration::ZERO), "{name}");
        }
    }
}
