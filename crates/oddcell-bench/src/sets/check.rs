//! Checks whether a file is the one that our results used, or at least the same set.
//!
//! Checksums differ even if only the version of the compressor differs. So a file with another checksum is read, and
//! its rows, columns and labels are counted.

use std::{fmt, path::Path};

use oddcell::count::counted;

use super::{LabeledSet, SetInfo, locate};
use crate::{LabError, digest};

/// The size of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns of `X`.
    pub columns: usize,
    /// The number of anomalies, if there are at most two classes.
    pub anomalies: Option<usize>,
    /// The number of classes.
    pub classes: usize,
}

impl Counts {
    /// The counts in the registry.
    #[must_use]
    pub fn expected(info: &SetInfo) -> Self {
        Self { rows: info.rows, columns: info.columns, anomalies: info.anomalies, classes: info.classes }
    }

    /// The counts of a set.
    #[must_use]
    pub fn of(set: &LabeledSet) -> Self {
        let mut classes = set.labels.clone();
        classes.sort_unstable();
        classes.dedup();
        let anomalies = set.is_binary().then(|| set.labels.iter().filter(|&&label| label == 1).count());
        Self { rows: set.rows.n_rows(), columns: set.rows.n_cols(), anomalies, classes: classes.len() }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (counted(self.rows, "row", "rows"), counted(self.columns, "column", "columns"));
        let labels = match self.anomalies {
            Some(anomalies) => counted(anomalies, "anomaly", "anomalies"),
            None => counted(self.classes, "class", "classes"),
        };
        write!(formatter, "{rows}, {columns}, {labels}")
    }
}

/// The state of a set in a folder.
#[derive(Debug)]
pub enum State {
    /// There is no file.
    Missing,
    /// The file has the checksum of the one we used.
    Ours,
    /// The checksum differs or is unknown, but the counts are as expected.
    SameCounts,
    /// The counts differ.
    OtherCounts(Counts),
    /// The file is not a set.
    Unreadable(LabError),
}

/// Checks the file of a set in the folder `data`.
#[must_use]
pub fn check(data: &Path, info: &SetInfo) -> State {
    let Some(path) = locate(data, info) else { return State::Missing };
    match is_ours(&path, info) {
        Ok(true) => return State::Ours,
        Ok(false) => {}
        Err(error) => return State::Unreadable(error),
    }
    match LabeledSet::read(&info.name, &path, info.numeric) {
        Err(error) => State::Unreadable(error),
        Ok(set) => match Counts::of(&set) {
            counts if counts == Counts::expected(info) => State::SameCounts,
            counts => State::OtherCounts(counts),
        },
    }
}

fn is_ours(path: &Path, info: &SetInfo) -> Result<bool, LabError> {
    let Some(expected) = &info.sha256 else { return Ok(false) };
    Ok(digest::checksum(path)? == *expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::registry;

    #[test] // SHA-256 of the three letters "abc" is a published test vector.
    fn a_file_is_known_by_its_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let mut info = registry()[0].clone();
        info.sha256 = Some(digest.to_owned());
        assert!(is_ours(&path, &info).unwrap());
        info.file = "abc".to_owned();
        assert!(matches!(check(folder.path(), &info), State::Ours));
        info.sha256 = Some(digest.replace('b', "c"));
        assert!(!is_ours(&path, &info).unwrap());
        info.sha256 = None;
        assert!(!is_ours(&path, &info).unwrap());
    }

    #[test]
    fn a_file_with_other_bytes_is_known_by_its_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut info = registry()[0].clone();
        info.file = "set.csv".to_owned();
        (info.rows, info.columns, info.anomalies, info.classes) = (3, 2, Some(1), 2);
        let state = |text: &str| {
            std::fs::write(folder.path().join("set.csv"), text).unwrap();
            check(folder.path(), &info)
        };
        assert!(matches!(state("x1,x2,y\n1,2,0\n3,4,0\n5,6,1\n"), State::SameCounts));
        let State::OtherCounts(counts) = state("x1,x2,y\n1,2,0\n3,4,1\n5,6,1\n") else {
            panic!("2 anomalies")
        };
        assert_eq!(counts.to_string(), "3 rows, 2 columns, 2 anomalies");
        let State::OtherCounts(counts) = state("x1,y\n1,4\n3,5\n5,6\n") else { panic!("3 classes") };
        assert_eq!(counts.to_string(), "3 rows, 1 column, 3 classes");
        assert!(matches!(state("a,y\n1,0\n"), State::Unreadable(_)));
        info.file = "other.csv".to_owned();
        assert!(matches!(check(folder.path(), &info), State::Missing));
    }
}
