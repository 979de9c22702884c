//! Checksums of the files of sets.
//!
//! A result keeps the first sixteen hexadecimal digits of the SHA-256 of its set's file: enough to notice that the file
//! has changed, and short enough for a table.

use std::{fmt::Write as _, fs::File, io::Read, path::Path};

use sha2::{Digest, Sha256};

use crate::LabError;

/// The number of digits that results keep.
const KEPT: usize = 16;
const PIECE: usize = 1 << 20;

/// The first digits of the checksum of a file.
pub(crate) fn of_file(path: &Path) -> Result<String, LabError> {
    let mut digits = checksum(path)?;
    digits.truncate(KEPT);
    Ok(digits)
}

/// The checksum of a file, in hexadecimal digits.
pub(crate) fn checksum(path: &Path) -> Result<String, LabError> {
    let mut file = File::open(path).map_err(LabError::file("read", path))?;
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece).map_err(LabError::file("read", path))? {
            0 => break,
            length => digest.update(&piece[..length]),
        }
    }
    let mut text = String::new();
    for byte in &digest.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SHA-256 of the three letters "abc" is a published test vector: ba7816bf 8f01cfea …
    fn the_first_sixteen_digits_of_the_checksum_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(of_file(&path).unwrap(), "ba7816bf8f01cfea");
        assert!(matches!(of_file(&folder.path().join("none")), Err(LabError::File { .. })));
    }
}
