//! Numbers: one feature, standardized.

use std::{borrow::Cow, sync::Arc};

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Block, Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Training, TypeGroup, Wording,
    arrow::written,
    cells::Source,
    epoch::Moments,
    form::Form,
    identifier,
    recognize::{Misfits, Recognition, Recognizer, Sighting, Unreadable, placeholder_note},
    seen::{CellAt, Hint, Seen},
    spread::Spread,
    scan::{self, NumberCell},
    training::Numbers,
    words,
    written::{NumberNotation, Placeholders, Tally, Told, is_integer},
};
use crate::{
    encode::{Check, EncodeError, LeftOutReason},
    layout::Role,
    table::TableError,
};

/// A column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Number {
    /// Where they lie.
    spread: Spread,
    /// How they look.
    form: Form,
    /// How they are written.
    notation: NumberNotation,
    /// Training rows that hold something else.
    unreadable: u64,
}

impl Kind for Number {
    fn expected(_: Notation) -> &'static str {
        "a number"
    }

    /// A column without a type (Arrow's `Null`) has no values, and counts as numbers.
    fn holds(data_type: &DataType) -> bool {
        matches!(TypeGroup::of(data_type), Some(TypeGroup::Number | TypeGroup::Null))
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(NumberCells::default())
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        match source.group {
            TypeGroup::Text => text_numbers(&source.text()?, source),
            TypeGroup::Number => native_numbers(source),
            TypeGroup::Null | TypeGroup::Boolean | TypeGroup::Date => source.no_cell_fits(),
        }
    }

    fn arrow_type(notation: Notation) -> DataType {
        match notation.number {
            notation if !notation.is_plain() => DataType::Utf8,
            notation if notation.whole => DataType::Int64,
            _ => DataType::Float64,
        }
    }

    /// A number that stands for "no value" stays a number.
    fn typed(source: &Source<'_>) -> Result<ArrayRef, TableError> {
        let text = source.text()?;
        let cells = text.iter().map(|cell| cell.map(str::trim_ascii));
        Ok(if source.reading.notation.number.whole {
            Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<Int64Array>())
        } else {
            Arc::new(cells.map(|cell| scan::finite_number(cell?)).collect::<Float64Array>())
        })
    }

    fn write_json(cell: &str, out: &mut Vec<u8>) {
        match scan::number(cell.as_bytes()) {
            // As it was written: as a number where JSON allows, so that long numbers lose nothing.
            NumberCell::Finite(_) if scan::is_json_number(cell.trim_ascii().as_bytes()) => {
                out.extend_from_slice(cell.trim_ascii().as_bytes());
            }
            NumberCell::Finite(_) | NumberCell::Null | NumberCell::Infinite | NumberCell::Other => {
                scan::write_json_string(cell, out);
            }
        }
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let Some(Numbers { mut values, nulls, unreadable }) = training.numbers()? else {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        };
        if nulls + unreadable == 0 && !training.options.keep_identifiers {
            let sign = identifier::of_numbers(&training.column().name, &values, training.row_numbers);
            if let Some(sign) = sign {
                return Ok(Learned::LeftOut(LeftOutReason::Identifier(sign)));
            }
        }
        let notation = training.column().notation.number;
        let spread = Spread::learn(&mut values, training)?;
        // Where all numbers are whole, 0.99 is not the lowest usual one.
        let whole = values.iter().all(|value| value.fract() == 0.0);
        let spread = if whole { spread.in_units(1.0) } else { spread };
        values.sort_unstable_by(f64::total_cmp);
        let content = Self { spread, form: Form::learn(&values), notation, unreadable };
        Ok(Learned::Column { nulls, content })
    }

    fn wording() -> Wording {
        Wording::Distance { unit: words::number, above: "above", below: "below" }
    }

    fn is_numeric() -> bool {
        true
    }

    fn notation(&self) -> Notation {
        Notation { number: self.notation, ..Notation::default() }
    }

    fn role() -> Role {
        Role::Number
    }

    fn scales(&self, _: Counts) -> Vec<Scale> {
        vec![self.spread.scale()]
    }

    fn scaled(&self, number: f64) -> Option<f64> {
        Some(self.form.scaled(number))
    }

    fn unscaled(&self, x: f64) -> Option<f64> {
        self.plausible(self.form.unscaled(x))
    }

    fn plausible(&self, number: f64) -> Option<f64> {
        let power = self.form.usual_decimals().map(|decimals| libm::pow(10.0, decimals as f64));
        let rounded = power.map_or(number, |power| (number * power).round() / power);
        Some(if rounded.is_finite() { rounded } else { number })
    }

    fn written(&self, number: f64, like: Option<&str>) -> String {
        let plain = match self.form.usual_decimals() {
            // A shop writes 297000.00, and a list of weights 12.5.
            Some(decimals) if self.notation.affix.as_str().is_empty() => {
                let text = format!("{number:.decimals$}");
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
            }
            Some(decimals) => format!("{number:.decimals$}"),
            None => shortest(number),
        };
        self.notation.dress(&plain, like)
    }

    fn mend(&self, cell: &str) -> Option<String> {
        let text = alike_digits(cell);
        match self.notation.read(text.trim().as_bytes()) {
            NumberCell::Finite(number) if self.spread.contains(number) => Some(self.written(number, None)),
            NumberCell::Finite(_) | NumberCell::Null | NumberCell::Infinite | NumberCell::Other => None,
        }
    }

    fn hidden(&self) -> Vec<(Role, &'static str)> {
        self.form.hidden()
    }

    fn write_hidden(&self, cells: &Cells, mut block: Block<'_>) {
        let (first_row, is_new) = (block.first_row, block.is_new);
        let odd_decimals = self.form.odd_decimals(is_new);
        for (row, &number) in block.rows().zip(&cells.numbers()[first_row..]) {
            self.form.write(number, is_new, &odd_decimals, row);
        }
    }

    fn unreadable(&self) -> Option<u64> {
        Some(self.unreadable)
    }

    fn tell(&self, cell: &CellAt<'_>, hidden: usize, counts: Counts) -> Result<Option<Hint>, TableError> {
        Ok(cell.number()?.ok().and_then(|number| self.form.tell(number, hidden, counts)))
    }

    fn look<'a>(&self, cell: &CellAt<'a>, _: Counts) -> Result<Seen<'a>, TableError> {
        let text = cell.text();
        let quickly = match text.map(|text| self.notation.read(text.as_bytes())) {
            Some(NumberCell::Finite(number)) => Some(number),
            Some(NumberCell::Null | NumberCell::Infinite | NumberCell::Other) => None,
            None => cell.float(),
        };
        let quickly = quickly.filter(|&number| !self.notation.stands_for_null(number));
        let number = match quickly {
            Some(number) => number,
            None => match cell.number()? {
                Ok(number) => number,
                Err(seen) => return Ok(seen),
            },
        };
        let value = text.map_or_else(|| Cow::Owned(shortest(number)), Cow::Borrowed);
        Ok(self.spread.look(number, value))
    }

    fn normal(&self, _: Counts) -> NormalRange {
        let range = self.spread.high - self.spread.low;
        self.spread.normal(|value| words::number_within(value, range).to_string())
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        let filled = check.readable(counts, self.unreadable)?;
        self.spread.validate(filled, check)?;
        self.form.validate(filled, check)
    }
}

/// All digits of a number if they are few; otherwise those a reader wants. 0.1 + 0.2 is 0.3 to a reader.
fn shortest(number: f64) -> String {
    let all = number.to_string();
    if all.len() <= 12 { all } else { words::number_within(number, number / 1e4).to_string() }
}

/// The text with letters that look like digits as these, and without stray letters and marks.
fn alike_digits(cell: &str) -> String {
    let has_digit = cell.bytes().any(|byte| byte.is_ascii_digit());
    let digit = |letter: char| match letter {
        'O' | 'o' => Some('0'),
        'l' | 'I' | '|' => Some('1'),
        'S' => Some('5'),
        'B' => Some('8'),
        '*' | '?' | '`' | '\'' | '"' => None,
        letter if letter.is_ascii_lowercase() && letter != 'e' => None,
        other => Some(other),
    };
    if has_digit { cell.chars().filter_map(digit).collect() } else { cell.to_owned() }
}

fn text_numbers(cells: &StringArray, source: &Source<'_>) -> Result<Cells, TableError> {
    // Text and offsets by hand: this is the innermost loop of reading a CSV. Any text may lie under a null.
    let text = cells.value_data();
    let notation = source.reading.notation.number;
    let mut numbers = Vec::with_capacity(cells.len());
    for (index, bounds) in cells.value_offsets().windows(2).enumerate() {
        let cell = &text[bounds[0] as usize..bounds[1] as usize];
        numbers.push(match scan::number(cell) {
            NumberCell::Finite(value) if !notation.decimal_comma => value,
            NumberCell::Null => f64::NAN,
            NumberCell::Finite(_) | NumberCell::Infinite | NumberCell::Other => unusual(cells, index, source)?,
        });
    }
    if notation.missing.is_some() {
        for number in numbers.iter_mut().filter(|number| notation.stands_for_null(**number)) {
            *number = f64::NAN;
        }
    }
    if let Some(nulls) = cells.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (number, valid) in numbers.iter_mut().zip(nulls) {
            *number = if valid { *number } else { f64::NAN };
        }
    }
    Ok(Cells::Numbers(numbers))
}

/// Reads a cell that is not a plain number, out of the way of those that are.
#[cold]
#[inline(never)]
fn unusual(cells: &StringArray, index: usize, source: &Source<'_>) -> Result<f64, TableError> {
    if cells.is_null(index) {
        return Ok(f64::NAN);
    }
    let cell = cells.value(index);
    match source.reading.notation.number.read(cell.as_bytes()) {
        NumberCell::Finite(value) => Ok(value),
        NumberCell::Null => Ok(f64::NAN),
        NumberCell::Infinite => source.misfit(index, || source.infinite(index, cell)),
        NumberCell::Other => source.misfit(index, || source.wrong(index, cell)),
    }
}

pub(super) fn native_numbers(source: &Source<'_>) -> Result<Cells, TableError> {
    let floats = source.floats();
    let mut numbers: Vec<f64> = if floats.null_count() == 0 {
        floats.values().to_vec()
    } else {
        floats.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect()
    };
    let notation = source.reading.notation.number;
    if notation.missing.is_some() {
        for number in numbers.iter_mut().filter(|number| notation.stands_for_null(**number)) {
            *number = f64::NAN;
        }
    }
    // Somebody computed this number, so it is an error of a program, and scikit-learn expects one here.
    match numbers.iter().position(|number| number.is_infinite()) {
        Some(index) => Err(source.infinite(index, &written(&source.array, index))),
        None => Ok(Cells::Numbers(numbers)),
    }
}

/// Recognizes columns of numbers.
#[derive(Default)]
struct NumberCells {
    tally: Tally,
    misfits: Misfits,
    /// Numbers with a text beside them: misfits if the column has no such text.
    affixed: Misfits,
    /// Numbers that are not finite: they are as good as others for the kind, but cannot be read.
    infinite: Unreadable,
    first_long_integer: Option<Sighting>,
    placeholders: Placeholders,
    codes: Codes,
    moments: Moments,
    /// Whether a number is not written as an integer is.
    not_whole: bool,
}

impl Recognizer for NumberCells {
    fn observe(&mut self, cells: &StringArray, first_row: usize) {
        for (index, cell) in cells.iter().enumerate() {
            let (row, Some(cell)) = (first_row + index, cell) else { continue };
            match scan::number(cell.as_bytes()) {
                NumberCell::Null => {}
                NumberCell::Finite(value) => {
                    let cell = cell.trim_ascii();
                    self.tally.add_plain(row, cell);
                    self.placeholders.add(value);
                    self.moments.add(value);
                    self.codes.add(row, cell);
                    self.not_whole = self.not_whole || !is_integer(cell.as_bytes());
                    if cell.len() > 15 && self.first_long_integer.is_none() && scan::is_long_integer(cell) {
                        self.first_long_integer = Some(Sighting::new(row, cell));
                    }
                }
                NumberCell::Infinite => {
                    self.infinite.add(&Unreadable { cells: 1, first: Some(Sighting::new(row, cell)) });
                }
                NumberCell::Other if self.misfits.rule_out(self.codes.n_numbers) => return,
                NumberCell::Other => match self.tally.add(row, cell) {
                    Some(false) => {}
                    Some(true) => self.affixed.add(row, cell),
                    None => self.misfits.add(row, cell),
                },
            }
        }
    }

    fn finish(self: Box<Self>) -> Recognition {
        let Self { tally, mut misfits, affixed, infinite, first_long_integer, placeholders, codes, moments, not_whole } =
            *self;
        if let Some(Sighting { value, .. }) = codes.found() {
            return Recognition::Differs(Some(format!(
                "because numbers such as `{value}` start with a zero and so are codes"
            )));
        }
        if moments.unit().is_some() {
            return Recognition::Differs(None);
        }
        let Told { mut notation, fitting, others, note } = tally.told();
        misfits.add_others(others.cells as usize, others.first);
        if notation.affix.as_str().is_empty() {
            misfits.absorb(affixed);
        }
        let long = first_long_integer.map(|Sighting { row, value }| {
            format!("row {row} holds `{value}`; only the first 15 digits of such a number count")
        });
        let missing = placeholders.found().filter(|_| notation.is_plain());
        notation.missing = missing.map(|(number, _)| number);
        notation.whole = notation.is_plain() && !not_whole;
        let missing = missing.map(|(number, rows)| placeholder_note(number, rows));
        let notes: Vec<String> = [note, long, missing].into_iter().flatten().collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let numbers = fitting + infinite.cells as usize;
        let notation = Notation { number: notation, ..Notation::default() };
        misfits.judged(numbers).without(infinite).read_in(notation, note)
    }
}

/// Finds columns whose numbers are codes, such as the postcode `01005`.
///
/// *Rule:* at least two whole numbers of several digits start with a zero, and these are at least 1 % of the numbers; or at
/// least one does, and all numbers have the same length.
#[derive(Default)]
struct Codes {
    n_numbers: usize,
    n_zeros: usize,
    first: Option<Sighting>,
    length: usize,
    lengths_differ: bool,
}

impl Codes {
    #[inline]
    fn add(&mut self, row: usize, cell: &str) {
        let bytes = cell.as_bytes();
        if self.n_numbers == 0 {
            self.length = bytes.len();
        }
        self.n_numbers += 1;
        self.lengths_differ |= bytes.len() != self.length;
        if let [b'0', b'0'..=b'9', rest @ ..] = bytes
            && rest.iter().all(u8::is_ascii_digit)
        {
            self.n_zeros += 1;
            self.first.get_or_insert_with(|| Sighting::new(row, cell));
        }
    }

    fn found(self) -> Option<Sighting> {
        let several = self.n_zeros >= 2 && self.n_zeros * 100 >= self.n_numbers;
        self.first.filter(|_| several || (!self.lengths_differ && self.n_numbers > 1))
    }
}
