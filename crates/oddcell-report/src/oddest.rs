//! The oddest rows of a stream, with everything the page shows of them.

use std::{cmp::Ordering, collections::BinaryHeap};

use arrow_array::ArrayRef;
use oddcell::{
    Error,
    encode::{Encoder, NormalRange, Part},
    explain::{About, Explainer, Reason},
    judged::TOP_REASONS,
    table::cell_text,
};
use serde::Serialize;

/// Characters of a cell that are kept.
pub(crate) const CELL_CHARS: usize = 200;
/// Columns of a row about which everything is told; about the others only value and noise.
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
    /// In words, most noise first.
    pub(crate) reasons: Vec<String>,
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
    /// Whether it is not the value that is odd but that there is one, or none.
    pub(crate) emptiness: bool,
    /// Where the value lies: 0 at the lower end of the normal range, 1 at the upper.
    pub(crate) place: Option<f64>,
    /// The share of training rows with the same name.
    pub(crate) share: Option<f64>,
}

/// Ordered so that the least odd row is on top of a heap.
#[derive(Debug, Clone)]
struct ByScore(KeptRow);

impl ByScore {
    /// −0.0 and 0.0 are one score.
    fn key(&self) -> (f64, usize) {
        (self.0.score + 0.0, self.0.row)
    }
}

impl PartialEq for ByScore {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for ByScore {}
impl PartialOrd for ByScore {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ByScore {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((score, row), (other_score, other_row)) = (self.key(), other.key());
        other_score.total_cmp(&score).then(row.cmp(&other_row))
    }
}

/// Keeps the oddest rows; of equal scores the earlier ones.
#[derive(Debug, Clone)]
pub(crate) struct Oddest {
    rows: BinaryHeap<ByScore>,
    capacity: usize,
}

impl Oddest {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { rows: BinaryHeap::new(), capacity }
    }

    /// The rows of a batch that are odd enough, ascending: no more than there is room for.
    pub(crate) fn candidates(&self, scores: &[f64]) -> Vec<usize> {
        let full = self.rows.len() == self.capacity;
        let least = self.rows.peek().filter(|_| full).map(|least| least.0.score);
        let mut rows: Vec<usize> =
            (0..scores.len()).filter(|&row| least.is_none_or(|least| scores[row] > least)).collect();
        if rows.len() > self.capacity {
            rows.sort_by(|&a, &b| (scores[b] + 0.0).total_cmp(&(scores[a] + 0.0)).then(a.cmp(&b)));
            rows.truncate(self.capacity);
            rows.sort_unstable();
        }
        rows
    }

    pub(crate) fn put(&mut self, row: KeptRow) {
        self.rows.push(ByScore(row));
        if self.rows.len() > self.capacity {
            self.rows.pop();
        }
    }

    /// The rows, oddest first.
    pub(crate) fn into_rows(self) -> Vec<KeptRow> {
        self.rows.into_sorted_vec().into_iter().map(|row| row.0).collect()
    }
}

/// The text of every cell of a row.
pub(crate) fn cells(arrays: &[Option<&ArrayRef>], row: usize) -> Vec<Option<CellText>> {
    let text = |array: Option<&ArrayRef>| cell_text(array?, row).map(CellText::new);
    arrays.iter().copied().map(text).collect()
}

/// Adds to `kept` what is known about its cells.
pub(crate) fn explain(
    kept: &mut KeptRow,
    encoder: &Encoder,
    explainer: &Explainer<'_>,
    row: usize,
    noise: &[f64],
) -> Result<(), Error> {
    let columns = encoder.columns();
    let most = |features: &[f64]| features.iter().copied().fold(0.0, f64::max);
    kept.noise = columns.iter().map(|column| most(&noise[column.features()])).collect();
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| kept.noise[b].total_cmp(&kept.noise[a]));
    order.truncate(DETAILED);
    for column in order {
        let reason = explainer.reason(row, column, noise)?;
        if kept.reasons.len() < TOP_REASONS {
            kept.reasons.push(reason.text());
        }
        kept.details.push(Detail {
            column,
            amount: reason.amount_text(),
            emptiness: reason.about == About::Emptiness,
            place: place(encoder, column, &reason, &kept.features),
            share: reason.training_share,
        });
    }
    Ok(())
}

/// Where a number or date lies beside its normal range.
fn place(encoder: &Encoder, column: usize, reason: &Reason<'_>, features: &[f64]) -> Option<f64> {
    let NormalRange::Range { low, high, .. } = reason.normal else { return None };
    let at = encoder.columns()[column].features().start;
    let feature = encoder.features()[at];
    reason.value.as_ref()?;
    debug_assert_eq!(feature.part, Part::Value);
    let value = feature.mean + feature.std * features[at];
    let place = (value - low) / (high - low);
    place.is_finite().then_some(place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_cells_are_cut_and_say_how_long_they_were() {
        assert_eq!(CellText::new("å".repeat(200)), CellText::Whole("å".repeat(200)));
        assert_eq!(CellText::new("å".repeat(1_000_000)), CellText::Cut("å".repeat(200), 1_000_000));
    }

    proptest! {
        #[test] // Law: in whatever batches rows come, those that sorting would put first are kept, in that order.
        fn the_oddest_are_kept_whatever_the_batches(
            scores in prop::collection::vec((-3i8..4).prop_map(f64::from), 0..60), size in 1usize..20
        ) {
            let mut oddest = Oddest::new(7);
            for (at, batch) in scores.chunks(size).enumerate() {
                for row in oddest.candidates(batch) {
                    oddest.put(KeptRow { row: at * size + row, score: batch[row], ..KeptRow::default() });
                }
            }
            let mut expected: Vec<usize> = (0..scores.len()).collect();
            expected.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            expected.truncate(7);
            let kept: Vec<usize> = oddest.into_rows().iter().map(|row| row.row).collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
