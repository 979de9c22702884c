//! The benchmark sets: the registry, and how to read and check their files.
//!
//! The data is not part of oddcell. [`registry()`] says where to get it, and has the checksums of the files that our
//! results used; [`check()`] compares files with them.

mod check;
mod folder;
mod read;
mod registry;
pub mod traits;

use std::path::Path;

use oddcell::Matrix;

pub use self::{
    check::{Counts, State, check},
    folder::{half_of, in_folder},
    registry::{Benchmark, Half, Original, SetInfo, called, find, is_substitute, locate, registry},
    traits::Traits,
};
use crate::LabError;

/// A set with its labels.
#[derive(Debug, Clone)]
pub struct LabeledSet {
    /// Its name.
    pub name: String,
    /// All rows.
    pub rows: Matrix,
    /// 0 = normal and 1 = anomalous, or the original classes.
    pub labels: Vec<i64>,
    /// How many of the leading columns are numeric; the others are one-hot.
    pub n_numeric: usize,
    /// Which rows come from the original test file, if there was one.
    pub is_test: Option<Vec<bool>>,
}

impl LabeledSet {
    /// Reads a file with the arrays `X`, `y` and optionally `is_test`. The first `n_numeric` columns are numeric
    /// (`None`: all).
    pub fn read(name: &str, path: &Path, n_numeric: Option<usize>) -> Result<Self, LabError> {
        read::read(name, path, n_numeric)
    }

    /// Whether the labels are only 0 (normal) and 1 (anomalous).
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.labels.iter().all(|&label| label == 0 || label == 1)
    }

    /// Removes the one-hot columns.
    pub fn keep_numbers(&mut self) {
        if self.n_numeric < self.rows.n_cols() {
            let values = self.rows.rows().flat_map(|row| &row[..self.n_numeric]).copied().collect();
            self.rows = Matrix::new(values, self.rows.n_rows(), self.n_numeric);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_with_features_labels_and_flags_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.csv");
        std::fs::write(&path, "x1,x2,y,is_test\n1,2,0,0\n3,4,7,1\n").unwrap();
        let mut set = LabeledSet::read("set", &path, Some(1)).unwrap();
        assert_eq!(set.rows, Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]));
        assert_eq!((set.labels.as_slice(), set.is_binary()), (&[0, 7][..], false));
        assert_eq!(set.is_test, Some(vec![false, true]));
        set.keep_numbers();
        assert_eq!(set.rows, Matrix::from_rows(&[[1.0], [3.0]]));
    }

    #[test]
    fn invalid_files_are_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.csv");
        for (text, reason) in [
            ("a,y\n1,0\n2,1\n", "the array `X` is missing"),
            ("x1,x2\n1,0\n2,1\n", "the array `y` is missing"),
            ("x1,y\n,0\n2,1\n", "empty or not finite at row 1, column 1"),
            ("x1,y\n1,0\n2,\n", "`y` is empty at row 2, expected a whole number"),
            ("x1,y\n1,0.7\n2,0\n", "`y` is 0.7 at row 1, expected a whole number"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = LabeledSet::read("set", &path, None).unwrap_err().to_string();
            assert!(error.contains("set.csv") && error.contains(reason), "{error}");
        }
    }
}
