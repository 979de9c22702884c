//! Notes about a table: worth knowing, but not errors.

use std::fmt::Display;

use super::error::quoted;

/// Something worth knowing about a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Columns that an earlier run wrote are left out.
    EarlierFindings {
        /// The columns.
        columns: Vec<&'static str>,
    },
    /// No cell has a value.
    AllNull {
        /// The column.
        column: String,
    },
    /// How a column was read, where that may not be what was meant. Its kind words the note.
    Recognized {
        /// The column.
        column: String,
        /// What is worth knowing.
        text: String,
    },
    /// An array of an NPZ file that is not part of the table.
    ArrayLeftOut {
        /// The array.
        array: String,
        /// Why not.
        reason: String,
    },
    /// Keys of JSON lines that came too late to become columns.
    LateKeys {
        /// The keys, sorted.
        keys: Vec<String>,
        /// The number of rows that decided about the columns.
        rows: usize,
    },
    /// Wanted keys of JSON lines that are missing, or never have a value.
    AbsentKeys {
        /// The keys.
        keys: Vec<String>,
    },
}

impl Display for Note {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::EarlierFindings { columns } => {
                let names: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
                write!(formatter, "findings of an earlier run are left out: {}", names.join(", "))
            }
            Self::AllNull { column } => write!(formatter, "column `{column}`: no cell has a value"),
            Self::Recognized { column, text } => write!(formatter, "column `{column}`: {text}"),
            Self::ArrayLeftOut { array, reason } => {
                write!(formatter, "array `{array}` is left out: {reason}")
            }
            Self::LateKeys { keys, rows } => {
                write!(formatter, "keys that first appear after row {rows} are left out: {}", quoted(keys))
            }
            Self::AbsentKeys { keys } => write!(formatter, "no line has a value for {}", quoted(keys)),
        }
    }
}
