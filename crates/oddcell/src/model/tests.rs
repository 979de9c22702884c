//! Tests the formulas of a model with toy detectors whose answers are known; `tests/model.rs` has real nets.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{Detector, Monitor, Progress, detect::Judged, error::FitError, tensors::Tensors};

/// Scores a row by its first feature plus a constant; its cells are that score in every feature.
#[derive(Debug)]
struct Plus(f64);

impl Fitted for Plus {
    fn n_features(&self) -> usize {
        1
    }

    fn judge_checked(&self, rows: &Matrix, want_cells: bool) -> Judged {
        let scores: Vec<f64> = rows.rows().map(|row| row[0] + self.0).collect();
        let cells = want_cells.then(|| Matrix::new(scores.clone(), rows.n_rows(), 1));
        Judged { scores, cells }
    }

    fn save_to(&self, _: &mut Tensors) {}
}

fn plus(constant: f64, calibration: &[f64]) -> Member {
    let calibration = Calibration::conformal(calibration.to_vec());
    Member { fitted: Box::new(Plus(constant)), calibration, n_training_rows: 1, cells: None }
}

// Row 2: the first member says 2, reached by 2 of (1, 2, 3); the second says 3, reached by 1 of (2, 5).
// p = (1 + 2 + 1)/(1 + 3 + 2) = 4/6, score and cell (2 + 3)/2.
// Row 9: beyond everything: p = 1/6. Row -1: -1 and 0, reached by all: p = 1.
#[test]
fn several_members_give_the_mean_score_and_the_pooled_p_value_worked_out_by_hand() {
    let members = [plus(0.0, &[1.0, 2.0, 3.0]), plus(1.0, &[2.0, 5.0])];
    let rows = Matrix::from_rows(&[[2.0], [9.0], [-1.0]]);
    let findings = judge_rows(&members, &rows, true).unwrap();
    assert_eq!(findings.scores, [2.5, 9.5, -0.5]);
    assert_eq!(findings.p_values, [4.0 / 6.0, 1.0 / 6.0, 1.0]);
    assert_eq!(findings.cells, Some(Matrix::from_rows(&[[2.5], [9.5], [-0.5]])));
    let single = judge_rows(&members[..1], &rows, false).unwrap();
    assert_eq!((single.scores, single.cells), (vec![2.0, 9.0, -1.0], None));
    assert_eq!(single.p_values, [0.75, 0.25, 1.0]);
}

/// Remembers the rows it was trained on, and scores them 1, others 0. Reports three steps.
#[derive(Debug)]
struct Remembering;
#[derive(Debug)]
struct Remembered(Vec<f64>);

impl Detector for Remembering {
    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        for done in 1..=3 {
            context.monitor.advanced(Progress { done, total: 3, loss: None });
        }
        Ok(Box::new(Remembered(rows.values().to_vec())))
    }
}

impl Fitted for Remembered {
    fn n_features(&self) -> usize {
        1
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let scores = rows.rows().map(|row| f64::from(u8::from(self.0.contains(&row[0])))).collect();
        Judged { scores, cells: None }
    }

    fn save_to(&self, _: &mut Tensors) {}
}

fn numbered(n_rows: usize) -> Matrix {
    Matrix::new((0..n_rows).map(|row| row as f64).collect(), n_rows, 1)
}

fn options() -> FitOptions {
    FitOptions::new(DetectorSpec::new("noise", None).unwrap())
}

#[test]
fn no_row_calibrates_a_member_that_was_trained_on_it() {
    let context = Context::silent(Seed(3));
    for (n_rows, n_members, trained, held_out) in [(2_000, 1, 1_600, 400), (250, 5, 200, 50), (3, 3, 2, 1)] {
        let members =
            crossfit::fit_members(&Remembering, numbered(n_rows), &[], &options(), &context).unwrap();
        assert_eq!(members.len(), n_members);
        for member in &members {
            assert_eq!((member.n_training_rows, member.calibration.len()), (trained, held_out));
            assert_eq!(member.calibration.sorted(), vec![0.0; held_out], "a calibration row was in training");
        }
    }
}

/// Counts reports, checks that they move forward within one total, and stops after some.
struct Stopping {
    after: usize,
    seen: AtomicUsize,
    done: AtomicUsize,
}

impl Monitor for Stopping {
    fn advanced(&self, progress: Progress) {
        assert_eq!(progress.total, 15, "five folds of three steps");
        assert!(progress.done > self.done.swap(progress.done, Ordering::Relaxed));
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.seen.load(Ordering::Relaxed) >= self.after
    }
}

#[test]
fn all_fits_report_as_one_and_stop_when_asked_to() {
    let fit = |after| {
        let monitor = Stopping { after, seen: AtomicUsize::new(0), done: AtomicUsize::new(0) };
        let context = Context { seed: Seed(3), monitor: &monitor };
        let result = crossfit::fit_members(&Remembering, numbered(100), &[], &options(), &context);
        (result, monitor.seen.into_inner(), monitor.done.into_inner())
    };
    let (result, seen, done) = fit(usize::MAX);
    assert_eq!((result.unwrap().len(), seen, done), (5, 15, 15));
    // On one thread, fits run one after the other.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (result, seen, _) = pool.install(|| fit(4));
    assert!(matches!(result, Err(Error::Fit(FitError::Cancelled))));
    assert_eq!(seen, 6, "stopped after the second of five fits");
}

#[test]
fn members_fitted_side_by_side_are_what_each_would_be_alone() {
    let mut options = options();
    options.detector.set_text("train_for", "20 steps").unwrap();
    let detector = options.detector.build().unwrap();
    let mut stream = Seed(5).stream("rows", &[]);
    let rows = Matrix::new((0..200 * 3).map(|_| stream.normal()).collect(), 200, 3);
    let context = Context::silent(Seed(3));
    for n_threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let members = pool.install(|| {
            crossfit::fit_folds(&*detector, &rows, &options, &context, |index, fold, _, fitted| {
                Ok((index, fold.to_vec(), fitted.save()))
            })
        });
        for (expected, (index, fold, tensors)) in members.unwrap().into_iter().enumerate() {
            let others: Vec<usize> = (0..200).filter(|row| !fold.contains(row)).collect();
            let alone = detector.fit(&rows.take(&others), &context).unwrap();
            assert_eq!(index, expected);
            assert_eq!(tensors, alone.save(), "fold {index} on {n_threads} threads");
        }
    }
}

#[test]
fn a_table_of_one_row_is_too_small_to_hold_one_out() {
    let error = crossfit::fit_members(&Remembering, numbered(1), &[], &options(), &Context::silent(Seed(0)));
    assert_eq!(error.unwrap_err().to_string(), "noise needs at least 2 rows to learn from, but got 1");
}

#[test]
fn options_out_of_range_are_refused() {
    let refused = |change: fn(&mut FitOptions)| {
        let mut options = options();
        change(&mut options);
        options.validate().unwrap_err().to_string()
    };
    assert!(options().validate().is_ok());
    let message = "parameter `holdout` is NaN, but must be more than 0 and less than 1";
    assert_eq!(refused(|options| options.split.holdout = f64::NAN), message);
    assert!(refused(|options| options.split.holdout = 1.0).contains("holdout"));
    assert!(refused(|options| options.split.folds = 1).contains("from 2 to 100"));
    assert!(refused(|options| options.split.folds = 101).contains("from 2 to 100"));
    assert!(refused(|options| options.split.max_holdout_rows = 0).contains("at least 1"));
}
