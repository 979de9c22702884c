//! The methods and the sets that a bench command is about.

use std::path::Path;

use oddcell_bench::{
    LabError,
    ablate::Study,
    matrix::Entrant,
    methods::{self, Method, OURS, Vary},
    protocol::Protocol,
    sets::{self, Benchmark, Half, LabeledSet, SetInfo},
};

use crate::{
    args::{BenchAblateArgs, BenchChoiceArgs},
    failure::Failure,
    output, show,
    summary::note_line,
};

/// The name that stands for all sets or methods.
pub(super) const ALL: &str = "all";

/// The names of a list, without spaces around them and without empty names.
pub(super) fn names(list: &[String]) -> Vec<String> {
    list.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

pub(super) fn named_methods(args: &BenchChoiceArgs, default: &[&str]) -> Result<Vec<Method>, Failure> {
    let names = match names(&args.methods) {
        names if names.is_empty() => default.iter().map(|&name| name.to_owned()).collect(),
        names if names == [ALL] => methods::names(),
        names => names,
    };
    Ok(names.iter().map(|name| Method::named(name)).collect::<Result<_, _>>()?)
}

pub(super) fn varied(methods: &[Method], args: &BenchChoiceArgs) -> Result<Vec<Method>, Failure> {
    let vary = || -> Result<Vec<Method>, LabError> {
        let vary: Vec<Vary> = args.vary.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>()?;
        vary.iter().try_for_each(|vary| vary.check(methods))?;
        let variants = methods.iter().map(|method| method.variants(&vary));
        Ok(variants.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    };
    vary().map_err(|error| Failure::from(error).at("--vary"))
}

/// The methods that score cells, and always their baselines: `copod`, `ecod`, and the distance of a cell from its mean.
pub(super) fn cell_methods(args: &BenchChoiceArgs) -> Result<Vec<Method>, Failure> {
    let all: Vec<String> = methods::names();
    let scores_cells = |name: &&str| Method::named(name).is_ok_and(|method| method.knows_cells());
    let default: Vec<&str> = all.iter().map(String::as_str).filter(scores_cells).collect();
    let methods = if names(&args.methods) == [ALL] { Vec::new() } else { args.methods.clone() };
    let mut chosen = named_methods(&BenchChoiceArgs { methods, ..args.clone() }, &default)?;
    if let Some(method) = chosen.iter().find(|method| !method.knows_cells()) {
        let (name, known) = (&method.name, default.join(", "));
        return Err(Failure::bad_input(format!(
            "method `{name}` does not score cells; choose from: {known}"
        )));
    }
    for reference in methods::by_columns() {
        if chosen.iter().all(|method| method.name != reference) {
            chosen.push(Method::named(reference)?);
        }
    }
    let (ours, others): (Vec<Method>, Vec<Method>) =
        chosen.into_iter().partition(|method| method.detector() == Some(OURS));
    Ok(varied(&ours, args)?.into_iter().chain(others).chain([Method::abs_z()]).collect())
}

pub(super) fn ablated_methods(args: &BenchAblateArgs) -> Result<Vec<Method>, Failure> {
    let studies = match &args.study {
        None => Study::ALL.to_vec(),
        Some(name) => vec![name.parse()?],
    };
    let methods = named_methods(&args.run.choice, &["noise-paper-mlp", "noise-paper-resmlp"])?;
    let mut variants = Vec::new();
    for study in studies {
        for method in &methods {
            variants.extend(study.variants(method)?);
        }
    }
    varied(&variants, &args.run.choice)
}

/// Which sets to use.
pub(super) struct Wanted<'a> {
    pub(super) data: &'a Path,
    /// Names, or one name for many sets.
    pub(super) sets: Vec<String>,
    pub(super) max_rows: Option<usize>,
    pub(super) quiet: bool,
}

impl<'a> Wanted<'a> {
    pub(super) fn of(args: &'a BenchChoiceArgs) -> Self {
        let BenchChoiceArgs { data, sets, max_rows, quiet, .. } = args;
        Self { data, sets: names(sets), max_rows: *max_rows, quiet: *quiet }
    }
}

/// Returns the sets to use, and prints notes about those left out.
pub(super) fn chosen_sets(protocol: Protocol, wanted: &Wanted) -> Result<Vec<Entrant>, Failure> {
    super::bench_sets::check_folder(wanted.data)?;
    let Some(benchmark) = protocol.benchmark() else { return sets_in_folder(wanted) };
    let names = &wanted.sets;
    let known = || sets::registry().iter().filter(|info| info.benchmark == benchmark);
    let is_small = |rows: Option<usize>| match (rows, wanted.max_rows) {
        (Some(rows), Some(most)) => rows <= most,
        _ => true,
    };
    let (mut chosen, mut notes) = (Vec::new(), Vec::new());
    let mut missing: Vec<&str> = Vec::new();
    let half = match &**names {
        [name] => Half::named(name),
        _ => None,
    };
    if half.is_some() && known().all(|info| info.half.is_none()) {
        let half = &names[0];
        let message =
            format!("--sets: `{half}` is a half of the ADBench sets, but {protocol} uses other sets");
        return Err(Failure::bad_input(message).with_hint("name the sets, or use `all`"));
    }
    let is_many = *names == [ALL] || half.is_some();
    if is_many {
        let is_meant = |info: &&SetInfo| !info.substitute && (half.is_none() || info.half == half);
        for info in known().filter(is_meant).filter(|info| is_small(Some(info.rows))) {
            match sets::locate(wanted.data, info) {
                Some(path) => chosen.push(entrant(info, &path)),
                None => missing.push(&info.name),
            }
        }
    } else {
        for name in names {
            let info = sets::find(benchmark, name);
            if !is_small(info.map(|info| info.rows)) {
                notes.push(format!("left out because it has more rows than --max-rows: {name}"));
                continue;
            }
            match info.filter(|info| sets::locate(wanted.data, info).is_none()) {
                // The error about a single set names its file.
                Some(info) if names.len() > 1 => missing.push(&info.name),
                _ => chosen.push(named_set(benchmark, name, wanted.data)?),
            }
        }
    }
    if !missing.is_empty() {
        let names = show::name_list(missing.iter().copied());
        notes.push(format!("left out because {} does not have them: {names}", wanted.data.display()));
    }
    if chosen.is_empty() {
        let what = match (wanted.max_rows, missing.is_empty() || is_many) {
            (Some(most), true) => format!("no sets with at most {most} rows"),
            (None, true) => "no sets".to_owned(),
            (_, false) => format!("none of the sets {}", show::name_list(missing.iter().copied())),
        };
        return Err(Failure::bad_input(format!("found {what} in {}", wanted.data.display()))
            .with_hint("run `oddcell bench sets` to see where to get them"));
    }
    tell(&notes, wanted.quiet);
    Ok(chosen)
}

/// Returns the sets of a folder of `.npz` files: all, a half of `OvRBench`, or those named.
fn sets_in_folder(wanted: &Wanted) -> Result<Vec<Entrant>, Failure> {
    let (data, names) = (wanted.data, &wanted.sets);
    let all = sets::in_folder(data)?;
    let half = match &**names {
        [name] => Half::named(name),
        _ => None,
    };
    let is_many = *names == [ALL] || half.is_some();
    let is_meant = |name: &String| {
        if is_many { half.is_none() || sets::half_of(name) == half } else { names.contains(name) }
    };
    if let Some(name) = names.iter().find(|name| !is_many && !all.contains_key(*name)) {
        let known = show::name_list(all.keys().map(String::as_str));
        return Err(LabError::Unknown { what: "set", name: name.clone(), known }.into());
    }
    let (mut chosen, mut too_large) = (Vec::new(), Vec::new());
    for (name, path) in all.into_iter().filter(|(name, _)| is_meant(name)) {
        // Only the file says how many rows it has. A file that cannot be read is left out later, with the reason.
        let n_rows = || Some(LabeledSet::read(&name, &path, None).ok()?.rows.n_rows());
        if wanted.max_rows.is_some_and(|most| n_rows().is_some_and(|n_rows| n_rows > most)) {
            too_large.push(name);
        } else {
            chosen.push(Entrant { name, path, n_numeric: None });
        }
    }
    if chosen.is_empty() {
        let what = match half {
            Some(_) => format!("no sets of OvRBench's half `{}`", names[0]),
            None if too_large.is_empty() => "no .npz files".to_owned(),
            None => format!("no sets with at most {} rows", wanted.max_rows.unwrap_or_default()),
        };
        let message = format!("found {what} in {}", data.display());
        return Err(Failure::bad_input(message).with_hint("every .npz file in the folder is a set"));
    }
    if !too_large.is_empty() {
        let names = show::name_list(too_large.iter().map(String::as_str));
        tell(&[format!("left out because of more rows than --max-rows: {names}")], wanted.quiet);
    }
    Ok(chosen)
}

/// Finds a set of the registry, or another file in the folder.
fn named_set(benchmark: Benchmark, name: &str, data: &Path) -> Result<Entrant, Failure> {
    if let Some(info) = sets::find(benchmark, name) {
        let absent = || {
            let (file, folder, data) = (&info.file, info.benchmark.folder(), data.display());
            Failure::bad_input(format!("{name}: found no {file} in {data} or {data}/{folder}"))
                .with_hint("run `oddcell bench sets` to see where to get it")
        };
        return Ok(entrant(info, &sets::locate(data, info).ok_or_else(absent)?));
    }
    let mut own = ["npz", "csv", "parquet"].map(|ending| data.join(format!("{name}.{ending}"))).into_iter();
    let unknown = || {
        let known = sets::registry().iter().filter(|info| info.benchmark == benchmark);
        let known = known.map(|info| info.name.as_str()).collect::<Vec<_>>().join(", ");
        LabError::Unknown { what: "set", name: name.to_owned(), known }
    };
    let path = own.find(|path| path.is_file()).ok_or_else(unknown)?;
    Ok(Entrant { name: name.to_owned(), path, n_numeric: None })
}

fn entrant(info: &SetInfo, path: &Path) -> Entrant {
    Entrant { name: info.name.clone(), path: path.to_owned(), n_numeric: info.numeric }
}

pub(super) fn tell(notes: &[String], quiet: bool) {
    for note in notes.iter().filter(|_| !quiet) {
        output::eprint_line(&note_line(note));
    }
}
