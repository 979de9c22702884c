//! The checks that a deserialised encoder has to pass: whatever a file claims, in an [`super::Encoder`] that
//! exists every figure is possible by itself and beside the others, so that encoding cannot fail or overflow.
//!
//! Ranges are written as what *is* valid, so that NaN fails them.

use std::{collections::HashSet, fmt::Display};

use super::{Content, EncodeError, LeftOut, Levels, MAX_FEATURES, Spread, column::LearnedColumn};

/// Counts above this are not exact as floats, and no table has so many rows.
const MAX_ROWS: u64 = 1 << 53;

/// Checks everything an encoder is built from.
pub(super) fn check(n_rows: u64, columns: &[LearnedColumn], left_out: &[LeftOut]) -> Result<(), EncodeError> {
    ensure((1..=MAX_ROWS).contains(&n_rows), || "training rows".into(), n_rows, "a count from 1 to 2^53")?;
    ensure(!columns.is_empty(), || "columns".into(), "none", "at least one")?;
    let n_features: usize = columns.iter().map(LearnedColumn::n_features).sum();
    ensure(n_features <= MAX_FEATURES, || "features".into(), n_features, "at most 65536")?;

    let mut names = HashSet::new();
    for name in columns.iter().map(|column| &column.name).chain(left_out.iter().map(|column| &column.name)) {
        ensure(!name.is_empty(), || "a column name".into(), "nothing", "a name")?;
        ensure(names.insert(name), || "column names".into(), format!("`{name}` twice"), "different names")?;
    }
    columns.iter().try_for_each(|column| check_column(column, n_rows))
}

fn check_column(column: &LearnedColumn, n_rows: u64) -> Result<(), EncodeError> {
    let place = |what: &str| format!("column `{}`: {what}", column.name);
    ensure(column.nulls < n_rows, || place("nulls"), column.nulls, "fewer than the training rows")?;
    let filled = n_rows - column.nulls;
    match &column.content {
        Content::Number(spread) | Content::Date { spread, .. } => check_spread(spread, filled, place),
        Content::Boolean { true_rows } => ensure(
            *true_rows <= filled,
            || place("true rows"),
            true_rows,
            "at most the rows that are not null",
        ),
        Content::Category(levels) => check_levels(levels, filled, place),
    }
}

fn check_spread(spread: &Spread, filled: u64, place: impl Fn(&str) -> String) -> Result<(), EncodeError> {
    let Spread { mean, std, min, low, high, max } = *spread;
    let figures = [
        ("mean", mean),
        ("standard deviation", std),
        ("least value", min),
        ("1 % quantile", low),
        ("99 % quantile", high),
        ("greatest value", max),
    ];
    for (what, value) in figures {
        ensure(value.is_finite(), || place(what), format!("{value:?}"), "a finite number")?;
    }
    let range = max - min;
    ensure(range.is_finite(), || place("range"), format!("{range:?}"), "a finite number")?;
    ensure(
        min <= low && low <= high && high <= max,
        || place("least value, 1 % quantile, 99 % quantile, greatest value"),
        format!("{min:?}, {low:?}, {high:?}, {max:?}"),
        "numbers in rising order",
    )?;
    ensure(
        min <= mean && mean <= max,
        || place("mean"),
        mean,
        "a number between the least and the greatest",
    )?;
    let (place, found) = (|| place("standard deviation"), format!("{std:?}"));
    if min == max {
        return ensure(std == 1.0, place, found, "1, since the column is constant");
    }
    ensure(std > 0.0 && std <= range, place, &found, "above 0, at most the range")?;
    // Two ends at distance r give n·std² ≥ r²/2. The factor 2 allows for the rounding of subnormal numbers.
    let widest = 2.0 * std * (2.0 * filled as f64).sqrt();
    ensure(range <= widest, place, found, "more, with such a range and so few rows")
}

fn check_levels(levels: &Levels, filled: u64, place: impl Fn(&str) -> String) -> Result<(), EncodeError> {
    ensure(!levels.has_duplicates(), || place("levels"), "a name twice", "different names")?;
    let all = levels.kept().iter().chain(levels.rare());
    for level in all {
        ensure(
            level.rows > 0,
            || place(&format!("rows of level `{}`", level.name)),
            level.rows,
            "at least 1",
        )?;
    }
    // Saturating, so that counts which wrap around cannot add up to the right sum.
    let sum = |levels: &[super::Level]| levels.iter().fold(0u64, |sum, level| sum.saturating_add(level.rows));
    let total = sum(levels.kept()).saturating_add(levels.pooled_rows());
    ensure(total == filled, || place("rows of all levels"), total, "the number of rows that are not null")?;

    let (rare, pooled) = (levels.rare().len() as u64, levels.pooled_levels());
    ensure(rare == pooled || rare == 0, || place("rare levels"), rare, "all pooled levels, or none")?;
    let rows = levels.pooled_rows();
    let possible =
        if rare > 0 { sum(levels.rare()) == rows } else { pooled <= rows && (pooled > 0 || rows == 0) };
    ensure(possible, || place("pooled rows"), rows, "the rows of the pooled levels")
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
