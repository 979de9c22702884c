//! `oddcell explain`: shows one row, cell by cell.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use oddcell::{
    Model,
    explain::Reason,
    judge::{Judge, Judgement, Scorer},
    table::Rows,
    verdict::{Rule, probability},
};
use serde::Serialize;

use super::{load, open};
use crate::{
    args::ExplainArgs,
    failure::Failure,
    learning, output, show,
    summary::{self, count, counted},
};

#[derive(Serialize)]
struct Explanation<'a> {
    row: u64,
    score: f64,
    p: f64,
    /// All columns, most noise first; empty if the detector does not explain cells.
    cells: Vec<Reason<'a>>,
    notes: Vec<String>,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let pool = learning::pool(&args.run)?;
    let model = load(&args.model, &args.read, &pool)?;
    let (mut reader, mut notes) = open(&model, &args.data, &args.read, None)?;
    let origin = reader.origin().to_owned();
    let wanted = args.row as usize - 1;
    let mut first_row = 0;
    while let Some(batch) = reader.next() {
        let batch = batch?;
        if wanted >= first_row + batch.num_rows() {
            first_row += batch.num_rows();
            continue;
        }
        let row = Rows::new(batch.slice(wanted - first_row, 1), wanted, origin.as_str());
        let scorer = Scorer { cells: true, ..Scorer::new(&model, Rule::FOR_NEW_ROWS) };
        let judgement = pool.install(|| scorer.judgement(row))?;
        let Judgement { findings, surprises, .. } = &judgement;
        let cells = match &findings.cells {
            None => Vec::new(),
            Some(cells) => judgement.explainer(&model).reasons(0, cells.row(0))?,
        };
        notes.extend(reader.notes().iter().cloned());
        notes.extend(surprises.notes(model.encoder()));
        let (score, p) = (findings.scores[0], findings.p_values[0]);
        let explanation = Explanation { row: args.row, score, p, cells, notes };
        if args.run.json {
            return output::print_json(&explanation);
        }
        output::print(&explanation.text(&model))?;
        if !args.run.quiet {
            explanation.notes.iter().for_each(|note| output::eprint_line(&summary::note_line(note)));
        }
        return Ok(());
    }
    let rows = counted(first_row, "row", "rows");
    let message = format!("{origin} has {rows}, so there is no row {}", count(wanted + 1));
    Err(Failure::bad_input(message).with_hint("rows are counted from 1, without the header"))
}

impl Explanation<'_> {
    fn text(&self, model: &Model) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "row {}: score {}, p-value {}",
            self.row,
            show::figure(self.score),
            probability(self.p)
        );
        let rows = model.n_calibration_rows();
        let _ = writeln!(
            text,
            "({} of 1,000 normal rows score as high; estimated from {} held out)\n",
            per_mille(self.p),
            counted(rows, "row", "rows")
        );
        if self.cells.is_empty() {
            let _ = writeln!(
                text,
                "the detector `{}` scores whole rows and does not explain cells",
                model.spec().entry().name
            );
            return text;
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
        table.set_header(["column", "value", "noise", "off by", "normal"]);
        for reason in &self.cells {
            let value = reason.value.as_deref().map_or_else(|| "·".to_owned(), show::clean);
            table.add_row([
                Cell::new(show::clean(reason.column)),
                Cell::new(value),
                Cell::new(reason.noise_text()).set_alignment(CellAlignment::Right),
                Cell::new(reason.amount_text()).set_alignment(CellAlignment::Right),
                Cell::new(show::unbroken(&reason.normal.to_string())),
            ]);
        }
        show::close_up(&mut table);
        text += &show::trimmed_lines(&table.to_string());
        text
    }
}

fn per_mille(p: f64) -> String {
    if p >= 0.001 { format!("{:.0}", p * 1000.0) } else { format!("{:.1}", p * 1000.0) }
}
