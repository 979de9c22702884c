//! Checks p-values and false-discovery rates on the benchmark sets.
//!
//! A model is fitted on a random half of the normal rows, as a user would do it, and judges the other half and all
//! anomalies. The p-values of the normal rows should be uniform, and among the rows that `fdr` calls odd, the share of
//! normal rows should not exceed the rate.

use oddcell::{
    Context, DetectorSpec, Error, Model, Seed,
    calibrate::distance_to_uniform,
    judge::{Collected, Judge, Scorer},
    model::FitOptions,
    verdict::{Rule, verdicts},
};

use crate::{contest::table, protocol::Split};

/// The false-discovery rates that are checked.
pub const RATES: [f64; 2] = [0.05, 0.1];

/// The result on one set with one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// The set.
    pub set: String,
    /// The seed of the split and of the model.
    pub seed: u64,
    /// Rows that the model was fitted on, including held-out rows.
    pub train_rows: usize,
    /// Members of the model: 1 with a holdout, otherwise the number of folds.
    pub members: usize,
    /// The number of normal test rows.
    pub normal_rows: usize,
    /// The distance of the p-values of the normal rows from uniform: [`distance_to_uniform`].
    pub ks: f64,
    /// The distance that valid p-values exceed on one table in a hundred: both the calibration rows and the test rows
    /// are samples. With folds, whose p-values crowd around 1/2, this is only a rough guide.
    pub ks_by_chance: f64,
    /// Share of the normal rows with a p-value of at most 0.01.
    pub at_one_percent: f64,
    /// For every rate, the share of normal rows among the rows called odd (0 if there are none).
    pub false_share: [f64; 2],
    /// For every rate, the share of the anomalies called odd.
    pub found: [f64; 2],
}

/// Fits a model on the training rows of a split and compares its p-values and verdicts on the test rows with the truth.
pub fn calibrated(set: &str, split: &Split, spec: &DetectorSpec, seed: Seed) -> Result<Calibrated, Error> {
    let mut options = FitOptions::new(spec.clone());
    // Benchmark sets have no identifiers to leave out.
    options.encode.keep_identifiers = true;
    let model = Model::fit(&table(set, &split.train)?, &options, &Context::silent(seed))?;
    let scorer = Scorer::new(&model, Rule::FOR_NEW_ROWS);
    let (Collected { scores, p_values, .. }, _) =
        scorer.collect(set, &table(set, &split.test)?.batches, &mut [])?;
    let of_normal: Vec<f64> =
        p_values.iter().zip(&split.truth).filter(|(_, is_odd)| !**is_odd).map(|(&p, _)| p).collect();
    let small = of_normal.iter().filter(|&&p| p <= 0.01).count();
    let n_odd = split.truth.iter().filter(|&&is_odd| is_odd).count();
    let (mut false_share, mut found) = ([0.0; 2], [0.0; 2]);
    for (at, rate) in RATES.into_iter().enumerate() {
        let called = verdicts(Rule::Fdr(rate), &scores, &p_values, &model.reference());
        let n_called = called.iter().filter(|&&is_odd| is_odd).count();
        let right = called.iter().zip(&split.truth).filter(|(called, truth)| **called && **truth).count();
        false_share[at] = (n_called - right) as f64 / n_called.max(1) as f64;
        found[at] = right as f64 / n_odd.max(1) as f64;
    }
    Ok(Calibrated {
        set: set.to_owned(),
        seed: seed.0,
        train_rows: split.train.n_rows(),
        members: model.members().len(),
        normal_rows: of_normal.len(),
        ks: distance_to_uniform(&of_normal),
        ks_by_chance: 1.63 * (1.0 / model.reference().len() as f64 + 1.0 / of_normal.len() as f64).sqrt(),
        at_one_percent: small as f64 / of_normal.len().max(1) as f64,
        false_share,
        found,
    })
}

#[cfg(test)]
mod tests {
    use oddcell::Matrix;

    use super::*;

    #[test]
    fn normal_rows_get_uniform_p_values_and_far_ones_are_found() {
        let mut stream = Seed(5).stream("rows", &[]);
        let mut normal = |n: usize| Matrix::new((0..n * 3).map(|_| stream.normal()).collect(), n, 3);
        let train = normal(1_500);
        let mut test = normal(800);
        let truth: Vec<bool> = (0..800).map(|row| row < 80).collect();
        for row in 0..80 {
            test.row_mut(row).iter_mut().for_each(|cell| *cell += 9.0);
        }
        let mut spec = DetectorSpec::new("knn", None).unwrap();
        spec.set_text("n_neighbors", "3").unwrap();
        let got =
            calibrated("made", &Split { train, test, truth, is_one_table: false }, &spec, Seed(1)).unwrap();
        assert_eq!((got.train_rows, got.members, got.normal_rows), (1_500, 1, 720));
        // 300 rows held out and 720 judged: 1.63·√(1/300 + 1/720).
        assert!((got.ks_by_chance - 0.11201).abs() < 1e-5 && got.ks < got.ks_by_chance, "{got:?}");
        assert_eq!(got.found, [1.0, 1.0]);
        assert!(got.false_share[1] < 0.25, "{got:?}");
    }
}
