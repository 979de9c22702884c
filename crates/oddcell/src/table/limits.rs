//! What a reader accepts at most, so that no input can take memory without end.
//!
//! The limits are far beyond real tables and are not options: whoever meets one has a broken file, or one made to do
//! harm. The memory that a table takes once it has been read is the caller's business.

use super::TableError;

/// The longest row of a CSV and the longest line of JSON lines, and so the longest cell of either. A longer one is an
/// unclosed quote or a binary file.
pub(super) const LONGEST_ROW: usize = 64 << 20;

/// The most columns. Every column takes some hundred bytes before its first cell.
pub(super) const MOST_COLUMNS: usize = 1_000_000;

/// The largest piece of a file that is decompressed or decoded at once: a page of Parquet, a column's part of an Arrow
/// batch. Writers make pieces of about a megabyte.
#[cfg(any(feature = "parquet", feature = "ipc"))]
pub(super) const MOST_DECODED_BYTES: usize = 256 << 20;

/// Refuses more columns than [`MOST_COLUMNS`].
pub(super) fn check_columns(origin: &str, found: usize) -> Result<(), TableError> {
    if found <= MOST_COLUMNS {
        return Ok(());
    }
    Err(TableError::TooManyColumns { origin: origin.to_owned(), found, most: MOST_COLUMNS })
}

/// A limit in messages.
#[cfg(any(feature = "parquet", feature = "ipc"))]
pub(super) fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes >> 20)
}
