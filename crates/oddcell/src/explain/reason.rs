//! A reason: how one column makes a row odd, as data and as a sentence.

use std::{
    borrow::Cow,
    fmt::{self, Write},
};

use serde::Serialize;

use crate::{
    cells::Expected,
    detect::CellUnit,
    kinds::{self, ColumnKind, Figure, NormalRange, Notation, Side, Wording},
};

/// How one column makes a row odd.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason<'a> {
    /// The column's name.
    pub column: &'a str,
    /// What its cells mean.
    pub kind: ColumnKind,
    /// How odd the cell is, ≥ 0, in this unit.
    pub noise: f64,
    /// What the noise is measured in.
    pub unit: CellUnit,
    /// The share of normal cells of the same column that are at least as odd, if that is known.
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// What is odd: the value, or that there is one, or that there is none.
    pub about: About,
    /// How far off: numbers in their own unit, dates in seconds; categories, booleans and everything about
    /// emptiness from 0 (not odd) to 1 (surely odd). `None` if the noise is no distance, or the cell cannot be read.
    pub amount: Option<f64>,
    /// What is odd besides the value, as the end of a sentence: the cell is misspelled, its hour is unusual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tells: Option<String>,
    /// What probably should stand there, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// The cell as seen, dates in ISO form; `None` if it is empty.
    pub value: Option<Cow<'a, str>>,
    /// What is normal in the column.
    pub normal: &'a NormalRange,
    /// Where a number or date lies beside the normal range.
    pub side: Option<Side>,
    /// The same as a figure: 0 at the lower end of the normal range, 1 at the upper. `None` if the range has no width.
    #[serde(skip)]
    pub place: Option<f64>,
    /// The share of training rows with the same category or boolean, if known.
    pub training_share: Option<f64>,
    /// The share of training rows that are empty in this column.
    pub null_share: f64,
}

/// What is odd about a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// The value.
    Value,
    /// That the cell is empty, or that it is not.
    Emptiness,
    /// That the cell is not of the column's kind.
    Unreadable,
    /// What [`Reason::tells`] says.
    Sign,
}

/// The share of a rarer level is mentioned.
const RARE_SHARE: f64 = 0.02;
/// A level at least this common is called common.
const COMMON_SHARE: f64 = 0.05;
/// Longer values are cut.
const MAX_VALUE_CHARS: usize = 40;

impl Reason<'_> {
    /// Writes the reason in one line, e.g. `amount 912.5: 3.2 sd off (816.1), above the normal range 3.1 to 88`, piece by
    /// piece: a stream may write one for every row, and the formatting macros would
    /// take most of the time.
    pub(super) fn write(&self, out: &mut impl Write) -> fmt::Result {
        self.write_finding(out)?;
        self.write_expected(out)
    }

    /// Writes what should stand there, unless that has been said.
    fn write_expected(&self, out: &mut impl Write) -> fmt::Result {
        let Some(expected) = &self.expected else { return Ok(()) };
        if self.tells.as_ref().is_some_and(|tells| tells.contains(&format!("`{}`", expected.value))) {
            return Ok(());
        }
        write!(out, "; {}", expected.told(self.kind))
    }

    /// Writes what is odd.
    fn write_finding(&self, out: &mut impl Write) -> fmt::Result {
        let wording = self.kind.wording();
        out.write_str(self.column)?;
        match &self.value {
            None => out.write_str(" empty: ")?,
            Some(value) => {
                let is_text = self.about == About::Unreadable || matches!(wording, Wording::Share);
                let quote = if is_text { "`" } else { "" };
                let is_long = value.len() > MAX_VALUE_CHARS;
                let cut = is_long.then(|| value.char_indices().nth(MAX_VALUE_CHARS)).flatten();
                let (shown, dots) = cut.map_or((&**value, ""), |(end, _)| (&value[..end], "…"));
                for piece in [" ", quote, shown, dots, quote, ": "] {
                    out.write_str(piece)?;
                }
            }
        }
        if self.about == About::Unreadable {
            return self.write_unreadable(out);
        }
        if let Some(tells) = &self.tells {
            return [tells, "; surprise ", &kinds::fixed(self.noise, 1)]
                .into_iter()
                .try_for_each(|piece| out.write_str(piece));
        }
        match (self.unit, self.about, wording) {
            (CellUnit::Surprise | CellUnit::SurpriseInContext, ..) => {
                out.write_str("surprise ")?;
                out.write_str(&kinds::fixed(self.noise, 1))?;
            }
            (CellUnit::StandardDeviations, About::Value, Wording::Distance { unit, .. }) => {
                self.write_deviations(out, unit)?;
            }
            (
                CellUnit::StandardDeviations,
                About::Value | About::Sign | About::Emptiness | About::Unreadable,
                _,
            ) => {
                self.write_unexpected(out)?;
            }
        }
        match (self.about, &self.value, wording) {
            (About::Value, Some(_), Wording::Share) => self.write_shares(out),
            (About::Value, Some(_), Wording::Distance { above, below, .. }) => {
                self.write_range(out, above, below)
            }
            (About::Value, None, _) | (About::Emptiness | About::Unreadable | About::Sign, ..) => {
                if self.unit == CellUnit::SurpriseInContext {
                    self.write_what_surprises(out)?;
                }
                self.write_emptiness(out)
            }
        }
    }

    /// Whether the value may be odd only because of the other columns. A plain surprise is about one column alone.
    fn is_odd_in_context(&self) -> bool {
        self.unit != CellUnit::Surprise && self.noise >= self.unit.odd_from()
    }

    /// Whether the value is odd only because of the other columns: by itself it is normal.
    #[must_use]
    pub fn is_normal_by_itself(&self) -> bool {
        let is_normal = match self.kind.wording() {
            Wording::Distance { .. } => self.side == Some(Side::Within),
            Wording::Share => self.training_share.is_some_and(|share| share >= COMMON_SHARE),
        };
        is_normal && self.is_odd_in_context()
    }

    /// The noise with its unit: `3.2 sd`, or a surprise without one: `6.7`.
    #[must_use]
    pub fn noise_text(&self) -> String {
        let figure = kinds::fixed(self.noise, 1);
        match self.unit {
            CellUnit::StandardDeviations => format!("{figure} sd"),
            CellUnit::Surprise | CellUnit::SurpriseInContext => figure.to_string(),
        }
    }

    /// How far off in the column's own unit: `816.1`, `3.2 days`, `0.93` (of 1); `–` if there is no distance.
    #[must_use]
    pub fn amount_text(&self) -> String {
        match (self.amount, self.about, self.kind.wording()) {
            (Some(amount), About::Value, Wording::Distance { unit, .. }) if self.value.is_some() => {
                unit(amount).to_string()
            }
            (None, ..) | (_, About::Value, Wording::Distance { .. }) => "–".to_owned(),
            (Some(amount), ..) => kinds::fixed(amount, 2).to_string(),
        }
    }

    /// Writes `3.2 sd off (816.1)`, for kinds with a unit.
    fn write_deviations(&self, out: &mut impl Write, unit: fn(f64) -> Figure) -> fmt::Result {
        let decimals = match self.noise {
            sds if sds < 0.995 => 2,
            sds if sds < 99.95 => 1,
            _ => 0,
        };
        out.write_str(&kinds::fixed(self.noise, decimals))?;
        out.write_str(" sd off")?;
        // An empty cell has no value that could be off by so many units.
        let Some(amount) = self.amount.filter(|_| self.value.is_some()) else { return Ok(()) };
        [" (", &unit(amount), ")"].into_iter().try_for_each(|piece| out.write_str(piece))
    }

    /// Writes `unexpected (0.93 of 1)`.
    fn write_unexpected(&self, out: &mut impl Write) -> fmt::Result {
        let is_filled = self.about == About::Emptiness && self.value.is_some();
        let what = if is_filled { "unexpected value (" } else { "unexpected (" };
        let amount = kinds::fixed(self.amount.unwrap_or_default(), 2);
        [what, &amount, " of 1)"].into_iter().try_for_each(|piece| out.write_str(piece))
    }

    /// Writes `cannot be read as a number (normal 2 to 50)`.
    fn write_unreadable(&self, out: &mut impl Write) -> fmt::Result {
        let expected = self.kind.expected(Notation::default());
        for piece in ["cannot be read as ", expected, " (", self.normal.adverb(), " "] {
            out.write_str(piece)?;
        }
        self.normal.write(out)?;
        out.write_str(")")
    }

    /// Writes that a filled cell is odd for being filled, and that emptiness is odd only because of the other columns if it is
    /// common.
    fn write_what_surprises(&self, out: &mut impl Write) -> fmt::Result {
        let common = if self.value.is_some() {
            out.write_str(" for not being empty")?;
            1.0 - self.null_share
        } else {
            self.null_share
        };
        if common >= COMMON_SHARE { out.write_str(" given the other columns") } else { Ok(()) }
    }

    /// Writes how often the column is empty.
    fn write_emptiness(&self, out: &mut impl Write) -> fmt::Result {
        match self.null_share {
            0.0 => out.write_str("; never empty in training"),
            share => write_share(out, "; empty in ", share, " of training rows"),
        }
    }

    /// Writes how common the value is, and which values are usual.
    fn write_shares(&self, out: &mut impl Write) -> fmt::Result {
        if let Some(length) = self.value.as_ref().and_then(|value| self.normal.length_of(value)) {
            return ["; ", &length].into_iter().try_for_each(|piece| out.write_str(piece));
        }
        match self.training_share {
            Some(0.0) => out.write_str(", never seen in training")?,
            Some(share) if share < RARE_SHARE => write_share(out, ", in ", share, " of training rows")?,
            Some(share) if self.is_normal_by_itself() => {
                return write_share(out, " given the other columns; common by itself (", share, ")");
            }
            Some(_) | None => {}
        }
        out.write_str("; usually ")?;
        self.normal.write(out)
    }

    /// Writes where the value lies beside the normal range.
    fn write_range(&self, out: &mut impl Write, above: &str, below: &str) -> fmt::Result {
        if let Some(how_often) = self.normal.how_often() {
            [", ", how_often, " "].into_iter().try_for_each(|piece| out.write_str(piece))?;
            self.normal.write(out)?;
            return out.write_str(" in training");
        }
        let (before, after) = match self.side {
            Some(Side::Above) => ([", ", above, " the normal range "], ""),
            Some(Side::Below) => ([", ", below, " the normal range "], ""),
            Some(Side::Within) if self.is_normal_by_itself() => {
                ([" given the other columns", "; ", "normal by itself ("], ")")
            }
            Some(Side::Within) | None => ([", ", "within", " the normal range "], ""),
        };
        before.into_iter().try_for_each(|piece| out.write_str(piece))?;
        self.normal.write(out)?;
        out.write_str(after)
    }
}

fn write_share(out: &mut impl Write, before: &str, share: f64, after: &str) -> fmt::Result {
    out.write_str(before)?;
    out.write_str(&kinds::percent(share))?;
    out.write_str(after)
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(formatter)
    }
}
