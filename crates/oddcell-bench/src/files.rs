//! Writes folders and files of results.

use std::{
    fs,
    path::{Path, PathBuf},
};

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
