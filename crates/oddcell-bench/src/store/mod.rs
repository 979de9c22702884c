//! Results, row by row, in a CSV file that survives anything.
//!
//! A row is appended in one write and synced before the next run may begin. After `kill -9` or a power cut the file ends
//! with a whole row or with a piece of one; the piece is cut off when the file is opened again, and its run is repeated.
//! Nothing that was finished is lost or run twice.
//!
//! Rows are written in the order of our columns, so only a file with this very header is added to; and nothing is written
//! to a file that somebody else changed or replaced since it was opened.

mod header;
mod row;

use std::{
    collections::BTreeMap,
    fs::{File, Metadata, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use header::Order;
pub use row::{Key, Row, Status};

use crate::{LabError, files::create_folder, job::Job};

/// The results of a folder are in the file of this name.
pub const FILE_NAME: &str = "results.csv";
/// Rows that could not be added to it any more are in the file of this name.
const UNSAVED: &str = "results-unsaved.csv";

/// All results of a file, whole lines only; a later line replaces an earlier one of the same run.
pub fn read(path: &Path) -> Result<Vec<Row>, LabError> {
    let bytes = std::fs::read(path).map_err(LabError::file("read", path))?;
    Ok(parse(path, &bytes, Order::Any)?.0)
}

/// The rows of the whole lines, and how many bytes those are.
fn parse(path: &Path, bytes: &[u8], order: Order) -> Result<(Vec<Row>, usize), LabError> {
    let bad = |line: u64, reason: String| LabError::BadResults { path: path.to_owned(), line, reason };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    header::check(path, bytes, whole, order)?;
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

/// A row as it is written, with the names of the columns before it.
fn line(row: &Row, with_names: bool) -> std::io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(with_names).from_writer(Vec::new());
    writer.serialize(row).map_err(std::io::Error::other)?;
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

#[cfg(unix)]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Where files have no numbers, their lengths must do.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// What a run was made with, and how it ended.
#[derive(Debug)]
struct Finished {
    params: String,
    data: String,
    status: Status,
}

impl Finished {
    fn of(row: &Row) -> Self {
        Self { params: row.params.clone(), data: row.data.clone(), status: row.status }
    }
}

/// A results file that rows are added to. Only one process at a time has it.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Bytes of whole rows.
    length: u64,
    /// What needs no repetition.
    finished: BTreeMap<Key, Finished>,
}

impl Store {
    /// Opens the results of a folder, or begins them. With `again`, runs that failed or timed out count as not run.
    pub fn open(folder: &Path, again: bool) -> Result<Self, LabError> {
        create_folder(folder)?;
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
        let (rows, whole) = parse(&path, &bytes, Order::Ours)?;
        let counts = |row: &&Row| row.status == Status::Ok || !again;
        let finished = rows.iter().filter(counts).map(|row| (row.key(), Finished::of(row))).collect();
        let mut store = Self { path, file, length: whole as u64, finished };
        store.forget_the_rest().map_err(LabError::file("write", &store.path))?;
        Ok(store)
    }

    /// Cuts off what is no whole row, and goes there to write.
    fn forget_the_rest(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    /// Whether a run needs no repetition: it was done, with the parameters that its method has today, and on the data
    /// that its set's file holds today. A row that does not say which data it is of is taken as it is.
    #[must_use]
    pub fn has(&self, job: &Job, data: &str) -> bool {
        self.status(job, data).is_some()
    }

    /// How a run ended that needs no repetition.
    #[must_use]
    pub fn status(&self, job: &Job, data: &str) -> Option<Status> {
        let Finished { params, data: of, status } = self.finished.get(&Key::of(job))?;
        (*params == job.method.params() && (of.is_empty() || of == data)).then_some(*status)
    }

    /// Adds a row and makes sure that it is on the disk; if that fails, no piece of it stays. A file that somebody else
    /// changed is left as it is: the row goes into a file beside it.
    pub fn add(&mut self, row: &Row) -> Result<(), LabError> {
        if !self.is_as_we_left_it() {
            return Err(self.put_beside(row));
        }
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
        self.finished.insert(row.key(), Finished::of(row));
        Ok(())
    }

    /// Whether the path still leads to the file that is open, and that is as long as we made it.
    fn is_as_we_left_it(&self) -> bool {
        let (Ok(ours), Ok(there)) = (self.file.metadata(), std::fs::metadata(&self.path)) else {
            return false;
        };
        ours.len() == self.length && there.len() == self.length && is_same_file(&ours, &there)
    }

    /// Saves a row that cannot be added any more, without names, so that it can be appended by hand.
    fn put_beside(&self, row: &Row) -> LabError {
        let (path, kept) = (self.path.clone(), self.path.with_file_name(UNSAVED));
        let write = || {
            let mut file = OpenOptions::new().append(true).create(true).open(&kept)?;
            file.write_all(&line(row, false)?)?;
            file.sync_data()
        };
        match write() {
            Ok(()) => LabError::Changed { path, kept },
            Err(error) => LabError::file("write", &kept)(error),
        }
    }

    /// All rows there are.
    pub fn rows(&self) -> Result<Vec<Row>, LabError> {
        read(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{methods::Method, protocol::Protocol};

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
        assert!(store.has(&job(1), "") && !store.has(&job(2), ""));
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
        assert!(Store::open(folder.path(), false).unwrap().has(&job(0), ""));
        let mut store = Store::open(folder.path(), true).unwrap();
        assert!(!store.has(&job(0), ""));
        store.add(&row(0, 0.75)).unwrap();
        assert_eq!(store.rows().unwrap(), [row(0, 0.75)]);
    }

    #[test]
    fn a_run_with_other_parameters_is_run_again_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        store.add(&Row { params: "{}".to_owned(), ..row(0, 0.5) }).unwrap();
        assert!(!store.has(&job(0), ""));
        store.add(&row(0, 0.75)).unwrap();
        assert!(store.has(&job(0), ""));
        assert_eq!(store.rows().unwrap(), [row(0, 0.75)]);
    }

    #[test]
    fn a_run_on_other_data_is_run_again_and_replaced_and_unknown_data_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        let of = |data: &str, auc| Row { data: data.to_owned(), ..row(0, auc) };
        store.add(&of("", 0.25)).unwrap();
        assert!(store.has(&job(0), "aa"));
        store.add(&of("aa", 0.5)).unwrap();
        drop(store);
        let mut store = Store::open(folder.path(), false).unwrap();
        assert!(store.has(&job(0), "aa") && !store.has(&job(0), "bb"));
        store.add(&of("bb", 0.75)).unwrap();
        assert!(store.has(&job(0), "bb"));
        assert_eq!(store.rows().unwrap(), [of("bb", 0.75)]);
    }

    #[test]
    fn a_file_of_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, "a letter without an end").unwrap();
        assert!(matches!(Store::open(folder.path(), false), Err(LabError::BadHeader { .. })));
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

    #[test]
    fn a_file_with_other_columns_is_not_added_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        Store::open(folder.path(), false).unwrap().add(&row(0, 0.5)).unwrap();
        let swapped = std::fs::read_to_string(&path).unwrap().replacen("auc,ap,", "ap,auc,", 1);
        std::fs::write(&path, &swapped).unwrap();
        let error = Store::open(folder.path(), false).unwrap_err();
        assert!(matches!(error, LabError::BadHeader { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), swapped);
        assert_eq!(read(&path).unwrap()[0].ap, Some(0.5));
    }

    type Change = fn(&Path);

    /// What another program may do to the file of a run.
    fn other_programs() -> [(&'static str, Change); 4] {
        [
            ("replaced by a copy", |path| {
                let copy = path.with_extension("copy");
                std::fs::copy(path, &copy).unwrap();
                std::fs::rename(&copy, path).unwrap();
            }),
            ("cut off", |path| std::fs::write(path, "").unwrap()),
            ("added to", |path| {
                let text = std::fs::read_to_string(path).unwrap();
                std::fs::write(path, format!("{text}\n")).unwrap();
            }),
            ("removed", |path| std::fs::remove_file(path).unwrap()),
        ]
    }

    #[test]
    fn a_row_is_put_beside_a_file_that_somebody_else_changed() {
        for (what, change) in other_programs() {
            if what == "replaced by a copy" && !cfg!(unix) {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(FILE_NAME);
            let mut store = Store::open(folder.path(), false).unwrap();
            store.add(&row(0, 0.5)).unwrap();
            change(&path);
            let left = std::fs::read(&path).ok();
            for seed in [1, 2] {
                let error = store.add(&row(seed, 0.25)).unwrap_err();
                assert!(matches!(error, LabError::Changed { .. }), "{what}: {error}");
            }
            assert_eq!(std::fs::read(&path).ok(), left, "{what}");
            // Appended to the file as it was, the rows are as if they had been added.
            let kept = std::fs::read_to_string(folder.path().join(UNSAVED)).unwrap();
            let header = String::from_utf8(line(&row(0, 0.5), true).unwrap()).unwrap();
            std::fs::write(&path, header + &kept).unwrap();
            assert_eq!(read(&path).unwrap(), [row(0, 0.5), row(1, 0.25), row(2, 0.25)], "{what}");
        }
    }
}
