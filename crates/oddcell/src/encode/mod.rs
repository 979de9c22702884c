//! Columns become features, which detectors learn from.
//!
//! *Why:* a detector needs rows of numbers on one scale; a table has numbers, dates, names and gaps. The [`Encoder`]
//! is fitted once, on the training rows. After that, the features of a row depend on that row alone.
//! What differs between kinds of columns is in the module `kinds`.
//!
//! ```
//! use oddcell::{Table, encode::{EncodeOptions, Encoder}, table::{ReadOptions, TableReader}};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! // Means 5 and 2, standard deviations 2 and 1.
//! let csv = b"amount,count\n3,1\n7,3\n".to_vec();
//! let table = Table::from_reader(TableReader::from_bytes("orders.csv", csv, &ReadOptions::default())?)?;
//! let encoder = Encoder::fit(&table, &EncodeOptions::default(), None)?;
//! for rows in table.rows() {
//!     assert_eq!(encoder.encode(&rows)?.matrix.row(0), [-1.0, -1.0]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! *Formula:* every coordinate is (x − mean) / std, with the mean and the population standard deviation of the training
//! rows, where
//!
//! | column   | x                                                                        | std                     |
//! |----------|--------------------------------------------------------------------------|-------------------------|
//! | number   | the number                                                               | as it is; 1 if constant |
//! | date     | seconds; the mean for dates somewhat later than training                  | as it is; 1 if constant |
//! | boolean  | 0 or 1                                                                   | at least 0.1            |
//! | text     | the number of characters                                                 | as it is; 1 if constant |
//! | category | −ln of the rows of the level                                             | at least 0.5            |
//! |          | a 0/1 mark for each of up to 8 levels, or 8 random marks that belong to a name | that of all together |
//! | nulls    | one more 0/1 where the column had nulls in training                      | at least 0.1            |
//!
//! A null takes the mean. A cell that cannot be read as its column's kind ([`Encoded::unreadable`]), or that is empty although
//! training never had an empty one, counts as ten standard deviations.
//!
//! In a table with any column that is not a number, or with groups, signs follow the coordinates of each column: a level as a
//! code, parts of dates, how rare a level or the form of a cell is. They are no coordinates. Only detectors that ask for
//! them see them (`layout.rs`).
//!
//! *Invariants:* a feature is finite and within ±[`FEATURE_LIMIT`] for any finite cell · columns are matched by
//! name, so their order in a table does not matter · every [`Encoder`], deserialized ones included, is valid: all its
//! numbers were checked, and what can be derived (features, scales of 0/1 features) is not stored.

mod column;
mod constants;
mod copies;
mod duplicates;
mod encoder;
mod error;
mod fit;
mod groups;
mod overview;
mod replace;
mod report;
mod since;
mod surprises;
mod unreadable;
mod validate;

pub use column::EncodedColumn;
#[doc(hidden)]
pub use column::{Feature, Part};
pub use duplicates::{Duplicate, Duplicates, duplicates};
pub use encoder::{Encoded, Encoder};
pub use error::EncodeError;
pub use overview::{ColumnOverview, overview};
pub(crate) use replace::{CellValue, ReadRows};
pub use report::{LeftOut, LeftOutReason, Report};
pub use surprises::Surprises;
pub(crate) use validate::Check;

pub use crate::kinds::{IdentifierSign, NormalRange, Share, Sighting, Unreadable};
use crate::parameters::parameters;

/// The least standard deviation of a 0/1 feature. So a level that training never or hardly ever had is 1 / 0.1 = 10
/// standard deviations off: plainly odd, yet of the same order as odd numbers.
pub(crate) const STD_FLOOR: f64 = 0.1;

/// Features are clamped to ±this. No training row can reach it (|z| ≤ √rows). In later rows, more standard
/// deviations would mean nothing more, and squares of these still fit into an `f32`.
#[doc(hidden)]
pub const FEATURE_LIMIT: f64 = 1e9;

/// The most features an encoder makes; with more, a batch of rows would not fit into memory.
#[doc(hidden)]
pub const MAX_FEATURES: usize = 65_536;

parameters! {
    /// How a table is turned into features.
    #[derive(Eq)]
    pub struct EncodeOptions {
        /// Columns to leave out.
        pub ignore: Vec<String> = Vec::new(),
        /// Columns whose values together make up groups: numbers are also compared with those of their group.
        pub group_by: Vec<String> = Vec::new(),
        /// Columns to leave out because they identify rows.
        pub identifiers: Vec<String> = Vec::new(),
        /// Keep columns that look like row identifiers.
        pub keep_identifiers: bool = false,
        /// Whether categories become plain 0/1 features, one for each level, as in the paper.
        pub one_hot: bool = false,
        /// Whether a cell that cannot be read as its column's kind is an error instead of a finding.
        pub strict: bool = false,
    }
}
