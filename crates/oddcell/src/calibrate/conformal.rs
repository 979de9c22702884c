//! Conformal p-values from the scores of held-out normal rows.
//!
//! *Formula:* with calibration scores c₁ … cₙ, p(s) = (1 + #{cᵢ ≥ s}) / (n + 1). For a new row that is
//! exchangeable with the calibration rows, P(p ≤ α) ≤ α for every α, with equality at α = k/(n + 1) if no
//! scores are tied; ties only make p larger.
//!
//! *Invariants:* p ∈ {1/(n+1), …, 1}, and p never increases with the score.

use crate::tensors::TensorError;

/// Scores of normal rows that were not used for training.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Ascending, finite.
    sorted: Vec<f64>,
}

impl Calibration {
    /// Calibrates with these scores, in any order. They must be finite, as the scores of every detector are.
    #[must_use]
    pub fn conformal(mut scores: Vec<f64>) -> Self {
        scores.sort_unstable_by(f64::total_cmp);
        Self { sorted: scores }
    }

    /// Checks and wraps the scores of a model file: there must be some, finite and ascending.
    #[doc(hidden)]
    pub fn from_sorted(name: &str, scores: Vec<f64>) -> Result<Self, TensorError> {
        let invalid = |reason: String| Err(TensorError::Invalid { name: name.to_owned(), reason });
        if scores.is_empty() {
            return invalid("there are no calibration scores".to_owned());
        }
        if let Some(index) = scores.iter().position(|score| !score.is_finite()) {
            let value = scores[index].to_string();
            return Err(TensorError::NotFinite { name: name.to_owned(), index, value });
        }
        match scores.windows(2).position(|pair| pair[0] > pair[1]) {
            None => Ok(Self { sorted: scores }),
            Some(at) => invalid(format!("calibration scores must ascend, but value {} is smaller", at + 1)),
        }
    }

    /// The number of calibration scores.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are no scores; every p-value is then 1.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The scores, ascending.
    #[must_use]
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The number of calibration scores that are at least `score`.
    #[must_use]
    pub fn count_at_least(&self, score: f64) -> usize {
        self.sorted.len() - self.sorted.partition_point(|&other| other < score)
    }

    /// The conformal p-value (1 + #{calibration ≥ score}) / (n + 1).
    #[must_use]
    pub fn p_value(&self, score: f64) -> f64 {
        Self::pooled_p_value(self.count_at_least(score), self.len())
    }

    /// The p-value of a row if `count` of `n` calibration scores are at least its score. Cross-fitted models
    /// sum both figures over their members.
    #[must_use]
    pub(crate) fn pooled_p_value(count: usize, n: usize) -> f64 {
        (1 + count) as f64 / (1 + n) as f64
    }

    /// The score that a share `contamination` of the calibration scores exceeds: the quantile 1 −
    /// contamination with linear interpolation, as in `PyOD`. A row is anomalous if its score is *above* it.
    /// The threshold is infinite if there are no calibration scores.
    #[must_use]
    pub fn threshold(&self, contamination: f64) -> f64 {
        self.quantile(1.0 - contamination)
    }

    /// The quantile at `share` ∈ [0, 1], linearly interpolated at the position share · (n − 1).
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else { return f64::INFINITY };
        let position = share * last as f64;
        // The cast saturates: a share outside [0, 1] gives the smallest or the largest score.
        let below = (position.floor() as usize).min(last);
        let above = (below + 1).min(last);
        let (low, high) = (self.sorted[below], self.sorted[above]);
        low + (high - low) * (position - below as f64).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    #[test] // Three scores: p(s) = (1 + #{scores ≥ s})/4.
    fn p_values_match_the_counts_worked_out_by_hand() {
        let calibration = Calibration::conformal(vec![2.0, 1.0, 2.0]);
        let p: Vec<f64> = [0.0, 1.0, 1.5, 2.0, 2.5].iter().map(|&s| calibration.p_value(s)).collect();
        assert_eq!(p, [1.0, 1.0, 0.75, 0.75, 0.25]);
        assert_eq!(Calibration::conformal(vec![]).p_value(9.0), 1.0);
    }

    // Scores 0, 1, 2, 3, 4: position (1 − 0.1) · 4 = 3.6 lies between 3 and 4: 3.6. 25 %: position 3, exactly
    // 3.
    #[test]
    fn the_contamination_threshold_is_the_interpolated_quantile() {
        let calibration = Calibration::conformal(vec![4.0, 2.0, 0.0, 3.0, 1.0]);
        assert!((calibration.threshold(0.1) - 3.6).abs() < 1e-12);
        assert_eq!(calibration.threshold(0.25), 3.0);
        assert_eq!(calibration.threshold(0.0), 4.0);
        assert_eq!(calibration.threshold(1.0), 0.0);
        assert_eq!(Calibration::conformal(vec![]).threshold(0.1), f64::INFINITY);
        assert_eq!(Calibration::conformal(vec![7.0]).threshold(0.1), 7.0);
    }

    #[test]
    fn scores_from_a_file_must_be_there_finite_and_ascending() {
        assert!(Calibration::from_sorted("c", vec![1.0, 1.0, 2.0]).is_ok());
        assert!(matches!(Calibration::from_sorted("c", vec![]), Err(TensorError::Invalid { .. })));
        assert!(matches!(
            Calibration::from_sorted("c", vec![1.0, f64::NAN]),
            Err(TensorError::NotFinite { index: 1, .. })
        ));
        let message = Calibration::from_sorted("c", vec![1.0, 3.0, 2.0]).unwrap_err().to_string();
        assert_eq!(message, "tensor `c`: calibration scores must ascend, but value 2 is smaller");
    }

    // The exact law: over calibration set and row together, (n + 1) · p is uniform on 1 ..= n + 1. One fresh
    // row per fresh calibration set, so that the draws are independent. Kolmogorov-Smirnov against that
    // discrete law is conservative; the 0.1 % critical value for N draws is 1.95/√N.
    #[test]
    fn p_values_of_fresh_normal_rows_are_uniform() {
        let (draws, n) = (4_000, 19);
        let mut counts = vec![0usize; n + 1];
        for draw in 0..draws {
            let mut stream = Seed(5).stream("fresh", &[draw]);
            let calibration = Calibration::conformal((0..n).map(|_| stream.normal()).collect());
            let p = calibration.p_value(stream.normal());
            counts[(p * (n + 1) as f64).round() as usize - 1] += 1;
        }
        let (mut below, mut distance) = (0, 0.0f64);
        for (k, count) in counts.iter().enumerate() {
            below += count;
            distance = distance.max((below as f64 / draws as f64 - (k + 1) as f64 / (n + 1) as f64).abs());
        }
        assert!(distance < 1.95 / (draws as f64).sqrt(), "KS distance {distance}, counts {counts:?}");
    }

    // One model, many rows: given the calibration set, p is uniform up to that set's own sampling error. With
    // n calibration and N fresh rows this is the two-sample Kolmogorov-Smirnov test: 1.95 · √(1/n + 1/N).
    #[test]
    fn one_calibration_set_gives_uniform_p_values_up_to_its_own_error() {
        let (n, fresh) = (2_000, 5_000);
        let mut stream = Seed(6).stream("fresh", &[]);
        let calibration = Calibration::conformal((0..n).map(|_| stream.normal().exp()).collect());
        let mut p: Vec<f64> = (0..fresh).map(|_| calibration.p_value(stream.normal().exp())).collect();
        p.sort_unstable_by(f64::total_cmp);
        let distance =
            p.iter().enumerate().map(|(i, p)| ((i + 1) as f64 / fresh as f64 - p).abs()).fold(0.0, f64::max);
        let critical = 1.95 * (1.0 / n as f64 + 1.0 / fresh as f64).sqrt();
        assert!(distance < critical, "KS distance {distance}, critical {critical}");
    }

    proptest! {
        #[test] // Law: the definition by counting, monotone, within its range.
        fn the_p_value_is_the_count_and_never_increases(
            scores in prop::collection::vec(-5i8..6, 0..30), asked in prop::collection::vec(-60i8..60, 1..20)
        ) {
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let mut asked: Vec<f64> = asked.into_iter().map(|tenths| f64::from(tenths) / 10.0).collect();
            asked.sort_unstable_by(f64::total_cmp);
            let calibration = Calibration::conformal(scores.clone());
            let mut previous = 1.0;
            for score in asked {
                let count = scores.iter().filter(|&&other| other >= score).count();
                let p = calibration.p_value(score);
                prop_assert_eq!(p, (1 + count) as f64 / (1 + scores.len()) as f64);
                prop_assert!(p <= previous && p > 0.0);
                previous = p;
            }
        }
    }
}
