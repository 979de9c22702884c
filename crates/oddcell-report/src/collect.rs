//! Watches judged rows as they pass and keeps what the page needs.

use std::collections::BTreeSet;

use arrow_array::{ArrayRef, RecordBatch};
use oddcell::{
    Error,
    judge::{self, Judge, Judgement, Labels, Observer, Oddest},
    verdict::Rule,
};

use crate::{
    curves, map,
    oddest::{self, KeptRow},
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

/// What the page says about itself.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// The table that was judged.
    pub data: String,
    /// The model file, if there is one.
    pub model: Option<String>,
    /// The detector's name.
    pub detector: String,
    /// The seed it was fitted with.
    pub seed: u64,
    /// When it was fitted, as a reader should see it.
    pub trained: Option<String>,
    /// When the page was made, as a reader should see it.
    pub made: Option<String>,
    /// Anything else a reader should know.
    pub notes: Vec<String>,
}

/// Collects what a report shows from judged rows as they pass.
pub struct Collector<'a> {
    judge: &'a dyn Judge,
    rule: Rule,
    /// The names of the columns shown, in order, and for looking them up.
    columns: Vec<String>,
    known: BTreeSet<String>,
    n_rows: usize,
    oddest: Oddest<KeptRow>,
    scores: Scores,
    tally: Tally,
    sample: Sample,
    labels: Labels,
}

impl std::fmt::Debug for Collector<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Collector").field("rule", &self.rule).finish_non_exhaustive()
    }
}

impl<'a> Collector<'a> {
    /// Starts a page about rows that `judge` judges; `rule` says which of them are odd.
    #[must_use]
    pub fn new(judge: &'a dyn Judge, rule: Rule) -> Self {
        let encoder = judge.encoder();
        let width = encoder.n_features().max(encoder.columns().len() + encoder.left_out().len()).max(1);
        let rows = |most: usize, least: usize, room: usize| (room / width).clamp(least, most);
        let sample = rows(SAMPLED_ROWS.0, SAMPLED_ROWS.1, SAMPLED_FEATURES);
        Self {
            judge,
            rule,
            oddest: Oddest::new(rows(KEPT_ROWS.0, KEPT_ROWS.1, KEPT_CELLS)),
            tally: Tally::new(rule, &judge.reference()),
            sample: Sample::new(judge.seed(), sample),
            scores: Scores::default(),
            columns: Vec::new(),
            // The findings of an earlier run are not shown.
            known: judge::COLUMNS.map(str::to_owned).into(),
            n_rows: 0,
            labels: Labels::default(),
        }
    }

    /// Keeps the rows that belong to the oddest or to the sample.
    fn keep(&mut self, judgement: &Judgement) -> Result<(), Error> {
        let Judgement { rows, features, findings, truths, .. } = judgement;
        let odd = self.oddest.candidates(rows.first_row, &findings.scores);
        let sampled = self.sample.candidates(rows.first_row, rows.n_rows());
        if odd.is_empty() && sampled.is_empty() {
            return Ok(());
        }
        self.know_columns(&rows.batch);
        let arrays: Vec<Option<&ArrayRef>> =
            self.columns.iter().map(|name| rows.batch.column_by_name(name)).collect();
        let explainer = judgement.explainer(self.judge);
        for row in odd {
            let mut kept = KeptRow {
                row: rows.first_row + row + 1,
                score: findings.scores[row],
                p: findings.p_values[row],
                truth: truths.as_ref().map(|truths| truths[row]),
                cells: oddest::cells(&arrays, row),
                features: features.row(row).to_vec(),
                ..KeptRow::default()
            };
            oddest::explain(&mut kept, &explainer, row, judgement)?;
            self.oddest.put(rows.first_row + row, findings.scores[row], kept);
        }
        for row in sampled {
            self.sample.put(Sampled {
                row: rows.first_row + row + 1,
                score: findings.scores[row],
                p: findings.p_values[row],
                features: features.row(row).to_vec(),
            });
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

    /// Makes the page. The map is computed here, on the threads of the rayon pool this is called from; with `noised` it
    /// also shows some rows with the noise that the detector was trained with.
    pub fn finish(self, about: About, noised: bool) -> Result<Report, Error> {
        let rows = self.oddest.into_rows();
        let noise = self.judge.spec().noise().filter(|_| noised);
        let (sample, seed) = (self.sample.into_rows(), self.judge.seed());
        let coordinates = self.judge.encoder().coordinates();
        let map = map::map(self.judge.fitted(), noise.as_ref(), &sample, &rows, &coordinates, seed)?;
        let thresholds = self.tally.thresholds(&rows, &self.labels);
        Ok(Report::new(&Content {
            encoder: self.judge.encoder(),
            unit: self.judge.cell_unit(),
            rule: self.rule,
            about,
            n_rows: self.n_rows,
            columns: self.columns,
            rows,
            thresholds,
            scores: self.scores.histogram(),
            curves: (!self.labels.scores.is_empty()).then(|| curves::curves(&self.labels)),
            map,
        }))
    }
}

impl Observer for Collector<'_> {
    fn observe(&mut self, judge: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        let Judgement { rows, findings, truths, .. } = judgement;
        for (row, (&score, &p)) in findings.scores.iter().zip(&findings.p_values).enumerate() {
            self.scores.add(score);
            self.tally.add(score, p, truths.as_ref().map(|truths| truths[row]));
        }
        self.labels.observe(judge, judgement)?;
        self.keep(judgement)?;
        self.n_rows += rows.n_rows();
        Ok(())
    }
}
