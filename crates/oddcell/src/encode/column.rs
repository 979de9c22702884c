//! One column of the training table as the encoder remembers it, and the features it makes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    kinds::{Content, Counts, NormalRange, Scale},
    table::{ColumnKind, Reading},
};

/// The stored part of a column; everything else follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearnedColumn {
    pub(super) name: String,
    pub(super) nulls: u64,
    pub(super) content: Content,
}

/// A column that makes features.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedColumn {
    pub(super) learned: LearnedColumn,
    features: Range<usize>,
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
    /// one for each common level and one for all others.
    Value(usize),
    /// 1 if the cell is null.
    IsNull,
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

    /// The number of features.
    pub(super) fn n_features(&self) -> usize {
        self.content.as_kind().n_features() + usize::from(self.nulls > 0)
    }

    /// The features of the column at position `column`: those of its kind, then the flag for nulls if there were any.
    pub(super) fn features(&self, column: usize, n_rows: u64) -> Vec<Feature> {
        let scales = self.content.as_kind().scales(self.counts(n_rows));
        let values = scales.into_iter().enumerate().map(|(at, scale)| (Part::Value(at), scale));
        let flag = (self.nulls > 0).then(|| (Part::IsNull, Scale::of_flag(self.nulls, n_rows)));
        values.chain(flag).map(|(part, Scale { mean, std })| Feature { column, part, mean, std }).collect()
    }
}

impl EncodedColumn {
    pub(super) fn new(learned: LearnedColumn, first_feature: usize, n_rows: u64) -> Self {
        let features = first_feature..first_feature + learned.n_features();
        let normal = learned.content.as_kind().normal(learned.counts(n_rows));
        Self { learned, features, n_rows, normal }
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
        Reading { kind: self.kind(), notation: self.content().as_kind().notation() }
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

    /// Those of its features that come from values: all but the flag for nulls.
    pub(crate) fn value_features(&self) -> Range<usize> {
        self.features.start..self.features.end - usize::from(self.nulls() > 0)
    }

    /// What is normal in it.
    #[must_use]
    pub fn normal(&self) -> &NormalRange {
        &self.normal
    }
}
