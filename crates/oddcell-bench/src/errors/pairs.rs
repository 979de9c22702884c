//! Dirty tables and their clean counterparts.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use crate::LabError;

/// A dirty table and the clean one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The folder of the table, from the folder of the data on.
    pub table: String,
    /// The kind of errors: what follows `dirty_` in the file's name; empty if nothing does.
    pub kind: String,
    /// The dirty file.
    pub dirty: PathBuf,
    /// The clean file.
    pub clean: PathBuf,
}

/// All cells of a CSV file as text, without spaces around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The names in the header.
    pub names: Vec<String>,
    /// Row by row.
    pub cells: Vec<String>,
}

/// Every pair below `folder`: a file `dirty.csv` or `dirty_KIND.csv`, perhaps with `.gz`, beside `clean_KIND.csv` or
/// `clean.csv`. In the order of folders and kinds.
pub fn pairs(folder: &Path) -> Result<Vec<Pair>, LabError> {
    let mut found = Vec::new();
    visit(folder, folder, &mut found)?;
    found.sort_by(|a, b| (&a.table, &a.kind).cmp(&(&b.table, &b.kind)));
    Ok(found)
}

fn visit(root: &Path, folder: &Path, found: &mut Vec<Pair>) -> Result<(), LabError> {
    for entry in std::fs::read_dir(folder).map_err(LabError::file("read", folder))? {
        let path = entry.map_err(LabError::file("read", folder))?.path();
        if path.is_dir() {
            visit(root, &path, found)?;
            continue;
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        let Some(kind) = plain.strip_prefix("dirty").and_then(|rest| rest.strip_suffix(".csv")) else {
            continue;
        };
        let ending = &name["dirty".len() + kind.len()..];
        let own = folder.join(format!("clean{kind}{ending}"));
        let clean = if own.exists() { own } else { folder.join(format!("clean{ending}")) };
        if !clean.exists() {
            let reason = "there is no clean table beside it".to_owned();
            return Err(LabError::BadSet { path, reason });
        }
        let table = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned();
        found.push(Pair { table, kind: kind.trim_start_matches('_').to_owned(), dirty: path, clean });
    }
    Ok(())
}

impl Grid {
    /// Reads a CSV file with a header, perhaps compressed.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let failed = LabError::file("read", path);
        let bytes = std::fs::read(path).map_err(failed)?;
        let mut text = Vec::new();
        if path.extension().is_some_and(|ending| ending == "gz") {
            flate2::read::MultiGzDecoder::new(&bytes[..])
                .read_to_end(&mut text)
                .map_err(LabError::file("read", path))?;
        } else {
            text = bytes;
        }
        Self::of(&text).map_err(|reason| LabError::BadSet { path: path.to_owned(), reason })
    }

    fn of(bytes: &[u8]) -> Result<Self, String> {
        let text = String::from_utf8_lossy(bytes);
        let mut reader = csv::ReaderBuilder::new().has_headers(true).from_reader(text.as_bytes());
        let trimmed = |record: &csv::StringRecord| -> Vec<String> {
            record.iter().map(|cell| cell.trim().to_owned()).collect()
        };
        let names = trimmed(reader.headers().map_err(|error| error.to_string())?);
        let mut cells = Vec::new();
        for record in reader.records() {
            cells.extend(trimmed(&record.map_err(|error| error.to_string())?));
        }
        Ok(Self { names, cells })
    }

    /// The number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.names.len()
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.cells.len() / self.n_columns().max(1)
    }

    /// The cells of a column.
    pub fn column(&self, at: usize) -> impl Iterator<Item = &str> {
        self.cells.iter().skip(at).step_by(self.n_columns().max(1)).map(String::as_str)
    }

    /// Which cells differ from those of `clean`.
    pub fn wrong(&self, clean: &Self) -> Result<Vec<bool>, String> {
        let [own, other] = [self, clean].map(|grid| (grid.n_rows(), grid.n_columns()));
        if own != other {
            return Err(format!("it has {own:?} rows and columns, and the clean table {other:?}"));
        }
        Ok(self.cells.iter().zip(&clean.cells).map(|(own, other)| own != other).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dirty_table_is_paired_with_the_clean_one_of_its_kind_or_with_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("a/b");
        std::fs::create_dir_all(&table).unwrap();
        for name in ["dirty_typo.csv", "dirty_swap.csv", "clean_typo.csv", "clean.csv", "notes.txt"] {
            std::fs::write(table.join(name), "x\n1\n").unwrap();
        }
        let found = pairs(folder.path()).unwrap();
        let clean = |pair: &Pair| pair.clean.file_name().unwrap().to_str().unwrap().to_owned();
        let told: Vec<_> = found.iter().map(|pair| (&*pair.table, &*pair.kind, clean(pair))).collect();
        assert_eq!(told, [("a/b", "swap", "clean.csv".into()), ("a/b", "typo", "clean_typo.csv".into())]);
    }

    #[test]
    fn cells_that_differ_by_more_than_spaces_are_wrong() {
        let [dirty, clean] =
            ["a,b\n1, x\n2,y\n", "a,b\n1,x\n3,y\n"].map(|text| Grid::of(text.as_bytes()).unwrap());
        assert_eq!(dirty.wrong(&clean).unwrap(), [false, false, true, false]);
        assert_eq!(dirty.column(1).collect::<Vec<_>>(), ["x", "y"]);
        assert!(dirty.wrong(&Grid::of(b"a\n1\n").unwrap()).is_err());
    }
}
