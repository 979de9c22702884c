//! `dte-np`: diffusion time estimation without a net.
//!
//! *Why:* the diffusion time of a row, that is how much noise must have been added to a normal row to get there, needs no
//! training: near the data it follows from the distances to the nearest training rows alone.
//!
//! *Formula:* with d₁ ≤ … ≤ dₖ the Euclidean distances to the k nearest training rows and w columns, the posterior of the
//! noise variance is an inverse gamma distribution with shape w/2 − 1 and scale s/2, where s is the mean of the dᵢ². Its
//! mode is the score: s/w, the variance of the noise in every cell. A training row's own score leaves the row itself out.
//!
//! *Source:* Livernoche, Jain, Hezaveh, Ravanbakhsh (2024), "On diffusion modeling for anomaly detection". The authors'
//! code rounds the mode to one of 300 diffusion times. The last one is a variance of 0.78; so far rows tie there.
//! Ours is not rounded.

use super::{
    Abilities, Fitted, Params, held,
    neighbors::{self, Compared, Digest, Neighbor},
    parameters, ranges,
};
use crate::{
    Context, Matrix,
    error::{FitError, ParamError},
    tensors::{TensorError, Tensors},
};

parameters! {
    /// The parameters of `dte-np`.
    pub(super) struct DteNpParams {
        /// Number of neighbors: at least 1, and fewer than there are training rows.
        pub n_neighbors: usize = 5,
    }
}

impl Params for DteNpParams {
    const NAME: &'static str = "dte-np";
    const SUMMARY: &'static str = "diffusion time without a net: mean squared distance to the k nearest rows";
    const ABILITIES: Abilities = Abilities::COMPARING;

    fn check(&self) -> Result<(), ParamError> {
        ranges::at_least_one("n_neighbors", self.n_neighbors)
    }

    fn fit(&self, rows: &Matrix, _: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        Ok(Box::new(self.keep(rows.clone())?))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        neighbors::load::<Self, _>(tensors, |rows| self.keep(rows))
    }
}

impl DteNpParams {
    /// Keeps the rows, indexed for the search for neighbors.
    fn keep(&self, rows: Matrix) -> Result<Compared<Variance>, FitError> {
        let variance = Variance { n_features: rows.n_cols() };
        Compared::keep(self.n_neighbors, rows, variance)
    }
}

/// The mode of the noise variance.
#[derive(Debug)]
struct Variance {
    n_features: usize,
}

impl Digest for Variance {
    fn score(&self, nearest: &[Neighbor]) -> f64 {
        // Divided first, so that no sum overflows.
        let parts = (nearest.len() * self.n_features) as f64;
        held::score(nearest.iter().map(|one| one.distance() / parts * one.distance()).sum())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scores(n_neighbors: usize, rows: &Matrix, queries: &Matrix) -> Vec<f64> {
        DteNpParams { n_neighbors }.keep(rows.clone()).unwrap().score(queries).unwrap()
    }

    // Training rows 0, 1, 3, 7 on a line. From 4: distances 1, 3, 3, 4; the squares of the first three are 1, 9, 9.
    #[test]
    fn the_score_is_the_mean_squared_distance_per_column() {
        let rows = Matrix::from_rows(&[[0.0], [1.0], [3.0], [7.0]]);
        let query = Matrix::from_rows(&[[4.0]]);
        assert_eq!(scores(1, &rows, &query), [1.0]);
        assert!((scores(3, &rows, &query)[0] - 19.0 / 3.0).abs() < 1e-14);
        // (0, 0) to (3, 4) and to (0, 1): (25 + 1)/2 per row, over two columns.
        let rows = Matrix::from_rows(&[[3.0, 4.0], [0.0, 1.0], [90.0, 90.0]]);
        assert_eq!(scores(2, &rows, &Matrix::zeros(1, 2)), [6.5]);
    }

    #[test] // Among themselves, one neighbor: 0 → 1, 1 → 1, 3 → 2.
    fn a_training_row_is_not_its_own_neighbor() {
        let fitted = DteNpParams { n_neighbors: 1 }.keep(Matrix::from_rows(&[[0.0], [1.0], [3.0]])).unwrap();
        assert_eq!(fitted.training_scores(0..3).unwrap(), [1.0, 1.0, 4.0]);
    }

    #[test]
    fn distances_too_large_for_a_square_give_the_largest_score() {
        let rows = Matrix::from_rows(&[[0.0], [1.0]]);
        assert!(scores(1, &rows, &Matrix::from_rows(&[[1e300]]))[0].is_finite());
        let error = DteNpParams { n_neighbors: 2 }.keep(rows).unwrap_err().to_string();
        assert!(error.contains("it must be at most 1"), "{error}");
    }

    proptest! {
        // Law: the score is a variance per cell. Repeating every column changes nothing but rounding.
        #[test]
        fn repeating_every_column_leaves_the_scores_as_they_were(
            cells in prop::collection::vec(-100.0f64..100.0, 24..60),
        ) {
            let rows = Matrix::new(cells[..cells.len() / 3 * 3].to_vec(), cells.len() / 3, 3);
            let twice = rows.rows().flat_map(|row| [row, row].concat()).collect();
            let twice = Matrix::new(twice, rows.n_rows(), 6);
            for (once, twice) in scores(5, &rows, &rows).iter().zip(scores(5, &twice, &twice)) {
                prop_assert!((once - twice).abs() <= 1e-12 * once.max(1.0), "{} {}", once, twice);
            }
        }
    }
}
