//! The levels of a category column: the common ones are kept, the others are pooled.
//!
//! *Invariants:* kept levels are sorted by rows, most first, then by name · kept, pooled and null rows add up to
//! the training rows · looking a name up allocates nothing.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

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
    /// Name to position in `kept` then `rare`. Derived.
    places: HashMap<Box<str>, u32>,
}

/// What a column knows about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The kept level at this position.
    Kept(usize),
    /// A level that was pooled, with its training rows.
    Rare(u64),
    /// A level that no training row had.
    Unseen,
    /// Pooled or unseen: the column has too many rare levels to remember.
    Unknown,
}

/// Up to this many rare levels are remembered by name, to tell rare from unseen ...
const MAX_RARE: usize = 1_024;
/// ... if their names take at most this many bytes: columns of free text would bloat the model file.
const MAX_RARE_BYTES: usize = 65_536;

impl Levels {
    /// Keeps the `max_levels` most common of the counted levels that at least `min_rows` rows have.
    pub(super) fn of(counts: HashMap<Box<str>, u64>, max_levels: usize, min_rows: u64) -> Self {
        let mut kept: Vec<Level> =
            counts.into_iter().map(|(name, rows)| Level { name: name.into(), rows }).collect();
        kept.sort_unstable_by(|a, b| b.rows.cmp(&a.rows).then_with(|| a.name.cmp(&b.name)));
        let n_kept = kept.iter().take(max_levels).take_while(|level| level.rows >= min_rows).count();
        let mut rare = kept.split_off(n_kept);
        let pooled_levels = rare.len() as u64;
        let pooled_rows = rare.iter().map(|level| level.rows).sum();
        if rare.len() > MAX_RARE || rare.iter().map(|level| level.name.len()).sum::<usize>() > MAX_RARE_BYTES
        {
            rare = Vec::new();
        }
        SavedLevels { kept, rare, pooled_levels, pooled_rows }.into()
    }

    /// The levels that have a feature of their own, most common first.
    pub(super) fn kept(&self) -> &[Level] {
        &self.saved.kept
    }

    /// The number of pooled levels.
    pub(super) fn pooled_levels(&self) -> u64 {
        self.saved.pooled_levels
    }

    /// The number of training rows with a pooled level.
    pub(super) fn pooled_rows(&self) -> u64 {
        self.saved.pooled_rows
    }

    /// Looks `name` up.
    pub(super) fn place(&self, name: &str) -> Place {
        let SavedLevels { kept, rare, pooled_levels, .. } = &self.saved;
        match self.places.get(name) {
            Some(&at) if (at as usize) < kept.len() => Place::Kept(at as usize),
            Some(&at) => Place::Rare(rare[at as usize - kept.len()].rows),
            None if rare.len() as u64 == *pooled_levels => Place::Unseen,
            None => Place::Unknown,
        }
    }

    /// Checks that `filled` rows can have these levels.
    pub(super) fn validate(&self, filled: u64, check: &Check<'_>) -> Result<(), EncodeError> {
        let SavedLevels { kept, rare, pooled_levels: pooled, pooled_rows: rows } = &self.saved;
        let all_differ = self.places.len() == kept.len() + rare.len();
        check.ensure(all_differ, "levels", "a name twice", "different names")?;
        for level in kept.iter().chain(rare) {
            let what = format!("rows of level `{}`", level.name);
            check.ensure(level.rows > 0, &what, level.rows, "at least 1")?;
        }
        // Saturating, so that counts which wrap around cannot add up to the right sum.
        let sum = |levels: &[Level]| levels.iter().fold(0u64, |sum, level| sum.saturating_add(level.rows));
        let total = sum(kept).saturating_add(*rows);
        check.ensure(total == filled, "rows of all levels", total, "the number of rows that are not null")?;

        let remembered = rare.len() as u64;
        let all_or_none = remembered == *pooled || remembered == 0;
        check.ensure(all_or_none, "rare levels", remembered, "all pooled levels, or none")?;
        let possible =
            if remembered > 0 { sum(rare) == *rows } else { pooled <= rows && (*pooled > 0 || *rows == 0) };
        check.ensure(possible, "pooled rows", rows, "the rows of the pooled levels")
    }
}

/// The stored part of [`Levels`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLevels {
    kept: Vec<Level>,
    /// The pooled levels: all of them, or none if they are too many to remember.
    rare: Vec<Level>,
    pooled_levels: u64,
    pooled_rows: u64,
}

impl From<SavedLevels> for Levels {
    fn from(saved: SavedLevels) -> Self {
        let names = saved.kept.iter().chain(&saved.rare).map(|level| level.name.as_str().into());
        Self { places: names.zip(0u32..).collect(), saved }
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

    fn counts(levels: &[(&str, u64)]) -> HashMap<Box<str>, u64> {
        levels.iter().map(|&(name, rows)| (name.into(), rows)).collect()
    }

    #[test]
    fn the_most_common_levels_are_kept_and_the_others_pooled() {
        let levels = Levels::of(counts(&[("c", 7), ("a", 9), ("b", 7), ("d", 5), ("e", 2)]), 3, 3);
        let kept: Vec<_> = levels.kept().iter().map(|level| (level.name.as_str(), level.rows)).collect();
        assert_eq!(kept, [("a", 9), ("b", 7), ("c", 7)]); // equal counts by name
        assert_eq!((levels.pooled_levels(), levels.pooled_rows()), (2, 7)); // d by max_levels, e by both
        assert_eq!(levels.place("b"), Place::Kept(1));
        assert_eq!(levels.place("e"), Place::Rare(2));
        assert_eq!(levels.place("A"), Place::Unseen);
    }

    #[test]
    fn a_level_at_the_least_number_of_rows_is_kept_and_one_below_is_not() {
        let levels = Levels::of(counts(&[("five", 5), ("four", 4)]), 32, 5);
        assert_eq!((levels.place("five"), levels.place("four")), (Place::Kept(0), Place::Rare(4)));
    }

    #[test]
    fn rare_levels_are_forgotten_when_there_are_too_many_to_remember() {
        let many: Vec<String> = (0..=MAX_RARE).map(|i| i.to_string()).collect();
        let levels =
            Levels::of(counts(&many.iter().map(|name| (name.as_str(), 1)).collect::<Vec<_>>()), 32, 5);
        assert_eq!(levels.saved.rare, []);
        assert_eq!((levels.place("7"), levels.place("new")), (Place::Unknown, Place::Unknown));
    }
}
