//! The distribution of the scores, counted while rows arrive.
//!
//! *Why:* neither the range nor the scale of the scores is known before the last row. So scores are counted by the
//! leading bits of the number (sign, exponent, 8 bits of the fraction), which gives bins half a percent wide at any
//! scale. At the end, neighboring bins are merged into as many bars as a picture can show. Bar edges are bin edges, so
//! every count is exact.

use std::collections::BTreeMap;

use serde::Serialize;

/// Bits of a score that are ignored: all but 8 of the 52 bits of the fraction.
const DROPPED_BITS: u32 = 44;
/// The most bars of the picture.
const BARS: usize = 72;
/// The axis is logarithmic if the highest score exceeds the median by more than this factor.
const LOG_FROM: f64 = 20.0;

/// Counts of scores.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scores {
    counts: BTreeMap<i64, u64>,
    n: u64,
}

/// Bars of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Histogram {
    /// Whether the edges are evenly spaced on a logarithmic axis.
    pub(crate) log: bool,
    /// The edges of the bars, ascending; one more than there are counts.
    pub(crate) edges: Vec<f64>,
    pub(crate) counts: Vec<u64>,
}

/// Reorders the bits of a number such that they sort like the numbers.
fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// The bin of a score. Adding 0.0 turns −0.0 into 0.0.
fn bin(score: f64) -> i64 {
    ordered((score + 0.0).to_bits().cast_signed()) >> DROPPED_BITS
}

/// The smallest score of a bin.
fn lower_edge(bin: i64) -> f64 {
    // The bins next to infinity have no finite edge.
    f64::from_bits(ordered(bin << DROPPED_BITS).cast_unsigned()).clamp(f64::MIN, f64::MAX)
}

impl Scores {
    pub(crate) fn add(&mut self, score: f64) {
        *self.counts.entry(bin(score)).or_insert(0) += 1;
        self.n += 1;
    }

    /// The bars; none if there are no scores.
    pub(crate) fn histogram(&self) -> Histogram {
        let (Some((&first, _)), Some((&last, _))) =
            (self.counts.first_key_value(), self.counts.last_key_value())
        else {
            return Histogram { log: false, edges: Vec::new(), counts: Vec::new() };
        };
        let (low, high) = (lower_edge(first), lower_edge(last + 1));
        let log = low > 0.0 && high / self.median() > LOG_FROM;
        let at = |share: f64| {
            let between = |low: f64, high: f64| (1.0 - share) * low + share * high;
            if log { libm::exp(between(libm::log(low), libm::log(high))) } else { between(low, high) }
        };
        let mut bounds: Vec<i64> = (1..BARS).map(|bar| bin(at(bar as f64 / BARS as f64))).collect();
        bounds.insert(0, first);
        bounds.push(last + 1);
        // Where bins are wider than bars, several bars would start at the same bin.
        bounds.retain(|&bound| (first..=last + 1).contains(&bound));
        bounds.dedup();
        let count = |pair: &[i64]| self.counts.range(pair[0]..pair[1]).map(|(_, count)| count).sum();
        let counts = bounds.windows(2).map(count).collect();
        Histogram { log, edges: bounds.into_iter().map(lower_edge).collect(), counts }
    }

    /// The lower edge of the bin with the middle row.
    fn median(&self) -> f64 {
        let mut before = 0;
        let middle = self.counts.iter().find(|&(_, &count)| {
            before += count;
            2 * before >= self.n
        });
        middle.map_or(0.0, |(&bin, _)| lower_edge(bin))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(scores: &[f64]) -> Histogram {
        let mut counts = Scores::default();
        for &score in scores {
            counts.add(score);
        }
        counts.histogram()
    }

    #[test]
    fn no_score_has_no_bar_and_equal_scores_have_one() {
        assert_eq!(histogram(&[]).counts, [0; 0]);
        let one = histogram(&[2.5; 7]);
        assert_eq!((one.counts, one.log), (vec![7], false));
        // 2.5 = 1.25 · 2 begins a bin; 256 bins an octave, so this one is 2/256 wide.
        assert_eq!(one.edges, [2.5, 2.5 + 2.0 / 256.0]);
        assert_eq!(histogram(&[0.0, -0.0]).counts, [2]);
    }

    #[test]
    fn one_wild_score_makes_the_axis_logarithmic_but_not_where_scores_are_negative() {
        let mut scores = vec![1.0; 100];
        scores.push(1e6);
        let bars = histogram(&scores);
        assert!(bars.log);
        assert_eq!((bars.counts[0], bars.counts[bars.counts.len() - 1]), (100, 1));
        scores.push(-1.0);
        assert!(!histogram(&scores).log);
    }

    proptest! {
        #[test] // Law: whatever the scores, every row is in exactly one bar, the one between whose edges it lies.
        fn every_score_is_counted_between_its_edges(
            scores in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..60)
        ) {
            let bars = histogram(&scores);
            prop_assert_eq!(bars.edges.len(), bars.counts.len() + 1);
            prop_assert!(bars.counts.len() <= BARS);
            prop_assert!(bars.edges.windows(2).all(|pair| pair[0] < pair[1] && pair[1].is_finite()));
            for (pair, &count) in bars.edges.windows(2).zip(&bars.counts) {
                let last = pair[1] == bars.edges[bars.edges.len() - 1];
                let within = |&&score: &&f64| score >= pair[0] && (score < pair[1] || last);
                prop_assert_eq!(scores.iter().filter(within).count() as u64, count);
            }
        }
    }
}
