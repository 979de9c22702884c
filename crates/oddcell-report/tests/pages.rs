//! Tests of whole pages: they are safe, small, and independent of the batches. They stay in `target/tmp/report-pages`
//! for the browser tests.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::{fmt::Write as _, fs, path::Path, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use oddcell::{
    Context, DetectorSpec, Error, Fitted, Matrix, Model, Seed, Table,
    calibrate::{Calibration, RobustNull},
    demo,
    detect::CellUnit,
    encode::{EncodeOptions, Encoder, Part},
    explain::Explainer,
    judge::{self, Findings, Judge, Outcome, Scorer, Truths},
    model::FitOptions,
    table::{ReadOptions, Rows, TableReader},
    verdict::Rule,
};
use oddcell_report::{About, Collector, Report};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn table(csv: String) -> Table {
    let options = ReadOptions { delimiter: Some(b','), ..ReadOptions::default() };
    Table::from_reader(TableReader::from_bytes("made", csv.into_bytes(), &options).unwrap()).unwrap()
}

fn encoder(table: &Table) -> Encoder {
    Encoder::fit(table, &EncodeOptions::default(), None).unwrap()
}

/// Judges rows without a detector.
struct Made<'a> {
    encoder: Encoder,
    reference: Calibration,
    spec: DetectorSpec,
    findings: Box<dyn Fn(&Rows) -> Findings + Sync + 'a>,
}

impl<'a> Made<'a> {
    fn new(table: &Table, reference: Vec<f64>, findings: impl Fn(&Rows) -> Findings + Sync + 'a) -> Self {
        let (encoder, spec) = (encoder(table), DetectorSpec::new("knn", None).unwrap());
        Self { encoder, reference: Calibration::conformal(reference), spec, findings: Box::new(findings) }
    }
}

impl Judge for Made<'_> {
    fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    fn findings(&self, rows: &Rows, _: &Matrix, _: bool) -> Result<Findings, Error> {
        Ok((self.findings)(rows))
    }

    fn reference(&self) -> Calibration {
        self.reference.clone()
    }

    fn spec(&self) -> &DetectorSpec {
        &self.spec
    }

    fn seed(&self) -> Seed {
        Seed(1)
    }

    fn fitted(&self) -> Option<&dyn Fitted> {
        None
    }

    fn verdict_notes(&self, _: Rule, _: &Outcome) -> Vec<String> {
        Vec::new()
    }
}

/// The noise of a cell is how far it is beyond two standard deviations.
fn judged(encoder: &Encoder, batch: &RecordBatch) -> Findings {
    let mut features = encoder.encode(&Rows::new(batch.clone(), 0, "made")).unwrap().matrix;
    // Levels and signs are no distances.
    for (at, z) in features.values_mut().iter_mut().enumerate() {
        if let Part::Sign(_) = encoder.features()[at % encoder.n_features()].part {
            *z = 0.0;
        }
    }
    let noise = features.values().iter().map(|z| (z.abs() - 2.0).max(0.0)).collect();
    let cells = Matrix::new(noise, features.n_rows(), features.n_cols());
    let scores: Vec<f64> = cells
        .rows()
        .zip(features.rows())
        .map(|(noise, row)| noise.iter().chain(row).map(|z| z * z).sum::<f64>() / row.len() as f64)
        .collect();
    let null = RobustNull::fit(scores.clone());
    let p_values = scores.iter().map(|&score| null.p_value(score)).collect();
    Findings { scores, p_values, cells: Some(cells) }
}

fn about(data: &str) -> About {
    let text = |text: &str| Some(text.to_owned());
    About {
        data: data.to_owned(),
        detector: "made".to_owned(),
        trained: text("2026-01-02 03:04 UTC"),
        made: text("2026-01-02 03:05 UTC"),
        ..About::default()
    }
}

/// Makes the page of a table, in batches of `size` rows.
fn page(name: &str, csv: String, rule: Rule, truths: Option<&[bool]>, size: usize, cells: bool) -> Report {
    let table = table(csv);
    let whole = arrow_select::concat::concat_batches(&table.schema(), &table.batches).unwrap();
    let findings = judged(&encoder(&table), &whole);
    let made = Made::new(&table, findings.scores.clone(), |rows| {
        let some = rows.first_row..rows.first_row + rows.n_rows();
        Findings {
            scores: findings.scores[some.clone()].to_vec(),
            p_values: findings.p_values[some.clone()].to_vec(),
            cells: findings.cells.as_ref().filter(|_| cells).map(|cells| cells.slice(some)),
        }
    });
    let mut collector = Collector::new(&made, rule);
    let batches = (0..whole.num_rows()).step_by(size);
    let batches = batches.map(|first| Ok(whole.slice(first, size.min(whole.num_rows() - first))));
    let scorer = Scorer { truths: truths.map_or(Truths::Unknown, Truths::Known), ..Scorer::new(&made, rule) };
    scorer.run("made", batches, &mut [&mut collector], None).unwrap();
    let page = collector.finish(about(name), false).unwrap();
    keep(name, &page);
    page
}

/// Keeps the page for the browser tests.
fn keep(name: &str, page: &Report) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-pages");
    fs::create_dir_all(&folder).unwrap();
    page.write(&folder.join(format!("{name}.html"))).unwrap();
}

/// The text between two marks of a page.
fn between<'a>(html: &'a str, begin: &str, end: &str) -> &'a str {
    let from = html.find(begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
    &html[from..from + html[from..].find(end).unwrap()]
}

fn data(html: &str) -> Value {
    serde_json::from_str(between(html, "id=\"data\">", "</script>")).unwrap()
}

/// The orders of the demo, and which rows have spoiled cells.
fn orders() -> (String, Vec<bool>) {
    let demo = demo::orders(2_000, 40, Seed(0));
    let spoiled = (1..=demo.n_rows).map(|row| demo.spoiled.iter().any(|cell| cell.row == row)).collect();
    (demo.csv, spoiled)
}

#[test]
fn the_page_of_the_orders_agrees_with_the_library_for_any_batches() {
    let (csv, spoiled) = orders();
    let whole = page("orders", csv.clone(), Rule::Fdr(0.1), Some(&spoiled), 2_000, true);
    let pieces = page("orders-in-pieces", csv.clone(), Rule::Fdr(0.1), Some(&spoiled), 97, true);
    assert_eq!(data(whole.html()), data(pieces.html()));

    let found = data(whole.html());
    let encoder = encoder(&table(csv.clone()));
    let table = table(csv);
    let batch = &table.batches[0];
    assert_eq!(batch.num_rows(), 2_000);
    let findings = judged(&encoder, batch);
    let reference = Calibration::conformal(findings.scores.clone());
    let odd = oddcell::verdict::verdicts(Rule::Fdr(0.1), &findings.scores, &findings.p_values, &reference);
    let n_odd = odd.iter().filter(|&&odd| odd).count();
    assert!(n_odd > 5 && whole.html().contains(&format!(">{n_odd} of 2,000 rows are odd</h1>")));
    let oddest = found["oddest"].as_array().unwrap();
    assert_eq!(oddest.len(), 1_000);
    let row = oddest[0][0].as_u64().unwrap() as usize - 1;
    let highest = findings.scores.iter().copied().fold(0.0, f64::max);
    assert_eq!((findings.scores[row], oddest[0][1].as_f64().unwrap()), (highest, highest));
    let cells = findings.cells.as_ref().unwrap();
    let rows = Rows::new(batch.clone(), 0, "made");
    let columns = encoder.matched(&rows).unwrap();
    let reasons = Explainer::new(&encoder, CellUnit::StandardDeviations, &rows, &columns)
        .reasons(row, cells.row(row))
        .unwrap();
    assert_eq!(oddest[0][7][0], reasons[0].to_string());
    let (mode, stop) = (&found["thresholds"]["mode"], &found["thresholds"]["stop"]);
    let stop = &found["thresholds"]["modes"][mode.as_u64().unwrap() as usize]["stops"]
        [stop.as_u64().unwrap() as usize];
    let hits = (0..2_000).filter(|&row| odd[row] && spoiled[row]).count();
    assert_eq!((stop["odd"].as_u64(), stop["anomalous"].as_u64()), (Some(n_odd as u64), Some(hits as u64)));
    assert_eq!(found["curves"]["auc"].as_f64(), oddcell::metrics::auc(&findings.scores, &spoiled));
    // The order number was not judged; the page shows it anyway, to identify the order.
    assert_eq!(
        (&found["columns"][0]["name"], &found["columns"][0]["kind"]),
        (&"order_id".into(), &Value::Null)
    );
}

const SCRIPT: &str = "</script><script>window.hacked=1</script>";
const IMAGE: &str = "<img src=x onerror='window.hacked=2'>";

fn hostile() -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let names = [IMAGE, SCRIPT, "name \"with\" <!-- marks", "\u{202e}reversed", "&lt;b&gt;", "note"];
    let mut csv = names.map(quoted).join(",") + "\n";
    let huge = "x".repeat(1_000_000);
    for row in 0..300 {
        let spoiled = row % 61 == 7;
        let number = if spoiled { "1e6".to_owned() } else { format!("{}", (row * 37) % 101) };
        let word = match row % 3 {
            0 => SCRIPT,
            1 => "=HYPERLINK(\"http://example.org\",\"x\")",
            _ => "two\nlines, \"quoted\"",
        };
        let mark = if spoiled { "a\u{202e}b\u{0}c" } else { "" };
        let note = if row == 7 { huge.as_str() } else { IMAGE };
        let cells = [number, quoted(word), (row % 5).to_string(), quoted("-1"), quoted(mark), quoted(note)];
        csv += &(cells.join(",") + "\n");
    }
    csv
}

#[test]
fn hostile_cells_and_names_are_text_and_nothing_else() {
    let page = page("hostile", hostile(), Rule::Top(5), None, 300, true);
    let html = page.html();
    // One script element has the data, the other one is ours.
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script").count(), 2);
    assert!(!html.contains("<img") && !html.contains("<!--"));
    let found = data(html);
    let names: Vec<&str> =
        found["columns"].as_array().unwrap().iter().filter_map(|column| column["name"].as_str()).collect();
    assert_eq!(&names[..2], [IMAGE, SCRIPT]);
    let texts: Vec<&Value> =
        found["oddest"].as_array().unwrap().iter().flat_map(|row| row[4].as_array().unwrap()).collect();
    assert!(texts.contains(&&Value::from(SCRIPT)));
    let cut = texts.iter().find(|cell| cell.is_array()).unwrap();
    assert_eq!((cut[0].as_str().unwrap().len(), cut[1].as_u64()), (200, Some(1_000_000)));
    assert!(html.len() < 500_000, "{}", html.len());
}

#[test]
fn the_policy_names_this_very_style_and_script() {
    let page = page(
        "one-column",
        (0..60).fold("x\n".to_owned(), |csv, x| csv + &format!("{}\n", x * x)),
        Rule::Alpha(0.05),
        None,
        60,
        true,
    );
    let policy = between(page.html(), "Content-Security-Policy\" content=\"", "\"").replace("&#39;", "'");
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())));
    let style = hash(between(page.html(), "<style>", "</style>"));
    let script = hash(between(page.html(), "<script>", "</script>"));
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(policy.contains(&format!("style-src {style};")), "{policy}");
    assert!(policy.contains(&format!("script-src {script};")), "{policy}");
}

/// Correlated columns; in every hundredth row, one cell breaks the correlation.
fn wide(n_rows: usize, n_columns: usize) -> String {
    let mut stream = Seed(5).stream("wide", &[]);
    let mut csv = (0..n_columns).map(|column| format!("measure_{column}")).collect::<Vec<_>>().join(",");
    for row in 0..n_rows {
        let base = stream.normal();
        csv.push('\n');
        for column in 0..n_columns {
            let odd = if row % 100 == 3 && column == row % n_columns { 9.0 } else { 0.0 };
            let comma = if column == 0 { "" } else { "," };
            let _ = write!(csv, "{comma}{:.3}", base + 0.5 * stream.normal() + odd);
        }
    }
    csv
}

#[test]
fn five_hundred_columns_fit_on_the_page() {
    let page = page("wide", wide(600, 500), Rule::Top(6), None, 600, true);
    assert!(page.html().len() < 3_000_000, "{}", page.html().len());
    let found = data(page.html());
    assert_eq!(found["columns"].as_array().unwrap().len(), 500);
    assert!(found["oddest"].as_array().unwrap().len() >= 100);
}

#[test]
fn pages_without_odd_rows_without_cells_and_without_rows() {
    let calm = (0..200).fold("x,y\n".to_owned(), |csv, row| csv + &format!("{},{}\n", row % 7, row % 5));
    let none = page("none", calm.clone(), Rule::Alpha(1e-6), None, 200, true);
    assert!(none.html().contains(">0 of 200 rows are odd</h1>"));
    let rows_only = page("rows-only", wide(300, 4), Rule::Top(1), None, 300, false);
    assert!(rows_only.html().contains(">1 of 300 rows is odd</h1>"));
    assert!(rows_only.html().contains("does not say which cells"));

    let table = table(calm);
    let made = Made::new(&table, Vec::new(), |_| Findings::default());
    let empty = Collector::new(&made, Rule::Contamination(0.1)).finish(about("empty"), false).unwrap();
    keep("empty", &empty);
    assert!(empty.html().contains(">0 of 0 rows are odd</h1>"));
}

#[test]
fn a_fitted_model_is_shown_with_noised_rows() {
    let table = table(demo::orders(400, 8, Seed(3)).csv);
    let mut spec = DetectorSpec::new("noise", None).unwrap();
    spec.set_text("train_for", "30 steps").unwrap();
    let model = Model::fit(&table, &FitOptions::new(spec), &Context::silent(Seed(0))).unwrap();
    // The rows come out of an earlier run, whose findings are not shown.
    let mut earlier: Vec<(&str, ArrayRef)> =
        judge::COLUMNS.map(|name| (name, Arc::new(StringArray::new_null(400)) as ArrayRef)).into();
    let schema = table.schema();
    earlier.extend(
        schema.fields().iter().map(|field| field.name().as_str()).zip(table.batches[0].columns().to_vec()),
    );
    let rows = RecordBatch::try_from_iter_with_nullable(
        earlier.into_iter().map(|(name, column)| (name, column, true)),
    );
    let mut collector = Collector::new(&model, Rule::Alpha(0.01));
    let scorer = Scorer { cells: true, ..Scorer::new(&model, Rule::Alpha(0.01)) };
    scorer.run("made", [Ok(rows.unwrap())].into_iter(), &mut [&mut collector], None).unwrap();
    let page = collector.finish(about("fitted"), true).unwrap();
    keep("fitted", &page);
    let found = data(page.html());
    let map = &found["map"];
    assert_eq!(map["layer"], true);
    assert_eq!(map["points"].as_array().unwrap().len(), 400);
    assert_eq!(map["noised"].as_array().unwrap().len(), 300);
    let names: Vec<&Value> =
        found["columns"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert!(names.contains(&&Value::from("country")));
    assert!(judge::COLUMNS.iter().all(|&name| !names.contains(&&Value::from(name))), "{names:?}");
}

/// Shipments with cities, dates and remarks; the seventh has a misspelled city, the twentieth an amount that is no number.
fn shipments() -> String {
    let mut stream = Seed(9).stream("shipments", &[]);
    let cities = ["Trondheim", "Stavanger", "Oslo", "Bergen"];
    let words = [
        "left", "at", "the", "door", "fragile", "call", "before", "please", "ring", "twice", "gift", "urgent",
    ];
    let mut csv = "city,sent,amount,remark".to_owned();
    for row in 1..=400 {
        let city = if row == 7 { "Trondhiem" } else { cities[stream.below(4)] };
        let day = 1 + stream.below(28);
        let amount = if row == 20 { "1O2".to_owned() } else { (50 + stream.below(100)).to_string() };
        let remark: Vec<&str> = (0..5 + stream.below(4)).map(|_| words[stream.below(12)]).collect();
        let _ = write!(csv, "\n{city},2024-03-{day:02},{amount},{} {row}", remark.join(" "));
    }
    csv
}

/// The page of a table judged by itself; the `most` oddest rows are odd.
fn detected(name: &str, csv: String, most: usize, detector: DetectorSpec) -> Report {
    let table = table(csv);
    let detection =
        oddcell::model::detect(&table, &FitOptions::new(detector), &Context::silent(Seed(0))).unwrap();
    let mut collector = Collector::new(&detection, Rule::Top(most));
    let scorer = Scorer { cells: true, ..Scorer::new(&detection, Rule::Top(most)) };
    scorer.run("made", table.batches.iter().cloned().map(Ok), &mut [&mut collector], None).unwrap();
    let page = collector.finish(about(name), true).unwrap();
    keep(name, &page);
    page
}

/// The called cells of a row: the column's position, and the value that is expected.
fn called(row: &Value) -> Vec<(u64, &Value)> {
    let cells = row[8].as_array().unwrap().iter();
    cells.map(|cell| (cell[0].as_u64().unwrap(), &cell[2][0])).collect()
}

#[test]
fn a_page_of_a_mixed_table_calls_the_guilty_cells_and_tells_what_is_expected() {
    let page = detected("mixed", shipments(), 2, DetectorSpec::by_table());
    assert!(page.html().contains("Solid cells make their row odd"));
    let found = data(page.html());
    assert_eq!((&found["unit"], &found["sets"]), (&"surprise in context".into(), &true.into()));
    let kinds: Vec<&Value> =
        found["columns"].as_array().unwrap().iter().map(|column| &column["kind"]).collect();
    assert_eq!(kinds, ["category", "date", "number", "text"]);
    assert!(found["columns"][3]["normal"].as_str().unwrap().starts_with("texts of "));
    let mut first: Vec<&Value> = found["oddest"].as_array().unwrap()[..2].iter().collect();
    first.sort_by_key(|row| row[0].as_u64());
    assert_eq!(first[0][0], 7);
    // One cell of each, and no other beside it.
    assert_eq!(called(first[0]), [(0, &Value::from("Trondheim"))]);
    assert!(first[0][8][0][3].as_str().unwrap().contains("looks like `Trondheim` ("));
    assert_eq!(first[0][7], Value::Array(Vec::new()));
    assert_eq!((&first[1][0], called(first[1])[0].0), (&Value::from(20), 2));
    assert_eq!(first[1][6][0][5], "cannot be read as a number");
    // Every row has one noise for every column, whatever its features.
    assert_eq!(found["oddest"][0][5].as_array().unwrap().len(), 4);
    assert_eq!(found["whole"], true);
}

#[test]
fn a_detector_that_scores_rows_only_has_called_cells_too() {
    let page = detected("rows-with-cells", wide(400, 4), 4, DetectorSpec::new("knn", None).unwrap());
    let found = data(page.html());
    assert_eq!((&found["cells"], &found["unit"]), (&true.into(), &"surprise in context".into()));
    // In rows 4, 104, 204 and 304, one cell is 9 higher: that of column (row − 1) mod 4 = 3.
    let rows = found["oddest"].as_array().unwrap()[..4].iter();
    let mut named: Vec<(u64, Vec<u64>)> = rows
        .map(|row| (row[0].as_u64().unwrap(), called(row).into_iter().map(|(column, _)| column).collect()))
        .collect();
    named.sort_unstable();
    assert_eq!(named, [4, 104, 204, 304].map(|row| (row, vec![3])));
    assert_eq!(found["oddest"][0][5], Value::Array(Vec::new()));
}

/// A table whose names and levels are markup, formulas and characters that turn the text around.
fn hostile_levels() -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let levels = [
        format!("{IMAGE} \u{202e}one"),
        format!("{SCRIPT} two"),
        "=HYPERLINK(\"http://example.org\",\"x\")".to_owned(),
    ];
    let mut csv = [quoted(IMAGE), quoted("=name"), "place".to_owned()].join(",");
    for row in 0..400 {
        let level = &levels[row % 3];
        // The hundredth level is misspelled.
        let level = if row == 99 { level.replace("one", "oen") } else { level.clone() };
        let _ = write!(csv, "\n{},{},{}", quoted(&level), quoted(&levels[(row + 1) % 3]), (row * 37) % 101);
    }
    csv
}

#[test]
fn hostile_names_stay_text_in_called_cells() {
    let page = detected("hostile-cells", hostile_levels(), 1, DetectorSpec::by_table());
    let html = page.html();
    assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (2, 2));
    assert!(!html.contains("<img") && !html.contains("<!--"));
    let found = data(html);
    assert_eq!(found["oddest"][0][0], 100);
    assert_eq!(called(&found["oddest"][0])[0], (0, &Value::from(format!("{IMAGE} \u{202e}oen"))));
}

#[test]
fn a_million_rows_make_a_page_of_less_than_three_megabytes() {
    const ROWS: usize = 2_000;
    let table = table(wide(ROWS, 30));
    let noise = judged(&encoder(&table), &table.batches[0]).cells;
    // As with 50,000 calibration rows.
    let p_value = |row: usize| {
        let rank = 1 + Seed(2).stream("p-values", &[row as u64]).below(50_000);
        rank as f64 / 50_001.0
    };
    let made = Made::new(&table, Vec::new(), |rows| {
        let p_values: Vec<f64> = (rows.first_row..).take(ROWS).map(p_value).collect();
        Findings { scores: p_values.iter().map(|p| 1.0 / p).collect(), p_values, cells: noise.clone() }
    });
    let mut collector = Collector::new(&made, Rule::Alpha(0.001));
    let batches = (0..500).map(|_| Ok(table.batches[0].clone()));
    let scorer = Scorer::new(&made, Rule::Alpha(0.001));
    let n_odd = scorer.run("made", batches, &mut [&mut collector], None).unwrap().n_odd as u64;
    let page = collector.finish(about("million"), false).unwrap();
    keep("million", &page);
    assert!(page.html().len() < 3_000_000, "{}", page.html().len());
    let found = data(page.html());
    assert_eq!(found["rows"].as_u64(), Some(1_000_000));
    let stop = found["thresholds"]["stop"].as_u64().unwrap() as usize;
    assert_eq!(found["thresholds"]["modes"][0]["stops"][stop]["odd"].as_u64(), Some(n_odd));
    let counts = found["scores"]["counts"].as_array().unwrap();
    assert_eq!(counts.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), 1_000_000);
    assert!(page.html().contains("This page shows the 1,000 rows with the highest scores."));
}
