//! Moments written as whole numbers: seconds or milliseconds since 1970.
//!
//! *Rule:* a column of whole numbers holds moments if at least 10 of them, and 99 of 100, lie from 2001-09-09 to 2035-01-01 in one of
//! the two units, differ, and span at most 20 years. Numbers that only happen to have as many digits, such as those of accounts,
//! lie further apart.

use serde::{Deserialize, Serialize};

/// The unit of moments that are written as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Epoch {
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
}

impl Epoch {
    const ALL: [Self; 2] = [Self::Seconds, Self::Milliseconds];

    fn per_second(self) -> f64 {
        match self {
            Self::Seconds => 1.0,
            Self::Milliseconds => 1e3,
        }
    }

    /// The name, for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
        }
    }

    /// A number as seconds since 1970.
    pub(super) fn seconds(self, number: f64) -> f64 {
        number / self.per_second()
    }

    /// The unit of numbers that are moments because a user said so: up to the year 5138 they can be seconds.
    pub(super) fn of_largest(largest: f64) -> Self {
        if largest < 1e11 { Self::Seconds } else { Self::Milliseconds }
    }
}

/// 2001-09-09, when the seconds got ten digits, and 2035-01-01.
const FIRST: f64 = 1e9;
const END: f64 = 2_051_222_400.0;
const MOST_SECONDS: f64 = 20.0 * 365.25 * 86_400.0;
const LEAST_MOMENTS: usize = 10;
/// One other number among so many is a slip.
const OTHERS: usize = 100;
/// With more others than this beyond the moments, looking on is a waste of time.
const MOST_OTHERS: usize = 1_000;

/// Looks at numbers for moments.
#[derive(Debug, Clone, Default)]
pub(super) struct Moments {
    /// By unit: how many numbers can be moments, and the lowest and highest of them.
    found: [(usize, f64, f64); 2],
    others: usize,
}

impl Moments {
    /// Looks at one number.
    #[inline]
    pub(super) fn add(&mut self, number: f64) {
        let unit = usize::from(number >= END);
        let seconds = Epoch::ALL[unit].seconds(number);
        if !(FIRST..END).contains(&seconds) || number.fract() != 0.0 {
            self.others += 1;
            return;
        }
        let (count, low, high) = &mut self.found[unit];
        (*low, *high) = if *count == 0 { (seconds, seconds) } else { (low.min(seconds), high.max(seconds)) };
        *count += 1;
    }

    /// Whether so many numbers cannot be moments that the column has none.
    pub(super) fn ruled_out(&self) -> bool {
        self.others > MOST_OTHERS + self.found[0].0 + self.found[1].0
    }

    /// The unit, if the numbers are moments.
    pub(super) fn unit(&self) -> Option<Epoch> {
        let unit = usize::from(self.found[1].0 > self.found[0].0);
        let ((count, low, high), others) = (self.found[unit], self.others + self.found[1 - unit].0);
        let are_moments =
            count >= LEAST_MOMENTS && others * OTHERS <= count && low < high && high - low <= MOST_SECONDS;
        are_moments.then_some(Epoch::ALL[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(numbers: impl Iterator<Item = u64>) -> Option<Epoch> {
        let mut moments = Moments::default();
        numbers.for_each(|number| moments.add(number as f64));
        moments.unit()
    }

    #[test]
    fn seconds_and_milliseconds_of_our_time_are_moments() {
        assert_eq!(unit((0..50).map(|row| 1_700_000_000 + 977 * row)), Some(Epoch::Seconds));
        assert_eq!(unit((0..50).map(|row| 1_700_000_000_123 + 977 * row)), Some(Epoch::Milliseconds));
        // One of 101 is a slip, two are not.
        let slips = |n: u64| (0..n).chain((0..100).map(|row| 1_700_000_000 + row));
        assert_eq!([unit(slips(1)), unit(slips(2))], [Some(Epoch::Seconds), None]);
    }

    #[test]
    fn other_long_numbers_are_none() {
        assert_eq!(unit((0..50).map(|row| 1_000_000_000 + 20_000_000 * row)), None, "span 31 years");
        assert_eq!(unit((0..50).map(|_| 1_700_000_000)), None, "one value");
        assert_eq!(unit((0..9).map(|row| 1_700_000_000 + row)), None, "few");
        assert_eq!(unit((0..50).map(|row| 900_000_000 + row)), None, "nine digits");
    }

    #[test]
    fn what_a_user_calls_moments_may_lie_anywhere() {
        assert_eq!(
            [5.0, 4e9, 1.7e12].map(Epoch::of_largest),
            [Epoch::Seconds, Epoch::Seconds, Epoch::Milliseconds]
        );
        assert_eq!(Epoch::Milliseconds.seconds(1_500.0), 1.5);
    }
}
