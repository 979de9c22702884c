//! Friedman's test of whether methods differ at all, and Nemenyi's critical difference of two mean ranks.
//!
//! *Formula:* with Rⱼ the sum of the ranks of method j of k over n sets,
//! χ² = 12/(n k (k + 1)) · Σⱼ (Rⱼ − n(k + 1)/2)² / (1 − Σ (t³ − t)/(n (k³ − k))), the last sum over the
//! groups of t ties on each set; χ² is compared with chi-square with k − 1 degrees of freedom.
//! The critical difference is CD = q(α, k, ∞)/√2 · √(k(k + 1)/(6n)), with q of the studentized range.
//! *Source:* M. Friedman, *The use of ranks to avoid the assumption of normality*, JASA 32 (1937);
//! P. Nemenyi, *Distribution-free multiple comparisons*, Princeton (1963); both as in Demšar (2006).

use super::distributions::chi_square_upper_tail;
use super::error::StatsError;
use super::ranks::{rank_sums, rank_table, tie_term};
use super::studentized_range::upper_quantile;

/// Result of the Friedman test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Friedman {
    /// χ², corrected for ties.
    pub chi_square: f64,
    /// k − 1.
    pub degrees_of_freedom: usize,
    /// The chance of a χ² at least this large if no method is better than another.
    pub p_value: f64,
}

/// The Friedman test on a complete table `[set][method]`; the numbers of `scipy.stats.friedmanchisquare`.
///
/// `None` for fewer than two methods, or if all are equal on every set.
pub fn friedman(table: &[Vec<f64>]) -> Result<Option<Friedman>, StatsError> {
    let ranks = rank_table(table)?;
    let (n, k) = (table.len() as f64, ranks[0].len() as f64);
    let ties: f64 = table.iter().map(|set| tie_term(set)).sum();
    let most_ties = n * (k * k * k - k);
    if ties == most_ties {
        return Ok(None);
    }
    let expected = n * (k + 1.0) / 2.0;
    let squares: f64 = rank_sums(&ranks).iter().map(|sum| (sum - expected) * (sum - expected)).sum();
    let chi_square = 12.0 / (n * k * (k + 1.0)) * squares / (1.0 - ties / most_ties);
    let degrees_of_freedom = ranks[0].len() - 1;
    let p_value = chi_square_upper_tail(chi_square, degrees_of_freedom);
    Ok(Some(Friedman { chi_square, degrees_of_freedom, p_value }))
}

/// The Nemenyi critical difference: mean ranks over `sets` sets of two of `methods` methods (2 to 100) that
/// differ by at least this are different at level `alpha`, corrected for all pairs.
pub fn critical_difference(methods: usize, sets: usize, alpha: f64) -> Result<f64, StatsError> {
    if sets == 0 {
        return Err(StatsError::NoSets);
    }
    let (k, n) = (methods as f64, sets as f64);
    Ok(upper_quantile(methods, alpha)? / 2.0_f64.sqrt() * (k * (k + 1.0) / (6.0 * n)).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(got: f64, expected: f64) {
        assert!((got / expected - 1.0).abs() < 1e-12, "{got:e} instead of {expected:e}");
    }

    // Two sets, ranks 1, 2, 3 on both: R = 2, 4, 6, squares 4 + 0 + 4, χ² = 12/(2·3·4) · 8 = 4, p = e⁻².
    // Ranks 1.5, 1.5, 3 on both: R = 3, 3, 6, squares 1 + 1 + 4, 12/24 · 6 = 3; ties 2·6 of 48, χ² = 3/0.75.
    #[test]
    fn the_test_matches_the_values_worked_out_by_hand() {
        for table in [[vec![3.0, 2.0, 1.0], vec![9.0, 8.0, 7.0]], [vec![3.0, 3.0, 1.0], vec![9.0, 9.0, 7.0]]]
        {
            let test = friedman(&table).unwrap().unwrap();
            close(test.chi_square, 4.0);
            assert_eq!(test.degrees_of_freedom, 2);
            close(test.p_value, libm::exp(-2.0));
        }
    }

    // scipy 1.17.1, some sets with ties:
    // f = lambda s, m, mod, slope: (17 * s + 29 * m + 7 * s * m) % mod + slope * m
    // t = numpy.array([[f(s, m, mod, slope) for m in range(1, methods + 1)] for s in range(1, sets + 1)])
    // stats.friedmanchisquare(*t.T)
    #[test]
    fn the_test_matches_scipy() {
        let golden = [
            (12, 4, 23, 0, 3.327_272_727_272_739_6, 0.343_864_791_404_718_43),
            (12, 4, 5, 0, 3.960_000_000_000_013_3, 0.265_815_927_847_880_4),
            (45, 16, 23, 1, 246.218_543_046_357_6, 7.454_759_301_097_06e-44),
            (45, 16, 53, 0, 2.663_101_604_277_978_5, 0.999_809_571_805_207_9),
        ];
        for (sets, methods, modulus, slope, chi_square, p_value) in golden {
            let value = |s: usize, m: usize| ((17 * s + 29 * m + 7 * s * m) % modulus + slope * m) as f64;
            let table: Vec<Vec<f64>> =
                (1..=sets).map(|s| (1..=methods).map(|m| value(s, m)).collect()).collect();
            let test = friedman(&table).unwrap().unwrap();
            close(test.chi_square, chi_square);
            close(test.p_value, p_value);
        }
    }

    #[test]
    fn without_a_difference_there_is_no_test() {
        assert_eq!(friedman(&[vec![1.0, 1.0], vec![2.0, 2.0]]), Ok(None));
        assert_eq!(friedman(&[vec![1.0], vec![2.0]]), Ok(None));
        assert_eq!(friedman(&[vec![]]), Ok(None));
        assert_eq!(friedman(&[]), Err(StatsError::NoSets));
    }

    // Demšar (2006), section 3.2.2: four classifiers on 14 sets, CD = 2.569 · √(4·5/(6·14)) = 1.25 at 0.05
    // and 2.291 · √(4·5/(6·14)) = 1.12 at 0.10.
    #[test]
    fn the_critical_difference_matches_the_published_example() {
        let root = (20.0_f64 / 84.0).sqrt();
        assert!((critical_difference(4, 14, 0.05).unwrap() - 2.569 * root).abs() < 0.0005 * root);
        assert!((critical_difference(4, 14, 0.10).unwrap() - 2.291 * root).abs() < 0.0005 * root);
        assert_eq!(critical_difference(4, 0, 0.05), Err(StatsError::NoSets));
        assert!(matches!(critical_difference(1, 14, 0.05), Err(StatsError::OutOfRange { .. })));
    }

    proptest! {
        #[test] // Law: only the order within a set counts, and which method stands where does not.
        fn an_increasing_map_and_another_order_of_methods_change_nothing(
            table in prop::collection::vec(prop::collection::vec((-3i8..4).prop_map(f64::from), 4), 1..20)
        ) {
            let mapped = |(index, set): (usize, &Vec<f64>)| -> Vec<f64> {
                set.iter().rev().map(|value| value * (index + 1) as f64 - 7.0).collect()
            };
            let other: Vec<Vec<f64>> = table.iter().enumerate().map(mapped).collect();
            prop_assert_eq!(friedman(&table), friedman(&other));
        }
    }
}
