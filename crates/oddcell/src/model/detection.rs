//! Judges one table by itself: each row is judged by a detector that did not train on it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{FitOptions, crossfit, encode_all, unreadable};
use crate::{
    Context, DetectorSpec, Error, Fitted, Matrix, Seed, Table,
    calibrate::{Calibration, RobustNull},
    detect::CellUnit,
    encode::{Encoded, Encoder},
    judge::{Findings, Judge, Outcome},
    table::Rows,
    verdict::Rule,
};

/// What was found in a table from that table alone.
#[derive(Debug, Clone)]
pub struct Detection {
    /// Scores, p-values and cells of all rows, in row order.
    pub findings: Findings,
    /// How columns became features; needed to interpret the cells.
    pub encoder: Encoder,
    /// The rows as features: each row is encoded once, to learn and to be judged.
    features: Matrix,
    /// The cells that cannot be read: row and column, sorted.
    unreadable: Vec<(u32, u32)>,
    /// The distribution of normal scores that the p-values come from. Its reference is what a contamination
    /// refers to.
    pub null: RobustNull,
    /// The number of detectors that judged.
    pub n_folds: usize,
    /// The detector that judged the first fold, for views that need one detector for all rows.
    first: Arc<dyn Fitted>,
    spec: DetectorSpec,
    seed: Seed,
}

/// Looks up the rows of its own table by their numbers.
impl Judge for Detection {
    fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    fn encode(&self, rows: &Rows) -> Result<Encoded, Error> {
        self.encoder.look_up(rows, &self.features, &self.unreadable)
    }

    fn findings(&self, rows: &Rows, _: &Matrix, want_cells: bool) -> Result<Findings, Error> {
        let Findings { scores, p_values, cells } = &self.findings;
        let some = rows.positions(scores.len())?;
        Ok(Findings {
            scores: scores[some.clone()].to_vec(),
            p_values: p_values[some.clone()].to_vec(),
            cells: cells.as_ref().filter(|_| want_cells).map(|cells| cells.slice(some)),
        })
    }

    fn known(&self) -> Option<&Findings> {
        Some(&self.findings)
    }

    fn reference(&self) -> Calibration {
        self.null.reference().clone()
    }

    fn spec(&self) -> &DetectorSpec {
        &self.spec
    }

    fn seed(&self) -> Seed {
        self.seed
    }

    fn fitted(&self) -> Option<&dyn Fitted> {
        Some(&*self.first)
    }

    fn verdict_notes(&self, rule: Rule, _: &Outcome) -> Vec<String> {
        if self.null.has_tail() {
            return Vec::new();
        }
        // The k-th smallest rank is at least k/n, and so never at most SHARE · k/n.
        let blind = match rule {
            Rule::Fdr(_) => "; a false-discovery rate flags nothing with plain ranks, so use top instead",
            Rule::Alpha(_) | Rule::Top(_) | Rule::Contamination(_) => "",
        };
        vec![format!("{}{blind}", RobustNull::WITHOUT_TAIL)]
    }
}

/// Judges the rows of `table` by each other. The rows are split into folds; a detector trained on the other folds
/// judges each fold. Some training rows may be anomalies, so p-values come from a [`RobustNull`].
pub fn detect(table: &Table, options: &FitOptions, context: &Context<'_>) -> Result<Detection, Error> {
    options.validate()?;
    options.detector.build()?;
    let encoder = Encoder::fit(table, &options.encode_options()?, options.label.as_deref())?;
    let options = &FitOptions { detector: options.detector.of_table(encoder.is_mixed()), ..options.clone() };
    let detector = options.detector.for_one_table()?.build()?;
    let (features, unreadable) = encode_all(&encoder, table)?;
    let found = Mutex::new(Found { scores: vec![0.0; features.n_rows()], cells: None, first: None });
    let folds = crossfit::fit_folds(&*detector, &features, options, context, |index, fold, fitted| {
        let judged = fitted.judge(&features.take(fold), true)?;
        let Found { scores, cells, first } = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
        for (&row, score) in fold.iter().zip(judged.scores) {
            scores[row] = score;
        }
        if let Some(judged) = judged.cells {
            let cells = cells.get_or_insert_with(|| Matrix::zeros(features.n_rows(), features.n_cols()));
            fold.iter().zip(judged.rows()).for_each(|(&row, said)| cells.row_mut(row).copy_from_slice(said));
        }
        if index == 0 {
            *first = Some(Arc::from(fitted));
        }
        Ok(())
    })?;
    let n_folds = folds.len();
    let Found { scores, mut cells, first } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(cells) = &mut cells {
        encoder.quiet_constants(&features, cells);
    }
    let are_surprises = options.detector.entry().abilities.cells == Some(CellUnit::SurpriseInContext);
    let all: Vec<usize> = (0..scores.len()).collect();
    let of_readable = unreadable::readable(&all, &unreadable).into_iter().map(|row| scores[row]).collect();
    let null =
        if are_surprises { RobustNull::of_surprises(of_readable) } else { RobustNull::of_table(of_readable) };
    let mut p_values: Vec<f64> = scores.iter().map(|&score| null.p_value(score)).collect();
    unreadable::lower(&mut p_values, &encoder, &unreadable, false, 0.0);
    let Some(first) = first else { unreachable!("rows are split into two folds at least") };
    let findings = Findings { scores, p_values, cells };
    let (spec, seed) = (options.detector.clone(), context.seed);
    Ok(Detection { findings, encoder, features, unreadable, null, n_folds, first, spec, seed })
}

/// The findings of the folds so far, in any order.
struct Found {
    scores: Vec<f64>,
    cells: Option<Matrix>,
    first: Option<Arc<dyn Fitted>>,
}
