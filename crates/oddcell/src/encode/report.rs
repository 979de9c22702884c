//! What a user should know about the columns: which are left out, which are constant, where levels are pooled.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{EncodedColumn, IdentifierSign, NormalRange};
use crate::count::counted;

/// A column of the training table that makes no features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The column's name.
    pub name: String,
    /// Why it was left out.
    pub reason: LeftOutReason,
}

impl LeftOut {
    /// Whether the column was left out because it looks like a row identifier.
    #[must_use]
    pub fn is_identifier(&self) -> bool {
        matches!(self.reason, LeftOutReason::Identifier(_))
    }
}

/// Why a column makes no features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LeftOutReason {
    /// It holds the labels.
    Label,
    /// The user asked to ignore it.
    Ignored,
    /// No training row has a value.
    AllNull,
    /// It looks like a row identifier.
    Identifier(IdentifierSign),
    /// A category column in which no level is common enough to be kept.
    NoCommonLevel {
        /// How many levels it has.
        levels: u64,
    },
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label => formatter.write_str("it holds the labels"),
            Self::Ignored => formatter.write_str("ignored on request"),
            Self::AllNull => formatter.write_str("it has no values"),
            Self::Identifier(sign) => {
                let sign = match sign {
                    IdentifierSign::Counter => "whole numbers with a constant step",
                    IdentifierSign::Named => "distinct whole numbers, named like one",
                    IdentifierSign::Names => "a different value in every row",
                };
                write!(formatter, "it looks like a row identifier ({sign})")
            }
            Self::NoCommonLevel { levels } => {
                let values = counted(*levels as usize, "value", "different values");
                write!(formatter, "it has {values}, none of them common")
            }
        }
    }
}

/// Something a user should know about a column. The text is a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "report", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Report {
    /// The column was left out without being asked.
    LeftOut {
        /// The column's name.
        column: String,
        /// Why it was left out.
        reason: LeftOutReason,
    },
    /// All training rows have the same value.
    Constant {
        /// The column's name.
        column: String,
        /// The value.
        value: String,
    },
    /// Rare levels share one feature.
    Pooled {
        /// The column's name.
        column: String,
        /// How many levels were pooled.
        levels: u64,
        /// How many were kept.
        kept: usize,
        /// How many training rows have a pooled one.
        rows: u64,
    },
}

impl Report {
    /// The report about a column that was left out.
    pub(super) fn of_left_out(left_out: &LeftOut) -> Option<Self> {
        match left_out.reason {
            LeftOutReason::Label | LeftOutReason::Ignored => None,
            reason @ (LeftOutReason::AllNull
            | LeftOutReason::Identifier(_)
            | LeftOutReason::NoCommonLevel { .. }) => {
                Some(Self::LeftOut { column: left_out.name.clone(), reason })
            }
        }
    }

    /// The report about a column that makes features.
    pub(super) fn of_column(column: &EncodedColumn) -> Option<Self> {
        let name = column.name();
        column.content().as_kind().report(name).or_else(|| {
            let value = match column.normal() {
                NormalRange::Range { text, constant: true, .. } => text,
                NormalRange::Levels { levels } if levels.len() == 1 => &levels[0].name,
                NormalRange::Range { .. } | NormalRange::Levels { .. } => return None,
            };
            // Nulls among equal values are a change, too.
            let constant = Self::Constant { column: name.to_owned(), value: value.clone() };
            (column.nulls() == 0).then_some(constant)
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut { column, reason } => write!(formatter, "column `{column}` is left out: {reason}"),
            Self::Constant { column, value } => {
                write!(formatter, "column `{column}` is constant: every row has {value}")
            }
            Self::Pooled { column, levels, kept, rows } => write!(
                formatter,
                "column `{column}`: {} pooled ({}), {kept} kept",
                counted(*levels as usize, "rare value", "rare values"),
                counted(*rows as usize, "row", "rows"),
            ),
        }
    }
}
