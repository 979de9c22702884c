//! The fitted encoder: from record batches to rows of features.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef};
use arrow_schema::Schema;
use serde::{Deserialize, Serialize};

use super::{
    EncodeError, EncodedColumn, Feature, LeftOut, Part, Place, Report, Surprises, column::LearnedColumn,
    error::listed, validate,
};
use crate::{
    Matrix,
    encode::Content,
    table::{Cells, Rows, read_cells},
};

/// Turns rows into features, in the way that was learned from the training rows.
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

/// What of an [`Encoder`] is stored.
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
    /// The only way to an encoder: checks everything and derives the rest.
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

    /// Checks every number once more. An encoder that exists has passed this already: also deserialising one
    /// fails where this would.
    pub fn validate(&self) -> Result<(), EncodeError> {
        let learned: Vec<_> = self.columns.iter().map(|column| column.learned.clone()).collect();
        validate::check(self.n_rows, &learned, &self.left_out)
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
        match (part, column.content()) {
            (Part::Level(at), Content::Category(levels)) => {
                format!("{} = {}", column.name(), levels.kept()[at].name)
            }
            (Part::Value | Part::Level(_), _) => column.name().to_owned(),
            (Part::Other, _) => format!("{} = (other)", column.name()),
            (Part::IsNull, _) => format!("{} is null", column.name()),
        }
    }

    /// What a user should know: columns left out without being asked for, constant columns, pooled levels.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        let left_out = self.left_out.iter().filter_map(Report::of_left_out);
        left_out
            .chain(self.columns.iter().filter_map(|column| Report::of_column(column, self.n_rows)))
            .collect()
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
        let mut doubled = Vec::new();
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            if by_name.insert(field.name().as_str(), array).is_some() {
                doubled.push(field.name());
            }
        }
        if let Some(column) =
            doubled.into_iter().find(|name| self.columns.iter().any(|column| column.name() == *name))
        {
            return Err(EncodeError::DuplicateColumn { origin: origin.to_string(), column: column.clone() });
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

    /// Encodes `rows`. Columns are matched by name; columns that the encoder does not know are ignored.
    pub fn encode(&self, rows: &Rows) -> Result<Encoded, EncodeError> {
        let arrays = self.matched(rows)?;
        let mut columns = Vec::with_capacity(self.columns.len());
        for (column, array) in self.columns.iter().zip(&arrays) {
            columns.push(read_cells(column.name(), array, column.kind(), rows.first_row, &rows.origin)?);
        }
        let n_features = self.n_features();
        let mut matrix = Matrix::zeros(rows.n_rows(), n_features);
        let mut surprises = Surprises::none(self.columns.len());
        // Block after block of rows, so that the rows being filled stay in the cache while column after column
        // writes its own few cells of each.
        let blocks = matrix.values_mut().chunks_mut(BLOCK_ROWS * n_features);
        for (block, rows) in blocks.zip(0..) {
            let first = rows * BLOCK_ROWS;
            for (at, (column, cells)) in self.columns.iter().zip(&columns).enumerate() {
                let features = &self.features[column.features()];
                let mut writer = Writer { block, n_features, first_feature: column.features.start, features };
                let (nulls, unseen) = writer.write(column, cells, first);
                if column.nulls() == 0 {
                    surprises.unexpected_nulls[at] += nulls;
                }
                surprises.unseen_levels[at] += unseen;
            }
        }
        Ok(Encoded { matrix, surprises, columns: arrays })
    }
}

/// Rows that are filled at a time.
const BLOCK_ROWS: usize = 256;

/// Fills the features of one column in a block of rows.
struct Writer<'a> {
    block: &'a mut [f64],
    n_features: usize,
    first_feature: usize,
    features: &'a [Feature],
}

impl Writer<'_> {
    /// Fills from the cells at `first` on; gives the number of nulls and of unseen levels.
    fn write(&mut self, column: &EncodedColumn, cells: &Cells, first: usize) -> (u64, u64) {
        match (cells, column.content()) {
            (Cells::Names(names), Content::Category(levels)) => {
                let zeros: Vec<f64> = self.features.iter().map(|feature| feature.scale(0.0)).collect();
                let (mut nulls, mut unseen) = (0, 0);
                let width = zeros.len();
                let other = levels.kept().len();
                for (row, at) in self.block.chunks_exact_mut(self.n_features).zip(first..) {
                    let row = &mut row[self.first_feature..][..width];
                    row.copy_from_slice(&zeros);
                    let one = match names.is_valid(at).then(|| levels.place(names.value(at))) {
                        Some(Place::Kept(level)) => level,
                        Some(Place::Rare(_) | Place::Unknown) => other,
                        Some(Place::Unseen) => {
                            unseen += 1;
                            other
                        }
                        None => {
                            nulls += 1;
                            other + 1
                        }
                    };
                    // A null in a column without nulls in training has no feature to tell of it.
                    if let Some(cell) = row.get_mut(one) {
                        *cell = self.features[one].scale(1.0);
                    }
                }
                (nulls, unseen)
            }
            (Cells::Names(_), _) | (Cells::Numbers(_), Content::Category(_)) => {
                unreachable!("cells are read as the column's kind")
            }
            (Cells::Numbers(numbers), _) => (self.write_numbers(&numbers[first..]), 0),
        }
    }

    fn write_numbers(&mut self, numbers: &[f64]) -> u64 {
        let value = self.features[0];
        let rows = self.block.chunks_exact_mut(self.n_features).zip(numbers);
        let mut nulls = 0;
        if let Some(is_null) = self.features.get(1) {
            let (no, yes) = (is_null.scale(0.0), is_null.scale(1.0));
            for (row, &x) in rows {
                let row = &mut row[self.first_feature..][..2];
                (row[0], row[1]) = if x.is_nan() { (0.0, yes) } else { (value.scale(x), no) };
            }
        } else {
            for (row, &x) in rows {
                nulls += u64::from(x.is_nan());
                row[self.first_feature] = if x.is_nan() { 0.0 } else { value.scale(x) };
            }
        }
        nulls
    }
}
