//! The sentences that analysts read, and the ranking behind them.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod tables;

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch};
use oddcell::{
    Matrix,
    detect::CellUnit,
    encode::{EncodeError, Encoder, Part},
    explain::{Explainer, Reason, Unit, noise_by_column},
    table::Rows,
};
use proptest::prelude::*;
use tables::{batch, booleans, encoder, moments, numbers, repeated, texts};

/// 2024-01-01.
const NEW_YEAR: i64 = 1_704_067_200;
const DAY: i64 = 86_400;
/// The feature for all cities but the four common ones.
const OTHER_CITY: Part = Part::Value(4);

/// 100 rows: amount 0.5 to 50, day in 2024, city, paid; the amount is null in every tenth row.
fn training() -> Vec<(&'static str, ArrayRef)> {
    let cities = repeated(&[("Bergen", 41), ("Tromsø", 22), ("Oslo", 20), ("Bodø", 16), ("Vardø", 1)]);
    vec![
        ("amount", numbers((0..100).map(|row| (row % 10 != 9).then(|| f64::from(row) / 2.0 + 0.5)))),
        ("day", moments((0..100).map(|row| NEW_YEAR + row * DAY))),
        ("city", texts(cities)),
        ("paid", booleans((0..100).map(|row| row >= 2))),
    ]
}

/// Estimates of `sds` for the features picked, 0 for the others.
fn estimates(encoder: &Encoder, picked: &[(&str, Part, f64)]) -> Vec<f64> {
    let mut cells = vec![0.0; encoder.n_features()];
    for &(column, part, sds) in picked {
        let at = encoder
            .features()
            .iter()
            .position(|feature| encoder.columns()[feature.column].name() == column && feature.part == part);
        cells[at.expect("such a feature")] = sds;
    }
    cells
}

fn row(amount: Option<f64>, day: i64, city: Option<&str>, paid: Option<bool>) -> RecordBatch {
    batch(vec![
        ("amount", numbers([amount])),
        ("day", moments([NEW_YEAR + day * DAY])),
        ("city", texts([city])),
        ("paid", booleans([paid])),
    ])
}

/// What `read` says about the reasons of the first row.
fn of_first_row<T>(
    encoder: &Encoder,
    batch: &RecordBatch,
    cells: &[f64],
    read: impl FnOnce(&[Reason<'_>]) -> T,
) -> T {
    let rows = tables::rows(batch);
    let columns = encoder.matched(&rows).unwrap();
    read(&Explainer::new(encoder, CellUnit::StandardDeviations, &rows, &columns).reasons(0, cells).unwrap())
}

fn told(encoder: &Encoder, batch: &RecordBatch, cells: &[f64]) -> String {
    of_first_row(encoder, batch, cells, lines)
}

fn lines(reasons: &[Reason<'_>]) -> String {
    reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_cell_that_cannot_be_read_is_shown_as_written_with_what_is_normal() {
    let prices: Vec<String> =
        (0..101).map(|row| (2 + row % 49).to_string()).chain(["18OO".to_owned()]).collect();
    let paid = repeated(&[("yes", 51), ("no", 51)]);
    let encoder = encoder(vec![("price", texts(prices.iter().map(String::as_str))), ("paid", texts(paid))]);
    let batch = batch(vec![("price", texts([Some("18OO")])), ("paid", texts([Some("nope")]))]);
    let cells = vec![0.0; encoder.n_features()];
    assert_eq!(
        told(&encoder, &batch, &cells),
        "price `18OO`: cannot be read as a number (normal 2 to 50)\n\
         paid `nope`: cannot be read as true or false (usually `yes` (50 %), `no` (50 %))"
    );
    of_first_row(&encoder, &batch, &cells, |reasons| {
        assert_eq!((reasons[0].amount, reasons[0].value.as_deref()), (None, Some("18OO")));
        let json = serde_json::to_value(&reasons[0]).unwrap();
        assert_eq!(json["about"], "unreadable");
    });
}

#[test]
fn odd_values_are_told_with_their_distance_and_what_is_normal() {
    let encoder = encoder(training());
    let cells = estimates(
        &encoder,
        &[
            ("amount", Part::Value(0), 3.2),
            ("day", Part::Value(0), 5.0),
            ("city", OTHER_CITY, 8.0),
            ("paid", Part::Value(0), 6.1),
        ],
    );
    let batch = row(Some(912.5), 200, Some("Osloo"), Some(false));
    insta::assert_snapshot!(told(&encoder, &batch, &cells), @r"
    city `Osloo`: unexpected (1.00 of 1), never seen in training; usually `Bergen` (41 %), `Tromsø` (22 %), `Oslo` (20 %)
    paid `false`: unexpected (0.85 of 1); usually `true` (98 %), `false` (2 %)
    day 2024-07-19: 5.0 sd off (144 days), after the normal range 2024-01-02 to 2024-04-08
    amount 912.5: 3.2 sd off (46.14), above the normal range 0.945 to 49.06
    ");
    let batch = row(Some(-7.0), -40, Some("Vardø"), Some(true));
    insta::assert_snapshot!(told(&encoder, &batch, &cells), @r"
    city `Vardø`: unexpected (1.00 of 1), in 1 % of training rows; usually `Bergen` (41 %), `Tromsø` (22 %), `Oslo` (20 %)
    paid `true`: unexpected (0.85 of 1) given the other columns; common by itself (98 %)
    day 2023-11-22: 5.0 sd off (144 days), before the normal range 2024-01-02 to 2024-04-08
    amount -7: 3.2 sd off (46.14), below the normal range 0.945 to 49.06
    ");
}

// In standard deviations as estimated. In the column's unit times the standard deviation: of `paid`, false in 2 of
// 100 rows, √(0.02 · 0.98) = 0.14; of the marks of cities together 0.8, so 8 of it is cut to 1; a null in `amount` 0.3, and 9 · 0.3 cut to 1.
#[test]
fn the_noise_of_columns_comes_in_standard_deviations_or_in_their_own_unit() {
    let encoder = encoder(training());
    let odd = estimates(&encoder, &[("city", OTHER_CITY, 8.0), ("paid", Part::Value(0), 6.0)]);
    let empty = estimates(&encoder, &[("amount", Part::IsNull, 9.0), ("day", Part::Value(0), 2.0)]);
    let cells = Matrix::from_rows(&[odd, empty]);
    let sds = noise_by_column(&encoder, &cells, Unit::StandardDeviations);
    assert_eq!(sds, Matrix::from_rows(&[[0.0, 0.0, 8.0, 6.0], [9.0, 2.0, 0.0, 0.0]]));
    let own = noise_by_column(&encoder, &cells, Unit::Column);
    let day = encoder.features()[encoder.columns()[1].features().start].std;
    let expected = Matrix::from_rows(&[[0.0, 0.0, 1.0, 0.84], [1.0, 2.0 * day, 0.0, 0.0]]);
    for (found, expected) in own.values().iter().zip(expected.values()) {
        assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
    }
}

#[test]
fn values_that_are_odd_only_beside_the_other_columns_are_told_so() {
    let encoder = encoder(training());
    let batch = row(Some(20.0), 50, Some("Bergen"), Some(true));
    let cells = estimates(
        &encoder,
        &[
            ("amount", Part::Value(0), 2.5),
            ("day", Part::Value(0), 1.5),
            ("city", Part::Value(0), 1.9),
            ("paid", Part::Value(0), 1.2),
        ],
    );
    insta::assert_snapshot!(told(&encoder, &batch, &cells), @r"
    amount 20: 2.5 sd off (36.05) given the other columns; normal by itself (0.945 to 49.06)
    city `Bergen`: unexpected (0.95 of 1) given the other columns; common by itself (41 %)
    day 2024-02-20: 1.5 sd off (43.3 days) given the other columns; normal by itself (2024-01-02 to 2024-04-08)
    paid `true`: unexpected (0.17 of 1) given the other columns; common by itself (98 %)
    ");
}

#[test]
fn normal_cells_are_told_plainly() {
    let encoder = encoder(training());
    let batch = row(Some(20.0), 50, Some("Oslo"), Some(true));
    let cells = vec![0.04; encoder.n_features()];
    insta::assert_snapshot!(told(&encoder, &batch, &cells), @r"
    amount 20: 0.04 sd off (0.5768), within the normal range 0.945 to 49.06
    day 2024-02-20: 0.04 sd off (27.7 hours), within the normal range 2024-01-02 to 2024-04-08
    city `Oslo`: unexpected (0.03 of 1); usually `Bergen` (41 %), `Tromsø` (22 %), `Oslo` (20 %)
    paid `true`: unexpected (0.01 of 1); usually `true` (98 %), `false` (2 %)
    ");
}

#[test]
fn empty_cells_and_filled_ones_that_are_mostly_empty_are_told_apart() {
    let encoder = encoder(training());
    let empty = row(None, 50, None, None);
    let cells = estimates(&encoder, &[("amount", Part::IsNull, 2.8), ("city", Part::Value(0), 0.5)]);
    insta::assert_snapshot!(told(&encoder, &empty, &cells), @r"
    amount empty: unexpected (0.84 of 1); empty in 10 % of training rows
    city empty: unexpected (0.05 of 1); never empty in training
    day 2024-02-20: 0.00 sd off (0 seconds), within the normal range 2024-01-02 to 2024-04-08
    paid empty: unexpected (0.00 of 1); never empty in training
    ");

    let sparse = tables::encoder(vec![(
        "note",
        numbers((0..50).map(|row| (row == 7 || row == 9).then(|| f64::from(row)))),
    )]);
    let filled = batch(vec![("note", numbers([8.0]))]);
    let cells = estimates(&sparse, &[("note", Part::IsNull, 4.5)]);
    insta::assert_snapshot!(told(&sparse, &filled, &cells), @"note 8: unexpected value (0.88 of 1); empty in 96 % of training rows");
}

#[test] // 1 in one of 200 rows is below the 1 % quantile, so both quantiles are 2.
fn always_is_said_only_of_columns_with_one_value() {
    let column = |first: f64| vec![("x", numbers((0..200).map(|row| if row == 0 { first } else { 2.0 })))];
    let later = batch(vec![("x", numbers([3.0]))]);
    let told = |first: f64| told(&encoder(column(first)), &later, &[1.0]);
    assert_eq!(told(2.0), "x 3: 1.0 sd off (1), always 2 in training");
    assert_eq!(told(1.0), "x 3: 1.0 sd off (0.07053), nearly always 2 in training");
}

#[test]
fn a_reason_is_data_for_programs() {
    let encoder = encoder(training());
    let batch = row(Some(912.5), 200, Some("Osloo"), None);
    let cells = estimates(&encoder, &[("amount", Part::Value(0), 2.0), ("city", OTHER_CITY, 1.0)]);
    let json = |reasons: &[Reason<'_>]| serde_json::to_string_pretty(&reasons[..3]).unwrap();
    insta::assert_snapshot!(of_first_row(&encoder, &batch, &cells, json), @r#"
    [
      {
        "column": "amount",
        "kind": "number",
        "noise": 2.0,
        "unit": "sd",
        "about": "value",
        "amount": 28.838631497813253,
        "value": "912.5",
        "normal": {
          "low": 0.9450000000000001,
          "high": 49.055,
          "text": "0.945 to 49.06"
        },
        "side": "above",
        "training_share": null,
        "null_share": 0.1
      },
      {
        "column": "city",
        "kind": "category",
        "noise": 1.0,
        "unit": "sd",
        "about": "value",
        "amount": 0.8472307831990054,
        "value": "Osloo",
        "normal": {
          "levels": [
            {
              "name": "Bergen",
              "share": 0.41
            },
            {
              "name": "Tromsø",
              "share": 0.22
            },
            {
              "name": "Oslo",
              "share": 0.2
            }
          ]
        },
        "side": null,
        "training_share": 0.0,
        "null_share": 0.0
      },
      {
        "column": "day",
        "kind": "date",
        "noise": 0.0,
        "unit": "sd",
        "about": "value",
        "amount": 0.0,
        "value": "2024-07-19",
        "normal": {
          "low": 1704153600.0,
          "high": 1712534400.0,
          "text": "2024-01-02 to 2024-04-08"
        },
        "side": "above",
        "training_share": null,
        "null_share": 0.0
      }
    ]
    "#);
}

#[test] // Value: mean 5, std 2 (3 and 7); null in two of four rows: std 1/2. Amounts: 3·2 = 6 in the column's unit;
// emptiness 1.5·0.5 = 0.75. City: a and b in 8 of 16 each, variances 1/4, together
// a standard deviation of √(1/2) ⇒ 1.2·√(1/2); cut to 1 at 9·√(1/2).
fn amounts_match_the_values_worked_out_by_hand() {
    let column = || vec![("x", numbers([Some(3.0), None, Some(7.0), None]))];
    let (encoder, batch) = (encoder(column()), batch(column()));
    let amount = |cells: &[f64]| of_first_row(&encoder, &batch, cells, |reasons| reasons[0].amount.unwrap());
    assert!((amount(&[3.0, 1.0]) - 6.0).abs() < 1e-12);
    assert!((amount(&[1.0, 1.5]) - 0.75).abs() < 1e-12);

    let column = || vec![("c", texts(repeated(&[("a", 8), ("b", 8)])))];
    let (encoder, batch) = (tables::encoder(column()), tables::batch(column()));
    let reason = |cells: [f64; 3]| {
        let cells = [&cells[..], &[0.0; 6]].concat();
        of_first_row(&encoder, &batch, &cells, |reasons| (reasons[0].noise, reasons[0].amount.unwrap()))
    };
    let (noise, amount) = reason([0.0, 1.2, 0.3]);
    assert!(noise == 1.2 && (amount - 1.2 * 0.5f64.sqrt()).abs() < 1e-12);
    assert_eq!(reason([0.0, 0.3, 9.0]), (9.0, 1.0));
}

#[test]
fn cells_are_shown_as_written_and_numbers_of_other_types_with_few_digits() {
    let encoder = encoder(vec![("x", numbers([1.0, 2.0, 4.0]))]);
    let shown = |array: ArrayRef| -> String {
        let batch = batch(vec![("x", array)]);
        let value = |reasons: &[Reason<'_>]| reasons[0].value.as_deref().unwrap_or("(none)").to_owned();
        of_first_row(&encoder, &batch, &[0.0], value)
    };
    assert_eq!(shown(texts([" +1.50 "])), "+1.50");
    assert_eq!(shown(texts(["NA"])), "(none)");
    assert_eq!(shown(numbers([0.1 + 0.2])), "0.3");
    assert_eq!(shown(numbers([12.0])), "12");
    assert_eq!(shown(Arc::new(Float32Array::from(vec![0.1]))), "0.1");
    assert_eq!(shown(Arc::new(Int64Array::from(vec![1_234_567]))), "1234567");
}

#[test]
fn text_is_read_as_its_column_means_it() {
    let cities = repeated(&[("Bergen", 6), ("Oslo", 6)]);
    let days = (1..=12).map(|day| format!("{}/1/2024", day + 10)).collect::<Vec<_>>();
    let training = vec![
        ("city", texts(cities)),
        ("day", texts(days.iter().map(String::as_str))),
        ("paid", texts(["yes", "no"].repeat(6))),
    ];
    let encoder = encoder(training);
    let batch = batch(vec![
        ("city", texts(["n/a", " Oslo ", "Bodø"])),
        ("day", texts(["", "1/2/2024", "3/1/2024 8:30"])),
        ("paid", texts(["?", "YES", "f"])),
    ]);
    let cells = vec![0.5; encoder.n_features()];
    let rows = tables::rows(&batch);
    let columns = encoder.matched(&rows).unwrap();
    let explainer = Explainer::new(&encoder, CellUnit::StandardDeviations, &rows, &columns);
    let told: Vec<String> = (0..3).map(|row| lines(&explainer.reasons(row, &cells).unwrap())).collect();
    insta::assert_snapshot!(told.join("\n\n"), @r"
    city empty: unexpected (0.05 of 1); never empty in training
    day empty: unexpected (0.05 of 1); never empty in training
    paid empty: unexpected (0.05 of 1); never empty in training

    city `Oslo`: unexpected (0.35 of 1); usually `Bergen` (50 %), `Oslo` (50 %)
    day 2024-02-01: 0.50 sd off (41.4 hours), after the normal range 2024-01-11 to 2024-01-22
    paid `YES`: unexpected (0.25 of 1); usually `yes` (50 %), `no` (50 %)

    city `Bodø`: unexpected (0.35 of 1), never seen in training; usually `Bergen` (50 %), `Oslo` (50 %)
    day 2024-01-03 08:30:00: 0.50 sd off (41.4 hours), before the normal range 2024-01-11 to 2024-01-22
    paid `f`: unexpected (0.25 of 1); usually `yes` (50 %), `no` (50 %)
    ");
}

#[test]
fn a_column_of_another_type_is_an_error_with_its_row() {
    let encoder = encoder(vec![("x", numbers([1.0, 2.0, 4.0]))]);
    let rows = Rows::new(batch(vec![("x", texts(["1", "one"]))]), 10, "later.csv");
    let columns = encoder.matched(&rows).unwrap();
    let explainer = Explainer::new(&encoder, CellUnit::StandardDeviations, &rows, &columns);
    assert!(explainer.reason(0, 0, &[0.0]).is_ok());
    assert!(explainer.reason(1, 0, &[0.0]).is_ok()); // a finding
    let rows = Rows::new(batch(vec![("x", moments([1, 2]))]), 10, "later.csv");
    let columns = encoder.matched(&rows).unwrap();
    let explainer = Explainer::new(&encoder, CellUnit::StandardDeviations, &rows, &columns);
    let error = explainer.reason(1, 0, &[0.0]).unwrap_err();
    assert!(matches!(error, EncodeError::Table(_)));
    let message = error.to_string();
    assert!(message.contains("12") && message.contains("`x`"), "{message}");
}

#[test]
fn the_top_texts_are_those_of_the_first_reasons() {
    let encoder = encoder(training());
    let batch = row(Some(912.5), 200, Some("Osloo"), Some(false));
    let cells = estimates(&encoder, &[("amount", Part::Value(0), 3.2), ("city", OTHER_CITY, 8.0)]);
    let rows = tables::rows(&batch);
    let columns = encoder.matched(&rows).unwrap();
    let explainer = Explainer::new(&encoder, CellUnit::StandardDeviations, &rows, &columns);
    let mut text = String::new();
    explainer.write_top(0, &cells, 2, &mut text).unwrap();
    let all = explainer.reasons(0, &cells).unwrap();
    assert_eq!(text, format!("{}; {}", all[0], all[1]));
    assert_eq!(explainer.top(0, &cells, 2).unwrap(), all[..2]);
}

proptest! {
    #[test] // Law: the top k are the first k of all columns sorted by noise, ties in column order.
    fn the_top_is_the_start_of_the_sorted_list(
        noise in prop::collection::vec(prop_oneof![Just(1.0), Just(0.0), -1.0..5.0f64], 20), k in 0..25usize,
    ) {
        let names: Vec<String> = (0..20).map(|column| format!("c{column}")).collect();
        let encoder = encoder(names.iter().map(|name| (name.as_str(), numbers([1.5, 2.0]))).collect());
        let mut sorted: Vec<(usize, f64)> = noise.iter().map(|sds| sds.max(0.0)).enumerate().collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        sorted.truncate(k);
        let rows = tables::rows(&batch(names.iter().map(|name| (name.as_str(), numbers([1.5]))).collect()));
        let columns = encoder.matched(&rows).unwrap();
        let reasons = Explainer::new(&encoder, CellUnit::StandardDeviations, &rows, &columns).top(0, &noise, k);
        let found: Vec<(&str, f64)> = reasons.unwrap().iter().map(|reason| (reason.column, reason.noise)).collect();
        let expected: Vec<(&str, f64)> = sorted.iter().map(|&(column, noise)| (names[column].as_str(), noise)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test] // −ln(1/812) is about 6.7: a surprise is no distance, and it knows nothing of other columns.
fn a_surprise_is_never_worded_as_a_distance() {
    let encoder = encoder(training());
    let rows = Rows::new(row(Some(20.0), NEW_YEAR, Some("Oslo"), None), 0, "made");
    let columns = encoder.matched(&rows).unwrap();
    let explainer = Explainer::new(&encoder, CellUnit::Surprise, &rows, &columns);
    let picked =
        [("amount", Part::Value(0), 6.7), ("city", Part::Value(2), 2.5), ("paid", Part::Value(0), 0.5)];
    let reasons = explainer.top(0, &estimates(&encoder, &picked), 3).unwrap();
    let texts: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "amount 20: surprise 6.7, within the normal range 0.945 to 49.06",
            "city `Oslo`: surprise 2.5; usually `Bergen` (41 %), `Tromsø` (22 %), `Oslo` (20 %)",
            "paid empty: surprise 0.5; never empty in training",
        ]
    );
    assert!(reasons.iter().all(|reason| reason.amount.is_none() && reason.amount_text() == "–"));
    assert_eq!(serde_json::to_value(&reasons[0]).unwrap()["unit"], "surprise");
}

#[test] // Nine in ten rows have an amount, so only the other columns can make one odd; a note is rare by itself.
fn a_filled_cell_that_should_be_empty_is_told_as_such() {
    let mut columns = training();
    columns.push(("note", numbers((0..100).map(|row| (row >= 96).then(|| f64::from(row))))));
    let encoder = encoder(columns);
    let mut cells = vec![("amount", numbers([Some(20.0)])), ("note", numbers([Some(98.0)]))];
    cells.extend([("day", moments([NEW_YEAR])), ("city", texts([Some("Oslo")])), ("paid", booleans([None]))]);
    let rows = tables::rows(&batch(cells));
    let columns = encoder.matched(&rows).unwrap();
    let explainer = Explainer::new(&encoder, CellUnit::SurpriseInContext, &rows, &columns);
    let picked = [("amount", Part::IsNull, 6.7), ("note", Part::IsNull, 3.2), ("paid", Part::Value(0), 2.5)];
    let reasons = explainer.top(0, &estimates(&encoder, &picked), 3).unwrap();
    assert_eq!(
        reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "amount 20: surprise 6.7 for not being empty given the other columns; empty in 10 % of training rows",
            "note 98: surprise 3.2 for not being empty; empty in 96 % of training rows",
            "paid empty: surprise 2.5; never empty in training",
        ]
    );
}

#[test] // 1 to 100: the 1 % quantile is 1.99, and no such number can stand there. All codes have six characters.
fn whole_numbers_and_equal_lengths_have_ranges_as_people_would_say_them() {
    let codes: Vec<String> = (0..100).map(|row| format!("ab c{row:02}")).collect();
    let encoder = encoder(vec![
        ("count", numbers((0..100).map(|row| Some(f64::from(row * 37 % 100 + 1))))),
        ("code", texts(codes.iter().map(String::as_str))),
    ]);
    let normal = |at: usize| encoder.columns()[at].normal().to_string();
    assert_eq!([normal(0), normal(1)], ["2 to 99", "texts of 6 characters"]);
}
