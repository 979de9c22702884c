//! The errors of the library: one type per subject, and [`Error`] for all of them.
//!
//! A message names the place, what was found and what was expected. Every variant keeps its figures as typed
//! fields.
//!
//! ```
//! use oddcell::{DetectorSpec, error::ParamError};
//!
//! let error = DetectorSpec::new("knm", None).unwrap_err();
//! assert!(matches!(&error, ParamError::UnknownDetector { name, .. } if name == "knm"));
//! assert!(error.to_string().starts_with("there is no detector `knm`; known: "));
//! ```

use std::{borrow::Cow, path::PathBuf};

use crate::count::{count, counted};
pub use crate::{
    cells::RepairError, encode::EncodeError, judge::LabelError, model_file::ModelFileError, table::TableError,
};

/// Any error of this library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing a table failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table does not fit its encoder, or no encoder can be fitted to it.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A parameter is unknown or out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A detector could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Rows could not be scored.
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// The label column does not hold truths.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// Cells could not be changed, or changed back.
    #[error(transparent)]
    Repair(#[from] RepairError),
    /// A model file could not be read or written.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// A file could not be opened, read, written or renamed.
    #[error("cannot {action} `{path}`: {source}")]
    File {
        /// What failed, as a verb: "read", "write", "create".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// What an error is about.
#[derive(Debug)]
pub enum Blame<'a> {
    /// The table, the parameters or the model file: what the caller gave.
    Input,
    /// The same, and it is of the wrong type.
    Type,
    /// The operating system: files and folders.
    System(&'a std::io::Error),
    /// The work failed on its way.
    Run,
    /// Somebody cancelled the work.
    Cancelled,
}

impl Error {
    /// What the error is about; command line and Python derive exit codes and exceptions from it. Errors not named here
    /// are about the input.
    #[must_use]
    pub fn blame(&self) -> Blame<'_> {
        match self {
            Self::File { source, .. } | Self::Table(TableError::Io { source, .. }) => Blame::System(source),
            Self::Param(ParamError::UnknownParameter { .. } | ParamError::WrongType { .. })
            | Self::Table(TableError::UnsupportedType { .. })
            | Self::Encode(EncodeError::Table(TableError::UnsupportedType { .. })) => Blame::Type,
            Self::Fit(FitError::Cancelled) => Blame::Cancelled,
            Self::Fit(FitError::Diverged { .. } | FitError::Spill(_) | FitError::TableChanged { .. })
            | Self::Score(ScoreError::Spool(_))
            | Self::Table(TableError::Write { .. }) => Blame::Run,
            Self::Table(_)
            | Self::Encode(_)
            | Self::Param(_)
            | Self::Fit(_)
            | Self::Score(_)
            | Self::Label(_)
            | Self::Repair(_)
            | Self::ModelFile(_) => Blame::Input,
        }
    }
}

/// Why a parameter was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The value is outside the allowed range.
    #[error("parameter `{name}` is {got}, but must be {allowed}")]
    OutOfRange {
        /// The parameter's name, as in `--set`.
        name: &'static str,
        /// The value found.
        got: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// There is no detector of that name.
    #[error("there is no detector `{name}`; known: {known}")]
    UnknownDetector {
        /// The requested name.
        name: String,
        /// The names of all detectors, separated by commas.
        known: String,
    },
    /// The detector has no preset of that name.
    #[error("detector `{detector}` has no preset `{name}`; known: {known}")]
    UnknownPreset {
        /// The detector's name.
        detector: &'static str,
        /// The requested preset.
        name: String,
        /// The names of its presets, separated by commas.
        known: String,
    },
    /// The detector has no parameter of that name.
    #[error("detector `{detector}` has no parameter `{name}`; known: {known}")]
    UnknownParameter {
        /// The detector's name.
        detector: &'static str,
        /// The requested parameter.
        name: String,
        /// The names of its parameters, separated by commas.
        known: String,
    },
    /// The value is not one of the choices, or cannot be read.
    #[error("parameter `{name}` of detector `{detector}`: {reason}")]
    WrongValue {
        /// The detector's name.
        detector: &'static str,
        /// The parameter's name.
        name: String,
        /// What was found and what was expected.
        reason: String,
    },
    /// The value has the wrong type.
    #[error("parameter `{name}` of detector `{detector}`: {reason}")]
    WrongType {
        /// The detector's name.
        detector: &'static str,
        /// The parameter's name.
        name: String,
        /// What was found and what was expected.
        reason: String,
    },
}

/// Why a detector could not be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There are fewer rows than the detector needs.
    #[error("{detector} needs at least {} to learn from, but got {got}", counted(*needed, "row", "rows"))]
    TooFewRows {
        /// The detector's name.
        detector: &'static str,
        /// The least it needs.
        needed: usize,
        /// What it got.
        got: usize,
    },
    /// There are fewer columns than the detector needs.
    #[error(
        "{detector} needs at least {}, but got {got}",
        counted(*needed, "feature column", "feature columns")
    )]
    TooFewColumns {
        /// The detector's name.
        detector: &'static str,
        /// The least it needs.
        needed: usize,
        /// What it got.
        got: usize,
    },
    /// A parameter does not fit the number of rows.
    #[error(
        "parameter `{name}` is {got}, but with {} it must be {allowed}",
        counted(*n_rows, "training row", "training rows")
    )]
    ParamForData {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        got: usize,
        /// The number of training rows.
        n_rows: usize,
        /// The allowed values.
        allowed: String,
    },
    /// The detector's scores depend on the rows that are scored together.
    #[error(
        "parameter `joint` is true, but a model must score each row independently of the others; joint scores are \
         only for comparisons with other libraries"
    )]
    Joint,
    /// A value is NaN or infinite.
    #[error("row {row}, feature {column}: found {value}, but training needs finite numbers")]
    NotFinite {
        /// The row, counted from 1.
        row: usize,
        /// The feature, counted from 1.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// Training diverged: the loss is not finite.
    #[error("training diverged at step {step}: the loss is {loss}; a smaller learning rate may help")]
    Diverged {
        /// The optimization step, counted from 1.
        step: usize,
        /// The loss.
        loss: f64,
    },
    /// The detector cannot learn from a stream.
    #[error("{detector} cannot learn from a stream: {reason}")]
    NotStreamed {
        /// The detector's name.
        detector: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The memory for streamed learning is too small for the table.
    #[error(
        "{} too little to learn from {}; at least {} are needed",
        counted(*got, "byte of memory is", "bytes of memory are"),
        counted(*n_rows, "row", "rows"),
        counted(*needed, "byte", "bytes")
    )]
    TooLittleMemory {
        /// The memory in bytes.
        got: usize,
        /// The number of training rows.
        n_rows: usize,
        /// The memory needed, in bytes.
        needed: usize,
    },
    /// A table that is read twice was different the second time.
    #[error(
        "the table changed while it was read: at first it had {}, then {then}",
        counted(*first, "row", "rows")
    )]
    TableChanged {
        /// The number of rows at first.
        first: usize,
        /// What was found later.
        then: &'static str,
    },
    /// The temporary file for rows that do not fit into memory failed.
    #[error("cannot keep rows in a temporary file: {0}")]
    Spill(#[from] std::io::Error),
    /// The monitor cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

/// Why rows could not be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// Rows of a table that was judged by itself were to be looked up, but there are fewer.
    #[error("the detection knows {} of its own table, but was asked about row {row}", counted(*known, "row", "rows"))]
    OtherTable {
        /// Rows of its table.
        known: usize,
        /// The row asked for, counted from 1.
        row: usize,
    },
    /// Rows that wait for their verdict could not be kept in a temporary file.
    #[error("cannot keep the rows in a temporary file until all are seen: {0}")]
    Spool(String),
    /// The rows have more or fewer features than the training rows.
    #[error(
        "the detector was fitted on {}, but the rows have {}",
        counted(*fitted, "feature", "features"),
        count(*got)
    )]
    ColumnCount {
        /// The number of features in training.
        fitted: usize,
        /// The number of features found.
        got: usize,
    },
    /// A value is NaN or infinite.
    #[error("row {row}, feature {column}: found {value}, but scoring needs finite numbers")]
    NotFinite {
        /// The row, counted from 1.
        row: usize,
        /// The feature, counted from 1.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// The detector's numbers are too large to calculate with.
    #[error(
        "the score of row {row} of a batch is {score}, but every score must be finite; a parameter of the model is far \
         outside its usual range, or its file is damaged"
    )]
    InfiniteScore {
        /// The row within the batch, counted from 1.
        row: usize,
        /// The score.
        score: f64,
    },
}

/// A text from a table, a file or a setting as it may reach a terminal: control characters, which can hide or forge what a
/// terminal shows, and characters that change the direction of text are written as escapes, `\u{1b}`.
#[doc(hidden)]
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    let is_active = |c: char| {
        c.is_control()
            || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
    };
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_active(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The message of an error and of its causes, each once, with serde's names of types in plain words. It is [`escaped`],
/// because it quotes names and cells.
#[doc(hidden)]
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        cause = inner.source();
    }
    escaped(&message)
        .replace(", expected f64", ", expected a number")
        .replace(", expected usize", ", expected a whole number")
        .replace(", expected u64", ", expected a whole number")
}
