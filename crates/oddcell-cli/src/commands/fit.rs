//! `oddcell fit`: learn what is normal.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use oddcell::{
    Context, Model,
    detect::noise::NoiseParams,
    encode::Encoder,
    model::{FitOptions, Streaming},
    table::TableError,
    verdict::Rule,
};
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
    rows: u64,
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
    learning::check_output(&args.output, &inputs)?;
    report::check(args.report.report.as_ref(), &inputs, &[&args.output])?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let context = Context { seed, monitor: &progress };
    let learn = if args.stream { learn_streamed } else { learn_whole };
    let Learned { model, origin, mut notes, batches } = learn(args, &options, &context, &pool)?;
    progress.done();
    model.save(&args.output)?;
    notes.extend(model.encoder().reports().iter().map(ToString::to_string));

    let own = judge_own(args, batches, &origin, &model, &notes, &pool)?;
    let summary = FitSummary {
        data: origin,
        rows: model.n_rows(),
        columns: model.encoder().columns().len(),
        features: model.encoder().n_features(),
        members: model.members().len(),
        calibration_rows: model.members().iter().map(|member| member.calibration().len()).sum(),
        detector: options.detector.entry().name.to_owned(),
        params: options.detector.params().clone(),
        seed: seed.0,
        metrics: own.metrics,
        notes,
        model: args.output.display().to_string(),
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

/// A model, and where it comes from.
struct Learned {
    model: Model,
    origin: String,
    notes: Vec<String>,
    /// The rows it learned from, if they are in memory.
    batches: Option<Vec<RecordBatch>>,
}

fn learn_whole(
    args: &FitArgs,
    options: &FitOptions,
    context: &Context<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Learned, Failure> {
    let Input { table, notes, .. } = learning::read_table(&args.data, &args.read, &args.columns, options)?;
    let model = pool.install(|| Model::fit(&table, options, context))?;
    Ok(Learned { model, origin: table.origin, notes, batches: Some(table.batches) })
}

fn learn_streamed(
    args: &FitArgs,
    options: &FitOptions,
    context: &Context<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Learned, Failure> {
    if args.data == Path::new("-") {
        return Err(Failure::bad_input("--stream reads the table twice, which standard input cannot be")
            .with_hint("write the table to a file first"));
    }
    Streaming::check(options)?;
    let streaming = Streaming { memory: args.memory.0 as usize };
    let reader = learning::open_to_learn(&args.data, &args.read, options)?;
    let mut sample = streaming.sample(reader, context.seed)?;
    let (table, notes) = learning::with_kinds(sample.table, &args.columns)?;
    let origin = table.origin.clone();
    sample.table = table;
    let reopen = |encoder: &Encoder| learning::open(&args.data, &args.read, super::wanted(encoder, None));
    let model = pool.install(|| streaming.fit(&sample, reopen, options, context))?;
    Ok(Learned { model, origin, notes, batches: None })
}

impl FitSummary {
    fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "learned from {}, {} ({}) of {}",
            counted(self.rows as usize, "row", "rows"),
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
    batches: Option<Vec<RecordBatch>>,
    origin: &str,
    model: &Model,
    notes: &[String],
    pool: &rayon::ThreadPool,
) -> Result<Own, Failure> {
    let (label, page) = (args.columns.label.as_deref(), args.report.report.as_ref());
    if label.is_none() && page.is_none() {
        return Ok(Own { metrics: None, report: None });
    }
    let reference = model.reference();
    let mut page = Page::new(page, model.encoder(), origin, Rule::FOR_NEW_ROWS, &reference, model.seed());
    let mut labels = Labels::default();
    let mut first_row = 0;
    let batches: Box<dyn Iterator<Item = Result<RecordBatch, TableError>>> = match batches {
        Some(batches) => Box::new(batches.into_iter().map(Ok)),
        None => Box::new(learning::open(&args.data, &args.read, super::wanted(model.encoder(), label))?),
    };
    for batch in batches {
        let batch = batch?;
        let want_cells = args.report.report.is_some();
        let findings = pool.install(|| model.judge(&batch, first_row, origin, want_cells))?;
        let truths = match label {
            Some(label) => Some(labels.add(label, &batch, &findings.scores, first_row, origin)?),
            None => None,
        };
        page.add(&batch, &findings, truths)?;
        first_row += batch.num_rows();
    }
    let noise = NoiseParams::of(model.spec()).map(|params| params.noise());
    let source = MapSource { fitted: Some(model.members()[0].fitted()), noise: noise.as_ref() };
    let report = page.write(source, pool, || {
        let mut about = report::about(origin, model.spec(), model.seed(), notes);
        about.notes.insert(0, OWN_NOTE.to_owned());
        About { model: Some(args.output.display().to_string()), ..about }
    })?;
    Ok(Own { metrics: label.map(|_| labels.metrics()), report })
}
