//! The report page of judged rows.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use oddcell::{
    DetectorSpec, Error, Fitted, Seed, calibrate::Calibration, encode::Encoder, judged, model::Findings,
    verdict::Rule,
};
use oddcell_report::{About, Collector, MapSource, Setting};
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

/// Judged rows, and what judged them.
pub(crate) struct Subject<'a> {
    pub(crate) batches: &'a [RecordBatch],
    pub(crate) findings: &'a Findings,
    pub(crate) encoder: &'a Encoder,
    pub(crate) rule: Rule,
    pub(crate) reference: &'a Calibration,
    pub(crate) spec: &'a DetectorSpec,
    pub(crate) seed: Seed,
    pub(crate) fitted: &'a dyn Fitted,
    /// Whether it was trained for this page.
    pub(crate) is_fresh: bool,
    pub(crate) notes: Vec<String>,
}

impl Page {
    /// A truth for every row; told before the work.
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

    /// Writes the page, whole or not at all.
    pub(crate) fn write(&self, subject: Subject<'_>) -> Result<(), Error> {
        let Subject { encoder, rule, reference, seed, .. } = subject;
        let mut collector = Collector::new(Setting { encoder, origin: ORIGIN, rule, reference, seed });
        for part in judged::parts(subject.batches, subject.findings) {
            let truths = self.truths.as_ref();
            let truths = truths.map(|truths| &truths[part.first_row..][..part.batch.num_rows()]);
            collector.add(part.batch, &part.findings, truths)?;
        }
        let about = About {
            data: self.data.clone(),
            model: None,
            detector: subject.spec.entry().name.to_owned(),
            seed: seed.0,
            trained: subject.is_fresh.then(|| self.made.clone()),
            made: Some(self.made.clone()),
            notes: subject.notes,
        };
        let source = MapSource { fitted: Some(subject.fitted), noise: None };
        collector.finish(about, source)?.write(&self.path)
    }
}
