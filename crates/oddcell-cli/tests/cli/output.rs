//! Judged rows in every format, and standard output that goes away.

use std::{io::Read, process::Stdio};

use arrow_array::{Array, cast::AsArray, types::Float64Type};
use arrow_schema::DataType;
use insta_cmd::assert_cmd_snapshot;
use oddcell::{
    Table,
    table::{Cells, ColumnKind, ReadOptions, Source, Wanted, read_cells},
};
use serde_json::Value;

use crate::folder::{Folder, column, orders, succeed};

#[test]
fn parquet_comes_back_typed_and_with_the_same_figures() {
    let folder = Folder::new().with_model();
    let csv = succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "--top", "4"]));
    let args = ["score", "m.oddcell", "orders.csv", "--top", "4", "-o", "out.parquet"];
    succeed(&mut folder.oddcell(args));
    let table = Table::read(&Source::Path(folder.path("out.parquet")), &ReadOptions::default()).unwrap();
    assert_eq!(table.n_rows(), 120);
    let batch = &table.batches[0];
    let schema = batch.schema();
    let types: Vec<(&str, &DataType)> =
        schema.fields().iter().map(|field| (field.name().as_str(), field.data_type())).collect();
    insta::assert_snapshot!(format!("{types:?}"), @r#"[("amount", Float64), ("weight", Float64), ("city", Utf8), ("placed", Utf8), ("gift", Boolean), ("rating", Int64), ("odd_score", Float64), ("odd_p", Float64), ("odd_verdict", Boolean), ("odd_cells", UInt32), ("odd_reasons", Utf8)]"#);
    let scores = batch.column_by_name("odd_score").unwrap().as_primitive::<Float64Type>();
    let expected: Vec<f64> = column(&csv, "odd_score").iter().map(|text| text.parse().unwrap()).collect();
    assert_eq!(scores.values().to_vec(), expected);
    let verdicts = batch.column_by_name("odd_verdict").unwrap().as_boolean();
    assert_eq!(verdicts.true_count(), 4);
    // A gap stays a gap.
    assert!(batch.column_by_name("rating").unwrap().null_count() > 0);
}

#[test]
fn json_lines_hold_the_reasons_as_objects() {
    let folder = Folder::new().with_model();
    let text = succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "--format", "jsonl"]));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 120);
    let row = &rows[6];
    assert_eq!(row["amount"], 9_999.0);
    assert_eq!(row["city"], "Voss");
    assert!(row["gift"].is_boolean() && row["odd_verdict"].is_boolean());
    let reasons = row["odd_reasons"].as_object().unwrap();
    assert!((1..=5).contains(&reasons.len()), "{reasons:?}");
    for (name, reason) in reasons {
        assert_eq!(reason["column"], *name);
        assert!(reason["noise"].as_f64().unwrap() >= 0.0);
    }
    // Where nobody asks for the objects, the library reads it back.
    folder.write("judged.jsonl", text);
    let wanted = Wanted::Except(vec!["odd_reasons".to_owned()]);
    let options = ReadOptions { wanted, ..ReadOptions::default() };
    let table = Table::read(&Source::Path(folder.path("judged.jsonl")), &options).unwrap();
    let scores = table.batches[0].column_by_name("odd_score").unwrap();
    let scores = read_cells("odd_score", scores, ColumnKind::Number, 0, "judged.jsonl").unwrap();
    let Cells::Numbers(scores) = scores else { panic!("scores are numbers") };
    let expected: Vec<f64> = rows.iter().map(|row| row["odd_score"].as_f64().unwrap()).collect();
    assert_eq!(scores, expected);
}

#[test]
fn the_name_decides_the_format_and_unknown_ones_are_refused() {
    let folder = Folder::new().with_model();
    let score = |output: &'static str| folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", output]);
    succeed(&mut score("out.jsonl"));
    assert!(folder.read("out.jsonl").starts_with('{'));
    assert_cmd_snapshot!(score("out.npy"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot write `out.npy`: judged rows are written as csv, jsonl or parquet, not as npy
    hint: use another file extension, or --format
    ");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "orders.csv", "--format", "xlsx"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'xlsx' for '--format <FORMAT>'
      [possible values: csv, jsonl, parquet]

    For more information, try '--help'.
    ");
}

#[test]
fn judging_judged_rows_again_replaces_what_was_found() {
    let folder = Folder::new().with_model();
    succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "once.csv"]));
    succeed(&mut folder.oddcell(["score", "m.oddcell", "once.csv", "-o", "twice.csv"]));
    assert_eq!(folder.read("once.csv"), folder.read("twice.csv"));
}

#[test]
fn json_summary_of_score() {
    let folder = Folder::new().with_model();
    let args = ["score", "m.oddcell", "orders.csv", "--top", "4", "--json", "-o", "out.csv"];
    let mut json: Value = serde_json::from_str(&succeed(&mut folder.oddcell(args))).unwrap();
    json["oddest"].take();
    json["params"].take();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap(), @r#"
    {
      "data": "orders.csv",
      "detector": "noise",
      "kinds": {
        "boolean": [
          "gift"
        ],
        "category": [
          "city"
        ],
        "date": [
          "placed"
        ],
        "number": [
          "amount",
          "weight",
          "rating"
        ]
      },
      "left_out": [],
      "notes": [],
      "odd": 4,
      "oddest": null,
      "output": "out.csv",
      "params": null,
      "rows": 120,
      "rule": "top 4: the 4 rows with the highest scores",
      "seed": 0
    }
    "#);
    let args = ["score", "m.oddcell", "orders.csv", "--json", "-o", "-"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: -o - and --json both write to standard output
    hint: write the rows to a file with -o FILE
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new().with_model();
    folder.write("many.csv", orders(5_000));
    for rule in [["--alpha", "0.1"], ["--top", "10"]] {
        let args = ["score", "m.oddcell", "many.csv", "--quiet"];
        let mut command = folder.oddcell(args.into_iter().chain(rule));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // As `head` does: a few bytes, then nobody listens.
        let mut start = [0; 6];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        assert_eq!(&start, b"amount");
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
    }
}
