//! The cells of one column, read as what they mean.
//!
//! Training and scoring both come through [`read_cells`], so a column means the same in both. Text columns (CSV,
//! JSON lines, text in Parquet and Arrow) are interpreted cell by cell; typed columns are converted.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, StringArray,
    cast::AsArray,
    types::{Float64Type, Int64Type},
};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_cast::{cast, display::array_value_to_string};
use arrow_schema::{DataType, TimeUnit};

use super::{
    ColumnKind, TableError, dates,
    error::excerpt,
    text::{self, NumberCell},
};

/// The cells of one column.
#[derive(Debug, Clone)]
pub enum Cells {
    /// Numbers; booleans as 0 and 1, dates as seconds; NaN where there is no value.
    Numbers(Vec<f64>),
    /// Names without spaces around them; null where there is no value.
    Names(StringArray),
}

/// One cell as people would write it, whatever its type; `None` if it is null.
#[must_use]
pub fn cell_text(array: &ArrayRef, row: usize) -> Option<String> {
    array.is_valid(row).then(|| written(&array.slice(row, 1), 0))
}

/// Reads `array`, the cells of `column`, as `kind`.
///
/// `first_row` is the number of rows before this batch and `origin` the table's name; both are for messages.
/// NaN in float columns and null tokens in text columns are nulls; infinite numbers are refused, and so are columns
/// of nested and binary types.
pub fn read_cells(
    column: &str,
    array: &ArrayRef,
    kind: ColumnKind,
    first_row: usize,
    origin: &str,
) -> Result<Cells, TableError> {
    let place = Place { column, first_row, origin, kind };
    let unpacked = unpacked(array);
    let array = unpacked.as_ref().unwrap_or(array);
    let Some(group) = TypeGroup::of(array.data_type()) else {
        return Err(TableError::UnsupportedType {
            origin: origin.to_owned(),
            column: column.to_owned(),
            found: array.data_type().to_string(),
        });
    };
    match (kind, group) {
        (ColumnKind::Category, group) => names(array, group, &place).map(Cells::Names),
        (_, TypeGroup::Null) => Ok(Cells::Numbers(vec![f64::NAN; array.len()])),
        (ColumnKind::Number, TypeGroup::Text) => {
            text_numbers(&to_text(column, array)?, &place).map(Cells::Numbers)
        }
        (ColumnKind::Boolean, TypeGroup::Text) => {
            let read = |cell: &str| text::boolean(cell).map(f64::from);
            text_as(&to_text(column, array)?, &place, read).map(Cells::Numbers)
        }
        (ColumnKind::Date | ColumnKind::DayFirstDate, TypeGroup::Text) => {
            let read = |cell: &str| dates::parse(cell, kind == ColumnKind::DayFirstDate);
            text_as(&to_text(column, array)?, &place, read).map(Cells::Numbers)
        }
        (ColumnKind::Number, TypeGroup::Number) => native_numbers(array, &place).map(Cells::Numbers),
        (ColumnKind::Boolean, TypeGroup::Boolean) => Ok(Cells::Numbers(
            array.as_boolean().iter().map(|cell| cell.map_or(f64::NAN, f64::from)).collect(),
        )),
        (ColumnKind::Date | ColumnKind::DayFirstDate, TypeGroup::Date) => {
            Ok(Cells::Numbers(native_seconds(array)))
        }
        _ => place.no_cell_fits(array),
    }
}

/// The values of a dictionary that holds no text, such as the whole numbers that a data frame was told are categories.
fn unpacked(array: &ArrayRef) -> Option<ArrayRef> {
    let DataType::Dictionary(_, values) = array.data_type() else { return None };
    let group = TypeGroup::of(values).filter(|&group| group != TypeGroup::Text);
    group.map(|_| cast(array, values).expect("a dictionary can be unpacked"))
}

/// What kinds of values an Arrow type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeGroup {
    Null,
    Number,
    Boolean,
    Date,
    Text,
}

impl TypeGroup {
    /// The group of a type; `None` for nested and binary types, whose cells nobody can read here.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Null => Some(Self::Null),
            DataType::Boolean => Some(Self::Boolean),
            DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Time32(_)
            | DataType::Time64(_) => Some(Self::Date),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Self::Text),
            DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => Some(Self::Number),
            // Other dictionaries are unpacked where they are read, and are categories whatever they hold.
            DataType::Dictionary(_, values) => Self::of(values).filter(|&group| group == Self::Text),
            other => other.is_numeric().then_some(Self::Number),
        }
    }
}

/// Where a column stands, for messages.
struct Place<'a> {
    column: &'a str,
    first_row: usize,
    origin: &'a str,
    kind: ColumnKind,
}

impl Place<'_> {
    fn wrong(&self, index: usize, cell: &str) -> TableError {
        TableError::WrongKind {
            origin: self.origin.to_owned(),
            row: self.first_row + index + 1,
            column: self.column.to_owned(),
            found: excerpt(cell.trim_ascii()),
            expected: self.kind,
        }
    }

    fn infinite(&self, index: usize, cell: &str) -> TableError {
        TableError::Infinite {
            origin: self.origin.to_owned(),
            row: self.first_row + index + 1,
            column: self.column.to_owned(),
            found: excerpt(cell.trim_ascii()),
        }
    }

    /// A type that never fits: the first value is the example; without any value, all cells are null.
    fn no_cell_fits(&self, array: &ArrayRef) -> Result<Cells, TableError> {
        match (0..array.len()).find(|&index| array.is_valid(index)) {
            Some(index) => Err(self.wrong(index, &written(array, index))),
            None => Ok(Cells::Numbers(vec![f64::NAN; array.len()])),
        }
    }
}

/// One cell as people would write it; empty if it cannot be shown.
fn written(array: &ArrayRef, index: usize) -> String {
    array_value_to_string(&displayable(array), index).unwrap_or_default()
}

/// The same values in a type whose text is known: times with a named zone become times in UTC, because the names of
/// zones are not known here.
pub(super) fn displayable(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Timestamp(unit, Some(_)) => {
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            cast(array, &utc).unwrap_or_else(|_| Arc::clone(array))
        }
        _ => Arc::clone(array),
    }
}

/// Any array of [`TypeGroup::Text`] as plain text; free of cost for CSV and JSON lines, which are plain already.
pub(super) fn to_text(column: &str, array: &ArrayRef) -> Result<StringArray, TableError> {
    let (values, keys) = match array.data_type() {
        DataType::Utf8 => return Ok(array.as_string::<i32>().clone()),
        DataType::LargeUtf8 => return collected(column, array.as_string::<i64>().iter()),
        DataType::Utf8View => return collected(column, array.as_string_view().iter()),
        _ => {
            let dictionary = array.as_any_dictionary();
            let keys = cast(dictionary.keys(), &DataType::Int64).expect("keys are whole numbers");
            (to_text(column, dictionary.values())?, keys)
        }
    };
    let name = |key: Option<i64>| {
        let key = usize::try_from(key?).ok()?;
        (key < values.len() && values.is_valid(key)).then(|| values.value(key))
    };
    collected(column, keys.as_primitive::<Int64Type>().iter().map(name))
}

/// Plain text holds at most 2³¹ bytes per batch.
fn collected<'a>(
    column: &str,
    cells: impl Iterator<Item = Option<&'a str>> + Clone,
) -> Result<StringArray, TableError> {
    let bytes: usize = cells.clone().flatten().map(str::len).sum();
    if i32::try_from(bytes).is_err() {
        return Err(TableError::TooMuchText { column: column.to_owned(), bytes });
    }
    Ok(cells.collect())
}

fn text_numbers(cells: &StringArray, place: &Place<'_>) -> Result<Vec<f64>, TableError> {
    // The text and its offsets by hand: this is the innermost loop of reading a CSV.
    // What lies under a null is any text.
    let text = cells.value_data();
    let mut numbers = Vec::with_capacity(cells.len());
    for (index, bounds) in cells.value_offsets().windows(2).enumerate() {
        let cell = &text[bounds[0] as usize..bounds[1] as usize];
        numbers.push(match text::number(cell) {
            NumberCell::Finite(value) => value,
            NumberCell::Null => f64::NAN,
            _ if cells.is_null(index) => f64::NAN,
            NumberCell::Infinite => return Err(place.infinite(index, cells.value(index))),
            NumberCell::Other => return Err(place.wrong(index, cells.value(index))),
        });
    }
    if let Some(nulls) = cells.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (number, valid) in numbers.iter_mut().zip(nulls) {
            *number = if valid { *number } else { f64::NAN };
        }
    }
    Ok(numbers)
}

fn text_as(
    cells: &StringArray,
    place: &Place<'_>,
    read: impl Fn(&str) -> Option<f64>,
) -> Result<Vec<f64>, TableError> {
    let read_cell = |(index, cell): (usize, Option<&str>)| match cell {
        Some(cell) if !text::is_null(cell) => read(cell.trim_ascii()).ok_or_else(|| place.wrong(index, cell)),
        _ => Ok(f64::NAN),
    };
    cells.iter().enumerate().map(read_cell).collect()
}

fn native_numbers(array: &ArrayRef, place: &Place<'_>) -> Result<Vec<f64>, TableError> {
    let floats = to_floats(array);
    let numbers = with_nan(&floats);
    match numbers.iter().position(|number| number.is_infinite()) {
        Some(index) => Err(place.infinite(index, &written(array, index))),
        None => Ok(numbers),
    }
}

fn to_floats(array: &ArrayRef) -> Float64Array {
    cast(array, &DataType::Float64).expect("numbers cast to floats").as_primitive::<Float64Type>().clone()
}

fn with_nan(floats: &Float64Array) -> Vec<f64> {
    if floats.null_count() == 0 {
        return floats.values().to_vec();
    }
    floats.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect()
}

/// Dates and times as seconds since 1970-01-01 or since midnight.
fn native_seconds(array: &ArrayRef) -> Vec<f64> {
    let units_per_second = match array.data_type() {
        DataType::Date32 => 1.0 / 86_400.0,
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => match unit {
            TimeUnit::Second => 1.0,
            TimeUnit::Millisecond => 1e3,
            TimeUnit::Microsecond => 1e6,
            TimeUnit::Nanosecond => 1e9,
        },
        _ => 1e3, // Date64 counts milliseconds.
    };
    // Timestamps with and without time zone both count from 1970-01-01 UTC; only whole numbers cast both ways.
    let whole = match array.data_type() {
        DataType::Date32 | DataType::Time32(_) => cast(array, &DataType::Int32),
        _ => cast(array, &DataType::Int64),
    };
    let whole = whole.and_then(|whole| cast(&whole, &DataType::Int64)).expect("dates cast to whole numbers");
    let whole = whole.as_primitive::<Int64Type>();
    if let DataType::Date32 = array.data_type() {
        return whole.iter().map(|cell| cell.map_or(f64::NAN, |days| days as f64 * 86_400.0)).collect();
    }
    whole.iter().map(|cell| cell.map_or(f64::NAN, |count| count as f64 / units_per_second)).collect()
}

fn names(array: &ArrayRef, group: TypeGroup, place: &Place<'_>) -> Result<StringArray, TableError> {
    match group {
        TypeGroup::Text => Ok(text_names(&to_text(place.column, array)?)),
        TypeGroup::Null => Ok(StringArray::new_null(array.len())),
        TypeGroup::Boolean => {
            let name = |cell| if cell { "true" } else { "false" };
            Ok(array.as_boolean().iter().map(|cell| cell.map(name)).collect())
        }
        // 3.0 is named `3`, as it would be in a CSV file; NaN is a null here too.
        TypeGroup::Number if array.data_type().is_floating() => Ok(to_floats(array)
            .iter()
            .map(|cell| cell.filter(|number| !number.is_nan()).map(|number| number.to_string()))
            .collect()),
        TypeGroup::Number | TypeGroup::Date => {
            Ok((0..array.len()).map(|index| array.is_valid(index).then(|| written(array, index))).collect())
        }
    }
}

/// Null tokens become nulls and spaces around a name go; the text itself is shared where no name has any.
fn text_names(cells: &StringArray) -> StringArray {
    let cells = null_tokens_as_nulls(cells);
    if cells.iter().flatten().all(|cell| cell.len() == cell.trim_ascii().len()) {
        return cells;
    }
    cells.iter().map(|cell| cell.map(str::trim_ascii)).collect()
}

/// The same text, with nulls where a cell stands for "no value".
pub(super) fn null_tokens_as_nulls(cells: &StringArray) -> StringArray {
    let mut valid = BooleanBufferBuilder::new(cells.len());
    for cell in cells {
        valid.append(cell.is_some_and(|cell| !text::is_null(cell)));
    }
    let nulls = NullBuffer::new(valid.finish());
    StringArray::new(cells.offsets().clone(), cells.values().clone(), Some(nulls))
}

/// Numbers (booleans as 0 and 1) as a nullable Arrow column, for writing.
pub(super) fn to_arrow(numbers: &[f64], kind: ColumnKind) -> ArrayRef {
    let some = |&number: &f64| (!number.is_nan()).then_some(number);
    if kind == ColumnKind::Boolean {
        Arc::new(numbers.iter().map(|number| some(number).map(|one| one != 0.0)).collect::<BooleanArray>())
    } else {
        Arc::new(numbers.iter().map(some).collect::<Float64Array>())
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Date32Array, Date64Array, Decimal128Array, DictionaryArray, Int32Array, Int64Array, LargeStringArray,
        NullArray, StringViewArray, Time32SecondArray, Time64MicrosecondArray, TimestampMillisecondArray,
        TimestampNanosecondArray, types::Int8Type,
    };

    use super::*;

    fn text(cells: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(cells.to_vec()))
    }

    fn numbers(array: &ArrayRef, kind: ColumnKind) -> Vec<f64> {
        match read_cells("c", array, kind, 0, "t.csv").unwrap() {
            Cells::Numbers(numbers) => numbers,
            Cells::Names(names) => panic!("names: {names:?}"),
        }
    }

    fn names(array: &ArrayRef) -> Vec<Option<String>> {
        match read_cells("c", array, ColumnKind::Category, 0, "t.csv").unwrap() {
            Cells::Names(names) => names.iter().map(|name| name.map(str::to_owned)).collect(),
            Cells::Numbers(numbers) => panic!("numbers: {numbers:?}"),
        }
    }

    fn message(array: &ArrayRef, kind: ColumnKind) -> String {
        read_cells("c", array, kind, 100, "t.csv").unwrap_err().to_string()
    }

    /// NaN is equal to NaN here.
    fn assert_same(found: &[f64], expected: &[f64]) {
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(found), bits(expected), "{found:?} {expected:?}");
    }

    #[test]
    fn text_is_read_as_the_kind_asked_for_with_nan_for_null_tokens() {
        assert_same(
            &numbers(&text(&["1", " -2.5 ", "NA", ""]), ColumnKind::Number),
            &[1.0, -2.5, f64::NAN, f64::NAN],
        );
        assert_same(&numbers(&text(&["Yes", "f", "?"]), ColumnKind::Boolean), &[1.0, 0.0, f64::NAN]);
        let january_2 = 86_400.0;
        assert_same(&numbers(&text(&["1/2/1970", "-"]), ColumnKind::Date), &[january_2, f64::NAN]);
        assert_same(&numbers(&text(&["2/1/1970", "-"]), ColumnKind::DayFirstDate), &[january_2, f64::NAN]);
        assert_eq!(names(&text(&["red", " blue ", "none"])), [Some("red".into()), Some("blue".into()), None]);
    }

    #[test] // `first_row` is 100, so the second cell is row 102.
    fn cells_that_do_not_fit_are_named_with_their_place() {
        let error = message(&text(&["1", "12,5"]), ColumnKind::Number);
        assert_eq!(error, "t.csv, row 102, column `c`: found `12,5`, but a number was expected");
        let error = message(&text(&["1", "-inf"]), ColumnKind::Number);
        assert_eq!(error, "t.csv, row 102, column `c`: found `-inf`, but a finite number was expected");
        let error = message(&text(&["yes", "1"]), ColumnKind::Boolean);
        assert_eq!(error, "t.csv, row 102, column `c`: found `1`, but true or false was expected");
        let error = message(&text(&["2024-01-31", "soon"]), ColumnKind::Date);
        assert_eq!(error, "t.csv, row 102, column `c`: found `soon`, but a date or time was expected");
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(f64::INFINITY)]));
        let error = message(&floats, ColumnKind::Number);
        assert_eq!(error, "t.csv, row 103, column `c`: found `inf`, but a finite number was expected");
        let integers: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(7)]));
        let error = message(&integers, ColumnKind::Date);
        assert_eq!(error, "t.csv, row 102, column `c`: found `7`, but a date or time was expected");
        let error = message(&integers, ColumnKind::Boolean);
        assert_eq!(error, "t.csv, row 102, column `c`: found `7`, but true or false was expected");
    }

    #[test] // Half a day is 43,200 s; 1970-01-02 is day 1 = 86,400 s.
    fn every_type_of_number_and_date_is_converted() {
        let number_arrays: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(vec![Some(3), None])),
            Arc::new(Float64Array::from(vec![3.0, f64::NAN])),
            cast(&(Arc::new(Float64Array::from(vec![Some(3.0), None])) as ArrayRef), &DataType::Float16)
                .unwrap(),
            Arc::new(arrow_array::UInt64Array::from(vec![Some(3), None])),
            Arc::new(Decimal128Array::from(vec![Some(300), None]).with_precision_and_scale(10, 2).unwrap()),
            Arc::new(
                arrow_array::Decimal32Array::from(vec![Some(300), None])
                    .with_precision_and_scale(5, 2)
                    .unwrap(),
            ),
            Arc::new(
                arrow_array::Decimal64Array::from(vec![Some(300), None])
                    .with_precision_and_scale(5, 2)
                    .unwrap(),
            ),
        ];
        for array in number_arrays {
            assert_same(&numbers(&array, ColumnKind::Number), &[3.0, f64::NAN]);
        }
        let half_day = 43_200;
        let date_arrays: Vec<(ArrayRef, f64)> = vec![
            (Arc::new(Date32Array::from(vec![Some(1), None])), 86_400.0),
            (Arc::new(Date64Array::from(vec![Some(86_400_000), None])), 86_400.0),
            (Arc::new(Time32SecondArray::from(vec![Some(half_day), None])), 43_200.0),
            (
                Arc::new(Time64MicrosecondArray::from(vec![Some(i64::from(half_day) * 1_000_000), None])),
                43_200.0,
            ),
            (Arc::new(TimestampNanosecondArray::from(vec![Some(1_500_000_000), None])), 1.5),
            (
                Arc::new(
                    TimestampMillisecondArray::from(vec![Some(1500), None]).with_timezone("Europe/Berlin"),
                ),
                1.5,
            ),
        ];
        for (array, seconds) in date_arrays {
            assert_same(&numbers(&array, ColumnKind::Date), &[seconds, f64::NAN]);
            assert_eq!(names(&array)[1], None);
            assert!(!names(&array)[0].as_ref().unwrap().is_empty(), "{:?}", array.data_type());
        }
        let booleans: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
        assert_same(&numbers(&booleans, ColumnKind::Boolean), &[1.0, f64::NAN, 0.0]);
        let nothing: ArrayRef = Arc::new(NullArray::new(2));
        assert_same(&numbers(&nothing, ColumnKind::Number), &[f64::NAN; 2]);
        assert_eq!(names(&nothing), [None, None]);
    }

    #[test]
    fn every_type_of_text_gives_the_same_cells() {
        let cells = [Some("7"), None, Some("NA"), Some(" 8 ")];
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(cells.to_vec())),
            Arc::new(LargeStringArray::from(cells.to_vec())),
            Arc::new(StringViewArray::from(cells.to_vec())),
            Arc::new(cells.into_iter().collect::<DictionaryArray<Int8Type>>()),
        ];
        for array in arrays {
            assert_same(&numbers(&array, ColumnKind::Number), &[7.0, f64::NAN, f64::NAN, 8.0]);
            assert_eq!(names(&array), [Some("7".into()), None, None, Some("8".into())]);
        }
    }

    #[test] // 10, 20, null, 10 by the keys 0, 1, null, 0.
    fn a_dictionary_of_numbers_holds_names() {
        let keys = arrow_array::Int8Array::from(vec![Some(0), Some(1), None, Some(0)]);
        let dictionary = DictionaryArray::new(keys, Arc::new(Int64Array::from(vec![10, 20])));
        let array: ArrayRef = Arc::new(dictionary);
        assert_eq!(names(&array), [Some("10".into()), Some("20".into()), None, Some("10".into())]);
        let schema =
            arrow_schema::Schema::new(vec![arrow_schema::Field::new("c", array.data_type().clone(), true)]);
        let batch = arrow_array::RecordBatch::try_new(Arc::new(schema), vec![array]).unwrap();
        let table = crate::Table::from_batches("t", vec![batch]).unwrap();
        assert_eq!(table.columns[0].kind, ColumnKind::Category);
    }

    #[test] // The text under a null can be anything, also something that is no number.
    fn what_lies_under_a_null_does_not_count() {
        let valid = StringArray::from(vec!["1", "x", "2"]);
        let nulls = NullBuffer::from(vec![true, false, false]);
        let array: ArrayRef =
            Arc::new(StringArray::new(valid.offsets().clone(), valid.values().clone(), Some(nulls)));
        assert_same(&numbers(&array, ColumnKind::Number), &[1.0, f64::NAN, f64::NAN]);
        assert_eq!(names(&array), [Some("1".into()), None, None]);
    }

    #[test]
    fn whole_floats_are_named_like_whole_numbers() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![Some(3.0), Some(0.5), Some(f64::NAN), None]));
        assert_eq!(names(&floats), [Some("3".into()), Some("0.5".into()), None, None]);
    }

    #[test]
    fn a_slice_of_a_batch_is_read_like_a_batch() {
        let array = text(&["x", "1", "2"]).slice(1, 2);
        assert_same(&numbers(&array, ColumnKind::Number), &[1.0, 2.0]);
        assert_eq!(names(&array), [Some("1".into()), Some("2".into())]);
    }
}
