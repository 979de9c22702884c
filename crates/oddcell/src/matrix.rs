//! Rows × features, row-major, `f64`: the input of detectors.

use std::{ops::Range, sync::Arc};

use crate::layout::Layout;

/// A dense, row-major matrix of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    values: Vec<f64>,
    n_rows: usize,
    n_cols: usize,
    layout: Option<Arc<Layout>>,
}

impl Matrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(n_rows: usize, n_cols: usize) -> Self {
        Self::new(vec![0.0; n_rows * n_cols], n_rows, n_cols)
    }

    /// Wraps `values`, which holds one row after the other.
    ///
    /// # Panics
    /// If `values` does not hold exactly `n_rows × n_cols` numbers.
    #[must_use]
    pub fn new(values: Vec<f64>, n_rows: usize, n_cols: usize) -> Self {
        assert_eq!(values.len(), n_rows * n_cols, "a {n_rows} × {n_cols} matrix");
        Self { values, n_rows, n_cols, layout: None }
    }

    /// A matrix from rows of equal length.
    ///
    /// # Panics
    /// If the rows differ in length.
    #[must_use]
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Self {
        let n_cols = rows.first().map_or(0, |row| row.as_ref().len());
        let values: Vec<f64> = rows.iter().flat_map(|row| row.as_ref().iter().copied()).collect();
        Self::new(values, rows.len(), n_cols)
    }

    /// The same rows, whose columns make up the columns of a table as `layout` says.
    ///
    /// # Panics
    /// If the layout is for another number of features.
    #[must_use]
    pub(crate) fn with_layout(mut self, layout: Arc<Layout>) -> Self {
        assert_eq!(layout.n_features(), self.n_cols, "one layout entry per feature");
        self.layout = Some(layout);
        self
    }

    /// What the columns make up; without a layout, each is a number of its own.
    pub(crate) fn layout(&self) -> Arc<Layout> {
        self.layout.clone().unwrap_or_else(|| Arc::new(Layout::of_numbers(self.n_cols)))
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    #[must_use]
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// All values, row after row.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, row after row, mutable.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Returns the values, row after row.
    #[must_use]
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// One row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_cols..][..self.n_cols]
    }

    /// One row, mutable.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.n_cols..][..self.n_cols]
    }

    /// The rows in order.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.n_rows).map(|row| self.row(row))
    }

    /// The given rows, in the given order.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.n_cols);
        for &row in rows {
            values.extend_from_slice(self.row(row));
        }
        Self { layout: self.layout.clone(), ..Self::new(values, rows.len(), self.n_cols) }
    }

    /// The rows of a range.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let values = self.values[rows.start * self.n_cols..rows.end * self.n_cols].to_vec();
        Self { layout: self.layout.clone(), ..Self::new(values, rows.len(), self.n_cols) }
    }

    /// These columns of all rows, in this order.
    #[must_use]
    pub(crate) fn columns(&self, columns: &[u32]) -> Self {
        let mut values = Vec::with_capacity(self.n_rows * columns.len());
        for row in self.rows() {
            values.extend(columns.iter().map(|&column| row[column as usize]));
        }
        Self::new(values, self.n_rows, columns.len())
    }

    /// The row and column, counted from 0, of the first value that is NaN or infinite.
    #[doc(hidden)]
    #[must_use]
    pub fn first_not_finite(&self) -> Option<(usize, usize)> {
        let at = self.values.iter().position(|value| !value.is_finite())?;
        Some((at / self.n_cols, at % self.n_cols))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_in_the_order_asked_for() {
        let matrix = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        assert_eq!(matrix.take(&[2, 0]), Matrix::from_rows(&[[5.0, 6.0], [1.0, 2.0]]));
    }

    #[test]
    fn the_first_bad_cell_is_found_with_its_place() {
        let mut matrix = Matrix::zeros(3, 2);
        assert_eq!(matrix.first_not_finite(), None);
        matrix.row_mut(1)[1] = f64::NAN;
        matrix.row_mut(2)[0] = f64::INFINITY;
        assert_eq!(matrix.first_not_finite(), Some((1, 1)));
    }
}
