//! The oddest rows of a run with their cells and reasons, for people and for `--json`.

use oddcell::{
    Error,
    judge::{Judge, Judgement, Observer, Oddest, TOP_REASONS},
    table::cell_text,
};
use serde::Serialize;

use crate::show::clean;

/// Rows shown to people and listed in the JSON summary.
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
    /// Text and noise of every encoded cell.
    #[serde(skip)]
    pub(crate) cells: Vec<(String, f64)>,
}

/// Keeps the oddest rows of a run.
pub(crate) struct OddRows(Oddest<OddRow>);

impl OddRows {
    pub(crate) fn new(capacity: usize) -> Self {
        Self(Oddest::new(capacity))
    }

    /// Keeps as many rows as the summary shows.
    pub(crate) fn to_show() -> Self {
        Self::new(SHOWN_ROWS)
    }

    /// The rows, oddest first.
    pub(crate) fn into_rows(self) -> Vec<OddRow> {
        self.0.into_rows()
    }
}

impl Observer for OddRows {
    fn observe(&mut self, judge: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        let (first_row, scores) = (judgement.rows.first_row, &judgement.findings.scores);
        for row in self.0.candidates(first_row, scores) {
            self.0.put(first_row + row, scores[row], odd_row(judge, judgement, row)?);
        }
        Ok(())
    }
}

fn odd_row(judge: &dyn Judge, judgement: &Judgement, row: usize) -> Result<OddRow, Error> {
    let Judgement { rows, findings, .. } = judgement;
    let noise = findings.cells.as_ref().map(|cells| cells.row(row));
    let explainer = judgement.explainer(judge);
    let reasons = match noise {
        Some(noise) => explainer.top(row, noise, TOP_REASONS)?,
        None => Vec::new(),
    };
    let cells = judge.encoder().columns().iter().map(|column| {
        let text = rows.batch.column_by_name(column.name()).and_then(|array| cell_text(array, row));
        let sds = noise.map_or(0.0, |noise| noise[column.features()].iter().copied().fold(0.0, f64::max));
        (clean(&text.unwrap_or_else(|| "·".to_owned())), sds)
    });
    Ok(OddRow {
        row: rows.first_row + row + 1,
        score: findings.scores[row],
        p: findings.p_values[row],
        cells: cells.collect(),
        columns: reasons.iter().map(|reason| reason.column.to_owned()).collect(),
        reasons: reasons.iter().map(|reason| clean(&reason.text())).collect(),
    })
}
