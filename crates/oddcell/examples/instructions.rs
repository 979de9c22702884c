//! For `benchmarks/instructions`: always the same few training steps and few thousand scored rows, on one
//! thread.
//!
//! The benchmark counts the instructions of every function below that is not inlined, by its name.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::error::Error;

use arrow_array::RecordBatch;
use oddcell::{
    Context, Detector, DetectorSpec, Fitted, Matrix, Model, Seed, Table, demo,
    error::FitError,
    judge::{Judgement, ReasonForm, Scorer, Sink, TOP_REASONS, VERDICT},
    model::FitOptions,
    table::{Format, ReadOptions, Rows, TableError, TableReader, TableWriter},
    verdict::Rule,
};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The origin of the rows in messages.
const ORIGIN: &str = "orders";

fn main() -> Outcome<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        training()?;
        scoring()
    })
}

/// Two steps of 64 rows, three noised copies each, 39 columns, 64 hidden units. It is small because Valgrind
/// emulates multiply-adds slowly.
fn training() -> Outcome<()> {
    let (n_rows, n_cols) = (128, 39);
    let mut stream = Seed(1).stream("rows", &[]);
    let rows = Matrix::new((0..n_rows * n_cols).map(|_| stream.normal()).collect(), n_rows, n_cols);
    let detector = |net| {
        let mut spec = noise("fast")?;
        spec.set_text("net", net)?;
        Outcome::Ok(spec.build()?)
    };
    train_mlp(&*detector("mlp")?, &rows)?;
    train_resmlp(&*detector("resmlp")?, &rows)?;
    Ok(())
}

fn noise(preset: &str) -> Outcome<DetectorSpec> {
    let mut spec = DetectorSpec::new("noise", Some(preset))?;
    spec.set_text("train_for", "2 steps")?;
    spec.set_text("batch_size", "64")?;
    Ok(spec)
}

#[inline(never)]
fn train_mlp(detector: &dyn Detector, rows: &Matrix) -> Result<Box<dyn Fitted>, FitError> {
    detector.fit(rows, &Context::silent(Seed(1)))
}

#[inline(never)]
fn train_resmlp(detector: &dyn Detector, rows: &Matrix) -> Result<Box<dyn Fitted>, FitError> {
    // Another seed, so that the compiler does not merge the two functions.
    detector.fit(rows, &Context::silent(Seed(2)))
}

/// What `oddcell score` does from CSV to CSV, with a model of numbers, dates, categories and nulls.
fn scoring() -> Outcome<()> {
    let csv = |n_rows, seed| demo::orders(n_rows, 0, Seed(seed)).csv.into_bytes();
    let table = Table::from_reader(reader(csv(1_000, 1))?)?;
    let model = Model::fit(&table, &FitOptions::new(noise("default")?), &Context::silent(Seed(1)))?;
    let mut judged = Batches(Vec::new());
    let scorer = Scorer { reasons: Some(ReasonForm::Text), ..Scorer::new(&model, Rule::FOR_NEW_ROWS) };
    for batch in read_csv(csv(2_048, 2))? {
        let judgement = judge_rows(&model, Rows::new(batch.clone(), 0, ORIGIN))?;
        println!("{} bytes of reasons", give_reasons(&model, &judgement)?.len());
        scorer.run(ORIGIN, [Ok(batch)].into_iter(), &mut [], Some(&mut judged))?;
    }
    println!("{} bytes written", write_csv(&judged.0)?.len());
    Ok(())
}

/// Judged rows without their verdicts.
struct Batches(Vec<RecordBatch>);

impl Sink for Batches {
    fn put(&mut self, mut judged: RecordBatch) -> Result<(), oddcell::Error> {
        judged.remove_column(judged.schema().index_of(VERDICT).expect("judged rows have verdicts"));
        self.0.push(judged);
        Ok(())
    }
}

fn reader(csv: Vec<u8>) -> Result<TableReader, TableError> {
    TableReader::from_bytes(ORIGIN, csv, &ReadOptions::default())
}

#[inline(never)]
fn read_csv(csv: Vec<u8>) -> Result<Vec<RecordBatch>, TableError> {
    reader(csv)?.collect()
}

#[inline(never)]
fn judge_rows(model: &Model, rows: Rows) -> Result<Judgement, oddcell::Error> {
    model.judge(rows)
}

#[inline(never)]
fn give_reasons(model: &Model, judgement: &Judgement) -> Outcome<String> {
    let explainer = judgement.explainer(model);
    let mut text = String::new();
    for (row, cells) in judgement.findings.cells.iter().flat_map(Matrix::rows).enumerate() {
        explainer.write_top(row, cells, TOP_REASONS, &mut text)?;
    }
    Ok(text)
}

#[inline(never)]
fn write_csv(judged: &[RecordBatch]) -> Result<Vec<u8>, TableError> {
    let mut writer = TableWriter::create("memory", Vec::new(), Format::Csv, &judged[0].schema(), &[])?;
    judged.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()
}
