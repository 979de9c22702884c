//! The library's errors as Python's: the same words, and a hint where Python has a way out.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

use oddcell::{
    Error,
    encode::{EncodeError, LeftOut},
    error::{FitError, ParamError, with_causes},
    table::TableError,
};
use pyo3::{
    PyErr, PyResult,
    exceptions::{
        PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError, PyOSError,
        PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
    },
};

/// What Python raises for `error`.
pub(crate) fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let mut message = with_causes(&error);
    // The words that scikit-learn's own checks look for.
    if let Error::Fit(FitError::TooFewColumns { got, .. }) = error {
        message = format!("{message} (n_features = {got})");
    }
    if let Some(hint) = hint(&error) {
        message = format!("{message}\nhint: {hint}");
    }
    match &error {
        Error::File { source, .. } | Error::Table(TableError::Io { source, .. }) => system(source, message),
        Error::Param(ParamError::UnknownParameter { .. }) => PyTypeError::new_err(message),
        // Only serde knows whether a choice or the type is wrong.
        Error::Param(ParamError::WrongType { reason, .. }) if reason.starts_with("invalid type") => {
            PyTypeError::new_err(message)
        }
        Error::Table(TableError::UnsupportedType { .. })
        | Error::Encode(EncodeError::Table(TableError::UnsupportedType { .. })) => {
            PyTypeError::new_err(message)
        }
        Error::Fit(FitError::Diverged { .. } | FitError::Cancelled) => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// What the system refused.
fn system(source: &io::Error, message: String) -> PyErr {
    match source.kind() {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
        io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(message),
        io::ErrorKind::IsADirectory => PyIsADirectoryError::new_err(message),
        io::ErrorKind::NotADirectory => PyNotADirectoryError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}

/// How to go on, where there is something to say.
fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Table(error) | Error::Encode(EncodeError::Table(error)) => match error {
            TableError::WrongKind { .. } => {
                "to read the column as names, fit with categorical=[COLUMN]; to leave it out, ignore=[COLUMN]"
            }
            TableError::UnsupportedType { column, .. } => {
                return Some(format!("to leave the column out, say ignore=[{column:?}]"));
            }
            TableError::Infinite { .. } => "leave the cell empty if the value is not known",
            _ => return None,
        },
        Error::Encode(EncodeError::NoFeatures { left_out, .. })
            if left_out.iter().any(LeftOut::is_identifier) =>
        {
            "columns left out as identifiers can be kept with keep_identifiers=True"
        }
        Error::Encode(EncodeError::TooManyFeatures { .. }) => {
            "leave columns out with ignore=[COLUMN], or pool more levels with max_levels=N"
        }
        Error::Fit(FitError::Diverged { .. }) => "try a smaller rate, e.g. learning_rate=1e-4",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// A panic is a bug of ours; Python gets an error that says so.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    PyRuntimeError::new_err(format!("this is a bug of oddcell, please report it: {text}"))
}

/// Does `work`; a panic of ours, or of a library on a table it did not expect, is an error like others.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(bug(&*panic)))
}
