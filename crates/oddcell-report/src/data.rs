//! The data of the page, as the JSON that its script reads. Limits keep it small for any table.

use std::collections::BTreeMap;

use oddcell::detect::CellUnit;
use oddcell::encode::{EncodedColumn, Encoder};
use serde::Serialize;

use crate::{
    curves::Curves,
    map::Map,
    oddest::{self, CellText, KeptRow, Should},
    page::Content,
    scores::Histogram,
    stops::Thresholds,
};

/// The most columns on the page.
const COLUMNS: usize = 1_000;
/// The most bytes of JSON for the columns, and for the rows.
const COLUMN_BYTES: usize = 400_000;
const ROW_BYTES: usize = 2_000_000;
/// A called cell counts like so much noise where columns are chosen.
const CALLED_WEIGHT: f64 = 1e6;
/// The most characters of a sentence about a row or a column.
const SENTENCE_CHARS: usize = 300;

/// All data of a page. Rows are lists, not objects: field names would take most of the space.
#[derive(Serialize)]
pub(crate) struct Data<'a> {
    rows: usize,
    pub(crate) columns: Vec<Column>,
    pub(crate) oddest: Vec<Row<'a>>,
    thresholds: &'a Thresholds,
    scores: &'a Histogram,
    curves: Option<&'a Curves>,
    map: Option<&'a Map>,
    /// Whether anything is known about cells.
    pub(crate) cells: bool,
    /// Whether the judge looked for the cells that make rows odd.
    pub(crate) sets: bool,
    /// Whether all rows and all columns of the table are here.
    whole: bool,
    /// The unit of its cells.
    pub(crate) unit: CellUnit,
    /// From here on a cell is odd by itself.
    #[serde(rename = "oddFrom")]
    odd_from: f64,
}

/// A column of the page.
#[derive(Serialize)]
pub(crate) struct Column {
    name: CellText,
    /// `None` if it was not judged.
    kind: Option<&'static str>,
    /// Whether its cells are aligned right and sorted by their value.
    numeric: bool,
    normal: String,
    nulls: f64,
}

/// A row: number, score, p-value, truth, cells, noise by column, details, reasons, set.
#[derive(Serialize)]
pub(crate) struct Row<'a>(
    usize,
    f64,
    f64,
    Option<bool>,
    Vec<Option<&'a CellText>>,
    Vec<Option<f64>>,
    Vec<Detail<'a>>,
    Vec<String>,
    Option<Vec<Called<'a>>>,
);

/// A cell that makes its row odd: column, p-value, what should stand there, reason.
#[derive(Serialize)]
pub(crate) struct Called<'a>(usize, f64, Option<&'a Should>, String);

/// A detail of a row: column, distance from normal, position relative to the normal range, share of training rows with
/// this value, whether it is about being empty, what else is odd, and what was expected.
#[derive(Serialize)]
pub(crate) struct Detail<'a>(
    usize,
    &'a str,
    Option<f64>,
    Option<f64>,
    bool,
    Option<String>,
    Option<&'a CellText>,
);

impl<'a> Data<'a> {
    pub(crate) fn new(content: &'a Content<'_>) -> Self {
        let shown = shown_columns(content);
        let oddest = shown_rows(content, &shown);
        let has_noise = content.rows.iter().any(|row| !row.noise.is_empty());
        let sets = content.rows.iter().any(|row| row.set.is_some());
        // A detector that scores rows only leaves the cells to the one that looks for sets.
        let unit = if sets && !has_noise { CellUnit::SurpriseInContext } else { content.unit };
        Self {
            rows: content.n_rows,
            columns: shown.iter().map(|column| column_data(content.encoder, column)).collect(),
            whole: oddest.len() == content.n_rows && shown.len() == content.columns.len(),
            oddest,
            thresholds: &content.thresholds,
            scores: &content.scores,
            curves: content.curves.as_ref(),
            map: content.map.as_ref(),
            cells: has_noise || sets,
            sets,
            unit,
            odd_from: unit.odd_from(),
        }
    }
}

/// A column chosen for the page.
struct Shown {
    name: String,
    /// Its position among the columns of the rows.
    place: usize,
    /// Its position in the encoder, if it was judged.
    judged: Option<usize>,
}

/// The columns in table order; if there are too many, those with called cells and the most noise.
fn shown_columns(content: &Content<'_>) -> Vec<Shown> {
    let encoder = content.encoder.columns();
    let judged: BTreeMap<&str, usize> = encoder.iter().map(EncodedColumn::name).zip(0..).collect();
    let mut shown: Vec<Shown> = (content.columns.iter().enumerate())
        .map(|(place, name)| Shown { name: name.clone(), place, judged: judged.get(name.as_str()).copied() })
        .collect();
    let weight = |column: &Shown| {
        let noise =
            |row: &KeptRow| column.judged.and_then(|at| row.noise.get(at)).map_or(0.0, |sds| sds.min(10.0));
        let is_called =
            |row: &KeptRow| row.set.iter().flatten().any(|cell| Some(cell.column) == column.judged);
        let weight = |row: &KeptRow| if is_called(row) { CALLED_WEIGHT } else { noise(row) };
        content.rows.iter().map(weight).sum::<f64>()
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
        numeric: judged.is_some_and(|column| column.kind().is_numeric()),
        normal: judged.map_or_else(String::new, |column| cut(&column.normal().to_string())),
        nulls: judged.map_or(0.0, EncodedColumn::null_share),
    }
}

/// The oddest rows, as many as fit.
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
    let noise = |column: &Shown| column.judged.and_then(|at| kept.noise.get(at)).map(|&sds| rounded(sds, 3));
    let detail = |detail: &'a oddest::Detail| {
        let column = shown.iter().position(|column| column.judged == Some(detail.column))?;
        let place = detail.place.map(|place| rounded(place.clamp(-1e3, 1e3), 3));
        Some(Detail(
            column,
            &detail.amount,
            place,
            detail.share.map(|share| rounded(share, 4)),
            detail.emptiness,
            detail.tells.as_deref().map(cut),
            detail.expected.as_ref(),
        ))
    };
    let called = |cell: &'a oddest::Called| {
        let column = shown.iter().position(|column| column.judged == Some(cell.column))?;
        Some(Called(column, cell.p, cell.expected.as_ref(), cut(&cell.reason)))
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
        kept.set.as_ref().map(|set| set.iter().filter_map(called).collect()),
    )
}

/// Rounds to `decimals` decimals, and large numbers to whole ones.
fn rounded(x: f64, decimals: i32) -> f64 {
    let scale = f64::from(10_u32.pow(decimals as u32));
    if x.abs() < 1e6 { (x * scale).round() / scale } else { x.round() }
}

/// Shortens a sentence to its limit.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(SENTENCE_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns JSON that is safe inside a script element: nothing in it ends the element or starts a comment.
pub(crate) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain data");
    let mut safe = String::with_capacity(text.len() + text.len() / 16);
    for letter in text.chars() {
        match letter {
            // These occur only within strings, where the escapes mean the same characters.
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
