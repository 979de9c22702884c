//! The levels that a reader can move the threshold to, each with its exact count.
//!
//! *Why:* the page does not hold all rows, so it cannot count them. Its slider moves between stops instead, and the
//! counts of all stops are made here while the rows arrive.
//! *Invariants:* the rule of the run is always one of the stops, and its verdicts are those of the run.

use std::collections::BTreeMap;

use oddcell::{
    calibrate::Calibration,
    judge::Labels,
    verdict::{Rule, benjamini_hochberg},
};
use serde::Serialize;

use crate::{curves::anomalies_among_first, oddest::KeptRow};

/// The stops within every power of ten.
const DIGITS: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
/// The highest level: no rule should call more than half of all rows odd.
const HIGHEST_LEVEL: f64 = 0.5;
/// The lowest level of a false-discovery rate, and of a contamination.
const LEAST_LEVEL: f64 = 1e-3;
/// The smallest p-value with a stop.
const LEAST_P: f64 = 1e-9;

/// One kind of threshold and its stops.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Mode {
    /// `alpha`, `fdr`, `top` or `contamination`.
    pub(crate) id: &'static str,
    /// From strict to lenient.
    pub(crate) stops: Vec<Stop>,
}

/// One position of the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Stop {
    /// The level, or the number of rows.
    pub(crate) level: f64,
    /// A row is odd if its p-value is at most this, its score is above this, or its rank is at most this, depending on
    /// the mode. `None`: no row is odd.
    pub(crate) bound: Option<f64>,
    /// The number of rows called odd.
    pub(crate) odd: u64,
    /// The number of anomalies among them, if there are labels.
    pub(crate) anomalous: Option<u64>,
    /// The lowest score among them, if it is known.
    pub(crate) lowest: Option<f64>,
}

/// All kinds of thresholds, and which one the run used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Thresholds {
    pub(crate) modes: Vec<Mode>,
    /// The mode and the stop of the run.
    pub(crate) mode: usize,
    pub(crate) stop: usize,
}

/// Counts of the rows between two stops.
#[derive(Debug, Clone, Copy)]
struct Seen {
    rows: u64,
    anomalous: u64,
    lowest: f64,
}

impl Seen {
    const NONE: Self = Self { rows: 0, anomalous: 0, lowest: f64::INFINITY };

    fn add(&mut self, score: f64, anomalous: bool) {
        self.rows += 1;
        self.anomalous += u64::from(anomalous);
        self.lowest = self.lowest.min(score);
    }

    fn with(self, other: &Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            anomalous: self.anomalous + other.anomalous,
            lowest: self.lowest.min(other.lowest),
        }
    }
}

/// Counts the rows of a stream by p-value and, for a rule about scores, by score.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    rule: Rule,
    labeled: bool,
    n_rows: u64,
    /// Counts by the bits of the p-value, which sort like the numbers because they are positive.
    by_p: BTreeMap<u64, Seen>,
    /// Share, threshold, and the rows above it but not above the next higher threshold; strict first.
    by_score: Vec<(f64, f64, Seen)>,
}

impl Tally {
    pub(crate) fn new(rule: Rule, reference: &Calibration) -> Self {
        let by_score = match rule {
            Rule::Contamination(share) => {
                let levels = levels(LEAST_LEVEL, Some(share));
                levels.into_iter().map(|share| (share, reference.threshold(share), Seen::NONE)).collect()
            }
            Rule::Alpha(_) | Rule::Fdr(_) | Rule::Top(_) => Vec::new(),
        };
        Self { rule, labeled: false, n_rows: 0, by_p: BTreeMap::new(), by_score }
    }

    pub(crate) fn add(&mut self, score: f64, p_value: f64, truth: Option<bool>) {
        let anomalous = truth.unwrap_or(false);
        self.labeled |= truth.is_some();
        self.n_rows += 1;
        self.by_p.entry(p_value.to_bits()).or_insert(Seen::NONE).add(score, anomalous);
        if let Some((.., seen)) = self.by_score.iter_mut().find(|(_, threshold, _)| score > *threshold) {
            seen.add(score, anomalous);
        }
    }

    /// Returns all modes with their counts. `kept` are the oddest rows, oddest first.
    pub(crate) fn thresholds(&self, kept: &[KeptRow], labels: &Labels) -> Thresholds {
        let mut modes = vec![self.alpha(), self.fdr(), self.top(kept, labels)];
        if !self.by_score.is_empty() {
            modes.push(self.contamination());
        }
        let (mode, level) = match self.rule {
            Rule::Alpha(level) => (0, level),
            Rule::Fdr(level) => (1, level),
            Rule::Top(rows) => (2, rows as f64),
            Rule::Contamination(level) => (3, level),
        };
        let stop = modes[mode].stops.iter().position(|stop| stop.level == level);
        Thresholds { mode, stop: stop.expect("the rule of the run is one of the stops"), modes }
    }

    fn stop(&self, level: f64, bound: Option<f64>, seen: Seen) -> Stop {
        Stop {
            level,
            bound,
            odd: seen.rows,
            anomalous: self.labeled.then_some(seen.anomalous),
            lowest: (seen.rows > 0).then_some(seen.lowest),
        }
    }

    /// Counts the rows whose p-value is at most `bound`.
    fn up_to(&self, bound: f64) -> Seen {
        let rows = self.by_p.range(..=bound.to_bits()).map(|(_, seen)| seen);
        rows.fold(Seen::NONE, Seen::with)
    }

    fn alpha(&self) -> Mode {
        let own = if let Rule::Alpha(level) = self.rule { Some(level) } else { None };
        let least = self.by_p.first_key_value().map_or(LEAST_LEVEL, |(&bits, _)| f64::from_bits(bits));
        let levels = levels(least.clamp(LEAST_P, LEAST_LEVEL), own);
        let stops = levels.into_iter().map(|level| self.stop(level, Some(level), self.up_to(level)));
        Mode { id: "alpha", stops: stops.collect() }
    }

    fn fdr(&self) -> Mode {
        let own = if let Rule::Fdr(level) = self.rule { Some(level) } else { None };
        let stop = |level| {
            let counts = self.by_p.iter().map(|(&bits, seen)| (f64::from_bits(bits), seen.rows));
            let bound = benjamini_hochberg(level, counts, self.n_rows);
            self.stop(level, bound, bound.map_or(Seen::NONE, |bound| self.up_to(bound)))
        };
        Mode { id: "fdr", stops: levels(LEAST_LEVEL, own).into_iter().map(stop).collect() }
    }

    fn top(&self, kept: &[KeptRow], labels: &Labels) -> Mode {
        let tens = |power: u32| DIGITS.map(|digit| (10.0 * digit) as usize * 10_usize.pow(power));
        let mut counts: Vec<usize> = (0..=6)
            .flat_map(tens)
            .filter(|tenfold| tenfold.is_multiple_of(10))
            .map(|tenfold| tenfold / 10)
            .filter(|&rows| rows <= kept.len())
            .collect();
        if let Rule::Top(rows) = self.rule {
            counts.push(rows);
        }
        counts.sort_unstable();
        counts.dedup();
        let stop = |&n_rows: &usize| {
            let anomalous = match kept.get(..n_rows) {
                Some(rows) => rows.iter().filter(|row| row.truth == Some(true)).count(),
                None => anomalies_among_first(labels, n_rows),
            };
            // Only the kept rows have known scores.
            let lowest = (n_rows > 0).then(|| kept.get(n_rows - 1)).flatten();
            let all = || kept.last().filter(|_| self.n_rows <= kept.len() as u64);
            Stop {
                level: n_rows as f64,
                bound: Some(n_rows as f64),
                odd: self.n_rows.min(n_rows as u64),
                anomalous: self.labeled.then_some(anomalous as u64),
                lowest: lowest.or_else(all).map(|row| row.score),
            }
        };
        Mode { id: "top", stops: counts.iter().map(stop).collect() }
    }

    fn contamination(&self) -> Mode {
        let mut all = Seen::NONE;
        let stop = |&(share, threshold, ref seen): &(f64, f64, Seen)| {
            all = all.with(seen);
            self.stop(share, threshold.is_finite().then_some(threshold), all)
        };
        Mode { id: "contamination", stops: self.by_score.iter().map(stop).collect() }
    }
}

/// Round levels, ascending, starting with the largest that is at most `least`, and the level of the run.
fn levels(least: f64, own: Option<f64>) -> Vec<f64> {
    // Parsed from decimals, so that they equal the numbers that a reader would write.
    let level = |power: i32, digit: f64| format!("{digit}e{power}").parse::<f64>().unwrap_or(digit);
    let all: Vec<f64> = (-9..0).flat_map(|power| DIGITS.map(|digit| level(power, digit))).collect();
    let first = all.iter().rposition(|&level| level <= least).unwrap_or(0);
    let mut levels: Vec<f64> = all[first..].iter().copied().filter(|&level| level <= HIGHEST_LEVEL).collect();
    levels.extend(own);
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

#[cfg(test)]
mod tests {
    use oddcell::verdict;
    use proptest::prelude::*;

    use super::*;

    fn kept(score: f64) -> KeptRow {
        KeptRow { score, ..KeptRow::default() }
    }

    fn tally(rule: Rule, rows: &[(f64, f64)]) -> Thresholds {
        let reference = Calibration::conformal(rows.iter().map(|row| row.0).collect());
        let mut tally = Tally::new(rule, &reference);
        for &(score, p) in rows {
            tally.add(score, p, None);
        }
        let mut scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let kept: Vec<KeptRow> = scores.into_iter().map(kept).collect();
        tally.thresholds(&kept, &Labels::default())
    }

    #[test]
    fn levels_are_round_and_the_run_s_own_is_among_them() {
        assert_eq!(levels(0.2, Some(0.25)), [0.2, 0.25, 0.3, 0.5]);
        assert_eq!(levels(0.25, Some(0.5)), [0.2, 0.3, 0.5]);
        assert_eq!(levels(1e-12, None)[0], 1e-9);
        assert_eq!(levels(LEAST_LEVEL, Some(0.7)).last(), Some(&0.7));
    }

    // p-values 0.01, 0.02, 0.02, 0.5. At most 0.02: three rows, the lowest score among them 5.
    // Benjamini-Hochberg at 0.05: 0.02 ≤ 0.05 · 3/4 = 0.0375, 0.5 is above 0.05: three rows.
    #[test]
    fn counts_match_those_worked_out_by_hand() {
        let rows = [(9.0, 0.01), (5.0, 0.02), (6.0, 0.02), (1.0, 0.5)];
        let found = tally(Rule::Alpha(0.02), &rows);
        let stop = found.modes[found.mode].stops[found.stop];
        assert_eq!((stop.level, stop.odd, stop.lowest), (0.02, 3, Some(5.0)));
        let fdr = found.modes[1].stops.iter().find(|stop| stop.level == 0.05).unwrap();
        assert_eq!((fdr.bound, fdr.odd), (Some(0.02), 3));
        let strict = found.modes[1].stops[0];
        assert_eq!((strict.level, strict.bound, strict.odd, strict.lowest), (1e-3, None, 0, None));
        let tops: Vec<(f64, Option<f64>)> =
            found.modes[2].stops.iter().map(|stop| (stop.level, stop.lowest)).collect();
        assert_eq!(tops, [(1.0, Some(9.0)), (2.0, Some(6.0)), (3.0, Some(5.0))]);
    }

    #[test]
    fn more_rows_than_there_are_means_all_rows() {
        let found = tally(Rule::Top(9), &[(1.0, 0.5), (2.0, 0.1)]);
        let stop = found.modes[2].stops[found.stop];
        assert_eq!((stop.odd, stop.lowest), (2, Some(1.0)));
    }

    proptest! {
        #[test] // Law: whatever the rule, the count of the run's own stop is that of the library's verdicts.
        fn the_count_is_that_of_the_verdicts(
            rows in prop::collection::vec((0u8..50, 1u8..40), 1..80), kind in 0..4, level in 1u8..50
        ) {
            let rows: Vec<(f64, f64)> =
                rows.iter().map(|&(score, p)| (f64::from(score), f64::from(p) / 40.0)).collect();
            let share = f64::from(level) / 100.0;
            let rule = [Rule::Alpha(share), Rule::Fdr(share), Rule::Top(level.into()), Rule::Contamination(share)]
                [kind as usize];
            let found = tally(rule, &rows);
            let (scores, p_values): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
            let reference = Calibration::conformal(scores.clone());
            let odd = verdict::verdicts(rule, &scores, &p_values, &reference);
            let count = odd.iter().filter(|&&odd| odd).count() as u64;
            let stop = found.modes[found.mode].stops[found.stop];
            prop_assert_eq!(stop.odd, count);
            let lowest = (0..rows.len()).filter(|&row| odd[row]).map(|row| scores[row]).reduce(f64::min);
            prop_assert_eq!(stop.lowest, lowest);
            for mode in &found.modes {
                prop_assert!(mode.stops.windows(2).all(|pair| pair[0].odd <= pair[1].odd));
            }
        }
    }
}
