//! What a user sees when something fails: `error:` with the cause, `hint:` with a way out, and an exit code.
//!
//! The errors of the library may get new variants in any version, so a variant that is not listed here is bad input
//! without a hint. The laboratory's are all listed.

use std::{fmt, io};

use oddcell::{
    detect::DETECTORS,
    encode::{EncodeError, LeftOut},
    error::{Blame, Error, FitError, ParamError, ScoreError, with_causes},
    judge::LabelError,
    model_file::ModelFileError,
    table::{LineProblem, TableError},
};
use oddcell_bench::LabError;

/// Wrong use or bad input.
pub(crate) const BAD_INPUT: u8 = 2;
/// The work failed.
pub(crate) const FAILED: u8 = 1;

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) code: u8,
}

impl Failure {
    /// Wrong use or bad input.
    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: BAD_INPUT }
    }

    /// The work failed through no fault of the input.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: FAILED }
    }

    /// The same failure, prefixed with the flag or file it belongs to.
    pub(crate) fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(formatter, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.blame() {
            Blame::System(source) => io_code(source),
            Blame::Run | Blame::Cancelled => FAILED,
            Blame::Input | Blame::Type => BAD_INPUT,
        };
        Self { message: with_causes(&error), hint: hint(&error), code }
    }
}

/// A wrong path is bad input; a failing disk or network is not.
fn io_code(error: &io::Error) -> u8 {
    use io::ErrorKind::{
        InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    match error.kind() {
        NotFound | PermissionDenied | IsADirectory | NotADirectory | ReadOnlyFilesystem | InvalidInput => {
            BAD_INPUT
        }
        _ => FAILED,
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let (code, hint) = match &error {
            LabError::File { source, .. } => (io_code(source), None),
            LabError::Busy { .. } => (FAILED, Some("wait for it, or choose another --out")),
            LabError::Changed { .. } => {
                (FAILED, Some("append these rows to the file by hand, then run again"))
            }
            LabError::Unknown { what: "set", .. } => (BAD_INPUT, Some("`oddcell bench sets` lists the sets")),
            LabError::BadResults { .. } => {
                (BAD_INPUT, Some("fix or remove that line, or choose another --out"))
            }
            LabError::BadHeader { .. } => {
                (BAD_INPUT, Some("restore its first line, or choose another --out"))
            }
            LabError::NoFolder { .. }
            | LabError::BadSet { .. }
            | LabError::Unknown { .. }
            | LabError::Param { .. }
            | LabError::Vary { .. }
            | LabError::NoSet { .. }
            | LabError::Picture(_)
            | LabError::Work { .. } => (BAD_INPUT, None),
        };
        Self { message: with_causes(&error), hint: hint.map(str::to_owned), code }
    }
}

macro_rules! from_part {
    ($($part:ty),*) => {$(
        impl From<$part> for Failure {
            fn from(error: $part) -> Self {
                Error::from(error).into()
            }
        }
    )*};
}
from_part!(TableError, EncodeError, ParamError, ModelFileError);

const DISK_FULL: &str = "free some space, or write to another disk";

/// A way out, if there is one to suggest.
fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Table(error) | Error::Encode(EncodeError::Table(error)) => return table_hint(error),
        Error::Encode(EncodeError::NoFeatures { left_out, .. })
            if left_out.iter().any(LeftOut::is_identifier) =>
        {
            "use --keep-identifiers to keep columns that look like identifiers"
        }
        Error::Encode(EncodeError::MissingColumns { .. }) => {
            "`oddcell inspect MODEL` lists the columns the model needs"
        }
        Error::Encode(EncodeError::TooManyFeatures { .. }) => {
            "leave columns out with --ignore, or omit encode.one_hot"
        }
        Error::Param(ParamError::WrongType { .. } | ParamError::WrongValue { .. }) => {
            "`oddcell inspect MODEL` shows the parameters of a model and their values"
        }
        Error::Fit(FitError::Diverged { .. }) => "try a lower learning rate, e.g. --set learning_rate=1e-4",
        Error::Fit(FitError::NotStreamed { .. }) => {
            let streams = DETECTORS.iter().filter(|entry| entry.abilities.streams);
            let names: Vec<&str> = streams.map(|entry| entry.name).collect();
            let names = names.join(", ");
            return Some(format!("omit --stream, or choose a detector that learns from a stream: {names}"));
        }
        Error::Fit(FitError::TooLittleMemory { .. }) => "raise the limit with --memory",
        Error::Fit(FitError::Spill(_)) => "set TMPDIR to use another folder for temporary files",
        Error::Score(ScoreError::Spool(_)) => "--alpha and --contamination need no temporary file",
        Error::Label(LabelError::NoTruth { .. }) => {
            "1 and true mean anomalous; every row of a labeled table needs a label"
        }
        Error::Label(LabelError::Learned { column }) => {
            return Some(format!("fit the model again with --label {column}"));
        }
        Error::ModelFile(error) => model_file_hint(error.problem()),
        Error::File { action: "read", source, .. } if source.kind() == io::ErrorKind::NotFound => {
            "check the path; `oddcell fit DATA -o MODEL` writes models"
        }
        Error::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => DISK_FULL,
        Error::File { action: "create", .. } => "check that the folder exists and is writable",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn model_file_hint(error: &ModelFileError) -> &'static str {
    match error {
        ModelFileError::NotAModel { .. } => {
            "`oddcell fit DATA -o MODEL` writes models; the model comes first: `oddcell score MODEL DATA`"
        }
        ModelFileError::UnknownVersion { .. } => {
            "the version of oddcell that wrote the file can still read it"
        }
        _ => "copy the file again from its source, or fit the model again",
    }
}

fn table_hint(error: &TableError) -> Option<String> {
    let hint = match error {
        TableError::Line { problem: LineProblem::Ragged { .. }, .. } => {
            "if another character separates the fields, use --delimiter"
        }
        TableError::EmptyNames { .. } | TableError::DuplicateNames { .. } => {
            "if the first row holds data, not names, use --no-header"
        }
        TableError::WrongKind { .. } => {
            "fit with --kind COLUMN=category to read the column as names, or with --ignore COLUMN to leave it out"
        }
        TableError::UnsupportedType { column: name, .. }
        | TableError::Line { problem: LineProblem::Nested { key: name, .. }, .. } => {
            return Some(format!("to leave the column out, run `fit` or `detect` with --ignore {name}"));
        }
        TableError::Infinite { .. } => "leave the cell empty if the value is unknown",
        TableError::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => DISK_FULL,
        TableError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            "check the path; `-` reads standard input"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
