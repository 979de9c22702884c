//! The time between two dates of a row: an order cannot be delivered before it is placed.
//!
//! Every date column but the first also has the days since each date column before it.

use arrow_array::ArrayRef;
use serde::{Deserialize, Serialize};

use super::{Check, EncodeError, EncodedColumn, Encoder, column::LearnedColumn};
use crate::{
    Table,
    kinds::{Cells, Hint, fixed, read},
    table::Rows,
};

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Only so many date columns are compared with each other.
const MOST_COLUMNS: usize = 6;

/// The days between the dates of two columns, in training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Since {
    /// The other column, as a position in [`Encoder::columns`].
    pub(super) column: u32,
    /// The 1 % quantile, the median, and the 99 % quantile.
    low: f64,
    median: f64,
    high: f64,
}

impl Since {
    /// The days from `then` to `now`, in seconds; the median if there is no date.
    pub(super) fn days(self, now: f64, then: f64) -> f64 {
        let days = (now - then) / DAY;
        if days.is_nan() { self.median } else { days }
    }

    /// Says how far apart the dates are.
    pub(super) fn tell(self, now: f64, then: f64, other: &str) -> Hint {
        let usual = format!("normal {} to {} days after", short(self.low), short(self.high));
        let days = (now - then) / DAY;
        let side = if days < 0.0 { "before" } else { "after" };
        format!("{} days {side} `{other}`, {usual}", short(days.abs())).into()
    }

    /// Checks that the column exists and comes before the one at position `at`.
    pub(super) fn validate(&self, at: usize, check: &Check<'_>) -> Result<(), EncodeError> {
        let Self { column, low, median, high } = *self;
        check.ensure((column as usize) < at, "compared dates", column, "a column before it")?;
        let rises = low <= median && median <= high && low.is_finite() && high.is_finite();
        check.ensure(rises, "days between dates", format!("{low:?}, {median:?}, {high:?}"), "rising numbers")
    }
}

/// Days without needless decimals.
fn short(days: f64) -> String {
    let text = fixed(days, usize::from(days.fract() != 0.0 && days.abs() < 100.0));
    text.to_string()
}

/// Learns the days between all date columns.
pub(super) fn learn(table: &Table, columns: &mut [LearnedColumn]) -> Result<(), EncodeError> {
    let is_moment = |column: &LearnedColumn| column.content.as_kind().is_moment();
    let dates: Vec<usize> =
        (0..columns.len()).filter(|&at| is_moment(&columns[at])).take(MOST_COLUMNS).collect();
    if dates.len() < 2 {
        return Ok(());
    }
    let mut seconds: Vec<Vec<f64>> = vec![Vec::with_capacity(table.n_rows()); dates.len()];
    for rows in table.rows() {
        for (seconds, &at) in seconds.iter_mut().zip(&dates) {
            let name = &columns[at].name;
            let array = rows.batch.column_by_name(name).expect("it was learned from this table");
            let reading = columns[at].reading().in_utc();
            let checked = read(name, array, reading, rows.first_row, &rows.origin, false)?;
            let Cells::Numbers(numbers) = checked.cells else { unreachable!("dates are numbers") };
            seconds.extend(numbers);
        }
    }
    for (later, &at) in dates.iter().enumerate() {
        for earlier in 0..later {
            let both = seconds[later].iter().zip(&seconds[earlier]);
            let mut days: Vec<f64> =
                both.map(|(now, then)| (now - then) / DAY).filter(|days| !days.is_nan()).collect();
            days.sort_unstable_by(f64::total_cmp);
            if days.first() == days.last() {
                continue;
            }
            let quantile = |share: f64| days[((days.len() - 1) as f64 * share).round() as usize];
            let [low, median, high] = [0.01, 0.5, 0.99].map(quantile);
            columns[at].since.push(Since { column: dates[earlier] as u32, low, median, high });
        }
    }
    Ok(())
}

impl Encoder {
    /// The cells of columns that are compared with each other, if that is not how they are read: times with an offset are
    /// compared in UTC.
    pub(super) fn moments(
        &self,
        rows: &Rows,
        arrays: &[ArrayRef],
    ) -> Result<Vec<Option<Cells>>, EncodeError> {
        let is_compared = self.columns().iter().any(|column| !column.learned.since.is_empty());
        let cells = |(column, array): (&EncodedColumn, &ArrayRef)| {
            let reading = column.reading();
            if !is_compared || reading.in_utc() == reading {
                return Ok(None);
            }
            let in_utc = read(column.name(), array, reading.in_utc(), rows.first_row, &rows.origin, false)?;
            Ok(Some(in_utc.cells))
        };
        self.columns().iter().zip(arrays).map(cells).collect()
    }

    /// Says how far apart the dates of two columns are: the column at position `column`, and what it is compared with at
    /// position `since`.
    pub(crate) fn tell_since(
        &self,
        column: usize,
        since: usize,
        date: impl Fn(usize) -> Result<Option<f64>, EncodeError>,
    ) -> Result<Option<Hint>, EncodeError> {
        let Some(since) = self.columns()[column].learned.since.get(since) else { return Ok(None) };
        let other = since.column as usize;
        let dates = date(column)?.zip(date(other)?);
        Ok(dates.map(|(now, then)| since.tell(now, then, self.columns()[other].name())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_between_dates_are_told_with_what_is_normal() {
        let since = Since { column: 0, low: 1.0, median: 2.5, high: 5.0 };
        assert_eq!(since.days(3.0 * DAY, DAY), 2.0);
        assert_eq!(since.days(f64::NAN, DAY), 2.5);
        assert_eq!(
            since.tell(0.0, 33.5 * DAY, "ordered").text,
            "33.5 days before `ordered`, normal 1 to 5 days after"
        );
    }
}
