//! The classical detectors against scores of `PyOD` and scikit-learn on small tables
//! (`golden/classical.json`, `golden/baselines.json`). Tolerance 1e-9, relative for scores above 1.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use oddcell::{Context, DetectorSpec, Fitted, Matrix, Seed};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Golden {
    tables: BTreeMap<String, Table>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Table {
    train: Vec<Vec<f64>>,
    test: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    table: String,
    detector: String,
    params: Map<String, Value>,
    train: Vec<f64>,
    test: Option<Vec<f64>>,
    each_alone: Option<Vec<f64>>,
}

/// Scores of the other baselines, written by `golden/baselines.py`.
fn baselines() -> Golden {
    serde_json::from_str(include_str!("golden/baselines.json")).unwrap()
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/classical.json")).unwrap()
}

fn fit(case: &Case, preset: &str, train: &Matrix) -> Box<dyn Fitted> {
    let mut spec = DetectorSpec::new(&case.detector, Some(preset)).unwrap();
    case.params.iter().for_each(|(name, value)| spec.set(name, value.clone()).unwrap());
    spec.build().unwrap().fit(train, &Context::silent(Seed(0))).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        let tolerance = 1e-9 * expected.abs().max(1.0);
        assert!((found - expected).abs() <= tolerance, "{what}, row {row}: {found}, expected {expected}");
    }
}

fn each_alone(fitted: &dyn Fitted, rows: &Matrix) -> Vec<f64> {
    (0..rows.n_rows()).map(|row| fitted.score(&rows.take(&[row])).unwrap()[0]).collect()
}

#[test]
fn the_classical_detectors_give_the_scores_of_pyod() {
    let golden = golden();
    assert_eq!(golden.cases.len(), 15);
    for case in &golden.cases {
        let table = &golden.tables[&case.table];
        let what = format!("{} {}", case.table, case.name);
        let train = Matrix::from_rows(&table.train);
        // PyOD ranks the rows that copod and ecod judge among each other.
        let joint = ["copod", "ecod"].contains(&case.detector.as_str());
        let fitted = fit(case, if joint { "paper" } else { "default" }, &train);
        assert_eq!(fitted.is_joint(), joint);
        let among_themselves = fitted.training_scores(0..train.n_rows());
        let training_scores = among_themselves.unwrap_or_else(|| fitted.score(&train).unwrap());
        assert_close(&training_scores, &case.train, &format!("{what}, train"));
        if let (Some(test), Some(alone)) = (&case.test, &case.each_alone) {
            let rows = Matrix::from_rows(&table.test);
            assert_close(&fitted.score(&rows).unwrap(), test, &format!("{what}, test"));
            assert_close(&each_alone(&*fitted, &rows), alone, &format!("{what}, each alone"));
        }
    }
}

#[test]
fn the_other_baselines_give_the_scores_of_pyod_and_scikit_learn() {
    let golden = baselines();
    let count = |detector: &str| golden.cases.iter().filter(|case| case.detector == detector).count();
    assert_eq!(["hbos", "mcd", "dte-np"].map(count), [8, 2, 4]);
    for case in &golden.cases {
        let table = &golden.tables[&case.table];
        let what = format!("{} {}", case.table, case.name);
        let (train, test) = (Matrix::from_rows(&table.train), Matrix::from_rows(&table.test));
        let fitted = fit(case, "default", &train);
        let training_scores =
            fitted.training_scores(0..train.n_rows()).unwrap_or_else(|| fitted.score(&train).unwrap());
        assert_close(&training_scores, &case.train, &format!("{what}, train"));
        let found = fitted.score(&test).unwrap();
        assert_close(&found, case.test.as_ref().unwrap(), &format!("{what}, test"));
    }
}

// The default of copod and ecod counts a row among the training rows and keeps their skewness. No row of
// these tables turns the sign of a skewness by itself, so the default is PyOD with each row in its own call.
#[test]
fn train_only_tails_give_the_scores_of_pyod_for_each_row_in_its_own_call() {
    let golden = golden();
    for case in golden.cases.iter().filter(|case| case.each_alone.is_some()) {
        let table = &golden.tables[&case.table];
        let (train, test) = (Matrix::from_rows(&table.train), Matrix::from_rows(&table.test));
        if !["copod", "ecod"].contains(&case.detector.as_str()) {
            continue;
        }
        let found = fit(case, "default", &train).score(&test).unwrap();
        assert_close(&found, case.each_alone.as_ref().unwrap(), &format!("{} {}", case.table, case.name));
    }
}

/// The mean score of every row over `n_forests` forests of the default size.
fn mean_scores(train: &Matrix, rows: &Matrix, n_forests: u64) -> Vec<f64> {
    let detector = DetectorSpec::new("iforest", None).unwrap().build().unwrap();
    let mut means = vec![0.0; rows.n_rows()];
    for seed in 0..n_forests {
        let fitted = detector.fit(train, &Context::silent(Seed(seed))).unwrap();
        for (mean, score) in means.iter_mut().zip(fitted.score(rows).unwrap()) {
            *mean += score / n_forests as f64;
        }
    }
    means
}

/// Expected: (mean over scikit-learn's forests, standard deviation between forests). Both means are
/// estimates.
fn assert_means(found: &[f64], expected: &[(f64, f64)], n_ours: f64, n_theirs: f64) {
    assert_eq!(found.len(), expected.len());
    for (row, (found, (mean, sd))) in found.iter().zip(expected).enumerate() {
        let tolerance = 5.0 * sd * (1.0 / n_ours.sqrt() + 1.0 / n_theirs.sqrt());
        assert!((found - mean).abs() <= tolerance, "row {row}: {found}, expected {mean} ± {tolerance}");
    }
}

#[test] // Twelve rows: every forest cuts all of them, four levels deep. Means of 200 forests of scikit-learn.
fn isolation_forests_of_a_small_table_agree_with_scikit_learn_on_average() {
    let golden = golden();
    let (train, test) = (Matrix::from_rows(&golden.tables["G1"].train), &golden.tables["G1"].test);
    let means =
        [0.3839, 0.3968, 0.4389, 0.4440, 0.4383, 0.4265, 0.4126, 0.4087, 0.6369, 0.5952, 0.3748, 0.6223];
    let sds =
        [0.0068, 0.0077, 0.0104, 0.0108, 0.0103, 0.0101, 0.0077, 0.0087, 0.0174, 0.0154, 0.0060, 0.0131];
    let expected: Vec<_> = means.into_iter().zip(sds).collect();
    assert_means(&mean_scores(&train, &train, 50), &expected, 50.0, 200.0);
    let expected = [(0.3829, 0.0067), (0.4036, 0.0085), (0.7269, 0.0130), (0.4647, 0.0125)];
    assert_means(&mean_scores(&train, &Matrix::from_rows(test), 50), &expected, 50.0, 200.0);
}

#[test] // 300 rows, samples of 256, eight levels. Means of 100 forests of scikit-learn.
fn isolation_forests_of_samples_agree_with_scikit_learn_on_average() {
    let rows: Vec<[f64; 3]> = (0..300)
        .map(|i| {
            let x = f64::from(i);
            let middle = f64::from((37 * i) % 101) / 101.0;
            [(1.7 * x).sin() + 0.1 * (0.3 * x).cos(), middle, (0.9 * x).cos().powi(3)]
        })
        .collect();
    let queries = Matrix::from_rows(&[[0.0, 0.5, 0.0], [1.0, 0.1, 0.9], [2.5, 0.5, 0.0], [3.0, 2.0, -2.0]]);
    let expected = [(0.4513, 0.0070), (0.5716, 0.0092), (0.5036, 0.0095), (0.6429, 0.0083)];
    assert_means(&mean_scores(&Matrix::from_rows(&rows), &queries, 50), &expected, 50.0, 100.0);
}
