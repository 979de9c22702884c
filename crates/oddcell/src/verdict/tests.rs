//! Tests the rules by hand, the stream form against textbook forms, and the false-discovery rate.

use proptest::prelude::*;

use super::*;
use crate::Seed;

fn nothing() -> Calibration {
    Calibration::conformal(vec![])
}

fn by_p(rule: Rule, p_values: &[f64]) -> Vec<bool> {
    verdicts(rule, &vec![0.0; p_values.len()], p_values, &nothing())
}

// Benjamini and Hochberg's own example (1995, section 4): 15 p-values, q = 0.05. The bounds k · 0.05/15 are
// 0.0033, 0.0067, 0.0100, 0.0133, 0.0167 …; the fourth, 0.0095 ≤ 0.0133, is the last that fits: 4 rejections.
#[test]
fn the_example_of_benjamini_and_hochberg_gives_four_rejections() {
    let p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0,
    ];
    let mut expected = [false; 15];
    expected[..4].fill(true);
    assert_eq!(by_p(Rule::Fdr(0.05), &p), expected);
}

// Bounds for q = 0.2 and 4 rows: 0.05, 0.10, 0.15, 0.20. The third fits, so the first two go with it although
// each alone misses its own bound.
#[test]
fn a_row_that_misses_its_own_bound_goes_with_a_later_one_that_meets_it() {
    assert_eq!(by_p(Rule::Fdr(0.2), &[0.11, 0.9, 0.12, 0.14]), [true, false, true, true]);
    assert_eq!(by_p(Rule::Fdr(0.2), &[0.11, 0.9, 0.12, 0.16]), [false; 4]);
}

// 49 normal rows at 1, one at 1/500: 0.1 · 1/50 = 1/500 holds exactly; in binary it must as well. The same for
// 3 of 10 rows at 0.03 (0.03 · 10 against 0.1 · 3).
#[test]
fn a_p_value_exactly_on_the_bound_is_called_odd() {
    for (n, k, p) in [(50, 1, 1.0 / 500.0), (10, 3, 0.03), (50, 35, 0.07), (1000, 6, 6.0 / 10_000.0)] {
        let mut p_values = vec![1.0; n];
        p_values[..k].fill(p);
        assert_eq!(by_p(Rule::Fdr(0.1), &p_values).iter().filter(|&&odd| odd).count(), k, "{k} of {n}");
    }
    assert_eq!(by_p(Rule::Alpha(0.05), &[5.0 / 100.0, 0.050_001]), [true, false]);
}

#[test]
fn the_top_rows_take_the_highest_scores_and_of_equal_ones_the_earlier_rows() {
    let top = |k, scores: &[f64]| verdicts(Rule::Top(k), scores, &vec![0.5; scores.len()], &nothing());
    assert_eq!(top(2, &[1.0, 3.0, 2.0, 3.0, 3.0]), [false, true, false, true, false]);
    assert_eq!(top(4, &[1.0, 3.0, 2.0, 3.0, 3.0]), [false, true, true, true, true]);
    assert_eq!(top(2, &[0.0, -0.0, 0.0]), [true, true, false]);
    assert_eq!(top(9, &[1.0, 3.0]), [true, true]);
    assert_eq!(top(1, &[]), [false; 0]);
}

// Reference 0, 1, 2, 3, 4: the quantile 0.75 is 3, and only what lies above it counts.
#[test]
fn contamination_flags_scores_above_the_quantile_of_the_reference() {
    let reference = Calibration::conformal(vec![0.0, 1.0, 2.0, 3.0, 4.0]);
    let odd = verdicts(Rule::Contamination(0.25), &[2.9, 3.0, 3.1], &[0.1, 0.1, 0.9], &reference);
    assert_eq!(odd, [false, false, true]);
}

#[test]
fn rules_out_of_range_are_refused_with_what_would_be_allowed() {
    for bad in [0.0, -0.1, 1.0, f64::NAN, f64::INFINITY] {
        assert!(Rule::alpha(bad).is_err() && Rule::fdr(bad).is_err() && Rule::contamination(bad).is_err());
    }
    assert!(Rule::contamination(0.500_001).is_err() && Rule::top(0).is_err());
    let message = Rule::alpha(f64::NAN).unwrap_err().to_string();
    assert_eq!(message, "parameter `alpha` is NaN, but must be more than 0 and less than 1");
    assert_eq!(Rule::alpha(0.01), Ok(Rule::Alpha(0.01)));
    assert_eq!(Rule::contamination(0.5), Ok(Rule::Contamination(0.5)));
}

#[test]
fn a_rule_reads_as_a_sentence() {
    let sentences = [Rule::Alpha(0.07), Rule::Fdr(0.1), Rule::Top(20), Rule::Contamination(0.05)];
    let sentences: Vec<String> = sentences.iter().map(ToString::to_string).collect();
    assert_eq!(
        sentences,
        [
            "p-value at most 0.07: about 7 % of normal rows are flagged",
            "false-discovery rate 0.1: at most about 10 % of the flagged rows are expected to be normal",
            "top 20: the 20 rows with the highest scores",
            "contamination 0.05: scores above all but the top 5 % of the reference scores",
        ]
    );
}

// 2,000 rows, 10 % of them shifted by 4, judged against 4,000 calibration rows. Over 60 such tables the mean share of
// normal rows among the flagged ones must be near 0.1 · 0.9 = 0.09, and most shifted rows must be found.
#[test]
fn the_share_of_false_discoveries_is_what_was_asked_for() {
    let (tables, n, shifted) = (60, 2_000, 200);
    let (mut false_share, mut found_share) = (0.0, 0.0);
    for table in 0..tables {
        let mut stream = Seed(23).stream("fdr", &[table]);
        let calibration = Calibration::conformal((0..4_000).map(|_| stream.normal()).collect());
        let scores: Vec<f64> =
            (0..n).map(|row| stream.normal() + if row < shifted { 4.0 } else { 0.0 }).collect();
        let p_values: Vec<f64> = scores.iter().map(|&score| calibration.p_value(score)).collect();
        let odd = verdicts(Rule::Fdr(0.1), &scores, &p_values, &calibration);
        let count = |rows: &[bool]| rows.iter().filter(|&&flag| flag).count() as f64;
        let (found, wrong) = (count(&odd[..shifted]), count(&odd[shifted..]));
        false_share += wrong / (found + wrong).max(1.0) / tables as f64;
        found_share += found / shifted as f64 / tables as f64;
    }
    assert!((0.08..0.1).contains(&false_share), "false discoveries: {false_share}");
    assert!(found_share > 0.95, "found: {found_share}");
}

/// Benjamini-Hochberg as the textbook has it: sort, find the last k with p₍ₖ₎ ≤ kq/n, take the first k. Done in
/// whole numbers: the p-values are kᵢ/denominator, and q is one tenth.
fn textbook(numerators: &[u64], denominator: u64) -> Vec<bool> {
    let mut sorted = numerators.to_vec();
    sorted.sort_unstable();
    let n = sorted.len() as u64;
    let fits = |rank: usize| sorted[rank] * n * 10 <= (rank as u64 + 1) * denominator;
    let last = (0..sorted.len()).rev().find(|&rank| fits(rank)).map(|rank| sorted[rank]);
    numerators.iter().map(|&numerator| last.is_some_and(|last| numerator <= last)).collect()
}

proptest! {
    #[test]
    fn benjamini_hochberg_on_counts_equals_the_textbook_in_whole_numbers(
        (denominator, numerators) in (2u64..400).prop_flat_map(|denominator| {
            // Squared toward 1, so that small p-values and rejections are common.
            let numerator = (0.0..1.0f64).prop_map(move |u| 1 + (u.powi(4) * denominator as f64) as u64);
            (Just(denominator), prop::collection::vec(numerator, 0..60))
        })
    ) {
        let p_values: Vec<f64> = numerators.iter().map(|&k| k as f64 / denominator as f64).collect();
        prop_assert_eq!(by_p(Rule::Fdr(0.1), &p_values), textbook(&numerators, denominator));
    }

    #[test] // Law: exactly min(k, n) rows, and none left out that is odder than one taken.
    fn the_top_rows_equal_sorting_all_rows(
        scores in prop::collection::vec((-4i8..5).prop_map(f64::from), 0..60), most in 1usize..70
    ) {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut expected = vec![false; scores.len()];
        order.iter().take(most).for_each(|&row| expected[row] = true);
        prop_assert_eq!(verdicts(Rule::Top(most), &scores, &vec![1.0; scores.len()], &nothing()), expected);
    }

    #[test] // Law: rows that come one by one, in any batches, get the verdicts of the whole table.
    fn the_stream_form_equals_the_form_in_memory(
        rows in prop::collection::vec(((-4i8..5).prop_map(f64::from), 1u32..21), 0..60), which in 0usize..4
    ) {
        let rule = [Rule::Alpha(0.15), Rule::Fdr(0.3), Rule::Top(5), Rule::Contamination(0.25)][which];
        let reference = Calibration::conformal(vec![-4.0, -1.0, 0.0, 2.0, 4.0]);
        let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let p_values: Vec<f64> = rows.iter().map(|row| f64::from(row.1) / 20.0).collect();
        let mut first_pass = FirstPass::new(rule, || reference.clone());
        for (&score, &p_value) in scores.iter().zip(&p_values) {
            first_pass.observe(&[score], &[p_value]);
        }
        let cutoff = first_pass.decide();
        let streamed: Vec<bool> =
            (0..rows.len()).map(|row| cutoff.is_odd(row, scores[row], p_values[row])).collect();
        prop_assert_eq!(streamed, verdicts(rule, &scores, &p_values, &reference));
    }
}
