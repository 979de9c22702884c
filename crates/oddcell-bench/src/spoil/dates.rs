//! Dates as they are written: three numbers with the same separator, and perhaps a time after them.

use std::ops::Range;

/// Which part of a date comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// 2014-02-28
    Year,
    /// 28.02.2014
    Day,
    /// 02/28/2014
    Month,
}

/// A date in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenDate {
    cell: String,
    year: Range<usize>,
    month: Range<usize>,
    day: Range<usize>,
}

/// Three numbers, separated by the same `-`, `/` or `.`, at the start of the cell; a time may follow a blank or a `T`.
fn parts(cell: &str) -> Option<[Range<usize>; 3]> {
    let date = cell.find([' ', 'T']).map_or(cell, |end| &cell[..end]);
    let separator = date.chars().find(|letter| "-/.".contains(*letter))?;
    let mut start = 0;
    let mut numbers = Vec::new();
    for part in date.split(separator) {
        if part.is_empty() || part.len() > 4 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        numbers.push(start..start + part.len());
        start += part.len() + 1;
    }
    numbers.try_into().ok()
}

impl First {
    /// The part with which the most of these cells are dates, if any is one.
    pub(super) fn of(cells: &[&str]) -> Option<Self> {
        let count = |part: Self| cells.iter().filter(|cell| WrittenDate::parse(cell, part).is_some()).count();
        let counts = [Self::Year, Self::Day, Self::Month].map(|part| (part, count(part)));
        // Of equally good ones, the first counts.
        let (part, most) = counts.into_iter().rev().max_by_key(|&(_, count)| count)?;
        (most > 0).then_some(part)
    }
}

impl WrittenDate {
    /// Reads a cell whose date exists.
    pub(super) fn parse(cell: &str, part: First) -> Option<Self> {
        let [first, second, third] = parts(cell)?;
        let (year, month, day) = match part {
            First::Year => (first, second, third),
            First::Day => (third, second, first),
            First::Month => (third, first, second),
        };
        let date = Self { cell: cell.to_owned(), year, month, day };
        let is_possible = date.year.len() == 4
            && date.month.len() <= 2
            && date.day.len() <= 2
            && (1..=12).contains(&date.number(&date.month))
            && (1..=days_in(date.number(&date.year), date.number(&date.month)))
                .contains(&date.number(&date.day));
        is_possible.then_some(date)
    }

    fn number(&self, place: &Range<usize>) -> i64 {
        self.cell[place.clone()].parse().expect("at most four digits")
    }

    /// Days since the first of January of the year 0.
    pub(super) fn days(&self) -> f64 {
        let (year, month, day) = (self.number(&self.year), self.number(&self.month), self.number(&self.day));
        let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
        let before: i64 = (1..month).map(|month| days_in(year, month)).sum();
        (365 * year + leap_days(year - 1) + before + day) as f64
    }

    /// The cell with the year changed by `years`. The 29th of February becomes the 28th if it has to.
    pub(super) fn years_later(&self, years: i64) -> String {
        let year = self.number(&self.year) + years;
        let last = days_in(year, self.number(&self.month));
        self.with([(&self.year, year), (&self.day, self.number(&self.day).min(last))])
    }

    /// The cell with a month and a day that do not exist together.
    pub(super) fn with_month_and_day(&self, month: i64, day: i64) -> String {
        self.with([(&self.month, month), (&self.day, day)])
    }

    fn with(&self, changes: [(&Range<usize>, i64); 2]) -> String {
        let mut changes = changes;
        changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        let mut cell = self.cell.clone();
        for (place, number) in changes {
            let width = place.len();
            cell.replace_range(place.clone(), &format!("{number:0width$}"));
        }
        cell
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_that_most_cells_allow_is_taken() {
        let part = |cells: &[&str]| First::of(cells);
        assert_eq!(part(&["2014-02-28", "2014-03-01 10:00:00"]), Some(First::Year));
        assert_eq!(part(&["01-02-2014", "28-02-2014"]), Some(First::Day));
        assert_eq!(part(&["1/2/2014", "2/28/2014"]), Some(First::Month));
        assert_eq!(part(&["2014-02-30", "12.5", "1.2.3", "x"]), None);
    }

    #[test] // 1 January of the year 0 is day 1; 2000 has 366 days.
    fn days_are_counted_and_parts_replaced() {
        let date = |cell: &str| WrittenDate::parse(cell, First::Year).unwrap();
        assert_eq!(date("2001-01-01").days() - date("2000-01-01").days(), 366.0);
        assert_eq!(date("2000-03-01").days() - date("2000-02-28").days(), 2.0);
        assert_eq!(date("2000-02-29T07:00:00Z").years_later(-100), "1900-02-28T07:00:00Z");
        assert_eq!(date("2014/2/8").with_month_and_day(2, 30), "2014/2/30");
        let date = WrittenDate::parse("28-02-2014", First::Day).unwrap();
        assert_eq!(
            (date.years_later(100), date.with_month_and_day(13, 28)),
            ("28-02-2114".to_owned(), "28-13-2014".to_owned())
        );
    }
}
