//! Results of `bench errors`: a line per table, kind of errors and method.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    LabError,
    files::{create_folder, read_lines, write_lines},
    tables::Table,
};

/// The file with the results.
const FILE: &str = "errors.csv";

/// What a method found in a table. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// The table.
    pub table: String,
    /// The kind of errors; empty if the table has only one.
    pub kind: String,
    /// The method.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Rows of the table.
    pub rows: usize,
    /// Columns of the table.
    pub columns: usize,
    /// Wrong cells.
    pub wrong: usize,
    /// Average precision over all cells.
    pub ap: f64,
    /// Cells called wrong: by the default rule; by a method without one, as many as are wrong.
    pub called: usize,
    /// The share of wrong cells among them.
    pub precision: f64,
    /// The share of the wrong cells that are called.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
    /// The share of the rightly called cells whose expected value is the clean one.
    pub repaired: f64,
    /// Seconds to read and judge the table.
    pub seconds: f64,
    /// The version of oddcell.
    pub version: String,
    /// Why the table could not be judged; empty if it was.
    pub message: String,
}

/// All results of a folder.
#[derive(Debug, Clone, Default)]
pub struct Results {
    folder: PathBuf,
    /// A line per table, kind and method.
    pub measured: Vec<Measured>,
}

impl Results {
    /// The name of the file.
    pub const FILE_NAME: &str = FILE;

    /// Reads the results of a folder; none if it has none.
    pub fn open(folder: &Path) -> Result<Self, LabError> {
        create_folder(folder)?;
        let measured = read_lines(&folder.join(FILE))?;
        Ok(Self { folder: folder.to_owned(), measured })
    }

    /// Adds a result in the place of an earlier one of the same table, kind, method and seed, and writes the file.
    pub fn add(&mut self, measured: Measured) -> Result<(), LabError> {
        let key = |one: &Measured| (one.table.clone(), one.kind.clone(), one.method.clone(), one.seed);
        let own = key(&measured);
        self.measured.retain(|old| key(old) != own);
        self.measured.push(measured);
        self.measured.sort_by_key(|one| key(one));
        write_lines(&self.folder.join(FILE), &self.measured)
    }
}

/// One line for people who watch.
impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, kind, method, ap, precision, recall, f1, message, .. } = self;
        write!(formatter, "{table} {kind} {method}: ")?;
        if message.is_empty() {
            write!(formatter, "AP {ap:.3}, precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}")
        } else {
            write!(formatter, "{message}")
        }
    }
}

/// Means by kind of errors and method, and every table, with their file names.
#[must_use]
pub fn summaries(measured: &[Measured]) -> Vec<(&'static str, Table)> {
    let figures = ["AP", "F1", "precision", "recall", "repaired"];
    let shares = |one: &Measured| [one.ap, one.f1, one.precision, one.recall, one.repaired];
    let mut groups: BTreeMap<(String, String), Vec<[f64; 5]>> = BTreeMap::new();
    for one in measured {
        // Tables with one kind of errors stand for themselves.
        let kind = if one.kind.is_empty() { one.table.clone() } else { one.kind.clone() };
        groups.entry((kind, one.method.clone())).or_default().push(shares(one));
    }
    let text = |share: f64| format!("{share:.3}");
    let means = groups.into_iter().map(|((kind, method), some)| {
        let mean = |at: usize| some.iter().map(|shares| shares[at]).sum::<f64>() / some.len() as f64;
        [vec![kind, method, some.len().to_string()], (0..5).map(|at| text(mean(at))).collect()].concat()
    });
    let head = |first: &[&str]| first.iter().chain(&figures).map(|&name| name.to_owned()).collect();
    let kinds = Table {
        title: "Wrong cells, means over tables".to_owned(),
        header: head(&["errors", "method", "tables"]),
        lines: means.collect(),
    };
    let methods: BTreeSet<&str> = measured.iter().map(|one| &*one.method).collect();
    let mut tables: BTreeMap<(&str, &str), BTreeMap<&str, f64>> = BTreeMap::new();
    for one in measured {
        tables.entry((&one.table, &one.kind)).or_default().insert(&one.method, one.ap);
    }
    let row = |((table, kind), aps): (&(&str, &str), &BTreeMap<&str, f64>)| {
        let ap = |method: &&str| aps.get(method).map_or_else(|| "–".to_owned(), |&ap| text(ap));
        [vec![(*table).to_owned(), (*kind).to_owned()], methods.iter().map(ap).collect()].concat()
    };
    let header = ["table", "errors"].into_iter().chain(methods.iter().copied()).map(str::to_owned).collect();
    let lines = tables.iter().map(row).collect();
    let tables = Table { title: "Wrong cells, average precision".to_owned(), header, lines };
    vec![("errors_kinds", kinds), ("errors_tables", tables)]
}
