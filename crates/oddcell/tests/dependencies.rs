//! Every dependency has a permissive license and comes in one version where possible.
//!
//! The tests check what `cargo metadata` resolves for the platform they run on, dev-dependencies included.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// Licenses that require no more than a notice. If you add one, explain why in the commit.
const ALLOWED: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that come in several versions because our dependencies disagree. Before adding one, look for
/// another version or another crate.
const SEVERAL: [&str; 5] = ["getrandom", "hashbrown", "miniz_oxide", "num-bigint", "syn"];

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Name, version and license of every dependency.
fn dependencies() -> Vec<(String, String, String)> {
    let version = run("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    // Building this test has fetched all of them.
    let arguments = ["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&run(env!("CARGO"), &arguments)).unwrap();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let used: BTreeSet<&str> = nodes.iter().map(|node| node["id"].as_str().unwrap()).collect();
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or("none").to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .filter(|package| used.contains(package["id"].as_str().unwrap()))
        .map(|package| (text(package, "name"), text(package, "version"), text(package, "license")))
        .collect()
}

/// Whether an SPDX expression lets us use the crate under allowed licenses alone. `/` is an old way to write
/// `OR`.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // `A AND B OR C` always has parentheses, so that every part between ANDs is a choice.
    expression.split(" AND ").all(|part| part.split(" OR ").any(|name| ALLOWED.contains(&name.trim())))
}

#[test]
fn every_dependency_has_a_license_that_requires_no_more_than_a_notice() {
    let dependencies = dependencies();
    assert!(dependencies.len() > 50, "found only {} packages", dependencies.len());
    let refused: Vec<_> = dependencies.iter().filter(|(_, _, license)| !is_allowed(license)).collect();
    assert!(refused.is_empty(), "not on the list of allowed licenses: {refused:?}");
}

#[test]
fn every_part_of_a_license_must_have_an_allowed_choice() {
    for fine in ["MIT", "GPL-3.0-only OR MIT", "(MIT OR GPL-3.0-only) AND Unicode-3.0", "Unlicense/MIT"] {
        assert!(is_allowed(fine), "{fine}");
    }
    for refused in ["GPL-3.0-only", "none", "MIT AND GPL-3.0-only", "(MIT OR Zlib) AND GPL-3.0-only"] {
        assert!(!is_allowed(refused), "{refused}");
    }
}

#[test]
#[cfg(target_os = "linux")] // Other systems need other crates.
fn only_known_dependencies_come_in_several_versions() {
    let mut versions = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, version, _) in dependencies() {
        versions.entry(name).or_default().insert(version);
    }
    versions.retain(|name, versions| versions.len() > 1 && !SEVERAL.contains(&name.as_str()));
    assert!(versions.is_empty(), "in several versions: {versions:?}");
}

#[test]
fn cargo_deny_is_told_the_same() {
    let config = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deny.toml")).unwrap();
    let list = |key: &str| -> BTreeSet<&str> {
        let after =
            config.split(&format!("\n{key} = [")).nth(1).unwrap_or_else(|| panic!("{key} is missing"));
        after.split(']').next().unwrap().split('"').skip(1).step_by(2).collect()
    };
    assert_eq!(list("allow"), ALLOWED.into());
    assert_eq!(list("skip"), SEVERAL.into());
}
