//! Detectors that keep all training rows and score a row by its nearest ones: `knn`, `dte-np`, `lof`.

use std::{fmt::Debug, ops::Range};

use super::{Neighbor, Neighbors, check_count};
use crate::{
    Matrix,
    detect::{Fitted, Judged, check_training, params::Params, saved},
    error::FitError,
    tensors::{TensorError, Tensors},
};

/// The tensor of the training rows.
const ROWS: &str = "rows";

/// Turns the nearest training rows of a row into its score.
pub(in crate::detect) trait Digest: Debug + Send + Sync + 'static {
    /// The score of a row with these nearest training rows, nearest first.
    fn score(&self, nearest: &[Neighbor]) -> f64;

    /// Adds what it needs beside the training rows to the tensors of a model file.
    fn save_to(&self, _tensors: &mut Tensors) {}
}

/// The training rows, and how the `k` nearest of them become a score.
#[derive(Debug)]
pub(in crate::detect) struct Compared<D> {
    k: usize,
    neighbors: Neighbors,
    digest: D,
}

impl<D: Digest> Compared<D> {
    /// Compares with the `k` nearest of the training rows; at most all but one.
    pub(in crate::detect) fn new(k: usize, neighbors: Neighbors, digest: D) -> Self {
        Self { k, neighbors, digest }
    }

    /// The same, if there are as many neighbors as the parameter `n_neighbors` asks for.
    pub(in crate::detect) fn keep(n_neighbors: usize, rows: Matrix, digest: D) -> Result<Self, FitError> {
        check_count(n_neighbors, rows.n_rows(), rows.n_rows() - 1)?;
        Ok(Self::new(n_neighbors, Neighbors::new(rows), digest))
    }
}

/// Takes the training rows that [`Fitted::save_to`] wrote, and checks them.
pub(in crate::detect) fn take_rows<P: Params>(tensors: &mut Tensors) -> Result<Matrix, TensorError> {
    let rows = saved::take_table(tensors, ROWS)?;
    check_training::<P>(&rows).map_err(|error| saved::invalid(ROWS, &error))?;
    Ok(rows)
}

/// Restores a detector that needs nothing but the training rows; `keep` takes them.
pub(in crate::detect) fn load<P: Params, D: Digest>(
    tensors: &mut Tensors,
    keep: impl FnOnce(Matrix) -> Result<Compared<D>, FitError>,
) -> Result<Box<dyn Fitted>, TensorError> {
    let fitted = keep(take_rows::<P>(tensors)?).map_err(|error| saved::invalid(ROWS, &error))?;
    Ok(Box::new(fitted))
}

impl<D: Digest> Fitted for Compared<D> {
    fn n_features(&self) -> usize {
        self.neighbors.rows().n_cols()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let scores = self.neighbors.map(rows, self.k, |nearest| self.digest.score(nearest));
        Judged { scores, cells: None }
    }

    fn training_scores(&self, rows: Range<usize>) -> Option<Vec<f64>> {
        Some(self.neighbors.map_training(rows, self.k, |nearest| self.digest.score(nearest)))
    }

    fn save_to(&self, tensors: &mut Tensors) {
        saved::put_table(tensors, ROWS, self.neighbors.rows());
        self.digest.save_to(tensors);
    }
}
