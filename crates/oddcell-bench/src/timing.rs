//! The paper's time tables: one epoch of noise, one epoch of training, and judging the test file of
//! KDD-CUP99.
//!
//! The paper trained on the 972,781 normal rows of the full training file. Ours has a tenth of them, so they
//! are taken ten times over; time does not depend on what is in a row. All of the paper's methods shared one
//! net of five layers there; ours have the nets of their paper presets.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use oddcell::{
    Context, Error, Matrix, Seed, Silent,
    detect::Training,
    noise::{Extremes, Noise, PaddedRows, Scratch, Shard},
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    LabError,
    contest::Contest,
    files::{create_folder, write_whole},
    methods::Method,
    protocol::{self, Protocol},
    sets::LabeledSet,
};

/// Normal rows of the full training file.
const TRAINING_ROWS: usize = 972_781;
/// Rows that get their noise together, as in training.
const SHARD_ROWS: usize = 64;

/// The set of the paper's tables.
pub const PAPERS_SET: &str = "kdd";

const NOISE: &str = "noise of one epoch";
const TRAINING: &str = "training, one epoch";
const JUDGING: &str = "judging the test file";

/// The paper's seconds on a V100: method, training, judging.
const PRINTED: [(&str, f64, f64); 5] = [
    ("noise-paper-mlp", 37.19, 6.41),
    ("plad", 40.54, 4.33),
    ("neutralad", 39.72, 6.79),
    ("dpad", 26.84, 287.6),
    ("scad", 37.17, 6.46),
];
/// The paper's seconds for the noise alone, from its table; its text says 5.69. We leave out its 6.22 for PLAD: the
/// noise of `plad` comes from its net and is part of its training.
const PRINTED_NOISE: f64 = 5.32;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum TimingError {
    /// The set has no rows to train on or to test.
    #[error("the set has no normal training rows or no test rows")]
    NoRows,
    /// The method has no epochs to time.
    #[error("method `{0}` is not trained in epochs")]
    NoEpochs(String),
    /// Its parameters are invalid, or it could not be fitted, or rows could not be judged.
    #[error(transparent)]
    Method(#[from] oddcell::Error),
}

/// What one piece of work took: a row of the file that [`keep`] keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The set.
    pub set: String,
    /// The method.
    pub method: String,
    /// The piece of work.
    pub work: String,
    /// Rows that went through it.
    pub rows: usize,
    /// Rows that were trained on.
    pub train_rows: usize,
    /// The seed; a repeated measurement has another one.
    pub seed: u64,
    /// Threads used.
    pub threads: usize,
    /// The seconds it took here.
    pub seconds: f64,
    /// The version that was measured.
    pub version: String,
}

impl Timing {
    /// The paper's seconds on a V100 for the same work, if it prints them.
    #[must_use]
    pub fn printed(&self) -> Option<f64> {
        if (&*self.set, self.train_rows) != (PAPERS_SET, TRAINING_ROWS) {
            return None;
        }
        let (_, training, judging) = PRINTED.into_iter().find(|printed| printed.0 == self.method)?;
        match &*self.work {
            NOISE => Some(PRINTED_NOISE),
            TRAINING => Some(training),
            JUDGING => Some(judging),
            _ => None,
        }
    }

    /// Whether both measure the same work, with any seed.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let work = |timing: &Self| (timing.rows, timing.train_rows, timing.threads);
        work(self) == work(other)
            && (&self.set, &self.method, &self.work) == (&other.set, &other.method, &other.work)
    }
}

/// The columns of the file that [`keep`] keeps.
const COLUMNS: [&str; 9] =
    ["set", "method", "work", "rows", "train_rows", "seed", "threads", "seconds", "version"];

/// Adds measurements to a CSV file and returns all of them. A measurement replaces earlier ones of the same work and
/// seed, and those of the same work by other versions, so that no mean mixes versions.
pub fn keep(path: &Path, fresh: Vec<Timing>) -> Result<Vec<Timing>, LabError> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let mut all = read(path)?;
    for timing in fresh {
        all.retain(|old| !old.is_like(&timing) || old.version == timing.version);
        match all.iter_mut().find(|old| old.is_like(&timing) && old.seed == timing.seed) {
            Some(old) => *old = timing,
            None => all.push(timing),
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = all.iter().try_for_each(|timing| writer.serialize(timing)).map_err(io::Error::other);
    let bytes = written.and_then(|()| writer.into_inner().map_err(csv::IntoInnerError::into_error));
    write_whole(path, &bytes.map_err(LabError::file("write", path))?)?;
    Ok(all)
}

/// The measurements of a file; none if there is no file.
pub fn read(path: &Path) -> Result<Vec<Timing>, LabError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        result => result.map_err(LabError::file("read", path))?,
    };
    let mut reader = csv::Reader::from_reader(&*bytes);
    if reader.headers().is_ok_and(|header| header != COLUMNS[..]) {
        let reason = format!("other columns than {}", COLUMNS.join(", "));
        return Err(LabError::BadHeader { path: path.to_owned(), reason });
    }
    let rows = reader.into_deserialize::<Timing>();
    let bad = |error: csv::Error| LabError::BadResults {
        path: path.to_owned(),
        line: error.position().map_or(1, csv::Position::line),
        reason: error.to_string(),
    };
    rows.map(|row| row.map_err(bad)).collect()
}

/// Whether a method is trained in epochs, so that one of them can be timed.
#[must_use]
pub fn has_epochs(method: &Method) -> bool {
    let training = method.spec.as_ref().map(|spec| spec.entry().abilities.training);
    training.is_some_and(|training| matches!(training, Training::InSteps { .. }))
}

/// The rows of the paper's measurement: `n_rows` training rows, `None`: as many as the paper had; and the
/// test file.
#[derive(Debug)]
pub struct Workload {
    set: String,
    train: Matrix,
    test: Matrix,
}

impl Workload {
    /// The rows of a set.
    pub fn of(set: &LabeledSet, n_rows: Option<usize>) -> Result<Self, TimingError> {
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

    /// Measures one epoch and one judging of a method on the threads of the present rayon pool; the noise
    /// alone, too, if the method draws any.
    pub fn measure(&self, method: &Method, seed: u64) -> Result<Vec<Timing>, TimingError> {
        let no_epochs = || TimingError::NoEpochs(method.name.clone());
        let mut spec = method.spec.clone().filter(|_| has_epochs(method)).ok_or_else(no_epochs)?;
        spec.set_text("train_for", "1 epochs").map_err(Error::from)?;
        let mut timings = Vec::new();
        let mut add = |work: &str, rows, took: Duration| {
            timings.push(Timing {
                set: self.set.clone(),
                method: method.name.clone(),
                work: work.to_owned(),
                rows,
                train_rows: self.train.n_rows(),
                seed,
                threads: rayon::current_num_threads(),
                seconds: took.as_secs_f64(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            });
        };
        if let Some(noise) = spec.noise() {
            let values: Vec<f32> = self.train.values().iter().map(|&cell| cell as f32).collect();
            let (took, ()) = timed(|| draw_noise(&noise, &values, self.train.n_cols()));
            add(NOISE, self.train.n_rows(), took);
        }
        let detector = spec.build().map_err(Error::from)?;
        let (took, fitted) = timed(|| detector.fit(&self.train, &Context::silent(Seed(seed))));
        let fitted = fitted.map_err(Error::from)?;
        add(TRAINING, self.train.n_rows(), took);
        let contest = Contest::new(&spec, Seed(seed), &self.test)?;
        let (took, judged) = timed(|| contest.judge(&*fitted, false, false, &Silent));
        judged?;
        add(JUDGING, self.test.n_rows(), took);
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
    let data = PaddedRows { values, stride: width, width };
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

    fn set(name: &str) -> LabeledSet {
        let values: Vec<f64> = (0..300).map(|cell| f64::from(cell * 37 % 101)).collect();
        let labels = (0..100).map(|row| i64::from(row % 10 == 0)).collect();
        let is_test = Some((0..100).map(|row| row >= 60).collect());
        LabeledSet { name: name.to_owned(), rows: Matrix::new(values, 100, 3), labels, n_numeric: 3, is_test }
    }

    #[test]
    fn every_piece_of_work_is_measured_on_as_many_rows_as_asked_for() {
        let workload = Workload::of(&set("made"), Some(500)).unwrap();
        let timings = |name: &str| workload.measure(&Method::named(name).unwrap(), 3);
        let rows = |name: &str| -> Vec<usize> {
            let timings = timings(name).unwrap();
            assert!(timings.iter().all(|timing| timing.seconds > 0.0 && timing.seed == 3));
            assert!(timings.iter().all(|timing| timing.train_rows == 500 && timing.printed().is_none()));
            timings.iter().map(|timing| timing.rows).collect()
        };
        assert_eq!(rows("noise-paper-mlp"), [500, 500, 40]);
        assert_eq!(rows("ae"), [500, 40]);
        assert_eq!(timings("knn").unwrap_err().to_string(), "method `knn` is not trained in epochs");
    }

    #[test]
    fn the_papers_seconds_stand_beside_its_own_work_only() {
        let printed =
            |set, train_rows, method, work: &str| timing(set, train_rows, method, work, 0).printed();
        assert_eq!(printed("kdd", 972_781, "noise-paper-mlp", NOISE), Some(5.32));
        assert_eq!(printed("kdd", 972_781, "plad", TRAINING), Some(40.54));
        assert_eq!(printed("kdd", 972_781, "dpad", JUDGING), Some(287.6));
        assert_eq!(printed("kdd", 972_781, "noise-paper-resmlp", TRAINING), None);
        assert_eq!(printed("kdd", 97_278, "plad", TRAINING), None);
        assert_eq!(printed("made", 972_781, "plad", TRAINING), None);
    }

    fn timing(set: &str, train_rows: usize, method: &str, work: &str, seed: u64) -> Timing {
        let (set, method, work) = (set.to_owned(), method.to_owned(), work.to_owned());
        let version = "0.1.0".to_owned();
        Timing { set, method, work, rows: 10, train_rows, seed, threads: 1, seconds: 1.0, version }
    }

    #[test]
    fn what_was_measured_before_stays_and_the_same_work_is_replaced_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("times.csv");
        let keep = |fresh: &[Timing]| keep(&path, fresh.to_vec());
        let first = [timing("kdd", 5, "plad", TRAINING, 0), timing("kdd", 5, "ae", TRAINING, 0)];
        assert_eq!(keep(&first).unwrap(), first);
        let again = Timing { seconds: 2.0, ..first[0].clone() };
        let others = [
            timing("kdd", 5, "plad", TRAINING, 1),
            timing("kdd", 6, "plad", TRAINING, 0),
            Timing { threads: 2, ..first[0].clone() },
        ];
        let all = keep(&[&[again.clone()][..], &others].concat()).unwrap();
        assert_eq!(all, [&[again, first[1].clone()][..], &others].concat());
        assert_eq!(read(&path).unwrap(), all);
        // A mean is over one version: both seeds of the older one go.
        let newer = Timing { version: "0.2.0".to_owned(), ..all[0].clone() };
        let all = keep(std::slice::from_ref(&newer)).unwrap();
        assert_eq!(all, [&[first[1].clone()][..], &others[1..], &[newer]].concat());
        for (text, reason) in [
            ("set,method\nkdd,ae\n".to_owned(), "line 1: other columns than set, method, work"),
            (fs::read_to_string(&path).unwrap().replace(",1.0,", ",soon,"), "line 2: "),
        ] {
            fs::write(&path, &text).unwrap();
            let error = keep(&first).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_set_without_normal_rows_gives_no_times() {
        let empty = LabeledSet { labels: vec![1; 100], ..set("made") };
        assert!(matches!(Workload::of(&empty, Some(10)), Err(TimingError::NoRows)));
    }
}
