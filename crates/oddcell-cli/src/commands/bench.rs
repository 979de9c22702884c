//! `oddcell bench`: methods on benchmark sets.

use std::{path::Path, time::Duration};

use oddcell::Seed;
use oddcell_bench::{
    LabError,
    ablate::Study,
    board::{Board, Cell, Figure},
    calibration::calibrated,
    maps,
    matrix::{Entrant, Limits, Matrix, Tally},
    methods::{self, BY_COLUMNS, Method, OURS, Vary},
    protocol::{self, Protocol, Split},
    report,
    sets::{self, Half, LabelledSet, SetInfo},
    store::{self, Row, Status, Store},
    tables::Table,
    timing::{self, TimingError, Workload, has_epochs},
};

use crate::{
    args::{
        BenchAblateArgs, BenchCalibrationArgs, BenchChoiceArgs, BenchCommand, BenchReportArgs, BenchRunArgs,
        BenchTimeArgs, Gigabytes,
    },
    failure::Failure,
    learning, memory, output,
    progress::Runs,
    show,
    summary::{counted, note_line},
};

/// What stands for all sets or methods, if it stands alone.
const ALL: &str = "all";

pub(crate) fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Sets(args) => super::bench_sets::run(args),
        BenchCommand::Uad(args) => run_rows(Protocol::Uad, args),
        BenchCommand::Occ(args) => run_rows(Protocol::Occ, args),
        BenchCommand::Dte(args) => run_rows(Protocol::Dte, args),
        BenchCommand::Contaminated(args) => run_rows(Protocol::Contaminated, args),
        BenchCommand::Cells(args) => {
            let methods = cell_methods(&args.choice)?;
            run_matrices(&[Protocol::CellsNoise, Protocol::CellsSwap], &methods, args)
        }
        BenchCommand::Ablate(args) => {
            let methods = ablated_methods(args)?;
            run_matrices(&[Protocol::Occ], &methods, &args.run)
        }
        BenchCommand::Map(args) => draw_maps(args),
        BenchCommand::Calibration(args) => hold_to_promises(args),
        BenchCommand::Time(args) => measure_time(args),
        BenchCommand::Report(args) => report_again(args),
    }
}

fn run_rows(protocol: Protocol, args: &BenchRunArgs) -> Result<(), Failure> {
    let mut methods = varied(&named_methods(&args.choice, &[OURS])?, &args.choice)?;
    if protocol == Protocol::Contaminated {
        methods = methods.iter().map(Method::for_one_table).collect::<Result<_, _>>()?;
    }
    run_matrices(&[protocol], &methods, args)
}

fn run_matrices(protocols: &[Protocol], methods: &[Method], args: &BenchRunArgs) -> Result<(), Failure> {
    let choice = &args.choice;
    let sets = chosen_sets(protocols[0], &Wanted::of(choice))?;
    let (cores, threads) =
        (std::thread::available_parallelism().map_or(1, usize::from), usize::from(args.threads));
    let limits = Limits {
        jobs: args.jobs.map_or((cores / threads).max(1), usize::from),
        threads,
        memory: args.memory.map_or_else(memory::free, |Gigabytes(bytes)| bytes),
        time: args.time_limit.map(Duration::from_secs),
    };
    let mut store = Store::open(&choice.out, args.again)?;
    let mut tally = Tally::default();
    for &protocol in protocols {
        let (sets, methods, seeds) = (sets.clone(), methods.to_vec(), (0..args.seeds).collect());
        let progress = Runs::new(choice.quiet);
        let matrix = Matrix { protocol, sets, methods, seeds, one_hot: args.one_hot };
        tally += matrix.run(&mut store, limits, &progress)?;
    }
    let rows = store.rows()?;
    let n_files = report::write(&rows, &choice.out)?.len();
    if !choice.quiet {
        for &protocol in protocols {
            output::print(&format!("{protocol}\n{}", standings(&rows, protocol)))?;
        }
        let folder = choice.out.display();
        // All but the page.
        let files = counted(n_files - 1, "table or picture", "tables and pictures");
        output::eprint_line(&format!("results, {files}, and {} written to {folder}", report::PAGE));
    }
    conclude(tally, choice)
}

/// Says what did not end well: in notes, and as a failure if all that was run failed. A time-out is a result, too.
fn conclude(tally: Tally, choice: &BenchChoiceArgs) -> Result<(), Failure> {
    if tally.failed_before > 0 {
        let runs = counted(tally.failed_before, "run", "runs");
        let note =
            format!("{runs} timed out or failed before, and none of these is run again without --again");
        tell(&[note], choice.quiet);
    }
    if tally.timed_out > 0 {
        let runs = counted(tally.timed_out, "run was", "runs were");
        tell(&[format!("{runs} not done in time")], choice.quiet);
    }
    if tally.made > 0 && tally.failed == tally.made {
        let runs = counted(tally.made, "run", "runs");
        let file = choice.out.join(store::FILE_NAME);
        return Err(Failure::failed(format!("{runs} made, and all failed"))
            .with_hint(format!("the column `message` of {} says why", file.display())));
    }
    Ok(())
}

/// The names of a list; spaces around them and a comma at the end do not count.
pub(super) fn names(list: &[String]) -> Vec<String> {
    list.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

fn named_methods(args: &BenchChoiceArgs, default: &[&str]) -> Result<Vec<Method>, Failure> {
    let names = match names(&args.methods) {
        names if names.is_empty() => default.iter().map(|&name| name.to_owned()).collect(),
        names if names == [ALL] => methods::names(),
        names => names,
    };
    Ok(names.iter().map(|name| Method::named(name)).collect::<Result<_, _>>()?)
}

fn varied(methods: &[Method], args: &BenchChoiceArgs) -> Result<Vec<Method>, Failure> {
    let vary = || -> Result<Vec<Method>, LabError> {
        let vary: Vec<Vary> = args.vary.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>()?;
        vary.iter().try_for_each(|vary| vary.check(methods))?;
        let variants = methods.iter().map(|method| method.variants(&vary));
        Ok(variants.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    };
    vary().map_err(|error| Failure::from(error).at("--vary"))
}

/// Those that know cells, and always what they are compared with: `copod`, `ecod`, and how far a cell is off by itself.
fn cell_methods(args: &BenchChoiceArgs) -> Result<Vec<Method>, Failure> {
    let all: Vec<String> = methods::names();
    let knowing = |name: &&str| Method::named(name).is_ok_and(|method| method.knows_cells());
    let default: Vec<&str> = all.iter().map(String::as_str).filter(knowing).collect();
    let methods = if names(&args.methods) == [ALL] { Vec::new() } else { args.methods.clone() };
    let mut chosen = named_methods(&BenchChoiceArgs { methods, ..args.clone() }, &default)?;
    if let Some(method) = chosen.iter().find(|method| !method.knows_cells()) {
        let (name, known) = (&method.name, default.join(", "));
        return Err(Failure::bad_input(format!("method `{name}` knows no cells; these do: {known}")));
    }
    for reference in BY_COLUMNS {
        if chosen.iter().all(|method| method.name != reference) {
            chosen.push(Method::named(reference)?);
        }
    }
    let (ours, others): (Vec<Method>, Vec<Method>) =
        chosen.into_iter().partition(|method| method.detector() == Some(OURS));
    Ok(varied(&ours, args)?.into_iter().chain(others).chain([Method::abs_z()]).collect())
}

fn ablated_methods(args: &BenchAblateArgs) -> Result<Vec<Method>, Failure> {
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

/// The sets that are wanted.
struct Wanted<'a> {
    data: &'a Path,
    /// Names, or one word for many.
    sets: Vec<String>,
    max_rows: Option<usize>,
    quiet: bool,
}

impl<'a> Wanted<'a> {
    fn of(args: &'a BenchChoiceArgs) -> Self {
        let BenchChoiceArgs { data, sets, max_rows, quiet, .. } = args;
        Self { data, sets: names(sets), max_rows: *max_rows, quiet: *quiet }
    }
}

/// The sets that take part; tells about the others.
fn chosen_sets(protocol: Protocol, wanted: &Wanted) -> Result<Vec<Entrant>, Failure> {
    super::bench_sets::check_folder(wanted.data)?;
    let (benchmark, names) = (protocol.benchmark(), &wanted.sets);
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
        let message = format!("--sets: `{half}` is a half of the ADBench sets, and {protocol} has others");
        return Err(Failure::bad_input(message).with_hint("name the sets, or take `all`"));
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
                notes.push(format!("{name} has more rows than --max-rows and is left out"));
                continue;
            }
            match info.filter(|info| sets::locate(wanted.data, info).is_none()) {
                // One set that was asked for alone is told with the name of its file.
                Some(info) if names.len() > 1 => missing.push(&info.name),
                _ => chosen.push(named_set(protocol, name, wanted.data)?),
            }
        }
    }
    if !missing.is_empty() {
        let names = show::name_list(missing.iter().copied());
        notes.push(format!("not in {} and left out: {names}", wanted.data.display()));
    }
    if chosen.is_empty() {
        let what = match (wanted.max_rows, missing.is_empty() || is_many) {
            (Some(most), true) => format!("there is no set with at most {most} rows"),
            (None, true) => "there is no set".to_owned(),
            (_, false) => format!("none of the sets {} is", show::name_list(missing.iter().copied())),
        };
        return Err(Failure::bad_input(format!("{what} in {}", wanted.data.display()))
            .with_hint("`oddcell bench sets` tells where to get them"));
    }
    tell(&notes, wanted.quiet);
    Ok(chosen)
}

/// A set of the registry, or any other file of the folder.
fn named_set(protocol: Protocol, name: &str, data: &Path) -> Result<Entrant, Failure> {
    if let Some(info) = sets::find(protocol.benchmark(), name) {
        let absent = || {
            let (file, folder, data) = (&info.file, info.benchmark.folder(), data.display());
            Failure::bad_input(format!("{name}: there is no {file} in {data} or {data}/{folder}"))
                .with_hint("`oddcell bench sets` tells where to get it")
        };
        return Ok(entrant(info, &sets::locate(data, info).ok_or_else(absent)?));
    }
    let mut own = ["npz", "csv", "parquet"].map(|ending| data.join(format!("{name}.{ending}"))).into_iter();
    let unknown = || {
        let known = sets::registry().iter().filter(|info| info.benchmark == protocol.benchmark());
        let known = known.map(|info| info.name.as_str()).collect::<Vec<_>>().join(", ");
        LabError::Unknown { what: "set", name: name.to_owned(), known }
    };
    let path = own.find(|path| path.is_file()).ok_or_else(unknown)?;
    Ok(Entrant { name: name.to_owned(), path, n_numeric: None })
}

fn entrant(info: &SetInfo, path: &Path) -> Entrant {
    Entrant { name: info.name.clone(), path: path.to_owned(), n_numeric: info.numeric }
}

/// One line per method: the best first, if all have the same sets.
fn standings(rows: &[Row], protocol: Protocol) -> String {
    let board = |figure| Board::new(rows, protocol, figure);
    let auc = board(Figure::Auc);
    let others = match protocol.spoil() {
        None => vec![("AP", board(Figure::Ap)), ("F1", board(Figure::F1))],
        Some(_) => vec![("top-1", board(Figure::Top1))],
    };
    let mean = |board: &Board, method| board.mean_over_sets(method);
    let n_sets = |method| mean(&auc, method).map_or(0, |mean| mean.1);
    let mut order: Vec<usize> = (0..auc.methods.len()).collect();
    let all_or_none =
        |cells: &Vec<Option<Cell>>| cells.iter().all(|cell| cell.is_some() == cells[0].is_some());
    let is_fair = auc.cells.iter().all(all_or_none);
    if is_fair {
        let value = |method| mean(&auc, method).map_or(0.0, |mean| mean.0);
        order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let figures = others.iter().map(|(name, _)| *name);
    table.set_header(["method", "AUC"].into_iter().chain(figures).chain(["sets", "failed"]));
    for method in order {
        let percent = |board: &Board| match mean(board, method) {
            Some((mean, _)) => format!("{:.2}", 100.0 * mean),
            None => "-".to_owned(),
        };
        let name = auc.methods[method].clone();
        let is_failed =
            |row: &&Row| row.protocol == protocol && row.label() == name && row.status != Status::Ok;
        let n_failed = rows.iter().filter(is_failed).count();
        let figures = std::iter::once(&auc).chain(others.iter().map(|(_, board)| board)).map(percent);
        let counts = [n_sets(method), n_failed].map(|count| count.to_string());
        table.add_row(std::iter::once(name.clone()).chain(figures).chain(counts));
    }
    show::close_up(&mut table);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    let text = show::trimmed_lines(&table.to_string());
    if is_fair { text } else { format!("{text}(means over different sets, which do not compare)\n") }
}

/// One picture for every set and method, with the split and seed 0 of `uad`, or of `occ` for sets that only it has.
fn draw_maps(args: &BenchChoiceArgs) -> Result<(), Failure> {
    let methods = varied(&named_methods(args, &[OURS])?, args)?;
    for protocol in [Protocol::Uad, Protocol::Occ] {
        let own = |name: &&String| (protocol == Protocol::Occ) == is_only_in_occ(name);
        let mut wanted = Wanted::of(args);
        wanted.sets = wanted.sets.iter().filter(own).cloned().collect();
        if wanted.sets.is_empty() {
            continue;
        }
        for entrant in chosen_sets(protocol, &wanted)? {
            let mut set = LabelledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
            if protocol == Protocol::Occ {
                set.keep_numbers();
            }
            let class = protocol::normal_classes(&set, protocol).first().copied().unwrap_or_default();
            let split = protocol::split(&set, protocol, class, Seed(0));
            for method in &methods {
                draw_map(method, &entrant.name, &split, args)?;
            }
        }
    }
    Ok(())
}

fn is_only_in_occ(name: &str) -> bool {
    let knows = |protocol: Protocol| sets::find(protocol.benchmark(), name).is_some();
    knows(Protocol::Occ) && !knows(Protocol::Uad)
}

fn draw_map(method: &Method, set: &str, split: &Split, args: &BenchChoiceArgs) -> Result<(), Failure> {
    let label = format!("{} {}", method.name, method.variant);
    let title = format!("{set}: the last hidden layer of {}", label.trim_end());
    let figure = maps::map(method, split, &title, Seed(0))
        .map_err(|source| LabError::Map { set: set.to_owned(), source })?;
    let name = report::file_name(&format!("map_{set}_{label}"));
    for path in report::write_figure(&args.out.join("figures"), &name, &figure)? {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

/// P-values and false-discovery rates of one method on the splits of `uad`.
fn hold_to_promises(args: &BenchCalibrationArgs) -> Result<(), Failure> {
    let choice = &args.choice;
    let sets = chosen_sets(Protocol::Uad, &Wanted::of(choice))?;
    for method in varied(&named_methods(choice, &[OURS])?, choice)? {
        let Some(spec) = &method.spec else { continue };
        let mut all = Vec::new();
        for entrant in &sets {
            let set = LabelledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
            for seed in (0..args.seeds).map(Seed) {
                let split = protocol::split(&set, Protocol::Uad, 0, seed);
                all.push(
                    calibrated(&entrant.name, &split, spec, seed)
                        .map_err(|error| Failure::from(error).at(&entrant.name))?,
                );
            }
        }
        let table = Table::of_calibrations(&all);
        let label = format!("calibration_{} {}", method.name, method.variant);
        report::write_table(&choice.out.join("tables"), &report::file_name(&label), &table)?;
        output::print(&table.markdown())?;
    }
    Ok(())
}

fn measure_time(args: &BenchTimeArgs) -> Result<(), Failure> {
    let named = names(&args.methods);
    let is_all = named == [ALL];
    let named = if is_all { methods::names() } else { named };
    let mut methods = named.iter().map(|name| Method::named(name)).collect::<Result<Vec<_>, _>>()?;
    if is_all {
        methods.retain(has_epochs);
    }
    // What cannot be timed is told before hours are spent on the others.
    if let Some(method) = methods.iter().find(|method| !has_epochs(method)) {
        return Err(Failure::bad_input(TimingError::NoEpochs(method.name.clone()).to_string()));
    }
    let wanted = Wanted { data: &args.data, sets: names(&args.sets), max_rows: None, quiet: args.run.quiet };
    let entrants = chosen_sets(Protocol::Occ, &wanted)?;
    let pool = learning::pool(&args.run)?;
    let n_threads = pool.current_num_threads();
    let name = format!("time_{n_threads}_threads");
    let file = args.out.join(format!("{name}.csv"));
    let mut timings = timing::read(&file)?;
    for entrant in &entrants {
        let mut set = LabelledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
        set.keep_numbers();
        let wrong = |source| LabError::Timing { set: entrant.name.clone(), source };
        let workload = Workload::of(&set, args.rows).map_err(wrong)?;
        for (method, seed) in
            methods.iter().flat_map(|method| (0..args.seeds).map(move |seed| (method, seed)))
        {
            let fresh = pool.install(|| workload.measure(method, seed)).map_err(wrong)?;
            timings = timing::keep(&file, fresh)?;
        }
    }
    let table = Table::of_timings(&timings, n_threads);
    report::write_table(&args.out.join("tables"), &name, &table)?;
    output::print(&table.markdown())
}

fn tell(notes: &[String], quiet: bool) {
    for note in notes.iter().filter(|_| !quiet) {
        output::eprint_line(&note_line(note));
    }
}

fn report_again(args: &BenchReportArgs) -> Result<(), Failure> {
    let rows = store::read(&args.out.join(store::FILE_NAME))?;
    for path in report::write(&rows, &args.out)? {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
