//! Errors of the laboratory outside a run. Errors inside a run become a result with the status `failed`.

use std::{io, path::PathBuf};

/// An error of the laboratory.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file could not be read or written.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file was found where a folder was expected.
    #[error("`{}` is a file, but a folder was expected", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The file of a set is invalid.
    #[error("`{}`: {reason}", path.display())]
    BadSet {
        /// The file.
        path: PathBuf,
        /// What was found and expected.
        reason: String,
    },
    /// An unknown name.
    #[error("unknown {what} `{name}`; available: {known}")]
    Unknown {
        /// Set, method or protocol.
        what: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A parameter of a method is invalid.
    #[error("method `{method}`: {source}")]
    Param {
        /// The method.
        method: String,
        /// What is wrong.
        source: oddcell::error::ParamError,
    },
    /// A `--vary` argument is invalid, or no chosen method has the parameter.
    #[error("`{text}`: {reason}")]
    Vary {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A line of a results file is not a result.
    #[error("`{}`, line {line}: {reason}", path.display())]
    BadResults {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What was found and expected.
        reason: String,
    },
    /// None of the chosen sets can be used.
    #[error("none of the chosen sets can be used; {set}: {reason}")]
    NoSet {
        /// The first set.
        set: String,
        /// Why it cannot be used.
        reason: String,
    },
    /// A results file has other columns than expected.
    #[error("`{}`, line 1: {reason}", path.display())]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// The first column that differs, and the expected one.
        reason: String,
    },
    /// Another program changed or replaced the results file during a run.
    #[error(
        "another program changed `{}` during the run; the results since then are in `{}`",
        path.display(),
        kept.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The file with the results that could not be added.
        kept: PathBuf,
    },
    /// A picture or a statistic of the results failed.
    #[error("cannot report the results: {0}")]
    Picture(#[from] crate::pictures::PictureError),
    /// A set could not be drawn or timed.
    #[error("set `{set}`: {source}")]
    Work {
        /// The set.
        set: String,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process is writing to the same file.
    #[error("another run is writing to `{}`", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

impl LabError {
    /// For `map_err` after a call of the file system.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
