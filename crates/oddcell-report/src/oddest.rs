//! One of the oddest rows, with everything the page shows of it.

use arrow_array::ArrayRef;
use oddcell::{
    Error,
    cells::{Expected, OddCell},
    explain::{About, Explainer, Reason},
    judge::{Judgement, TOP_REASONS},
    table::cell_text,
};
use serde::Serialize;

/// Characters of a cell that are kept.
pub(crate) const CELL_CHARS: usize = 200;
/// Columns of a row that are shown with all details; the others show only value and noise.
const DETAILED: usize = 24;

/// One of the oddest rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptRow {
    /// Counted from 1.
    pub(crate) row: usize,
    pub(crate) score: f64,
    pub(crate) p: f64,
    pub(crate) truth: Option<bool>,
    /// By the columns shown; a late column may be missing.
    pub(crate) cells: Vec<Option<CellText>>,
    /// By the columns of the encoder, in standard deviations; empty if the detector knows no cells.
    pub(crate) noise: Vec<f64>,
    /// The columns with the most noise, most first.
    pub(crate) details: Vec<Detail>,
    /// In words, most noise first; empty if the judge looks for sets.
    pub(crate) reasons: Vec<String>,
    /// The cells that make the row odd, in the order of their repair; `None` if the judge does not look for them.
    pub(crate) set: Option<Vec<Called>>,
    /// The encoded row.
    pub(crate) features: Vec<f64>,
}

/// The text of a cell, if need be only its start.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum CellText {
    /// All of it.
    Whole(String),
    /// Its start, and how many characters it has.
    Cut(String, usize),
}

impl CellText {
    pub(crate) fn new(text: String) -> Self {
        match text.char_indices().nth(CELL_CHARS) {
            None => Self::Whole(text),
            Some((end, _)) => Self::Cut(text[..end].to_owned(), text.chars().count()),
        }
    }
}

/// What one column has to do with a row being odd, as figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Detail {
    /// The column of the encoder.
    pub(crate) column: usize,
    /// How far off, in the column's own unit.
    pub(crate) amount: String,
    /// Whether the odd thing is that the cell is empty, or that it is not, rather than its value.
    pub(crate) emptiness: bool,
    /// Where the value lies: 0 at the lower end of the normal range, 1 at the upper.
    pub(crate) place: Option<f64>,
    /// The share of training rows with the same name.
    pub(crate) share: Option<f64>,
    /// What is odd besides the value, if anything: the name is misspelled, the hour is unusual.
    pub(crate) tells: Option<String>,
    /// What probably should stand there, if that is known.
    pub(crate) expected: Option<CellText>,
}

/// A cell that makes its row odd.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Called {
    /// The column of the encoder.
    pub(crate) column: usize,
    pub(crate) p: f64,
    /// What should stand there.
    pub(crate) expected: Option<Should>,
    /// What is odd, in a sentence.
    pub(crate) reason: String,
}

/// What should stand in a cell: the value, the ends of its range, the likely levels with their chances, and how sure that is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Should(CellText, Option<CellText>, Option<CellText>, Vec<(CellText, f64)>, f64);

impl Should {
    fn of(expected: &Expected) -> Self {
        let text = |text: &String| CellText::new(text.clone());
        let share = |share: f64| (share * 1e4).round() / 1e4;
        let levels = expected.levels.iter().map(|level| (text(&level.name), share(level.share)));
        let [low, high] = [&expected.low, &expected.high].map(|end| end.as_ref().map(text));
        Self(text(&expected.value), low, high, levels.collect(), share(expected.sure))
    }
}

impl Called {
    fn of(cell: &OddCell, reason: &Reason<'_>) -> Self {
        let expected = reason.expected.as_ref().map(Should::of);
        Self { column: cell.column, p: cell.p_value, expected, reason: reason.to_string() }
    }
}

/// The text of every cell of a row.
pub(crate) fn cells(arrays: &[Option<&ArrayRef>], row: usize) -> Vec<Option<CellText>> {
    let text = |array: Option<&ArrayRef>| cell_text(array?, row).map(CellText::new);
    arrays.iter().copied().map(text).collect()
}

/// Adds to `kept` what is known about its cells. `row` is its position in `judgement`.
pub(crate) fn explain(
    kept: &mut KeptRow,
    explainer: &Explainer<'_>,
    row: usize,
    judgement: &Judgement,
) -> Result<(), Error> {
    if let Some(cells) = &judgement.findings.cells {
        let noise = cells.row(row);
        kept.noise = explainer.noise(noise).collect();
        for (column, _) in explainer.ranked(noise, DETAILED) {
            let reason = explainer.reason(row, column, noise)?;
            if judgement.sets.is_none() && kept.reasons.len() < TOP_REASONS {
                kept.reasons.push(reason.to_string());
            }
            kept.details.push(Detail::of(column, reason));
        }
    }
    if let Some(sets) = &judgement.sets {
        let why = explainer.why(row, judgement, TOP_REASONS)?;
        kept.set =
            Some(sets.of(row).iter().zip(&why).map(|(cell, reason)| Called::of(cell, reason)).collect());
        for (cell, reason) in sets.of(row).iter().zip(why) {
            if kept.details.iter().all(|detail| detail.column != cell.column) {
                kept.details.push(Detail::of(cell.column, reason));
            }
        }
    }
    Ok(())
}

impl Detail {
    fn of(column: usize, reason: Reason<'_>) -> Self {
        Self {
            column,
            amount: reason.amount_text(),
            emptiness: reason.about == About::Emptiness,
            place: reason.place,
            share: reason.training_share,
            tells: match reason.about {
                About::Unreadable => Some(format!("cannot be read as a {}", reason.kind.name())),
                About::Value if reason.is_normal_by_itself() => {
                    Some("does not fit the other columns".to_owned())
                }
                About::Value | About::Emptiness | About::Sign => reason.tells,
            },
            expected: reason.expected.map(|expected| CellText::new(expected.value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cells_are_cut_and_say_how_long_they_were() {
        assert_eq!(CellText::new("å".repeat(200)), CellText::Whole("å".repeat(200)));
        assert_eq!(CellText::new("å".repeat(1_000_000)), CellText::Cut("å".repeat(200), 1_000_000));
    }
}
