//! What should stand in a cell, as people write it.

use serde::Serialize;

use crate::{
    detect::{Expects, Guess},
    encode::{CellValue, Encoder, Share},
    kinds::{ColumnKind, fixed},
    layout::Role,
};

/// What should stand in a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expected {
    /// The value, written as the column is written. Empty if the cell should be empty.
    pub value: String,
    /// Numbers and dates: nine in ten cells that were predicted lay between these two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<String>,
    /// The upper end of that range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<String>,
    /// Names: the likeliest ones with their chances, the likeliest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Share>,
    /// How sure that is, from 0 to 1. Names: the chance of the value. Numbers and dates: how much narrower the range is than
    /// that of the column; 0 if the other columns say nothing.
    pub sure: f64,
}

impl Expected {
    /// The common spelling of what the cell says.
    pub(crate) fn spelled(value: String) -> Self {
        Self { value, low: None, high: None, levels: Vec::new(), sure: MENDED }
    }

    /// As the end of a sentence: `expected 36.5 (31 to 42)`, ``expected `Oslo` (chance 0.93)``, `should be empty`.
    pub(crate) fn told(&self, kind: ColumnKind) -> String {
        if self.value.is_empty() {
            return "should be empty".to_owned();
        }
        let (value, quote) = (&self.value, if kind.has_range() { "" } else { "`" });
        let more = match (&self.low, &self.high, self.levels.first()) {
            (Some(low), Some(high), _) if low != high => format!(" ({low} to {high})"),
            (_, _, Some(level)) => format!(" (chance {})", fixed(level.share, 2)),
            _ => String::new(),
        };
        format!("expected {quote}{value}{quote}{more}")
    }
}

/// What could stand in a cell, and how that is told.
pub(super) struct Idea {
    pub(super) value: CellValue,
    pub(super) expected: Option<Expected>,
}

impl Idea {
    /// What should stand in a cell that holds `text`, by the other features of its row.
    pub(super) fn of(
        encoder: &Encoder,
        expects: &dyn Expects,
        row: &[f64],
        column: usize,
        now: Option<&CellValue>,
        text: Option<&str>,
    ) -> Self {
        let encoded = &encoder.columns()[column];
        let kind = encoded.content().as_kind();
        // A column that is mostly empty.
        if encoded.null_share() > 0.5 && now != Some(&CellValue::Empty) {
            let sure = encoded.null_share();
            let expected = Expected { value: String::new(), low: None, high: None, levels: Vec::new(), sure };
            return Self { value: CellValue::Empty, expected: Some(expected) };
        }
        if let Some(mended) = text.and_then(|text| kind.mend(text))
            && let Some(value) = encoder.value_written(column, &mended)
            && Some(&value) != now
        {
            return Self { value, expected: Some(Expected::spelled(mended)) };
        }
        let mut guess = expects.expected(row, encoded.features());
        if let Guess::Levels { feature, chances } = &mut guess
            && chances.is_empty()
            && let Some((level, share)) = kind.usual_level(encoded.counts())
        {
            guess = Guess::Levels { feature: *feature, chances: vec![(level as u32, share)] };
        }
        let Some(value) = encoder.value_of(column, &guess) else {
            return Self { value: CellValue::Neutral, expected: None };
        };
        let is_date = encoded.kind().role() == Role::Time;
        if is_date && !matches!(guess, Guess::Number { sure, .. } if sure >= SURE_DATE) {
            return Self { value: unasked(value), expected: None };
        }
        let written = |value: &CellValue| match value {
            // Adding 0.0 turns -0.0 into 0.0.
            CellValue::Number(number) | CellValue::About(number) => kind.written(*number + 0.0, text),
            CellValue::Name(name) => name.clone(),
            CellValue::Empty | CellValue::Neutral => String::new(),
        };
        let expected = match &guess {
            Guess::Nothing => None,
            Guess::Number { feature, low, high, sure, .. } => {
                let end = |x: f64| {
                    encoder.number_of(column, *feature, x).map(|number| kind.written(number + 0.0, text))
                };
                let (value, low, high) = (written(&value), end(*low), end(*high));
                Some(Expected { value, low, high, levels: Vec::new(), sure: sure.clamp(0.0, 1.0) })
            }
            Guess::Levels { chances, .. } => {
                let share = |&(level, share): &(u32, f64)| {
                    let name = kind.level(level as usize)?.to_owned();
                    Some(Share { name, share })
                };
                let levels: Vec<Share> = chances.iter().filter_map(share).collect();
                let sure = levels.first().map_or(0.0, |level| level.share);
                Some(Expected { value: written(&value), low: None, high: None, levels, sure })
            }
        };
        // Nobody expects an hour of a day, and one taken at random may be odd.
        Self { value: if is_date { unasked(value) } else { value }, expected }
    }
}

/// The same number, but nobody asks about it.
fn unasked(value: CellValue) -> CellValue {
    match value {
        CellValue::Number(number) => CellValue::About(number),
        other => other,
    }
}

/// A date is expected only if the other columns take away so much of what dates there are.
const SURE_DATE: f64 = 0.5;

/// How sure it is that a misspelled name or number meant what it looks like.
const MENDED: f64 = 0.95;
