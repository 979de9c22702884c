//! A fitted model: judge, explain, save, load.

use std::{path::PathBuf, sync::Arc};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use oddcell::{
    Context, Matrix, Seed,
    calibrate::Calibration,
    detect::CellUnit,
    explain::Unit,
    judge::{Judge, Noise, ReasonForm, Scorer},
    model::Threshold,
    verdict::Rule,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyDict},
};

use crate::{
    cells::{self, CureChoice},
    errors::raised,
    found::Found,
    report::Page,
    settings::{Learning, RuleChoice, options_dict},
    table::{ORIGIN, Table},
    values::dict,
    work,
};

type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// What is normal in a table, learned from its rows.
#[pyclass(frozen, module = "oddcell._oddcell")]
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) inner: Arc<oddcell::Model>,
    /// Notes about the training table; empty if the model was loaded.
    notes: Vec<String>,
}

impl Model {
    /// The error for a question about cells.
    fn knows_no_cells(&self) -> PyErr {
        PyTypeError::new_err(format!(
            "the detector `{}` scores rows; it knows nothing about their cells",
            self.detector()
        ))
    }

    fn of(inner: oddcell::Model, notes: Vec<String>) -> Self {
        Self { inner: Arc::new(inner), notes }
    }
}

#[pymethods]
impl Model {
    /// Learns what is normal from all rows of `table`.
    #[staticmethod]
    #[pyo3(signature = (table, learning, progress=None))]
    fn fit(
        py: Python<'_>,
        table: &Table,
        learning: Learning<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let options = learning.fit_options()?;
        let Learning { categorical, seed, .. } = learning;
        work::run(py, progress, |monitor| {
            let table = table.to_learn_from(&categorical)?;
            let model = oddcell::Model::fit(&table, &options, &Context { seed: Seed(seed), monitor })?;
            let mut notes = table.all_notes();
            notes.extend(model.spec().note());
            notes.extend(model.encoder().reports().iter().map(ToString::to_string));
            Ok(Self::of(model, notes))
        })
    }

    /// Scores and p-values of all rows of `table`.
    #[pyo3(signature = (table, progress=None))]
    fn judge<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let (found, _) = work::run(py, progress, |monitor| {
            let scorer = Scorer { monitor, ..Scorer::new(&*self.inner, Rule::FOR_NEW_ROWS) };
            scorer.collect(ORIGIN, &table.batches, &mut [])
        })?;
        Ok((found.scores.into_pyarray(py), found.p_values.into_pyarray(py)))
    }

    /// The noise in the cells of all rows of `table`, rows × `columns`; `units` is `std` or `column`.
    #[pyo3(signature = (table, units, progress=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        units: &str,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let unit = unit(units)?;
        let is_distance = |cells| cells == CellUnit::StandardDeviations;
        if unit == Unit::Column && !self.inner.spec().entry().abilities.cells.is_none_or(is_distance) {
            return Err(PyValueError::new_err(format!(
                "the detector `{}` says how rare cells are, not how far off; units must be `std`",
                self.detector()
            )));
        }
        let mut noise = Noise::new(unit);
        let noise = work::run(py, progress, |monitor| {
            let scorer = Scorer { cells: true, monitor, ..Scorer::new(&*self.inner, Rule::FOR_NEW_ROWS) };
            scorer.collect(ORIGIN, &table.batches, &mut [&mut noise])?;
            Ok(noise.by_column(&*self.inner))
        })?;
        matrix(py, noise.ok_or_else(|| self.knows_no_cells())?)
    }

    /// The reasons of all rows of `table`, each as a JSON object: column → figures, of the cells that make the row odd.
    #[pyo3(signature = (table, progress=None))]
    fn reasons(
        &self,
        py: Python<'_>,
        table: &Table,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let (found, _) = work::run(py, progress, |monitor| {
            let reasons = Some(ReasonForm::Json);
            let scorer = Scorer { reasons, monitor, ..Scorer::new(&*self.inner, Rule::FOR_NEW_ROWS) };
            scorer.collect(ORIGIN, &table.batches, &mut [])
        })?;
        // A row without odd cells has no reasons.
        let of_row = |(reasons, n_cells): (Option<&str>, &Option<u32>)| {
            reasons.or(n_cells.map(|_| "{}")).map(ToString::to_string)
        };
        let reasons = found.reasons().zip(&found.n_cells).map(of_row);
        reasons.collect::<Option<_>>().ok_or_else(|| self.knows_no_cells())
    }

    /// What judged rows have besides their own columns: scores, p-values, verdicts, reasons; and the noise of `columns`
    /// in standard deviations.
    #[pyo3(signature = (table, rule, progress=None))]
    fn found<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        rule: RuleChoice,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rule = rule.rule(Rule::FOR_NEW_ROWS)?;
        let found = work::run(py, progress, |monitor| {
            Found::of(&*self.inner, rule, &table.batches, None, monitor).map(|(found, _)| found)
        })?;
        found.into_dict(py)
    }

    /// Judges all rows of `table` and writes the page that shows them.
    #[pyo3(signature = (table, rule, page, progress=None))]
    fn report(
        &self,
        py: Python<'_>,
        table: &Table,
        rule: RuleChoice,
        page: Page,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let rule = rule.rule(Rule::FOR_NEW_ROWS)?;
        page.check(table)?;
        let model = &*self.inner;
        work::run(py, progress, |monitor| {
            let (_, drawn) = Found::of(model, rule, &table.batches, Some(&page), monitor)?;
            drawn.write(false, |outcome| outcome.surprises.notes(model.encoder()))
        })
    }

    /// The score that a share `contamination` of the calibration rows exceeds; by default the share of normal rows that
    /// is called odd of new rows.
    #[pyo3(signature = (contamination=None))]
    fn threshold(&self, contamination: Option<f64>) -> PyResult<f64> {
        let rule = contamination.map_or(Ok(Rule::FOR_NEW_ROWS), Rule::contamination).map_err(raised)?;
        let (Rule::Alpha(share) | Rule::Contamination(share)) = rule else {
            unreachable!("new rows are judged by their p-values")
        };
        Ok(self.inner.reference().threshold(share))
    }

    /// The columns that it judges, in the order of the training table.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.inner.encoder().columns().iter().map(|column| column.name().to_owned()).collect()
    }

    /// The columns of the training table that it does not judge, with the reason.
    #[getter]
    fn left_out(&self) -> Vec<(String, String)> {
        let left_out = self.inner.encoder().left_out().iter();
        left_out.map(|column| (column.name.clone(), column.reason.to_string())).collect()
    }

    /// What the cells of its columns mean: `number`, `boolean`, `date`, `text` or `category`, by name.
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kinds = PyDict::new(py);
        for column in self.inner.encoder().columns() {
            kinds.set_item(column.name(), column.kind().name())?;
        }
        Ok(kinds)
    }

    /// Notes about the training table.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The detector's name.
    #[getter]
    fn detector(&self) -> &'static str {
        self.inner.spec().entry().name
    }

    /// The detector's parameters.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.inner.spec().params())
    }

    /// How columns became features, and which rows trained and calibrated.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options_dict(py, self.inner.encode_options(), self.inner.split())
    }

    /// The seed that it was fitted with.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed().0
    }

    /// The number of rows that it learned from.
    #[getter]
    fn n_rows(&self) -> u64 {
        self.inner.n_rows()
    }

    /// Judges all cells of `table`: the p-values `p` of its `columns`, and those that the rule calls odd as `called`.
    #[pyo3(signature = (table, rule, progress=None))]
    fn cells<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        rule: RuleChoice,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rule = rule.rule(Rule::FOR_NEW_ROWS)?;
        let found = work::run(py, progress, |_| cells::judged(&*self.inner, &cells::table_of(table)?, rule))?;
        found.ok_or_else(knows_no_expected)?.into_dict(py)
    }

    /// What should stand in every cell of `columns`, by the other cells of its row; null where nothing can be said.
    #[pyo3(signature = (table, progress=None))]
    fn expected(
        &self,
        py: Python<'_>,
        table: &Table,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        let expected = work::run(py, progress, |_| cells::expected(&*self.inner, &cells::table_of(table)?))?;
        expected.ok_or_else(knows_no_expected)
    }

    /// Repairs the cells of `table` that the rule calls odd: the repaired `table`, and the `changes`.
    #[pyo3(signature = (table, rule, cure, progress=None))]
    fn repair<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        rule: RuleChoice,
        cure: CureChoice,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rule = rule.rule(Rule::FOR_NEW_ROWS)?;
        let done = work::run(py, progress, |_| cells::cured(&*self.inner, table, rule, cure.cure()))?;
        cells::repaired_dict(py, table, done.ok_or_else(knows_no_expected)?)
    }

    /// The share `contamination` and the score above which rows are odd, if its file has them.
    #[getter]
    fn saved_threshold(&self) -> Option<(f64, f64)> {
        self.inner.threshold().map(|threshold| (threshold.contamination, threshold.score))
    }

    /// Writes the model file, whole or not at all, with `threshold`: the share `contamination` and the score above which
    /// rows are odd.
    #[pyo3(signature = (path, threshold=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, threshold: Option<(f64, f64)>) -> PyResult<()> {
        let threshold = threshold.map(|(contamination, score)| Threshold { contamination, score });
        work::run(py, None, |_| self.inner.save_with(&path, threshold))
    }

    /// Reads a model file. Nothing in it is executed, and everything in it is checked.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self::of(work::run(py, None, |_| oddcell::Model::load(&path))?, Vec::new()))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work::run(py, None, |_| Ok(self.inner.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model that the bytes of a model file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        Ok(Self::of(work::run(py, None, |_| Ok(oddcell::Model::from_bytes(bytes)?))?, Vec::new()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (slf.get().to_bytes(py)?,)))
    }
}

/// The score that a share `contamination` of `scores` exceeds.
#[pyfunction]
pub(crate) fn threshold(scores: numpy::PyReadonlyArray1<'_, f64>, contamination: f64) -> PyResult<f64> {
    Rule::contamination(contamination).map_err(raised)?;
    Ok(Calibration::conformal(scores.as_array().to_vec()).threshold(contamination))
}

/// The error for a question about cells to a model that learned nothing about them.
fn knows_no_expected() -> PyErr {
    PyTypeError::new_err("this model learned about rows only; fit it again to judge cells")
}

/// The unit of that name.
fn unit(name: &str) -> PyResult<Unit> {
    match name {
        "std" => Ok(Unit::StandardDeviations),
        "column" => Ok(Unit::Column),
        _ => Err(PyValueError::new_err(format!("units is `{name}`, but must be `std` or `column`"))),
    }
}

/// Rows × columns for Python.
pub(crate) fn matrix(py: Python<'_>, matrix: Matrix) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let shape = [matrix.n_rows(), matrix.n_cols()];
    matrix.into_values().into_pyarray(py).reshape(shape)
}
