//! A row cut into windows of neighboring columns and what is left beside them.

use crate::net::gemm::padded;

/// An order of the columns, cut into windows.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    order: Vec<u32>,
    window: usize,
}

impl Windows {
    /// With one column nothing is left beside a window.
    pub(super) const LEAST_COLUMNS: usize = 2;

    /// Windows over the columns in this order, of at least [`Windows::LEAST_COLUMNS`].
    pub(super) fn new(order: Vec<u32>) -> Self {
        let window = match order.len() {
            // Windows of two would leave nothing beside them.
            0..=2 => 1,
            3..=40 => 2,
            41..=160 => 10,
            width => width - 150,
        };
        Self { order, window }
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Number of windows.
    pub(super) fn count(&self) -> usize {
        self.order.len() - self.window + 1
    }

    /// Columns of a window.
    pub(super) fn inside_width(&self) -> usize {
        self.window
    }

    /// Columns beside a window.
    pub(super) fn outside_width(&self) -> usize {
        self.order.len() - self.window
    }

    /// Writes what lies beside and in every window of the row number `at` of a batch, a line for each window.
    pub(super) fn cut(&self, row: &[f32], at: usize, outside: &mut [f32], inside: &mut [f32]) {
        let (out_stride, in_stride) = (padded(self.outside_width()), padded(self.window));
        let lines = outside[at * self.count() * out_stride..].chunks_exact_mut(out_stride);
        let both = lines.zip(inside[at * self.count() * in_stride..].chunks_exact_mut(in_stride));
        for (start, (outside, inside)) in both.take(self.count()).enumerate() {
            let (before, rest) = self.order.split_at(start);
            let (window, after) = rest.split_at(self.window);
            for (cell, &column) in inside.iter_mut().zip(window) {
                *cell = row[column as usize];
            }
            for (cell, &column) in outside.iter_mut().zip(before.iter().chain(after)) {
                *cell = row[column as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Columns in the order 2, 0, 3, 1 of the row (10, 11, 12, 13): 12, 10, 13, 11.
    fn a_row_is_cut_as_worked_out_by_hand() {
        let windows = Windows::new(vec![2, 0, 3, 1]);
        assert_eq!((windows.count(), windows.inside_width(), windows.outside_width()), (3, 2, 2));
        let (mut outside, mut inside) = (vec![0.0; 2 * 3 * 8], vec![0.0; 2 * 3 * 8]);
        windows.cut(&[10.0, 11.0, 12.0, 13.0], 1, &mut outside, &mut inside);
        let pairs = |values: &[f32]| -> Vec<[f32; 2]> {
            values.chunks(8).skip(3).map(|line| [line[0], line[1]]).collect()
        };
        assert_eq!(pairs(&inside), [[12.0, 10.0], [10.0, 13.0], [13.0, 11.0]]);
        assert_eq!(pairs(&outside), [[13.0, 11.0], [12.0, 11.0], [12.0, 10.0]]);
        assert!(outside[..24].iter().chain(&inside[..24]).all(|&cell| cell == 0.0));
    }

    #[test]
    fn the_window_grows_with_the_number_of_columns() {
        let widths =
            [2, 3, 40, 41, 160, 161, 400].map(|width| Windows::new((0..width).collect()).inside_width());
        assert_eq!(widths, [1, 2, 2, 10, 10, 11, 250]);
    }
}
