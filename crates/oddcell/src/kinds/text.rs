//! Free text: names, titles, remarks; hardly two are equal. Judged by shape, length and letters.
//!
//! *Features:* the length, as a number; and not as coordinates: how rare the shape is (`shape.rs`), how rare the rarest
//! pair of letters is, and whether there are spaces around.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    hash::BuildHasher,
};

use arrow_array::{Array, StringArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Block, Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Training, TypeGroup,
    arrow::{null_tokens_as_nulls, written},
    category::{told_shape, told_spaces, told_word},
    cells::Source,
    identifier,
    letters::Letters,
    rarity::{KNOWN_SLIP, share_surprise},
    recognize::{Recognition, Recognizer},
    scan,
    seen::{CellAt, Hint, Seen},
    shape::{SavedShapes, Shapes},
    spread::Spread,
    vocabulary::{Vocabulary, WordCounts},
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
}

/// The stored part of a [`Text`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedText {
    /// Of the lengths, in characters.
    lengths: Spread,
    shapes: Shapes,
    letters: Letters,
    words: Vocabulary,
    /// Training rows with spaces around the text.
    spaced: u64,
}

/// With fewer texts, nobody can tell whether they repeat.
const LEAST_TEXTS: usize = 20;
/// Shapes of free texts vary more than those of names on a list.
const RARE_SHAPE: f64 = 0.5;
/// Spaces around one text in twenty are nothing special.
const LEAST_SPACED: f64 = 3.0;

/// What it tells of a cell besides the length.
#[derive(Clone, Copy)]
enum Told {
    Shape,
    Letters,
    Spaces,
    Word,
}

/// The features for it, in order.
const HIDDEN: [(Told, Role, &str); 4] = [
    (Told::Shape, Role::Sign, "odd shape"),
    (Told::Letters, Role::Part, "rarest letters"),
    (Told::Spaces, Role::Sign, "spaces around"),
    (Told::Word, Role::Sign, "misspelled word"),
];

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
        let (mut lengths, mut shapes, mut letters) =
            (Vec::new(), SavedShapes::default(), Letters::default());
        let mut words = WordCounts::default();
        let (mut nulls, mut spaced, mut with_spaces) = (0, 0, 0);
        let mut different: HashMap<Box<str>, u64> = HashMap::new();
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
                words.count(text, 1);
                match different.get_mut(text) {
                    Some(rows) => *rows += 1,
                    None => drop(different.insert(text.into(), 1)),
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
        let words = words.finish(different.iter().map(|(text, &rows)| (&**text, rows)));
        let saved = SavedText { lengths, shapes: shapes.into(), letters, words, spaced };
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
        HIDDEN.map(|(_, role, name)| (role, name)).to_vec()
    }

    fn write_hidden(&self, cells: &Cells, mut block: Block<'_>) {
        let (names, first_row, is_new) = (cells.names(), block.first_row, block.is_new);
        let itself = u64::from(is_new);
        let SavedText { shapes, letters, words, spaced, .. } = &self.saved;
        let spaced = share_surprise(spaced + itself, letters.texts() + itself);
        let spaced = if spaced < LEAST_SPACED { 0.0 } else { spaced + KNOWN_SLIP };
        for (row, at) in block.rows().zip(first_row..) {
            if names.is_null(at) {
                row.fill(0.0);
                continue;
            }
            let cell = names.value(at);
            let text = cell.trim_ascii();
            for (x, (told, ..)) in row.iter_mut().zip(HIDDEN) {
                *x = match told {
                    Told::Shape => RARE_SHAPE * shapes.surprise(text, is_new),
                    Told::Letters => letters.rarest(text, is_new),
                    Told::Spaces if cell.len() > text.len() => spaced,
                    Told::Spaces => 0.0,
                    Told::Word => words.surprise(text, is_new),
                };
            }
        }
    }

    fn mend(&self, cell: &str) -> Option<String> {
        let text = cell.trim_ascii();
        match self.saved.words.mended(text) {
            Some((mended, ..)) => Some(mended),
            None => (text.len() < cell.len()).then(|| text.to_owned()),
        }
    }

    fn tell(&self, cell: &CellAt<'_>, hidden: usize, counts: Counts) -> Result<Option<Hint>, TableError> {
        let (Some((text, _)), Some((told, ..))) = (cell.name()?, HIDDEN.get(hidden)) else { return Ok(None) };
        Ok(match told {
            Told::Shape => Some(told_shape(self.saved.shapes.odd(&text), counts)),
            Told::Letters => Some("has letters that seldom stand side by side".to_owned().into()),
            Told::Spaces => Some(told_spaces(&text, self.saved.spaced, counts)),
            Told::Word => self.saved.words.mended(&text).map(told_word),
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
        let SavedText { lengths, shapes, letters, words, spaced } = &self.saved;
        let filled = counts.filled();
        lengths.validate(filled, check)?;
        check.ensure(lengths.min >= 0.0, "length", lengths.min, "at least 0")?;
        let texts = [shapes.texts(), letters.texts()];
        words.validate(filled, check)?;
        check.ensure(texts == [filled; 2], "texts", format!("{texts:?}"), "the rows that are not null")?;
        check.ensure(*spaced <= filled, "rows with spaces", spaced, "at most the rows with a text")
    }
}

impl From<SavedText> for Text {
    fn from(saved: SavedText) -> Self {
        Self { saved }
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
