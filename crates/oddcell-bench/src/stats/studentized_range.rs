//! Quantiles of the studentized range with infinitely many degrees of freedom, for the Nemenyi test.
//!
//! *Formula:* Q = max Zᵢ − min Zᵢ of k independent standard normals. With φ the normal density, S its upper
//! tail, and z the smallest of the k, P(Q > q) = k ∫ φ(z) (S(z)ᵏ⁻¹ − (S(z) − S(z + q))ᵏ⁻¹) dz. In terms of
//! the ratio r = S(z + q)/S(z) the bracket is S(z)ᵏ⁻¹ (1 − (1 − r)ᵏ⁻¹), which loses no digits for a small r.
//! *How:* the integrand is smooth and dies off at both ends like a bell, so the trapezoidal rule converges
//! exponentially; the quantile is found by halving an interval. No table, no random numbers: the same bits
//! everywhere.

use std::f64::consts::PI;

use super::distributions::normal_upper_tail;
use super::error::{StatsError, check_probability};

/// The valid numbers of methods (k).
const GROUPS: std::ops::RangeInclusive<usize> = 2..=100;
/// Step of the trapezoidal rule; halving it changes no quantile by 1e-13.
const STEP: f64 = 1.0 / 16.0;
/// Integration stops at this many standard deviations: φ(9) ≈ 1e-18.
const FAR: f64 = 9.0;
/// Bisection steps for an interval of at most 64: 64/2⁶⁰ is less than half an ulp of 1.
const HALVINGS: usize = 60;

/// The q that the range of `groups` (2 to 100) standard normals exceeds with probability `alpha`.
///
/// The same as `scipy.stats.studentized_range.isf(alpha, groups, numpy.inf)`.
pub fn upper_quantile(groups: usize, alpha: f64) -> Result<f64, StatsError> {
    if !GROUPS.contains(&groups) {
        return Err(StatsError::OutOfRange {
            name: "the number of methods",
            got: groups as f64,
            allowed: "from 2 to 100",
        });
    }
    check_probability("alpha", alpha)?;
    let (mut low, mut high) = (0.0, 1.0);
    while upper_tail(high, groups) > alpha {
        low = high;
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle, groups) > alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(f64::midpoint(low, high))
}

/// P(Q > q) of the range Q of `groups` standard normals.
fn upper_tail(q: f64, groups: usize) -> f64 {
    let others = (groups - 1) as f64;
    let integrand = |z: f64| {
        let above = normal_upper_tail(z);
        // Rounding must not make the ratio exceed 1.
        let ratio = (normal_upper_tail(z + q) / above).min(1.0);
        let density = libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt();
        -density * libm::pow(above, others) * libm::expm1(others * libm::log1p(-ratio))
    };
    // The smallest of the k is followed from FAR down to −FAR − q, where the largest is still −FAR or more.
    let points = ((q + 2.0 * FAR) / STEP).ceil() as usize;
    let sum: f64 = (0..=points).map(|point| integrand(FAR - point as f64 * STEP)).sum();
    groups as f64 * STEP * sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // q/√2 for k = 2, …, 10 as printed by Demšar (2006), table 5(a). Two methods: the normal quantiles.
    #[test]
    fn quantiles_match_the_published_table() {
        let at_5 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164];
        let at_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920];
        for (alpha, table) in [(0.05, at_5), (0.10, at_10)] {
            for (groups, expected) in (2..).zip(table) {
                let got = upper_quantile(groups, alpha).unwrap() / 2.0_f64.sqrt();
                // The table is rounded to three digits, and not always to the nearest.
                assert!((got - expected).abs() < 0.001, "{groups} at {alpha}: {got} instead of {expected}");
            }
        }
    }

    // scipy 1.17.1, with r = stats.studentized_range: r.isf(alpha, k, numpy.inf); r.sf(q, k, numpy.inf)
    #[test]
    fn quantiles_and_tails_match_scipy() {
        let quantiles = [
            (3, 0.5, 1.587_787_750_446_347_6),
            (16, 0.05, 4.845_154_183_957_343),
            (16, 0.01, 5.493_290_770_074_44),
            (50, 0.1, 5.356_686_875_267_444),
            (100, 0.05, 6.084_637_537_173_171),
            (100, 0.9, 4.279_426_943_961_41),
        ];
        for (groups, alpha, expected) in quantiles {
            let got = upper_quantile(groups, alpha).unwrap();
            assert!((got - expected).abs() < 1e-11, "{groups} at {alpha}: {got} instead of {expected}");
        }
        let tails = [
            (2, 1.0, 0.479_500_122_186_953_5),
            (3, 3.0, 0.085_542_571_654_957_93),
            (16, 4.8, 0.055_311_226_682_326_91),
            (50, 5.0, 0.210_145_378_717_621_18),
            (100, 4.0, 0.970_005_687_222_155_1),
            (100, 8.0, 7.191_934_654_937_615e-5),
        ];
        for (groups, q, expected) in tails {
            let got = upper_tail(q, groups);
            assert!((got - expected).abs() < 1e-12, "{groups} at {q}: {got} instead of {expected}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let error = upper_quantile(101, 0.05).unwrap_err();
        assert_eq!(error.to_string(), "the number of methods is 101, but must be from 2 to 100");
        assert!(upper_quantile(1, 0.05).is_err());
        for alpha in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(matches!(upper_quantile(3, alpha), Err(StatsError::OutOfRange { name: "alpha", .. })));
        }
    }

    #[test]
    fn even_the_ends_of_alpha_have_a_quantile() {
        for groups in [2, 100] {
            let far = upper_quantile(groups, f64::MIN_POSITIVE).unwrap();
            assert!(far > 50.0 && far < 64.0, "{far}");
            let near = upper_quantile(groups, 1.0 - f64::EPSILON / 2.0).unwrap();
            assert!((0.0..1.0).contains(&near), "{near}");
        }
    }

    proptest! {
        #[test] // The difference of two normals has variance 2: P(Q > q) = P(|Z| > q/√2) = erfc(q/2).
        fn the_range_of_two_is_a_normal_difference(q in 0.0..20.0) {
            let expected = libm::erfc(q / 2.0);
            prop_assert!((upper_tail(q, 2) / expected - 1.0).abs() < 1e-12);
        }

        #[test] // Laws: more methods or a smaller alpha ask for more; the tail at the quantile is alpha.
        fn quantiles_rise_with_methods_and_fall_with_alpha(groups in 2_usize..100, alpha in 0.001..0.9) {
            let quantile = upper_quantile(groups, alpha).unwrap();
            prop_assert!(upper_quantile(groups + 1, alpha).unwrap() > quantile);
            prop_assert!(upper_quantile(groups, alpha * 1.01).unwrap() < quantile);
            prop_assert!((upper_tail(quantile, groups) / alpha - 1.0).abs() < 1e-12);
        }
    }
}
