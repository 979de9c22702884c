//! Ranks of the methods on each set, and their means.
//!
//! *Why:* a point of AUC on an easy set is not worth a point on a hard one; ranks compare methods only within a set.
//! *Formula:* on each set, the highest value has rank 1; equal values share the mean of their ranks. The ranks of k
//! methods sum to k(k + 1)/2.
//! *Shapes:* tables are `[set][method]` and complete (callers leave out sets with missing values); higher is better.

use super::error::{StatsError, check_finite};

/// The rank of each value among all: 1 for the highest, ties share their mean rank. Equal means `==`.
#[must_use]
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for group in tie_groups(values) {
        // Ranks before+1 ..= before+size, all counted as their mean.
        let mean_rank = before as f64 + (group.len() + 1) as f64 / 2.0;
        before += group.len();
        for index in group {
            ranks[index] = mean_rank;
        }
    }
    ranks
}

/// The ranks of the methods on every set, in the shape of `table`.
pub fn rank_table(table: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, StatsError> {
    check_table(table)?;
    Ok(table.iter().map(|set| average_ranks(set)).collect())
}

/// The mean rank of each method over all sets of `table`.
pub fn mean_ranks(table: &[Vec<f64>]) -> Result<Vec<f64>, StatsError> {
    let ranks = rank_table(table)?;
    Ok(rank_sums(&ranks).into_iter().map(|sum| sum / ranks.len() as f64).collect())
}

/// The sum of the ranks of each method, of a table of ranks with at least one set.
pub(super) fn rank_sums(ranks: &[Vec<f64>]) -> Vec<f64> {
    (0..ranks[0].len()).map(|method| ranks.iter().map(|set| set[method]).sum()).collect()
}

/// Σ (t³ − t) over the groups of t equal values: the correction for ties in tests on ranks.
pub(super) fn tie_term(values: &[f64]) -> f64 {
    let term = |size: usize| (size * size * size - size) as f64;
    tie_groups(values).iter().map(|group| term(group.len())).sum()
}

/// The indices of equal values, grouped, highest value first.
fn tie_groups(values: &[f64]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    // `==` instead of the total order: 0.0 and -0.0 are equal.
    order.chunk_by(|&a, &b| values[a] == values[b]).map(<[usize]>::to_vec).collect()
}

/// `Ok` if `table` has at least one set, is a rectangle, and all of it is finite.
fn check_table(table: &[Vec<f64>]) -> Result<(), StatsError> {
    let expected = table.first().ok_or(StatsError::NoSets)?.len();
    for (index, set) in table.iter().enumerate() {
        if set.len() != expected {
            return Err(StatsError::Ragged { set: index + 1, got: set.len(), expected });
        }
    }
    for method in 0..expected {
        let values: Vec<f64> = table.iter().map(|set| set[method]).collect();
        check_finite(&values, method + 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // 9 is first; the two 7 take up ranks 2 and 3; -1 is fourth. Zeros of either sign are equal.
    #[test]
    fn ranks_match_the_values_worked_out_by_hand() {
        assert_eq!(average_ranks(&[7.0, -1.0, 9.0, 7.0]), [2.5, 4.0, 1.0, 2.5]);
        assert_eq!(average_ranks(&[0.0, -0.0, 0.0]), [2.0, 2.0, 2.0]);
        assert!(average_ranks(&[]).is_empty());
    }

    // Method 1: ranks 1, 2.5, 3; method 2: 2, 1, 2; method 3: 3, 2.5, 1. Means 6.5/3, 5/3, 6.5/3.
    #[test]
    fn mean_ranks_match_the_values_worked_out_by_hand() {
        let table = [vec![0.9, 0.8, 0.7], vec![0.5, 0.6, 0.5], vec![0.1, 0.2, 0.3]];
        assert_eq!(rank_table(&table).unwrap()[1], [2.5, 1.0, 2.5]);
        assert_eq!(mean_ranks(&table).unwrap(), [6.5 / 3.0, 5.0 / 3.0, 6.5 / 3.0]);
    }

    #[test] // One pair (2³ − 2 = 6) and one triple (3³ − 3 = 24); single values add nothing.
    fn the_tie_term_matches_the_value_worked_out_by_hand() {
        assert_eq!(tie_term(&[1.0, 2.0, 2.0, 3.0, 3.0, 3.0]), 30.0);
    }

    #[test]
    fn an_incomplete_table_is_refused_with_the_position() {
        assert_eq!(mean_ranks(&[]), Err(StatsError::NoSets));
        let ragged = [vec![1.0, 2.0], vec![1.0]];
        assert_eq!(mean_ranks(&ragged), Err(StatsError::Ragged { set: 2, got: 1, expected: 2 }));
        let error = mean_ranks(&[vec![1.0, 2.0], vec![1.0, f64::NAN]]).unwrap_err();
        assert_eq!(error.to_string(), "set 2, method 2: found NaN, but a finite number was expected");
    }

    /// Few distinct values, so that ties are common.
    fn table_and_order() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<usize>)> {
        (1usize..8, 1usize..8).prop_flat_map(|(sets, methods)| {
            let value = (-3i8..4).prop_map(f64::from);
            let table = prop::collection::vec(prop::collection::vec(value, methods), sets);
            (table, Just((0..methods).collect::<Vec<usize>>()).prop_shuffle())
        })
    }

    proptest! {
        #[test] // Law: a rank belongs to its method, wherever its column stands.
        fn permuting_methods_permutes_mean_ranks((table, order) in table_and_order()) {
            let permute = |values: &[f64]| order.iter().map(|&method| values[method]).collect::<Vec<f64>>();
            let permuted: Vec<Vec<f64>> = table.iter().map(|set| permute(set)).collect();
            prop_assert_eq!(mean_ranks(&permuted).unwrap(), permute(&mean_ranks(&table).unwrap()));
        }

        #[test] // Laws: the sum is k(k + 1)/2; negated values have the ranks from the other end.
        fn ranks_of_a_set_sum_to_a_constant_and_turn_round((table, _) in table_and_order()) {
            for set in &table {
                let (ranks, k) = (average_ranks(set), set.len() as f64);
                prop_assert_eq!(ranks.iter().sum::<f64>(), k * (k + 1.0) / 2.0);
                let negated: Vec<f64> = set.iter().map(|value| -value).collect();
                let turned: Vec<f64> = ranks.iter().map(|rank| k + 1.0 - rank).collect();
                prop_assert_eq!(average_ranks(&negated), turned);
            }
        }
    }
}
