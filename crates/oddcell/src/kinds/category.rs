//! Categories: how rare a level is, and marks that tell levels apart.
//!
//! *Coordinates:* −ln of the level's rows; then, with few levels, a 0/1 coordinate for each, or eight random marks of ±1 that
//! belong to the name. All marks together have the variance of one number, so a column of 100,000 names costs and counts as
//! much as a column of nine numbers.
//! *Not coordinates:* the level itself, and signs that a name is rare, misspelled, of an odd shape, or has spaces around it.

use std::{borrow::Cow, collections::HashMap};

use arrow_array::{Array, StringArray, cast::AsArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Block, Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Share, Training, TypeGroup,
    arrow::{null_tokens_as_nulls, written},
    cells::Source,
    identifier,
    levels::{Level, Levels, N_SIGNS, Place},
    rarity::{KNOWN_SLIP, share_surprise},
    recognize::{Recognition, Recognizer},
    scan,
    seen::{CellAt, Hint, Seen},
    words::percent,
};
use crate::{
    encode::{Check, EncodeError, Feature, LeftOutReason, STD_FLOOR},
    layout::Role,
    seed::{GOLDEN, mix},
    table::TableError,
};

/// A column of names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedCategory", into = "SavedCategory")]
pub(crate) struct Category {
    saved: SavedCategory,
    /// How many levels, the most common ones, have a coordinate of their own; `None` if names are told apart by marks.
    n_own: Option<usize>,
    /// Of all coordinates: how rare the level is, then the marks.
    scales: Vec<Scale>,
}

/// The stored part of a [`Category`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCategory {
    levels: Levels,
    /// Training rows with spaces around the name.
    spaced: u64,
    /// Whether every level has a coordinate of its own, as in the paper.
    one_hot: bool,
}

/// What it tells of a cell besides its coordinates.
#[derive(Clone, Copy)]
enum Told {
    Level,
    Rare,
    Misspelled,
    Shape,
    Spaces,
}

/// The features for it, in order: the level, what [`Levels::standing`] says, and the spaces.
const HIDDEN: [(Told, Role, &str); N_SIGNS + 2] = [
    (Told::Level, Role::Level, "level"),
    (Told::Rare, Role::Sign, "rare"),
    (Told::Misspelled, Role::Sign, "misspelled"),
    (Told::Shape, Role::Sign, "odd shape"),
    (Told::Spaces, Role::Sign, "spaces around"),
];
/// Up to this many levels each have a coordinate of their own.
const MOST_OWN: usize = 8;
/// The most with plain 0/1 features, as in the paper.
const MOST_ONE_HOT: usize = 4_096;
/// More levels are told apart by this many random marks.
const N_MARKS: usize = 8;
/// The least standard deviation of −ln of the rows of a level. Levels of nearly the same number of rows are alike.
const LEAST_SPREAD: f64 = 0.5;
/// Spaces around one name in twenty are nothing special.
const LEAST_SPACED: f64 = 3.0;

impl Kind for Category {
    fn expected(_: Notation) -> &'static str {
        "a name"
    }

    fn holds(_: &DataType) -> bool {
        true
    }

    fn takes_anything() -> bool {
        true
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(Anything)
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        let array = &source.array;
        Ok(Cells::Names(match source.group {
            TypeGroup::Text => null_tokens_as_nulls(&source.text()?),
            TypeGroup::Null => StringArray::new_null(array.len()),
            TypeGroup::Boolean => {
                let name = |cell| if cell { "true" } else { "false" };
                array.as_boolean().iter().map(|cell| cell.map(name)).collect()
            }
            // 3.0 is named `3`, as it would be in a CSV file; NaN is a null here, too.
            TypeGroup::Number if array.data_type().is_floating() => {
                let name = |number: f64| (!number.is_nan()).then(|| number.to_string());
                source.floats().iter().map(|cell| cell.and_then(name)).collect()
            }
            TypeGroup::Number | TypeGroup::Date => {
                (0..array.len()).map(|at| array.is_valid(at).then(|| written(array, at))).collect()
            }
        }))
    }

    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError> {
        let mut counts: HashMap<Box<str>, u64> = HashMap::new();
        let (mut nulls, mut spaced) = (0, 0);
        training.for_each(|cells| {
            for cell in cells.names() {
                let name = cell.map(str::trim_ascii);
                spaced += u64::from(cell.map(str::len) > name.map(str::len));
                match name.map(|name| (name, counts.get_mut(name))) {
                    None => nulls += 1,
                    Some((_, Some(count))) => *count += 1,
                    Some((name, None)) => {
                        counts.insert(name.into(), 1);
                    }
                }
            }
        })?;
        let (n_rows, options) = (training.n_rows, training.options);
        if counts.is_empty() {
            return Ok(Learned::LeftOut(LeftOutReason::AllNull));
        }
        if let Some(sign) = identifier::of_names(n_rows, counts.len()).filter(|_| !options.keep_identifiers) {
            return Ok(Learned::LeftOut(LeftOutReason::Identifier(sign)));
        }
        let saved = SavedCategory { levels: Levels::of(counts), spaced, one_hot: options.one_hot };
        Ok(Learned::Column { nulls, content: saved.into() })
    }

    fn n_features(&self) -> usize {
        self.scales.len()
    }

    fn scales(&self, _: Counts) -> Vec<Scale> {
        self.scales.clone()
    }

    fn feature_name(&self, column: &str, at: usize) -> String {
        match (at.checked_sub(self.first_mark()), self.n_own) {
            (None, _) => format!("{column}: how rare"),
            (Some(at), Some(n)) if at < n => format!("{column} = {}", self.saved.levels.known()[at].name),
            (Some(at), _) => format!("{column}: mark {at}"),
        }
    }

    fn write(&self, cells: &Cells, features: &[Feature], mut block: Block<'_>) -> u64 {
        let (names, first_row) = (cells.names(), block.first_row);
        let levels = &self.saved.levels;
        let mut unseen = 0;
        for (row, at) in block.rows().zip(first_row..) {
            if names.is_null(at) {
                row.fill(0.0);
                continue;
            }
            let name = names.value(at).trim_ascii();
            let place = levels.place(name);
            unseen += u64::from(place == Place::Unseen);
            // The same for training rows and others: a coordinate must not tell which of them a row is.
            let rows = match place {
                Place::Known(level) => levels.known()[level].rows,
                Place::Unseen | Place::Forgotten => 1,
            };
            let own_level = match place {
                Place::Known(level) => level,
                Place::Unseen | Place::Forgotten => usize::MAX,
            };
            let marks = marks(name);
            let coordinate = |at: usize| match (at.checked_sub(self.first_mark()), self.n_own) {
                (None, _) => -libm::log(rows as f64),
                (Some(level), Some(_)) => f64::from(u8::from(level == own_level)),
                (Some(bit), None) => mark(marks, bit),
            };
            for (at, (x, feature)) in row.iter_mut().zip(features).enumerate() {
                *x = feature.scale(coordinate(at));
            }
        }
        unseen
    }

    fn hidden(&self) -> Vec<(Role, &'static str)> {
        HIDDEN.map(|(_, role, name)| (role, name)).to_vec()
    }

    fn write_hidden(&self, cells: &Cells, mut block: Block<'_>) {
        let (names, first_row, is_new) = (cells.names(), block.first_row, block.is_new);
        let levels = &self.saved.levels;
        let n_known = levels.known().len();
        for (row, at) in block.rows().zip(first_row..) {
            if names.is_null(at) {
                row.fill(0.0);
                row[0] = n_known as f64 + 1.0;
                continue;
            }
            let cell = names.value(at);
            let name = cell.trim_ascii();
            let place = levels.place(name);
            let level = match place {
                Place::Known(level) => level,
                Place::Unseen | Place::Forgotten => n_known,
            };
            row[0] = level as f64;
            row[1..=N_SIGNS].copy_from_slice(&levels.standing(name, place, is_new).signs);
            row[1 + N_SIGNS] = if cell.len() > name.len() { self.spaced_sign(is_new) } else { 0.0 };
        }
    }

    fn level(&self, at: usize) -> Option<&str> {
        self.saved.levels.known().get(at).map(|level| level.name.as_str())
    }

    fn usual_level(&self, counts: Counts) -> Option<(usize, f64)> {
        // Sorted, the most common one first.
        self.saved.levels.known().first().map(|level| (0, counts.share(level.rows)))
    }

    fn mend(&self, cell: &str) -> Option<String> {
        let (name, levels) = (cell.trim_ascii(), &self.saved.levels);
        match levels.meant(name, levels.place(name)) {
            Some(meant) => Some(levels.known()[meant].name.clone()),
            None => match levels.mended_word(name) {
                Some((mended, ..)) => Some(mended),
                None => (name.len() < cell.len()).then(|| name.to_owned()),
            },
        }
    }

    fn tell(&self, cell: &CellAt<'_>, hidden: usize, counts: Counts) -> Result<Option<Hint>, TableError> {
        let (Some((name, _)), Some((told, ..))) = (cell.name()?, HIDDEN.get(hidden)) else { return Ok(None) };
        let levels = &self.saved.levels;
        Ok(match told {
            Told::Level | Told::Rare | Told::Misspelled => match levels.meant(&name, levels.place(&name)) {
                Some(meant) => {
                    let Level { name, rows } = &levels.known()[meant];
                    let text = format!("looks like `{name}` ({} of training rows)", percent(counts.share(*rows)));
                    Some(Hint { text, expected: Some(name.clone()) })
                }
                None => levels.mended_word(&name).map(told_word),
            },
            Told::Shape => levels.odd_shape(&name).map(|odd| told_shape(odd, counts)),
            Told::Spaces => Some(told_spaces(&name, self.saved.spaced, counts)),
        })
    }

    fn look<'a>(&self, cell: &CellAt<'a>, counts: Counts) -> Result<Seen<'a>, TableError> {
        let levels = &self.saved.levels;
        let name = match cell.text() {
            Some(text) => Some(Cow::Borrowed(text)).filter(|text| !scan::is_null(text)),
            None => cell.read()?.names().iter().flatten().next().map(|name| Cow::Owned(name.to_owned())),
        };
        let Some(name) = name else { return Ok(Seen::default()) };
        let rows = match levels.place(&name) {
            Place::Known(level) => Some(levels.known()[level].rows),
            Place::Unseen => Some(0),
            Place::Forgotten => None,
        };
        let training_share = rows.map(|rows| counts.share(rows));
        Ok(Seen { value: Some(name), training_share, ..Seen::default() })
    }

    fn normal(&self, counts: Counts) -> NormalRange {
        let common = self.saved.levels.known().iter().take(NormalRange::MAX_LEVELS);
        let common = common.filter(|level| level.rows > 1);
        let share = common.map(|level| Share { name: level.name.clone(), share: counts.share(level.rows) });
        NormalRange::Levels { levels: share.collect() }
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        let SavedCategory { levels, spaced, .. } = &self.saved;
        check.ensure(*spaced <= counts.filled(), "rows with spaces", spaced, "at most the rows with a name")?;
        levels.validate(counts.filled(), check)
    }
}

impl Category {
    /// The coordinate of the first mark: plain one-hot has nothing else.
    fn first_mark(&self) -> usize {
        usize::from(!self.saved.one_hot)
    }

    /// The surprise of spaces around a name.
    fn spaced_sign(&self, is_new: bool) -> f64 {
        let itself = u64::from(is_new);
        let rows: u64 = self.saved.levels.known().iter().map(|level| level.rows).sum();
        let surprise = share_surprise(self.saved.spaced + itself, rows + itself);
        if surprise < LEAST_SPACED { 0.0 } else { surprise + KNOWN_SLIP }
    }
}

impl From<SavedCategory> for Category {
    fn from(saved: SavedCategory) -> Self {
        let known = saved.levels.known();
        let most = if saved.one_hot { MOST_ONE_HOT } else { MOST_OWN };
        let n_own = (saved.one_hot || known.len() <= most).then(|| known.len().min(most));
        // Sums over rows of x and x², for how rare the level is and for every mark.
        let n_marks = n_own.unwrap_or(N_MARKS);
        let (mut n, mut sums) = (0.0, vec![[0.0; 2]; 1 + n_marks]);
        for (at, level) in known.iter().enumerate() {
            let rows = level.rows as f64;
            let mut add = |feature: usize, x: f64| {
                sums[feature][0] += rows * x;
                sums[feature][1] += rows * x * x;
            };
            n += rows;
            add(0, -libm::log(rows));
            match n_own {
                Some(n_own) if at < n_own => add(1 + at, 1.0),
                Some(_) => {}
                None => {
                    let marks = marks(&level.name);
                    (0..n_marks).for_each(|bit| add(1 + bit, mark(marks, bit)));
                }
            }
        }
        let moments: Vec<[f64; 2]> =
            sums.iter().map(|[sum, squares]| [sum / n, (squares / n - (sum / n) * (sum / n)).max(0.0)]).collect();
        // All marks together count as one number.
        let spread = moments[1..].iter().map(|[_, variance]| variance).sum::<f64>().sqrt().max(STD_FLOOR);
        let scale = |(at, &[mean, variance]): (usize, &[f64; 2])| Scale {
            mean,
            std: match at {
                0 => variance.sqrt().max(LEAST_SPREAD),
                _ if saved.one_hot => variance.sqrt().max(STD_FLOOR),
                _ => spread,
            },
        };
        let scales = moments.iter().enumerate().map(scale).skip(usize::from(saved.one_hot)).collect();
        Self { saved, n_own, scales }
    }
}

impl From<Category> for SavedCategory {
    fn from(category: Category) -> Self {
        category.saved
    }
}

/// Words a rare shape.
pub(super) fn told_shape((shape, rows): (String, u64), counts: Counts) -> Hint {
    let legend = if shape.contains('x') && !shape.contains(['a', 'A', '9']) {
        "letters and digits x"
    } else {
        "letters a, capitals A, digits 9"
    };
    let told = match counts.share(rows) {
        0.0 => format!("no training row has this form (`{shape}`: {legend})"),
        share => format!("{} of training rows have this form (`{shape}`: {legend})", percent(share)),
    };
    told.into()
}

/// Words a slip in a word.
pub(super) fn told_word((mended, word, meant): (String, &str, &str)) -> Hint {
    Hint { text: format!("`{word}` looks like `{meant}`, a common word of the column"), expected: Some(mended) }
}

/// Words spaces around a text.
pub(super) fn told_spaces(text: &str, rows: u64, counts: Counts) -> Hint {
    let share = percent(counts.share(rows));
    Hint { text: format!("has spaces around it, as {share} of training rows have"), expected: Some(text.to_owned()) }
}

/// Random bits that belong to a name.
fn marks(name: &str) -> u64 {
    name.bytes().fold(GOLDEN, |hash, byte| mix(hash ^ u64::from(byte).wrapping_mul(GOLDEN)))
}

/// One of these bits as a number.
fn mark(marks: u64, bit: usize) -> f64 {
    if marks >> bit & 1 == 1 { 1.0 } else { -1.0 }
}

/// Every text is a name.
struct Anything;

impl Recognizer for Anything {
    fn observe(&mut self, _: &StringArray, _: usize) {}

    fn finish(self: Box<Self>) -> Recognition {
        Recognition::Fits { notation: Notation::default(), note: None }
    }
}
