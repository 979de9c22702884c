//! Puts template, style, script and data together into one file.
//!
//! *Safety:* cells and names enter the page in two ways only: through the template, which escapes them, and as JSON in
//! which `<`, `>` and `&` are escaped, so that no cell can end its script element. The script inserts them as text. The
//! policy in the head allows this style and this script, by their hashes, and nothing else: no other script, no
//! request.

use std::{io::Write as _, path::Path};

use askama::Template;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use oddcell::{
    Error,
    count::{count, counted},
    detect::CellUnit,
    encode::Encoder,
    model_file::write_atomically,
    verdict::Rule,
};
use sha2::{Digest, Sha256};

use crate::{
    collect::About,
    curves::Curves,
    data::{Data, cut, json},
    map::Map,
    oddest::KeptRow,
    scores::Histogram,
    stops::Thresholds,
};

pub(crate) const STYLE: &str = include_str!("../assets/style.css");
/// Switches between light and dark colors; also on pages without data.
pub(crate) const THEME_SCRIPT: &str = include_str!("../assets/theme.js");
/// The script: small files joined in one closed scope.
const SCRIPT: &str = concat!(
    "\"use strict\";(()=>{\n",
    include_str!("../assets/theme.js"),
    include_str!("../assets/base.js"),
    include_str!("../assets/rule.js"),
    include_str!("../assets/charts.js"),
    include_str!("../assets/columns.js"),
    include_str!("../assets/csv.js"),
    include_str!("../assets/called.js"),
    include_str!("../assets/tip.js"),
    include_str!("../assets/row.js"),
    include_str!("../assets/table.js"),
    include_str!("../assets/map.js"),
    include_str!("../assets/truth.js"),
    include_str!("../assets/main.js"),
    "})();\n",
);

/// A finished page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    html: String,
}

impl Report {
    /// The HTML of the page.
    #[must_use]
    pub fn html(&self) -> &str {
        &self.html
    }

    /// Writes the page to a file, atomically: the file is complete or absent.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_atomically(path, |file| {
            let failed = |source| Error::File { action: "write", path: path.to_owned(), source };
            file.write_all(self.html.as_bytes()).map_err(failed)
        })
    }
}

/// The content of a page.
pub(crate) struct Content<'a> {
    pub(crate) encoder: &'a Encoder,
    /// The unit of the cells.
    pub(crate) unit: CellUnit,
    pub(crate) rule: Rule,
    pub(crate) about: About,
    pub(crate) n_rows: usize,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<KeptRow>,
    pub(crate) thresholds: Thresholds,
    pub(crate) scores: Histogram,
    pub(crate) curves: Option<Curves>,
    pub(crate) map: Option<Map>,
}

#[expect(clippy::struct_excessive_bools, reason = "the switches of a template")]
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    policy: &'a str,
    style: &'a str,
    script: &'a str,
    headline: &'a str,
    rule: &'a str,
    facts: &'a [(&'static str, String)],
    notes: &'a [String],
    knows_cells: bool,
    has_sets: bool,
    in_sds: bool,
    in_context: bool,
    n_rows: usize,
    has_map: bool,
    has_truths: bool,
    data: &'a str,
}

impl Report {
    pub(crate) fn new(content: &Content<'_>) -> Self {
        let data = Data::new(content);
        let stop = content.thresholds.modes[content.thresholds.mode].stops[content.thresholds.stop];
        let verb = if stop.odd == 1 { "is" } else { "are" };
        let headline =
            format!("{} of {} {verb} odd", count(stop.odd as usize), counted(content.n_rows, "row", "rows"));
        let page = Page {
            title: &format!("{headline} · {}", content.about.data),
            policy: &policy(STYLE, SCRIPT),
            style: STYLE,
            script: SCRIPT,
            headline: &headline,
            rule: &content.rule.to_string(),
            facts: &facts(content),
            notes: &notes(content, data.columns.len(), data.oddest.len()),
            knows_cells: data.cells,
            has_sets: data.sets,
            in_sds: data.unit == CellUnit::StandardDeviations,
            in_context: data.unit == CellUnit::SurpriseInContext,
            n_rows: content.n_rows,
            has_map: content.map.is_some(),
            has_truths: content.curves.is_some(),
            data: &json(&data),
        };
        Self { html: rendered(&page) }
    }
}

pub(crate) fn rendered(page: &impl Template) -> String {
    page.render().expect("writing to memory cannot fail")
}

/// The table, the model and the run, as names and values.
fn facts(content: &Content<'_>) -> Vec<(&'static str, String)> {
    let About { data, model, detector, seed, trained, made, .. } = &content.about;
    let judged = content.encoder.columns().len();
    let others = content.columns.len().saturating_sub(judged);
    let others = if others > 0 { format!(", {} not", count(others)) } else { String::new() };
    let columns = format!("{} judged{others}", count(judged));
    let learned = counted(content.encoder.n_rows() as usize, "row", "rows");
    let mut facts = vec![("Data", cut(data)), ("Rows", count(content.n_rows)), ("Columns", columns)];
    facts.extend(model.iter().map(|model| ("Model", cut(model))));
    facts.push(("Detector", detector.clone()));
    facts.push(("Learned from", learned));
    facts.push(("Seed", seed.to_string()));
    facts.extend(trained.iter().map(|trained| ("Trained", trained.clone())));
    let version = concat!("oddcell ", env!("CARGO_PKG_VERSION"));
    facts
        .push(("Page made", made.as_ref().map_or(version.to_owned(), |made| format!("{made} by {version}"))));
    facts
}

/// What the page leaves out, and the notes of the caller.
fn notes(content: &Content<'_>, n_columns: usize, n_rows: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if n_rows < content.n_rows {
        notes.push(format!(
            "This page shows the {} with the highest scores. Counts and the distribution cover all {}.",
            counted(n_rows, "row", "rows"),
            counted(content.n_rows, "row", "rows"),
        ));
    }
    if n_columns < content.columns.len() {
        notes.push(format!(
            "This page shows {} of {}: those with the most noise.",
            count(n_columns),
            counted(content.columns.len(), "column", "columns"),
        ));
    }
    notes.extend(content.about.notes.iter().map(|note| cut(note)));
    notes
}

/// The Content-Security-Policy that allows this style and this script, and nothing else.
pub(crate) fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(style),
        hash(script)
    )
}
