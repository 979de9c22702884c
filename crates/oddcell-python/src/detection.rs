//! One table, nothing known.

use oddcell::{
    Context, Seed,
    calibrate::RobustNull,
    model::Detection,
    verdict::{self, Rule},
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    found::Found,
    report::{Page, Subject},
    settings::{Learning, RuleChoice},
    table::Table,
    work,
};

/// Judges the rows of `table` by each other, and writes the page that shows them if there is to be one. Gives what
/// `Model.found` gives, and `notes`: what is worth telling.
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
        let Detection { findings, encoder, null, first, .. } =
            oddcell::model::detect(&table, &options, &context)?;
        let odd = verdict::verdicts(rule, &findings.scores, &findings.p_values, null.reference());
        let mut notes: Vec<String> = table.notes.iter().map(ToString::to_string).collect();
        notes.extend(encoder.reports().iter().map(ToString::to_string));
        if !null.has_tail() {
            notes.push(RobustNull::WITHOUT_TAIL.to_owned());
        }
        if let Some(page) = page {
            page.write(Subject {
                batches: &table.batches,
                findings: &findings,
                encoder: &encoder,
                rule,
                reference: null.reference(),
                spec: &options.detector,
                seed: Seed(seed),
                fitted: &*first,
                is_fresh: true,
                notes: notes.clone(),
            })?;
        }
        Ok((Found::new(&encoder, &table.batches, findings, odd)?, notes))
    })?;
    let found = found.into_dict(py)?;
    found.set_item("notes", notes)?;
    Ok(found)
}
