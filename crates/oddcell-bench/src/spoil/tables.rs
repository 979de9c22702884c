//! The tables of a folder.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{LabError, sets::Half};

/// The registry that `benchmarks/spoil/fetch` puts beside the tables.
const REGISTRY: &str = "tables.csv";

/// A table in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFile {
    /// Its name: the file name without its ending.
    pub name: String,
    /// The half it belongs to, if the registry has it.
    pub half: Option<Half>,
    /// The file.
    pub path: PathBuf,
}

impl TableFile {
    /// The name of its half; empty if it has none.
    #[must_use]
    pub fn half_name(&self) -> &'static str {
        match self.half {
            Some(Half::Design) => "design",
            Some(Half::Confirm) => "confirm",
            None => "",
        }
    }
}

/// A line of the registry, as far as it is needed here.
#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    half: String,
}

/// The tables of a folder, in the order of their names: all CSV files except the registry. The registry, if there is one,
/// says which half a table belongs to.
pub fn tables(folder: &Path) -> Result<Vec<TableFile>, LabError> {
    let halves = registry(&folder.join(REGISTRY))?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(LabError::file("read", folder))? {
        let path = entry.map_err(LabError::file("read", folder))?.path();
        let is_table = path.extension().is_some_and(|ending| ending == "csv") && !path.ends_with(REGISTRY);
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|_| is_table) {
            let half =
                halves.iter().find(|entry| entry.name == name).and_then(|entry| Half::named(&entry.half));
            found.push(TableFile { name: name.to_owned(), half, path });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn registry(path: &Path) -> Result<Vec<Entry>, LabError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bad = |error: csv::Error| LabError::BadSet { path: path.to_owned(), reason: error.to_string() };
    let reader = csv::Reader::from_path(path).map_err(bad)?;
    reader.into_deserialize().collect::<Result<_, _>>().map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_csv_files_with_their_halves() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("tables.csv", "name,half,package\nships,confirm,p\ncars,design,p\n");
        for name in ["ships.csv", "cars.csv", "own.csv", "READY"] {
            write(name, "");
        }
        let found = tables(folder.path()).unwrap();
        let named: Vec<_> = found.iter().map(|table| (&*table.name, table.half)).collect();
        assert_eq!(named, [("cars", Some(Half::Design)), ("own", None), ("ships", Some(Half::Confirm))]);
    }
}
