//! README and docs are true: their sessions are run and compared, and every command and flag in them exists.
//!
//! After a change that is meant to change a session's output, `UPDATE_README=1 cargo test --workspace --test readme`
//! writes the new output into the documents.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[cfg(unix)]
use oddcell::{Seed, demo};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oddcell");
const BEGIN: &str = "```console\n";
const END: &str = "```\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a terminal shows after `line` was typed into a shell in `folder`: first the notes, then the results.
#[cfg(unix)]
fn shown(line: &str, folder: &Path) -> String {
    let programs = Path::new(PROGRAM).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output =
        Command::new("sh").args(["-c", line]).current_dir(folder).env("PATH", path.unwrap()).output();
    let output = output.unwrap();
    let text = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
    assert!(output.status.success(), "{line}\n{text}");
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Runs the sessions of some documents, one after the other, in one folder that `prepare` has put files into.
/// A command that occurs twice runs once.
#[cfg(unix)]
fn check_sessions(documents: &[&str], prepare: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let mut outputs = BTreeMap::<String, String>::new();
    let mut run = |line: &str| {
        let output = outputs.entry(line.to_owned()).or_insert_with(|| shown(line, folder.path()));
        format!("$ {line}\n{output}")
    };
    for document in documents {
        let path = root().join(document);
        let text = fs::read_to_string(&path).unwrap();
        let mut found = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(BEGIN) {
            let (session, after) = after.split_once(END).unwrap();
            let commands: Vec<&str> = session.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
            assert!(!commands.is_empty(), "{document}: a session without a command");
            found.extend([before, BEGIN]);
            found.extend(commands.into_iter().map(&mut run));
            found.push_str(END);
            rest = after;
        }
        found.push_str(rest);
        assert!(found.contains(BEGIN), "{document} has no session");
        if std::env::var_os("UPDATE_README").is_some() {
            fs::write(&path, found).unwrap();
        } else {
            assert!(
                found == text,
                "{document} should be\n{found}\nbut is\n{text}\n(UPDATE_README=1 writes it)"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn the_sessions_of_readme_and_guide_show_what_the_program_prints() {
    // The demo's own table, as `oddcell demo` writes it.
    check_sessions(&["README.md", "docs/guide.md"], |folder| {
        fs::write(folder.join("orders.csv"), demo::orders(2_000, 40, Seed(0)).csv).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn the_sessions_about_tables_show_what_the_program_prints() {
    check_sessions(&["docs/tables.md"], |folder| {
        fs::copy(root().join("examples/shop.csv"), folder.join("shop.csv")).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn the_session_that_cleans_a_table_shows_what_the_program_prints() {
    check_sessions(&["docs/clean-a-table.md"], |folder| {
        fs::copy(root().join("examples/penguins.csv"), folder.join("penguins.csv")).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn the_session_on_a_time_series_shows_what_the_program_prints() {
    check_sessions(&["docs/embeddings.md"], |folder| {
        fs::copy(root().join("examples/embeddings/elnino.csv"), folder.join("elnino.csv")).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn the_command_line_reference_shows_every_help_text() {
    check_sessions(&["docs/cli.md"], |_| ());
    let text = fs::read_to_string(root().join("docs/cli.md")).unwrap();
    for command in commands("") {
        assert!(text.contains(&format!("$ oddcell {command} --help")), "docs/cli.md lacks `{command}`");
    }
}

/// The help text of a command; the empty one is the program itself.
fn help(command: &str) -> String {
    let output = Command::new(PROGRAM).args(command.split_whitespace()).arg("--help").output().unwrap();
    assert!(output.status.success(), "there is no `oddcell {command}`");
    String::from_utf8(output.stdout).unwrap()
}

/// The subcommands of a command, from its help text.
fn commands(command: &str) -> Vec<String> {
    let help = help(command);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    // Deeper lines continue a description.
    let names = lines.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The flags of a command, from its help text.
fn flags(command: &str) -> BTreeSet<String> {
    let help = help(command);
    let words = help.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|word| word.starts_with('-')).map(str::to_owned).collect()
}

/// The pieces of a document that are code: what stands between backticks, the commands of its sessions (not their
/// output), and the lines of other blocks.
fn code(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut block = None;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        match block {
            Some("console") => pieces.extend(line.strip_prefix("$ ")),
            Some(_) => pieces.push(line),
            None => pieces.extend(line.split('`').skip(1).step_by(2)),
        }
    }
    pieces
}

/// A call in a piece of code: the command (of `known`), and its flags. `oddcell` may be left out before a command.
fn call(piece: &str, known: &BTreeSet<String>) -> Option<(String, Vec<String>)> {
    let named = piece.strip_prefix("oddcell ");
    let line = named.unwrap_or(piece).split(['|', '>', '#']).next()?;
    let mut words = line.split_whitespace().peekable();
    let mut command = words.next_if(|word| named.is_some() || known.contains(*word))?.to_owned();
    // The laboratory has commands of its own.
    if let Some(word) = words.next_if(|word| command == "bench" && word.starts_with(char::is_alphabetic)) {
        command = format!("{command} {word}");
    }
    let is_flag = |word: &&str| word.starts_with('-') && word.len() > 1;
    let bare = |word: &str| word.trim_end_matches(['.', ',', ')']).to_owned();
    Some((command, words.filter(is_flag).map(bare).collect()))
}

fn documents() -> Vec<PathBuf> {
    let mut documents = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/detectors"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        documents.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    documents
}

#[test]
fn every_command_and_flag_in_the_documents_exists() {
    let top: BTreeSet<String> = commands("").into_iter().collect();
    let laboratory = commands("bench").into_iter().map(|name| format!("bench {name}"));
    let all: Vec<String> = top.iter().cloned().chain(laboratory).collect();
    let any: BTreeSet<String> = all.iter().flat_map(|command| flags(command)).collect();
    let mut n_calls = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for piece in code(&text) {
            let place = format!("{}: `{piece}`", path.display());
            if let Some((command, used)) = call(piece, &top) {
                n_calls += 1;
                let known = if command.starts_with('-') { flags("") } else { flags(&command) };
                for flag in used {
                    assert!(known.contains(&flag), "{place}: `oddcell {command}` has no flag {flag}");
                }
            } else if let Some(flag) = piece.split_whitespace().next().filter(|word| word.starts_with("--")) {
                assert!(any.contains(flag), "{place}: no command has this flag");
            }
        }
    }
    assert!(n_calls >= 50, "found only {n_calls} calls");
}

#[test]
fn calls_are_found_in_blocks_and_between_backticks() {
    let text = "See `oddcell fit X` and oddcell score, `score --fdr`.\n\
        ```console\n$ oddcell detect a.csv -o b | head -8\nfit --output\n```\n```sh\nls -l\noddcell score m d\n```\n";
    let known = BTreeSet::from(["detect", "fit", "score"].map(str::to_owned));
    let calls: Vec<_> = code(text).into_iter().filter_map(|piece| call(piece, &known)).collect();
    let expected = [("fit", vec![]), ("score", vec!["--fdr"]), ("detect", vec!["-o"]), ("score", vec![])];
    let expected = expected.map(|(command, flags)| {
        (command.to_owned(), flags.into_iter().map(str::to_owned).collect::<Vec<String>>())
    });
    assert_eq!(calls, expected);
}
