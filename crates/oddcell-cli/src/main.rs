//! The `oddcell` command: turns arguments into library calls, and results into text, files and an exit code.

mod args;
mod cells;
mod commands;
mod failure;
mod interrupt;
mod judging;
mod learning;
mod memory;
mod oddest;
mod output;
mod progress;
mod report;
mod show;
mod summary;
mod timings;
mod understood;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

/// A stream allocates and frees the same few buffers for every batch. The system allocator returns such large buffers
/// to the system each time, which takes a tenth of the scoring time (measured).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // It quotes the arguments, which may come from anywhere.
            output::eprint_line(error.render().to_string().trim_end());
            return ExitCode::from(failure::BAD_INPUT);
        }
        // Help and version.
        Err(asked) => asked.exit(),
    };
    interrupt::listen();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::eprint_line(&failure.to_string());
            ExitCode::from(failure.code)
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Detect(args) => commands::detect::run(&args),
        Command::Cells(args) => commands::cells::run(&args),
        Command::Repair(args) => commands::repair::run(&args),
        Command::Fit(args) => commands::fit::run(&args),
        Command::Score(args) => commands::score::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Bench(command) => commands::bench::run(&command),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::ConfigSchema => commands::schema::run(),
    }
}
