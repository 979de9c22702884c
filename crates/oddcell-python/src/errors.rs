//! Converts the library's errors to Python exceptions, with the same message and a hint if there is a known way out.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

use oddcell::{
    Error,
    encode::{EncodeError, LeftOut},
    error::{Blame, FitError, with_causes},
    table::TableError,
};
use pyo3::{
    PyErr, PyResult,
    exceptions::{
        PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError, PyOSError,
        PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
    },
};

/// The exception that Python raises for `error`.
pub(crate) fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let mut message = with_causes(&error);
    // scikit-learn's own checks look for these words.
    if let Error::Fit(FitError::TooFewColumns { got, .. }) = error {
        message = format!("{message} (n_features = {got})");
    }
    if let Some(hint) = hint(&error) {
        message = format!("{message}\nhint: {hint}");
    }
    match error.blame() {
        Blame::System(source) => system(source, message),
        Blame::Type => PyTypeError::new_err(message),
        Blame::Run | Blame::Cancelled => PyRuntimeError::new_err(message),
        Blame::Input => PyValueError::new_err(message),
    }
}

/// The exception for an error of the operating system.
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

/// Advice for errors that have a known way out.
fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Table(error) | Error::Encode(EncodeError::Table(error)) => match error {
            TableError::WrongKind { .. } => {
                "to treat the column as categories, fit with categorical=[COLUMN]; to leave it out, ignore=[COLUMN]"
            }
            TableError::UnsupportedType { column, .. } => {
                return Some(format!("to leave the column out, use ignore=[{column:?}]"));
            }
            TableError::Infinite { .. } => "if the value is unknown, leave the cell empty",
            _ => return None,
        },
        Error::Encode(EncodeError::NoFeatures { left_out, .. })
            if left_out.iter().any(LeftOut::is_identifier) =>
        {
            "to keep columns that look like identifiers, use keep_identifiers=True"
        }
        Error::Encode(EncodeError::TooManyFeatures { .. }) => {
            "leave columns out with ignore=[COLUMN], or omit one_hot"
        }
        Error::Fit(FitError::Diverged { .. }) => "try a smaller learning rate, e.g. learning_rate=1e-4",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The exception for a panic, which is always a bug in oddcell.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    PyRuntimeError::new_err(format!("this is a bug in oddcell, please report it: {text}"))
}

/// Does `work` on this thread. A panic, ours or a dependency's, becomes an exception.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(bug(&*panic)))
}
