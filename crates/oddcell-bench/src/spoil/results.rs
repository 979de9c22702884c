//! Results of `bench spoil`, in two files: a line per table, seed and method, and a line per spoiled row.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    LabError,
    files::{create_folder, read_lines, write_lines},
};

/// The file with a line per table.
const TABLES: &str = "spoil.csv";
/// The file with a line per spoiled row.
const ROWS: &str = "spoil_rows.csv";

/// What a method found in a table. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// The table.
    pub table: String,
    /// Its half; empty if it has none.
    pub half: String,
    /// The method, with its variant.
    pub method: String,
    /// The seed of the errors and of the method.
    pub seed: u64,
    /// Rows of the table.
    pub rows: usize,
    /// Columns of the table.
    pub columns: usize,
    /// Spoiled rows.
    pub spoiled: usize,
    /// The share of the spoiled rows among as many rows with the highest scores.
    pub precision_at_k: f64,
    /// Average precision.
    pub ap: f64,
    /// Area under the ROC curve.
    pub auc: f64,
    /// The share of all spoiled rows whose first reason names a spoiled column.
    pub first_reason_right: f64,
    /// Rows that are called odd at a false-discovery rate of 0.1.
    pub called: usize,
    /// The share of unspoiled rows among them; 0 if there are none.
    pub unspoiled_called: f64,
    /// The share of the spoiled rows that are called odd.
    pub spoiled_called: f64,
    /// Seconds to read and judge the table.
    pub seconds: f64,
    /// Threads that the method had.
    pub threads: usize,
    /// The version of oddcell.
    pub version: String,
    /// Why the table could not be judged; empty if it was.
    pub message: String,
}

/// What a method found about a spoiled row.
#[allow(clippy::struct_excessive_bools, reason = "each is a column of the file")]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Found {
    /// The table.
    pub table: String,
    /// Its half; empty if it has none.
    pub half: String,
    /// The method, with its variant.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// The row, counted from 1.
    pub row: usize,
    /// The kind of error.
    pub kind: String,
    /// The spoiled columns.
    pub columns: String,
    /// The first spoiled cell before.
    pub before: String,
    /// And after.
    pub after: String,
    /// Whether a look at a spoiled column alone shows the error.
    pub shows: bool,
    /// The place of the row by its score, from 1; 0 if the table could not be judged.
    pub rank: usize,
    /// Whether the row is among the top k.
    pub found: bool,
    /// Whether the row is called odd at a false-discovery rate of 0.1.
    pub called: bool,
    /// The column of the first reason.
    pub first_reason: String,
    /// Whether it is a spoiled column.
    pub reason_right: bool,
}

/// All results of a folder.
#[derive(Debug, Clone, Default)]
pub struct Results {
    folder: PathBuf,
    /// A line per table, seed and method.
    pub measured: Vec<Measured>,
    /// A line per spoiled row.
    pub found: Vec<Found>,
}

impl Results {
    /// The name of the file with a line per table.
    pub const FILE_NAME: &str = TABLES;

    /// Reads the results of a folder; none if it has none.
    pub fn open(folder: &Path) -> Result<Self, LabError> {
        create_folder(folder)?;
        let (measured, found) = (read_lines(&folder.join(TABLES))?, read_lines(&folder.join(ROWS))?);
        Ok(Self { folder: folder.to_owned(), measured, found })
    }

    /// Adds results in the place of earlier ones of the same table, seed and method, and writes both files.
    pub fn add(&mut self, measured: Measured, found: Vec<Found>) -> Result<(), LabError> {
        let key = (&measured.table, &measured.method, measured.seed);
        self.measured.retain(|old| (&old.table, &old.method, old.seed) != key);
        self.found.retain(|old| (&old.table, &old.method, old.seed) != key);
        self.measured.push(measured);
        self.found.extend(found);
        write_lines(&self.folder.join(ROWS), &self.found)?;
        write_lines(&self.folder.join(TABLES), &self.measured)
    }
}

impl Results {
    /// Keeps the results for which `is_meant` is true of table, method and seed. The files stay as they are.
    pub fn keep(&mut self, is_meant: impl Fn(&str, &str, u64) -> bool) {
        self.measured.retain(|one| is_meant(&one.table, &one.method, one.seed));
        self.found.retain(|one| is_meant(&one.table, &one.method, one.seed));
    }
}

/// One line for people who watch.
impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, method, seed, precision_at_k, ap, first_reason_right, seconds, message, .. } = self;
        write!(formatter, "{table} {method} seed {seed}: ")?;
        if message.is_empty() {
            write!(
                formatter,
                "precision at k {precision_at_k:.3}, AP {ap:.3}, first reason right {first_reason_right:.3}, {seconds:.1} s"
            )
        } else {
            write!(formatter, "{message}")
        }
    }
}
