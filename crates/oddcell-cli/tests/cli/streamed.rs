//! `fit --stream`: learning from a file that is read twice.

use insta_cmd::assert_cmd_snapshot;

use crate::folder::{Folder, orders, succeed};

#[test]
fn a_streamed_fit_says_what_it_learned_from_and_its_model_scores() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(1_200));
    let args = ["fit", "orders.csv", "-o", "m.oddcell", "--stream", "--memory", "0.0001"];
    assert_cmd_snapshot!(folder.tiny(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    learned from 1,200 rows, 6 columns (30 features) of orders.csv
    calibrated on 240 rows held out
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to m.oddcell
    ");
    succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "out.csv", "--quiet"]));
    assert_eq!(folder.read("out.csv").lines().count(), 1_201);
    assert_eq!(folder.names(), ["m.oddcell", "orders.csv", "out.csv"]);
}

#[test]
fn labels_and_the_page_are_there_for_a_streamed_fit_too() {
    let folder = Folder::new();
    let labeled: String = orders(300)
        .lines()
        .enumerate()
        .map(|(row, line)| match row {
            0 => format!("{line},odd\n"),
            row => format!("{line},{}\n", u8::from(row == 7)),
        })
        .collect();
    folder.write("orders.csv", labeled);
    let args = ["fit", "orders.csv", "-o", "m.oddcell", "--label", "odd", "--report", "page.html", "--json"];
    let fit = |stream: &[&'static str]| {
        let summary = succeed(folder.tiny(args).args(stream));
        serde_json::from_str::<serde_json::Value>(&summary).unwrap()
    };
    let (whole, streamed) = (fit(&[]), fit(&["--stream"]));
    assert_eq!(streamed["metrics"]["anomalies"], 1);
    for same in ["rows", "columns", "features", "report", "data"] {
        assert_eq!(streamed[same], whole[same], "{same}");
    }
    assert_eq!((&streamed["members"], &streamed["calibration_rows"]), (&1.into(), &60.into()));
}

#[test]
fn what_cannot_be_streamed_is_told_before_the_table_is_read() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(120));
    let args = ["fit", "orders.csv", "-o", "m.oddcell", "--stream", "--detector", "knn"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: knn cannot learn from a stream: it needs all rows in memory at once
    hint: omit --stream, or choose a detector that learns from a stream: noise
    ");
    assert_cmd_snapshot!(folder.oddcell(["fit", "-", "-o", "m.oddcell", "--stream"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --stream reads the table twice; standard input can be read only once
    hint: write the table to a file first
    ");
    let args = ["fit", "orders.csv", "-o", "m.oddcell", "--stream", "--memory", "1e-9"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: 1 byte of memory is too little to learn from 96 rows; at least 264 bytes are needed
    hint: raise the limit with --memory
    ");
}
