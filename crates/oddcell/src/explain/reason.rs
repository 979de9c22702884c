//! A reason: what one column has to do with a row being odd, as data and as a sentence.

use std::{
    borrow::Cow,
    fmt::{self, Write},
};

use serde::Serialize;

use crate::{
    encode::{NormalRange, words},
    table::ColumnKind,
};

/// What one column has to do with a row being odd.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason<'a> {
    /// The column's name.
    pub column: &'a str,
    /// What its cells mean.
    pub kind: ColumnKind,
    /// The estimated noise in standard deviations, ≥ 0.
    pub sds: f64,
    /// Whether the value is odd, or that there is one (or none).
    pub about: About,
    /// How far off: numbers in their own unit, dates in seconds; categories, booleans and everything about
    /// emptiness from 0 (not odd) to 1 (surely odd).
    pub amount: f64,
    /// The cell as seen, dates in ISO form; `None` if it is empty.
    pub value: Option<Cow<'a, str>>,
    /// What is normal in the column.
    pub normal: &'a NormalRange,
    /// Where a number or date lies beside the normal range.
    pub side: Option<Side>,
    /// The share of training rows with the same category or boolean value, where it is known.
    pub training_share: Option<f64>,
    /// The share of training rows that are empty in this column.
    pub null_share: f64,
}

/// What of a cell is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// The value.
    Value,
    /// That the cell is empty, or that it is not.
    Emptiness,
}

/// Where a value lies beside the normal range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Greater, or later.
    Above,
    /// Less, or earlier.
    Below,
    /// Normal by itself; if it is odd, then beside the other columns.
    Within,
}

/// From here on a column is told to be odd although its value alone is normal.
const ODD_SDS: f64 = 1.0;
/// Levels rarer than this are told to be rare.
const RARE_SHARE: f64 = 0.02;
/// Levels at least this common are told to be common.
const COMMON_SHARE: f64 = 0.05;
/// Longer values are cut in the text.
const MAX_VALUE_CHARS: usize = 40;

impl Reason<'_> {
    /// The reason in one line, e.g. `amount 912.5: 3.2 sd off (816.1), above the normal 3.1 to 88`.
    #[must_use]
    pub fn text(&self) -> String {
        self.to_string()
    }

    /// Writes [`Reason::text`], piece by piece: all rows of a stream may come through here, and the formatting
    /// macros would take most of the time.
    pub(super) fn write(&self, out: &mut impl Write) -> fmt::Result {
        out.write_str(self.column)?;
        match &self.value {
            None => out.write_str(" empty: ")?,
            Some(value) => {
                let quote = if self.named() { "`" } else { "" };
                let cut = if value.len() > MAX_VALUE_CHARS {
                    value.char_indices().nth(MAX_VALUE_CHARS)
                } else {
                    None
                };
                let (shown, dots) = cut.map_or((&**value, ""), |(end, _)| (&value[..end], "…"));
                for piece in [" ", quote, shown, dots, quote, ": "] {
                    out.write_str(piece)?;
                }
            }
        }
        self.write_amount(out)?;
        if self.value.is_none() || self.about == About::Emptiness {
            self.write_emptiness(out)
        } else if self.named() {
            self.write_names(out)
        } else {
            self.write_range(out)
        }
    }

    fn named(&self) -> bool {
        matches!(self.kind, ColumnKind::Category | ColumnKind::Boolean)
    }

    /// How far off in the column's own unit: `816.1`, `3.2 days`, `0.93` (of 1); `–` where an empty cell has none.
    #[must_use]
    pub fn amount_text(&self) -> String {
        if self.named() || self.about == About::Emptiness {
            words::fixed(self.amount, 2).to_string()
        } else if self.value.is_none() {
            "–".to_owned()
        } else if self.kind.is_date() {
            words::span(self.amount).to_string()
        } else {
            words::number(self.amount).to_string()
        }
    }

    /// Off by how much: in standard deviations and the column's unit, or from 0 to 1.
    fn write_amount(&self, out: &mut impl Write) -> fmt::Result {
        if self.named() || self.about == About::Emptiness {
            out.write_str(&words::fixed(self.amount, 2))?;
            return out.write_str(" odd");
        }
        let decimals = match self.sds {
            sds if sds < 0.995 => 2,
            sds if sds < 99.95 => 1,
            _ => 0,
        };
        out.write_str(&words::fixed(self.sds, decimals))?;
        out.write_str(" sd off")?;
        // An empty cell has no value that could be off by so many units.
        if self.value.is_none() {
            return Ok(());
        }
        let amount = if self.kind.is_date() { words::span(self.amount) } else { words::number(self.amount) };
        out.write_str(" (")?;
        out.write_str(&amount)?;
        out.write_str(")")
    }

    fn write_emptiness(&self, out: &mut impl Write) -> fmt::Result {
        if self.value.is_some() {
            out.write_str(" to be filled in")?;
        }
        match self.null_share {
            0.0 => out.write_str(", never empty in training"),
            share => write_share(out, ", empty in ", share, " of the training rows"),
        }
    }

    fn write_names(&self, out: &mut impl Write) -> fmt::Result {
        match self.training_share {
            Some(0.0) => out.write_str(", never seen in training")?,
            Some(share) if share < RARE_SHARE => write_share(out, ", in ", share, " of the training rows")?,
            Some(share) if share >= COMMON_SHARE && self.sds >= ODD_SDS => {
                return write_share(out, " beside the other columns, alone common (", share, ")");
            }
            _ => {}
        }
        out.write_str(", usually ")?;
        self.normal.write(out)
    }

    fn write_range(&self, out: &mut impl Write) -> fmt::Result {
        if matches!(self.normal, NormalRange::Range { low, high, .. } if low == high) {
            out.write_str(", always ")?;
            self.normal.write(out)?;
            return out.write_str(" in training");
        }
        out.write_str(match (self.side, self.kind.is_date()) {
            (Some(Side::Above), true) => ", after the normal ",
            (Some(Side::Below), true) => ", before the normal ",
            (Some(Side::Above), false) => ", above the normal ",
            (Some(Side::Below), false) => ", below the normal ",
            (Some(Side::Within), _) if self.sds >= ODD_SDS => {
                " beside the other columns, alone in the normal "
            }
            _ => ", normal ",
        })?;
        self.normal.write(out)
    }
}

fn write_share(out: &mut impl Write, before: &str, share: f64, after: &str) -> fmt::Result {
    out.write_str(before)?;
    out.write_str(&words::percent(share))?;
    out.write_str(after)
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(formatter)
    }
}
