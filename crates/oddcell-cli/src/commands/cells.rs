//! `oddcell cells`: finds the odd cells of a table, and what should stand there.

use std::{fmt::Write as _, io::IsTerminal};

use oddcell::{
    Seed,
    cells::{cells_batch, cells_schema},
};
use serde::Serialize;

use crate::{
    args::{CellsArgs, OutputArgs},
    cells::{Found, OddestRow, find, in_words},
    failure::Failure,
    output::{self, Target, Written},
    report,
    show::{self, View},
    summary::{note_line, written_to},
    understood::Understood,
};

/// The summary for programs.
#[derive(Serialize)]
struct Summary<'a> {
    data: &'a str,
    rows: usize,
    cells: usize,
    odd_cells: usize,
    odd_rows: usize,
    /// Which cells are called odd, in words.
    rule: String,
    seed: Seed,
    #[serde(flatten)]
    understood: &'a Understood,
    notes: &'a [String],
    /// Where the cells were written.
    output: Option<String>,
    oddest: &'a [OddestRow],
}

pub(crate) fn run(args: &CellsArgs) -> Result<(), Failure> {
    let CellsArgs { output, format, csv_safe, cells } = args;
    let wanted = OutputArgs { output: output.clone(), format: *format, csv_safe: *csv_safe, only: None };
    let target = Target::of(&wanted, &cells.run)?;
    report::check_outputs(&target, None, &cells.files.inputs())?;
    let table =
        Written { schema: cells_schema(), kinds: &[], delimiter: None, csv_safe: *csv_safe, header: true };
    let found = target.write_as(&table, |mut sink| {
        find(cells, |encoder, called| match &mut sink {
            Some(sink) => sink.put(cells_batch(encoder, &called)),
            None => Ok(()),
        })
    })?;
    let understood = Understood::of(found.judge.encoder());
    if cells.run.json {
        return output::print_json(&summary(&found, &understood, &target));
    }
    if cells.run.quiet {
        return Ok(());
    }
    let seen = std::io::stdout().is_terminal() && !matches!(target, Target::Stdout(_));
    if seen && !found.rows.is_empty() {
        output::print_styled(&(show::oddest_table(&found.rows, found.judge.encoder(), View::Cells) + "\n"))?;
    }
    let mut text = found.counts();
    let _ = writeln!(text, "{}", understood.line());
    found.notes.iter().for_each(|note| text.push_str(&(note_line(note) + "\n")));
    if let Some(output) = written_to(&target) {
        let _ = writeln!(text, "written to {output}");
    }
    output::eprint_line(text.trim_end());
    Ok(())
}

fn summary<'a>(found: &'a Found, understood: &'a Understood, target: &Target) -> Summary<'a> {
    Summary {
        data: &found.data,
        rows: found.outcome.n_rows,
        cells: found.outcome.n_cells,
        odd_cells: found.outcome.n_odd,
        odd_rows: found.outcome.n_odd_rows,
        rule: in_words(found.rule),
        seed: found.seed,
        understood,
        notes: &found.notes,
        output: written_to(target),
        oddest: &found.oddest,
    }
}
