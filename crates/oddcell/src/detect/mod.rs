//! Detectors: learn what is normal from rows, then score other rows.
//!
//! Fitted and unfitted are two types, so nothing can be scored before it was fitted. All detectors promise:
//! *one finite score per row, in row order, higher = more anomalous; a row's score never depends on the rows
//! scored with it, on batch sizes or on threads; same rows and seed give the same bits.*
//!
//! ```
//! use oddcell::{Context, DetectorSpec, Matrix, Seed, detect::DETECTORS};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! let names: Vec<&str> = DETECTORS.iter().map(|entry| entry.name).collect();
//! assert!(names.contains(&"noise") && names.contains(&"knn"));
//! let mut knn = DetectorSpec::new("knn", None)?;
//! knn.set_text("n_neighbors", "1")?;
//! let rows = Matrix::from_rows(&[[0.0], [1.0], [3.0]]);
//! let fitted = knn.build()?.fit(&rows, &Context::silent(Seed(0)))?;
//! assert_eq!(fitted.score(&Matrix::from_rows(&[[7.0]]))?, [4.0]); // 7 is 4 away from its nearest row
//! # Ok(())
//! # }
//! ```

mod abilities;
mod ae;
mod anogan;
mod blocks;
mod columns;
mod coordinates;
mod copod;
mod deepsvdd;
mod dpad;
mod dte_np;
mod ecod;
mod expects;
mod hbos;
mod held;
mod iforest;
mod knn;
mod list;
mod lof;
mod mcd;
mod neighbors;
mod neural;
mod neutralad;
#[doc(hidden)]
pub mod noise;
mod params;
mod plad;
pub(crate) mod ranges;
mod saved;
mod scad;
mod spec;
mod tails;
mod train_for;

use std::{fmt::Debug, ops::Range};

pub use abilities::{Abilities, CellUnit, Keeps, Size, Training};
#[doc(hidden)]
pub use blocks::{BlockDetector, RowBlocks};
#[doc(hidden)]
pub use expects::{Expects, Guess};
pub use list::{DETECTORS, Entry, Tables};
pub use spec::DetectorSpec;

use neural::Generation;
use params::{Params, Preset};
use train_for::TrainFor;

use crate::{Context, Matrix, error::FitError, error::ScoreError, parameters::parameters, tensors::Tensors};

/// A method with valid parameters, ready to learn.
pub trait Detector: Send + Sync + Debug {
    /// Learns "normal" from `rows`. Same rows + same seed ⇒ same bits, whatever the number of threads.
    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError>;

    /// The same for rows that do not fit into memory; an error says why the method needs all of them at once.
    #[doc(hidden)]
    fn in_blocks(&self) -> Result<&dyn BlockDetector, &'static str> {
        Err(blocks::NEEDS_ALL_ROWS)
    }
}

/// The scores of some rows, and their cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// One finite score per row, in row order. **Higher = more anomalous.**
    pub scores: Vec<f64>,
    /// How odd each cell is, rows × features, ≥ 0, in the unit that the detector's [`Abilities`] state.
    /// `None` if the method only scores whole rows, or if nobody asked for cells.
    pub cells: Option<Matrix>,
}

/// A detector that has learned.
pub trait Fitted: Send + Sync + Debug {
    /// The number of features it was fitted on.
    fn n_features(&self) -> usize;

    /// Scores rows that passed `check_rows`, and their cells if `want_cells` and the method has them.
    #[doc(hidden)]
    fn judge_checked(&self, rows: &Matrix, want_cells: bool) -> Judged;

    /// Scores `rows`, and their cells if `want_cells` and the method has them. Checks first that the rows have the
    /// fitted width and only finite cells.
    fn judge(&self, rows: &Matrix, want_cells: bool) -> Result<Judged, ScoreError> {
        check_rows(rows, self.n_features())?;
        let judged = self.judge_checked(rows, want_cells);
        // Finite parameters and finite weights can still be too large to calculate with, above all in a damaged file.
        match judged.scores.iter().position(|score| !score.is_finite()) {
            None => Ok(judged),
            Some(row) => Err(ScoreError::InfiniteScore { row: row + 1, score: judged.scores[row] }),
        }
    }

    /// One finite score per row, in row order. **Higher = more anomalous.**
    fn score(&self, rows: &Matrix) -> Result<Vec<f64>, ScoreError> {
        self.judge(rows, false).map(|judged| judged.scores)
    }

    /// The activations of the last hidden layer, rows × units, if there is such a layer: for maps of rows.
    fn embed(&self, _rows: &Matrix) -> Result<Option<Matrix>, ScoreError> {
        Ok(None)
    }

    /// The scores of some training rows, given by their positions, each as if it had not been a training row:
    /// no row is its own neighbor. `None` if the method does not compare rows with training rows, or has
    /// another way to judge them.
    fn training_scores(&self, _rows: Range<usize>) -> Option<Vec<f64>> {
        None
    }

    /// What it expects in each column, if it predicts columns from each other.
    #[doc(hidden)]
    fn expects(&self) -> Option<&dyn Expects> {
        None
    }

    /// Whether a row's score depends on the rows scored with it, as in the joint variants of COPOD and ECOD.
    /// Such detectors are for comparisons; they do not become models.
    fn is_joint(&self) -> bool {
        false
    }

    /// Adds everything learned to the tensors of a model file.
    #[doc(hidden)]
    fn save_to(&self, tensors: &mut Tensors);

    /// Everything learned, for the model file. [`DetectorSpec::load`] turns it back into the same detector.
    #[doc(hidden)]
    fn save(&self) -> Tensors {
        let mut tensors = Tensors::default();
        self.save_to(&mut tensors);
        tensors
    }
}

/// Checks that rows to be scored have the fitted width and only finite cells.
fn check_rows(rows: &Matrix, fitted: usize) -> Result<(), ScoreError> {
    if rows.n_cols() != fitted {
        return Err(ScoreError::ColumnCount { fitted, got: rows.n_cols() });
    }
    match first_not_finite(rows) {
        None => Ok(()),
        Some((row, column, value)) => Err(ScoreError::NotFinite { row, column, value }),
    }
}

/// Checks that the training rows are enough, have columns, and hold only finite cells.
fn check_training<P: Params>(rows: &Matrix) -> Result<(), FitError> {
    check_shape::<P>([rows.n_rows(), rows.n_cols()])?;
    match first_not_finite(rows) {
        None => Ok(()),
        Some((row, column, value)) => Err(FitError::NotFinite { row, column, value }),
    }
}

/// Row and column, both counted from 1, and value of the first cell that is not finite.
fn first_not_finite(rows: &Matrix) -> Option<(usize, usize, f64)> {
    rows.first_not_finite().map(|(row, column)| (row + 1, column + 1, rows.row(row)[column]))
}

/// Checks that there are enough rows, and any columns.
fn check_shape<P: Params>([n_rows, n_cols]: [usize; 2]) -> Result<(), FitError> {
    let (detector, needed) = (P::NAME, P::LEAST_ROWS);
    if n_cols == 0 {
        return Err(FitError::TooFewColumns { detector, needed: 1, got: 0 });
    }
    if n_rows < needed {
        return Err(FitError::TooFewRows { detector, needed, got: n_rows });
    }
    Ok(())
}
