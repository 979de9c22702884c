//! `oddcell detect`: judges one table by itself.

use std::path::PathBuf;

use oddcell::{Context, Silent, judge::Judge, model::detect, verdict::Rule};

use super::rule;
use crate::{
    args::DetectArgs,
    failure::Failure,
    judging::{self, Judging, Origin},
    learning,
    output::Target,
    progress::Training,
    report,
    summary::{self, Summary},
    understood,
};

pub(crate) fn run(args: &DetectArgs) -> Result<(), Failure> {
    let (options, seed, kinds) = learning::options(&args.learn, &args.columns, &args.read)?;
    let configured = learning::configured_rule(&args.learn)?;
    let rule = rule(&args.rule, configured.unwrap_or(Rule::FOR_ONE_TABLE))?;
    let target = Target::of(&args.output, &args.run)?;
    let page = args.report.report.as_ref();
    let inputs: Vec<&PathBuf> =
        [Some(&args.data), args.learn.config.as_ref()].into_iter().flatten().collect();
    report::check_outputs(&target, page, &inputs)?;
    let (table, delimiter) =
        learning::read_table(&args.data, &args.read, &args.columns, &kinds, &options.encode)?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let detection = pool.install(|| detect(&table, &options, &Context { seed, monitor: &progress }))?;
    progress.done();

    let judging = Judging {
        truths: judging::truths(args.columns.label.as_deref()),
        only: args.output.only,
        target: &target,
        page,
        ..Judging::new(&detection, rule, &Silent)
    };
    let schema = table.schema();
    let origin = Origin {
        name: &table.origin,
        schema: &schema,
        kinds: &table.columns,
        delimiter,
        csv_safe: args.output.csv_safe,
    };
    let mut judged = judging.run(&origin, table.batches.iter().cloned().map(Ok), &pool)?;
    let mut notes = table.all_notes();
    notes.extend(detection.spec().note());
    notes.extend(understood::notes(&detection.encoder));
    notes.extend(detection.verdict_notes(rule, &judged.outcome));
    let report = judged.write_page(false, &pool, || report::about(&table.origin, &detection, &notes))?;
    let summary = Summary {
        notes,
        output: summary::written_to(&target),
        report,
        ..Summary::new(table.origin.clone(), &detection, rule, judged)
    };
    summary.show(args.run.json, args.run.quiet, &target, &detection.encoder)
}
