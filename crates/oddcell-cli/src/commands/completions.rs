//! `oddcell completions SHELL`: a script that completes commands and flags, made from their one definition.

use clap::CommandFactory;

use crate::{
    args::{Cli, CompletionsArgs},
    failure::Failure,
    output,
};

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    // Scripts contain tabs and escapes of their own, and nothing from outside.
    output::print_styled(&String::from_utf8_lossy(&script))
}
