//! The `.oddcell` file: everything a model is made of, in a container that other tools can open.
//!
//! ```text
//! 8 bytes        n, the length of the index, little endian
//! n bytes        the index, JSON, padded with spaces to a multiple of 8:
//!                {"__metadata__": {"checksum": "…", "oddcell": "…"}, "name": {"dtype", "shape", "data_offsets"}, …}
//! the rest       the tensors, little endian, one after the other without gaps, 8-byte types first
//! ```
//!
//! This is the safetensors format: any of its readers can show the tensors. `oddcell` is the header, a JSON text with
//! the format version, the parameters and the encoder (written by [`crate::Model::save`]). `checksum` is the
//! SHA-256 over header and tensors; it tells accidents, not attacks.
//!
//! *Invariants of reading:* nothing is executed · any bytes give a model or an error, never a panic · nothing is
//! allocated that the file does not hold: every claimed length is compared with the bytes there are before it
//! is used · an unknown version is refused before anything else of the header is looked at.
//!
//! *Why not the safetensors crate:* version 0.8 writes the metadata in the random order of a hash map, so equal
//! models would give different files, and adds up claimed offsets without looking for overflow. The tests read
//! our files with it.

mod atomic;
mod container;
mod foreign;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

pub use atomic::{remove_unfinished, write_atomically};
pub(crate) use container::{open, seal};

use crate::{
    Error,
    count::{count, counted},
    error::ParamError,
    tensors::TensorError,
};

/// The version of the format this library writes and reads.
pub const FORMAT_VERSION: u64 = 2;
/// The longest index that is written or read: enough for 10,000 columns with all their levels.
pub const MAX_INDEX_BYTES: u64 = 64 << 20;
/// The longest file that is read.
pub const MAX_FILE_BYTES: u64 = 4 << 30;

/// Why a model file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// What is wrong with which file.
    #[error("`{}`: {problem}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Box<ModelFileError>,
    },
    /// It is something else altogether.
    #[error("not an oddcell model: it looks like {looks_like}")]
    NotAModel {
        /// What it looks like.
        looks_like: &'static str,
    },
    /// It ends too early.
    #[error(
        "the model file is cut off: it has {}, but needs {}",
        counted(*got as usize, "byte", "bytes"),
        count(*needed as usize)
    )]
    Truncated {
        /// Bytes there are.
        got: u64,
        /// Bytes there should be, as far as can be told.
        needed: u64,
    },
    /// A size is beyond all measure.
    #[error("the {part} of the model file would have {got} bytes, but at most {limit} are accepted")]
    TooLarge {
        /// Which part of the file.
        part: &'static str,
        /// The size found.
        got: u64,
        /// The largest that is accepted.
        limit: u64,
    },
    /// The index is not what the container format asks for.
    #[error("the model file is damaged: its index cannot be read: {0}")]
    Index(#[source] serde_json::Error),
    /// A tensor does not lie where it should.
    #[error("the model file is damaged: tensor `{name}` {reason}")]
    Layout {
        /// The tensor's name.
        name: String,
        /// What is wrong with its place.
        reason: String,
    },
    /// The file goes on after its end.
    #[error(
        "the model file is damaged: {} the last tensor",
        counted(*extra as usize, "byte follows", "bytes follow")
    )]
    Extra {
        /// Bytes too many.
        extra: u64,
    },
    /// The file was written in another format version.
    #[error(
        "the model file has format version {found}, but this version of oddcell reads version {supported}; {}",
        if found < supported { "fit the model again" } else { "a newer oddcell wrote it" }
    )]
    UnknownVersion {
        /// The version of the file.
        found: u64,
        /// The version of this library.
        supported: u64,
    },
    /// The content is not what was written.
    #[error("the model file is damaged: its checksum is {found}, but its content gives {expected}")]
    Checksum {
        /// What the file says.
        found: String,
        /// What its content says.
        expected: String,
    },
    /// The header is not what this version writes.
    #[error("the model file's header is not valid: {0}")]
    Header(#[source] serde_json::Error),
    /// A tensor is missing, or holds what it must not.
    #[error("the model file's content is not valid: {0}")]
    Tensor(#[from] TensorError),
    /// The detector or one of its parameters is not known here.
    #[error("the model file's content is not valid: {0}")]
    Param(#[from] ParamError),
    /// Parts of the model do not fit together.
    #[error("the model file's content is not valid: {what} is {got}, but {expected} was expected")]
    Mismatch {
        /// What does not fit.
        what: &'static str,
        /// What was found.
        got: usize,
        /// What was expected.
        expected: String,
    },
}

impl ModelFileError {
    /// What is wrong, without the file's name.
    #[must_use]
    pub fn problem(&self) -> &ModelFileError {
        match self {
            Self::InFile { problem, .. } => problem.problem(),
            other => other,
        }
    }

    /// The same, with the file it happened in.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::InFile { path: path.to_owned(), problem: Box::new(self) }
    }
}

/// The bytes of a model file, which may be a pipe. What cannot be a model is refused after its first bytes, however
/// large it is.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let mut bytes = Vec::new();
    (&mut file).take(foreign::START_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    // Of a pipe that goes on nobody knows the length; it is compared once everything is read.
    let length = match bytes.len() as u64 {
        all if all < foreign::START_BYTES => all,
        _ if metadata.is_file() => metadata.len(),
        _ => MAX_FILE_BYTES,
    };
    container::check_start(&bytes, length).map_err(|error| error.in_file(path))?;
    // One byte more than allowed is enough to know that there are too many.
    file.take(MAX_FILE_BYTES + 1 - bytes.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
