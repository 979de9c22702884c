//! Why a table cannot be encoded.

use super::LeftOut;
use crate::{error::ParamError, table::TableError};

/// Why a table could not be encoded, or why an encoder is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A cell is not of its column's kind, or cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// An option is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A column named by the user is not in the table.
    #[error("{origin}: there is no column `{name}` {role}; the table has {known}")]
    NoSuchColumn {
        /// Where the table came from.
        origin: String,
        /// The name asked for.
        name: String,
        /// What it was named for: "to ignore", "to use as the label".
        role: &'static str,
        /// The columns of the table.
        known: String,
    },
    /// The table has no rows to learn from.
    #[error("{origin}: the table has no rows, but fitting needs at least one")]
    NoRows {
        /// Where the table came from.
        origin: String,
    },
    /// Nothing is left to learn from.
    #[error("{origin}: no column is left to learn from; {}", reasons(.left_out))]
    NoFeatures {
        /// Where the table came from.
        origin: String,
        /// All columns, with the reasons why they were left out.
        left_out: Vec<LeftOut>,
    },
    /// The columns make more features than can be held.
    #[error(
        "{origin}: the columns make {got} features, but at most {allowed} are allowed; most come from {widest}"
    )]
    TooManyFeatures {
        /// Where the table came from.
        origin: String,
        /// Their number.
        got: usize,
        /// The most features allowed.
        allowed: usize,
        /// The column that makes the most of them, with their number.
        widest: String,
    },
    /// The distance between two cells of a column is not a finite number.
    #[error(
        "{origin}: column `{column}` goes from {low:e} to {high:e}, too far apart to standardize; \
         the difference must be below {:e}",
        f64::MAX
    )]
    TooFarApart {
        /// Where the table came from.
        origin: String,
        /// The column.
        column: String,
        /// Its minimum.
        low: f64,
        /// Its maximum.
        high: f64,
    },
    /// Columns the encoder was fitted on are not in the table.
    #[error("{origin}: {}; the table has {found}", missing_columns(.missing))]
    MissingColumns {
        /// Where the table came from.
        origin: String,
        /// All columns that are missing.
        missing: Vec<String>,
        /// The columns of the table.
        found: String,
    },
    /// Two columns of the table have the same name.
    #[error(
        "{origin}: there are two columns `{column}`, but columns are matched by name, so names must differ"
    )]
    DuplicateColumn {
        /// Where the table came from.
        origin: String,
        /// The name.
        column: String,
    },
    /// A deserialized encoder holds something that no fitted encoder can hold.
    #[error("not a valid encoder: {place}: found {found}, expected {expected}")]
    Invalid {
        /// Where in the encoder: "column `amount`: standard deviation".
        place: String,
        /// What is there.
        found: String,
        /// What is possible there.
        expected: &'static str,
    },
}

/// The names as a list for a message; long lists are cut.
pub(super) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let total = names.len();
    if total == 0 {
        return "no columns".to_owned();
    }
    let shown = names.take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if total > SHOWN { format!("{shown} and {} more", total - SHOWN) } else { shown }
}

fn missing_columns(names: &[String]) -> String {
    let list = listed(names.iter().map(String::as_str));
    match names.len() {
        1 => format!("column {list} is missing, but the model was fitted on it"),
        _ => format!("columns {list} are missing, but the model was fitted on them"),
    }
}

fn reasons(left_out: &[LeftOut]) -> String {
    const SHOWN: usize = 5;
    let shown = left_out.iter().take(SHOWN).map(|out| format!("`{}`: {}", out.name, out.reason));
    let more = left_out.len().checked_sub(SHOWN).filter(|&more| more > 0);
    shown.chain(more.map(|more| format!("and {more} more"))).collect::<Vec<_>>().join("; ")
}
