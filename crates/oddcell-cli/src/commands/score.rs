//! `oddcell score`: judge new rows with a model, in one stream.

use std::io::{Seek, SeekFrom};

use arrow_array::{Array, BooleanArray, RecordBatch, cast::AsArray, types::Float64Type};
use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
use oddcell::{
    Error, Model,
    encode::Surprises,
    judged,
    table::Format,
    verdict::{Cutoff, FirstPass, Rule},
};
use oddcell_report::{About, MapSource};

use super::{kinds, open, rule};
use crate::{
    args::ScoreArgs,
    failure::Failure,
    labels::Labels,
    learning,
    oddest::Oddest,
    output::{self, RowSink, Target},
    progress::Rows,
    report::{self, Page},
    show,
    stream::{self, Judged},
    summary::{self, Summary, count, counted},
    timings::{Part, Timings},
};

pub(crate) fn run(args: &ScoreArgs) -> Result<(), Failure> {
    let timings = Timings::start();
    let rule = rule(&args.rule, Rule::FOR_NEW_ROWS)?;
    let target = Target::of(&args.output, &args.run)?;
    let inputs = [&args.data, &args.model];
    if let Target::File(path, _) = &target {
        learning::check_output(path, &inputs)?;
    }
    report::check(args.report.report.as_ref(), &inputs, &report::file_of(&target))?;
    let model = Model::load(&args.model)?;
    let (reader, mut notes) =
        timings.time(Part::Reading, || open(&model, &args.data, &args.read, args.label.as_deref()))?;
    if let Some(label) = args.label.as_ref().filter(|&label| knows(&model, label)) {
        let message = format!("the model learned from the column `{label}`, so it cannot be the label");
        return Err(
            Failure::bad_input(message).with_hint(format!("fit the model again with --label {label}"))
        );
    }
    let origin = reader.origin().to_owned();
    let delimiter = reader.delimiter();
    let schema = reader.schema().clone();
    let pool = learning::pool(&args.run)?;

    let reference = model.reference();
    let page = args.report.report.as_ref();
    let page = Page::new(page, model.encoder(), &origin, rule, &reference, model.seed());
    let mut tally = Tally::new(&model, args.label.as_deref(), &origin, page, args.run.quiet);
    let write = |sink: &mut dyn RowSink| {
        let format = target.format();
        let mut pass = Pass::start(rule, format, &model, sink);
        let consume = |judged: Judged| {
            timings.time(Part::Summary, || tally.add(&judged))?;
            timings.time(Part::Writing, || pass.take(judged))
        };
        let notes = timings.wait(|| stream::judge_all(&model, reader, format, &pool, &timings, consume))?;
        Ok((pass.finish()?, notes))
    };
    let (odd, late_notes) =
        timings.time(Part::Writing, || target.write(&schema, &kinds(model.encoder()), delimiter, write))?;
    drop(tally.progress);
    notes.extend(too_coarse(&model, rule, tally.n_rows, odd));
    notes.extend(late_notes.iter().map(ToString::to_string));
    notes.extend(tally.surprises.notes(model.encoder()));
    let source = MapSource { fitted: Some(model.members()[0].fitted()), noise: None };
    let about = || About {
        model: Some(args.model.display().to_string()),
        trained: report::written_at(&args.model),
        ..report::about(&origin, model.spec(), model.seed(), &notes)
    };
    let report = timings.time(Part::Summary, || tally.page.write(source, &pool, about))?;
    let summary = Summary {
        data: origin.clone(),
        rows: tally.n_rows,
        odd,
        rule: rule.to_string(),
        detector: model.spec().entry().name.to_owned(),
        params: model.spec().params().clone(),
        seed: model.seed(),
        metrics: args.label.is_some().then(|| tally.labels.metrics()),
        notes,
        output: summary::written_to(&target),
        report,
        timings: args.timings.then(|| timings.spent()),
        oddest: tally.oddest.into_rows(),
    };
    summary.show(args.run.json, args.run.quiet, &target, model.encoder())
}

fn knows(model: &Model, column: &str) -> bool {
    model.encoder().columns().iter().any(|known| known.name() == column)
}

/// A rule that no row, or none alone, can meet, because the least p-value of n calibration rows is 1/(n + 1).
fn too_coarse(model: &Model, rule: Rule, n_rows: usize, odd: usize) -> Option<String> {
    let (Rule::Alpha(level) | Rule::Fdr(level)) = rule else { return None };
    let n: usize = model.members().iter().map(|member| member.calibration().len()).sum();
    let least = 1.0 / (n as f64 + 1.0);
    let rows = counted(n, "calibration row", "calibration rows");
    let with = format!("with {rows} no p-value is below {}", show::probability(least));
    if least > level {
        let needed = counted((1.0 / level).ceil() as usize - 1, "row", "rows");
        return Some(format!(
            "no row can be odd: {with}; for {level} the model must be calibrated on {needed}, or use --top or \
             --contamination"
        ));
    }
    // Benjamini-Hochberg calls k of m rows odd if their p-values are at most level · k/m.
    let together = (least * n_rows as f64 / level).ceil() as usize;
    (matches!(rule, Rule::Fdr(_)) && odd == 0 && together > 1).then(|| {
        let needed = counted((n_rows as f64 / level).ceil() as usize - 1, "row", "rows");
        format!(
            "no row can be odd alone: {with}, so at this false-discovery rate at least {} of {} must be as odd as that; \
             to find a single one the model must be calibrated on {needed}, or use --alpha or --top",
            count(together),
            counted(n_rows, "row", "rows"),
        )
    })
}

/// What is counted along the way.
struct Tally<'a> {
    model: &'a Model,
    label: Option<&'a str>,
    origin: &'a str,
    labels: Labels,
    oddest: Oddest,
    page: Page<'a>,
    surprises: Surprises,
    n_rows: usize,
    progress: Rows,
}

impl<'a> Tally<'a> {
    fn new(model: &'a Model, label: Option<&'a str>, origin: &'a str, page: Page<'a>, quiet: bool) -> Self {
        Self {
            model,
            label,
            origin,
            labels: Labels::default(),
            oddest: Oddest::to_show(),
            page,
            surprises: Surprises::none(model.encoder().columns().len()),
            n_rows: 0,
            progress: Rows::new(quiet),
        }
    }

    fn add(&mut self, judged: &Judged) -> Result<(), Failure> {
        let Judged { batch, first_row, findings, .. } = judged;
        self.oddest.add(self.model.encoder(), batch, *first_row, self.origin, findings)?;
        let truths = match self.label {
            Some(label) => Some(self.labels.add(label, batch, &findings.scores, *first_row, self.origin)?),
            None => None,
        };
        self.page.add(batch, findings, truths)?;
        self.surprises.add(&findings.surprises);
        self.n_rows += batch.num_rows();
        self.progress.add(batch.num_rows());
        Ok(())
    }
}

/// Rows on their way to the sink: straight, or through a spool where all rows must be seen before the first verdict.
enum Pass<'a> {
    Straight { sink: &'a mut dyn RowSink, cutoff: Cutoff, format: Option<Format>, odd: usize },
    Spooled { sink: &'a mut dyn RowSink, first: FirstPass, spool: Option<Box<Spool>>, format: Option<Format> },
}

impl<'a> Pass<'a> {
    fn start(rule: Rule, format: Option<Format>, model: &Model, sink: &'a mut dyn RowSink) -> Self {
        let first = FirstPass::new(rule, &model.reference());
        if rule.needs_two_passes() {
            Self::Spooled { sink, first, spool: None, format }
        } else {
            Self::Straight { sink, cutoff: first.decide(), format, odd: 0 }
        }
    }

    fn take(&mut self, mut judged: Judged) -> Result<(), Failure> {
        match self {
            Self::Straight { sink, cutoff, format, odd } => {
                let pairs = judged.findings.scores.iter().zip(&judged.findings.p_values).enumerate();
                let verdicts: Vec<bool> = pairs
                    .map(|(row, (&score, &p))| cutoff.is_odd(judged.first_row + row, score, p))
                    .collect();
                *odd += verdicts.iter().filter(|&&odd| odd).count();
                match format {
                    None => Ok(()),
                    Some(format) => {
                        let found = judged.found();
                        sink.put(&judged::judged_batch(&judged.batch, found, Some(verdicts), *format))
                    }
                }
            }
            Self::Spooled { first, spool, format, .. } => {
                for (&score, &p) in judged.findings.scores.iter().zip(&judged.findings.p_values) {
                    first.observe(score, p);
                }
                let found = judged.found();
                let batch = match format {
                    Some(format) => judged::judged_batch(&judged.batch, found, None, *format),
                    // Nothing is written, but the odd rows are counted.
                    None => judged::judged_batch(
                        &judged.batch.project(&[]).map_err(spool_error)?,
                        found,
                        None,
                        Format::Csv,
                    ),
                };
                if spool.is_none() {
                    *spool = Some(Box::new(Spool::new(&batch)?));
                }
                spool.as_mut().expect("just made").write(&batch)
            }
        }
    }

    /// The number of odd rows.
    fn finish(self) -> Result<usize, Failure> {
        match self {
            Self::Straight { odd, .. } => Ok(odd),
            Self::Spooled { sink, first, spool, .. } => {
                let cutoff = first.decide();
                let (mut odd, mut first_row) = (0, 0);
                let batches = spool.map(|spool| spool.read()).transpose()?.into_iter().flatten();
                for batch in batches {
                    let (batch, n_odd) = with_verdicts(&batch.map_err(spool_error)?, &cutoff, first_row)?;
                    first_row += batch.num_rows();
                    odd += n_odd;
                    sink.put(&batch)?;
                }
                Ok(odd)
            }
        }
    }
}

/// Puts the verdicts where they belong: between p-value and reasons.
fn with_verdicts(
    batch: &RecordBatch,
    cutoff: &Cutoff,
    first_row: usize,
) -> Result<(RecordBatch, usize), Failure> {
    let column = |name: &str| {
        batch.column_by_name(name).map(|array| array.as_primitive::<Float64Type>().values().to_vec())
    };
    let (Some(scores), Some(p_values)) = (column(judged::SCORE), column(judged::P)) else {
        unreachable!("the spool holds judged rows")
    };
    let verdicts: Vec<bool> = scores
        .iter()
        .zip(&p_values)
        .enumerate()
        .map(|(row, (&score, &p))| cutoff.is_odd(first_row + row, score, p))
        .collect();
    let odd = verdicts.iter().filter(|&&odd| odd).count();
    let mut columns = batch.columns().to_vec();
    let last = columns.len() - 1;
    columns.insert(last, std::sync::Arc::new(BooleanArray::from(verdicts)));
    let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
    fields.insert(
        last,
        std::sync::Arc::new(arrow_schema::Field::new(
            judged::VERDICT,
            arrow_schema::DataType::Boolean,
            false,
        )),
    );
    let schema = std::sync::Arc::new(arrow_schema::Schema::new(fields));
    let batch = RecordBatch::try_new(schema, columns).map_err(spool_error)?;
    debug_assert_eq!(batch.column(last).len(), batch.num_rows());
    Ok((batch, odd))
}

/// Judged rows on disk, in a temporary file without a name, until all have been seen.
struct Spool {
    writer: StreamWriter<std::fs::File>,
}

impl Spool {
    fn new(batch: &RecordBatch) -> Result<Self, Failure> {
        let file = tempfile::tempfile()
            .map_err(|source| output::file_error("create", &std::env::temp_dir(), source))?;
        Ok(Self { writer: StreamWriter::try_new(file, &batch.schema()).map_err(spool_error)? })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        self.writer.write(batch).map_err(spool_error)
    }

    fn read(self) -> Result<StreamReader<std::fs::File>, Failure> {
        let mut file = self.writer.into_inner().map_err(spool_error)?;
        file.seek(SeekFrom::Start(0))
            .map_err(|source| output::file_error("read", &std::env::temp_dir(), source))?;
        StreamReader::try_new(file, None).map_err(spool_error)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a map_err target")]
fn spool_error(error: arrow_schema::ArrowError) -> Failure {
    Failure::failed(format!("cannot keep the rows in a temporary file until all are seen: {error}"))
        .with_hint("--alpha and --contamination need no temporary file")
}

impl From<oddcell::error::ScoreError> for Failure {
    fn from(error: oddcell::error::ScoreError) -> Self {
        Error::from(error).into()
    }
}
