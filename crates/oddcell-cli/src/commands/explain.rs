//! `oddcell explain`: shows rows cell by cell, judged by their own table or by a model.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use oddcell::{
    Context, Error,
    explain::Reason,
    judge::{Judge, Judgement, Scorer},
    model::detect,
    table::Rows,
    verdict::{Rule, probability},
};
use serde::Serialize;

use super::{load, open};
use crate::{
    args::{ColumnArgs, ExplainArgs, LearnArgs},
    failure::Failure,
    learning, output,
    progress::Training,
    show,
    summary::{self, count, counted},
};

/// What the rows are told as.
#[derive(Serialize)]
struct Explanation {
    rows: Vec<Explained>,
    notes: Vec<String>,
}

/// A row.
#[derive(Serialize)]
struct Explained {
    row: usize,
    score: f64,
    p: f64,
    /// The columns of the cells that make the row odd.
    odd: Vec<String>,
    /// All columns: first those that make the row odd, then the others, most noise first. Only the former if the detector does not
    /// explain cells.
    cells: serde_json::Value,
    #[serde(skip)]
    text: String,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let explanation = match args.files.model() {
        Some(model) => {
            if args.columns != ColumnArgs::default() || args.learn != LearnArgs::default() {
                let message = "options about columns and learning are for a table that is judged by itself; a model keeps what \
                               it was fitted with";
                return Err(Failure::bad_input(message).with_hint("leave them out, or leave the model out"));
            }
            by_model(args, model)?
        }
        None => by_itself(args)?,
    };
    if args.run.json {
        return output::print_json(&explanation);
    }
    let texts: Vec<&str> = explanation.rows.iter().map(|row| row.text.as_str()).collect();
    output::print(&texts.join("\n"))?;
    if !args.run.quiet {
        explanation.notes.iter().for_each(|note| output::eprint_line(&summary::note_line(note)));
    }
    Ok(())
}

/// Rows of a stream, judged by a model.
fn by_model(args: &ExplainArgs, model: &std::path::Path) -> Result<Explanation, Failure> {
    let pool = learning::pool(&args.run)?;
    let model = load(model, &args.read, &pool)?;
    let (mut reader, mut notes) = open(&model, args.files.data(), &args.read, None)?;
    let origin = reader.origin().to_owned();
    let last = args.row.iter().copied().max().unwrap_or(1) as usize;
    let (mut first_row, mut found) = (0, Vec::new());
    let estimate = format!("estimated from {} held out", counted(model.n_calibration_rows(), "row", "rows"));
    while first_row < last
        && let Some(batch) = reader.next()
    {
        let rows = Rows::new(batch?, first_row, origin.as_str());
        first_row += rows.n_rows();
        found.extend(explained(&model, &pool, &rows, &args.row, &estimate, &mut notes)?);
    }
    let found = in_order(&origin, &args.row, found, first_row)?;
    notes.extend(reader.notes().iter().cloned());
    notes.dedup();
    Ok(Explanation { rows: found, notes })
}

/// Rows of a table that is judged by itself, as `detect` does.
fn by_itself(args: &ExplainArgs) -> Result<Explanation, Failure> {
    let (options, seed, kinds) = learning::options(&args.learn, &args.columns, &args.read)?;
    let (table, _) =
        learning::read_table(args.files.data(), &args.read, &args.columns, &kinds, &options.encode)?;
    in_order(&table.origin, &args.row, Vec::new(), table.n_rows())?;
    let progress = Training::new("learning", args.run.quiet || args.run.json);
    let pool = learning::pool(&args.run)?;
    let detection = pool.install(|| detect(&table, &options, &Context { seed, monitor: &progress }))?;
    progress.done();
    let mut notes = table.all_notes();
    let (mut found, mut unused) = (Vec::new(), Vec::new());
    for rows in table.rows() {
        found.extend(explained(
            &detection,
            &pool,
            &rows,
            &args.row,
            "estimated from the table itself",
            &mut unused,
        )?);
    }
    notes.extend(crate::understood::notes(&detection.encoder));
    Ok(Explanation { rows: in_order(&table.origin, &args.row, found, table.n_rows())?, notes })
}

/// The wanted rows in the order in which they were asked for; an error if one is not there. Without any, only looks whether all
/// can be.
fn in_order(
    origin: &str,
    wanted: &[u64],
    found: Vec<Explained>,
    n_rows: usize,
) -> Result<Vec<Explained>, Failure> {
    if let Some(missing) = wanted.iter().find(|&&row| row as usize > n_rows) {
        let rows = counted(n_rows, "row", "rows");
        let message = format!("{origin} has {rows}, so there is no row {}", count(*missing as usize));
        return Err(Failure::bad_input(message).with_hint("rows are counted from 1, without the header"));
    }
    let mut rows = found;
    rows.sort_by_key(|found| wanted.iter().position(|&row| row as usize == found.row));
    Ok(rows)
}

/// The wanted ones among these rows.
fn explained(
    judge: &dyn Judge,
    pool: &rayon::ThreadPool,
    rows: &Rows,
    wanted: &[u64],
    estimate: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<Explained>, Failure> {
    let own = (0..rows.n_rows()).filter(|at| wanted.contains(&((rows.first_row + at + 1) as u64)));
    let explain = |at: usize| -> Result<Explained, Error> {
        let row = rows.slice(at, 1);
        let scorer = Scorer { cells: true, ..Scorer::new(judge, Rule::Top(1)) };
        let judgement = pool.install(|| scorer.judgement(row))?;
        notes.extend(judgement.surprises.notes(judge.encoder()));
        let Judgement { findings, .. } = &judgement;
        let explainer = judgement.explainer(judge);
        let reasons = explainer.every(0, &judgement)?;
        let n_odd = judgement.sets.as_ref().map_or(0, |sets| sets.of(0).len());
        let (row, score, p) = (rows.first_row + at + 1, findings.scores[0], findings.p_values[0]);
        Ok(Explained {
            row,
            score,
            p,
            odd: reasons.iter().take(n_odd).map(|reason| reason.column.to_owned()).collect(),
            text: text(judge, row, score, p, &reasons, n_odd, estimate),
            cells: serde_json::to_value(&reasons).expect("reasons are plain data"),
        })
    };
    Ok(own.map(explain).collect::<Result<_, _>>()?)
}

/// A row for people: the cells that make it odd come first, marked.
fn text(
    judge: &dyn Judge,
    row: usize,
    score: f64,
    p: f64,
    reasons: &[Reason<'_>],
    n_odd: usize,
    estimate: &str,
) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "row {row}: score {}, p-value {}", show::figure(score), probability(p));
    let _ = writeln!(text, "({} of 1,000 normal rows score as high; {estimate})\n", per_mille(p));
    if reasons.is_empty() {
        let name = judge.spec().entry().name;
        let _ = writeln!(
            text,
            "the detector `{name}` scores whole rows, and the row is not odd enough to look for odd cells"
        );
        return text;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
    let has_amounts = reasons.iter().any(|reason| reason.amount.is_some());
    let names = ["column", "value", "expected", "noise", "off by", "normal"];
    table.set_header(names.into_iter().filter(|name| has_amounts || *name != "off by"));
    for (at, reason) in reasons.iter().enumerate() {
        let value = reason.value.as_deref().map_or_else(|| "·".to_owned(), show::clean);
        let expected = reason.expected.as_ref().filter(|_| at < n_odd).map_or_else(String::new, |expected| {
            if expected.value.is_empty() { "·".to_owned() } else { show::clean(&expected.value) }
        });
        let mark = if at < n_odd { show::MARK } else { ' ' };
        let mut cells = vec![
            Cell::new(show::clean(reason.column)),
            Cell::new(format!("{mark}{value}")),
            Cell::new(expected),
            Cell::new(reason.noise_text()).set_alignment(CellAlignment::Right),
        ];
        if has_amounts {
            cells.push(Cell::new(reason.amount_text()).set_alignment(CellAlignment::Right));
        }
        cells.push(Cell::new(show::unbroken(&reason.normal.to_string())));
        table.add_row(cells);
    }
    show::close_up(&mut table);
    text += &show::trimmed_lines(&table.to_string());
    let told = match n_odd {
        0 => "no cell stands out: with a p-value above 0.25, the row is normal".to_owned(),
        1 => format!("({} the cell that makes the row odd)", show::MARK),
        _ => format!("({} the cells that make the row odd)", show::MARK),
    };
    if judge.expects(0).is_some() {
        let _ = writeln!(text, "{told}");
    }
    text
}

fn per_mille(p: f64) -> String {
    if p >= 0.001 { format!("{:.0}", p * 1000.0) } else { format!("{:.1}", p * 1000.0) }
}
