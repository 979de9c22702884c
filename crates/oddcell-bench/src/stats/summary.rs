//! Mean and sample standard deviation; `None` if they are not defined.

/// The arithmetic mean; `None` without values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation s = √(Σ (xᵢ − x̄)² / (n − 1)); `None` for fewer than two values.
#[must_use]
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // 2, 4, 4, 4, 5, 5, 7, 9: sum 40, mean 5; squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, s = √(32/7).
    #[test]
    fn both_match_the_values_worked_out_by_hand() {
        let values = [9.0, 2.0, 5.0, 4.0, 4.0, 7.0, 4.0, 5.0];
        assert_eq!(mean(&values), Some(5.0));
        assert_eq!(standard_deviation(&values), Some((32.0_f64 / 7.0).sqrt()));
    }

    #[test]
    fn too_few_values_have_no_mean_or_deviation() {
        assert_eq!((mean(&[]), mean(&[3.0])), (None, Some(3.0)));
        assert_eq!((standard_deviation(&[]), standard_deviation(&[3.0])), (None, None));
    }

    proptest! {
        #[test] // Law: x ↦ 2x + 8 does the same to the mean, and doubles the spread.
        fn shift_and_scale_go_through(
            values in prop::collection::vec((-50i8..50).prop_map(f64::from), 2..40)
        ) {
            let moved: Vec<f64> = values.iter().map(|value| 2.0 * value + 8.0).collect();
            let close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-11;
            prop_assert!(close(mean(&moved), 2.0 * mean(&values).unwrap() + 8.0));
            prop_assert!(close(standard_deviation(&moved), 2.0 * standard_deviation(&values).unwrap()));
        }
    }
}
