//! One table, nothing known: `detect` and `demo`.

use insta_cmd::assert_cmd_snapshot;
use serde_json::Value;

use crate::folder::{Folder, column, orders, succeed};

#[test]
fn detect_with_a_file_leaves_standard_output_empty() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(120));
    let args = ["detect", "orders.csv", "-o", "judged.csv", "--top", "2"];
    assert_cmd_snapshot!(folder.tiny(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    2 of 120 rows are odd.
    rule: top 2: the 2 rows with the highest scores
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to judged.csv
    ");
    let judged = folder.read("judged.csv");
    assert_eq!(
        judged.lines().next().unwrap(),
        "amount,weight,city,placed,gift,rating,odd_score,odd_p,odd_verdict,odd_cells,odd_reasons"
    );
    let odd = column(&judged, "odd_verdict");
    assert_eq!(odd.iter().filter(|verdict| *verdict == "true").count(), 2);
}

#[test]
fn detect_in_a_pipe_writes_the_rows() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    let piped = succeed(&mut folder.tiny(["detect", "orders.csv"]));
    let mut command = folder.tiny(["detect", "-", "-o", "judged.csv", "--quiet"]);
    assert_cmd_snapshot!(command.pass_stdin(orders(60)), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    ");
    assert_eq!(folder.read("judged.csv"), piped);
    assert_eq!(piped.lines().count(), 61);
    // What was given comes back as it was.
    for (given, judged) in orders(60).lines().zip(piped.lines()) {
        assert!(judged.starts_with(given), "{judged}");
    }
}

#[test]
fn json_gives_the_summary_to_programs() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    let text = succeed(&mut folder.tiny(["detect", "orders.csv", "--top", "2", "--json", "--seed", "5"]));
    let mut json: Value = serde_json::from_str(&text).unwrap();
    let oddest = json["oddest"].take();
    let oddest = oddest.as_array().unwrap();
    assert_eq!(oddest.len(), 10);
    let scores: Vec<f64> = oddest.iter().map(|row| row["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // Rows that are called odd have reasons, and normal ones none.
    let n_reasons: Vec<usize> = oddest.iter().map(|row| row["reasons"].as_array().unwrap().len()).collect();
    assert!(n_reasons[..2].iter().all(|n| (1..=5).contains(n)), "{n_reasons:?}");
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
      "odd": 2,
      "oddest": null,
      "output": null,
      "params": null,
      "rows": 60,
      "rule": "top 2: the 2 rows with the highest scores",
      "seed": 5
    }
    "#);
}

#[test]
fn labels_ignored_and_categorical_columns() {
    let folder = Folder::without_figures();
    let labeled: String = orders(60)
        .lines()
        .enumerate()
        .map(|(row, line)| match row {
            0 => format!("{line},truth,number\n"),
            row => format!("{line},{},{row}\n", row == 7),
        })
        .collect();
    folder.write("labeled.csv", labeled);
    let args = [
        "detect",
        "labeled.csv",
        "-o",
        "out.csv",
        "--top",
        "1",
        "--label",
        "truth",
        "--ignore",
        "number,placed",
        "--categorical",
        "rating",
    ];
    assert_cmd_snapshot!(folder.tiny(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    1 of 60 rows is odd.
    rule: top 1: the row with the highest score
    against the labels (anomalies: 1): AUC [figure], average precision [figure], F1 [figure]
    columns: 2 numbers (amount, weight), 1 boolean (gift), 2 categories (city,
             rating); left out: placed, number (ignored), truth (label)
    written to out.csv
    ");
}

#[test]
fn columns_that_are_not_there_are_named() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "--ignore", "nope"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv: there is no column `nope` to ignore; the table has `amount`, `weight`, `city`, `placed`, `gift`, `rating`
    ");
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "--categorical", "nope"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv has no column `nope`; its columns are `amount`, `weight`, `city`, `placed`, `gift`, `rating`
    ");
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "--label", "nope"]), @"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv has no column `nope`; its columns are `amount`, `weight`, `city`, `placed`, `gift`, `rating`
    ");
}

#[test]
fn another_delimiter_is_guessed_or_given_and_kept() {
    let folder = Folder::new();
    let with = |delimiter: &str| orders(60).replace(',', delimiter);
    folder.write("guessed.csv", with(";"));
    folder.write("tabs.csv", with("\t"));
    folder.write("strange.csv", with("^"));
    let plain = {
        folder.write("plain.csv", orders(60));
        succeed(&mut folder.tiny(["detect", "plain.csv", "--top", "3"]))
    };
    let runs = [("guessed.csv", None, ';'), ("tabs.csv", Some("tab"), '\t'), ("strange.csv", Some("^"), '^')];
    for (name, delimiter, expected) in runs {
        let flags = delimiter.map(|delimiter| ["--delimiter", delimiter]);
        let args = ["detect", name, "--top", "3"].into_iter().chain(flags.into_iter().flatten());
        let rows = succeed(&mut folder.tiny(args));
        // The reasons hold commas and semicolons of their own: only what stands before them is compared.
        let start = |text: &str, delimiter: char| -> Vec<String> {
            let fields = |line: &str| line.split(delimiter).take(9).collect::<Vec<_>>().join("|");
            text.lines().map(fields).collect()
        };
        assert_eq!(start(&rows, expected), start(&plain, ','), "{name}");
    }
    assert_cmd_snapshot!(folder.tiny(["detect", "plain.csv", "--delimiter", "ab"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'ab' for '--delimiter <CHAR>': expected one ASCII character, or `tab`

    For more information, try '--help'.
    ");
}

#[test]
fn without_a_header_columns_are_numbered() {
    let folder = Folder::new();
    folder.write("bare.csv", orders(60).split_once('\n').unwrap().1);
    let args = ["detect", "bare.csv", "--no-header", "-o", "out.csv", "--top", "1"];
    assert_cmd_snapshot!(folder.tiny(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    1 of 60 rows is odd.
    rule: top 1: the row with the highest score
    columns: 3 numbers (x1, x2, x6), 1 boolean (x5), 1 date (x4), 1 category (x3)
    written to out.csv
    ");
    let judged = folder.read("out.csv");
    insta::assert_snapshot!(judged.lines().next().unwrap(), @r"x1,x2,x3,x4,x5,x6,odd_score,odd_p,odd_verdict,odd_cells,odd_reasons");
}

#[test] // The one test that trains as users do: how much is found is told, and is more than a guess.
fn the_demo_finds_spoiled_cells_and_leaves_its_files() {
    let folder = Folder::new();
    let json = succeed(&mut folder.oddcell(["demo", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["rows"], &json["blatant"]["spoiled"]), (&Value::from(2_000), &Value::from(20)));
    assert!(json["blatant"]["rows_found"].as_u64().unwrap() >= 15, "{json}");
    assert!(json["subtle"]["rows_found"].as_u64().unwrap() >= 10, "{json}");
    assert_eq!(folder.names(), ["oddcell-demo"]);
    let judged = folder.read("oddcell-demo/judged.csv");
    assert_eq!(judged.lines().count(), folder.read("oddcell-demo/orders.csv").lines().count());
}

#[test]
fn few_rows_are_judged_with_a_note() {
    let folder = Folder::new();
    folder.write("few.csv", orders(12));
    assert_cmd_snapshot!(folder.tiny(["detect", "few.csv", "-o", "out.csv"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 12 rows are odd.
    rule: false-discovery rate 0.1: at most about 10 % of the flagged rows are expected to be normal
    none was called: at a false-discovery rate of 0.1, one row of 12 needs a p-value of at most 0.008, and the smallest is 0.083. The oddest:
      row 7, p 0.083
      row 9, p 0.167
      row 5, p 0.250
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: too few rows, or too many equal scores, to estimate p-values: they are plain ranks; a false-discovery rate flags nothing with plain ranks, so use top instead
    written to out.csv
    ");
}
