//! Turns flags and the config file into the library's options. All defaults come from the library.

use std::{
    io,
    path::{Path, PathBuf},
};

use oddcell::{
    DetectorSpec, Seed, Table,
    detect::DETECTORS,
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

/// A `--config` file. Every field is optional; unknown fields are errors.
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

/// The fit options and the seed.
pub(crate) fn options(learn: &LearnArgs, columns: &ColumnArgs) -> Result<(FitOptions, Seed), Failure> {
    let config = learn.config.as_deref().map(read_config).transpose()?.unwrap_or_default();
    let name = learn.detector.as_deref().or(config.detector.as_deref()).unwrap_or(DETECTORS[0].name);
    let shortcut = learn.fast.then_some("fast").or(learn.best.then_some("best"));
    let preset = shortcut.or(learn.preset.as_deref()).or(config.preset.as_deref());
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
    // The findings of an earlier run are left out anyway.
    let ignored = columns.ignore.iter().filter(|name| !judge::COLUMNS.contains(&name.as_str()));
    options.encode.ignore.extend(ignored.cloned());
    options.encode.keep_identifiers |= columns.keep_identifiers;
    options.label.clone_from(&columns.label);
    // Report wrong parameters before reading a large table.
    options.validate()?;
    options.detector.build()?;
    Ok((options, Seed(learn.seed.or(config.seed).unwrap_or(0))))
}

/// Sets one parameter of the detector or, with the prefix `encode.` or `fit.`, of encoding or fitting.
fn set(options: &mut FitOptions, key: &str, value: Value) -> Result<(), Failure> {
    match key.split_once('.') {
        Some(("encode", key)) => set_field(&mut options.encode, "encode", key, value),
        Some(("fit", key)) => set_field(&mut options.split, "fit", key, value),
        _ => Ok(options.detector.set(key, value)?),
    }
}

fn read_config(path: &Path) -> Result<Config, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| {
        Failure::bad_input(format!("cannot read the config `{}`: {reason}", path.display())).with_hint(
            "the config may contain detector, preset, seed, and the tables [params], [encode], [fit]",
        )
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    toml::from_str(&text).map_err(|error| wrong(&error.to_string().trim_end()))
}

/// Replaces one field of `part`, through its JSON form.
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

/// The table's source: a path, or `-` for standard input.
fn source(data: &Path) -> Source {
    if data == Path::new("-") { Source::Stdin } else { Source::Path(data.to_owned()) }
}

/// Opens a table.
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
    /// The field separator of a CSV.
    pub(crate) delimiter: Option<u8>,
}

/// Reads the whole table, with the kinds the user asked for.
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

/// The table with the kinds the user asked for; checks that the labels can be read.
pub(crate) fn with_kinds(table: Table, columns: &ColumnArgs) -> Result<Table, Failure> {
    let table = judge::ready_to_learn(table, &columns.categorical)?;
    if let Some(label) = &columns.label {
        table.rows().try_for_each(|rows| judge::read_labels(label, &rows).map(drop))?;
    }
    Ok(table)
}

/// A pool with the requested number of threads.
pub(crate) fn pool(run: &RunArgs) -> Result<rayon::ThreadPool, Failure> {
    let threads = run.threads.map_or(0, usize::from); // 0: one per core
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Failure::failed(format!("cannot start the threads: {error}")))
}

/// Checks before the work that `output` can be written and is not one of the `inputs`. Leaves nothing behind.
pub(crate) fn check_output(output: &Path, inputs: &[&PathBuf]) -> Result<(), Failure> {
    refuse_overwriting(output, inputs)?;
    match output.metadata() {
        Ok(found) if found.is_dir() => {
            return Err(Failure::bad_input(format!("cannot write `{}`: it is a folder", output.display()))
                .with_hint("name a file in that folder"));
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
            "`{}` is an input of this command; writing the result there would overwrite it",
            input.display()
        ))
        .with_hint("give the result another name")),
    }
}
