//! `oddcell fit`: learn what is normal.

use std::{fmt::Write as _, path::PathBuf};

use oddcell::{Context, Model, detect::noise::NoiseParams, verdict::Rule};
use oddcell_report::{About, MapSource};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    args::FitArgs,
    failure::Failure,
    labels::{Labels, Metrics},
    learning::{self, Input},
    output,
    progress::Training,
    report::{self, Page},
    summary::{counted, note_line, report_line},
};

const OWN_NOTE: &str = "These are the rows that the model learned from. Most of them trained it, so their scores are \
                        lower, and their p-values higher, than those of new rows like them.";

#[derive(Serialize)]
struct FitSummary {
    data: String,
    rows: usize,
    columns: usize,
    features: usize,
    members: usize,
    calibration_rows: usize,
    detector: String,
    params: Map<String, Value>,
    seed: u64,
    /// How well the scores of the training rows themselves agree with their labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
    notes: Vec<String>,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

pub(crate) fn run(args: &FitArgs) -> Result<(), Failure> {
    let (options, seed) = learning::options(&args.learn, &args.columns)?;
    let inputs: Vec<&PathBuf> =
        [Some(&args.data), args.learn.config.as_ref()].into_iter().flatten().collect();
    learning::check_output(&args.model, &inputs)?;
    report::check(args.report.report.as_ref(), &inputs, &[&args.model])?;
    let Input { table, mut notes, .. } =
        learning::read_table(&args.data, &args.read, &args.columns, &options)?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let model = pool.install(|| Model::fit(&table, &options, &Context { seed, monitor: &progress }))?;
    progress.done();
    model.save(&args.model)?;
    notes.extend(model.encoder().reports().iter().map(ToString::to_string));

    let own = judge_own(args, &table, &model, &notes, &pool)?;
    let summary = FitSummary {
        data: table.origin.clone(),
        rows: table.n_rows(),
        columns: model.encoder().columns().len(),
        features: model.encoder().n_features(),
        members: model.members().len(),
        calibration_rows: model.members().iter().map(|member| member.calibration().len()).sum(),
        detector: options.detector.entry().name.to_owned(),
        params: options.detector.params().clone(),
        seed: seed.0,
        metrics: own.metrics,
        notes,
        model: args.model.display().to_string(),
        report: own.report,
    };
    if args.run.json {
        return output::print_json(&summary);
    }
    if !args.run.quiet {
        output::eprint_line(summary.text().trim_end());
    }
    Ok(())
}

impl FitSummary {
    fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "learned from {}, {} ({}) of {}",
            counted(self.rows, "row", "rows"),
            counted(self.columns, "column", "columns"),
            counted(self.features, "feature", "features"),
            self.data
        );
        let how = match self.members {
            1 => format!("calibrated on {} held out", counted(self.calibration_rows, "row", "rows")),
            n => format!("cross-fitted: {n} nets, each calibrated on the rows it did not see"),
        };
        let _ = writeln!(text, "{how}");
        if let Some(metrics) = &self.metrics {
            let _ = writeln!(text, "on its own training rows {metrics}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "{}", note_line(note));
        }
        let _ = writeln!(text, "written to {}", self.model);
        if let Some(report) = &self.report {
            let _ = writeln!(text, "{}", report_line(report));
        }
        text
    }
}

/// What the model says about the rows it learned from, where somebody asks.
struct Own {
    metrics: Option<Metrics>,
    report: Option<String>,
}

fn judge_own(
    args: &FitArgs,
    table: &oddcell::Table,
    model: &Model,
    notes: &[String],
    pool: &rayon::ThreadPool,
) -> Result<Own, Failure> {
    let (label, page) = (args.columns.label.as_deref(), args.report.report.as_ref());
    if label.is_none() && page.is_none() {
        return Ok(Own { metrics: None, report: None });
    }
    let reference = model.reference();
    let mut page =
        Page::new(page, model.encoder(), &table.origin, Rule::FOR_NEW_ROWS, &reference, model.seed());
    let mut labels = Labels::default();
    let mut first_row = 0;
    for batch in &table.batches {
        let want_cells = args.report.report.is_some();
        let findings = pool.install(|| model.judge(batch, first_row, &table.origin, want_cells))?;
        let truths = match label {
            Some(label) => Some(labels.add(label, batch, &findings.scores, first_row, &table.origin)?),
            None => None,
        };
        page.add(batch, &findings, truths)?;
        first_row += batch.num_rows();
    }
    let noise = NoiseParams::of(model.spec()).map(|params| params.noise());
    let source = MapSource { fitted: Some(model.members()[0].fitted()), noise: noise.as_ref() };
    let report = page.write(source, pool, || {
        let mut about = report::about(&table.origin, model.spec(), model.seed(), notes);
        about.notes.insert(0, OWN_NOTE.to_owned());
        About { model: Some(args.model.display().to_string()), ..about }
    })?;
    Ok(Own { metrics: label.map(|_| labels.metrics()), report })
}
