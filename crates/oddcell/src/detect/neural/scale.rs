//! Columns on one scale, for the methods that standardize by themselves.

use super::{Generation, width_of};
use crate::{
    Matrix,
    detect::saved,
    tensors::{TensorError, Tensors},
};

/// Values beyond this count as this, so that no sum of squares overflows.
const LARGEST: f64 = 1e140;

/// (x − center) / spread, column by column.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::detect) struct Scaler {
    center: Vec<f64>,
    spread: Vec<f64>,
}

impl Scaler {
    /// Mean 0 and standard deviation 1 on `rows`. A column that does not vary keeps its unit with the Keras
    /// generation (scikit-learn's `StandardScaler`), and is multiplied by 1e8 with the PyTorch generation.
    pub(in crate::detect) fn standard(rows: &Matrix, generation: Generation) -> Self {
        let n = rows.n_rows() as f64;
        let mean = |column: usize| rows.rows().map(|row| within_bounds(row[column])).sum::<f64>() / n;
        let center: Vec<f64> = (0..rows.n_cols()).map(mean).collect();
        let spread = |column: usize| {
            let square = |row: &[f64]| (within_bounds(row[column]) - center[column]).powi(2);
            let deviation = (rows.rows().map(square).sum::<f64>() / n).sqrt();
            match generation {
                Generation::Torch => deviation + 1e-8,
                Generation::Keras if deviation > 0.0 => deviation,
                Generation::Keras => 1.0,
            }
        };
        let spread = (0..rows.n_cols()).map(spread).collect();
        Self { center, spread }
    }

    /// Leaves every value as it is.
    #[cfg(test)]
    pub(in crate::detect) fn identity(width: usize) -> Self {
        Self { center: vec![0.0; width], spread: vec![1.0; width] }
    }

    /// Number of columns.
    pub(in crate::detect) fn width(&self) -> usize {
        self.center.len()
    }

    #[inline]
    pub(in crate::detect) fn apply(&self, column: usize, value: f64) -> f64 {
        (within_bounds(value) - self.center[column]) / self.spread[column]
    }

    pub(in crate::detect) fn save(&self, tensors: &mut Tensors) {
        tensors.put_f64("scale.centre", &[self.width()], self.center.clone());
        tensors.put_f64("scale.spread", &[self.width()], self.spread.clone());
    }

    pub(in crate::detect) fn load(tensors: &mut Tensors) -> Result<Self, TensorError> {
        let width = width_of(tensors, "scale.centre")?;
        let center = tensors.take_f64("scale.centre", &[width])?;
        let spread = tensors.take_f64("scale.spread", &[width])?;
        if let Some(bad) = spread.iter().find(|&&spread| spread <= 0.0) {
            return Err(saved::invalid("scale.spread", &format!("a spread is {bad}, but must be above 0")));
        }
        Ok(Self { center, spread })
    }
}

fn within_bounds(value: f64) -> f64 {
    value.clamp(-LARGEST, LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // 1, 3: mean 2, standard deviation 1. 7, 7: none.
    fn columns_are_scaled_as_worked_out_by_hand() {
        let rows = Matrix::from_rows(&[[1.0, 7.0], [3.0, 7.0]]);
        let keras = Scaler::standard(&rows, Generation::Keras);
        assert_eq!([keras.apply(0, 5.0), keras.apply(1, 9.0)], [3.0, 2.0]);
        let torch = Scaler::standard(&rows, Generation::Torch);
        assert!((torch.apply(0, 5.0) - 3.0).abs() < 1e-7);
        assert!((torch.apply(1, 9.0) - 2e8).abs() < 1.0);
    }

    #[test]
    fn a_spread_that_is_none_is_refused() {
        let mut tensors = Tensors::default();
        Scaler { center: vec![0.0], spread: vec![0.0] }.save(&mut tensors);
        assert!(matches!(Scaler::load(&mut tensors), Err(TensorError::Invalid { .. })));
    }
}
