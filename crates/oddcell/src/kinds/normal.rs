//! What is normal in a column: a range, or the most common names.

use std::fmt::{self, Write};

use serde::Serialize;

use super::words;

/// What is normal in a column, by its training rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NormalRange {
    /// Numbers and dates: 98 of 100 training rows lie between these.
    Range {
        /// The 1 % quantile.
        low: f64,
        /// The 99 % quantile.
        high: f64,
        /// Both as text: `3.1 to 88`, `2024-01-01 to 2024-12-30`, or one value if they are equal.
        text: String,
        /// Whether all training values were equal. If `low` equals `high` without that, nearly all were.
        #[serde(skip)]
        constant: bool,
    },
    /// Categories and booleans: the most common names, most common first.
    Levels {
        /// At most [`NormalRange::MAX_LEVELS`] of them.
        levels: Vec<Share>,
    },
    /// Texts: 98 of 100 training rows have so many characters.
    Lengths {
        /// The 1 % quantile.
        low: u64,
        /// The 99 % quantile.
        high: u64,
    },
}

/// Where a value lies beside the normal range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Greater, or later.
    Above,
    /// Less, or earlier.
    Below,
    /// Normal by itself; if it is odd, then given the other columns.
    Within,
}

/// A name and how common it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The name.
    pub name: String,
    /// The share of the training rows that had it, 0 to 1.
    pub share: f64,
}

impl NormalRange {
    /// The most names listed.
    pub const MAX_LEVELS: usize = 3;

    /// How often the one value of a range of no width was there: `always`, or `nearly always`.
    pub(crate) fn how_often(&self) -> Option<&'static str> {
        match self {
            Self::Range { low, high, constant, .. } if low == high => {
                Some(if *constant { "always" } else { "nearly always" })
            }
            Self::Range { .. } | Self::Levels { .. } | Self::Lengths { .. } => None,
        }
    }

    /// What stands before it in a sentence: ranges are `normal`, names are `usually` there.
    pub(crate) fn adverb(&self) -> &'static str {
        match self {
            Self::Range { .. } | Self::Lengths { .. } => "normal",
            Self::Levels { .. } => "usually",
        }
    }

    /// How long the value is and how long values usually are, if lengths are what is normal.
    pub(crate) fn length_of(&self, value: &str) -> Option<String> {
        match self {
            Self::Lengths { low, high } => {
                let own = value.chars().count() as u64;
                Some(format!("{}, usually {}", characters(own, own), characters(*low, *high)))
            }
            Self::Range { .. } | Self::Levels { .. } => None,
        }
    }

    /// Writes the [`fmt::Display`] form.
    pub(crate) fn write(&self, out: &mut impl Write) -> fmt::Result {
        match self {
            Self::Range { text, .. } => out.write_str(text),
            Self::Lengths { low, high } => write!(out, "texts of {}", characters(*low, *high)),
            Self::Levels { levels } if levels.is_empty() => out.write_str("many different names"),
            Self::Levels { levels } => {
                for (at, level) in levels.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    for piece in [comma, "`", &level.name, "` (", &words::percent(level.share), ")"] {
                        out.write_str(piece)?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Lengths of texts: `5 characters`, `5 to 8 characters`.
fn characters(low: u64, high: u64) -> String {
    match (low, high) {
        (1, 1) => "1 character".to_owned(),
        _ if low == high => format!("{low} characters"),
        _ => format!("{low} to {high} characters"),
    }
}

impl fmt::Display for NormalRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(formatter)
    }
}
