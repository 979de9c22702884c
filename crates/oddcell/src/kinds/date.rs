//! Dates and times of day: one feature, the seconds, standardized.

use std::borrow::Cow;

use arrow_array::{ArrayRef, StringArray, cast::AsArray, types::Int64Type};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};

use super::{
    Block, Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Training, TypeGroup, Wording,
    calendar::{Calendar, DAY},
    cells::Source,
    dates::{self, DateShape},
    epoch::{Epoch, Moments},
    number::native_numbers,
    recognize::{Misfits, Recognition, Recognizer, Sighting},
    seen::{CellAt, Hint, Seen},
    spread::Spread,
    scan,
    training::Numbers,
    words::{self, DateStyle},
    written::{NumberNotation, is_integer},
};
use crate::{
    count::counted,
    encode::{Check, EncodeError, Feature, LeftOutReason},
    layout::Role,
    table::TableError,
};

/// A column of dates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Date {
    /// Where they lie, in seconds.
    spread: Spread,
    /// How finely they are shown.
    style: DateStyle,
    /// See [`Notation::day_first`].
    day_first: bool,
    /// See [`Notation::zoned`].
    zoned: bool,
    /// See [`Notation::epoch`].
    epoch: Option<Epoch>,
    /// See [`Notation::open_ended`].
    open_ended: bool,
    /// Training rows that hold something else.
    unreadable: u64,
    /// The parts that count.
    parts: Vec<Calendar>,
}

/// A date may be later than all training dates by as long as these span, and by this many seconds, before it counts as far
/// out: tables grow.
const LATER: f64 = 366.0 * DAY;

impl Kind for Date {
    fn expected(notation: Notation) -> &'static str {
        if notation.day_first { "a date (day first) or time" } else { "a date or time" }
    }

    fn holds(data_type: &DataType) -> bool {
        TypeGroup::of(data_type) == Some(TypeGroup::Date)
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(Dates::default())
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        let Notation { day_first, utc, epoch, open_ended, .. } = source.reading.notation;
        let parse = if utc { dates::parse_utc } else { dates::parse };
        let cells = match (source.group, epoch) {
            (TypeGroup::Text, None) => source.text_as_numbers(|cell| parse(cell, day_first)),
            (TypeGroup::Text, Some(epoch)) => source.text_as_numbers(|cell| {
                let number = scan::finite_number(cell).map(|number| epoch.seconds(number));
                number.or_else(|| parse(cell, day_first))
            }),
            (TypeGroup::Date, _) => Ok(Cells::Numbers(native_seconds(source))),
            (TypeGroup::Number, Some(epoch)) => {
                let Cells::Numbers(mut numbers) = native_numbers(source)? else {
                    unreachable!("numbers are read as numbers")
                };
                for number in &mut numbers {
                    *number = epoch.seconds(*number);
                }
                Ok(Cells::Numbers(numbers))
            }
            (TypeGroup::Null | TypeGroup::Number | TypeGroup::Boolean, _) => source.no_cell_fits(),
        };
        match cells? {
            Cells::Numbers(mut seconds) if open_ended => {
                seconds.iter_mut().filter(|moment| is_open_end(**moment)).for_each(|moment| *moment = f64::NAN);
                Ok(Cells::Numbers(seconds))
            }
            cells => Ok(cells),
        }
    }

    /// Moments that are written as numbers stay numbers.
    fn arrow_type(notation: Notation) -> DataType {
        if notation.epoch.is_some() && notation.number.whole { DataType::Int64 } else { DataType::Utf8 }
    }

    fn typed(source: &Source<'_>) -> Result<ArrayRef, TableError> {
        super::number::Number::typed(source)
    }

    fn write_json(cell: &str, out: &mut Vec<u8>) {
        super::number::Number::write_json(cell, out);
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let Some(Numbers { values: mut seconds, nulls, unreadable }) = training.numbers()? else {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        };
        let spread = Spread::learn(&mut seconds, training)?;
        let notation = training.column().notation;
        let content = Self {
            parts: Calendar::learn(&seconds, style(&seconds) == DateStyle::Time),
            spread: whole_unit(&seconds).map_or(spread, |unit| spread.in_units(unit)),
            style: style(&seconds),
            day_first: notation.day_first,
            zoned: notation.zoned,
            epoch: notation.epoch,
            open_ended: notation.open_ended,
            unreadable,
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
        let Self { day_first, zoned, epoch, open_ended, .. } = *self;
        Notation { day_first, zoned, epoch, open_ended, ..Notation::default() }
    }

    fn role() -> Role {
        Role::Time
    }

    fn scales(&self, _: Counts) -> Vec<Scale> {
        vec![self.spread.scale()]
    }

    fn write(&self, cells: &Cells, features: &[Feature], mut block: Block<'_>) -> u64 {
        let first_row = block.first_row;
        let mut later = 0;
        for (row, &seconds) in block.rows().zip(&cells.numbers()[first_row..]) {
            let counted = self.counted(seconds);
            later += u64::from(counted.is_none());
            row[0] = counted.filter(|seconds| !seconds.is_nan()).map_or(0.0, |seconds| features[0].scale(seconds));
        }
        later
    }

    fn unfamiliar(&self, count: usize) -> String {
        let last = words::date(self.spread.max, self.style);
        let are = counted(count, "date is", "dates are");
        format!("{are} later than all in training (until {last}); their position in time does not count")
    }

    fn is_moment(&self) -> bool {
        self.style != DateStyle::Time
    }

    /// A whole day, a whole second.
    fn plausible(&self, seconds: f64) -> Option<f64> {
        let unit = if self.style == DateStyle::Day { DAY } else { 1.0 };
        Some((seconds / unit).round() * unit)
    }

    fn written(&self, seconds: f64, like: Option<&str>) -> String {
        let like = like.and_then(|cell| dates::like(cell.trim(), seconds, self.day_first));
        like.unwrap_or_else(|| words::date(seconds, self.style))
    }

    fn hidden(&self) -> Vec<(Role, &'static str)> {
        Calendar::hidden(&self.parts)
    }

    fn write_hidden(&self, cells: &Cells, mut block: Block<'_>) {
        let first_row = block.first_row;
        for (row, &seconds) in block.rows().zip(&cells.numbers()[first_row..]) {
            for (x, part) in row.iter_mut().zip(&self.parts) {
                *x = if seconds.is_nan() { 0.0 } else { part.part.of(seconds) };
            }
        }
    }

    fn unreadable(&self) -> Option<u64> {
        Some(self.unreadable)
    }

    fn tell(&self, cell: &CellAt<'_>, hidden: usize, counts: Counts) -> Result<Option<Hint>, TableError> {
        let seconds = cell.number()?.ok();
        Ok(seconds.and_then(|seconds| Some(self.parts.get(hidden)?.tell(seconds, counts))))
    }

    fn look<'a>(&self, cell: &CellAt<'a>, _: Counts) -> Result<Seen<'a>, TableError> {
        let seconds = match cell.number()? {
            Ok(seconds) => seconds,
            Err(seen) => return Ok(seen),
        };
        Ok(self.spread.look(seconds, shown(seconds, self.style, cell.text())))
    }

    fn normal(&self, _: Counts) -> NormalRange {
        self.spread.normal(|seconds| words::date(seconds, self.style))
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        let filled = check.readable(counts, self.unreadable)?;
        Calendar::validate(&self.parts, filled, check)?;
        self.spread.validate(filled, check)
    }
}

impl Date {
    /// The position in time that counts; none for dates somewhat later than all in training.
    fn counted(&self, seconds: f64) -> Option<f64> {
        let Spread { min, max, .. } = self.spread;
        let is_later = seconds > max && seconds <= max + (max - min) + LATER;
        (self.style == DateStyle::Time || !is_later).then_some(seconds)
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
    seconds_of(&source.array)
}

/// The same for an array of any type of date.
pub(super) fn seconds_of(array: &ArrayRef) -> Vec<f64> {
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

/// Whether a moment is on 9999-12-31 or 0001-01-01, which stand for "never" and "not known".
fn is_open_end(seconds: f64) -> bool {
    const DAYS: [f64; 2] = [2_932_896.0, -719_162.0];
    DAYS.contains(&(seconds / DAY).floor())
}

/// Counts dates that stand for no date.
#[derive(Debug, Default)]
pub(super) struct OpenEnds {
    dates: usize,
    open: usize,
    first: Option<f64>,
}

impl OpenEnds {
    pub(super) fn add(&mut self, seconds: Option<f64>) {
        let Some(seconds) = seconds else { return };
        self.dates += 1;
        if is_open_end(seconds) {
            self.open += 1;
            self.first.get_or_insert(seconds);
        }
    }

    /// What a reader should know, if there are some, and at most half of the dates are.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.first.filter(|_| self.open * 2 <= self.dates)?;
        let day = words::date((first / DAY).floor() * DAY, DateStyle::Day);
        Some(format!("`{day}` in {} is read as missing", counted(self.open, "row", "rows")))
    }
}

/// Recognizes columns of dates, or of times of day.
#[derive(Default)]
struct Dates {
    /// How many cells have each shape, and the first of them.
    shapes: [(usize, Option<Sighting>); 5],
    /// Cells that are no dates.
    misfits: Misfits,
    first: Option<Sighting>,
    /// Whether any time has an offset.
    zoned: bool,
    /// Dates that stand for no date.
    open_ends: OpenEnds,
    /// Numbers, which may be moments: as misfits if they are none.
    numbers: Misfits,
    moments: Moments,
    n_numbers: usize,
    not_whole: bool,
}

impl Dates {
    fn count(&self, shape: DateShape) -> usize {
        self.shapes[shape as usize].0
    }

    fn n_dates(&self) -> usize {
        self.shapes.iter().map(|(count, _)| count).sum()
    }
}

impl Recognizer for Dates {
    fn observe(&mut self, cells: &StringArray, first_row: usize) {
        for (index, cell) in cells.iter().enumerate() {
            let Some(cell) = cell.filter(|cell| !scan::is_null(cell)) else { continue };
            if self.misfits.rule_out(self.n_dates() + self.n_numbers) || self.moments.ruled_out() {
                return;
            }
            let row = first_row + index;
            self.first.get_or_insert_with(|| Sighting::new(row, cell));
            let cell = cell.trim_ascii();
            match dates::shape(cell) {
                Some(shape) => {
                    self.zoned = self.zoned || dates::is_zoned(cell);
                    self.open_ends.add(dates::parse(cell, false).or_else(|| dates::parse(cell, true)));
                    let (count, first) = &mut self.shapes[shape as usize];
                    *count += 1;
                    first.get_or_insert_with(|| Sighting::new(row, cell));
                }
                None => match scan::finite_number(cell) {
                    Some(number) => {
                        self.moments.add(number);
                        self.n_numbers += 1;
                        self.not_whole = self.not_whole || !is_integer(cell.as_bytes());
                        self.numbers.add(row, cell);
                    }
                    None => self.misfits.add(row, cell),
                },
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Recognition {
        use DateShape::{Clear, DayFirst, EitherOrder, MonthFirst, TimeOfDay};
        if let Some(epoch) = self.moments.unit().filter(|_| self.n_numbers > self.n_dates()) {
            let (value, unit) = (self.first.map(|first| first.value).unwrap_or_default(), epoch.name());
            let number = NumberNotation { whole: !self.not_whole, ..NumberNotation::default() };
            let notation = Notation { epoch: Some(epoch), number, zoned: self.zoned, ..Notation::default() };
            let note = format!("whole numbers such as `{value}` are read as {unit} since 1970");
            // Some cells may be dates that are written out.
            let fitting = self.n_numbers + self.shapes.iter().map(|(count, _)| count).sum::<usize>();
            return self.misfits.judged(fitting).read_in(notation, Some(note));
        }
        self.misfits.absorb(std::mem::take(&mut self.numbers));
        let n_times = self.count(TimeOfDay);
        let day_first = self.count(DayFirst) > self.count(MonthFirst);
        // What most cells are decides; the others are as wrong as cells that are no dates.
        let others: &[DateShape] = match n_times > self.n_dates() - n_times {
            true => &[Clear, EitherOrder, MonthFirst, DayFirst],
            false if day_first => &[TimeOfDay, MonthFirst],
            false => &[TimeOfDay, DayFirst],
        };
        let mut fitting = self.n_dates();
        for &shape in others {
            let (count, first) = std::mem::take(&mut self.shapes[shape as usize]);
            fitting -= count;
            self.misfits.add_others(count, first);
        }
        let is_clear = day_first || self.count(MonthFirst) > 0;
        let example = self.first.as_ref().filter(|_| self.count(EitherOrder) > 0 && !is_clear);
        let note = example.map(|Sighting { value, .. }| {
            format!("dates such as `{value}` are read month first, because no cell shows the order")
        });
        let open_ends = self.open_ends.note();
        let open_ended = open_ends.is_some();
        let notation = Notation { day_first, zoned: self.zoned, open_ended, ..Notation::default() };
        let notes: Vec<String> = note.into_iter().chain(open_ends).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        self.misfits.judged(fitting).read_in(notation, note)
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

    #[test] // 9999-12-31 is 2,932,896 days after 1970-01-01, 0001-01-01 719,162 days before.
    fn dates_at_the_ends_of_the_calendar_stand_for_no_date() {
        for (day, is_end) in [("9999-12-31", true), ("0001-01-01 00:00", true), ("9999-12-30", false)] {
            assert_eq!(is_open_end(dates::parse(day, false).unwrap()), is_end, "{day}");
        }
        let mut ends = OpenEnds::default();
        for seconds in [0.0, DAY, 2_932_896.0 * DAY + 86_399.0] {
            ends.add(Some(seconds));
        }
        assert_eq!(ends.note().unwrap(), "`9999-12-31` in 1 row is read as missing");
        ends.add(Some(-719_162.0 * DAY));
        ends.add(Some(-719_162.0 * DAY));
        assert_eq!(ends.note(), None, "more than half of the dates");
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
