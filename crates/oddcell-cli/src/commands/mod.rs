//! One file per command.

pub(crate) mod demo;
pub(crate) mod detect;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod inspect;
pub(crate) mod score;

use oddcell::{
    Error,
    encode::Encoder,
    table::{ColumnInfo, Table},
    verdict::Rule,
};

use crate::{args::RuleArgs, failure::Failure};

/// The rule asked for, or `default`.
fn rule(args: &RuleArgs, default: Rule) -> Result<Rule, Failure> {
    let chosen = None
        .or_else(|| args.alpha.map(Rule::alpha))
        .or_else(|| args.fdr.map(Rule::fdr))
        .or_else(|| args.budget.map(Rule::budget))
        .or_else(|| args.contamination.map(Rule::contamination));
    Ok(chosen.transpose().map_err(Error::from)?.unwrap_or(default))
}

/// The kinds of the columns a model knows; the others are given back as they came.
fn kinds(encoder: &Encoder) -> Vec<ColumnInfo> {
    let info = |column: &oddcell::encode::EncodedColumn| ColumnInfo {
        name: column.name().to_owned(),
        kind: column.kind(),
    };
    encoder.columns().iter().map(info).collect()
}

/// What is worth telling about a table that was learned from.
fn learning_notes(table: &Table, encoder: &Encoder) -> Vec<String> {
    let table = table.notes.iter().map(ToString::to_string);
    table.chain(encoder.reports().iter().map(ToString::to_string)).collect()
}
