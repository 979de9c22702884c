//! The one road that every judged row takes.
//!
//! Rows arrive as record batches and leave in the same order, with a score, a p-value, a verdict and reasons. `fit`,
//! `score`, `detect`, `explain`, Python and the laboratory all use this road:
//!
//! ```text
//! batches ─► Scorer ─► encode ─► Judge::findings ─► Judgement ─► observers    oddest rows, labels, report page
//!             │        (once per batch, in parallel)      │
//!             │                                           ▼
//!             └─ rule ─► verdict::Cutoff ◄────────── scores, p-values
//!                            │   rules that need all rows first wait in a spool
//!                            ▼
//!                          Sink: the input's columns plus `odd_score`, `odd_p`, `odd_verdict`, `odd_reasons`
//! ```
//!
//! [`Scorer::run`] takes all batches of a table. A service that gets one batch after another keeps a [`Stream`] between
//! them; `run` and Python's `score_batches` do the same.
//!
//! There are two judges: a [`Model`](crate::Model), which has learned what is normal and judges any rows, and a
//! [`Detection`](crate::model::Detection), which has judged one table by itself and knows only the rows of that table.
//!
//! ```
//! use oddcell::judge::{Labels, Scorer, Truths};
//! use oddcell::{Context, DetectorSpec, Model, Seed, Table, demo, model::FitOptions, verdict::Rule};
//! use oddcell::table::{ReadOptions, TableReader};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! let read = |csv: String| TableReader::from_bytes("orders", csv.into_bytes(), &ReadOptions::default());
//! let good = Table::from_reader(read(demo::orders(300, 0, Seed(1)).csv)?)?;
//! let knn = FitOptions::new(DetectorSpec::new("knn", None)?);
//! let model = Model::fit(&good, &knn, &Context::silent(Seed(0)))?;
//!
//! // The ten oddest of 200 new rows, and how well the scores find the five that are spoiled.
//! let new = demo::orders(200, 5, Seed(2));
//! let truths: Vec<bool> = (1..=200).map(|row| new.spoiled.iter().any(|cell| cell.row == row)).collect();
//! let mut labels = Labels::default();
//! let scorer = Scorer { truths: Truths::Known(&truths), ..Scorer::new(&model, Rule::top(10)?) };
//! let outcome = scorer.run("orders", read(new.csv)?, &mut [&mut labels], None)?;
//! assert_eq!((outcome.n_rows, outcome.n_odd), (200, 10));
//! assert_eq!(labels.metrics().map(|metrics| metrics.anomalies), Some(5));
//! # Ok(())
//! # }
//! ```
//!
//! *Invariants:* the findings of a row depend only on that row · the same rows give the same bits in memory and
//! streamed, in any batches and on any number of threads · a stream holds only a few batches in memory.

mod columns;
mod in_order;
mod judgement;
mod labels;
mod observe;
mod oddest;
mod scorer;
mod spool;
mod stream;

pub use self::{
    columns::{CELLS, COLUMNS, P, REASONS, ReasonForm, SCORE, TOP_REASONS, VERDICT},
    judgement::{Findings, Judgement},
    labels::{LabelError, Labels, Truths, read_labels},
    observe::{Collected, Noise, Observer, Sink},
    scorer::{Only, Outcome, Scorer},
    spool::Spool,
    stream::Stream,
};
#[doc(hidden)]
pub use self::{
    columns::{earlier_findings, judged_schema, left_out_note, ready_to_learn},
    oddest::Oddest,
};
pub(crate) use self::{in_order::in_order, scorer::pieces, spool::Waiting};
use crate::{
    DetectorSpec, Error, Fitted, Matrix, Seed,
    calibrate::Calibration,
    cells::CellFindings,
    detect::{CellUnit, Expects},
    encode::{Encoded, Encoder},
    table::Rows,
    verdict::Rule,
};

/// Something that can judge rows.
pub trait Judge: Sync {
    /// How columns become features.
    fn encoder(&self) -> &Encoder;

    /// Turns rows into features. A judge that knows the features of its rows looks them up instead.
    fn encode(&self, rows: &Rows) -> Result<Encoded, Error> {
        Ok(self.encoder().encode(rows)?)
    }

    /// Judges rows that [`Judge::encode`] has turned into `features`; `want_cells` requests the cells too, if the
    /// detector explains them.
    fn findings(&self, rows: &Rows, features: &Matrix, want_cells: bool) -> Result<Findings, Error>;

    /// Judges rows of which some cells were replaced. `numbers` are the rows that they were, counted from 0; only a judge that
    /// [`Judge::expects`] something is asked.
    #[doc(hidden)]
    fn rejudge(&self, _numbers: &[usize], _features: &Matrix) -> Result<Findings, Error> {
        Ok(Findings::default())
    }

    /// How odd the cells of rows are that have become `features`, and that have these numbers; `None` if it cannot judge cells.
    fn cells(&self, _numbers: &[usize], _features: &Matrix) -> Result<Option<CellFindings>, Error> {
        Ok(None)
    }

    /// The same for rows of which some cells were replaced; only a judge that knows [`Judge::cells`] is asked.
    #[doc(hidden)]
    fn rejudge_cells(&self, numbers: &[usize], features: &Matrix) -> Result<CellFindings, Error> {
        let found = self.cells(numbers, features)?;
        Ok(found.expect("it judges cells"))
    }

    /// The same, feature by feature, as reasons are worded.
    #[doc(hidden)]
    fn cell_features(&self, _numbers: &[usize], _features: &Matrix) -> Result<Option<Matrix>, Error> {
        Ok(None)
    }

    /// What expects something of the cells in the row with this number; `None` if it cannot judge cells.
    #[doc(hidden)]
    fn expects(&self, _number: usize) -> Option<&dyn Expects> {
        None
    }

    /// The scores that a contamination refers to.
    fn reference(&self) -> Calibration;

    /// The detector with its parameters.
    fn spec(&self) -> &DetectorSpec;

    /// The seed it learned with.
    fn seed(&self) -> Seed;

    /// The findings of all rows, if they are known before the first one comes: a rule can then decide at once.
    fn known(&self) -> Option<&Findings> {
        None
    }

    /// The unit of the cells.
    fn cell_unit(&self) -> CellUnit {
        self.spec().entry().abilities.cells.unwrap_or(CellUnit::StandardDeviations)
    }

    /// One fitted detector, for views that need one detector for all rows.
    fn fitted(&self) -> Option<&dyn Fitted>;

    /// Notes for the reader about verdicts by `rule` that gave this `outcome`.
    fn verdict_notes(&self, rule: Rule, outcome: &Outcome) -> Vec<String>;
}
