//! Columns as people mean them: each promise about real tables, on a snippet of one, with the default detector.

#![allow(clippy::unwrap_used, reason = "the helpers are tests, too")]

use std::fmt::Write as _;

use oddcell::{
    Context, DetectorSpec, Model, Seed, Table,
    encode::{EncodeOptions, overview},
    judge::{Collected, Judge, ReasonForm, Scorer},
    model::{FitOptions, detect},
    table::{ColumnKind, ReadOptions, TableReader},
    verdict::Rule,
};

fn read(name: &str, csv: String) -> Table {
    Table::from_reader(
        TableReader::from_bytes(name, csv.into_bytes(), &ReadOptions::default())
            .expect("a table that can be judged"),
    )
    .expect("a table that can be judged")
}

fn options() -> FitOptions {
    FitOptions::new(DetectorSpec::by_table())
}

/// Judges a table by itself.
fn detected(csv: String) -> Collected {
    let table = read("table.csv", csv);
    let detection =
        detect(&table, &options(), &Context::silent(Seed(0))).expect("a table that can be judged");
    let scorer = Scorer { reasons: Some(ReasonForm::Text), ..Scorer::new(&detection, Rule::Fdr(0.1)) };
    scorer.collect("table.csv", &table.batches, &mut []).expect("a table that can be judged").0
}

/// Learns from one table and judges another; calls a hundredth of the normal rows odd.
fn scored(training: String, later: String) -> Collected {
    let model = Model::fit(&read("training.csv", training), &options(), &Context::silent(Seed(0)))
        .expect("a table that can be judged");
    let table = read("later.csv", later);
    let rule = Rule::alpha(0.01).expect("a table that can be judged");
    let scorer = Scorer { reasons: Some(ReasonForm::Text), ..Scorer::new(&model, rule) };
    scorer.collect("later.csv", &table.batches, &mut []).expect("a table that can be judged").0
}

/// The reasons of the row with the highest score, and its position.
fn oddest(judged: &Collected) -> (usize, String) {
    let most = judged.scores.iter().copied().fold(0.0, f64::max);
    let row = judged.scores.iter().position(|&score| score == most).expect("a table that can be judged");
    (row, judged.reasons().nth(row).flatten().expect("a table that can be judged").to_owned())
}

/// A shop that sells from 8 to 21: what is ordered, when, for how much, and when it is delivered.
fn orders(month: usize, n_rows: usize, seed: u64) -> Vec<String> {
    let mut stream = Seed(seed).stream("orders", &[month as u64]);
    let goods = [("pencil", 1.2), ("notebook", 4.5), ("desk lamp", 39.9), ("armchair", 249.0)];
    (0..n_rows)
        .map(|row| {
            let day = 1 + row * 28 / n_rows;
            let (hour, minute) = (8 + stream.below(13), stream.below(60));
            let (name, price) = goods[stream.below(4)];
            let count = 1 + stream.below(3);
            let city = ["Oslo", "Bergen", "Trondheim", "Stavanger"][stream.below(4)];
            let delivered = day + 1 + stream.below(3);
            let amount = price * count as f64;
            format!("2024-{month:02}-{day:02} {hour:02}:{minute:02},{name},{count},{amount:.2},{city},2024-{month:02}-{delivered:02}")
        })
        .collect()
}

fn table(rows: &[String]) -> String {
    format!("ordered,product,count,amount,city,delivered\n{}\n", rows.join("\n"))
}

fn with(mut rows: Vec<String>, row: usize, change: impl Fn(&mut Vec<String>)) -> Vec<String> {
    let mut cells: Vec<String> = rows[row].split(',').map(str::to_owned).collect();
    change(&mut cells);
    rows[row] = cells.join(",");
    rows
}

#[test]
fn a_clean_march_is_not_odd_for_a_model_of_january() {
    let judged = scored(table(&orders(1, 1_500, 1)), table(&orders(3, 1_000, 2)));
    let n_odd = judged.odd.iter().filter(|&&odd| odd).count();
    assert!(n_odd <= 15, "{n_odd} of 1,000 rows are odd");
}

#[test]
fn an_order_in_the_night_is_odd_and_the_reason_says_the_hour() {
    let night = with(orders(3, 500, 2), 40, |cells| cells[0] = format!("{}03:12", &cells[0][..11]));
    let (row, reason) = oddest(&scored(table(&orders(1, 1_500, 1)), table(&night)));
    assert_eq!(row, 40, "{reason}");
    assert!(reason.contains("hour 03:00, like no training row; normal 08:00 to 20:00"), "{reason}");
}

#[test]
fn a_delivery_before_the_order_is_odd_and_the_reason_says_so() {
    let early = with(orders(1, 800, 1), 700, |cells| cells[5] = "2024-01-02".into());
    let (row, reason) = oddest(&detected(table(&early)));
    assert_eq!(row, 700, "{reason}");
    assert!(
        reason.starts_with("delivered 2024-01-02: ") && reason.contains("days before `ordered`, normal "),
        "{reason}"
    );
}

#[test]
fn a_misspelled_name_is_found_with_the_frequent_spelling() {
    for (slip, cell) in [("Bergne", 4), ("bergen", 4), ("armchiar", 1), ("n0tebook", 1)] {
        let (row, reason) =
            oddest(&detected(table(&with(orders(1, 600, 1), 99, |cells| cells[cell] = slip.into()))));
        assert_eq!(row, 99, "{slip}: {reason}");
        assert!(reason.contains("looks like `"), "{slip}: {reason}");
    }
}

#[test]
fn a_cell_that_cannot_be_read_is_a_finding_in_both_ways_of_judging() {
    let spoiled = |rows| with(rows, 77, |cells| cells[3] = "45o0".into());
    let (row, reason) = oddest(&detected(table(&spoiled(orders(1, 400, 1)))));
    assert!(row == 77 && reason.starts_with("amount `45o0`: cannot be read as a number"), "{row} {reason}");
    let (row, reason) = oddest(&scored(table(&orders(1, 1_500, 1)), table(&spoiled(orders(3, 400, 2)))));
    assert!(row == 77 && reason.starts_with("amount `45o0`: cannot be read as a number"), "{row} {reason}");
}

#[test] // 600 codes, one of them in a fifth of the rows: it is never odd for being common.
fn a_common_level_of_a_code_column_is_never_odd_for_being_common() {
    let mut stream = Seed(4).stream("codes", &[]);
    let mut csv = "tailnum,minutes\n".to_owned();
    let mut common = Vec::new();
    for row in 0..3_000 {
        let is_common = stream.below(5) == 0;
        let code = if is_common { "N725MQ".to_owned() } else { format!("N{}", 100 + stream.below(600)) };
        writeln!(csv, "{code},{}", 60 + stream.below(300)).unwrap();
        common.extend(is_common.then_some(row));
    }
    let judged = detected(csv);
    assert!(common.iter().all(|&row| !judged.odd[row]));
    let mean = |rows: &[usize]| rows.iter().map(|&row| judged.scores[row]).sum::<f64>() / rows.len() as f64;
    let all: Vec<usize> = (0..3_000).collect();
    assert!(mean(&common) < mean(&all), "{} {}", mean(&common), mean(&all));
}

#[test] // The amount is the price times the count, so 249 for a pencil contradicts its row.
fn a_contradiction_is_found_where_other_columns_say_what_to_expect() {
    let (row, reason) = oddest(&detected(table(&with(orders(1, 1_200, 1), 321, |cells| {
        cells[1] = "pencil".into();
        cells[2] = "1".into();
        cells[3] = "249.00".into();
    }))));
    assert_eq!(row, 321, "{reason}");
    assert!(reason.contains("given the other columns; "), "{reason}");
}

#[test]
fn a_constant_column_is_never_a_reason() {
    let csv = |rows: Vec<String>| {
        let rows: Vec<String> = rows.into_iter().map(|row| format!("{row},2024,NO")).collect();
        format!("ordered,product,count,amount,city,delivered,year,country\n{}\n", rows.join("\n"))
    };
    let names = |reason: &str, column: &str| reason.split("; ").any(|part| part.starts_with(column));
    for (detector, preset) in [("columns", None), ("noise", Some("fast")), ("ecod", None)] {
        let options = FitOptions::new(DetectorSpec::new(detector, preset).unwrap());
        let table = read("table.csv", csv(orders(1, 300, 1)));
        let detection = detect(&table, &options, &Context::silent(Seed(0))).unwrap();
        let model = Model::fit(&table, &options, &Context::silent(Seed(0))).unwrap();
        for judge in [&detection as &dyn Judge, &model] {
            let scorer = Scorer { reasons: Some(ReasonForm::Text), ..Scorer::new(judge, Rule::Fdr(0.1)) };
            let judged = scorer.collect("table.csv", &table.batches, &mut []).unwrap().0;
            for reason in judged.reasons().flatten() {
                assert!(!names(reason, "year ") && !names(reason, "country "), "{detector}: {reason}");
            }
        }
    }
}

#[test] // Text, hardly two rows equal: a number where names stand has another shape.
fn free_text_is_judged_by_its_shape() {
    let mut stream = Seed(6).stream("names", &[]);
    let mut name = |n: usize| -> String {
        let letters: String = (0..n).map(|_| char::from(b'a' + stream.below(26) as u8)).collect();
        letters[..1].to_uppercase() + &letters[1..]
    };
    let mut csv = "name,points\n".to_owned();
    for row in 0..500 {
        let text = if row == 250 {
            "00-4411/x-912".to_owned()
        } else {
            format!("{} {}", name(5 + row % 4), name(6))
        };
        writeln!(csv, "{text},{}", row % 17).unwrap();
    }
    let (row, reason) = oddest(&detected(csv));
    let says = ["of training rows have this form (`9-9/a-9`", "has letters that seldom stand side by side"];
    assert!(row == 250 && says.iter().any(|text| reason.contains(text)), "{row} {reason}");
}

#[test] // 30 is common in the table, because armchairs cost that much, but no pencil does.
fn a_value_that_is_normal_overall_and_odd_for_its_group_is_found_and_the_reason_says_so() {
    let mut stream = Seed(8).stream("prices", &[]);
    let mut csv = "product,shop,price\n".to_owned();
    for row in 0..600 {
        let (product, price) = [("pencil", 2.0), ("armchair", 30.0)][row % 2];
        let price = if row == 300 { 30.0 } else { price * (1.0 + 0.1 * stream.normal()) };
        writeln!(csv, "{product},{},{price:.1}", ["north", "south"][row / 2 % 2]).unwrap();
    }
    let table = read("table.csv", csv);
    let mut options = options();
    options.encode.group_by = vec!["product".into(), "shop".into()];
    let detection = detect(&table, &options, &Context::silent(Seed(0))).unwrap();
    let scorer = Scorer { reasons: Some(ReasonForm::Text), ..Scorer::new(&detection, Rule::Fdr(0.1)) };
    let judged = scorer.collect("table.csv", &table.batches, &mut []).unwrap().0;
    let (row, reason) = oddest(&judged);
    assert!(
        row == 300 && reason.contains("unusual for product `pencil`, shop `north`: normal 1.6 to 2.5 there"),
        "{row} {reason}"
    );
    let model = Model::fit(&table, &options, &Context::silent(Seed(0))).unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let judge = |model: &Model| model.judge(table.rows().next().unwrap()).unwrap().findings.scores;
    assert_eq!(judge(&again), judge(&model));
}

#[test] // A slip that was copied: four of 2,000 cells hold letters for digits.
fn a_slip_that_repeats_does_not_turn_a_column_of_numbers_into_names() {
    let mut csv = "price,weight,unit\n".to_owned();
    let mut stream = Seed(9).stream("prices", &[]);
    for row in 0..2_000 {
        let price = if row % 500 == 7 { "18OO".to_owned() } else { (500 + stream.below(3_000)).to_string() };
        writeln!(csv, "{price},{},{}", stream.below(90), ["kg", "piece"][row % 2]).unwrap();
    }
    let table = read("table.csv", csv.clone());
    assert_eq!(table.columns[0].kind, ColumnKind::Number);
    assert_eq!(overview(&table, &EncodeOptions::default(), None).unwrap()[0].unreadable, 4);
    let (row, reason) = oddest(&detected(csv));
    assert!(
        row % 500 == 7 && reason.starts_with("price `18OO`: cannot be read as a number"),
        "{row} {reason}"
    );
}

#[test] // House prices to the cent, one ends in .00; and a reading with 15 decimals, of which none may be lost in a reason.
fn what_is_said_of_decimals_is_true() {
    let mut csv = "price,reading,city\n".to_owned();
    let mut stream = Seed(10).stream("prices", &[]);
    for row in 0..400 {
        let cents = if row == 9 { 0 } else { 1 + stream.below(99) };
        let reading =
            if row == 30 { "11.354069994912443".to_owned() } else { format!("{}.25", 5 + stream.below(12)) };
        writeln!(
            csv,
            "\"${},{:03}.{cents:02}\",{reading},{}",
            150 + stream.below(90),
            stream.below(1_000),
            ["a", "b"][row % 2]
        )
        .unwrap();
    }
    let judged = detected(csv);
    let reasons = |row: usize| judged.reasons().nth(row).flatten().unwrap().to_owned();
    assert!(reasons(30).contains("reading 11.354069994912443: has 7 decimals or more"), "{}", reasons(30));
    // One price in a hundred: ln 100 = 4.6, and not 4.6 and the gap to the next.
    let price = reasons(9).split("; surprise ").nth(1).map(|rest| rest[..3].parse::<f64>().unwrap());
    assert!(reasons(9).contains(".00: is whole") && price.unwrap() < 4.9, "{}", reasons(9));
}

#[test] // `NO` alone is Norway; yes and no are shown as they are written.
fn a_country_is_no_truth_value_and_truth_values_are_shown_as_written() {
    let mut csv = "country,express,amount\n".to_owned();
    let mut stream = Seed(11).stream("answers", &[]);
    for row in 0..300 {
        let country = if row == 7 { "SE" } else { "NO" };
        writeln!(csv, "{country},{},{}", if row % 60 == 7 { "Yes" } else { "No" }, stream.below(500))
            .unwrap();
    }
    let table = read("table.csv", csv.clone());
    let kinds: Vec<ColumnKind> = table.columns.iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [ColumnKind::Category, ColumnKind::Boolean, ColumnKind::Number]);
    let found = overview(&table, &EncodeOptions::default(), None).unwrap();
    assert_eq!(found[1].normal.as_ref().unwrap().to_string(), "`No` (98 %), `Yes` (1.7 %)");
    let (row, reason) = oddest(&detected(csv));
    assert!(row == 7 && reason.contains("country `SE`: "), "{row} {reason}");
    assert!(!reason.contains("`true`") && !reason.contains("`false`"), "{reason}");
}

#[test] // A shop that sells from 20:00 to 04:59.
fn the_usual_hours_of_a_night_shop_go_on_after_midnight() {
    let mut csv = "sold,drink\n".to_owned();
    let mut stream = Seed(12).stream("night", &[]);
    for row in 0..900 {
        let hour = if row == 450 { 14 } else { (20 + stream.below(9)) % 24 };
        let (month, day) = (1 + row / 300, 1 + row % 300 / 11);
        writeln!(
            csv,
            "2024-{month:02}-{day:02} {hour:02}:{:02},{}",
            stream.below(60),
            ["beer", "mate"][row % 2]
        )
        .unwrap();
    }
    let judged = detected(csv);
    let reasons = judged.reasons().nth(450).flatten().unwrap();
    assert!(reasons.contains("hour 14:00, like 0.1 % of training rows; normal 20:00 to 04:00"), "{reasons}");
}

#[test] // Five of 500 incomes could not be read in training; that does not make the next ones normal.
fn a_cell_that_cannot_be_read_is_odd_even_if_training_had_some() {
    let incomes = |seed: u64, spoiled: &[usize], is_mixed: bool| {
        let mut stream = Seed(seed).stream("incomes", &[]);
        let mut csv = "income,age,city\n".to_owned();
        for row in 0..500 {
            let income = 30_000 + stream.below(40_000);
            let slip = if spoiled.contains(&row) { "o" } else { "" };
            let city = if is_mixed { ["Oslo", "Voss"][row % 2] } else { "7" };
            writeln!(csv, "{income}{slip},{},{city}", 18 + stream.below(60)).unwrap();
        }
        csv
    };
    let spoiled = [10, 110, 210, 310, 410];
    for (is_mixed, detector) in
        [(true, DetectorSpec::by_table()), (false, DetectorSpec::new("knn", None).unwrap())]
    {
        let options = FitOptions::new(detector);
        let training = read("training.csv", incomes(1, &spoiled, is_mixed));
        let later = read("later.csv", incomes(2, &[3, 33, 333], is_mixed));
        let model = Model::fit(&training, &options, &Context::silent(Seed(0))).unwrap();
        let rule = Rule::alpha(0.01).unwrap();
        let judged = Scorer::new(&model, rule).collect("later.csv", &later.batches, &mut []).unwrap().0;
        assert!([3, 33, 333].iter().all(|&row| judged.odd[row]), "{:?}", &judged.p_values[3]);
        let others = judged.odd.iter().filter(|&&odd| odd).count() - 3;
        assert!(others <= 13, "{others} of 497 rows that can be read");
        let detection = detect(&training, &options, &Context::silent(Seed(0))).unwrap();
        let scorer = Scorer::new(&detection, Rule::Fdr(0.1));
        let judged = scorer.collect("training.csv", &training.batches, &mut []).unwrap().0;
        assert!(spoiled.iter().all(|&row| judged.odd[row]), "{:?}", spoiled.map(|row| judged.p_values[row]));
    }
}

/// Calls between branches that are open from 8 to 21 where they are.
fn calls(change: impl Fn(usize, &mut String, &mut String)) -> String {
    let mut csv = "began,answered,office\n".to_owned();
    let mut stream = Seed(13).stream("calls", &[]);
    for row in 0..800 {
        let (offset, office) =
            [("+01:00", "Oslo"), ("-05:00", "Boston"), ("+09:00", "Tokyo")][stream.below(3)];
        let (day, hour, minute) = (1 + row / 30, 8 + stream.below(13), stream.below(50));
        let mut began = format!("2024-01-{day:02}T{hour:02}:{minute:02}:00{offset}");
        // The same moment or somewhat later on the clock of the head office in UTC.
        let shift = [1, -5, 9][["+01:00", "-05:00", "+09:00"].iter().position(|&o| o == offset).unwrap()];
        let utc = i64::try_from(hour).unwrap() - shift;
        let (later, on) = (utc.rem_euclid(24), i64::try_from(day).unwrap() + 1 + utc.div_euclid(24));
        let mut answered = format!("2024-01-{on:02}T{later:02}:{:02}:00Z", minute + stream.below(10));
        change(row, &mut began, &mut answered);
        writeln!(csv, "{began},{answered},{office}").unwrap();
    }
    csv
}

#[test] // 03:00 in Tokyo is night there, although it is 18:00 in UTC.
fn the_hour_of_a_time_is_that_of_its_own_clock() {
    let judged = detected(calls(|row, began, _| {
        if row == 400 {
            *began = format!("{}T03:00:00+09:00", &began[..10]);
        }
    }));
    let reasons = judged.reasons().nth(400).flatten().unwrap();
    assert!(reasons.contains("hour 03:00, like 0.1 % of training rows; normal 08:00 to 20:00"), "{reasons}");
}

#[test] // All calls are answered within ten minutes of one day later, whatever the clocks show.
fn times_of_different_clocks_are_compared_in_utc() {
    let early = |row: usize, _: &mut String, answered: &mut String| {
        if row == 500 {
            *answered = "2024-01-02T00:30:00Z".to_owned();
        }
    };
    let (row, reason) = oddest(&detected(calls(early)));
    assert!(row == 500 && reason.contains("days before `began`, normal "), "{row} {reason}");
}

#[test]
fn seconds_since_1970_are_dates_with_hours() {
    let mut csv = "at,user,amount\n".to_owned();
    let mut stream = Seed(14).stream("epoch", &[]);
    for row in 0..600 {
        let hour = if row == 300 { 3 } else { 8 + stream.below(13) };
        let at = 1_704_067_200 + (row / 10) * 86_400 + hour * 3_600 + stream.below(3_600);
        writeln!(csv, "{at},{},{}", ["ann", "bob"][stream.below(2)], stream.below(90)).unwrap();
    }
    let table = read("table.csv", csv.clone());
    assert_eq!(table.columns[0].kind, ColumnKind::Date);
    let note = table.columns[0].note.clone().unwrap();
    assert!(note.contains("are read as seconds since 1970"), "{note}");
    let judged = detected(csv);
    let reasons = judged.reasons().nth(300).flatten().unwrap();
    assert!(
        reasons.starts_with("at 2024-01-31 03:") && reasons.contains("hour 03:00, like 0.2 %"),
        "{reasons}"
    );
}

/// Prices, shipping and their total, and the price once more.
fn invoices(n_rows: usize, seed: u64, change: impl Fn(usize, &mut [f64; 3])) -> String {
    let mut csv = "customer,price,shipping,total\n".to_owned();
    let mut stream = Seed(seed).stream("invoices", &[]);
    for row in 0..n_rows {
        let price = (10_000.0 + 1_000.0 * stream.normal()).round() / 100.0;
        let shipping = (1_500.0 + 200.0 * stream.normal()).round() / 100.0;
        let mut cells = [price, shipping, price + shipping];
        change(row, &mut cells);
        let [price, shipping, total] = cells;
        writeln!(csv, "{},{price:.2},{shipping:.2},{total:.2}", ["ann", "bob", "eve"][stream.below(3)])
            .unwrap();
    }
    csv
}

#[test]
fn a_sum_of_other_columns_does_not_count_twice_and_its_break_is_found() {
    let judged = detected(invoices(800, 1, |row, cells| match row {
        100 => cells[2] += 9.0,
        200 => (cells[0], cells[2]) = (cells[0] + 60.0, cells[2] + 60.0),
        _ => {}
    }));
    let (row, reason) = oddest(&judged);
    assert!(row == 100 && reason.contains("is not `price` + `shipping` = 1"), "{row} {reason}");
    assert!(reason.contains(", as in 99.9 % of training rows"), "{reason}");
    // An unusual price makes an unusual total, which is no second reason.
    let reasons = judged.reasons().nth(200).flatten().unwrap();
    assert!(reasons.starts_with("price ") && !reasons.contains("total "), "{reasons}");
    for seed in 2..5 {
        let clean = detected(invoices(800, seed, |_, _| {}));
        let n_odd = clean.odd.iter().filter(|&&odd| odd).count();
        assert!(n_odd <= 1, "{n_odd} rows of a clean table are odd");
    }
}
