//! Two methods on the same sets: differences, wins and losses, and the paired t-test.
//!
//! *Why:* sets differ far more than methods do, so methods are compared set by set, never by two means.
//! All functions except [`differences`] take the differences first − second, one per set: positive means that the first
//! method is better.

use super::distributions::student_two_sided;
use super::error::{StatsError, check_finite};
use super::summary::{mean, standard_deviation};

/// Differences are rounded to 1/`UNITS`: smaller ones come from the rounding of means.
const UNITS: f64 = 1e12;

/// `first` − `second`, set by set; both must have one finite value per set. Rounded to twelve decimals, so that equal
/// differences tie in spite of earlier rounding.
pub fn differences(first: &[f64], second: &[f64]) -> Result<Vec<f64>, StatsError> {
    if first.len() != second.len() {
        return Err(StatsError::Unpaired { first: first.len(), second: second.len() });
    }
    check_finite(first, 1)?;
    check_finite(second, 2)?;
    let difference = |(first, second): (&f64, &f64)| ((first - second) * UNITS).round() / UNITS;
    Ok(first.iter().zip(second).map(difference).collect())
}

/// How often the first method was better, equal and worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Sets on which the first is better.
    pub wins: usize,
    /// Sets on which both are exactly equal.
    pub ties: usize,
    /// Sets on which the second is better.
    pub losses: usize,
}

/// Counts wins, ties and losses of the first method.
#[must_use]
pub fn record(differences: &[f64]) -> Record {
    let count =
        |wanted: fn(f64) -> bool| differences.iter().filter(|&&difference| wanted(difference)).count();
    Record { wins: count(|d| d > 0.0), ties: count(|d| d == 0.0), losses: count(|d| d < 0.0) }
}

/// Result of the paired t-test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// t = d̄ / (s/√n); infinite if all differences are the same number other than zero.
    pub t: f64,
    /// n − 1.
    pub degrees_of_freedom: usize,
    /// Two-sided: the chance of a |t| at least this large if the mean difference is zero.
    pub p_value: f64,
}

/// The paired t-test (Student 1908) that the mean difference is zero, two-sided: t = d̄ / (s/√n) with n − 1
/// degrees of freedom, the numbers of `scipy.stats.ttest_rel`.
///
/// `None` for fewer than two pairs, or if all differences are zero.
#[must_use]
pub fn t_test(differences: &[f64]) -> Option<TTest> {
    let (mean, deviation) = (mean(differences)?, standard_deviation(differences)?);
    let t = mean / (deviation / (differences.len() as f64).sqrt());
    let degrees_of_freedom = differences.len() - 1;
    // NaN comes from 0/0 if all are zero, and from infinite differences.
    (!t.is_nan()).then(|| TTest { t, degrees_of_freedom, p_value: student_two_sided(t, degrees_of_freedom) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn differences_and_record_match_the_values_worked_out_by_hand() {
        let differences = differences(&[3.0, 1.0, 2.0, 5.0], &[1.0, 1.0, 4.0, 4.5]).unwrap();
        assert_eq!(differences, [2.0, 0.0, -2.0, 0.5]);
        assert_eq!(record(&differences), Record { wins: 2, ties: 1, losses: 1 });
    }

    #[test] // In binary, 0.3 − 0.2, 0.2 − 0.1 and 0.1 are three numbers, and 0.1 + 0.2 is not 0.3.
    fn differences_by_rounding_alone_are_ignored() {
        let differences = differences(&[0.3, 0.2, 0.1, 0.1 + 0.2], &[0.2, 0.1, 0.0, 0.3]).unwrap();
        assert_eq!(differences, [0.1, 0.1, 0.1, 0.0]);
    }

    #[test]
    fn invalid_pairs_are_refused_with_their_position() {
        let error = differences(&[1.0], &[1.0, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "one method has 1 values and the other 2, but pairs were expected");
        let error = differences(&[1.0, 2.0], &[1.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error.to_string(), "set 2, method 2: found inf, but a finite number was expected");
    }

    // 1, 2, 3: mean 2, s = 1, t = 2/(1/√3) = √12. With ν = 2, p = 1 − t/√(2 + t²) = 1 − √(12/14).
    #[test]
    fn the_t_test_matches_the_value_worked_out_by_hand() {
        let test = t_test(&[1.0, 2.0, 3.0]).unwrap();
        assert!((test.t - 12.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!(test.degrees_of_freedom, 2);
        assert!((test.p_value - (1.0 - (12.0_f64 / 14.0).sqrt())).abs() < 1e-15);
    }

    // scipy 1.17.1:
    // v = lambda n: numpy.array([37 * i % 101 - 40.0 for i in range(1, n + 1)])
    // stats.ttest_rel(v(12), v(24)[12:]); for n in (14, 45, 60): stats.ttest_1samp(v(n), 0)
    #[test]
    fn the_t_test_matches_scipy() {
        let v = |n: usize| (1..=n).map(|i| (37 * i % 101) as f64 - 40.0).collect::<Vec<f64>>();
        let golden = [
            (differences(&v(12), &v(24)[12..]).unwrap(), -0.441_177_719_983_391_84, 0.667_630_298_351_008_8),
            (v(14), 0.841_809_953_826_472_3, 0.415_112_265_697_109_35),
            (v(45), 2.249_216_996_517_886_5, 0.029_553_721_616_238_413),
            (v(60), 2.947_410_417_025_435, 0.004_584_040_993_116_007),
        ];
        for (differences, t, p_value) in golden {
            let test = t_test(&differences).unwrap();
            assert!((test.t / t - 1.0).abs() < 1e-13, "{} instead of {t}", test.t);
            assert!((test.p_value / p_value - 1.0).abs() < 1e-12, "{} instead of {p_value}", test.p_value);
        }
    }

    #[test]
    fn without_a_spread_there_is_no_test_or_the_p_value_is_zero() {
        for nothing in [&[][..], &[0.5], &[0.0, 0.0, -0.0]] {
            assert_eq!(t_test(nothing), None);
        }
        let test = t_test(&[-0.5, -0.5, -0.5]).unwrap();
        assert_eq!((test.t, test.p_value), (f64::NEG_INFINITY, 0.0));
    }

    proptest! {
        #[test] // Law: which method comes first changes the sign of t and swaps wins and losses, no more.
        fn swapping_the_methods_turns_the_sign(
            values in prop::collection::vec((-9i8..9).prop_map(f64::from), 2..30)
        ) {
            let swapped: Vec<f64> = values.iter().map(|value| -value).collect();
            let turned = t_test(&swapped).map(|test| TTest { t: -test.t, ..test });
            prop_assert_eq!(t_test(&values), turned);
            let (one, other) = (record(&values), record(&swapped));
            prop_assert_eq!((one.wins, one.ties, one.losses), (other.losses, other.ties, other.wins));
            prop_assert_eq!(one.wins + one.ties + one.losses, values.len());
        }
    }
}
