//! Columns that come late, are nested, or were found by an earlier run.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, RecordBatch, types::Int32Type};
use insta_cmd::assert_cmd_snapshot;
use oddcell::{
    Table,
    table::{Format, ReadOptions, Source, TableWriter},
};

use crate::folder::{Folder, column, orders, succeed};

fn read(folder: &Folder, name: &str) -> Table {
    Table::read(&Source::Path(folder.path(name)), &ReadOptions::default()).unwrap()
}

fn write(folder: &Folder, name: &str, format: Format, table: &Table) {
    let mut writer =
        TableWriter::create("test", Vec::new(), format, &table.schema(), &table.columns).unwrap();
    table.batches.iter().for_each(|batch| writer.write(batch).unwrap());
    folder.write(name, writer.finish().unwrap());
}

/// `orders(n_rows)` as JSON lines, with the key `rating` only where there is one.
fn sparse_orders(n_rows: usize) -> String {
    let folder = Folder::new();
    folder.write("orders.csv", orders(n_rows));
    write(&folder, "orders.jsonl", Format::JsonLines, &read(&folder, "orders.csv"));
    folder.read("orders.jsonl").replace(",\"rating\":null", "")
}

#[test]
fn judged_rows_of_every_format_can_be_judged_again() {
    let folder = Folder::new().with_model();
    let scores =
        |file: &str| column(&succeed(&mut folder.oddcell(["score", "m.oddcell", file])), "odd_score");
    let expected = scores("orders.csv");
    for format in ["csv", "jsonl", "parquet"] {
        let judged = format!("judged.{format}");
        succeed(&mut folder.tiny(["detect", "orders.csv", "-o", &judged]));
        assert_eq!(scores(&judged), expected, "{format}");
        // The findings are replaced, not doubled, also from one format to another and by another detection.
        let again = folder.oddcell(["score", "m.oddcell", &judged, "-o", "again.csv"]);
        assert_eq!(notes(again), [EARLIER], "{format}");
        succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "straight.csv"]));
        let header = |name: &str| folder.read(name).lines().next().unwrap().to_owned();
        assert_eq!(header("again.csv"), header("straight.csv"), "{format}");
        assert_eq!(notes(folder.tiny(["detect", &judged, "-o", "again.jsonl"])), [EARLIER], "{format}");
        assert_eq!(folder.read("again.jsonl").matches("odd_reasons").count(), 120, "{format}");
    }
    let args = ["fit", "judged.jsonl", "-o", "again.oddcell", "--ignore", "odd_p"];
    assert_eq!(notes(folder.tiny(args)), [EARLIER]);
}

const EARLIER: &str = "note: findings of an earlier run are left out: `odd_score`, `odd_p`, `odd_verdict`, `odd_cells`, `odd_reasons`";

/// The notes of a command that must end well.
fn notes(mut command: std::process::Command) -> Vec<String> {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said.lines().filter(|line| line.starts_with("note:")).map(str::to_owned).collect()
}

#[test]
fn sparse_json_lines_are_scored_like_the_csv_with_gaps() {
    let folder = Folder::new().with_model();
    folder.write("sparse.jsonl", sparse_orders(120));
    let scores =
        |file: &str| column(&succeed(&mut folder.oddcell(["score", "m.oddcell", file])), "odd_score");
    assert_eq!(scores("sparse.jsonl"), scores("orders.csv"));
}

#[test]
fn keys_that_come_after_the_first_batch_are_columns_of_the_model_or_left_out() {
    let folder = Folder::new().with_model();
    // 2,048 rows are a batch. The model's column `rating` and another key come after it.
    let lines = sparse_orders(3_000);
    let late: Vec<String> = lines
        .lines()
        .enumerate()
        .map(|(row, line)| match line.split_once(",\"rating\"") {
            Some((start, _)) if row < 2_100 => format!("{start}}}\n"),
            _ if row >= 2_500 => line.replace('{', "{\"clerk\":[\"Kari\"],") + "\n",
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("late.jsonl", late.concat());
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "late.jsonl", "--top", "3", "-o", "out.csv"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    3 of 3,000 rows are odd.
    rule: top 3: the 3 rows with the highest scores
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: keys that first appear after row 2048 are left out: `clerk`
    written to out.csv
    ");
    let ratings = column(&folder.read("out.csv"), "rating");
    assert!(ratings[..2_100].iter().all(String::is_empty) && ratings[2_100..].contains(&"4".to_owned()));
    // A whole table knows all its keys in the end.
    let args = ["fit", "late.jsonl", "-o", "late.oddcell", "--ignore", "clerk", "--set", "train_for=1 steps"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    learned from 3,000 rows, 6 columns (30 features) of late.jsonl
    calibrated on 600 rows held out
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city); left out: clerk (ignored)
    note: the detector is `noise` because its parameter `train_for` is set; the default for this table is `columns`
    written to late.oddcell
    ");
}

#[test]
fn a_key_that_no_line_has_is_told_and_a_table_with_other_keys_only_is_refused() {
    let folder = Folder::new().with_model();
    folder.write("new.jsonl", "{\"amount\":12.5,\"weight\":25,\"city\":\"Oslo\"}\n");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "new.jsonl", "-o", "out.jsonl"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 1 row is odd.
    rule: p-value at most 0.01: about 1 % of normal rows are flagged
    none was called: the smallest p-value, 0.017, is above 0.01. The oddest:
      row 1, p 0.017: placed empty: unexpected (0.45 of 1); never empty in training
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: no line has a value for `placed`, `gift`, `rating`
    note: column `placed`: 1 empty cell, but none in training
    note: column `gift`: 1 empty cell, but none in training
    written to out.jsonl
    ");
    folder.write("other.jsonl", "{\"price\":12.5}\n");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "other.jsonl"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: other.jsonl: columns `amount`, `weight`, `city`, `placed`, `gift`, `rating` are missing, but the model was fitted on them; the table has `price`
    hint: `oddcell inspect MODEL` lists the columns the model needs
    ");
}

#[test]
fn nested_json_can_be_ignored_and_is_given_back() {
    let folder = Folder::new().with_model();
    folder
        .write("nested.jsonl", sparse_orders(60).replace("{\"amount\"", "{\"tags\":[{\"id\":1}],\"amount\""));
    assert_cmd_snapshot!(folder.tiny(["detect", "nested.jsonl"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: nested.jsonl, line 1, key `tags`: found an array, but a string, number, true, false or null was expected
    hint: to leave the column out, run `fit` or `detect` with --ignore tags
    ");
    assert!(notes(folder.tiny(["detect", "nested.jsonl", "--ignore", "tags", "-o", "out.jsonl"])).is_empty());
    assert!(folder.read("out.jsonl").starts_with("{\"tags\":[{\"id\":1}],\"amount\":"));
    let score = folder.oddcell(["score", "m.oddcell", "nested.jsonl", "--fdr", "0.5", "-o", "out.jsonl"]);
    assert_eq!(notes(score), ["note: ignored columns that the model does not know: `tags`"]);
    assert!(folder.read("out.jsonl").starts_with("{\"tags\":[{\"id\":1}],\"amount\":"));
    folder.write("broken.jsonl", sparse_orders(3).replace("\"Oslo\"", "[\"Oslo\"]"));
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "broken.jsonl"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: broken.jsonl, line 2, key `city`: found an array, but a string, number, true, false or null was expected
    hint: to leave the column out, run `fit` or `detect` with --ignore city
    ");
}

#[test]
fn nested_parquet_can_be_ignored_and_is_given_back() {
    let folder = Folder::new().with_model();
    let flat = read(&folder, "orders.csv").batches.remove(0);
    let lists = (0..120).map(|row| Some(vec![Some(row)]));
    let tags: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let schema = flat.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let columns = names.zip(flat.columns().iter().cloned()).chain([("tags", Arc::clone(&tags))]);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    write(&folder, "nested.parquet", Format::Parquet, &Table::from_batches("", vec![batch]).unwrap());
    assert_cmd_snapshot!(folder.tiny(["fit", "nested.parquet", "-o", "x.oddcell"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: nested.parquet, column `tags`: found the type List(Int32), but numbers, booleans, dates, times or text were expected
    hint: to leave the column out, run `fit` or `detect` with --ignore tags
    ");
    let args = ["detect", "nested.parquet", "--ignore", "tags", "-o", "out.parquet"];
    assert!(notes(folder.tiny(args)).is_empty());
    assert_eq!(read(&folder, "out.parquet").batches[0].column_by_name("tags").unwrap(), &tags);
    let score = folder.oddcell(["score", "m.oddcell", "nested.parquet", "-o", "out.parquet", "--top", "3"]);
    assert_eq!(notes(score), ["note: ignored columns that the model does not know: `tags`"]);
    assert_eq!(read(&folder, "out.parquet").batches[0].column_by_name("tags").unwrap(), &tags);
}
