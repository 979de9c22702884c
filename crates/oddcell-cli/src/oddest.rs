//! The oddest rows of a run with their cells and reasons, for people and for `--json`.

use oddcell::{
    Error,
    encode::EncodedColumn,
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
    /// Whether it is marked: its column is one of the row's reasons.
    pub(crate) is_odd: bool,
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
    let noise = findings.cells.as_ref().map(|cells| cells.row(row));
    let explainer = judgement.explainer(judge);
    let (reasons, noise) = match noise {
        Some(cells) => (explainer.top(row, cells, TOP_REASONS)?, explainer.noise(cells).collect()),
        None => (Vec::new(), vec![0.0; columns.len()]),
    };
    let names = judge.encoder().columns().iter().map(EncodedColumn::name);
    let cells = columns.iter().zip(names).zip(noise).map(|((array, name), noise)| OddCell {
        text: clean(&cell_text(array, row).unwrap_or_else(|| "·".to_owned())),
        noise,
        is_odd: reasons.iter().any(|reason| reason.column == name),
    });
    Ok(OddRow {
        row: rows.first_row + row + 1,
        score: findings.scores[row],
        p: findings.p_values[row],
        is_odd: false,
        cells: cells.collect(),
        columns: reasons.iter().map(|reason| reason.column.to_owned()).collect(),
        reasons: reasons.iter().map(|reason| clean(&reason.to_string())).collect(),
    })
}
