//! Why a table could not be read or written.
//!
//! Every message names the place (file, then line or row, then column), what was found, and what was
//! expected. Rows count from 1, without the header; lines count from 1, with the header.

use std::fmt::{Display, Formatter};

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
    #[error("the delimiter {} cannot be used: quotes, line ends and non-ASCII bytes cannot separate fields", Byte(*delimiter))]
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
    /// The text is not UTF-8.
    #[error("{origin}, line {line}{}: found the byte {}, which is not UTF-8; if the text is Latin-1 or Windows-1252, \
             convert it first, e.g. with `iconv -f WINDOWS-1252 -t UTF-8`", Column(column), Byte(*byte))]
    NotUtf8 {
        /// The file, or "standard input".
        origin: String,
        /// The line, counted from 1.
        line: u64,
        /// The column, if known.
        column: Option<String>,
        /// The first byte that does not fit.
        byte: u8,
    },
    /// A row has more or fewer fields than the header or the first row.
    #[error(
        "{origin}, line {line}: found {}, but expected {} as in {model}",
        counted(*found, "field", "fields"),
        count(*expected)
    )]
    Ragged {
        /// The file, or "standard input".
        origin: String,
        /// The line on which the row starts, counted from 1.
        line: u64,
        /// Fields in this row.
        found: usize,
        /// Fields expected.
        expected: usize,
        /// What the row is compared with: "the header" or "the first row".
        model: &'static str,
    },
    /// A quoted field has no closing quote.
    #[error("{origin}, line {line}: a quoted field starts here and is not closed before the end of the file")]
    UnclosedQuote {
        /// The file, or "standard input".
        origin: String,
        /// The line on which the field starts, counted from 1.
        line: u64,
    },
    /// A row exceeds the limit on its length.
    #[error(
        "{origin}, line {line}: the row that starts here is longer than {limit} bytes; is a quote unclosed, or is \
             this not a text file?"
    )]
    RowTooLong {
        /// The file, or "standard input".
        origin: String,
        /// The line on which the row starts, counted from 1.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// Some columns have no name.
    #[error("{origin}: the header has no name for column {}; every column needs one", List(positions))]
    EmptyNames {
        /// The file, or "standard input".
        origin: String,
        /// Their positions, counted from 1.
        positions: Vec<usize>,
    },
    /// Several columns have the same name.
    #[error("{origin}: the column name {} appears more than once; names must differ", Quoted(names))]
    DuplicateNames {
        /// The file, or "standard input".
        origin: String,
        /// The names.
        names: Vec<String>,
    },
    /// A line is not valid JSON.
    #[error(
        "{origin}, line {line}, character {character}: not valid JSON: {message}; one JSON object per line was expected"
    )]
    JsonSyntax {
        /// The file, or "standard input".
        origin: String,
        /// The line, counted from 1.
        line: u64,
        /// The byte within the line, counted from 1.
        character: usize,
        /// The parser's message.
        message: String,
    },
    /// A line is JSON, but not an object.
    #[error("{origin}, line {line}: found {found}, but one JSON object per line was expected")]
    JsonNotAnObject {
        /// The file, or "standard input".
        origin: String,
        /// The line, counted from 1.
        line: u64,
        /// What was found: "an array", "a number".
        found: &'static str,
    },
    /// A value is an array or an object.
    #[error(
        "{origin}, line {line}, key `{key}`: found {found}, but a string, number, true, false or null was expected"
    )]
    JsonNested {
        /// The file, or "standard input".
        origin: String,
        /// The line, counted from 1.
        line: u64,
        /// The key.
        key: String,
        /// What was found: "an array", "an object".
        found: &'static str,
    },
    /// An object has the same key twice.
    #[error("{origin}, line {line}: the key `{key}` appears twice in one object")]
    JsonDuplicateKey {
        /// The file, or "standard input".
        origin: String,
        /// The line, counted from 1.
        line: u64,
        /// The key.
        key: String,
    },
    /// Too many keys appear only in later lines.
    #[error(
        "{origin}, line {line}: found more than {} keys that the first {} not have; keys are columns, so about \
             the same keys were expected on every line",
        count(*limit),
        counted(*rows, "row does", "rows do")
    )]
    JsonTooManyLateKeys {
        /// The file, or "standard input".
        origin: String,
        /// The line, counted from 1.
        line: u64,
        /// The most late keys that are allowed.
        limit: usize,
        /// The rows of the first batch, which should have nearly all keys.
        rows: usize,
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
    /// An array does not have the shape of a table.
    #[error(
        "{origin}, array {array}: found the shape {shape:?}, but rows × columns (two dimensions) were expected"
    )]
    ArrayShape {
        /// The file, or "standard input".
        origin: String,
        /// The array's name.
        array: String,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// An array does not hold numbers.
    #[error(
        "{origin}, array {array}: found the dtype {dtype}, but integers, floats or booleans were expected"
    )]
    ArrayType {
        /// The file, or "standard input".
        origin: String,
        /// The array's name.
        array: String,
        /// Its dtype, as `NumPy` writes it.
        dtype: String,
    },
    /// An array is shorter or longer than its header claims.
    #[error("{origin}, array {array}: the header claims {claimed} bytes of data, but the file holds {found}")]
    ArraySize {
        /// The file, or "standard input".
        origin: String,
        /// The array's name.
        array: String,
        /// The bytes that shape and dtype need.
        claimed: u128,
        /// The bytes in the file.
        found: u64,
    },
    /// An NPZ file has no array that is a table.
    #[error(
        "{origin}: expected an array named `X`, or exactly one array of two dimensions; found {}",
        Arrays(arrays)
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
    #[error("{origin} has no column `{column}`; its columns are {}", Quoted(known))]
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

/// The first 40 characters of a cell, for messages.
pub(crate) fn excerpt(cell: &str) -> String {
    const LONGEST: usize = 40;
    match cell.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell.to_owned(),
    }
}

struct Byte(u8);
impl Display for Byte {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            byte @ b' '..=b'~' => write!(formatter, "`{}`", byte as char),
            byte => write!(formatter, "0x{byte:02X}"),
        }
    }
}

struct Column<'a>(&'a Option<String>);
impl Display for Column<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.as_ref().map_or(Ok(()), |column| write!(formatter, ", column `{column}`"))
    }
}

/// The most items that a message lists.
const LONGEST_LIST: usize = 20;

struct List<'a>(&'a [usize]);
impl Display for List<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        join(formatter, self.0, ToString::to_string)
    }
}

/// Quotes the names in a message.
pub(super) struct Quoted<'a>(pub(super) &'a [String]);
impl Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        join(formatter, self.0, |name| format!("`{}`", excerpt(name)))
    }
}

struct Arrays<'a>(&'a [String]);
impl Display for Arrays<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            formatter.write_str("no array")
        } else {
            join(formatter, self.0, Clone::clone)
        }
    }
}

fn join<T>(formatter: &mut Formatter<'_>, items: &[T], text: impl Fn(&T) -> String) -> std::fmt::Result {
    let shown: Vec<String> = items.iter().take(LONGEST_LIST).map(text).collect();
    formatter.write_str(&shown.join(", "))?;
    match items.len().saturating_sub(LONGEST_LIST) {
        0 => Ok(()),
        more => write!(formatter, " and {more} more"),
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
        let error =
            TableError::NotUtf8 { origin: "a.csv".into(), line: 3, column: Some("x".into()), byte: 0xE9 };
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
