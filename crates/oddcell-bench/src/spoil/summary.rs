//! Tables of the results: by table, by half, and by kind of error.

use std::collections::BTreeSet;

use super::{
    error_kinds::ErrorKind,
    results::{Found, Measured},
};
use crate::tables::Table;

/// The name of all tables together, beside the halves.
const ALL: &str = "all";

/// Tables for the results of some tables, with their file names. A table that a method could not judge counts as one in which
/// it found nothing.
#[must_use]
pub fn summaries(measured: &[Measured], found: &[Found]) -> Vec<(&'static str, Table)> {
    vec![
        ("spoil_tables", by_table(measured)),
        ("spoil_halves", by_half(measured)),
        ("spoil_kinds", by_kind(found)),
    ]
}

fn distinct<'a, T>(rows: &'a [T], of: impl Fn(&'a T) -> &'a str) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    rows.iter().map(of).filter(|&name| seen.insert(name)).collect()
}

/// The halves that results have, and all of them together.
fn halves<'a, T>(rows: &'a [T], of: impl Fn(&'a T) -> &'a str) -> Vec<&'a str> {
    let mut halves: Vec<&str> = distinct(rows, of).into_iter().filter(|half| !half.is_empty()).collect();
    halves.sort_unstable_by(|a, b| b.cmp(a));
    halves.push(ALL);
    halves
}

const FIGURES: [&str; 8] = [
    "precision at k",
    "AP",
    "AUC",
    "first reason right",
    "called",
    "unspoiled among them",
    "spoiled called",
    "seconds",
];

/// The means of some results, as text.
fn figures(some: &[&Measured]) -> Vec<String> {
    let mean = |of: fn(&Measured) -> f64| some.iter().map(|one| of(one)).sum::<f64>() / some.len() as f64;
    let shares = [
        mean(|one| one.precision_at_k),
        mean(|one| one.ap),
        mean(|one| one.auc),
        mean(|one| one.first_reason_right),
    ];
    let verdicts = [mean(|one| one.unspoiled_called), mean(|one| one.spoiled_called)];
    let text = |share: f64| format!("{share:.3}");
    shares
        .into_iter()
        .map(text)
        .chain([format!("{:.1}", mean(|one| one.called as f64))])
        .chain(verdicts.into_iter().map(text))
        .chain([format!("{:.1}", mean(|one| one.seconds))])
        .collect()
}

fn by_table(measured: &[Measured]) -> Table {
    let mut lines = Vec::new();
    for method in distinct(measured, |one| &one.method) {
        let mut names = distinct(measured, |one| &one.table);
        names.sort_unstable();
        for name in names {
            let some: Vec<&Measured> =
                measured.iter().filter(|one| one.table == name && one.method == method).collect();
            let Some(first) = some.first() else { continue };
            let sizes = [some.len(), first.rows, first.columns, first.spoiled].map(|count| count.to_string());
            let names = [name, &first.half, method].map(str::to_owned);
            let failed = some.iter().find(|one| !one.message.is_empty()).map(|one| one.message.clone());
            let line =
                names.into_iter().chain(sizes).chain(figures(&some)).chain([failed.unwrap_or_default()]);
            lines.push(line.collect());
        }
    }
    let header = ["table", "half", "method", "seeds", "rows", "columns", "spoiled"].iter().chain(&FIGURES);
    let header = header.chain(&["failed"]).map(|&name| name.to_owned()).collect();
    Table { title: "Errors found, by table (means over seeds)".to_owned(), header, lines }
}

fn by_half(measured: &[Measured]) -> Table {
    let mut lines = Vec::new();
    for half in halves(measured, |one| &one.half) {
        for method in distinct(measured, |one| &one.method) {
            let is_meant = |one: &&Measured| one.method == method && (half == ALL || one.half == half);
            let some: Vec<&Measured> = measured.iter().filter(is_meant).collect();
            if some.is_empty() {
                continue;
            }
            let tables: BTreeSet<&str> = some.iter().map(|one| &*one.table).collect();
            let failed = some.iter().filter(|one| !one.message.is_empty()).count();
            let head = [half.to_owned(), method.to_owned(), tables.len().to_string(), failed.to_string()];
            lines.push(head.into_iter().chain(figures(&some)).collect());
        }
    }
    let header = ["half", "method", "tables", "failed runs"].iter().chain(&FIGURES);
    let header = header.map(|&name| name.to_owned()).collect();
    Table { title: "Errors found, by half (means over tables and seeds)".to_owned(), header, lines }
}

fn by_kind(found: &[Found]) -> Table {
    let mut lines = Vec::new();
    for half in halves(found, |one| &one.half) {
        for method in distinct(found, |one| &one.method) {
            for kind in ErrorKind::ALL.iter().map(|kind| Some(kind.name())).chain([None]) {
                let is_meant = |one: &&Found| {
                    one.method == method
                        && (half == ALL || one.half == half)
                        && kind.is_none_or(|kind| one.kind == kind)
                };
                let some: Vec<&Found> = found.iter().filter(is_meant).collect();
                if !some.is_empty() {
                    let head = [half, method, kind.unwrap_or(ALL)].map(str::to_owned);
                    lines.push(head.into_iter().chain(shares(&some)).collect());
                }
            }
        }
    }
    let header = [
        "half",
        "method",
        "kind",
        "rows",
        "found in top k",
        "of those that show",
        "of the others",
        "first reason right",
        "called",
    ];
    let title = "Errors found, by kind (all spoiled rows together)".to_owned();
    Table { title, header: header.map(str::to_owned).to_vec(), lines }
}

/// How many rows these are, and the shares found: of all, of those whose column alone shows the error, of the others.
fn shares(some: &[&Found]) -> Vec<String> {
    let share = |is_of: fn(&Found) -> bool, is: fn(&Found) -> bool| {
        let of: Vec<&&Found> = some.iter().filter(|one| is_of(one)).collect();
        let count = of.iter().filter(|one| is(one)).count();
        if of.is_empty() { "-".to_owned() } else { format!("{:.3}", count as f64 / of.len() as f64) }
    };
    vec![
        some.len().to_string(),
        share(|_| true, |one| one.found),
        share(|one| one.shows, |one| one.found),
        share(|one| !one.shows, |one| one.found),
        share(|_| true, |one| one.reason_right),
        share(|_| true, |one| one.called),
    ]
}
