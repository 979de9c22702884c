//! The benchmark sets: which there are, where they come from, and how they are read.
//!
//! None of the data is part of oddcell. [`registry`] says what to get where, and the checksum of the files that our
//! results were made with.

mod read;

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use oddcell::Matrix;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::LabError;

/// A family of benchmark sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Benchmark {
    /// The tabular sets of `ADBench`, with normal and anomalous rows.
    Adbench,
    /// The one-class sets of the paper, with their original classes.
    Occ,
}

impl Benchmark {
    /// The folder its files are looked for in, below the data folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Benchmark::Adbench => "adbench",
            Benchmark::Occ => "occ",
        }
    }
}

/// One set of the registry.
#[derive(Debug, Clone, Deserialize)]
pub struct SetInfo {
    /// Which family it belongs to.
    pub benchmark: Benchmark,
    /// Its name on the command line and in results.
    pub name: String,
    /// Its name in the paper's tables.
    pub paper_name: String,
    /// The file that holds it.
    pub file: String,
    /// Rows, if a file was had.
    pub rows: Option<usize>,
    /// Columns of `X`.
    pub columns: Option<usize>,
    /// How many of them, the leading ones, are numbers; the others are one-hot.
    pub numeric: Option<usize>,
    /// Anomalous rows, or for sets of several classes nothing.
    pub anomalies: Option<usize>,
    /// Number of classes.
    pub classes: Option<usize>,
    /// SHA-256 of the file we used.
    pub sha256: Option<String>,
    /// Under which terms it is published, as far as known.
    pub licence: String,
    /// Where users get it, and what was done to it.
    pub source: String,
    /// Whether it only stands in for a set that could not be had; such sets are run only if named.
    pub substitute: bool,
    /// Which half of the `ADBench` sets it belongs to.
    pub half: Option<Half>,
}

/// The halves of the `ADBench` sets. Choices about the default preset are made on one and confirmed on the other.
///
/// Families of sets that share their data (`breastw`, `WBC`, `WDBC`, `WPBC`; `cardio`, `Cardiotocography`; `annthyroid`,
/// `thyroid`; `landsat`, `satellite`, `satimage-2`; `http`, `smtp`; `census`) stay together and count by their first name.
/// In alphabetical order every other family belongs to the design half, beginning with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// Choices may look at it.
    Design,
    /// No choice may look at it.
    Confirm,
}

impl Half {
    /// The half of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "design" => Some(Half::Design),
            "confirm" => Some(Half::Confirm),
            _ => None,
        }
    }
}

/// All sets: 47 of `ADBench`, 25 one-class sets, and what stands in for those that could not be had.
#[must_use]
pub fn registry() -> &'static [SetInfo] {
    static SETS: LazyLock<Vec<SetInfo>> = LazyLock::new(|| {
        let text = include_str!("registry.csv");
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
        rows.collect::<Result<_, _>>().expect("the registry is well-formed; a test reads it")
    });
    &SETS
}

/// A set of the registry by name, by its name in the paper, or by its file's name; capitals do not matter.
#[must_use]
pub fn find(benchmark: Benchmark, name: &str) -> Option<&'static SetInfo> {
    let matches = |other: &str| other.eq_ignore_ascii_case(name);
    registry().iter().find(|info| {
        info.benchmark == benchmark
            && [&*info.name, &*info.paper_name, info.file.trim_end_matches(".npz")].into_iter().any(matches)
    })
}

/// Where a set's file lies: in the folder of its family below `data`, or in `data` itself.
#[must_use]
pub fn locate(data: &Path, info: &SetInfo) -> Option<PathBuf> {
    [data.join(info.benchmark.folder()).join(&info.file), data.join(&info.file)]
        .into_iter()
        .find(|path| path.is_file())
}

/// Whether a file is the one our results were made with; `None` if none is known.
pub fn is_ours(path: &Path, info: &SetInfo) -> Result<Option<bool>, LabError> {
    let Some(expected) = &info.sha256 else { return Ok(None) };
    let mut digest = Sha256::new();
    let file = File::open(path).map_err(LabError::file("read", path))?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    loop {
        let piece = reader.fill_buf().map_err(LabError::file("read", path))?;
        if piece.is_empty() {
            break;
        }
        digest.update(piece);
        let length = piece.len();
        reader.consume(length);
    }
    let found = digest.finalize();
    let is_same = |(pair, byte): (&[u8], &u8)| std::str::from_utf8(pair) == Ok(&format!("{byte:02x}"));
    let is_ours =
        expected.len() == 2 * found.len() && expected.as_bytes().chunks(2).zip(found.iter()).all(is_same);
    Ok(Some(is_ours))
}

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
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_other_family_of_adbench_sets_is_of_the_design_half() {
        let families = [
            ["breastw", "WBC", "WDBC", "WPBC"].as_slice(),
            &["cardio", "Cardiotocography"],
            &["annthyroid", "thyroid"],
            &["landsat", "satellite", "satimage-2"],
            &["http", "smtp"],
            &["census", "census_testpart", "census_nominal"],
        ];
        let of_family = |name: &str| {
            let family = families.iter().find(|family| family.contains(&name));
            family.map_or(name, |family| family[0]).to_lowercase()
        };
        let adbench: Vec<_> = registry().iter().filter(|info| info.benchmark == Benchmark::Adbench).collect();
        let names: BTreeSet<String> = adbench.iter().map(|info| of_family(&info.name)).collect();
        for info in adbench {
            let place = names.iter().position(|name| *name == of_family(&info.name)).unwrap();
            let half = if place % 2 == 0 { Half::Design } else { Half::Confirm };
            assert_eq!(info.half, Some(half), "{}", info.name);
        }
        assert!(registry().iter().all(|info| info.half.is_some() == (info.benchmark == Benchmark::Adbench)));
    }

    #[test]
    fn the_registry_has_all_sets_of_both_families() {
        let count = |benchmark| {
            registry().iter().filter(|info| info.benchmark == benchmark && !info.substitute).count()
        };
        assert_eq!((count(Benchmark::Adbench), count(Benchmark::Occ)), (47, 25));
        for info in registry() {
            assert_eq!(find(info.benchmark, &info.name).unwrap().file, info.file, "a name is unique");
            assert!(info.sha256.as_ref().is_none_or(|digest| digest.len() == 64));
            assert!(!info.source.is_empty() && !info.licence.is_empty(), "{}", info.name);
            assert!(info.numeric <= info.columns, "{}", info.name);
        }
        assert_eq!(find(Benchmark::Adbench, "20_LETTER").unwrap().name, "letter");
        assert_eq!(find(Benchmark::Adbench, "satimage").unwrap().name, "satimage-2");
    }

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

    #[test] // SHA-256 of the three letters "abc" is a published test vector.
    fn a_file_is_known_by_its_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let mut info = registry()[0].clone();
        info.sha256 = Some(digest.to_owned());
        assert_eq!(is_ours(&path, &info).unwrap(), Some(true));
        info.sha256 = Some(digest.replace('b', "c"));
        assert_eq!(is_ours(&path, &info).unwrap(), Some(false));
        info.sha256 = None;
        assert_eq!(is_ours(&path, &info).unwrap(), None);
    }
}
