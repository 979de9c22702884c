//! The README tells the truth, and so do the documents: their sessions are run and compared, and every command and flag
//! in them exists.
//!
//! After a change that is meant to change a session's output, `UPDATE_README=1 cargo test --workspace --test readme`
//! writes the new one into the document.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use oddcell::{Seed, demo};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oddcell");
const BEGIN: &str = "```console\n";
const END: &str = "```\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a terminal shows after `line` was typed into a shell in `folder`: notes come first, then results.
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

/// Runs the one session of a document in a folder that `prepare` has put files into.
#[cfg(unix)]
fn check_session(document: &str, prepare: impl Fn(&Path)) {
    let path = root().join(document);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (session, after) = rest.split_once(END).unwrap();
    assert!(!after.contains(BEGIN), "{document}: one session is enough");
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let commands: Vec<&str> = session.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(!commands.is_empty());
    let run = |line: &&str| format!("$ {line}\n{}", shown(line, folder.path()));
    let found: String = commands.iter().map(run).collect();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, [before, BEGIN, &found, END, after].concat()).unwrap();
        return;
    }
    assert!(
        found == session,
        "{document} shows\n{session}\nbut it is now\n{found}\n(UPDATE_README=1 writes it)"
    );
}

#[cfg(unix)]
#[test]
fn the_session_of_the_readme_gives_what_the_readme_shows() {
    // The demo's own table, as `oddcell demo` writes it.
    check_session("README.md", |folder| {
        fs::write(folder.join("orders.csv"), demo::orders(2_000, 40, Seed(0)).csv).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn the_session_on_a_time_series_gives_what_its_page_shows() {
    check_session("docs/embeddings.md", |folder| {
        fs::copy(root().join("examples/embeddings/elnino.csv"), folder.join("elnino.csv")).unwrap();
    });
}

fn help(command: &str) -> String {
    let output = Command::new(PROGRAM).args(command.split(' ')).arg("--help").output().unwrap();
    assert!(output.status.success(), "there is no `oddcell {command}`");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of all documents in which somebody calls `oddcell`, each cut to what follows the name.
fn calls(text: &str) -> Vec<String> {
    let mut calls = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        // In prose, what is between backticks; in blocks, the whole line.
        let pieces: Vec<&str> =
            if fenced { vec![line] } else { line.split('`').skip(1).step_by(2).collect() };
        for piece in pieces {
            let piece = piece.trim_start_matches("$ ");
            calls.extend(piece.strip_prefix("oddcell ").map(str::to_owned));
        }
    }
    calls
}

#[test]
fn every_command_and_flag_in_the_documents_exists() {
    let mut documents = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/detectors"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        documents.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    let mut flags = BTreeMap::<String, BTreeSet<String>>::new();
    for path in documents {
        for call in calls(&fs::read_to_string(&path).unwrap()) {
            let call = call.split(['|', '>']).next().unwrap();
            let mut words = call.split_whitespace().peekable();
            let mut command = words.next().unwrap().to_owned();
            // The laboratory has commands of its own.
            if let Some(word) =
                words.next_if(|word| command == "bench" && word.starts_with(char::is_alphabetic))
            {
                command = format!("{command} {word}");
            }
            let known = flags.entry(command).or_default();
            known.extend(words.filter(|word| word.starts_with('-') && word.len() > 1).map(str::to_owned));
        }
    }
    assert!(flags.len() >= 5, "found only {flags:?}");
    for (command, flags) in flags {
        let help = help(&command);
        let words: BTreeSet<&str> = help.split(|c: char| c.is_whitespace() || c == ',').collect();
        for flag in flags {
            assert!(words.contains(flag.as_str()), "`oddcell {command}` has no flag {flag}");
        }
    }
}

#[test]
fn calls_are_found_in_blocks_and_between_backticks() {
    let text =
        "See `oddcell fit X` and oddcell score.\n```console\n$ oddcell detect a.csv | head\nodd\n```\n";
    assert_eq!(calls(text), ["fit X", "detect a.csv | head"]);
}
