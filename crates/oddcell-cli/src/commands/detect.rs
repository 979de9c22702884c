//! `oddcell detect`: one table, nothing known.

use oddcell::{
    Context,
    model::{Detection, Findings, detect},
    table::{Format, Table},
    verdict::{self, Rule},
};

use super::rule;
use crate::{
    args::DetectArgs,
    failure::Failure,
    labels::Labels,
    learning::{self, Input},
    oddest::Oddest,
    output::{self, Found, Target},
    progress::Training,
    stream,
    summary::{self, Summary},
};

/// Without a rule: so that about one in ten of the rows called odd is expected to be normal.
const DEFAULT_RULE: Rule = Rule::Fdr(0.1);

pub(crate) fn run(args: &DetectArgs) -> Result<(), Failure> {
    let (options, seed) = learning::options(&args.learn, &args.columns)?;
    let rule = rule(&args.rule, DEFAULT_RULE)?;
    let target = Target::of(&args.output, &args.run)?;
    if let Target::File(path, _) = &target {
        learning::check_output(path, &[&args.data])?;
    }
    let Input { table, delimiter, mut notes } =
        learning::read_table(&args.data, &args.read, &args.columns, &options)?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let detection = pool.install(|| detect(&table, &options, &Context { seed, monitor: &progress }))?;
    progress.done();

    let odd = verdict::verdicts(
        rule,
        &detection.findings.scores,
        &detection.findings.p_values,
        detection.null.reference(),
    );
    let mut oddest = Oddest::to_show();
    let mut labels = Labels::default();
    for part in parts(&table, &detection.findings) {
        oddest.add(&detection.encoder, part.batch, part.first_row, &table.origin, &part.findings)?;
        if let Some(label) = &args.columns.label {
            labels.add(label, part.batch, &part.findings.scores, part.first_row, &table.origin)?;
        }
    }
    pool.install(|| write(&table, &detection, &odd, &target, delimiter))?;

    notes.extend(detection.encoder.reports().iter().map(ToString::to_string));
    if !detection.null.has_tail() {
        // The k-th smallest rank is at least k/n, and so never at most SHARE · k/n.
        let blind =
            if matches!(rule, Rule::Fdr(_)) { ", by which --fdr finds nothing; use --budget" } else { "" };
        notes.push(format!(
            "too few rows, or too many equal scores, to estimate p-values: they are plain ranks{blind}"
        ));
    }
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
        oddest: oddest.into_rows(),
    };
    summary.show(args.run.json, args.run.quiet, &target, &detection.encoder)
}

/// Batch by batch: the rows and what was found about them.
pub(crate) struct TablePart<'a> {
    pub(crate) batch: &'a arrow_array::RecordBatch,
    pub(crate) first_row: usize,
    pub(crate) findings: Findings,
}

/// The batches of a table with their part of the findings.
pub(crate) fn parts<'a>(table: &'a Table, findings: &'a Findings) -> impl Iterator<Item = TablePart<'a>> {
    let mut first_row = 0;
    table.batches.iter().map(move |batch| {
        let rows = first_row..first_row + batch.num_rows();
        let part = Findings {
            scores: findings.scores[rows.clone()].to_vec(),
            p_values: findings.p_values[rows.clone()].to_vec(),
            cells: findings.cells.as_ref().map(|cells| cells.take(&rows.clone().collect::<Vec<_>>())),
            surprises: findings.surprises.clone(),
        };
        let part = TablePart { batch, first_row, findings: part };
        first_row = rows.end;
        part
    })
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
        for part in parts(table, &detection.findings) {
            let batch = judged(&part, detection, odd, &table.origin, format)?;
            sink.put(&batch)?;
        }
        Ok(())
    })
}

fn judged(
    part: &TablePart<'_>,
    detection: &Detection,
    odd: &[bool],
    origin: &str,
    format: Format,
) -> Result<arrow_array::RecordBatch, Failure> {
    let reasons =
        stream::reasons(&detection.encoder, part.batch, part.first_row, origin, &part.findings, format)?;
    let verdicts = odd[part.first_row..][..part.batch.num_rows()].to_vec();
    let found =
        Found { scores: part.findings.scores.clone(), p_values: part.findings.p_values.clone(), reasons };
    output::judged_batch(part.batch, found, Some(verdicts), format)
}
