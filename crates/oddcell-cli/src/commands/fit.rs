//! `oddcell fit`: learn what is normal.

use std::fmt::Write as _;

use oddcell::{Context, Model};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    args::FitArgs,
    failure::Failure,
    labels::{Labels, Metrics},
    learning::{self, Input},
    output,
    progress::Training,
    summary::{counted, note_line},
};

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
}

pub(crate) fn run(args: &FitArgs) -> Result<(), Failure> {
    let (options, seed) = learning::options(&args.learn, &args.columns)?;
    learning::check_output(&args.model, &[&args.data])?;
    let Input { table, mut notes, .. } =
        learning::read_table(&args.data, &args.read, &args.columns, &options)?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let model = pool.install(|| Model::fit(&table, &options, &Context { seed, monitor: &progress }))?;
    progress.done();
    model.save(&args.model)?;
    notes.extend(model.encoder().reports().iter().map(ToString::to_string));

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
        metrics: args
            .columns
            .label
            .as_deref()
            .map(|label| metrics(&table, &model, label, &pool))
            .transpose()?,
        notes,
        model: args.model.display().to_string(),
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
        text
    }
}

/// How well the scores of the training rows agree with their labels.
fn metrics(
    table: &oddcell::Table,
    model: &Model,
    label: &str,
    pool: &rayon::ThreadPool,
) -> Result<Metrics, Failure> {
    let mut labels = Labels::default();
    let mut first_row = 0;
    for batch in &table.batches {
        let findings = pool.install(|| model.judge(batch, first_row, &table.origin, false))?;
        labels.add(label, batch, &findings.scores, first_row, &table.origin)?;
        first_row += batch.num_rows();
    }
    Ok(labels.metrics())
}
