//! What cells become: every kind, with nulls, rare and unseen levels; and the laws that hold for all tables.

mod tables;

use arrow_array::RecordBatch;
use oddcell::{
    Table,
    encode::{EncodeOptions, EncodedColumn, Encoder, LeftOutReason, Part},
    table::Rows,
};
use proptest::prelude::*;
use tables::{batch, booleans, encoder, moments, numbers, repeated, table, texts};

fn encoded(encoder: &Encoder, batch: &RecordBatch) -> Vec<Vec<f64>> {
    encoder.encode(&tables::rows(batch)).expect("encodable rows").matrix.rows().map(<[f64]>::to_vec).collect()
}

#[track_caller]
fn assert_close(got: &[Vec<f64>], expected: &[&[f64]]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        let close =
            got.len() == expected.len() && got.iter().zip(*expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "got {got:?}, expected {expected:?}");
    }
}

const ROOT_3: f64 = 1.732_050_807_568_877_2;

#[test] // 0, 2, 4: mean 2, std √(8/3), so ∓2/√(8/3) = ∓√1.5. One null in four: mean 1/4, std √(3/16) = √3/4:
// null gives (3/4)/(√3/4) = √3, others −(1/4)/(√3/4) = −1/√3. A null takes the mean: 0.
fn numbers_are_standardised_and_nulls_take_the_mean_and_a_flag() {
    let column = || vec![("x", numbers([Some(0.0), Some(2.0), None, Some(4.0)]))];
    let encoder = encoder(column());
    let parts: Vec<Part> = encoder.features().iter().map(|feature| feature.part).collect();
    assert_eq!(parts, [Part::Value(0), Part::IsNull]);
    let root = 1.5f64.sqrt();
    assert_close(
        &encoded(&encoder, &batch(column())),
        &[&[-root, -1.0 / ROOT_3], &[0.0, -1.0 / ROOT_3], &[0.0, ROOT_3], &[root, -1.0 / ROOT_3]],
    );
}

#[test] // 5 always: divided by 1, so 7.5 is 2.5 off.
fn a_constant_column_is_divided_by_one_and_reported() {
    let encoder = encoder(vec![("x", numbers([5.0, 5.0, 5.0]))]);
    assert_close(&encoded(&encoder, &batch(vec![("x", numbers([5.0, 7.5]))])), &[&[0.0], &[2.5]]);
    let reports: Vec<String> = encoder.reports().iter().map(ToString::to_string).collect();
    assert_eq!(reports, ["column `x` is constant: every row has 5"]);
}

#[test] // True in one of four rows that are not null: mean 1/4, std √3/4 ⇒ true √3, false −1/√3, null 0.
// Null in one of five: mean 1/5, std √(4/25) = 2/5 ⇒ null 2, others −1/2.
fn booleans_are_standardised_over_the_rows_that_have_a_value() {
    let column = || vec![("b", booleans([Some(true), Some(false), Some(false), Some(false), None]))];
    let (t, f) = (ROOT_3, -1.0 / ROOT_3);
    assert_close(
        &encoded(&encoder(column()), &batch(column())),
        &[&[t, -0.5], &[f, -0.5], &[f, -0.5], &[f, -0.5], &[0.0, 2.0]],
    );
}

#[test] // Never true: mean 0, std 0 floored at 0.1 ⇒ true stands 1/0.1 = 10 out.
fn a_boolean_that_was_never_true_stands_ten_out() {
    let encoder = encoder(vec![("b", booleans([false; 4]))]);
    assert_close(&encoded(&encoder, &batch(vec![("b", booleans([false, true]))])), &[&[0.0], &[10.0]]);
}

#[test] // Day 0 and day 2: mean day 1, std 1 day.
fn dates_are_standardised_seconds() {
    let encoder = encoder(vec![("d", moments([0, 2 * 86_400]))]);
    let later = batch(vec![("d", moments([0, 2 * 86_400, 86_400 + 21_600]))]);
    assert_close(&encoded(&encoder, &later), &[&[-1.0], &[1.0], &[0.25]]);
}

#[test] // 20 rows: 10 a, 8 b, 2 rare ones. a: mean 1/2, std 1/2 ⇒ ±1. b: mean 2/5, std √(6/25) ⇒ 1: √1.5,
// 0: −√(2/3). Other: mean 1/10, std 3/10 ⇒ 1: 3, 0: −1/3.
fn categories_have_a_feature_per_common_level_and_one_for_all_others() {
    let cells = repeated(&[("b", 8), ("r", 1), ("s", 1), ("a", 10)]);
    let encoder = encoder(vec![("c", texts(cells))]);
    let names: Vec<String> = (0..3).map(|feature| encoder.feature_name(feature)).collect();
    assert_eq!(names, ["c = a", "c = b", "c = (other)"]);

    let later = batch(vec![("c", texts([Some("a"), Some("b"), Some("s"), Some("new"), None]))]);
    let (b1, b0) = (1.5f64.sqrt(), -(2.0f64 / 3.0).sqrt());
    let third = -1.0 / 3.0;
    assert_close(
        &encoded(&encoder, &later),
        &[&[1.0, b0, third], &[-1.0, b1, third], &[-1.0, b0, 3.0], &[-1.0, b0, 3.0], &[-1.0, b0, third]],
    );
    let surprises = encoder.encode(&tables::rows(&later)).unwrap().surprises;
    assert_eq!((surprises.unseen_levels[0], surprises.unexpected_nulls[0]), (1, 1)); // `new`, and the null
    assert_eq!(
        surprises.notes(&encoder),
        [
            "column `c`: 1 empty cell, but none in training; treated as average",
            "column `c`: 1 value never seen in training",
        ]
    );
}

#[test] // Nulls are 0 for every level: a in 5 of 10 rows, null in the other 5. a: mean 1/2 ⇒ ±1; other: mean 0,
// std floored at 0.1 ⇒ 0, and 10 for an unseen level; null: mean 1/2 ⇒ ±1.
fn a_null_category_is_zero_for_every_level_and_has_its_flag() {
    let cells: Vec<Option<&str>> = (0..10).map(|row| (row < 5).then_some("a")).collect();
    let encoder = encoder(vec![("c", texts(cells))]);
    let later = batch(vec![("c", texts([Some("a"), None, Some("new")]))]);
    assert_close(&encoded(&encoder, &later), &[&[1.0, 0.0, -1.0], &[-1.0, 0.0, 1.0], &[-1.0, 10.0, -1.0]]);
}

#[test] // 6,000 rows: one in a thousand is 6, so a level with 5 rows is pooled although 5 rows are enough otherwise.
fn a_level_needs_one_row_in_a_thousand() {
    let cells = repeated(&[("a", 5_983), ("six", 6), ("five", 5), ("b", 6)]);
    let encoder = encoder(vec![("c", texts(cells))]);
    let names: Vec<String> = (0..encoder.n_features()).map(|feature| encoder.feature_name(feature)).collect();
    assert_eq!(names, ["c = a", "c = b", "c = six", "c = (other)"]);
    let reports: Vec<String> = encoder.reports().iter().map(ToString::to_string).collect();
    assert_eq!(reports, ["column `c`: 1 rare value pooled (5 rows), 3 kept"]);
}

#[test]
fn columns_that_say_nothing_are_left_out_with_a_reason() {
    let words: Vec<String> = (0..40).map(|row| format!("word {}", row / 2)).collect();
    let uuids: Vec<String> = (0..40).map(|row| format!("u-{row}")).collect();
    let table = table(vec![
        ("row", numbers((0..40).map(|row| f64::from(row) + 1.0))),
        ("uuid", texts(uuids.iter().map(String::as_str))),
        ("order_id", numbers((0..40).map(|row| f64::from(row * row)))),
        ("amount", numbers((0..40).map(|row| f64::from(row * row) + 0.5))),
        ("gone", numbers([None::<f64>; 40])),
        ("comment", texts(words.iter().map(String::as_str))),
        ("skipped", numbers((0..40).map(|row| f64::from(row % 7)))),
        ("label", booleans((0..40).map(|row| row == 3))),
    ]);
    let options = EncodeOptions { ignore: vec!["skipped".into()], ..EncodeOptions::default() };
    let encoder = Encoder::fit(&table, &options, Some("label")).unwrap();
    let kept: Vec<&str> = encoder.columns().iter().map(EncodedColumn::name).collect();
    assert_eq!(kept, ["amount"]);
    let reports: Vec<String> = encoder.reports().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(reports.join("\n"), @r#"
    column `row` is left out: it looks like a row identifier (whole numbers with a constant step)
    column `uuid` is left out: it looks like a row identifier (a different value in every row)
    column `order_id` is left out: it looks like a row identifier (distinct whole numbers, named like one)
    column `gone` is left out: it has no values
    column `comment` is left out: it has 20 different values, none of them common
    "#);

    // All of them are known to the encoder, so none is an extra column of a later table.
    assert_eq!(encoder.extra_columns(&table.batches[0].schema()), [""; 0]);
    let later = batch(vec![("amount", numbers([1.0])), ("new", numbers([1.0]))]);
    assert_eq!(encoder.extra_columns(&later.schema()), ["new"]);

    let options = EncodeOptions { keep_identifiers: true, min_level_rows: 1, ..options };
    let encoder = Encoder::fit(&table, &options, None).unwrap();
    let left_out: Vec<_> = encoder.left_out().iter().map(|out| (out.name.as_str(), out.reason)).collect();
    assert_eq!(left_out, [("gone", LeftOutReason::AllNull), ("skipped", LeftOutReason::Ignored)]);
}

fn message(result: Result<impl std::fmt::Debug, impl std::error::Error>) -> String {
    result.expect_err("an error").to_string()
}

#[test]
fn errors_say_what_was_found_and_what_was_expected() {
    let table = table(vec![("a", numbers([1.0, 3.0])), ("b", numbers([1.0, 2.0]))]);
    let default = EncodeOptions::default();
    insta::assert_snapshot!(message(Encoder::fit(&table, &default, Some("c"))), @"test.csv: there is no column `c` to use as the label; the table has `a`, `b`");
    let ignoring = |names: &[&str]| EncodeOptions {
        ignore: names.iter().map(ToString::to_string).collect(),
        ..EncodeOptions::default()
    };
    insta::assert_snapshot!(message(Encoder::fit(&table, &ignoring(&["c"]), None)), @"test.csv: there is no column `c` to ignore; the table has `a`, `b`");
    insta::assert_snapshot!(message(Encoder::fit(&table, &ignoring(&["a"]), Some("b"))), @"test.csv: no column is left to learn from; `a`: ignored on request; `b`: it holds the labels");
    let too_many = EncodeOptions { max_levels: 0, ..EncodeOptions::default() };
    insta::assert_snapshot!(message(Encoder::fit(&table, &too_many, None)), @"parameter `max_levels` is 0, but must be from 1 to 4096");
    let none = EncodeOptions { min_level_rows: 0, ..EncodeOptions::default() };
    insta::assert_snapshot!(message(Encoder::fit(&table, &none, None)), @"parameter `min_level_rows` is 0, but must be at least 1");

    let far = tables::table(vec![("x", numbers([-1e308, 1e308]))]);
    insta::assert_snapshot!(message(Encoder::fit(&far, &default, None)), @"test.csv: column `x` goes from -1e308 to 1e308, too far apart to standardize; the difference must be below 1.7976931348623157e308");

    let encoder = Encoder::fit(&table, &default, None).unwrap();
    let encode = |columns| encoder.encode(&Rows::new(batch(columns), 0, "later.csv"));
    insta::assert_snapshot!(message(encode(vec![("b", numbers([1.0]))])), @"later.csv: column `a` is missing, but the model was fitted on it; the table has `b`");
    insta::assert_snapshot!(message(encode(vec![("c", numbers([1.0]))])), @"later.csv: columns `a`, `b` are missing, but the model was fitted on them; the table has `c`");
    let double = vec![("a", numbers([1.0])), ("b", numbers([1.0])), ("a", numbers([1.0]))];
    insta::assert_snapshot!(message(encode(double)), @"later.csv: there are two columns `a`, but columns are matched by name, so names must differ");
}

#[test]
fn more_features_than_can_be_held_are_refused() {
    let names: Vec<String> = (0..40_000).map(|column| format!("c{column}")).collect();
    let wide = table(names.iter().map(|name| (name.as_str(), numbers([Some(1.0), None]))).collect());
    insta::assert_snapshot!(message(Encoder::fit(&wide, &EncodeOptions::default(), None)), @"test.csv: the columns make 80000 features, but at most 65536 are allowed; most come from `c0` with 2");
}

#[test]
fn a_batch_without_rows_gives_a_matrix_without_rows() {
    let encoder =
        encoder(vec![("x", numbers([1.0, 2.0])), ("c", texts(["a", "b"]))].into_iter().take(1).collect());
    let matrix =
        encoder.encode(&tables::rows(&batch(vec![("x", numbers([None::<f64>; 0]))]))).unwrap().matrix;
    assert_eq!((matrix.n_rows(), matrix.n_cols()), (0, 1));
}

/// Rows of a mixed table: number, boolean, moment, name; each may be null.
type Row = (Option<f64>, Option<bool>, Option<i64>, Option<&'static str>);

fn rows(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Row>> {
    let name = prop::option::weighted(0.9, prop::sample::select(vec!["a", "b", "c", "rare", "d e"]));
    let number = prop::option::weighted(0.9, -1e6..1e6f64);
    let moment = prop::option::weighted(0.9, -4_000_000_000i64..4_000_000_000);
    prop::collection::vec((number, prop::option::weighted(0.9, any::<bool>()), moment, name), count)
}

fn mixed(rows: &[Row]) -> Vec<(&'static str, arrow_array::ArrayRef)> {
    vec![
        ("number", numbers(rows.iter().map(|row| row.0))),
        ("boolean", booleans(rows.iter().map(|row| row.1))),
        ("moment", moments(rows.iter().map(|row| row.2))),
        ("name", texts(rows.iter().map(|row| row.3))),
    ]
}

fn fitted(rows: &[Row]) -> Option<(Table, Encoder)> {
    let options = EncodeOptions { min_level_rows: 2, ..EncodeOptions::default() };
    let table = table(mixed(rows));
    Encoder::fit(&table, &options, None).ok().map(|encoder| (table, encoder))
}

fn bits(rows: &[Vec<f64>]) -> Vec<Vec<u64>> {
    rows.iter().map(|row| row.iter().map(|value| value.to_bits()).collect()).collect()
}

proptest! {
    #[test] // Law: the unit of a column does not matter.
    fn a_positive_factor_leaves_the_features_as_they_are(
        values in prop::collection::vec(-1e6..1e6f64, 2..60), exponent in -100..100i32,
    ) {
        let factor = 1.7 * 10f64.powi(exponent);
        let column = |factor: f64| vec![("x", numbers(values.iter().map(|value| value * factor)))];
        let one = encoded(&encoder(column(1.0)), &batch(column(1.0)));
        let other = encoded(&encoder(column(factor)), &batch(column(factor)));
        for (a, b) in one.iter().zip(&other) {
            prop_assert!((a[0] - b[0]).abs() < 1e-6, "{} and {}", a[0], b[0]);
        }
    }

    #[test] // Law: standardised training rows have mean 0, and standard deviation 1 unless they are constant.
    fn training_rows_have_mean_zero_and_deviation_one(values in prop::collection::vec(-1e6..1e6f64, 2..60)) {
        let column = || vec![("x", numbers(values.iter().copied()))];
        let features: Vec<f64> = encoded(&encoder(column()), &batch(column())).concat();
        let n = features.len() as f64;
        prop_assert!((features.iter().sum::<f64>() / n).abs() < 1e-9);
        prop_assert!((features.iter().map(|z| z * z).sum::<f64>() / n - 1.0).abs() < 1e-9);
    }

    #[test] // Law: columns are matched by name.
    fn the_order_of_columns_does_not_matter(rows in rows(2..40), order in Just([0, 1, 2, 3]).prop_shuffle()) {
        let Some((table, encoder)) = fitted(&rows) else { return Ok(()) };
        let columns = mixed(&rows);
        let shuffled = batch(order.iter().map(|&at| columns[at].clone()).collect());
        prop_assert_eq!(bits(&encoded(&encoder, &table.batches[0])), bits(&encoded(&encoder, &shuffled)));
    }

    #[test] // Law: the features of a row depend on that row alone.
    fn a_row_is_encoded_by_itself(rows in rows(2..600), cut in any::<prop::sample::Index>()) {
        let Some((table, encoder)) = fitted(&rows) else { return Ok(()) };
        let (whole, cut) = (&table.batches[0], cut.index(rows.len()));
        let mut parts = encoded(&encoder, &whole.slice(0, cut));
        parts.extend(encoded(&encoder, &whole.slice(cut, rows.len() - cut)));
        prop_assert_eq!(bits(&encoded(&encoder, whole)), bits(&parts));
    }

    #[test] // Law: it does not matter how the training rows are cut into batches.
    fn batches_of_the_training_table_do_not_matter(rows in rows(2..40), cut in any::<prop::sample::Index>()) {
        let Some((table, encoder)) = fitted(&rows) else { return Ok(()) };
        let (whole, cut) = (&table.batches[0], cut.index(rows.len()));
        let parts = vec![whole.slice(0, cut), whole.slice(cut, rows.len() - cut)];
        let options = EncodeOptions { min_level_rows: 2, ..EncodeOptions::default() };
        let table = Table { batches: parts, ..table.clone() };
        prop_assert_eq!(Encoder::fit(&table, &options, None).unwrap(), encoder);
    }

    #[test] // Law: whatever comes later, as long as it is finite, its feature is.
    fn features_are_finite_for_any_finite_cell(
        training in prop::collection::vec(-8e307..8e307f64, 1..20),
        later in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 1..20),
        tiny in any::<bool>(),
    ) {
        let training = training.into_iter().map(|value| if tiny { value * 1e-315 * 1e-300 } else { value });
        let encoder = encoder(vec![("x", numbers(training))]);
        let encoded = encoded(&encoder, &batch(vec![("x", numbers(later))]));
        prop_assert!(encoded.concat().iter().all(|z| z.abs() <= oddcell::encode::FEATURE_LIMIT));
    }

    #[test] // Law: saved and restored, an encoder is the same to the bit.
    fn an_encoder_survives_json_to_the_bit(rows in rows(2..40)) {
        let Some((table, encoder)) = fitted(&rows) else { return Ok(()) };
        let restored: Encoder = serde_json::from_str(&serde_json::to_string(&encoder).unwrap()).unwrap();
        prop_assert_eq!(&restored, &encoder);
        let batch = &table.batches[0];
        prop_assert_eq!(bits(&encoded(&restored, batch)), bits(&encoded(&encoder, batch)));
    }
}
