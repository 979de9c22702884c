//! Tests whether one method is better than another over many sets, or only luckier.

use oddcell::Seed;

use crate::{
    board::{Board, Cell},
    stats::{
        StatsError,
        bootstrap::{self, Interval},
        cliques, friedman, holm,
        paired::{self, Record},
        ranks, summary,
        wilcoxon::wilcoxon,
    },
};

/// Number of resamples and confidence of a bootstrap interval.
pub(crate) const RESAMPLES: usize = 10_000;
pub(crate) const CONFIDENCE: f64 = 0.95;
/// The level of Nemenyi's test.
pub const ALPHA: f64 = 0.05;
/// The most methods that Nemenyi's test is computed for.
const MOST_RANKED: usize = 100;

/// A method compared with the reference on the sets and seeds that both have.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// The other method.
    pub method: String,
    /// The number of sets that both have.
    pub n_sets: usize,
    /// The mean of reference minus other.
    pub difference: f64,
    /// The bootstrap interval of that mean.
    pub interval: Interval,
    /// The number of sets on which the reference is better, equal and worse.
    pub record: Record,
    /// Paired t-test, as in the paper; 1 if the two are equal on all sets.
    pub t_test: f64,
    /// Wilcoxon's signed-rank test; 1 if the two are equal on all sets.
    pub wilcoxon: f64,
    /// The same with Holm's correction for all compared methods.
    pub holm: f64,
}

/// Compares `reference` with every other method of the board that shares at least two sets with it.
pub fn against(board: &Board, reference: usize) -> Result<Vec<Against>, StatsError> {
    let mut all = Vec::new();
    for other in (0..board.methods.len()).filter(|&other| other != reference) {
        let pair =
            |cells: &Vec<Option<Cell>>| cells[reference].as_ref()?.on_common_seeds(cells[other].as_ref()?);
        let (ours, others): (Vec<f64>, Vec<f64>) = board.cells.iter().filter_map(pair).unzip();
        if ours.len() < 2 {
            continue;
        }
        let differences = paired::differences(&ours, &others)?;
        let mut stream = Seed(0).stream("bootstrap", &[]);
        let interval = bootstrap::mean_interval(&differences, CONFIDENCE, RESAMPLES, |n| stream.below(n))?;
        let p_value = wilcoxon(&differences).map_or(1.0, |test| test.p_value);
        all.push(Against {
            method: board.methods[other].clone(),
            n_sets: differences.len(),
            difference: summary::mean(&differences).unwrap_or(0.0),
            interval,
            record: paired::record(&differences),
            t_test: paired::t_test(&differences).map_or(1.0, |test| test.p_value),
            wilcoxon: p_value,
            holm: p_value,
        });
    }
    let corrected = holm::holm(&all.iter().map(|against| against.wilcoxon).collect::<Vec<_>>())?;
    all.iter_mut().zip(corrected).for_each(|(against, p_value)| against.holm = p_value);
    Ok(all)
}

/// Mean ranks of the comparable methods; see [`Board::comparable`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The methods, best first.
    pub methods: Vec<String>,
    /// Their mean ranks; 1 is the best.
    pub mean_ranks: Vec<f64>,
    /// The number of sets.
    pub n_sets: usize,
    /// The p-value of Friedman's test that all methods are equally good.
    pub friedman: Option<f64>,
    /// Nemenyi's critical difference of mean ranks.
    pub critical_difference: f64,
    /// Groups of methods (first, last) whose mean ranks differ by less than that.
    pub cliques: Vec<(usize, usize)>,
    /// Methods left out because they lack results on too many sets.
    pub left_out: Vec<String>,
}

/// Ranks the methods of a board; `None` if fewer than two methods or two sets are left, or too many methods.
pub fn ranking(board: &Board) -> Result<Option<Ranking>, StatsError> {
    let (board, left_out) = board.comparable();
    let (table, n_methods) = (board.means(), board.methods.len());
    if !(2..=MOST_RANKED).contains(&n_methods) || table.len() < 2 {
        return Ok(None);
    }
    let mean_ranks = ranks::mean_ranks(&table)?;
    let critical_difference = friedman::critical_difference(n_methods, table.len(), ALPHA)?;
    let mut order: Vec<usize> = (0..n_methods).collect();
    order.sort_by(|&a, &b| mean_ranks[a].total_cmp(&mean_ranks[b]));
    let place = |method: usize| order.iter().position(|&other| other == method).unwrap_or_default();
    let runs = cliques::cliques_by_rank(&mean_ranks, critical_difference);
    let ends = |run: &Vec<usize>| Some((place(*run.first()?), place(*run.last()?)));
    Ok(Some(Ranking {
        methods: order.iter().map(|&method| board.methods[method].clone()).collect(),
        mean_ranks: order.iter().map(|&method| mean_ranks[method]).collect(),
        n_sets: table.len(),
        friedman: friedman::friedman(&table)?.map(|test| test.p_value),
        critical_difference,
        cliques: runs.iter().filter_map(ends).collect(),
        left_out,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{Measure, tests::row},
        protocol::Protocol,
        store::Row,
    };

    /// Ten sets: knn is always best, copod and ecod alternate, lof has the first two sets only.
    fn board() -> Board {
        let mut rows: Vec<Row> = Vec::new();
        for set in 0..10 {
            let name = format!("set{set}");
            let turn = if set % 2 == 0 { 0.01 } else { -0.01 };
            rows.push(row(&name, 0, "knn", 0, 0.9 + set as f64 / 1_000.0));
            rows.push(row(&name, 0, "copod", 0, 0.7 + turn));
            rows.push(row(&name, 0, "ecod", 0, 0.7));
            if set < 2 {
                rows.push(row(&name, 0, "lof", 0, 0.5));
            }
        }
        Board::new(&rows, Protocol::Occ, Measure::Auc)
    }

    // Wilcoxon over ten sets with the same sign: p = 2/2¹⁰. Holm multiplies the first two of three p-values by three
    // and two, but never goes below the one before.
    #[test]
    fn the_reference_is_compared_on_the_sets_that_both_have() {
        let all = against(&board(), 0).unwrap();
        let names: Vec<_> = all.iter().map(|against| (against.method.as_str(), against.n_sets)).collect();
        assert_eq!(names, [("lof", 2), ("copod", 10), ("ecod", 10)]);
        assert_eq!(all[2].record, Record { wins: 10, ties: 0, losses: 0 });
        assert!((all[2].difference - 0.2045).abs() < 1e-12);
        assert!(all[2].interval.low < 0.2045 && all[2].interval.high > 0.2045);
        assert!((all[2].wilcoxon - 2.0 / 1024.0).abs() < 1e-12);
        assert!((all[2].holm - 6.0 / 1024.0).abs() < 1e-12, "{}", all[2].holm);
        assert!((all[0].wilcoxon - 0.5).abs() < 1e-12);
    }

    #[test]
    fn ranks_are_over_complete_sets_and_say_who_is_left_out() {
        let ranking = ranking(&board()).unwrap().unwrap();
        assert_eq!(ranking.methods, ["knn", "copod", "ecod"]);
        assert_eq!(ranking.mean_ranks, [1.0, 2.5, 2.5]);
        assert_eq!((ranking.n_sets, ranking.left_out.as_slice()), (10, &["lof".to_owned()][..]));
        // Three methods on ten sets: 2.343·√(3·4/60) = 1.05.
        assert!((ranking.critical_difference - 1.048).abs() < 1e-3, "{ranking:?}");
        assert_eq!(ranking.cliques, [(1, 2)], "knn is 1.5 ahead of both, those two are equal");
        assert!(ranking.friedman.unwrap() < 0.01);
    }

    #[test]
    fn one_set_or_one_method_cannot_be_ranked() {
        let rows = [row("a", 0, "knn", 0, 0.5), row("a", 0, "lof", 0, 0.6)];
        assert_eq!(ranking(&Board::new(&rows, Protocol::Occ, Measure::Auc)).unwrap(), None);
        assert_eq!(against(&Board::new(&rows, Protocol::Occ, Measure::Auc), 0).unwrap(), []);
        assert_eq!(ranking(&Board::new(&[], Protocol::Occ, Measure::Auc)).unwrap(), None);
    }
}
