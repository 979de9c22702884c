//! Tests of the whole, and of its parts on the same rows.

use proptest::prelude::*;

use super::{start::principal, *};

/// Evenly spread numbers in (−1, 1), always the same.
fn noise(count: usize) -> Vec<f64> {
    (1..=count).map(|k| 2.0 * (k as f64 * 0.618_033_988_749_894_9).fract() - 1.0).collect()
}

/// Two clusters of `each` rows in 5 columns, 20 apart in the first.
fn clusters(each: usize) -> Vec<f64> {
    let mut values = noise(2 * each * 5);
    for row in each..2 * each {
        values[row * 5] += 20.0;
    }
    values
}

fn map(values: &[f64], n_columns: usize, params: TsneParams) -> Result<Vec<(f64, f64)>, TsneError> {
    tsne(&Matrix::new(values.to_vec(), values.len() / n_columns, n_columns), &params)
}

fn with(perplexity: f64) -> TsneParams {
    TsneParams { perplexity, ..TsneParams::default() }
}

/// Σ pᵢⱼ ln(pᵢⱼ/qᵢⱼ), straight from the definition.
fn loss(p: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let n = x.len();
    let w = |i: usize, j: usize| 1.0 / (1.0 + (x[i] - x[j]).powi(2) + (y[i] - y[j]).powi(2));
    let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j);
    let total: f64 = pairs().map(|(i, j)| w(i, j)).sum();
    pairs().map(|(i, j)| p[i * n + j] * (p[i * n + j] * total / w(i, j)).ln()).sum()
}

#[test]
fn two_clusters_stay_apart() {
    let points = map(&clusters(40), 5, with(10.0)).unwrap();
    let distance = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
    let (left, right) = points.split_at(40);
    let widest = |cluster: &[(f64, f64)]| {
        cluster.iter().flat_map(|&a| cluster.iter().map(move |&b| distance(a, b))).fold(0.0, f64::max)
    };
    let nearest = left.iter().flat_map(|&a| right.iter().map(move |&b| distance(a, b))).fold(1e9, f64::min);
    // All points of a cluster are nearer to each other than to any point of the other cluster.
    assert!(nearest > widest(left).max(widest(right)), "{nearest}, {}, {}", widest(left), widest(right));
    // And a cluster is not a single point.
    assert!(widest(left) > 1.0);
}

#[test]
fn few_rows_get_a_perplexity_that_is_valid_for_them() {
    assert_eq!(TsneParams::for_rows(2000), TsneParams::default());
    for n in [4, 5, 7, 30, 119] {
        let rows = Matrix::new(noise(2 * n), n, 2);
        assert_eq!(tsne(&rows, &TsneParams::for_rows(n)).unwrap().len(), n);
    }
}

#[test]
fn every_neighborhood_has_the_requested_perplexity() {
    for perplexity in [1.5, 5.0, 30.0, 70.0] {
        let p = conditional(&clusters(40), 5, perplexity);
        for (i, row) in p.chunks(80).enumerate() {
            assert_eq!(row[i], 0.0);
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let entropy: f64 = row.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
            assert!((entropy.exp() - perplexity).abs() < 1e-8 * perplexity, "{i}: {}", entropy.exp());
        }
    }
}

#[test]
fn the_gradient_is_the_slope_of_the_loss() {
    let n = 7;
    let p = joint(conditional(&noise(n * 3), 3, 3.0), n);
    let (x, y): (Vec<f64>, Vec<f64>) = (noise(n), noise(3 * n).split_off(2 * n));
    let slopes = gradient(&p, &x, &y, 1.0);
    let step = 1e-5;
    for i in 0..n {
        let moved = |axis: &[f64], by: f64| {
            let mut axis = axis.to_vec();
            axis[i] += by;
            axis
        };
        let along_x = (loss(&p, &moved(&x, step), &y) - loss(&p, &moved(&x, -step), &y)) / (2.0 * step);
        let along_y = (loss(&p, &x, &moved(&y, step)) - loss(&p, &x, &moved(&y, -step))) / (2.0 * step);
        assert!((slopes[i].0 - along_x).abs() < 1e-9, "{} and {along_x}", slopes[i].0);
        assert!((slopes[i].1 - along_y).abs() < 1e-9, "{} and {along_y}", slopes[i].1);
    }
}

#[test]
fn descent_makes_the_loss_smaller() {
    let rows = clusters(20);
    let p = joint(conditional(&rows, 5, 8.0), 40);
    let at = |iterations: usize| {
        let points = map(&rows, 5, TsneParams { iterations, ..with(8.0) }).unwrap();
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        loss(&p, &x, &y)
    };
    let (early, late) = (at(0), at(1000));
    assert!(late < 0.3 * early, "{early} to {late}");
}

// Rows on the diagonal of a plane in 3 columns: the first component is (1, 1, 0)/√2, the second (0, 0,
// 1).
#[test]
fn the_start_is_the_principal_components() {
    let rows: Vec<f64> =
        (-3..=3).flat_map(|k| [f64::from(k), f64::from(k), 0.1 * f64::from(k * k) - 0.4]).collect();
    let first = principal(&rows, 3, None);
    let second = principal(&rows, 3, Some(&first));
    let half = 0.5_f64.sqrt();
    for (got, expected) in first.iter().chain(&second).zip([half, half, 0.0, 0.0, 0.0, 1.0]) {
        assert!((got - expected).abs() < 1e-9, "{first:?} {second:?}");
    }
}

#[test]
fn a_far_row_does_not_press_the_others_onto_a_line() {
    let mut rows = noise(60 * 3);
    rows[0] = 300.0;
    let points = map(&rows, 3, with(10.0)).unwrap();
    let spread = |axis: fn(&(f64, f64)) -> f64| {
        let values = || points[1..].iter().map(axis);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    let (x, y) = (spread(|point| point.0), spread(|point| point.1));
    assert!(y > 0.1 * x && x > 0.1 * y, "{x} and {y}");
}

#[test]
fn equal_rows_stay_in_one_point() {
    for value in [0.0, 3.7, 1e308, 5e-324] {
        let points = map(&[value; 20], 2, with(3.0)).unwrap();
        assert!(points.iter().all(|&point| point == points[0] && point.0.is_finite()), "{points:?}");
    }
}

#[test]
fn more_equal_rows_than_neighbors_and_huge_values_give_finite_points() {
    let mut rows = vec![1e308; 30];
    rows.extend(noise(10).iter().map(|value| value * 1e308));
    let points = map(&rows, 1, with(5.0)).unwrap();
    assert!(points.iter().all(|point| point.0.is_finite() && point.1 == 0.0), "{points:?}");
}

#[test]
fn invalid_input_is_a_named_error() {
    let error = |values: &[f64], n_columns, params| map(values, n_columns, params).unwrap_err();
    assert_eq!(error(&[1.0; 6], 2, with(2.0)), TsneError::RowCount { got: 3 });
    assert_eq!(error(&[], 2, with(2.0)), TsneError::RowCount { got: 0 });
    assert_eq!(tsne(&Matrix::zeros(9, 0), &with(2.0)), Err(TsneError::NoColumns));
    let mut holed = [0.0; 8];
    holed[5] = f64::INFINITY;
    assert_eq!(error(&holed, 2, with(2.0)), TsneError::NotFinite { row: 3, column: 2, got: f64::INFINITY });
    for perplexity in [9.0, 1.0, -2.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            error(&noise(20), 2, with(perplexity)),
            TsneError::Param { name: "perplexity", .. }
        ));
    }
    for exaggeration in [0.0, f64::NAN] {
        let params = TsneParams { exaggeration, ..with(3.0) };
        assert!(matches!(error(&noise(20), 2, params), TsneError::Param { name: "exaggeration", .. }));
    }
}

#[test]
fn one_thread_and_three_give_the_same_bits() {
    let rows = clusters(30);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| map(&rows, 5, with(7.0)).unwrap())
    };
    assert_eq!(on(1), on(3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test] // Law: whatever the rows, with ties and constant columns, all points are finite and centered.
    fn points_are_finite_and_centered(
        cells in prop::collection::vec(-3i8..4, 12..60), n_columns in 1_usize..4
    ) {
        let n = cells.len() / n_columns;
        let rows: Vec<f64> = cells[..n * n_columns].iter().map(|&cell| f64::from(cell)).collect();
        let params = TsneParams { iterations: 300, ..with(1.9) };
        let points = map(&rows, n_columns, params).unwrap();
        prop_assert_eq!(points.len(), n);
        let size = points.iter().fold(1.0_f64, |size, point| size.max(point.0.abs()).max(point.1.abs()));
        prop_assert!(size.is_finite());
        prop_assert!(points.iter().map(|point| point.0).sum::<f64>().abs() < 1e-9 * size * n as f64);
    }
}
