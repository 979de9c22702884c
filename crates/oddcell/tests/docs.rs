//! Documents and code agree: parameters, defaults, detectors, formats, links.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use oddcell::{
    DetectorSpec,
    detect::{DETECTORS, Keeps},
    encode::EncodeOptions,
    model::SplitOptions,
    model_file::FORMAT_VERSION,
    table::{Format, NULL_TOKENS},
};
use serde_json::{Map, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of a document below the heading `## name`.
fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let heading = format!("\n## {name}\n");
    let start = text.find(&heading)? + heading.len();
    let end = text[start..].find("\n## ").map_or(text.len(), |end| start + end);
    Some(&text[start..end])
}

/// The table of parameters in a text: parameter ─► heading ─► cell, without backticks.
fn parameters(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let mut lines = text.lines().skip_while(|line| !line.starts_with("| parameter |"));
    let headings = cells(lines.next().unwrap_or_default());
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells);
    rows.map(|row| (row[0].clone(), headings.iter().cloned().zip(row).skip(1).collect())).collect()
}

/// A value as the documents write it.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Compares a column of a table with the actual values. With `all`, every parameter must be in the table.
fn compare(place: &str, text: &str, heading: &str, values: &Map<String, Value>, all: bool) {
    let documented = parameters(text);
    assert!(!documented.is_empty(), "{place}: there is no table of parameters");
    for (name, row) in &documented {
        let value = values.get(name).unwrap_or_else(|| panic!("{place}: there is no parameter `{name}`"));
        let found = row.get(heading).unwrap_or_else(|| panic!("{place}: there is no column `{heading}`"));
        assert_eq!(*found, written(value), "{place}: `{name}`, column `{heading}`");
    }
    for name in values.keys().filter(|_| all) {
        assert!(documented.contains_key(name), "{place}: parameter `{name}` is missing");
    }
}

#[test]
fn every_parameter_of_every_detector_and_preset_is_documented_with_its_value() {
    let text = read("docs/parameters.md");
    for entry in DETECTORS {
        let place = format!("docs/parameters.md, section {}", entry.name);
        let section = section(&text, entry.name).unwrap_or_else(|| panic!("{place} is missing"));
        for preset in entry.presets() {
            let spec = DetectorSpec::new(entry.name, Some(preset)).unwrap();
            compare(&place, section, preset, spec.params(), true);
        }
    }
}

#[test]
fn the_settings_of_encoding_and_fitting_are_documented_with_their_defaults() {
    let text = read("docs/parameters.md");
    let encode = serde_json::to_value(EncodeOptions::default()).unwrap();
    compare(
        "section encode",
        section(&text, "encode").unwrap(),
        "default",
        encode.as_object().unwrap(),
        true,
    );
    let fit = serde_json::to_value(SplitOptions::default()).unwrap();
    compare("section fit", section(&text, "fit").unwrap(), "default", fit.as_object().unwrap(), true);
}

#[test]
fn every_detector_has_a_page_whose_defaults_are_true_and_stands_in_the_readme() {
    let readme = read("README.md");
    for entry in DETECTORS {
        let path = format!("docs/detectors/{}.md", entry.name);
        let text = read(&path);
        assert!(text.starts_with(&format!("# {}: ", entry.name)), "{path}: the heading names the detector");
        for part in ["What it does", "Score", "When it fails", "Cost", "Reference"] {
            assert!(text.contains(&format!("**{part}.**")), "{path}: `{part}` is missing");
        }
        let spec = DetectorSpec::new(entry.name, None).unwrap();
        compare(&path, &text, "default", spec.params(), false);
        assert!(readme.contains(&format!("`{}`", entry.name)), "README.md does not name `{}`", entry.name);
    }
    for page in fs::read_dir(root().join("docs/detectors")).unwrap() {
        let page = page.unwrap().path();
        let name = page.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(DETECTORS.iter().any(|entry| entry.name == name), "{}: no such detector", page.display());
    }
}

#[test]
fn formats_null_tokens_and_versions_are_those_of_the_code() {
    let tables = read("docs/tables.md");
    for format in Format::ALL {
        assert!(tables.contains(&format!("| `{format}` |")), "docs/tables.md: format {format} is missing");
    }
    for token in NULL_TOKENS.iter().filter(|token| !token.is_empty()) {
        assert!(tables.contains(&format!("`{token}`")), "docs/tables.md: null token {token} is missing");
    }
    let version = format!("| `format` | format version, `{FORMAT_VERSION}` |");
    assert!(read("docs/model-file.md").contains(&version), "docs/model-file.md: expected {version}");
    let release = concat!("\n## [", env!("CARGO_PKG_VERSION"), "]");
    assert!(read("CHANGELOG.md").contains(release), "CHANGELOG.md: expected {release}");
}

/// All documents of a folder.
fn documents(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The links of a text: what stands between `](` and `)`, except to other sites.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|link| !link.starts_with("http"))
}

/// The anchors of a text, as GitHub makes them of headings: lower case, spaces as `-`, no other punctuation.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let documents: Vec<PathBuf> = ["", "docs", "docs/detectors"].into_iter().flat_map(documents).collect();
    assert!(documents.len() >= 25, "found only {} documents", documents.len());
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path =
                if target.is_empty() { document.clone() } else { document.parent().unwrap().join(target) };
            assert!(path.exists(), "{}: {link} leads nowhere", document.display());
            let found =
                anchor.is_empty() || anchors(&fs::read_to_string(&path).unwrap()).contains(&anchor.into());
            assert!(found, "{}: {link} has no such heading", document.display());
        }
    }
}

#[test]
fn the_readme_links_to_every_page() {
    let readme = read("README.md");
    let linked: Vec<&str> = links(&readme).collect();
    for page in documents("docs") {
        let page = format!("docs/{}", page.file_name().unwrap().to_str().unwrap());
        assert!(linked.contains(&page.as_str()), "README.md does not link to {page}");
    }
}

#[test]
fn anchors_are_those_of_github() {
    assert_eq!(
        anchors("# A\n## Why is `fit` odd?\ntext\n### p-values, all"),
        ["a", "why-is-fit-odd", "p-values-all"]
    );
}

#[test]
fn a_table_of_parameters_is_read_row_by_row() {
    let text =
        "Words.\n\n| parameter | default | range |\n|---|---|---|\n| `a` | `1.5` | 0 to 2 |\n\n| x | y |\n";
    let rows = parameters(text);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows["a"]["default"], "1.5");
    assert_eq!(rows["a"]["range"], "0 to 2");
}

#[test]
fn the_model_file_page_says_what_every_detector_keeps_of_the_training_table() {
    let page = read("docs/model-file.md");
    for entry in DETECTORS {
        let line =
            page.lines().find(|line| line.starts_with("| `") && line.contains(&format!("`{}`", entry.name)));
        let line = line.unwrap_or_else(|| panic!("docs/model-file.md: no line about `{}`", entry.name));
        let kept = line.split(" | ").nth(1).unwrap();
        let expected = match entry.abilities.keeps {
            Keeps::Rows(usize::MAX) => "whole rows: all of them",
            Keeps::Rows(10_000) => "whole rows: by default up to 10,000 per member",
            Keeps::Rows(other) => panic!("the page names no {other} rows"),
            Keeps::Values(usize::MAX) => "values: all of them",
            Keeps::Values(other) => panic!("the page names no {other} values"),
            Keeps::Distances(2_128) => "distances: up to 2,128 of each column",
            Keeps::Distances(other) => panic!("the page names no {other} distances"),
            Keeps::Projections => "projections:",
            Keeps::Nothing => "nothing",
        };
        assert!(kept.starts_with(expected), "`{}` keeps {kept}, expected {expected}", entry.name);
    }
}
