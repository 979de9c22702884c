//! The Wilcoxon signed-rank test of whether one method is better than another over many sets.
//!
//! *Why:* the t-test assumes normal differences, and one set with a huge difference can decide it. This test uses only
//! the signs and the ranks of the differences.
//! *Formula:* zero differences are dropped; the n others are ranked by size from 1 for the smallest, ties
//! sharing their mean rank; R⁺ is the sum of the ranks of the positive ones. If every sign is a fair coin, R⁺
//! has mean n(n + 1)/4 and variance (n(n + 1)(2n + 1) − ½ Σ (t³ − t)) / 24 over the groups of t ties.
//! *Source:* F. Wilcoxon, *Individual comparisons by ranking methods*, Biometrics Bulletin 1 (1945). The
//! choice of the null distribution is that of `scipy.stats.wilcoxon(method="auto")` in scipy 1.17, so that
//! the p-values are those that others report.

use super::distributions::normal_two_sided;
use super::ranks::{average_ranks, tie_term};

/// The most differences for an exact null distribution without zeros and ties.
const EXACT_UP_TO: usize = 50;
/// The same with zeros or ties: `scipy` then tries all signs, but at most 2¹³ of them. Zeros count, too.
const EXACT_WITH_TIES_UP_TO: usize = 13;

/// Result of the Wilcoxon signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// R⁺: the sum of the ranks of the sets on which the first method is better.
    pub positive_ranks: f64,
    /// R⁻: the sum of the ranks of the sets on which the second is better. `scipy` gives the smaller one.
    pub negative_ranks: f64,
    /// Two-sided: the chance of an R⁺ at least as far out if neither method is better.
    pub p_value: f64,
}

/// The two-sided signed-rank test on the result of [`differences`](super::paired::differences).
///
/// Exact for up to 50 differences without zeros and ties, and for up to 13 with them. Otherwise uses the normal
/// approximation, corrected for ties but not for continuity. Ties are differences of exactly the same size.
///
/// `None` if all differences are zero, if there are none, or if one is not finite.
#[must_use]
pub fn wilcoxon(differences: &[f64]) -> Option<Wilcoxon> {
    let nonzero: Vec<f64> = differences.iter().copied().filter(|&difference| difference != 0.0).collect();
    if nonzero.is_empty() || nonzero.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    // Sizes are negated, because rank 1 goes to the highest value and the smallest difference must get it.
    let negated_sizes: Vec<f64> = nonzero.iter().map(|difference| -difference.abs()).collect();
    let (ranks, ties) = (average_ranks(&negated_sizes), tie_term(&negated_sizes));
    let positive_ranks: f64 =
        nonzero.iter().zip(&ranks).filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| rank).sum();

    let n = nonzero.len() as f64;
    let plain = nonzero.len() == differences.len() && ties == 0.0;
    let exact_up_to = if plain { EXACT_UP_TO } else { EXACT_WITH_TIES_UP_TO };
    let p_value = if differences.len() <= exact_up_to {
        exact_p_value(&ranks, positive_ranks)
    } else {
        approximate_p_value(n, ties, positive_ranks)
    };
    Some(Wilcoxon { positive_ranks, negative_ranks: n * (n + 1.0) / 2.0 - positive_ranks, p_value })
}

/// 2 · min(P(R⁺ ≤ r), P(R⁺ ≥ r)), at most 1, over all 2ⁿ ways to put signs on the ranks.
fn exact_p_value(ranks: &[f64], positive_ranks: f64) -> f64 {
    // Twice a mean rank is a whole number, so the sums can be counted one by one.
    let doubled = |rank: f64| (2.0 * rank) as usize;
    // ways[s]: how many choices of positive ranks sum to s/2. At most 2⁵⁰, exact in both u64 and f64.
    let mut ways = vec![0_u64; ranks.len() * (ranks.len() + 1) + 1];
    ways[0] = 1;
    for &rank in ranks {
        for sum in (doubled(rank)..ways.len()).rev() {
            ways[sum] += ways[sum - doubled(rank)];
        }
    }
    let seen = doubled(positive_ranks);
    let (at_most, at_least): (u64, u64) = (ways[..=seen].iter().sum(), ways[seen..].iter().sum());
    let all: u64 = ways.iter().sum();
    (2.0 * at_most.min(at_least) as f64 / all as f64).min(1.0)
}

/// The two-sided tail of R⁺ as if it were normal with the mean and variance of the module's formula.
fn approximate_p_value(n: f64, ties: f64, positive_ranks: f64) -> f64 {
    let mean = n * (n + 1.0) / 4.0;
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    normal_two_sided((positive_ranks - mean) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn test(differences: &[f64]) -> (f64, f64, f64) {
        let test = wilcoxon(differences).unwrap();
        (test.positive_ranks, test.negative_ranks, test.p_value)
    }

    // Three ranks sum to 0, 1, 2, 3, 3, 4, 5, 6 over the eight ways of signs.
    // 1, 2, 3: R⁺ = 6, one way of eight, p = 2/8.  1, −2, 3: R⁺ = 4, three ways at least that, p = 6/8.
    // 1, 1, −1: three ranks of 2, R⁺ = 4; 0, 2, 4, 6 come 1, 3, 3, 1 times; at least 4 in 4 of 8, p = 1.
    // 0, 1, 2: the zero goes, R⁺ = 3 of 0, 1, 2, 3, p = 2/4.
    #[test]
    fn small_cases_match_the_values_worked_out_by_hand() {
        assert_eq!(test(&[1.0, 2.0, 3.0]), (6.0, 0.0, 0.25));
        assert_eq!(test(&[1.0, -2.0, 3.0]), (4.0, 2.0, 0.75));
        assert_eq!(test(&[1.0, 1.0, -1.0]), (4.0, 2.0, 1.0));
        assert_eq!(test(&[0.0, 1.0, 2.0]), (3.0, 0.0, 0.5));
    }

    // scipy 1.17.1, with the smaller of the two rank sums:
    // v = lambda n: numpy.array([37 * i % 101 - 40.0 for i in range(1, n + 1)])
    // for n in (1, 5, 12, 45, 50, 51): stats.wilcoxon(v(n) + 1 / 16)  # no zeros, no ties: exact up to 50
    // for n in (14, 45, 60): stats.wilcoxon(v(n))                     # zeros and ties: normal
    // small = [0, 1, -1, 2, 2, -3, 4, 5, 5, 5, -6, 7, 0]              # zeros and ties: exact up to 13
    // stats.wilcoxon(small[:5]); stats.wilcoxon(small); stats.wilcoxon(small + [8])
    #[test]
    fn p_values_match_scipy_in_every_branch() {
        let v = |n: usize, shift: f64| {
            (1..=n).map(|i| (37 * i % 101) as f64 - 40.0 + shift).collect::<Vec<f64>>()
        };
        let small = [0.0, 1.0, -1.0, 2.0, 2.0, -3.0, 4.0, 5.0, 5.0, 5.0, -6.0, 7.0, 0.0, 8.0];
        let golden = [
            (v(1, 1.0 / 16.0), 0.0, 1.0),
            (v(5, 1.0 / 16.0), 4.0, 0.4375),
            (v(12, 1.0 / 16.0), 30.0, 0.518_554_687_5),
            (v(45, 1.0 / 16.0), 336.0, 0.040_228_857_855_368_005),
            (v(50, 1.0 / 16.0), 398.0, 0.020_120_643_634_562_896),
            (v(51, 1.0 / 16.0), 403.0, 0.014_805_527_604_052_654),
            (v(14, 0.0), 34.0, 0.421_295_255_686_003_7),
            (v(45, 0.0), 322.5, 0.044_087_025_639_242_48),
            (v(60, 0.0), 535.5, 0.008_337_146_471_543_24),
            (small[..5].to_vec(), 1.5, 0.375),
            (small[..13].to_vec(), 16.5, 0.15625),
            (small.to_vec(), 16.5, 0.076_871_756_809_382_5),
        ];
        for (differences, rank_sum, expected) in golden {
            let (positive, negative, p_value) = test(&differences);
            assert_eq!(positive.min(negative), rank_sum);
            assert!((p_value / expected - 1.0).abs() < 1e-12, "{p_value} instead of {expected}");
        }
    }

    #[test]
    fn without_a_difference_there_is_no_test() {
        assert_eq!(wilcoxon(&[]), None);
        assert_eq!(wilcoxon(&[0.0, -0.0]), None);
        assert_eq!(wilcoxon(&[1.0, f64::NAN]), None);
    }

    proptest! {
        #[test] // The definition itself: every way to put signs on the sizes, one by one.
        fn the_exact_p_value_counts_all_signs(
            differences in prop::collection::vec((-4i8..5).prop_map(f64::from), 1..9)
        ) {
            prop_assume!(differences.iter().any(|&difference| difference != 0.0));
            let (positive, negative, p_value) = test(&differences);
            let nonzero: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
            let n = nonzero.len();
            prop_assert_eq!(positive + negative, (n * (n + 1) / 2) as f64);
            let (mut at_most, mut at_least) = (0, 0);
            for signs in 0..1_usize << n {
                let signed: Vec<f64> =
                    (0..n).map(|i| nonzero[i].abs() * if signs >> i & 1 == 1 { 1.0 } else { -1.0 }).collect();
                let other = wilcoxon(&signed).unwrap().positive_ranks;
                at_most += usize::from(other <= positive);
                at_least += usize::from(other >= positive);
            }
            let expected = 2.0 * at_most.min(at_least) as f64 / (1_usize << n) as f64;
            prop_assert_eq!(p_value, expected.min(1.0));
        }

        #[test] // Law: which method comes first swaps the rank sums and leaves the p-value, exact or not.
        fn swapping_the_methods_swaps_the_rank_sums(
            differences in prop::collection::vec((-9i8..9).prop_map(f64::from), 1..70)
        ) {
            let swapped: Vec<f64> = differences.iter().map(|difference| -difference).collect();
            let turned = wilcoxon(&swapped).map(|test| Wilcoxon {
                positive_ranks: test.negative_ranks,
                negative_ranks: test.positive_ranks,
                ..test
            });
            prop_assert_eq!(wilcoxon(&differences), turned);
        }
    }
}
