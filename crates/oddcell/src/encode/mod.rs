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
//! // Mean 5 and standard deviation 2; true in half of the rows, so a standard deviation of 1/2.
//! let csv = b"amount,paid\n3,yes\n7,no\n".to_vec();
//! let table = Table::from_reader(TableReader::from_bytes("orders.csv", csv, &ReadOptions::default())?)?;
//! let encoder = Encoder::fit(&table, &EncodeOptions::default(), None)?;
//! for rows in table.rows() {
//!     assert_eq!(encoder.encode(&rows)?.matrix.row(0), [-1.0, 1.0]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! *Formula:* every feature is (x − mean) / std, with the mean and the population standard deviation of the training
//! rows, where
//!
//! | column   | x                                                                  | std                         |
//! |----------|--------------------------------------------------------------------|-----------------------------|
//! | number   | the number                                                         | as it is; 1 if constant     |
//! | date     | seconds                                                            | as it is; 1 if constant     |
//! | boolean  | 0 or 1                                                             | at least 0.1                |
//! | category | one 0/1 per common level, and one for all others (rare or unseen)  | at least 0.1                |
//! | nulls    | one more 0/1 where the column had nulls in training                | at least 0.1                |
//!
//! A null number, date or boolean takes the mean (feature value 0); a null category is 0 for every level.
//!
//! *Invariants:* a feature is finite and within ±[`FEATURE_LIMIT`] for any finite cell · columns are matched by
//! name, so their order in a table does not matter · every [`Encoder`], deserialized ones included, is valid: all its
//! numbers were checked, and what can be derived (features, scales of 0/1 features) is not stored.

mod column;
mod encoder;
mod error;
mod fit;
mod report;
mod surprises;
mod validate;

pub use column::{EncodedColumn, Feature, Part};
pub use encoder::{Encoded, Encoder};
pub use error::EncodeError;
pub use report::{LeftOut, LeftOutReason, Report};
pub use surprises::Surprises;
pub(crate) use validate::Check;

pub use crate::kinds::{IdentifierSign, NormalRange, Share};
use crate::{detect::ranges::require, error::ParamError, parameters::parameters};

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

/// The greatest allowed [`EncodeOptions::max_levels`].
pub(crate) const MAX_LEVELS: usize = 4_096;

parameters! {
    /// How a table is turned into features.
    #[derive(Eq)]
    pub struct EncodeOptions {
        /// Columns to leave out.
        pub ignore: Vec<String> = Vec::new(),
        /// Keep columns that look like row identifiers.
        pub keep_identifiers: bool = false,
        /// The most levels that a category column keeps: the most common ones. The others are pooled.
        pub max_levels: usize = 32,
        /// A level is kept if at least this many rows have it, and at least one row in a thousand. Pooling rarer
        /// ones costs little: a 0/1 feature that is hardly ever 1 looks the same for all of them.
        pub min_level_rows: usize = 5,
    }
}

impl EncodeOptions {
    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), ParamError> {
        let (levels, rows) = (self.max_levels, self.min_level_rows);
        require((1..=MAX_LEVELS).contains(&levels), "max_levels", levels, "from 1 to 4096")?;
        require(rows > 0, "min_level_rows", rows, "at least 1")
    }
}
