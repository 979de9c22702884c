//! AUC and F1 of a detector on labelled sets, by the paper's protocol: a random half of the normal rows for
//! training, standardised by it, the rest and all anomalies for testing, the last state of training.
//!
//! `accuracy SEEDS FILE.npz,FILE.npz,... [detector=NAME] [preset=NAME] [KEY=VALUE ...]` prints CSV rows.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use std::{error::Error, path::Path, time::Instant};

use oddcell::{
    Context, DetectorSpec, Matrix, Seed, Table,
    metrics::{self, TieRule},
    table::{Cells, ColumnKind, ReadOptions, Source, read_cells},
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seeds, files, settings @ ..] = arguments.as_slice() else {
        return Err("usage: accuracy SEEDS FILES [detector=NAME] [preset=NAME] [KEY=VALUE ...]".into());
    };
    let value = |key: &str| settings.iter().find_map(|setting| setting.strip_prefix(key)?.strip_prefix('='));
    let mut spec = DetectorSpec::new(value("detector").unwrap_or("noise"), value("preset"))?;
    for setting in settings {
        match setting.split_once('=') {
            Some(("detector" | "preset", _)) => {}
            Some((key, value)) => spec.set_text(key, value)?,
            None => return Err(format!("{setting}: expected KEY=VALUE").into()),
        }
    }
    let detector = spec.build()?;
    println!("set,seed,auc,f1,fit_seconds,score_seconds");
    for file in files.split(',') {
        let (rows, anomalous) = read(Path::new(file))?;
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for seed in 0..seeds.parse::<u64>()? {
            let (train, test, truth) = split(&rows, &anomalous, Seed(seed));
            let start = Instant::now();
            let fitted = detector.fit(&train, &Context::silent(Seed(seed)))?;
            let fit_seconds = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let scores = fitted.score(&test)?;
            let score_seconds = start.elapsed().as_secs_f64();
            let auc = metrics::auc(&scores, &truth).unwrap_or(f64::NAN);
            let f1 = metrics::f1_at_n(&scores, &truth, TieRule::Strict).unwrap_or(f64::NAN);
            println!("{name},{seed},{auc:.4},{f1:.4},{fit_seconds:.2},{score_seconds:.3}");
        }
    }
    Ok(())
}

/// Features and labels of a set with the arrays `X` and `y`.
fn read(path: &Path) -> Result<(Matrix, Vec<bool>), Box<dyn Error>> {
    let table = Table::read(&Source::Path(path.to_owned()), &ReadOptions::default())?;
    let column = |name: &str| -> Result<Vec<f64>, Box<dyn Error>> {
        let at = table.column(name).ok_or("no such column")?;
        let mut numbers = Vec::with_capacity(table.n_rows());
        for batch in &table.batches {
            match read_cells(name, batch.column(at), ColumnKind::Number, 0, &table.origin)? {
                Cells::Numbers(part) => numbers.extend(part),
                Cells::Names(_) => return Err("a column of names".into()),
            }
        }
        Ok(numbers)
    };
    let anomalous = column("y")?.iter().map(|&label| label != 0.0).collect();
    let features = table.columns.iter().filter(|info| info.name.starts_with('x'));
    let columns: Vec<Vec<f64>> = features.map(|info| column(&info.name)).collect::<Result<_, _>>()?;
    let mut rows = Matrix::zeros(table.n_rows(), columns.len());
    for (at, column) in columns.iter().enumerate() {
        for (row, &value) in column.iter().enumerate() {
            rows.row_mut(row)[at] = value;
        }
    }
    Ok((rows, anomalous))
}

/// Training rows, test rows and their truth, standardised by the training rows.
fn split(rows: &Matrix, anomalous: &[bool], seed: Seed) -> (Matrix, Matrix, Vec<bool>) {
    let mut normal: Vec<usize> = (0..rows.n_rows()).filter(|&row| !anomalous[row]).collect();
    seed.stream("half", &[]).shuffle(&mut normal);
    let (train, rest) = normal.split_at(normal.len() / 2);
    let mut test: Vec<usize> =
        rest.iter().copied().chain((0..rows.n_rows()).filter(|&row| anomalous[row])).collect();
    test.sort_unstable();
    let (mut train, truth) = (rows.take(train), test.iter().map(|&row| anomalous[row]).collect());
    let mut test = rows.take(&test);
    for column in 0..rows.n_cols() {
        let n = train.n_rows() as f64;
        let mean = train.rows().map(|row| row[column]).sum::<f64>() / n;
        let variance = train.rows().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / n;
        let std = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        for matrix in [&mut train, &mut test] {
            for row in 0..matrix.n_rows() {
                let cell = &mut matrix.row_mut(row)[column];
                *cell = (*cell - mean) / std;
            }
        }
    }
    (train, test, truth)
}
