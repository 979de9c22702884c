//! Groups of methods that cannot be told apart: the bars of a critical-difference diagram.
//!
//! Methods are put in order of their mean ranks (equal ranks by their place). A clique is a run of neighbours
//! in that order of which no pair differs significantly. Only cliques of at least two methods that lie in no
//! other are given, from the best rank on; each lists the places of its methods from the best on.

use super::error::StatsError;

/// Cliques by the Nemenyi test: two methods differ if their mean ranks do by at least `critical_difference`
/// (see [`critical_difference`](super::friedman::critical_difference)).
#[must_use]
pub fn cliques_by_rank(mean_ranks: &[f64], critical_difference: f64) -> Vec<Vec<usize>> {
    maximal_runs(mean_ranks, |a, b| (mean_ranks[a] - mean_ranks[b]).abs() < critical_difference)
}

/// Cliques by any test of pairs, such as Wilcoxon's with Holm's correction: `different[a][b]` says whether
/// methods a and b differ. The matrix must be symmetric; its diagonal is not read.
///
/// A method between two that do not differ may differ from both; the run ends there then, and the diagram
/// shows fewer bars than there are pairs without a difference. That is the price of drawing on a line.
pub fn cliques_by_test(mean_ranks: &[f64], different: &[Vec<bool>]) -> Result<Vec<Vec<usize>>, StatsError> {
    check_symmetric(different, mean_ranks.len())?;
    Ok(maximal_runs(mean_ranks, |a, b| !different[a][b]))
}

/// The longest runs of the methods in order of rank whose pairs are all `alike`.
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

/// `Ok` if `matrix` has one row and one column per method and equals its mirror image.
fn check_symmetric(matrix: &[Vec<bool>], methods: usize) -> Result<(), StatsError> {
    let fits = |row: usize| {
        matrix.get(row).is_some_and(|cells| cells.len() == methods)
            && (0..row).all(|column| matrix[row][column] == matrix[column][row])
    };
    match (0..methods.max(matrix.len())).find(|&row| row >= methods || !fits(row)) {
        None => Ok(()),
        Some(row) => Err(StatsError::NotSymmetric { methods, row: row + 1 }),
    }
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

    /// The matrix of `methods` methods in which exactly the `pairs` differ.
    fn matrix(methods: usize, pairs: &[(usize, usize)]) -> Vec<Vec<bool>> {
        let mut matrix = vec![vec![false; methods]; methods];
        for &(a, b) in pairs {
            matrix[a][b] = true;
            matrix[b][a] = true;
        }
        matrix
    }

    // Order 2, 0, 3, 1. With only 2–1 different: 2–0–3 and 0–3–1. With 2–0 and 0–3 different: 3–1 alone,
    // although 2 and 3 do not differ either.
    #[test]
    fn cliques_by_test_match_those_worked_out_by_hand() {
        let ranks = [1.5, 4.0, 1.0, 2.5];
        assert_eq!(cliques_by_test(&ranks, &matrix(4, &[(2, 1)])).unwrap(), [vec![2, 0, 3], vec![0, 3, 1]]);
        assert_eq!(cliques_by_test(&ranks, &matrix(4, &[(2, 0), (0, 3)])).unwrap(), [vec![3, 1]]);
        assert_eq!(cliques_by_test(&ranks, &matrix(4, &[])).unwrap(), [vec![2, 0, 3, 1]]);
    }

    #[test]
    fn a_matrix_of_another_shape_is_refused_with_the_row() {
        let error = |row| Err(StatsError::NotSymmetric { methods: 3, row });
        let ranks = [1.0, 2.0, 3.0];
        assert_eq!(cliques_by_test(&ranks, &matrix(2, &[])), error(1));
        assert_eq!(cliques_by_test(&ranks, &matrix(3, &[])[..2]), error(3));
        let mut lopsided = matrix(3, &[]);
        lopsided[0][2] = true;
        assert_eq!(cliques_by_test(&ranks, &lopsided), error(3));
        let mut long = matrix(3, &[]);
        long.push(vec![false; 3]);
        assert_eq!(cliques_by_test(&ranks, &long), error(4));
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

        #[test] // Law: the two ways agree when the pairs differ by the rule of the first.
        fn a_matrix_of_rank_differences_gives_the_same_cliques(
            ranks in prop::collection::vec(1.0..10.0, 0..12),
            critical_difference in 0.25..10.0
        ) {
            let row = |a: &f64| ranks.iter().map(|b: &f64| (a - b).abs() >= critical_difference).collect();
            let different: Vec<Vec<bool>> = ranks.iter().map(row).collect();
            prop_assert_eq!(
                cliques_by_test(&ranks, &different).unwrap(),
                cliques_by_rank(&ranks, critical_difference)
            );
        }
    }
}
