//! `oddcell detect`: one table, nothing known.

use std::path::PathBuf;

use oddcell::{
    Context,
    calibrate::RobustNull,
    judged::{self, Found, TablePart, parts},
    model::{Detection, detect},
    table::Table,
    verdict::{self, Rule},
};
use oddcell_report::MapSource;

use super::rule;
use crate::{
    args::DetectArgs,
    failure::Failure,
    labels::Labels,
    learning::{self, Input},
    oddest::Oddest,
    output::Target,
    progress::Training,
    report::{self, Page},
    summary::{self, Summary},
};

pub(crate) fn run(args: &DetectArgs) -> Result<(), Failure> {
    let (options, seed) = learning::options(&args.learn, &args.columns)?;
    let rule = rule(&args.rule, Rule::FOR_ONE_TABLE)?;
    let target = Target::of(&args.output, &args.run)?;
    let inputs: Vec<&PathBuf> =
        [Some(&args.data), args.learn.config.as_ref()].into_iter().flatten().collect();
    if let Target::File(path, _) = &target {
        learning::check_output(path, &inputs)?;
    }
    report::check(args.report.report.as_ref(), &inputs, &report::file_of(&target))?;
    let Input { table, delimiter, mut notes } =
        learning::read_table(&args.data, &args.read, &args.columns, &options)?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let detection = pool.install(|| detect(&table, &options, &Context { seed, monitor: &progress }))?;
    progress.done();

    let reference = detection.null.reference();
    let odd = verdict::verdicts(rule, &detection.findings.scores, &detection.findings.p_values, reference);
    let page = args.report.report.as_ref();
    let mut page = Page::new(page, &detection.encoder, &table.origin, rule, reference, seed);
    let mut oddest = Oddest::to_show();
    let mut labels = Labels::default();
    for part in parts(&table.batches, &detection.findings) {
        oddest.add(&detection.encoder, part.batch, part.first_row, &table.origin, &part.findings)?;
        let truths = match &args.columns.label {
            Some(label) => {
                Some(labels.add(label, part.batch, &part.findings.scores, part.first_row, &table.origin)?)
            }
            None => None,
        };
        page.add(part.batch, &part.findings, truths)?;
    }
    pool.install(|| write(&table, &detection, &odd, &target, delimiter))?;

    notes.extend(detection.encoder.reports().iter().map(ToString::to_string));
    if !detection.null.has_tail() {
        // The k-th smallest rank is at least k/n, and so never at most SHARE · k/n.
        let blind =
            if matches!(rule, Rule::Fdr(_)) { ", by which --fdr finds nothing; use --top" } else { "" };
        notes.push(format!("{}{blind}", RobustNull::WITHOUT_TAIL));
    }
    let source = MapSource { fitted: Some(&*detection.first), noise: None };
    let report =
        page.write(source, &pool, || report::about(&table.origin, &options.detector, seed, &notes))?;
    let summary = Summary {
        data: table.origin.clone(),
        rows: table.n_rows(),
        odd: odd.iter().filter(|&&odd| odd).count(),
        rule: rule.to_string(),
        detector: options.detector.entry().name.to_owned(),
        params: options.detector.params().clone(),
        seed,
        metrics: args.columns.label.is_some().then(|| labels.metrics()),
        notes,
        output: summary::written_to(&target),
        report,
        timings: None,
        oddest: oddest.into_rows(),
    };
    summary.show(args.run.json, args.run.quiet, &target, &detection.encoder)
}

/// Writes all rows with what was found.
pub(crate) fn write(
    table: &Table,
    detection: &Detection,
    odd: &[bool],
    target: &Target,
    delimiter: Option<u8>,
) -> Result<(), Failure> {
    let Some(format) = target.format() else { return Ok(()) };
    target.write(&table.schema(), &table.columns, delimiter, |sink| {
        for part in parts(&table.batches, &detection.findings) {
            let TablePart { batch, first_row, findings } = part;
            let reasons =
                judged::reasons(&detection.encoder, batch, first_row, &table.origin, &findings, format)?;
            let verdicts = odd[first_row..][..batch.num_rows()].to_vec();
            let found = Found { scores: findings.scores, p_values: findings.p_values, reasons };
            sink.put(&judged::judged_batch(batch, found, Some(verdicts), format))?;
        }
        Ok(())
    })
}
