//! Turns flags and the config file into the library's options. All defaults come from the library.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use oddcell::{
    DetectorSpec, Seed, Table,
    encode::EncodeOptions,
    error::with_causes,
    judge,
    model::FitOptions,
    model_file::folder_of,
    table::{ColumnKind, ReadOptions, Source, TableError, TableReader, UnknownKind, Wanted},
    verdict::Rule,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Number, Value};

use crate::{
    args::{CellColumnArgs, ColumnArgs, LearnArgs, ReadArgs, RunArgs},
    failure::Failure,
    output,
};

/// The rules that a config file may have.
pub(crate) const RULES: [&str; 4] = ["alpha", "fdr", "top", "contamination"];

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
    kinds: BTreeMap<String, String>,
    categorical: Vec<String>,
    rule: BTreeMap<String, Number>,
}

/// The kinds that the user chose for columns.
pub(crate) type Kinds = Vec<(String, ColumnKind)>;

/// The fit options, the seed, and the kinds that the user chose.
pub(crate) fn options(
    learn: &LearnArgs,
    columns: &ColumnArgs,
    read: &ReadArgs,
) -> Result<(FitOptions, Seed, Kinds), Failure> {
    let config = learn.config.as_deref().map(read_config).transpose()?.unwrap_or_default();
    let name = learn.detector.as_deref().or(config.detector.as_deref());
    let shortcut = learn.fast.then_some("fast").or(learn.best.then_some("best"));
    let preset = shortcut.or(learn.preset.as_deref()).or(config.preset.as_deref());
    let detector = match (name, preset) {
        (None, None) => DetectorSpec::by_table(),
        (None, Some(preset)) => DetectorSpec::preset(preset)?,
        (Some(name), _) => DetectorSpec::new(name, preset)?,
    };
    let mut options = FitOptions::new(detector);
    let origin = config_name(learn.config.as_deref());
    for (section, values) in [("", config.params), ("encode.", config.encode), ("fit.", config.fit)] {
        for (key, value) in values {
            set(&mut options, &format!("{section}{key}"), value).map_err(|failure| failure.at(&origin))?;
        }
    }
    if let Some(net) = &learn.net {
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
    let kinds =
        choose_columns(&mut options.encode, columns, read, (config.categorical, config.kinds), &origin)?;
    options.label.clone_from(&columns.label);
    // Report wrong parameters before reading a large table.
    options.validate()?;
    options.detector.build()?;
    Ok((options, Seed(learn.seed.or(config.seed).unwrap_or(0)), kinds))
}

/// The options to judge every cell of a table, the seed, and the kinds that the user chose.
pub(crate) fn cell_options(
    args: &CellColumnArgs,
    read: &ReadArgs,
) -> Result<(FitOptions, Seed, ColumnArgs, Kinds), Failure> {
    let mut options = FitOptions::for_cells();
    let columns = ColumnArgs {
        label: None,
        ignore: args.ignore.clone(),
        categorical: args.categorical.clone(),
        kinds: args.kinds.clone(),
        group_by: args.group_by.clone(),
        keep_identifiers: true,
    };
    let kinds = choose_columns(&mut options.encode, &columns, read, (Vec::new(), BTreeMap::new()), "")?;
    Ok((options, Seed(args.seed.unwrap_or(0)), columns, kinds))
}

/// How columns are read for `inspect`, which does not learn.
pub(crate) fn column_options(
    config: Option<&Path>,
    columns: &ColumnArgs,
    read: &ReadArgs,
) -> Result<(EncodeOptions, Kinds), Failure> {
    let origin = config_name(config);
    let config = config.map(read_config).transpose()?.unwrap_or_default();
    let mut encode = EncodeOptions::default();
    for (key, value) in config.encode {
        set_field(&mut encode, "encode", &key, value).map_err(|failure| failure.at(&origin))?;
    }
    let kinds = choose_columns(&mut encode, columns, read, (config.categorical, config.kinds), &origin)?;
    Ok((encode, kinds))
}

/// Sets which columns are left out, and returns the kinds chosen for the others. `origin` names the config file with `chosen`.
fn choose_columns(
    encode: &mut EncodeOptions,
    columns: &ColumnArgs,
    read: &ReadArgs,
    (categorical, chosen): (Vec<String>, BTreeMap<String, String>),
    origin: &str,
) -> Result<Kinds, Failure> {
    let mut kinds: Kinds = categorical.into_iter().map(|column| (column, ColumnKind::Category)).collect();
    let chosen = chosen.into_iter().map(|(column, kind)| (format!("{origin}, kinds"), column, kind));
    let flags = columns.kinds.iter().map(|setting| -> Result<_, Failure> {
        let pair = setting.rsplit_once('=').map(|(column, kind)| (column.to_owned(), kind.to_owned()));
        let (column, kind) = pair.ok_or_else(|| {
            Failure::bad_input(format!("--kind {setting}: expected COL=KIND"))
                .with_hint("e.g. --kind zip=category")
        })?;
        Ok((format!("--kind {setting}"), column, kind))
    });
    for choice in chosen.map(Ok).chain(flags) {
        let (place, column, kind) = choice?;
        match kind.as_str() {
            "ignore" => encode.ignore.push(column),
            "id" => encode.identifiers.push(column),
            name => {
                let kind = name
                    .parse()
                    .map_err(|error: UnknownKind| Failure::bad_input(format!("{place}: {error}")));
                kinds.push((
                    column,
                    kind.map_err(|failure| failure.with_hint("`id` and `ignore` leave the column out"))?,
                ));
            }
        }
    }
    // The findings of an earlier run are left out anyway.
    let ignored = columns.ignore.iter().filter(|name| !judge::COLUMNS.contains(&name.as_str()));
    encode.ignore.extend(ignored.cloned());
    encode.group_by.extend(columns.group_by.iter().cloned());
    encode.keep_identifiers |= columns.keep_identifiers;
    encode.strict |= read.strict;
    Ok(kinds)
}

/// A config file, as messages name it.
fn config_name(path: Option<&Path>) -> String {
    path.map(|path| format!("config `{}`", path.display())).unwrap_or_default()
}

/// The rule of the config file, if it has one. It is a table with one of the flags `alpha`, `fdr`, `top`, `contamination`.
pub(crate) fn configured_rule(learn: &LearnArgs) -> Result<Option<Rule>, Failure> {
    let Some(path) = &learn.config else { return Ok(None) };
    let place = format!("config `{}`, rule", path.display());
    let chosen: Vec<(String, Number)> = read_config(path)?.rule.into_iter().collect();
    let (name, value) = match chosen.as_slice() {
        [] => return Ok(None),
        [only] => only,
        _ => {
            let message = format!("{place}: alpha, fdr, top and contamination exclude each other; give one");
            return Err(Failure::bad_input(message));
        }
    };
    let share = value.as_f64().unwrap_or(f64::NAN);
    let rule = match name.as_str() {
        "alpha" => Rule::alpha(share),
        "fdr" => Rule::fdr(share),
        "contamination" => Rule::contamination(share),
        "top" => match value.as_u64() {
            Some(rows) => Rule::top(rows as usize),
            None => {
                return Err(Failure::bad_input(format!(
                    "{place}: top is {value}, but a whole number was expected"
                )));
            }
        },
        other => {
            let message = format!("{place}: there is no rule `{other}`; known: {}", RULES.join(", "));
            return Err(Failure::bad_input(message));
        }
    };
    rule.map(Some).map_err(|error| Failure::from(error).at(place))
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
            "the config may contain detector, preset, seed, categorical, and the tables [params], [encode], [fit], [kinds], [rule]",
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

/// Reads the whole table, with the kinds the user asked for.
pub(crate) fn read_table(
    data: &Path,
    read: &ReadArgs,
    columns: &ColumnArgs,
    kinds: &Kinds,
    encode: &EncodeOptions,
) -> Result<(Table, Option<u8>), Failure> {
    let reader = open_to_learn(data, read, columns, encode)?;
    let delimiter = reader.delimiter();
    Ok((with_kinds(Table::from_reader(reader)?, columns, kinds)?, delimiter))
}

/// Opens a table to learn from.
pub(crate) fn open_to_learn(
    data: &Path,
    read: &ReadArgs,
    columns: &ColumnArgs,
    encode: &EncodeOptions,
) -> Result<TableReader, TableError> {
    let left_out = encode.ignore.iter().chain(&encode.identifiers);
    let ignored = left_out.filter(|&name| columns.label.as_ref() != Some(name));
    let not_read = ignored.cloned().chain(judge::COLUMNS.map(str::to_owned)).collect();
    open(data, read, Wanted::Except(not_read))
}

/// The table with the kinds the user asked for; checks that the labels can be read.
pub(crate) fn with_kinds(table: Table, columns: &ColumnArgs, kinds: &Kinds) -> Result<Table, Failure> {
    let mut table = judge::ready_to_learn(table, &columns.categorical)?;
    kinds.iter().try_for_each(|(column, kind)| table.set_kind(column, *kind))?;
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
    let folder = folder_of(output);
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
