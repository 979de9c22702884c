//! What `detect --fdr 0.1` calls odd, in tables whose odd rows are known. Seeds are fixed, so nothing can flicker.
//! `examples/false_discoveries.rs` measures the same with more tables, sizes and detectors; docs/calibration.md has the
//! figures.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod tables;

use arrow_array::ArrayRef;
use oddcell::{
    Context, DetectorSpec, Seed,
    model::{FitOptions, detect},
    seed::Stream,
    verdict::{Rule, verdicts},
};
use rayon::prelude::*;
use tables::{numbers, table};

const N_ROWS: usize = 300;
const N_COLUMNS: usize = 6;
const NAMES: [&str; N_COLUMNS] = ["a", "b", "c", "d", "e", "f"];

/// Whether any row of each of `n_tables` tables was called, and the shares of odd rows found and of calls that were wrong.
fn called(
    n_tables: u64,
    n_odd: usize,
    cell: impl Fn(&mut Stream, usize, f64) -> f64 + Sync,
) -> (usize, f64, f64) {
    let judged = |index: u64| {
        let mut stream = Seed(31).stream("tables", &[index, n_odd as u64]);
        let mut columns = vec![Vec::new(); N_COLUMNS];
        for row in 0..N_ROWS {
            let factor = stream.normal();
            let mut cells: Vec<f64> = (0..N_COLUMNS).map(|_| cell(&mut stream, row, factor)).collect();
            if row < n_odd {
                for &column in &stream.permutation(N_COLUMNS)[..2] {
                    let sign = if stream.below(2) == 0 { -1.0 } else { 1.0 };
                    cells[column] += sign * (6.0 + 6.0 * stream.uniform());
                }
            }
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        }
        let columns = NAMES.into_iter().zip(columns.into_iter().map(|column| numbers(column)));
        let table = table(columns.collect::<Vec<(&str, ArrayRef)>>());
        let options = FitOptions::new(DetectorSpec::new("knn", None).unwrap());
        let detection = detect(&table, &options, &Context::silent(Seed(index))).unwrap();
        let (scores, p_values) = (&detection.findings.scores, &detection.findings.p_values);
        let called = verdicts(Rule::Fdr(0.1), scores, p_values, detection.null.reference());
        let count = |rows: &[bool]| rows.iter().filter(|&&is_odd| is_odd).count() as f64;
        let (right, wrong) = (count(&called[..n_odd]), count(&called[n_odd..]));
        (called.contains(&true), right / (n_odd as f64).max(1.0), wrong / (right + wrong).max(1.0))
    };
    let all: Vec<_> = (0..n_tables).into_par_iter().map(judged).collect();
    let mean = |of: fn(&(bool, f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / n_tables as f64;
    (all.iter().filter(|judged| judged.0).count(), mean(|judged| judged.1), mean(|judged| judged.2))
}

fn gaussian(stream: &mut Stream, _: usize, factor: f64) -> f64 {
    0.7 * factor + 0.7 * stream.normal()
}

fn heavy_tailed(stream: &mut Stream, _: usize, _: f64) -> f64 {
    let square: f64 = (0..3).map(|_| stream.normal().powi(2)).sum();
    stream.normal() / (square / 3.0).sqrt()
}

fn with_equal_rows(stream: &mut Stream, row: usize, factor: f64) -> f64 {
    let cell = gaussian(stream, row, factor);
    if row * 10 < N_ROWS * 3 { 0.5 } else { cell }
}

#[test] // 10 % of 100 tables are 10; in one of a thousand sets of 100 tables with that rate there are more than 20.
fn clean_tables_have_calls_at_most_as_often_as_the_rate_says() {
    for (name, calls) in [
        ("Gaussian", called(100, 0, gaussian).0),
        ("heavy-tailed", called(100, 0, heavy_tailed).0),
        ("30 % equal rows", called(100, 0, with_equal_rows).0),
    ] {
        assert!(calls <= 10, "{name}: calls in {calls} of 100 clean tables");
    }
}

#[test]
fn odd_rows_are_found_from_one_to_thirty_per_cent() {
    for n_odd in [3, 15, 45, 90] {
        let (_, found, wrong) = called(30, n_odd, gaussian);
        assert!(found > 0.95, "{found} of {n_odd} found");
        assert!(wrong < 0.1, "{wrong} of the calls are wrong with {n_odd} odd rows");
    }
}
