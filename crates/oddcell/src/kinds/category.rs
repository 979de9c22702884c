//! Categories: a 0/1 feature for every common level, and one for all other levels.

use std::{borrow::Cow, collections::HashMap};

use arrow_array::{Array, StringArray, cast::AsArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::{
    Block, Cells, Counts, Kind, Learned, NormalRange, Notation, Scale, Share, Training, TypeGroup,
    arrow::{null_tokens_as_nulls, written},
    cells::Source,
    identifier,
    levels::{Levels, Place},
    recognize::{Recognition, Recognizer},
    seen::{CellAt, Seen},
    text,
};
use crate::{
    encode::{Check, EncodeError, Feature, LeftOutReason, Report},
    table::TableError,
};

/// A column of names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Category(Levels);

/// A kept level has at least one in so many rows.
const MIN_LEVEL_SHARE: usize = 1_000;

impl Kind for Category {
    fn expected(_: Notation) -> &'static str {
        "a name"
    }

    fn holds(_: &DataType) -> bool {
        true
    }

    fn recognizer() -> Box<dyn Recognizer> {
        Box::new(Anything)
    }

    fn read(source: &Source<'_>) -> Result<Cells, TableError> {
        let array = &source.array;
        Ok(Cells::Names(match source.group {
            TypeGroup::Text => trimmed(&null_tokens_as_nulls(&source.text()?)),
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
        let mut nulls = 0;
        training.for_each(|cells| {
            for name in cells.names() {
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
        let min_rows = options.min_level_rows.max(n_rows.div_ceil(MIN_LEVEL_SHARE)) as u64;
        let levels = Levels::of(counts, options.max_levels, min_rows);
        // All pooled: every cell, also of later rows, would be "other". Only nulls would still tell rows apart.
        if levels.kept().is_empty() && nulls == 0 {
            return Ok(Learned::LeftOut(LeftOutReason::NoCommonLevel { levels: levels.pooled_levels() }));
        }
        Ok(Learned::Column { nulls, content: Self(levels) })
    }

    fn n_features(&self) -> usize {
        self.0.kept().len() + 1
    }

    // Nulls are 0 for every level, so they count.
    fn scales(&self, counts: Counts) -> Vec<Scale> {
        let rows = self.0.kept().iter().map(|level| level.rows).chain([self.0.pooled_rows()]);
        rows.map(|rows| Scale::of_flag(rows, counts.n_rows)).collect()
    }

    fn feature_name(&self, column: &str, at: usize) -> String {
        let level = self.0.kept().get(at).map_or("(other)", |level| &level.name);
        format!("{column} = {level}")
    }

    fn write(&self, cells: &Cells, features: &[Feature], mut block: Block<'_>) -> u64 {
        let (names, first_row) = (cells.names(), block.first_row);
        let zeros: Vec<f64> = features.iter().map(|feature| feature.scale(0.0)).collect();
        let other = self.0.kept().len();
        let mut unseen = 0;
        for (row, at) in block.rows().zip(first_row..) {
            row.copy_from_slice(&zeros);
            if names.is_null(at) {
                continue;
            }
            let one = match self.0.place(names.value(at)) {
                Place::Kept(level) => level,
                Place::Rare(_) | Place::Unknown => other,
                Place::Unseen => {
                    unseen += 1;
                    other
                }
            };
            row[one] = features[one].scale(1.0);
        }
        unseen
    }

    fn look<'a>(&self, cell: &CellAt<'a>, counts: Counts) -> Result<Seen<'a>, TableError> {
        let levels = &self.0;
        let name = match cell.text() {
            Some(text) => Some(Cow::Borrowed(text)).filter(|text| !text::is_null(text)),
            None => cell.read()?.names().iter().flatten().next().map(|name| Cow::Owned(name.to_owned())),
        };
        let Some(name) = name else { return Ok(Seen::default()) };
        let rows = match levels.place(&name) {
            Place::Kept(level) => Some(levels.kept()[level].rows),
            Place::Rare(rows) => Some(rows),
            Place::Unseen => Some(0),
            Place::Unknown => None,
        };
        let training_share = rows.map(|rows| counts.share(rows));
        Ok(Seen { value: Some(name), training_share, ..Seen::default() })
    }

    fn normal(&self, counts: Counts) -> NormalRange {
        let common = self.0.kept().iter().take(NormalRange::MAX_LEVELS);
        let share = common.map(|level| Share { name: level.name.clone(), share: counts.share(level.rows) });
        NormalRange::Levels { levels: share.collect() }
    }

    fn report(&self, column: &str) -> Option<Report> {
        (self.0.pooled_levels() > 0).then(|| Report::Pooled {
            column: column.to_owned(),
            levels: self.0.pooled_levels(),
            kept: self.0.kept().len(),
            rows: self.0.pooled_rows(),
        })
    }

    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError> {
        self.0.validate(counts.filled(), check)
    }
}

/// The cells without spaces around them; the text itself is shared if there are none.
fn trimmed(cells: &StringArray) -> StringArray {
    if cells.iter().flatten().all(|cell| cell.len() == cell.trim_ascii().len()) {
        return cells.clone();
    }
    cells.iter().map(|cell| cell.map(str::trim_ascii)).collect()
}

/// Every text is a name.
struct Anything;

impl Recognizer for Anything {
    fn observe(&mut self, _: &StringArray, _: usize) {}

    fn finish(self: Box<Self>) -> Recognition {
        Recognition::Fits { notation: Notation::default(), note: None }
    }
}
