//! Why a table could not be read or written.
//!
//! Every message names the place (file, then line or row, then column), what was found, and what was
//! expected. Rows count from 1, without the header; lines count from 1, with the header.

use std::fmt::Display;

use super::Format;
use crate::count::{count, counted};

/// Why a table could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The input could not be opened, read, decompressed or copied to a temporary file.
    #[error("cannot {action} {origin}: {source}")]
    Io {
        /// What failed, as a verb: "open", "read", "decompress", "spool".
        action: &'static str,
        /// The file, or "standard input".
        origin: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The input has no bytes.
    #[error("{origin} is empty, but a table was expected")]
    Empty {
        /// The file, or "standard input".
        origin: String,
    },
    /// The table has columns, but no rows.
    #[error("{origin} has {} but no rows; at least one row was expected", counted(*n_columns, "column", "columns"))]
    NoRows {
        /// The file, or "standard input".
        origin: String,
        /// The columns found.
        n_columns: usize,
    },
    /// The table has no columns.
    #[error("{origin} has no columns; at least one was expected")]
    NoColumns {
        /// The file, or "standard input".
        origin: String,
    },
    /// The bytes belong to a format other than the requested one.
    #[error("{origin} should be {asked}, but its first bytes are those of {found}")]
    WrongFormat {
        /// The file, or "standard input".
        origin: String,
        /// The requested format.
        asked: Format,
        /// The format of the first bytes.
        found: Format,
    },
    /// The library was compiled without support for the format or compression.
    #[error(
        "{origin}: this build of oddcell has no support for {what}; enable its cargo feature `{feature}`"
    )]
    MissingFeature {
        /// The file to read or write, or "standard input".
        origin: String,
        /// The format or compression: "Parquet", "gzip".
        what: &'static str,
        /// The cargo feature to enable.
        feature: &'static str,
    },
    /// The delimiter cannot separate fields.
    #[error("the delimiter {} cannot be used: quotes, line ends and non-ASCII bytes cannot separate fields", shown_byte(*delimiter))]
    BadDelimiter {
        /// The requested byte.
        delimiter: u8,
    },
    /// The text is UTF-16.
    #[error(
        "{origin} is UTF-16 text, but UTF-8 was expected; convert it first, e.g. with `iconv -f UTF-16 -t UTF-8`"
    )]
    Utf16 {
        /// The file, or "standard input".
        origin: String,
    },
    /// A line of a text file cannot be read.
    #[error("{origin}, line {line}{problem}")]
    Line {
        /// The file, or "standard input".
        origin: String,
        /// The line, counted from 1: where the row or the unclosed field starts.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// There are more columns than a reader accepts.
    #[error("{origin} has {} columns, more than the limit of {}", count(*found), count(*most))]
    TooManyColumns {
        /// The file, or "standard input".
        origin: String,
        /// The columns found.
        found: usize,
        /// The most columns that are read.
        most: usize,
    },
    /// Some columns have no name.
    #[error("{origin}: the header has no name for column {}; every column needs one", joined(positions))]
    EmptyNames {
        /// The file, or "standard input".
        origin: String,
        /// Their positions, counted from 1.
        positions: Vec<usize>,
    },
    /// Several columns have the same name.
    #[error("{origin}: the column name {} appears more than once; names must differ", quoted(names))]
    DuplicateNames {
        /// The file, or "standard input".
        origin: String,
        /// The names.
        names: Vec<String>,
    },
    /// A column's type is not a number, truth value, date, time or text.
    #[error(
        "{origin}, column `{column}`: found the type {found}, but numbers, booleans, dates, times or text were expected"
    )]
    UnsupportedType {
        /// The file, or "standard input".
        origin: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A batch has more text in one column than an Arrow text array can hold.
    #[error(
        "column `{column}`: one batch holds {bytes} bytes of text, but at most {} were expected",
        i32::MAX
    )]
    TooMuchText {
        /// The column.
        column: String,
        /// Its size in bytes.
        bytes: usize,
    },
    /// The decoder of a binary format failed.
    #[error("{origin} cannot be read as {format}: {reason}")]
    Malformed {
        /// The file, or "standard input".
        origin: String,
        /// The format.
        format: Format,
        /// The decoder's message.
        reason: String,
    },
    /// An array is no table of numbers, or shorter or longer than its header claims.
    #[error("{origin}, array {array}: {problem}")]
    Array {
        /// The file, or "standard input".
        origin: String,
        /// The array's name.
        array: String,
        /// What was found, and what was expected.
        problem: String,
    },
    /// An NPZ file has no array that is a table.
    #[error(
        "{origin}: expected an array named `X`, or exactly one array of two dimensions; found {}",
        if arrays.is_empty() { "no array".to_owned() } else { joined(arrays) }
    )]
    NoArray {
        /// The file, or "standard input".
        origin: String,
        /// The arrays in the file, with their shapes.
        arrays: Vec<String>,
    },
    /// The batches of a table have different columns.
    #[error("{origin}: batch {batch} has the columns {found}, but the first batch has {expected}")]
    SchemaChanged {
        /// Where the batches come from.
        origin: String,
        /// The batch, counted from 1.
        batch: usize,
        /// Its columns.
        found: String,
        /// The columns of the first batch.
        expected: String,
    },
    /// There is no column of that name.
    #[error("{origin} has no column `{column}`; its columns are {}", quoted(known))]
    NoSuchColumn {
        /// Where the table comes from.
        origin: String,
        /// The requested name.
        column: String,
        /// The names of the table's columns.
        known: Vec<String>,
    },
    /// A cell does not fit the kind of its column.
    #[error("{origin}, row {row}, column `{column}`: found `{found}`, but {expected} was expected")]
    WrongKind {
        /// Where the table comes from.
        origin: String,
        /// The row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The cell, shortened.
        found: String,
        /// What the kind of the column expects: "a number".
        expected: &'static str,
    },
    /// A number is not finite.
    #[error("{origin}, row {row}, column `{column}`: found `{found}`, but a finite number was expected")]
    Infinite {
        /// Where the table comes from.
        origin: String,
        /// The row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The cell, shortened.
        found: String,
    },
    /// The format can be read but not written.
    #[error("cannot write {format}: tables are written as csv, jsonl or parquet")]
    NotWritable {
        /// The requested format.
        format: Format,
    },
    /// Writing failed.
    #[error("cannot write {target} as {format}: {source}")]
    Write {
        /// Where the table was to go: a path, or "standard output".
        target: String,
        /// The format.
        format: Format,
        /// The error of the system or of the encoder.
        source: std::io::Error,
    },
}

/// What is wrong with a line of a text file. Its text follows the number of the line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// The text is not UTF-8.
    #[error(
        "{}: found the byte {}, which is not UTF-8; if the text is Latin-1 or Windows-1252, convert it first, e.g. \
         with `iconv -f WINDOWS-1252 -t UTF-8`",
        column.as_ref().map_or_else(String::new, |column| format!(", column `{column}`")),
        shown_byte(*byte)
    )]
    NotUtf8 {
        /// The column, if known.
        column: Option<String>,
        /// The first byte that does not fit.
        byte: u8,
    },
    /// A row has more or fewer fields than the header or the first row.
    #[error(": found {}, but expected {} as in {model}", counted(*found, "field", "fields"), count(*expected))]
    Ragged {
        /// Fields in this row.
        found: usize,
        /// Fields expected.
        expected: usize,
        /// What the row is compared with: "the header" or "the first row".
        model: &'static str,
    },
    /// A quoted field has no closing quote.
    #[error(": a quoted field starts here and is not closed before the end of the file")]
    UnclosedQuote,
    /// A row exceeds this limit on its length in bytes.
    #[error(
        ": the row that starts here is longer than {0} bytes; is a quote unclosed, or is this not a text file?"
    )]
    TooLong(usize),
    /// The line is not valid JSON.
    #[error(", character {character}: not valid JSON: {message}; one JSON object per line was expected")]
    JsonSyntax {
        /// The byte within the line, counted from 1.
        character: usize,
        /// The parser's message.
        message: String,
    },
    /// A line is JSON, but not an object: "an array", "a number".
    #[error(": found {0}, but one JSON object per line was expected")]
    NotAnObject(&'static str),
    /// A value is an object or an array.
    #[error(", key `{key}`: found {found}, but a string, number, true, false or null was expected")]
    Nested {
        /// The key.
        key: String,
        /// What was found: "an array", "an object".
        found: &'static str,
    },
    /// An object has the same key twice.
    #[error(": the key `{0}` appears twice in one object")]
    DuplicateKey(String),
    /// The lines so far have more keys than a table may have columns.
    #[error(": found more than {} different keys; keys are columns, so that is the limit", count(*.0))]
    TooManyKeys(usize),
    /// Too many keys appear only in later lines.
    #[error(
        ": found more than {} keys that the first {} not have; keys are columns, so about the same keys were \
         expected on every line",
        count(*limit),
        counted(*rows, "row does", "rows do")
    )]
    TooManyLateKeys {
        /// The most late keys that are allowed.
        limit: usize,
        /// The rows of the first batch, which should have nearly all keys.
        rows: usize,
    },
}

impl TableError {
    /// Makes an error of the system, which occurred while `origin` was to be read, an error of the table.
    pub(super) fn reading(origin: &str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action: "read", origin: origin.to_owned(), source }
    }

    /// The content of `origin` is not valid in its format.
    pub(super) fn malformed(origin: &str, format: Format, reason: impl Display) -> Self {
        Self::Malformed { origin: origin.to_owned(), format, reason: reason.to_string() }
    }
}

/// The first 40 characters of a cell, for messages.
pub(crate) fn excerpt(cell: &str) -> String {
    const LONGEST: usize = 40;
    match cell.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell.to_owned(),
    }
}

fn shown_byte(byte: u8) -> String {
    match byte {
        b' '..=b'~' => format!("`{}`", byte as char),
        _ => format!("0x{byte:02X}"),
    }
}

/// The names in backticks; long names and long lists are cut.
pub(crate) fn quoted(names: &[String]) -> String {
    joined(&names.iter().map(|name| format!("`{}`", excerpt(name))).collect::<Vec<_>>())
}

/// The items, separated by commas; long lists are cut.
fn joined<T: ToString>(items: &[T]) -> String {
    const LONGEST: usize = 20;
    let shown = items.iter().take(LONGEST).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(LONGEST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_place_what_was_found_and_what_was_expected() {
        let error = TableError::WrongKind {
            origin: "orders.csv".into(),
            row: 17,
            column: "amount".into(),
            found: "12,5".into(),
            expected: "a number",
        };
        assert_eq!(
            error.to_string(),
            "orders.csv, row 17, column `amount`: found `12,5`, but a number was expected"
        );
        let problem = LineProblem::NotUtf8 { column: Some("x".into()), byte: 0xE9 };
        let error = TableError::Line { origin: "a.csv".into(), line: 3, problem };
        assert!(
            error
                .to_string()
                .starts_with("a.csv, line 3, column `x`: found the byte 0xE9, which is not UTF-8")
        );
    }

    #[test]
    fn long_lists_and_long_cells_are_cut() {
        let positions: Vec<usize> = (1..=25).collect();
        let text = TableError::EmptyNames { origin: "x".into(), positions }.to_string();
        assert!(text.contains("19, 20 and 5 more;"), "{text}");
        assert_eq!(excerpt(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
        assert_eq!(excerpt(&"é".repeat(40)), "é".repeat(40));
    }
}
