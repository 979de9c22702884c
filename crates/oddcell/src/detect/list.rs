//! The one list of detectors. The command line, Python, the laboratory, the docs and the conformance tests all
//! walk [`DETECTORS`]; a detector that stands in it is available everywhere.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    Detector, Fitted, ae::AeParams, anogan::AnoGanParams, copod::CopodParams, deepsvdd::DeepSvddParams,
    dpad::DpadParams, ecod::EcodParams, iforest::IforestParams, knn::KnnParams, lof::LofParams,
    neutralad::NeuTralAdParams, noise::NoiseParams, plad::PladParams, scad::ScadParams,
};
use crate::{error::ParamError, tensors::TensorError, tensors::Tensors};

/// Every detector there is.
pub static DETECTORS: &[Entry] = &[
    Entry::of::<NoiseParams>(),
    Entry::of::<KnnParams>(),
    Entry::of::<LofParams>(),
    Entry::of::<IforestParams>(),
    Entry::of::<CopodParams>(),
    Entry::of::<EcodParams>(),
    Entry::of::<AeParams>(),
    Entry::of::<DeepSvddParams>(),
    Entry::of::<AnoGanParams>(),
    Entry::of::<ScadParams>(),
    Entry::of::<NeuTralAdParams>(),
    Entry::of::<PladParams>(),
    Entry::of::<DpadParams>(),
];

/// The parameters of one method: plain data, defaults in one place, one fallible `build`.
///
/// Implement it with `#[derive(Debug, Clone, Serialize, Deserialize)]` and
/// `#[serde(default, deny_unknown_fields)]`, so that a typo in a config file is an error.
pub trait Params: Serialize + DeserializeOwned + 'static {
    /// The name on the command line, in model files and in result tables.
    const NAME: &'static str;
    /// What it does, in one line.
    const SUMMARY: &'static str;
    /// The names [`Params::preset`] knows, the default first.
    const PRESETS: &'static [&'static str] = &["default"];

    /// The parameters of a preset, or `None` if there is none of that name.
    fn preset(name: &str) -> Option<Self>;

    /// The parameters for a table that is judged by itself, where some of the rows learned from are odd: what the user left
    /// open may be decided otherwise there.
    #[must_use]
    fn for_one_table(self) -> Self {
        self
    }

    /// Checks every range and gives the detector: having one proves its parameters are valid.
    fn build(self) -> Result<Box<dyn Detector>, ParamError>;

    /// Restores what [`Fitted::save`] gave, checking every shape and value.
    fn load(self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError>;
}

type Build = fn(Value) -> Result<Box<dyn Detector>, ParamError>;
type Load = fn(Value, &mut Tensors) -> Result<Box<dyn Fitted>, TensorError>;

/// One line of the list: a method with its parameter type hidden behind JSON values.
#[derive(Debug)]
pub struct Entry {
    /// The name on the command line, in model files and in result tables.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The presets it has, the default first.
    pub presets: &'static [&'static str],
    preset: fn(&str) -> Option<Value>,
    for_one_table: fn(Value) -> Result<Value, ParamError>,
    build: Build,
    load: Load,
}

impl Entry {
    /// The line for a method.
    #[must_use]
    pub const fn of<P: Params>() -> Self {
        Self {
            name: P::NAME,
            summary: P::SUMMARY,
            presets: P::PRESETS,
            preset: |name| P::preset(name).map(to_value),
            for_one_table: |value| Ok(to_value(from_value::<P>(value)?.for_one_table())),
            build: |value| from_value::<P>(value)?.build(),
            load: |value, tensors| {
                let invalid = |error: ParamError| TensorError::Invalid {
                    name: "parameters".to_owned(),
                    reason: error.to_string(),
                };
                let params = from_value::<P>(value).map_err(invalid)?;
                params.load(tensors)
            },
        }
    }

    /// The entry of that name.
    pub fn named(name: &str) -> Result<&'static Entry, ParamError> {
        DETECTORS.iter().find(|entry| entry.name == name).ok_or_else(|| ParamError::UnknownDetector {
            name: name.to_owned(),
            known: DETECTORS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
        })
    }
}

/// A detector by name with its parameters: what a user asks for, and what a model file remembers.
#[derive(Debug, Clone)]
pub struct DetectorSpec {
    entry: &'static Entry,
    params: Map<String, Value>,
}

impl DetectorSpec {
    /// The detector `name` with the parameters of `preset` (`None`: its default preset).
    pub fn new(name: &str, preset: Option<&str>) -> Result<Self, ParamError> {
        let entry = Entry::named(name)?;
        let preset = preset.unwrap_or(entry.presets[0]);
        let params = (entry.preset)(preset).ok_or_else(|| ParamError::UnknownPreset {
            detector: entry.name,
            name: preset.to_owned(),
            known: entry.presets.join(", "),
        })?;
        Ok(Self { entry, params: into_map(params) })
    }

    /// The detector `name` with exactly these parameters, as [`DetectorSpec::params`] gave them.
    pub fn from_params(name: &str, params: Map<String, Value>) -> Result<Self, ParamError> {
        let mut spec = Self::new(name, None)?;
        for (key, value) in params {
            spec.set(&key, value)?;
        }
        Ok(spec)
    }

    /// Replaces one parameter. Types and ranges are checked by [`DetectorSpec::build`].
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), ParamError> {
        match self.params.get_mut(name) {
            Some(old) => {
                *old = value;
                Ok(())
            }
            None => Err(ParamError::UnknownParameter {
                detector: self.entry.name,
                name: name.to_owned(),
                known: self.params.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// Replaces one parameter by a value written as text: `3`, `0.5`, `true`, `[0.5, 1]`, `null`, or a word.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        self.set(name, value)
    }

    /// The detector's line in the list.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// All parameters with their values.
    #[must_use]
    pub fn params(&self) -> &Map<String, Value> {
        &self.params
    }

    /// The same for a table that is judged by itself: see [`Params::for_one_table`].
    pub fn for_one_table(&self) -> Result<Self, ParamError> {
        let params = (self.entry.for_one_table)(Value::Object(self.params.clone()))?;
        Ok(Self { entry: self.entry, params: into_map(params) })
    }

    /// The detector, if every parameter is valid.
    pub fn build(&self) -> Result<Box<dyn Detector>, ParamError> {
        (self.entry.build)(Value::Object(self.params.clone()))
    }

    /// The fitted detector that `tensors` were saved from.
    pub fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        (self.entry.load)(Value::Object(self.params.clone()), tensors)
    }
}

fn to_value<P: Params>(params: P) -> Value {
    serde_json::to_value(params).expect("parameters are plain data")
}

fn into_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => unreachable!("parameters are a struct, not {other}"),
    }
}

/// Deserialises parameters one by one on top of the defaults, so that an error can name the parameter.
fn from_value<P: Params>(value: Value) -> Result<P, ParamError> {
    let defaults = into_map(to_value(P::preset(P::PRESETS[0]).expect("the first preset exists")));
    for (name, value) in into_map(value.clone()) {
        let mut one = defaults.clone();
        one.insert(name.clone(), value);
        if let Err(error) = serde_json::from_value::<P>(Value::Object(one)) {
            return Err(ParamError::WrongType { detector: P::NAME, name, reason: error.to_string() });
        }
    }
    serde_json::from_value(value).map_err(|error| ParamError::WrongType {
        detector: P::NAME,
        name: "(all)".to_owned(),
        reason: error.to_string(),
    })
}
