//! Judges all rows of a stream or a table, shows them to observers, and passes them to a sink with verdicts.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::{
    Collected, Judge, Judgement, Observer, ReasonForm, Sink, Spool, Stream, Truths, columns::reasons,
    in_order::in_order,
};
use crate::{
    Error, Monitor, Progress, Silent,
    cells::{Batch, Explained, Sets},
    context::{Stage, go_on, timed},
    encode::{Encoded, Surprises},
    table::{Rows, TableError},
    verdict::Rule,
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
    /// Whether rows go to the sink without the input's own columns.
    pub findings_only: bool,
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
            findings_only: false,
            spool: Spool::Memory,
            monitor: &Silent,
        }
    }

    /// Judges one batch, without a verdict.
    pub fn judgement(&self, rows: Rows) -> Result<Judgement, Error> {
        let want_cells = self.cells || self.reasons.is_some();
        let Encoded { matrix: features, surprises, columns, .. } =
            timed(self.monitor, Stage::Encoding, || self.judge.encode(&rows))?;
        let findings =
            timed(self.monitor, Stage::Judging, || self.judge.findings(&rows, &features, want_cells))?;
        let truths = self.truths.of(&rows)?;
        let sets = if want_cells {
            let batch = Batch { rows: &rows, arrays: &columns, features: &features, findings: &findings };
            timed(self.monitor, Stage::Reasons, || Sets::find(self.judge, &batch, Explained::by(self.rule)))?
        } else {
            None
        };
        let mut judgement =
            Judgement { rows, features, findings, surprises, truths, sets, reasons: None, columns };
        if let Some(form) = self.reasons {
            judgement.reasons =
                timed(self.monitor, Stage::Reasons, || reasons(self.judge, &judgement, form))?;
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
        mut sink: Option<&mut dyn Sink>,
    ) -> Result<Outcome, Error> {
        let mut stream = Stream::new(self, origin)?;
        let reborrowed = sink.as_mut().map(|sink| &mut **sink as &mut dyn Sink);
        self.push(&mut stream, batches, observers, reborrowed)?;
        timed(self.monitor, Stage::Writing, || {
            let (outcome, mut waited) = stream.finish()?;
            sink.map_or(Ok(()), |sink| waited.try_for_each(|judged| sink.put(judged?)))?;
            Ok(outcome)
        })
    }

    /// Judges the next batches of `stream`, which this scorer has started. `sink` gets the rows that can be decided at
    /// once; the others wait for [`Stream::finish`]. After an error, the stream cannot go on.
    pub fn push(
        &self,
        stream: &mut Stream,
        mut batches: impl Iterator<Item = Result<RecordBatch, TableError>> + Send,
        observers: &mut [&mut dyn Observer],
        mut sink: Option<&mut dyn Sink>,
    ) -> Result<(), Error> {
        let batches = std::iter::from_fn(move || timed(self.monitor, Stage::Reading, || batches.next()));
        let (origin, first_row) = stream.position();
        let take = |judgement: Judgement| {
            go_on(self.monitor)?;
            timed(self.monitor, Stage::Observing, || {
                observers.iter_mut().try_for_each(|observer| observer.observe(self.judge, &judgement))
            })?;
            timed(self.monitor, Stage::Writing, || stream.take(judgement, &mut sink))
        };
        in_order(pieces(origin, first_row, batches), |rows| self.judgement(rows), take)
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

/// Cuts `batches`, which follow `first_row` other rows, into pieces of at most [`PIECE_ROWS`] rows, each with the
/// number of rows before it.
pub(crate) fn pieces(
    origin: Arc<str>,
    mut first_row: usize,
    batches: impl Iterator<Item = Result<RecordBatch, TableError>> + Send,
) -> impl Iterator<Item = Result<Rows, Error>> + Send {
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
