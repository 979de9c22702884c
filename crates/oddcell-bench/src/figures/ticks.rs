//! Axes: ticks, tick labels, and positions of values.
//!
//! *Formula:* linear steps are 1, 2, 2.5 or 5 times a power of ten: the smallest step that gives no more ticks than
//! requested. Logarithmic ticks are powers of ten, and 2 and 5 times powers of ten if there is room.

use super::text;

/// A tick: its value and its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// An axis from a lower to a higher value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    /// An axis that covers all `values` (finite; positive if `log`), with some space at both ends.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, log: bool) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            let value = if log { libm::log10(value) } else { value };
            (low, high) = (low.min(value), high.max(value));
        }
        let room = match high - low {
            span if span > 0.0 => 0.05 * span,
            _ if log => 0.5,
            // One value: space in proportion to it, so that its ticks are round.
            _ => (0.1 * low.abs()).max(0.5),
        };
        Self { low: low - room, high: high + room, log }
    }

    /// A linear axis with given ends, `low` < `high`.
    pub(super) fn between(low: f64, high: f64) -> Self {
        Self { low, high, log: false }
    }

    /// The position of a value, from 0 at the lower end to 1 at the upper end.
    pub(super) fn share(self, value: f64) -> f64 {
        let value = if self.log { libm::log10(value) } else { value };
        (value - self.low) / (self.high - self.low)
    }

    /// At most `most` ticks (2 or more), in rising order.
    pub(super) fn ticks(self, most: usize) -> Vec<Tick> {
        if self.log { self.log_ticks(most) } else { self.linear_ticks(most) }
    }

    fn linear_ticks(self, most: usize) -> Vec<Tick> {
        let least_step = (self.high - self.low) / most.max(2) as f64;
        let mut exponent = libm::floor(libm::log10(least_step)) as i32;
        let fits = |factor: &&f64| **factor * libm::pow(10.0, f64::from(exponent)) >= least_step;
        let factor = [1.0, 2.0, 2.5, 5.0].iter().find(fits).copied();
        let factor = factor.unwrap_or_else(|| {
            exponent += 1;
            1.0
        });
        let step = factor * libm::pow(10.0, f64::from(exponent));
        let decimals = usize::try_from(if factor == 2.5 { 1 - exponent } else { -exponent }).unwrap_or(0);
        let (first, last) = (libm::ceil(self.low / step), libm::floor(self.high / step));
        let in_range = |index: &f64| *index <= last;
        std::iter::successors(Some(first), |index| Some(index + 1.0))
            .take(most + 1)
            .take_while(in_range)
            .map(|index| {
                let value = index * step;
                Tick { value, label: linear_label(value, decimals, exponent) }
            })
            .collect()
    }

    /// The values 2 to 9 between powers of ten, for minor ticks without labels; none on a linear axis or if they would
    /// be too dense.
    pub(super) fn minor_ticks(self) -> Vec<f64> {
        if !self.log || self.high - self.low > 12.0 {
            return Vec::new();
        }
        let decades = libm::floor(self.low) as i32..=libm::floor(self.high) as i32;
        let values =
            decades.flat_map(|decade| (2..10).map(move |k| f64::from(k) * libm::pow(10.0, decade.into())));
        values.filter(|&value| (self.low..=self.high).contains(&libm::log10(value))).collect()
    }

    fn log_ticks(self, most: usize) -> Vec<Tick> {
        let (low, high) = (libm::ceil(self.low), libm::floor(self.high));
        // Over many decades, only every second or third one gets a tick.
        let stride = libm::ceil((high - low + 1.0) / most.max(2) as f64).max(1.0);
        let short = 3.0 * (self.high - self.low) <= most as f64;
        let factors: &[f64] = if short { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        let mut decade = libm::floor(self.low / stride) * stride;
        while decade <= high {
            for &factor in factors {
                let value = factor * libm::pow(10.0, decade);
                if (self.low..=self.high).contains(&libm::log10(value)) {
                    ticks.push(Tick { value, label: log_label(factor, decade as i32) });
                }
            }
            decade += stride;
        }
        ticks
    }
}

/// Very large and very small steps use powers of ten.
fn linear_label(value: f64, decimals: usize, exponent: i32) -> String {
    if (-6..=6).contains(&exponent) {
        return text::number(value, decimals);
    }
    format!("{value:.1e}").replace('-', "−")
}

fn log_label(factor: f64, decade: i32) -> String {
    if (-3..=4).contains(&decade) {
        let decimals = usize::try_from(-decade).unwrap_or(0);
        return text::number(factor * libm::pow(10.0, f64::from(decade)), decimals);
    }
    let digits = |digit: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit.to_digit(10)? as usize);
    let power: String = decade.to_string().chars().map(|sign| digits(sign).unwrap_or('⁻')).collect();
    if factor == 1.0 { format!("10{power}") } else { format!("{factor}·10{power}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(scale: Scale, most: usize) -> Vec<String> {
        scale.ticks(most).into_iter().map(|tick| tick.label).collect()
    }

    // 10/5 = 2 → step 2; 0.93/6 = 0.155 → step 0.2; 30/8 = 3.75 → step 5; 2/8 = 0.25 → step 0.25.
    #[test]
    fn linear_ticks_are_round_numbers() {
        assert_eq!(labels(Scale::between(0.0, 10.0), 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(Scale::between(0.05, 0.98), 6), ["0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(labels(Scale::between(-12.0, 18.0), 8), ["−10", "−5", "0", "5", "10", "15"]);
        assert_eq!(labels(Scale::between(0.0, 0.5), 2), ["0.00", "0.25", "0.50"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_and_in_a_short_range_two_and_five_times_them() {
        let scale = |low: f64, high: f64| Scale { low, high, log: true };
        assert_eq!(labels(scale(-2.2, 1.1), 8), ["0.01", "0.1", "1", "10"]);
        assert_eq!(labels(scale(-0.4, 1.1), 8), ["0.5", "1", "2", "5", "10"]);
        assert_eq!(labels(scale(4.9, 7.2), 6), ["10⁵", "10⁶", "10⁷"]);
        assert_eq!(labels(scale(-7.2, -4.9), 6), ["10⁻⁷", "10⁻⁶", "10⁻⁵"]);
        assert_eq!(labels(scale(4.9, 5.5), 6), ["10⁵", "2·10⁵"]);
        assert_eq!(scale(-0.1, 0.7).minor_ticks(), [0.8, 0.9, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(Scale::between(0.0, 3.0).minor_ticks(), [0.0; 0]);
    }

    #[test]
    fn an_axis_leaves_room_around_its_values_and_survives_a_single_one() {
        let scale = Scale::around([0.0, 100.0], false);
        assert!(
            (scale.share(0.0) - 5.0 / 110.0).abs() < 1e-12
                && (scale.share(100.0) - 105.0 / 110.0).abs() < 1e-12
        );
        assert_eq!(Scale::around([3.0], false).share(3.0), 0.5);
        assert_eq!(Scale::around([10.0], true).share(10.0), 0.5);
    }

    proptest! {
        // Law: ticks rise, lie on the axis, and are at most as many as asked for, plus one at an end.
        #[test]
        fn ticks_rise_lie_on_the_axis_and_are_few(
            a in -1e9_f64..1e9, span in 1e-6_f64..1e9, most in 2_usize..12, log in any::<bool>()
        ) {
            let values = if log { [span, span * 1e3] } else { [a, a + span] };
            let scale = Scale::around(values, log);
            let ticks = scale.ticks(most);
            prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value));
            prop_assert!(ticks.iter().all(|tick| (-1e-9..=1.0 + 1e-9).contains(&scale.share(tick.value))));
            prop_assert!(ticks.len() <= most + 1);
        }
    }
}
