//! `knn`: the distance to the k-th nearest training row.
//!
//! *Why:* a row far from every normal row is odd; it is the simplest idea that works.
//!
//! *Formula:* with d₁ ≤ … ≤ dₖ the Euclidean distances to the k nearest training rows, the score is dₖ
//! (`largest`), their mean, or their median. A training row's own score leaves the row itself out, by index:
//! its duplicates still count, at distance 0.
//!
//! *Source:* Ramaswamy, Rastogi, Shim (2000), "Efficient algorithms for mining outliers from large data
//! sets"; Angiulli, Pizzuti (2002) for the mean. Scores agree with `PyOD`'s `KNN`.

use serde::{Deserialize, Serialize};

use super::{
    Abilities, Fitted, Params,
    neighbors::{self, Compared, Digest, Neighbor},
    parameters, ranges,
};
use crate::{
    Context, Matrix,
    error::{FitError, ParamError},
    tensors::{TensorError, Tensors},
};

/// How the distances to the k nearest rows become a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Method {
    /// The distance to the k-th nearest row.
    Largest,
    /// The mean of the k distances.
    Mean,
    /// The median of the k distances.
    Median,
}

impl Digest for Method {
    fn score(&self, nearest: &[Neighbor]) -> f64 {
        let distance = |rank: usize| nearest[rank].distance();
        let k = nearest.len();
        match self {
            Method::Largest => distance(k - 1),
            Method::Mean => nearest.iter().map(|one| one.distance()).sum::<f64>() / k as f64,
            Method::Median => 0.5 * (distance((k - 1) / 2) + distance(k / 2)),
        }
    }
}

parameters! {
    /// The parameters of `knn`.
    pub(super) struct KnnParams {
        /// Number of neighbors: at least 1, and fewer than there are training rows.
        pub n_neighbors: usize = 5,
        /// How their distances become a score.
        pub method: Method = Method::Largest,
    }
}

impl Params for KnnParams {
    const NAME: &'static str = "knn";
    const SUMMARY: &'static str = "distance to the k-th nearest training row";
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

impl KnnParams {
    /// Keeps the rows, indexed for the search for neighbors.
    fn keep(&self, rows: Matrix) -> Result<Compared<Method>, FitError> {
        Compared::keep(self.n_neighbors, rows, self.method)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn knn(n_neighbors: usize, method: Method) -> KnnParams {
        KnnParams { n_neighbors, method }
    }

    fn among_themselves(knn: &KnnParams, rows: &Matrix) -> Vec<f64> {
        knn.keep(rows.clone()).unwrap().training_scores(0..rows.n_rows()).unwrap()
    }

    #[test] // Training rows 0, 1, 3, 7, 12 on a line. From 4: distances 1, 3, 3, 4, 8.
    fn the_three_methods_match_the_values_worked_out_by_hand() {
        let rows = Matrix::from_rows(&[[0.0], [1.0], [3.0], [7.0], [12.0]]);
        let query = Matrix::from_rows(&[[4.0]]);
        let score = |k, method| knn(k, method).keep(rows.clone()).unwrap().score(&query).unwrap();
        assert_eq!(score(4, Method::Largest), [4.0]);
        assert_eq!(score(4, Method::Mean), [(1.0 + 3.0 + 3.0 + 4.0) / 4.0]);
        assert_eq!(score(4, Method::Median), [3.0]);
        assert_eq!(score(2, Method::Median), [2.0]); // between 1 and 3
        assert_eq!(score(1, Method::Largest), [1.0]);
    }

    #[test] // Among themselves, two neighbors: 0 → 1, 3; 1 → 1, 2; 3 → 2, 3; 7 → 4, 5; 12 → 5, 9.
    fn a_training_row_is_not_its_own_neighbor() {
        let rows = Matrix::from_rows(&[[0.0], [1.0], [3.0], [7.0], [12.0]]);
        let scores = among_themselves(&knn(2, Method::Largest), &rows);
        assert_eq!(scores, [3.0, 2.0, 3.0, 5.0, 9.0]);
    }

    #[test]
    fn as_many_neighbors_as_rows_are_refused_with_both_numbers() {
        let rows = Matrix::zeros(5, 1);
        let error = knn(5, Method::Largest).keep(rows.clone()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "parameter `n_neighbors` is 5, but with 5 training rows it must be at most 4"
        );
        assert!(knn(4, Method::Largest).keep(rows).is_ok());
        let error = KnnParams { n_neighbors: 0, ..KnnParams::default() }.build().unwrap_err();
        assert_eq!(error.to_string(), "parameter `n_neighbors` is 0, but must be at least 1");
    }

    proptest! {
        // Law: a distance has the unit of the columns. Twice as large everywhere is twice as far.
        #[test]
        fn doubling_every_value_doubles_every_score(
            cells in prop::collection::vec(-100.0f64..100.0, 24..60),
            method in prop::sample::select(vec![Method::Largest, Method::Mean, Method::Median]),
        ) {
            let rows = Matrix::new(cells[..cells.len() / 3 * 3].to_vec(), cells.len() / 3, 3);
            let mut doubled = rows.clone();
            doubled.values_mut().iter_mut().for_each(|value| *value *= 2.0);
            let once = among_themselves(&knn(5, method), &rows);
            let twice = among_themselves(&knn(5, method), &doubled);
            prop_assert_eq!(once.iter().map(|score| 2.0 * score).collect::<Vec<_>>(), twice);
        }
    }
}
