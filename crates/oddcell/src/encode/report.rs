//! What a user should know about the columns: which are left out, which are constant, where levels are pooled.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{EncodedColumn, IdentifierSign};
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
    /// Whether the column was left out because it looks like a row identifier, and not on request.
    #[must_use]
    pub fn is_identifier(&self) -> bool {
        matches!(self.reason, LeftOutReason::Identifier(sign) if sign != IdentifierSign::Told)
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
}

impl LeftOutReason {
    /// The reason in a word or two: `label`, `row identifier`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Ignored => "ignored",
            Self::AllNull => "no values",
            Self::Identifier(_) => "row identifier",
        }
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label => formatter.write_str("it holds the labels"),
            Self::Ignored => formatter.write_str("ignored on request"),
            Self::AllNull => formatter.write_str("it has no values"),
            Self::Identifier(sign) => formatter.write_str(match sign {
                IdentifierSign::Counter => {
                    "it looks like a row identifier (whole numbers with a constant step)"
                }
                IdentifierSign::Rising => {
                    "it looks like a row identifier (whole numbers that rise from row to row)"
                }
                IdentifierSign::Named => {
                    "it looks like a row identifier (distinct whole numbers, named like one)"
                }
                IdentifierSign::Names => "it looks like a row identifier (a different value in every row)",
                IdentifierSign::Told => "a row identifier on request",
            }),
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
    /// The column follows from others, and only rows that break this are odd for it.
    Copied {
        /// The column's name.
        column: String,
        /// How it follows from the others: `` `price` + `shipping` ``.
        formula: String,
        /// Training rows that break it.
        broken: u64,
    },
}

impl Report {
    /// The report about a column that was left out.
    pub(super) fn of_left_out(left_out: &LeftOut) -> Option<Self> {
        match left_out.reason {
            LeftOutReason::Label
            | LeftOutReason::Ignored
            | LeftOutReason::Identifier(IdentifierSign::Told) => None,
            reason @ (LeftOutReason::AllNull | LeftOutReason::Identifier(_)) => {
                Some(Self::LeftOut { column: left_out.name.clone(), reason })
            }
        }
    }

    /// The report about a column that makes features.
    pub(super) fn of_column(column: &EncodedColumn) -> Option<Self> {
        let name = column.name();
        let constant = || {
            let value = column.constant()?.to_owned();
            Some(Self::Constant { column: name.to_owned(), value })
        };
        column.content().as_kind().report(name).or_else(constant)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut { column, reason } => write!(formatter, "column `{column}` is left out: {reason}"),
            Self::Constant { column, value } => {
                write!(formatter, "column `{column}` is constant: every row has {value}")
            }
            Self::Copied { column, formula, broken } => {
                write!(formatter, "column `{column}` is {formula}, and only asked whether that holds")?;
                match broken {
                    0 => Ok(()),
                    n => write!(formatter, "; it does not in {}", counted(*n as usize, "row", "rows")),
                }
            }
        }
    }
}
