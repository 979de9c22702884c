//! Plants errors of many kinds in real tables and measures how many of them `detect` finds.
//!
//! ```text
//! tables       which tables there are, and the half each belongs to
//! sheet        a CSV file whose cells can be replaced; all other bytes stay
//! column       what the cells of a column are; numbers and dates as they are written
//! error_kinds  the kinds of errors, and which cells they fit
//! plant        spoils some rows of a table
//! measure      detects the errors and measures what was found
//! results      results in two files, and the tables made from them
//! ```
//!
//! Errors depend on the table, its name and the seed only. Cells that are not spoiled come through byte for byte.

mod column;
mod dates;
mod error_kinds;
mod measure;
mod numbers;
mod plant;
mod results;
mod sheet;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

pub use error_kinds::ErrorKind;
pub use measure::{FDR, measure};
pub use plant::{Spoiled, SpoiledCell, SpoiledRow, spoil};
pub use results::{Found, Measured, Results};
pub use sheet::Sheet;
pub use summary::summaries;
pub use tables::{TableFile, tables};
