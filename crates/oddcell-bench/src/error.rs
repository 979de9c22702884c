//! What can go wrong in the laboratory before or around a run. What goes wrong inside a run becomes a row of its own.

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
    /// There is a file where a folder was expected.
    #[error("`{}` is a file, but a folder was expected", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// A set's file is not what it should be.
    #[error("`{}`: {reason}", path.display())]
    BadSet {
        /// The file.
        path: PathBuf,
        /// What was found and expected.
        reason: String,
    },
    /// A name that is in no list.
    #[error("there is no {what} `{name}`; there are: {known}")]
    Unknown {
        /// Set, method or protocol.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A parameter of a method.
    #[error("method `{method}`: {source}")]
    Param {
        /// The method.
        method: String,
        /// What is wrong.
        source: oddcell::error::ParamError,
    },
    /// `--vary` text that is none, or that no chosen method can take.
    #[error("`{text}`: {reason}")]
    Vary {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A results file with a line that is no result.
    #[error("`{}`, line {line}: {reason}", path.display())]
    BadResults {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What was found and expected.
        reason: String,
    },
    /// Of the sets that were chosen, none can take part.
    #[error("no set can take part; {set}: {reason}")]
    NoSet {
        /// The first of them.
        set: String,
        /// Why it cannot.
        reason: String,
    },
    /// A results file with other columns than ours.
    #[error("`{}`, line 1: {reason}", path.display())]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// The first column that differs, and what was expected.
        reason: String,
    },
    /// Somebody else changed or replaced a results file while it was added to.
    #[error(
        "`{}` was changed by somebody else while it was added to; what was measured since is in `{}`",
        path.display(),
        kept.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Where the rows are that could not be added.
        kept: PathBuf,
    },
    /// A picture or a statistic of the results.
    #[error("cannot show the results: {0}")]
    Picture(#[from] crate::pictures::PictureError),
    /// A map of rows.
    #[error("set `{set}`: {source}")]
    Map {
        /// The set.
        set: String,
        /// What went wrong.
        source: crate::maps::MapError,
    },
    /// A measurement of time.
    #[error("set `{set}`: {source}")]
    Timing {
        /// The set.
        set: String,
        /// What went wrong.
        source: crate::timing::TimingError,
    },
    /// Another process writes to the same results.
    #[error("`{}` is being written by another run", path.display())]
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
