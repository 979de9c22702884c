//! The test rows of a run on the road of all judged rows: a fitted detector becomes a [`Judge`].
//!
//! The test rows are standardized already, so the judge looks their features up as they are. There are no calibration
//! rows, and a conformal p-value without calibration rows is 1: the runs compare scores and cells only.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use oddcell::{
    DetectorSpec, Error, Fitted, Matrix, Monitor, Seed, Table,
    calibrate::Calibration,
    detect::Judged,
    encode::{EncodeOptions, Encoded, Encoder},
    explain::Unit,
    judge::{Collected, Findings, Judge, Noise, Outcome, Scorer},
    table::Rows,
    verdict::Rule,
};

/// The test rows of a run, and what their judges have in common.
pub(crate) struct Contest<'a> {
    spec: &'a DetectorSpec,
    seed: Seed,
    encoder: Encoder,
    test: &'a Matrix,
    batch: RecordBatch,
}

impl<'a> Contest<'a> {
    /// A contest of detectors with this `spec` and `seed` on `test`.
    pub(crate) fn new(spec: &'a DetectorSpec, seed: Seed, test: &'a Matrix) -> Result<Self, Error> {
        Ok(Self { spec, seed, encoder: standard(test.n_cols())?, test, batch: batch(test) })
    }

    /// Judges the test rows, on the threads of the present rayon pool; stops if `monitor` cancels. `as_training` says
    /// that the test rows are the training rows: then a detector that compares rows does not compare a row with itself.
    pub(crate) fn judge(
        &self,
        fitted: &dyn Fitted,
        as_training: bool,
        cells: bool,
        monitor: &dyn Monitor,
    ) -> Result<Judged, Error> {
        let known = fitted.is_joint().then(|| fitted.judge(self.test, cells)).transpose()?;
        let contestant = Contestant { contest: self, fitted, as_training, known };
        // Every feature is a column here, so the noise of a column is that of its cell.
        let mut noise = Noise::new(Unit::StandardDeviations);
        let mut found = Collected::default();
        let scorer = Scorer { cells, monitor, ..Scorer::new(&contestant, Rule::FOR_NEW_ROWS) };
        let batches = [Ok(self.batch.clone())].into_iter();
        scorer.run("the test rows", batches, &mut [&mut noise], Some(&mut found))?;
        Ok(Judged { scores: found.scores, cells: noise.by_column(&contestant) })
    }
}

/// A fitted detector that judges the rows of a contest.
struct Contestant<'a> {
    contest: &'a Contest<'a>,
    fitted: &'a dyn Fitted,
    as_training: bool,
    /// What it says about all rows, if it can only judge them together.
    known: Option<Judged>,
}

impl Judge for Contestant<'_> {
    fn encoder(&self) -> &Encoder {
        &self.contest.encoder
    }

    fn encode(&self, rows: &Rows) -> Result<Encoded, Error> {
        self.contest.encoder.look_up(rows, self.contest.test, &[])
    }

    fn findings(&self, rows: &Rows, features: &Matrix, want_cells: bool) -> Result<Findings, Error> {
        let some = rows.positions(self.contest.test.n_rows())?;
        let as_training = self.as_training.then(|| self.fitted.training_scores(some.clone())).flatten();
        let Judged { scores, cells } = match (&self.known, as_training) {
            (Some(Judged { scores, cells }), _) => Judged {
                scores: scores[some.clone()].to_vec(),
                cells: cells.as_ref().map(|cells| cells.slice(some)),
            },
            (None, Some(scores)) => Judged { scores, cells: None },
            (None, None) => self.fitted.judge(features, want_cells)?,
        };
        let p_values = scores.iter().map(|&score| self.reference().p_value(score)).collect();
        Ok(Findings { scores, p_values, cells })
    }

    /// Empty: no row was held out.
    fn reference(&self) -> Calibration {
        Calibration::conformal(Vec::new())
    }

    fn spec(&self) -> &DetectorSpec {
        self.contest.spec
    }

    fn seed(&self) -> Seed {
        self.contest.seed
    }

    fn fitted(&self) -> Option<&dyn Fitted> {
        Some(self.fitted)
    }

    fn verdict_notes(&self, _: Rule, _: &Outcome) -> Vec<String> {
        Vec::new()
    }
}

/// The encoder of standardized columns: −1 and 1 have the mean 0 and the standard deviation 1.
fn standard(n_columns: usize) -> Result<Encoder, Error> {
    let rows = Matrix::from_rows(&[vec![-1.0; n_columns], vec![1.0; n_columns]]);
    let options = EncodeOptions { keep_identifiers: true, ..EncodeOptions::default() };
    Ok(Encoder::fit(&table("standardized columns", &rows)?, &options, None)?)
}

/// Rows as a table of numbers.
pub(crate) fn table(name: &str, rows: &Matrix) -> Result<Table, Error> {
    Ok(Table::from_batches(name, vec![batch(rows)])?)
}

fn batch(rows: &Matrix) -> RecordBatch {
    let column =
        |at: usize| -> ArrayRef { Arc::new(Float64Array::from_iter_values(rows.rows().map(|row| row[at]))) };
    let columns = (0..rows.n_cols()).map(|at| (format!("x{}", at + 1), column(at)));
    RecordBatch::try_from_iter(columns).expect("columns of one length, with different names")
}

#[cfg(test)]
mod tests {
    use oddcell::{Context, Silent};

    use super::*;

    // More rows than the road judges at a time, and cells far beyond the limit of encoded features.
    #[test]
    fn rows_on_the_road_get_the_scores_and_cells_that_the_detector_gives_them() {
        let mut values: Vec<f64> = (0..5_000 * 3).map(|at| f64::from(at * 37 % 101)).collect();
        values[1] = 1e12;
        let test = Matrix::new(values, 5_000, 3);
        let train = test.slice(100..200);
        for name in ["knn", "ecod"] {
            for joint in [false, true] {
                let mut spec = DetectorSpec::new(name, None).unwrap();
                if spec.params().contains_key("joint") {
                    spec.set("joint", joint.into()).unwrap();
                }
                let fitted = spec.build().unwrap().fit(&train, &Context::silent(Seed(1))).unwrap();
                let contest = Contest::new(&spec, Seed(1), &test).unwrap();
                let judged = contest.judge(&*fitted, false, true, &Silent).unwrap();
                assert_eq!(judged, fitted.judge(&test, true).unwrap(), "{name}");
            }
        }
    }
}
