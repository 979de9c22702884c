//! One column of the training table as the encoder remembers it, and the features it makes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Levels, NormalRange, STD_FLOOR, Spread, spread::DateStyle};
use crate::table::ColumnKind;

/// What is in the cells of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Content {
    /// Numbers.
    Number(Spread),
    /// Dates, as seconds.
    Date {
        /// Where they lie.
        spread: Spread,
        /// How they are written.
        style: DateStyle,
        /// Whether `1/2/2024` in text is the first of February.
        day_first: bool,
    },
    /// True or false.
    Boolean {
        /// Training rows that are true.
        true_rows: u64,
    },
    /// Names.
    Category(Levels),
}

/// What is stored of a column; everything else follows from it.
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
    pub(super) features: Range<usize>,
    normal: NormalRange,
    null_share: f64,
}

/// One number of an encoded row: which column it comes from, and its scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feature {
    /// The column, as a position in [`super::Encoder::columns`].
    pub column: usize,
    /// What of the column it is.
    pub part: Part,
    /// What is subtracted: the mean of the training rows.
    pub mean: f64,
    /// What it is then divided by: the standard deviation of the training rows, floored for 0/1 features.
    pub std: f64,
}

/// What of its column a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The number, the date in seconds, or the boolean as 0/1.
    Value,
    /// 1 if the cell has this level, by its position in [`Levels::kept`].
    Level(usize),
    /// 1 if the cell has a level that was pooled, or that training did not have.
    Other,
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

    /// A 0/1 feature that was 1 in `ones` of `of` training rows.
    fn indicator(column: usize, part: Part, ones: u64, of: u64) -> Self {
        let mean = ones as f64 / of as f64;
        Self { column, part, mean, std: (mean * (1.0 - mean)).sqrt().max(STD_FLOOR) }
    }
}

impl LearnedColumn {
    /// How many features the column makes.
    pub(super) fn n_features(&self) -> usize {
        let content = match &self.content {
            Content::Category(levels) => levels.kept().len() + 1,
            _ => 1,
        };
        content + usize::from(self.nulls > 0)
    }

    /// The features of the column at position `column`.
    pub(super) fn features(&self, column: usize, n_rows: u64) -> Vec<Feature> {
        let mut features = match &self.content {
            Content::Number(spread) | Content::Date { spread, .. } => {
                vec![Feature { column, part: Part::Value, mean: spread.mean, std: spread.std }]
            }
            // Nulls take the mean, so the mean is that of the rows that have a value.
            Content::Boolean { true_rows } => {
                vec![Feature::indicator(column, Part::Value, *true_rows, n_rows - self.nulls)]
            }
            // Nulls are 0 for every level, so they count.
            Content::Category(levels) => {
                let kept = levels.kept().iter().enumerate();
                let kept = kept.map(|(at, level)| (Part::Level(at), level.rows));
                let all = kept.chain([(Part::Other, levels.pooled_rows())]);
                all.map(|(part, rows)| Feature::indicator(column, part, rows, n_rows)).collect()
            }
        };
        if self.nulls > 0 {
            features.push(Feature::indicator(column, Part::IsNull, self.nulls, n_rows));
        }
        features
    }
}

impl EncodedColumn {
    pub(super) fn new(learned: LearnedColumn, first_feature: usize, n_rows: u64) -> Self {
        let features = first_feature..first_feature + learned.n_features();
        let normal = NormalRange::of(&learned.content, learned.nulls, n_rows);
        let null_share = learned.nulls as f64 / n_rows as f64;
        Self { learned, features, normal, null_share }
    }

    /// The name in the header.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.learned.name
    }

    /// What its cells mean.
    #[must_use]
    pub fn kind(&self) -> ColumnKind {
        match self.learned.content {
            Content::Number(_) => ColumnKind::Number,
            Content::Date { day_first: false, .. } => ColumnKind::Date,
            Content::Date { day_first: true, .. } => ColumnKind::DayFirstDate,
            Content::Boolean { .. } => ColumnKind::Boolean,
            Content::Category(_) => ColumnKind::Category,
        }
    }

    /// What the training rows had in it.
    #[must_use]
    pub fn content(&self) -> &Content {
        &self.learned.content
    }

    /// Training rows that were null.
    #[must_use]
    pub fn nulls(&self) -> u64 {
        self.learned.nulls
    }

    /// The share of the training rows that were null, 0 to 1.
    #[must_use]
    pub fn null_share(&self) -> f64 {
        self.null_share
    }

    /// Its features, as positions in [`super::Encoder::features`].
    #[must_use]
    pub fn features(&self) -> Range<usize> {
        self.features.clone()
    }

    /// What is normal in it.
    #[must_use]
    pub fn normal(&self) -> &NormalRange {
        &self.normal
    }
}
