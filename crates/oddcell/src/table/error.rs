//! Why a table could not be read or written.
//!
//! Every message says where (file, then line or row, then column), what was found, and what was expected.
//! Rows are counted from 1 and do not count the header; lines are lines of the file, header included.

use std::fmt::{Display, Formatter};

use super::Format;
use crate::count::{count, counted};

/// Why a table could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The system refused to open, read or spool the input.
    #[error("cannot {action} {origin}: {source}")]
    Io {
        /// What was tried, as a verb: "open", "read", "spool".
        action: &'static str,
        /// The file, or "standard input".
        origin: String,
        /// What the system answered.
        source: std::io::Error,
    },
    /// Not a single byte.
    #[error("{origin} is empty, but a table was expected")]
    Empty {
        /// The file, or "standard input".
        origin: String,
    },
    /// Columns, but no rows.
    #[error("{origin} has {} but no rows; at least one row was expected", counted(*n_columns, "column", "columns"))]
    NoRows {
        /// The file, or "standard input".
        origin: String,
        /// The columns found.
        n_columns: usize,
    },
    /// Rows, but no columns.
    #[error("{origin} has no columns; at least one was expected")]
    NoColumns {
        /// The file, or "standard input".
        origin: String,
    },
    /// The bytes belong to another format than the one asked for.
    #[error("{origin} was to be read as {asked}, but its first bytes are those of {found}")]
    WrongFormat {
        /// The file, or "standard input".
        origin: String,
        /// The format asked for.
        asked: Format,
        /// What the first bytes say.
        found: Format,
    },
    /// The library was compiled without support for the format or compression.
    #[error("{origin} is {found}, but this build of oddcell lacks the cargo feature `{feature}`")]
    MissingFeature {
        /// The file, or "standard input".
        origin: String,
        /// What it is: "a Parquet file", "a gzip file".
        found: &'static str,
        /// The cargo feature to enable.
        feature: &'static str,
    },
    /// A delimiter that cannot separate anything.
    #[error("the delimiter {} cannot be used: quotes, line ends and non-ASCII bytes cannot separate fields", Byte(*delimiter))]
    BadDelimiter {
        /// The byte asked for.
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
        /// Line of the file, counted from 1.
        line: u64,
        /// The column, where it is known.
        column: Option<String>,
        /// The first byte that does not fit.
        byte: u8,
    },
    /// A row with more or fewer fields than the others.
    #[error(
        "{origin}, line {line}: found {}, but expected {} as in {model}",
        counted(*found, "field", "fields"),
        count(*expected)
    )]
    Ragged {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file on which the row starts, counted from 1.
        line: u64,
        /// Fields in this row.
        found: usize,
        /// Fields expected.
        expected: usize,
        /// Where the expectation comes from: "the header" or "the first row".
        model: &'static str,
    },
    /// A quoted field that never ends.
    #[error("{origin}, line {line}: a quoted field starts here and is not closed before the end of the file")]
    UnclosedQuote {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file on which the field starts, counted from 1.
        line: u64,
    },
    /// A row too long to be one.
    #[error(
        "{origin}, line {line}: the row that starts here is longer than {limit} bytes; is a quote not closed, or is \
             this no text file?"
    )]
    RowTooLong {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file on which the row starts, counted from 1.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// Columns without a name.
    #[error("{origin}: the header has no name for column {}; every column needs one", List(positions))]
    EmptyNames {
        /// The file, or "standard input".
        origin: String,
        /// Their positions, counted from 1.
        positions: Vec<usize>,
    },
    /// Names that stand for more than one column.
    #[error("{origin}: the column name {} appears more than once; names must differ", Quoted(names))]
    DuplicateNames {
        /// The file, or "standard input".
        origin: String,
        /// The names.
        names: Vec<String>,
    },
    /// A line that is not JSON.
    #[error(
        "{origin}, line {line}, character {character}: not valid JSON: {message}; one JSON object per line was expected"
    )]
    JsonSyntax {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file, counted from 1.
        line: u64,
        /// Byte of the line, counted from 1.
        character: usize,
        /// What the parser says.
        message: String,
    },
    /// A line that is JSON, but not an object.
    #[error("{origin}, line {line}: found {found}, but one JSON object per line was expected")]
    JsonNotAnObject {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file, counted from 1.
        line: u64,
        /// What was found: "an array", "a number".
        found: &'static str,
    },
    /// A value that is itself an array or object.
    #[error(
        "{origin}, line {line}, key `{key}`: found {found}, but a string, number, true, false or null was expected"
    )]
    JsonNested {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file, counted from 1.
        line: u64,
        /// The key.
        key: String,
        /// What was found: "an array", "an object".
        found: &'static str,
    },
    /// A key given twice in one object.
    #[error("{origin}, line {line}: the key `{key}` appears twice in one object")]
    JsonDuplicateKey {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file, counted from 1.
        line: u64,
        /// The key.
        key: String,
    },
    /// Every line has keys of its own.
    #[error(
        "{origin}, line {line}: found more than {} keys that the first {} not have; keys are columns, so about \
             the same keys were expected on every line",
        count(*limit),
        counted(*rows, "row does", "rows do")
    )]
    JsonTooManyLateKeys {
        /// The file, or "standard input".
        origin: String,
        /// Line of the file, counted from 1.
        line: u64,
        /// The most there may be.
        limit: usize,
        /// The rows that are expected to have nearly all keys.
        rows: usize,
    },
    /// A column to be read whose type is not a number, truth value, date, time or text.
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
    /// More text in one column of one batch than Arrow's plain text can hold.
    #[error(
        "column `{column}`: one batch holds {bytes} bytes of text, but at most {} were expected",
        i32::MAX
    )]
    TooMuchText {
        /// The column.
        column: String,
        /// Its size.
        bytes: usize,
    },
    /// The decoder of a binary format gave up.
    #[error("{origin} cannot be read as {format}: {reason}")]
    Malformed {
        /// The file, or "standard input".
        origin: String,
        /// The format.
        format: Format,
        /// What the decoder says.
        reason: String,
    },
    /// An array of a shape that is no table.
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
    /// An array of a type that is no number.
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
    /// An array that is shorter or longer than its header claims.
    #[error("{origin}, array {array}: the header claims {claimed} bytes of data, but the file holds {found}")]
    ArraySize {
        /// The file, or "standard input".
        origin: String,
        /// The array's name.
        array: String,
        /// Bytes according to shape and dtype.
        claimed: u128,
        /// Bytes there are.
        found: u64,
    },
    /// No array of an NPZ file is a table.
    #[error(
        "{origin}: expected an array named `X`, or exactly one array of two dimensions; found {}",
        Arrays(arrays)
    )]
    NoArray {
        /// The file, or "standard input".
        origin: String,
        /// The arrays there are, with their shapes.
        arrays: Vec<String>,
    },
    /// Batches of one table that differ in their columns.
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
        /// The name asked for.
        column: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A cell that cannot be read as the kind of its column.
    #[error("{origin}, row {row}, column `{column}`: found `{found}`, but {expected} was expected")]
    WrongKind {
        /// Where the table comes from.
        origin: String,
        /// Row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The cell, shortened.
        found: String,
        /// What the kind of the column expects: "a number".
        expected: &'static str,
    },
    /// A number that is not finite.
    #[error("{origin}, row {row}, column `{column}`: found `{found}`, but a finite number was expected")]
    Infinite {
        /// Where the table comes from.
        origin: String,
        /// Row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The cell, shortened.
        found: String,
    },
    /// The format can be read but not written.
    #[error("cannot write {format}: tables are written as csv, jsonl or parquet")]
    NotWritable {
        /// The format asked for.
        format: Format,
    },
    /// Writing failed.
    #[error("cannot write {target} as {format}: {source}")]
    Write {
        /// Where the table was to go: a path, or "standard output".
        target: String,
        /// The format.
        format: Format,
        /// What the system or the encoder answered.
        source: std::io::Error,
    },
}

/// At most 40 characters of a cell, for messages.
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

/// Long lists are cut: a message about 10,000 columns must not be 10,000 names long.
const LONGEST_LIST: usize = 20;

struct List<'a>(&'a [usize]);
impl Display for List<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        join(formatter, self.0, ToString::to_string)
    }
}

/// Names in a message.
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
