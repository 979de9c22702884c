//! Notes about a table: worth knowing, but not errors.

use std::fmt::Display;

use super::error::quoted;

/// Something worth knowing about a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Nearly all cells are numbers, but not all, so the column is a category.
    MostlyNumbers {
        /// The column.
        column: String,
        /// The first row whose cell is not a number, counted from 1.
        row: usize,
        /// That cell.
        value: String,
        /// Cells that are numbers.
        n_numbers: usize,
        /// Cells that are not null.
        n_cells: usize,
    },
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
    /// Dates like `a/b/yyyy`, and no cell shows which part is the month.
    AmbiguousDates {
        /// The column.
        column: String,
        /// A cell.
        value: String,
    },
    /// Whole numbers of 16 digits or more: a 64-bit float keeps only the first 15.
    LongIntegers {
        /// The column.
        column: String,
        /// The first row with such a cell, counted from 1.
        row: usize,
        /// That cell.
        value: String,
    },
    /// Every cell would be a number if its comma were a dot.
    DecimalCommas {
        /// The column.
        column: String,
        /// A cell.
        value: String,
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
            Self::MostlyNumbers { column, row, value, n_numbers, n_cells } => write!(
                formatter,
                "column `{column}`: read as category because row {row} holds `{value}`; {n_numbers} of {n_cells} cells \
                 are numbers"
            ),
            Self::EarlierFindings { columns } => {
                let names: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
                write!(formatter, "findings of an earlier run are left out: {}", names.join(", "))
            }
            Self::AllNull { column } => write!(formatter, "column `{column}`: no cell has a value"),
            Self::AmbiguousDates { column, value } => write!(
                formatter,
                "column `{column}`: dates such as `{value}` are read month first, because no cell shows the order"
            ),
            Self::LongIntegers { column, row, value } => write!(
                formatter,
                "column `{column}`: row {row} holds `{value}`; only the first 15 digits of such a number count"
            ),
            Self::DecimalCommas { column, value } => write!(
                formatter,
                "column `{column}`: read as category; cells such as `{value}` look like numbers with a decimal comma, \
                 but numbers need a dot"
            ),
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
