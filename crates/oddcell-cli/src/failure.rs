//! What a user sees when something goes wrong: `error:` what and why, `hint:` the way out, an exit code.

use std::{fmt, io};

use oddcell::{
    encode::{EncodeError, LeftOut},
    error::{Error, FitError, ParamError, ScoreError, with_causes},
    judge::LabelError,
    model_file::ModelFileError,
    table::TableError,
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

    /// The same, said of a part of the command line or of a file.
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
        let code = match &error {
            Error::File { source, .. } | Error::Table(TableError::Io { source, .. }) => io_code(source),
            Error::Fit(FitError::Diverged { .. } | FitError::Spill(_) | FitError::TableChanged { .. })
            | Error::Score(ScoreError::Spool(_))
            | Error::Table(TableError::Write { .. }) => FAILED,
            _ => BAD_INPUT,
        };
        Self { message: with_causes(&error), hint: hint(&error), code }
    }
}

/// A path that is not what it should be is wrong use; a disk or a network that gives up is not.
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
        let code = match &error {
            LabError::File { source, .. } => io_code(source),
            LabError::Busy { .. } | LabError::Changed { .. } => FAILED,
            _ => BAD_INPUT,
        };
        let hint = match &error {
            LabError::Unknown { what: "set", .. } => Some("`oddcell bench sets` lists the sets"),
            LabError::BadResults { .. } => Some("mend or remove that line, or choose another --out"),
            LabError::BadHeader { .. } => {
                Some("put its first line back as it was written, or choose another --out")
            }
            LabError::Busy { .. } => Some("wait for it, or choose another --out"),
            LabError::Changed { .. } => Some("append these rows to the file by hand, and run again"),
            _ => None,
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

const DISK_FULL: &str = "make room, or write to another disk";

/// How to go on, where there is something to say.
fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Table(error) | Error::Encode(EncodeError::Table(error)) => return table_hint(error),
        Error::Encode(EncodeError::NoFeatures { left_out, .. })
            if left_out.iter().any(LeftOut::is_identifier) =>
        {
            "columns left out as identifiers can be kept with --keep-identifiers"
        }
        Error::Encode(EncodeError::MissingColumns { .. }) => {
            "`oddcell inspect MODEL` lists the columns the model needs"
        }
        Error::Encode(EncodeError::TooManyFeatures { .. }) => {
            "leave columns out with --ignore, or pool more levels with --set encode.max_levels=N"
        }
        Error::Param(ParamError::WrongType { .. }) => {
            "`oddcell inspect MODEL` shows the parameters of a model with their values"
        }
        Error::Fit(FitError::Diverged { .. }) => "try a smaller rate, e.g. --set learning_rate=1e-4",
        Error::Fit(FitError::NotStreamed { .. }) => {
            "leave out --stream; only noise, with trust=1, learns from a stream"
        }
        Error::Fit(FitError::TooLittleMemory { .. }) => "give it more with --memory",
        Error::Fit(FitError::Spill(_)) => "the folder for temporary files can be set with TMPDIR",
        Error::Score(ScoreError::Spool(_)) => "--alpha and --contamination need no temporary file",
        Error::Label(LabelError::NoTruth { .. }) => {
            "1 and true mean anomalous; rows without a known truth cannot be in a labelled table"
        }
        Error::Label(LabelError::Learned { column }) => {
            return Some(format!("fit the model again with --label {column}"));
        }
        Error::ModelFile(error) => model_file_hint(error.problem()),
        Error::File { action: "read", source, .. } if source.kind() == io::ErrorKind::NotFound => {
            "is the path right? models are written by `oddcell fit DATA -o MODEL`"
        }
        Error::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => DISK_FULL,
        Error::File { action: "create", .. } => "does the folder exist, and may files be created in it?",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn model_file_hint(error: &ModelFileError) -> &'static str {
    match error {
        ModelFileError::NotAModel { .. } => {
            "models are written by `oddcell fit DATA -o MODEL`; the order is `oddcell score MODEL DATA`"
        }
        ModelFileError::UnknownVersion { .. } => {
            "the version of oddcell that wrote the file can still read it"
        }
        _ => "copy the file again from where it came from, or fit the model again",
    }
}

fn table_hint(error: &TableError) -> Option<String> {
    let hint = match error {
        TableError::Ragged { .. } => "if fields are separated by something else, say so with --delimiter",
        TableError::EmptyNames { .. } | TableError::DuplicateNames { .. } => {
            "if the first row holds data, not names, say --no-header"
        }
        TableError::WrongKind { .. } => {
            "to read the column as names, fit with --categorical COLUMN; to leave it out, --ignore COLUMN"
        }
        TableError::UnsupportedType { column: name, .. } | TableError::JsonNested { key: name, .. } => {
            return Some(format!("to leave the column out, say --ignore {name} to `fit` or `detect`"));
        }
        TableError::Infinite { .. } => "leave the cell empty if the value is not known",
        TableError::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => DISK_FULL,
        TableError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            "is the path right? `-` reads standard input"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
