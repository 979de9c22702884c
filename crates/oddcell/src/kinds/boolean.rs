//! Booleans: one 0/1 feature, standardized over the rows that have a value.

use std::{borrow::Cow, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, StringArray, cast::AsArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Share, Training, TypeGroup,
    cells::Source,
    recognize::{Recognition, Recognizer},
    seen::{CellAt, Seen},
    text,
};
use crate::{
    encode::{Check, EncodeError, LeftOutReason},
    table::TableError,
};

/// A column of booleans.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Boolean {
    /// Training rows that are true.
    true_rows: u64,
}

impl Boolean {
    fn false_rows(self, counts: Counts) -> u64 {
        counts.filled() - self.true_rows
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
        Box::new(Booleans { only: true })
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        match source.group {
            TypeGroup::Text => source.text_as_numbers(|cell| text::boolean(cell).map(f64::from)),
            TypeGroup::Boolean => {
                let cells = source.array.as_boolean().iter();
                Ok(Cells::Numbers(cells.map(|cell| cell.map_or(f64::NAN, f64::from)).collect()))
            }
            TypeGroup::Null | TypeGroup::Number | TypeGroup::Date => source.no_cell_fits(),
        }
    }

    fn arrow_type() -> DataType {
        DataType::Boolean
    }

    fn typed(source: &Source<'_>) -> Result<ArrayRef, TableError> {
        let cells = Self::read(source)?;
        let truth = |&number: &f64| (!number.is_nan()).then_some(number != 0.0);
        Ok(Arc::new(cells.numbers().iter().map(truth).collect::<BooleanArray>()))
    }

    fn write_json(cell: &str, out: &mut Vec<u8>) {
        match text::boolean(cell) {
            Some(true) => out.extend_from_slice(b"true"),
            Some(false) => out.extend_from_slice(b"false"),
            None => text::write_json_string(cell, out),
        }
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let Some((values, nulls)) = training.numbers()? else {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        };
        let true_rows = values.iter().filter(|&&value| value != 0.0).count() as u64;
        Ok(Learned::Column { nulls, content: Self { true_rows } })
    }

    // A null takes the mean, so the mean is that of the rows with a value.
    fn scales(&self, counts: Counts) -> Vec<Scale> {
        vec![Scale::of_flag(self.true_rows, counts.filled())]
    }

    fn look<'a>(&self, cell: &CellAt<'a>, counts: Counts) -> Result<Seen<'a>, TableError> {
        let Some(number) = cell.number()? else { return Ok(Seen::default()) };
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
        let valid = self.true_rows <= counts.filled();
        check.ensure(valid, "true rows", self.true_rows, "at most the rows that are not null")
    }
}

/// Recognizes columns in which every cell is true or false.
struct Booleans {
    only: bool,
}

impl Recognizer for Booleans {
    fn observe(&mut self, cells: &StringArray, _: usize) {
        let fits = |cell: &str| text::is_null(cell) || text::boolean(cell).is_some();
        self.only = self.only && cells.iter().flatten().all(fits);
    }

    fn finish(self: Box<Self>) -> Recognition {
        if self.only {
            Recognition::Fits { notation: Notation::default(), note: None }
        } else {
            Recognition::Differs(None)
        }
    }
}
