//! Where the numbers of a column lie: mean, standard deviation, minimum, maximum and normal range.
//!
//! *Formula:* mean by updating (mean += (x − mean) / k), then one more pass over d = (x − mean) / s with
//! s = max |x − mean|: mean += s · Σd/n, std = s · √(Σd²/n − (Σd/n)²). All d lie within ±1, so nothing overflows
//! or underflows, whatever the unit of the column, and a mean far from 0 costs no digits.
//!
//! *Invariants:* everything is finite · std > 0 (1 for a constant column) · min ≤ low ≤ high ≤ max and
//! min ≤ mean ≤ max · the same numbers in the same order give the same bits.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{NormalRange, Scale, Side, Training, seen::Seen};
use crate::encode::{Check, EncodeError};

/// What is known about the numbers of a column (for dates: seconds), without nulls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spread {
    /// The mean.
    pub(super) mean: f64,
    /// The population standard deviation; 1 if all values are equal.
    pub(super) std: f64,
    /// The minimum.
    pub(super) min: f64,
    /// The 1 % quantile: the lower end of the normal range.
    pub(super) low: f64,
    /// The 99 % quantile: the upper end of the normal range.
    pub(super) high: f64,
    /// The maximum.
    pub(super) max: f64,
}

impl Spread {
    /// The spread of the training values; their order is lost.
    pub(super) fn learn(values: &mut [f64], training: &Training<'_>) -> Result<Self, EncodeError> {
        Self::of(values).map_err(|(low, high)| EncodeError::TooFarApart {
            origin: training.table.origin.clone(),
            column: training.column().name.clone(),
            low,
            high,
        })
    }

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
        // Only subnormal numbers give 0 here: their squares vanish.
        let std = if std > 0.0 { std } else { scale };
        let low = quantile(values, 0.01);
        let high = quantile(values, 0.99);
        Ok(Self { mean: (mean + scale * shift).clamp(min, max), std, min, low, high: high.max(low), max })
    }

    /// The same with the ends of the normal range rounded to whole units. A quantile between two dates would be finer
    /// than any date of the column. The values must be whole units.
    pub(super) fn in_units(self, unit: f64) -> Self {
        let whole = |end: f64| ((end / unit).round() * unit).clamp(self.min, self.max);
        Self { low: whole(self.low), high: whole(self.high), ..self }
    }

    /// Whether all values were equal.
    pub(super) fn is_constant(&self) -> bool {
        self.min == self.max
    }

    /// Whether a number lies among those of training.
    pub(super) fn contains(&self, number: f64) -> bool {
        (self.min..=self.max).contains(&number)
    }

    /// The scale of the feature.
    pub(super) fn scale(&self) -> Scale {
        Scale { mean: self.mean, std: self.std }
    }

    /// What a reason needs to know about a number, which is shown as `shown`.
    pub(super) fn look<'a>(&self, number: f64, shown: Cow<'a, str>) -> Seen<'a> {
        let side = match number {
            _ if number > self.high => Side::Above,
            _ if number < self.low => Side::Below,
            _ => Side::Within,
        };
        let place = (number - self.low) / (self.high - self.low);
        let place = place.is_finite().then_some(place);
        Seen { value: Some(shown), side: Some(side), place, ..Seen::default() }
    }

    /// The normal range, its ends written by `format`.
    pub(super) fn normal(&self, format: impl Fn(f64) -> String) -> NormalRange {
        let Self { low, high, .. } = *self;
        let text = if low == high { format(low) } else { format!("{} to {}", format(low), format(high)) };
        NormalRange::Range { low, high, text, constant: self.is_constant() }
    }

    /// Checks that `filled` values can have this spread.
    pub(super) fn validate(&self, filled: u64, check: &Check<'_>) -> Result<(), EncodeError> {
        let Self { mean, std, min, low, high, max } = *self;
        let figures = [
            ("mean", mean),
            ("standard deviation", std),
            ("minimum", min),
            ("1 % quantile", low),
            ("99 % quantile", high),
            ("maximum", max),
        ];
        for (what, value) in figures {
            check.ensure(value.is_finite(), what, format!("{value:?}"), "a finite number")?;
        }
        let range = max - min;
        check.ensure(range.is_finite(), "range", format!("{range:?}"), "a finite number")?;
        check.ensure(
            min <= low && low <= high && high <= max,
            "minimum, 1 % quantile, 99 % quantile, maximum",
            format!("{min:?}, {low:?}, {high:?}, {max:?}"),
            "numbers in rising order",
        )?;
        check.ensure(min <= mean && mean <= max, "mean", mean, "a number from the minimum to the maximum")?;
        let (what, found) = ("standard deviation", format!("{std:?}"));
        if min == max {
            return check.ensure(std == 1.0, what, found, "1, since the column is constant");
        }
        check.ensure(std > 0.0 && std <= range, what, &found, "above 0, at most the range")?;
        // Two ends at distance r give n·std² ≥ r²/2. The factor 2 allows for the rounding of subnormal numbers.
        let widest = 2.0 * std * (2.0 * filled as f64).sqrt();
        check.ensure(range <= widest, what, found, "more, with such a range and so few rows")
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

    #[test] // The range is 1.04 to 9.76, 8.72 wide: 5.4 is in its middle, 18.48 one width above it.
    fn a_place_is_counted_in_widths_of_the_normal_range() {
        let spread = Spread::of(&mut [4.0, 1.0, 10.0, 3.0, 2.0]).unwrap();
        let seen = |number| spread.look(number, "".into());
        assert!((seen(5.4).place.unwrap() - 0.5).abs() < 1e-14 && seen(5.4).side == Some(Side::Within));
        assert!((seen(18.48).place.unwrap() - 2.0).abs() < 1e-14 && seen(18.48).side == Some(Side::Above));
        assert!(seen(0.0).place.unwrap() < 0.0 && seen(0.0).side == Some(Side::Below));
        // A range without width has no places.
        assert_eq!(Spread::of(&mut [7.0; 3]).unwrap().look(8.0, "".into()).place, None);
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
