//! From flags and config file to the library's options. Defaults come from the library alone.

use std::{
    io,
    path::{Path, PathBuf},
};

use oddcell::{
    DetectorSpec, Seed, Table,
    error::with_causes,
    judge,
    model::FitOptions,
    table::{ReadOptions, Source, TableError, TableReader, Wanted},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    args::{ColumnArgs, LearnArgs, NetArg, ReadArgs, RunArgs},
    failure::Failure,
    output,
};

/// The detector if none is named.
const DETECTOR: &str = "noise";

/// A `--config` file: everything in it is optional, nothing else may be in it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    detector: Option<String>,
    preset: Option<String>,
    seed: Option<u64>,
    params: Map<String, Value>,
    encode: Map<String, Value>,
    fit: Map<String, Value>,
}

/// What to learn with, and the seed.
pub(crate) fn options(learn: &LearnArgs, columns: &ColumnArgs) -> Result<(FitOptions, Seed), Failure> {
    let config = learn.config.as_deref().map(read_config).transpose()?.unwrap_or_default();
    let name = learn.detector.as_deref().or(config.detector.as_deref()).unwrap_or(DETECTOR);
    let preset = match learn {
        LearnArgs { fast: true, .. } => Some("fast"),
        LearnArgs { best: true, .. } => Some("best"),
        _ => learn.preset.as_deref().or(config.preset.as_deref()),
    };
    let mut options = FitOptions::new(DetectorSpec::new(name, preset)?);
    let origin =
        learn.config.as_deref().map(|path| format!("config `{}`", path.display())).unwrap_or_default();
    for (section, values) in [("", config.params), ("encode.", config.encode), ("fit.", config.fit)] {
        for (key, value) in values {
            set(&mut options, &format!("{section}{key}"), value).map_err(|failure| failure.at(&origin))?;
        }
    }
    if let Some(net) = learn.net {
        let net = match net {
            NetArg::Mlp => "mlp",
            NetArg::Resmlp => "resmlp",
        };
        options.detector.set_text("net", net)?;
    }
    if let Some(rows) = learn.keep_rows {
        options
            .detector
            .set("keep_rows", rows.into())
            .map_err(|error| Failure::from(error).at("--keep-rows"))?;
    }
    for setting in &learn.set {
        let Some((key, text)) = setting.split_once('=') else {
            return Err(Failure::bad_input(format!("--set {setting}: expected KEY=VALUE"))
                .with_hint("e.g. --set sigma_max=1.5 --set 'train_for=200 epochs'"));
        };
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        set(&mut options, key, value).map_err(|failure| failure.at(format!("--set {setting}")))?;
    }
    // What an earlier run found is left out anyway.
    let ignored = columns.ignore.iter().filter(|name| !judge::COLUMNS.contains(&name.as_str()));
    options.encode.ignore.extend(ignored.cloned());
    options.encode.keep_identifiers |= columns.keep_identifiers;
    options.label.clone_from(&columns.label);
    // Wrong parameters are told before a large table is read.
    options.validate()?;
    options.detector.build()?;
    Ok((options, Seed(learn.seed.or(config.seed).unwrap_or(0))))
}

/// Sets one parameter of the detector, or with `encode.` or `fit.` before it one of what is around it.
fn set(options: &mut FitOptions, key: &str, value: Value) -> Result<(), Failure> {
    match key.split_once('.') {
        Some(("encode", key)) => set_field(&mut options.encode, "encode", key, value),
        Some(("fit", key)) => set_field(&mut options.split, "fit", key, value),
        _ => Ok(options.detector.set(key, value)?),
    }
}

fn read_config(path: &Path) -> Result<Config, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| {
        Failure::bad_input(format!("cannot read the config `{}`: {reason}", path.display()))
            .with_hint("it may hold detector, preset, seed, and the tables [params], [encode], [fit]")
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    toml::from_str(&text).map_err(|error| wrong(&error.to_string().trim_end()))
}

/// Replaces one field of a part of the options that is plain data.
fn set_field<T: Serialize + DeserializeOwned>(
    part: &mut T,
    prefix: &str,
    key: &str,
    value: Value,
) -> Result<(), Failure> {
    let wrong =
        |error: serde_json::Error| Failure::bad_input(format!("{prefix}.{key}: {}", with_causes(&error)));
    let mut all = serde_json::to_value(&*part).map_err(wrong)?;
    all[key] = value;
    *part = serde_json::from_value(all).map_err(wrong)?;
    Ok(())
}

/// Where the table comes from: a path, or `-`.
fn source(data: &Path) -> Source {
    if data == Path::new("-") { Source::Stdin } else { Source::Path(data.to_owned()) }
}

/// Opens it.
pub(crate) fn open(data: &Path, args: &ReadArgs, wanted: Wanted) -> Result<TableReader, TableError> {
    let options = ReadOptions {
        format: args.input_format,
        delimiter: args.delimiter,
        header: !args.no_header,
        wanted,
        ..ReadOptions::default()
    };
    TableReader::open(&source(data), &options)
}

/// A table to learn from.
pub(crate) struct Input {
    pub(crate) table: Table,
    /// What separates the fields of a CSV.
    pub(crate) delimiter: Option<u8>,
}

/// The whole table, with the kinds the user asked for.
pub(crate) fn read_table(
    data: &Path,
    read: &ReadArgs,
    columns: &ColumnArgs,
    options: &FitOptions,
) -> Result<Input, Failure> {
    let reader = open_to_learn(data, read, options)?;
    let delimiter = reader.delimiter();
    Ok(Input { table: with_kinds(Table::from_reader(reader)?, columns)?, delimiter })
}

/// Opens a table to learn from.
pub(crate) fn open_to_learn(
    data: &Path,
    read: &ReadArgs,
    options: &FitOptions,
) -> Result<TableReader, TableError> {
    let ignored = options.encode.ignore.iter().filter(|&name| options.label.as_ref() != Some(name));
    let not_read = ignored.cloned().chain(judge::COLUMNS.map(str::to_owned)).collect();
    open(data, read, Wanted::Except(not_read))
}

/// The table with the kinds the user asked for, and with labels that can be read.
pub(crate) fn with_kinds(table: Table, columns: &ColumnArgs) -> Result<Table, Failure> {
    let table = judge::ready_to_learn(table, &columns.categorical)?;
    if let Some(label) = &columns.label {
        table.rows().try_for_each(|rows| judge::read_labels(label, &rows).map(drop))?;
    }
    Ok(table)
}

/// A pool of the threads asked for.
pub(crate) fn pool(run: &RunArgs) -> Result<rayon::ThreadPool, Failure> {
    let threads = run.threads.map_or(0, usize::from); // 0: one per core
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Failure::failed(format!("cannot start the threads: {error}")))
}

/// Whether a file can be written at all is told before the work, not after it. Nothing is left behind, and results
/// must not overwrite what they are made from.
pub(crate) fn check_output(output: &Path, inputs: &[&PathBuf]) -> Result<(), Failure> {
    refuse_overwriting(output, inputs)?;
    match output.metadata() {
        Ok(found) if found.is_dir() => {
            return Err(Failure::bad_input(format!("cannot write `{}`: it is a folder", output.display()))
                .with_hint("give a name for the file in it"));
        }
        // A pipe or a device.
        Ok(found) if !found.is_file() => return Ok(()),
        _ => {}
    }
    let folder = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match tempfile::tempfile_in(folder) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => Err(Failure::bad_input(
            format!("cannot create `{}`: there is no folder `{}`", output.display(), folder.display()),
        )
        .with_hint("create the folder first")),
        Err(error) => Err(output::file_error("create", output, error)),
    }
}

fn refuse_overwriting(output: &Path, inputs: &[&PathBuf]) -> Result<(), Failure> {
    let same = |input: &&&PathBuf| match (output.canonicalize(), input.canonicalize()) {
        (Ok(output), Ok(input)) => output == input && input.is_file(),
        _ => false,
    };
    match inputs.iter().find(same) {
        None => Ok(()),
        Some(input) => Err(Failure::bad_input(format!(
            "`{}` is an input of this command; writing the result there would destroy it",
            input.display()
        ))
        .with_hint("give the result another name")),
    }
}
