//! Writes a file completely or not at all: first to a temporary file in the same folder, then renamed.
//!
//! A process that is killed (`kill -9`, a power cut) leaves its temporary file behind. The next write into that folder
//! removes it. A writer locks its file, and the system frees the lock of a dead process: whoever gets the lock of
//! another's file knows that nobody writes it any more.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::NamedTempFile;

use crate::Error;

/// The temporary files of all writes in progress.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all [`write_atomically`] calls in progress, on any thread. A process that
/// ends on a signal calls this, because nothing is dropped then. While the result is held, no file can be
/// started or completed.
#[must_use = "files can be started again once it is dropped"]
pub fn remove_unfinished() -> impl Sized {
    let mut unfinished = unfinished();
    for path in unfinished.drain(..) {
        // There is nobody left to report an error to.
        let _ = fs::remove_file(path);
    }
    unfinished
}

/// Writes the file at `path` with `write`. An existing file stays unchanged until the new one is complete and
/// on disk. After an error no partial file remains, and after a signal none if [`remove_unfinished`] is
/// called.
///
/// Links are followed. A target that is not a regular file (`/dev/stdout`, a pipe) is written directly.
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
    let folder = folder_of(&target);
    remove_abandoned(folder);
    let beside = Unfinished::create(folder).map_err(failed("create", path))?;
    let mut writer = BufWriter::new(beside.file.as_file());
    write(&mut writer)?;
    writer.flush().map_err(failed("write", path))?;
    drop(writer);
    beside.file.as_file().sync_all().map_err(failed("write", path))?;
    beside.finish(&target).map_err(failed("create", path))?;
    // Syncing the folder writes the new name to disk. Where folders cannot be opened, there is nothing more
    // to do.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The folder of a file; the current one if the path names none.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file that is removed unless it is finished.
struct Unfinished {
    file: NamedTempFile,
    listed: Listed,
}

/// A file's entry in the list of unfinished files.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

impl Unfinished {
    fn create(folder: &Path) -> io::Result<Self> {
        let mut unfinished = unfinished();
        let file = loop {
            let file = temporary(folder)?;
            // Where files cannot be locked, nobody else can lock this one and take it for abandoned.
            let _ = file.as_file().lock();
            // Before it was locked, another process may have taken it for abandoned.
            if file.path().exists() {
                break file;
            }
        };
        unfinished.push(file.path().to_owned());
        let listed = Listed(file.path().to_owned());
        Ok(Self { file, listed })
    }

    fn finish(self, target: &Path) -> io::Result<()> {
        let Self { file, listed } = self;
        // Holds the lock so that nobody removes the file while it is renamed.
        let unfinished = unfinished();
        let result = file.persist(target);
        drop(unfinished);
        drop(listed);
        result.map(|_| ()).map_err(|error| error.error)
    }
}

const PREFIX: &str = ".oddcell-";
const SUFFIX: &str = ".part";

/// Removes the temporary files in `folder` that nobody writes any more. Failures do not matter: what stays has a name
/// that tells what it is, and the next write tries again.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_ours || !entry.file_type().is_ok_and(|found| found.is_file()) {
            continue;
        }
        if let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Creates a temporary file in `folder` with the usual permissions of a new file.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask of the process applies as usual.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// The file that a link points to, so that the link itself stays.
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
    fn what_a_killed_process_left_is_removed_and_what_another_still_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".oddcell-dead.part"), "half").unwrap();
        fs::write(folder.path().join(".oddcell-notes.txt"), "not ours").unwrap();
        let alive = File::create(folder.path().join(".oddcell-alive.part")).unwrap();
        alive.lock().unwrap();
        write_text(&folder.path().join("out.csv"), "whole").unwrap();
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, [".oddcell-alive.part", ".oddcell-notes.txt", "out.csv"]);
        drop(alive);
        write_text(&folder.path().join("out.csv"), "whole").unwrap();
        assert!(!folder.path().join(".oddcell-alive.part").exists());
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

    #[test] // Other tests write at the same time, so this test removes nothing; the tests of the command line do.
    fn unfinished_files_are_listed_until_they_are_finished_or_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let unfinished = Unfinished::create(folder.path()).unwrap();
        let path = unfinished.file.path().to_owned();
        assert!(path.exists() && super::unfinished().contains(&path));
        drop(unfinished);
        assert!(!path.exists() && !super::unfinished().contains(&path));
        let unfinished = Unfinished::create(folder.path()).unwrap();
        let path = unfinished.file.path().to_owned();
        unfinished.finish(&folder.path().join("done")).unwrap();
        assert!(!super::unfinished().contains(&path));
        assert_eq!(names(folder.path()), ["done"]);
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
