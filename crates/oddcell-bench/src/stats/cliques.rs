//! Cliques: groups of methods without significant differences, which are the bars of a critical-difference diagram.
//!
//! Methods are sorted by mean rank (equal ranks by index). A clique is a run of methods in that order in which no pair
//! differs significantly. Only maximal cliques of at least two methods are returned, best rank first; each lists the
//! indices of its methods, best first.

/// Cliques by the Nemenyi test: two methods differ if their mean ranks differ by at least `critical_difference`
/// (see [`critical_difference`](super::friedman::critical_difference)).
#[must_use]
pub fn cliques_by_rank(mean_ranks: &[f64], critical_difference: f64) -> Vec<Vec<usize>> {
    maximal_runs(mean_ranks, |a, b| (mean_ranks[a] - mean_ranks[b]).abs() < critical_difference)
}

/// The maximal runs of methods, sorted by rank, in which all pairs are `alike`.
fn maximal_runs(mean_ranks: &[f64], alike: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..mean_ranks.len()).collect();
    order.sort_by(|&a, &b| mean_ranks[a].total_cmp(&mean_ranks[b]));
    let mut runs = Vec::new();
    let mut covered = 0;
    for start in 0..order.len() {
        let mut end = start + 1;
        while end < order.len() && order[start..end].iter().all(|&method| alike(method, order[end])) {
            end += 1;
        }
        // A run that ends where an earlier one ended lies inside it.
        if end > covered && end - start > 1 {
            runs.push(order[start..end].to_vec());
        }
        covered = covered.max(end);
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // In order of rank: 2 (1.0), 0 (1.5), 3 (2.5), 1 (4.0). Closer than 1.6: 2–0–3 and 3–1 (both 1.5).
    // Closer than 1.5 (strictly): 2–0, 0–3; 1 stands alone. Closer than 4: all.
    #[test]
    fn cliques_by_rank_match_those_worked_out_by_hand() {
        let ranks = [1.5, 4.0, 1.0, 2.5];
        assert_eq!(cliques_by_rank(&ranks, 1.6), [vec![2, 0, 3], vec![3, 1]]);
        assert_eq!(cliques_by_rank(&ranks, 1.5), [vec![2, 0], vec![0, 3]]);
        assert_eq!(cliques_by_rank(&ranks, 4.0), [vec![2, 0, 3, 1]]);
        assert!(cliques_by_rank(&ranks, 0.5).is_empty());
        assert!(cliques_by_rank(&[], 1.0).is_empty());
    }

    proptest! {
        #[test] // Laws: a pair shares a clique exactly if it is closer than CD; no clique lies in another.
        fn pairs_share_a_clique_exactly_if_they_are_close(
            ranks in prop::collection::vec((2u8..40).prop_map(|twice| f64::from(twice) / 2.0), 0..12),
            critical_difference in 0.25..12.0
        ) {
            let cliques = cliques_by_rank(&ranks, critical_difference);
            for a in 0..ranks.len() {
                for b in 0..a {
                    let together = cliques.iter().any(|clique| clique.contains(&a) && clique.contains(&b));
                    prop_assert_eq!(together, (ranks[a] - ranks[b]).abs() < critical_difference);
                }
            }
            for (i, inner) in cliques.iter().enumerate() {
                for (j, outer) in cliques.iter().enumerate() {
                    prop_assert!(i == j || inner.iter().any(|method| !outer.contains(method)));
                }
            }
        }
    }
}
