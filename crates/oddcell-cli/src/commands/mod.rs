//! One file per command.

pub(crate) mod bench;
mod bench_choice;
mod bench_errors;
pub(crate) mod bench_sets;
mod bench_spoil;
mod bench_standings;
pub(crate) mod cells;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod detect;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod inspect;
mod inspect_model;
pub(crate) mod man;
pub(crate) mod repair;
pub(crate) mod schema;
pub(crate) mod score;

use std::path::Path;

use oddcell::{
    Error, Model,
    encode::{EncodedColumn, Encoder},
    judge::{self, Judge},
    table::{ColumnInfo, TableReader, Wanted},
    verdict::Rule,
};

use crate::{
    args::{ReadArgs, RuleArgs},
    failure::Failure,
    learning, show,
};

/// The requested rule, or `default`.
fn rule(args: &RuleArgs, default: Rule) -> Result<Rule, Failure> {
    let chosen = None
        .or_else(|| args.alpha.map(Rule::alpha))
        .or_else(|| args.fdr.map(Rule::fdr))
        .or_else(|| args.top.map(Rule::top))
        .or_else(|| args.contamination.map(Rule::contamination));
    Ok(chosen.transpose().map_err(Error::from)?.unwrap_or(default))
}

/// The kinds of the columns a model knows; other columns are written as they came.
fn kinds(encoder: &Encoder) -> Vec<ColumnInfo> {
    let info = |column: &EncodedColumn| ColumnInfo {
        notation: column.reading().notation,
        ..ColumnInfo::new(column.name(), column.kind())
    };
    encoder.columns().iter().map(info).collect()
}

/// The columns that a model needs, and the label.
fn wanted(encoder: &Encoder, label: Option<&str>) -> Wanted {
    let names = encoder.columns().iter().map(EncodedColumn::name).chain(label);
    Wanted::Only(names.map(str::to_owned).collect())
}

/// Loads a model that is as strict as it was fitted, or as the flags ask.
pub(crate) fn load(path: &Path, read: &ReadArgs, pool: &rayon::ThreadPool) -> Result<Model, Error> {
    let model = pool.install(|| Model::load(path))?;
    let strict = read.strict || model.encode_options().strict;
    Ok(model.strict(strict))
}

/// Opens the rows that a model will judge; also returns notes about their columns.
pub(crate) fn open(
    model: &Model,
    data: &Path,
    read: &ReadArgs,
    label: Option<&str>,
) -> Result<(TableReader, Vec<String>), Failure> {
    let reader = learning::open(data, read, wanted(model.encoder(), label))?;
    let mut found = judge::earlier_findings(reader.schema());
    found.retain(|name| label != Some(name));
    let mut extra = model.encoder().extra_columns(reader.schema());
    extra.retain(|name| label != Some(name) && !found.contains(name));
    let names = show::name_list(extra.iter().map(String::as_str));
    let ignored =
        (!extra.is_empty()).then(|| format!("ignored columns that the model does not know: {names}"));
    let earlier = (!found.is_empty()).then(|| judge::left_out_note(&found));
    Ok((reader, earlier.into_iter().chain(ignored).collect()))
}
