//! The fitted encoder: from record batches to rows of features.

use std::{collections::HashMap, sync::Arc};

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use serde::{Deserialize, Serialize};

use super::{
    EncodeError, EncodedColumn, Feature, LeftOut, Part, ReadRows, Report, Surprises, column::LearnedColumn,
    error::listed, groups, validate,
};
use crate::{
    Error, Matrix,
    kinds::{Block, Unreadable, write_null_flags},
    layout::Layout,
    table::Rows,
};

/// Turns rows into features, as learned from the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedEncoder", into = "SavedEncoder")]
pub struct Encoder {
    n_rows: u64,
    columns: Vec<EncodedColumn>,
    left_out: Vec<LeftOut>,
    /// The columns that make up groups, as positions in `columns`.
    group_by: Vec<u32>,
    features: Vec<Feature>,
    layout: Arc<Layout>,
    /// Whether a cell that cannot be read is an error. Not stored.
    strict: bool,
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
    /// The cells that are not of their column's kind, sorted: the row among these rows, and the column as a position in
    /// [`Encoder::columns`]. Their features are average.
    pub unreadable: Vec<(u32, u32)>,
}

/// The stored part of an [`Encoder`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedEncoder {
    n_rows: u64,
    columns: Vec<LearnedColumn>,
    left_out: Vec<LeftOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    group_by: Vec<u32>,
}

impl TryFrom<SavedEncoder> for Encoder {
    type Error = EncodeError;

    fn try_from(saved: SavedEncoder) -> Result<Self, EncodeError> {
        Encoder::assemble(saved.n_rows, saved.columns, saved.left_out, saved.group_by)
    }
}

impl From<Encoder> for SavedEncoder {
    fn from(encoder: Encoder) -> Self {
        let columns = encoder.columns.into_iter().map(|column| column.learned).collect();
        Self { n_rows: encoder.n_rows, columns, left_out: encoder.left_out, group_by: encoder.group_by }
    }
}

impl Encoder {
    /// Checks everything and derives the rest. All encoders are made here.
    pub(super) fn assemble(
        n_rows: u64,
        learned: Vec<LearnedColumn>,
        left_out: Vec<LeftOut>,
        group_by: Vec<u32>,
    ) -> Result<Self, EncodeError> {
        validate::check(n_rows, &learned, &left_out, &group_by)?;
        let mixed = is_mixed(&learned);
        let mut features = Vec::new();
        let mut columns = Vec::with_capacity(learned.len());
        for (at, column) in learned.into_iter().enumerate() {
            let first = features.len();
            features.extend(column.features(at, n_rows, mixed));
            columns.push(EncodedColumn::new(column, first, n_rows, mixed));
        }
        let group = |(column, at): (&EncodedColumn, u32)| column.group(group_by.contains(&at));
        let layout = Arc::new(Layout(columns.iter().zip(0..).map(group).collect()));
        Ok(Self { n_rows, columns, left_out, group_by, features, layout, strict: false })
    }

    /// From now on, [`Encoder::encode`] fails at a cell that cannot be read if `strict`.
    pub fn set_strict(&mut self, strict: bool) {
        self.strict = strict;
    }

    /// The number of training rows.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Whether any column is more than numbers, or there are groups.
    pub(crate) fn is_mixed(&self) -> bool {
        self.columns.iter().any(|column| column.gap().is_some())
    }

    /// The columns that make up groups.
    pub(super) fn group_by(&self) -> &[u32] {
        &self.group_by
    }

    /// The number of features of an encoded row.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.features.len()
    }

    /// The features in order; those of one column stand together.
    #[doc(hidden)]
    #[must_use]
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Which features belong to which column, as detectors see it.
    pub(crate) fn layout(&self) -> Arc<Layout> {
        Arc::clone(&self.layout)
    }

    /// The features that are coordinates, by which rows are compared. Levels and signs are none.
    #[doc(hidden)]
    #[must_use]
    pub fn coordinates(&self) -> Vec<usize> {
        let roles = self.layout.roles().enumerate();
        roles.filter(|(_, role)| role.is_coordinate()).map(|(at, _)| at).collect()
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
            Part::Sign(at) => {
                let hidden = column.content().as_kind().hidden();
                let since = at.checked_sub(hidden.len()).and_then(|at| column.learned.since.get(at));
                match (hidden.get(at), since) {
                    (Some((_, sign)), _) => format!("{}: {sign}", column.name()),
                    (None, Some(since)) => {
                        let other = self.columns[since.column as usize].name();
                        format!("{}: days since {other}", column.name())
                    }
                    (None, None) if Some(feature) == column.copied_feature() => {
                        format!("{}: no copy", column.name())
                    }
                    (None, None) if Some(feature) == column.within_feature() => {
                        format!("{}: within its group", column.name())
                    }
                    (None, None) => format!("{}: no value", column.name()),
                }
            }
        }
    }

    /// What a user should know: columns left out without being asked, constant columns, pooled levels.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        let left_out = self.left_out.iter().filter_map(Report::of_left_out);
        left_out.chain(self.columns.iter().filter_map(Report::of_column)).chain(self.copies()).collect()
    }

    /// The columns of `schema` that the training table did not have.
    #[doc(hidden)]
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
    #[doc(hidden)]
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

    /// Does what [`Encoder::encode`] does for rows of a table whose `features` and `unreadable` cells are all known: looks
    /// them up.
    #[doc(hidden)]
    pub fn look_up(
        &self,
        rows: &Rows,
        features: &Matrix,
        unreadable: &[(u32, u32)],
    ) -> Result<Encoded, Error> {
        let positions = rows.positions(features.n_rows())?;
        let first_from = |row: usize| unreadable.partition_point(|&(at, _)| (at as usize) < row);
        let unreadable = &unreadable[first_from(positions.start)..first_from(positions.end)];
        let within = |&(row, column): &(u32, u32)| (row - positions.start as u32, column);
        Ok(Encoded {
            unreadable: unreadable.iter().map(within).collect(),
            matrix: features.slice(positions),
            surprises: Surprises::none(self.columns.len()),
            columns: self.matched(rows)?,
        })
    }

    /// Encodes `rows`. Columns are matched by name; columns that the encoder does not know are ignored.
    pub fn encode(&self, rows: &Rows) -> Result<Encoded, EncodeError> {
        self.encode_as(rows, true)
    }

    /// Encodes training rows: what is known of their values is known from the other rows.
    pub(crate) fn encode_own(&self, rows: &Rows) -> Result<Encoded, EncodeError> {
        self.encode_as(rows, false)
    }

    fn encode_as(&self, rows: &Rows, is_new: bool) -> Result<Encoded, EncodeError> {
        let arrays = self.matched(rows)?;
        let read = self.read_rows(rows, &arrays)?;
        let (matrix, unseen_levels) = self.features_of(&read, is_new);
        let mut surprises = Surprises::none(self.columns.len());
        surprises.unseen_levels = unseen_levels;
        let mut unreadable = Vec::new();
        for (at, (column, checked)) in self.columns.iter().zip(&read.columns).enumerate() {
            if column.nulls() == 0 {
                surprises.unexpected_nulls[at] = checked.null_count() as u64;
            }
            if !checked.unreadable.is_empty() {
                unreadable.extend(checked.unreadable.iter().map(|&row| (row, at as u32)));
                surprises.unreadable[at] = Unreadable::of(&arrays[at], &checked.unreadable, rows.first_row);
            }
        }
        unreadable.sort_unstable();
        Ok(Encoded { matrix, surprises, columns: arrays, unreadable })
    }

    /// Whether a cell that cannot be read is an error.
    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    /// The features of cells that have been read, and for each column the number of values that training never had.
    /// `is_new` unless these are training rows.
    pub(crate) fn features_of(&self, read: &ReadRows, is_new: bool) -> (Matrix, Vec<u64>) {
        let (columns, n_features) = (&read.columns, self.n_features());
        let mut matrix = Matrix::zeros(read.n_rows, n_features).with_layout(Arc::clone(&self.layout));
        let mut unseen_levels = vec![0; columns.len()];
        let by: Vec<_> = self.group_by.iter().map(|&at| &columns[at as usize].cells).collect();
        let group_keys = groups::keys(&by, if self.group_by.is_empty() { 0 } else { read.n_rows });
        // Block by block, so that the rows being filled stay in the cache while each column writes its few cells.
        for (rows, number) in matrix.values_mut().chunks_mut(BLOCK_ROWS * n_features).zip(0..) {
            let first_row = number * BLOCK_ROWS;
            for (at, (column, checked)) in self.columns.iter().zip(columns).enumerate() {
                let cells = &checked.cells;
                let (values, hidden) = (column.value_features(), column.hidden_features());
                let kind = column.content().as_kind();
                let mut block =
                    Block { rows: &mut *rows, n_features, features: values.clone(), first_row, is_new };
                unseen_levels[at] += kind.write(cells, &self.features[values], block.reborrowed());
                if let Some(flag) = column.null_flag() {
                    block.features = flag..flag + 1;
                    write_null_flags(cells, self.features[flag], block.reborrowed());
                }
                let since = column.since_features();
                if !hidden.is_empty() {
                    block.features = hidden.start..since.start;
                    kind.write_hidden(cells, block);
                }
                for (feature, since) in since.zip(&column.learned.since) {
                    let others = read.moments(since.column as usize).numbers();
                    let dates = read.moments(at).numbers().iter().zip(others);
                    let features = rows.iter_mut().skip(feature).step_by(n_features);
                    for (x, (&now, &then)) in features.zip(dates.skip(first_row)) {
                        *x = since.days(now, then);
                    }
                }
                if let (Some(feature), Some(within)) = (column.within_feature(), &column.learned.within) {
                    let features = rows.iter_mut().skip(feature).step_by(n_features);
                    for (x, (&number, key)) in
                        features.zip(cells.numbers().iter().zip(&group_keys).skip(first_row))
                    {
                        *x = within.distance(number, key, |number| kind.scaled(number).unwrap_or(number));
                    }
                }
                if let (Some(feature), Some(copied)) = (column.copied_feature(), &column.learned.copied) {
                    for (row, at) in rows.chunks_exact_mut(n_features).zip(first_row..) {
                        let number = |term: u32| columns[term as usize].cells.numbers()[at];
                        row[column.hidden_features()].fill(0.0);
                        row[feature] = copied.sign(cells.numbers()[at], number, is_new);
                    }
                }
                if column.nulls() == 0 && checked.null_count() > 0 {
                    // Training never had such a cell.
                    for row in cells.nulls(first_row..first_row + rows.len() / n_features) {
                        self.write_gap(
                            column,
                            false,
                            is_new,
                            &mut rows[(row - first_row) * n_features..][..n_features],
                        );
                    }
                }
            }
        }
        for (column, checked) in self.columns.iter().zip(columns) {
            for &row in &checked.unreadable {
                self.write_gap(column, true, is_new, matrix.row_mut(row as usize));
            }
        }
        for &(row, column, has_number) in read.unasked() {
            let (column, row) = (&self.columns[column], matrix.row_mut(row));
            if !has_number {
                row[column.features()].fill(0.0);
            }
            if let Some(gap) = column.gap() {
                // Any number but 0: the cell has no value to be asked about. It is no surprise, either.
                row[gap] = f64::MIN_POSITIVE;
            }
        }
        (matrix, unseen_levels)
    }
}

impl Encoder {
    /// Fills the features of a cell that has no value where it should have one. As a coordinate it is far out.
    fn write_gap(&self, column: &EncodedColumn, unreadable: bool, is_new: bool, row: &mut [f64]) {
        row[column.features()].fill(0.0);
        if let Some(flag) = column.null_flag() {
            row[flag] = self.features[flag].scale(0.0);
        }
        row[column.value_features().start] = GAP_SDS;
        if let Some(gap) = column.gap() {
            row[gap] = column.gap_surprise(unreadable, is_new);
        }
    }
}

/// Whether a table has any column that is not a number.
pub(super) fn is_mixed(columns: &[LearnedColumn]) -> bool {
    columns.iter().any(|column| !column.content.kind().is_numeric() || column.within.is_some())
}

/// How far out a cell lies that has no value where it should have one, in standard deviations.
pub(super) const GAP_SDS: f64 = 10.0;
/// The rows that are filled at a time.
const BLOCK_ROWS: usize = 256;
