//! Rows with a cell that cannot be read, such as `18OO` among numbers.
//!
//! *Why:* training may have a few such rows. If they calibrated the others, a later one would be as odd as they are: with five
//! among 500 rows, it would get the p-value 0.012, and nobody would be told.
//!
//! *Formula:* normal rows can be read. So rows that cannot do not calibrate, and the p-values of the others are those among
//! rows that can be read. A cell that cannot be read has a p-value of its own, e^−(8 − ln of the share of training rows
//! with such a cell in this column). Its row has the smallest of these and of its p-value among the others, but in a model
//! never less than 1/(n + 1): that of a row which is odder than all n calibration rows, as none of them has such a cell.

use crate::encode::Encoder;

/// The rows among `rows`, ascending, without those in which a cell of `unreadable` stands; all of them if none is left.
pub(super) fn readable(rows: &[usize], unreadable: &[(u32, u32)]) -> Vec<usize> {
    let cannot = |row: usize| unreadable.binary_search_by(|&(at, _)| (at as usize).cmp(&row)).is_ok();
    let kept: Vec<usize> = rows.iter().copied().filter(|&row| !cannot(row)).collect();
    if kept.is_empty() { rows.to_vec() } else { kept }
}

/// Lowers the p-values of rows with cells that cannot be read. `least` is the smallest p-value there is.
pub(super) fn lower(
    p_values: &mut [f64],
    encoder: &Encoder,
    unreadable: &[(u32, u32)],
    is_new: bool,
    least: f64,
) {
    for &(row, column) in unreadable {
        let p = encoder.unreadable_p_value(column, is_new).max(least);
        let row = &mut p_values[row as usize];
        *row = row.min(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_cannot_be_read_are_left_out_unless_nothing_is_left() {
        let unreadable = [(2, 0), (2, 3), (5, 1)];
        assert_eq!(readable(&[1, 2, 4, 5, 7], &unreadable), [1, 4, 7]);
        assert_eq!(readable(&[2, 5], &unreadable), [2, 5]);
    }
}
