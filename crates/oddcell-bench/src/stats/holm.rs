//! Holm's correction for testing many hypotheses at once.
//!
//! *Why:* of 120 pairs of equal methods, six differ "at the 5 % level" by chance.
//! *Formula:* with the m p-values in rising order p₍₁₎ ≤ … ≤ p₍ₘ₎, the adjusted ones are
//! p̃₍ᵢ₎ = min(1, max over j ≤ i of (m − j + 1) · p₍ⱼ₎). Rejecting where p̃ ≤ α keeps the chance of even one
//! false rejection at α, whatever the dependence between the tests.
//! *Source:* S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of
//! Statistics 6 (1979).

use super::error::StatsError;

/// The adjusted p-values, in the order of `p_values`.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    if let Some(&got) = p_values.iter().find(|p_value| !(0.0..=1.0).contains(*p_value)) {
        return Err(StatsError::OutOfRange { name: "a p-value", got, allowed: "from 0 to 1" });
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (smaller, &index) in order.iter().enumerate() {
        let remaining = (p_values.len() - smaller) as f64;
        largest = largest.max(remaining * p_values[index]).min(1.0);
        adjusted[index] = largest;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Rising: 1/64 · 4 = 4/64, 2/64 · 3 = 6/64, 2.5/64 · 2 = 5/64 → 6/64 (monotone), 60/64 · 1 = 60/64.
    // 1/2 · 3 = 1.5 → 1, and so are the others.
    #[test]
    fn adjusted_values_match_those_worked_out_by_hand() {
        let got = holm(&[60.0 / 64.0, 2.5 / 64.0, 1.0 / 64.0, 2.0 / 64.0]).unwrap();
        assert_eq!(got, [60.0 / 64.0, 6.0 / 64.0, 4.0 / 64.0, 6.0 / 64.0]);
        assert_eq!(holm(&[0.5, 0.75, 1.0]).unwrap(), [1.0, 1.0, 1.0]);
        assert_eq!(holm(&[0.25]).unwrap(), [0.25]);
        assert!(holm(&[]).unwrap().is_empty());
    }

    #[test]
    fn values_that_are_not_probabilities_are_refused() {
        for wrong in [-0.1, 1.5, f64::NAN] {
            assert!(matches!(holm(&[0.5, wrong]), Err(StatsError::OutOfRange { .. })));
        }
        let message = holm(&[1.5]).unwrap_err().to_string();
        assert_eq!(message, "a p-value is 1.5, but must be from 0 to 1");
    }

    proptest! {
        #[test] // Laws: from p to Bonferroni's m·p, at most 1, and in the order of the p-values.
        fn adjusting_keeps_the_order_and_stays_under_bonferroni(
            p_values in prop::collection::vec(0.0..=1.0, 1..30)
        ) {
            let adjusted = holm(&p_values).unwrap();
            let m = p_values.len() as f64;
            for (a, &p_a) in p_values.iter().enumerate() {
                prop_assert!(adjusted[a] >= p_a && adjusted[a] <= (m * p_a).min(1.0));
                for (b, &p_b) in p_values.iter().enumerate() {
                    prop_assert!(p_a > p_b || adjusted[a] <= adjusted[b]);
                }
            }
        }
    }
}
