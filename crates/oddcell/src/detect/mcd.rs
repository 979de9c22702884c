//! `mcd`, robust covariance: the Mahalanobis distance from the half of the rows that lies closest together.
//!
//! *Why:* a covariance that odd rows helped to estimate hides them. The minimum covariance determinant uses the h rows
//! whose covariance has the smallest determinant, so up to half of the rows may be odd.
//!
//! *Formula:* with μ and Σ the mean and covariance of these h rows, Σ times a factor that makes it unbiased for normal
//! rows, the rows with (x − μ)ᵀΣ⁻¹(x − μ) below the 97.5 % quantile of χ² are kept. The score is the same squared
//! distance with their mean and covariance (times the factor for 97.5 %).
//!
//! ```text
//! h = ⌈(n + w + 1)/2⌉ for n rows and w columns        factor(α) = α / P(χ²(w + 2) ≤ q),  P(χ²(w) ≤ q) = α
//! ```
//!
//! *Search:* `FastMCD`, from random halves (`search.rs`). A column that never varies, or that others determine, has no
//! inverse covariance; directions without variance are ignored (`symmetric.rs`).
//!
//! *Invariants:* each random start draws from its own stream and starts are compared in order, so threads change nothing.
//! Agrees with scikit-learn's `MinCovDet` and `PyOD`'s `MCD` where the search of both finds the same rows.
//!
//! *Source:* Rousseeuw, Van Driessen (1999), "A fast algorithm for the minimum covariance determinant estimator".

mod chi_squared;
mod search;
mod symmetric;

use rayon::prelude::*;

use self::symmetric::Shape;
use super::{Abilities, Fitted, Judged, Params, Size, held, parameters, ranges, saved};
use crate::{
    Context, Matrix,
    error::{FitError, ParamError},
    tensors::{TensorError, Tensors},
};

/// The tensors of the location and the covariance.
const LOCATION: &str = "location";
const COVARIANCE: &str = "covariance";
/// The share of normal rows that is kept after the search.
const KEPT: f64 = 0.975;
/// Rows scored together.
const ROWS_PER_BLOCK: usize = 256;

parameters! {
    /// The parameters of `mcd`.
    pub(super) struct McdParams {
        /// Share of the rows that the search looks for, from 0.5 to 1; `null`: half, and a little more.
        pub support: Option<f64> = None,
    }
}

impl Params for McdParams {
    const NAME: &'static str = "mcd";
    const SUMMARY: &'static str =
        "robust covariance: distance from the half of the rows that lies closest together";
    const ABILITIES: Abilities = Abilities::SIMPLE;

    fn check(&self) -> Result<(), ParamError> {
        let support = self.support.unwrap_or(1.0);
        ranges::require((0.5..=1.0).contains(&support), "support", support, "between 0.5 and 1, or null")
    }

    fn seconds(&self, Size { n_train, n_test, n_cols }: Size) -> f64 {
        // Five hundred starts on 300 rows, then about ten searches with all rows, and one pass over the rows to score.
        let rows = (500 * 2 * n_train.min(300) + 100 * n_train + n_test) as f64;
        3e-10 * rows * (n_cols * n_cols + n_cols) as f64
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let (n_rows, width) = (rows.n_rows(), rows.n_cols());
        let near = Matrix::new(rows.values().iter().map(|&cell| held::near(cell)).collect(), n_rows, width);
        let n_support = match self.support {
            None => (n_rows + width + 1).div_ceil(2).min(n_rows),
            Some(share) => ((share * n_rows as f64) as usize).clamp(1, n_rows),
        };
        let found = search::smallest(&near, n_support, context)?;
        let raw = chi_squared::consistency(width, n_support as f64 / n_rows as f64);
        let distances = found.distances(&near);
        let limit = chi_squared::quantile(KEPT, width as f64);
        let kept: Vec<usize> = (0..n_rows).filter(|&row| distances[row] / raw < limit).collect();
        let kept = if kept.is_empty() { (0..n_rows).collect() } else { kept };
        let mut shape = Shape::of(&near, &kept);
        shape.scale(chi_squared::consistency(width, KEPT));
        Ok(Box::new(FittedMcd { shape: shape.inverted() }))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let covariance = saved::take_table(tensors, COVARIANCE)?;
        let width = covariance.n_rows();
        let location = tensors.take_f64(LOCATION, &[width])?;
        if covariance.n_cols() != width {
            let reason = format!("it is {width} × {}, but must be square", covariance.n_cols());
            return Err(saved::invalid(COVARIANCE, &reason));
        }
        if covariance.first_not_finite().is_some() || location.iter().any(|mean| !mean.is_finite()) {
            return Err(saved::invalid(COVARIANCE, &"it holds a number that is not finite"));
        }
        for a in 0..width {
            if covariance.row(a)[a] < 0.0 || (0..a).any(|b| covariance.row(a)[b] != covariance.row(b)[a]) {
                let reason = format!("row {} is not that of a covariance", a + 1);
                return Err(saved::invalid(COVARIANCE, &reason));
            }
        }
        Ok(Box::new(FittedMcd { shape: Shape { location, covariance }.inverted() }))
    }
}

/// Where normal rows are, and how they spread.
#[derive(Debug)]
struct FittedMcd {
    shape: symmetric::Inverted,
}

impl Fitted for FittedMcd {
    fn n_features(&self) -> usize {
        self.shape.shape.location.len()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let width = self.n_features();
        let blocks = rows.values().par_chunks(ROWS_PER_BLOCK * width).map(|block| {
            let mut near = vec![0.0; width];
            let score = |row: &[f64]| {
                near.iter_mut().zip(row).for_each(|(near, &cell)| *near = held::near(cell));
                held::score(self.shape.distance(&near))
            };
            block.chunks_exact(width).map(score).collect::<Vec<f64>>()
        });
        Judged { scores: blocks.collect::<Vec<_>>().concat(), cells: None }
    }

    fn save_to(&self, tensors: &mut Tensors) {
        let Shape { location, covariance } = &self.shape.shape;
        tensors.put_f64(LOCATION, &[location.len()], location.clone());
        saved::put_table(tensors, COVARIANCE, covariance);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    fn fit(rows: &Matrix) -> Box<dyn Fitted> {
        McdParams::default().build().unwrap().fit(rows, &Context::silent(Seed(1))).unwrap()
    }

    /// Two columns that go together; every tenth row is far away.
    fn rows() -> Matrix {
        let mut stream = Seed(2).stream("rows", &[]);
        let row = |at: usize| {
            let (a, b) = (stream.normal(), stream.normal());
            if at.is_multiple_of(10) { [30.0 + a, -30.0 + b] } else { [a, 0.9 * a + 0.2 * b] }
        };
        Matrix::from_rows(&(0..400).map(row).collect::<Vec<_>>())
    }

    // The covariance of all rows would hide the far ones; that of the normal rows is about [[1, 0.9], [0.9, 0.85]], whose
    // inverse makes (1, −1) odd: about (1 + 0.9)²/0.04 = 90 times as far as (1, 0.9).
    #[test]
    fn odd_rows_do_not_spoil_the_covariance() {
        let scores =
            fit(&rows()).score(&Matrix::from_rows(&[[1.0, 0.9], [1.0, -1.0], [30.0, -30.0]])).unwrap();
        assert!(scores[0] < 3.0 && (60.0..130.0).contains(&scores[1]), "{scores:?}");
        assert!(scores[2] > 30_000.0, "{scores:?}");
    }

    #[test]
    fn columns_that_never_vary_or_repeat_others_are_ignored() {
        let rows = rows();
        let more: Vec<[f64; 4]> = rows.rows().map(|row| [row[0], row[1], 7.0, row[0] - row[1]]).collect();
        let more = Matrix::from_rows(&more);
        let (two, four) = (fit(&rows).score(&rows).unwrap(), fit(&more).score(&more).unwrap());
        assert!(four.iter().all(|score| score.is_finite()));
        // The far rows stay the farthest.
        let least_odd = (0..400).step_by(10).map(|row| four[row]).fold(f64::INFINITY, f64::min);
        let most_normal = (0..400).filter(|row| row % 10 > 0).map(|row| four[row]).fold(0.0, f64::max);
        assert!(least_odd > 10.0 * most_normal, "{least_odd} {most_normal}");
        assert_eq!(two.len(), four.len());
    }

    #[test]
    fn the_share_of_rows_to_look_for_is_checked() {
        for support in [0.49, 1.01, f64::NAN] {
            let error = McdParams { support: Some(support) }.build().unwrap_err().to_string();
            assert!(error.contains("`support`") && error.contains("between 0.5 and 1, or null"), "{error}");
        }
    }

    #[test]
    fn a_covariance_that_is_not_symmetric_is_refused() {
        let mut tensors = fit(&rows()).save();
        tensors.put_f64(COVARIANCE, &[2, 2], vec![1.0, 0.5, 0.4, 1.0]);
        let error = McdParams::default().load(&mut tensors).unwrap_err().to_string();
        assert_eq!(error, "tensor `covariance`: row 2 is not that of a covariance");
    }

    proptest! {
        // Law: a Mahalanobis distance does not depend on units. Scaling a column by a power of two is exact.
        #[test]
        fn scaling_a_column_by_a_power_of_two_leaves_the_scores_as_they_were(power in -3i32..4, seed in 0u64..1000) {
            let mut stream = Seed(seed).stream("rows", &[]);
            let rows = Matrix::new((0..180).map(|_| stream.normal()).collect(), 60, 3);
            let mut scaled = rows.clone();
            for row in 0..60 {
                scaled.row_mut(row)[1] *= 2f64.powi(power);
            }
            let (before, after) = (fit(&rows).score(&rows).unwrap(), fit(&scaled).score(&scaled).unwrap());
            for (before, after) in before.iter().zip(after) {
                prop_assert!((before - after).abs() <= 1e-9 * before.max(1.0), "{} {}", before, after);
            }
        }
    }
}
