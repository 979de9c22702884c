//! The one list of detectors. The command line, Python, the laboratory, the docs and the conformance tests
//! all walk [`DETECTORS`]; a detector on the list is available everywhere.

use serde_json::{Map, Value};

use super::{
    Abilities, Detector, Fitted, Params, Size, ae::AeParams, anogan::AnoGanParams, columns::ColumnsParams,
    coordinates::OfCoordinates, copod::CopodParams, deepsvdd::DeepSvddParams, dpad::DpadParams,
    dte_np::DteNpParams, ecod::EcodParams, hbos::HbosParams, iforest::IforestParams, knn::KnnParams,
    lof::LofParams, mcd::McdParams, neutralad::NeuTralAdParams, noise::NoiseParams, plad::PladParams, saved,
    scad::ScadParams,
};
use crate::{
    error::ParamError,
    noise::Noise,
    tensors::{TensorError, Tensors},
};

/// All detectors.
pub static DETECTORS: &[Entry] = &[
    Entry::of::<NoiseParams>().default_for(Tables::OfNumbers),
    Entry::of::<KnnParams>(),
    Entry::of::<DteNpParams>(),
    Entry::of::<LofParams>(),
    Entry::of::<IforestParams>(),
    Entry::of::<ColumnsParams>().default_for(Tables::Mixed),
    Entry::of::<CopodParams>(),
    Entry::of::<EcodParams>(),
    Entry::of::<HbosParams>(),
    Entry::of::<McdParams>(),
    Entry::of::<AeParams>(),
    Entry::of::<DeepSvddParams>(),
    Entry::of::<AnoGanParams>(),
    Entry::of::<ScadParams>(),
    Entry::of::<NeuTralAdParams>(),
    Entry::of::<PladParams>(),
    Entry::of::<DpadParams>(),
];

/// The two sorts of tables, each with its default detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// Every column is a number.
    OfNumbers,
    /// Any column is not: names, dates, text.
    Mixed,
}

/// One detector on the list: what it can do, and its functions with the parameter type hidden behind JSON
/// values.
#[derive(Debug)]
pub struct Entry {
    /// The name on the command line, in model files and in result tables.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it can do, with its default parameters.
    pub abilities: Abilities,
    /// The tables that it is the default of.
    pub default_of: Option<Tables>,
    preset_names: fn() -> Vec<&'static str>,
    pub(super) preset: fn(&str) -> Option<Value>,
    pub(super) for_one_table: fn(Value) -> Result<Value, ParamError>,
    pub(super) seconds: fn(Value, Size) -> Result<f64, ParamError>,
    pub(super) abilities_with: fn(Value) -> Result<Abilities, ParamError>,
    pub(super) noise: fn(Value) -> Option<Noise>,
    pub(super) build: fn(Value) -> Result<Box<dyn Detector>, ParamError>,
    pub(super) load: Load,
}

type Load = fn(Value, &mut Tensors) -> Result<Box<dyn Fitted>, TensorError>;

impl Entry {
    /// The entry of a method.
    const fn of<P: Params>() -> Self {
        Self {
            name: P::NAME,
            summary: P::SUMMARY,
            abilities: P::ABILITIES,
            default_of: None,
            preset_names: || P::PRESETS.iter().map(|(name, _)| *name).collect(),
            preset: |name| {
                P::PRESETS.iter().find(|preset| preset.0 == name).map(|preset| to_value(preset.1()))
            },
            for_one_table: |value| Ok(to_value(from_value::<P>(value)?.for_one_table())),
            seconds: |value, size| Ok(from_value::<P>(value)?.seconds(size)),
            abilities_with: |value| Ok(from_value::<P>(value)?.abilities()),
            noise: |value| from_value::<P>(value).ok()?.noise(),
            build: |value| from_value::<P>(value)?.build(),
            load: |value, tensors| {
                let params = from_value::<P>(value).and_then(|params| params.check().map(|()| params));
                let params = params.map_err(|error| saved::invalid("parameters", &error))?;
                match OfCoordinates::take(tensors)? {
                    None => params.load(tensors),
                    Some(kept) => Ok(Box::new(OfCoordinates::of(params.load(tensors)?, kept)?)),
                }
            },
        }
    }

    const fn default_for(self, tables: Tables) -> Self {
        Self { default_of: Some(tables), ..self }
    }

    /// The default of these tables.
    ///
    /// # Panics
    /// Never: there is one.
    #[must_use]
    pub fn default_of(tables: Tables) -> &'static Entry {
        let is_default = |entry: &&Entry| entry.default_of == Some(tables);
        DETECTORS.iter().find(is_default).expect("tables of either sort have a default")
    }

    /// The names of its presets, the default first.
    #[must_use]
    pub fn presets(&self) -> Vec<&'static str> {
        (self.preset_names)()
    }

    /// The entry of that name.
    pub fn named(name: &str) -> Result<&'static Entry, ParamError> {
        DETECTORS.iter().find(|entry| entry.name == name).ok_or_else(|| ParamError::UnknownDetector {
            name: name.to_owned(),
            known: DETECTORS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
        })
    }
}

fn to_value<P: Params>(params: P) -> Value {
    serde_json::to_value(params).expect("parameters are plain data")
}

/// The parameters as a map.
pub(super) fn into_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => unreachable!("parameters are a struct, not {other}"),
    }
}

/// Deserializes parameters one by one on top of the defaults, so that an error can name the parameter.
fn from_value<P: Params>(value: Value) -> Result<P, ParamError> {
    let defaults = into_map(to_value(P::default()));
    for (name, value) in into_map(value.clone()) {
        let mut one = defaults.clone();
        one.insert(name.clone(), value);
        if let Err(error) = serde_json::from_value::<P>(Value::Object(one)) {
            return Err(not_read(P::NAME, name, &error));
        }
    }
    serde_json::from_value(value).map_err(|error| not_read(P::NAME, "(all)".to_owned(), &error))
}

fn not_read(detector: &'static str, name: String, error: &serde_json::Error) -> ParamError {
    let reason = error.to_string();
    // serde tells a wrong type from a wrong value only in its message.
    if reason.starts_with("invalid type") {
        ParamError::WrongType { detector, name, reason }
    } else {
        ParamError::WrongValue { detector, name, reason }
    }
}
