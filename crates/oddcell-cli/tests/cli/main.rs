//! The `oddcell` command from outside: exit codes, standard output and standard error, one file per subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails makes its test fail")]

mod bad_input;
mod bad_output;
mod bench;
mod cells;
mod columns;
mod detect;
mod fit_score;
mod folder;
mod generated;
mod help;
mod hostile_text;
mod inspect;
mod interrupt;
mod model_files;
mod output;
mod report;
mod settings;
mod streamed;
