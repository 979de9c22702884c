//! How many of the highest scores of a table cannot belong to the others.
//!
//! *Why:* a null that is fitted to normal and odd rows alike finds nothing once the odd ones are more than it may ignore.
//!
//! *Formula:* for a score c with N higher ones, the scores between the median u of those up to c and c itself are fitted
//! with the tail of `robust`, exp(−a·τ) with τ = t + κt², but *truncated* at c: nothing about the N higher ones enters. Of
//! m fitted scores, E = m·S/(1 − S) normal ones should lie beyond c, with S = exp(−a·τ(c)). E is not the best estimate but
//! the highest that the fitted scores do not contradict (within 6 units of log-likelihood, over all a and κ). If N is at
//! least 3·E and exceeds E by three standard deviations of a count, then N − E scores are too many. Among the candidates
//! for c (evenly spaced ones, and those before the widest gaps), the one with the most such scores decides.
//!
//! *Why it errs on the safe side:* in a clean table, whatever the shape of its tail, the scores beyond c continue those
//! before it, and N is about E. Only scores that become *more* frequent further out, as those of two groups do, are set
//! apart.
//!
//! *Invariants:* at most two fifths of the scores are set apart, always the highest · the unit of the scores does not
//! matter.

use super::robust::{bent, log_ratio};

/// The low quantile that serves as the origin if scores can be negative.
pub(super) const ORIGIN_AT: f64 = 0.01;
/// The most scores to set apart. With more, it would be open which of the two groups is the normal one.
const MOST: f64 = 0.4;
/// The fewest scores to set apart.
const LEAST: f64 = 3.0;
/// How many times as many scores as expected must lie beyond c.
const TIMES: f64 = 3.0;
/// By how many standard deviations they must exceed the expected number.
const DEVIATIONS: f64 = 3.0;
/// How much log-likelihood the highest expected number may cost.
const DROP: f64 = 6.0;
/// Candidates for c that are evenly spaced, and those before gaps.
const N_EVEN: usize = 24;
const N_GAPS: usize = 16;
/// The fewest scores to fit.
const LEAST_FITTED: usize = 10;
/// Of more scores, only about so many are fitted, evenly spaced: more would not change what is set apart.
const MOST_FITTED: usize = 4_000;
/// The candidates for κ · t(c) are 0 and 0.1 · 2ᵏ.
const N_BENDS: i32 = 9;
/// The candidates for a · τ(c): from a tail that hardly falls up to c to one that has no room beyond it.
const RATES: std::ops::RangeInclusive<f64> = 0.05..=60.0;
const N_RATES: i32 = 50;

/// The order statistic at `share` of ascending scores.
pub(super) fn order_statistic(sorted: &[f64], share: f64) -> f64 {
    let n = sorted.len();
    sorted[((share * n as f64) as usize).clamp(1, n) - 1]
}

/// How many of the highest of these ascending scores are too many to belong to the others.
pub(crate) fn n_apart(sorted: &[f64]) -> usize {
    let origin = order_statistic(sorted, ORIGIN_AT).min(0.0);
    let too_many = |beyond: usize| {
        let expected = most_expected(&sorted[..sorted.len() - beyond], origin)?;
        let n = beyond as f64;
        let enough =
            n >= LEAST && n >= TIMES * expected && n - expected > DEVIATIONS * expected.max(1.0).sqrt();
        enough.then(|| (n - expected.ceil()) as usize)
    };
    candidates(sorted, origin).into_iter().filter_map(too_many).max().unwrap_or(0)
}

/// Numbers of scores that may lie beyond c.
fn candidates(sorted: &[f64], origin: f64) -> Vec<usize> {
    let most = (MOST * sorted.len() as f64) as usize;
    let top = &sorted[sorted.len() - most - 1..];
    if most == 0 || top[0] <= origin {
        return Vec::new();
    }
    // The gap before the `beyond` highest scores, as a ratio.
    let gap = |beyond: usize| {
        let at = top.len() - beyond;
        (top[at] - origin) / (top[at - 1] - origin)
    };
    let mut widest: Vec<usize> = (1..=most).collect();
    widest.sort_by(|&one, &other| gap(other).total_cmp(&gap(one)));
    widest.truncate(N_GAPS);
    let even = (1..=N_EVEN).map(|step| (most * step / N_EVEN).max(1));
    let mut all: Vec<usize> = widest.into_iter().chain(even).collect();
    all.sort_unstable();
    all.dedup();
    // Beyond c, that is, above it: equal scores are on one side.
    all.retain(|&beyond| gap(beyond) > 1.0);
    all
}

/// E: the most normal scores that can lie beyond the last of these ascending ones.
fn most_expected(inner: &[f64], origin: f64) -> Option<f64> {
    let (start, end) = (order_statistic(inner, 0.5), *inner.last()?);
    let tail = &inner[inner.partition_point(|&score| score <= start)..];
    if tail.len() < LEAST_FITTED || start <= origin {
        return None;
    }
    let step = tail.len().div_ceil(MOST_FITTED);
    let logs: Vec<f64> = tail.iter().step_by(step).map(|&score| log_ratio(score, start, origin)).collect();
    let bound = log_ratio(end, start, origin);
    if !(bound > 0.0 && bound.is_finite()) {
        return None;
    }
    let m = logs.len() as f64;
    let mut fits = Vec::with_capacity(((N_BENDS + 1) * N_RATES) as usize);
    for bend in std::iter::once(0.0).chain((0..N_BENDS).map(|k| 0.1 * 2f64.powi(k))) {
        let bend = bend / bound;
        let bent_bound = bent(bound, bend);
        let exposure: f64 = logs.iter().map(|&t| bent(t, bend)).sum::<f64>() / bent_bound;
        let hazards: f64 = logs.iter().map(|&t| libm::log1p(2.0 * bend * t)).sum();
        for step in 0..N_RATES {
            let ratio = RATES.end() / RATES.start();
            let rate = RATES.start() * libm::pow(ratio, f64::from(step) / f64::from(N_RATES - 1));
            let inside = -libm::expm1(-rate);
            let likelihood =
                m * libm::log(rate / bent_bound) + hazards - rate * exposure - m * libm::log(inside);
            fits.push((likelihood, libm::exp(-rate) / inside));
        }
    }
    let best = fits.iter().map(|fit| fit.0).fold(f64::NEG_INFINITY, f64::max);
    let odds = fits.iter().filter(|fit| fit.0 >= best - DROP).map(|fit| fit.1).fold(0.0, f64::max);
    Some(odds * tail.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// `n` exponential scores, but the first `n_odd` are 20 to 30.
    fn scores(n: usize, n_odd: usize, seed: u64) -> Vec<f64> {
        let mut stream = Seed(seed).stream("apart", &[]);
        let mut scores: Vec<f64> = (0..n).map(|_| -(1.0 - stream.uniform()).ln()).collect();
        scores[..n_odd].iter_mut().for_each(|score| *score = 20.0 + 10.0 * stream.uniform());
        scores.sort_unstable_by(f64::total_cmp);
        scores
    }

    #[test]
    fn a_second_group_is_set_apart_and_two_fifths_are_the_most() {
        for (n, n_odd) in [(300, 45), (300, 90), (3_000, 450), (3_000, 900)] {
            let apart = n_apart(&scores(n, n_odd, 1));
            assert!((n_odd * 4 / 5..=n_odd).contains(&apart), "{apart} of {n_odd} in {n}");
        }
        assert!(n_apart(&scores(300, 150, 1)) <= 120);
    }

    #[test]
    fn one_group_stays_together() {
        let together = (0..50).filter(|&seed| n_apart(&scores(300, 0, seed)) == 0).count();
        assert!(together >= 48, "{together}");
        assert_eq!(n_apart(&[1.0; 100]), 0);
        assert_eq!(n_apart(&[0.0; 100]), 0);
    }

    #[test]
    fn the_unit_does_not_matter() {
        let scores = scores(300, 60, 2);
        let scaled: Vec<f64> = scores.iter().map(|score| score * 1024.0).collect();
        assert_eq!(n_apart(&scores), n_apart(&scaled));
    }
}
