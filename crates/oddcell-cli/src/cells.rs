//! The part that `cells` and `repair` share: the library judges the cells of a table, by itself or with a model, and the oddest
//! rows are kept for people.

use std::{cmp::Reverse, collections::BTreeMap};

use arrow_array::RecordBatch;
use oddcell::{
    Context, Error, Seed,
    cells::{CalledCell, CellObserver, CellOutcome, CellScorer},
    encode::Encoder,
    judge::{Judge, Spool},
    model::detect,
    verdict::{Rule, probability},
};
use serde::Serialize;

use crate::{
    args::{CellArgs, CellColumnArgs, CellRuleArgs},
    commands,
    failure::Failure,
    learning,
    oddest::{OddCell, OddRow, SHOWN_ROWS, shown_cell},
    progress::{Rows, Training},
    show::clean,
    summary::{count, counted},
    understood,
};

/// What was found in the cells of a table.
pub(crate) struct Found {
    pub(crate) data: String,
    pub(crate) judge: Box<dyn Judge>,
    pub(crate) rule: Rule,
    pub(crate) seed: Seed,
    pub(crate) outcome: CellOutcome,
    /// The rows with the oddest cells, for people.
    pub(crate) rows: Vec<OddRow>,
    /// The same, for programs.
    pub(crate) oddest: Vec<OddestRow>,
    pub(crate) notes: Vec<String>,
}

/// A row with odd cells, for programs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OddestRow {
    /// Counted from 1.
    row: usize,
    cells: Vec<OddestCell>,
}

/// An odd cell, for programs.
#[derive(Debug, Clone, Serialize)]
struct OddestCell {
    column: String,
    value: Option<String>,
    p: f64,
    expected: Option<oddcell::cells::Expected>,
    reason: String,
}

/// The requested rule.
fn rule(args: &CellRuleArgs) -> Result<Rule, Failure> {
    let chosen = None
        .or_else(|| args.alpha.map(Rule::alpha))
        .or_else(|| args.fdr.map(Rule::fdr))
        .or_else(|| args.top.map(Rule::top));
    Ok(chosen.transpose().map_err(Error::from)?.unwrap_or(Rule::FOR_ONE_TABLE))
}

/// Which cells are called, in words.
pub(crate) fn in_words(rule: Rule) -> String {
    let percent = |share: f64| format!("{} %", (share * 1e10).round() / 1e8);
    match rule {
        Rule::Alpha(alpha) => {
            format!("p-value at most {alpha}: about {} of the normal cells are called", percent(alpha))
        }
        Rule::Fdr(fdr) => {
            format!(
                "false-discovery rate {fdr}: at most about {} of the called cells are expected to be right",
                percent(fdr)
            )
        }
        Rule::Top(1) => "top 1: the cell with the smallest p-value".to_owned(),
        Rule::Top(k) => format!("top {k}: the {} cells with the smallest p-values", count(k)),
        Rule::Contamination(_) => rule.to_string(),
    }
}

/// Judges the cells of the table; `take` gets those called odd, in row order.
pub(crate) fn find(
    args: &CellArgs,
    mut take: impl FnMut(&Encoder, Vec<CalledCell>) -> Result<(), Error> + Send,
) -> Result<Found, Failure> {
    let rule = rule(&args.rule)?;
    match args.files.model() {
        None => find_in_table(args, rule, &mut take),
        Some(model) => {
            refuse(&args.columns)?;
            let pool = learning::pool(&args.run)?;
            let model = commands::load(model, &args.read, &pool)?;
            let (mut reader, mut notes) = commands::open(&model, args.files.data(), &args.read, None)?;
            let data = reader.origin().to_owned();
            let (outcome, oddest) =
                run(&model, rule, Spool::Disk, args.run.quiet, |scorer, observers, judge| {
                    let mut sink = |cells| take(judge.encoder(), cells);
                    pool.install(|| scorer.run(&data, reader.by_ref(), observers, &mut sink))
                })?;
            notes.extend(reader.notes().iter().cloned());
            notes.extend(outcome.surprises.notes(model.encoder()));
            let (rows, oddest) = oddest;
            Ok(Found { data, rule, seed: model.seed(), outcome, rows, oddest, notes, judge: Box::new(model) })
        }
    }
}

/// Gets the cells that are called odd, in row order.
type Take<'a> = dyn FnMut(&Encoder, Vec<CalledCell>) -> Result<(), Error> + Send + 'a;

fn find_in_table(args: &CellArgs, rule: Rule, take: &mut Take<'_>) -> Result<Found, Failure> {
    let (options, seed, columns, kinds) = learning::cell_options(&args.columns, &args.read)?;
    let (table, _) = learning::read_table(args.files.data(), &args.read, &columns, &kinds, &options.encode)?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let detection = pool.install(|| detect(&table, &options, &Context { seed, monitor: &progress }))?;
    progress.done();
    let batches = || table.batches.iter().cloned().map(Ok);
    let (outcome, (rows, oddest)) =
        run(&detection, rule, Spool::Memory, args.run.quiet, |scorer, observers, judge| {
            let mut sink = |cells| take(judge.encoder(), cells);
            pool.install(|| scorer.run(&table.origin, batches(), observers, &mut sink))
        })?;
    let mut notes = table.all_notes();
    notes.extend(understood::notes(&detection.encoder));
    Ok(Found { data: table.origin, rule, seed, outcome, rows, oddest, notes, judge: Box::new(detection) })
}

/// A model keeps its columns.
fn refuse(columns: &CellColumnArgs) -> Result<(), Failure> {
    let flags = [
        ("--ignore", !columns.ignore.is_empty()),
        ("--categorical", !columns.categorical.is_empty()),
        ("--kind", !columns.kinds.is_empty()),
        ("--group-by", !columns.group_by.is_empty()),
        ("--seed", columns.seed.is_some()),
    ];
    match flags.iter().find(|(_, is_set)| *is_set) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::bad_input(format!(
            "{flag} is for a table that is judged by itself; a model keeps what it was fitted with"
        ))
        .with_hint("fit the model with this flag, or leave the model out")),
    }
}

type Kept = (Vec<OddRow>, Vec<OddestRow>);

/// Runs the scorer and keeps the oddest rows.
fn run<'a>(
    judge: &'a dyn Judge,
    rule: Rule,
    spool: Spool,
    quiet: bool,
    score: impl FnOnce(
        &CellScorer<'a>,
        &mut [&mut dyn CellObserver],
        &'a dyn Judge,
    ) -> Result<Option<CellOutcome>, Error>,
) -> Result<(CellOutcome, Kept), Failure> {
    let scorer = CellScorer { spool, ..CellScorer::new(judge, rule) };
    let (mut oddest, mut progress) = (OddestCells::default(), Rows::new(quiet));
    let outcome = score(&scorer, &mut [&mut oddest, &mut progress], judge)?;
    drop(progress);
    let outcome = outcome.ok_or_else(|| {
        Failure::bad_input("the model has learned nothing about cells: it was fitted with --stream")
            .with_hint("fit it without --stream, on as many rows as fit into memory")
    })?;
    let kept = oddest.kept(judge.encoder(), rule, &outcome);
    Ok((outcome, kept))
}

/// Keeps the rows with the smallest p-values of cells that may be called.
#[derive(Default)]
struct OddestCells {
    rows: BTreeMap<(u64, Reverse<u64>, usize), KeptRow>,
}

struct KeptRow {
    texts: Vec<String>,
    /// The cells that may be called, the oddest first.
    cells: Vec<CalledCell>,
}

impl CellObserver for OddestCells {
    fn observe(
        &mut self,
        judge: &dyn Judge,
        batch: &RecordBatch,
        numbers: &[usize],
        cells: &[CalledCell],
    ) -> Result<(), Error> {
        for cells in cells.chunk_by(|one, other| one.row == other.row) {
            let first = &cells[0];
            // The bits of numbers that are not negative sort like the numbers.
            let place = (first.p_value.to_bits(), Reverse(first.surprise.max(0.0).to_bits()), first.row);
            if self.rows.len() == SHOWN_ROWS && self.rows.keys().next_back().is_some_and(|last| place > *last)
            {
                continue;
            }
            let row = numbers.binary_search(&first.row).expect("cells are of these rows");
            let text = |column: &oddcell::encode::EncodedColumn| {
                batch.column_by_name(column.name()).map_or_else(String::new, |array| shown_cell(array, row))
            };
            let texts = judge.encoder().columns().iter().map(text).collect();
            self.rows.insert(place, KeptRow { texts, cells: cells.to_vec() });
            if self.rows.len() > SHOWN_ROWS {
                self.rows.pop_last();
            }
        }
        Ok(())
    }
}

impl OddestCells {
    /// The rows with called cells, oddest first, as people and programs get them.
    fn kept(self, encoder: &Encoder, rule: Rule, outcome: &CellOutcome) -> Kept {
        let called = |cell: &CalledCell| match rule {
            // Benjamini-Hochberg calls k of n cells if their p-values are at most fdr · k/n.
            Rule::Fdr(fdr) => {
                cell.p_value * outcome.n_cells as f64 <= fdr * outcome.n_odd as f64 * (1.0 + 1e-12)
            }
            Rule::Alpha(_) | Rule::Contamination(_) | Rule::Top(_) => true,
        };
        let mut kept = Kept::default();
        let mut left = if matches!(rule, Rule::Top(_)) { outcome.n_odd } else { usize::MAX };
        for ((p, ..), KeptRow { texts, mut cells }) in self.rows {
            cells.retain(called);
            cells.truncate(left);
            left -= if left == usize::MAX { 0 } else { cells.len() };
            let Some(first) = cells.first() else { continue };
            kept.0.push(odd_row(encoder, first.row, f64::from_bits(p), texts, &cells));
            let oddest = |cell: &CalledCell| OddestCell {
                column: encoder.columns()[cell.column].name().to_owned(),
                value: cell.value.clone(),
                p: cell.p_value,
                expected: cell.expected.clone(),
                reason: cell.reason.clone(),
            };
            kept.1.push(OddestRow { row: first.row + 1, cells: cells.iter().map(oddest).collect() });
        }
        kept
    }
}

fn odd_row(encoder: &Encoder, row: usize, p: f64, texts: Vec<String>, cells: &[CalledCell]) -> OddRow {
    let shown = |(at, text): (usize, String)| {
        let called = cells.iter().find(|cell| cell.column == at);
        let expected = called.and_then(|cell| cell.expected.as_ref());
        OddCell {
            text,
            noise: called.map_or(0.0, |cell| cell.surprise),
            is_odd: called.is_some(),
            expected: expected.map(|expected| clean(&expected.value)),
        }
    };
    OddRow {
        row: row + 1,
        score: 0.0,
        p,
        is_odd: true,
        reasons: cells.iter().map(|cell| clean(&cell.told(encoder))).collect(),
        columns: cells.iter().map(|cell| encoder.columns()[cell.column].name().to_owned()).collect(),
        cells: texts.into_iter().enumerate().map(shown).collect(),
    }
}

impl Found {
    /// `12 cells in 9 of 1,000 rows are odd.`, and by which rule.
    pub(crate) fn counts(&self) -> String {
        let CellOutcome { n_rows, n_odd, n_odd_rows, n_cells, least_p, .. } = self.outcome;
        let rule = in_words(self.rule);
        let rows = counted(n_rows, "row", "rows");
        if n_odd > 0 {
            let verb = if n_odd == 1 { "is" } else { "are" };
            let cells = counted(n_odd, "cell", "cells");
            return format!("{cells} in {} of {rows} {verb} odd.\nrule: {rule}\n", count(n_odd_rows));
        }
        let why = match self.rule {
            Rule::Fdr(fdr) => format!(
                "at a false-discovery rate of {fdr}, one cell of {} needs a p-value of at most {}, and the smallest is {}",
                count(n_cells),
                probability(fdr / n_cells as f64),
                probability(least_p)
            ),
            Rule::Alpha(alpha) => format!("the smallest p-value, {}, is above {alpha}", probability(least_p)),
            Rule::Top(_) | Rule::Contamination(_) => "there are none".to_owned(),
        };
        format!("no cell of {rows} is odd.\nrule: {rule}\nnone was called: {why}.\n")
    }
}
