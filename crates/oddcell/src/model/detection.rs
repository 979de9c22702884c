//! One table, nothing known: every row is judged by a net that did not train on it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Findings, FitOptions, crossfit, encode_all};
use crate::{
    Context, Error, Fitted, Matrix, Table,
    calibrate::RobustNull,
    encode::{Encoder, Surprises},
};

/// What was found in a table by looking at nothing but the table.
#[derive(Debug, Clone)]
pub struct Detection {
    /// Scores, p-values and cells of all rows, in row order.
    pub findings: Findings,
    /// How columns became features; needed to read the cells.
    pub encoder: Encoder,
    /// The distribution of normal scores that the p-values come from. Its reference is what a contamination
    /// refers to.
    pub null: RobustNull,
    /// The number of nets that judged.
    pub n_folds: usize,
    /// The detector that judged the first fold: for looking at rows with one and the same detector.
    pub first: Arc<dyn Fitted>,
}

/// Judges the rows of `table` by each other. The rows are split into folds; those of a fold are judged by a detector
/// trained on the others. Some rows may be anomalies, in training too: p-values come from a [`RobustNull`].
pub fn detect(table: &Table, options: &FitOptions, context: &Context<'_>) -> Result<Detection, Error> {
    options.validate()?;
    let detector = options.detector.for_one_table()?.build()?;
    let encoder = Encoder::fit(table, &options.encode, options.label.as_deref())?;
    let rows = encode_all(&encoder, table)?;
    let found = Mutex::new(Found { scores: vec![0.0; rows.n_rows()], cells: None, first: None });
    let folds = crossfit::fit_folds(&*detector, &rows, options, context, |index, fold, fitted| {
        let judged = fitted.judge(&rows.take(fold), true)?;
        let Found { scores, cells, first } = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
        for (&row, score) in fold.iter().zip(judged.scores) {
            scores[row] = score;
        }
        if let Some(judged) = judged.cells {
            let cells = cells.get_or_insert_with(|| Matrix::zeros(rows.n_rows(), rows.n_cols()));
            fold.iter().zip(judged.rows()).for_each(|(&row, said)| cells.row_mut(row).copy_from_slice(said));
        }
        if index == 0 {
            *first = Some(Arc::from(fitted));
        }
        Ok(())
    })?;
    let n_folds = folds.len();
    let Found { scores, cells, first } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let null = RobustNull::fit(scores.clone());
    let p_values = scores.iter().map(|&score| null.p_value(score)).collect();
    let surprises = Surprises::none(encoder.columns().len());
    let Some(first) = first else { unreachable!("rows are split into two folds at least") };
    Ok(Detection { findings: Findings { scores, p_values, cells, surprises }, encoder, null, n_folds, first })
}

/// What folds have found so far, in any order.
struct Found {
    scores: Vec<f64>,
    cells: Option<Matrix>,
    first: Option<Arc<dyn Fitted>>,
}
