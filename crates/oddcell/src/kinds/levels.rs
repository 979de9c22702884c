//! The levels of a category column, and what each looks like beside the others.
//!
//! *Invariants:* levels are sorted by rows, most first, then by name · known, forgotten and null rows add up to the
//! training rows · looking a name up allocates nothing.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    alike::Alike,
    rarity::{MISSPELLED, Rarity, share_surprise},
    shape::{SavedShapes, Shapes},
    vocabulary::{Vocabulary, WordCounts},
};
use crate::encode::{Check, EncodeError};

/// One name of a category column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Level {
    /// The name.
    pub(super) name: String,
    /// Training rows that have it.
    pub(super) rows: u64,
}

/// All levels of a category column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedLevels", into = "SavedLevels")]
pub(super) struct Levels {
    saved: SavedLevels,
    /// Name to position. Derived, like all that follows.
    places: HashMap<Box<str>, u32>,
    rarity: Rarity,
    /// The common names, to find misspelled ones.
    common: Alike,
    /// For every level the common one that it looks like.
    meant: Vec<Option<u32>>,
    /// Rows whose level looks like a common one.
    misspelled_rows: u64,
    /// Their words.
    words: Vocabulary,
    /// If there are many levels: their shapes, and how rare they are.
    shapes: Option<Shapes>,
}

/// What a column knows about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The level at this position.
    Known(usize),
    /// A level that no training row had.
    Unseen,
    /// Unseen, or one of those that were too many to remember.
    Forgotten,
}

/// A name beside the other rows of its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standing {
    /// The rows that have it, this one included.
    pub(super) rows: u64,
    /// Surprises: how rare it is, that it looks like a common name, and how rare its shape is.
    pub(super) signs: [f64; N_SIGNS],
}

/// Signs of a level.
pub(super) const N_SIGNS: usize = 3;

/// The most levels that are remembered by name, the most common ones ...
const MOST_LEVELS: usize = 100_000;
/// ... if their names take at most this many bytes.
const MOST_BYTES: usize = 8 << 20;
/// A name with fewer rows is not common.
const LEAST_COMMON: u64 = 3;
/// A name is meant by one like it only if it has so many times its rows.
const MORE_COMMON: u64 = 4;
/// With fewer levels, a shape says nothing that its level does not say.
const LEAST_SHAPES: usize = 12;

impl Levels {
    /// Remembers the counted levels, as many as fit.
    pub(super) fn of(counts: HashMap<Box<str>, u64>) -> Self {
        let mut known: Vec<Level> =
            counts.into_iter().map(|(name, rows)| Level { name: name.into(), rows }).collect();
        known.sort_unstable_by(|a, b| b.rows.cmp(&a.rows).then_with(|| a.name.cmp(&b.name)));
        let mut bytes = 0;
        let fits = |level: &&Level| {
            bytes += level.name.len();
            bytes <= MOST_BYTES
        };
        let n_known = known.iter().take(MOST_LEVELS).take_while(fits).count();
        let forgotten = known.split_off(n_known);
        let rows = forgotten.iter().map(|level| level.rows).sum();
        SavedLevels { known, forgotten: forgotten.len() as u64, forgotten_rows: rows }.into()
    }

    /// The levels that are remembered, most common first.
    pub(super) fn known(&self) -> &[Level] {
        &self.saved.known
    }

    /// Looks `name` up.
    pub(super) fn place(&self, name: &str) -> Place {
        match self.places.get(name) {
            Some(&at) => Place::Known(at as usize),
            None if self.saved.forgotten == 0 => Place::Unseen,
            None => Place::Forgotten,
        }
    }

    /// How a name stands beside the other rows; `is_new` if its own row is no training row.
    pub(super) fn standing(&self, name: &str, place: Place, is_new: bool) -> Standing {
        let itself = u64::from(is_new);
        let rows = match place {
            Place::Known(level) => self.known()[level].rows + itself,
            Place::Unseen => 1,
            // At most as many as the rarest that is remembered; on average this many.
            Place::Forgotten => self.saved.forgotten_rows.div_ceil(self.saved.forgotten),
        };
        let n = self.rows() + itself;
        let misspelled = match self.meant(name, place) {
            Some(_) => MISSPELLED + share_surprise((self.misspelled_rows + itself).max(1), n),
            None => self.words.surprise(name, is_new),
        };
        let shape = self.shapes.as_ref().map_or(0.0, |shapes| shapes.surprise(name, is_new));
        Standing { rows, signs: [self.rarity.surprise(rows, is_new), misspelled, shape] }
    }

    /// The common level that this name looks like.
    pub(super) fn meant(&self, name: &str, place: Place) -> Option<usize> {
        match place {
            Place::Known(level) => self.meant[level].map(|meant| meant as usize),
            Place::Unseen | Place::Forgotten => self.common.find(name, |_| true),
        }
    }

    /// The name with a common word in place of one that looks like a slip, and both words.
    pub(super) fn mended_word<'a>(&self, name: &'a str) -> Option<(String, &'a str, &str)> {
        self.words.mended(name)
    }

    /// The odd shape or form of a name, and the training rows that have it, if shapes count.
    pub(super) fn odd_shape(&self, name: &str) -> Option<(String, u64)> {
        self.shapes.as_ref().map(|shapes| shapes.odd(name))
    }

    /// All rows with a level.
    fn rows(&self) -> u64 {
        let known = self.known().iter().map(|level| level.rows);
        known.sum::<u64>() + self.saved.forgotten_rows
    }

    /// Checks that `filled` rows can have these levels.
    pub(super) fn validate(&self, filled: u64, check: &Check<'_>) -> Result<(), EncodeError> {
        let SavedLevels { known, forgotten, forgotten_rows } = &self.saved;
        let all_differ = self.places.len() == known.len();
        check.ensure(all_differ, "levels", "a name twice", "different names")?;
        check.ensure(!known.is_empty(), "levels", "none", "at least one")?;
        let falls = known.windows(2).all(|pair| pair[0].rows >= pair[1].rows);
        check.ensure(
            falls,
            "levels",
            "a rarer level before a more common one",
            "the most common one first",
        )?;
        for level in known {
            let what = format!("rows of level `{}`", level.name);
            check.ensure(level.rows > 0, &what, level.rows, "at least 1")?;
        }
        let possible = forgotten <= forgotten_rows && (*forgotten > 0 || *forgotten_rows == 0);
        check.ensure(possible, "forgotten rows", forgotten_rows, "the rows of the forgotten levels")?;
        // Saturating, so that counts which wrap around cannot add up to the right sum.
        let total = known.iter().fold(*forgotten_rows, |sum, level| sum.saturating_add(level.rows));
        check.ensure(total == filled, "rows of all levels", total, "the number of rows that are not null")
    }
}

/// The stored part of [`Levels`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLevels {
    known: Vec<Level>,
    /// How many levels were too many to remember, and the rows that have them.
    forgotten: u64,
    forgotten_rows: u64,
}

impl From<SavedLevels> for Levels {
    fn from(saved: SavedLevels) -> Self {
        let known = &saved.known;
        let names = || known.iter().map(|level| level.name.as_str());
        let n_common = known.iter().take_while(|level| level.rows >= LEAST_COMMON).count();
        let common = Alike::new(names().take(n_common));
        let meant = |level: &Level| {
            let fits = |other: usize| {
                known[other].rows / MORE_COMMON >= level.rows && known[other].name != level.name
            };
            common.find(&level.name, fits).map(|at| at as u32)
        };
        let meant: Vec<Option<u32>> = known.iter().map(meant).collect();
        let misspelled = known.iter().zip(&meant).filter(|(_, meant)| meant.is_some());
        let shapes = (known.len() >= LEAST_SHAPES).then(|| -> Shapes {
            let mut shapes = SavedShapes::default();
            for level in known {
                shapes.count(&level.name, level.rows);
            }
            shapes.into()
        });
        let mut words = WordCounts::default();
        for level in known {
            words.count(&level.name, level.rows);
        }
        let words = words.finish(known.iter().map(|level| (&*level.name, level.rows)));
        let forgotten = match saved.forgotten {
            0 => None,
            n => Some(std::iter::repeat_n(saved.forgotten_rows.div_ceil(n), n.min(1 << 24) as usize)),
        };
        let counts = known.iter().map(|level| level.rows).chain(forgotten.into_iter().flatten());
        Self {
            places: names().map(Into::into).zip(0u32..).collect(),
            rarity: Rarity::of(counts.collect()),
            misspelled_rows: misspelled.fold(0, |sum, (level, _)| sum.saturating_add(level.rows)),
            common,
            meant,
            words,
            shapes,
            saved,
        }
    }
}

impl From<Levels> for SavedLevels {
    fn from(levels: Levels) -> Self {
        levels.saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(levels: &[(&str, u64)]) -> Levels {
        Levels::of(levels.iter().map(|&(name, rows)| (name.into(), rows)).collect())
    }

    #[test]
    fn levels_are_known_by_name_most_common_first() {
        let levels = levels(&[("c", 7), ("a", 9), ("b", 7), ("e", 2)]);
        let known: Vec<_> = levels.known().iter().map(|level| (level.name.as_str(), level.rows)).collect();
        assert_eq!(known, [("a", 9), ("b", 7), ("c", 7), ("e", 2)]); // equal counts by name
        assert_eq!((levels.place("b"), levels.place("A")), (Place::Known(1), Place::Unseen));
    }

    // Of 12 rows, 2 have a misspelled name: ln(12/2). A new row with one makes it 3 of 13. As rare as `Ocean`: with
    // it, 3 of 12 rows, and the next has 9.
    #[test]
    fn a_rare_name_like_a_common_one_is_misspelled() {
        let levels = levels(&[("London", 9), ("Lodnon", 1), ("london", 1), ("Ocean", 1)]);
        let standing = |name: &str, is_new| levels.standing(name, levels.place(name), is_new);
        let own = standing("Lodnon", false);
        assert!((own.signs[1] - (MISSPELLED + 6f64.ln())).abs() < 1e-12);
        assert!((own.signs[0] - 4f64.ln() - 3f64.ln() / 3f64.sqrt()).abs() < 1e-12);
        assert!((standing("Lndon", true).signs[1] - (MISSPELLED + (13.0f64 / 3.0).ln())).abs() < 1e-12);
        assert_eq!([standing("London", false).signs[1], standing("Ocean", false).signs[1]], [0.0, 0.0]);
        assert_eq!(levels.meant("Lndon", Place::Unseen), Some(0));
        assert_eq!((standing("London", false).rows, standing("London", true).rows), (9, 10));
    }
}
