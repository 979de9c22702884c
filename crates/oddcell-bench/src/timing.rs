//! The paper's time tables: one epoch of noise, one epoch of training, and judging the test file of KDD-CUP99.
//!
//! The paper trained on the 972,781 normal rows of the full training file. Ours has a tenth of them, so they are taken ten
//! times over; time does not depend on what is in a row. All of the paper's methods shared one net of five layers there;
//! ours have the nets of their paper presets.

use std::time::{Duration, Instant};

use oddcell::{
    Context, Matrix, Seed,
    detect::noise::NoiseParams,
    error::{FitError, ParamError, ScoreError},
    noise::{Extremes, Noise, Rows, Scratch, Shard},
};
use rayon::prelude::*;

use crate::{
    methods::Method,
    protocol::{self, Protocol},
    sets::LabelledSet,
};

/// Normal rows of the full training file.
const TRAINING_ROWS: usize = 972_781;
/// Rows that get their noise together, as in training.
const SHARD_ROWS: usize = 64;

/// The set of the paper's tables.
pub const PAPERS_SET: &str = "kdd";

/// Seconds that the paper prints, on a V100: method, training, judging.
const PRINTED: [(&str, f64, f64); 5] = [
    ("noise-paper-mlp", 37.19, 6.41),
    ("plad", 40.54, 4.33),
    ("neutralad", 39.72, 6.79),
    ("dpad", 26.84, 287.6),
    ("scad", 37.17, 6.46),
];
/// And of the noise alone, by its table; its text says 5.69. (Its 6.22 of PLAD have nothing beside them here: what `plad` adds to
/// rows comes out of its net, and is part of its training.)
const PRINTED_NOISE: f64 = 5.32;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum TimingError {
    /// The set has no rows to train on or to test.
    #[error("the set has no normal training rows or no test rows")]
    NoRows,
    /// What is timed is an epoch.
    #[error("method `{0}` is not trained in epochs")]
    NoEpochs(String),
    /// A method's parameters are wrong.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// It could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Rows could not be judged.
    #[error(transparent)]
    Score(#[from] ScoreError),
}

/// What one piece of work took.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// The set.
    pub set: String,
    /// The method.
    pub method: String,
    /// The seed: what is measured again has another one.
    pub seed: u64,
    /// The piece of work.
    pub what: &'static str,
    /// Rows that went through it.
    pub n_rows: usize,
    /// Seconds in the paper, on a V100, where it prints any.
    pub printed: Option<f64>,
    /// What it took here.
    pub took: Duration,
}

/// Whether a method is trained in epochs, so that one of them can be timed.
#[must_use]
pub fn has_epochs(method: &Method) -> bool {
    method.spec.as_ref().is_some_and(|spec| spec.params().contains_key("budget"))
}

/// The rows of the paper's measurement: `n_rows` training rows, `None`: as many as the paper had; and the test file.
#[derive(Debug)]
pub struct Workload {
    set: String,
    train: Matrix,
    test: Matrix,
}

impl Workload {
    /// The rows of a set.
    pub fn of(set: &LabelledSet, n_rows: Option<usize>) -> Result<Self, TimingError> {
        let class =
            protocol::normal_classes(set, Protocol::Occ).first().copied().ok_or(TimingError::NoRows)?;
        let split = protocol::split(set, Protocol::Occ, class, Seed(0));
        if split.train.n_rows() == 0 || split.test.n_rows() == 0 {
            return Err(TimingError::NoRows);
        }
        let n_rows = n_rows.unwrap_or(TRAINING_ROWS);
        let again: Vec<usize> = (0..n_rows).map(|row| row % split.train.n_rows()).collect();
        Ok(Self { set: set.name.clone(), train: split.train.take(&again), test: split.test })
    }

    /// Whether it is what the paper measured, so that its seconds may stand beside ours.
    fn is_papers(&self) -> bool {
        self.set == PAPERS_SET && self.train.n_rows() == TRAINING_ROWS
    }

    /// Measures one epoch and one judging of a method on the threads of the present rayon pool; the noise alone, too, if
    /// the method draws any.
    pub fn measure(&self, method: &Method, seed: u64) -> Result<Vec<Timing>, TimingError> {
        let no_epochs = || TimingError::NoEpochs(method.name.clone());
        let mut spec = method.spec.clone().filter(|_| has_epochs(method)).ok_or_else(no_epochs)?;
        spec.set_text("budget", "1 epochs")?;
        let printed = PRINTED.iter().find(|printed| self.is_papers() && printed.0 == method.name);
        let mut timings = Vec::new();
        let mut add = |what, n_rows, printed: Option<f64>, took| {
            let (set, method) = (self.set.clone(), method.name.clone());
            timings.push(Timing { set, method, seed, what, n_rows, printed, took });
        };
        if let Some(params) = NoiseParams::of(&spec) {
            let values: Vec<f32> = self.train.values().iter().map(|&cell| cell as f32).collect();
            let (took, ()) = timed(|| draw_noise(&params.noise(), &values, self.train.n_cols()));
            add("noise of one epoch", self.train.n_rows(), printed.map(|_| PRINTED_NOISE), took);
        }
        let detector = spec.build()?;
        let (took, fitted) = timed(|| detector.fit(&self.train, &Context::silent(Seed(seed))));
        let fitted = fitted?;
        add("training, one epoch", self.train.n_rows(), printed.map(|printed| printed.1), took);
        let (took, scores) = timed(|| fitted.score(&self.test));
        scores?;
        add("judging the test file", self.test.n_rows(), printed.map(|printed| printed.2), took);
        Ok(timings)
    }
}

#[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// The noise of one epoch, drawn and thrown away.
fn draw_noise(noise: &Noise, values: &[f32], width: usize) {
    let data = Rows { values, stride: width, width };
    let order: Vec<u32> = (0..data.n_rows() as u32).collect();
    let mut extremes = Extremes::default();
    if noise.needs_extremes() {
        extremes.of(data, &order);
    }
    let n_cells = noise.rows_for(SHARD_ROWS) * width;
    order.par_chunks(SHARD_ROWS).for_each_init(
        || (vec![0.0; n_cells], vec![0.0; n_cells], Scratch::default()),
        |(inputs, targets, scratch), rows| {
            let shard = Shard { data, rows, extremes: &extremes, epoch_key: Seed(0).key("time", &[]) };
            noise.fill(shard, inputs, targets, scratch);
            std::hint::black_box(&inputs);
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str) -> LabelledSet {
        let values: Vec<f64> = (0..300).map(|cell| f64::from(cell * 37 % 101)).collect();
        let labels = (0..100).map(|row| i64::from(row % 10 == 0)).collect();
        let is_test = Some((0..100).map(|row| row >= 60).collect());
        LabelledSet {
            name: name.to_owned(),
            rows: Matrix::new(values, 100, 3),
            labels,
            n_numeric: 3,
            is_test,
        }
    }

    #[test]
    fn every_piece_of_work_is_measured_on_as_many_rows_as_asked_for() {
        let workload = Workload::of(&set("made"), Some(500)).unwrap();
        let timings = |name: &str| workload.measure(&Method::named(name).unwrap(), 3);
        let shown = |name: &str| -> Vec<(usize, Option<f64>)> {
            let timings = timings(name).unwrap();
            assert!(timings.iter().all(|timing| timing.took > Duration::ZERO && timing.seed == 3));
            timings.iter().map(|timing| (timing.n_rows, timing.printed)).collect()
        };
        assert_eq!(shown("noise-paper-mlp"), [(500, None), (500, None), (40, None)]);
        assert_eq!(shown("ae"), [(500, None), (40, None)]);
        assert_eq!(timings("knn").unwrap_err().to_string(), "method `knn` is not trained in epochs");
    }

    #[test]
    fn the_papers_seconds_stand_beside_its_own_work_only() {
        let is_papers = |name, n_rows| Workload::of(&set(name), n_rows).unwrap().is_papers();
        assert!(is_papers("kdd", None) && !is_papers("kdd", Some(500)) && !is_papers("made", None));
    }

    #[test]
    fn a_set_without_normal_rows_gives_no_times() {
        let empty = LabelledSet { labels: vec![1; 100], ..set("made") };
        assert!(matches!(Workload::of(&empty, Some(10)), Err(TimingError::NoRows)));
    }
}
