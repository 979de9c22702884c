//! How well scores rank known anomalies: the ROC curve, and precision against recall.
//!
//! *Formula:* sort the rows by score, highest first, and let tp and fp be the numbers of anomalies and of normal rows
//! among the first k. Then true-positive rate = recall = tp/Na, false-positive rate = fp/N0, precision = tp/(tp + fp).
//! Rows with equal scores count together.

use oddcell::{judge::Labels, metrics};
use serde::Serialize;

/// The most points of a curve: more cannot be seen.
const POINTS: usize = 200;

/// Scores compared with labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Curves {
    pub(crate) anomalies: usize,
    pub(crate) auc: Option<f64>,
    pub(crate) average_precision: Option<f64>,
    /// False-positive and true-positive rates, from (0, 0) to (1, 1).
    pub(crate) roc: Vec<(f64, f64)>,
    /// Recall and precision.
    pub(crate) precision: Vec<(f64, f64)>,
}

/// The number of anomalies among the `k` rows with the highest scores; of equal scores, earlier rows come first.
pub(crate) fn anomalies_among_first(labels: &Labels, k: usize) -> usize {
    let mut order: Vec<usize> = (0..labels.scores.len()).collect();
    order.sort_by(|&a, &b| labels.scores[b].total_cmp(&labels.scores[a]));
    order.iter().take(k).filter(|&&row| labels.anomalous[row]).count()
}

/// The curves of all rows.
pub(crate) fn curves(labels: &Labels) -> Curves {
    let mut rows: Vec<(f64, bool)> =
        labels.scores.iter().copied().zip(labels.anomalous.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let anomalies = rows.iter().filter(|row| row.1).count();
    let normal = rows.len() - anomalies;
    let (mut hits, mut alarms) = (0, 0);
    let mut counts = Vec::new();
    for group in rows.chunk_by(|a, b| a.0 == b.0) {
        let found = group.iter().filter(|row| row.1).count();
        (hits, alarms) = (hits + found, alarms + group.len() - found);
        counts.push((hits, alarms));
    }
    let share = |part: usize, of: usize| rounded(part as f64 / of as f64);
    let (mut roc, mut precision) = (Vec::new(), Vec::new());
    if anomalies > 0 && normal > 0 {
        let counts = thinned(&counts, anomalies, normal);
        roc.push((0.0, 0.0));
        roc.extend(counts.iter().map(|&(hits, alarms)| (share(alarms, normal), share(hits, anomalies))));
        let point = |&(hits, alarms): &(usize, usize)| (share(hits, anomalies), share(hits, hits + alarms));
        precision.extend(counts.iter().map(point));
    }
    Curves {
        anomalies,
        auc: metrics::auc(&labels.scores, &labels.anomalous),
        average_precision: metrics::average_precision(&labels.scores, &labels.anomalous),
        roc,
        precision,
    }
}

/// Rounds to four decimals: nobody sees a thousandth of the width of a picture.
fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// Keeps points evenly spaced along the ROC curve, and the last one.
fn thinned(counts: &[(usize, usize)], anomalies: usize, normal: usize) -> Vec<(usize, usize)> {
    let way =
        |&(hits, alarms): &(usize, usize)| hits as f64 / anomalies as f64 + alarms as f64 / normal as f64;
    let mut kept = Vec::new();
    let mut next = 0.0;
    for (at, count) in counts.iter().enumerate() {
        if way(count) >= next || at + 1 == counts.len() {
            kept.push(*count);
            next = way(count) + 2.0 / (POINTS - 2) as f64;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    // Highest first: yes, no, {yes, no} tied, no. Anomalies 2, normal rows 3.
    // After each: (1, 0), (1, 1), (2, 2), (2, 3) hits and false alarms.
    #[test]
    fn curves_match_the_points_worked_out_by_hand() {
        let truths = Labels {
            scores: vec![5.0, 4.0, 3.0, 3.0, 1.0],
            anomalous: vec![true, false, true, false, false],
        };
        let curves = super::curves(&truths);
        assert_eq!(curves.anomalies, 2);
        assert_eq!(curves.roc, [(0.0, 0.0), (0.0, 0.5), (0.3333, 0.5), (0.6667, 1.0), (1.0, 1.0)]);
        assert_eq!(curves.precision, [(0.5, 1.0), (0.5, 0.5), (1.0, 0.5), (1.0, 0.4)]);
        assert_eq!([1, 3, 9].map(|k| anomalies_among_first(&truths, k)), [1, 2, 2]);
    }

    #[test]
    fn with_one_class_there_is_no_curve() {
        let truths = Labels { scores: vec![1.0, 2.0], anomalous: vec![false, false] };
        let curves = super::curves(&truths);
        assert_eq!((curves.anomalies, curves.auc), (0, None));
        assert!(curves.roc.is_empty() && curves.precision.is_empty());
    }

    #[test]
    fn long_curves_are_thinned_and_keep_their_ends() {
        let n = 100_000;
        let truths = Labels {
            scores: (0..n).map(f64::from).collect(),
            anomalous: (0..n).map(|row| row % 10 == 9).collect(),
        };
        let curves = super::curves(&truths);
        assert!(curves.roc.len() <= POINTS && curves.roc.len() > POINTS / 2, "{}", curves.roc.len());
        assert_eq!((curves.roc[0], curves.roc[curves.roc.len() - 1]), ((0.0, 0.0), (1.0, 1.0)));
        assert_eq!(curves.precision[curves.precision.len() - 1], (1.0, 0.1));
    }
}
