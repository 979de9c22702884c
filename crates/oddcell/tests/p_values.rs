//! P-values of fresh normal rows, compared with what theory promises about them.
//!
//! A calibration set is a sample too: the p-values that one model gives to many rows go up and down together. So
//! every model judges one fresh row only, and there are many models, each fitted on a table of its own. Then the
//! p-values are independent, and how many of them are small is binomial. Seeds are fixed, so nothing can flicker.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod tables;

use arrow_select::concat::concat_batches;
use oddcell::{
    Context, DetectorSpec, Model, Seed,
    judge::Judge,
    model::FitOptions,
    table::Rows,
    verdict::{Rule, verdicts},
};
use rayon::prelude::*;
use tables::{batch, normal_rows, numbers, table, texts};

const LEVELS: [f64; 3] = [0.01, 0.05, 0.1];

/// The p-values that each of many models, fitted on `n_rows` rows of its own, gives to `n_fresh` others.
fn p_values(options: &FitOptions, n_rows: usize, n_models: u64, n_fresh: usize) -> Vec<f64> {
    let judged = |model: u64| {
        let mut stream = Seed(5).stream("rows", &[model]);
        let train = table(normal_rows(n_rows, &mut stream));
        let fresh = batch(normal_rows(n_fresh, &mut stream));
        let model = Model::fit(&train, options, &Context::silent(Seed(model))).unwrap();
        model.judge(Rows::new(fresh, 0, "fresh")).unwrap().findings.p_values
    };
    (0..n_models).into_par_iter().flat_map_iter(judged).collect()
}

fn options(detector: &str) -> FitOptions {
    FitOptions::new(DetectorSpec::new(detector, None).unwrap())
}

fn share_up_to(level: f64, p_values: &[f64]) -> f64 {
    p_values.iter().filter(|&&p| p <= level + 1e-12).count() as f64 / p_values.len() as f64
}

/// What a share of `n` independent draws exceeds its chance by, once in a thousand times.
fn slack(chance: f64, n: usize) -> f64 {
    3.09 * (chance * (1.0 - chance) / n as f64).sqrt()
}

/// Kolmogorov-Smirnov distance to the uniform distribution on 1/`steps`, 2/`steps`, …, 1.
fn distance_to_uniform(p_values: &[f64], steps: usize) -> f64 {
    let gap =
        |step: usize| (share_up_to(step as f64 / steps as f64, p_values) - step as f64 / steps as f64).abs();
    (1..=steps).map(gap).fold(0.0, f64::max)
}

/// Models with a table each.
const MODELS: u64 = 4_000;

#[test] // 20 % of 495 rows are 99: p is a multiple of 1/100, and each of them is equally likely. KS at 0.1 %: 1.95/√n.
fn with_a_holdout_p_values_are_uniform() {
    let mut options = options("knn");
    options.split.cross_fit_below = Some(0);
    let p_values = p_values(&options, 495, MODELS, 1);
    for level in LEVELS {
        let share = share_up_to(level, &p_values);
        assert!(
            (share - level).abs() < slack(level, p_values.len()),
            "{share} of the p-values are up to {level}"
        );
    }
    let (distance, critical) = (distance_to_uniform(&p_values, 100), 1.95 / (MODELS as f64).sqrt());
    assert!(distance < critical, "KS distance {distance}, critical {critical}");
}

#[test] // Equal scores (ecod has many far out) only make p-values larger.
fn with_a_holdout_and_ties_small_p_values_are_no_more_frequent_than_they_say() {
    let mut options = options("ecod");
    options.split.cross_fit_below = Some(0);
    let p_values = p_values(&options, 495, MODELS, 1);
    for level in LEVELS {
        let share = share_up_to(level, &p_values);
        assert!(share < level + slack(level, p_values.len()), "{share} of the p-values are up to {level}");
    }
}

/// How often theory allows p ≤ `level` with n rows in K folds. With p' = the weighted mean of the K p-values by fold,
/// p = ((n + K)·p' − (K − 1))/(n + 1), and a mean of p-values is at most x with a chance of at most 2x (Vovk and
/// Wang 2020).
fn cross_conformal_bound(level: f64, n: usize, k: usize) -> f64 {
    let (n, k) = (n as f64, k as f64);
    2.0 * ((n + 1.0) * level + k - 1.0) / (n + k)
}

#[test] // The first bound is theory; the second is what was measured: 0.009, 0.052 and 0.095 with 1,500 models.
fn with_folds_small_p_values_stay_within_the_bound_and_close_to_what_they_say() {
    let options = options("knn");
    let p_values = p_values(&options, 400, MODELS, 1);
    for level in LEVELS {
        let share = share_up_to(level, &p_values);
        let bound = cross_conformal_bound(level, 400, options.split.folds);
        assert!(share < bound + slack(bound, p_values.len()), "{share} of the p-values are up to {level}");
        assert!(share < level + slack(level, p_values.len()), "{share} of the p-values are up to {level}");
    }
}

#[test] // Ten models judge 1,000 rows each. Both samples count: a share varies by α(1 − α)·(1/calibration + 1/fresh rows).
fn p_values_of_a_net_are_uniform_with_a_holdout_and_with_folds() {
    let mut options = options("noise");
    options.detector.set_text("hidden", "8").unwrap();
    options.detector.set_text("train_for", "150 steps").unwrap();
    // 20 % of 2,000 rows calibrate, or all of 400 in folds.
    for n_rows in [2_000, 400] {
        let p_values = p_values(&options, n_rows, 10, 1_000);
        let spread = 1.0 / (10.0 * 400.0) + 1.0 / 10_000.0;
        for level in LEVELS {
            let share = share_up_to(level, &p_values);
            let most = level + 3.09 * (level * (1.0 - level) * spread).sqrt();
            assert!(share < most, "{n_rows} rows: {share} of the p-values are up to {level}");
        }
        // Members of folds compare with different rows and disagree, so p-values crowd a little around 1/2.
        let crowding = if n_rows == 400 { 0.04 } else { 0.0 };
        let (distance, critical) = (distance_to_uniform(&p_values, 401), 1.95 * spread.sqrt() + crowding);
        assert!(distance < critical, "{n_rows} rows: KS distance {distance}, critical {critical}");
    }
}

/// For many models with `n_rows` rows each: the share of normal rows among those that `fdr` calls odd, and the share
/// found of the odd ones. Each judges 20 normal rows and 10 whose numbers do not belong together.
fn false_and_found(n_rows: usize, rate: f64, n_models: u64) -> Vec<(f64, f64)> {
    let options = options("knn");
    let judged = |model: u64| {
        let mut stream = Seed(11).stream("rows", &[model]);
        let train = table(normal_rows(n_rows, &mut stream));
        let normal = batch(normal_rows(20, &mut stream));
        let signs: Vec<f64> = (0..10).map(|_| if stream.below(2) == 0 { -1.0 } else { 1.0 }).collect();
        let odd = batch(vec![
            ("first", numbers(signs.iter().map(|sign| 3.0 * sign))),
            ("second", numbers(signs.iter().map(|sign| -6.0 * sign))),
            ("name", texts(vec!["a"; 10])),
        ]);
        let rows = concat_batches(&normal.schema(), [&normal, &odd]).unwrap();
        let model = Model::fit(&train, &options, &Context::silent(Seed(model))).unwrap();
        let judged = model.judge(Rows::new(rows, 0, "fresh")).unwrap().findings;
        let called = verdicts(Rule::Fdr(rate), &judged.scores, &judged.p_values, &model.reference());
        let count = |rows: &[bool]| rows.iter().filter(|&&is_odd| is_odd).count() as f64;
        let (wrong, right) = (count(&called[..20]), count(&called[20..]));
        (wrong / (wrong + right).max(1.0), right / 10.0)
    };
    (0..n_models).into_par_iter().map(judged).collect()
}

#[test] // Benjamini and Hochberg promise the rate times the share of normal rows, 2/3, as a mean over tables.
fn false_discoveries_stay_below_the_rate_with_80_rows_in_folds_and_with_a_holdout() {
    for n_rows in [80, 1_200] {
        for rate in [0.05, 0.1] {
            let all = false_and_found(n_rows, rate, 600);
            let n = all.len() as f64;
            let mean = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / n;
            let (wrong, found) = (mean(|shares| shares.0), mean(|shares| shares.1));
            let spread = (all.iter().map(|(share, _)| (share - wrong).powi(2)).sum::<f64>() / n).sqrt();
            let most = rate * 2.0 / 3.0 + 3.09 * spread / n.sqrt();
            assert!(wrong < most, "{n_rows} rows: {wrong} false at {rate}, at most {most}");
            assert!(found > 0.8, "{n_rows} rows: {found} found at {rate}");
        }
    }
}
