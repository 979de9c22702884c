//! What every detector promises, checked for every detector on the list.
//!
//! A new detector is done when it is in `DETECTORS` and passes here. Detectors that train in steps are
//! trained for as long as their entry calls short: promises do not depend on the length of training.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Mutex,
};

use oddcell::{
    Context, DetectorSpec, Fitted, Matrix, Monitor, Progress, Seed,
    detect::{DETECTORS, Entry, Keeps, Size, Tables, Training},
    error::{FitError, ParamError, ScoreError},
    tensors::{Tensor, Tensors},
};
use serde_json::Value;

/// Detectors whose score is the same for a row and for any positive multiple of it: they see directions only,
/// and so may well find a far row normal.
const BLIND_TO_DISTANCE: &[&str] = &["neutralad"];

/// The detector with its defaults, but a short training.
fn spec(entry: &Entry) -> DetectorSpec {
    let mut spec = DetectorSpec::new(entry.name, None).unwrap();
    spec.shorten();
    spec
}

/// Whether a detector trains in steps.
fn trains(entry: &Entry) -> bool {
    matches!(entry.abilities.training, Training::InSteps { .. })
}

#[test]
fn what_a_detector_states_is_true() {
    for_every_detector(|entry| {
        let defaults = DetectorSpec::new(entry.name, None).unwrap();
        assert_eq!(trains(entry), defaults.params().contains_key("train_for"));
        if trains(entry) {
            assert_ne!(spec(entry).params()["train_for"], defaults.params()["train_for"]);
        }
        assert_eq!(entry.abilities.streams, defaults.build().unwrap().in_blocks().is_ok());
        let cost =
            |n_rows: usize| defaults.seconds(Size { n_train: n_rows, n_test: n_rows, n_cols: 10 }).unwrap();
        assert!(0.0 < cost(1_000) && cost(1_000) <= cost(10_000));

        let rows = normal_rows(80, 1);
        let fitted = fit(entry, &rows, 7).unwrap();
        assert_eq!(entry.abilities.cells.is_some(), fitted.judge(&rows, true).unwrap().cells.is_some());
        assert!(fitted.judge(&rows, false).unwrap().cells.is_none());
        // Either the model holds every number of the third row, or none.
        let saved = fitted.save();
        let holds = |value: &f64| saved.0.values().any(|tensor| tensor_holds(tensor, *value));
        let held = rows.row(2).iter().filter(|value| holds(value)).count();
        assert_eq!(defaults.abilities().unwrap(), entry.abilities);
        match entry.abilities.keeps {
            Keeps::Rows(_) | Keeps::Values(_) => assert_eq!(held, N_COLS),
            // As distances from the median of their column.
            Keeps::Distances(_) => {
                let medians = saved.0.iter().filter(|(name, _)| name.ends_with(".median"));
                let medians: Vec<f64> = medians.map(|(_, tensor)| first_number(tensor)).collect();
                let is_held = |value: &&f64| {
                    medians.iter().any(|median| **value == *median || holds(&(**value - median).abs()))
                };
                assert_eq!(rows.row(2).iter().filter(is_held).count(), N_COLS);
            }
            Keeps::Nothing | Keeps::Projections => assert_eq!(held, 0),
        }
    });
}

/// Whether a tensor holds a number.
fn tensor_holds(tensor: &Tensor, value: f64) -> bool {
    match tensor {
        Tensor::F64(_, values) => values.contains(&value),
        Tensor::F32(_, values) => values.contains(&(value as f32)),
        Tensor::U32(..) => false,
    }
}

/// The first number of a tensor of numbers.
fn first_number(tensor: &Tensor) -> f64 {
    match tensor {
        Tensor::F64(_, values) => values[0],
        Tensor::F32(_, values) => f64::from(values[0]),
        Tensor::U32(..) => panic!("no numbers"),
    }
}

fn fit(entry: &Entry, rows: &Matrix, seed: u64) -> Result<Box<dyn Fitted>, FitError> {
    spec(entry).build().unwrap().fit(rows, &Context::silent(Seed(seed)))
}

const N_COLS: usize = 4;

/// Normal rows whose columns hang together: column 3 is the sum of the first two, a little blurred.
fn normal_rows(n_rows: usize, seed: u64) -> Matrix {
    let mut stream = Seed(seed).stream("rows", &[]);
    let mut rows = Matrix::zeros(n_rows, N_COLS);
    for row in 0..n_rows {
        let [a, b, c, blur] = [(); 4].map(|()| stream.normal());
        rows.row_mut(row).copy_from_slice(&[a, b, (a + b) / 1.5 + 0.1 * blur, c]);
    }
    rows
}

/// Runs a check for every detector and names the one that fails.
fn for_every_detector(check: impl Fn(&Entry)) {
    assert!(!DETECTORS.is_empty());
    for entry in DETECTORS {
        let outcome = catch_unwind(AssertUnwindSafe(|| check(entry)));
        assert!(outcome.is_ok(), "detector `{}` breaks its promise, see above", entry.name);
    }
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

#[test]
fn names_are_unique_and_every_preset_builds() {
    for_every_detector(|entry| {
        assert_eq!(DETECTORS.iter().filter(|other| other.name == entry.name).count(), 1);
        assert!(!entry.summary.is_empty());
        for preset in entry.presets() {
            DetectorSpec::new(entry.name, Some(preset)).unwrap().build().unwrap();
        }
        let unknown = DetectorSpec::new(entry.name, None).unwrap().set("no such parameter", Value::Null);
        assert!(unknown.is_err());
    });
}

#[test]
fn tables_of_either_sort_have_exactly_one_default() {
    for tables in [Tables::OfNumbers, Tables::Mixed] {
        let defaults = DETECTORS.iter().filter(|entry| entry.default_of == Some(tables));
        assert_eq!(defaults.count(), 1, "{tables:?}");
        let name = Entry::default_of(tables).name;
        assert_eq!(Entry::named(name).unwrap().default_of, Some(tables));
    }
}

#[test]
fn every_row_gets_one_finite_score_and_a_row_alone_the_same_as_in_company() {
    for_every_detector(|entry| {
        let fitted = fit(entry, &normal_rows(80, 1), 7).unwrap();
        assert_eq!(fitted.n_features(), N_COLS);
        let rows = normal_rows(70, 2);
        let judged = fitted.judge(&rows, true).unwrap();
        assert_eq!(judged.scores.len(), 70);
        assert!(judged.scores.iter().all(|score| score.is_finite()), "{:?}", judged.scores);
        assert!(judged.scores.iter().any(|&score| score != judged.scores[0]), "all scores are equal");
        if let Some(cells) = &judged.cells {
            assert_eq!((cells.n_rows(), cells.n_cols()), (70, N_COLS));
            assert!(cells.values().iter().all(|&cell| cell.is_finite() && cell >= 0.0));
        }
        for row in [0, 31, 69] {
            let alone = fitted.judge(&rows.take(&[row]), true).unwrap();
            assert_eq!(alone.scores[0].to_bits(), judged.scores[row].to_bits(), "row {row}");
            if let (Some(alone), Some(together)) = (&alone.cells, &judged.cells) {
                assert_eq!(bits(alone.row(0)), bits(together.row(row)), "cells of row {row}");
            }
        }
        assert!(fitted.score(&Matrix::zeros(0, N_COLS)).unwrap().is_empty());
    });
}

/// Those that find training rows by comparing them with the others.
const COMPARES: &[&str] = &["knn", "dte-np", "lof"];

#[test]
fn training_scores_are_one_finite_number_per_training_row_and_no_row_is_its_own_neighbor() {
    let rows = normal_rows(80, 1);
    for_every_detector(|entry| {
        let fitted = fit(entry, &rows, 7).unwrap();
        let scores = fitted.training_scores(0..80);
        assert_eq!(scores.is_some(), COMPARES.contains(&entry.name));
        let Some(scores) = scores else { return };
        assert_eq!(scores.len(), 80);
        assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}");
        // Scored as new rows, training rows are beside themselves, and so less odd.
        let as_new = fitted.score(&rows).unwrap();
        assert!(scores.iter().sum::<f64>() > as_new.iter().sum::<f64>());
        let loaded = spec(entry).load(&mut fitted.save()).unwrap();
        // A part of them has the same scores as in the whole.
        let parts = [0..30, 30..80].map(|part| loaded.training_scores(part).unwrap()).concat();
        assert_eq!(bits(&parts), bits(&scores));
    });
}

#[test]
fn shuffled_rows_get_shuffled_scores() {
    for_every_detector(|entry| {
        let fitted = fit(entry, &normal_rows(80, 1), 7).unwrap();
        let rows = normal_rows(150, 2);
        let order = Seed(3).stream("order", &[]).permutation(150);
        let scores = fitted.score(&rows).unwrap();
        let expected: Vec<f64> = order.iter().map(|&row| scores[row]).collect();
        assert_eq!(bits(&fitted.score(&rows.take(&order)).unwrap()), bits(&expected));
    });
}

#[test]
fn the_same_seed_gives_the_same_bits_on_one_and_on_two_threads() {
    let on_threads = |n_threads: usize, entry: &Entry| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let fitted = fit(entry, &normal_rows(300, 1), 7).unwrap();
            (bits(&fitted.score(&normal_rows(200, 2)).unwrap()), fitted.save())
        })
    };
    for_every_detector(|entry| {
        let (scores, saved) = on_threads(1, entry);
        let (again, saved_again) = on_threads(2, entry);
        assert_eq!(scores, again);
        assert_eq!(saved, saved_again);
    });
}

/// Keeps the losses that training reports.
#[derive(Default)]
struct Losses(Mutex<Vec<f64>>);

impl Monitor for Losses {
    fn advanced(&self, progress: Progress) {
        self.0.lock().unwrap().extend(progress.loss);
    }
}

#[test]
fn training_lowers_the_loss_moves_the_weights_and_changes_the_scores() {
    let rows = normal_rows(200, 1);
    for_every_detector(|entry| {
        let spec = spec(entry);
        if !trains(entry) {
            return;
        }
        let mut one_step = spec.clone();
        one_step.set_text("train_for", "1 steps").unwrap();
        let losses = Losses::default();
        let watched = Context { seed: Seed(7), monitor: &losses };
        let trained = spec.build().unwrap().fit(&rows, &watched).unwrap();
        let untrained = one_step.build().unwrap().fit(&rows, &Context::silent(Seed(7))).unwrap();

        let losses = losses.0.into_inner().unwrap();
        let last = losses[losses.len() - 3..].iter().sum::<f64>() / 3.0;
        assert!(last < losses[0], "{losses:?}");
        assert_ne!(trained.save(), untrained.save());
        let others = normal_rows(50, 2);
        assert_ne!(bits(&trained.score(&others).unwrap()), bits(&untrained.score(&others).unwrap()));
    });
}

#[test]
fn a_planted_far_row_ranks_first() {
    for_every_detector(|entry| {
        let fitted = fit(entry, &normal_rows(200, 1), 7).unwrap();
        let mut rows = normal_rows(100, 2);
        rows.row_mut(42).copy_from_slice(&[30.0, -30.0, 30.0, -30.0]);
        let scores = fitted.score(&rows).unwrap();
        if BLIND_TO_DISTANCE.contains(&entry.name) {
            rows.values_mut().iter_mut().for_each(|value| *value *= 4.0);
            assert_eq!(bits(&fitted.score(&rows).unwrap()), bits(&scores));
            return;
        }
        let higher = scores.iter().filter(|&&score| score >= scores[42]).count();
        assert_eq!(higher, 1, "{} rows score as high as the planted one", higher - 1);
    });
}

/// Tables at the edge of what can be learned from, with rows to be scored afterwards.
fn edge_cases() -> Vec<(&'static str, Matrix)> {
    let mut constant_column = normal_rows(60, 1);
    (0..60).for_each(|row| constant_column.row_mut(row)[1] = 3.0);
    let few = normal_rows(5, 1);
    let duplicates: Vec<usize> = (0..60).map(|row| row % 5).collect();
    let mut huge = normal_rows(60, 1);
    huge.values_mut().iter_mut().for_each(|value| *value *= 1e300);
    let mut tiny = normal_rows(60, 1);
    tiny.values_mut().iter_mut().for_each(|value| *value *= 1e-300);
    vec![
        ("a constant column", constant_column),
        ("all columns constant", Matrix::zeros(60, N_COLS)),
        ("every row twelve times", few.take(&duplicates)),
        ("one column", Matrix::new(normal_rows(15, 1).into_values(), 60, 1)),
        ("no row", Matrix::zeros(0, N_COLS)),
        ("one row", normal_rows(1, 1)),
        ("two rows", normal_rows(2, 1)),
        ("three rows", normal_rows(3, 1)),
        ("five rows", few),
        ("no column", Matrix::zeros(10, 0)),
        ("huge values", huge),
        ("tiny values", tiny),
    ]
}

#[test]
fn tables_at_the_edge_give_finite_scores_or_a_named_error() {
    for_every_detector(|entry| {
        for (name, rows) in edge_cases() {
            match fit(entry, &rows, 7) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(fitted) => {
                    let mut far = rows.take(&[0]);
                    far.values_mut().fill(1e6);
                    let mut farthest = far.clone();
                    farthest.values_mut().fill(-f64::MAX);
                    for rows in [&rows, &far, &farthest] {
                        let scores = fitted.score(rows).unwrap();
                        assert!(scores.iter().all(|score| score.is_finite()), "{name}: {scores:?}");
                    }
                    if let Some(scores) = fitted.training_scores(0..rows.n_rows()) {
                        assert_eq!(scores.len(), rows.n_rows(), "{name}");
                        assert!(scores.iter().all(|score| score.is_finite()), "{name}: {scores:?}");
                    }
                }
            }
        }
        assert!(matches!(fit(entry, &Matrix::zeros(0, 3), 7), Err(FitError::TooFewRows { got: 0, .. })));
        assert!(matches!(fit(entry, &Matrix::zeros(50, 0), 7), Err(FitError::TooFewColumns { got: 0, .. })));
    });
}

#[test]
fn more_neighbors_than_rows_are_all_rows_or_a_named_error() {
    for_every_detector(|entry| {
        let mut spec = spec(entry);
        if !spec.params().contains_key("n_neighbors") {
            return;
        }
        for k in [9, 10, 11, 1_000_000_000_000_u64] {
            spec.set("n_neighbors", Value::from(k)).unwrap();
            let detector = match spec.build() {
                Ok(detector) => detector,
                Err(error) => {
                    assert!(matches!(error, ParamError::OutOfRange { name: "n_neighbors", .. }), "{error}");
                    continue;
                }
            };
            match detector.fit(&normal_rows(10, 1), &Context::silent(Seed(7))) {
                Ok(fitted) => {
                    assert!(fitted.score(&normal_rows(3, 2)).unwrap().iter().all(|s| s.is_finite()));
                }
                Err(error) => assert!(matches!(error, FitError::ParamForData { n_rows: 10, .. }), "{error}"),
            }
        }
        spec.set("n_neighbors", Value::from(0)).unwrap();
        assert!(spec.build().is_err());
    });
}

#[test]
fn a_wrong_width_and_numbers_that_are_none_are_refused_with_their_place() {
    for_every_detector(|entry| {
        let fitted = fit(entry, &normal_rows(60, 1), 7).unwrap();
        let error = fitted.score(&Matrix::zeros(2, N_COLS + 1)).unwrap_err();
        assert_eq!(error, ScoreError::ColumnCount { fitted: N_COLS, got: N_COLS + 1 });
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut rows = normal_rows(60, 1);
            rows.row_mut(17)[2] = bad;
            let error = fitted.score(&rows).unwrap_err();
            assert!(matches!(error, ScoreError::NotFinite { row: 18, column: 3, .. }), "{error}");
            let error = fit(entry, &rows, 7).unwrap_err();
            assert!(matches!(error, FitError::NotFinite { row: 18, column: 3, .. }), "{error}");
        }
    });
}

#[test]
fn a_saved_detector_gives_the_same_scores_when_loaded() {
    for_every_detector(|entry| {
        let fitted = fit(entry, &normal_rows(300, 1), 7).unwrap();
        let mut tensors = fitted.save();
        let loaded = spec(entry).load(&mut tensors).unwrap();
        assert!(tensors.0.is_empty(), "left over: {:?}", tensors.0.keys());
        assert_eq!(loaded.n_features(), N_COLS);
        let rows = normal_rows(100, 2);
        let (before, after) = (fitted.judge(&rows, true).unwrap(), loaded.judge(&rows, true).unwrap());
        assert_eq!(bits(&before.scores), bits(&after.scores));
        assert_eq!(before.cells, after.cells);
        assert_eq!(fitted.save(), loaded.save());
    });
}

/// The tensor with another shape for the same or fewer values, or another type: never what was saved.
fn misshapen(tensor: &Tensor) -> Vec<Tensor> {
    let shape = tensor.shape().to_vec();
    let mut shapes = vec![[shape.clone(), vec![1]].concat(), vec![]];
    for axis in 0..shape.len() {
        for size in [0, shape[axis] - 1] {
            let mut smaller = shape.clone();
            smaller[axis] = size;
            shapes.push(smaller);
        }
    }
    if shape.len() == 2 && shape[0] != shape[1] {
        shapes.push(vec![shape[1], shape[0]]);
    }
    let mut all: Vec<Tensor> = shapes.into_iter().map(|shape| reshaped(tensor, shape)).collect();
    all.push(match tensor {
        Tensor::F32(shape, values) => {
            Tensor::F64(shape.clone(), values.iter().map(|&v| f64::from(v)).collect())
        }
        Tensor::F64(shape, values) => Tensor::F32(shape.clone(), values.iter().map(|&v| v as f32).collect()),
        Tensor::U32(shape, values) => Tensor::F32(shape.clone(), values.iter().map(|&v| v as f32).collect()),
    });
    all
}

fn reshaped(tensor: &Tensor, shape: Vec<usize>) -> Tensor {
    let n_values: usize = shape.iter().product();
    match tensor {
        Tensor::F32(_, values) => Tensor::F32(shape, values[..n_values].to_vec()),
        Tensor::F64(_, values) => Tensor::F64(shape, values[..n_values].to_vec()),
        Tensor::U32(_, values) => Tensor::U32(shape, values[..n_values].to_vec()),
    }
}

/// The tensor with one number that is none; whole numbers have none.
fn not_finite(tensor: &Tensor) -> Vec<Tensor> {
    let mut all = Vec::new();
    for at in [0, tensor.shape().iter().product::<usize>() - 1] {
        for bad in [f32::NAN, f32::INFINITY] {
            match tensor.clone() {
                Tensor::F32(shape, mut values) => {
                    values[at] = bad;
                    all.push(Tensor::F32(shape, values));
                }
                Tensor::F64(shape, mut values) => {
                    values[at] = f64::from(bad);
                    all.push(Tensor::F64(shape, values));
                }
                Tensor::U32(..) => {}
            }
        }
    }
    all
}

/// The tensor with one number changed to something it may or may not be.
fn changed(tensor: &Tensor) -> Vec<Tensor> {
    let n_values: usize = tensor.shape().iter().product();
    let mut stream = Seed(5).stream("changes", &[]);
    let mut all = Vec::new();
    for round in 0..24 {
        let at = if round < 6 { round.min(n_values - 1) } else { stream.below(n_values) };
        match tensor.clone() {
            Tensor::F32(shape, mut values) => {
                values[at] = [f32::MAX, f32::MIN, 0.0, -1.0][round % 4];
                all.push(Tensor::F32(shape, values));
            }
            Tensor::F64(shape, mut values) => {
                values[at] = [f64::MAX, f64::MIN, 0.0, -1.0][round % 4];
                all.push(Tensor::F64(shape, values));
            }
            Tensor::U32(shape, mut values) => {
                values[at] = [u32::MAX, 0, values[at].wrapping_add(1), values[at].wrapping_sub(1)][round % 4];
                all.push(Tensor::U32(shape, values));
            }
        }
    }
    all
}

fn with(tensors: &Tensors, name: &str, tensor: Tensor) -> Tensors {
    let mut tensors = tensors.clone();
    tensors.0.insert(name.to_owned(), tensor);
    tensors
}

#[test]
fn hostile_tensors_are_refused() {
    for_every_detector(|entry| {
        let tensors = fit(entry, &normal_rows(60, 1), 7).unwrap().save();
        for (name, tensor) in &tensors.0 {
            let mut missing = tensors.clone();
            missing.0.remove(name);
            assert!(spec(entry).load(&mut missing).is_err(), "without `{name}`");
            for bad in misshapen(tensor).into_iter().chain(not_finite(tensor)) {
                let shape = bad.shape().to_vec();
                let outcome = spec(entry).load(&mut with(&tensors, name, bad));
                assert!(outcome.is_err(), "`{name}` of shape {shape:?} was accepted");
            }
        }
    });
}

#[test]
fn a_changed_number_is_refused_or_still_gives_finite_scores() {
    for_every_detector(|entry| {
        let tensors = fit(entry, &normal_rows(60, 1), 7).unwrap().save();
        let rows = normal_rows(5, 2);
        for (name, tensor) in &tensors.0 {
            for other in changed(tensor) {
                let Ok(loaded) = spec(entry).load(&mut with(&tensors, name, other)) else { continue };
                // The number of features may be one of the numbers changed.
                let Ok(scores) = loaded.score(&rows) else { continue };
                assert!(scores.iter().all(|score| score.is_finite()), "`{name}`: {scores:?}");
            }
        }
    });
}
