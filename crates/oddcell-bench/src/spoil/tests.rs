//! Tests of planting and measuring on a small table made by hand.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use oddcell::Seed;

use super::*;
use crate::methods::Method;

/// 400 orders: a code, a city, a color, an amount, a count, two dates and a note.
fn orders() -> Sheet {
    let mut text = String::from("id,city,color,amount,count,ordered,delivered,note\r\n");
    for row in 0..400 {
        let city = ["New York", "Boston", "Chicago", "Denver"][row * 7 % 4];
        let color = ["red", "green", "blue"][row * 5 % 3];
        let amount = 100.0 + (row * 37 % 101) as f64 / 4.0;
        let (month, day) = (1 + row % 12, 1 + row * 3 % 28);
        let note = format!("\"order {row}, by hand\"");
        writeln!(
            text,
            "{},{city},{color},{amount:.2},{},2014-{month:02}-{day:02},2014-{month:02}-{:02} 10:00,{note}\r",
            1000 + row,
            1 + row * 11 % 30,
            (day + 2).min(28)
        )
        .unwrap();
    }
    Sheet::parse(text).unwrap()
}

/// All spoiled cells of many seeds, by kind: column, before, after.
fn examples() -> BTreeMap<ErrorKind, Vec<(String, String, String)>> {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for seed in 0..20 {
        let spoiled = spoil(orders(), "orders", 0.1, Seed(seed));
        for row in &spoiled.rows {
            for cell in &row.cells {
                let name = spoiled.sheet.names[cell.column].clone();
                all.entry(row.kind).or_default().push((name, cell.before.clone(), cell.after.clone()));
            }
        }
    }
    all
}

#[test]
fn one_row_in_a_hundred_is_spoiled_but_at_least_five_and_kinds_take_turns() {
    assert_eq!(spoil(orders(), "orders", 0.01, Seed(0)).rows.len(), 5);
    let spoiled = spoil(orders(), "orders", 0.1, Seed(0));
    let mut counts = BTreeMap::<ErrorKind, usize>::new();
    spoiled.rows.iter().for_each(|row| *counts.entry(row.kind).or_default() += 1);
    // 40 rows for 13 kinds: each has three, one has four.
    assert_eq!((spoiled.rows.len(), counts.len()), (40, ErrorKind::ALL.len()));
    assert!(counts.values().all(|count| (3..=4).contains(count)), "{counts:?}");
    assert_eq!(spoiled.truth().iter().filter(|&&is_spoiled| is_spoiled).count(), 40);
}

#[test]
fn errors_are_the_same_for_the_same_seed_and_others_for_another_seed_or_name() {
    let text = |name: &str, seed: u64| spoil(orders(), name, 0.05, Seed(seed)).sheet.text();
    assert_eq!(text("orders", 3), text("orders", 3));
    assert_ne!(text("orders", 3), text("orders", 4));
    assert_ne!(text("orders", 3), text("other", 3));
}

#[test]
fn untouched_cells_come_through_byte_for_byte_and_the_truth_names_all_others() {
    let (before, spoiled) = (orders(), spoil(orders(), "orders", 0.1, Seed(5)));
    let after = Sheet::parse(spoiled.sheet.text()).unwrap();
    let truth: BTreeMap<(usize, usize), &str> = (spoiled.rows.iter())
        .flat_map(|row| row.cells.iter().map(|cell| ((row.row, cell.column), &*cell.after)))
        .collect();
    for (row, column) in (0..400).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let (old, new) = (before.cell(row, column), after.cell(row, column));
        match truth.get(&(row, column)) {
            Some(&told) => assert!(new == told && new != old, "{old} became {new}"),
            None => assert_eq!(new, old),
        }
    }
    let raw = |text: String| text.lines().map(str::to_owned).collect::<Vec<String>>();
    let (old, new) = (raw(before.text()), raw(spoiled.sheet.text()));
    let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    assert_eq!((old.len(), new.len(), changed), (401, 401, spoiled.rows.len()));
    assert_eq!(spoiled.truth_csv().lines().count(), 1 + truth.len());
    assert!(spoiled.truth_csv().starts_with("row,column,kind,before,after,shows\n"));
}

#[test]
fn identifiers_and_free_text_are_left_alone() {
    let columns: BTreeSet<String> = examples().into_values().flatten().map(|(column, ..)| column).collect();
    let expected = ["amount", "city", "color", "count", "delivered", "ordered"].map(str::to_owned);
    assert_eq!(columns, BTreeSet::from(expected));
}

#[test]
fn every_kind_does_what_it_says() {
    let number = |text: &str| text.parse::<f64>().unwrap();
    let is_number = |column: &str| ["amount", "count"].contains(&column);
    let is_date = |column: &str| ["ordered", "delivered"].contains(&column);
    let levels = ["New York", "Boston", "Chicago", "Denver", "red", "green", "blue"];
    let examples = examples();
    assert_eq!(examples.len(), ErrorKind::ALL.len());
    for (kind, cells) in &examples {
        for (column, before, after) in cells {
            let told = format!("{kind}, {column}: {before} became {after}");
            let (n_before, n_after) = (before.chars().count(), after.chars().count());
            assert_ne!(before, after, "{told}");
            let is_right = match kind {
                ErrorKind::Typo => !levels.contains(&&**after) && n_before.abs_diff(n_after) <= 1,
                ErrorKind::CaseOrBlank => {
                    let plain = |text: &str| text.to_lowercase().replace(' ', "");
                    plain(before) == plain(after)
                }
                ErrorKind::UnseenLevel => levels.contains(&&**before) && !levels.contains(&&**after),
                ErrorKind::UnreadableNumber => is_number(column) && after.parse::<f64>().is_err(),
                ErrorKind::FactorTen => (number(after) - 10.0 * number(before)).abs() < 1e-9,
                ErrorKind::ShiftedDecimal => (10.0 * number(after) - number(before)).abs() < 1e-9,
                ErrorKind::Sign => number(after) == -number(before),
                // amount: 100 to 125, quarters 12.5 apart; count: 1 to 30, quarters 14 or 15 apart.
                ErrorKind::Extreme if column == "amount" => (number(after) - 187.5).abs() < 2.0,
                ErrorKind::Extreme => column == "count" && (95.0..=110.0).contains(&number(after)),
                ErrorKind::Placeholder => ["-999", "9999", "?"].contains(&&**after),
                ErrorKind::WrongCentury => {
                    is_date(column) && ["19", "21"].contains(&&after[..2]) && before[4..] == after[4..]
                }
                ErrorKind::ImpossibleDate => {
                    is_date(column) && ["02-30", "04-31", "13-01"].contains(&&after[5..10])
                }
                ErrorKind::SwappedColumns => {
                    cells.iter().any(|(other, a, b)| other != column && (a, b) == (after, before))
                }
                ErrorKind::Contradiction if column == "amount" => {
                    (number(after) - number(before)).abs() > 12.0
                }
                ErrorKind::Contradiction => before.len() > 1 || after.len() > 1 || is_number(column),
            };
            assert!(is_right, "{told}");
        }
    }
    let mut unreadable = examples[&ErrorKind::UnreadableNumber].iter();
    assert!(unreadable.any(|(_, before, after)| before.contains('.') && after.contains(",,")));
}

#[test]
fn what_its_column_alone_shows_is_marked() {
    let spoiled = spoil(orders(), "orders", 0.1, Seed(1));
    for row in &spoiled.rows {
        let shows = row.cells.iter().any(|cell| cell.shows);
        match row.kind {
            ErrorKind::Contradiction => assert!(!shows, "{row:?}"),
            ErrorKind::SwappedColumns => {}
            ErrorKind::FactorTen | ErrorKind::ShiftedDecimal => {
                let range = if row.cells[0].column == 3 { 100.0..=125.0 } else { 1.0..=30.0 };
                assert_eq!(shows, !range.contains(&row.cells[0].after.parse::<f64>().unwrap()), "{row:?}");
            }
            _ => assert!(shows, "{row:?}"),
        }
    }
}

#[test]
fn the_figures_of_a_table_follow_from_its_spoiled_rows() {
    let spoiled = spoil(orders(), "orders", 0.02, Seed(2));
    let method = Method::named("columns").unwrap();
    let (measured, found) = measure("orders", "design", &spoiled, &method, Seed(2));
    assert_eq!(
        (measured.message.as_str(), measured.rows, measured.columns, measured.spoiled),
        ("", 400, 8, 8)
    );
    let share = |is: fn(&Found) -> bool| found.iter().filter(|row| is(row)).count() as f64 / 8.0;
    assert_eq!(measured.precision_at_k, share(|row| row.found));
    assert_eq!(measured.first_reason_right, share(|row| row.reason_right));
    assert_eq!(measured.spoiled_called, share(|row| row.called));
    // A row that ties at the cut ranks among the first eight, but does not count as found.
    assert!(found.iter().all(|row| row.found <= (row.rank <= 8)), "{found:?}");
    assert!(measured.precision_at_k > 0.0 && measured.auc > 0.6, "{measured:?}");
}

#[test]
fn a_table_that_cannot_be_judged_counts_as_nothing_found() {
    // Two columns of the same name.
    let broken = Sheet::parse(orders().text().replacen("id,city", "city,city", 1)).unwrap();
    let spoiled = spoil(broken, "broken", 0.01, Seed(0));
    let (measured, found) = measure("broken", "", &spoiled, &Method::named("ecod").unwrap(), Seed(0));
    assert!(!measured.message.is_empty());
    assert_eq!((measured.precision_at_k, measured.ap, measured.first_reason_right), (0.0, 0.0, 0.0));
    assert!(found.iter().all(|row| !row.found && !row.called && !row.reason_right && row.rank == 0));
}

#[test]
fn results_replace_earlier_ones_and_summaries_have_means() {
    let folder = tempfile::tempdir().unwrap();
    let measured = |table: &str, half: &str, precision_at_k: f64| Measured {
        table: table.to_owned(),
        half: half.to_owned(),
        method: "ecod".to_owned(),
        precision_at_k,
        ..Measured::default()
    };
    let row = |table: &str, half: &str, kind: ErrorKind, found: bool| Found {
        table: table.to_owned(),
        half: half.to_owned(),
        method: "ecod".to_owned(),
        kind: kind.name().to_owned(),
        found,
        shows: found,
        ..Found::default()
    };
    let mut results = Results::open(folder.path()).unwrap();
    results.add(measured("a", "design", 0.1), vec![row("a", "design", ErrorKind::Sign, false)]).unwrap();
    let two = vec![row("a", "design", ErrorKind::Sign, true), row("a", "design", ErrorKind::Typo, true)];
    results.add(measured("a", "design", 1.0), two).unwrap();
    results.add(measured("b", "confirm", 0.5), vec![row("b", "confirm", ErrorKind::Sign, false)]).unwrap();
    let mut results = Results::open(folder.path()).unwrap();
    assert_eq!((results.measured.len(), results.found.len()), (2, 3));
    let tables = summaries(&results.measured, &results.found);
    let csv = |at: usize| tables[at].1.csv();
    assert_eq!(
        tables.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["spoil_tables", "spoil_halves", "spoil_kinds"]
    );
    assert!(csv(1).contains("all,ecod,2,0,0.750,"), "{}", csv(1));
    // Of two signs, one was found: the one that shows. Nothing else shows.
    assert!(csv(2).contains("all,ecod,sign,2,0.500,1.000,0.000,"), "{}", csv(2));
    assert!(csv(2).contains("design,ecod,all,2,1.000,1.000,-,"), "{}", csv(2));
    results.keep(|table, _, _| table == "b");
    assert_eq!((results.measured.len(), results.found.len()), (1, 1));
}
