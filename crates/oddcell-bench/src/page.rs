//! The page of results: the pictures of every protocol, each with the figures behind it, in the look of the report.

use std::collections::{BTreeMap, BTreeSet};

use oddcell::count::count;
use oddcell_report::{Gallery, Picture, Section};

use crate::{
    figures::Figure,
    protocol::Protocol,
    store::{Row, Status},
    tables::Table,
};

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Page {
    gallery: Gallery,
    /// By the names of their files.
    tables: BTreeMap<String, Table>,
}

impl Page {
    pub(crate) fn new(rows: &[Row]) -> Self {
        let distinct = |of: fn(&Row) -> String| rows.iter().map(of).collect::<BTreeSet<_>>().len();
        let failed = rows.iter().filter(|row| row.status != Status::Ok).count();
        let versions: BTreeSet<&str> = rows.iter().map(|row| row.version.as_str()).collect();
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let gallery = Gallery {
            title: "Methods on benchmark sets".to_owned(),
            lead: "No epoch, seed or parameter was chosen for a set by its test labels. A figure is the mean over the seeds. \
                   Ranks, times and the mean over common sets are over the sets that all compared methods ran on; tests \
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

    /// Begins the part of a protocol.
    pub(crate) fn begin(&mut self, protocol: Protocol, how: &str) {
        self.gallery.sections.push(Section { title: format!("{protocol}: {how}"), pictures: Vec::new() });
    }

    /// Keeps a table for the picture that shows it.
    pub(crate) fn keep(&mut self, name: String, table: Table) {
        self.tables.insert(name, table);
    }

    /// Shows a picture in the part that was begun last.
    pub(crate) fn show(&mut self, protocol: Protocol, name: &str, figure: Figure) {
        let kind = name.strip_prefix(&format!("{protocol}_")).unwrap_or(name);
        let (title, table) = match kind {
            "heat" => ("Heat map of the AUC by set and method", Some("auc")),
            "ranks" => ("Mean ranks, and the critical difference", Some("auc_ranks")),
            "time" => ("Time against AUC", None),
            "path" => ("AUC on the way of the training", Some("oracle")),
            study => ("A parameter that was varied", Some(study)),
        };
        let table = table.and_then(|name| self.tables.get(&format!("{protocol}_{name}")));
        let picture = Picture {
            title: title.to_owned(),
            svg: figure.svg,
            table: table.map_or_else(Vec::new, |table| {
                std::iter::once(table.header.clone()).chain(table.lines.iter().cloned()).collect()
            }),
        };
        let section = self.gallery.sections.last_mut().expect("a part was begun");
        section.pictures.push(picture);
    }

    /// The page. Where there is nothing to draw it says so.
    pub(crate) fn html(mut self) -> String {
        self.gallery.sections.retain(|section| !section.pictures.is_empty());
        if self.gallery.sections.is_empty() {
            "There is nothing to draw yet: pictures compare at least two methods over at least two sets."
                .clone_into(&mut self.gallery.lead);
        }
        self.gallery.html()
    }
}
