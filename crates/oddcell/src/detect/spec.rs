//! A detector by name with its parameters: what a user asks for, and what a model file remembers.

use serde_json::{Map, Value};

use super::{Abilities, Detector, Entry, Fitted, Size, Training, list::into_map};
use crate::{
    error::ParamError,
    tensors::{TensorError, Tensors},
};

/// A detector by name with its parameters.
#[derive(Debug, Clone)]
pub struct DetectorSpec {
    entry: &'static Entry,
    params: Map<String, Value>,
    /// Whether the table may decide: see [`DetectorSpec::by_table`].
    by_table: bool,
}

/// The default detector of tables with names, dates or text.
const MIXED: &str = "columns";

impl DetectorSpec {
    /// The default: the first detector of the list for a table of numbers, `columns` for any other table. As soon as a
    /// parameter is set, it is the first detector for every table.
    ///
    /// # Panics
    /// Never: both detectors are on the list.
    #[must_use]
    pub fn by_table() -> Self {
        let first = Self::new(super::DETECTORS[0].name, None).expect("the first of the list");
        Self { by_table: true, ..first }
    }

    /// The detector for a table; `is_mixed` if any column is not a number.
    pub(crate) fn of_table(&self, is_mixed: bool) -> Self {
        if self.by_table && is_mixed {
            return Self::new(MIXED, None).expect("on the list");
        }
        Self { by_table: false, ..self.clone() }
    }

    /// The detector `name` with the parameters of `preset` (`None`: its default preset).
    pub fn new(name: &str, preset: Option<&str>) -> Result<Self, ParamError> {
        let entry = Entry::named(name)?;
        let preset = preset.unwrap_or(entry.presets()[0]);
        let params = (entry.preset)(preset).ok_or_else(|| ParamError::UnknownPreset {
            detector: entry.name,
            name: preset.to_owned(),
            known: entry.presets().join(", "),
        })?;
        Ok(Self { entry, params: into_map(params), by_table: false })
    }

    /// The detector `name` with exactly these parameters, as [`DetectorSpec::params`] gave them.
    pub fn from_params(name: &str, params: Map<String, Value>) -> Result<Self, ParamError> {
        let mut spec = Self::new(name, None)?;
        for (key, value) in params {
            spec.set(&key, value)?;
        }
        Ok(spec)
    }

    /// Replaces one parameter. [`DetectorSpec::build`] checks types and ranges.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), ParamError> {
        match self.params.get_mut(name) {
            Some(old) => {
                *old = value;
                self.by_table = false;
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

    /// Makes training short where the method trains in steps: see [`Training::InSteps`].
    ///
    /// # Panics
    /// If the entry names a parameter the method does not have. The conformance tests rule this out.
    pub fn shorten(&mut self) {
        if let Training::InSteps { short } = self.entry.abilities.training {
            for (name, value) in short {
                self.set_text(name, value).expect("the entry names its own parameters");
            }
        }
    }

    /// The detector's entry in the list.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// All parameters with their values.
    #[must_use]
    pub fn params(&self) -> &Map<String, Value> {
        &self.params
    }

    /// The same for a table that is judged by itself, where some of the rows learned from are odd. Only parameters that
    /// the user left open change.
    pub fn for_one_table(&self) -> Result<Self, ParamError> {
        let params = (self.entry.for_one_table)(self.value())?;
        Ok(Self { entry: self.entry, params: into_map(params), by_table: self.by_table })
    }

    /// A rough estimate of the seconds of fitting and scoring on one core, with these parameters.
    pub fn seconds(&self, size: Size) -> Result<f64, ParamError> {
        (self.entry.seconds)(self.value(), size)
    }

    /// What the detector can do with these parameters.
    pub fn abilities(&self) -> Result<Abilities, ParamError> {
        (self.entry.abilities_with)(self.value())
    }

    /// The detector, if every parameter is valid.
    pub fn build(&self) -> Result<Box<dyn Detector>, ParamError> {
        (self.entry.build)(self.value())
    }

    /// The fitted detector that `tensors` were saved from.
    #[doc(hidden)]
    pub fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        (self.entry.load)(self.value(), tensors)
    }

    fn value(&self) -> Value {
        Value::Object(self.params.clone())
    }
}
