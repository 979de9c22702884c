//! What kind of table a set is, so that results can be grouped: rows, columns, coarse values, equal rows, anomalies.
//!
//! A folder of results keeps the traits of its sets in `sets.csv`, since reports are made without the data.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::LabeledSet;
use crate::{LabError, files::write_whole};

/// The file of a folder of results that describes its sets.
pub const FILE_NAME: &str = "sets.csv";

/// What kind of table a set is. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Traits {
    /// The set.
    pub set: String,
    /// The first digits of the checksum of its file.
    pub data: String,
    /// Rows, training and test.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The number of distinct values of a column as a share of the rows; the mean over the columns.
    pub distinct: f64,
    /// The share of the rows that have an equal row.
    pub equal: f64,
    /// The share of anomalies; `None` for sets with classes.
    pub anomalies: Option<f64>,
}

impl Traits {
    /// The traits of a set.
    #[must_use]
    pub fn of(set: &LabeledSet, data: &str) -> Self {
        let (rows, columns) = (set.rows.n_rows(), set.rows.n_cols());
        let share = |count: usize| count as f64 / rows.max(1) as f64;
        let distinct = |column: usize| {
            let mut values: Vec<f64> = set.rows.rows().map(|row| row[column]).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            share(values.len())
        };
        let anomalies = set.labels.iter().filter(|&&label| label != 0).count();
        Self {
            set: set.name.clone(),
            data: data.to_owned(),
            rows,
            columns,
            distinct: (0..columns).map(distinct).sum::<f64>() / columns.max(1) as f64,
            equal: share(n_with_equals(set)),
            anomalies: set.is_binary().then(|| share(anomalies)),
        }
    }
}

/// The number of rows that have an equal row.
fn n_with_equals(set: &LabeledSet) -> usize {
    let mut order: Vec<usize> = (0..set.rows.n_rows()).collect();
    let compare = |a: &usize, b: &usize| {
        let pairs = set.rows.row(*a).iter().zip(set.rows.row(*b));
        pairs.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    };
    order.sort_unstable_by(compare);
    let groups = order.chunk_by(|a, b| compare(a, b).is_eq());
    groups.map(<[usize]>::len).filter(|&count| count > 1).sum()
}

/// The traits of the sets of a folder of results, by name; none if the folder has none yet.
pub fn read(folder: &Path) -> Result<BTreeMap<String, Traits>, LabError> {
    let path = folder.join(FILE_NAME);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        result => result.map_err(LabError::file("read", &path))?,
    };
    let bad = |error: csv::Error| LabError::BadResults {
        path: path.clone(),
        line: error.position().map_or(1, csv::Position::line),
        reason: error.to_string(),
    };
    let lines = csv::Reader::from_reader(&*bytes).into_deserialize::<Traits>();
    lines.map(|line| line.map(|traits| (traits.set.clone(), traits)).map_err(bad)).collect()
}

/// The traits of a folder's sets, which new sets are added to.
#[derive(Debug)]
pub(crate) struct Known {
    traits: BTreeMap<String, Traits>,
    added: BTreeSet<String>,
}

impl Known {
    pub(crate) fn of(folder: &Path) -> Result<Self, LabError> {
        Ok(Self { traits: read(folder)?, added: BTreeSet::new() })
    }

    /// Adds a set, unless it is known with the same data.
    pub(crate) fn add(&mut self, set: &LabeledSet, data: &str) {
        if self.traits.get(&set.name).is_none_or(|known| known.data != data) {
            self.traits.insert(set.name.clone(), Traits::of(set, data));
            self.added.insert(set.name.clone());
        }
    }

    /// Writes the file, if it would change.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        if self.added.is_empty() {
            return Ok(());
        }
        let path = folder.join(FILE_NAME);
        let mut writer = csv::Writer::from_writer(Vec::new());
        let written = self.traits.values().try_for_each(|traits| writer.serialize(traits));
        let bytes = written
            .map_err(io::Error::other)
            .and_then(|()| writer.into_inner().map_err(csv::IntoInnerError::into_error));
        write_whole(&path, &bytes.map_err(LabError::file("write", &path))?)
    }
}

#[cfg(test)]
mod tests {
    use oddcell::Matrix;

    use super::*;

    // Column 1 has the values 1 and 2: 2 of 4. Column 2 has 5, 6 and 7: 3 of 4. The mean is 5/8. Rows 1 and 3 are equal.
    fn set() -> LabeledSet {
        let rows = Matrix::from_rows(&[[1.0, 5.0], [2.0, 6.0], [1.0, 5.0], [1.0, 7.0]]);
        LabeledSet { name: "made".to_owned(), rows, labels: vec![0, 0, 0, 1], n_numeric: 2, is_test: None }
    }

    #[test]
    fn the_traits_of_a_set_are_those_counted_by_hand() {
        let traits = Traits::of(&set(), "abc");
        assert_eq!((traits.rows, traits.columns), (4, 2));
        assert_eq!((traits.distinct, traits.equal, traits.anomalies), (0.625, 0.5, Some(0.25)));
        let classes = LabeledSet { labels: vec![1, 2, 3, 1], ..set() };
        assert_eq!(Traits::of(&classes, "").anomalies, None);
    }

    #[test]
    fn a_folder_remembers_its_sets_and_notices_other_data() {
        let folder = tempfile::tempdir().unwrap();
        let keep = |set: &LabeledSet, data: &str| {
            let mut known = Known::of(folder.path()).unwrap();
            known.add(set, data);
            known.write(folder.path()).unwrap();
            read(folder.path()).unwrap()
        };
        assert!(read(folder.path()).unwrap().is_empty());
        assert_eq!(keep(&set(), "abc")["made"], Traits::of(&set(), "abc"));
        let other = LabeledSet { labels: vec![0; 4], ..set() };
        // The same checksum: not counted again.
        assert_eq!(keep(&other, "abc")["made"].anomalies, Some(0.25));
        assert_eq!(keep(&other, "def")["made"].anomalies, Some(0.0));
        std::fs::write(folder.path().join(FILE_NAME), "set,data\nx,y\n").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("sets.csv`, line 2"));
    }
}
