//! Models with real nets, from table to findings: what they promise about numbers, rows and threads.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod tables;

use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, RecordBatch};
use oddcell::{
    Context, DetectorSpec, Error, Model, Monitor, Progress, Seed, Table,
    error::FitError,
    explain::{Unit, noise_by_column},
    judge::{Judge, Noise, Scorer},
    metrics::auc,
    model::{FitOptions, detect},
    table::Rows,
    verdict::{Rule, verdicts},
};
use tables::{batch, normal_rows, numbers, table, texts};

/// A narrow net that trains in a moment.
fn options() -> FitOptions {
    let mut spec = DetectorSpec::new("noise", None).unwrap();
    spec.set_text("hidden", "8").unwrap();
    spec.set_text("train_for", "150 steps").unwrap();
    FitOptions::new(spec)
}

fn fresh(n_rows: usize, index: u64) -> Vec<(&'static str, ArrayRef)> {
    normal_rows(n_rows, &mut Seed(100).stream("rows", &[index]))
}

fn rows(batch: &RecordBatch) -> Rows {
    Rows::new(batch.clone(), 0, "rows")
}

fn fit(n_rows: usize, seed: u64) -> Model {
    Model::fit(&table(fresh(n_rows, 0)), &options(), &Context::silent(Seed(seed))).unwrap()
}

#[test]
fn any_number_of_threads_gives_the_same_file_and_the_same_findings() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = fit(300, 7);
            let findings = model.judge(rows(&batch(fresh(700, 1)))).unwrap().findings;
            let detection = detect(&table(fresh(300, 0)), &options(), &Context::silent(Seed(7))).unwrap();
            (model.to_bytes().unwrap(), findings, detection.findings)
        })
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn another_seed_gives_another_model_and_the_same_seed_the_same() {
    assert_eq!(fit(300, 7).to_bytes().unwrap(), fit(300, 7).to_bytes().unwrap());
    assert_ne!(fit(300, 7).to_bytes().unwrap(), fit(300, 8).to_bytes().unwrap());
}

/// Stops the work once so many rows are done.
struct StopAfter(usize, AtomicUsize);

impl Monitor for StopAfter {
    fn advanced(&self, progress: Progress) {
        assert_eq!(progress.total, 20_000);
        self.1.store(progress.done, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

#[test]
fn many_batches_are_judged_like_one_and_the_work_can_be_stopped() {
    let model = fit(300, 1);
    let all = batch(fresh(20_000, 1));
    let whole = model.judge(rows(&all)).unwrap().findings;
    let batches = [all.slice(0, 1), all.slice(1, 0), all.slice(1, 19_999)];
    let judged = |batches: &[RecordBatch]| {
        let mut noise = Noise::new(Unit::StandardDeviations);
        let scorer = Scorer { cells: true, ..Scorer::new(&model, Rule::FOR_NEW_ROWS) };
        let (found, outcome) = scorer.collect("rows", batches, &mut [&mut noise]).unwrap();
        assert_eq!(outcome.n_rows, found.scores.len());
        (found.scores, found.p_values, noise.by_column(&model))
    };
    let noise = noise_by_column(model.encoder(), &whole.cells.unwrap(), Unit::StandardDeviations);
    assert_eq!(judged(&batches), (whole.scores, whole.p_values, Some(noise)));
    let (scores, _, noise) = judged(&[all.slice(0, 0)]);
    assert_eq!((scores.len(), noise.map(|noise| noise.n_rows())), (0, Some(0)));

    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let watch = StopAfter(8_000, AtomicUsize::new(0));
    let scorer = Scorer { monitor: &watch, ..Scorer::new(&model, Rule::FOR_NEW_ROWS) };
    let stopped = pool.install(|| scorer.collect("rows", &batches, &mut []));
    assert!(matches!(stopped, Err(Error::Fit(FitError::Cancelled))), "{stopped:?}");
    assert!((1..20_000).contains(&watch.1.into_inner()));
}

#[test]
fn the_findings_of_a_row_do_not_depend_on_the_rows_it_comes_with() {
    let model = fit(300, 1);
    let rows = rows(&batch(fresh(1_000, 1)));
    let whole = model.judge(rows.clone()).unwrap().findings;
    let cells = whole.cells.as_ref().unwrap();
    let mut at = 0;
    for length in [1, 2, 7, 255, 256, 257, 222] {
        let part = model.judge(rows.slice(at, length)).unwrap().findings;
        assert_eq!(part.scores, whole.scores[at..at + length]);
        assert_eq!(part.p_values, whole.p_values[at..at + length]);
        let n_features = cells.n_cols();
        assert_eq!(
            part.cells.unwrap().values(),
            &cells.values()[at * n_features..(at + length) * n_features]
        );
        at += length;
    }
    assert_eq!(at, 1_000);
    let none = model.judge(rows.slice(0, 0)).unwrap().findings;
    assert!(none.scores.is_empty() && none.p_values.is_empty());
}

#[test]
fn batches_of_the_training_table_make_no_difference() {
    let whole = table(fresh(300, 0));
    let rows = &whole.batches[0];
    let parts: Vec<RecordBatch> =
        [(0, 1), (1, 99), (100, 200)].map(|(at, length)| rows.slice(at, length)).to_vec();
    let parts = Table::from_batches("test.csv", parts).unwrap();
    let fit =
        |table: &Table| Model::fit(table, &options(), &Context::silent(Seed(1))).unwrap().to_bytes().unwrap();
    assert_eq!(fit(&whole), fit(&parts));
}

/// 400 normal rows and, in rows 0 to 7, a second column far out and against the first.
fn spoiled() -> Table {
    let mut columns = fresh(400, 0);
    let values =
        arrow_array::cast::as_primitive_array::<arrow_array::types::Float64Type>(&columns[1].1).clone();
    let spoiled = values.iter().enumerate().map(|(row, value)| match value {
        Some(value) if row < 8 => Some(-40.0 * value.signum()),
        other => other,
    });
    columns[1].1 = numbers(spoiled);
    table(columns)
}

#[test]
fn detect_finds_spoiled_rows_of_the_table_it_learned_from_and_their_cells() {
    let table = spoiled();
    let mut options = options();
    options.detector.set_text("train_for", "600 steps").unwrap();
    let detection = detect(&table, &options, &Context::silent(Seed(1))).unwrap();
    assert_eq!(detection.n_folds, 5);
    let findings = &detection.findings;
    let labels: Vec<bool> = (0..400).map(|row| row < 8).collect();
    let auc = auc(&findings.scores, &labels).unwrap();
    assert!(auc > 0.98, "so narrow a net is no expert, but it must not confuse rows: AUC {auc}");
    let odd = verdicts(Rule::Alpha(0.05), &findings.scores, &findings.p_values, detection.null.reference());
    assert!(odd[..8].iter().all(|&odd| odd), "p-values: {:?}", &findings.p_values[..8]);
    let false_alarms = odd[8..].iter().filter(|&&odd| odd).count();
    assert!(false_alarms <= 39, "{false_alarms} of 392 normal rows at 5 %, twice what is expected");
    let cells = findings.cells.as_ref().unwrap();
    // Features 0 and 1 are the two columns that contradict each other.
    let noise = |row: usize| cells.row(row)[0].max(cells.row(row)[1]);
    let mut usual: Vec<f64> = (8..400).map(noise).collect();
    usual.sort_unstable_by(f64::total_cmp);
    assert!((0..8).all(|row| noise(row) > usual[380]), "cells of spoiled rows stand where the rows stand");
}

#[test]
fn a_label_is_never_a_feature() {
    let with_label = |labels: Vec<&str>| {
        let mut columns = fresh(300, 0);
        columns.push(("label", texts(labels)));
        let mut options = options();
        options.label = Some("label".to_owned());
        detect(&table(columns), &options, &Context::silent(Seed(1))).unwrap().findings
    };
    let alternating = (0..300).map(|row| ["no", "yes"][row % 2]).collect();
    assert_eq!(with_label(vec!["no"; 300]), with_label(alternating));
}

#[test]
fn tables_that_cannot_be_learned_from_or_judged_are_refused_by_name() {
    let context = Context::silent(Seed(1));
    let one = Model::fit(&table(vec![("x", numbers([1.0]))]), &options(), &context);
    assert!(matches!(one, Err(Error::Fit(FitError::TooFewRows { got: 1, .. }))), "{one:?}");
    let mut absent = options();
    absent.label = Some("y".to_owned());
    assert!(matches!(detect(&table(fresh(50, 0)), &absent, &context), Err(Error::Encode(_))));
    let model = fit(300, 1);
    let narrow = model.judge(Rows::new(batch(vec![("first", numbers([1.0]))]), 0, "new.csv"));
    let message = narrow.unwrap_err().to_string();
    assert!(
        message.contains("new.csv") && message.contains("`second`") && message.contains("`name`"),
        "{message}"
    );
}
