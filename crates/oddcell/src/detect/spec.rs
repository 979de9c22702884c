//! A detector by name with its parameters: what a user asks for, and what a model file remembers.

use serde_json::{Map, Value};

use super::{Abilities, Detector, Entry, Fitted, Size, Tables, Training, list::into_map};
use crate::{
    error::ParamError,
    noise::Noise,
    tensors::{TensorError, Tensors},
};

/// A detector by name with its parameters.
#[derive(Debug, Clone)]
pub struct DetectorSpec {
    entry: &'static Entry,
    params: Map<String, Value>,
    choice: Choice,
}

/// Who chose the detector.
#[derive(Debug, Clone)]
enum Choice {
    /// The user, by its name.
    Named,
    /// The table will: see [`DetectorSpec::by_table`].
    ByTable,
    /// Nobody, but it is the default of tables of numbers for this reason, whatever the table.
    Because(String),
}

impl DetectorSpec {
    /// The default of the table, which [`Entry::default_of`] states. As soon as a parameter is set, it is the default of
    /// tables of numbers for every table, because parameters belong to one detector; [`DetectorSpec::note`] says so.
    #[must_use]
    pub fn by_table() -> Self {
        Self { choice: Choice::ByTable, ..Self::default_of(Tables::OfNumbers) }
    }

    /// The default of tables of numbers with the parameters of `preset`, for every table.
    pub fn preset(preset: &str) -> Result<Self, ParamError> {
        let spec = Self::new(Entry::default_of(Tables::OfNumbers).name, Some(preset))?;
        Ok(Self { choice: Choice::Because(format!("the preset `{preset}` is its own")), ..spec })
    }

    fn default_of(tables: Tables) -> Self {
        Self::new(Entry::default_of(tables).name, None).expect("every detector has a default preset")
    }

    /// The detector that judges cells, and expects something of each.
    pub(crate) fn of_cells() -> Self {
        Self::default_of(Tables::Mixed)
    }

    /// The detector for a table; `is_mixed` if any column is not a number.
    pub(crate) fn of_table(&self, is_mixed: bool) -> Self {
        match (&self.choice, is_mixed) {
            (Choice::ByTable, true) => Self::default_of(Tables::Mixed),
            (Choice::Because(_), true) => self.clone(),
            (Choice::Named, true) | (_, false) => Self { choice: Choice::Named, ..self.clone() },
        }
    }

    /// The detector for a table that is read as a stream: of the defaults, only that of tables of numbers can learn from one.
    pub(crate) fn of_stream(&self) -> Self {
        match self.choice {
            Choice::ByTable => {
                let reason = "it can learn from a stream".to_owned();
                Self { choice: Choice::Because(reason), ..self.clone() }
            }
            Choice::Named | Choice::Because(_) => self.clone(),
        }
    }

    /// What to tell a user who did not name the detector, if the table has another default: of a fitted model's or
    /// detection's spec.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let Choice::Because(reason) = &self.choice else { return None };
        let default = Entry::default_of(Tables::Mixed).name;
        Some(format!(
            "the detector is `{}` because {reason}; the default for this table is `{default}`",
            self.entry.name
        ))
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
        Ok(Self { entry, params: into_map(params), choice: Choice::Named })
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
                if let Choice::ByTable = self.choice {
                    self.choice = Choice::Because(format!("its parameter `{name}` is set"));
                }
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
    #[doc(hidden)]
    pub fn shorten(&mut self) {
        if let Training::InSteps { short, .. } = self.entry.abilities.training {
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
        Ok(Self { entry: self.entry, params: into_map(params), choice: self.choice.clone() })
    }

    /// A rough estimate of the seconds of fitting and scoring on one core, with these parameters.
    pub fn seconds(&self, size: Size) -> Result<f64, ParamError> {
        (self.entry.seconds)(self.value(), size)
    }

    /// What the detector can do with these parameters.
    pub fn abilities(&self) -> Result<Abilities, ParamError> {
        (self.entry.abilities_with)(self.value())
    }

    /// The noise that it trains with, if it adds noise of known strength to rows.
    #[doc(hidden)]
    #[must_use]
    pub fn noise(&self) -> Option<Noise> {
        (self.entry.noise)(self.value())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn named(spec: &DetectorSpec) -> (&'static str, Option<String>) {
        (spec.entry().name, spec.note())
    }

    #[test]
    fn a_parameter_keeps_the_table_from_deciding_and_a_note_says_so() {
        let mut spec = DetectorSpec::by_table();
        assert_eq!(named(&spec.of_table(false)), ("noise", None));
        assert_eq!(named(&spec.of_table(true)), ("columns", None));
        spec.set_text("keep_rows", "0").unwrap();
        spec.set_text("sigma_max", "2").unwrap();
        assert_eq!(named(&spec.of_table(false)), ("noise", None));
        let note = "the detector is `noise` because its parameter `keep_rows` is set; the default for this table is `columns`";
        assert_eq!(named(&spec.of_table(true)), ("noise", Some(note.to_owned())));
        assert_eq!(spec.for_one_table().unwrap().of_table(true).note().as_deref(), Some(note));
    }

    #[test]
    fn a_preset_and_a_stream_keep_the_table_from_deciding_too() {
        let note = |spec: DetectorSpec| {
            assert_eq!(named(&spec.of_table(false)), ("noise", None));
            named(&spec.of_table(true)).1.unwrap_or_default()
        };
        assert!(
            note(DetectorSpec::preset("fast").unwrap()).contains("because the preset `fast` is its own;")
        );
        assert!(note(DetectorSpec::by_table().of_stream()).contains("because it can learn from a stream;"));
        assert_eq!(DetectorSpec::by_table().of_stream().params(), DetectorSpec::by_table().params());
    }

    #[test]
    fn whoever_names_the_detector_needs_no_note() {
        let mut spec = DetectorSpec::new("noise", Some("fast")).unwrap();
        spec.set_text("keep_rows", "7").unwrap();
        assert_eq!(named(&spec.of_stream().of_table(true)), ("noise", None));
    }
}
