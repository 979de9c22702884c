//! Observers, which see judged rows as they pass, and sinks, which take them at the end.

use std::io::Write;

use arrow_array::{
    RecordBatch, StringArray,
    cast::AsArray,
    types::{Float64Type, UInt32Type},
};

use super::{CELLS, Judge, Judgement, P, REASONS, SCORE, VERDICT};
use crate::{
    Error, Matrix,
    explain::{Unit, noise_by_column},
    table::TableWriter,
};

/// Sees judged rows as they pass, before the verdict.
pub trait Observer: Send {
    /// Sees the next rows, which `judge` has judged.
    fn observe(&mut self, judge: &dyn Judge, judgement: &Judgement) -> Result<(), Error>;
}

/// Takes judged rows, with the input's columns and [`COLUMNS`](super::COLUMNS).
pub trait Sink: Send {
    /// Takes the next rows.
    fn put(&mut self, judged: RecordBatch) -> Result<(), Error>;
}

impl<W: Write + Send> Sink for TableWriter<W> {
    fn put(&mut self, judged: RecordBatch) -> Result<(), Error> {
        Ok(self.write(&judged)?)
    }
}

/// Judged rows, kept in memory batch by batch.
impl Sink for Vec<RecordBatch> {
    fn put(&mut self, judged: RecordBatch) -> Result<(), Error> {
        self.push(judged);
        Ok(())
    }
}

/// What was found about all rows, kept in memory.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// One score per row.
    pub scores: Vec<f64>,
    /// One p-value per row.
    pub p_values: Vec<f64>,
    /// One verdict per row.
    pub odd: Vec<bool>,
    /// How many cells make each row odd; `None` if the judge cannot tell or was not asked.
    pub n_cells: Vec<Option<u32>>,
    reasons: Vec<StringArray>,
}

impl Collected {
    /// The reasons of every row; `None` if the detector does not explain cells or no reasons were requested.
    pub fn reasons(&self) -> impl Iterator<Item = Option<&str>> {
        self.reasons.iter().flatten()
    }
}

impl Sink for Collected {
    fn put(&mut self, judged: RecordBatch) -> Result<(), Error> {
        let column = |name: &str| judged.column_by_name(name).expect("judged rows have this column");
        self.scores.extend_from_slice(column(SCORE).as_primitive::<Float64Type>().values());
        self.p_values.extend_from_slice(column(P).as_primitive::<Float64Type>().values());
        self.odd.extend(column(VERDICT).as_boolean().values());
        self.n_cells.extend(column(CELLS).as_primitive::<UInt32Type>());
        self.reasons.push(column(REASONS).as_string::<i32>().clone());
        Ok(())
    }
}

/// The noise of each column in all rows, kept in memory.
#[derive(Debug, Clone)]
pub struct Noise {
    unit: Unit,
    /// Rows × columns of the encoder, if the detector explains cells.
    values: Option<Vec<f64>>,
}

impl Noise {
    /// Starts with no rows.
    #[must_use]
    pub fn new(unit: Unit) -> Self {
        Self { unit, values: None }
    }

    /// Rows × columns of `judge`'s encoder; `None` if its detector does not explain cells.
    #[must_use]
    pub fn by_column(self, judge: &dyn Judge) -> Option<Matrix> {
        let n_columns = judge.encoder().columns().len();
        self.values.map(|values| {
            let n_rows = values.len() / n_columns;
            Matrix::new(values, n_rows, n_columns)
        })
    }
}

impl Observer for Noise {
    fn observe(&mut self, judge: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        if let Some(cells) = &judgement.findings.cells {
            let noise = noise_by_column(judge.encoder(), cells, self.unit);
            self.values.get_or_insert_default().extend_from_slice(noise.values());
        }
        Ok(())
    }
}
