//! Writes folders and files of results.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

use crate::LabError;

/// Creates a folder, unless it exists.
pub(crate) fn create_folder(folder: &Path) -> Result<(), LabError> {
    fs::create_dir_all(folder).map_err(|source| {
        let file = folder.ancestors().find(|path| path.is_file());
        match file {
            Some(file) => LabError::NoFolder { path: file.to_owned() },
            None => LabError::file("create", folder)(source),
        }
    })
}

/// Writes a temporary file and renames it, so that the file is never incomplete.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), LabError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    fs::write(&part, content).map_err(LabError::file("write", &part))?;
    fs::rename(&part, path).map_err(LabError::file("write", path))
}

/// The lines of a CSV file with a header; none if there is no file.
pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, LabError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        result => result.map_err(LabError::file("read", path))?,
    };
    let bad = |error: csv::Error| LabError::BadResults {
        path: path.to_owned(),
        line: error.position().map_or(1, csv::Position::line),
        reason: error.to_string(),
    };
    csv::Reader::from_reader(&*bytes).into_deserialize().map(|row| row.map_err(bad)).collect()
}

/// Writes lines as a CSV file with a header, whole or not at all.
pub(crate) fn write_lines<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), LabError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = rows.iter().try_for_each(|row| writer.serialize(row)).map_err(io::Error::other);
    let bytes = written.and_then(|()| writer.into_inner().map_err(csv::IntoInnerError::into_error));
    write_whole(path, &bytes.map_err(LabError::file("write", path))?)
}
