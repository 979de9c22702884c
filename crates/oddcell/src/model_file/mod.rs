//! The `.oddcell` file: a whole model in a container that other tools can open.
//!
//! ```text
//! 8 bytes        n, the length of the index, little endian
//! n bytes        the index, JSON, padded with spaces to a multiple of 8:
//!                {"__metadata__": {"checksum": "…", "oddcell": "…"}, "name": {"dtype", "shape", "data_offsets"}, …}
//! the rest       the tensors, little endian, one after the other without gaps, 8-byte types first
//! ```
//!
//! This is the safetensors format: any of its readers can show the tensors. `oddcell` is the header, a JSON
//! text with the format version, the parameters and the encoder (written by [`crate::Model::save`]).
//! `checksum` is the SHA-256 of header and tensors; it detects corruption, not tampering.
//!
//! *Invariants of reading:* nothing is executed · any bytes give a model or an error, never a panic · every
//! claimed length is compared with the size of the file before memory is allocated · another format version
//! is refused before the rest of the header is read.
//!
//! *Why not the safetensors crate:* version 0.8 writes the metadata in the random order of a hash map, so
//! equal models would give different files, and it adds up claimed offsets without checking for overflow. The
//! tests read our files with it.

mod atomic;
mod container;
mod foreign;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

pub use atomic::{folder_of, remove_unfinished, write_atomically};
pub use container::{open, seal};

use crate::{
    Error,
    count::{count, counted},
    error::ParamError,
    tensors::TensorError,
};

/// The format version that this library writes and reads.
pub const FORMAT_VERSION: u64 = 4;
/// The longest index: enough for 10,000 columns with all their levels.
pub const MAX_INDEX_BYTES: u64 = 64 << 20;
/// The longest file.
pub const MAX_FILE_BYTES: u64 = 4 << 30;

/// Why a model file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// A problem together with the file it is in.
    #[error("`{}`: {problem}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: Box<ModelFileError>,
    },
    /// The file is not a model.
    #[error("not an oddcell model: it looks like {looks_like}")]
    NotAModel {
        /// What the file looks like.
        looks_like: &'static str,
    },
    /// The file ends too early.
    #[error(
        "the model file is truncated: it has {}, but needs {}",
        counted(*got as usize, "byte", "bytes"),
        count(*needed as usize)
    )]
    Truncated {
        /// The size of the file in bytes.
        got: u64,
        /// The least size it needs.
        needed: u64,
    },
    /// A size exceeds its limit.
    #[error("the {part} of the model file would have {got} bytes, but at most {limit} are allowed")]
    TooLarge {
        /// Which part of the file.
        part: &'static str,
        /// The size found.
        got: u64,
        /// The largest allowed size.
        limit: u64,
    },
    /// The index is not valid.
    #[error("the model file is damaged: its index cannot be read: {0}")]
    Index(#[source] serde_json::Error),
    /// A tensor is not where it should be.
    #[error("the model file is damaged: tensor `{name}` {reason}")]
    Layout {
        /// The tensor's name.
        name: String,
        /// What is wrong with its position.
        reason: String,
    },
    /// The file continues after the last tensor.
    #[error(
        "the model file is damaged: {} the last tensor",
        counted(*extra as usize, "byte follows", "bytes follow")
    )]
    Extra {
        /// The number of extra bytes.
        extra: u64,
    },
    /// The file has another format version.
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
    /// The checksum does not match the content.
    #[error("the model file is damaged: its checksum is {found}, but its content gives {expected}")]
    Checksum {
        /// The checksum in the file.
        found: String,
        /// The checksum of its content.
        expected: String,
    },
    /// The header is not valid.
    #[error("the model file's header is not valid: {0}")]
    Header(#[source] serde_json::Error),
    /// A tensor is missing or has invalid values.
    #[error("the model file's content is not valid: {0}")]
    Tensor(#[from] TensorError),
    /// The detector or one of its parameters is unknown or invalid.
    #[error("the model file's content is not valid: {0}")]
    Param(#[from] ParamError),
    /// Parts of the model contradict each other.
    #[error("the model file's content is not valid: {what} is {got}, but {expected} was expected")]
    Mismatch {
        /// The figure that does not fit.
        what: &'static str,
        /// What was found.
        got: usize,
        /// What was expected.
        expected: String,
    },
}

impl ModelFileError {
    /// The problem without the file's name.
    #[must_use]
    pub fn problem(&self) -> &ModelFileError {
        if let Self::InFile { problem, .. } = self { problem.problem() } else { self }
    }

    /// Adds the file's name.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::InFile { path: path.to_owned(), problem: Box::new(self) }
    }
}

/// Reads a model file, which may be a pipe. A file that cannot be a model is refused after its first bytes,
/// however large it is.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let mut bytes = Vec::new();
    (&mut file).take(foreign::START_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    // The length of a pipe is known only after reading everything; it is checked then.
    let length = match bytes.len() as u64 {
        all if all < foreign::START_BYTES => all,
        _ if metadata.is_file() => metadata.len(),
        _ => MAX_FILE_BYTES,
    };
    container::check_start(&bytes, length).map_err(|error| error.in_file(path))?;
    // One byte more than allowed shows that the file is too long.
    file.take(MAX_FILE_BYTES + 1 - bytes.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
