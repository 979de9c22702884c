//! The oddest rows of a run with their cells and reasons, for people and for `--json`.

use arrow_array::ArrayRef;
use oddcell::{
    Error,
    judge::{Judge, Judgement, Observer, Oddest, TOP_REASONS},
    table::cell_text,
};
use serde::Serialize;

use crate::show::clean;

/// Rows shown to people and listed in the JSON summary.
pub(crate) const SHOWN_ROWS: usize = 10;

/// One of the oddest rows.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OddRow {
    /// Counted from 1.
    pub(crate) row: usize,
    pub(crate) score: f64,
    pub(crate) p: f64,
    /// The verdict, known once all rows are judged.
    #[serde(skip)]
    pub(crate) is_odd: bool,
    pub(crate) reasons: Vec<String>,
    /// The columns of the reasons, most noise first.
    #[serde(skip)]
    pub(crate) columns: Vec<String>,
    /// One cell for every column of the encoder.
    #[serde(skip)]
    pub(crate) cells: Vec<OddCell>,
}

/// A cell of an odd row.
#[derive(Debug, Clone)]
pub(crate) struct OddCell {
    pub(crate) text: String,
    pub(crate) noise: f64,
    /// Whether it is marked: it is one of the cells that make the row odd.
    pub(crate) is_odd: bool,
    /// What should stand there, if that is known.
    pub(crate) expected: Option<String>,
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
    let Judgement { rows, findings, columns, .. } = judgement;
    let explainer = judgement.explainer(judge);
    let reasons = explainer.why(row, judgement, TOP_REASONS)?;
    let noise: Vec<f64> = match &findings.cells {
        Some(cells) => explainer.noise(cells.row(row)).collect(),
        None => vec![0.0; columns.len()],
    };
    let cell = |(at, array): (usize, &_)| {
        let name = judge.encoder().columns()[at].name();
        let reason = reasons.iter().find(|reason| reason.column == name);
        let expected = reason.and_then(|reason| reason.expected.as_ref());
        OddCell {
            text: shown_cell(array, row),
            noise: reason.map_or(noise[at], |reason| reason.noise.max(noise[at])),
            is_odd: reason.is_some(),
            expected: expected.map(|expected| clean(&expected.value)),
        }
    };
    Ok(OddRow {
        row: rows.first_row + row + 1,
        score: findings.scores[row],
        p: findings.p_values[row],
        is_odd: false,
        cells: columns.iter().enumerate().map(cell).collect(),
        columns: reasons.iter().map(|reason| reason.column.to_owned()).collect(),
        reasons: reasons.iter().map(|reason| clean(&reason.to_string())).collect(),
    })
}

/// A cell of a row, for a terminal; a dot if it is empty.
pub(crate) fn shown_cell(array: &ArrayRef, row: usize) -> String {
    clean(&cell_text(array, row).unwrap_or_else(|| "·".to_owned()))
}
