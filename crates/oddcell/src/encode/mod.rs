//! From columns to features: what detectors learn from, and the way back from features to columns.
//!
//! *Why:* a detector wants rows of plain numbers of one scale; a table has numbers, dates, names and gaps. The
//! [`Encoder`] is fitted once, on the training rows, and afterwards treats every row by itself: the features of
//! a row depend on that row and the encoder alone.
//!
//! *Formula:* every feature is (x − mean) / std, with the mean and the population standard deviation of the
//! training rows, and
//!
//! | column   | x                                                                  | std                         |
//! |----------|--------------------------------------------------------------------|-----------------------------|
//! | number   | the number                                                         | as it is; 1 if constant     |
//! | date     | seconds                                                            | as it is; 1 if constant     |
//! | boolean  | 0 or 1                                                             | at least [`STD_FLOOR`]      |
//! | category | one 0/1 per common level, and one for all others (rare or unseen)  | at least [`STD_FLOOR`]      |
//! | nulls    | one more 0/1 where the column had nulls in training                | at least [`STD_FLOOR`]      |
//!
//! A null number, date or boolean takes the mean (feature value 0); a null category is 0 for every level.
//!
//! *Invariants:* a feature is finite and within ±[`FEATURE_LIMIT`] for any finite cell · columns are matched by
//! name, so their order in a table does not matter · an [`Encoder`], also one that was deserialised, is valid:
//! every number of it was checked, and what can be derived (features, scales of 0/1 features) is not stored.

mod column;
mod encoder;
mod error;
mod fit;
mod identifier;
mod levels;
mod normal;
mod report;
mod spread;
mod surprises;
mod validate;
pub(crate) mod words;

pub use column::{Content, EncodedColumn, Feature, Part};
pub use encoder::{Encoded, Encoder};
pub use error::EncodeError;
pub use identifier::IdentifierSign;
pub use levels::{Level, Levels, Place};
pub use normal::{NormalRange, Share};
pub use report::{LeftOut, LeftOutReason, Report};
use serde::{Deserialize, Serialize};
pub use spread::{DateStyle, Spread};
pub use surprises::Surprises;

use crate::error::ParamError;

/// The least standard deviation of a 0/1 feature. A level that was never or hardly ever seen in training so
/// stands 1 / 0.1 = 10 standard deviations out: plainly odd, yet of the same order as odd numbers.
pub const STD_FLOOR: f64 = 0.1;

/// Features are cut off here. In training none can reach it (|z| ≤ √rows); in later rows more standard
/// deviations than this say nothing more, and their squares still fit into an `f32`.
pub const FEATURE_LIMIT: f64 = 1e9;

/// The most features an encoder makes; beyond it a batch of rows no longer fits into a usual memory.
pub const MAX_FEATURES: usize = 65_536;

/// The most levels of one column that [`EncodeOptions::max_levels`] may ask for.
pub const MAX_LEVELS: usize = 4_096;

/// How a table is turned into features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncodeOptions {
    /// Columns that are no features.
    pub ignore: Vec<String>,
    /// Keep columns that look like row identifiers.
    pub keep_identifiers: bool,
    /// A category column keeps at most so many levels, the most common ones; the others are pooled.
    pub max_levels: usize,
    /// A level is kept if at least so many rows have it, and at least one row in a thousand. Pooling rarer ones
    /// costs little: a 0/1 feature that is hardly ever 1 looks the same for all of them (see [`STD_FLOOR`]).
    pub min_level_rows: usize,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { ignore: Vec::new(), keep_identifiers: false, max_levels: 32, min_level_rows: 5 }
    }
}

impl EncodeOptions {
    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), ParamError> {
        if !(1..=MAX_LEVELS).contains(&self.max_levels) {
            return Err(ParamError::OutOfRange {
                name: "max_levels",
                got: self.max_levels.to_string(),
                allowed: "from 1 to 4096",
            });
        }
        if self.min_level_rows == 0 {
            return Err(ParamError::OutOfRange {
                name: "min_level_rows",
                got: "0".to_owned(),
                allowed: "at least 1",
            });
        }
        Ok(())
    }
}
