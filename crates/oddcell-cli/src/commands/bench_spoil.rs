//! `oddcell bench spoil`: plants errors in tables and measures how many of them are found.

use oddcell::Seed;
use oddcell_bench::{
    LabError,
    methods::{self, Method, Vary},
    report,
    sets::Half,
    spoil::{Results, Sheet, TableFile, measure, spoil, summaries, tables},
};

use super::{
    bench_choice::{ALL, names},
    bench_sets::check_folder,
};
use crate::{args::BenchSpoilArgs, args::RunArgs, failure::Failure, learning, output, summary::counted};

pub(crate) fn run(args: &BenchSpoilArgs) -> Result<(), Failure> {
    let methods = chosen_methods(args)?;
    let tables = chosen_tables(args)?;
    let mut results = args.out.as_deref().map(Results::open).transpose()?;
    let pool = learning::pool(&RunArgs { threads: args.threads, json: false, quiet: args.quiet })?;
    for table in &tables {
        let sheet = Sheet::read(&table.path)?;
        for seed in (0..args.seeds).map(Seed) {
            let spoiled = spoil(sheet.clone(), &table.name, args.share, seed);
            if let Some(folder) = &args.write {
                spoiled.write(folder, &format!("{}-{}", table.name, seed.0))?;
            }
            let Some(results) = &mut results else { continue };
            for method in &methods {
                let (measured, found) =
                    pool.install(|| measure(&table.name, table.half_name(), &spoiled, method, seed));
                if !args.quiet {
                    output::eprint_line(&measured.to_string());
                }
                results.add(measured, found)?;
            }
        }
    }
    if let (Some(folder), false) = (&args.write, args.quiet) {
        let files = counted(tables.len() * args.seeds as usize, "spoiled table", "spoiled tables");
        output::eprint_line(&format!("wrote {files} to {}", folder.display()));
    }
    let (Some(mut results), Some(out)) = (results, &args.out) else { return Ok(()) };
    for (name, table) in summaries(&results.measured, &results.found) {
        report::write_table(&out.join("tables"), name, &table)?;
    }
    // Only what this command ran is printed; the tables on disk have all results of the folder.
    let labels: Vec<String> = methods.iter().map(Method::label).collect();
    results.keep(|table, method, seed| {
        tables.iter().any(|chosen| chosen.name == table)
            && labels.iter().any(|label| label == method)
            && seed < args.seeds
    });
    for (_, table) in summaries(&results.measured, &results.found).iter().filter(|_| !args.quiet) {
        output::print(&format!("{}\n", table.markdown()))?;
    }
    if results.measured.iter().all(|measured| !measured.message.is_empty()) {
        return Err(Failure::failed("no table could be judged")
            .with_hint(format!("see the column `message` of {}", out.join(Results::FILE_NAME).display())));
    }
    Ok(())
}

fn chosen_methods(args: &BenchSpoilArgs) -> Result<Vec<Method>, Failure> {
    let named = names(&args.methods);
    let named = if named == [ALL] { methods::names() } else { named };
    let chosen = named.iter().map(|name| Method::named(name)).collect::<Result<Vec<_>, _>>()?;
    let vary = || -> Result<Vec<Method>, LabError> {
        let vary: Vec<Vary> = args.vary.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>()?;
        vary.iter().try_for_each(|vary| vary.check(&chosen))?;
        let variants = chosen.iter().map(|method| method.variants(&vary)).collect::<Result<Vec<_>, _>>()?;
        Ok(variants.into_iter().flatten().collect())
    };
    vary().map_err(|error| Failure::from(error).at("--vary"))
}

fn chosen_tables(args: &BenchSpoilArgs) -> Result<Vec<TableFile>, Failure> {
    check_folder(&args.data)?;
    let all = tables(&args.data)?;
    let wanted = names(&args.sets);
    let half = match &*wanted {
        [name] => Half::named(name),
        _ => None,
    };
    if half.is_none() && wanted != [ALL] {
        let known = all.iter().map(|table| &*table.name).collect::<Vec<_>>().join(", ");
        if let Some(name) = wanted.iter().find(|name| all.iter().all(|table| table.name != **name)) {
            return Err(LabError::Unknown { what: "table", name: name.clone(), known }.into());
        }
    }
    let is_meant = |table: &TableFile| match half {
        Some(half) => table.half == Some(half),
        None => wanted == [ALL] || wanted.contains(&table.name),
    };
    let chosen: Vec<TableFile> = all.into_iter().filter(is_meant).collect();
    if chosen.is_empty() {
        let of_half = if half.is_some() { format!(" of the half `{}`", wanted[0]) } else { String::new() };
        return Err(Failure::bad_input(format!("found no tables{of_half} in {}", args.data.display()))
            .with_hint("run `benchmarks/spoil/fetch DIR` to download them"));
    }
    Ok(chosen)
}
