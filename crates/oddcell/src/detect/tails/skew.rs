//! The side a column is skewed to: the sign of m₃/m₂^1.5.

/// Sizes of skewness up to this are rounding: a symmetric column must not be called skewed by chance.
const ROUNDING: f64 = 1e-12;

/// The side of the longer tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skew {
    /// The lower values.
    Left,
    /// Neither.
    None,
    /// The higher values.
    Right,
}

impl Skew {
    /// The side that two sorted lists of finite values together are skewed to.
    pub(super) fn of(parts: [&[f64]; 2]) -> Self {
        match skewness(parts) {
            skewness if skewness > ROUNDING => Skew::Right,
            skewness if skewness < -ROUNDING => Skew::Left,
            _ => Skew::None,
        }
    }

    /// S: the tail on that side; both, if the column is not skewed.
    #[inline]
    #[must_use]
    pub(crate) fn tail(self, left: f64, right: f64) -> f64 {
        match self {
            Skew::Left => left,
            Skew::Right => right,
            Skew::None => left + right,
        }
    }
}

/// m₃/m₂^1.5 with population moments; 0 where the variance is no more than rounding.
fn skewness(parts: [&[f64]; 2]) -> f64 {
    let n = (parts[0].len() + parts[1].len()) as f64;
    // Brought near 1 by a power of two, which is exact: no power of a deviation can overflow or vanish.
    let ends = parts.iter().flat_map(|part| part.first().into_iter().chain(part.last()));
    let largest = ends.fold(0.0f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    // Half the exponent at a time: 2^−1074 … 2^1023 need a factor that no single number can hold.
    let exponent = largest.log2().floor() as i32;
    let (first, second) = (2f64.powi(-exponent / 2), 2f64.powi(-(exponent - exponent / 2)));
    let sum = |term: &dyn Fn(f64) -> f64| -> f64 {
        parts.iter().map(|part| part.iter().map(|&value| term(value * first * second)).sum::<f64>()).sum()
    };
    let mean = sum(&|value| value) / n;
    let second_moment = sum(&|value| (value - mean).powi(2)) / n;
    if second_moment <= (f64::EPSILON * mean).powi(2) {
        return 0.0;
    }
    let third_moment = sum(&|value| (value - mean).powi(3)) / n;
    third_moment / (second_moment * second_moment.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // 0, 0, 3: mean 1, m₂ = (1 + 1 + 4)/3 = 2, m₃ = (−1 − 1 + 8)/3 = 2, skewness 2/2^1.5 = 0.7071….
    fn skewness_matches_the_value_worked_out_by_hand() {
        let expected = std::f64::consts::FRAC_1_SQRT_2;
        assert!((skewness([&[0.0, 0.0, 3.0], &[]]) - expected).abs() < 1e-15);
        assert!((skewness([&[0.0, 3.0], &[0.0]]) - expected).abs() < 1e-15);
        assert!((skewness([&[-3.0, 0.0, 0.0], &[]]) + expected).abs() < 1e-15);
    }

    #[test]
    fn the_unit_of_a_column_does_not_matter_however_large_or_small() {
        for unit in [1e-320, 1e-300, 1e-100, 1.0, 1e100, 1e300] {
            assert_eq!(Skew::of([&[0.0, 0.0, 3.0 * unit], &[]]), Skew::Right, "{unit}");
            assert_eq!(Skew::of([&[-3.0 * unit, 0.0, 0.0], &[]]), Skew::Left, "{unit}");
        }
        assert_eq!(Skew::of([&[-f64::MAX, f64::MAX], &[f64::MAX]]), Skew::Left);
    }

    #[test] // 0.1, 0.2, 0.3 is symmetric, though its sums are rounded.
    fn constant_and_symmetric_columns_are_not_skewed() {
        assert_eq!(Skew::of([&[7.0; 5], &[]]), Skew::None);
        assert_eq!(Skew::of([&[0.1; 3], &[0.1]]), Skew::None);
        assert_eq!(Skew::of([&[0.1, 0.2, 0.3], &[]]), Skew::None);
        assert_eq!(Skew::of([&[5.0], &[]]), Skew::None);
    }
}
