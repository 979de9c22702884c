//! The fitted encoder: from record batches to rows of features.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use serde::{Deserialize, Serialize};

use super::{
    EncodeError, EncodedColumn, Feature, LeftOut, Part, Report, Surprises, column::LearnedColumn,
    error::listed, validate,
};
use crate::{
    Error, Matrix,
    kinds::{Block, write_null_flags},
    table::{Rows, read_cells},
};

/// Turns rows into features, as learned from the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedEncoder", into = "SavedEncoder")]
pub struct Encoder {
    n_rows: u64,
    columns: Vec<EncodedColumn>,
    left_out: Vec<LeftOut>,
    features: Vec<Feature>,
}

/// Encoded rows, the columns they come from, and what was unusual about them.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// Rows × features.
    pub matrix: Matrix,
    /// Cells unlike anything in training, counted.
    pub surprises: Surprises,
    /// The arrays of the rows, one for every one of [`Encoder::columns`].
    pub columns: Vec<ArrayRef>,
}

/// The stored part of an [`Encoder`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedEncoder {
    n_rows: u64,
    columns: Vec<LearnedColumn>,
    left_out: Vec<LeftOut>,
}

impl TryFrom<SavedEncoder> for Encoder {
    type Error = EncodeError;

    fn try_from(saved: SavedEncoder) -> Result<Self, EncodeError> {
        Encoder::assemble(saved.n_rows, saved.columns, saved.left_out)
    }
}

impl From<Encoder> for SavedEncoder {
    fn from(encoder: Encoder) -> Self {
        let columns = encoder.columns.into_iter().map(|column| column.learned).collect();
        Self { n_rows: encoder.n_rows, columns, left_out: encoder.left_out }
    }
}

impl Encoder {
    /// Checks everything and derives the rest. All encoders are made here.
    pub(super) fn assemble(
        n_rows: u64,
        learned: Vec<LearnedColumn>,
        left_out: Vec<LeftOut>,
    ) -> Result<Self, EncodeError> {
        validate::check(n_rows, &learned, &left_out)?;
        let mut features = Vec::new();
        let mut columns = Vec::with_capacity(learned.len());
        for (at, column) in learned.into_iter().enumerate() {
            let first = features.len();
            features.extend(column.features(at, n_rows));
            columns.push(EncodedColumn::new(column, first, n_rows));
        }
        Ok(Self { n_rows, columns, left_out, features })
    }

    /// The number of training rows.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The number of features of an encoded row.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.features.len()
    }

    /// The features in order; those of one column stand together.
    #[must_use]
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The columns that make features, in the order of the training table.
    #[must_use]
    pub fn columns(&self) -> &[EncodedColumn] {
        &self.columns
    }

    /// The columns of the training table that make no features, in its order.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The feature's name, for people: `amount`, `city = Oslo`, `city = (other)`, `amount is null`.
    #[must_use]
    pub fn feature_name(&self, feature: usize) -> String {
        let Feature { column, part, .. } = self.features[feature];
        let column = &self.columns[column];
        match part {
            Part::Value(at) => column.content().as_kind().feature_name(column.name(), at),
            Part::IsNull => format!("{} is null", column.name()),
        }
    }

    /// What a user should know: columns left out without being asked, constant columns, pooled levels.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        let left_out = self.left_out.iter().filter_map(Report::of_left_out);
        left_out.chain(self.columns.iter().filter_map(Report::of_column)).collect()
    }

    /// The columns of `schema` that the training table did not have.
    #[must_use]
    pub fn extra_columns(&self, schema: &Schema) -> Vec<String> {
        let known: std::collections::HashSet<&str> = self
            .columns
            .iter()
            .map(EncodedColumn::name)
            .chain(self.left_out.iter().map(|column| column.name.as_str()))
            .collect();
        let names = schema.fields().iter().map(|field| field.name());
        names.filter(|name| !known.contains(name.as_str())).cloned().collect()
    }

    /// Returns the arrays of `rows` for [`Encoder::columns`], matched by name. [`Encoder::encode`] returns them, too.
    pub fn matched(&self, rows: &Rows) -> Result<Vec<ArrayRef>, EncodeError> {
        let Rows { batch, origin, .. } = rows;
        let schema = batch.schema_ref();
        let mut by_name = HashMap::with_capacity(schema.fields().len());
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            let name = field.name();
            let is_double = by_name.insert(name.as_str(), array).is_some();
            if is_double && self.columns.iter().any(|column| column.name() == name) {
                return Err(EncodeError::DuplicateColumn {
                    origin: origin.to_string(),
                    column: name.clone(),
                });
            }
        }
        let arrays: Vec<_> =
            self.columns.iter().filter_map(|column| by_name.get(column.name()).copied().cloned()).collect();
        if arrays.len() == self.columns.len() {
            return Ok(arrays);
        }
        let missing = self.columns.iter().map(EncodedColumn::name).filter(|name| !by_name.contains_key(name));
        Err(EncodeError::MissingColumns {
            origin: origin.to_string(),
            missing: missing.map(str::to_owned).collect(),
            found: listed(schema.fields().iter().map(|field| field.name().as_str())),
        })
    }

    /// Does what [`Encoder::encode`] does for rows of a table whose `features` are all known: looks them up.
    pub fn look_up(&self, rows: &Rows, features: &Matrix) -> Result<Encoded, Error> {
        Ok(Encoded {
            matrix: features.slice(rows.positions(features.n_rows())?),
            surprises: Surprises::none(self.columns.len()),
            columns: self.matched(rows)?,
        })
    }

    /// Encodes `rows`. Columns are matched by name; columns that the encoder does not know are ignored.
    pub fn encode(&self, rows: &Rows) -> Result<Encoded, EncodeError> {
        let arrays = self.matched(rows)?;
        let mut columns = Vec::with_capacity(self.columns.len());
        for (column, array) in self.columns.iter().zip(&arrays) {
            columns.push(read_cells(column.name(), array, column.reading(), rows.first_row, &rows.origin)?);
        }
        let n_features = self.n_features();
        let mut matrix = Matrix::zeros(rows.n_rows(), n_features);
        let mut surprises = Surprises::none(self.columns.len());
        for (at, (column, cells)) in self.columns.iter().zip(&columns).enumerate() {
            if column.nulls() == 0 {
                surprises.unexpected_nulls[at] = cells.null_count() as u64;
            }
        }
        // Block by block, so that the rows being filled stay in the cache while each column writes its few cells.
        for (rows, number) in matrix.values_mut().chunks_mut(BLOCK_ROWS * n_features).zip(0..) {
            let first_row = number * BLOCK_ROWS;
            for (at, (column, cells)) in self.columns.iter().zip(&columns).enumerate() {
                let values = column.value_features();
                let block = Block { rows, n_features, features: values.clone(), first_row };
                let kind = column.content().as_kind();
                surprises.unseen_levels[at] += kind.write(cells, &self.features[values.clone()], block);
                if column.nulls() > 0 {
                    let features = values.end..values.end + 1;
                    let block = Block { rows, n_features, features, first_row };
                    write_null_flags(cells, self.features[values.end], block);
                }
            }
        }
        Ok(Encoded { matrix, surprises, columns: arrays })
    }
}

/// The rows that are filled at a time.
const BLOCK_ROWS: usize = 256;
