//! Booleans: one 0/1 feature, standardized over the rows that have a value.
//!
//! *Recognized* by both values: a column that only has `NO` may well hold countries. `true` and `false` mean nothing else.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, StringArray, cast::AsArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Share, Training, TypeGroup,
    arrow::to_text,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Boolean {
    /// Training rows that are true.
    true_rows: u64,
    /// Training rows that are neither true nor false.
    unreadable: u64,
    /// See [`Notation::words`].
    words: bool,
    /// How false and true are most often written.
    names: [String; 2],
}

impl Boolean {
    fn readable(&self, counts: Counts) -> u64 {
        counts.filled() - self.unreadable
    }

    fn false_rows(&self, counts: Counts) -> u64 {
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
        let names = written_names(training)?;
        Ok(Learned::Column { nulls, content: Self { true_rows, unreadable, words, names } })
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
        let value = cell.text().map_or(Cow::Borrowed(name), Cow::Borrowed);
        Ok(Seen { value: Some(value), training_share: Some(counts.share(rows)), ..Seen::default() })
    }

    fn normal(&self, counts: Counts) -> NormalRange {
        let share = |name: &String, rows| Share { name: name.clone(), share: counts.share(rows) };
        let [no, yes] = &self.names;
        let mut levels = vec![share(yes, self.true_rows), share(no, self.false_rows(counts))];
        levels.sort_by(|a, b| b.share.total_cmp(&a.share));
        levels.retain(|level| level.share > 0.0);
        NormalRange::Levels { levels }
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        let meanings = self.names.each_ref().map(|name| scan::boolean(name));
        let expected = "a word for false and one for true";
        check.ensure(meanings == [Some(false), Some(true)], "words", format!("{:?}", self.names), expected)?;
        let valid = self.true_rows <= check.readable(counts, self.unreadable)?;
        check.ensure(valid, "true rows", self.true_rows, "at most the rows that are true or false")
    }
}

/// How false and true are most often written in training, the first word in the alphabet if two are equally common.
fn written_names(training: &Training<'_>) -> Result<[String; 2], EncodeError> {
    let mut counts: [BTreeMap<String, usize>; 2] = Default::default();
    for batch in &training.table.batches {
        let array = batch.column(training.at);
        if TypeGroup::of(array.data_type()) != Some(TypeGroup::Text) {
            continue;
        }
        for cell in to_text(&training.column().name, array)?.iter().flatten() {
            let Some(truth) = scan::boolean(cell) else { continue };
            let (counts, word) = (&mut counts[usize::from(truth)], cell.trim_ascii());
            match counts.get_mut(word) {
                Some(count) => *count += 1,
                None => drop(counts.insert(word.to_owned(), 1)),
            }
        }
    }
    let most = |counts: BTreeMap<String, usize>| counts.into_iter().rev().max_by_key(|&(_, count)| count);
    let [no, yes] = counts.map(|counts| most(counts).map(|(word, _)| word));
    Ok([no.unwrap_or_else(|| "false".to_owned()), yes.unwrap_or_else(|| "true".to_owned())])
}

/// Recognizes columns of truth values.
#[derive(Default)]
struct Booleans {
    fitting: usize,
    /// Whether any cell is false, and true.
    either: [bool; 2],
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
                Some(truth) => {
                    self.fitting += 1;
                    self.either[usize::from(truth)] = true;
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
            _ if self.words && self.either != [true; 2] => Recognition::Differs(None),
            recognition => {
                recognition.read_in(Notation { words: self.words, ..Notation::default() }, None)
            }
        }
    }
}
