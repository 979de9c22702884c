//! Converts `NumPy` arrays and Arrow streams to record batches.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchReader, UInt64Array,
    cast::AsArray,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
    types::Float64Type,
};
use arrow_cast::cast;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2};
use oddcell::{judge, table};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyCapsule,
};

use crate::errors::guarded;

/// The name of a table in messages; it has no file name.
pub(crate) const ORIGIN: &str = "the table";

/// Rows of a `NumPy` array that are converted at a time; they fit into the second-level cache.
const BLOCK_ROWS: usize = 2_048;

/// A table for the library.
#[pyclass(frozen, module = "oddcell._oddcell")]
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// The rows of an object with the Arrow `PyCapsule` interface, without a copy.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        guarded(|| {
            if !data.hasattr("__arrow_c_stream__")? {
                let batch = RecordBatch::from_pyarrow_bound(data)?;
                return Ok(Self::of(batch.schema(), vec![batch]));
            }
            let reader = RecordBatchStreamReader::from_pyarrow_bound(data)?;
            let schema = reader.schema();
            // The producer may run a query for every batch.
            let batches = py.detach(|| reader.collect::<Result<Vec<_>, _>>());
            let batches =
                batches.map_err(|error| PyValueError::new_err(format!("cannot read {ORIGIN}: {error}")))?;
            Ok(Self::of(schema, batches))
        })
    }

    /// The columns of two-dimensional `NumPy` arrays of the same length, side by side.
    #[staticmethod]
    fn from_arrays(names: Vec<String>, arrays: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut blocks: Vec<Vec<ArrayRef>> = Vec::new();
        let mut n_rows = None;
        for array in &arrays {
            let rows: usize = array.getattr("shape")?.get_item(0)?.extract()?;
            if *n_rows.get_or_insert(rows) != rows {
                return Err(PyValueError::new_err("the arrays differ in their number of rows"));
            }
            let of_array = guarded(|| columns(array))?;
            blocks.resize_with(of_array.len(), Vec::new);
            blocks.iter_mut().zip(of_array).for_each(|(block, columns)| block.extend(columns));
        }
        let types = blocks.first().into_iter().flatten().map(|column| column.data_type().clone());
        let fields: Vec<Field> =
            names.iter().zip(types).map(|(name, kind)| Field::new(name, kind, true)).collect();
        if blocks.first().is_none_or(|block| block.len() != names.len()) {
            return Err(PyValueError::new_err("there must be one name per column"));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = |columns| RecordBatch::try_new(Arc::clone(&schema), columns);
        let batches = blocks.into_iter().map(batch).collect::<Result<Vec<_>, _>>();
        let batches = batches.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self::of(Arc::clone(&schema), batches))
    }

    /// The same rows with other column names.
    fn renamed(&self, names: Vec<String>) -> PyResult<Self> {
        if names.len() != self.schema.fields().len() {
            return Err(PyValueError::new_err("there must be one name per column"));
        }
        let fields = self.schema.fields().iter().zip(names);
        let fields: Vec<Field> = fields.map(|(field, name)| field.as_ref().clone().with_name(name)).collect();
        let schema = Arc::new(Schema::new(fields));
        let columns = self.batches.iter().map(|batch| batch.columns().to_vec());
        let batches = columns.map(|columns| RecordBatch::try_new(Arc::clone(&schema), columns));
        let batches = batches.collect::<Result<Vec<_>, _>>();
        let batches = batches.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { schema, batches })
    }

    /// The rows as a stream of Arrow batches, for everything that reads the `PyCapsule` interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // The interface lets a producer ignore what the consumer would like.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        Ok(PyCapsule::new_with_value(py, stream, c"arrow_array_stream")?.into_any())
    }

    /// The rows as an array of numbers, NaN where there is none; all columns must hold numbers or booleans.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n_columns = self.schema.fields().len();
        let mut values = vec![f64::NAN; self.n_rows() * n_columns];
        let mut first = 0;
        for batch in &self.batches {
            for (at, column) in batch.columns().iter().enumerate() {
                let column = cast(column, &DataType::Float64)
                    .map_err(|error| PyTypeError::new_err(error.to_string()))?;
                for (row, number) in column.as_primitive::<Float64Type>().iter().enumerate() {
                    values[(first + row) * n_columns + at] = number.unwrap_or(f64::NAN);
                }
            }
            first += batch.num_rows();
        }
        values.into_pyarray(py).reshape([self.n_rows(), n_columns])
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.n_rows()
    }
}

impl Table {
    pub(crate) fn n_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// This table with other cells. A batch in which a cell was emptied allows nulls from then on, so all do.
    pub(crate) fn repaired(&self, batches: Vec<RecordBatch>) -> Self {
        let fields = self.schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = |batch: RecordBatch| {
            let columns = batch.columns().iter().map(with_unique_levels).collect();
            RecordBatch::try_new(Arc::clone(&schema), columns).expect("the same types")
        };
        Self { batches: batches.into_iter().map(batch).collect(), schema }
    }

    /// A table of at least one batch, so that the columns of a table without rows are checked too.
    pub(crate) fn of(schema: SchemaRef, mut batches: Vec<RecordBatch>) -> Self {
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(Arc::clone(&schema)));
        }
        Self { schema, batches }
    }

    /// The table to learn from: with kinds, and without what an earlier run had found.
    pub(crate) fn to_learn_from(&self, categorical: &[String]) -> Result<table::Table, oddcell::Error> {
        Ok(judge::ready_to_learn(table::Table::from_batches(ORIGIN, self.batches.clone())?, categorical)?)
    }
}

/// A column whose dictionary, if it has one, holds every level once: pandas refuses others.
fn with_unique_levels(column: &ArrayRef) -> ArrayRef {
    let DataType::Dictionary(_, levels) = column.data_type() else { return Arc::clone(column) };
    let whole = cast(column, levels).and_then(|plain| cast(&plain, column.data_type()));
    whole.unwrap_or_else(|_| Arc::clone(column))
}

/// The columns of an array, for each block of rows.
fn columns(array: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<ArrayRef>>> {
    macro_rules! try_elements {
        ($($element:ty => $arrow:ty as $wide:ty),*) => {$(
            if let Ok(array) = array.extract::<PyReadonlyArray2<'_, $element>>() {
                return Ok(blocks(&array, |values| {
                    Arc::new(<$arrow>::from_iter_values(values.map(<$wide>::from))) as ArrayRef
                }));
            }
        )*};
    }
    // As in the reader of NPY files: integers become 64 bits wide, floats stay as they are.
    try_elements!(
        f64 => Float64Array as f64, f32 => Float32Array as f32,
        i64 => Int64Array as i64, i32 => Int64Array as i64, i16 => Int64Array as i64, i8 => Int64Array as i64,
        u64 => UInt64Array as u64, u32 => UInt64Array as u64, u16 => UInt64Array as u64, u8 => UInt64Array as u64
    );
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, bool>>() {
        return Ok(blocks(&array, |values| Arc::new(values.map(Some).collect::<BooleanArray>()) as ArrayRef));
    }
    let dtype = array.getattr("dtype")?;
    Err(PyTypeError::new_err(format!("cannot read an array of {dtype}; expected numbers or booleans")))
}

fn blocks<T: Element + Copy>(
    array: &PyReadonlyArray2<'_, T>,
    column: impl Fn(&mut dyn Iterator<Item = T>) -> ArrayRef,
) -> Vec<Vec<ArrayRef>> {
    let rows = array.as_array();
    let blocks = rows.axis_chunks_iter(numpy::ndarray::Axis(0), BLOCK_ROWS);
    let columns = blocks
        .map(|block| block.columns().into_iter().map(|cells| column(&mut cells.iter().copied())).collect());
    columns.collect()
}
