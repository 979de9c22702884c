//! What `scripts/fuzz` looks for, checked on its kept inputs: the seeds, and every input that ever broke something.
//!
//! The properties are in `fuzz/src`; this test compiles the same files.

#![allow(clippy::unwrap_used, reason = "a helper that fails makes its test fail")]
#![allow(clippy::print_stdout, reason = "a test that fails shows which input it was at")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

#[path = "../../../fuzz/src/lib.rs"]
#[allow(clippy::pedantic, unreachable_pub, reason = "a library of its own")]
mod fuzz;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files in a folder, with their names, sorted.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths: BTreeSet<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

/// The target that a crash of the first version belongs to, by the second word of its name.
fn target_of(crash: &str) -> &str {
    match crash.split('-').nth(1).unwrap() {
        "csvoracle" => "csv",
        "jsonl" => "json",
        "npy" => "numpy",
        "modeldeep" => "model",
        "toml" => "config",
        "set" => "setting",
        known => known,
    }
}

/// Runs a target on its seeds and on the crashes that belong to it.
fn repeat(name: &str) {
    let (_, target) = fuzz::TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let mut n_run = 0;
    let mut run = |place: &str, data: &[u8]| {
        println!("{place}");
        target(data);
        n_run += 1;
    };
    for (file, data) in files(&root().join("fuzz/seeds").join(name)) {
        run(&format!("fuzz/seeds/{name}/{file}"), &data);
    }
    for (file, data) in files(&root().join("crates/oddcell/tests/crashes")) {
        if target_of(&file) == name {
            run(&file, &data);
        }
    }
    assert!(n_run > 0);
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            repeat(stringify!($name));
        })*

        #[test]
        fn every_target_is_repeated_and_is_a_program_of_the_fuzzer() {
            let known: BTreeSet<&str> = fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, BTreeSet::from([$(stringify!($name)),*]));
            let programs = files(&root().join("fuzz/fuzz_targets"));
            let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
            assert_eq!(programs.len(), known.len());
            for (file, text) in programs {
                let name = file.strip_suffix(".rs").unwrap();
                assert!(known.contains(name) && manifest.contains(&format!("name = \"{name}\"\n")), "{file}");
                assert!(String::from_utf8(text).unwrap().contains(&format!("::{name}(data)")), "{file}");
            }
            for (file, _) in files(&root().join("crates/oddcell/tests/crashes")) {
                assert!(known.contains(target_of(&file)), "{file} belongs to no target");
            }
        }
    };
}
targets! { csv json parquet arrow numpy compressed dates numbers column model forged_model config setting judging }
