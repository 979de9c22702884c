//! `oddcell inspect` on tables: how the columns are understood.

use std::{fs, path::Path};

use insta_cmd::assert_cmd_snapshot;
use serde_json::{Value, json};

use crate::folder::{Folder, succeed};

/// Orders with the columns that people have; nine rows have one wrong cell.
fn shop() -> Folder {
    let folder = Folder::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop.csv");
    folder.write("shop.csv", fs::read(path).unwrap());
    folder
}

#[test]
fn every_column_of_a_table_is_shown() {
    let folder = shop();
    assert_cmd_snapshot!(folder.oddcell(["inspect", "shop.csv"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    shop.csv: 400 rows, 12 columns

    column     kind      missing  distinct  unreadable  usual values
    order      number          0       400           0  4005 to 4396
    ordered    date            0       400           0  2025-01-04 10:54:20 to
                                                        2025-09-29 20:45:49
    delivered  date            0       213           0  2025-01-05 to 2025-10-01
    customer   text            0       400           0  texts of 8 to 18
                                                        characters
    city       category        0         7           0  `Oslo` (38 %), `Bergen`
                                                        (23 %), `Trondheim` (17 %)
    zip        category        0         6           0  `0150` (38 %), `5003`
                                                        (23 %), `7010` (17 %)
    product    category        0         6           0  `sleeping bag` (20 %),
                                                        `boots` (18 %), `tent`
                                                        (17 %)
    quantity   number          0         4           1  1 to 3
    price      number          0        53           0  19.92 to 867
    weight     number          1        18           0  0.2 to 12.6
    express    boolean         0         2           0  `no` (85 %), `yes` (15 %)
    note       category      270         6           0  `second floor` (6.5 %),
                                                        `call before delivery`
                                                        (5.8 %), `back door is
                                                        open` (5.3 %)

    left out: `order`: it looks like a row identifier (whole numbers with a constant step)
    note: column `zip`: read as category, because numbers such as `0150` start with a zero and so are codes
    note: column `quantity`: 1 cell cannot be read as a number, namely `l` in row 91

    ----- stderr -----
    ");
    let flags = ["--kind", "quantity=category", "--kind", "customer=id", "--ignore", "note,zip"];
    assert_cmd_snapshot!(folder.oddcell(["inspect", "shop.csv"].into_iter().chain(flags)), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    shop.csv: 400 rows, 12 columns

    column     kind      missing  distinct  usual values
    order      number          0       400  4005 to 4396
    ordered    date            0       400  2025-01-04 10:54:20 to 2025-09-29
                                            20:45:49
    delivered  date            0       213  2025-01-05 to 2025-10-01
    customer   text            0       400  texts of 8 to 18 characters
    city       category        0         7  `Oslo` (38 %), `Bergen` (23 %),
                                            `Trondheim` (17 %)
    zip        category        0         6  `0150` (38 %), `5003` (23 %), `7010`
                                            (17 %)
    product    category        0         6  `sleeping bag` (20 %), `boots` (18 %),
                                            `tent` (17 %)
    quantity   category        0         5  `1` (54 %), `2` (31 %), `3` (14 %)
    price      number          0        53  19.92 to 867
    weight     number          1        18  0.2 to 12.6
    express    boolean         0         2  `no` (85 %), `yes` (15 %)
    note       category      270         6  `second floor` (6.5 %), `call before
                                            delivery` (5.8 %), `back door is open`
                                            (5.3 %)

    left out: `order`: it looks like a row identifier (whole numbers with a constant step)
    left out: `customer`: a row identifier on request
    left out: `zip`: ignored on request
    left out: `note`: ignored on request
    note: column `zip`: read as category, because numbers such as `0150` start with a zero and so are codes

    ----- stderr -----
    ");
}

#[test]
fn the_overview_is_json_too_and_the_config_file_counts() {
    let folder = shop();
    folder.write("kinds.toml", "[kinds]\nnote = \"ignore\"\ncustomer = \"category\"\n");
    let args = ["inspect", "shop.csv", "--config", "kinds.toml", "--json"];
    let found: Value = serde_json::from_str(&succeed(&mut folder.oddcell(args))).unwrap();
    assert_eq!((&found["data"], &found["rows"]), (&json!("shop.csv"), &json!(400)));
    let column = |name: &str| {
        found["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap().clone()
    };
    let quantity = json!({
        "name": "quantity", "kind": "number", "missing": 0, "distinct": 4, "unreadable": 1,
        "normal": { "low": 1.0, "high": 3.0, "text": "1 to 3" }, "left_out": null,
    });
    assert_eq!(column("quantity"), quantity);
    assert_eq!(column("order")["left_out"], json!({ "identifier": "counter" }));
    assert_eq!(column("customer")["left_out"], json!({ "identifier": "names" }));
    assert_eq!((&column("note")["left_out"], &column("note")["missing"]), (&json!("ignored"), &json!(270)));
}

#[test]
fn a_table_may_come_from_standard_input_and_a_model_keeps_its_columns() {
    let folder = Folder::new().with_model();
    let from_file = succeed(&mut folder.oddcell(["inspect", "orders.csv"]));
    let mut command = folder.oddcell(["inspect", "-"]);
    command.stdin(fs::File::open(folder.path("orders.csv")).unwrap());
    assert_eq!(succeed(&mut command), from_file.replace("orders.csv:", "standard input:"));
    assert_cmd_snapshot!(folder.oddcell(["inspect", "m.oddcell", "--kind", "city=text"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `m.oddcell` is a model, which keeps its columns; --kind is for tables
    ");
    folder.write("words.csv", "a\n1\n2\n");
    assert_cmd_snapshot!(folder.oddcell(["inspect", "words.csv", "--kind", "b=text"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: words.csv has no column `b`; its columns are `a`
    ");
}

// Order 4001 is row 1.
#[test]
fn every_wrong_cell_of_the_shop_is_found_and_named() {
    let folder = shop();
    let found = succeed(&mut folder.oddcell(["detect", "shop.csv", "--json"]));
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["detector"], "columns");
    let mut named: Vec<(u64, &str)> = Vec::new();
    for row in found["oddest"].as_array().unwrap().iter().take(10) {
        named.push((
            row["row"].as_u64().unwrap(),
            row["reasons"][0].as_str().unwrap().split(' ').next().unwrap(),
        ));
    }
    named.sort_unstable();
    let wrong = [
        (41, "city"),
        (91, "quantity"),
        (132, "ordered"),
        (171, "delivered"),
        (217, "price"),
        (261, "zip"),
        (302, "quantity"),
        (343, "customer"),
        (372, "weight"),
    ];
    // The tenth is the slowest of all deliveries.
    let missed: Vec<_> = wrong.iter().filter(|cell| !named.contains(cell)).collect();
    assert!(missed.is_empty(), "{missed:?} of {named:?}");
    // The ninth stays below the default false-discovery rate.
    assert_eq!(found["odd"], 8);
}

#[test]
fn equal_and_nearly_equal_rows_are_listed() {
    let folder = Folder::new();
    let mut rows = String::from("order,name,amount,city\n");
    for row in 0..30 {
        let line = format!("{},Ann {row},{},{}\n", 100 + row, row * 7 % 31, ["Oslo", "Voss"][row % 2]);
        rows.push_str(&line);
    }
    rows += "130,Ann 3,21,Voss\n131,Ann 5,350,Voss\n132,ann  7,18,Voss\n";
    folder.write("table.csv", rows);
    let found = succeed(&mut folder.oddcell(["inspect", "table.csv", "--duplicates"]));
    let (_, duplicates) = found.split_once("\nrows compared by ").expect("a list of duplicates");
    assert_eq!(
        duplicates,
        "3 columns:\n\
         1 row is equal to an earlier one\n  row 31 like row 4\n\
         2 rows are nearly equal to an earlier one\n\
         \x20 row 32 like row 6: amount `350` instead of `4`\n\
         \x20 row 33 like row 8: name `ann  7` instead of `Ann 7`\n"
    );
    let json = succeed(&mut folder.oddcell(["inspect", "table.csv", "--duplicates", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["duplicates"]["equal"], json!([{ "row": 31, "first": 4, "differs": null }]));
    assert_eq!(json["duplicates"]["nearly_equal"][0]["differs"], json!(["amount", ["4", "350"]]));
}
