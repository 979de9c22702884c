//! Whole and hostile model files. A hostile author can compute checksums, so most files here have a right one.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use serde_json::json;

use super::*;
use crate::{Context, Error, Table, judge::Judge, model::FitOptions, table::Rows, tensors::Tensor};

fn batch(n_rows: usize) -> RecordBatch {
    let mut stream = Seed(40).stream("table", &[]);
    let amounts: Float64Array = (0..n_rows).map(|_| Some(stream.normal())).collect();
    let cities: StringArray = (0..n_rows).map(|_| Some(["Oslo", "Rome"][stream.below(2)])).collect();
    let columns: [(&str, ArrayRef); 2] = [("amount", Arc::new(amounts)), ("city", Arc::new(cities))];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The smallest honest model: two members with nets two units wide.
fn model() -> Model {
    let mut spec = DetectorSpec::new("noise", None).unwrap();
    spec.set("hidden", json!(2)).unwrap();
    spec.set_text("train_for", "20 steps").unwrap();
    let mut options = FitOptions::new(spec);
    options.split.folds = 2;
    let table = Table::from_batches("test", vec![batch(24)]).unwrap();
    Model::fit(&table, &options, &Context::silent(Seed(u64::MAX))).unwrap()
}

/// The file with its parts changed and the checksum made right again.
fn forged(change: impl FnOnce(&mut Value, &mut Tensors)) -> Result<Model, ModelFileError> {
    let (header, mut tensors) = open(&model().to_bytes().unwrap()).unwrap();
    let mut header = serde_json::from_str(&header).unwrap();
    change(&mut header, &mut tensors);
    Model::from_bytes(&seal(&header.to_string(), &tensors).unwrap())
}

fn message(change: impl FnOnce(&mut Value, &mut Tensors)) -> String {
    forged(change).expect_err("a forged file was accepted").to_string()
}

#[test]
fn a_model_comes_back_with_the_same_answers_to_the_bit_and_the_same_bytes() {
    let model = model();
    let bytes = model.to_bytes().unwrap();
    let loaded = Model::from_bytes(&bytes).unwrap();
    let rows = batch(100);
    let judged = |model: &Model| model.judge(Rows::new(rows.clone(), 0, "rows")).unwrap().findings;
    assert_eq!(judged(&loaded), judged(&model));
    assert_eq!(loaded.to_bytes().unwrap(), bytes);
    assert_eq!((loaded.seed(), loaded.n_rows(), loaded.members().len()), (Seed(u64::MAX), 24, 2));
    assert_eq!(loaded.spec().params(), model.spec().params());
    assert_eq!(loaded.library_version(), env!("CARGO_PKG_VERSION"));
    assert_eq!(loaded.reference(), model.reference());
    assert!(forged(|_, _| ()).is_ok(), "a forged file without a change is a good one");
}

#[test]
fn a_threshold_comes_back_and_an_impossible_one_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.oddcell");
    let threshold = Threshold { contamination: 0.1, score: 2.5 };
    model().save_with(&path, Some(threshold)).unwrap();
    let loaded = Model::load(&path).unwrap();
    assert_eq!(loaded.threshold(), Some(threshold));
    assert_eq!(loaded.to_bytes().unwrap(), std::fs::read(&path).unwrap());
    assert_eq!(model().threshold(), None);
    for impossible in
        [Threshold { score: f64::INFINITY, ..threshold }, Threshold { contamination: 0.0, ..threshold }]
    {
        assert!(model().save_with(&path, Some(impossible)).is_err(), "{impossible:?}");
    }
}

#[test]
fn cut_off_at_any_byte_it_is_refused() {
    let bytes = model().to_bytes().unwrap();
    for length in 0..bytes.len() {
        let error = Model::from_bytes(&bytes[..length]).expect_err("a part was accepted");
        let told = matches!(error, ModelFileError::Truncated { .. })
            || (length < 9 && matches!(error, ModelFileError::NotAModel { .. }));
        assert!(told, "cut off at {length}: {error}");
    }
}

#[test]
fn with_any_single_bit_flipped_it_is_refused() {
    let mut bytes = model().to_bytes().unwrap();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(Model::from_bytes(&bytes).is_err(), "bit {} of byte {} is not noticed", bit % 8, bit / 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn weights_that_are_no_numbers_or_have_another_shape_are_refused() {
    const WEIGHT: &str = "member.0.detector.layer.0.weight";
    let change_weight = |change: fn(&mut Vec<usize>, &mut Vec<f32>)| {
        message(move |_, tensors| match tensors.0.get_mut(WEIGHT) {
            Some(Tensor::F32(shape, values)) => change(shape, values),
            other => panic!("{other:?}"),
        })
    };
    assert!(change_weight(|_, values| values[1] = f32::NAN).contains("value 1 is NaN, but must be finite"));
    assert!(change_weight(|_, values| values[0] = f32::INFINITY).contains("value 0 is inf"));
    change_weight(|shape, _| shape.reverse());
    change_weight(|shape, values| (*shape, *values) = (vec![0, 2], vec![]));
    change_weight(|shape, values| (*shape, *values) = (vec![1_000, 0], vec![]));
    change_weight(|shape, values| (*shape, *values) = (vec![], vec![1.0]));
    let missing = message(|_, tensors| drop(tensors.0.remove(WEIGHT)));
    assert!(missing.ends_with("tensor `layer.0.weight` is missing"), "{missing}");
    let extra = message(|_, tensors| tensors.put_u32("member.0.detector.extra", &[1], vec![1]));
    assert!(
        extra.ends_with("tensor `member.0.detector.extra`: no part of the model has this name"),
        "{extra}"
    );
    let extra = message(|_, tensors| tensors.put_u32("member.2.calibration", &[1], vec![1]));
    assert!(extra.ends_with("tensor `member.2.calibration`: no part of the model has this name"), "{extra}");
}

#[test]
fn weights_too_large_to_calculate_with_give_an_error_and_no_infinite_score() {
    let model = forged(|_, tensors| {
        for (name, tensor) in &mut tensors.0 {
            match tensor {
                Tensor::F32(_, values) if name.contains(".layer.") => values.fill(3e38),
                _ => {}
            }
        }
    });
    let judged =
        model.unwrap().judge(Rows::new(batch(10), 0, "rows")).map(|judgement| judgement.findings.scores);
    match judged {
        Ok(scores) => assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}"),
        Err(error) => assert!(error.to_string().contains("every score must be finite"), "{error}"),
    }
}

#[test] // Found by fuzzing: accepted, and every score was infinite.
fn parameters_that_leave_the_finite_numbers_are_refused() {
    for (detector, parameter, value) in
        [("anogan", "search_rate", 1e300), ("neutralad", "temperature", 5e-324)]
    {
        let mut spec = DetectorSpec::new(detector, None).unwrap();
        spec.set(parameter, json!(value)).unwrap();
        let error = spec.build().unwrap_err().to_string();
        assert!(error.contains(parameter), "{error}");
    }
}

#[test]
fn calibration_scores_that_no_fit_could_give_are_refused() {
    const NAME: &str = "member.1.calibration";
    let with = |values: Vec<f64>| message(|_, tensors| tensors.put_f64(NAME, &[values.len()], values));
    assert!(with(vec![]).contains("there are no calibration scores"));
    assert!(with(vec![1.0, f64::NAN]).contains("value 1 is NaN"));
    assert!(with(vec![2.0, 1.0]).contains("must ascend"));
    assert!(
        message(|_, tensors| tensors.put_f64(NAME, &[2, 1], vec![1.0, 2.0])).contains("has the shape [2, 1]")
    );
    assert!(message(|_, tensors| tensors.put_u32(NAME, &[1], vec![1])).contains("holds u32 values"));
    assert!(message(|_, tensors| drop(tensors.0.remove(NAME))).contains("is missing"));
}

#[test]
fn a_header_with_unknown_missing_or_impossible_fields_is_refused() {
    let set = |pointer: &'static str, value: Value| {
        message(move |header, _| *header.pointer_mut(pointer).expect("the field exists") = value)
    };
    let unknown = message(|header, _| header["surprise"] = json!(1));
    assert!(unknown.contains("unknown field `surprise`"), "{unknown}");
    let missing = message(|header, _| drop(header.as_object_mut().unwrap().remove("seed")));
    assert!(missing.contains("missing field `seed`"), "{missing}");
    let later = set("/format", json!(7));
    assert!(later.starts_with("the model file has format version 7, but "), "{later}");
    assert!(set("/detector", json!("oracle")).contains("there is no detector `oracle`"));
    assert!(set("/params/hidden", json!(0)).contains("parameter `hidden` is 0"));
    assert!(set("/params/hidden", json!(1_000_000_000_000u64)).contains("parameter `hidden`"));
    assert!(set("/params/hidden", json!(3)).contains("has the shape"));
    assert!(set("/params/hidden", json!(4_096)).contains("has the shape"));
    assert!(set("/params/hidden", json!("wide")).contains("parameter `hidden`"));
    assert!(message(|header, _| header["params"]["depth"] = json!(3)).contains("no parameter `depth`"));
    assert!(set("/seed", json!(-1)).contains("invalid value"));
    assert!(set("/library", json!("\u{1b}[2J")).contains("a version such as 0.1.0"));
    assert!(set("/members", json!([])).contains("the number of members is 0, but 1 to 100 was expected"));
    let many = vec![json!({ "n_training_rows": 12, "cells": false }); 101];
    assert!(set("/members", Value::Array(many)).contains("is 101, but 1 to 100"));
    assert!(set("/members/0/n_training_rows", json!(0)).contains("is 0, but at least 1 was expected"));
    let third = json!(vec![json!({ "n_training_rows": 12, "cells": false }); 3]);
    assert!(set("/members", third).contains("tensor `member.2.calibration` is missing"));
    let narrow = message(|header, _| drop(header["encoder"]["columns"].as_array_mut().unwrap().pop()));
    assert!(narrow.contains("a member's number of features is"), "{narrow}");
    let threshold = |contamination: f64, score: f64| {
        message(move |header, _| {
            header["threshold"] = json!({ "contamination": contamination, "score": score });
        })
    };
    assert!(threshold(0.6, 1.0).contains("`contamination` is 0.6, but must be"), "{}", threshold(0.6, 1.0));
    assert!(threshold(0.1, f64::NAN).contains("null"), "JSON has no NaN");
    assert!(set("/encoder/n_rows", json!(0)).contains("not a valid encoder: training rows: found 0"));
}

#[test]
fn files_that_are_no_models_are_told_by_their_name_and_kind() {
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        match Model::load(&path) {
            Err(Error::ModelFile(error)) => error.to_string().replace(&*folder.path().to_string_lossy(), ""),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        load("orders.csv", b"id,amount\n1,3.5\n"),
        "`/orders.csv`: not an oddcell model: it looks like a text, such as a CSV table"
    );
    assert_eq!(
        load("t.parquet", b"PAR1\x15\x04"),
        "`/t.parquet`: not an oddcell model: it looks like a Parquet table"
    );
    assert_eq!(load("empty", b""), "`/empty`: not an oddcell model: it looks like an empty file");
    let bytes = model().to_bytes().unwrap();
    let cut_off = load("half.oddcell", &bytes[..bytes.len() / 2]);
    assert!(cut_off.contains("truncated: it has"), "{cut_off}");
    let absent = Model::load(folder.path().join("absent")).unwrap_err();
    assert!(matches!(absent, Error::File { action: "read", .. }), "{absent}");
    let folder_error = Model::load(folder.path()).unwrap_err();
    assert!(matches!(folder_error, Error::File { action: "read", .. }), "{folder_error}");
}

// A file of 5 GB without content (sparse), which claims to be a model: told by its length, not read.
#[test]
fn a_file_too_large_to_be_a_model_is_refused_by_its_length() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), model().to_bytes().unwrap()).unwrap();
    file.as_file().set_len(5 << 30).unwrap();
    match Model::load(file.path()) {
        Err(Error::ModelFile(error)) => {
            assert!(matches!(error.problem(), ModelFileError::TooLarge { part: "whole", .. }), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn saving_writes_what_loading_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.oddcell");
    let model = model();
    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().to_bytes().unwrap(), model.to_bytes().unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), model.to_bytes().unwrap());
}
