//! A table that arrives batch by batch: each row leaves with its verdict at once, or waits until all rows have been
//! seen.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch, cast::AsArray, types::Float64Type};
use arrow_select::filter::filter_record_batch;

use super::{
    Judgement, Only, Outcome, P, ReasonForm, SCORE, Scorer, Sink, Spool, VERDICT,
    columns::{judged_batch, with_verdicts},
    spool::Waiting,
};
use crate::{
    Error,
    encode::Surprises,
    verdict::{Cutoff, FirstPass},
};

/// The state of judging between two batches. It borrows nothing, so a service can keep it.
///
/// ```
/// use oddcell::{Context, DetectorSpec, Model, Seed, Table, demo, model::FitOptions, verdict::Rule};
/// use oddcell::{judge::{Scorer, Stream}, table::{ReadOptions, TableReader}};
///
/// # fn main() -> Result<(), oddcell::Error> {
/// let csv = demo::orders(300, 0, Seed(1)).csv.into_bytes();
/// let table = Table::from_reader(TableReader::from_bytes("orders", csv, &ReadOptions::default())?)?;
/// let knn = FitOptions::new(DetectorSpec::new("knn", None)?);
/// let model = Model::fit(&table, &knn, &Context::silent(Seed(0)))?;
///
/// let scorer = Scorer::new(&model, Rule::top(5)?);
/// let mut stream = Stream::new(&scorer, "orders")?;
/// let mut judged = Vec::new();
/// for batch in table.batches {
///     scorer.push(&mut stream, [Ok(batch)].into_iter(), &mut [], Some(&mut judged))?;
/// }
/// assert!(stream.waits() && judged.is_empty()); // The five oddest rows are known at the end.
/// let (outcome, waited) = stream.finish()?;
/// let judged: Vec<_> = waited.collect::<Result<_, _>>()?;
/// assert_eq!((outcome.n_rows, outcome.n_odd), (300, 5));
/// assert!(judged[0].column_by_name("odd_verdict").is_some());
/// # Ok(())
/// # }
/// ```
pub struct Stream {
    origin: Arc<str>,
    only: Option<Only>,
    findings_only: bool,
    form: ReasonForm,
    pass: Pass,
    outcome: Outcome,
}

enum Pass {
    /// Every row gets its verdict at once.
    Straight(Cutoff),
    /// The rule must see all rows before the first verdict.
    Two { first: FirstPass, waiting: Waiting },
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Stream").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

impl Stream {
    /// Starts to judge the table called `origin`. Its batches go to [`Scorer::push`] of the same scorer.
    pub fn new(scorer: &Scorer<'_>, origin: &str) -> Result<Self, Error> {
        scorer.truths.check(scorer.judge)?;
        let mut first = FirstPass::new(scorer.rule, || scorer.judge.reference());
        let pass = match scorer.judge.known() {
            None if scorer.rule.needs_two_passes() => {
                Pass::Two { first, waiting: Waiting::new(scorer.spool) }
            }
            known => {
                if let Some(all) = known {
                    first.observe(&all.scores, &all.p_values);
                }
                Pass::Straight(first.decide())
            }
        };
        let surprises = Surprises::none(scorer.judge.encoder().columns().len());
        Ok(Self {
            origin: origin.into(),
            only: scorer.only,
            findings_only: scorer.findings_only,
            form: scorer.reasons.unwrap_or(ReasonForm::Text),
            pass,
            outcome: Outcome { surprises, ..Outcome::default() },
        })
    }

    /// Whether rows wait until all rows have been seen.
    #[must_use]
    pub fn waits(&self) -> bool {
        matches!(self.pass, Pass::Two { .. })
    }

    /// The table's name and the number of rows so far.
    pub(super) fn position(&self) -> (Arc<str>, usize) {
        (Arc::clone(&self.origin), self.outcome.n_rows)
    }

    /// Takes the next rows: decides them or lets them wait. Without a sink, only counts them.
    pub(super) fn take(
        &mut self,
        mut judgement: Judgement,
        sink: &mut Option<&mut dyn Sink>,
    ) -> Result<(), Error> {
        self.outcome.n_rows += judgement.rows.n_rows();
        self.outcome.surprises.add(&judgement.surprises);
        if self.findings_only {
            judgement.rows.batch = judgement.rows.batch.project(&[]).expect("no column is out of bounds");
        }
        let Judgement { rows, findings, .. } = &judgement;
        match &mut self.pass {
            Pass::Straight(cutoff) => {
                let verdicts = cutoff.verdicts(rows.first_row, &findings.scores, &findings.p_values);
                self.outcome.n_odd += verdicts.iter().filter(|&&odd| odd).count();
                let Some(sink) = sink else { return Ok(()) };
                sink.put(wanted(self.only, judged_batch(judgement, verdicts, self.form)))
            }
            Pass::Two { first, waiting } => {
                first.observe(&findings.scores, &findings.p_values);
                if sink.is_none() {
                    return Ok(());
                }
                // `finish` fills in the verdicts.
                let unknown = vec![false; rows.n_rows()];
                waiting.push(judged_batch(judgement, unknown, self.form))
            }
        }
    }

    /// Ends the stream: the outcome, and the rows that waited, with their verdicts and in order.
    pub fn finish(
        self,
    ) -> Result<(Outcome, impl Iterator<Item = Result<RecordBatch, Error>> + Send + Sync + use<>), Error>
    {
        let Self { only, pass, mut outcome, .. } = self;
        let (cutoff, waiting) = match pass {
            Pass::Straight(cutoff) => (cutoff, Waiting::new(Spool::Memory)),
            Pass::Two { first, waiting } => {
                outcome.n_odd = first.n_odd();
                (first.decide(), waiting)
            }
        };
        let mut first_row = 0;
        let decided = waiting.batches()?.map(move |judged| {
            let judged = judged?;
            let verdicts = cutoff.verdicts(first_row, floats(&judged, SCORE), floats(&judged, P));
            first_row += judged.num_rows();
            Ok(wanted(only, with_verdicts(&judged, verdicts)))
        });
        Ok((outcome, decided))
    }
}

/// The rows that are wanted.
fn wanted(only: Option<Only>, judged: RecordBatch) -> RecordBatch {
    let Some(only) = only else { return judged };
    let odd = judged.column_by_name(VERDICT).expect("judged rows have verdicts").as_boolean();
    let wanted: BooleanArray = odd.values().iter().map(|odd| Some(odd == (only == Only::Odd))).collect();
    filter_record_batch(&judged, &wanted).expect("one verdict for every row")
}

fn floats<'a>(judged: &'a RecordBatch, column: &str) -> &'a [f64] {
    let column = judged.column_by_name(column).expect("judged rows have this column");
    column.as_primitive::<Float64Type>().values()
}
