//! Cells: how odd each one is, the fewest whose repair makes a row normal, and what should stand there.
//!
//! A row is odd as a whole; its cells have to be told apart. Every model, whatever its detector, has a second learner for
//! that, [`columns`](crate::detect): it predicts every column from the others. It answers three questions:
//!
//! - **How odd is the cell?** A surprise, compared with those of held-out cells of the same column: a p-value
//!   (`learner.rs`, `calibration.rs`; for a table judged by itself, `null.rs`).
//! - **What should stand there?** What the other cells of the row let expect, with a range or with chances; the common
//!   spelling of a misspelled name (`expected.rs`).
//! - **Which cells make the row odd?** The cell whose replacement by what is expected makes the row most normal in the eyes of
//!   the row's own detector is replaced, then the next one, until the row is normal (`smallest.rs`). So an innocent cell beside
//!   a wrong one is not named.
//!
//! `stream.rs` judges tables of any length; `long.rs` makes a table of the called cells. What was found can be repaired (`repair.rs`), and every change taken back from its record (`changes.rs`).
//!
//! *Invariants:* findings depend only on the row and on what was learned · the same bits on any number of threads and in any
//! batches.

mod calibration;
mod changes;
mod every;
mod expected;
mod judge;
mod learner;
mod long;
mod null;
mod repair;
mod smallest;
mod stream;

pub(crate) use self::{
    calibration::{Tail, p_value as tail_p_value},
    learner::{CellLearner, judges_cells, learner_spec, surprises},
    null::CellNull,
    smallest::{Batch, Explained},
};
pub use self::{
    changes::{CellForm, changes_batch, changes_schema, read_changes},
    every::expected_table,
    expected::Expected,
    judge::{CalledCell, JudgedCells, judge_table},
    long::{cells_batch, cells_schema},
    repair::{Change, Cure, RepairError, Repaired, Repairs, Undo, repaired},
    smallest::{OddCell, Sets},
    stream::{CellObserver, CellOutcome, CellScorer, CellSink},
};
use crate::Matrix;

/// How odd the cells of some rows are, rows × columns of the encoder.
#[derive(Debug, Clone, PartialEq)]
pub struct CellFindings {
    /// How odd each cell is: a surprise, at least 0.
    pub surprises: Matrix,
    /// The share of normal cells of the same column that are at least as odd.
    pub p_values: Matrix,
}
