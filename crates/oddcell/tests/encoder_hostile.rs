//! Encoders from files that nobody wrote in good faith: every one is refused or fully valid.

mod tables;

use oddcell::encode::Encoder;
use proptest::prelude::*;
use serde_json::{Value, json};
use tables::{batch, booleans, encoder, moments, numbers, repeated, texts};

/// An encoder with every kind of column, as JSON.
fn saved() -> Value {
    let cells = repeated(&[("a", 12), ("b", 7), ("rare", 1)]);
    let encoder = encoder(vec![
        ("number", numbers((0..20).map(|row| (row != 4).then_some(f64::from(row * row))))),
        ("moment", moments((0..20).map(|row| row * 10_000))),
        ("boolean", booleans((0..20).map(|row| row % 3 == 0))),
        ("name", texts(cells)),
        ("gone", numbers([None::<f64>; 20])),
    ]);
    serde_json::to_value(&encoder).expect("an encoder is plain data")
}

fn refusal(change: impl Fn(&mut Value)) -> String {
    let mut value = saved();
    change(&mut value);
    serde_json::from_value::<Encoder>(value).expect_err("a broken encoder was accepted").to_string()
}

/// The refusal when the value at `pointer` is replaced.
fn refused_with(pointer: &str, new: &Value) -> String {
    refusal(|value| *value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = new.clone())
}

#[test]
fn the_untouched_encoder_is_accepted() {
    let encoder: Encoder = serde_json::from_value(saved()).unwrap();
    assert_eq!(serde_json::to_value(&encoder).unwrap(), saved());
}

/// Replacements by figures that no table can give, with their places.
fn impossible() -> Vec<(&'static str, Value)> {
    let huge = u64::MAX;
    vec![
        ("/n_rows", json!(0)),
        ("/n_rows", json!(huge)),
        ("/n_rows", json!(-1)),
        ("/n_rows", json!(19)),
        ("/columns", json!([])),
        ("/columns/0/name", json!("name")),
        ("/columns/0/name", json!("gone")),
        ("/columns/0/name", json!("")),
        ("/columns/0/nulls", json!(20)),
        ("/columns/0/nulls", json!(huge)),
        ("/columns/0/content/spread/mean", json!(null)),
        ("/columns/0/content/spread/mean", json!(1e9)),
        ("/columns/0/content/spread/std", json!(0)),
        ("/columns/0/content/spread/std", json!(-1)),
        ("/columns/0/content/spread/std", json!(1e300)),
        ("/columns/0/content/spread/min", json!(-f64::MAX)),
        ("/columns/0/content/spread/max", json!(3)),
        ("/columns/0/content/spread/low", json!(400)),
        ("/columns/0/content/unreadable", json!(19)),
        ("/columns/0/content/kind", json!("word")),
        ("/columns/1/content/spread/std", json!(0)),
        ("/columns/1/content/style", json!("year")),
        ("/columns/1/content/unreadable", json!(huge)),
        ("/columns/2/content/true_rows", json!(21)),
        ("/columns/2/content/unreadable", json!(14)),
        ("/columns/2/content/names/0", json!("maybe")),
        ("/columns/0/content/form/decimals/0", json!(18)),
        ("/columns/0/content/form/negative", json!(huge)),
        ("/columns/0/content/form/scale", json!(-1)),
        ("/columns/1/content/parts/0/rows/0", json!(huge)),
        ("/columns/3/content/levels/known/0/rows", json!(13)),
        ("/columns/3/content/levels/known/0/rows", json!(huge)),
        ("/columns/3/content/levels/known/0/name", json!("b")),
        ("/columns/3/content/levels/known/2/rows", json!(0)),
        ("/columns/3/content/levels/known/2/rows", json!(8)),
        ("/columns/3/content/levels/forgotten", json!(2)),
        ("/columns/3/content/levels/forgotten_rows", json!(2)),
        ("/columns/3/content/spaced", json!(21)),
        ("/left_out/0/reason", json!("boredom")),
    ]
}

#[test]
fn every_figure_that_no_table_can_give_is_refused_with_its_place() {
    let report: Vec<String> = impossible()
        .iter()
        .map(|(pointer, new)| format!("{pointer} = {new}\n  {}", refused_with(pointer, new)))
        .collect();
    insta::assert_snapshot!(report.join("\n"), @r#"
    /n_rows = 0
      not a valid encoder: training rows: found 0, expected a count from 1 to 2^53
    /n_rows = 18446744073709551615
      not a valid encoder: training rows: found 18446744073709551615, expected a count from 1 to 2^53
    /n_rows = -1
      invalid value: integer `-1`, expected u64
    /n_rows = 19
      not a valid encoder: column `number`: numbers by decimals: found 19, expected the rows with a number
    /columns = []
      not a valid encoder: columns: found none, expected at least one
    /columns/0/name = "name"
      not a valid encoder: column names: found `name` twice, expected different names
    /columns/0/name = "gone"
      not a valid encoder: column names: found `gone` twice, expected different names
    /columns/0/name = ""
      not a valid encoder: a column name: found nothing, expected a name
    /columns/0/nulls = 20
      not a valid encoder: column `number`: nulls: found 20, expected fewer than the training rows
    /columns/0/nulls = 18446744073709551615
      not a valid encoder: column `number`: nulls: found 18446744073709551615, expected fewer than the training rows
    /columns/0/content/spread/mean = null
      invalid type: null, expected f64
    /columns/0/content/spread/mean = 1000000000.0
      not a valid encoder: column `number`: mean: found 1000000000, expected a number from the minimum to the maximum
    /columns/0/content/spread/std = 0
      not a valid encoder: column `number`: standard deviation: found 0.0, expected above 0, at most the range
    /columns/0/content/spread/std = -1
      not a valid encoder: column `number`: standard deviation: found -1.0, expected above 0, at most the range
    /columns/0/content/spread/std = 1e+300
      not a valid encoder: column `number`: standard deviation: found 1e300, expected above 0, at most the range
    /columns/0/content/spread/min = -1.7976931348623157e+308
      not a valid encoder: column `number`: standard deviation: found 113.66074319190548, expected more, with such a range and so few rows
    /columns/0/content/spread/max = 3
      not a valid encoder: column `number`: minimum, 1 % quantile, 99 % quantile, maximum: found 0.0, 0.0, 354.0, 3.0, expected numbers in rising order
    /columns/0/content/spread/low = 400
      not a valid encoder: column `number`: minimum, 1 % quantile, 99 % quantile, maximum: found 0.0, 400.0, 354.0, 361.0, expected numbers in rising order
    /columns/0/content/unreadable = 19
      not a valid encoder: column `number`: unreadable cells: found 19, expected fewer than the rows that are not null
    /columns/0/content/kind = "word"
      unknown variant `word`, expected one of `number`, `boolean`, `date`, `text`, `category`
    /columns/1/content/spread/std = 0
      not a valid encoder: column `moment`: standard deviation: found 0.0, expected above 0, at most the range
    /columns/1/content/style = "year"
      unknown variant `year`, expected one of `time`, `day`, `moment`
    /columns/1/content/unreadable = 18446744073709551615
      not a valid encoder: column `moment`: unreadable cells: found 18446744073709551615, expected fewer than the rows that are not null
    /columns/2/content/true_rows = 21
      not a valid encoder: column `boolean`: true rows: found 21, expected at most the rows that are true or false
    /columns/2/content/unreadable = 14
      not a valid encoder: column `boolean`: true rows: found 7, expected at most the rows that are true or false
    /columns/2/content/names/0 = "maybe"
      not a valid encoder: column `boolean`: words: found ["maybe", "true"], expected a word for false and one for true
    /columns/0/content/form/decimals/0 = 18
      not a valid encoder: column `number`: numbers by decimals: found 18, expected the rows with a number
    /columns/0/content/form/negative = 18446744073709551615
      not a valid encoder: column `number`: numbers with a sign: found 18446744073709551615, expected at most the rows with a number
    /columns/0/content/form/scale = -1
      not a valid encoder: column `number`: scale: found Some(-1.0), expected a number above 0
    /columns/1/content/parts/0/rows/0 = 18446744073709551615
      not a valid encoder: column `moment`: hour: found 18446744073709551615, expected the rows with a date
    /columns/3/content/levels/known/0/rows = 13
      not a valid encoder: column `name`: rows of all levels: found 21, expected the number of rows that are not null
    /columns/3/content/levels/known/0/rows = 18446744073709551615
      not a valid encoder: column `name`: rows of all levels: found 18446744073709551615, expected the number of rows that are not null
    /columns/3/content/levels/known/0/name = "b"
      not a valid encoder: column `name`: levels: found a name twice, expected different names
    /columns/3/content/levels/known/2/rows = 0
      not a valid encoder: column `name`: rows of level `rare`: found 0, expected at least 1
    /columns/3/content/levels/known/2/rows = 8
      not a valid encoder: column `name`: levels: found a rarer level before a more common one, expected the most common one first
    /columns/3/content/levels/forgotten = 2
      not a valid encoder: column `name`: forgotten rows: found 0, expected the rows of the forgotten levels
    /columns/3/content/levels/forgotten_rows = 2
      not a valid encoder: column `name`: forgotten rows: found 2, expected the rows of the forgotten levels
    /columns/3/content/spaced = 21
      not a valid encoder: column `name`: rows with spaces: found 21, expected at most the rows with a name
    /left_out/0/reason = "boredom"
      unknown variant `boredom`, expected one of `label`, `ignored`, `all_null`, `identifier`
    "#);
}

#[test]
fn unknown_fields_are_refused_at_every_level() {
    for pointer in [
        "",
        "/columns/0",
        "/columns/0/content",
        "/columns/1/content",
        "/columns/1/content/spread",
        "/columns/0/content/form",
        "/columns/2/content",
        "/columns/3/content",
        "/columns/3/content/levels/known/0",
        "/left_out/0",
    ] {
        let message = refusal(|value| {
            value.pointer_mut(pointer).unwrap()["surprise"] = json!(1);
        });
        assert!(message.contains("unknown field `surprise`"), "{pointer}: {message}");
    }
}

#[test]
fn too_many_features_are_refused() {
    let message = refusal(|value| {
        let column = value["columns"][2].clone();
        let columns = (0..=oddcell::encode::MAX_FEATURES).map(|at| {
            let mut column = column.clone();
            column["name"] = json!(at.to_string());
            column
        });
        value["columns"] = columns.collect();
    });
    assert_eq!(message, "not a valid encoder: features: found 131074, expected at most 65536");
}

/// All leaves of a JSON value, as pointers.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| leaves(value, &format!("{path}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| leaves(value, &format!("{path}/{at}"), found));
        }
        _ => found.push(path.to_owned()),
    }
}

fn any_leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<f64>().prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
        (0..40i64).prop_map(|number| json!(number)),
        (-400..400i64).prop_map(|number| json!(number)),
        "[a-z]{0,3}".prop_map(|text| json!(text)),
        any::<bool>().prop_map(|truth| json!(truth)),
        Just(Value::Null),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test] // Law: whatever stands in the file, it is refused or works: finite features, nothing panics.
    fn a_changed_encoder_is_refused_or_works(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any_leaf()), 1..3),
    ) {
        let mut value = saved();
        let mut places = Vec::new();
        leaves(&value, "", &mut places);
        for (place, leaf) in changes {
            *value.pointer_mut(&places[place.index(places.len())]).unwrap() = leaf;
        }
        if let Ok(encoder) = serde_json::from_value::<Encoder>(value) {
            prop_assert!(serde_json::from_value::<Encoder>(serde_json::to_value(&encoder).unwrap()).is_ok());
            prop_assert!(encoder.reports().len() <= 5);
            let columns = vec![
                ("number", numbers([Some(1e308), None])),
                ("moment", moments([Some(i64::MAX), None])),
                ("boolean", booleans([Some(true), None])),
                ("name", texts([Some("new"), None])),
            ];
            if let Ok(encoded) = encoder.encode(&tables::rows(&batch(columns))) {
                prop_assert_eq!(encoded.matrix.first_not_finite(), None);
            }
        }
    }
}
