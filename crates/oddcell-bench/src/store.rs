//! Results, row by row, in a CSV file that survives anything.
//!
//! A row is appended in one write and synced before the next run may begin. After `kill -9` or a power cut the file ends
//! with a whole row or with a piece of one; the piece is cut off when the file is opened again, and its run is repeated.
//! Nothing that was finished is lost or run twice.

use std::{
    collections::BTreeSet,
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use oddcell::Matrix;
use serde::{Deserialize, Serialize};

use crate::{
    LabError,
    job::{Job, Outcome},
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
#[allow(missing_docs, reason = "the columns of the file; docs/benchmarks.md says what they hold")]
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
    pub version: String,
    /// `share:auc share:auc …`
    pub path: String,
    pub message: String,
}

/// What tells one run from another.
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
    pub fn of(job: &Job, train: &Matrix, test: &Matrix, threads: usize, outcome: &Outcome) -> Self {
        let mut row = Self {
            train_rows: train.n_rows(),
            test_rows: test.n_rows(),
            columns: train.n_cols(),
            threads,
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
            Outcome::TimedOut => row.status = Status::Timeout,
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
            version: env!("CARGO_PKG_VERSION").to_owned(),
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
    let mut text = String::new();
    let mut file = File::open(path).map_err(LabError::file("read", path))?;
    file.read_to_string(&mut text).map_err(LabError::file("read", path))?;
    Ok(parse(path, &text)?.0)
}

/// The rows of the whole lines, and how many bytes those are.
fn parse(path: &Path, text: &str) -> Result<(Vec<Row>, usize), LabError> {
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let mut rows: Vec<Row> = Vec::new();
    let mut places = std::collections::BTreeMap::<Key, usize>::new();
    let mut reader = csv::Reader::from_reader(&text.as_bytes()[..whole]);
    for row in reader.deserialize::<Row>() {
        let row = row.map_err(|error| LabError::BadResults {
            path: path.to_owned(),
            line: error.position().map_or(1, csv::Position::line),
            reason: error.to_string(),
        })?;
        let place = *places.entry(row.key()).or_insert(rows.len());
        if place < rows.len() {
            rows[place] = row;
        } else {
            rows.push(row);
        }
    }
    Ok((rows, whole))
}

/// A results file that rows are added to. Only one process at a time has it.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    finished: BTreeSet<Key>,
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
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(LabError::file("read", &path))?;
        let (rows, whole) = parse(&path, &text)?;
        file.set_len(whole as u64).map_err(LabError::file("write", &path))?;
        file.seek(SeekFrom::End(0)).map_err(LabError::file("write", &path))?;
        let counts = |row: &&Row| row.status == Status::Ok || !again;
        let finished = rows.iter().filter(counts).map(Row::key).collect();
        Ok(Self { path, file, finished })
    }

    /// Whether a run needs no repetition.
    #[must_use]
    pub fn has(&self, job: &Job) -> bool {
        self.finished.contains(&Key::of(job))
    }

    /// Adds a row and makes sure that it is on the disk.
    pub fn add(&mut self, row: &Row) -> Result<(), LabError> {
        let is_empty = self.file.stream_position().map_err(LabError::file("write", &self.path))? == 0;
        let mut writer = csv::WriterBuilder::new().has_headers(is_empty).from_writer(Vec::new());
        let written = writer.serialize(row).map_err(std::io::Error::other);
        let line = written.and_then(|()| writer.into_inner().map_err(csv::IntoInnerError::into_error));
        line.and_then(|line| self.file.write_all(&line))
            .and_then(|()| self.file.sync_data())
            .map_err(LabError::file("write", &self.path))?;
        self.finished.insert(row.key());
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
    use crate::methods::Method;

    fn job(seed: u64) -> Job {
        let method = Method::named("knn").unwrap();
        Job { protocol: Protocol::Uad, set: "a, \"set\"".to_owned(), class: 0, method, seed }
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
