//! Dates and times as text: recognized, read as seconds, written as ISO 8601.
//!
//! Dates are written `2024-01-31`, `2024/01/31`, `31.01.2024`, `1/31/2024` or `31/1/2024` (all cells of a column
//! together tell which of the last two, see [`DateShape`]). A time may follow after `T` or a space, with seconds,
//! fraction, AM/PM and `Z` or an offset. A time of day may stand alone: `13:45` or `13:45:10.5`.
//! Dates become seconds since 1970-01-01 on the clock that they were written by: 03:00+09:00 is three o'clock. Dates of
//! different clocks are compared in UTC ([`parse_utc`]). Times of day become seconds since midnight.

use chrono::{DateTime, NaiveDate};

/// What one cell tells about the notation of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateShape {
    /// The order of year, month and day is clear: ISO, year first, or with dots.
    Clear,
    /// `a/b/yyyy` with both parts at most 12: either order gives a date.
    EitherOrder,
    /// `a/b/yyyy` where only month first gives a date.
    MonthFirst,
    /// `a/b/yyyy` where only day first gives a date.
    DayFirst,
    /// A time of day without a date.
    TimeOfDay,
}

/// The seconds of one cell as its clock shows them; `day_first` decides about `a/b/yyyy`. `None` if the cell is no date.
#[must_use]
pub(super) fn parse(cell: &str, day_first: bool) -> Option<f64> {
    moment(cell, day_first).map(|(seconds, _)| seconds)
}

/// The seconds of one cell in UTC. A time without an offset counts as one in UTC.
#[must_use]
pub(super) fn parse_utc(cell: &str, day_first: bool) -> Option<f64> {
    moment(cell, day_first).map(|(seconds, offset)| seconds - offset.unwrap_or(0.0))
}

/// Whether a date has an offset from UTC.
#[must_use]
pub(super) fn is_zoned(cell: &str) -> bool {
    let parsed = moment(cell, false).or_else(|| moment(cell, true));
    parsed.is_some_and(|(_, offset)| offset.is_some())
}

/// The seconds as the clock shows them, and the offset.
fn moment(cell: &str, day_first: bool) -> Option<(f64, Option<f64>)> {
    let (date, time) = split(cell)?;
    let (seconds, offset) = time.map_or(Some((0.0, None)), |time| time_seconds(time, date.is_some()))?;
    let Some(date) = date else { return Some((seconds, offset)) };
    let days = match parts(date)? {
        (b'/', [a, b, year], false) => {
            if day_first { day_number(year, b, a) } else { day_number(year, a, b) }?
        }
        (_, [a, b, c], true) => day_number(a, b, c)?,
        (_, [a, b, c], false) => day_number(c, b, a)?,
    };
    Some((days * SECONDS_PER_DAY + seconds, offset))
}

/// Writes a moment as this cell is written; `None` if the cell is no date, or is written in a way that has no room for it.
pub(super) fn like(cell: &str, seconds: f64, day_first: bool) -> Option<String> {
    parse(cell, day_first)?;
    let (date, time) = split(cell)?;
    let offset = time.and_then(|time| time.find(['Z', 'z', '+', '-']).map(|at| &time[at..]));
    let shift = match offset {
        Some(offset) if date.is_some() => offset_seconds(offset)?,
        _ => 0.0,
    };
    let moment = DateTime::from_timestamp(libm::floor(seconds + shift) as i64, 0)?;
    let mut pattern = String::new();
    if let Some(date) = date {
        let (separator, _, year_first) = parts(date)?;
        let separator = separator as char;
        let is_padded = !date.split(separator).any(|piece| piece.len() == 1);
        let (day, month) = if is_padded { ("%d", "%m") } else { ("%-d", "%-m") };
        pattern = match (year_first, separator == '.' || day_first) {
            (true, _) => format!("%Y{separator}{month}{separator}{day}"),
            (false, true) => format!("{day}{separator}{month}{separator}%Y"),
            (false, false) => format!("{month}{separator}{day}{separator}%Y"),
        };
    }
    if let Some(time) = time {
        if let Some(date) = date {
            pattern.push_str(&cell[date.len()..=date.len()]);
        }
        let clock = offset.map_or(time, |offset| &time[..time.len() - offset.len()]);
        let lower = clock.to_ascii_lowercase();
        let half = lower.trim_end().ends_with('m');
        let digits = clock.split(':').next().is_some_and(|hour| hour.trim().len() == 2);
        pattern.push_str(match (half, digits) {
            (false, _) => "%H:%M",
            (true, true) => "%I:%M",
            (true, false) => "%-I:%M",
        });
        if clock.matches(':').count() == 2 {
            pattern.push_str(":%S");
        }
        if half {
            let spaced = lower.trim_end().trim_end_matches(['a', 'p', 'm', '.']).ends_with(' ');
            let is_lower = clock.contains(['a', 'p']);
            pattern.push_str(match (spaced, is_lower) {
                (true, true) => " %P",
                (true, false) => " %p",
                (false, true) => "%P",
                (false, false) => "%p",
            });
        }
        pattern.push_str(offset.unwrap_or_default());
    }
    let text = moment.format(&pattern).to_string();
    parse(&text, day_first).is_some().then_some(text)
}

/// The shape of one cell; `None` if the cell is no date.
#[must_use]
pub(super) fn shape(cell: &str) -> Option<DateShape> {
    let (date, _) = split(cell)?;
    let Some(date) = date else { return parse(cell, false).map(|_| DateShape::TimeOfDay) };
    if !matches!(parts(date)?, (b'/', _, false)) {
        return parse(cell, false).map(|_| DateShape::Clear);
    }
    match (parse(cell, false).is_some(), parse(cell, true).is_some()) {
        (true, true) => Some(DateShape::EitherOrder),
        (true, false) => Some(DateShape::MonthFirst),
        (false, true) => Some(DateShape::DayFirst),
        (false, false) => None,
    }
}

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Date and time, at least one of them.
fn split(cell: &str) -> Option<(Option<&str>, Option<&str>)> {
    // The cheapest tests first: this runs on every cell of every text column until one is no date.
    if !(4..=40).contains(&cell.len()) || !cell.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    match cell.split_once(['T', 't', ' ']) {
        Some((date, time)) if !date.contains(':') => Some((Some(date), Some(time))),
        None if !cell.contains(':') => Some((Some(cell), None)),
        _ => Some((None, Some(cell))),
    }
}

/// Separator, the three numbers, and whether the year (four digits) comes first.
fn parts(date: &str) -> Option<(u8, [u32; 3], bool)> {
    let separator = *date.as_bytes().iter().find(|byte| !byte.is_ascii_digit())?;
    let mut pieces = date.split(separator as char);
    let pieces = [pieces.next()?, pieces.next()?, pieces.next().filter(|_| pieces.next().is_none())?];
    let year_first = pieces[0].len() == 4;
    let year = if year_first { 0 } else { 2 };
    let well_formed = matches!((separator, year_first), (b'-' | b'/', true) | (b'/' | b'.', false));
    let lengths_fit =
        (0..3).all(|at| if at == year { pieces[at].len() == 4 } else { (1..=2).contains(&pieces[at].len()) });
    if !(well_formed && lengths_fit) {
        return None;
    }
    Some((separator, [digits(pieces[0])?, digits(pieces[1])?, digits(pieces[2])?], year_first))
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn day_number(year: u32, month: u32, day: u32) -> Option<f64> {
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    Some(f64::from(date.to_epoch_days()))
}

/// Seconds since midnight of `HH:MM[:SS[.fraction]] [AM|PM]`, and the offset, which is allowed only after a date.
fn time_seconds(time: &str, has_date: bool) -> Option<(f64, Option<f64>)> {
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(_) if !has_date => return None,
        Some(at) => (time[..at].trim_end(), Some(offset_seconds(&time[at..])?)),
        None => (time, None),
    };
    let half = |suffix: &str| {
        let at = time.len().checked_sub(suffix.len())?;
        time.get(at..)?.eq_ignore_ascii_case(suffix).then(|| time[..at].trim_end())
    };
    let (clock, hours_added) = match (half("am"), half("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (_, Some(clock)) => (clock, Some(12)),
        _ => (time, None),
    };
    let mut pieces = clock.split(':');
    let hour_text = pieces.next()?;
    let minute_text = pieces.next()?;
    let second_text = pieces.next().unwrap_or("0");
    if pieces.next().is_some() || !(1..=2).contains(&hour_text.len()) || minute_text.len() != 2 {
        return None;
    }
    let (hour, minute) = (digits(hour_text)?, digits(minute_text)?);
    let hour = match hours_added {
        Some(added) if (1..=12).contains(&hour) => hour % 12 + added,
        Some(_) => return None,
        None => hour,
    };
    let (whole, fraction) = second_text.split_once(['.', ',']).unwrap_or((second_text, "0"));
    let fraction_fits = (1..=9).contains(&fraction.len()) && digits(fraction).is_some();
    let second = digits(whole).filter(|_| whole.len() <= 2 && fraction_fits)?;
    // A leap second (60) is read as the first second of the next minute.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction = f64::from(digits(fraction)?) / 10f64.powi(i32::try_from(fraction.len()).ok()?);
    Some((f64::from(hour * 3600 + minute * 60 + second) + fraction, offset))
}

/// `Z`, `+02`, `+0200` or `+02:00`.
fn offset_seconds(offset: &str) -> Option<f64> {
    let sign = match offset.as_bytes()[0] {
        b'Z' | b'z' => return (offset.len() == 1).then_some(0.0),
        b'+' => 1.0,
        _ => -1.0,
    };
    let (hours, minutes) = match offset.len() {
        3 => (offset.get(1..3)?, "0"),
        5 => (offset.get(1..3)?, offset.get(3..5)?),
        6 if offset.as_bytes()[3] == b':' => (offset.get(1..3)?, offset.get(4..6)?),
        _ => return None,
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours <= 18 && minutes <= 59).then(|| sign * f64::from(hours * 3600 + minutes * 60))
}

/// Seconds as ISO text: whole days as `2024-01-31`, other dates as `2024-01-31T13:45:10.5`, and everything from 0 up
/// to one day as a time of day, `13:45:10` (columns of times live there; columns of dates hardly ever do).
/// Seconds outside the calendar are written as a number with the unit `s`.
#[must_use]
pub fn format_date(seconds: f64) -> String {
    // More than milliseconds would be hard to read.
    let milliseconds = (seconds * 1000.0).round();
    let whole = milliseconds.is_finite() && milliseconds.abs() < 1e15;
    let Some(moment) = whole.then(|| DateTime::from_timestamp_millis(milliseconds as i64)).flatten() else {
        return format!("{seconds} s");
    };
    let time_of_day = (0.0..SECONDS_PER_DAY * 1000.0).contains(&milliseconds);
    let whole_days = milliseconds as i64 % (SECONDS_PER_DAY as i64 * 1000) == 0;
    let pattern = match (time_of_day, whole_days) {
        (true, _) => "%H:%M:%S%.f",
        (false, true) => "%Y-%m-%d",
        (false, false) => "%Y-%m-%dT%H:%M:%S%.f",
    };
    moment.format(pattern).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // 2024-01-31 is 19,753 days after 1970-01-01: 54 years of 365 days + 13 leap days + 30.
    const JANUARY_31: f64 = (54.0 * 365.0 + 13.0 + 30.0) * 86_400.0;

    #[test]
    fn the_same_day_in_every_notation_gives_the_same_seconds() {
        for text in
            ["2024-01-31", "2024/01/31", "2024/1/31", "31.01.2024", "31.1.2024", "1/31/2024", "01/31/2024"]
        {
            assert_eq!(parse(text, false), Some(JANUARY_31), "{text}");
        }
        assert_eq!(parse("31/01/2024", true), Some(JANUARY_31));
    }

    #[test]
    fn times_fractions_halves_of_the_day_and_offsets_are_read() {
        let noon = 12.0 * 3600.0;
        let with_date = [
            ("2024-01-31T12:00", noon),
            ("2024-01-31 12:00:01.25", noon + 1.25),
            ("2024-01-31T12:00:00Z", noon),
            ("2024-01-31T14:00:00+02:00", noon),
            ("2024-01-31T07:00:00-0500", noon),
            ("2024-01-31 13:30+01", noon + 1800.0),
            ("1/31/2024 12:00 PM", noon),
            ("1/31/2024 12:30:00 am", 1800.0),
        ];
        for (text, after_midnight) in with_date {
            assert_eq!(parse_utc(text, false), Some(JANUARY_31 + after_midnight), "{text}");
        }
        assert_eq!(parse("2024-01-31T14:00:00+02:00", false), Some(JANUARY_31 + 14.0 * 3600.0));
        assert!(
            is_zoned("2024-01-31T14:00Z") && is_zoned("31/1/2024 14:00-05") && !is_zoned("2024-01-31 14:00")
        );
        assert_eq!(parse("13:45", false), Some(49_500.0));
        assert_eq!(parse("1:45:10.5 pm", false), Some(49_510.5));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        let texts = [
            "",
            "2024",
            "20240131",
            "2024-13-01",
            "2023-02-29",
            "31.01.24",
            "2024-01/31",
            "12:60",
            "24:00",
            "1.2.3",
            "2024-01-31T",
            "2024-01-31 noon",
            "13:45Z",
            "2024-01-31T10:00+25:00",
            "13:00 pm",
            "1-2-2024",
            "10:20:30:40",
            "2024-01-31T10:00:00.",
            "+024-01-31",
            "192.168.1.2024",
            "1/2/3/2024",
            "é024-01-31",
            "2024-01-3é",
        ];
        for text in texts {
            assert_eq!((parse(text, false), parse(text, true)), (None, None), "{text}");
        }
    }

    #[test]
    fn slashes_tell_the_order_only_when_a_part_exceeds_twelve() {
        assert_eq!(shape("2/1/2024"), Some(DateShape::EitherOrder));
        assert_eq!(shape("1/31/2024"), Some(DateShape::MonthFirst));
        assert_eq!(shape("31/1/2024 10:00"), Some(DateShape::DayFirst));
        assert_eq!(shape("31/31/2024"), None);
        assert_eq!(shape("2024/1/31"), Some(DateShape::Clear));
        assert_eq!(shape("10:30"), Some(DateShape::TimeOfDay));
    }

    #[test]
    fn seconds_are_written_as_the_shortest_iso_text() {
        assert_eq!(format_date(JANUARY_31), "2024-01-31");
        assert_eq!(format_date(JANUARY_31 + 1.5), "2024-01-31T00:00:01.500");
        assert_eq!(format_date(49_510.0), "13:45:10");
        assert_eq!(format_date(-86_400.0), "1969-12-31");
        assert_eq!(format_date(1e300), format!("{} s", 1e300));
        assert_eq!(format_date(f64::NAN), "NaN s");
    }

    proptest! {
        // Law: what is written is read back, to the millisecond, except that [0, one day) is a time of day.
        #[test]
        fn written_dates_read_back(milliseconds in -62_000_000_000_000i64..250_000_000_000_000) {
            let seconds = milliseconds as f64 / 1000.0;
            let text = format_date(seconds);
            let back = parse(&text, false).unwrap();
            prop_assert!((back - seconds).abs() < 1e-3, "{text}: {back} for {seconds}");
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,30}", tail in "[0-9T :./+Zapm-]{0,25}") {
            for cell in [&text, &tail] {
                let read = shape(cell).is_some();
                prop_assert_eq!(read, parse(cell, false).is_some() || parse(cell, true).is_some());
            }
        }
    }
}
