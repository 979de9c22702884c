//! Figures for people: no more digits than needed, dates in ISO form, spans of time in a fitting unit.
//!
//! Every scored row may get reasons, so their figures are written without the heap.

use std::{fmt, ops::Deref};

use chrono::{DateTime, SubsecRound};
use serde::{Deserialize, Serialize};

/// How finely the dates of a column are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DateStyle {
    /// A time of day: `14:05:00`.
    Time,
    /// A day: `2024-02-29`.
    Day,
    /// A day and a time: `2024-02-29 14:05:00`.
    Moment,
}

/// A short ASCII text without the heap.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    bytes: [u8; Figure::CAPACITY],
    len: usize,
}

impl Figure {
    const CAPACITY: usize = 48;
    const EMPTY: Self = Self { bytes: [0; Self::CAPACITY], len: 0 };

    fn push(&mut self, text: &str) {
        debug_assert!(text.is_ascii() && self.len + text.len() <= Self::CAPACITY);
        self.bytes[self.len..][..text.len()].copy_from_slice(text.as_bytes());
        self.len += text.len();
    }

    /// `x` with so many decimals. |x| < 10¹⁵ and at most 9 decimals, so at most 26 characters.
    fn push_fixed(&mut self, x: f64, decimals: usize) {
        let scale = 10u64.pow(decimals as u32);
        let scaled = (x.abs() * scale as f64).round();
        // Above 2⁵³ the product is no longer exact; such numbers are rare, so they may be slow.
        if scaled >= 9e15 {
            self.push(&format!("{x:.decimals$}"));
            return;
        }
        let digits = scaled as u64;
        if x < 0.0 && digits > 0 {
            self.push("-");
        }
        self.push_whole(digits / scale, 1);
        if decimals > 0 {
            self.push(".");
            self.push_whole(digits % scale, decimals);
        }
    }

    /// A whole number with at least so many digits.
    fn push_whole(&mut self, mut number: u64, width: usize) {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        while number > 0 || digits.len() - start < width {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        let digits = &digits[start..];
        self.bytes[self.len..][..digits.len()].copy_from_slice(digits);
        self.len += digits.len();
    }

    /// Drops trailing zeros of the decimals.
    fn trim(&mut self) {
        if self.contains('.') {
            self.len = self.trim_end_matches('0').trim_end_matches('.').len();
        }
    }

    fn with(mut self, text: &str) -> Self {
        self.push(text);
        self
    }
}

impl Deref for Figure {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).expect("only ASCII is pushed")
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

/// `x` with exactly so many decimals, at most 9; very large numbers become powers of ten.
pub(crate) fn fixed(x: f64, decimals: usize) -> Figure {
    if x.abs() >= 1e15 {
        return power_of_ten(x);
    }
    let mut figure = Figure::EMPTY;
    figure.push_fixed(x, decimals);
    figure
}

/// `x` with four significant digits; whole parts are never rounded away, very large and very small numbers
/// become powers of ten.
pub(super) fn number(x: f64) -> Figure {
    number_within(x, x)
}

/// `x` with four significant digits, or as many as it takes to see a hundredth of `range`: the ends of
/// 1013.21 to 1013.29 would look the same with four digits.
pub(crate) fn number_within(x: f64, range: f64) -> Figure {
    if x == 0.0 {
        return Figure::EMPTY.with("0");
    }
    if !(1e-4..1e15).contains(&x.abs()) {
        return power_of_ten(x);
    }
    let mut figure = fixed(x, decimals_for(x, 1e3).max(decimals_for(range, 1e2)));
    figure.trim();
    figure
}

/// The decimals, at most 9, that show as many digits of `x` as `full` has: one for each power of ten by which `x` is
/// smaller. Zero needs none.
fn decimals_for(x: f64, full: f64) -> usize {
    let (mut decimals, mut bound) = (0, full);
    while x.abs() < bound && x != 0.0 && decimals < 9 {
        decimals += 1;
        bound /= 10.0;
    }
    decimals
}

fn power_of_ten(x: f64) -> Figure {
    let text = format!("{x:.3e}");
    let (mantissa, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let mut figure = Figure::EMPTY.with(mantissa);
    figure.trim();
    figure.with(exponent)
}

/// A share of rows: `41 %`, `0.3 %`, `under 0.1 %`.
pub(crate) fn percent(share: f64) -> Figure {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        return Figure::EMPTY.with("under 0.1 %");
    }
    if percent > 99.9 && percent < 100.0 {
        return Figure::EMPTY.with("over 99.9 %");
    }
    let mut figure = fixed(percent, usize::from(!(9.95..99.5).contains(&percent)));
    figure.trim();
    figure.with(" %")
}

/// A span of time in the largest unit that fits at least about twice: `45 seconds`, `3.2 days`.
pub(super) fn span(seconds: f64) -> Figure {
    const UNITS: [(f64, &str); 4] =
        [(365.25 * 86_400.0, " years"), (86_400.0, " days"), (3_600.0, " hours"), (60.0, " minutes")];
    let fits = |(unit, _): &(f64, &str)| seconds.abs() >= 1.95 * unit;
    let (unit, name) = UNITS.into_iter().find(fits).unwrap_or((1.0, " seconds"));
    let count = seconds / unit;
    let mut figure = match count.abs() {
        size if size >= 1e6 => power_of_ten(count),
        size if size >= 100.0 => fixed(count, 0),
        size if size >= 0.1 => fixed(count, 1),
        _ => number(count),
    };
    if figure.contains('.') && !figure.contains('e') {
        figure.trim();
    }
    figure.with(name)
}

/// A moment in ISO form, as finely as `style` says; a fraction of a second is shown with three digits.
pub(super) fn date(seconds: f64, style: DateStyle) -> String {
    let nanoseconds = ((seconds - seconds.floor()) * 1e9) as u32;
    let moment = DateTime::from_timestamp(seconds.floor() as i64, nanoseconds.min(999_999_999));
    let Some(moment) = moment.map(|moment| moment.round_subsecs(3)) else {
        return format!("{} seconds since 1970", number(seconds));
    };
    let fraction = if moment.timestamp_subsec_millis() == 0 { "" } else { "%.3f" };
    let pattern = match style {
        DateStyle::Time => format!("%H:%M:%S{fraction}"),
        DateStyle::Day => "%Y-%m-%d".to_owned(),
        DateStyle::Moment => format!("%Y-%m-%d %H:%M:%S{fraction}"),
    };
    moment.format(&pattern).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_a_reader_wants() {
        let texts =
            [0.0, 912.5, 816.123, 3.1, 0.001_234_56, 1_234_567.8, -88.0, 9.999_96, 1e15, 2.5e-7, f64::MAX]
                .map(|x| number(x).to_string());
        let expected =
            ["0", "912.5", "816.1", "3.1", "0.001235", "1234568", "-88", "10", "1e15", "2.5e-7", "1.798e308"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn fixed_decimals_are_rounded_and_filled_up() {
        let cases =
            [(0.0, 1, "0.0"), (-0.04, 1, "0.0"), (0.05, 2, "0.05"), (3.996, 2, "4.00"), (-17.5, 0, "-18")];
        let large = [
            (123_456_789.125, 3, "123456789.125"),
            (1e14, 9, "100000000000000.000000000"),
            (1e300, 1, "1e300"),
        ];
        for (x, decimals, expected) in cases.into_iter().chain(large) {
            assert_eq!(&*fixed(x, decimals), expected);
        }
    }

    #[test]
    fn a_narrow_range_gets_the_digits_it_needs() {
        assert_eq!(&*number_within(1_013.21, 0.08), "1013.21");
        assert_eq!(&*number_within(1_013.214_43, 0.08), "1013.2144");
        assert_eq!(&*number_within(1_013.214_43, 800.0), "1013");
    }

    #[test]
    fn shares_are_whole_percents_where_that_is_enough() {
        let texts =
            [0.0, 0.000_2, 0.003, 0.022, 0.414, 0.996, 0.999_9, 1.0].map(|share| percent(share).to_string());
        assert_eq!(texts, ["0 %", "under 0.1 %", "0.3 %", "2.2 %", "41 %", "99.6 %", "over 99.9 %", "100 %"]);
    }

    #[test]
    fn spans_are_written_in_the_unit_that_fits() {
        let texts = [0.0, 0.012, 45.0, 90.0, 600.0, 11_520.0, 276_480.0, 1e8, 1e15]
            .map(|seconds| span(seconds).to_string());
        let expected = [
            "0 seconds",
            "0.012 seconds",
            "45 seconds",
            "90 seconds",
            "10 minutes",
            "3.2 hours",
            "3.2 days",
            "3.2 years",
            "3.169e7 years",
        ];
        assert_eq!(texts, expected);
    }

    #[test] // 2024-02-29 = 19,782 days after 1970-01-01: 54 years · 365 + 13 leap days + 31 + 28.
    fn dates_are_in_iso_form() {
        let leap_day = 19_782.0 * 86_400.0;
        assert_eq!(date(leap_day, DateStyle::Day), "2024-02-29");
        assert_eq!(date(leap_day + 50_700.0, DateStyle::Moment), "2024-02-29 14:05:00");
        assert_eq!(date(leap_day + 0.25, DateStyle::Moment), "2024-02-29 00:00:00.250");
        assert_eq!(date(-1.0, DateStyle::Moment), "1969-12-31 23:59:59");
        assert_eq!(date(50_700.0, DateStyle::Time), "14:05:00");
        assert_eq!(date(1e300, DateStyle::Day), "1e300 seconds since 1970");
    }
}
