//! Free text: names, titles, remarks, of which hardly two are equal. Judged by shape, length and letters.
//!
//! *Features:* the length, as a number; and not as coordinates: how rare the shape is (`shape.rs`), how rare the rarest
//! pair of letters is, and whether there are spaces around.

use std::{borrow::Cow, collections::HashSet, hash::BuildHasher};

use arrow_array::{Array, StringArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Block, Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Training, TypeGroup,
    arrow::{null_tokens_as_nulls, written},
    category::{told_shape, told_spaces},
    cells::Source,
    identifier,
    letters::Letters,
    rarity::{KNOWN_SLIP, Rarity, share_surprise},
    recognize::{Recognition, Recognizer},
    scan,
    seen::{CellAt, Hint, Seen},
    shape::Shapes,
    spread::Spread,
};
use crate::{
    encode::{Check, EncodeError, Feature, LeftOutReason},
    layout::Role,
    table::TableError,
};

/// A column of free text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedText", into = "SavedText")]
pub(crate) struct Text {
    saved: SavedText,
    /// How rare each shape is.
    rarity: Rarity,
}

/// The stored part of a [`Text`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedText {
    /// Of the lengths, in characters.
    lengths: Spread,
    shapes: Shapes,
    letters: Letters,
    /// Training rows with spaces around the text.
    spaced: u64,
}

/// With fewer texts, nobody can tell whether they repeat.
const LEAST_TEXTS: usize = 20;
/// Shapes of free texts vary more than those of names on a list.
const RARE_SHAPE: f64 = 0.5;
/// Spaces around one text in twenty are nothing special.
const LEAST_SPACED: f64 = 3.0;

impl Kind for Text {
    fn expected(_: Notation) -> &'static str {
        "a text"
    }

    /// A typed column holds names unless its text says otherwise.
    fn holds(_: &DataType) -> bool {
        false
    }

    fn takes_anything() -> bool {
        true
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(Texts::default())
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        let array = &source.array;
        match source.group {
            TypeGroup::Text => Ok(Cells::Names(null_tokens_as_nulls(&source.text()?))),
            TypeGroup::Null => Ok(Cells::Names(StringArray::new_null(array.len()))),
            TypeGroup::Boolean | TypeGroup::Number | TypeGroup::Date => {
                let cell = |at| array.is_valid(at).then(|| written(array, at));
                Ok(Cells::Names((0..array.len()).map(cell).collect()))
            }
        }
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let (mut lengths, mut shapes, mut letters) = (Vec::new(), Shapes::default(), Letters::default());
        let (mut nulls, mut spaced, mut with_spaces) = (0, 0, 0);
        let mut different: HashSet<Box<str>> = HashSet::new();
        training.for_each(|cells| {
            for cell in cells.names() {
                let Some(cell) = cell else {
                    nulls += 1;
                    continue;
                };
                let text = cell.trim_ascii();
                spaced += u64::from(cell.len() > text.len());
                with_spaces += usize::from(text.contains(' '));
                lengths.push(text.chars().count() as f64);
                shapes.count(text, 1);
                letters.count(text);
                if !different.contains(text) {
                    different.insert(text.into());
                }
            }
        })?;
        if lengths.is_empty() {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        }
        let sign = identifier::of_names(training.n_rows, different.len());
        // Words are no identifiers, even if no two rows have the same.
        if let Some(sign) = sign.filter(|_| with_spaces * 2 < lengths.len() && !training.options.keep_identifiers)
        {
            return Ok(Learned::LeftOut(LeftOutReason::Identifier(sign)));
        }
        let lengths = Spread::learn(&mut lengths, training)?;
        let saved = SavedText { lengths, shapes, letters, spaced };
        Ok(Learned::Column { nulls, content: saved.into() })
    }

    fn role() -> Role {
        Role::Number
    }

    fn scales(&self, _: Counts) -> Vec<Scale> {
        vec![self.saved.lengths.scale()]
    }

    fn feature_name(&self, column: &str, _: usize) -> String {
        format!("{column}: length")
    }

    fn write(&self, cells: &Cells, features: &[Feature], mut block: Block<'_>) -> u64 {
        let (names, first_row) = (cells.names(), block.first_row);
        for (row, at) in block.rows().zip(first_row..) {
            let length = || names.value(at).trim_ascii().chars().count() as f64;
            row[0] = if names.is_null(at) { 0.0 } else { features[0].scale(length()) };
        }
        0
    }

    fn hidden(&self) -> Vec<(Role, &'static str)> {
        vec![(Role::Sign, "odd shape"), (Role::Part, "rarest letters"), (Role::Sign, "spaces around")]
    }

    fn write_hidden(&self, cells: &Cells, mut block: Block<'_>) {
        let (names, first_row, is_new) = (cells.names(), block.first_row, block.is_new);
        let itself = u64::from(is_new);
        let SavedText { shapes, letters, spaced, .. } = &self.saved;
        let spaced = share_surprise(spaced + itself, letters.texts() + itself);
        let spaced = if spaced < LEAST_SPACED { 0.0 } else { spaced + KNOWN_SLIP };
        for (row, at) in block.rows().zip(first_row..) {
            if names.is_null(at) {
                row.fill(0.0);
                continue;
            }
            let cell = names.value(at);
            let text = cell.trim_ascii();
            row[0] = RARE_SHAPE * self.rarity.surprise((shapes.of(text) + itself).max(1), is_new);
            row[1] = letters.rarest(text, is_new);
            row[2] = if cell.len() > text.len() { spaced } else { 0.0 };
        }
    }

    fn mend(&self, cell: &str) -> Option<String> {
        let text = cell.trim_ascii();
        (text.len() < cell.len()).then(|| text.to_owned())
    }

    fn tell(&self, cell: &CellAt<'_>, hidden: usize, counts: Counts) -> Result<Option<Hint>, TableError> {
        let Some((text, _)) = cell.name()? else { return Ok(None) };
        Ok(match hidden {
            0 => Some(told_shape(&text, self.saved.shapes.of(&text), counts)),
            1 => Some("has letters that seldom stand side by side".to_owned().into()),
            _ => Some(told_spaces(&text, self.saved.spaced, counts)),
        })
    }

    fn look<'a>(&self, cell: &CellAt<'a>, _: Counts) -> Result<Seen<'a>, TableError> {
        let text = match cell.text() {
            Some(text) => Some(Cow::Borrowed(text)).filter(|text| !scan::is_null(text)),
            None => cell.read()?.names().iter().flatten().next().map(|name| Cow::Owned(name.to_owned())),
        };
        Ok(Seen { value: text, ..Seen::default() })
    }

    fn normal(&self, _: Counts) -> NormalRange {
        let Spread { low, high, .. } = self.saved.lengths;
        NormalRange::Lengths { low: low as u64, high: high.ceil() as u64 }
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        let SavedText { lengths, shapes, letters, spaced } = &self.saved;
        let filled = counts.filled();
        lengths.validate(filled, check)?;
        check.ensure(lengths.min >= 0.0, "length", lengths.min, "at least 0")?;
        let texts = [shapes.texts(), letters.texts()];
        check.ensure(texts == [filled; 2], "texts", format!("{texts:?}"), "the rows that are not null")?;
        check.ensure(*spaced <= filled, "rows with spaces", spaced, "at most the rows with a text")
    }
}

impl From<SavedText> for Text {
    fn from(saved: SavedText) -> Self {
        Self { rarity: Rarity::of(saved.shapes.counts()), saved }
    }
}

impl From<Text> for SavedText {
    fn from(text: Text) -> Self {
        text.saved
    }
}

/// Recognizes columns in which hardly two texts are equal, or which hold sentences.
#[derive(Default)]
struct Texts {
    count: usize,
    words: usize,
    /// Hashes of the texts.
    different: HashSet<u64>,
    /// A fixed one, so that a column is always judged alike.
    hasher: std::hash::BuildHasherDefault<std::hash::DefaultHasher>,
}

impl Recognizer for Texts {
    fn observe(&mut self, cells: &StringArray, _: usize) {
        for cell in cells.iter().flatten().filter(|cell| !scan::is_null(cell)) {
            self.count += 1;
            self.words += cell.split_ascii_whitespace().count();
            self.different.insert(self.hasher.hash_one(cell.trim_ascii()));
        }
    }

    fn finish(self: Box<Self>) -> Recognition {
        let Self { count: texts, words, .. } = *self;
        let different = self.different.len();
        let is_text = texts >= LEAST_TEXTS
            && (different * 5 > texts * 4 || (different * 2 > texts && words > texts * 6));
        if is_text {
            Recognition::Fits { notation: Notation::default(), note: None }
        } else {
            Recognition::Differs(None)
        }
    }
}
