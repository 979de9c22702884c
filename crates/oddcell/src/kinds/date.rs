//! Dates and times of day: one feature, the seconds, standardized.

use std::borrow::Cow;

use arrow_array::{StringArray, cast::AsArray, types::Int64Type};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};

use super::{
    Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Training, TypeGroup, Wording,
    cells::Source,
    dates::{self, DateShape},
    recognize::{Recognition, Recognizer, Sighting},
    seen::{CellAt, Seen},
    spread::Spread,
    text,
    words::{self, DateStyle},
};
use crate::{
    encode::{Check, EncodeError, LeftOutReason},
    table::TableError,
};

/// A column of dates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Date {
    /// Where they lie, in seconds.
    spread: Spread,
    /// How finely they are shown.
    style: DateStyle,
    /// See [`Notation::day_first`].
    day_first: bool,
}

const DAY: f64 = 86_400.0;

impl Kind for Date {
    fn expected(notation: Notation) -> &'static str {
        if notation.day_first { "a date (day first) or time" } else { "a date or time" }
    }

    fn holds(data_type: &DataType) -> bool {
        TypeGroup::of(data_type) == Some(TypeGroup::Date)
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(Dates { shapes: Some(Shapes::default()), first: None })
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        let Notation { day_first } = source.reading.notation;
        match source.group {
            TypeGroup::Text => source.text_as_numbers(|cell| dates::parse(cell, day_first)),
            TypeGroup::Date => Ok(Cells::Numbers(native_seconds(source))),
            TypeGroup::Null | TypeGroup::Number | TypeGroup::Boolean => source.no_cell_fits(),
        }
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let Some((mut seconds, nulls)) = training.numbers()? else {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        };
        let spread = Spread::learn(&mut seconds, training)?;
        let content = Self {
            spread: whole_unit(&seconds).map_or(spread, |unit| spread.in_units(unit)),
            style: style(&seconds),
            day_first: training.column().notation.day_first,
        };
        Ok(Learned::Column { nulls, content })
    }

    fn wording() -> Wording {
        Wording::Distance { unit: words::span, above: "after", below: "before" }
    }

    /// The day.
    fn short(cell: &str) -> &str {
        cell.split([' ', 'T']).next().unwrap_or(cell)
    }

    fn notation(&self) -> Notation {
        Notation { day_first: self.day_first }
    }

    fn scales(&self, _: Counts) -> Vec<Scale> {
        vec![self.spread.scale()]
    }

    fn look<'a>(&self, cell: &CellAt<'a>, _: Counts) -> Result<Seen<'a>, TableError> {
        let Some(seconds) = cell.number()? else { return Ok(Seen::default()) };
        Ok(self.spread.look(seconds, shown(seconds, self.style, cell.text())))
    }

    fn normal(&self, _: Counts) -> NormalRange {
        self.spread.normal(|seconds| words::date(seconds, self.style))
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        self.spread.validate(counts.filled(), check)
    }
}

/// A date as written if that is the ISO form or a time of day. Beside a normal range in ISO form nobody could tell
/// which of 1 and 2 is the month in `1/2/2024`.
fn shown(seconds: f64, style: DateStyle, text: Option<&str>) -> Cow<'_, str> {
    let is_iso = |text: &str| text.as_bytes().get(4) == Some(&b'-');
    match text {
        Some(text) if style == DateStyle::Time || is_iso(text) => Cow::Borrowed(text),
        // Do not lose the time of day in a column of days.
        _ if style == DateStyle::Day && seconds % DAY != 0.0 => {
            Cow::Owned(words::date(seconds, DateStyle::Moment))
        }
        _ => Cow::Owned(words::date(seconds, style)),
    }
}

/// How finely a column with these seconds, none of them NaN, is shown.
fn style(seconds: &[f64]) -> DateStyle {
    if seconds.iter().all(|second| second % DAY == 0.0) && seconds.iter().any(|&second| second != 0.0) {
        DateStyle::Day
    } else if seconds.iter().all(|second| (0.0..DAY).contains(second)) {
        DateStyle::Time
    } else {
        DateStyle::Moment
    }
}

/// The largest unit that divides all these seconds: a day, a second, or none.
fn whole_unit(seconds: &[f64]) -> Option<f64> {
    [DAY, 1.0].into_iter().find(|unit| seconds.iter().all(|second| second % unit == 0.0))
}

/// Typed dates and times as seconds since 1970-01-01 or since midnight.
fn native_seconds(source: &Source<'_>) -> Vec<f64> {
    let array = &source.array;
    // Timestamps with and without time zone both count from 1970-01-01 UTC; only whole numbers cast both ways.
    let whole = match array.data_type() {
        DataType::Date32 | DataType::Time32(_) => cast(array, &DataType::Int32),
        _ => cast(array, &DataType::Int64),
    };
    let whole = whole.and_then(|whole| cast(&whole, &DataType::Int64)).expect("dates cast to whole numbers");
    let seconds: fn(i64) -> f64 = match array.data_type() {
        DataType::Date32 => |days| days as f64 * DAY,
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => match unit {
            TimeUnit::Second => |count| count as f64,
            TimeUnit::Millisecond => |count| count as f64 / 1e3,
            TimeUnit::Microsecond => |count| count as f64 / 1e6,
            TimeUnit::Nanosecond => |count| count as f64 / 1e9,
        },
        _ => |count| count as f64 / 1e3, // Date64 counts milliseconds.
    };
    whole.as_primitive::<Int64Type>().iter().map(|cell| cell.map_or(f64::NAN, seconds)).collect()
}

/// Recognizes columns in which every cell is a date, or every cell a time of day.
struct Dates {
    /// The shapes of the cells so far; `None` once a cell is no date, or contradicts the others.
    shapes: Option<Shapes>,
    first: Option<Sighting>,
}

/// A set of shapes, one bit for each.
#[derive(Clone, Copy, Default)]
struct Shapes(u8);

impl Shapes {
    fn has(self, shape: DateShape) -> bool {
        self.0 & 1 << shape as u8 != 0
    }

    /// The set with one more shape; `None` if the shapes contradict each other.
    fn with(self, shape: DateShape) -> Option<Self> {
        let all = Self(self.0 | 1 << shape as u8);
        let both_orders = all.has(DateShape::MonthFirst) && all.has(DateShape::DayFirst);
        let mixed = all.has(DateShape::TimeOfDay) && all.0.count_ones() > 1;
        (!both_orders && !mixed).then_some(all)
    }
}

impl Recognizer for Dates {
    fn observe(&mut self, cells: &StringArray, first_row: usize) {
        for (index, cell) in cells.iter().enumerate() {
            let (Some(shapes), Some(cell)) = (self.shapes, cell) else { continue };
            if !text::is_null(cell) {
                self.first.get_or_insert_with(|| Sighting::new(first_row + index, cell));
                self.shapes = dates::shape(cell.trim_ascii()).and_then(|shape| shapes.with(shape));
            }
        }
    }

    fn finish(self: Box<Self>) -> Recognition {
        let Some(shapes) = self.shapes else { return Recognition::Differs(None) };
        let notation = Notation { day_first: shapes.has(DateShape::DayFirst) };
        let is_clear = notation.day_first || shapes.has(DateShape::MonthFirst);
        let example = self.first.filter(|_| shapes.has(DateShape::EitherOrder) && !is_clear);
        let note = example.map(|Sighting { value, .. }| {
            format!("dates such as `{value}` are read month first, because no cell shows the order")
        });
        Recognition::Fits { notation, note }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_of_a_date_is_its_day() {
        for cell in ["2065-06-15 18:18:17", "2065-06-15T18:18:17Z", "2065-06-15"] {
            assert_eq!(Date::short(cell), "2065-06-15");
        }
        assert_eq!(Date::short("18:18:17"), "18:18:17");
    }

    #[test]
    fn dates_are_shown_as_finely_as_the_column_needs() {
        assert_eq!(style(&[0.0, 3.0 * DAY]), DateStyle::Day);
        assert_eq!(style(&[0.0, 3600.0]), DateStyle::Time);
        assert_eq!(style(&[3.0 * DAY, 3600.0]), DateStyle::Moment);
    }

    #[test] // Rank 0.01·2 = 0.02 between 0 and 10 s is 0.2 s; rank 1.98 between 10 and 20 s is 19.8 s.
    fn the_normal_range_of_dates_is_as_fine_as_the_dates() {
        let mut seconds = [0.0, 10.0, 20.0];
        let spread = Spread::of(&mut seconds).unwrap();
        assert!((spread.low - 0.2).abs() < 1e-12 && (spread.high - 19.8).abs() < 1e-12);
        assert_eq!(whole_unit(&seconds), Some(1.0));
        let whole = spread.in_units(1.0);
        assert_eq!((whole.low, whole.high, whole.mean), (0.0, 20.0, spread.mean));
        assert_eq!([whole_unit(&[DAY, -3.0 * DAY]), whole_unit(&[0.5, DAY])], [Some(DAY), None]);
    }
}
