//! `oddcell score`: judges new rows with a model, as a stream.

use oddcell::{
    Stage,
    judge::{Judge, Spool},
    verdict::Rule,
};
use oddcell_report::About;

use super::{kinds, load, open, rule};
use crate::{
    args::ScoreArgs,
    failure::Failure,
    judging::{self, Judging, Origin},
    learning,
    output::Target,
    report,
    summary::{self, Summary},
    timings::Timings,
};

pub(crate) fn run(args: &ScoreArgs) -> Result<(), Failure> {
    let timings = Timings::start();
    let rule = rule(&args.rule, Rule::FOR_NEW_ROWS)?;
    let target = Target::of(&args.output, &args.run)?;
    let (inputs, page) = ([&args.data, &args.model], args.report.report.as_ref());
    report::check_outputs(&target, page, &inputs)?;
    let pool = learning::pool(&args.run)?;
    let model = load(&args.model, &args.read, &pool)?;
    let (mut reader, mut notes) =
        timings.time(Stage::Reading, || open(&model, &args.data, &args.read, args.label.as_deref()))?;
    let (name, schema) = (reader.origin().to_owned(), reader.schema().clone());
    let judging = Judging {
        truths: judging::truths(args.label.as_deref()),
        only: args.output.only,
        target: &target,
        spool: Spool::Disk,
        page,
        quiet: args.run.quiet,
        ..Judging::new(&model, rule, &timings)
    };
    let kinds = kinds(model.encoder());
    let origin = Origin {
        name: &name,
        schema: &schema,
        kinds: &kinds,
        delimiter: reader.delimiter(),
        csv_safe: args.output.csv_safe,
    };
    let mut judged = judging.run(&origin, reader.by_ref(), &pool)?;
    notes.extend(model.verdict_notes(rule, &judged.outcome));
    notes.extend(reader.notes().iter().cloned());
    notes.extend(judged.outcome.surprises.notes(model.encoder()));
    let about = || About {
        model: Some(args.model.display().to_string()),
        trained: report::written_at(&args.model),
        ..report::about(&name, &model, &notes)
    };
    let report = timings.time(Stage::Observing, || judged.write_page(false, &pool, about))?;
    let summary = Summary {
        notes,
        output: summary::written_to(&target),
        report,
        timings: args.timings.then(|| timings.spent()),
        ..Summary::new(name, &model, rule, judged)
    };
    summary.show(args.run.json, args.run.quiet, &target, model.encoder())
}
