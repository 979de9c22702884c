//! What a model learns about cells, and the surprises of held-out cells, column by column.

use crate::{
    Context, DetectorSpec, Fitted, Matrix,
    calibrate::Calibration,
    detect::CellUnit,
    error::{ParamError, ScoreError},
    layout::Layout,
    tensors::{TensorError, Tensors},
};

/// Trees of all columns together, if the rows have a detector of their own; at least [`FEWEST_TREES`] for each column.
const MOST_TREES: usize = 1_200;
const TREES: usize = 20;
const FEWEST_TREES: usize = 2;
/// Wider tables have no learner of their own for cells.
const MOST_FEATURES: usize = 1_000;
/// Rows each of these trees is grown on.
const ROWS: usize = 1_024;
/// Surprises that a model remembers of each column, evenly spaced ranks of all.
const MOST_REMEMBERED: usize = 2_000;

/// Judges cells, as part of a model.
#[derive(Debug)]
pub(crate) struct CellLearner {
    /// `None` if the detector of the rows judges cells itself.
    learner: Option<Box<dyn Fitted>>,
    /// The surprises of held-out cells, for each column.
    calibration: Vec<Calibration>,
}

/// Whether a model of rows with so many features learns what judges cells: a learner beside that of the rows would be larger than
/// anything it explains in tables wider than this.
pub(crate) fn judges_cells(rows: &DetectorSpec, n_features: usize) -> bool {
    n_features <= MOST_FEATURES || rows.entry().abilities.cells == Some(CellUnit::SurpriseInContext)
}

/// The detector for the cells of a table with so many features; `None` if the detector of the rows does it itself.
pub(crate) fn learner_spec(
    rows: &DetectorSpec,
    n_features: usize,
) -> Result<Option<DetectorSpec>, ParamError> {
    if rows.entry().abilities.cells == Some(CellUnit::SurpriseInContext) {
        return Ok(None);
    }
    let mut spec = DetectorSpec::of_cells();
    let trees = (MOST_TREES / n_features.max(1)).clamp(FEWEST_TREES, TREES);
    spec.set("n_trees", trees.into())?;
    spec.set("max_samples", ROWS.into())?;
    Ok(Some(spec))
}

/// The surprise of each cell, rows × columns.
pub(crate) fn surprises(judge: &dyn Fitted, rows: &Matrix, layout: &Layout) -> Result<Matrix, ScoreError> {
    let judged = judge.judge(rows, true)?;
    let Some(cells) = judged.cells else { unreachable!("it judges cells") };
    Ok(by_column(&cells, layout))
}

/// The greatest of the features of each column, rows × columns.
pub(crate) fn by_column(cells: &Matrix, layout: &Layout) -> Matrix {
    let mut surprises = Matrix::zeros(cells.n_rows(), layout.0.len());
    for (row, cells) in cells.rows().enumerate() {
        for (surprise, group) in surprises.row_mut(row).iter_mut().zip(&layout.0) {
            *surprise = cells[group.features.clone()].iter().copied().fold(0.0, f64::max);
        }
    }
    surprises
}

impl CellLearner {
    /// Learns from `train`, and remembers how odd the cells of `held_out` are. `spec` as [`learner_spec`] gives it, `fitted`
    /// judges the rows.
    pub(crate) fn fit(
        spec: Option<&DetectorSpec>,
        fitted: &dyn Fitted,
        train: &Matrix,
        held_out: &Matrix,
        context: &Context<'_>,
    ) -> Result<Self, crate::Error> {
        let learner = match spec {
            None => None,
            Some(spec) => Some(spec.build()?.fit(train, context)?),
        };
        let layout = held_out.layout();
        let judge = learner.as_deref().unwrap_or(fitted);
        let surprises = surprises(judge, held_out, &layout)?;
        let column = |at: usize| {
            let mut scores: Vec<f64> = surprises.rows().map(|row| row[at]).collect();
            scores.sort_unstable_by(f64::total_cmp);
            Calibration::conformal(thinned(&scores))
        };
        Ok(Self { calibration: (0..layout.0.len()).map(column).collect(), learner })
    }

    /// What judges cells; `fitted` judges the rows.
    pub(crate) fn judge<'a>(&'a self, fitted: &'a dyn Fitted) -> &'a dyn Fitted {
        self.learner.as_deref().unwrap_or(fitted)
    }

    /// How odd held-out cells of each column are.
    pub(crate) fn calibration(&self) -> &[Calibration] {
        &self.calibration
    }

    /// Adds what was learned to the tensors of a model.
    pub(crate) fn save(&self, tensors: &mut Tensors) {
        tensors.put_u32(
            "columns",
            &[2],
            vec![self.calibration.len() as u32, u32::from(self.learner.is_some())],
        );
        for (at, calibration) in self.calibration.iter().enumerate() {
            let sorted = calibration.sorted();
            tensors.put_f64(&format!("calibration.{at}"), &[sorted.len()], sorted.to_vec());
        }
        if let Some(learner) = &self.learner {
            tensors.put_all("learner.", learner.save());
        }
    }

    /// Takes it back from a file that may be hostile.
    pub(crate) fn load(
        tensors: &mut Tensors,
        spec: Option<&DetectorSpec>,
        layout: &Layout,
    ) -> Result<Self, TensorError> {
        let invalid = |name: &str, reason: String| TensorError::Invalid { name: name.to_owned(), reason };
        let found = tensors.take_u32("columns", &[2])?;
        let expected = [layout.0.len() as u32, u32::from(spec.is_some())];
        if found[..] != expected {
            return Err(invalid("columns", format!("it is {found:?}, but must be {expected:?}")));
        }
        let calibration = |at: usize| {
            let name = format!("calibration.{at}");
            let length = tensors.shape(&name)?.iter().product();
            Calibration::from_sorted(&name, tensors.take_f64(&name, &[length])?)
        };
        let calibration = (0..layout.0.len()).map(calibration).collect::<Result<_, _>>()?;
        let learner = match spec {
            None => None,
            Some(spec) => {
                let mut own = tensors.take_all("learner.");
                let learner = spec.load(&mut own)?;
                if learner.n_features() != layout.n_features() || !own.0.is_empty() {
                    return Err(invalid("learner", "it does not fit the columns".to_owned()));
                }
                Some(learner)
            }
        };
        Ok(Self { learner, calibration })
    }
}

/// At most [`MOST_REMEMBERED`] of these sorted numbers: evenly spaced ranks, both ends among them.
fn thinned(sorted: &[f64]) -> Vec<f64> {
    let n = sorted.len();
    if n <= MOST_REMEMBERED {
        return sorted.to_vec();
    }
    (0..MOST_REMEMBERED).map(|at| sorted[at * (n - 1) / (MOST_REMEMBERED - 1)]).collect()
}
