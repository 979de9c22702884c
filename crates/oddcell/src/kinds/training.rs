//! What a kind learns from, and what becomes of a column.

use super::{Cells, read_cells};
use crate::{
    Table,
    encode::{EncodeOptions, LeftOutReason},
    table::{ColumnInfo, Rows, TableError},
};

/// The training cells of one column.
pub(crate) struct Training<'a> {
    pub(crate) table: &'a Table,
    /// The position of the column in the table.
    pub(crate) at: usize,
    pub(crate) n_rows: usize,
    /// Which rows of the whole table these are, if they are a sample.
    pub(crate) row_numbers: Option<&'a [u64]>,
    pub(crate) options: &'a EncodeOptions,
}

/// What became of a column.
pub(crate) enum Learned<K> {
    Column { nulls: u64, content: K },
    LeftOut(LeftOutReason),
}

/// The rows that a column learned from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) n_rows: u64,
    pub(crate) nulls: u64,
}

impl Counts {
    /// Rows with a value.
    pub(crate) fn filled(self) -> u64 {
        self.n_rows - self.nulls
    }

    /// `rows` as a share of all training rows.
    pub(crate) fn share(self, rows: u64) -> f64 {
        rows as f64 / self.n_rows as f64
    }
}

impl Training<'_> {
    pub(super) fn column(&self) -> &ColumnInfo {
        &self.table.columns[self.at]
    }

    /// Visits the cells batch by batch.
    pub(super) fn for_each(&self, mut visit: impl FnMut(Cells)) -> Result<(), TableError> {
        let column = self.column();
        for Rows { batch, first_row, origin } in self.table.rows() {
            let array = batch.column(self.at);
            visit(read_cells(&column.name, array, column.reading(), first_row, &origin)?);
        }
        Ok(())
    }

    /// All numbers in table order, and the number of nulls between them; `None` if all cells are null.
    pub(super) fn numbers(&self) -> Result<Option<(Vec<f64>, u64)>, TableError> {
        let mut values = Vec::with_capacity(self.n_rows);
        self.for_each(|cells| {
            values.extend(cells.numbers().iter().filter(|number| !number.is_nan()));
        })?;
        let nulls = (self.n_rows - values.len()) as u64;
        Ok(Some((values, nulls)).filter(|(values, _)| !values.is_empty()))
    }
}

impl<K> Learned<K> {
    pub(super) fn map<T>(self, change: impl FnOnce(K) -> T) -> Learned<T> {
        match self {
            Self::Column { nulls, content } => Learned::Column { nulls, content: change(content) },
            Self::LeftOut(reason) => Learned::LeftOut(reason),
        }
    }
}
