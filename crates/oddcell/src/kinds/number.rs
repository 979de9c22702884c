//! Numbers: one feature, standardized.

use std::{borrow::Cow, sync::Arc};

use arrow_array::{Array, ArrayRef, Float64Array, StringArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Training, TypeGroup, Wording,
    arrow::written,
    cells::Source,
    identifier,
    recognize::{Recognition, Recognizer, Sighting},
    seen::{CellAt, Seen},
    spread::Spread,
    text::{self, NumberCell},
    words,
};
use crate::{
    encode::{Check, EncodeError, LeftOutReason},
    table::TableError,
};

/// A column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Number(Spread);

impl Kind for Number {
    fn expected(_: Notation) -> &'static str {
        "a number"
    }

    /// A column without a type (Arrow's `Null`) has no values, and counts as numbers.
    fn holds(data_type: &DataType) -> bool {
        matches!(TypeGroup::of(data_type), Some(TypeGroup::Number | TypeGroup::Null))
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(Numbers { only_decimal_commas: true, ..Numbers::default() })
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        match source.group {
            TypeGroup::Text => text_numbers(&source.text()?, source),
            TypeGroup::Number => native_numbers(source),
            TypeGroup::Null | TypeGroup::Boolean | TypeGroup::Date => source.no_cell_fits(),
        }
    }

    fn arrow_type() -> DataType {
        DataType::Float64
    }

    fn typed(source: &Source<'_>) -> Result<ArrayRef, TableError> {
        let cells = Self::read(source)?;
        let number = |&number: &f64| (!number.is_nan()).then_some(number);
        Ok(Arc::new(cells.numbers().iter().map(number).collect::<Float64Array>()))
    }

    fn write_json(cell: &str, out: &mut Vec<u8>) {
        match text::number(cell.as_bytes()) {
            // The digits as they were written, where JSON allows: long numbers lose nothing.
            NumberCell::Finite(_) if text::is_json_number(cell.trim_ascii().as_bytes()) => {
                out.extend_from_slice(cell.trim_ascii().as_bytes());
            }
            NumberCell::Finite(value) => out.extend_from_slice(format!("{value:?}").as_bytes()),
            NumberCell::Null | NumberCell::Infinite | NumberCell::Other => {
                text::write_json_string(cell, out);
            }
        }
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let Some((mut values, nulls)) = training.numbers()? else {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        };
        if nulls == 0 && !training.options.keep_identifiers {
            let sign = identifier::of_numbers(&training.column().name, &values, training.row_numbers);
            if let Some(sign) = sign {
                return Ok(Learned::LeftOut(LeftOutReason::Identifier(sign)));
            }
        }
        Ok(Learned::Column { nulls, content: Self(Spread::learn(&mut values, training)?) })
    }

    fn wording() -> Wording {
        Wording::Distance { unit: words::number, above: "above", below: "below" }
    }

    fn is_numeric() -> bool {
        true
    }

    fn scales(&self, _: Counts) -> Vec<Scale> {
        vec![self.0.scale()]
    }

    fn look<'a>(&self, cell: &CellAt<'a>, _: Counts) -> Result<Seen<'a>, TableError> {
        let text = cell.text();
        let quickly = match text {
            Some(text) => text::finite_number(text),
            None => cell.float(),
        };
        let number = if quickly.is_some() { quickly } else { cell.number()? };
        let Some(number) = number else { return Ok(Seen::default()) };
        let value = text.map_or_else(|| Cow::Owned(shortest(number)), Cow::Borrowed);
        Ok(self.0.look(number, value))
    }

    fn normal(&self, _: Counts) -> NormalRange {
        let range = self.0.high - self.0.low;
        self.0.normal(|value| words::number_within(value, range).to_string())
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        self.0.validate(counts.filled(), check)
    }
}

/// All digits of a number if they are few; otherwise those a reader wants. 0.1 + 0.2 is 0.3 to a reader.
fn shortest(number: f64) -> String {
    let all = number.to_string();
    if all.len() <= 12 { all } else { words::number_within(number, number / 1e4).to_string() }
}

fn text_numbers(cells: &StringArray, source: &Source<'_>) -> Result<Cells, TableError> {
    // Text and offsets by hand: this is the innermost loop of reading a CSV. Any text may lie under a null.
    let text = cells.value_data();
    let mut numbers = Vec::with_capacity(cells.len());
    for (index, bounds) in cells.value_offsets().windows(2).enumerate() {
        let cell = &text[bounds[0] as usize..bounds[1] as usize];
        numbers.push(match text::number(cell) {
            NumberCell::Finite(value) => value,
            NumberCell::Null => f64::NAN,
            NumberCell::Infinite | NumberCell::Other if cells.is_null(index) => f64::NAN,
            NumberCell::Infinite => return Err(source.infinite(index, cells.value(index))),
            NumberCell::Other => return Err(source.wrong(index, cells.value(index))),
        });
    }
    if let Some(nulls) = cells.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (number, valid) in numbers.iter_mut().zip(nulls) {
            *number = if valid { *number } else { f64::NAN };
        }
    }
    Ok(Cells::Numbers(numbers))
}

fn native_numbers(source: &Source<'_>) -> Result<Cells, TableError> {
    let floats = source.floats();
    let numbers: Vec<f64> = if floats.null_count() == 0 {
        floats.values().to_vec()
    } else {
        floats.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect()
    };
    match numbers.iter().position(|number| number.is_infinite()) {
        Some(index) => Err(source.infinite(index, &written(&source.array, index))),
        None => Ok(Cells::Numbers(numbers)),
    }
}

/// A share of numbers at which the few other cells are more likely mistakes than names.
const MOSTLY: f64 = 0.98;
/// With fewer cells, shares mean nothing.
const FEWEST_CELLS: usize = 50;

/// Recognizes columns in which every cell is a number.
#[derive(Default)]
struct Numbers {
    n_cells: usize,
    fitting: usize,
    first_other: Option<Sighting>,
    first_long_integer: Option<Sighting>,
    only_decimal_commas: bool,
}

impl Recognizer for Numbers {
    fn observe(&mut self, cells: &StringArray, first_row: usize) {
        for (index, cell) in cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            match text::number(cell.as_bytes()) {
                NumberCell::Null => continue,
                NumberCell::Finite(_) | NumberCell::Infinite => {
                    self.fitting += 1;
                    if cell.len() > 15 && self.first_long_integer.is_none() && text::is_long_integer(cell) {
                        self.first_long_integer = Some(Sighting::new(first_row + index, cell));
                    }
                }
                NumberCell::Other => {
                    self.first_other.get_or_insert_with(|| Sighting::new(first_row + index, cell));
                }
            }
            self.n_cells += 1;
            // Plain numbers after the first cell and before the first other one are the rule, and tell nothing.
            if self.only_decimal_commas && (self.first_other.is_some() || self.n_cells == 1) {
                self.only_decimal_commas = text::is_decimal_comma(cell);
            }
        }
    }

    fn finish(self: Box<Self>) -> Recognition {
        let (n_numbers, n_cells) = (self.fitting, self.n_cells);
        let Some(Sighting { row, value }) = self.first_other else {
            let long = self.first_long_integer;
            let note = long.map(|Sighting { row, value }| {
                format!("row {row} holds `{value}`; only the first 15 digits of such a number count")
            });
            return Recognition::Fits { notation: Notation::default(), note };
        };
        let mostly = n_cells >= FEWEST_CELLS && n_numbers as f64 >= MOSTLY * n_cells as f64;
        Recognition::Differs(if mostly {
            Some(format!(
                "read as category because row {row} holds `{value}`; {n_numbers} of {n_cells} cells are numbers"
            ))
        } else if self.only_decimal_commas {
            Some(format!(
                "read as category; cells such as `{value}` look like numbers with a decimal comma, but numbers need a dot"
            ))
        } else {
            None
        })
    }
}
