//! Splits a labeled set into training rows, test rows and the truth.
//!
//! | protocol | training | test |
//! |---|---|---|
//! | `uad` | a random half of the normal rows | the other half and all anomalies |
//! | `occ` | one class: a random half of it, or its rows in the training file | the rest, or the test file |
//! | `fixed` | the normal rows of the training part that comes with the set | the test part |
//! | `dte` | the first half of the normal rows in file order; small sets are resampled **before** the split | the rest |
//! | `contaminated` | all rows, without labels | the same rows |
//! | `cells-noise`, `cells-swap` | as for `uad` | the other half, with spoiled cells: see [`crate::cells`] |
//!
//! Columns are standardized by the training rows (population standard deviation, 1 for constant columns).
//!
//! `dte` leaks: in a set with fewer than 1,000 rows, most test rows are also training rows. The protocol exists because
//! published numbers use it, and every table says that it leaks.

use std::{collections::BTreeMap, fmt};

use oddcell::{Matrix, Seed};
use serde::{Deserialize, Serialize};

use crate::{
    cells::Spoil,
    sets::{Benchmark, LabeledSet},
};

/// Smaller classes are never the normal class: the paper's numbers match only without them.
const LEAST_CLASS_ROWS: usize = 21;
/// `dte` resamples smaller sets to this many rows.
const DTE_LEAST_ROWS: usize = 1_000;
/// `dte` takes a random sample of this many rows from larger sets.
const DTE_MOST_ROWS: usize = 50_000;

/// How a set is split into training rows and test rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Unsupervised anomaly detection: a random half of the normal rows.
    #[default]
    Uad,
    /// One-class classification: each class in turn is normal.
    Occ,
    /// The split that comes with the set, in its array `is_test`.
    Fixed,
    /// The split of the DTE paper: in file order, resampled. Leaks.
    Dte,
    /// Training on everything.
    Contaminated,
    /// Which cell was spoiled by noise?
    CellsNoise,
    /// Which cell was spoiled by another row's value?
    CellsSwap,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Protocol; 7] = [
        Protocol::Uad,
        Protocol::Occ,
        Protocol::Fixed,
        Protocol::Dte,
        Protocol::Contaminated,
        Protocol::CellsNoise,
        Protocol::CellsSwap,
    ];

    /// The name shown on pictures.
    #[must_use]
    pub fn title(self) -> String {
        if self == Protocol::Dte { format!("{self}, leaky") } else { self.to_string() }
    }

    /// The sets of the registry that it applies to; `None` if it takes any folder of sets.
    #[must_use]
    pub fn benchmark(self) -> Option<Benchmark> {
        match self {
            Protocol::Fixed => None,
            Protocol::Occ => Some(Benchmark::Occ),
            Protocol::Uad
            | Protocol::Dte
            | Protocol::Contaminated
            | Protocol::CellsNoise
            | Protocol::CellsSwap => Some(Benchmark::Adbench),
        }
    }

    /// How cells are spoiled, if the protocol is about cells.
    #[must_use]
    pub fn spoil(self) -> Option<Spoil> {
        match self {
            Protocol::CellsNoise => Some(Spoil::Noise),
            Protocol::CellsSwap => Some(Spoil::Swap),
            Protocol::Uad | Protocol::Occ | Protocol::Fixed | Protocol::Dte | Protocol::Contaminated => None,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Protocol::Uad => "uad",
            Protocol::Occ => "occ",
            Protocol::Fixed => "fixed",
            Protocol::Dte => "dte",
            Protocol::Contaminated => "contaminated",
            Protocol::CellsNoise => "cells-noise",
            Protocol::CellsSwap => "cells-swap",
        })
    }
}

/// Standardized training rows and test rows, and which test rows are anomalies.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The training rows.
    pub train: Matrix,
    /// The test rows.
    pub test: Matrix,
    /// Whether each test row is an anomaly.
    pub truth: Vec<bool>,
    /// Whether the test rows are the training rows, in the same order.
    pub is_one_table: bool,
}

/// Why a protocol cannot use a set; `None` if it can.
#[must_use]
pub fn unusable(set: &LabeledSet, protocol: Protocol) -> Option<&'static str> {
    if protocol == Protocol::Fixed && set.is_test.is_none() {
        return Some("it has no array `is_test` that says how to split it");
    }
    normal_classes(set, protocol).is_empty().then_some("no class has more than 20 rows")
}

/// The classes that are normal in turn. A set with normal and anomalous rows has one such class, 0.
#[must_use]
pub fn normal_classes(set: &LabeledSet, protocol: Protocol) -> Vec<i64> {
    if protocol != Protocol::Occ || set.is_binary() {
        return vec![0];
    }
    let mut counts = BTreeMap::<i64, usize>::new();
    for (row, &label) in set.labels.iter().enumerate() {
        // With a test file, the paper's numbers match the class sizes of that file.
        if set.is_test.as_ref().is_none_or(|is_test| is_test[row]) {
            *counts.entry(label).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count >= LEAST_CLASS_ROWS);
    counts.into_keys().collect()
}

/// Splits a set with `class` as the normal class. The same set, class and seed give the same split.
///
/// # Panics
/// If the protocol cannot use the set: see [`unusable`].
#[must_use]
pub fn split(set: &LabeledSet, protocol: Protocol, class: i64, seed: Seed) -> Split {
    let rows: Vec<usize> = if protocol == Protocol::Dte {
        dte_rows(set.labels.len(), seed)
    } else {
        (0..set.labels.len()).collect()
    };
    let is_normal = |row: usize| set.labels[row] == class;
    let (train, test): (Vec<usize>, Vec<usize>) = match (protocol, &set.is_test) {
        (Protocol::Contaminated, _) => (rows.clone(), rows),
        (Protocol::Occ | Protocol::Fixed, Some(is_test)) => {
            let (test, train): (Vec<usize>, Vec<usize>) = rows.into_iter().partition(|&row| is_test[row]);
            (train.into_iter().filter(|&row| is_normal(row)).collect(), test)
        }
        (Protocol::Fixed, None) => panic!("a set without `is_test` has no split of its own"),
        (Protocol::Dte, _) => first_half(&rows, is_normal),
        (Protocol::Uad | Protocol::Occ | Protocol::CellsNoise | Protocol::CellsSwap, _) => {
            random_half(&rows, is_normal, seed)
        }
    };
    let truth = test.iter().map(|&row| !is_normal(row)).collect();
    let (mut train, mut test) = (set.rows.take(&train), set.rows.take(&test));
    standardize(&mut train, &mut test);
    Split { train, test, truth, is_one_table: protocol == Protocol::Contaminated }
}

/// Returns a random half of the normal rows, and all other rows in file order.
fn random_half(rows: &[usize], is_normal: impl Fn(usize) -> bool, seed: Seed) -> (Vec<usize>, Vec<usize>) {
    let mut normal: Vec<usize> = rows.iter().copied().filter(|&row| is_normal(row)).collect();
    seed.stream("half", &[]).shuffle(&mut normal);
    let (train, rest) = normal.split_at(normal.len() / 2);
    let anomalous = rows.iter().copied().filter(|&row| !is_normal(row));
    let mut test: Vec<usize> = rest.iter().copied().chain(anomalous).collect();
    test.sort_unstable();
    (train.to_vec(), test)
}

/// Returns the first half of the normal rows, and the others followed by all anomalies. Odd counts round half to even.
fn first_half(rows: &[usize], is_normal: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<usize>) {
    let (mut normal, anomalous): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| is_normal(row));
    let half = (normal.len() as f64 / 2.0).round_ties_even() as usize;
    let mut test = normal.split_off(half);
    test.extend(anomalous);
    (normal, test)
}

/// The rows that `dte` uses: small sets are sampled with replacement, large sets without.
fn dte_rows(n_rows: usize, seed: Seed) -> Vec<usize> {
    let mut stream = seed.stream("dte", &[]);
    if n_rows < DTE_LEAST_ROWS {
        return (0..DTE_LEAST_ROWS).map(|_| stream.below(n_rows)).collect();
    }
    let mut rows: Vec<usize> = (0..n_rows).collect();
    if n_rows > DTE_MOST_ROWS {
        stream.shuffle(&mut rows);
        rows.truncate(DTE_MOST_ROWS);
    }
    rows
}

/// Subtracts the training mean from every column and divides by the training standard deviation.
fn standardize(train: &mut Matrix, test: &mut Matrix) {
    let n = train.n_rows() as f64;
    let column_means = |of: &dyn Fn(usize, f64) -> f64| {
        let mut sums = vec![0.0; train.n_cols()];
        for row in train.rows() {
            sums.iter_mut().zip(row).enumerate().for_each(|(column, (sum, &cell))| *sum += of(column, cell));
        }
        sums.iter().map(|sum| sum / n).collect::<Vec<f64>>()
    };
    let means = column_means(&|_, cell| cell);
    let variances = column_means(&|column, cell| (cell - means[column]).powi(2));
    let stds: Vec<f64> =
        variances.iter().map(|&variance| if variance > 0.0 { variance.sqrt() } else { 1.0 }).collect();
    for matrix in [train, test] {
        for row in 0..matrix.n_rows() {
            for (cell, (mean, std)) in matrix.row_mut(row).iter_mut().zip(means.iter().zip(&stds)) {
                *cell = (*cell - mean) / std;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The first cell of a row is its number.
    fn set(labels: &[i64], is_test: Option<Vec<bool>>) -> LabeledSet {
        let values = (0..labels.len()).flat_map(|row| [row as f64, 5.0]).collect();
        let rows = Matrix::new(values, labels.len(), 2);
        LabeledSet { name: "made".to_owned(), rows, labels: labels.to_vec(), n_numeric: 2, is_test }
    }

    #[test] // Training rows 0 and 2: mean 1, standard deviation 1; the constant column is divided by 1.
    fn columns_are_standardized_by_the_training_rows() {
        let set = set(&[0, 0, 0, 0, 1], None);
        let mut train = set.rows.take(&[0, 2]);
        let mut test = set.rows.take(&[1, 4]);
        standardize(&mut train, &mut test);
        assert_eq!(train, Matrix::from_rows(&[[-1.0, 0.0], [1.0, 0.0]]));
        assert_eq!(test, Matrix::from_rows(&[[0.0, 0.0], [3.0, 0.0]]));
    }

    #[test]
    fn half_of_the_normal_rows_are_trained_on_and_every_other_row_is_tested_once() {
        let set = set(&[0, 1, 0, 0, 1, 0, 0], None);
        let rows: Vec<usize> = (0..7).collect();
        let halves: BTreeSet<Vec<usize>> = (0..40)
            .map(|seed| {
                let (mut train, test) = random_half(&rows, |row| set.labels[row] == 0, Seed(seed));
                train.sort_unstable();
                let mut all: Vec<usize> = train.iter().chain(&test).copied().collect();
                all.sort_unstable();
                assert_eq!(all, rows);
                assert!(train.iter().all(|&row| set.labels[row] == 0));
                train
            })
            .collect();
        // There are ten ways to choose two of five normal rows; forty seeds find nearly all.
        assert!(halves.iter().all(|train| train.len() == 2));
        assert!(halves.len() >= 8, "{halves:?}");
        let split = split(&set, Protocol::Uad, 0, Seed(1));
        assert_eq!(split.truth.iter().filter(|&&is_odd| is_odd).count(), 2);
    }

    #[test] // Five normal rows: half is 2.5, rounded to even 2. Rows 0, 2 are trained on; then 3, 5, 6, then 1, 4.
    fn dte_takes_the_first_half_in_file_order_and_puts_anomalies_last() {
        let labels = [0, 1, 0, 0, 1, 0, 0];
        let rows: Vec<usize> = (0..7).collect();
        let (train, test) = first_half(&rows, |row| labels[row] == 0);
        assert_eq!((train, test), (vec![0, 2], vec![3, 5, 6, 1, 4]));
        let (train, _) = first_half(&[0, 1, 2, 3, 4, 5, 6], |_| true);
        assert_eq!(train.len(), 4);
    }

    #[test]
    fn dte_resamples_small_sets_and_cuts_large_ones() {
        let small = dte_rows(50, Seed(0));
        assert_eq!(small.len(), 1_000);
        assert!(small.iter().all(|&row| row < 50));
        assert_eq!(dte_rows(1_600, Seed(0)), (0..1_600).collect::<Vec<_>>());
        let mut large = dte_rows(60_000, Seed(0));
        assert_eq!(large.len(), 50_000);
        large.sort_unstable();
        large.dedup();
        assert_eq!(large.len(), 50_000);
    }

    #[test] // Class 1 has 25 rows, class 2 has 21, class 3 has 20: one too few.
    fn small_classes_are_not_used() {
        let labels: Vec<i64> =
            [(1, 25), (2, 21), (3, 20)].iter().flat_map(|&(class, n)| vec![class; n]).collect();
        assert_eq!(normal_classes(&set(&labels, None), Protocol::Occ), [1, 2]);
        // One row of class 2 is in the training file, so 20 are left in the test file.
        let is_test = (0..labels.len()).map(|row| row != 30).collect();
        assert_eq!(normal_classes(&set(&labels, Some(is_test)), Protocol::Occ), [1]);
        assert_eq!(normal_classes(&set(&[0, 1, 1], None), Protocol::Occ), [0]);
    }

    #[test]
    fn with_a_test_file_all_normal_rows_of_the_training_file_are_used() {
        let set = set(&[7, 7, 8, 7, 8], Some(vec![false, false, false, true, true]));
        let split = split(&set, Protocol::Occ, 7, Seed(0));
        // Rows 0 and 1: mean 0.5, standard deviation 0.5.
        assert_eq!(split.train, Matrix::from_rows(&[[-1.0, 0.0], [1.0, 0.0]]));
        assert_eq!(split.test, Matrix::from_rows(&[[5.0, 0.0], [7.0, 0.0]]));
        assert_eq!(split.truth, [false, true]);
    }

    // Rows 0 and 3 are the normal rows of the training part: mean 1.5, standard deviation 1.5. Row 1 is an anomaly there.
    #[test]
    fn the_split_of_a_set_is_kept_and_its_anomalies_are_not_trained_on() {
        let labels = [0, 1, 0, 0, 2];
        let set = set(&labels, Some(vec![false, false, true, false, true]));
        let [first, second] = [0, 1].map(|seed| split(&set, Protocol::Fixed, 0, Seed(seed)));
        assert_eq!(first.train, Matrix::from_rows(&[[-1.0, 0.0], [1.0, 0.0]]));
        assert_eq!(first.test.rows().map(|row| row[0]).collect::<Vec<_>>(), [0.5 / 1.5, 2.5 / 1.5]);
        assert_eq!(first.truth, [false, true], "every label but 0 is an anomaly");
        assert_eq!(first, second, "the seed changes nothing");
    }

    #[test]
    fn a_set_without_a_split_of_its_own_cannot_be_used_with_it() {
        let none = set(&[0, 0, 1], None);
        assert!(unusable(&none, Protocol::Fixed).is_some_and(|reason| reason.contains("is_test")));
        assert_eq!(unusable(&none, Protocol::Uad), None);
        assert_eq!(unusable(&set(&[0, 0, 1], Some(vec![false, true, true])), Protocol::Fixed), None);
        assert!(unusable(&set(&[3, 4], None), Protocol::Occ).is_some());
    }

    #[test]
    fn contaminated_trains_on_what_it_judges() {
        let split = split(&set(&[0, 1, 0], None), Protocol::Contaminated, 0, Seed(0));
        assert_eq!(split.train, split.test);
        assert_eq!(split.truth, [false, true, false]);
    }

    #[test]
    fn protocols_read_back_from_the_names_that_are_shown() {
        for protocol in Protocol::ALL {
            let read: Protocol = serde_json::from_value(protocol.to_string().into()).unwrap();
            assert_eq!(read, protocol);
        }
        assert!(serde_json::from_value::<Protocol>("half".into()).is_err());
    }
}
