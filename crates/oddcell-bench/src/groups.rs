//! The gain of one method over others by kind of table: by rows, columns, coarse values, equal rows and anomalies.
//!
//! Each trait splits the sets into thirds, at the values that a third and two thirds of the sets do not exceed. Sets with
//! the same value stay together, so a third may be larger than the others or empty.

use std::collections::BTreeMap;

use oddcell::Seed;

use crate::{
    board::Board,
    comparison::{CONFIDENCE, RESAMPLES},
    sets::Traits,
    stats::{
        StatsError,
        bootstrap::{self, Interval},
        summary,
    },
};

/// With fewer sets, a third has too few of them.
const LEAST_SETS: usize = 12;

/// Sets whose value of a trait is in a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The trait.
    pub of: &'static str,
    /// The smallest and the largest value.
    pub range: (f64, f64),
    /// Whether the values are shares.
    pub is_share: bool,
    /// The number of sets.
    pub n_sets: usize,
    /// For every other method of the board, in its order, the mean of reference minus other over the sets that both
    /// have, with its bootstrap interval; `None` if they share fewer than two sets.
    pub gains: Vec<Option<(f64, Interval)>>,
}

/// A trait by its name, whether it is a share, and its value for a set.
type Trait = (&'static str, bool, fn(&Traits) -> Option<f64>);

const TRAITS: [Trait; 5] = [
    ("rows", false, |set| Some(set.rows as f64)),
    ("columns", false, |set| Some(set.columns as f64)),
    ("distinct values", true, |set| Some(set.distinct)),
    ("equal rows", true, |set| Some(set.equal)),
    ("anomalies", true, |set| set.anomalies),
];

/// The gains of `reference` over every other method in each group of sets; none if too few sets have traits.
pub fn gains(
    board: &Board,
    reference: usize,
    traits: &BTreeMap<String, Traits>,
) -> Result<Vec<Group>, StatsError> {
    let mut groups = Vec::new();
    for (of, is_share, value) in TRAITS {
        let known = board.sets.iter().enumerate();
        let mut known: Vec<(f64, usize)> =
            known.filter_map(|(at, set)| Some((value(traits.get(set)?)?, at))).collect();
        if known.len() < LEAST_SETS {
            continue;
        }
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        let cut = |third: usize| known[third * known.len() / 3 - 1].0;
        let third = |value: f64| usize::from(value > cut(1)) + usize::from(value > cut(2));
        for members in known.chunk_by(|a, b| third(a.0) == third(b.0)) {
            let range = (members[0].0, members[members.len() - 1].0);
            let others = (0..board.methods.len()).filter(|&other| other != reference);
            let gains = others
                .map(|other| gain(board, reference, other, members.iter().map(|&(_, at)| at)))
                .collect::<Result<_, _>>()?;
            groups.push(Group { of, range, is_share, n_sets: members.len(), gains });
        }
    }
    Ok(groups)
}

fn gain(
    board: &Board,
    reference: usize,
    other: usize,
    sets: impl Iterator<Item = usize>,
) -> Result<Option<(f64, Interval)>, StatsError> {
    let difference = |set: usize| {
        let cells = &board.cells[set];
        let (ours, others) = cells[reference].as_ref()?.on_common_seeds(cells[other].as_ref()?)?;
        Some(ours - others)
    };
    let differences: Vec<f64> = sets.filter_map(difference).collect();
    let Some(mean) = summary::mean(&differences).filter(|_| differences.len() > 1) else { return Ok(None) };
    let mut stream = Seed(0).stream("bootstrap", &[]);
    let interval = bootstrap::mean_interval(&differences, CONFIDENCE, RESAMPLES, |n| stream.below(n))?;
    Ok(Some((mean, interval)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{Measure, tests::row},
        protocol::Protocol,
        store::Row,
    };

    /// Twelve sets with 1 to 12 columns, and 100 rows each. knn is ahead of lof by as many points as there are columns.
    fn made() -> (Board, BTreeMap<String, Traits>) {
        let mut rows: Vec<Row> = Vec::new();
        let mut traits = BTreeMap::new();
        for columns in 1..=12usize {
            let set = format!("set{columns:02}");
            rows.push(row(&set, 0, "knn", 0, 0.5 + columns as f64 / 100.0));
            rows.push(row(&set, 0, "lof", 0, 0.5));
            let made = Traits {
                set: set.clone(),
                data: String::new(),
                rows: 100,
                columns,
                distinct: 0.5,
                equal: if columns < 3 { 0.25 } else { 0.0 },
                anomalies: None,
            };
            traits.insert(set, made);
        }
        (Board::new(&rows, Protocol::Occ, Measure::Auc), traits)
    }

    // Columns: 1 to 4, 5 to 8, 9 to 12, with the means 2.5, 6.5 and 10.5 points. All rows and distinct values are one
    // group: 6.5. Equal rows: ten sets without any, with a mean of (3 + … + 12)/10 = 7.5, and two with 1.5.
    #[test]
    fn the_gains_of_each_third_are_those_worked_out_by_hand() {
        let (board, traits) = made();
        let knn = board.position("knn").unwrap();
        let groups = gains(&board, knn, &traits).unwrap();
        let found: Vec<(&str, (f64, f64), usize, f64)> = groups
            .iter()
            .map(|group| {
                let (mean, interval) = group.gains[0].unwrap();
                assert!(interval.low <= mean && mean <= interval.high);
                (group.of, group.range, group.n_sets, (1000.0 * mean).round() / 10.0)
            })
            .collect();
        let expected = [
            ("rows", (100.0, 100.0), 12, 6.5),
            ("columns", (1.0, 4.0), 4, 2.5),
            ("columns", (5.0, 8.0), 4, 6.5),
            ("columns", (9.0, 12.0), 4, 10.5),
            ("distinct values", (0.5, 0.5), 12, 6.5),
            ("equal rows", (0.0, 0.0), 10, 7.5),
            ("equal rows", (0.25, 0.25), 2, 1.5),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn few_sets_are_not_grouped() {
        let (board, mut traits) = made();
        traits.remove("set01");
        assert_eq!(gains(&board, 0, &traits).unwrap(), []);
    }
}
