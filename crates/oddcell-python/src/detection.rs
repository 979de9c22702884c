//! One table, nothing known.

use oddcell::{Context, Monitor, Progress, Seed, judge::Judge, verdict::Rule};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    found::Found,
    report::Page,
    settings::{Learning, RuleChoice},
    table::Table,
    work,
};

/// Judges the rows of `table` by each other, and writes the page that shows them if there is to be one. Gives what
/// `Model.found` gives, and `notes` about the table and the verdicts.
#[pyfunction]
#[pyo3(signature = (table, learning, rule, progress=None, page=None))]
pub(crate) fn detect<'py>(
    py: Python<'py>,
    table: &Table,
    learning: Learning<'py>,
    rule: RuleChoice,
    progress: Option<&Bound<'py, PyAny>>,
    page: Option<Page>,
) -> PyResult<Bound<'py, PyDict>> {
    if let Some(page) = &page {
        page.check(table)?;
    }
    let options = learning.fit_options()?;
    let Learning { categorical, seed, .. } = learning;
    let rule = rule.rule(Rule::FOR_ONE_TABLE)?;
    let (found, notes) = work::run(py, progress, |monitor| {
        let table = table.to_learn_from(&categorical)?;
        let context = Context { seed: Seed(seed), monitor };
        let detection = oddcell::model::detect(&table, &options, &context)?;
        let (found, drawn) =
            Found::of(&detection, rule, &table.batches, page.as_ref(), &CancelOnly(monitor))?;
        let mut notes = table.all_notes();
        notes.extend(detection.spec().note());
        notes.extend(detection.encoder.reports().iter().map(ToString::to_string));
        notes.extend(detection.verdict_notes(rule, &drawn.outcome));
        drawn.write(true, |_| notes.clone())?;
        Ok((found, notes))
    })?;
    let found = found.into_dict(py)?;
    found.set_item("notes", notes)?;
    Ok(found)
}

/// Stops when asked to, and reports no progress: that of training was already complete.
struct CancelOnly<'a>(&'a dyn Monitor);

impl Monitor for CancelOnly<'_> {
    fn advanced(&self, _: Progress) {}

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
