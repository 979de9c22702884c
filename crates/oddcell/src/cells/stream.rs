//! Judges the cells of a table of any length, and calls the odd ones.
//!
//! *How:* a level decides about a cell at once. A false-discovery rate and the k oddest need to know all cells first. They are
//! judged in two passes: the first one takes every cell as it stands, and keeps only how often each small p-value occurs (or
//! the oddest p-values). That gives a bound above which no cell can be called, because a cell never gets odder when a wrong
//! one beside it is replaced. So the second pass looks closely only at the rows that have a cell up to the bound; they wait in
//! a [`Spool`] until then. What it finds waits there, too, until the rule has decided.
//!
//! *Invariants:* the called cells are those of [`judge_table`](super::judge_table), to the bit, in any batches and on any number
//! of threads · memory does not grow with the rows of a stream, if they wait on disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, UInt64Array,
    cast::AsArray,
    types::{Float64Type, UInt64Type},
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::take::take_record_batch;

use super::{
    CalledCell,
    judge::{Piece, judge_piece, most_p},
    long::{from_spooled, spooled},
};
use crate::{
    Error, Matrix, Monitor, Silent,
    context::{Stage, go_on, timed},
    encode::{Encoded, Surprises},
    error::ParamError,
    judge::{Judge, Spool, Waiting, in_order, pieces},
    table::{Rows, TableError},
    verdict::{Rule, benjamini_hochberg},
};

/// Judges cells by a rule.
#[derive(Clone, Copy)]
pub struct CellScorer<'a> {
    /// The model or detection that judges.
    pub judge: &'a dyn Judge,
    /// Which cells are called odd: [`Rule::Alpha`], [`Rule::Fdr`] or [`Rule::Top`].
    pub rule: Rule,
    /// Where rows wait if the rule must see all cells first.
    pub spool: Spool,
    /// Watches the work and may stop it.
    pub monitor: &'a dyn Monitor,
}

impl std::fmt::Debug for CellScorer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CellScorer").field("rule", &self.rule).finish_non_exhaustive()
    }
}

/// The result of judging cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellOutcome {
    /// Rows judged.
    pub n_rows: usize,
    /// Cells judged.
    pub n_cells: usize,
    /// Cells called odd.
    pub n_odd: usize,
    /// Rows with a cell that is called odd.
    pub n_odd_rows: usize,
    /// The smallest p-value of a cell as it stands; 1 if there is none.
    pub least_p: f64,
    /// Cells unlike anything in training, counted by column.
    pub surprises: Surprises,
}

/// Sees cells that may be called, before the rule has decided.
pub trait CellObserver: Send {
    /// The rows of `batch` have these `numbers` in the table, counted from 0; it has the encoder's columns at least. `cells` are
    /// those that may be called, in row order.
    fn observe(
        &mut self,
        judge: &dyn Judge,
        batch: &RecordBatch,
        numbers: &[usize],
        cells: &[CalledCell],
    ) -> Result<(), Error>;

    /// So many more rows were read.
    fn read(&mut self, _n_rows: usize) {}
}

/// Takes called cells, in row order.
pub type CellSink<'a> = dyn FnMut(Vec<CalledCell>) -> Result<(), Error> + Send + 'a;

/// Some rows as they stand.
struct Seen {
    rows: Rows,
    surprises: Surprises,
    p_values: Matrix,
}

/// Rows that the second pass looks at.
struct Chosen {
    rows: Rows,
    numbers: Vec<usize>,
}

impl<'a> CellScorer<'a> {
    /// Judges by `rule`, with everything in memory.
    #[must_use]
    pub fn new(judge: &'a dyn Judge, rule: Rule) -> Self {
        Self { judge, rule, spool: Spool::Memory, monitor: &Silent }
    }

    /// Judges all cells of the table called `origin`, on the threads of the calling rayon pool. `sink` gets those called odd.
    /// `None` if the judge does not judge cells.
    pub fn run(
        &self,
        origin: &str,
        batches: impl Iterator<Item = Result<RecordBatch, TableError>> + Send,
        observers: &mut [&mut dyn CellObserver],
        sink: &mut CellSink<'_>,
    ) -> Result<Option<CellOutcome>, Error> {
        if self.judge.expects(0).is_none() {
            return Ok(None);
        }
        let n_columns = self.judge.encoder().columns().len();
        let mut outcome =
            CellOutcome { least_p: 1.0, surprises: Surprises::none(n_columns), ..CellOutcome::default() };
        let monitor = self.monitor;
        let mut batches = batches;
        let batches = std::iter::from_fn(move || timed(monitor, Stage::Reading, || batches.next()));
        let pieces = pieces(origin.into(), 0, batches);
        match self.rule {
            Rule::Alpha(alpha) => {
                let work = |rows: Rows| {
                    let seen = self.see(rows.clone())?;
                    let numbers: Vec<usize> = (rows.first_row..rows.first_row + rows.n_rows()).collect();
                    let chosen = Chosen { rows, numbers };
                    let found = self.look(&chosen, alpha)?;
                    Ok((seen, chosen, found))
                };
                in_order(pieces, work, |(seen, chosen, found)| {
                    go_on(monitor)?;
                    outcome.see(&seen, observers);
                    timed(monitor, Stage::Observing, || self.show(observers, &chosen, &found.candidates))?;
                    outcome.call(found.candidates, sink)
                })?;
            }
            Rule::Fdr(fdr) => {
                let mut counts = Counts::default();
                let first = |seen: &Seen| counts.add(seen.p_values.values(), fdr);
                let waiting = self.first_pass(pieces, observers, &mut outcome, first)?;
                let n_cells = outcome.n_cells as u64;
                let Some(bound) = counts.bound(fdr, n_cells) else { return Ok(Some(outcome)) };
                let (mut counts, mut called) = (Counts::default(), Waiting::new(self.spool));
                self.second_pass(origin, waiting, bound, |chosen, found| {
                    counts.add(found.findings.p_values.values(), bound);
                    timed(monitor, Stage::Observing, || self.show(observers, chosen, &found.candidates))?;
                    if found.candidates.is_empty() { Ok(()) } else { called.push(spooled(&found.candidates)) }
                })?;
                let bound = counts.bound(fdr, n_cells).unwrap_or(f64::NEG_INFINITY);
                for batch in called.batches()? {
                    let cells = from_spooled(&batch?).into_iter().filter(|cell| cell.p_value <= bound);
                    outcome.call(cells.collect(), sink)?;
                }
            }
            Rule::Top(k) => {
                let mut oddest = Least::new(k.saturating_mul(SPARE));
                let first = |seen: &Seen| oddest.add(seen.p_values.values());
                let waiting = self.first_pass(pieces, observers, &mut outcome, first)?;
                let mut called: BTreeMap<Oddness, CalledCell> = BTreeMap::new();
                self.second_pass(origin, waiting, oddest.bound(), |chosen, found| {
                    timed(monitor, Stage::Observing, || self.show(observers, chosen, &found.candidates))?;
                    for cell in found.candidates {
                        called.insert(Oddness::of(&cell), cell);
                        if called.len() > k {
                            called.pop_last();
                        }
                    }
                    Ok(())
                })?;
                let mut cells: Vec<CalledCell> = called.into_values().collect();
                // Stable, so the oddest of a row stays first.
                cells.sort_by_key(|cell| cell.row);
                outcome.call(cells, sink)?;
            }
            Rule::Contamination(share) => {
                let allowed = "left out: cells are called by alpha, fdr or top";
                let got = share.to_string();
                return Err(ParamError::OutOfRange { name: "contamination", got, allowed }.into());
            }
        }
        Ok(Some(outcome))
    }

    /// Judges all cells of batches in memory and returns those called odd. `None` if the judge does not judge cells.
    pub fn collect(
        &self,
        origin: &str,
        batches: &[RecordBatch],
    ) -> Result<Option<(Vec<CalledCell>, CellOutcome)>, Error> {
        let mut called = Vec::new();
        let mut sink = |cells: Vec<CalledCell>| {
            called.extend(cells);
            Ok(())
        };
        let outcome = self.run(origin, batches.iter().cloned().map(Ok), &mut [], &mut sink)?;
        Ok(outcome.map(|outcome| (called, outcome)))
    }

    /// Every cell as it stands.
    fn see(&self, rows: Rows) -> Result<Seen, Error> {
        let Encoded { matrix, surprises, .. } =
            timed(self.monitor, Stage::Encoding, || self.judge.encode(&rows))?;
        let numbers: Vec<usize> = (rows.first_row..rows.first_row + rows.n_rows()).collect();
        let found = timed(self.monitor, Stage::Judging, || self.judge.cells(&numbers, &matrix))?;
        Ok(Seen { p_values: found.expect("the judge judges cells").p_values, rows, surprises })
    }

    /// The odd cells of rows, once the odder ones beside them are replaced.
    fn look(&self, chosen: &Chosen, most_p: f64) -> Result<Piece, Error> {
        let Chosen { rows, numbers } = chosen;
        let found = timed(self.monitor, Stage::Reasons, || judge_piece(self.judge, rows, numbers, most_p))?;
        Ok(found.expect("the judge judges cells"))
    }

    fn show(
        &self,
        observers: &mut [&mut dyn CellObserver],
        chosen: &Chosen,
        cells: &[CalledCell],
    ) -> Result<(), Error> {
        let Chosen { rows, numbers } = chosen;
        observers
            .iter_mut()
            .try_for_each(|observer| observer.observe(self.judge, &rows.batch, numbers, cells))
    }

    /// Sees every cell as it stands. Returns the rows that may have odd cells.
    fn first_pass(
        &self,
        pieces: impl Iterator<Item = Result<Rows, Error>> + Send,
        observers: &mut [&mut dyn CellObserver],
        outcome: &mut CellOutcome,
        mut first: impl FnMut(&Seen),
    ) -> Result<Waiting, Error> {
        let mut waiting = Waiting::new(self.spool);
        let most_p = most_p(self.rule);
        in_order(
            pieces,
            |rows| self.see(rows),
            |seen| {
                go_on(self.monitor)?;
                outcome.see(&seen, observers);
                first(&seen);
                match self.waiting(&seen, most_p) {
                    Some(batch) => waiting.push(batch),
                    None => Ok(()),
                }
            },
        )?;
        Ok(waiting)
    }

    /// The rows with a cell whose p-value is at most `most_p`; before their columns their numbers and smallest p-values.
    fn waiting(&self, seen: &Seen, most_p: f64) -> Option<RecordBatch> {
        let Seen { rows, p_values, .. } = seen;
        let least: Vec<f64> = p_values.rows().map(|row| row.iter().copied().fold(1.0, f64::min)).collect();
        let some: Vec<u64> =
            (0..least.len()).filter(|&row| least[row] <= most_p).map(|row| row as u64).collect();
        if some.is_empty() {
            return None;
        }
        let numbers: UInt64Array = (0..least.len()).map(|row| Some((rows.first_row + row) as u64)).collect();
        let schema = rows.batch.schema();
        let field =
            |column: &crate::encode::EncodedColumn| schema.index_of(column.name()).expect("it was read");
        let columns: Vec<usize> = self.judge.encoder().columns().iter().map(field).collect();
        let own: [ArrayRef; 2] = [Arc::new(numbers), Arc::new(Float64Array::from(least))];
        let arrays =
            own.into_iter().chain(columns.iter().map(|&column| Arc::clone(rows.batch.column(column))));
        let fields = [Field::new("row", DataType::UInt64, false), Field::new("p", DataType::Float64, false)];
        let fields = fields.into_iter().chain(columns.iter().map(|&column| schema.field(column).clone()));
        let all = RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), arrays.collect())
            .expect("columns of one length");
        // A detection looks its rows up by their numbers: they stay together.
        if self.judge.known().is_some() {
            return Some(all);
        }
        Some(take_record_batch(&all, &UInt64Array::from(some)).expect("rows of the batch"))
    }

    /// Looks closely at the rows that wait and have a cell up to `bound`.
    fn second_pass(
        &self,
        origin: &str,
        waiting: Waiting,
        bound: f64,
        mut take: impl FnMut(&Chosen, Piece) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stay_together = self.judge.known().is_some();
        let chosen = |batch: Result<RecordBatch, Error>| {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            };
            let least = batch.column(1).as_primitive::<Float64Type>();
            let some: UInt64Array = (0..batch.num_rows())
                .filter(|&row| least.value(row) <= bound)
                .map(|row| Some(row as u64))
                .collect();
            if some.is_empty() {
                return None;
            }
            let batch = if stay_together {
                batch
            } else {
                take_record_batch(&batch, &some).expect("rows of the batch")
            };
            let numbers = batch
                .column(0)
                .as_primitive::<UInt64Type>()
                .values()
                .iter()
                .map(|&row| row as usize)
                .collect::<Vec<_>>();
            let own: Vec<usize> = (2..batch.num_columns()).collect();
            let batch = batch.project(&own).expect("its columns");
            Some(Ok(Chosen { rows: Rows::new(batch, numbers[0], origin), numbers }))
        };
        let source = waiting.batches()?.filter_map(chosen);
        in_order(
            source,
            |chosen| Ok((self.look(&chosen, bound)?, chosen)),
            |(found, chosen)| {
                go_on(self.monitor)?;
                take(&chosen, found)
            },
        )
    }
}

impl CellOutcome {
    fn see(&mut self, seen: &Seen, observers: &mut [&mut dyn CellObserver]) {
        self.n_rows += seen.rows.n_rows();
        self.n_cells += seen.p_values.values().len();
        self.least_p = seen.p_values.values().iter().copied().fold(self.least_p, f64::min);
        self.surprises.add(&seen.surprises);
        for observer in observers.iter_mut() {
            observer.read(seen.rows.n_rows());
        }
    }

    /// Counts called cells, which come row by row, and passes them on.
    fn call(&mut self, cells: Vec<CalledCell>, sink: &mut CellSink<'_>) -> Result<(), Error> {
        if cells.is_empty() {
            return Ok(());
        }
        self.n_odd += cells.len();
        self.n_odd_rows += cells.chunk_by(|one, other| one.row == other.row).count();
        sink(cells)
    }
}

/// How often small p-values occur.
#[derive(Default)]
struct Counts(BTreeMap<u64, u64>);

impl Counts {
    fn add(&mut self, p_values: &[f64], most_p: f64) {
        for p_value in p_values.iter().filter(|&&p_value| p_value <= most_p) {
            *self.0.entry(p_value.to_bits()).or_insert(0) += 1;
        }
    }

    /// The largest p-value that may be called, of `n_cells` cells.
    fn bound(&self, fdr: f64, n_cells: u64) -> Option<f64> {
        let counts = self.0.iter().map(|(&bits, &count)| (f64::from_bits(bits), count));
        benjamini_hochberg(fdr, counts, n_cells)
    }
}

/// Of the k oddest cells as they stand, some are odd only beside wrong ones. So many times as many are looked at.
const SPARE: usize = 4;

/// The smallest p-values.
struct Least {
    most: usize,
    /// With a number each, because p-values can be equal.
    kept: BTreeSet<(u64, usize)>,
    n_seen: usize,
}

impl Least {
    fn new(most: usize) -> Self {
        Self { most, kept: BTreeSet::new(), n_seen: 0 }
    }

    fn add(&mut self, p_values: &[f64]) {
        for p_value in p_values {
            self.n_seen += 1;
            let bits = p_value.to_bits();
            if self.kept.len() < self.most || self.kept.last().is_some_and(|&(most, _)| bits < most) {
                self.kept.insert((bits, self.n_seen));
            }
            if self.kept.len() > self.most {
                self.kept.pop_last();
            }
        }
    }

    fn bound(&self) -> f64 {
        self.kept.last().map_or(f64::NEG_INFINITY, |&(bits, _)| f64::from_bits(bits))
    }
}

/// The place of a cell in the order of oddness, the oddest first: by p-value, then by surprise, then by place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Oddness(u64, std::cmp::Reverse<u64>, usize, usize);

impl Oddness {
    pub(super) fn of(cell: &CalledCell) -> Self {
        // The bits of numbers that are not negative sort like the numbers.
        let bits = |number: f64| number.max(0.0).to_bits();
        Self(bits(cell.p_value), std::cmp::Reverse(bits(cell.surprise)), cell.row, cell.column)
    }
}

/// The highest p-value that a cell among the `k` oddest can have.
pub(super) fn bound_of_top(k: usize, p_values: &[f64]) -> f64 {
    let mut least = Least::new(k.saturating_mul(SPARE));
    least.add(p_values);
    least.bound()
}
