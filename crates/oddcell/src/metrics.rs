//! Metrics for scores of labeled rows: AUC, average precision, and F1 at the number of true anomalies.
//!
//! They never take part in fitting. All of them read scores as *higher = more anomalous* and depend only on
//! the order of the scores: an increasing transformation changes nothing. They are `None` if all rows have
//! the same label. `scores` and `anomalous` have one entry per row.
//!
//! ```
//! use oddcell::metrics::{TieRule, auc, average_precision, f1_at_n};
//!
//! let scores = [0.2, 0.9, 0.4, 0.1];
//! let anomalous = [false, true, false, true];
//! assert_eq!(auc(&scores, &anomalous), Some(0.5)); // two of the four pairs are in the right order
//! assert_eq!(average_precision(&scores, &anomalous), Some(0.75));
//! assert_eq!(f1_at_n(&scores, &anomalous, TieRule::Strict), Some(0.5)); // one of the two highest scores is an anomaly
//! ```

use std::fmt;

use serde::Serialize;

/// How well scores and truths agree; `None` where one class is absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metrics {
    /// The number of true anomalies.
    pub anomalies: usize,
    /// Area under the ROC curve.
    pub auc: Option<f64>,
    /// Average precision.
    pub average_precision: Option<f64>,
    /// F1 at the number of true anomalies.
    pub f1: Option<f64>,
}

impl fmt::Display for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
        let (auc, precision, f1) = (figure(self.auc), figure(self.average_precision), figure(self.f1));
        let anomalies = crate::count::count(self.anomalies);
        write!(formatter, "(anomalies: {anomalies}): AUC {auc}, average precision {precision}, F1 {f1}")
    }
}

/// How F1 treats rows that are tied at the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieRule {
    /// All tied rows count as normal, and the order of the rows does not matter. This is the convention of
    /// NeuTraL-AD: a row is anomalous if its score is *above* the percentile of the normal share.
    #[default]
    Strict,
    /// As many rows count as anomalous as there are anomalies; the earlier ones of tied rows come first. This
    /// is the convention of ICL.
    RowOrder,
}

/// The area under the ROC curve: the chance that a random anomaly scores above a random normal row. A tie
/// counts one half.
///
/// With R the sum of the mid-ranks of the Na anomalies among all rows and N0 normal rows,
/// AUC = (R − Na(Na + 1)/2) / (Na · N0).
#[must_use]
pub fn auc(scores: &[f64], anomalous: &[bool]) -> Option<f64> {
    let (n_anomalous, n_normal) = class_sizes(scores, anomalous)?;
    let mut rank_sum = 0.0;
    let mut before = 0;
    for group in tie_groups(scores, anomalous).iter().rev() {
        // The mean of the ranks before+1 ..= before+size.
        let mid_rank = before as f64 + (group.size + 1) as f64 / 2.0;
        rank_sum += mid_rank * group.anomalous as f64;
        before += group.size;
    }
    let (n_anomalous, n_normal) = (n_anomalous as f64, n_normal as f64);
    Some((rank_sum - n_anomalous * (n_anomalous + 1.0) / 2.0) / (n_anomalous * n_normal))
}

/// The average precision: Σ (recallₖ − recallₖ₋₁) · precisionₖ over the distinct scores, highest first. Tied
/// rows enter together, so the order of the rows does not matter.
#[must_use]
pub fn average_precision(scores: &[f64], anomalous: &[bool]) -> Option<f64> {
    let (n_anomalous, _) = class_sizes(scores, anomalous)?;
    let (mut found, mut called, mut sum) = (0, 0, 0.0);
    for group in tie_groups(scores, anomalous) {
        found += group.anomalous;
        called += group.size;
        sum += group.anomalous as f64 * found as f64 / called as f64;
    }
    Some(sum / n_anomalous as f64)
}

/// F1 if about as many rows count as anomalous as there are true anomalies.
///
/// Under [`TieRule::RowOrder`] exactly Na rows count as anomalous, so F1 = precision = recall. Under
/// [`TieRule::Strict`] the threshold is the linearly interpolated percentile at 100 · N0/N of all scores; its
/// position N0 − N0/N lies strictly between the sorted positions N0 − 1 and N0 (from 0), so "above the
/// threshold" is exactly "above the N0-th smallest score", and no rounding is involved.
#[must_use]
pub fn f1_at_n(scores: &[f64], anomalous: &[bool], ties: TieRule) -> Option<f64> {
    let (n_anomalous, n_normal) = class_sizes(scores, anomalous)?;
    // Highest first; the sort is stable, so the earlier of two tied rows comes first.
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let called = match ties {
        TieRule::RowOrder => n_anomalous,
        TieRule::Strict => {
            let threshold = scores[order[scores.len() - n_normal]];
            order.partition_point(|&row| scores[row] > threshold)
        }
    };
    let found = order[..called].iter().filter(|&&row| anomalous[row]).count();
    Some(2.0 * found as f64 / (called + n_anomalous) as f64)
}

/// Rows with equal scores.
struct TieGroup {
    size: usize,
    anomalous: usize,
}

/// The groups of equal scores, highest score first.
fn tie_groups(scores: &[f64], anomalous: &[bool]) -> Vec<TieGroup> {
    let mut rows: Vec<(f64, bool)> = scores.iter().copied().zip(anomalous.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    // `==` instead of the total order, because 0.0 and -0.0 are equal scores.
    rows.chunk_by(|a, b| a.0 == b.0)
        .map(|group| TieGroup { size: group.len(), anomalous: group.iter().filter(|row| row.1).count() })
        .collect()
}

/// The numbers of anomalous and of normal rows, if there are both.
fn class_sizes(scores: &[f64], anomalous: &[bool]) -> Option<(usize, usize)> {
    assert_eq!(scores.len(), anomalous.len(), "one label per score");
    let n_anomalous = anomalous.iter().filter(|&&label| label).count();
    let n_normal = scores.len() - n_anomalous;
    (n_anomalous > 0 && n_normal > 0).then_some((n_anomalous, n_normal))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.95, 0.7, 0.8, 0.9];
    const B: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 0.9, 0.9, 0.9, 0.95];
    const C: [f64; 10] = [2.5; 10];
    const LABELS: [bool; 10] = [false, false, false, false, false, false, false, true, true, true];

    fn close(got: Option<f64>, expected: f64) {
        let got = got.expect("both classes are there");
        assert!((got - expected).abs() < 1e-14, "{got} instead of {expected}");
    }

    fn reversed<T: Copy>(values: &[T]) -> Vec<T> {
        values.iter().rev().copied().collect()
    }

    // A: each of the 3 anomalies beats 6 of 7 normal rows: 18/21.
    // B: 0.95 beats 7; each 0.9 beats 5 and ties with 2: 7 + 2 · (5 + 1) = 19 of 21.
    #[test]
    fn auc_matches_the_values_worked_out_by_hand() {
        close(auc(&A, &LABELS), 18.0 / 21.0);
        close(auc(&B, &LABELS), 19.0 / 21.0);
        close(auc(&C, &LABELS), 0.5);
    }

    // A, strict: the 7th smallest is 0.7, so 0.8, 0.9, 0.95 are called: 2 hits, F1 = 2·2/(3 + 3).
    // B, strict: the 7th smallest is 0.9, so 0.95 alone is called: F1 = 2·1/(1 + 3) = 1/2.
    // B, row order: 0.95 and the two earliest 0.9, which are normal: 1/3; reversed they are anomalies: 1.
    #[test]
    fn f1_matches_the_values_worked_out_by_hand_under_both_tie_rules() {
        for ties in [TieRule::Strict, TieRule::RowOrder] {
            close(f1_at_n(&A, &LABELS, ties), 2.0 / 3.0);
            close(f1_at_n(&C, &LABELS, ties), 0.0);
        }
        close(f1_at_n(&B, &LABELS, TieRule::Strict), 0.5);
        close(f1_at_n(&B, &LABELS, TieRule::RowOrder), 1.0 / 3.0);
        close(f1_at_n(&reversed(&B), &reversed(&LABELS), TieRule::Strict), 0.5);
        close(f1_at_n(&reversed(&B), &reversed(&LABELS), TieRule::RowOrder), 1.0);
    }

    // A from the top: 0.95 no; 0.9 yes (1/2); 0.8 yes (2/3); 0.7 yes (3/4). AP = (1/2 + 2/3 + 3/4)/3 = 23/36.
    // B: 0.95 yes (1/1); the four 0.9 bring two hits at precision 3/5: (1 + 2 · 3/5)/3 = 11/15.
    // C: all at once, precision 3/10.
    #[test]
    fn average_precision_matches_the_values_worked_out_by_hand() {
        close(average_precision(&A, &LABELS), 23.0 / 36.0);
        close(average_precision(&B, &LABELS), 11.0 / 15.0);
        close(average_precision(&C, &LABELS), 0.3);
    }

    #[test]
    fn with_one_class_absent_there_is_no_figure() {
        for labels in [[false, false], [true, true]] {
            assert_eq!(auc(&[1.0, 2.0], &labels), None);
            assert_eq!(average_precision(&[1.0, 2.0], &labels), None);
            assert_eq!(f1_at_n(&[1.0, 2.0], &labels, TieRule::Strict), None);
        }
        assert_eq!(auc(&[], &[]), None);
    }

    #[test]
    fn a_perfect_ranking_gives_one_everywhere() {
        let (scores, labels) = ([3.0, -1.0, 2.0, -0.0, 0.0], [true, false, true, false, false]);
        close(auc(&scores, &labels), 1.0);
        close(average_precision(&scores, &labels), 1.0);
        close(f1_at_n(&scores, &labels, TieRule::Strict), 1.0);
    }

    /// Few distinct scores, so that ties are common.
    fn rows() -> impl Strategy<Value = Vec<(f64, bool)>> {
        prop::collection::vec(((-3i8..4).prop_map(f64::from), any::<bool>()), 2..40)
    }

    proptest! {
        #[test] // The definition itself, pair by pair.
        fn auc_is_the_share_of_pairs_in_the_right_order(rows in rows()) {
            let (scores, labels): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
            let (mut wins, mut pairs) = (0.0, 0.0);
            for anomaly in rows.iter().filter(|row| row.1) {
                for normal in rows.iter().filter(|row| !row.1) {
                    pairs += 1.0;
                    wins += if anomaly.0 > normal.0 { 1.0 } else if anomaly.0 == normal.0 { 0.5 } else { 0.0 };
                }
            }
            match auc(&scores, &labels) {
                None => prop_assert_eq!(pairs, 0.0),
                Some(auc) => prop_assert!((auc - wins / pairs).abs() < 1e-12),
            }
        }

        #[test] // Law: only the order of the scores counts, never the order of the rows.
        fn an_increasing_map_and_another_row_order_change_nothing(rows in rows()) {
            let (scores, labels): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
            let mapped: Vec<f64> = scores.iter().rev().map(|score| score.exp() * 3.0 - 7.0).collect();
            let mapped_labels = reversed(&labels);
            prop_assert_eq!(auc(&scores, &labels), auc(&mapped, &mapped_labels));
            prop_assert_eq!(average_precision(&scores, &labels), average_precision(&mapped, &mapped_labels));
            let strict = |scores: &[f64], labels: &[bool]| f1_at_n(scores, labels, TieRule::Strict);
            prop_assert_eq!(strict(&scores, &labels), strict(&mapped, &mapped_labels));
        }
    }
}
