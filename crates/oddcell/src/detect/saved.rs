//! Tables of numbers in a model file, for the detectors that keep their training rows or columns.
//!
//! The number of rows and columns is written beside each table, so that a table that lost rows or had its
//! sides exchanged is refused and not taken for a smaller one.

use crate::{
    Matrix,
    tensors::{TensorError, Tensors},
};

/// The name of the tensor with both sides of the table `name`.
fn counts_of(name: &str) -> String {
    format!("{name}.counts")
}

/// Adds a table under `name`, and its counts. These are `f64`: exact far beyond any table that fits in
/// memory.
pub(super) fn put_table(tensors: &mut Tensors, name: &str, table: &Matrix) {
    let shape = [table.n_rows(), table.n_cols()];
    tensors.put_f64(name, &shape, table.values().to_vec());
    tensors.put_f64(&counts_of(name), &[2], shape.map(|count| count as f64).to_vec());
}

/// Takes a table of at least one row and one column, all finite, whose shape agrees with its counts.
pub(super) fn take_table(tensors: &mut Tensors, name: &str) -> Result<Matrix, TensorError> {
    let counts = tensors.take_f64(&counts_of(name), &[2])?;
    let &[n_rows, n_cols] = tensors.shape(name)? else {
        return Err(invalid(
            name,
            &format!("it has the shape {:?}, but must be a table", tensors.shape(name)?),
        ));
    };
    if n_rows == 0 || n_cols == 0 {
        return Err(invalid(name, &format!("it is empty: {n_rows} × {n_cols}")));
    }
    if counts != [n_rows as f64, n_cols as f64] {
        let said = format!("the counts say {} × {}", counts[0], counts[1]);
        return Err(invalid(name, &format!("it is {n_rows} × {n_cols}, but {said}")));
    }
    let values = tensors.take_f64(name, &[n_rows, n_cols])?;
    if n_rows.checked_mul(n_cols) != Some(values.len()) {
        let reason = format!("it is {n_rows} × {n_cols}, but holds {} values", values.len());
        return Err(invalid(name, &reason));
    }
    Ok(Matrix::new(values, n_rows, n_cols))
}

/// The error of a tensor whose values make no sense.
pub(super) fn invalid(name: &str, reason: &impl ToString) -> TensorError {
    TensorError::Invalid { name: name.to_owned(), reason: reason.to_string() }
}
