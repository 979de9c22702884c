//! What a kind learns from, and what becomes of a column.

use super::{
    Cells,
    cells::{Checked, read},
};
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

/// The training cells of a kind that reads numbers.
pub(super) struct Numbers {
    /// The numbers, in table order.
    pub(super) values: Vec<f64>,
    pub(super) nulls: u64,
    /// Rows that hold something else.
    pub(super) unreadable: u64,
}

impl Training<'_> {
    pub(super) fn column(&self) -> &ColumnInfo {
        &self.table.columns[self.at]
    }

    /// Visits the cells batch by batch.
    pub(super) fn for_each(&self, mut visit: impl FnMut(Cells)) -> Result<(), TableError> {
        self.for_each_checked(|Checked { cells, .. }| visit(cells))
    }

    fn for_each_checked(&self, mut visit: impl FnMut(Checked)) -> Result<(), TableError> {
        let (column, strict) = (self.column(), self.options.strict);
        for Rows { batch, first_row, origin } in self.table.rows() {
            visit(read(&column.name, batch.column(self.at), column.reading(), first_row, &origin, strict)?);
        }
        Ok(())
    }

    /// All numbers in table order; `None` if there are none.
    pub(super) fn numbers(&self) -> Result<Option<Numbers>, TableError> {
        let (mut values, mut unreadable) = (Vec::with_capacity(self.n_rows), 0);
        self.for_each_checked(|checked| {
            values.extend(checked.cells.numbers().iter().filter(|number| !number.is_nan()));
            unreadable += checked.unreadable.len();
        })?;
        let nulls = (self.n_rows - values.len() - unreadable) as u64;
        let numbers = Numbers { values, nulls, unreadable: unreadable as u64 };
        Ok(Some(numbers).filter(|numbers| !numbers.values.is_empty()))
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
