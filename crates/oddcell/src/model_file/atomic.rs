//! Writing a file whole or not at all: beside its place, then renamed into it.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use crate::Error;

/// Writes the file at `path` with `write`. Until everything is written and has reached the disk, an older file of
/// that name stays as it is; on an error, or if the process is stopped by a signal it handles, no half file
/// stays behind under that name.
///
/// A link is followed. What is no regular file (`/dev/stdout`, a pipe) cannot be replaced and is written directly.
pub fn write_atomically<E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |action: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| Error::File { action, path, source }
    };
    let target = resolve(path);
    if fs::metadata(&target).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let file = File::options().write(true).open(&target).map_err(failed("write", path))?;
        let mut writer = BufWriter::new(&file);
        write(&mut writer)?;
        return Ok(writer.flush().map_err(failed("write", path))?);
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let beside = temporary(folder).map_err(failed("create", path))?;
    let mut writer = BufWriter::new(beside.as_file());
    write(&mut writer)?;
    writer.flush().map_err(failed("write", path))?;
    drop(writer);
    beside.as_file().sync_all().map_err(failed("write", path))?;
    beside.persist(&target).map_err(|error| failed("create", path)(error.error))?;
    // The new name reaches the disk with the folder. Where folders cannot be opened there is nothing more to do.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A file of its own beside the target, with the permissions a new file usually gets.
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".oddcell-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mask of the process takes away what it usually takes away.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// The file that a link stands for, so that the link itself stays.
fn resolve(path: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink());
    if is_link { fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_text(path: &Path, text: &str) -> Result<(), Error> {
        write_atomically(path, |writer| {
            writer.write_all(text.as_bytes()).map_err(|source| Error::File {
                action: "write",
                path: path.to_owned(),
                source,
            })
        })
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.oddcell");
        write_text(&path, "old").unwrap();
        write_text(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["m.oddcell"]);
    }

    #[test]
    fn after_an_error_the_old_file_is_still_there_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.oddcell");
        write_text(&path, "old").unwrap();
        let broken = write_atomically(&path, |writer| {
            writer.write_all(&vec![b'x'; 100_000]).unwrap();
            let source = io::Error::from(io::ErrorKind::StorageFull);
            Err(Error::File { action: "write", path: path.clone(), source })
        });
        assert!(matches!(broken, Err(Error::File { action: "write", .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["m.oddcell"]);
    }

    #[test]
    fn a_missing_folder_is_named_by_the_path_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("absent").join("m.oddcell");
        let message = write_text(&path, "x").unwrap_err().to_string();
        assert!(message.starts_with(&format!("cannot create `{}`: ", path.display())), "{message}");
        let message = write_text(folder.path(), "x").unwrap_err().to_string();
        assert!(message.starts_with(&format!("cannot create `{}`: ", folder.path().display())), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_permissions_are_the_usual_ones_and_devices_stay_devices() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("m.oddcell"), folder.path().join("link"));
        write_text(&path, "old").unwrap();
        symlink(&path, &link).unwrap();
        write_text(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        let usual = folder.path().join("usual");
        fs::write(&usual, "x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode(), fs::metadata(&usual).unwrap().mode());
        write_text(Path::new("/dev/null"), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
