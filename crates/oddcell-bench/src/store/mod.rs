//! Stores results, one per line, in a CSV file that survives crashes.
//!
//! A result is appended in one write and synced before the next run may start. After `kill -9` or a power cut, the file
//! ends with a complete line or a part of one. The part is removed when the file is opened again, and its run is
//! repeated. No finished run is lost or repeated.
//!
//! Results are appended only to a file with exactly our header, and never to a file that another program changed or
//! replaced since it was opened.

mod header;
mod row;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::{File, Metadata, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use header::Order;
pub use row::{Key, Row, Status};

use crate::{LabError, files::create_folder, job::Job};

/// The name of the results file in its folder.
pub const FILE_NAME: &str = "results.csv";
/// The name of the file with results that could not be appended.
const UNSAVED: &str = "results-unsaved.csv";

/// Reads all complete lines of a results file. A later line replaces an earlier one of the same run.
pub fn read(path: &Path) -> Result<Vec<Row>, LabError> {
    let bytes = std::fs::read(path).map_err(LabError::file("read", path))?;
    Ok(parse(path, &bytes, Order::Any)?.0)
}

/// Parses the complete lines. Returns their rows and their length in bytes.
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

/// Formats a row, optionally after the header.
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

/// Other systems have no inode numbers; the length must do.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// The parameters and the data of a finished run, and how it ended.
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

/// A results file, open for appending. Only one process at a time can open it.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// The length of the complete lines, in bytes.
    length: u64,
    /// The runs that need not be repeated.
    finished: BTreeMap<Key, Finished>,
}

impl Store {
    /// Opens or creates the results file of a folder. With `again`, runs that failed or timed out are repeated.
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

    /// Removes an incomplete line at the end, and moves there to write.
    fn forget_the_rest(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    /// The status of a run that need not be repeated.
    #[must_use]
    pub fn status(&self, job: &Job, data: &str) -> Option<Status> {
        let Finished { params, data: of, status } = self.finished.get(&Key::of(job))?;
        (*params == job.method.params() && (of.is_empty() || of == data)).then_some(*status)
    }

    /// Appends a row and syncs it to disk; if that fails, no part of it remains. If another program changed the file,
    /// the row goes to a separate file instead.
    pub fn add(&mut self, row: &Row) -> Result<(), LabError> {
        if !self.is_as_we_left_it() {
            return Err(self.put_aside(row));
        }
        let written = line(row, self.length == 0).and_then(|line| {
            self.file.write_all(&line)?;
            self.file.sync_data()?;
            Ok(line.len() as u64)
        });
        match written {
            Ok(length) => self.length += length,
            Err(error) => {
                // If this fails, too, the next `open` removes the part.
                let _ = self.forget_the_rest();
                return Err(LabError::file("write", &self.path)(error));
            }
        }
        self.finished.insert(row.key(), Finished::of(row));
        Ok(())
    }

    /// Whether the path still points to the open file, and its length is unchanged.
    fn is_as_we_left_it(&self) -> bool {
        let (Ok(ours), Ok(there)) = (self.file.metadata(), std::fs::metadata(&self.path)) else {
            return false;
        };
        ours.len() == self.length && there.len() == self.length && is_same_file(&ours, &there)
    }

    /// Saves a row to a separate file, without a header, so that it can be appended by hand.
    fn put_aside(&self, row: &Row) -> LabError {
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

    /// The folder of the file.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Reads all rows.
    pub fn rows(&self) -> Result<Vec<Row>, LabError> {
        read(&self.path)
    }
}
