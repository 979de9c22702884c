//! The checks of a deserialized encoder. Whatever a file claims, every figure in an [`super::Encoder`] is possible by
//! itself and together with the others, so encoding cannot fail or overflow.
//!
//! Ranges are written as what *is* valid, so that NaN fails them.

use std::{collections::HashSet, fmt::Display};

use super::{EncodeError, LeftOut, MAX_FEATURES, column::LearnedColumn, encoder::is_mixed, since::Since};
use crate::kinds::Counts;

/// Counts above this are not exact as floats, and no table has so many rows.
const MAX_ROWS: u64 = 1 << 53;

/// Checks everything an encoder is built from.
pub(super) fn check(
    n_rows: u64,
    columns: &[LearnedColumn],
    left_out: &[LeftOut],
    group_by: &[u32],
) -> Result<(), EncodeError> {
    let exist = group_by.iter().all(|&at| (at as usize) < columns.len());
    ensure(exist, || "columns to group by".into(), format!("{group_by:?}"), "columns that there are")?;
    ensure((1..=MAX_ROWS).contains(&n_rows), || "training rows".into(), n_rows, "a count from 1 to 2^53")?;
    ensure(!columns.is_empty(), || "columns".into(), "none", "at least one")?;
    let n_features: usize = columns.iter().map(|column| column.n_features(is_mixed(columns))).sum();
    ensure(n_features <= MAX_FEATURES, || "features".into(), n_features, "at most 65536")?;

    let mut names = HashSet::new();
    for name in columns.iter().map(|column| &column.name).chain(left_out.iter().map(|column| &column.name)) {
        ensure(!name.is_empty(), || "a column name".into(), "nothing", "a name")?;
        ensure(names.insert(name), || "column names".into(), format!("`{name}` twice"), "different names")?;
    }
    columns.iter().enumerate().try_for_each(|(at, column)| {
        let check = Check { column: &column.name };
        let are_dates = |since: &Since| {
            columns.get(since.column as usize).is_some_and(|other| other.content.as_kind().is_moment())
        };
        let compared = column.since.is_empty()
            || (column.content.as_kind().is_moment() && column.since.iter().all(are_dates));
        check.ensure(compared, "compared dates", column.since.len(), "only dates")?;
        column.since.iter().try_for_each(|since| since.validate(at, &check))?;
        let is_number = column.content.as_kind().scaled(1.0).is_some();
        let fits = column.within.is_none() || (is_number && !group_by.is_empty());
        check.ensure(fits, "numbers within groups", "some", "none without numbers and groups")?;
        column.within.iter().try_for_each(|within| within.validate(&check))?;
        column.copied.iter().try_for_each(|copied| copied.validate(at, columns, &check))?;
        check_column(column, n_rows)
    })
}

fn check_column(column: &LearnedColumn, n_rows: u64) -> Result<(), EncodeError> {
    let check = Check { column: &column.name };
    check.ensure(column.nulls < n_rows, "nulls", column.nulls, "fewer than the training rows")?;
    column.content.as_kind().validate(column.counts(n_rows), &check)
}

/// Checks the figures of one column.
pub(crate) struct Check<'a> {
    column: &'a str,
}

impl Check<'_> {
    /// Checks the number of training rows that could not be read; returns how many could.
    pub(crate) fn readable(&self, counts: Counts, unreadable: u64) -> Result<u64, EncodeError> {
        let valid = unreadable < counts.filled();
        self.ensure(valid, "unreadable cells", unreadable, "fewer than the rows that are not null")?;
        Ok(counts.filled() - unreadable)
    }

    /// Fails unless `valid`, with the place (`what`), what was found there, and what was expected.
    pub(crate) fn ensure(
        &self,
        valid: bool,
        what: &str,
        found: impl Display,
        expected: &'static str,
    ) -> Result<(), EncodeError> {
        ensure(valid, || format!("column `{}`: {what}", self.column), found, expected)
    }
}

fn ensure(
    valid: bool,
    place: impl FnOnce() -> String,
    found: impl Display,
    expected: &'static str,
) -> Result<(), EncodeError> {
    if valid {
        Ok(())
    } else {
        Err(EncodeError::Invalid { place: place(), found: found.to_string(), expected })
    }
}
