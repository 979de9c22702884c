//! p-values for a table judged by its own rows, although some of them may be anomalies.
//!
//! *Why:* ranks within one table do not tell how many of its rows are odd: the oddest of n rows has rank 1/n
//! in a clean table, too. So we model the tail of the normal scores from the part of the table that can be
//! trusted. The highest tenth of the scores is only counted, not measured: how far out it lies does not
//! change the p-values.
//!
//! *Formula:* with the sorted scores s₁ ≤ … ≤ sₙ let u be the median, c the 90 % quantile (both order
//! statistics), o = min(0, 1 % quantile) the origin, and t(s) = ln((s − o)/(u − o)). Beyond u, a normal score
//! exceeds s with probability exp(−a·τ), with τ = t + κt² and κ ≥ 0: a Pareto tail for κ = 0, a tail like the
//! log-normal's for κ > 0. Censored at c, the rate a has the m = #{u < sᵢ ≤ c} measured values and the
//! exposure T = Σ τ(sᵢ) + #{sᵢ > c} · τ(c) as sufficient statistics. Then
//!
//! ```text
//! p(s) = #{sᵢ ≥ s}/n                         up to u
//! p(s) = #{sᵢ > u}/n · (1 + τ(s)/T)^(−m)     beyond u
//! ```
//!
//! For given κ, the last factor is the exact chance that a new score exceeds s, including the uncertainty of
//! the fitted rate m/T (τ/(T/m) follows F(2, 2m) under type II censoring; Lawless 1971). With many rows it is
//! the maximum-likelihood tail exp(−τ·m/T); with few rows it is heavier, as it must be.
//!
//! The choice of κ is cautious: the smallest value whose profile likelihood is within one standard error (1/2
//! in the logarithm) of the best, so that the tail is as heavy as the data allow. In t, the tails of chi,
//! exponential and normal scores fall faster than any of these, so p errs on the safe side for them.
//!
//! *How many rows are normal:* with more anomalies than the censored tenth, c lies among them, the tail seems to have no
//! end, and nothing is found. So `apart` first estimates how many of the highest scores cannot belong to the rest, and the
//! null is fitted to the others. *Deep tails:* a tail that is heavier further out than between u and c, as the distances
//! of heavy-tailed rows have it, would make p too small. So the fit is repeated on ever fewer rows, from the 80, 92, 96.8 …
//! % quantile (of a part of 0.4ᵏ/2, the lowest three quarters are measured and the rest is counted) while 10 scores are
//! measured, with κ = 0, and p is the largest of all fits. *Ties:* copies of a row all score the same, or nearly zero. If at
//! least a twentieth of the scores is equal, and below the median, quantiles are those of the scores above.
//!
//! *Why these constants:* up to a tenth of the rows may be anomalies without affecting the fit, and two
//! fifths of the rows remain to fit it. `docs/calibration.md` has the measured false alarms and rows found. κ = 0
//! throughout would be safe there, too, but would miss rows at three times the 99.5 %
//! quantile of exponential and normal scores, however many rows there are. A tail from 30 % instead of 50 %
//! detected less in half-normal and exponential scores, one from 65 % less in nearly all.
//!
//! However far out a score is, p is never below 1/(1000·n): n rows do not justify less, and it is small
//! enough for Benjamini–Hochberg at 0.1 % to flag a single row.
//!
//! *Invariants:* p ∈ (0, 1], and p never increases with the score. Scaling the scores changes nothing. With
//! fewer than 20 scores, or so many ties that nothing is left between u and c, p is the rank #{sᵢ ≥ s}/n, at
//! least 1/n.

use super::{
    Calibration,
    apart::{ORIGIN_AT, n_apart, order_statistic},
};

/// The fewest scores to fit a tail to.
const MIN_SCORES: usize = 20;
/// The quantile at which the modeled tail starts.
const TAIL_FROM: f64 = 0.5;
/// The quantile from which scores are counted but not measured.
const CENSORED_FROM: f64 = 0.9;
/// Every deeper tail starts where this share of the rows of the one before is left.
const DEEPER: f64 = 0.4;
/// The share of a deeper tail's rows that is counted but not measured.
const CENSORED_DEEPER: f64 = 0.25;
/// The fewest scores to measure in a deeper tail.
const MIN_MEASURED: f64 = 10.0;
/// Scores that are equal to each other and at least this share of all are copies.
const COPIES: f64 = 0.05;
/// The log-likelihood that a heavier tail may cost: one standard error.
const CAUTION: f64 = 0.5;
/// The candidates for κ · t(c) are 0 and 0.02 · 1.2ᵏ up to k = 39, that is 24: a tail that bends within the
/// data.
const BENDS: i32 = 40;

/// The smallest p-value, in units of 1/n.
const LEAST: f64 = 1e-3;

/// The distribution of normal scores, fitted to scores that may include anomalies.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustNull {
    reference: Calibration,
    /// The highest scores that were left out, because they cannot belong to the others.
    n_apart: usize,
    /// The tail beyond the median, then the deeper ones.
    tails: Vec<Tail>,
    /// Whether the tails are those of exp(score).
    of_powers: bool,
}

/// A tail of the scores; see the module's formula for the letters.
#[derive(Debug, Clone, PartialEq)]
struct Tail {
    /// o, where the logarithm starts.
    origin: f64,
    /// u, where the tail starts.
    start: f64,
    /// #{sᵢ > u}/n.
    share: f64,
    /// κ, how much faster than a Pareto tail it falls.
    bend: f64,
    /// m, how many scores were measured.
    measured: f64,
    /// T, the sum of τ, with censored scores at their bound.
    exposure: f64,
}

impl RobustNull {
    /// Fits one tail to scores, in any order; at most a tenth of them may be anomalies. They must be finite, as those of
    /// every detector are.
    #[must_use]
    pub fn fit(scores: Vec<f64>) -> Self {
        let reference = Calibration::conformal(scores);
        let tails = Tail::fit(reference.sorted(), 0, TAIL_FROM, CENSORED_FROM, true).into_iter().collect();
        Self { reference, n_apart: 0, tails, of_powers: false }
    }

    /// Fits the distribution to all scores of a table, in any order; up to two fifths of them may be anomalies.
    #[must_use]
    pub(crate) fn of_table(scores: Vec<f64>) -> Self {
        let reference = Calibration::conformal(scores);
        let n_apart = if reference.len() < MIN_SCORES { 0 } else { n_apart(reference.sorted()) };
        let rest = &reference.sorted()[..reference.len() - n_apart];
        let copies = end_of_copies(rest);
        let mut tails: Vec<Tail> =
            Tail::fit(rest, copies, TAIL_FROM, CENSORED_FROM, true).into_iter().collect();
        let mut left = (1.0 - TAIL_FROM) * DEEPER;
        let n = (rest.len() - copies) as f64;
        while !tails.is_empty() && (1.0 - CENSORED_DEEPER) * left * n >= MIN_MEASURED {
            tails.extend(Tail::fit(rest, copies, 1.0 - left, 1.0 - CENSORED_DEEPER * left, false));
            left *= DEEPER;
        }
        Self { reference, n_apart, tails, of_powers: false }
    }

    /// Fits the distribution to scores that are surprises themselves, −ln of a share. Such scores fall like e^−s, so the
    /// tail is that of e^s.
    #[must_use]
    pub(crate) fn of_surprises(scores: Vec<f64>) -> Self {
        let reference = Calibration::conformal(scores);
        let powers: Vec<f64> = reference.sorted().iter().map(|&score| power(score)).collect();
        let tails = Tail::fit(&powers, 0, TAIL_FROM, CENSORED_FROM, false).into_iter().collect();
        Self { reference, n_apart: 0, tails, of_powers: true }
    }

    /// How many of the highest scores cannot belong to the others, and were left out of the fit.
    #[must_use]
    pub fn n_apart(&self) -> usize {
        self.n_apart
    }

    /// The share of normal rows that score at least this high.
    #[must_use]
    pub fn p_value(&self, score: f64) -> f64 {
        let placed = if self.of_powers { power(score) } else { score };
        match self.tails.first() {
            Some(tail) if placed > tail.start => {
                let p = self.tails.iter().map(|tail| tail.p_value(placed)).fold(0.0, f64::max);
                p.max(LEAST / self.reference.len() as f64)
            }
            _ => self.reference.count_at_least(score).max(1) as f64 / self.reference.len().max(1) as f64,
        }
    }

    /// −ln of the p-value, but without an end: far out, a higher score is always more surprising. Without a tail, a
    /// score beyond all others counts by its ratio to the highest.
    pub(crate) fn surprise(&self, score: f64) -> f64 {
        match self.tails.first() {
            Some(tail) if score > tail.start => {
                self.tails.iter().map(|tail| tail.surprise(score)).fold(f64::INFINITY, f64::min)
            }
            _ => {
                let sorted = self.reference.sorted();
                let highest = sorted.last().copied().unwrap_or(0.0);
                let beyond = if score > highest && highest > 0.0 { libm::log(score / highest) } else { 0.0 };
                let share =
                    self.reference.count_at_least(score).max(1) as f64 / self.reference.len().max(1) as f64;
                beyond - libm::log(share)
            }
        }
    }

    /// All scores it was fitted to. Their [`Calibration::threshold`] is that of `PyOD` for a fitted table.
    #[must_use]
    pub fn reference(&self) -> &Calibration {
        &self.reference
    }

    /// The note to show if no tail was fitted.
    pub(crate) const WITHOUT_TAIL: &str =
        "too few rows, or too many equal scores, to estimate p-values: they are plain ranks";

    /// Whether a tail was fitted. If not, p-values are ranks.
    #[must_use]
    pub fn has_tail(&self) -> bool {
        !self.tails.is_empty()
    }
}

/// e^score, as far as numbers go.
fn power(score: f64) -> f64 {
    libm::exp(score.min(600.0))
}

impl Tail {
    /// Fits the tail from the quantile `from` on, and counts the scores beyond the quantile `censored`; both are quantiles
    /// of the scores without the `copies` lowest. It `may_bend`, or is a Pareto tail.
    fn fit(sorted: &[f64], copies: usize, from: f64, censored: f64, may_bend: bool) -> Option<Self> {
        let (n, part) = (sorted.len(), &sorted[copies..]);
        if part.len() < MIN_SCORES {
            return None;
        }
        let (start, bound) = (order_statistic(part, from), order_statistic(part, censored));
        let origin = order_statistic(sorted, ORIGIN_AT).min(0.0);
        let first = sorted.partition_point(|&score| score <= start);
        let censored_from = sorted.partition_point(|&score| score <= bound);
        let sample = Sample {
            measured: sorted[first..censored_from].iter().map(|&s| log_ratio(s, start, origin)).collect(),
            n_censored: (n - censored_from) as f64,
            bound: log_ratio(bound, start, origin),
        };
        // False for u = o (half of the scores are zero), for c = u (ties), and if a difference overflows.
        if !(sample.bound > 0.0 && sample.bound.is_finite()) {
            return None;
        }
        let bend = if may_bend { sample.cautious_bend() } else { 0.0 };
        Some(Self {
            origin,
            start,
            share: (n - first) as f64 / n as f64,
            bend,
            measured: sample.measured.len() as f64,
            exposure: sample.exposure(bend),
        })
    }

    /// Up to its start, the share of the tail.
    fn p_value(&self, score: f64) -> f64 {
        // The exponential underflows far out, but p must not be 0.
        (self.share * libm::exp(-self.fall(score))).max(f64::MIN_POSITIVE)
    }

    /// −ln p.
    fn surprise(&self, score: f64) -> f64 {
        self.fall(score) - libm::log(self.share)
    }

    /// −ln of the chance that a score beyond u is at least this high.
    fn fall(&self, score: f64) -> f64 {
        if score <= self.start {
            return 0.0;
        }
        let tau = bent(log_ratio(score, self.start, self.origin), self.bend);
        self.measured * libm::log1p(tau / self.exposure)
    }
}

/// Where the scores above copies begin: above the highest score up to the median that a [`COPIES`] share of the rows has.
fn end_of_copies(sorted: &[f64]) -> usize {
    let n = sorted.len();
    let (mut begin, mut copies) = (0, 0);
    while begin < n {
        let end = begin + sorted[begin..].partition_point(|&score| score <= sorted[begin]);
        if 2 * end > n {
            break;
        }
        if (end - begin) as f64 >= COPIES * n as f64 {
            copies = end;
        }
        begin = end;
    }
    copies
}

/// t(s).
pub(super) fn log_ratio(score: f64, start: f64, origin: f64) -> f64 {
    libm::log((score - origin) / (start - origin))
}

/// τ = t + κt².
pub(super) fn bent(t: f64, bend: f64) -> f64 {
    t + bend * t * t
}

/// The scores beyond u as t(s), censored at c.
struct Sample {
    /// The scores up to c. Never empty: c itself is among them, since t(c) > 0.
    measured: Vec<f64>,
    /// The number of scores beyond c.
    n_censored: f64,
    /// t(c).
    bound: f64,
}

impl Sample {
    /// T.
    fn exposure(&self, bend: f64) -> f64 {
        self.measured.iter().map(|&t| bent(t, bend)).sum::<f64>() + self.n_censored * bent(self.bound, bend)
    }

    /// The log-likelihood of κ with the best rate for it, up to a constant: the density is a(1 +
    /// 2κt)·exp(−aτ), and a = m/T maximizes it.
    fn profile_likelihood(&self, bend: f64) -> f64 {
        let hazards: f64 = self.measured.iter().map(|&t| libm::log1p(2.0 * bend * t)).sum();
        hazards - self.measured.len() as f64 * libm::log(self.exposure(bend))
    }

    /// The smallest κ that the data do not contradict.
    fn cautious_bend(&self) -> f64 {
        let bends = (0..BENDS).map(|k| 0.02 * 1.2f64.powi(k) / self.bound);
        let bends: Vec<f64> = std::iter::once(0.0).chain(bends).collect();
        let likelihoods: Vec<f64> = bends.iter().map(|&bend| self.profile_likelihood(bend)).collect();
        let best = likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = bends.iter().zip(&likelihoods).find(|&(_, &likelihood)| likelihood >= best - CAUTION);
        smallest.map_or(0.0, |(&bend, _)| bend)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Seed,
        seed::Stream,
        verdict::{Rule, verdicts},
    };

    // Ten scores up to 1 = u, then seven at e^0.1, one at e^2 = c, two beyond (20 scores: u is the 10th, c
    // the 18th). Most of the tail is close to u and the rest far away, so κ = 0 fits best: at κ = 0.1 the
    // gain is 7·ln 1.02 + ln 1.4 = 0.48, the cost 8·ln(7.907/6.7) = 1.33. m = 8, T = 7·0.1 + 2 + 2·2 = 6.7,
    // share 1/2.
    #[test]
    fn p_values_match_the_tail_worked_out_by_hand() {
        let mut scores: Vec<f64> = (1..=10).map(|tenth| f64::from(tenth) / 10.0).collect();
        scores.extend([0.1f64.exp(); 7]);
        scores.extend([2f64.exp(), 50.0, 1e9]);
        let null = RobustNull::fit(scores.clone());
        let expected = 0.5 * (1.0f64 + 1.0 / 6.7).powi(-8);
        assert!((null.p_value(1f64.exp()) - expected).abs() < 1e-12);
        assert_eq!(
            [null.p_value(1.0), null.p_value(0.95), null.p_value(0.1)],
            [11.0 / 20.0, 11.0 / 20.0, 1.0]
        );
        // How far out the censored tenth lies makes no difference.
        scores[18] = 8.0;
        scores[19] = 9.0;
        assert_eq!(RobustNull::fit(scores).p_value(30.0), null.p_value(30.0));
    }

    // The quantiles of a tail exp(−τ) with κ = 1: τ = −ln(chance) is solved by t = (√(1 + 4τ) − 1)/2.
    #[test]
    fn a_bent_tail_is_found_and_followed() {
        let score = |chance: f64| (((1.0 - 4.0 * chance.ln()).sqrt() - 1.0) / 2.0).exp();
        let tail = (0..2_000).map(|i| score(1.0 - (f64::from(i) + 0.5) / 2_000.0));
        let null = RobustNull::fit((0..2_000).map(|i| f64::from(i) / 2_000.0).chain(tail).collect());
        for chance in [0.5, 0.1, 0.01, 1e-4] {
            let ratio = null.p_value(score(chance)) / (0.5 * chance);
            // One standard error of caution: within 1 % where there are data, beyond them too large, but not
            // by much.
            assert!((0.99..4.0).contains(&ratio), "chance {chance}: {ratio} times");
        }
    }

    #[test]
    fn few_constant_or_tied_scores_fall_back_to_ranks() {
        let few = RobustNull::fit((0..19).map(f64::from).collect());
        assert_eq!([few.p_value(18.0), few.p_value(1e9), few.p_value(0.0)], [1.0 / 19.0, 1.0 / 19.0, 1.0]);
        let constant = RobustNull::fit(vec![3.0; 100]);
        assert_eq!([constant.p_value(3.0), constant.p_value(4.0)], [1.0, 0.01]);
        let mut zeros = vec![0.0; 95];
        zeros.extend([1.0, 2.0, 3.0, 4.0, 5.0]);
        let mostly_zero = RobustNull::fit(zeros);
        assert_eq!([mostly_zero.p_value(0.0), mostly_zero.p_value(4.0)], [1.0, 0.02]);
        assert_eq!(RobustNull::fit(vec![]).p_value(1.0), 1.0);
        let huge = RobustNull::fit((0..100).map(|i| if i < 50 { -f64::MAX } else { f64::MAX }).collect());
        assert!([few, constant, mostly_zero, huge].iter().all(|null| !null.has_tail()));
    }

    type Shape = fn(&mut Stream) -> f64;
    const SHAPES: [(&str, Shape); 6] = [
        ("half-normal", |stream| stream.normal().abs()),
        ("chi, 10 degrees", |stream| (0..10).map(|_| stream.normal().powi(2)).sum::<f64>().sqrt()),
        ("exponential", |stream| -(1.0 - stream.uniform()).ln()),
        ("log-normal", |stream| stream.normal().exp()),
        ("normal, half of it negative", |stream| stream.normal()),
        ("Pareto, the worst case", |stream| (1.0 - stream.uniform()).powf(-0.5)),
    ];

    fn flagged(scores: &[f64]) -> Vec<bool> {
        let null = RobustNull::of_table(scores.to_vec());
        let p_values: Vec<f64> = scores.iter().map(|&score| null.p_value(score)).collect();
        verdicts(Rule::Fdr(0.1), scores, &p_values, null.reference())
    }

    #[test]
    fn clean_tables_are_rarely_flagged_whatever_the_shape_of_their_scores() {
        for (name, shape) in SHAPES {
            let with_flags = (0..200).filter(|&table| {
                let mut stream = Seed(17).stream(name, &[table]);
                let scores: Vec<f64> = (0..300).map(|_| shape(&mut stream)).collect();
                flagged(&scores).contains(&true)
            });
            let count = with_flags.count();
            // The promise is 20 of 200.
            assert!(count <= 20, "{name}: {count} of 200 clean tables flagged");
        }
    }

    #[test]
    fn planted_anomalies_are_found_and_hardly_anything_else() {
        for (name, shape) in &SHAPES[..5] {
            let mut stream = Seed(18).stream(name, &[]);
            let mut scores: Vec<f64> = (0..3_000).map(|_| shape(&mut stream)).collect();
            let mut sorted = scores.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let planted = 4.0 * sorted[2_985];
            scores[..90].fill(planted);
            let flags = flagged(&scores);
            assert!(flags[..90].iter().all(|&flag| flag), "{name}: planted rows at {planted} missed");
            let wrong = flags[90..].iter().filter(|&&flag| flag).count();
            assert!(wrong <= 9, "{name}: {wrong} normal rows flagged");
        }
    }

    #[test] // More than the tenth that a null without `apart` can bear. It is cautious: not with every shape are they found.
    fn many_planted_anomalies_are_found_with_most_shapes() {
        let mut n_found = 0;
        for (name, shape) in &SHAPES[..5] {
            let mut stream = Seed(19).stream(name, &[45]);
            let mut scores: Vec<f64> = (0..300).map(|_| shape(&mut stream)).collect();
            let mut sorted = scores.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            for score in &mut scores[..45] {
                *score = sorted[297] * (4.0 + 4.0 * stream.uniform());
            }
            let flags = flagged(&scores);
            n_found += usize::from(flags[..45].iter().all(|&flag| flag));
            let wrong = flags[45..].iter().filter(|&&flag| flag).count();
            assert!(wrong <= 9, "{name}: {wrong} normal rows flagged beside 45");
        }
        assert!(n_found >= 3, "found with {n_found} of 5 shapes");
    }

    #[test] // Surprises of normal rows fall like e^−s: the 1 % highest have p-values of about 1 %, and 30 is far beyond.
    fn surprises_have_an_exponential_tail() {
        let mut stream = Seed(23).stream("surprises", &[]);
        let scores: Vec<f64> = (0..2_000).map(|_| 2.0 - (1.0 - stream.uniform()).ln()).collect();
        let null = RobustNull::of_surprises(scores);
        let p = null.p_value(2.0 + 100f64.ln());
        assert!((0.006..0.016).contains(&p), "{p}");
        assert!(null.p_value(12.0) < 2e-4 && null.p_value(f64::MAX) > 0.0);
        let falls: Vec<f64> = (0..300).map(|at| null.p_value(f64::from(at) * 0.1)).collect();
        assert!(falls.is_sorted_by(|one, other| one >= other));
    }

    proptest! {
        #[test] // Laws: within (0, 1], never increasing, and blind to the unit of the scores.
        fn p_values_stay_in_range_fall_with_the_score_and_have_no_unit(
            scores in prop::collection::vec(-40i16..200, 0..120), power in -8i32..9
        ) {
            let unit = 2f64.powi(power);
            let scores: Vec<f64> = scores.into_iter().map(|score| f64::from(score) / 8.0).collect();
            let scale = || scores.iter().map(|score| score * unit).collect();
            for (null, scaled) in [
                (RobustNull::fit(scores.clone()), RobustNull::fit(scale())),
                (RobustNull::of_table(scores.clone()), RobustNull::of_table(scale())),
            ] {
                let mut previous = 1.0;
                for asked in (-60..300).map(|eighth| f64::from(eighth) / 8.0).chain([1e3, 1e100, f64::MAX]) {
                    let p = null.p_value(asked);
                    prop_assert!(p > 0.0 && p <= previous, "p({asked}) = {p} after {previous}");
                    if asked < 1e100 {
                        prop_assert_eq!(p, scaled.p_value(asked * unit));
                    }
                    previous = p;
                }
            }
        }
    }
}
