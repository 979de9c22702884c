//! `oddcell demo`: runs the whole workflow on built-in data and counts what was found and missed.

use std::{fmt::Write as _, path::Path};

use oddcell::{
    Context, DetectorSpec, Seed, Silent, Table,
    demo::{self, Demo},
    judge::Truths,
    model::{FitOptions, detect},
    table::{Format, ReadOptions, Source},
    verdict::Rule,
};
use serde::Serialize;

use crate::{
    args::DemoArgs,
    failure::Failure,
    judging::{Judging, Origin},
    learning,
    oddest::OddRow,
    output::{self, Target},
    progress::Training,
    report::about,
    show::{View, oddest_table},
    summary::{count, counted},
};

const ROWS: usize = 2_000;
const SPOILED: usize = 40;

/// How many of the spoiled cells were found.
#[derive(Debug, Default, Serialize)]
struct Hits {
    spoiled: usize,
    /// Spoiled rows among the oddest rows; as many rows are looked at as were spoiled.
    rows_found: usize,
    /// Rows found whose spoiled cell is named first.
    cells_named_first: usize,
    /// Rows found whose spoiled cell is named, and no other.
    cells_named_alone: usize,
}

#[derive(Debug, Serialize)]
struct DemoSummary {
    table: String,
    judged: String,
    report: String,
    rows: usize,
    odd: usize,
    blatant: Hits,
    subtle: Hits,
}

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let demo = demo::orders(ROWS, SPOILED, Seed(0));
    std::fs::create_dir_all(&args.dir).map_err(|source| output::file_error("create", &args.dir, source))?;
    let [input, judged, report] = ["orders.csv", "judged.csv", "report.html"].map(|name| args.dir.join(name));
    write_text(&input, &demo.csv)?;

    let table = Table::read(&Source::Path(input.clone()), &ReadOptions::default())?;
    let options = FitOptions::new(DetectorSpec::by_table());
    let progress = Training::new("learning", args.run.quiet || args.run.json);
    let pool = learning::pool(&args.run)?;
    let detection =
        pool.install(|| detect(&table, &options, &Context { seed: Seed(0), monitor: &progress }))?;
    progress.done();
    let is_spoiled = |row: usize| demo.spoiled.iter().any(|spoiled| spoiled.row == row);
    let truths: Vec<bool> = (1..=table.n_rows()).map(is_spoiled).collect();
    let judging = Judging {
        truths: Truths::Known(&truths),
        target: &Target::File(judged.clone(), Format::Csv),
        page: Some(&report),
        most_odd: Some(SPOILED),
        ..Judging::new(&detection, Rule::FOR_ONE_TABLE, &Silent)
    };
    let schema = table.schema();
    let origin = Origin {
        name: &table.origin,
        schema: &schema,
        kinds: &table.columns,
        delimiter: None,
        csv_safe: false,
    };
    let mut found = judging.run(&origin, table.batches.iter().cloned().map(Ok), &pool)?;
    let notes =
        ["The labels come from the demo, which knows the cells it spoiled. The detector did not see them."
            .to_owned()];
    found.write_page(false, &pool, || about(&table.origin, &detection, &notes))?;
    let oddest = found.oddest;
    let summary = DemoSummary {
        table: input.display().to_string(),
        judged: judged.display().to_string(),
        report: report.display().to_string(),
        rows: ROWS,
        odd: found.outcome.n_odd,
        blatant: hits(&demo, &oddest, true),
        subtle: hits(&demo, &oddest, false),
    };
    if args.run.json {
        return output::print_json(&summary);
    }
    if !args.run.quiet {
        output::print_styled(&oddest_table(&oddest[..10], &detection.encoder, View::Rows))?;
        output::print(&summary.text())?;
    }
    Ok(())
}

fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    oddcell::model_file::write_atomically(path, |file| {
        std::io::Write::write_all(file, text.as_bytes())
            .map_err(|source| output::file_error("write", path, source))
    })
}

fn hits(demo: &Demo, oddest: &[OddRow], blatant: bool) -> Hits {
    let mut hits = Hits::default();
    for spoiled in demo.spoiled.iter().filter(|spoiled| spoiled.blatant == blatant) {
        hits.spoiled += 1;
        let Some(found) = oddest.iter().find(|row| row.row == spoiled.row) else { continue };
        hits.rows_found += 1;
        hits.cells_named_first +=
            usize::from(found.columns.first().is_some_and(|column| column == spoiled.column));
        hits.cells_named_alone += usize::from(found.columns == [spoiled.column]);
    }
    hits
}

impl DemoSummary {
    fn text(&self) -> String {
        let mut text = String::new();
        let total = self.blatant.spoiled + self.subtle.spoiled;
        let _ = writeln!(
            text,
            "\n{} orders, {total} of them with one spoiled cell: {} blatant, {} visible only next to the\n\
             other columns. The detector did not know which. Among the {total} oddest rows:\n",
            count(self.rows),
            self.blatant.spoiled,
            self.subtle.spoiled
        );
        let _ = writeln!(text, "           spoiled  row found  cell named first  cell named alone");
        for (name, hits) in [("blatant", &self.blatant), ("subtle", &self.subtle)] {
            let _ = writeln!(
                text,
                "  {name:<9} {:>6}  {:>9}  {:>16}  {:>16}",
                hits.spoiled, hits.rows_found, hits.cells_named_first, hits.cells_named_alone
            );
        }
        let odd = counted(self.odd, "row is", "rows are");
        let _ = writeln!(text, "\n{odd} flagged at a false-discovery rate of 10 %.");
        let _ = writeln!(text, "the table:   {}\njudged rows: {}", self.table, self.judged);
        let _ = writeln!(text, "the report:  {} (open it in a browser)", self.report);
        let _ = writeln!(text, "next:        oddcell detect {} --top 20", self.table);
        text
    }
}
