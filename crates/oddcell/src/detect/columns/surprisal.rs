//! How surprising a score is among those of the training rows, some of which may be odd themselves.

use crate::{
    calibrate::{RobustNull, n_apart},
    detect::saved,
    tensors::{TensorError, Tensors},
};

/// Scores that a model remembers of a column; with more training rows, evenly spaced ranks.
const MOST_POINTS: usize = 1_000;
/// The highest scores are remembered one by one.
const MOST_HIGHEST: usize = 64;
/// How much a score beyond all others adds for being far beyond.
const BEYOND: f64 = 2.0;
/// No tail promises more: sums of surprises stay finite.
const MOST_PROMISED: f64 = 1e6;
/// A gap counts if at most this share of the rows lies beyond it, and as so many times the score.
const FEW: f64 = 0.02;
const GAP: f64 = 4.0;

/// Strays are looked for among this many scores or more, if the highest one is so many times the median ...
const LEAST_WITH_STRAYS: usize = 12;
const STRAYS_FROM: f64 = 3.0;
/// ... by comparing so many ranks.
const MOST_COMPARED: usize = 200;
/// Strays are at most this share of the scores, and scattered at least so many times as widely as the middle.
const MOST_STRAYS: f64 = 0.4;
const SCATTERED: f64 = 0.5;
/// The share of different ones among strays.
const DIFFERENT: f64 = 0.6;

/// The scores of training rows, as a null distribution.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Surprisal {
    /// How many there are.
    n: usize,
    points: Vec<f64>,
    /// The highest ones, rising.
    highest: Vec<f64>,
    null: RobustNull,
}

impl Surprisal {
    /// The most scores that are kept.
    pub(super) const MOST_KEPT: usize = MOST_POINTS + MOST_HIGHEST;

    /// Learns from scores like [`Surprisal::learn`], but first sets the highest ones aside if they cannot belong to the others.
    pub(super) fn learn_apart(mut scores: Vec<f64>, core: f64) -> Self {
        scores.sort_unstable_by(f64::total_cmp);
        let n_apart = strays(&scores, core);
        scores.truncate(scores.len() - n_apart);
        Self::learn(scores)
    }

    /// Learns from scores, all finite and at least 0; there may be none.
    pub(super) fn learn(mut scores: Vec<f64>) -> Self {
        scores.sort_unstable_by(f64::total_cmp);
        let highest = scores[scores.len().saturating_sub(MOST_HIGHEST)..].to_vec();
        Self::of_parts(scores.len(), highest, thinned(scores, MOST_POINTS))
    }

    fn of_parts(n: usize, highest: Vec<f64>, points: Vec<f64>) -> Self {
        Self { n, null: RobustNull::fit(points.clone()), points, highest }
    }

    /// −ln of the share of rows with at least this score; more where none has it.
    pub(super) fn of(&self, score: f64) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let at_least = |sorted: &[f64]| sorted.len() - sorted.partition_point(|&other| other < score);
        let n = self.n as f64;
        let mut others = at_least(&self.highest) as f64;
        if others == self.highest.len() as f64 {
            others = others.max(at_least(&self.points) as f64 * n / self.points.len() as f64);
        }
        let rank = libm::log((n + 1.0) / (others + 1.0));
        let tail = self.null.surprise(score).min(MOST_PROMISED) - rank;
        // The more rows are there, the less the tail that the others promise has to say.
        let below = self.points.partition_point(|&other| other < score);
        let is_clean = !self.null.has_tail()
            && (self.points.len() - below) as f64 <= FEW * self.points.len() as f64
            && below.checked_sub(1).is_some_and(|next| self.points[next] < 0.5 * score);
        // Where nearly all rows have the same score, no tail can be seen, but a gap.
        let tail = if is_clean { tail.max(GAP * score).min(MOST_PROMISED) } else { tail };
        // The more rows are there, the less the tail that the others promise has to say.
        if tail > 0.0 { rank + BEYOND * libm::log1p(tail) / (others + 1.0) } else { rank.max(0.0) }
    }

    /// The score that this share of the training rows does not exceed; 0 if there are none.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let last = self.points.len().saturating_sub(1) as f64;
        self.points.get((last * share).round() as usize).copied().unwrap_or(0.0)
    }

    pub(super) fn put(&self, tensors: &mut Tensors, name: &str) {
        put_points(tensors, name, &self.points);
        put_points(tensors, &format!("{name}.highest"), &self.highest);
        tensors.put_f64(&format!("{name}.all"), &[1], vec![self.n as f64]);
    }

    pub(super) fn take(tensors: &mut Tensors, name: &str) -> Result<Self, TensorError> {
        let points = take_points(tensors, name, MOST_POINTS)?;
        let highest = take_points(tensors, &format!("{name}.highest"), MOST_HIGHEST)?;
        let n = tensors.take_f64(&format!("{name}.all"), &[1])?[0];
        if points.first().is_some_and(|&first| first < 0.0) {
            return Err(saved::invalid(name, &"scores must be at least 0"));
        }
        let fits = (points.len() as f64..=9e15).contains(&n)
            && n.fract() == 0.0
            && highest.len() as f64 == n.min(MOST_HIGHEST as f64)
            && points.last() == highest.last();
        if fits {
            Ok(Self::of_parts(n as usize, highest, points))
        } else {
            Err(saved::invalid(name, &"its counts contradict each other"))
        }
    }
}

/// How many of the highest of these sorted scores are strays: they cannot belong to the others, and they lie scattered, at least
/// as far apart as `core`, the width of the middle of the column. (A second group that lies as close together as the first is
/// another kind of normal.)
fn strays(sorted: &[f64], core: f64) -> usize {
    let n = sorted.len();
    let (Some(&median), Some(&highest)) = (sorted.get(n / 2), sorted.last()) else { return 0 };
    if n < LEAST_WITH_STRAYS || highest < STRAYS_FROM * median {
        return 0;
    }
    let some = thinned(sorted.to_vec(), MOST_COMPARED);
    let n_apart = n_apart(&some) * n / some.len();
    let apart = &sorted[n - n_apart..];
    let quarter = |share: f64| apart.get((apart.len() as f64 * share) as usize).copied().unwrap_or(0.0);
    let n_different = apart.chunk_by(|a, b| a == b).count();
    let is_scattered = quarter(0.75) - quarter(0.25) >= SCATTERED * core
        && n_different as f64 >= DIFFERENT * apart.len() as f64;
    if is_scattered && n_apart as f64 <= MOST_STRAYS * n as f64 { n_apart } else { 0 }
}

/// At most `most` of these sorted numbers: evenly spaced ranks, both ends among them.
fn thinned(sorted: Vec<f64>, most: usize) -> Vec<f64> {
    let n = sorted.len();
    if n <= most { sorted } else { (0..most).map(|at| sorted[at * (n - 1) / (most - 1)]).collect() }
}

/// Writes sorted numbers and how many they are, so that a file that lost some is refused.
fn put_points(tensors: &mut Tensors, name: &str, points: &[f64]) {
    tensors.put_f64(name, &[points.len()], points.to_vec());
    tensors.put_u32(&format!("{name}.count"), &[1], vec![points.len() as u32]);
}

/// Takes at most `most` sorted numbers.
fn take_points(tensors: &mut Tensors, name: &str, most: usize) -> Result<Vec<f64>, TensorError> {
    let count = tensors.take_u32(&format!("{name}.count"), &[1])?[0] as usize;
    if count > most {
        return Err(saved::invalid(name, &format!("it must hold at most {most} numbers")));
    }
    let points = tensors.take_f64(name, &[count])?;
    if points.is_sorted() { Ok(points) } else { Err(saved::invalid(name, &"it must be in rising order")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Three of four scores are at least 2: with the new one 4 of 5. Four scores make no tail: −ln(3/4) for 2; for 8, beyond all,
    // −ln(1/4) + ln(8/4). What that promises beyond the rank counts by its logarithm, the less the more scores are there.
    #[test]
    fn few_scores_are_ranked_and_those_beyond_count_by_their_ratio() {
        let surprisal = Surprisal::learn(vec![3.0, 1.0, 4.0, 2.0]);
        let counted = |rank: f64, tail: f64, others: f64| {
            rank.ln() + BEYOND * (tail.ln() - rank.ln()).ln_1p() / (others + 1.0)
        };
        assert!((surprisal.of(2.0) - counted(5.0 / 4.0, 4.0 / 3.0, 3.0)).abs() < 1e-12);
        assert!((surprisal.of(8.0) - counted(5.0, 8.0, 0.0)).abs() < 1e-12);
        assert_eq!(surprisal.of(0.5), 0.0);
        assert_eq!(Surprisal::learn(Vec::new()).of(9.0), 0.0);
    }

    #[test] // Two of 1,000 rows have 4, all others 0: rank ln(1001/3), and a gap of 4 · 4.
    fn a_gap_counts_where_nearly_all_scores_are_equal() {
        let mut scores = vec![0.0; 998];
        scores.extend([4.0; 2]);
        let surprisal = Surprisal::learn(scores);
        let expected = (1_001f64 / 3.0).ln() + BEYOND * (GAP * 4.0).ln_1p() / 3.0;
        assert!((surprisal.of(4.0) - expected).abs() < 1e-12, "{}", surprisal.of(4.0));
        assert_eq!(surprisal.of(0.0), 0.0);
    }

    #[test]
    fn a_higher_score_is_never_less_surprising_and_many_scores_are_thinned_evenly() {
        let mut stream = crate::Seed(5).stream("scores", &[]);
        let surprisal = Surprisal::learn((0..5_000).map(|_| stream.normal().abs()).collect());
        assert_eq!(surprisal.points.len(), MOST_POINTS);
        let surprises: Vec<f64> = (0..400).map(|at| surprisal.of(f64::from(at) * 0.05)).collect();
        assert!(surprises.is_sorted());
        // Half of the scores lie beyond 0.6745, one in a hundred beyond 2.576.
        assert!((surprisal.of(0.6745) - 2f64.ln()).abs() < 0.1, "{}", surprisal.of(0.6745));
        assert!((surprisal.of(2.576) - 100f64.ln()).abs() < 1.0, "{}", surprisal.of(2.576));
    }
}
