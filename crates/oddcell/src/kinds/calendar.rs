//! What people see in a date: the hour, the weekday, the day of the month, the month.
//!
//! A part counts if it varies and if training went through its whole cycle: with two weeks of data, any weekday has had its
//! turn; with one month, the next month would be new and look odd. So months need a year, days of the month two months,
//! weekdays two weeks and hours two days.

use serde::{Deserialize, Serialize};

use super::{seen::Hint, training::Counts, words::percent};
use crate::{
    encode::{Check, EncodeError},
    layout::Role,
};

pub(super) const DAY: f64 = 86_400.0;

/// A part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CalendarPart {
    /// 0 to 23.
    Hour,
    /// 0 is Monday, 6 Sunday.
    Weekday,
    /// 1 to 31.
    Day,
    /// 1 to 12.
    Month,
}

impl CalendarPart {
    const ALL: [Self; 4] = [Self::Hour, Self::Weekday, Self::Day, Self::Month];

    /// The name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Weekday => "weekday",
            Self::Day => "day of month",
            Self::Month => "month",
        }
    }

    /// The part of a moment, in seconds since 1970-01-01.
    pub(super) fn of(self, seconds: f64) -> f64 {
        let days = (seconds / DAY).floor();
        match self {
            Self::Hour => ((seconds - days * DAY) / 3_600.0).floor(),
            // 1970-01-01 was a Thursday.
            Self::Weekday => (days + 3.0).rem_euclid(7.0),
            Self::Day => f64::from(civil(days).1),
            Self::Month => f64::from(civil(days).0),
        }
    }

    /// The part as people write it: `03:00`, `Sunday`, `31`, `December`.
    pub(super) fn written(self, part: f64) -> String {
        const WEEKDAYS: [&str; 7] =
            ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let name =
            |names: &[&str], at: f64| names.get(at as usize).map_or_else(String::new, |&name| name.into());
        match self {
            Self::Hour => format!("{part:02}:00"),
            Self::Weekday => name(&WEEKDAYS, part),
            Self::Day => part.to_string(),
            Self::Month => name(&MONTHS, part - 1.0),
        }
    }

    /// The first value, and how many there are before they begin again.
    fn cycle(self) -> (usize, usize) {
        match self {
            Self::Hour => (0, 24),
            Self::Weekday => (0, 7),
            Self::Day => (1, 31),
            Self::Month => (1, 12),
        }
    }

    /// Days that a table must span before the part counts.
    fn cycles(self) -> f64 {
        match self {
            Self::Hour => 2.0,
            Self::Weekday => 14.0,
            Self::Day => 62.0,
            Self::Month => 365.0,
        }
    }

    /// The parts that count in a column with these moments.
    fn counting(seconds: &[f64], is_time: bool) -> Vec<Self> {
        let first = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let span = seconds.iter().copied().fold(f64::NEG_INFINITY, f64::max) - first;
        let counts = |part: &Self| {
            let varies = || seconds.iter().any(|&moment| part.of(moment) != part.of(first));
            if is_time { *part == Self::Hour && varies() } else { span >= part.cycles() * DAY && varies() }
        };
        Self::ALL.into_iter().filter(counts).collect()
    }
}

/// A part that counts, and how often it had each value in training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calendar {
    pub(super) part: CalendarPart,
    /// By the value of the part, from 0.
    rows: [u64; 32],
}

impl Calendar {
    /// The parts that count in a column with these moments.
    pub(super) fn learn(seconds: &[f64], is_time: bool) -> Vec<Self> {
        let count = |part: CalendarPart| {
            let mut rows = [0; 32];
            for &moment in seconds {
                rows[part.of(moment) as usize] += 1;
            }
            Self { part, rows }
        };
        CalendarPart::counting(seconds, is_time).into_iter().map(count).collect()
    }

    /// As features.
    pub(super) fn hidden(parts: &[Self]) -> Vec<(Role, &'static str)> {
        parts.iter().map(|calendar| (Role::Part, calendar.part.name())).collect()
    }

    /// Says what is odd about a moment.
    pub(super) fn tell(&self, seconds: f64, counts: Counts) -> Hint {
        let Self { part, rows } = self;
        let own = part.of(seconds);
        let share = counts.share(rows[own as usize]);
        let what = match part {
            CalendarPart::Hour => format!("hour {}", part.written(own)),
            CalendarPart::Day => format!("day {own} of the month"),
            CalendarPart::Weekday | CalendarPart::Month => part.written(own),
        };
        let usual = self.usual(own as usize);
        let told = match share {
            0.0 => format!("{what}, like no training row; {usual}"),
            share if share < RARE_SHARE => {
                format!("{what}, like {} of training rows; {usual}", percent(share))
            }
            share => format!("{what}, given the other columns; common by itself ({})", percent(share)),
        };
        told.into()
    }

    /// What is usual for a value that is not: the shortest arc of the cycle that holds 98 of 100 training rows, since a night
    /// shop sells from 22:00 to 05:00. If that is most of the cycle, or if the value itself lies in it: the most common value.
    fn usual(&self, own: usize) -> String {
        let written = |value: usize| self.part.written(value as f64);
        let (first, length) = self.part.cycle();
        match self.arc() {
            Some((start, n)) if n * 4 <= length * 3 && (own + length - start) % length >= n => {
                let end = first + (start - first + n - 1) % length;
                let to = if n == 1 { String::new() } else { format!(" to {}", written(end)) };
                format!("normal {}{to}", written(start))
            }
            _ => {
                let most = (0..32).rev().max_by_key(|&value| self.rows[value]);
                format!("most often {}", written(most.unwrap_or(first)))
            }
        }
    }

    /// The first value and the length of the shortest arc with [`USUAL_SHARE`] of the rows; of several, the one with the most rows.
    fn arc(&self) -> Option<(usize, usize)> {
        let (first, length) = self.part.cycle();
        let total: u64 = self.rows.iter().sum();
        (1..=length).find_map(|n| {
            let rows = |start: usize| {
                (0..n).map(|step| self.rows[first + (start - first + step) % length]).sum::<u64>()
            };
            let starts = (first..first + length).rev();
            let start = starts.max_by_key(|&start| rows(start))?;
            (rows(start) as f64 >= USUAL_SHARE * total as f64).then_some((start, n))
        })
    }

    /// Checks that `filled` rows can have these parts.
    pub(super) fn validate(parts: &[Self], filled: u64, check: &Check<'_>) -> Result<(), EncodeError> {
        let differ = parts.windows(2).all(|pair| (pair[0].part as u8) < pair[1].part as u8);
        check.ensure(differ, "parts of dates", format!("{:?}", parts.len()), "different ones in order")?;
        parts.iter().try_for_each(|calendar| {
            let total = calendar.rows.iter().fold(0u64, |sum, &rows| sum.saturating_add(rows));
            check.ensure(total == filled, calendar.part.name(), total, "the rows with a date")
        })
    }
}

/// The share of training rows with a usual value.
const USUAL_SHARE: f64 = 0.98;
/// A part with a smaller share is rare by itself.
const RARE_SHARE: f64 = 0.02;

/// Month and day of the month of a day since 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn civil(days: f64) -> (u32, u32) {
    // Any date far beyond the calendar falls into one period of 400 years, which repeats.
    let of_era = (days + 719_468.0).rem_euclid(146_097.0) as u32;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    (if shifted < 10 { shifted + 3 } else { shifted - 9 }, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // 2024-02-29 was a Thursday, 1969-12-31 a Wednesday.
    fn parts_are_those_of_the_calendar() {
        let leap_day = 19_782.0 * DAY + 14.5 * 3_600.0;
        let parts = |seconds: f64| CalendarPart::ALL.map(|part| part.of(seconds));
        assert_eq!(parts(leap_day), [14.0, 3.0, 29.0, 2.0]);
        assert_eq!(parts(-1.0), [23.0, 2.0, 31.0, 12.0]);
        assert_eq!(parts(0.0), [0.0, 3.0, 1.0, 1.0]);
        let written: Vec<String> =
            CalendarPart::ALL.iter().zip(parts(leap_day)).map(|(part, x)| part.written(x)).collect();
        assert_eq!(written, ["14:00", "Thursday", "29", "February"]);
    }

    // A night shop: 22:00 to 05:00 have 100 rows each, 12:00 has one, 14:00 none. Weekdays: Friday to Monday.
    #[test]
    fn usual_values_are_the_shortest_arc_of_the_cycle() {
        let calendar = |part: CalendarPart, usual: &[usize], n: u64| {
            let mut rows = [0; 32];
            for &value in usual {
                rows[value] = n;
            }
            Calendar { part, rows }
        };
        let mut night = calendar(CalendarPart::Hour, &[22, 23, 0, 1, 2, 3, 4, 5], 100);
        night.rows[12] = 1;
        assert_eq!([12, 14].map(|hour| night.usual(hour)), ["normal 22:00 to 05:00"; 2]);
        // A rare hour among usual ones is not outside of them.
        night.rows[3] = 2;
        assert!(night.usual(3).starts_with("most often "), "{}", night.usual(3));
        assert_eq!(calendar(CalendarPart::Weekday, &[4, 5, 6, 0], 9).usual(2), "normal Friday to Monday");
        assert_eq!(calendar(CalendarPart::Month, &[11, 12, 1, 2], 9).usual(6), "normal November to February");
        assert_eq!(calendar(CalendarPart::Day, &[30, 31, 1], 9).usual(15), "normal 30 to 1");
        assert_eq!(calendar(CalendarPart::Day, &[15], 9).usual(1), "normal 15");
        let always: Vec<usize> = (0..24).filter(|&hour| hour != 4).collect();
        assert!(calendar(CalendarPart::Hour, &always, 9).usual(4).starts_with("most often "));
    }

    #[test]
    fn a_part_counts_if_training_went_through_its_cycle() {
        let days = |n: usize| (0..n).map(|day| day as f64 * DAY).collect::<Vec<f64>>();
        assert_eq!(CalendarPart::counting(&days(13), false), []);
        assert_eq!(CalendarPart::counting(&days(31), false), [CalendarPart::Weekday]);
        assert_eq!(CalendarPart::counting(&days(366), false), CalendarPart::ALL[1..]);
        let weekly: Vec<f64> = days(100).into_iter().step_by(7).collect();
        assert_eq!(CalendarPart::counting(&weekly, false), [CalendarPart::Day], "always the same weekday");
        assert_eq!(CalendarPart::counting(&[0.0, 3_600.0], true), [CalendarPart::Hour]);
    }
}
