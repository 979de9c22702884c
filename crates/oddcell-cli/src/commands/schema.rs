//! `oddcell config-schema`: the JSON schema of the config file.
//!
//! *Why:* editors complete and check a TOML file that has one. Nothing of it is written by hand: names, types and defaults
//! are asked of the options and of the list of detectors. Ranges are not in it; the program checks them.

use oddcell::{
    DetectorSpec,
    detect::{DETECTORS, Entry},
    encode::EncodeOptions,
    error::ParamError,
    model::SplitOptions,
    table::ColumnKind,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{failure::Failure, learning::RULES, output};

/// A text that no choice of names contains.
const NO_NAME: &str = "?";

pub(crate) fn run() -> Result<(), Failure> {
    output::print_json(&schema())
}

fn schema() -> Value {
    let kinds: Vec<&str> = ColumnKind::ALL.iter().map(|kind| kind.name()).chain(["id", "ignore"]).collect();
    let names: Vec<&str> = DETECTORS.iter().map(|entry| entry.name).collect();
    let of_rule = |name: &str| json!({ "type": if name == "top" { "integer" } else { "number" } });
    let rules: Map<String, Value> = RULES.map(|name| (name.to_owned(), of_rule(name))).into_iter().collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "oddcell --config",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "detector": { "enum": names, "description": "default: decided by the table" },
            "preset": { "type": "string" },
            "seed": { "type": "integer", "minimum": 0 },
            "params": { "type": "object", "description": "parameters of the detector" },
            "encode": options(&EncodeOptions::default()),
            "fit": options(&SplitOptions::default()),
            "kinds": {
                "type": "object",
                "description": "kinds of columns",
                "additionalProperties": { "enum": kinds },
            },
            "categorical": { "type": "array", "items": { "type": "string" } },
            "rule": {
                "type": "object",
                "description": "which rows `detect` calls odd",
                "properties": rules,
                "additionalProperties": false,
                "maxProperties": 1,
            },
        },
        "allOf": DETECTORS.iter().enumerate().map(|(index, entry)| of_detector(entry, index == 0)).collect::<Vec<_>>(),
    })
}

/// What holds if the detector of the config is `entry`. Presets and parameters without a detector are those of the first.
fn of_detector(entry: &'static Entry, is_first: bool) -> Value {
    let named = json!({ "properties": { "detector": { "const": entry.name } } });
    let condition = if is_first { named } else { json!({ "allOf": [named, { "required": ["detector"] }] }) };
    json!({
        "if": condition,
        "then": {
            "properties": {
                "preset": { "enum": entry.presets() },
                "params": { "description": entry.summary, "properties": params(entry), "additionalProperties": false },
            },
        },
    })
}

/// The parameters of a detector.
fn params(entry: &'static Entry) -> Map<String, Value> {
    let spec = DetectorSpec::new(entry.name, None).expect("every detector has a default preset");
    let described = spec.params().iter().map(|(name, default)| {
        let mut schema = asked(&spec, name);
        schema.insert("default".to_owned(), default.clone());
        (name.clone(), Value::Object(schema))
    });
    described.collect()
}

/// What a parameter accepts: every type is tried.
fn asked(spec: &DetectorSpec, name: &str) -> Map<String, Value> {
    let error = |value: Value| {
        let mut spec = spec.clone();
        spec.set(name, value).expect("the parameter exists");
        spec.build().err()
    };
    let accepts = |value: Value| !matches!(error(value), Some(ParamError::WrongType { .. }));
    let mut types = Vec::new();
    for (kind, value) in [
        ("boolean", json!(true)),
        ("number", json!(0.5)),
        ("integer", json!(1)),
        ("array", json!([])),
        ("string", json!(NO_NAME)),
    ] {
        // A number may be whole.
        if accepts(value) && !(kind == "integer" && types.contains(&"number")) {
            types.push(kind);
        }
    }
    let mut schema = Map::new();
    if types.contains(&"array") {
        let items = [("number", json!([0.5])), ("integer", json!([1])), ("string", json!([NO_NAME]))];
        let found = items.into_iter().find(|(_, value)| accepts(value.clone()));
        schema.extend(found.map(|(kind, _)| ("items".to_owned(), json!({ "type": kind }))));
    }
    match error(json!(NO_NAME)) {
        Some(ParamError::WrongValue { reason, .. }) if types == ["string"] => {
            schema.extend(choices(&reason).map(|names| ("enum".to_owned(), json!(names))));
        }
        _ => {}
    }
    schema.insert("type".to_owned(), if let [only] = types[..] { json!(only) } else { json!(types) });
    schema
}

/// The names that serde expected: "unknown variant `?`, expected one of `largest`, `mean`, `median`".
fn choices(reason: &str) -> Option<Vec<&str>> {
    let (_, expected) = reason.strip_prefix("unknown variant")?.split_once("expected ")?;
    Some(expected.split('`').skip(1).step_by(2).collect())
}

/// Options as their defaults show them.
fn options(defaults: &impl Serialize) -> Value {
    let Ok(Value::Object(defaults)) = serde_json::to_value(defaults) else {
        unreachable!("options are a struct");
    };
    let described: Map<String, Value> = defaults
        .into_iter()
        .map(|(name, default)| {
            let mut schema = match &default {
                Value::Bool(_) => json!({ "type": "boolean" }),
                Value::Array(_) => json!({ "type": "array", "items": { "type": "string" } }),
                Value::Number(number) if number.is_u64() => json!({ "type": "integer", "minimum": 0 }),
                _ => json!({ "type": "number" }),
            };
            schema["default"] = default;
            (name, schema)
        })
        .collect();
    json!({ "type": "object", "properties": described, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knn(name: &str) -> Value {
        params(Entry::named("knn").unwrap())[name].clone()
    }

    #[test]
    fn types_choices_and_defaults_are_asked_of_the_code() {
        assert_eq!(knn("n_neighbors"), json!({ "type": "integer", "default": 5 }));
        let names = ["largest", "mean", "median"];
        assert_eq!(knn("method"), json!({ "type": "string", "enum": names, "default": "largest" }));
        let noise = params(&DETECTORS[0]);
        assert_eq!(noise["ratios"]["type"], "array");
        assert_eq!(noise["ratios"]["items"], json!({ "type": "number" }));
        assert_eq!(noise["sigma_max"], json!({ "type": "number", "default": 1.0 }));
        assert_eq!(noise["hidden"]["type"], "integer");
        assert_eq!(noise["train_for"]["type"], "string");
    }

    #[test]
    fn every_parameter_of_every_detector_has_a_type() {
        for entry in DETECTORS {
            for (name, schema) in params(entry) {
                assert!(!schema["type"].is_null() && schema["type"] != json!([]), "{}: {name}", entry.name);
            }
        }
    }
}
