//! Cells: `cells` and `repair`, with and without a model, in every format.

#![allow(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "small tables are written the short way"
)]

use std::process::Command;

use insta_cmd::assert_cmd_snapshot;
use serde_json::Value;

use crate::folder::{Folder, column, orders, succeed};

/// Rows of towns with their zip codes and a price; row 31 has a misspelled town, row 52 a price that is far too high.
fn towns() -> String {
    let mut csv = String::from("id,town,zip,price\n");
    for row in 1..=200 {
        let at = row * 7 % 4;
        let mut town = ["Oslo", "Bergen", "Trondheim", "Stavanger"][at];
        let zip = ["0150", "5003", "7010", "4006"][at];
        let mut price = 10.0 + (row * 37 % 101) as f64 / 10.0;
        if row == 31 {
            town = "Brgen";
        }
        if row == 52 {
            price = 912_345.5;
        }
        csv += &format!("{},{town},{zip},{price:.1}\n", 1_000 + row);
    }
    csv
}

/// The command with one thread.
fn run<'a>(folder: &Folder, args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = folder.oddcell(args);
    command.args(["--threads", "1"]);
    command
}

fn with_towns() -> Folder {
    let folder = Folder::new();
    folder.write("towns.csv", towns());
    folder
}

/// The standard error of a command that must fail.
fn said(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn cells_writes_one_row_for_each_odd_cell() {
    let folder = with_towns();
    assert_cmd_snapshot!(run(&folder, ["cells", "towns.csv", "-o", "cells.csv"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    2 cells in 2 of 200 rows are odd.
    rule: false-discovery rate 0.1: at most about 10 % of the called cells are expected to be right
    columns: 2 numbers (id, price), 2 categories (town, zip)
    note: column `zip`: read as category, because numbers such as `0150` start with a zero and so are codes
    written to cells.csv
    ");
    let cells = folder.read("cells.csv");
    assert_eq!(cells.lines().next().unwrap(), "row,column,value,p,expected,low,high,reason");
    assert_eq!(column(&cells, "row"), ["31", "52"]);
    assert_eq!(column(&cells, "value"), ["Brgen", "912345.5"]);
    assert_eq!(column(&cells, "expected")[0], "Bergen");
    let price: f64 = column(&cells, "expected")[1].parse().unwrap();
    assert!((10.0..20.2).contains(&price), "{price}");
    // The same in a pipe, from standard input, and on more threads.
    assert_eq!(succeed(&mut run(&folder, ["cells", "towns.csv"])), cells);
    let mut piped = folder.oddcell(["cells", "-", "--threads", "3", "-o", "piped.csv", "--quiet"]);
    assert_cmd_snapshot!(piped.pass_stdin(towns()), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    ");
    assert_eq!(folder.read("piped.csv"), cells);
}

#[test]
fn cells_of_new_rows_are_judged_by_a_model() {
    let folder = with_towns();
    let good: String = towns()
        .lines()
        .filter(|line| !line.contains("Brgen") && !line.contains("912345"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("good.csv", good);
    succeed(&mut folder.oddcell(["fit", "good.csv", "-o", "m.oddcell", "--quiet", "--detector", "ecod"]));
    let cells = succeed(&mut run(&folder, ["cells", "m.oddcell", "towns.csv", "--format", "jsonl"]));
    let rows: Vec<Value> = cells.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<(u64, &str)> =
        rows.iter().map(|row| (row["row"].as_u64().unwrap(), row["column"].as_str().unwrap())).collect();
    assert_eq!(found, [(31, "town"), (52, "price")]);
    assert_eq!(rows[0]["expected"], "Bergen");
    assert!(rows[1]["low"].is_string() && rows[1]["p"].as_f64().unwrap() < 1e-4, "{rows:?}");
    let json = succeed(&mut run(&folder, ["cells", "m.oddcell", "towns.csv", "--top", "1", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["rows"], &json["odd_cells"], &json["odd_rows"]), (&200.into(), &1.into(), &1.into()));
    assert_eq!(json["oddest"].as_array().unwrap().len(), 1);
    assert_eq!(
        said(run(&folder, ["cells", "m.oddcell", "towns.csv", "--ignore", "zip"])),
        "error: --ignore is for a table that is judged by itself; a model keeps what it was fitted with\n\
         hint: fit the model with this flag, or leave the model out\n"
    );
}

#[test]
fn a_table_without_odd_cells_says_why_none_was_called() {
    let folder = Folder::without_figures();
    folder.write("orders.csv", orders(120).replace("9999.0", "11.0"));
    assert_cmd_snapshot!(run(&folder, ["cells", "orders.csv", "-o", "cells.csv", "--alpha", "1e-9"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    no cell of 120 rows is odd.
    rule: p-value at most [figure]: about [figure] % of the normal cells are called
    none was called: the smallest p-value, [figure], is above [figure].
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to cells.csv
    ");
    assert_eq!(folder.read("cells.csv"), "row,column,value,p,expected,low,high,reason\n");
}

#[test]
fn repair_changes_the_odd_cells_alone_and_undo_takes_it_back() {
    let folder = with_towns();
    assert_cmd_snapshot!(run(&folder, ["repair", "towns.csv", "-o", "fixed.csv", "--sure", "0"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    2 cells in 2 of 200 rows are odd.
    rule: false-discovery rate 0.1: at most about 10 % of the called cells are expected to be right
    2 cells in 2 rows were replaced by what is expected there.
    written to fixed.csv
    every change: fixed.csv.changes.csv
    to undo: oddcell repair --undo fixed.csv.changes.csv fixed.csv -o FILE
    note: column `zip`: read as category, because numbers such as `0150` start with a zero and so are codes
    ");
    let (before, after) = (folder.read("towns.csv"), folder.read("fixed.csv"));
    let changed: Vec<usize> = before
        .lines()
        .zip(after.lines())
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(changed, [31, 52]);
    assert_eq!(column(&after, "town")[30], "Bergen");
    let log = folder.read("fixed.csv.changes.csv");
    assert_eq!(log.lines().next().unwrap(), "row,column,before,after,p,sure,reason");
    assert_eq!(
        (column(&log, "row"), column(&log, "before")),
        (vec!["31".into(), "52".into()], vec!["Brgen".into(), "912345.5".into()])
    );
    assert_eq!(column(&log, "after")[1], column(&after, "price")[51]);
    let undo = ["repair", "--undo", "fixed.csv.changes.csv", "fixed.csv", "-o", "again.csv"];
    assert_cmd_snapshot!(run(&folder, undo), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    2 changes were taken back.
    written to again.csv
    ");
    assert_eq!(folder.read("again.csv"), before);
    // What is not dependable is left alone, and blanked if wanted.
    assert_cmd_snapshot!(run(&folder, ["repair", "towns.csv", "-o", "sure.csv", "--sure", "1"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    2 cells in 2 of 200 rows are odd.
    rule: false-discovery rate 0.1: at most about 10 % of the called cells are expected to be right
    0 cells in 0 rows were replaced by what is expected there.
    2 were left alone: nothing dependable is expected there (--sure lowers the bar, --blank empties them).
    written to sure.csv
    every change: sure.csv.changes.csv
    to undo: oddcell repair --undo sure.csv.changes.csv sure.csv -o FILE
    note: column `zip`: read as category, because numbers such as `0150` start with a zero and so are codes
    ");
    assert_eq!(folder.read("sure.csv"), before);
    succeed(&mut run(
        &folder,
        ["repair", "towns.csv", "-o", "blank.csv", "--blank", "--log", "log.csv", "--quiet"],
    ));
    assert_eq!(
        (
            column(&folder.read("blank.csv"), "town")[30].as_str(),
            column(&folder.read("log.csv"), "after")[0].as_str()
        ),
        ("", "")
    );
    succeed(&mut run(&folder, ["repair", "--undo", "log.csv", "blank.csv", "-o", "again.csv", "--quiet"]));
    assert_eq!(folder.read("again.csv"), before);
    // The empty log of a table in which nothing was changed.
    succeed(&mut run(
        &folder,
        ["repair", "--undo", "sure.csv.changes.csv", "sure.csv", "-o", "again.csv", "--quiet"],
    ));
    assert_eq!(folder.read("again.csv"), before);
}

/// The towns with ids that a careless writer would change, separated by semicolons.
fn picky() -> String {
    let picky = |(at, line): (usize, &str)| {
        let (id, rest) = line.split_once(',').unwrap();
        let id = match at {
            2 => "NA",
            3 => " 007 ",
            4 => "\"a\"\"b; c\"",
            5 => "\"two\nlines\"",
            6 => "a,b",
            7 => "",
            _ => id,
        };
        format!("{id};{}\n", rest.replace(',', ";"))
    };
    towns().lines().enumerate().map(picky).collect()
}

#[test]
fn all_other_cells_of_a_csv_come_through_as_they_were() {
    let folder = Folder::new();
    folder.write("picky.csv", picky());
    succeed(&mut run(&folder, ["repair", "picky.csv", "-o", "fixed.csv", "--ignore", "id", "--quiet"]));
    let (before, after) = (picky(), folder.read("fixed.csv"));
    let changed: Vec<_> =
        before.lines().zip(after.lines()).filter(|(before, after)| before != after).collect();
    assert!((1..=2).contains(&changed.len()) && changed[0].0.contains("Brgen;"), "{changed:?}");
    succeed(&mut run(
        &folder,
        ["repair", "--undo", "fixed.csv.changes.csv", "fixed.csv", "-o", "again.csv", "--quiet"],
    ));
    assert_eq!(folder.read("again.csv"), picky());
    // Without a header.
    let headless = towns().split_once('\n').unwrap().1.to_owned();
    folder.write("headless.csv", &headless);
    succeed(&mut run(&folder, ["repair", "headless.csv", "--no-header", "-o", "fixed.csv", "--quiet"]));
    assert_eq!(folder.read("fixed.csv").lines().count(), 200);
    assert!(folder.read("fixed.csv.changes.csv").contains("\n31,x2,Brgen,Bergen,"));
    succeed(&mut run(
        &folder,
        [
            "repair",
            "--undo",
            "fixed.csv.changes.csv",
            "fixed.csv",
            "--no-header",
            "-o",
            "again.csv",
            "--quiet",
        ],
    ));
    assert_eq!(folder.read("again.csv"), headless);
}

#[test]
fn json_lines_and_parquet_come_back_too() {
    let folder = Folder::new();
    let lines: String = towns()
        .lines()
        .skip(1)
        .enumerate()
        .map(|(at, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let note = ["null", "[1,{\"a\":null}]", "\"NA\"", "1.50", "\"007\""][at % 5];
            format!(
                "{{\"id\":{},\"town\":\"{}\",\"zip\":\"{}\",\"price\":{}0,\"note\":{note}}}\n",
                cells[0], cells[1], cells[2], cells[3]
            )
        })
        .collect();
    folder.write("towns.jsonl", &lines);
    succeed(&mut run(
        &folder,
        ["repair", "towns.jsonl", "-o", "fixed.jsonl", "--sure", "0", "--ignore", "note", "--quiet"],
    ));
    let fixed = folder.read("fixed.jsonl");
    let differing: Vec<(&str, &str)> = lines.lines().zip(fixed.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!(differing.len(), 2);
    assert_eq!(differing[0].1, differing[0].0.replace("Brgen", "Bergen"));
    assert!(!differing[1].1.contains("\"price\":\""), "{differing:?}");
    succeed(&mut run(
        &folder,
        ["repair", "--undo", "fixed.jsonl.changes.csv", "fixed.jsonl", "-o", "again.jsonl", "--quiet"],
    ));
    assert_eq!(folder.read("again.jsonl"), lines);
    // Parquet: as score writes it.
    folder.write("towns.csv", towns());
    succeed(&mut run(
        &folder,
        ["detect", "towns.csv", "-o", "towns.parquet", "--detector", "ecod", "--quiet"],
    ));
    succeed(&mut run(&folder, ["repair", "towns.parquet", "-o", "fixed.parquet", "--sure", "0", "--quiet"]));
    let log = folder.read("fixed.parquet.changes.csv");
    assert!(log.contains("\n31,town,\"\"\"Brgen\"\"\",\"\"\"Bergen\"\"\","), "{log}");
    succeed(&mut run(
        &folder,
        ["repair", "--undo", "fixed.parquet.changes.csv", "fixed.parquet", "-o", "again.parquet", "--quiet"],
    ));
    let shown =
        |name: &str| succeed(&mut run(&folder, ["cells", name, "--alpha", "0.2", "--format", "jsonl"]));
    assert_eq!(shown("again.parquet"), shown("towns.parquet"));
    assert_ne!(shown("fixed.parquet"), shown("towns.parquet"));
}

#[test]
fn repair_by_a_model_reads_a_stream() {
    let folder = with_towns();
    let good: String = towns()
        .lines()
        .filter(|line| !line.contains("Brgen") && !line.contains("912345"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("good.csv", good);
    succeed(&mut folder.oddcell(["fit", "good.csv", "-o", "m.oddcell", "--quiet", "--detector", "ecod"]));
    succeed(&mut run(&folder, ["repair", "m.oddcell", "towns.csv", "-o", "fixed.csv", "--quiet"]));
    assert_eq!(column(&folder.read("fixed.csv"), "town")[30], "Bergen");
    assert_eq!(folder.read("fixed.csv").lines().count(), 201);
}

#[test]
fn what_repair_cannot_do_is_an_error_and_leaves_nothing_behind() {
    let folder = with_towns();
    let errors = [
        said(run(&folder, ["repair", "-", "-o", "fixed.csv"])),
        said(run(&folder, ["repair", "towns.csv", "-o", "-"])),
        said(run(&folder, ["repair", "towns.csv", "-o", "fixed.parquet"])),
        said(run(&folder, ["repair", "towns.csv", "-o", "towns.csv"])),
        said(run(&folder, ["repair", "towns.csv", "-o", "fixed.csv", "--log", "towns.csv"])),
        said(run(&folder, ["repair", "towns.csv", "-o", "fixed.csv", "--log", "fixed.csv"])),
        said(run(&folder, ["repair", "towns.csv", "-o", "fixed.csv", "--log", "log.jsonl"])),
        said(run(&folder, ["repair", "towns.csv", "-o", "fixed.csv", "--sure", "1.5"])),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    error: repair reads the table twice, so it cannot be standard input
    hint: write it to a file first

    error: `-` is no file; the repaired table and its log are files
    hint: e.g. -o fixed.csv

    error: towns.csv is csv, so the repaired table is csv, and `fixed.parquet` must be named so
    hint: only then can every other cell stay as it is

    error: `towns.csv` is an input of this command; writing the result there would overwrite it
    hint: give the result another name

    error: `towns.csv` is an input of this command; writing the result there would overwrite it
    hint: give the result another name

    error: `fixed.csv` is named twice: for the table and for the log
    hint: give the log another name

    error: the log `log.jsonl` is a CSV, and its name says something else
    hint: end its name in .csv

    error: invalid value '1.5' for '--sure <SHARE>': `1.5` is not from 0 to 1

    For more information, try '--help'.
    ");
    assert_eq!(folder.names(), ["towns.csv"]);
    succeed(&mut run(&folder, ["repair", "towns.csv", "-o", "fixed.csv", "--quiet"]));
    let undo = |log: &'static str, table: &'static str| {
        said(run(&folder, ["repair", "--undo", log, table, "-o", "again.csv"]))
    };
    folder.write("other.csv", folder.read("fixed.csv").replace("Bergen", "Bodø"));
    folder.write("short.csv", towns().lines().take(9).map(|line| format!("{line}\n")).collect::<String>());
    let errors = [
        undo("fixed.csv.changes.csv", "towns.csv"),
        undo("fixed.csv.changes.csv", "other.csv"),
        undo("fixed.csv.changes.csv", "short.csv"),
        undo("towns.csv", "fixed.csv"),
        undo("nowhere.csv", "fixed.csv"),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    error: towns.csv, row 31, column `town`: found `Brgen`, but expected `Bergen`
    hint: this log belongs to another table, or the table was changed since

    error: other.csv, row 31, column `town`: found `Bodø`, but expected `Bergen`
    hint: this log belongs to another table, or the table was changed since

    error: short.csv has 8 rows, but row 31 was changed
    hint: this log belongs to another table, or the table was changed since

    error: towns.csv has no column `row`, so it is no log of changes; its columns must be row, column, before, after, p, sure, reason
    hint: --undo takes the log that repair wrote beside the table

    error: cannot open nowhere.csv: No such file or directory (os error 2)
    hint: check the path; `-` reads standard input
    ");
    assert!(!folder.names().contains(&"again.csv".to_owned()));
}

#[cfg(unix)]
#[test] // The log cannot be written (its folder is gone when it is its turn), so there is no table either.
fn no_table_without_its_log() {
    let folder = with_towns();
    std::fs::create_dir(folder.path("logs")).unwrap();
    let denied = |mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(folder.path("logs"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    denied(0o555);
    let output =
        run(&folder, ["repair", "towns.csv", "-o", "fixed.csv", "--log", "logs/log.csv"]).output().unwrap();
    denied(0o755);
    // Root may write anywhere.
    let is_there = |name: &str| folder.path(name).exists();
    assert_eq!(output.status.success(), is_there("logs/log.csv"));
    assert_eq!(is_there("fixed.csv"), is_there("logs/log.csv"));
}
