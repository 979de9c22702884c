//! For `benchmarks/instructions`: a few training steps and a few thousand scored rows, always the same, on one thread.
//!
//! Every function below that is not inlined is a part whose instructions are counted, by its name.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::error::Error;

use arrow_array::RecordBatch;
use oddcell::{
    Context, Detector, DetectorSpec, Fitted, Matrix, Model, Seed, Table, demo,
    error::FitError,
    judged::{self, Found},
    model::{Findings, FitOptions},
    table::{Format, ReadOptions, TableError, TableReader, TableWriter},
};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Where the rows come from, in messages.
const ORIGIN: &str = "orders";

fn main() -> Outcome<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        training()?;
        scoring()
    })
}

/// Two steps of 64 rows, three noised copies each, 39 columns, 64 hidden units: Valgrind takes its time for multiply-adds.
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
    // Another seed, lest the compiler makes one function of the two.
    detector.fit(rows, &Context::silent(Seed(2)))
}

/// The way of `oddcell score` from CSV to CSV with a model as `fit` makes it: numbers, dates, categories, nulls.
fn scoring() -> Outcome<()> {
    let csv = |n_rows, seed| demo::orders(n_rows, 0, Seed(seed)).csv.into_bytes();
    let table = Table::from_reader(reader(csv(1_000, 1))?)?;
    let model = Model::fit(&table, &FitOptions::new(noise("default")?), &Context::silent(Seed(1)))?;
    let batches = read_csv(csv(2_048, 2))?;
    let mut judged = Vec::new();
    let mut first_row = 0;
    for batch in batches {
        let findings = judge_rows(&model, &batch, first_row)?;
        let reasons = give_reasons(&model, &batch, first_row, &findings)?;
        first_row += batch.num_rows();
        let found = Found { scores: findings.scores, p_values: findings.p_values, reasons };
        judged.push(judged::judged_batch(&batch, found, None, Format::Csv));
    }
    println!("{} bytes written", write_csv(&judged)?.len());
    Ok(())
}

fn reader(csv: Vec<u8>) -> Result<TableReader, TableError> {
    TableReader::from_bytes(ORIGIN, csv, &ReadOptions::default())
}

#[inline(never)]
fn read_csv(csv: Vec<u8>) -> Result<Vec<RecordBatch>, TableError> {
    reader(csv)?.collect()
}

#[inline(never)]
fn judge_rows(model: &Model, batch: &RecordBatch, first_row: usize) -> Result<Findings, oddcell::Error> {
    model.judge(batch, first_row, ORIGIN, true)
}

#[inline(never)]
fn give_reasons(
    model: &Model,
    batch: &RecordBatch,
    first_row: usize,
    findings: &Findings,
) -> Outcome<Option<arrow_array::StringArray>> {
    Ok(judged::reasons(model.encoder(), batch, first_row, ORIGIN, findings, Format::Csv)?)
}

#[inline(never)]
fn write_csv(judged: &[RecordBatch]) -> Result<Vec<u8>, TableError> {
    let mut writer = TableWriter::create(Vec::new(), Format::Csv, &judged[0].schema(), &[])?;
    judged.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()
}
