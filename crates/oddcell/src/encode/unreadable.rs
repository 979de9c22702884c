//! Cells that are not of their column's kind, such as `18OO` among numbers: which ones, and how rare they are.

use super::{EncodeError, Encoder, encoder::GAP_SDS};
use crate::{Matrix, kinds::read, table::Rows};

impl Encoder {
    /// The cells of `rows` that cannot be read: row and column, sorted. `features` are those of the rows; they tell where to
    /// look, so nearly all rows cost nothing.
    pub(crate) fn unreadable_cells(
        &self,
        rows: &Rows,
        features: &Matrix,
    ) -> Result<Vec<(u32, u32)>, EncodeError> {
        let starts: Vec<usize> = self.columns().iter().map(|column| column.value_features().start).collect();
        let mut cells = Vec::new();
        for (row, features) in features.rows().enumerate() {
            let columns = starts.iter().enumerate().filter(|&(_, &start)| features[start] == GAP_SDS);
            cells.extend(columns.map(|(column, _)| (row as u32, column as u32)));
        }
        if cells.is_empty() {
            return Ok(cells);
        }
        let arrays = self.matched(rows)?;
        let mut unreadable = Vec::new();
        for (row, at) in cells {
            let column = &self.columns()[at as usize];
            let cell = arrays[at as usize].slice(row as usize, 1);
            let first_row = rows.first_row + row as usize;
            let checked = read(column.name(), &cell, column.reading(), first_row, &rows.origin, false)?;
            if !checked.unreadable.is_empty() {
                unreadable.push((row, at));
            }
        }
        Ok(unreadable)
    }

    /// The p-value of a cell that cannot be read, from its surprise: the rarer such cells are in the column, the smaller.
    pub(crate) fn unreadable_p_value(&self, column: u32, is_new: bool) -> f64 {
        libm::exp(-self.columns()[column as usize].gap_surprise(true, is_new))
    }
}
