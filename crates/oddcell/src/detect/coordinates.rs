//! Rows as points: most detectors compare rows by their coordinates, and do not see levels and signs.

use std::ops::Range;

use super::{Fitted, Judged, saved};
use crate::{
    Matrix,
    error::ScoreError,
    tensors::{TensorError, Tensors},
};

/// The tensors with the positions of the coordinates, and the number of all features.
const COORDINATES: &str = "coordinates";
const FEATURES: &str = "coordinates.features";

/// A detector that was fitted on the coordinates alone.
#[derive(Debug)]
pub(super) struct OfCoordinates {
    pub(super) inner: Box<dyn Fitted>,
    /// The positions of the coordinates among all features.
    pub(super) kept: Vec<u32>,
    pub(super) n_features: usize,
}

impl OfCoordinates {
    /// What [`Fitted::save_to`] of such a detector wrote beside the tensors of the detector itself: the coordinates and the
    /// number of features; `None` if the detector sees all features.
    pub(super) fn take(tensors: &mut Tensors) -> Result<Option<(Vec<u32>, usize)>, TensorError> {
        let Ok(shape) = tensors.shape(COORDINATES) else { return Ok(None) };
        let n_kept = shape.iter().product();
        let kept = tensors.take_u32(COORDINATES, &[n_kept])?;
        let n_features = tensors.take_u32(FEATURES, &[1])?[0];
        let rises = kept.windows(2).all(|pair| pair[0] < pair[1]);
        if rises && kept.last().is_some_and(|&last| last < n_features) {
            Ok(Some((kept, n_features as usize)))
        } else {
            Err(saved::invalid(COORDINATES, &"they must be positions of features, in rising order"))
        }
    }

    /// Checks that the detector has as many features as there are coordinates.
    pub(super) fn of(
        inner: Box<dyn Fitted>,
        (kept, n_features): (Vec<u32>, usize),
    ) -> Result<Self, TensorError> {
        if inner.n_features() == kept.len() {
            Ok(Self { inner, kept, n_features })
        } else {
            let said = format!("there are {}, but the detector has {}", kept.len(), inner.n_features());
            Err(saved::invalid(COORDINATES, &said))
        }
    }
}

/// Cells of coordinates as cells of all features.
pub(super) fn spread_out(cells: &Matrix, kept: &[u32], n_features: usize) -> Matrix {
    let mut all = Matrix::zeros(cells.n_rows(), n_features);
    for (row, cells) in cells.rows().enumerate() {
        let all = all.row_mut(row);
        kept.iter().zip(cells).for_each(|(&at, &cell)| all[at as usize] = cell);
    }
    all
}

impl Fitted for OfCoordinates {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn judge_checked(&self, rows: &Matrix, want_cells: bool) -> Judged {
        let judged = self.inner.judge_checked(&rows.columns(&self.kept), want_cells);
        let cells = judged.cells.map(|cells| spread_out(&cells, &self.kept, self.n_features));
        Judged { cells, ..judged }
    }

    fn embed(&self, rows: &Matrix) -> Result<Option<Matrix>, ScoreError> {
        self.inner.embed(&rows.columns(&self.kept))
    }

    fn training_scores(&self, rows: Range<usize>) -> Option<Vec<f64>> {
        self.inner.training_scores(rows)
    }

    fn is_joint(&self) -> bool {
        self.inner.is_joint()
    }

    fn save_to(&self, tensors: &mut Tensors) {
        self.inner.save_to(tensors);
        tensors.put_u32(COORDINATES, &[self.kept.len()], self.kept.clone());
        tensors.put_u32(FEATURES, &[1], vec![self.n_features as u32]);
    }
}
