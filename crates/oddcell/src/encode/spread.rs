//! Where the numbers of a column lie: mean, standard deviation, ends and normal range.
//!
//! *Formula:* mean by updating (mean += (x − mean) / k), then one more pass over d = (x − mean) / s with
//! s = max |x − mean|: mean += s · Σd/n, std = s · √(Σd²/n − (Σd/n)²). All d lie within ±1, so that nothing
//! overflows or underflows on the way, whatever the unit of the column, and far-off means cost no digits.
//!
//! *Invariants:* everything is finite · std > 0 (1 for a constant column) · min ≤ low ≤ high ≤ max and
//! min ≤ mean ≤ max · the same numbers in the same order give the same bits.

use serde::{Deserialize, Serialize};

/// What is known about the numbers of a column (for dates: seconds), nulls left aside.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The population standard deviation; 1 if all values are equal.
    pub std: f64,
    /// The least value.
    pub min: f64,
    /// The 1 % quantile: the lower end of the normal range.
    pub low: f64,
    /// The 99 % quantile: the upper end of the normal range.
    pub high: f64,
    /// The greatest value.
    pub max: f64,
}

/// How the dates of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateStyle {
    /// A time of day: `14:05:00`.
    Time,
    /// A day: `2024-02-29`.
    Day,
    /// A day and a time: `2024-02-29 14:05:00`.
    Moment,
}

const DAY: f64 = 86_400.0;

impl DateStyle {
    /// The style of a column with these seconds, none of them NaN.
    pub(super) fn of(seconds: &[f64]) -> Self {
        if seconds.iter().all(|second| second % DAY == 0.0) && seconds.iter().any(|&second| second != 0.0) {
            DateStyle::Day
        } else if seconds.iter().all(|second| (0.0..DAY).contains(second)) {
            DateStyle::Time
        } else {
            DateStyle::Moment
        }
    }
}

/// The unit that all of these seconds are whole numbers of: a day, or a second, if there is any.
pub(super) fn date_unit(seconds: &[f64]) -> Option<f64> {
    [DAY, 1.0].into_iter().find(|unit| seconds.iter().all(|second| second % unit == 0.0))
}

impl Spread {
    /// The spread of `values` (not empty, all finite), or the two ends if their difference is not finite.
    /// The order of `values` is lost.
    pub(super) fn of(values: &mut [f64]) -> Result<Self, (f64, f64)> {
        let (mut min, mut max, mut mean) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for (&x, k) in values.iter().zip(1u64..) {
            min = min.min(x);
            max = max.max(x);
            // The first step by hand: from 0 it could overflow although all values lie close together.
            mean = if k == 1 { x } else { mean + (x - mean) / k as f64 };
        }
        if !(max - min).is_finite() {
            return Err((min, max));
        }
        if min == max {
            return Ok(Self { mean: min, std: 1.0, min, low: min, high: min, max: min });
        }
        let scale = (max - mean).max(mean - min);
        let n = values.len() as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for &x in &*values {
            let d = (x - mean) / scale;
            sum += d;
            squares += d * d;
        }
        let shift = sum / n;
        let std = scale * (squares / n - shift * shift).max(0.0).sqrt();
        // Only subnormal numbers get here with nothing left: they differ by less than can be computed with.
        let std = if std > 0.0 { std } else { scale };
        let low = quantile(values, 0.01);
        let high = quantile(values, 0.99);
        Ok(Self { mean: (mean + scale * shift).clamp(min, max), std, min, low, high: high.max(low), max })
    }

    /// The same with the ends of the normal range in whole units: between two dates a quantile is finer than any of
    /// the column's dates. The values must be whole units.
    pub(super) fn in_units(self, unit: f64) -> Self {
        let whole = |end: f64| ((end / unit).round() * unit).clamp(self.min, self.max);
        Self { low: whole(self.low), high: whole(self.high), ..self }
    }

    /// Whether all values were equal.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.min == self.max
    }
}

/// The quantile with linear interpolation between the two nearest ranks: rank q (n − 1), counted from 0.
fn quantile(values: &mut [f64], q: f64) -> f64 {
    let rank = q * (values.len() - 1) as f64;
    let below = rank.floor() as usize;
    let (_, &mut left, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let right = above.iter().copied().min_by(f64::total_cmp).unwrap_or(left);
    (left + (right - left) * (rank - below as f64)).clamp(left, right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // 1, 2, 3, 4, 10: mean 20/5 = 4; squares 9+4+1+0+36 = 50, std √(50/5) = √10.
    // Quantiles: rank 0.01·4 = 0.04 ⇒ 1 + 0.04·(2 − 1) = 1.04; rank 3.96 ⇒ 4 + 0.96·(10 − 4) = 9.76.
    fn the_spread_matches_the_values_worked_out_by_hand() {
        let spread = Spread::of(&mut [4.0, 1.0, 10.0, 3.0, 2.0]).unwrap();
        assert_eq!(spread.mean, 4.0);
        assert!((spread.std - 10.0_f64.sqrt()).abs() < 1e-15);
        assert!((spread.low - 1.04).abs() < 1e-15 && (spread.high - 9.76).abs() < 1e-14);
        assert_eq!((spread.min, spread.max), (1.0, 10.0));
    }

    #[test] // 0.1 cannot be added up exactly, so a mean by summation would miss it and the std would not be 0.
    fn a_constant_column_has_its_value_as_mean_and_one_as_std() {
        let spread = Spread::of(&mut [0.1; 1000]).unwrap();
        assert_eq!(spread, Spread { mean: 0.1, std: 1.0, min: 0.1, low: 0.1, high: 0.1, max: 0.1 });
        assert!(spread.is_constant());
    }

    #[test] // a, a + 2 with a = 10¹⁵: mean a + 1, std 1. The textbook Σx² − n·mean² has nothing left here.
    fn a_far_off_mean_costs_no_digits() {
        let spread = Spread::of(&mut [1e15, 1e15 + 2.0]).unwrap();
        assert_eq!((spread.mean, spread.std), (1e15 + 1.0, 1.0));
    }

    #[test]
    fn values_at_the_ends_of_the_floats_give_finite_spreads_or_their_ends() {
        for tiny in [5e-324, 1e-320, 1e-200] {
            let spread = Spread::of(&mut [0.0, tiny]).unwrap();
            assert!(spread.std > 0.0 && spread.std <= tiny, "{spread:?}");
        }
        let spread = Spread::of(&mut [1e308, 1.5e308, 1.7e308]).unwrap();
        assert!(spread.std.is_finite() && spread.mean.is_finite());
        assert_eq!(Spread::of(&mut [-1e308, 1e308]), Err((-1e308, 1e308)));
    }

    #[test]
    fn dates_are_written_as_finely_as_the_column_needs() {
        assert_eq!(DateStyle::of(&[0.0, 3.0 * DAY]), DateStyle::Day);
        assert_eq!(DateStyle::of(&[0.0, 3600.0]), DateStyle::Time);
        assert_eq!(DateStyle::of(&[3.0 * DAY, 3600.0]), DateStyle::Moment);
    }

    #[test] // Rank 0.01·2 = 0.02 between 0 and 10 s is 0.2 s; rank 1.98 between 10 and 20 s is 19.8 s.
    fn the_normal_range_of_dates_is_as_fine_as_the_dates() {
        let mut seconds = [0.0, 10.0, 20.0];
        let spread = Spread::of(&mut seconds).unwrap();
        assert!((spread.low - 0.2).abs() < 1e-12 && (spread.high - 19.8).abs() < 1e-12);
        assert_eq!(date_unit(&seconds), Some(1.0));
        let whole = spread.in_units(1.0);
        assert_eq!((whole.low, whole.high, whole.mean), (0.0, 20.0, spread.mean));
        assert_eq!([date_unit(&[DAY, -3.0 * DAY]), date_unit(&[0.5, DAY])], [Some(DAY), None]);
    }

    proptest! {
        #[test] // Law: shifting and stretching the values shifts and stretches the spread.
        fn the_spread_follows_a_change_of_unit(
            values in prop::collection::vec(-1e3..1e3f64, 2..60), factor in 1e-3..1e3f64, shift in -1e3..1e3f64,
        ) {
            let one = Spread::of(&mut values.clone()).unwrap();
            let mut changed: Vec<f64> = values.iter().map(|x| x * factor + shift).collect();
            let other = Spread::of(&mut changed).unwrap();
            prop_assume!(one.max - one.min > 1e-6);
            let tolerance = 1e-9 * (1.0 + shift.abs() + 1e3 * factor);
            for (a, b) in [(one.mean, other.mean), (one.low, other.low), (one.high, other.high), (one.max, other.max)] {
                prop_assert!((a * factor + shift - b).abs() < tolerance);
            }
            prop_assert!((one.std * factor - other.std).abs() < tolerance);
        }

        #[test] // Law: the promised order of the figures holds for any finite values.
        fn the_figures_are_in_order(values in prop::collection::vec(-8e307..8e307f64, 1..40)) {
            let spread = Spread::of(&mut values.clone()).unwrap();
            prop_assert!(spread.min <= spread.low && spread.low <= spread.high && spread.high <= spread.max);
            prop_assert!(spread.min <= spread.mean && spread.mean <= spread.max);
            prop_assert!(spread.std > 0.0 && spread.std.is_finite());
        }
    }
}
