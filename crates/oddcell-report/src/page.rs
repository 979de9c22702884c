//! Everything becomes one file: template, style, script, and the data as JSON.
//!
//! *Safety:* cells and names go into the page in two ways only: through the template, which escapes them, and as JSON in
//! which `<`, `>` and `&` are written as escapes, so that no cell can end the script element it stands in. The script puts
//! them into the page as text. The policy in the head allows this very style and this very script, by their hashes, and
//! nothing else: no other script, no request.

use std::{collections::BTreeMap, io::Write as _, path::Path};

use askama::Template;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use oddcell::{
    Error,
    count::{count, counted},
    encode::{EncodedColumn, Encoder},
    model_file::write_atomically,
    verdict::Rule,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    collect::About,
    curves::Curves,
    map::Map,
    oddest::{CellText, KeptRow},
    scores::Histogram,
    stops::Thresholds,
};

/// Columns on the page, at most.
const COLUMNS: usize = 1_000;
/// Bytes of the columns, and of the rows, at most.
const COLUMN_BYTES: usize = 400_000;
const ROW_BYTES: usize = 2_000_000;
/// Characters of a sentence about a row or a column.
const SENTENCE_CHARS: usize = 300;

pub(crate) const STYLE: &str = include_str!("../assets/style.css");
/// Colours of the reader's choice; also on pages without data.
pub(crate) const THEME_SCRIPT: &str = include_str!("../assets/theme.js");
/// One closed scope out of small files.
const SCRIPT: &str = concat!(
    "\"use strict\";(()=>{\n",
    include_str!("../assets/theme.js"),
    include_str!("../assets/base.js"),
    include_str!("../assets/rule.js"),
    include_str!("../assets/charts.js"),
    include_str!("../assets/columns.js"),
    include_str!("../assets/csv.js"),
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
    /// The page.
    #[must_use]
    pub fn html(&self) -> &str {
        &self.html
    }

    /// Writes the page to a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_atomically(path, |file| {
            let failed = |source| Error::File { action: "write", path: path.to_owned(), source };
            file.write_all(self.html.as_bytes()).map_err(failed)
        })
    }
}

/// What a page is made of.
pub(crate) struct Content<'a> {
    pub(crate) encoder: &'a Encoder,
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
    n_rows: usize,
    has_map: bool,
    has_truths: bool,
    data: &'a str,
}

/// What the script works on. Rows are lists, not objects: their names would take most of the room.
#[derive(Serialize)]
struct Data<'a> {
    rows: usize,
    columns: Vec<Column>,
    oddest: Vec<Row<'a>>,
    thresholds: &'a Thresholds,
    scores: &'a Histogram,
    curves: Option<&'a Curves>,
    map: Option<&'a Map>,
    cells: bool,
}

#[derive(Serialize)]
struct Column {
    name: CellText,
    /// `None` if it was not judged.
    kind: Option<&'static str>,
    normal: String,
    nulls: f64,
}

/// Number, score, p-value, truth, cells, noise by column, details, reasons.
#[derive(Serialize)]
struct Row<'a>(
    usize,
    f64,
    f64,
    Option<bool>,
    Vec<Option<&'a CellText>>,
    Vec<Option<f64>>,
    Vec<Detail<'a>>,
    Vec<String>,
);

/// Column, how far off, place beside the normal range, share of training rows, whether it is about emptiness.
#[derive(Serialize)]
struct Detail<'a>(usize, &'a str, Option<f64>, Option<f64>, bool);

impl Report {
    pub(crate) fn new(content: &Content<'_>) -> Self {
        let shown = shown_columns(content);
        let (rows, knows_cells) =
            (shown_rows(content, &shown), content.rows.iter().any(|row| !row.noise.is_empty()));
        let data = Data {
            rows: content.n_rows,
            columns: shown.iter().map(|column| column_data(content.encoder, column)).collect(),
            oddest: rows,
            thresholds: &content.thresholds,
            scores: &content.scores,
            curves: content.curves.as_ref(),
            map: content.map.as_ref(),
            cells: knows_cells,
        };
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
            notes: &notes(content, shown.len(), data.oddest.len()),
            knows_cells,
            n_rows: content.n_rows,
            has_map: content.map.is_some(),
            has_truths: content.curves.is_some(),
            data: &json(&data),
        };
        Self { html: rendered(&page) }
    }
}

pub(crate) fn rendered(page: &impl Template) -> String {
    page.render().expect("a page in memory takes everything")
}

/// A column of the page.
struct Shown {
    name: String,
    /// Its place among the columns of the rows.
    place: usize,
    /// Its place in the encoder, if it was judged.
    judged: Option<usize>,
}

/// All columns in table order; of very many those with the most noise.
fn shown_columns(content: &Content<'_>) -> Vec<Shown> {
    let encoder = content.encoder.columns();
    let judged: BTreeMap<&str, usize> = encoder.iter().map(EncodedColumn::name).zip(0..).collect();
    let mut shown: Vec<Shown> = (content.columns.iter().enumerate())
        .map(|(place, name)| Shown { name: name.clone(), place, judged: judged.get(name.as_str()).copied() })
        .collect();
    let weight = |column: &Shown| {
        let noise =
            |row: &KeptRow| column.judged.and_then(|at| row.noise.get(at)).map_or(0.0, |sds| sds.min(10.0));
        content.rows.iter().map(noise).sum::<f64>()
    };
    let mut order: Vec<usize> = (0..shown.len()).collect();
    if shown.len() > COLUMNS {
        let weights: Vec<f64> = shown.iter().map(weight).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        order.truncate(COLUMNS);
    }
    let mut room = COLUMN_BYTES;
    order.retain(|&at| {
        let bytes = json(&column_data(content.encoder, &shown[at])).len();
        room = room.saturating_sub(bytes);
        room > 0
    });
    let mut keep = vec![false; shown.len()];
    for at in order {
        keep[at] = true;
    }
    shown.retain(|column| keep[column.place]);
    shown
}

fn column_data(encoder: &Encoder, column: &Shown) -> Column {
    let judged: Option<&EncodedColumn> = column.judged.map(|at| &encoder.columns()[at]);
    Column {
        name: CellText::new(column.name.clone()),
        kind: judged.map(|column| column.kind().name()),
        normal: judged.map_or_else(String::new, |column| cut(&column.normal().to_string())),
        nulls: judged.map_or(0.0, EncodedColumn::null_share),
    }
}

/// The oddest rows, as many as there is room for.
fn shown_rows<'a>(content: &'a Content<'_>, shown: &[Shown]) -> Vec<Row<'a>> {
    let mut room = ROW_BYTES;
    let mut rows = Vec::new();
    for kept in &content.rows {
        let row = row_data(kept, shown);
        let bytes = json(&row).len() + 1;
        if bytes > room {
            break;
        }
        room -= bytes;
        rows.push(row);
    }
    rows
}

fn row_data<'a>(kept: &'a KeptRow, shown: &[Shown]) -> Row<'a> {
    let noise = |column: &Shown| column.judged.and_then(|at| kept.noise.get(at)).map(|&sds| rounded(sds, 2));
    let detail = |detail: &'a crate::oddest::Detail| {
        let column = shown.iter().position(|column| column.judged == Some(detail.column))?;
        let place = detail.place.map(|place| rounded(place.clamp(-1e3, 1e3), 3));
        Some(Detail(
            column,
            &detail.amount,
            place,
            detail.share.map(|share| rounded(share, 4)),
            detail.emptiness,
        ))
    };
    Row(
        kept.row,
        kept.score,
        kept.p,
        kept.truth,
        shown.iter().map(|column| kept.cells.get(column.place).and_then(Option::as_ref)).collect(),
        if kept.noise.is_empty() { Vec::new() } else { shown.iter().map(noise).collect() },
        kept.details.iter().filter_map(detail).collect(),
        kept.reasons.iter().map(|reason| cut(reason)).collect(),
    )
}

/// So many decimals, fewer for large numbers.
fn rounded(x: f64, decimals: i32) -> f64 {
    let scale = f64::from(10_u32.pow(decimals as u32));
    if x.abs() < 1e6 { (x * scale).round() / scale } else { x.round() }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SENTENCE_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// What was judged, and by what.
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

/// What the page leaves out, and what the caller has to say.
fn notes(content: &Content<'_>, n_columns: usize, n_rows: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if n_rows < content.n_rows {
        notes.push(format!(
            "The page holds the {} with the highest scores. Counts and the distribution are those of all {}.",
            counted(n_rows, "row", "rows"),
            counted(content.n_rows, "row", "rows"),
        ));
    }
    if n_columns < content.columns.len() {
        notes.push(format!(
            "The page holds the {} with the most noise, of {}.",
            counted(n_columns, "column", "columns"),
            count(content.columns.len()),
        ));
    }
    notes.extend(content.about.notes.iter().map(|note| cut(note)));
    notes
}

/// JSON that can stand in a script element: nothing in it ends the element or begins a comment.
pub(crate) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain data");
    let mut safe = String::with_capacity(text.len() + text.len() / 16);
    for letter in text.chars() {
        match letter {
            // Only within strings, where these are the same letters.
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(letter),
        }
    }
    safe
}

/// The policy that lets this style and this script in, and nothing else.
pub(crate) fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(style),
        hash(script)
    )
}
