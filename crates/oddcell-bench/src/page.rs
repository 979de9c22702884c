//! The HTML page of results: the pictures of every protocol, each with the numbers behind it.

use std::collections::{BTreeMap, BTreeSet};

use oddcell::count::count;
use oddcell_report::{Gallery, Picture, Section};

use crate::{
    figures::Figure,
    protocol::Protocol,
    store::{Row, Status},
    tables::Table,
};

/// A page under construction.
#[derive(Debug)]
pub(crate) struct Page {
    gallery: Gallery,
    /// The tables, by file name.
    tables: BTreeMap<String, Table>,
}

impl Page {
    pub(crate) fn new(rows: &[Row]) -> Self {
        let distinct = |of: fn(&Row) -> String| rows.iter().map(of).collect::<BTreeSet<_>>().len();
        let failed = rows.iter().filter(|row| row.status != Status::Ok).count();
        let versions: BTreeSet<&str> = rows.iter().map(|row| row.version.as_str()).collect();
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let gallery = Gallery {
            title: "Anomaly detection methods on benchmark sets".to_owned(),
            lead: "Test labels did not influence the choice of epochs, seeds or parameters. Results are means over seeds. \
                   Ranks, times and means over common sets use the sets that all compared methods completed. Tests \
                   compare two methods on the sets and seeds that both have."
                .to_owned(),
            facts: vec![
                fact("Runs", count(rows.len())),
                fact("Failed or timed out", count(failed)),
                fact("Sets", count(distinct(|row| row.set.clone()))),
                fact("Methods", count(distinct(Row::label))),
                fact("Seeds", count(distinct(|row| row.seed.to_string()))),
                fact("Version", versions.into_iter().collect::<Vec<_>>().join(", ")),
            ],
            sections: Vec::new(),
        };
        Self { gallery, tables: BTreeMap::new() }
    }

    /// Starts the section of a protocol.
    pub(crate) fn begin(&mut self, protocol: Protocol, how: &str) {
        self.gallery.sections.push(Section { title: format!("{protocol}: {how}"), pictures: Vec::new() });
    }

    /// Keeps a table for the picture that belongs to it.
    pub(crate) fn keep(&mut self, name: String, table: Table) {
        self.tables.insert(name, table);
    }

    /// Adds a picture to the current section.
    pub(crate) fn show(&mut self, protocol: Protocol, name: &str, figure: Figure) {
        let kind = name.strip_prefix(&format!("{protocol}_")).unwrap_or(name);
        let (title, table) = match kind {
            "heat" => ("AUC by set and method", Some("auc")),
            "ranks" => ("Mean ranks and critical difference", Some("auc_ranks")),
            "time" => ("Time against AUC", None),
            "path" => ("AUC during training", Some("oracle")),
            duel if duel.starts_with("duel_") => ("Two methods, set by set", Some("auc_comparison")),
            study => ("Effect of a parameter", Some(study)),
        };
        let table = table.and_then(|name| self.tables.get(&format!("{protocol}_{name}")));
        let picture = Picture {
            title: title.to_owned(),
            svg: figure.svg,
            table: table.map_or_else(Vec::new, |table| {
                std::iter::once(table.header.clone()).chain(table.lines.iter().cloned()).collect()
            }),
        };
        let section = self.gallery.sections.last_mut().expect("a section was started");
        section.pictures.push(picture);
    }

    /// The HTML of the page. If there are no pictures, it says so.
    pub(crate) fn html(mut self) -> String {
        self.gallery.sections.retain(|section| !section.pictures.is_empty());
        if self.gallery.sections.is_empty() {
            "There are no pictures yet: they need at least two methods and two sets."
                .clone_into(&mut self.gallery.lead);
        }
        self.gallery.html()
    }
}
