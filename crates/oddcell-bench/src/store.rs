//! Results, row by row, in a CSV file that survives anything.
//!
//! A row is appended in one write and synced before the next run may begin. After `kill -9` or a power cut the file ends
//! with a whole row or with a piece of one; the piece is cut off when the file is opened again, and its run is repeated.
//! Nothing that was finished is lost or run twice.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use oddcell::Matrix;
use serde::{Deserialize, Serialize};

use crate::{
    LabError,
    job::{Job, Outcome},
    methods::Method,
    protocol::Protocol,
};

/// The results of a folder are in the file of this name.
pub const FILE_NAME: &str = "results.csv";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// With a result.
    Ok,
    /// Its time was up.
    Timeout,
    /// With an error: see the message.
    Failed,
}

/// One run, a line of the file. Figures lie between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the columns of the file; docs/laboratory.md says what they hold")]
pub struct Row {
    pub protocol: Protocol,
    pub set: String,
    pub class: i64,
    pub method: String,
    pub variant: String,
    pub seed: u64,
    pub status: Status,
    pub auc: Option<f64>,
    pub ap: Option<f64>,
    pub f1: Option<f64>,
    pub f1_row_order: Option<f64>,
    pub oracle_auc: Option<f64>,
    pub top1: Option<f64>,
    pub fit_seconds: Option<f64>,
    pub score_seconds: Option<f64>,
    pub steps: Option<usize>,
    pub train_rows: usize,
    pub test_rows: usize,
    pub columns: usize,
    pub threads: usize,
    /// Runs at a time, this one included.
    pub jobs: usize,
    pub version: String,
    /// All parameters of the method, as JSON.
    pub params: String,
    /// `share:auc share:auc …`
    pub path: String,
    pub message: String,
}

/// What tells one run from another. Its parameters do not: a run whose method has other parameters today is run again,
/// and its row takes the place of the old one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    protocol: Protocol,
    set: String,
    class: i64,
    method: String,
    variant: String,
    seed: u64,
}

impl Key {
    /// The key of a run to come.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        Self {
            protocol: job.protocol,
            set: job.set.clone(),
            class: job.class,
            method: job.method.name.clone(),
            variant: job.method.variant.clone(),
            seed: job.seed,
        }
    }
}

impl Row {
    /// The line of a finished run.
    #[must_use]
    pub fn of(job: &Job, train: &Matrix, test: &Matrix, outcome: &Outcome) -> Self {
        let mut row = Self {
            train_rows: train.n_rows(),
            test_rows: test.n_rows(),
            columns: train.n_cols(),
            ..Self::unmeasured(job, Status::Ok, "")
        };
        match outcome {
            Outcome::Done(measured) => {
                row.auc = Some(measured.auc);
                row.ap = Some(measured.ap);
                row.f1 = Some(measured.f1);
                row.f1_row_order = Some(measured.f1_row_order);
                row.top1 = measured.top1;
                row.oracle_auc = measured.path.iter().map(|&(_, auc)| auc).max_by(f64::total_cmp);
                row.fit_seconds = Some(measured.fit_seconds);
                row.score_seconds = Some(measured.score_seconds);
                row.steps = measured.steps;
                let places = measured.path.iter().map(|(share, auc)| format!("{share:.3}:{auc:.5}"));
                row.path = places.collect::<Vec<_>>().join(" ");
            }
            Outcome::TimedOut(limit) => {
                row.status = Status::Timeout;
                row.message = format!("not done after {} s", limit.as_secs());
            }
            Outcome::Failed(message) => {
                row.status = Status::Failed;
                row.message = on_one_line(message);
            }
        }
        row
    }

    /// The line of a run that never began.
    #[must_use]
    pub fn unmeasured(job: &Job, status: Status, message: &str) -> Self {
        let Key { protocol, set, class, method, variant, seed } = Key::of(job);
        Self {
            protocol,
            set,
            class,
            method,
            variant,
            seed,
            status,
            auc: None,
            ap: None,
            f1: None,
            f1_row_order: None,
            oracle_auc: None,
            top1: None,
            fit_seconds: None,
            score_seconds: None,
            steps: None,
            train_rows: 0,
            test_rows: 0,
            columns: 0,
            threads: 0,
            jobs: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            params: job.method.params(),
            path: String::new(),
            message: on_one_line(message),
        }
    }

    /// The method with its variant: a column of a table.
    #[must_use]
    pub fn label(&self) -> String {
        if self.variant.is_empty() {
            self.method.clone()
        } else {
            format!("{} {}", self.method, self.variant)
        }
    }

    /// What tells it from other runs.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            protocol: self.protocol,
            set: self.set.clone(),
            class: self.class,
            method: self.method.clone(),
            variant: self.variant.clone(),
            seed: self.seed,
        }
    }
}

/// A row is one line, so that a piece of one is known by its missing end.
fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// All results of a file, whole lines only; a later line replaces an earlier one of the same run.
pub fn read(path: &Path) -> Result<Vec<Row>, LabError> {
    let bytes = std::fs::read(path).map_err(LabError::file("read", path))?;
    Ok(parse(path, &bytes)?.0)
}

/// The rows of the whole lines, and how many bytes those are.
fn parse(path: &Path, bytes: &[u8]) -> Result<(Vec<Row>, usize), LabError> {
    let bad = |line: u64, reason: String| LabError::BadResults { path: path.to_owned(), line, reason };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if whole == 0 && !header().as_bytes().starts_with(bytes) {
        return Err(bad(1, "this is no file of results".to_owned()));
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut places = BTreeMap::<Key, usize>::new();
    for row in csv::Reader::from_reader(&bytes[..whole]).into_deserialize::<Row>() {
        let row =
            row.map_err(|error| bad(error.position().map_or(1, csv::Position::line), error.to_string()))?;
        let place = *places.entry(row.key()).or_insert(rows.len());
        if place < rows.len() {
            rows[place] = row;
        } else {
            rows.push(row);
        }
    }
    Ok((rows, whole))
}

/// The first line of every file.
fn header() -> String {
    let job = Job { protocol: Protocol::Uad, set: String::new(), class: 0, method: Method::abs_z(), seed: 0 };
    let mut line = line(&Row::unmeasured(&job, Status::Ok, ""), true).expect("text goes into a vector");
    line.truncate(line.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1));
    String::from_utf8(line).expect("names of columns are text")
}

/// A row as it is written, with the names of the columns before it.
fn line(row: &Row, with_names: bool) -> std::io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(with_names).from_writer(Vec::new());
    writer.serialize(row).map_err(std::io::Error::other)?;
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// A results file that rows are added to. Only one process at a time has it.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Bytes of whole rows.
    length: u64,
    /// What needs no repetition, with the parameters it was run with.
    finished: BTreeMap<Key, String>,
}

impl Store {
    /// Opens the results of a folder, or begins them. With `again`, runs that failed or timed out count as not run.
    pub fn open(folder: &Path, again: bool) -> Result<Self, LabError> {
        std::fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
        let path = folder.join(FILE_NAME);
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let mut file = options.open(&path).map_err(LabError::file("create", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LabError::Busy { path }),
            Err(TryLockError::Error(error)) => return Err(LabError::file("lock", &path)(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(LabError::file("read", &path))?;
        let (rows, whole) = parse(&path, &bytes)?;
        let counts = |row: &&Row| row.status == Status::Ok || !again;
        let finished = rows.iter().filter(counts).map(|row| (row.key(), row.params.clone())).collect();
        let mut store = Self { path, file, length: whole as u64, finished };
        store.forget_the_rest().map_err(LabError::file("write", &store.path))?;
        Ok(store)
    }

    /// Cuts off what is no whole row, and goes there to write.
    fn forget_the_rest(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    /// Whether a run needs no repetition: it was done, with the parameters that its method has today.
    #[must_use]
    pub fn has(&self, job: &Job) -> bool {
        self.finished.get(&Key::of(job)).is_some_and(|params| *params == job.method.params())
    }

    /// Adds a row and makes sure that it is on the disk; if that fails, no piece of it stays.
    pub fn add(&mut self, row: &Row) -> Result<(), LabError> {
        let written = line(row, self.length == 0).and_then(|line| {
            self.file.write_all(&line)?;
            self.file.sync_data()?;
            Ok(line.len() as u64)
        });
        match written {
            Ok(length) => self.length += length,
            Err(error) => {
                // If even that fails, the next to open the file cuts it.
                let _ = self.forget_the_rest();
                return Err(LabError::file("write", &self.path)(error));
            }
        }
        self.finished.insert(row.key(), row.params.clone());
        Ok(())
    }

    /// All rows there are.
    pub fn rows(&self) -> Result<Vec<Row>, LabError> {
        read(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(seed: u64) -> Job {
        let method = Method::named("knn").unwrap();
        Job { protocol: Protocol::Uad, set: "ein \"grüner\", Satz".to_owned(), class: 0, method, seed }
    }

    fn row(seed: u64, auc: f64) -> Row {
        Row { auc: Some(auc), ..Row::unmeasured(&job(seed), Status::Ok, "") }
    }

    #[test]
    fn rows_read_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        let rows = [row(0, 0.1 + 0.2), row(1, 1.0 / 3.0)];
        for row in &rows {
            store.add(row).unwrap();
        }
        assert_eq!(store.rows().unwrap(), rows);
        assert!(store.has(&job(1)) && !store.has(&job(2)));
    }

    // Whatever a power cut leaves behind: whole rows stay, a piece of a row goes, and writing goes on.
    #[test]
    fn a_file_cut_at_any_byte_keeps_its_whole_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        {
            let mut store = Store::open(folder.path(), false).unwrap();
            for seed in 0..3 {
                store.add(&row(seed, 0.5)).unwrap();
            }
        }
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let n_lines = whole[..cut].split(|&byte| byte == b'\n').count() - 1;
            let mut store = Store::open(folder.path(), false).unwrap();
            let kept = n_lines.saturating_sub(1);
            assert_eq!(store.rows().unwrap().len(), kept, "cut at {cut}");
            store.add(&row(9, 0.25)).unwrap();
            let rows = store.rows().unwrap();
            assert_eq!((rows.len(), rows[kept].auc), (kept + 1, Some(0.25)), "cut at {cut}");
        }
    }

    #[test]
    fn failures_are_run_again_only_if_asked_for_and_then_replaced() {
        let folder = tempfile::tempdir().unwrap();
        {
            let mut store = Store::open(folder.path(), false).unwrap();
            store.add(&Row::unmeasured(&job(0), Status::Failed, "no\nway")).unwrap();
        }
        assert!(Store::open(folder.path(), false).unwrap().has(&job(0)));
        let mut store = Store::open(folder.path(), true).unwrap();
        assert!(!store.has(&job(0)));
        store.add(&row(0, 0.75)).unwrap();
        assert_eq!(store.rows().unwrap(), [row(0, 0.75)]);
    }

    #[test]
    fn a_run_with_other_parameters_is_run_again_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        store.add(&Row { params: "{}".to_owned(), ..row(0, 0.5) }).unwrap();
        assert!(!store.has(&job(0)));
        store.add(&row(0, 0.75)).unwrap();
        assert!(store.has(&job(0)));
        assert_eq!(store.rows().unwrap(), [row(0, 0.75)]);
    }

    #[test]
    fn a_file_of_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, "a letter without an end").unwrap();
        assert!(matches!(Store::open(folder.path(), false), Err(LabError::BadResults { line: 1, .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a letter without an end");
    }

    #[test]
    fn a_line_that_is_no_result_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        Store::open(folder.path(), false).unwrap().add(&row(0, 0.5)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap() + "not,a,result\n";
        std::fs::write(&path, text).unwrap();
        let error = Store::open(folder.path(), false).unwrap_err();
        assert!(matches!(error, LabError::BadResults { line: 3, .. }), "{error}");
    }

    #[test]
    fn two_runs_do_not_write_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Store::open(folder.path(), false).unwrap();
        assert!(matches!(Store::open(folder.path(), false), Err(LabError::Busy { .. })));
    }
}
