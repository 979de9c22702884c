//! The errors of the library: one type per subject, one umbrella over them.
//!
//! A message says where, what was found, and what was expected; advice on how to go on is added by the
//! command line. Every variant keeps its figures as typed fields.

use std::path::PathBuf;

use crate::{
    count::{count, counted},
    encode::EncodeError,
    judge::LabelError,
    model_file::ModelFileError,
    table::TableError,
};

/// Anything that can go wrong, for callers that only pass it on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing a table failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table does not fit its encoder, or no encoder can be made from it.
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
    /// A model file could not be read or written.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// A file could not be opened, read, written or renamed.
    #[error("cannot {action} `{path}`: {source}")]
    File {
        /// What was tried, as a verb: "read", "write", "create".
        action: &'static str,
        /// The file it was tried on.
        path: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
}

/// A parameter that no detector can be built from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The value is outside what the parameter allows.
    #[error("parameter `{name}` is {got}, but must be {allowed}")]
    OutOfRange {
        /// The parameter's name, as it is written in `--set`.
        name: &'static str,
        /// The value found.
        got: String,
        /// What would be accepted.
        allowed: &'static str,
    },
    /// There is no detector of that name.
    #[error("there is no detector `{name}`; known: {known}")]
    UnknownDetector {
        /// The name asked for.
        name: String,
        /// The names there are, comma separated.
        known: String,
    },
    /// The detector has no preset of that name.
    #[error("detector `{detector}` has no preset `{name}`; known: {known}")]
    UnknownPreset {
        /// The detector asked.
        detector: &'static str,
        /// The preset asked for.
        name: String,
        /// The presets there are, comma separated.
        known: String,
    },
    /// The detector has no parameter of that name.
    #[error("detector `{detector}` has no parameter `{name}`; known: {known}")]
    UnknownParameter {
        /// The detector asked.
        detector: &'static str,
        /// The parameter asked for.
        name: String,
        /// The parameters there are, comma separated.
        known: String,
    },
    /// The value has another type or an unknown choice.
    #[error("parameter `{name}` of detector `{detector}`: {reason}")]
    WrongType {
        /// The detector asked.
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
    /// Fewer rows than the method can learn from.
    #[error("{detector} needs at least {} to learn from, but got {got}", counted(*needed, "row", "rows"))]
    TooFewRows {
        /// The detector's name.
        detector: &'static str,
        /// The least it can work with.
        needed: usize,
        /// What it was given.
        got: usize,
    },
    /// Fewer columns than the method can learn from.
    #[error(
        "{detector} needs at least {}, but got {got}",
        counted(*needed, "feature column", "feature columns")
    )]
    TooFewColumns {
        /// The detector's name.
        detector: &'static str,
        /// The least it can work with.
        needed: usize,
        /// What it was given.
        got: usize,
    },
    /// A parameter that only turns out wrong beside the data.
    #[error(
        "parameter `{name}` is {got}, but with {} it must be {allowed}",
        counted(*n_rows, "training row", "training rows")
    )]
    ParamForData {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        got: usize,
        /// Rows in training.
        n_rows: usize,
        /// What would be accepted.
        allowed: String,
    },
    /// A detector whose scores depend on the rows scored together.
    #[error(
        "parameter `joint` is true, but a model needs scores that do not depend on the rows scored with a row; \
         joint scores are for comparisons with other libraries only"
    )]
    Joint,
    /// A cell is NaN or infinite.
    #[error("row {row}, feature {column}: found {value}, but training needs finite numbers")]
    NotFinite {
        /// Row, counted from 1.
        row: usize,
        /// Feature, counted from 1.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// Training diverged: the loss is no longer a number.
    #[error("training diverged at step {step}: the loss is {loss}; a smaller learning rate may help")]
    Diverged {
        /// The optimisation step, counted from 1.
        step: usize,
        /// The loss seen.
        loss: f64,
    },
    /// A detector that cannot learn from rows that pass by.
    #[error("{detector} cannot learn from a stream: {reason}")]
    NotStreamed {
        /// The detector's name.
        detector: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The memory for streamed learning is too small for the table.
    #[error("a memory of {} is too little to learn from {}; it must be at least {}",
        counted(*got, "byte", "bytes"), counted(*n_rows, "row", "rows"), counted(*needed, "byte", "bytes"))]
    TooLittleMemory {
        /// The memory in bytes.
        got: usize,
        /// Rows to train on.
        n_rows: usize,
        /// The least memory in bytes.
        needed: usize,
    },
    /// A table that is read more than once was not the same each time.
    #[error("the table changed while it was read: at first it had {}, then {then}", counted(*first, "row", "rows"))]
    TableChanged {
        /// Rows the first time.
        first: usize,
        /// What was found later.
        then: &'static str,
    },
    /// The temporary file for rows that do not fit into memory.
    #[error("cannot keep rows in a temporary file: {0}")]
    Spill(#[from] std::io::Error),
    /// The monitor asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Why rows could not be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// Rows that wait for their verdict could not be kept in a temporary file.
    #[error("cannot keep the rows in a temporary file until all are seen: {0}")]
    Spool(String),
    /// The rows have another width than the training rows.
    #[error(
        "the detector was fitted on {}, but the rows have {}",
        counted(*fitted, "feature", "features"),
        count(*got)
    )]
    ColumnCount {
        /// Features in training.
        fitted: usize,
        /// Features found.
        got: usize,
    },
    /// A cell is NaN or infinite.
    #[error("row {row}, feature {column}: found {value}, but scoring needs finite numbers")]
    NotFinite {
        /// Row, counted from 1.
        row: usize,
        /// Feature, counted from 1.
        column: usize,
        /// The value found.
        value: f64,
    },
}

/// The message with whatever caused it, unless the message says that already.
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
    // What serde calls by its name in Rust, people call otherwise.
    message
        .replace(", expected f64", ", expected a number")
        .replace(", expected usize", ", expected a whole number")
        .replace(", expected u64", ", expected a whole number")
}
