//! `oddcell fit`: learns what is normal.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use oddcell::{
    Context, Model, Silent, Table,
    encode::Encoder,
    judge::Judge,
    metrics::Metrics,
    model::{FitOptions, Streaming},
    verdict::Rule,
};
use oddcell_report::About;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    args::FitArgs,
    failure::Failure,
    judging::{self, Judging, Origin},
    learning::{self, Kinds},
    output,
    progress::Training,
    report,
    summary::{counted, note_line},
    understood::{self, Understood},
};

const OWN_NOTE: &str = "The model learned from these rows. Most of them trained it, so their scores are lower, and their \
                        p-values higher, than those of similar new rows.";

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
    /// How well the scores of the training rows agree with their labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
    /// How the columns were understood.
    #[serde(flatten)]
    understood: Understood,
    notes: Vec<String>,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

pub(crate) fn run(args: &FitArgs) -> Result<(), Failure> {
    let (options, seed, kinds) = learning::options(&args.learn, &args.columns, &args.read)?;
    let inputs: Vec<&PathBuf> =
        [Some(&args.data), args.learn.config.as_ref()].into_iter().flatten().collect();
    learning::check_output(&args.output, &inputs)?;
    report::check(args.report.report.as_ref(), &inputs, &[&args.output])?;
    let progress = Training::new("learning", args.run.quiet);
    let pool = learning::pool(&args.run)?;
    let context = Context { seed, monitor: &progress };
    let learn = if args.stream { learn_streamed } else { learn_whole };
    let Learned { model, origin, mut notes, table } = learn(args, &options, &kinds, &context, &pool)?;
    progress.done();
    model.save(&args.output)?;
    notes.extend(model.spec().note());
    notes.extend(understood::notes(model.encoder()));

    let (metrics, report) = judge_own(args, table, &origin, &model, &notes, &pool)?;
    let summary = FitSummary {
        data: origin,
        rows: model.n_rows(),
        columns: model.encoder().columns().len(),
        features: model.encoder().n_features(),
        members: model.members().len(),
        calibration_rows: model.n_calibration_rows(),
        detector: model.spec().entry().name.to_owned(),
        params: model.spec().params().clone(),
        seed: seed.0,
        metrics,
        understood: Understood::of(model.encoder()),
        notes,
        model: args.output.display().to_string(),
        report,
    };
    if args.run.json {
        return output::print_json(&summary);
    }
    if !args.run.quiet {
        output::eprint_line(summary.text().trim_end());
    }
    Ok(())
}

/// A model and the table it comes from.
struct Learned {
    model: Model,
    origin: String,
    notes: Vec<String>,
    /// The table, if it is in memory.
    table: Option<Table>,
}

fn learn_whole(
    args: &FitArgs,
    options: &FitOptions,
    kinds: &Kinds,
    context: &Context<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Learned, Failure> {
    let (table, _) = learning::read_table(&args.data, &args.read, &args.columns, kinds, &options.encode)?;
    let model = pool.install(|| Model::fit(&table, options, context))?;
    Ok(Learned { model, origin: table.origin.clone(), notes: table.all_notes(), table: Some(table) })
}

fn learn_streamed(
    args: &FitArgs,
    options: &FitOptions,
    kinds: &Kinds,
    context: &Context<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Learned, Failure> {
    if args.data == Path::new("-") {
        return Err(Failure::bad_input(
            "--stream reads the table twice; standard input can be read only once",
        )
        .with_hint("write the table to a file first"));
    }
    Streaming::check(options)?;
    let streaming = Streaming { memory: args.memory.0 as usize };
    let reader = learning::open_to_learn(&args.data, &args.read, &args.columns, &options.encode)?;
    let mut sample = streaming.sample(reader, context.seed)?;
    sample.table = learning::with_kinds(sample.table, &args.columns, kinds)?;
    let reopen = |encoder: &Encoder| learning::open(&args.data, &args.read, super::wanted(encoder, None));
    let model = pool.install(|| streaming.fit(&sample, reopen, options, context))?;
    let Table { notes, origin, .. } = sample.table;
    Ok(Learned { model, notes, origin, table: None })
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
            n => format!("cross-fitted: {n} detectors, each calibrated on the rows it did not see"),
        };
        let _ = writeln!(text, "{how}");
        if let Some(metrics) = &self.metrics {
            let _ = writeln!(text, "on its own training rows {metrics}");
        }
        let _ = writeln!(text, "{}", self.understood.line());
        for note in &self.notes {
            let _ = writeln!(text, "{}", note_line(note));
        }
        let _ = writeln!(text, "written to {}", self.model);
        if let Some(report) = &self.report {
            let _ = writeln!(text, "report: {report}");
        }
        text
    }
}

fn judge_own(
    args: &FitArgs,
    table: Option<Table>,
    name: &str,
    model: &Model,
    notes: &[String],
    pool: &rayon::ThreadPool,
) -> Result<(Option<Metrics>, Option<String>), Failure> {
    let (label, page) = (args.columns.label.as_deref(), args.report.report.as_ref());
    if label.is_none() && page.is_none() {
        return Ok((None, None));
    }
    let judging =
        Judging { truths: judging::truths(label), page, ..Judging::new(model, Rule::FOR_NEW_ROWS, &Silent) };
    let mut judged = if let Some(table) = table {
        judging.run(&Origin::unwritten(name), table.batches.into_iter().map(Ok), pool)?
    } else {
        let reader = learning::open(&args.data, &args.read, super::wanted(model.encoder(), label))?;
        judging.run(&Origin::unwritten(name), reader, pool)?
    };
    let report = judged.write_page(true, pool, || {
        let mut about = report::about(name, model, notes);
        about.notes.insert(0, OWN_NOTE.to_owned());
        About { model: Some(args.output.display().to_string()), ..about }
    })?;
    Ok((judged.metrics, report))
}
