//! The cells of one column, read as what they mean.
//!
//! Training and scoring both call [`read_cells`], so a column means the same in both. Text columns (CSV, JSON lines,
//! text in Parquet and Arrow) are interpreted cell by cell; typed columns are converted.

use std::{cell::RefCell, ops::Range, sync::Arc};

use arrow_array::{Array, ArrayRef, Float64Array, StringArray, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::{
    Reading,
    arrow::{TypeGroup, null_tokens_as_nulls, to_text, unpacked, written},
    scan,
};
use crate::table::{TableError, excerpt};

/// The cells of one column.
#[derive(Debug, Clone)]
pub enum Cells {
    /// Numbers; booleans as 0 and 1, dates as seconds; NaN where there is no value.
    Numbers(Vec<f64>),
    /// Names as written; null where there is no value.
    Names(StringArray),
}

impl Cells {
    /// The number of nulls.
    pub(crate) fn null_count(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.iter().filter(|number| number.is_nan()).count(),
            Self::Names(names) => names.null_count(),
        }
    }

    /// The rows among these without a value.
    pub(crate) fn nulls(&self, rows: Range<usize>) -> Vec<usize> {
        match self {
            Self::Numbers(numbers) => rows.filter(|&row| numbers[row].is_nan()).collect(),
            Self::Names(names) => rows.filter(|&row| names.is_null(row)).collect(),
        }
    }

    /// The numbers of a kind that reads numbers.
    pub(crate) fn numbers(&self) -> &[f64] {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Names(_) => unreachable!("cells are read by their own kind"),
        }
    }

    /// The names of a kind that reads names.
    pub(super) fn names(&self) -> &StringArray {
        match self {
            Self::Names(names) => names,
            Self::Numbers(_) => unreachable!("cells are read by their own kind"),
        }
    }
}

/// One cell as people would write it, whatever its type; `None` if it is null.
#[must_use]
pub fn cell_text(array: &ArrayRef, row: usize) -> Option<String> {
    array.is_valid(row).then(|| written(&array.slice(row, 1), 0))
}

/// Reads `array`, the cells of `column`, as a kind. The first cell that is not of this kind is an error.
///
/// `first_row` is the number of rows before this batch and `origin` the table's name; both are for messages.
/// NaN in float columns and null tokens in text columns are nulls. Infinite numbers are errors, and so are columns
/// of nested and binary types.
pub fn read_cells(
    column: &str,
    array: &ArrayRef,
    reading: impl Into<Reading>,
    first_row: usize,
    origin: &str,
) -> Result<Cells, TableError> {
    let reading = reading.into();
    reading.kind.read(&Source::new(column, array, reading, first_row, origin)?)
}

/// Cells, and which of them are not what their column holds.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    /// The cells; those that cannot be read have no value.
    pub(crate) cells: Cells,
    /// The positions of cells that cannot be read, in rising order.
    pub(crate) unreadable: Vec<u32>,
}

impl Checked {
    /// The number of nulls. A cell that cannot be read is not null.
    pub(crate) fn null_count(&self) -> usize {
        self.cells.null_count() - self.unreadable.len()
    }
}

/// Reads cells like [`read_cells`]. Unless `strict`, a text that is not of the kind, or a number that is not finite, is no
/// error: its position is returned. A type that never holds the kind stays an error.
pub(crate) fn read(
    column: &str,
    array: &ArrayRef,
    reading: Reading,
    first_row: usize,
    origin: &str,
    strict: bool,
) -> Result<Checked, TableError> {
    let source = Source::new(column, array, reading, first_row, origin)?;
    let source = if strict { source } else { source.lenient() };
    let cells = reading.kind.read(&source)?;
    Ok(Checked { cells, unreadable: source.misfits.map(RefCell::into_inner).unwrap_or_default() })
}

/// A column to read.
pub(crate) struct Source<'a> {
    column: &'a str,
    pub(super) array: ArrayRef,
    pub(super) group: TypeGroup,
    pub(super) reading: Reading,
    first_row: usize,
    origin: &'a str,
    /// The cells so far that are not of the kind; `None` if the first one is an error.
    misfits: Option<RefCell<Vec<u32>>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(
        column: &'a str,
        array: &ArrayRef,
        reading: Reading,
        first_row: usize,
        origin: &'a str,
    ) -> Result<Self, TableError> {
        let array = unpacked(array).unwrap_or_else(|| Arc::clone(array));
        match TypeGroup::of(array.data_type()) {
            Some(group) => Ok(Self { column, array, group, reading, first_row, origin, misfits: None }),
            None => Err(TableError::UnsupportedType {
                origin: origin.to_owned(),
                column: column.to_owned(),
                found: array.data_type().to_string(),
            }),
        }
    }

    /// The same column, in which cells that are not of the kind are noted instead of being errors.
    pub(crate) fn lenient(self) -> Self {
        Self { misfits: Some(RefCell::default()), ..self }
    }

    /// What a cell that is not of the kind is read as: no value, or the error if nothing may go wrong.
    pub(super) fn misfit(&self, index: usize, error: impl FnOnce() -> TableError) -> Result<f64, TableError> {
        let Some(misfits) = &self.misfits else { return Err(error()) };
        misfits.borrow_mut().push(u32::try_from(index).expect("a batch has fewer than 2³² rows"));
        Ok(f64::NAN)
    }

    /// A column of [`TypeGroup::Text`] as plain text.
    pub(super) fn text(&self) -> Result<StringArray, TableError> {
        to_text(self.column, &self.array)
    }

    /// A column of [`TypeGroup::Text`] as written, with nulls for null tokens.
    pub(super) fn text_with_nulls(&self) -> Result<ArrayRef, TableError> {
        Ok(Arc::new(null_tokens_as_nulls(&self.text()?)))
    }

    /// A text column as numbers: `read` gets every cell that is not null, without spaces around it.
    pub(super) fn text_as_numbers(&self, read: impl Fn(&str) -> Option<f64>) -> Result<Cells, TableError> {
        let read_cell = |(index, cell): (usize, Option<&str>)| match cell {
            Some(cell) if !scan::is_null(cell) => match read(cell.trim_ascii()) {
                Some(number) => Ok(number),
                None => self.misfit(index, || self.wrong(index, cell)),
            },
            _ => Ok(f64::NAN),
        };
        self.text()?.iter().enumerate().map(read_cell).collect::<Result<_, _>>().map(Cells::Numbers)
    }

    /// A column of [`TypeGroup::Number`] as floats.
    pub(super) fn floats(&self) -> Float64Array {
        let floats = cast(&self.array, &DataType::Float64).expect("numbers cast to floats");
        floats.as_primitive::<Float64Type>().clone()
    }

    /// The error for a cell that is not of the column's kind.
    pub(super) fn wrong(&self, index: usize, cell: &str) -> TableError {
        let (origin, row, column, found) = self.place(index, cell);
        let expected = self.reading.kind.expected(self.reading.notation);
        TableError::WrongKind { origin, row, column, found, expected }
    }

    /// The error for a number that is not finite.
    pub(super) fn infinite(&self, index: usize, cell: &str) -> TableError {
        let (origin, row, column, found) = self.place(index, cell);
        TableError::Infinite { origin, row, column, found }
    }

    /// Origin, row (counted from 1), column and text of a cell, for messages.
    fn place(&self, index: usize, cell: &str) -> (String, usize, String, String) {
        let row = self.first_row + index + 1;
        (self.origin.to_owned(), row, self.column.to_owned(), excerpt(cell.trim_ascii()))
    }

    /// A type whose values are never of the kind: the first value is the error. Without values, all cells are null.
    pub(super) fn no_cell_fits(&self) -> Result<Cells, TableError> {
        let array = &self.array;
        let is_value = |index: &usize| self.group != TypeGroup::Null && array.is_valid(*index);
        match (0..array.len()).find(is_value) {
            Some(index) => Err(self.wrong(index, &written(array, index))),
            None => Ok(Cells::Numbers(vec![f64::NAN; array.len()])),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray, Int32Array, Int64Array,
        LargeStringArray, NullArray, StringViewArray, Time32SecondArray, Time64MicrosecondArray,
        TimestampMillisecondArray, TimestampNanosecondArray, types::Int8Type,
    };
    use arrow_buffer::NullBuffer;

    use super::{
        super::{ColumnKind, Notation, Reading},
        *,
    };

    fn text(cells: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(cells.to_vec()))
    }

    fn numbers(array: &ArrayRef, reading: impl Into<Reading>) -> Vec<f64> {
        match read_cells("c", array, reading, 0, "t.csv").unwrap() {
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
        let day_first =
            Reading { kind: ColumnKind::Date, notation: Notation { day_first: true, ..Notation::default() } };
        assert_same(&numbers(&text(&["2/1/1970", "-"]), day_first), &[january_2, f64::NAN]);
        assert_eq!(
            names(&text(&["red", " blue ", "none"])),
            [Some("red".into()), Some(" blue ".into()), None]
        );
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
            assert_eq!(names(&array), [Some("7".into()), None, None, Some(" 8 ".into())]);
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
