//! Judges a table that arrives in batches.

use std::sync::Arc;

use arrow_array::RecordBatch;
use oddcell::{
    Error, Monitor, Silent,
    judge::{self, Collected, ReasonForm, Scorer, Sink, Spool},
    verdict::Rule,
};
use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyDict};

use crate::{
    errors::raised,
    found::columns_dict,
    model::Model,
    settings::RuleChoice,
    table::{ORIGIN, Table},
    work,
};

/// Judges batches with one row count. Rows whose verdict needs all rows wait in a temporary file, without their cells.
#[pyclass(module = "oddcell._oddcell")]
pub(crate) struct Stream {
    model: Arc<oddcell::Model>,
    rule: Rule,
    /// `None` once all rows have been seen.
    open: Option<judge::Stream>,
    waited: Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send + Sync>,
}

impl Stream {
    fn scorer<'a>(model: &'a oddcell::Model, rule: Rule, monitor: &'a dyn Monitor) -> Scorer<'a> {
        Scorer {
            reasons: Some(ReasonForm::Text),
            findings_only: true,
            spool: Spool::Disk,
            monitor,
            ..Scorer::new(model, rule)
        }
    }
}

#[pymethods]
impl Stream {
    /// Starts a stream of rows that `model` judges.
    #[new]
    fn new(model: &Model, rule: RuleChoice) -> PyResult<Self> {
        let (model, rule) = (Arc::clone(&model.inner), rule.rule(Rule::FOR_NEW_ROWS)?);
        let open = judge::Stream::new(&Self::scorer(&model, rule, &Silent), ORIGIN).map_err(raised)?;
        Ok(Self { model, rule, open: Some(open), waited: Box::new(std::iter::empty()) })
    }

    /// Judges the rows of the next batch. Gives the columns found for them; `None` if the rows must wait.
    fn push<'py>(&mut self, py: Python<'py>, table: &Table) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Self { model, rule, open, .. } = self;
        let stream = open.as_mut().ok_or_else(|| PyRuntimeError::new_err("the stream has ended"))?;
        let mut found = Collected::default();
        work::run(py, None, |monitor| {
            let batches = table.batches.iter().cloned().map(Ok);
            Self::scorer(model, *rule, monitor).push(stream, batches, &mut [], Some(&mut found))
        })?;
        if stream.waits() { Ok(None) } else { columns_dict(py, found).map(Some) }
    }

    /// The columns found for the next `n_rows` of the rows that waited. Ends the stream.
    fn waited<'py>(&mut self, py: Python<'py>, n_rows: usize) -> PyResult<Bound<'py, PyDict>> {
        let mut found = Collected::default();
        work::run(py, None, |_| {
            if let Some(stream) = self.open.take() {
                self.waited = Box::new(stream.finish()?.1);
            }
            while found.scores.len() < n_rows
                && let Some(judged) = self.waited.next()
            {
                found.put(judged?)?;
            }
            Ok(())
        })?;
        columns_dict(py, found)
    }
}
