//! What is normal in a column, for people and programs: a range, or the most common names.

use std::fmt::{self, Write};

use serde::Serialize;

use super::{Content, Spread, words};

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
        /// Both as text: `3.1 to 88`, `2024-01-01 to 2024-12-30`, or one value if there was only one.
        text: String,
    },
    /// Categories and booleans: the most common names, most common first.
    Levels {
        /// At most [`NormalRange::MAX_LEVELS`] of them.
        levels: Vec<Share>,
    },
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
    /// How many names are given at most.
    pub const MAX_LEVELS: usize = 3;

    pub(super) fn of(content: &Content, nulls: u64, n_rows: u64) -> Self {
        let share =
            |name: &str, rows: u64| Share { name: name.to_owned(), share: rows as f64 / n_rows as f64 };
        match content {
            Content::Number(spread) => {
                let range = spread.high - spread.low;
                Self::range(spread, |value| words::number_within(value, range).to_string())
            }
            Content::Date { spread, style, .. } => Self::range(spread, |value| words::date(value, *style)),
            Content::Boolean { true_rows } => {
                let mut levels = vec![share("true", *true_rows), share("false", n_rows - nulls - true_rows)];
                levels.sort_by(|a, b| b.share.total_cmp(&a.share));
                levels.retain(|level| level.share > 0.0);
                Self::Levels { levels }
            }
            Content::Category(levels) => {
                let common = levels.kept().iter().take(Self::MAX_LEVELS);
                Self::Levels { levels: common.map(|level| share(&level.name, level.rows)).collect() }
            }
        }
    }

    fn range(spread: &Spread, format: impl Fn(f64) -> String) -> Self {
        let Spread { low, high, .. } = *spread;
        let text = if low == high { format(low) } else { format!("{} to {}", format(low), format(high)) };
        Self::Range { low, high, text }
    }

    /// Writes it for people; also the [`fmt::Display`] form.
    pub(crate) fn write(&self, out: &mut impl Write) -> fmt::Result {
        match self {
            Self::Range { text, .. } => out.write_str(text),
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

impl fmt::Display for NormalRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(formatter)
    }
}
