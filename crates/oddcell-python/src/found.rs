//! What was found about rows, on its way to Python.

use arrow_array::RecordBatch;
use numpy::IntoPyArray;
use oddcell::{
    Error, Monitor,
    detect::CellUnit,
    encode::EncodedColumn,
    explain::Unit,
    judge::{self, Collected, Judge, Noise, Observer, ReasonForm, Scorer, Truths},
    verdict::Rule,
};
use oddcell_report::Collector;
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

use crate::{
    cells::Sets,
    model::matrix,
    report::{Drawn, Page},
    table::ORIGIN,
};

/// What stands beside the columns of judged rows, and the noise in them.
pub(crate) struct Found {
    collected: Collected,
    noise: Option<oddcell::Matrix>,
    sets: Sets,
    unit: CellUnit,
    columns: Vec<String>,
}

impl Found {
    /// Judges the rows of `batches` by `rule`. With a `page`, draws it too.
    pub(crate) fn of<'a>(
        judge: &'a dyn Judge,
        rule: Rule,
        batches: &[RecordBatch],
        page: Option<&'a Page>,
        monitor: &dyn Monitor,
    ) -> Result<(Self, Drawn<'a>), Error> {
        let mut noise = Noise::new(Unit::StandardDeviations);
        let mut collector = page.map(|_| Collector::new(judge, rule));
        let mut sets = Sets::default();
        let mut observers: Vec<&mut dyn Observer> = vec![&mut noise, &mut sets];
        observers.extend(collector.as_mut().map(|collector| collector as &mut dyn Observer));
        let scorer = Scorer {
            reasons: Some(ReasonForm::Text),
            truths: page.map_or(Truths::Unknown, Page::truths),
            monitor,
            ..Scorer::new(judge, rule)
        };
        let (found, outcome) = scorer.collect(ORIGIN, batches, &mut observers)?;
        let names = judge.encoder().columns().iter().map(EncodedColumn::name);
        let columns = names.map(str::to_owned).collect();
        let drawn = Drawn { judge, page: page.zip(collector), outcome };
        let (noise, unit) = (noise.by_column(judge), judge.cell_unit());
        Ok((Self { collected: found, noise, sets, unit, columns }, drawn))
    }

    /// The columns of judged rows, `noise` (or `None`) and its `columns`; whether it is a surprise, and from where on it is
    /// odd; and `set`, the cells that make rows odd (or `None` if nobody looked for them).
    pub(crate) fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = columns_dict(py, self.collected)?;
        dict.set_item("noise", self.noise.map(|noise| matrix(py, noise)).transpose()?)?;
        dict.set_item("set", self.sets.into_dict(py, &self.columns)?)?;
        dict.set_item("columns", self.columns)?;
        dict.set_item("is_surprise", self.unit != CellUnit::StandardDeviations)?;
        dict.set_item("odd_from", self.unit.odd_from())?;
        Ok(dict)
    }
}

/// The columns that stand beside the input's own, by name and in order.
pub(crate) fn columns_dict(py: Python<'_>, found: Collected) -> PyResult<Bound<'_, PyDict>> {
    let reasons = PyList::new(py, found.reasons().collect::<Vec<_>>())?;
    let dict = PyDict::new(py);
    dict.set_item(judge::SCORE, found.scores.into_pyarray(py))?;
    dict.set_item(judge::P, found.p_values.into_pyarray(py))?;
    dict.set_item(judge::VERDICT, found.odd.into_pyarray(py))?;
    match found.n_cells.iter().copied().collect::<Option<Vec<u32>>>() {
        Some(n_cells) => dict.set_item(judge::CELLS, n_cells.into_pyarray(py))?,
        None => dict.set_item(judge::CELLS, found.n_cells)?,
    }
    dict.set_item(judge::REASONS, reasons)?;
    Ok(dict)
}
