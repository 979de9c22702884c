//! `--report`: the page beside the results.

use insta_cmd::assert_cmd_snapshot;
use serde_json::Value;

use crate::folder::{Folder, orders, succeed};

/// What the page's script works on.
fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn detect_writes_a_page_about_the_very_rows_it_judges() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(120));
    let args = ["detect", "orders.csv", "--top", "4", "-o", "out.csv"];
    succeed(&mut folder.tiny(args));
    let without = folder.read("out.csv");
    assert_cmd_snapshot!(folder.tiny(args.into_iter().chain(["--report", "page.html"])), @r"
    success: true
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    4 of 120 rows are odd.
    rule: top 4: the 4 rows with the highest scores
    columns: 3 numbers (amount, weight, rating), 1 boolean (gift), 1 date (placed),
             1 category (city)
    written to out.csv
    report: page.html
    ");
    assert_eq!(folder.read("out.csv"), without);
    assert_eq!(folder.names(), ["orders.csv", "out.csv", "page.html"]);
    let html = folder.read("page.html");
    assert!(html.contains(">4 of 120 rows are odd</h1>"));
    let page = data(&html);
    assert_eq!(page["oddest"].as_array().unwrap().len(), 120);
    assert_eq!((&page["map"]["layer"], &page["curves"]), (&Value::Bool(true), &Value::Null));
    // The page's four oddest rows are the ones that the table calls odd.
    let mut odd: Vec<u64> = (0..4).map(|at| page["oddest"][at][0].as_u64().unwrap()).collect();
    odd.sort_unstable();
    let rows = without.lines().skip(1).zip(1..);
    let expected: Vec<u64> =
        rows.filter(|(line, _)| line.split(',').nth(8) == Some("true")).map(|(_, row)| row).collect();
    assert_eq!(odd, expected);
}

#[test]
fn score_tells_of_the_model_and_of_labels_and_hides_what_an_earlier_run_had_found() {
    let folder = Folder::new().with_model();
    succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "judged.csv"]));
    let judged = folder.read("judged.csv");
    let label = |row| if row == 7 { "1" } else { "0" };
    let labeled = judged.lines().skip(1).zip(1..).flat_map(|(line, row)| [label(row), ",", line, "\n"]);
    let header = ["truth,", judged.lines().next().unwrap(), "\n"];
    let labeled: String = header.into_iter().chain(labeled).collect();
    folder.write("labeled.csv", labeled);
    let args = ["score", "m.oddcell", "labeled.csv", "--label", "truth", "--fdr", "0.2", "--json"];
    let json = succeed(&mut folder.oddcell(args.into_iter().chain(["--report", "page.html"])));
    let summary: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(summary["report"], "page.html");
    let html = folder.read("page.html");
    assert!(
        html.contains("<dt>Model</dt><dd><bdi>m.oddcell</bdi></dd>") && html.contains("(time of the file)")
    );
    let page = data(&html);
    assert_eq!(page["curves"]["anomalies"], 1);
    assert_eq!(page["curves"]["auc"], summary["metrics"]["auc"]);
    let columns = page["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["truth", "amount", "weight", "city", "placed", "gift", "rating"]);
}

#[test]
fn fit_shows_its_own_rows_and_noised_ones_and_other_detectors_their_features() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(120));
    succeed(&mut folder.tiny(["fit", "orders.csv", "-o", "m.oddcell", "--report", "page.html"]));
    let html = folder.read("page.html");
    assert!(html.contains("The model learned from these rows."));
    assert_eq!(data(&html)["map"]["noised"].as_array().unwrap().len(), 120);
    succeed(&mut folder.oddcell(["detect", "orders.csv", "--detector", "knn", "--report", "page.html"]));
    let page = data(&folder.read("page.html"));
    // Cells are judged whatever judges the rows.
    assert_eq!((&page["map"]["layer"], &page["cells"]), (&Value::Bool(false), &Value::Bool(true)));
}

#[test]
fn a_page_is_refused_where_it_would_destroy_something_or_cannot_be() {
    let folder = Folder::new().with_model();
    let score =
        |page| folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "out.csv", "--report", page]);
    assert_cmd_snapshot!(score("orders.csv"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `orders.csv` is an input of this command; writing the result there would overwrite it
    hint: give the result another name
    ");
    assert_cmd_snapshot!(score("./out.csv"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `./out.csv` is named twice: for the report and for another output
    hint: give the report another name
    ");
    assert_cmd_snapshot!(score("-"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the report is an HTML page and needs a file name
    hint: e.g. --report page.html
    ");
    assert_cmd_snapshot!(score("absent/page.html"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot create `absent/page.html`: there is no folder `absent`
    hint: create the folder first
    ");
    assert_eq!(folder.names(), ["m.oddcell", "orders.csv"]);
}
