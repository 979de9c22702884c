//! `lof`, the local outlier factor: how much lower the density is around a row than around its neighbors.
//!
//! *Why:* where normal rows are dense in one place and sparse in another, a plain distance calls all of the
//! sparse place odd; comparing with the neighbors' own density does not.
//!
//! *Formula:* K = min(k, n − 1). For a training row j, D(j) is the distance to its K-th nearest other row.
//! For any row x with its K nearest training rows N(x) (for a training row: without itself)
//!
//! ```text
//! density(x) = 1 / ( mean over j in N(x) of max(distance(x, j), D(j))  +  1e-10 )
//! score(x)   = mean over j in N(x) of density(j) / density(x)
//! ```
//!
//! About 1 is normal. More than K equal rows have the density 1e10, and a row beside them a score of that
//! order: finite, by the 1e-10.
//!
//! *Invariants:* 0 ≤ D(j) ≤ √(largest number) and 0 < density ≤ 1e10, also when loaded, so scores are finite.
//!
//! *Source:* Breunig, Kriegel, Ng, Sander (2000), "LOF: identifying density-based local outliers". Scores
//! agree with scikit-learn's and `PyOD`'s `LOF` in novelty mode; a tie for the K-th place goes to the lower
//! row.

use super::{
    Abilities, Fitted, Params,
    neighbors::{self, Compared, Digest, Neighbor, Neighbors},
    parameters, ranges, saved,
};
use crate::{
    Context, Matrix, Progress,
    error::{FitError, ParamError},
    tensors::{TensorError, Tensors},
};

/// The tensor of D, the distance of every training row to its K-th neighbor.
const REACH: &str = "reach";
/// The tensor of the density of every training row.
const DENSITY: &str = "density";

/// Added to the mean distance: more than K equal rows have a large density, not an infinite one.
const SMALLEST_DISTANCE: f64 = 1e-10;
/// Training rows between two looks at the monitor.
const ROWS_PER_REPORT: usize = 4096;

parameters! {
    /// The parameters of `lof`.
    pub(super) struct LofParams {
        /// Number of neighbors: at least 1; with fewer other rows than that, all of them.
        pub n_neighbors: usize = 20,
    }
}

impl Params for LofParams {
    const NAME: &'static str = "lof";
    const SUMMARY: &'static str =
        "local outlier factor: lower density around a row than around its neighbors";
    const ABILITIES: Abilities = Abilities::COMPARING;

    fn check(&self) -> Result<(), ParamError> {
        ranges::at_least_one("n_neighbors", self.n_neighbors)
    }

    /// Finds the neighbors of every training row and from them its density.
    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let n_rows = rows.n_rows();
        let k = self.k(n_rows);
        let neighbors = Neighbors::new(rows.clone());
        let mut nearest: Vec<Box<[Neighbor]>> = Vec::with_capacity(n_rows);
        while nearest.len() < n_rows {
            crate::context::go_on(context.monitor)?;
            let range = nearest.len()..n_rows.min(nearest.len() + ROWS_PER_REPORT);
            nearest.extend(neighbors.map_training(range, k, |nearest| Box::from(nearest)));
            context.monitor.advanced(Progress { done: nearest.len(), total: n_rows, loss: None });
        }
        let reach: Vec<f64> = nearest.iter().map(|nearest| nearest[k - 1].distance()).collect();
        let density = nearest.iter().map(|nearest| 1.0 / mean_reach(nearest, &reach)).collect();
        Ok(Box::new(Compared::new(k, neighbors, Factor { reach, density })))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let rows = neighbors::take_rows::<Self>(tensors)?;
        let n_rows = rows.n_rows();
        let reach = take_within(tensors, REACH, n_rows, 0.0, f64::MAX.sqrt())?;
        let density = take_within(tensors, DENSITY, n_rows, f64::MIN_POSITIVE, 1.0 / SMALLEST_DISTANCE)?;
        let factor = Factor { reach, density };
        Ok(Box::new(Compared::new(self.k(n_rows), Neighbors::new(rows), factor)))
    }
}

/// Takes one value per row, each between `low` and `high`.
fn take_within(
    tensors: &mut Tensors,
    name: &str,
    n_rows: usize,
    low: f64,
    high: f64,
) -> Result<Vec<f64>, TensorError> {
    let values = tensors.take_f64(name, &[n_rows])?;
    match values.iter().position(|value| !(low..=high).contains(value)) {
        None => Ok(values),
        Some(index) => {
            let value = values[index];
            Err(saved::invalid(name, &format!("value {index} is {value}, but must be from {low} to {high}")))
        }
    }
}

impl LofParams {
    /// K: `n_neighbors`, or all other rows if those are fewer.
    fn k(&self, n_rows: usize) -> usize {
        self.n_neighbors.min(n_rows - 1)
    }
}

/// One over the density of a row with these nearest rows.
fn mean_reach(nearest: &[Neighbor], reach: &[f64]) -> f64 {
    let sum: f64 = nearest.iter().map(|one| one.distance().max(reach[one.row])).sum();
    sum / nearest.len() as f64 + SMALLEST_DISTANCE
}

/// The local outlier factor; D and the density of every training row.
#[derive(Debug)]
struct Factor {
    reach: Vec<f64>,
    density: Vec<f64>,
}

impl Digest for Factor {
    fn score(&self, nearest: &[Neighbor]) -> f64 {
        let sum: f64 = nearest.iter().map(|one| self.density[one.row]).sum();
        sum / nearest.len() as f64 * mean_reach(nearest, &self.reach)
    }

    fn save_to(&self, tensors: &mut Tensors) {
        tensors.put_f64(REACH, &[self.reach.len()], self.reach.clone());
        tensors.put_f64(DENSITY, &[self.density.len()], self.density.clone());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Monitor, Seed};

    fn learn(n_neighbors: usize, rows: &Matrix) -> Box<dyn Fitted> {
        let lof = LofParams { n_neighbors }.build().unwrap();
        lof.fit(rows, &Context::silent(Seed(0))).unwrap()
    }

    fn among_themselves(n_neighbors: usize, rows: &Matrix) -> Vec<f64> {
        learn(n_neighbors, rows).training_scores(0..rows.n_rows()).unwrap()
    }

    // Rows 0, 1, 2 and 6 on a line, K = 1 (ties to the lower row): neighbors 1, 0, 1, 2; D = 1, 1, 1, 4.
    // 1/density: 0 → max(1, D(1)) = 1; 1 → 1; 2 → 1; 6 → max(4, D(2)) = 4. Factors: 1, 1, 1, and for 6:
    // density(2) · 4 = 4. A new row at 10: neighbor 6, max(4, 4) = 4 times 1/4 = 1.
    #[test]
    fn factors_match_the_values_worked_out_by_hand() {
        let fitted = learn(1, &Matrix::from_rows(&[[0.0], [1.0], [2.0], [6.0]]));
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{found:?}"));
        };
        close(fitted.training_scores(0..4).unwrap(), &[1.0, 1.0, 1.0, 4.0]);
        close(fitted.score(&Matrix::from_rows(&[[10.0], [1.2]])).unwrap(), &[1.0, 1.0]);
    }

    #[test]
    fn more_neighbors_than_rows_are_all_the_other_rows() {
        let rows = Matrix::from_rows(&[[0.0], [1.0], [2.5], [6.0]]);
        assert_eq!(among_themselves(20, &rows), among_themselves(3, &rows));
    }

    #[test]
    fn equal_rows_have_the_score_one_and_a_row_beside_them_a_finite_one() {
        let mut rows = Matrix::zeros(10, 2);
        rows.row_mut(9)[0] = 1.0;
        let scores = among_themselves(3, &rows);
        assert!(scores[..9].iter().all(|score| (score - 1.0).abs() < 1e-12), "{scores:?}");
        assert!((scores[9] / 1e10 - 1.0).abs() < 1e-9, "{scores:?}"); // density 1e10 times distance 1
    }

    #[test]
    fn a_monitor_can_stop_the_search() {
        struct Stop;
        impl Monitor for Stop {
            fn advanced(&self, _: Progress) {}
            fn cancelled(&self) -> bool {
                true
            }
        }
        let lof = LofParams::default().build().unwrap();
        let context = Context { seed: Seed(0), monitor: &Stop };
        assert!(matches!(lof.fit(&Matrix::zeros(5, 1), &context), Err(FitError::Cancelled)));
    }

    proptest! {
        // Law: a factor is a ratio of distances, so the unit of the columns does not matter (but for the
        // 1e-10).
        #[test]
        fn scaling_every_column_alike_leaves_the_scores_as_they_were(
            cells in prop::collection::vec(-100.0f64..100.0, 30..90),
            scale in 1.0f64..1000.0,
        ) {
            let rows = Matrix::new(cells[..cells.len() / 2 * 2].to_vec(), cells.len() / 2, 2);
            let mut scaled = rows.clone();
            scaled.values_mut().iter_mut().for_each(|value| *value *= scale);
            let before = among_themselves(5, &rows);
            let after = among_themselves(5, &scaled);
            for (a, b) in before.iter().zip(&after) {
                prop_assert!((a - b).abs() <= 1e-6 * a, "{} {}", a, b);
            }
        }
    }
}
