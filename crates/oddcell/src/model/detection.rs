//! Judges one table by itself: each row is judged by a detector that did not train on it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{FitOptions, crossfit, encode_all, unreadable};
use crate::{
    Context, DetectorSpec, Error, Fitted, Matrix, Seed, Table,
    calibrate::{Calibration, RobustNull},
    cells::{CellFindings, CellNull, judges_cells, learner_spec, surprises},
    detect::{CellUnit, Expects},
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
    /// What judged each fold.
    folds: Vec<FoldJudge>,
    /// The fold of every row.
    fold_of: Vec<u8>,
    /// How odd each cell is, rows × columns, if cells are judged, and what surprises of normal cells look like.
    cells: Option<(Matrix, Vec<CellNull>)>,
    spec: DetectorSpec,
    seed: Seed,
}

/// What judged the rows of a fold, and did not train on them.
#[derive(Debug, Clone)]
struct FoldJudge {
    fitted: Arc<dyn Fitted>,
    /// What judges cells, if it is another one.
    cells: Option<Arc<dyn Fitted>>,
}

impl FoldJudge {
    fn of_cells(&self) -> &dyn Fitted {
        self.cells.as_deref().unwrap_or(&*self.fitted)
    }
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

    /// The detector that did not train on the row judges it as it would be.
    fn rejudge(&self, numbers: &[usize], features: &Matrix) -> Result<Findings, Error> {
        let mut scores = vec![0.0; numbers.len()];
        self.by_fold(numbers, |judge, own| {
            for (&at, score) in own.iter().zip(judge.fitted.score(&features.take(own))?) {
                scores[at] = score;
            }
            Ok(())
        })?;
        let p_values = scores.iter().map(|&score| self.null.p_value(score)).collect();
        Ok(Findings { scores, p_values, cells: None })
    }

    fn cells(&self, numbers: &[usize], _: &Matrix) -> Result<Option<CellFindings>, Error> {
        let Some((all, nulls)) = &self.cells else { return Ok(None) };
        let surprises = all.take(numbers);
        Ok(Some(CellFindings { p_values: p_values(&surprises, nulls), surprises }))
    }

    fn rejudge_cells(&self, numbers: &[usize], features: &Matrix) -> Result<CellFindings, Error> {
        let Some((_, nulls)) = &self.cells else { unreachable!("it was asked before") };
        let layout = self.features.layout();
        let mut found = Matrix::zeros(numbers.len(), nulls.len());
        self.by_fold(numbers, |judge, own| {
            let said = surprises(judge.of_cells(), &features.take(own), &layout)?;
            own.iter().zip(said.rows()).for_each(|(&at, said)| found.row_mut(at).copy_from_slice(said));
            Ok(())
        })?;
        Ok(CellFindings { p_values: p_values(&found, nulls), surprises: found })
    }

    fn cell_features(&self, numbers: &[usize], features: &Matrix) -> Result<Option<Matrix>, Error> {
        if self.cells.is_none() {
            return Ok(None);
        }
        let mut told = Matrix::zeros(features.n_rows(), features.n_cols());
        self.by_fold(numbers, |judge, own| {
            let judged = judge.of_cells().judge(&features.take(own), true)?;
            for (&at, said) in own.iter().zip(judged.cells.iter().flat_map(Matrix::rows)) {
                told.row_mut(at).copy_from_slice(said);
            }
            Ok(())
        })?;
        Ok(Some(told))
    }

    fn expects(&self, number: usize) -> Option<&dyn Expects> {
        self.cells.as_ref()?;
        let fold = self.fold_of.get(number).copied().unwrap_or(0);
        self.folds[usize::from(fold)].of_cells().expects()
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
        self.folds.first().map(|judge| &*judge.fitted)
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

/// The p-values of surprises, each by the null of its column.
fn p_values(surprises: &Matrix, nulls: &[CellNull]) -> Matrix {
    let all = surprises.rows().flat_map(|row| row.iter().zip(nulls));
    let p_values = all.map(|(&surprise, null)| null.p_value(surprise)).collect();
    Matrix::new(p_values, surprises.n_rows(), surprises.n_cols())
}

impl Detection {
    /// Calls `judge` for every fold with the positions in `numbers` of the rows that belong to it.
    fn by_fold(
        &self,
        numbers: &[usize],
        mut judge: impl FnMut(&FoldJudge, &[usize]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (fold, of_fold) in self.folds.iter().enumerate() {
            let is_own = |&at: &usize| usize::from(self.fold_of[numbers[at]]) == fold;
            let own: Vec<usize> = (0..numbers.len()).filter(is_own).collect();
            if !own.is_empty() {
                judge(of_fold, &own)?;
            }
        }
        Ok(())
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
    let judges_cells = options.cells && judges_cells(&options.detector, features.n_cols());
    let learner = if judges_cells { learner_spec(&options.detector, features.n_cols())? } else { None };
    let learner = learner.map(|spec| spec.for_one_table()).transpose()?;
    let layout = features.layout();
    let n_rows = features.n_rows();
    let found = Mutex::new(Found {
        scores: vec![0.0; n_rows],
        cells: None,
        surprises: None,
        fold_of: vec![0; n_rows],
    });
    let folds =
        crossfit::fit_folds(&*detector, &features, options, context, |index, fold, train, fitted| {
            let rows = features.take(fold);
            let judged = fitted.judge(&rows, true)?;
            let cells: Option<Arc<dyn Fitted>> = match &learner {
                None => None,
                Some(spec) => {
                    Some(Arc::from(spec.build()?.fit(&train, &crossfit::quiet(context).context())?))
                }
            };
            drop(train);
            let judge = FoldJudge { fitted: Arc::from(fitted), cells };
            let said = judges_cells.then(|| surprises(judge.of_cells(), &rows, &layout)).transpose()?;
            let Found { scores, cells, surprises, fold_of } =
                &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
            for (&row, score) in fold.iter().zip(judged.scores) {
                scores[row] = score;
                fold_of[row] = index as u8;
            }
            let keep = |all: &mut Option<Matrix>, some: Option<Matrix>| {
                let Some(some) = some else { return };
                let all = all.get_or_insert_with(|| Matrix::zeros(n_rows, some.n_cols()));
                fold.iter().zip(some.rows()).for_each(|(&row, said)| all.row_mut(row).copy_from_slice(said));
            };
            keep(cells, judged.cells);
            keep(surprises, said);
            Ok(judge)
        })?;
    let n_folds = folds.len();
    let Found { scores, mut cells, surprises, fold_of } =
        found.into_inner().unwrap_or_else(PoisonError::into_inner);
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
    let of_cells = surprises.map(|all| {
        let null = |at: usize| CellNull::fit(all.rows().map(|row| row[at]).collect());
        let nulls = (0..all.n_cols()).map(null).collect();
        (all, nulls)
    });
    let findings = Findings { scores, p_values, cells };
    let (spec, seed) = (options.detector.clone(), context.seed);
    Ok(Detection {
        findings,
        encoder,
        features,
        unreadable,
        null,
        n_folds,
        folds,
        fold_of,
        cells: of_cells,
        spec,
        seed,
    })
}

/// The findings of the folds so far, in any order.
struct Found {
    scores: Vec<f64>,
    cells: Option<Matrix>,
    surprises: Option<Matrix>,
    fold_of: Vec<u8>,
}
