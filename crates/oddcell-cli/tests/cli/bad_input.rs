//! Tables nothing can be learned from, or nothing should.

use std::fmt::Write as _;

use insta_cmd::assert_cmd_snapshot;

use crate::folder::{Folder, orders, succeed};

fn detect(folder: &Folder, content: impl AsRef<[u8]>) -> std::process::Command {
    folder.write("data.csv", content);
    folder.tiny(["detect", "data.csv", "-o", "out.csv"])
}

#[test]
fn no_such_file() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.tiny(["detect", "data.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot open data.csv: No such file or directory (os error 2)
    hint: check the path; `-` reads standard input
    ");
}

#[test]
fn a_folder_instead_of_a_file() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.tiny(["detect", "."]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot open .: is a directory
    ");
}

#[test]
fn an_empty_file() {
    let folder = Folder::new();
    assert_cmd_snapshot!(detect(&folder, ""), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv is empty, but a table was expected
    ");
    assert_cmd_snapshot!(folder.tiny(["detect", "-"]).pass_stdin(""), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: standard input is empty, but a table was expected
    ");
}

#[test]
fn a_header_only() {
    let folder = Folder::new();
    assert_cmd_snapshot!(detect(&folder, "a,b\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv has 2 columns but no rows; at least one row was expected
    ");
    let folder = folder.with_model();
    folder.write("new.csv", "amount,weight,city,placed,gift,rating\n");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "new.csv", "-o", "out.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: new.csv has 6 columns but no rows; at least one row was expected
    ");
    assert_eq!(folder.names(), ["data.csv", "m.oddcell", "new.csv", "orders.csv"]);
}

#[test]
fn one_row() {
    let folder = Folder::new();
    assert_cmd_snapshot!(detect(&folder, "a,b\n1,2\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: noise needs at least 2 rows to learn from, but got 1
    ");
    assert_cmd_snapshot!(folder.tiny(["fit", "data.csv", "-o", "m.oddcell"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: noise needs at least 2 rows to learn from, but got 1
    ");
    assert_eq!(folder.names(), ["data.csv"]);
}

#[test]
fn one_row_can_be_scored() {
    let folder = Folder::new().with_model();
    folder.write("new.csv", orders(1));
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "new.csv", "-o", "out.csv"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 1 row is odd.
    rule: p-value at most 0.01: about 1 % of normal rows are flagged
    none was called: the smallest p-value, 0.669, is above 0.01. The oddest:
      row 1, p 0.669
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to out.csv
    ");
}

#[test]
fn one_column() {
    let folder = Folder::new();
    let mut csv = String::from("a\n");
    for row in 0..50 {
        writeln!(csv, "{}", row * 7 % 13).unwrap();
    }
    assert_cmd_snapshot!(detect(&folder, csv), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 50 rows are odd.
    rule: false-discovery rate 0.1: at most about 10 % of the flagged rows are expected to be normal
    none was called: at a false-discovery rate of 0.1, one row of 50 needs a p-value of at most 0.002, and the smallest is 0.043. The oddest:
      row 14, p 0.043: a 0: 0.82 sd off (3.054), within the normal range 0 to 12; expected 6 (1 to 12)
      row 40, p 0.043: a 0: 0.82 sd off (3.054), within the normal range 0 to 12; expected 6 (1 to 12)
      row 12, p 0.058
    columns: 1 number (a)
    written to out.csv
    ");
}

#[test]
fn a_column_without_values() {
    let folder = Folder::new();
    let mut csv = String::from("a,b,c\n");
    for row in 0..50 {
        writeln!(csv, "{},,{}", row * 7 % 13, row * 5 % 11).unwrap();
    }
    assert_cmd_snapshot!(detect(&folder, csv), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 50 rows are odd.
    rule: false-discovery rate 0.1: at most about 10 % of the flagged rows are expected to be normal
    none was called: at a false-discovery rate of 0.1, one row of 50 needs a p-value of at most 0.002, and the smallest is 0.044. The oddest:
      row 1, p 0.044: c 0: 1.0 sd off (3.206) given the other columns; normal by itself (0 to 10); expected 8 (6 to 11)
      row 25, p 0.065
      row 36, p 0.072
    columns: 2 numbers (a, c); left out: b (no values)
    note: column `b`: no cell has a value
    written to out.csv
    ");
    assert_cmd_snapshot!(detect(&folder, "a,b\n,\n,\n,\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv: no column is left to learn from; `a`: it has no values; `b`: it has no values
    ");
}

#[test]
fn identifiers_only() {
    let folder = Folder::new();
    let mut csv = String::from("id\n");
    for row in 0..50 {
        writeln!(csv, "{row}").unwrap();
    }
    assert_cmd_snapshot!(detect(&folder, csv), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv: no column is left to learn from; `id`: it looks like a row identifier (whole numbers with a constant step)
    hint: use --keep-identifiers to keep columns that look like identifiers
    ");
}

#[test]
fn ragged_rows() {
    let folder = Folder::new();
    assert_cmd_snapshot!(detect(&folder, "a,b\n1,2\n3\n4,5\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv, line 3: found 1 field, but expected 2 as in the header
    hint: if another character separates the fields, use --delimiter
    ");
    assert_cmd_snapshot!(detect(&folder, "a,b\n1,2\n3,4,5\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv, line 3: found 3 fields, but expected 2 as in the header
    hint: if another character separates the fields, use --delimiter
    ");
}

#[test]
fn names_that_are_missing_or_doubled() {
    let folder = Folder::new();
    assert_cmd_snapshot!(detect(&folder, ",\n1,2\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv: the header has no name for column 1, 2; every column needs one
    hint: if the first row holds data, not names, use --no-header
    ");
    assert_cmd_snapshot!(detect(&folder, "1,1,3\n1,2,3\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv: the column name `1` appears more than once; names must differ
    hint: if the first row holds data, not names, use --no-header
    ");
}

#[test]
fn an_open_quote() {
    let folder = Folder::new();
    assert_cmd_snapshot!(detect(&folder, "a,b\n1,\"2\n3,4\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv, line 2: a quoted field starts here and is not closed before the end of the file
    ");
}

#[test]
fn other_encodings() {
    let folder = Folder::new();
    assert_cmd_snapshot!(detect(&folder, b"a,town\n1,Oslo\n2,Troms\xF8\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv, line 3, column `town`: found the byte 0xF8, which is not UTF-8; if the text is Latin-1 or Windows-1252, convert it first, e.g. with `iconv -f WINDOWS-1252 -t UTF-8`
    ");
    let utf16: Vec<u8> = "\u{FEFF}a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_cmd_snapshot!(detect(&folder, utf16), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv is UTF-16 text, but UTF-8 was expected; convert it first, e.g. with `iconv -f UTF-16 -t UTF-8`
    ");
}

#[test]
fn infinite_numbers() {
    let folder = Folder::new();
    let mut strict = detect(&folder, "a,b\n1,2\n3,inf\n4,5\n");
    assert_cmd_snapshot!(strict.arg("--strict"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: data.csv, row 2, column `b`: found `inf`, but a finite number was expected
    hint: leave the cell empty if the value is unknown
    ");
    let folder = folder.with_model();
    folder.write("new.csv", orders(9).replace("9999.0", "-Infinity"));
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "new.csv", "--strict"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: new.csv, row 7, column `amount`: found `-Infinity`, but a finite number was expected
    hint: leave the cell empty if the value is unknown
    ");
}

#[test]
fn ten_thousand_columns() {
    let folder = Folder::new();
    let mut csv = (0..10_000).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
    for row in 0..10_usize {
        let cells: Vec<String> = (0..10_000_usize).map(|column| (row * column % 7).to_string()).collect();
        write!(csv, "\n{}", cells.join(",")).unwrap();
    }
    folder.write("wide.csv", csv);
    let args = ["fit", "wide.csv", "-o", "m.oddcell", "--threads", "1", "--set", "train_for=1 steps"];
    let fit = succeed(&mut folder.oddcell(args.into_iter().chain(["--json"])));
    let fit: serde_json::Value = serde_json::from_str(&fit).unwrap();
    assert!(fit["columns"].as_u64().unwrap() > 8_000, "{}", fit["columns"]);
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "wide.csv", "-o", "out.csv"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    0 of 10 rows are odd.
    rule: p-value at most 0.01: about 1 % of normal rows are flagged
    none was called: the smallest p-value, 0.364, is above 0.01. The oddest:
      row 6, p 0.364: c6829 6: 2.0 sd off (3.935) given the other columns; normal by itself (0 to 6)
      row 7, p 0.545: c8335 2: 1.9 sd off (3.764) given the other columns; normal by itself (0 to 6)
      row 4, p 0.545: c8335 1: 1.7 sd off (3.351) given the other columns; normal by itself (0 to 6)
    columns: 10,000 numbers (c0, c1, c2, c3, c4 and 9,995 more)
    note: alpha 0.01 cannot flag any row: with 10 calibration rows the smallest p-value is 0.091; use top or contamination, or fit with at least 99 calibration rows
    written to out.csv
    ");
    // Messages do not list ten thousand names.
    assert_cmd_snapshot!(folder.oddcell(["fit", "wide.csv", "-o", "x.oddcell", "--label", "nope"]), @"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: wide.csv has no column `nope`; its columns are `c0`, `c1`, `c2`, `c3`, `c4`, `c5`, `c6`, `c7`, `c8`, `c9`, `c10`, `c11`, `c12`, `c13`, `c14`, `c15`, `c16`, `c17`, `c18`, `c19` and 9980 more
    ");
    folder.write("narrow.csv", "d1,d2\n1,2\n");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "narrow.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: narrow.csv: columns `c0`, `c1`, `c2`, `c3`, `c4`, `c5`, `c6`, `c7`, `c8`, `c9`, `c10`, `c11` and 9988 more are missing, but the model was fitted on them; the table has `d1`, `d2`
    hint: `oddcell inspect MODEL` lists the columns the model needs
    ");
}

#[test]
fn labels_that_are_no_truth_values() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    let fit = |label: &'static str| folder.tiny(["fit", "orders.csv", "-o", "m.oddcell", "--label", label]);
    assert_cmd_snapshot!(fit("nope"), @"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv has no column `nope`; its columns are `amount`, `weight`, `city`, `placed`, `gift`, `rating`
    ");
    assert_cmd_snapshot!(fit("amount"), @"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv, row 1, label column `amount`: found `13.7`, but expected 0 or 1, true or false
    hint: 1 and true mean anomalous; every row of a labeled table needs a label
    ");
    assert_cmd_snapshot!(fit("city"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv, row 1, label column `city`: found `Bergen`, but expected 0 or 1, true or false
    hint: 1 and true mean anomalous; every row of a labeled table needs a label
    ");
    assert_cmd_snapshot!(fit("rating"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv, row 1, label column `rating`: found `4`, but expected 0 or 1, true or false
    hint: 1 and true mean anomalous; every row of a labeled table needs a label
    ");
    // Told before anything is learned.
    assert_eq!(folder.names(), ["orders.csv"]);
    let folder = folder.with_model();
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "orders.csv", "--label", "nope"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv has no column `nope`; its columns are `amount`, `weight`, `city`, `placed`, `gift`, `rating`
    ");
}

#[test]
fn data_in_another_format_than_said() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "--input-format", "parquet"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv cannot be read as parquet: Parquet error: Invalid Parquet file. Corrupt footer
    ");
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "--input-format", "jsonl"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv, line 1, character 1: not valid JSON: expected value; one JSON object per line was expected
    ");
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "--input-format", "xlsx"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'xlsx' for '--input-format <FORMAT>': there is no format `xlsx`; known: csv, jsonl, parquet, arrow, npy, npz

    For more information, try '--help'.
    ");
}
