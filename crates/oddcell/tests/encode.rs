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

/// Compares the first features of each row; signs follow them.
#[track_caller]
fn assert_close(got: &[Vec<f64>], expected: &[&[f64]]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        let close =
            got.len() >= expected.len() && got.iter().zip(*expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "got {got:?}, expected {expected:?}");
    }
}

const ROOT_3: f64 = 1.732_050_807_568_877_2;

#[test] // 0, 2, 4: mean 2, std √(8/3), so ∓2/√(8/3) = ∓√1.5. One null in four: mean 1/4, std √(3/16) = √3/4:
// null gives (3/4)/(√3/4) = √3, others −(1/4)/(√3/4) = −1/√3. A null takes the mean: 0.
fn numbers_are_standardized_and_nulls_take_the_mean_and_a_flag() {
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

#[test] // `18OO` among 0 … 18 and an empty cell: 19 numbers with mean 9 and std √30; one null in 21 rows.
fn a_cell_that_cannot_be_read_is_far_out_and_not_null_and_is_pointed_out() {
    let cells: Vec<String> =
        (0..19).map(|row| row.to_string()).chain(["18OO".to_owned(), String::new()]).collect();
    let price = || vec![("price", texts(cells.iter().map(String::as_str)))];
    let encoder = encoder(price());
    let found = encoder.encode(&tables::rows(&batch(price()))).unwrap();
    let column = &encoder.columns()[0];
    assert_eq!((column.kind().name(), column.nulls(), &found.unreadable[..]), ("number", 1, &[(19, 0)][..]));
    let (filled, empty) = (encoder.features()[1].scale(0.0), encoder.features()[1].scale(1.0));
    assert_eq!(found.matrix.row(19), [10.0, filled]);
    assert_eq!(found.matrix.row(20), [0.0, empty]);
    assert!((found.matrix.row(18)[0] - 9.0 / 30f64.sqrt()).abs() < 1e-12);
    assert_eq!(
        found.surprises.notes(&encoder),
        ["column `price`: 1 cell cannot be read as a number, namely `18OO` in row 20"]
    );
    let mut strict = encoder.clone();
    strict.set_strict(true);
    let error = strict.encode(&tables::rows(&batch(price()))).unwrap_err().to_string();
    assert!(error.ends_with("row 20, column `price`: found `18OO`, but a number was expected"), "{error}");
    let options = EncodeOptions { strict: true, ..EncodeOptions::default() };
    assert_eq!(Encoder::fit(&table(price()), &options, None).unwrap_err().to_string(), error);
}

#[test]
fn infinite_numbers_and_impossible_days_cannot_be_read_in_later_rows() {
    let days: Vec<String> = (1..=12).map(|day| format!("2014-02-{day:02}")).collect();
    let encoder = encoder(vec![
        ("x", numbers((0..12).map(f64::from))),
        ("day", texts(days.iter().map(String::as_str))),
        ("paid", texts(repeated(&[("yes", 6), ("no", 6)]))),
    ]);
    let later = batch(vec![
        ("x", texts([Some("1"), Some("-inf")])),
        ("day", texts([Some("2014-02-30"), Some("2014-02-03")])),
        ("paid", texts([Some("no"), Some("yse")])),
    ]);
    let found = encoder.encode(&tables::rows(&later)).unwrap();
    assert_eq!(found.unreadable, [(0, 1), (1, 0), (1, 2)]);
    let first = |column: usize| encoder.columns()[column].features().start;
    assert_eq!([(0, 1), (1, 0), (1, 2)].map(|(row, column)| found.matrix.row(row)[first(column)]), [10.0; 3]);
    // Twelve rows could be read, and this one could not: ln(13/1), and 8 for what cannot be read.
    let gap = encoder.columns()[1].features().end - 1;
    assert_eq!(encoder.feature_name(gap), "day: no value");
    assert!((found.matrix.row(0)[gap] - 8.0 - 13f64.ln()).abs() < 1e-12 && found.matrix.row(1)[gap] == 0.0);
    let notes = found.surprises.notes(&encoder);
    assert_eq!(
        notes[1],
        "column `day`: 1 cell cannot be read as a date or time, namely `2014-02-30` in row 1"
    );
    assert_eq!(notes.len(), 3);
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
fn booleans_are_standardized_over_the_rows_that_have_a_value() {
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
fn dates_are_standardized_seconds() {
    let encoder = encoder(vec![("d", moments([0, 2 * 86_400]))]);
    let later = batch(vec![("d", moments([0, 2 * 86_400, 86_400 + 21_600]))]);
    assert_close(&encoded(&encoder, &later), &[&[-1.0], &[1.0], &[0.25]]);
}

// 20 rows: 10 a, 8 b, 1 r, 1 s. The marks have variances 1/4, 6/25 and twice 19/400, together 0.585. `new` counts as one
// row.
#[test]
fn categories_have_a_coordinate_for_how_rare_the_level_is_and_marks_that_tell_levels_apart() {
    let cells = repeated(&[("b", 8), ("r", 1), ("s", 1), ("a", 10)]);
    let encoder = encoder(vec![("c", texts(cells))]);
    let names: Vec<String> = (0..encoder.n_features()).map(|feature| encoder.feature_name(feature)).collect();
    assert_eq!(names[..5], ["c: how rare", "c = a", "c = b", "c = r", "c = s"]);
    assert_eq!(
        names[5..],
        ["c: level", "c: rare", "c: misspelled", "c: odd shape", "c: spaces around", "c: no value"]
    );

    let later = batch(vec![("c", texts([Some("a"), Some("new"), None]))]);
    let (common, less) = (10f64.ln(), 8f64.ln());
    let mean = -(10.0 * common + 8.0 * less) / 20.0;
    let std = ((10.0 * common * common + 8.0 * less * less) / 20.0 - mean * mean).sqrt();
    assert!(std > 0.5, "else it would be 0.5");
    let mark = |x: f64, share: f64| (x - share) / 0.585f64.sqrt();
    let marks = |a: f64| [mark(a, 0.5), mark(0.0, 0.4), mark(0.0, 0.05), mark(0.0, 0.05)];
    let row = |rows: f64, a: f64| [&[(-rows.ln() - mean) / std][..], &marks(a)].concat();
    let got = encoded(&encoder, &later);
    // Training had no empty cell: as far out as a coordinate, and ln(21/1) surprising.
    assert_close(&got, &[&row(10.0, 1.0), &row(1.0, 0.0), &[10.0, 0.0, 0.0, 0.0, 0.0]]);
    assert_eq!([got[0][5], got[1][5]], [0.0, 4.0], "the level");
    assert!((got[2][10] - 21f64.ln()).abs() < 1e-12);
    let surprises = encoder.encode(&tables::rows(&later)).unwrap().surprises;
    assert_eq!((surprises.unseen_levels[0], surprises.unexpected_nulls[0]), (1, 1)); // `new`, and the null
    assert_eq!(
        surprises.notes(&encoder),
        ["column `c`: 1 empty cell, but none in training", "column `c`: 1 value never seen in training"]
    );
}

#[test] // Eight marks, whatever the number of levels: equal for equal names, and different for these.
fn many_levels_cost_as_much_as_nine_numbers() {
    let cells: Vec<String> = (0..4_000).map(|row| format!("code {}", row % 1_000)).collect();
    let encoder = encoder(vec![("c", texts(cells.iter().map(String::as_str)))]);
    assert_eq!(encoder.n_features(), 9 + 6);
    let later = batch(vec![("c", texts(["code 7", "code 8", "code 7"]))]);
    let got = encoded(&encoder, &later);
    assert_eq!(got[0], got[2]);
    assert_ne!(got[0][1..9], got[1][1..9]);
}

#[test] // a in 5 of 10 rows, null in the other 5: a null takes the mean, and has its flag: mean 1/2 ⇒ ±1.
fn a_null_category_takes_the_mean_and_has_its_flag() {
    let cells: Vec<Option<&str>> = (0..10).map(|row| (row < 5).then_some("a")).collect();
    let encoder = encoder(vec![("c", texts(cells))]);
    let later = batch(vec![("c", texts([Some("a"), None]))]);
    let got = encoded(&encoder, &later);
    assert_eq!([&got[0][1..3], &got[1][..3]], [&[0.0, -1.0][..], &[0.0, 0.0, 1.0]]);
}

#[test] // Plain 0/1 features as before, standardized one by one: a in 3 of 4 rows, √3/4 its deviation.
fn one_hot_is_what_the_paper_uses() {
    let options = EncodeOptions { one_hot: true, ..EncodeOptions::default() };
    let table = table(vec![("c", texts(repeated(&[("a", 3), ("b", 1)])))]);
    let encoder = Encoder::fit(&table, &options, None).unwrap();
    let got = encoded(&encoder, &batch(vec![("c", texts(["a", "b", "new"]))]));
    let (a1, a0) = (1.0 / ROOT_3, -ROOT_3);
    assert_close(&got, &[&[a1, a0 / 3.0], &[a0, 3.0 / ROOT_3], &[a0, a0 / 3.0]]);
}

#[test] // The last training day is 2 days on: later days have no position, and a note; far later ones do.
fn dates_after_training_have_no_position_in_time() {
    let encoder = encoder(vec![("d", moments([0, 2 * 86_400]))]);
    let later = batch(vec![("d", moments([3 * 86_400, 400 * 86_400, -2 * 86_400]))]);
    assert_close(&encoded(&encoder, &later), &[&[0.0], &[399.0], &[-3.0]]);
    let notes = encoder.encode(&tables::rows(&later)).unwrap().surprises.notes(&encoder);
    let expected = "column `d`: 1 date is later than all in training (until 1970-01-03); their position in time does not count";
    assert_eq!(notes, [expected]);
}

#[test] // Two weeks, hourly: hours and weekdays count, days of the month and months do not.
fn dates_have_the_parts_that_training_went_through_and_the_days_since_earlier_dates() {
    let hours = |first: i64| moments((0..400).map(move |hour| (first + hour) * 3_600));
    let encoder = encoder(vec![
        ("ordered", hours(0)),
        ("delivered", hours(48)),
        ("x", numbers((0..400).map(f64::from))),
    ]);
    let names: Vec<String> = (0..encoder.n_features()).map(|feature| encoder.feature_name(feature)).collect();
    assert_eq!(names[..4], ["ordered", "ordered: hour", "ordered: weekday", "ordered: no value"]);
    assert_eq!(names[4..8], ["delivered", "delivered: hour", "delivered: weekday", "delivered: no value"]);
    let shipped = moments((0..400).map(|hour| (hour + 24 * (hour % 3)) * 3_600));
    let encoder = tables::encoder(vec![("ordered", hours(0)), ("shipped", shipped)]);
    let since = encoder.columns()[1].features().end - 2;
    assert_eq!(encoder.feature_name(since), "shipped: days since ordered");
    let later = batch(vec![("ordered", moments([3 * 86_400])), ("shipped", moments([86_400 + 7_200]))]);
    let row = &encoded(&encoder, &later)[0];
    // 1970-01-04 was a Sunday; 1970-01-02 a Friday, and 2 a.m.
    assert_eq!((row[1..3].to_vec(), row[5..7].to_vec()), (vec![0.0, 6.0], vec![2.0, 4.0]));
    assert!((row[since] - (2.0 / 24.0 - 2.0)).abs() < 1e-12);
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
    assert_eq!(kept, ["amount", "comment"]);
    let reports: Vec<String> = encoder.reports().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(reports.join("\n"), @r"
    column `row` is left out: it looks like a row identifier (whole numbers with a constant step)
    column `uuid` is left out: it looks like a row identifier (a different value in every row)
    column `order_id` is left out: it looks like a row identifier (distinct whole numbers, named like one)
    column `gone` is left out: it has no values
    ");

    // All of them are known to the encoder, so none is an extra column of a later table.
    assert_eq!(encoder.extra_columns(&table.batches[0].schema()), [""; 0]);
    let later = batch(vec![("amount", numbers([1.0])), ("new", numbers([1.0]))]);
    assert_eq!(encoder.extra_columns(&later.schema()), ["new"]);

    let options = EncodeOptions { keep_identifiers: true, ..options };
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
    let table = table(mixed(rows));
    Encoder::fit(&table, &EncodeOptions::default(), None).ok().map(|encoder| (table, encoder))
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

    #[test] // Law: standardized training rows have mean 0, and standard deviation 1 unless they are constant.
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
        let table = Table { batches: parts, ..table.clone() };
        prop_assert_eq!(Encoder::fit(&table, &EncodeOptions::default(), None).unwrap(), encoder);
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
