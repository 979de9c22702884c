//! The benchmark sets: which there are, where they come from, and how they are read.
//!
//! None of the data is part of oddcell. [`registry()`] says what to get where, and the checksum of the files that our
//! results were made with; [`check()`] holds files against it.

mod check;
mod read;
mod registry;

use std::path::Path;

use oddcell::Matrix;

pub use self::{
    check::{Counts, State, check},
    registry::{Benchmark, Half, Original, SetInfo, called, find, is_stand_in, locate, registry},
};
use crate::LabError;

/// A set with its labels.
#[derive(Debug, Clone)]
pub struct LabelledSet {
    /// Its name.
    pub name: String,
    /// All rows.
    pub rows: Matrix,
    /// 0 = normal and 1 = anomalous, or the original classes.
    pub labels: Vec<i64>,
    /// How many of the leading columns are numbers; the others are one-hot.
    pub n_numeric: usize,
    /// Which rows are of the original test file, if there was one.
    pub is_test: Option<Vec<bool>>,
}

impl LabelledSet {
    /// Reads a file with the arrays `X` and `y`, and `is_test` where there is one. The first `n_numeric` columns are
    /// numbers (`None`: all).
    pub fn read(name: &str, path: &Path, n_numeric: Option<usize>) -> Result<Self, LabError> {
        read::read(name, path, n_numeric)
    }

    /// Whether the labels say normal or anomalous, and not which class.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.labels.iter().all(|&label| label == 0 || label == 1)
    }

    /// Leaves the one-hot columns out.
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
        let mut set = LabelledSet::read("set", &path, Some(1)).unwrap();
        assert_eq!(set.rows, Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]));
        assert_eq!((set.labels.as_slice(), set.is_binary()), (&[0, 7][..], false));
        assert_eq!(set.is_test, Some(vec![false, true]));
        set.keep_numbers();
        assert_eq!(set.rows, Matrix::from_rows(&[[1.0], [3.0]]));
    }

    #[test]
    fn files_that_are_no_labelled_sets_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.csv");
        for (text, reason) in [
            ("a,y\n1,0\n2,1\n", "there is no array `X`"),
            ("x1,x2\n1,0\n2,1\n", "there is no array `y`"),
            ("x1,y\n,0\n2,1\n", "empty or not finite at row 1, column 1"),
            ("x1,y\n1,0\n2,\n", "`y` is nothing at row 2, expected a whole number"),
            ("x1,y\n1,0.7\n2,0\n", "`y` is 0.7 at row 1, expected a whole number"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = LabelledSet::read("set", &path, None).unwrap_err().to_string();
            assert!(error.contains("set.csv") && error.contains(reason), "{error}");
        }
    }
}
