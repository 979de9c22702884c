//! Booleans: one 0/1 feature, standardized over the rows that have a value.

use std::{borrow::Cow, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, StringArray, cast::AsArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Share, Training, TypeGroup,
    cells::Source,
    recognize::{Misfits, Recognition, Recognizer},
    seen::{CellAt, Seen},
    scan,
    training::Numbers,
};
use crate::{
    encode::{Check, EncodeError, LeftOutReason},
    layout::Role,
    table::TableError,
};

/// A column of booleans.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Boolean {
    /// Training rows that are true.
    true_rows: u64,
    /// Training rows that are neither true nor false.
    unreadable: u64,
    /// See [`Notation::words`].
    words: bool,
}

impl Boolean {
    fn readable(self, counts: Counts) -> u64 {
        counts.filled() - self.unreadable
    }

    fn false_rows(self, counts: Counts) -> u64 {
        self.readable(counts) - self.true_rows
    }
}

impl Kind for Boolean {
    fn expected(_: Notation) -> &'static str {
        "true or false"
    }

    fn holds(data_type: &DataType) -> bool {
        *data_type == DataType::Boolean
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(Booleans::default())
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        match source.group {
            TypeGroup::Text => source.text_as_numbers(|cell| scan::boolean(cell).map(f64::from)),
            TypeGroup::Boolean => {
                let cells = source.array.as_boolean().iter();
                Ok(Cells::Numbers(cells.map(|cell| cell.map_or(f64::NAN, f64::from)).collect()))
            }
            TypeGroup::Null | TypeGroup::Number | TypeGroup::Date => source.no_cell_fits(),
        }
    }

    fn arrow_type(notation: Notation) -> DataType {
        if notation.words { DataType::Utf8 } else { DataType::Boolean }
    }

    fn typed(source: &Source<'_>) -> Result<ArrayRef, TableError> {
        let cells = Self::read(source)?;
        let truth = |&number: &f64| (!number.is_nan()).then_some(number != 0.0);
        Ok(Arc::new(cells.numbers().iter().map(truth).collect::<BooleanArray>()))
    }

    fn write_json(cell: &str, out: &mut Vec<u8>) {
        match cell.trim_ascii() {
            value @ ("true" | "false") => out.extend_from_slice(value.as_bytes()),
            _ => scan::write_json_string(cell, out),
        }
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let Some(Numbers { values, nulls, unreadable }) = training.numbers()? else {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        };
        let true_rows = values.iter().filter(|&&value| value != 0.0).count() as u64;
        let words = training.column().notation.words;
        Ok(Learned::Column { nulls, content: Self { true_rows, unreadable, words } })
    }

    fn notation(&self) -> Notation {
        Notation { words: self.words, ..Notation::default() }
    }

    fn role() -> Role {
        Role::Flag
    }

    // A null takes the mean, so the mean is that of the rows with a value.
    fn scales(&self, counts: Counts) -> Vec<Scale> {
        vec![Scale::of_flag(self.true_rows, self.readable(counts))]
    }

    fn unreadable(&self) -> Option<u64> {
        Some(self.unreadable)
    }

    fn level(&self, at: usize) -> Option<&str> {
        ["false", "true"].get(at).copied()
    }

    fn level_number(&self, at: usize) -> Option<f64> {
        (at < 2).then_some(at as f64)
    }

    fn written(&self, number: f64, like: Option<&str>) -> String {
        let name = if number == 0.0 { "false" } else { "true" };
        scan::boolean_like(number != 0.0, like.unwrap_or_default()).unwrap_or(name).to_owned()
    }

    fn look<'a>(&self, cell: &CellAt<'a>, counts: Counts) -> Result<Seen<'a>, TableError> {
        let number = match cell.number()? {
            Ok(number) => number,
            Err(seen) => return Ok(seen),
        };
        let (name, rows) =
            if number == 0.0 { ("false", self.false_rows(counts)) } else { ("true", self.true_rows) };
        let value = Cow::Borrowed(cell.text().unwrap_or(name));
        Ok(Seen { value: Some(value), training_share: Some(counts.share(rows)), ..Seen::default() })
    }

    fn normal(&self, counts: Counts) -> NormalRange {
        let share = |name: &str, rows| Share { name: name.to_owned(), share: counts.share(rows) };
        let mut levels = vec![share("true", self.true_rows), share("false", self.false_rows(counts))];
        levels.sort_by(|a, b| b.share.total_cmp(&a.share));
        levels.retain(|level| level.share > 0.0);
        NormalRange::Levels { levels }
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        let valid = self.true_rows <= check.readable(counts, self.unreadable)?;
        check.ensure(valid, "true rows", self.true_rows, "at most the rows that are true or false")
    }
}

/// Recognizes columns of truth values.
#[derive(Default)]
struct Booleans {
    fitting: usize,
    misfits: Misfits,
    words: bool,
}

impl Recognizer for Booleans {
    fn observe(&mut self, cells: &StringArray, first_row: usize) {
        for (index, cell) in cells.iter().enumerate() {
            let Some(cell) = cell.filter(|cell| !scan::is_null(cell)) else { continue };
            if self.misfits.rule_out(self.fitting) {
                return;
            }
            match scan::boolean(cell) {
                Some(_) => {
                    self.fitting += 1;
                    let cell = cell.trim_ascii();
                    self.words |= !["true", "false"].iter().any(|word| word.eq_ignore_ascii_case(cell));
                }
                None => self.misfits.add(first_row + index, cell),
            }
        }
    }

    fn finish(self: Box<Self>) -> Recognition {
        match self.misfits.judged(self.fitting) {
            // A third word beside yes and no is a third answer.
            Recognition::Nearly { .. } if self.misfits.repeat_a_word() => Recognition::Differs(None),
            recognition => {
                recognition.read_in(Notation { words: self.words, ..Notation::default() }, None)
            }
        }
    }
}
