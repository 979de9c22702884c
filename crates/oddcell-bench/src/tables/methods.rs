//! Tables that compare methods over all sets.

use super::{NONE, Table, percent, probability};
use crate::{
    comparison::{ALPHA, Against, Ranking},
    groups::Group,
    stats::bootstrap::Interval,
};

impl Table {
    /// One method compared with each other method.
    #[must_use]
    pub fn of_comparison(all: &[Against], title: &str) -> Self {
        let header = [
            "method",
            "sets",
            "difference",
            "95 % interval",
            "won/tied/lost",
            "t-test p",
            "Wilcoxon p",
            "Holm p",
        ];
        let line = |against: &Against| {
            let Against { interval, record, .. } = against;
            vec![
                against.method.clone(),
                against.n_sets.to_string(),
                format!("{:+.2}", 100.0 * against.difference),
                format!("{:+.2} to {:+.2}", 100.0 * interval.low, 100.0 * interval.high),
                format!("{}/{}/{}", record.wins, record.ties, record.losses),
                probability(against.t_test),
                probability(against.wilcoxon),
                probability(against.holm),
            ]
        };
        let lines = all.iter().map(line).collect();
        Self { title: title.to_owned(), header: header.map(str::to_owned).to_vec(), lines }
    }

    /// Gains of one method over the others by kind of set.
    #[must_use]
    pub fn of_groups(groups: &[Group], others: &[String], title: &str) -> Self {
        let header = ["kind of set", "range", "sets"].map(str::to_owned).into_iter();
        let line = |group: &Group| {
            let value = |value: f64| if group.is_share { percent(value) } else { format!("{value:.0}") };
            let unit = if group.is_share { " %" } else { "" };
            let (low, high) = (value(group.range.0), value(group.range.1));
            let range = if low == high { format!("{low}{unit}") } else { format!("{low} to {high}{unit}") };
            let gain = |gain: &Option<(f64, Interval)>| match gain {
                Some((mean, Interval { low, high })) => {
                    format!("{:+.2} ({:+.2} to {:+.2})", 100.0 * mean, 100.0 * low, 100.0 * high)
                }
                None => NONE.to_owned(),
            };
            let names = [group.of.to_owned(), range, group.n_sets.to_string()].into_iter();
            names.chain(group.gains.iter().map(gain)).collect()
        };
        let lines = groups.iter().map(line).collect();
        Self { title: title.to_owned(), header: header.chain(others.iter().cloned()).collect(), lines }
    }

    /// Mean ranks, best first.
    #[must_use]
    pub fn of_ranking(ranking: &Ranking, title: &str) -> Self {
        let mut title = format!(
            "{title}: mean ranks over {} sets; critical difference {:.2} (Nemenyi, level {ALPHA})",
            ranking.n_sets, ranking.critical_difference
        );
        if let Some(p_value) = ranking.friedman {
            title = format!("{title}; Friedman p {}", probability(p_value));
        }
        if !ranking.left_out.is_empty() {
            title = format!("{title}; left out because of too few sets: {}", ranking.left_out.join(", "));
        }
        let line = |(method, rank): (&String, &f64)| vec![method.clone(), format!("{rank:.2}")];
        let lines = ranking.methods.iter().zip(&ranking.mean_ranks).map(line).collect();
        Self { title, header: ["method", "mean rank"].map(str::to_owned).to_vec(), lines }
    }
}
