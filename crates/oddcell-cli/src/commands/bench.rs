//! `oddcell bench`: runs methods on benchmark sets.

use std::time::Duration;

use oddcell::Seed;
use oddcell_bench::{
    LabError,
    calibration::calibrated,
    maps,
    matrix::{Limits, Plan, Tally},
    methods::{self, Method, OURS},
    protocol::{self, Protocol, Split},
    report,
    sets::{self, LabeledSet},
    store::{self, Store},
    tables::Table,
    timing::{self, TimingError, Workload, has_epochs},
};

use super::{
    bench_choice::{
        ALL, Wanted, ablated_methods, cell_methods, chosen_sets, named_methods, names, tell, varied,
    },
    bench_standings::standings,
};
use crate::{
    args::{
        BenchCalibrationArgs, BenchChoiceArgs, BenchCommand, BenchReportArgs, BenchRunArgs, BenchTimeArgs,
        Gigabytes,
    },
    failure::Failure,
    learning, memory, output,
    progress::Runs,
    summary::counted,
};

pub(crate) fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Sets(args) => super::bench_sets::run(args),
        BenchCommand::Uad(args) => run_rows(Protocol::Uad, args),
        BenchCommand::Occ(args) => run_rows(Protocol::Occ, args),
        BenchCommand::Fixed(args) => run_rows(Protocol::Fixed, args),
        BenchCommand::Dte(args) => run_rows(Protocol::Dte, args),
        BenchCommand::Contaminated(args) => run_rows(Protocol::Contaminated, args),
        BenchCommand::Cells(args) => {
            let methods = cell_methods(&args.choice)?;
            run_matrices(&[Protocol::CellsNoise, Protocol::CellsSwap], &methods, args)
        }
        BenchCommand::Spoil(args) => super::bench_spoil::run(args),
        BenchCommand::Errors(args) => super::bench_errors::run(args),
        BenchCommand::Ablate(args) => {
            let methods = ablated_methods(args)?;
            run_matrices(&[Protocol::Occ], &methods, &args.run)
        }
        BenchCommand::Map(args) => draw_maps(args),
        BenchCommand::Calibration(args) => check_calibration(args),
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
        let plan = Plan { protocol, sets, methods, seeds, one_hot: args.one_hot };
        tally += plan.run(&mut store, limits, &progress)?;
    }
    let rows = store.rows()?;
    let n_files = report::write(&rows, &choice.out)?.len();
    if !choice.quiet {
        for &protocol in protocols {
            output::print(&format!("{protocol}\n{}", standings(&rows, protocol)))?;
        }
        let folder = choice.out.display();
        // All files except the page.
        let files = counted(n_files - 1, "table or picture", "tables and pictures");
        output::eprint_line(&format!("wrote results, {files} and {} to {folder}", report::PAGE));
    }
    conclude(tally, choice)
}

/// Reports runs without results in notes, and fails if all runs failed. A timeout is not a failure.
fn conclude(tally: Tally, choice: &BenchChoiceArgs) -> Result<(), Failure> {
    if tally.failed_before > 0 {
        let runs = counted(tally.failed_before, "run", "runs");
        let note = format!("{runs} timed out or failed earlier; use --again to repeat them");
        tell(&[note], choice.quiet);
    }
    if tally.timed_out > 0 {
        let runs = counted(tally.timed_out, "run", "runs");
        tell(&[format!("{runs} timed out")], choice.quiet);
    }
    if tally.made > 0 && tally.failed == tally.made {
        let runs = if tally.made == 1 { "the run".to_owned() } else { format!("all {} runs", tally.made) };
        let file = choice.out.join(store::FILE_NAME);
        return Err(Failure::failed(format!("{runs} failed"))
            .with_hint(format!("see the column `message` of {}", file.display())));
    }
    Ok(())
}

/// Draws a map for every set and method, on the split of `uad` with seed 0, or of `occ` for sets that only `occ` has.
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
            let mut set = LabeledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
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
    let knows = |protocol: Protocol| {
        protocol.benchmark().is_some_and(|benchmark| sets::find(benchmark, name).is_some())
    };
    knows(Protocol::Occ) && !knows(Protocol::Uad)
}

fn draw_map(method: &Method, set: &str, split: &Split, args: &BenchChoiceArgs) -> Result<(), Failure> {
    let label = format!("{} {}", method.name, method.variant);
    let title = format!("{set}: last hidden layer of {}", label.trim_end());
    let figure = maps::map(method, split, &title, Seed(0))
        .map_err(|source| LabError::Work { set: set.to_owned(), source: source.into() })?;
    let name = report::file_name(&format!("map_{set}_{label}"));
    for path in report::write_figure(&args.out.join("figures"), &name, &figure)? {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

/// Compares p-values and false-discovery rates with the labels on the splits of `uad`.
fn check_calibration(args: &BenchCalibrationArgs) -> Result<(), Failure> {
    let choice = &args.choice;
    let sets = chosen_sets(Protocol::Uad, &Wanted::of(choice))?;
    for method in varied(&named_methods(choice, &[OURS])?, choice)? {
        let Some(spec) = &method.spec else { continue };
        let mut all = Vec::new();
        for entrant in &sets {
            let set = LabeledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
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
    // Checked first: timing the other methods may take hours.
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
        let mut set = LabeledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
        set.keep_numbers();
        let failed =
            |source: TimingError| LabError::Work { set: entrant.name.clone(), source: source.into() };
        let workload = Workload::of(&set, args.rows).map_err(failed)?;
        for (method, seed) in
            methods.iter().flat_map(|method| (0..args.seeds).map(move |seed| (method, seed)))
        {
            let fresh = pool.install(|| workload.measure(method, seed)).map_err(failed)?;
            timings = timing::keep(&file, fresh)?;
        }
    }
    let table = Table::of_timings(&timings, n_threads);
    report::write_table(&args.out.join("tables"), &name, &table)?;
    output::print(&table.markdown())
}

fn report_again(args: &BenchReportArgs) -> Result<(), Failure> {
    let rows = store::read(&args.out.join(store::FILE_NAME))?;
    for path in report::write(&rows, &args.out)? {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
