//! Decides which rows train and which calibrate, and fits the members.
//!
//! *Invariants:* the split depends only on the seed and the number of rows · no row calibrates a member that was
//! trained on it · with folds, every row calibrates exactly one member · every member is the same as if it were fitted
//! alone, on any number of threads.
//!
//! *Folds are fitted in parallel* on the threads of the calling pool. A net that learns from 128 rows at a time can
//! keep only two threads busy, and two nets on two threads need not wait for each other at every step.
//!
//! *All members get the same seed.* They start from the same weights and see the same noise, so they agree on what is
//! odd. The pooled p-value of a row is in effect the mean of its p-values by member; if these disagree, their mean
//! moves toward 1/2 and small p-values become too rare. Measured with fresh normal rows and five folds of 400 rows: the
//! Kolmogorov-Smirnov distance to uniform is 0.04 to 0.07 with one seed, 0.16 to 0.29 with five.

use rayon::prelude::*;

use super::{FitOptions, Member, unreadable::readable};
use crate::{
    Context, Detector, Error, Fitted, Matrix, Monitor, Progress, Seed,
    calibrate::Calibration,
    cells::{CellLearner, judges_cells, learner_spec},
    error::FitError,
    progress::Parts,
};

/// The most bytes for the training rows of folds that are fitted in parallel.
const MOST_BYTES: usize = 256_000_000;

/// Fits one member on part of the rows or, if there are few rows, one member per fold. Rows with `unreadable` cells do not
/// calibrate.
pub(super) fn fit_members(
    detector: &dyn Detector,
    rows: Matrix,
    unreadable: &[(u32, u32)],
    options: &FitOptions,
    context: &Context<'_>,
) -> Result<Vec<Member>, Error> {
    let n_rows = enough_rows(rows.n_rows(), options)?;
    let judges_cells = options.cells && judges_cells(&options.detector, rows.n_cols());
    let learner = if judges_cells { learner_spec(&options.detector, rows.n_cols())? } else { None };
    let learn_cells = |fitted: &dyn Fitted, train: &Matrix, held_out: &Matrix| {
        let quiet = quiet(context);
        let learn = || CellLearner::fit(learner.as_ref(), fitted, train, held_out, &quiet.context());
        judges_cells.then(learn).transpose()
    };
    if n_rows < options.cross_fit_below() {
        return fit_folds(detector, &rows, options, context, |_, fold, train, fitted| {
            let held_out = rows.take(&readable(fold, unreadable));
            let calibration = Calibration::conformal(fitted.score(&held_out)?);
            let cells = learn_cells(&*fitted, &train, &held_out)?;
            Ok(Member { fitted, calibration, n_training_rows: n_rows - fold.len(), cells })
        });
    }
    let held_out = holdout(n_rows, options, context.seed);
    let train = rows.take(&others(n_rows, &held_out));
    let calibrate = rows.take(&readable(&held_out, unreadable));
    // Only the two parts are needed now; the whole would double the memory.
    drop(rows);
    let parts = Parts::new(context.monitor, 1);
    let fitted = parts.run(0, *context, |context| fit_alone(detector, &train, context))?;
    let calibration = Calibration::conformal(fitted.score(&calibrate)?);
    let cells = learn_cells(&*fitted, &train, &calibrate)?;
    Ok(vec![Member { fitted, calibration, n_training_rows: train.n_rows(), cells }])
}

/// Fits a detector; refuses one whose scores of a row depend on other rows.
fn fit_alone(
    detector: &dyn Detector,
    train: &Matrix,
    context: &Context<'_>,
) -> Result<Box<dyn Fitted>, FitError> {
    let fitted = detector.fit(train, context)?;
    if fitted.is_joint() { Err(FitError::Joint) } else { Ok(fitted) }
}

/// Passes nothing on but the wish to stop: learning about cells is short beside the rest.
pub(super) struct Quiet<'a> {
    seed: Seed,
    monitor: &'a dyn Monitor,
}

/// The context of work that reports no progress.
pub(super) fn quiet<'a>(context: &Context<'a>) -> Quiet<'a> {
    Quiet { seed: context.seed, monitor: context.monitor }
}

impl Quiet<'_> {
    pub(super) fn context(&self) -> Context<'_> {
        Context { seed: self.seed, monitor: self }
    }
}

impl Monitor for Quiet<'_> {
    fn advanced(&self, _: Progress) {}

    fn cancelled(&self) -> bool {
        self.monitor.cancelled()
    }
}

/// Fits one detector per fold, on the rows outside it. Returns what `with` makes of the fold's number, rows, training rows
/// and detector.
pub(super) fn fit_folds<T: Send>(
    detector: &dyn Detector,
    rows: &Matrix,
    options: &FitOptions,
    context: &Context<'_>,
    with: impl Fn(usize, &[usize], Matrix, Box<dyn Fitted>) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let n_rows = enough_rows(rows.n_rows(), options)?;
    let folds: Vec<_> = folds(n_rows, options.split.folds, context.seed).into_iter().enumerate().collect();
    let parts = Parts::new(context.monitor, folds.len());
    let fit = |(index, fold): &(usize, Vec<usize>)| {
        crate::context::go_on(context.monitor)?;
        let train = rows.take(&others(n_rows, fold));
        let fitted = parts.run(*index, *context, |context| fit_alone(detector, &train, context))?;
        with(*index, fold, train, fitted)
    };
    let side_by_side = |folds: &[_]| folds.par_iter().map(fit).collect::<Vec<_>>();
    // In the order of folds, so that the same one of several errors is always reported.
    folds.chunks(at_once(size_of_val(rows.values()))).flat_map(side_by_side).collect()
}

/// How many folds of a table of `bytes` bytes are fitted in parallel.
fn at_once(bytes: usize) -> usize {
    (MOST_BYTES / bytes.max(1)).max(1)
}

/// The number of rows, if at least one can train and one be held out. The detector may require more.
pub(super) fn enough_rows(n_rows: usize, options: &FitOptions) -> Result<usize, FitError> {
    let detector = options.detector.entry().name;
    if n_rows < 2 {
        return Err(FitError::TooFewRows { detector, needed: 2, got: n_rows });
    }
    Ok(n_rows)
}

/// How many rows are held out; there must be at least two rows.
pub(super) fn n_held_out(n_rows: usize, options: &FitOptions) -> usize {
    let share = (n_rows as f64 * options.split.holdout).round() as usize;
    share.min(options.split.max_holdout_rows).clamp(1, n_rows - 1)
}

/// The held-out rows, ascending.
fn holdout(n_rows: usize, options: &FitOptions, seed: Seed) -> Vec<usize> {
    let n_held_out = n_held_out(n_rows, options);
    let mut order = seed.stream("split", &[]).permutation(n_rows);
    order.truncate(n_held_out);
    order.sort_unstable();
    order
}

/// The rows of every fold, ascending; sizes differ by at most one.
fn folds(n_rows: usize, n_folds: usize, seed: Seed) -> Vec<Vec<usize>> {
    let n_folds = n_folds.min(n_rows);
    let order = seed.stream("split", &[]).permutation(n_rows);
    let fold = |index: usize| {
        let mut rows = order[index * n_rows / n_folds..(index + 1) * n_rows / n_folds].to_vec();
        rows.sort_unstable();
        rows
    };
    (0..n_folds).map(fold).collect()
}

/// The rows that are not in `some`, ascending; `some` must ascend too.
fn others(n_rows: usize, some: &[usize]) -> Vec<usize> {
    let mut some = some.iter().copied().peekable();
    (0..n_rows).filter(|&row| some.next_if_eq(&row).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::DetectorSpec;

    proptest! {
        #[test]
        fn folds_hold_every_row_once_and_differ_by_one_row_at_most(
            n_rows in 2usize..300, n_folds in 2usize..12, seed in any::<u64>()
        ) {
            let folds = folds(n_rows, n_folds, Seed(seed));
            prop_assert_eq!(folds.len(), n_folds.min(n_rows));
            let sizes = || folds.iter().map(Vec::len);
            prop_assert!(sizes().min().unwrap() >= 1 && sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            let mut all: Vec<usize> = folds.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..n_rows).collect::<Vec<_>>());
            for fold in &folds {
                let mut whole = [others(n_rows, fold), fold.clone()].concat();
                whole.sort_unstable();
                prop_assert_eq!(whole, (0..n_rows).collect::<Vec<_>>());
            }
        }
    }

    #[test] // 256 MB hold two tables of 100 MB; one fold is always fitted, however large.
    fn folds_of_large_tables_are_fitted_one_after_the_other() {
        assert_eq!([0, 100_000_000, 200_000_000, usize::MAX].map(at_once), [MOST_BYTES, 2, 1, 1]);
    }

    #[test] // 20 % of 1,003 is 200.6; at most 50; at least one row is held out and one is left.
    fn the_holdout_has_the_size_asked_for_and_depends_on_the_seed() {
        let mut options = FitOptions::new(DetectorSpec::new("noise", None).unwrap());
        let size = |n_rows, options: &FitOptions| holdout(n_rows, options, Seed(1)).len();
        assert_eq!(size(1_003, &options), 201);
        assert_eq!(holdout(100, &options, Seed(1)), holdout(100, &options, Seed(1)));
        assert_ne!(holdout(100, &options, Seed(1)), holdout(100, &options, Seed(2)));
        options.split.max_holdout_rows = 50;
        assert_eq!(size(1_003, &options), 50);
        options.split.holdout = 0.999;
        assert_eq!([size(2, &options), size(3, &options)], [1, 2]);
        options.split.holdout = 0.001;
        assert_eq!(size(3, &options), 1);
    }
}
