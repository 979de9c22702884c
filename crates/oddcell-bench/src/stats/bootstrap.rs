//! The uncertainty of a mean over sets: the percentile bootstrap.
//!
//! *Why:* the sets of a benchmark are a sample; another sample would have another mean.
//! *Formula:* draw n of the n values with replacement and take the mean, B times; the interval goes from the
//! (1 − c)/2 to the (1 + c)/2 quantile of the B means (between two of them by linear interpolation).
//! *Source:* B. Efron, *Bootstrap methods: another look at the jackknife*, Annals of Statistics 7 (1979).

use super::error::{StatsError, check_finite, check_probability};

/// An interval around a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Returns the percentile interval of the mean of `values`, one per set. To compare two methods, pass their
/// [`differences`](super::paired::differences).
///
/// `uniform_below(n)` returns a uniform random whole number below n. It is called n times per resample, in order, so
/// the same stream gives the same interval.
///
/// # Panics
///
/// If `uniform_below(n)` returns n or more.
pub fn mean_interval(
    values: &[f64],
    confidence: f64,
    resamples: usize,
    mut uniform_below: impl FnMut(usize) -> usize,
) -> Result<Interval, StatsError> {
    if values.is_empty() {
        return Err(StatsError::NoSets);
    }
    check_finite(values, 1)?;
    check_probability("confidence", confidence)?;
    if resamples == 0 {
        return Err(StatsError::OutOfRange {
            name: "the number of resamples",
            got: 0.0,
            allowed: "at least 1",
        });
    }
    let n = values.len();
    let mut means: Vec<f64> =
        (0..resamples).map(|_| (0..n).map(|_| values[uniform_below(n)]).sum::<f64>() / n as f64).collect();
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Ok(Interval { low: quantile(&means, tail), high: quantile(&means, 1.0 - tail) })
}

/// The quantile at `share` of sorted values, with linear interpolation like `numpy.quantile`.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor();
    let (low, high) = (sorted[below as usize], sorted[place.ceil() as usize]);
    low + (place - below) * (high - low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A generator that is easy to repeat in Python: xₙ₊₁ = (1103515245 xₙ + 12345) mod 2³¹, its upper bits mod n.
    fn stream(mut state: usize) -> impl FnMut(usize) -> usize {
        move |n| {
            state = (1_103_515_245 * state + 12_345) % (1 << 31);
            (state >> 16) % n
        }
    }

    // Draws 0 0, 1 1, 0 1 of the values 0 and 8: means 0, 8, 4. In order 0, 4, 8; half of it goes from place
    // 0.25 · 2 = 0.5, which is 2, to place 1.5, which is 6.
    #[test]
    fn the_interval_matches_the_one_worked_out_by_hand() {
        let mut draws = [0, 0, 1, 1, 0, 1].into_iter();
        let interval = mean_interval(&[0.0, 8.0], 0.5, 3, |_| draws.next().unwrap()).unwrap();
        assert_eq!(interval, Interval { low: 2.0, high: 6.0 });
        assert_eq!(draws.next(), None);
    }

    // numpy 2, with `below` the same generator from state 7 on:
    // x = [37 * i % 101 - 40.0 for i in range(1, 13)]
    // means = [numpy.mean([x[below(12)] for _ in range(12)]) for _ in range(200)]
    // numpy.quantile(means, [0.025, 0.975])
    #[test]
    fn the_interval_matches_numpy() {
        let values: Vec<f64> = (1..=12_i32).map(|i| f64::from(37 * i % 101) - 40.0).collect();
        let interval = mean_interval(&values, 0.95, 200, stream(7)).unwrap();
        assert!((interval.low - -8.277_083_333_333_334).abs() < 1e-12, "{interval:?}");
        assert!((interval.high - 19.833_333_333_333_332).abs() < 1e-12, "{interval:?}");
    }

    #[test]
    fn invalid_input_is_refused() {
        assert_eq!(mean_interval(&[], 0.9, 10, stream(1)), Err(StatsError::NoSets));
        assert!(matches!(mean_interval(&[f64::NAN], 0.9, 10, stream(1)), Err(StatsError::NotFinite { .. })));
        for (confidence, resamples) in [(0.0, 10), (1.0, 10), (f64::NAN, 10), (0.9, 0)] {
            let got = mean_interval(&[1.0], confidence, resamples, stream(1));
            assert!(matches!(got, Err(StatsError::OutOfRange { .. })));
        }
    }

    proptest! {
        #[test] // Laws: inside the values; wider with more confidence; x ↦ 2x + 8 goes through.
        fn intervals_nest_and_follow_their_values(
            values in prop::collection::vec((-50i8..50).prop_map(f64::from), 1..20), seed in 0_usize..1000
        ) {
            let interval =
                |values: &[f64], confidence| mean_interval(values, confidence, 50, stream(seed)).unwrap();
            let (narrow, wide) = (interval(&values, 0.5), interval(&values, 0.9));
            prop_assert!(wide.low <= narrow.low && narrow.low <= narrow.high && narrow.high <= wide.high);
            prop_assert!(values.iter().any(|&value| value <= wide.low));
            prop_assert!(values.iter().any(|&value| value >= wide.high));
            let moved: Vec<f64> = values.iter().map(|value| 2.0 * value + 8.0).collect();
            let moved = interval(&moved, 0.9);
            prop_assert!((moved.low - (2.0 * wide.low + 8.0)).abs() < 1e-11);
            prop_assert!((moved.high - (2.0 * wide.high + 8.0)).abs() < 1e-11);
        }
    }
}
