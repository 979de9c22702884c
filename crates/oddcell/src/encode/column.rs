//! One column of the training table as the encoder remembers it, and the features it makes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{copies::Copied, groups::Within, since::Since};
use crate::{
    kinds::{Content, Counts, NormalRange, Scale, UNREADABLE, share_surprise},
    layout::{Group, Role},
    table::{ColumnKind, Reading},
};

/// The stored part of a column; everything else follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearnedColumn {
    pub(super) name: String,
    pub(super) nulls: u64,
    pub(super) content: Content,
    /// For dates: the days since the dates of earlier columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) since: Vec<Since>,
    /// For numbers: where they lie within groups, if there are groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) within: Option<Within>,
    /// For numbers: how they follow from other columns, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) copied: Option<Copied>,
}

/// A column that makes features: those of its values, then a flag for nulls if there were any, then signs if the table has
/// any column that is not a number.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedColumn {
    pub(super) learned: LearnedColumn,
    features: Range<usize>,
    n_values: usize,
    n_rows: u64,
    normal: NormalRange,
}

/// One number of an encoded row: the column it comes from, and its scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feature {
    /// The column, as a position in [`super::Encoder::columns`].
    pub column: usize,
    /// Which feature of its column it is.
    pub part: Part,
    /// The mean of the training rows, which is subtracted.
    pub mean: f64,
    /// The standard deviation of the training rows, floored for 0/1 features, by which the difference is divided.
    pub std: f64,
}

/// Which feature of its column a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// One of those that the column's kind makes, counted from 0. Numbers, dates and booleans make one; categories
    /// one for how rare the level is, and some that tell levels apart.
    Value(usize),
    /// 1 if the cell is null.
    IsNull,
    /// A level, or a sign that the cell is odd by itself, counted from 0; the last one is that there is no value where there
    /// should be one.
    Sign(usize),
}

impl Feature {
    /// The feature's value for a raw one.
    #[inline]
    #[must_use]
    pub fn scale(&self, x: f64) -> f64 {
        ((x - self.mean) / self.std).clamp(-super::FEATURE_LIMIT, super::FEATURE_LIMIT)
    }
}

impl LearnedColumn {
    pub(super) fn counts(&self, n_rows: u64) -> Counts {
        Counts { n_rows, nulls: self.nulls }
    }

    /// How its cells are read.
    pub(super) fn reading(&self) -> Reading {
        Reading { kind: self.content.kind(), notation: self.content.as_kind().notation() }
    }

    /// The number of features that come from values.
    fn n_values(&self) -> usize {
        self.content.as_kind().n_features()
    }

    /// The number of features; `mixed` if the table has any column that is not a number.
    pub(super) fn n_features(&self, mixed: bool) -> usize {
        let n_compared =
            self.since.len() + usize::from(self.within.is_some()) + usize::from(self.copied.is_some());
        let n_hidden = if mixed { self.content.as_kind().hidden().len() + n_compared + 1 } else { 0 };
        self.n_values() + usize::from(self.nulls > 0) + n_hidden
    }

    /// The features of the column at position `column`.
    pub(super) fn features(&self, column: usize, n_rows: u64, mixed: bool) -> Vec<Feature> {
        let scales = self.content.as_kind().scales(self.counts(n_rows));
        let values = scales.into_iter().enumerate().map(|(at, scale)| (Part::Value(at), scale));
        let flag = (self.nulls > 0).then(|| (Part::IsNull, Scale::of_flag(self.nulls, n_rows)));
        let n_signs = self.n_features(mixed) - self.n_values() - usize::from(self.nulls > 0);
        let signs = (0..n_signs).map(|at| (Part::Sign(at), Scale { mean: 0.0, std: 1.0 }));
        let all = values.chain(flag).chain(signs);
        all.map(|(part, Scale { mean, std })| Feature { column, part, mean, std }).collect()
    }
}

impl EncodedColumn {
    pub(super) fn new(learned: LearnedColumn, first_feature: usize, n_rows: u64, mixed: bool) -> Self {
        let features = first_feature..first_feature + learned.n_features(mixed);
        let normal = learned.content.as_kind().normal(learned.counts(n_rows));
        Self { features, n_values: learned.n_values(), learned, n_rows, normal }
    }

    /// The name in the header.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.learned.name
    }

    /// What its cells mean.
    #[must_use]
    pub fn kind(&self) -> ColumnKind {
        self.learned.content.kind()
    }

    /// How its cells are read.
    #[doc(hidden)]
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.learned.reading()
    }

    /// What was learned about it.
    pub(crate) fn content(&self) -> &Content {
        &self.learned.content
    }

    /// The training rows.
    pub(crate) fn counts(&self) -> Counts {
        self.learned.counts(self.n_rows)
    }

    /// Training rows that were null.
    #[must_use]
    pub fn nulls(&self) -> u64 {
        self.learned.nulls
    }

    /// The share of training rows that were null, 0 to 1.
    #[must_use]
    pub fn null_share(&self) -> f64 {
        self.counts().share(self.nulls())
    }

    /// Its features, as positions in [`super::Encoder::features`].
    #[must_use]
    pub fn features(&self) -> Range<usize> {
        self.features.clone()
    }

    /// Those of its features that come from values.
    pub(crate) fn value_features(&self) -> Range<usize> {
        self.features.start..self.features.start + self.n_values
    }

    /// The feature that says whether the cell is null, if training had nulls.
    pub(crate) fn null_flag(&self) -> Option<usize> {
        (self.nulls() > 0).then_some(self.value_features().end)
    }

    /// What its kind tells of a cell besides its coordinates; empty in a table of numbers.
    pub(super) fn hidden_features(&self) -> Range<usize> {
        let start = self.value_features().end + usize::from(self.nulls() > 0);
        start..self.features.end.saturating_sub(1).max(start)
    }

    /// The first of its signs.
    pub(crate) fn first_sign(&self) -> usize {
        self.hidden_features().start
    }

    /// The days since other dates of the row; empty in a table of numbers.
    pub(super) fn since_features(&self) -> Range<usize> {
        let end = self.within_feature().or(self.copied_feature()).unwrap_or(self.hidden_features().end);
        let n_since = if self.hidden_features().is_empty() { 0 } else { self.learned.since.len() };
        end - n_since..end
    }

    /// How far out a number lies within its group; `None` if there are no groups.
    pub(crate) fn within_feature(&self) -> Option<usize> {
        let hidden = self.hidden_features();
        let n_copied = usize::from(self.learned.copied.is_some());
        (self.learned.within.is_some() && !hidden.is_empty()).then(|| hidden.end - 1 - n_copied)
    }

    /// The sign that a number does not follow from other columns as it should; `None` if it need not.
    pub(crate) fn copied_feature(&self) -> Option<usize> {
        let hidden = self.hidden_features();
        (self.learned.copied.is_some() && !hidden.is_empty()).then(|| hidden.end - 1)
    }

    /// The sign that the cell has no value where it should have one; `None` in a table of numbers.
    pub(crate) fn gap(&self) -> Option<usize> {
        let hidden = self.hidden_features();
        (hidden.end < self.features.end).then_some(hidden.end)
    }

    /// The surprise of a cell without a value, although it is not null (`unreadable`) or training never had a null.
    pub(super) fn gap_surprise(&self, unreadable: bool, is_new: bool) -> f64 {
        let before =
            if unreadable { self.content().as_kind().unreadable().unwrap_or(0) } else { self.nulls() };
        let itself = u64::from(is_new);
        let slip = if unreadable { UNREADABLE } else { 0.0 };
        slip + share_surprise((before + itself).max(1), self.n_rows + itself)
    }

    /// How detectors see it.
    pub(super) fn group(&self, is_context: bool) -> Group {
        // A copy is only asked whether it is one: its number is a coordinate, and all its signs but that are 0.
        let is_copy = self.copied_feature().is_some();
        let if_no_copy = |role, of_copy| if is_copy { of_copy } else { role };
        let hidden = self.content().as_kind().hidden().into_iter();
        let hidden = hidden.map(|(role, _)| if_no_copy(role, Role::Sign));
        let mut roles = vec![if_no_copy(self.kind().role(), Role::Coordinate); self.n_values];
        roles.extend(self.null_flag().map(|_| Role::Flag));
        let since = self.since_features();
        roles.extend(hidden.take(since.start - self.hidden_features().start));
        roles.extend(since.map(|_| Role::Part));
        roles.extend(self.within_feature().map(|_| if_no_copy(Role::Part, Role::Sign)));
        roles.extend(self.copied_feature().map(|_| Role::Sign));
        roles.extend(self.gap().map(|_| Role::Sign));
        Group { features: self.features(), roles, null_flag: self.null_flag(), gap: self.gap(), is_context }
    }

    /// What is normal in it.
    #[must_use]
    pub fn normal(&self) -> &NormalRange {
        &self.normal
    }
}
