//! What must hold for any input: one function per fuzz target, which panics if it does not.
//!
//! The same functions run in `scripts/test`, on the kept inputs (`crates/oddcell-cli/tests/fuzz.rs`).

pub mod cells;
pub mod input;
pub mod judging;
pub mod models;
pub mod readers;
pub mod settings;

/// A target: it panics if something does not hold for the input.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 14] = [
    ("csv", readers::csv),
    ("json", readers::json),
    ("parquet", readers::parquet),
    ("arrow", readers::arrow),
    ("numpy", readers::numpy),
    ("compressed", readers::compressed),
    ("dates", cells::dates),
    ("numbers", cells::numbers),
    ("column", cells::column),
    ("model", models::model),
    ("forged_model", models::forged_model),
    ("config", settings::config),
    ("setting", settings::setting),
    ("judging", judging::judging),
];
