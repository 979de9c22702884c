//! Verdicts on rows that arrive in batches: a first pass over all rows, then a cutoff that judges them in order.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use oddcell::verdict::{self, Rule};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{model::Model, settings::RuleChoice};

/// Sees every row once, in order, and then gives the cutoff.
#[pyclass(module = "oddcell._oddcell")]
#[derive(Debug)]
pub(crate) struct FirstPass {
    inner: verdict::FirstPass,
    rule: Rule,
}

#[pymethods]
impl FirstPass {
    /// Starts a first pass over rows that `model` judges.
    #[new]
    fn new(rule: RuleChoice, model: &Model) -> PyResult<Self> {
        let rule = rule.rule(Rule::FOR_NEW_ROWS)?;
        Ok(Self { inner: verdict::FirstPass::new(rule, || model.inner.reference()), rule })
    }

    /// Whether the rule compares all rows, so that every row must be observed before the cutoff is right.
    #[getter]
    fn needs_all_rows(&self) -> bool {
        self.rule.needs_two_passes()
    }

    /// Observes the next rows.
    fn observe(
        &mut self,
        scores: PyReadonlyArray1<'_, f64>,
        p_values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        rows(&scores, &p_values)?.for_each(|(score, p_value)| self.inner.observe(score, p_value));
        Ok(())
    }

    /// The cutoff after the rows observed so far.
    fn decide(&self) -> Cutoff {
        Cutoff { inner: self.inner.clone().decide(), next_row: 0 }
    }
}

/// Judges rows in the order of the first pass.
#[pyclass(module = "oddcell._oddcell")]
#[derive(Debug)]
pub(crate) struct Cutoff {
    inner: verdict::Cutoff,
    next_row: usize,
}

#[pymethods]
impl Cutoff {
    /// Whether each of the next rows is odd.
    fn verdicts<'py>(
        &mut self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f64>,
        p_values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let numbered = (self.next_row..).zip(rows(&scores, &p_values)?);
        let odd: Vec<bool> =
            numbered.map(|(row, (score, p_value))| self.inner.is_odd(row, score, p_value)).collect();
        self.next_row += odd.len();
        Ok(odd.into_pyarray(py))
    }
}

/// The score and the p-value of every row.
fn rows<'a>(
    scores: &'a PyReadonlyArray1<'_, f64>,
    p_values: &'a PyReadonlyArray1<'_, f64>,
) -> PyResult<impl Iterator<Item = (f64, f64)> + 'a> {
    let (scores, p_values) = (scores.as_array(), p_values.as_array());
    if scores.len() != p_values.len() {
        return Err(PyValueError::new_err(format!(
            "there are {} scores, but {} p-values",
            scores.len(),
            p_values.len()
        )));
    }
    Ok(scores.into_iter().copied().zip(p_values.into_iter().copied()))
}
