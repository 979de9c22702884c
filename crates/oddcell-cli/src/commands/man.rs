//! `oddcell man`: manual pages, made from the one definition of commands and flags.

use std::{fmt::Write as _, fs, io, path::Path};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use oddcell::model_file::write_atomically;

use crate::{
    args::{Cli, ManArgs},
    failure::Failure,
    output,
};

pub(crate) fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Cli::command();
    program.build();
    if let Some(dir) = &args.dir {
        fs::create_dir_all(dir).map_err(|error| output::file_error("create", dir, error))?;
        return write_all(&program, dir);
    }
    let mut command = &program;
    for word in &args.command {
        command = command.find_subcommand(word).ok_or_else(|| {
            Failure::bad_input(format!("there is no command `{}`", args.command.join(" ")))
                .with_hint("`oddcell --help` lists the commands")
        })?;
    }
    let page = page(command).map_err(|error| Failure::failed(format!("cannot make the page: {error}")))?;
    output::print_styled(&page)
}

/// Writes the page of `command` and those of all its subcommands into `dir`.
fn write_all(command: &Command, dir: &Path) -> Result<(), Failure> {
    let path = dir.join(format!("{}.1", dashed(command)));
    let page = page(command).map_err(|error| output::file_error("write", &path, error))?;
    write_atomically(&path, |file| {
        io::Write::write_all(file, page.as_bytes()).map_err(|error| output::file_error("write", &path, error))
    })?;
    documented(command).try_for_each(|subcommand| write_all(subcommand, dir))
}

/// The subcommands that have a page of their own.
fn documented(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help")
}

/// The name of a command with those it belongs to, such as `oddcell-bench-uad`.
fn dashed(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}

/// A manual page in roff.
fn page(command: &Command) -> io::Result<String> {
    // The text after the help has examples. clap_mangen would join their lines, so its section of them is not used.
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man =
        Man::new(command.clone().version(env!("CARGO_PKG_VERSION"))).title(dashed(command)).manual("oddcell");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    let mut page = String::from_utf8_lossy(&page).into_owned();
    let mut subcommands = documented(command).peekable();
    if subcommands.peek().is_some() {
        page += ".SH COMMANDS\n";
        for subcommand in subcommands {
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(page, ".TP\n\\fB{}\\fR(1)\n{}", escaped(&dashed(subcommand)), escaped(&about));
        }
    }
    if !examples.is_empty() {
        page += ".SH EXAMPLES\n.nf\n";
        for line in examples.trim_start_matches("Examples:\n").lines() {
            let _ = writeln!(page, "{}", escaped(line));
        }
        page += ".fi\n";
    }
    Ok(page)
}

/// Text as roff shows it: no character of it is a command, and hyphens can be copied.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-");
    // A dot or an apostrophe at the beginning of a line would be a command.
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_text_is_a_command_of_roff() {
        assert_eq!(escaped(".npy or 'x'"), "\\&.npy or 'x'");
        assert_eq!(escaped("'quoted'"), "\\&'quoted'");
        assert_eq!(escaped(r"a\b --flag"), r"a\eb \-\-flag");
    }

    #[test] // Every command of the program has a page, however deep it is.
    fn every_command_has_a_page_that_names_its_flags() {
        fn check(command: &Command) -> usize {
            let page = page(command).unwrap();
            assert!(page.contains(&format!(".TH {} 1", dashed(command))), "{page}");
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                if let Some(long) = argument.get_long() {
                    let flag = escaped(&format!("--{long}"));
                    assert!(page.contains(&flag), "{}: {flag} is missing", dashed(command));
                }
            }
            assert!(page.contains(".SH EXAMPLES"), "{}", dashed(command));
            1 + documented(command).map(check).sum::<usize>()
        }
        let mut program = Cli::command();
        program.build();
        assert!(check(&program) >= 23);
    }
}
