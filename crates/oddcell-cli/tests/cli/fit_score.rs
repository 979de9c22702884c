//! Learning from one table, judging another: `fit`, `score`, `explain`, `inspect`.

use insta_cmd::assert_cmd_snapshot;
use oddcell::{
    Model, Table,
    judge::Scorer,
    table::{ReadOptions, Source},
    verdict::Rule,
};

use crate::folder::{Folder, column, orders, succeed};

#[test]
fn fit_says_what_it_learned_from() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(120));
    assert_cmd_snapshot!(folder.tiny(["fit", "orders.csv", "-o", "m.oddcell"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    learned from 120 rows, 6 columns (30 features) of orders.csv
    cross-fitted: 5 detectors, each calibrated on the rows it did not see
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to m.oddcell
    ");
    assert_eq!(folder.names(), ["m.oddcell", "orders.csv"]);
}

#[test]
fn score_in_a_pipe_writes_the_rows_to_standard_output_and_the_summary_to_standard_error() {
    let folder = Folder::without_figures().with_model();
    folder.write("new.csv", orders(8));
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "new.csv", "--top", "1"]), @r#"
    success: true
    exit_code: 0
    ----- stdout -----
    amount,weight,city,placed,gift,rating,odd_score,odd_p,odd_verdict,odd_cells,odd_reasons
    [figure],[figure],Bergen,2025-06-12 07:30:00,false,4,[figure],[figure],false,0,
    [figure],[figure],Oslo,2025-11-23 14:30:00,false,2,[figure],[figure],false,0,
    [figure],[figure],Bergen,2025-04-06 21:30:00,false,5,[figure],[figure],false,0,
    [figure],[figure],Oslo,2025-09-17 04:30:00,false,3,[figure],[figure],false,0,
    [figure],[figure],Voss,2025-02-28 11:30:00,true,1,[figure],[figure],false,1,"weight [figure]: [figure] sd off ([figure]), within the normal range [figure] to [figure]; expected [figure] ([figure] to [figure])"
    [figure],[figure],Oslo,2025-07-11 18:30:00,false,4,[figure],[figure],false,0,
    [figure],[figure],Voss,2025-12-22 01:30:00,true,2,[figure],[figure],true,1,"amount [figure]: [figure] sd off (3246), above the normal range [figure] to [figure]; expected [figure] ([figure] to [figure])"
    [figure],[figure],Bergen,2025-05-05 08:30:00,false,5,[figure],[figure],false,0,

    ----- stderr -----
    1 of 8 rows is odd.
    rule: top 1: the row with the highest score
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    "#);
}

#[test]
fn timings_tell_the_parts_of_scoring_on_any_number_of_threads() {
    let folder = Folder::without_figures().with_model();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r" +\[figure\] (s|%)", " [figure] $1");
    let timed = |threads| {
        let args = ["score", "m.oddcell", "orders.csv", "-o", "out.csv", "--timings", "--threads", threads];
        folder.oddcell(args)
    };
    settings.bind(|| {
        assert_cmd_snapshot!(timed("2"), @r"
        success: true
        exit_code: 0
        ----- stdout -----

        ----- stderr -----
        0 of 120 rows are odd.
        rule: p-value at most [figure]: about 1 % of normal rows are flagged
        none was called: the smallest p-value, [figure], is above [figure]. The oddest:
          row 7, p [figure]: amount [figure]: [figure] sd off (3246), above the normal range [figure] to [figure]; expected [figure] ([figure] to [figure])
          row 117, p [figure]: rating empty: unexpected ([figure] of 1); empty in 11 % of training rows; expected 3 (1 to 5)
          row 36, p [figure]: weight [figure]: [figure] sd off ([figure]), within the normal range [figure] to [figure]; expected [figure] ([figure] to [figure])
        columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
                 1 category (city)
        written to out.csv
        timings: [figure] s wall clock, [figure] s thread time
          reading [figure] s [figure] %
          encoding [figure] s [figure] %
          judging [figure] s [figure] %
          reasons [figure] s [figure] %
          summary [figure] s [figure] %
          writing [figure] s [figure] %
        ");
    });
    let summary: serde_json::Value = serde_json::from_str(&succeed(timed("1").arg("--json"))).unwrap();
    assert!(summary["timings"]["clock_seconds"].as_f64().unwrap() > 0.0);
    let parts: Vec<&String> = summary["timings"]["thread_seconds"].as_object().unwrap().keys().collect();
    assert_eq!(parts, ["encoding", "judging", "reading", "reasons", "summary", "writing"]);
}

#[test]
fn quiet_says_nothing_but_the_rows() {
    let folder = Folder::new().with_model();
    let args = ["score", "m.oddcell", "orders.csv", "-o", "out.csv", "--quiet"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    ");
}

#[test]
fn standard_input_gives_the_same_as_a_file() {
    let folder = Folder::new().with_model();
    let from_file = succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv"]));
    succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "out.csv"]));
    assert_eq!(folder.read("out.csv"), from_file);
    let dash = succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "-"]));
    assert_eq!(dash, from_file);
    let mut command = folder.oddcell(["score", "m.oddcell", "-", "-o", "piped.csv"]);
    assert_cmd_snapshot!(command.pass_stdin(orders(120)), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 120 rows are odd.
    rule: p-value at most 0.01: about 1 % of normal rows are flagged
    none was called: the smallest p-value, 0.017, is above 0.01. The oddest:
      row 7, p 0.017: amount 9999.0: 3.6 sd off (3246), above the normal range 10.12 to 19.98; expected 995.9 (10.5 to 995.9)
      row 117, p 0.033: rating empty: unexpected (0.50 of 1); empty in 11 % of training rows; expected 3 (1 to 5)
      row 36, p 0.033: weight 23.9: 0.47 sd off (2.773), within the normal range 21.02 to 40.5; expected 27.5 (22.4 to 32.6)
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to piped.csv
    ");
    assert_eq!(folder.read("piped.csv"), from_file);
}

#[test]
fn fit_reads_standard_input() {
    let folder = Folder::new().with_model();
    let mut command = folder.tiny(["fit", "-", "-o", "piped.oddcell"]);
    assert_cmd_snapshot!(command.pass_stdin(orders(120)), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    learned from 120 rows, 6 columns (30 features) of standard input
    cross-fitted: 5 detectors, each calibrated on the rows it did not see
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to piped.oddcell
    ");
    let bytes = |name| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("piped.oddcell"), bytes("m.oddcell"));
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(1_300));
    let outputs = ["1", "2"].map(|threads| {
        let model = format!("{threads}.oddcell");
        let fit = ["fit", "orders.csv", "-o", &model, "--threads", threads, "--set", "train_for=30 steps"];
        succeed(&mut folder.oddcell(fit));
        let scored = succeed(&mut folder.oddcell(["score", &model, "orders.csv", "--threads", threads]));
        (std::fs::read(folder.path(&model)).unwrap(), scored)
    });
    assert!(outputs[0].0 == outputs[1].0, "the models differ");
    assert!(outputs[0].1 == outputs[1].1, "the judged rows differ");
}

#[test]
fn other_column_order_gives_the_same_scores_and_extra_columns_are_noted() {
    let folder = Folder::new().with_model();
    let turned: String = orders(120)
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let mut fields: Vec<&str> = line.split(',').collect();
            fields.reverse();
            fields.push(if row == 0 { "clerk" } else { "Kari" });
            fields.join(",") + "\n"
        })
        .collect();
    folder.write("turned.csv", turned);
    let plain = succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv"]));
    let args = ["score", "m.oddcell", "turned.csv", "-o", "out.csv"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 120 rows are odd.
    rule: p-value at most 0.01: about 1 % of normal rows are flagged
    none was called: the smallest p-value, 0.017, is above 0.01. The oddest:
      row 7, p 0.017: amount 9999.0: 3.6 sd off (3246), above the normal range 10.12 to 19.98; expected 995.9 (10.5 to 995.9)
      row 117, p 0.033: rating empty: unexpected (0.50 of 1); empty in 11 % of training rows; expected 3 (1 to 5)
      row 36, p 0.033: weight 23.9: 0.47 sd off (2.773), within the normal range 21.02 to 40.5; expected 27.5 (22.4 to 32.6)
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: ignored columns that the model does not know: `clerk`
    written to out.csv
    ");
    for name in ["odd_score", "odd_p", "odd_verdict"] {
        assert_eq!(column(&folder.read("out.csv"), name), column(&plain, name));
    }
}

#[test]
fn a_missing_column_is_an_error_that_names_it() {
    let folder = Folder::new().with_model();
    folder.write("new.csv", "amount,city,placed,gift,rating\n1,Oslo,2025-01-01,true,2\n");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "new.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: new.csv: column `weight` is missing, but the model was fitted on it; the table has `amount`, `city`, `placed`, `gift`, `rating`
    hint: `oddcell inspect MODEL` lists the columns the model needs
    ");
}

#[test]
fn a_cell_that_cannot_be_read_is_a_finding_or_with_strict_an_error_with_its_place() {
    let folder = Folder::new().with_model();
    folder.write("new.csv", orders(3).replace("17.4", "heavy"));
    let judged = folder.oddcell(["score", "m.oddcell", "new.csv", "-o", "judged.csv"]).output().unwrap();
    let said = String::from_utf8(judged.stderr).unwrap();
    let note = "note: column `amount`: 1 cell cannot be read as a number, namely `heavy` in row 2\n";
    assert!(judged.status.success() && said.contains(note), "{said}");
    assert!(folder.read("judged.csv").lines().nth(2).unwrap().starts_with("heavy,"));
    folder.write("train.csv", orders(120).replace("17.4", "heavy"));
    let detected = folder.tiny(["detect", "train.csv"]).output().unwrap();
    let said = String::from_utf8(detected.stderr).unwrap();
    assert!(said.contains("2 cells cannot be read as a number, such as `heavy` in row 2"), "{said}");
    let args = ["score", "m.oddcell", "new.csv", "-o", "out.csv", "--strict"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: new.csv, row 2, column `amount`: found `heavy`, but a number was expected
    hint: fit with --kind COLUMN=category to read the column as names, or with --ignore COLUMN to leave it out
    ");
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn unseen_names_and_unexpected_gaps_are_noted() {
    let folder = Folder::new().with_model();
    folder.write("new.csv", "amount,weight,city,placed,gift,rating\n,30,Bodø,2025-01-01,true,2\n");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "new.csv", "-o", "out.csv"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    1 of 1 row is odd.
    rule: p-value at most 0.01: about 1 % of normal rows are flagged
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: column `amount`: 1 empty cell, but none in training
    note: column `city`: 1 value never seen in training
    written to out.csv
    ");
}

#[test]
fn each_rule_is_told() {
    let folder = Folder::new().with_model();
    let score = |rule: [&'static str; 2]| {
        let args = ["score", "m.oddcell", "orders.csv", "-o", "out.csv"];
        folder.oddcell(args.into_iter().chain(rule))
    };
    assert_cmd_snapshot!(score(["--alpha", "0.02"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    1 of 120 rows is odd.
    rule: p-value at most 0.02: about 2 % of normal rows are flagged
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to out.csv
    ");
    assert_cmd_snapshot!(score(["--fdr", "0.2"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 120 rows are odd.
    rule: false-discovery rate 0.2: at most about 20 % of the flagged rows are expected to be normal
    none was called: at a false-discovery rate of 0.2, one row of 120 needs a p-value of at most 0.002, and the smallest is 0.017. The oddest:
      row 7, p 0.017: amount 9999.0: 3.6 sd off (3246), above the normal range 10.12 to 19.98; expected 995.9 (10.5 to 995.9)
      row 117, p 0.033: rating empty: unexpected (0.50 of 1); empty in 11 % of training rows; expected 3 (1 to 5)
      row 36, p 0.033: weight 23.9: 0.47 sd off (2.773), within the normal range 21.02 to 40.5; expected 27.5 (22.4 to 32.6)
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: fdr 0.2 cannot flag fewer than 5 of these 120 rows; use alpha or top, or fit with at least 599 calibration rows
    written to out.csv
    ");
    assert_cmd_snapshot!(score(["--top", "3"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    3 of 120 rows are odd.
    rule: top 3: the 3 rows with the highest scores
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to out.csv
    ");
    assert_cmd_snapshot!(score(["--contamination", "0.05"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    6 of 120 rows are odd.
    rule: contamination 0.05: scores above all but the top 5 % of the reference scores
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to out.csv
    ");
}

#[test]
fn rules_out_of_range_are_wrong_use() {
    let folder = Folder::new().with_model();
    let score = |rule: [&'static str; 2]| {
        folder.oddcell(["score", "m.oddcell", "orders.csv"].into_iter().chain(rule))
    };
    assert_cmd_snapshot!(score(["--alpha", "1.5"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `alpha` is 1.5, but must be more than 0 and less than 1
    ");
    assert_cmd_snapshot!(score(["--fdr", "NaN"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `fdr` is NaN, but must be more than 0 and less than 1
    ");
    assert_cmd_snapshot!(score(["--top", "0"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `top` is 0, but must be at least 1
    ");
    assert_cmd_snapshot!(score(["--contamination", "0.7"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `contamination` is 0.7, but must be more than 0 and at most 0.5
    ");
}

#[test]
fn two_rules_at_once_are_wrong_use() {
    let folder = Folder::new();
    let args = ["score", "m.oddcell", "orders.csv", "--alpha", "0.01", "--top", "3"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the argument '--alpha <P>' cannot be used with '--top <K>'

    Usage: oddcell score --alpha <P> <MODEL> <DATA>

    For more information, try '--help'.
    ");
}

#[test] // The stream goes through a spool on disk in two passes; the library has all rows at hand.
fn verdicts_of_the_stream_equal_those_in_memory() {
    let folder = Folder::new().with_model();
    // More rows than one batch has, one in ten with a wild amount.
    folder.write("many.csv", orders(20_000).replace("\n19.", "\n91119."));
    let model = Model::load(folder.path("m.oddcell")).unwrap();
    let table = Table::read(&Source::Path(folder.path("many.csv")), &ReadOptions::default()).unwrap();
    let rules = [
        ("--fdr", "0.3", Rule::Fdr(0.3)),
        ("--top", "17", Rule::Top(17)),
        ("--alpha", "0.05", Rule::Alpha(0.05)),
        ("--contamination", "0.1", Rule::Contamination(0.1)),
    ];
    for (flag, value, rule) in rules {
        let csv = succeed(&mut folder.oddcell(["score", "m.oddcell", "many.csv", flag, value]));
        let (expected, _) = Scorer::new(&model, rule).collect("many.csv", &table.batches, &mut []).unwrap();
        let found: Vec<bool> = column(&csv, "odd_verdict").iter().map(|verdict| verdict == "true").collect();
        assert!(found == expected.odd, "{flag} {value}");
        assert!(found.iter().any(|&odd| odd), "{flag} {value} finds nothing");
    }
}

#[test]
fn with_labels_the_agreement_is_told() {
    let folder = Folder::without_figures();
    let labeled: String = orders(120)
        .lines()
        .enumerate()
        .map(|(row, line)| match row {
            0 => format!("{line},truth\n"),
            row => format!("{line},{}\n", u8::from(row == 7)),
        })
        .collect();
    folder.write("labeled.csv", labeled);
    let args = ["fit", "labeled.csv", "-o", "m.oddcell", "--label", "truth"];
    assert_cmd_snapshot!(folder.tiny(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    learned from 120 rows, 6 columns (30 features) of labeled.csv
    cross-fitted: 5 detectors, each calibrated on the rows it did not see
    on its own training rows (anomalies: 1): AUC [figure], average precision [figure], F1 [figure]
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city); left out: truth (label)
    written to m.oddcell
    ");
    let args = ["score", "m.oddcell", "labeled.csv", "--label", "truth", "-o", "out.csv"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 120 rows are odd.
    rule: p-value at most [figure]: about 1 % of normal rows are flagged
    against the labels (anomalies: 1): AUC [figure], average precision [figure], F1 [figure]
    none was called: the smallest p-value, [figure], is above [figure]. The oddest:
      row 7, p [figure]: amount [figure]: [figure] sd off (3246), above the normal range [figure] to [figure]; expected [figure] ([figure] to [figure])
      row 117, p [figure]: rating empty: unexpected ([figure] of 1); empty in 11 % of training rows; expected 3 (1 to 5)
      row 36, p [figure]: weight [figure]: [figure] sd off ([figure]), within the normal range [figure] to [figure]; expected [figure] ([figure] to [figure])
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city); left out: truth (label)
    written to out.csv
    ");
}

#[test]
fn explain_shows_every_cell_of_a_row() {
    let folder = Folder::without_figures().with_model();
    let text = succeed(&mut folder.oddcell(["explain", "m.oddcell", "orders.csv", "--row", "7"]));
    assert!(text.starts_with("row 7: score "), "{text}");
    for name in ["amount", "weight", "city", "placed", "gift", "rating"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let args = ["explain", "m.oddcell", "orders.csv", "--row", "7", "--json"];
    let json: serde_json::Value = serde_json::from_str(&succeed(&mut folder.oddcell(args))).unwrap();
    let row = &json["rows"][0];
    assert_eq!((&row["row"], &row["odd"][0]), (&7.into(), &"amount".into()));
    let cells = row["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 6);
    let amount = cells.iter().find(|cell| cell["column"] == "amount").unwrap();
    assert_eq!(amount["value"], "9999.0");
    assert_eq!(amount["side"], "above");
}

#[test]
fn explain_shows_several_rows_of_a_table_judged_by_itself() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(120));
    let explain = |row: &'static str, flag: &'static str| {
        folder.oddcell(["explain", "orders.csv", "--detector", "ecod", "--row", row, "--threads", "1", flag])
    };
    let text = succeed(&mut explain("9,7", "--quiet"));
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("row ")).collect();
    assert!(rows[0].starts_with("row 9: ") && rows[1].starts_with("row 7: "), "{text}");
    // The spoiled cell is marked, and no other.
    let marked: Vec<&str> = text.lines().filter(|line| line.contains(" *")).collect();
    assert_eq!(marked.len(), 1, "{text}");
    assert!(marked[0].starts_with("amount") && marked[0].contains("*9999.0"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&succeed(&mut explain("7", "--json"))).unwrap();
    assert_eq!(json["rows"][0]["odd"], serde_json::json!(["amount"]));
    let expected = json["rows"][0]["cells"][0]["expected"]["value"].as_str().unwrap();
    assert!((10.0..20.5).contains(&expected.parse::<f64>().unwrap()), "{expected}");
    // As detect judges it.
    let judged =
        succeed(&mut folder.oddcell(["detect", "orders.csv", "--detector", "ecod", "--threads", "1"]));
    let score: f64 = column(&judged, "odd_score")[6].parse().unwrap();
    assert_eq!(json["rows"][0]["score"].as_f64(), Some(score));
    let with_model =
        folder.oddcell(["explain", "m", "orders.csv", "--row", "1", "--seed", "1"]).output().unwrap();
    assert_eq!(
        String::from_utf8(with_model.stderr).unwrap(),
        "error: options about columns and learning are for a table that is judged by itself; a model keeps what it was fitted with\n\
         hint: leave them out, or leave the model out\n"
    );
}

#[test]
fn explain_tells_its_notes_and_keeps_quiet_when_asked_to() {
    let folder = Folder::without_figures().with_model();
    folder.write(
        "new.csv",
        "amount,weight,city,placed,gift,rating,clerk\n,30,Bod\u{f8},2025-01-01,true,2,Kari\n",
    );
    let explain = |flag: &'static str| {
        folder.oddcell(["explain", "m.oddcell", "new.csv", "--row", "1", "--threads", "1", flag])
    };
    let said =
        |mut command: std::process::Command| String::from_utf8(command.output().unwrap().stderr).unwrap();
    insta::assert_snapshot!(said(explain("--delimiter=,")), @r"
    note: ignored columns that the model does not know: `clerk`
    note: column `amount`: 1 empty cell, but none in training
    note: column `city`: 1 value never seen in training
    ");
    assert_eq!(said(explain("--quiet")), "");
    let json: serde_json::Value = serde_json::from_str(&succeed(&mut explain("--json"))).unwrap();
    assert_eq!(json["notes"].as_array().unwrap().len(), 3);
}

#[test] // 120 calibration rows: p is at least 1/121. At 0.2, 120 rows need 120/(121 · 0.2) = 4.96 of them: 5.
fn a_false_discovery_rate_that_no_row_can_meet_alone_is_told() {
    let folder = Folder::new().with_model();
    let score = |fdr: &'static str| {
        folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "out.csv", "--fdr", fdr])
    };
    assert_cmd_snapshot!(score("0.2"), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 120 rows are odd.
    rule: false-discovery rate 0.2: at most about 20 % of the flagged rows are expected to be normal
    none was called: at a false-discovery rate of 0.2, one row of 120 needs a p-value of at most 0.002, and the smallest is 0.017. The oddest:
      row 7, p 0.017: amount 9999.0: 3.6 sd off (3246), above the normal range 10.12 to 19.98; expected 995.9 (10.5 to 995.9)
      row 117, p 0.033: rating empty: unexpected (0.50 of 1); empty in 11 % of training rows; expected 3 (1 to 5)
      row 36, p 0.033: weight 23.9: 0.47 sd off (2.773), within the normal range 21.02 to 40.5; expected 27.5 (22.4 to 32.6)
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: fdr 0.2 cannot flag fewer than 5 of these 120 rows; use alpha or top, or fit with at least 599 calibration rows
    written to out.csv
    ");
    assert_cmd_snapshot!(score("0.005"), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 120 rows are odd.
    rule: false-discovery rate 0.005: at most about 0.5 % of the flagged rows are expected to be normal
    none was called: at a false-discovery rate of 0.005, one row of 120 needs a p-value of at most 4e-5, and the smallest is 0.017. The oddest:
      row 7, p 0.017: amount 9999.0: 3.6 sd off (3246), above the normal range 10.12 to 19.98; expected 995.9 (10.5 to 995.9)
      row 117, p 0.033: rating empty: unexpected (0.50 of 1); empty in 11 % of training rows; expected 3 (1 to 5)
      row 36, p 0.033: weight 23.9: 0.47 sd off (2.773), within the normal range 21.02 to 40.5; expected 27.5 (22.4 to 32.6)
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    note: fdr 0.005 cannot flag any row: with 120 calibration rows the smallest p-value is 0.008; use top or contamination, or fit with at least 199 calibration rows
    written to out.csv
    ");
    // Of one row, p = 1/121 is small enough.
    folder.write("one.csv", orders(1));
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "one.csv", "-o", "out.csv", "--fdr", "0.2"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 1 row is odd.
    rule: false-discovery rate 0.2: at most about 20 % of the flagged rows are expected to be normal
    none was called: at a false-discovery rate of 0.2, one row of 1 needs a p-value of at most 0.200, and the smallest is 0.669. The oddest:
      row 1, p 0.669
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to out.csv
    ");
}

#[test]
fn explain_refuses_a_row_that_is_not_there() {
    let folder = Folder::new().with_model();
    assert_cmd_snapshot!(folder.oddcell(["explain", "m.oddcell", "orders.csv", "--row", "1200"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv has 120 rows, so there is no row 1,200
    hint: rows are counted from 1, without the header
    ");
    assert_cmd_snapshot!(folder.oddcell(["explain", "m.oddcell", "orders.csv", "--row", "0"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '0' for '--row <N>': 0 is not in 1..18446744073709551615

    For more information, try '--help'.
    ");
}

#[test]
fn a_detector_without_cells_explains_the_row_only() {
    let folder = Folder::without_figures();
    folder.write("orders.csv", orders(120));
    succeed(&mut folder.oddcell(["fit", "orders.csv", "-o", "m.oddcell", "--detector", "iforest"]));
    assert_cmd_snapshot!(folder.oddcell(["explain", "m.oddcell", "orders.csv", "--row", "7"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    row 7: score [figure], p-value [figure]
    (33 of 1,000 normal rows score as high; estimated from 120 rows held out)

    column  value                 expected  noise  normal
    amount  *[figure]               [figure]       [figure]  [figure] to [figure]
    placed   2025-12-22 01:30:00              [figure]  2025-01-05 02:46:48 to
                                                   2025-12-22 11:13:12
    weight   [figure]                             [figure]  [figure] to [figure]
    rating   2                                [figure]  1 to 5
    gift     true                             [figure]  `false` (72 %), `true` (28 %)
    city     Voss                             [figure]  `Bergen` (37 %), `Oslo` (36 %),
                                                   `Voss` (28 %)
    (* the cell that makes the row odd)

    ----- stderr -----
    ");
}

#[test]
fn inspect_shows_what_is_in_the_model() {
    let folder = Folder::without_figures().with_model();
    assert_cmd_snapshot!(folder.oddcell(["inspect", "m.oddcell"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    detector       noise (oddcell [version])
    training rows  120
    seed           0
    member 1       24 rows, scores [figure] to [figure], median [figure]
    member 2       24 rows, scores [figure] to [figure], median [figure]
    member 3       24 rows, scores [figure] to [figure], median [figure]
    member 4       24 rows, scores [figure] to [figure], median [figure]
    member 5       24 rows, scores [figure] to [figure], median [figure]

    parameters
      aggregate      l2
      batch_size     128
      beta           [figure]
      difference     [figure]
      form           corrected
      hidden         128
      keep_rows      10000
      learning_rate  [figure]
      levels         3
      loss           sum
      n_neighbors    null
      net            mlp
      noise          gaussian
      one_hot        false
      output         linear
      ratios         [[figure],[figure],[figure]]
      schedule       cosine
      sigma_max      [figure]
      train_for      30 steps
      trust          [figure]
      weight_decay   [figure]

    6 columns, 30 features
      column  kind      empty   normal
      amount  number     [figure] %  [figure] to [figure]
      weight  number     [figure] %  [figure] to [figure]
      city    category   [figure] %  `Bergen` (37 %), `Oslo` (36 %), `Voss` (28 %)
      placed  date       [figure] %  2025-01-05 02:46:48 to 2025-12-22 11:13:12
      gift    boolean    [figure] %  `false` (72 %), `true` (28 %)
      rating  number    [figure] %  1 to 5

    ----- stderr -----
    ");
    let json = succeed(&mut folder.oddcell(["inspect", "m.oddcell", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    insta::assert_snapshot!(format!("{keys:?}"), @r#"["columns", "detector", "features", "left_out", "library_version", "members", "params", "reports", "seed", "training_rows"]"#);
    assert_eq!(json["training_rows"], 120);
    assert_eq!(json["params"]["train_for"], "30 steps");
    assert_eq!(json["columns"][2]["kind"], "category");
}
