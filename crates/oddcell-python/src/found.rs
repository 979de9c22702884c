//! What was found about rows, on its way to Python.

use arrow_array::{Array, RecordBatch, StringArray};
use numpy::IntoPyArray;
use oddcell::{
    Error,
    encode::{EncodedColumn, Encoder},
    explain::{Unit, noise_by_column},
    judged,
    model::Findings,
    table::Format,
};
use pyo3::{prelude::*, types::PyDict};
use rayon::prelude::*;

use crate::{model::matrix, table::ORIGIN};

/// What stands beside the columns of judged rows, and the noise in them.
pub(crate) struct Found {
    findings: Findings,
    odd: Vec<bool>,
    /// By batch; where the detector knows cells.
    reasons: Option<Vec<StringArray>>,
    noise: Option<oddcell::Matrix>,
    columns: Vec<String>,
}

impl Found {
    /// Adds the reasons and the noise to what is known about the rows of `batches`.
    pub(crate) fn new(
        encoder: &Encoder,
        batches: &[RecordBatch],
        findings: Findings,
        odd: Vec<bool>,
    ) -> Result<Self, Error> {
        let parts: Vec<_> = judged::parts(batches, &findings).collect();
        let texts: Vec<_> = parts
            .par_iter()
            .map(|part| {
                judged::reasons(encoder, part.batch, part.first_row, ORIGIN, &part.findings, Format::Csv)
            })
            .collect();
        let reasons = texts.into_iter().collect::<Result<_, _>>()?;
        let noise = findings.cells.as_ref();
        let noise = noise.map(|cells| noise_by_column(encoder, cells, Unit::StandardDeviations));
        let columns = encoder.columns().iter().map(EncodedColumn::name).map(str::to_owned).collect();
        Ok(Self { findings, odd, reasons, noise, columns })
    }

    /// By the names of the columns of judged rows; besides `noise` (or `None`) and its `columns`.
    pub(crate) fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let n_rows = self.odd.len();
        let mut texts: Vec<Option<&str>> = Vec::with_capacity(n_rows);
        match &self.reasons {
            None => texts.resize(n_rows, None),
            Some(parts) => {
                texts.extend(parts.iter().flat_map(|part| (0..part.len()).map(|row| Some(part.value(row)))));
            }
        }
        let found = PyDict::new(py);
        found.set_item(judged::REASONS, texts)?;
        found.set_item(judged::SCORE, self.findings.scores.into_pyarray(py))?;
        found.set_item(judged::P, self.findings.p_values.into_pyarray(py))?;
        found.set_item(judged::VERDICT, self.odd.into_pyarray(py))?;
        found.set_item("noise", self.noise.map(|noise| matrix(py, noise)).transpose()?)?;
        found.set_item("columns", self.columns)?;
        Ok(found)
    }
}
