//! `oddcell bench errors`: finds wrong cells in tables whose clean versions are known.

use oddcell::Seed;
use oddcell_bench::{
    LabError,
    errors::{Measured, Method, Pair, Results, measure, pairs, summaries},
    report,
};
use rayon::prelude::*;

use super::{
    bench_choice::{ALL, names},
    bench_sets::check_folder,
};
use crate::{
    args::{BenchErrorsArgs, RunArgs},
    failure::Failure,
    learning, output,
};

pub(crate) fn run(args: &BenchErrorsArgs) -> Result<(), Failure> {
    let methods = chosen_methods(&args.methods)?;
    check_folder(&args.data)?;
    let wanted = names(&args.sets);
    let is_meant = |pair: &Pair| {
        let name = format!("{}/{}", pair.table, pair.kind);
        wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()))
    };
    let chosen: Vec<Pair> = pairs(&args.data)?.into_iter().filter(is_meant).collect();
    if chosen.is_empty() {
        return Err(Failure::bad_input(format!("found no tables in {}", args.data.display())).with_hint(
            "a table is a folder with dirty.csv and clean.csv, or with dirty_KIND.csv and clean_KIND.csv",
        ));
    }
    let mut results = Results::open(&args.out)?;
    let pool = learning::pool(&RunArgs { threads: args.threads, json: false, quiet: args.quiet })?;
    let jobs: Vec<(&Pair, Method)> =
        chosen.iter().flat_map(|pair| methods.iter().map(move |&method| (pair, method))).collect();
    let mut fresh = Vec::new();
    // Small tables side by side, a few at a time, so that results are kept as they come.
    for some in jobs.chunks(16) {
        let run = |&(pair, method): &(&Pair, Method)| measure(pair, method, Seed(args.seed));
        let measured: Vec<Result<Measured, LabError>> = pool.install(|| some.par_iter().map(run).collect());
        for measured in measured {
            let measured = measured?;
            if !args.quiet {
                output::eprint_line(&measured.to_string());
            }
            fresh.push(measured.clone());
            results.add(measured)?;
        }
    }
    for (name, table) in summaries(&results.measured) {
        report::write_table(&args.out.join("tables"), name, &table)?;
    }
    if !args.quiet {
        let (_, kinds) = &summaries(&fresh)[0];
        output::print(&format!("{}\n", kinds.markdown()))?;
    }
    if fresh.iter().all(|measured| !measured.message.is_empty()) {
        return Err(Failure::failed("no table could be judged").with_hint(format!(
            "see the column `message` of {}",
            args.out.join(Results::FILE_NAME).display()
        )));
    }
    Ok(())
}

fn chosen_methods(wanted: &[String]) -> Result<Vec<Method>, Failure> {
    let named = names(wanted);
    if named == [ALL] {
        return Ok(Method::ALL.to_vec());
    }
    let known = || Method::ALL.map(Method::name).join(", ");
    let method = |name: &String| {
        Method::named(name).ok_or_else(|| LabError::Unknown {
            what: "method",
            name: name.clone(),
            known: known(),
        })
    };
    Ok(named.iter().map(method).collect::<Result<_, _>>()?)
}
