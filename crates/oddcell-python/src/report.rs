//! The report page of judged rows.

use std::path::PathBuf;

use oddcell::{
    Error,
    judge::{Judge, Outcome, Truths},
};
use oddcell_report::{About, Collector};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::table::{ORIGIN, Table};

/// Where a page goes, and what it says about itself.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Page {
    path: PathBuf,
    /// What the table is called.
    data: String,
    /// When it was made.
    made: String,
    /// Which rows are anomalies, where that is known.
    truths: Option<Vec<bool>>,
}

/// A page that is ready to be written, if one was asked for.
pub(crate) struct Drawn<'a> {
    pub(crate) judge: &'a dyn Judge,
    pub(crate) page: Option<(&'a Page, Collector<'a>)>,
    pub(crate) outcome: Outcome,
}

impl Drawn<'_> {
    /// Writes the page, whole or not at all. `is_fresh` says whether the detector was trained for it; `notes` is what a
    /// reader should know.
    pub(crate) fn write(
        self,
        is_fresh: bool,
        notes: impl FnOnce(&Outcome) -> Vec<String>,
    ) -> Result<(), Error> {
        let Some((page, collector)) = self.page else { return Ok(()) };
        let about = About {
            data: page.data.clone(),
            model: None,
            detector: self.judge.spec().entry().name.to_owned(),
            seed: self.judge.seed().0,
            trained: is_fresh.then(|| page.made.clone()),
            made: Some(page.made.clone()),
            notes: notes(&self.outcome),
        };
        collector.finish(about, false)?.write(&page.path)
    }
}

impl Page {
    /// Checks, before the work, that there is a truth for every row.
    pub(crate) fn check(&self, table: &Table) -> PyResult<()> {
        match &self.truths {
            Some(truths) if truths.len() != table.n_rows() => Err(PyValueError::new_err(format!(
                "y has {} values, but {ORIGIN} has {} rows",
                truths.len(),
                table.n_rows()
            ))),
            _ => Ok(()),
        }
    }

    /// Which rows are anomalies, as far as is known.
    pub(crate) fn truths(&self) -> Truths<'_> {
        self.truths.as_deref().map_or(Truths::Unknown, Truths::Known)
    }
}
