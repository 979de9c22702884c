//! Judges all rows of a stream or a table, shows them to observers, and passes them to a sink with verdicts.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch, cast::AsArray, types::Float64Type};
use arrow_select::filter::filter_record_batch;

use super::{
    Collected, Judge, Judgement, Observer, P, ReasonForm, SCORE, Sink, Spool, Truths, VERDICT,
    columns::{judged_batch, reasons, with_verdicts},
    in_order::in_order,
    spool::Waiting,
};
use crate::{
    Error, Monitor, Progress, Silent,
    context::{Stage, timed},
    encode::{Encoded, Surprises},
    error::FitError,
    table::{Rows, TableError},
    verdict::{Cutoff, FirstPass, Rule},
};

/// The most rows judged at a time; their data fits into the second-level cache.
const PIECE_ROWS: usize = 2_048;

/// Judges rows by a rule. The other fields request more than scores and verdicts.
#[derive(Clone, Copy)]
pub struct Scorer<'a> {
    /// The model or detection that judges.
    pub judge: &'a dyn Judge,
    /// Which rows are called odd.
    pub rule: Rule,
    /// Whether observers need the noise of cells. Reasons include it.
    pub cells: bool,
    /// The form of the reasons of every row; `None` leaves them out.
    pub reasons: Option<ReasonForm>,
    /// Which rows are anomalies, if known.
    pub truths: Truths<'a>,
    /// Which rows go to the sink; `None`: all.
    pub only: Option<Only>,
    /// Where rows wait if the rule must see all rows first.
    pub spool: Spool,
    /// Watches the work and may stop it.
    pub monitor: &'a dyn Monitor,
}

/// Which judged rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Rows called odd.
    Odd,
    /// Rows not called odd.
    Normal,
}

/// The result of judging.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Rows judged.
    pub n_rows: usize,
    /// Rows called odd.
    pub n_odd: usize,
    /// Cells unlike anything in training, counted by column.
    pub surprises: Surprises,
}

impl std::fmt::Debug for Scorer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Scorer").field("rule", &self.rule).finish_non_exhaustive()
    }
}

impl<'a> Scorer<'a> {
    /// Judges by `rule` and does nothing else.
    #[must_use]
    pub fn new(judge: &'a dyn Judge, rule: Rule) -> Self {
        Self {
            judge,
            rule,
            cells: false,
            reasons: None,
            truths: Truths::Unknown,
            only: None,
            spool: Spool::Memory,
            monitor: &Silent,
        }
    }

    /// Judges one batch, without a verdict.
    pub fn judgement(&self, rows: Rows) -> Result<Judgement, Error> {
        let want_cells = self.cells || self.reasons.is_some();
        let Encoded { matrix: features, surprises, columns } =
            timed(self.monitor, Stage::Encoding, || self.judge.encoder().encode(&rows))?;
        let findings =
            timed(self.monitor, Stage::Judging, || self.judge.findings(&rows, &features, want_cells))?;
        let truths = self.truths.of(&rows)?;
        let mut judgement = Judgement { rows, features, findings, surprises, truths, reasons: None, columns };
        if let (Some(form), Some(cells)) = (self.reasons, &judgement.findings.cells) {
            let explainer = judgement.explainer(self.judge);
            judgement.reasons =
                Some(timed(self.monitor, Stage::Reasons, || reasons(&explainer, cells, form))?);
        }
        Ok(judgement)
    }

    /// Judges all `batches` of the table called `origin`, on the threads of the calling rayon pool. `observers`
    /// see the rows in order; `sink` gets them with their verdicts, also in order.
    pub fn run(
        &self,
        origin: &str,
        batches: impl Iterator<Item = Result<RecordBatch, TableError>> + Send,
        observers: &mut [&mut dyn Observer],
        sink: Option<&mut dyn Sink>,
    ) -> Result<Outcome, Error> {
        self.truths.check(self.judge)?;
        let mut end = End::new(self, sink);
        let mut outcome = Outcome {
            surprises: Surprises::none(self.judge.encoder().columns().len()),
            ..Outcome::default()
        };
        let mut batches = batches;
        let batches = std::iter::from_fn(move || timed(self.monitor, Stage::Reading, || batches.next()));
        let take = |judgement: Judgement| {
            if self.monitor.cancelled() {
                return Err(FitError::Cancelled.into());
            }
            outcome.n_rows += judgement.rows.n_rows();
            outcome.surprises.add(&judgement.surprises);
            timed(self.monitor, Stage::Observing, || {
                observers.iter_mut().try_for_each(|observer| observer.observe(self.judge, &judgement))
            })?;
            timed(self.monitor, Stage::Writing, || end.take(judgement))
        };
        in_order(pieces(origin, batches), |rows| self.judgement(rows), take)?;
        outcome.n_odd = timed(self.monitor, Stage::Writing, || end.finish())?;
        Ok(outcome)
    }

    /// Judges all rows of batches in memory and returns what was found.
    pub fn collect(
        &self,
        origin: &str,
        batches: &[RecordBatch],
        observers: &mut [&mut dyn Observer],
    ) -> Result<(Collected, Outcome), Error> {
        let total = batches.iter().map(RecordBatch::num_rows).sum();
        let mut progress = Count { monitor: self.monitor, done: 0, total };
        let mut all: Vec<&mut dyn Observer> = vec![&mut progress];
        all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
        let mut collected = Collected::default();
        let outcome = self.run(origin, batches.iter().cloned().map(Ok), &mut all, Some(&mut collected))?;
        Ok((collected, outcome))
    }
}

/// Reports to a monitor how many rows are done.
struct Count<'a> {
    monitor: &'a dyn Monitor,
    done: usize,
    total: usize,
}

impl Observer for Count<'_> {
    fn observe(&mut self, _: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        self.done += judgement.rows.n_rows();
        self.monitor.advanced(Progress { done: self.done, total: self.total, loss: None });
        Ok(())
    }
}

/// Cuts `batches` into pieces of at most [`PIECE_ROWS`] rows, each with the number of rows before it.
fn pieces(
    origin: &str,
    batches: impl Iterator<Item = Result<RecordBatch, TableError>> + Send,
) -> impl Iterator<Item = Result<Rows, Error>> + Send {
    let origin: Arc<str> = origin.into();
    let mut first_row = 0;
    batches.flat_map(move |batch| {
        let whole = match batch {
            Ok(batch) => Rows::new(batch, first_row, Arc::clone(&origin)),
            Err(error) => return vec![Err(error.into())],
        };
        let n_rows = whole.n_rows();
        first_row += n_rows;
        // A batch without rows is one piece.
        let starts = (0..n_rows.max(1)).step_by(PIECE_ROWS);
        starts.map(|start| Ok(whole.slice(start, PIECE_ROWS.min(n_rows - start)))).collect()
    })
}

/// The last step: gives verdicts and puts rows into the sink.
struct End<'a> {
    only: Option<Only>,
    form: ReasonForm,
    pass: Pass,
    sink: Option<&'a mut dyn Sink>,
    n_odd: usize,
}

enum Pass {
    /// Every row gets its verdict at once.
    Straight(Cutoff),
    /// The rule must see all rows before the first verdict.
    Two { first: FirstPass, waiting: Waiting },
}

impl<'a> End<'a> {
    fn new(scorer: &Scorer<'_>, sink: Option<&'a mut dyn Sink>) -> Self {
        let mut first = FirstPass::new(scorer.rule, || scorer.judge.reference());
        let pass = match scorer.judge.known() {
            None if scorer.rule.needs_two_passes() => {
                Pass::Two { first, waiting: Waiting::new(scorer.spool) }
            }
            known => {
                if let Some(all) = known {
                    first.observe_all(&all.scores, &all.p_values);
                }
                Pass::Straight(first.decide())
            }
        };
        let form = scorer.reasons.unwrap_or(ReasonForm::Text);
        Self { only: scorer.only, form, pass, sink, n_odd: 0 }
    }

    fn take(&mut self, judgement: Judgement) -> Result<(), Error> {
        let Judgement { rows, findings, .. } = &judgement;
        match &mut self.pass {
            Pass::Straight(cutoff) => {
                let verdicts = cutoff.verdicts(rows.first_row, &findings.scores, &findings.p_values);
                self.n_odd += count(&verdicts);
                let Some(sink) = &mut self.sink else { return Ok(()) };
                put(*sink, self.only, judged_batch(judgement, verdicts, self.form))
            }
            Pass::Two { first, waiting } => {
                first.observe_all(&findings.scores, &findings.p_values);
                if self.sink.is_none() {
                    return Ok(());
                }
                // `finish` fills in the verdicts.
                let unknown = vec![false; rows.n_rows()];
                waiting.push(judged_batch(judgement, unknown, self.form))
            }
        }
    }

    /// Hands out the rows that waited; returns the number of rows called odd.
    fn finish(self) -> Result<usize, Error> {
        match self.pass {
            Pass::Straight(_) => Ok(self.n_odd),
            Pass::Two { first, waiting } => {
                let n_odd = first.n_odd();
                let Some(sink) = self.sink else { return Ok(n_odd) };
                let cutoff = first.decide();
                let mut first_row = 0;
                waiting.for_each(|judged| {
                    let verdicts = cutoff.verdicts(first_row, floats(&judged, SCORE), floats(&judged, P));
                    first_row += judged.num_rows();
                    put(sink, self.only, with_verdicts(&judged, verdicts))
                })?;
                Ok(n_odd)
            }
        }
    }
}

/// Puts the wanted rows into the sink.
fn put(sink: &mut dyn Sink, only: Option<Only>, judged: RecordBatch) -> Result<(), Error> {
    let Some(only) = only else { return sink.put(judged) };
    let odd = judged.column_by_name(VERDICT).expect("judged rows have verdicts").as_boolean();
    let wanted: BooleanArray = odd.values().iter().map(|odd| Some(odd == (only == Only::Odd))).collect();
    sink.put(filter_record_batch(&judged, &wanted).expect("one verdict for every row"))
}

fn floats<'a>(judged: &'a RecordBatch, column: &str) -> &'a [f64] {
    let column = judged.column_by_name(column).expect("judged rows have this column");
    column.as_primitive::<Float64Type>().values()
}

fn count(verdicts: &[bool]) -> usize {
    verdicts.iter().filter(|&&odd| odd).count()
}
