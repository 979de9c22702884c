//! Judged batches go in as they come; what the page needs stays.

use std::collections::BTreeSet;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_select::take::take_record_batch;
use oddcell::{
    Error, Matrix, Seed, calibrate::Calibration, encode::Encoder, explain::Explainer, judged,
    model::Findings, table::Rows, verdict::Rule,
};

use crate::{
    curves::Truths,
    map::{self, MapSource},
    oddest::{self, KeptRow, Oddest},
    page::{Content, Report},
    sample::{Sample, Sampled},
    scores::Scores,
    stops::Tally,
};

/// Rows that are kept in full, at most and at least.
const KEPT_ROWS: (usize, usize) = (1_000, 20);
/// Cells that are kept, about: a wide table keeps fewer rows.
const KEPT_CELLS: usize = 150_000;
/// Rows of the sample, at most and at least.
const SAMPLED_ROWS: (usize, usize) = (800, 50);
/// Features that are kept of the sample, about.
const SAMPLED_FEATURES: usize = 2_000_000;

/// What is known before the first row.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// How columns became features.
    pub encoder: &'a Encoder,
    /// Where the rows come from, for messages.
    pub origin: &'a str,
    /// When a row is called odd.
    pub rule: Rule,
    /// The scores that a contamination refers to, as in [`oddcell::verdict::verdicts`].
    pub reference: &'a Calibration,
    /// Which rows are on the map.
    pub seed: Seed,
}

/// What the page says about itself.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// The table that was judged.
    pub data: String,
    /// The model file, where there is one.
    pub model: Option<String>,
    /// The detector's name.
    pub detector: String,
    /// The seed it was fitted with.
    pub seed: u64,
    /// When it was fitted, as a reader should see it.
    pub trained: Option<String>,
    /// When the page was made, as a reader should see it.
    pub made: Option<String>,
    /// What else is worth telling.
    pub notes: Vec<String>,
}

/// Collects what a report shows.
#[derive(Debug)]
pub struct Collector<'a> {
    setting: Setting<'a>,
    /// The names of the columns shown, in order, and for looking them up.
    columns: Vec<String>,
    known: BTreeSet<String>,
    n_rows: usize,
    oddest: Oddest,
    scores: Scores,
    tally: Tally,
    sample: Sample,
    truths: Option<Truths>,
}

impl<'a> Collector<'a> {
    /// Starts with no rows.
    #[must_use]
    pub fn new(setting: Setting<'a>) -> Self {
        let encoder = setting.encoder;
        let width = encoder.n_features().max(encoder.columns().len() + encoder.left_out().len()).max(1);
        let rows = |most: usize, least: usize, room: usize| (room / width).clamp(least, most);
        let sample = rows(SAMPLED_ROWS.0, SAMPLED_ROWS.1, SAMPLED_FEATURES);
        Self {
            oddest: Oddest::new(rows(KEPT_ROWS.0, KEPT_ROWS.1, KEPT_CELLS)),
            tally: Tally::new(setting.rule, setting.reference),
            sample: Sample::new(setting.seed, sample),
            scores: Scores::default(),
            columns: Vec::new(),
            // What an earlier run had found is not shown.
            known: judged::COLUMNS.map(str::to_owned).into(),
            n_rows: 0,
            truths: None,
            setting,
        }
    }

    /// The next rows, with what was found about them and, if known, which of them are anomalies.
    ///
    /// # Panics
    /// If there is not one finding, or not one truth, for every row: a bug of the caller, not of the data.
    pub fn add(
        &mut self,
        batch: &RecordBatch,
        findings: &Findings,
        truths: Option<&[bool]>,
    ) -> Result<(), Error> {
        assert_eq!(batch.num_rows(), findings.scores.len(), "one score per row");
        assert!(truths.is_none_or(|truths| truths.len() == batch.num_rows()), "one truth per row");
        let truth = |row: usize| truths.map(|truths| truths[row]);
        for (row, (&score, &p)) in findings.scores.iter().zip(&findings.p_values).enumerate() {
            self.scores.add(score);
            self.tally.add(score, p, truth(row));
        }
        if let Some(truths) = truths {
            let all = self.truths.get_or_insert_default();
            all.scores.extend_from_slice(&findings.scores);
            all.anomalous.extend_from_slice(truths);
        }
        self.keep(batch, findings, truth)?;
        self.n_rows += batch.num_rows();
        Ok(())
    }

    /// Keeps the rows that belong to the oddest or to the sample.
    fn keep(
        &mut self,
        batch: &RecordBatch,
        findings: &Findings,
        truth: impl Fn(usize) -> Option<bool>,
    ) -> Result<(), Error> {
        let Setting { encoder, origin, .. } = self.setting;
        let first_row = self.n_rows;
        let odd = self.oddest.candidates(&findings.scores);
        let sampled = self.sample.candidates(first_row, batch.num_rows());
        let rows: Vec<usize> =
            odd.iter().chain(&sampled).copied().collect::<BTreeSet<_>>().into_iter().collect();
        if rows.is_empty() {
            return Ok(());
        }
        let features = encoded(encoder, batch, &rows, first_row, origin)?;
        let features_of = |row: usize| {
            let at = rows.binary_search(&row).expect("every kept row is encoded");
            features.row(at).to_vec()
        };
        self.know_columns(batch);
        let arrays: Vec<Option<&ArrayRef>> =
            self.columns.iter().map(|name| batch.column_by_name(name)).collect();
        let whole = Rows::new(batch.clone(), first_row, origin);
        let matched = encoder.matched(&whole)?;
        let explainer = Explainer::new(encoder, &whole, &matched);
        for row in odd {
            let mut kept = KeptRow {
                row: first_row + row + 1,
                score: findings.scores[row],
                p: findings.p_values[row],
                truth: truth(row),
                cells: oddest::cells(&arrays, row),
                features: features_of(row),
                ..KeptRow::default()
            };
            if let Some(cells) = &findings.cells {
                oddest::explain(&mut kept, encoder, &explainer, row, cells.row(row))?;
            }
            self.oddest.put(kept);
        }
        for row in sampled {
            let (score, p) = (findings.scores[row], findings.p_values[row]);
            self.sample.put(Sampled { row: first_row + row + 1, score, p, features: features_of(row) });
        }
        Ok(())
    }

    /// Columns in the order in which they first appear; keys of JSON lines may come late.
    fn know_columns(&mut self, batch: &RecordBatch) {
        for field in batch.schema_ref().fields() {
            if self.known.insert(field.name().clone()) {
                self.columns.push(field.name().clone());
            }
        }
    }

    /// The page. The map is worked out here, on the threads of the rayon pool it is called from.
    pub fn finish(self, about: About, source: MapSource<'_>) -> Result<Report, Error> {
        let rows = self.oddest.into_rows();
        let map = map::map(source, &self.sample.into_rows(), &rows, self.setting.seed)?;
        let thresholds = self.tally.thresholds(&rows, self.truths.as_ref());
        Ok(Report::new(&Content {
            encoder: self.setting.encoder,
            rule: self.setting.rule,
            about,
            n_rows: self.n_rows,
            columns: self.columns,
            rows,
            thresholds,
            scores: self.scores.histogram(),
            curves: self.truths.map(|truths| truths.curves()),
            map,
        }))
    }
}

/// Some rows of a batch as features.
fn encoded(
    encoder: &Encoder,
    batch: &RecordBatch,
    rows: &[usize],
    first_row: usize,
    origin: &str,
) -> Result<Matrix, Error> {
    let indices: UInt32Array = rows.iter().map(|&row| row as u32).collect();
    let some = take_record_batch(batch, &indices).expect("rows of the batch itself");
    Ok(encoder.encode(&Rows::new(some, first_row, origin))?.matrix)
}
