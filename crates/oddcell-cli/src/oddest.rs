//! The oddest rows of a stream: kept in a heap as it passes, with their cells and reasons.

use std::{cmp::Ordering, collections::BinaryHeap};

use arrow_array::RecordBatch;
use oddcell::{
    Error,
    encode::Encoder,
    explain::Explainer,
    judged::TOP_REASONS,
    model::Findings,
    table::{Rows, cell_text},
};
use serde::Serialize;

use crate::{failure::Failure, show::clean};

/// Rows shown to people, and listed in the summary for programs.
const SHOWN_ROWS: usize = 10;

/// One of the oddest rows.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OddRow {
    /// Counted from 1.
    pub(crate) row: usize,
    pub(crate) score: f64,
    pub(crate) p: f64,
    pub(crate) reasons: Vec<String>,
    /// The columns of the reasons, most noise first.
    #[serde(skip)]
    pub(crate) columns: Vec<String>,
    /// Text and noise of every cell the encoder knows.
    #[serde(skip)]
    pub(crate) cells: Vec<(String, f64)>,
}

/// Ordered so that the least odd row is on top of the heap.
struct ByScore(OddRow);

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
        other.0.score.total_cmp(&self.0.score).then(self.0.row.cmp(&other.0.row))
    }
}

/// Keeps the oddest rows of a stream.
pub(crate) struct Oddest {
    rows: BinaryHeap<ByScore>,
    capacity: usize,
}

impl Oddest {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { rows: BinaryHeap::new(), capacity }
    }

    /// For the usual table.
    pub(crate) fn to_show() -> Self {
        Self::new(SHOWN_ROWS)
    }

    /// Looks at the rows of a batch.
    pub(crate) fn add(
        &mut self,
        encoder: &Encoder,
        batch: &RecordBatch,
        first_row: usize,
        origin: &str,
        findings: &Findings,
    ) -> Result<(), Failure> {
        let rows = Rows::new(batch.clone(), first_row, origin);
        let columns = encoder.matched(&rows).map_err(Error::from)?;
        let explainer = Explainer::new(encoder, &rows, &columns);
        for (index, (&score, &p)) in findings.scores.iter().zip(&findings.p_values).enumerate() {
            let full = self.rows.len() == self.capacity;
            if full && self.rows.peek().is_some_and(|least| score <= least.0.score) {
                continue;
            }
            let row = odd_row(encoder, batch, index, first_row, (score, p), findings, &explainer)?;
            if full {
                self.rows.pop();
            }
            self.rows.push(ByScore(row));
        }
        Ok(())
    }

    /// The rows, oddest first.
    pub(crate) fn into_rows(self) -> Vec<OddRow> {
        self.rows.into_sorted_vec().into_iter().map(|row| row.0).collect()
    }
}

fn odd_row(
    encoder: &Encoder,
    batch: &RecordBatch,
    index: usize,
    first_row: usize,
    (score, p): (f64, f64),
    findings: &Findings,
    explainer: &Explainer<'_>,
) -> Result<OddRow, Failure> {
    let noise = findings.cells.as_ref().map(|cells| cells.row(index));
    let reasons = match noise {
        Some(noise) => explainer.top(index, noise, TOP_REASONS).map_err(Error::from)?,
        None => Vec::new(),
    };
    let cells = encoder.columns().iter().map(|column| {
        let text = batch.column_by_name(column.name()).and_then(|array| cell_text(array, index));
        let sds = noise.map_or(0.0, |noise| noise[column.features()].iter().copied().fold(0.0, f64::max));
        (clean(&text.unwrap_or_else(|| "·".to_owned())), sds)
    });
    Ok(OddRow {
        row: first_row + index + 1,
        score,
        p,
        cells: cells.collect(),
        columns: reasons.iter().map(|reason| reason.column.to_owned()).collect(),
        reasons: reasons.iter().map(|reason| clean(&reason.text())).collect(),
    })
}
