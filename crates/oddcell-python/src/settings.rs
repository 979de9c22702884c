//! Converts keyword arguments to the library's options, and the library's defaults to Python values.

use oddcell::{
    DetectorSpec,
    detect::DETECTORS,
    encode::EncodeOptions,
    error::with_causes,
    model::{FitOptions, SplitOptions},
    verdict::Rule,
};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyDict};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    errors::raised,
    values::{dict, from_python},
};

/// Prefix of the options that choose the rows to train and calibrate on, like `fit.` on the command line. Without it,
/// some would have the same name as a detector's parameter.
const SPLIT_PREFIX: &str = "fit_";

/// All detectors: their names, summaries, presets, and parameters with defaults.
#[pyfunction]
pub(crate) fn detectors(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let described = |entry: &oddcell::detect::Entry| {
        let spec = DetectorSpec::new(entry.name, None).map_err(raised)?;
        let described = PyDict::new(py);
        described.set_item("name", entry.name)?;
        described.set_item("summary", entry.summary)?;
        described.set_item("presets", entry.presets())?;
        described.set_item("params", dict(py, spec.params())?)?;
        Ok(described)
    };
    DETECTORS.iter().map(described).collect()
}

/// The parameters of a preset; without a detector, of the default of tables of numbers.
#[pyfunction]
#[pyo3(signature = (detector, name))]
pub(crate) fn preset<'py>(
    py: Python<'py>,
    detector: Option<&str>,
    name: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = match detector {
        None => DetectorSpec::preset(name),
        Some(detector) => DetectorSpec::new(detector, Some(name)),
    };
    dict(py, spec.map_err(raised)?.params())
}

/// The options that all detectors share, with their defaults: how columns become features, and which rows train and
/// calibrate.
#[pyfunction]
pub(crate) fn default_options(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    options_dict(py, &EncodeOptions::default(), SplitOptions::default())
}

/// The options that all detectors share, by their names in Python.
pub(crate) fn options_dict<'py>(
    py: Python<'py>,
    encode: &EncodeOptions,
    split: SplitOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let mut all = fields(encode);
    all.extend(fields(&split).into_iter().map(|(name, value)| (format!("{SPLIT_PREFIX}{name}"), value)));
    dict(py, &all)
}

/// How to learn; a dict with these keys in Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Learning<'py> {
    /// The detector's name; `None`: the table decides.
    detector: Option<String>,
    /// Its parameters.
    params: Bound<'py, PyDict>,
    /// The options of `default_options`, by name.
    options: Bound<'py, PyDict>,
    /// Columns to treat as categories.
    pub(crate) categorical: Vec<String>,
    /// The seed.
    pub(crate) seed: u64,
}

impl Learning<'_> {
    /// The library's options, checked.
    pub(crate) fn fit_options(&self) -> PyResult<FitOptions> {
        self.options(FitOptions::new(DetectorSpec::by_table()))
    }

    /// The library's options to judge every cell, checked.
    pub(crate) fn cell_options(&self) -> PyResult<FitOptions> {
        self.options(FitOptions::for_cells())
    }

    /// These options, with those that were given.
    fn options(&self, mut fit: FitOptions) -> PyResult<FitOptions> {
        let mut spec = match &self.detector {
            None => fit.detector,
            Some(name) => DetectorSpec::new(name, None).map_err(raised)?,
        };
        for (name, value) in &self.params {
            let name: String = name.extract()?;
            spec.set(&name, from_python(&name, &value)?).map_err(raised)?;
        }
        fit.detector = spec;
        let (mut encode, mut split) = (fields(&fit.encode), fields(&fit.split));
        for (name, value) in &self.options {
            let name: String = name.extract()?;
            let value = from_python(&name, &value)?;
            let old = match name.strip_prefix(SPLIT_PREFIX) {
                Some(name) => split.get_mut(name),
                None => encode.get_mut(&name),
            };
            *old.ok_or_else(|| PyTypeError::new_err(format!("there is no option `{name}`")))? = value;
        }
        fit.encode = checked(encode)?;
        fit.split = checked(split)?;
        fit.validate().map_err(raised)?;
        fit.detector.build().map_err(raised)?;
        Ok(fit)
    }
}

/// The fields of plain data, by name.
fn fields(options: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(map)) => map,
        other => unreachable!("options are plain data: {other:?}"),
    }
}

/// The options with these values. Checks each value alone, so that an error can name it.
fn checked<T: Serialize + DeserializeOwned + Default>(values: Map<String, Value>) -> PyResult<T> {
    for (name, value) in &values {
        let mut one = fields(&T::default());
        one.insert(name.clone(), value.clone());
        if let Err(error) = serde_json::from_value::<T>(Value::Object(one)) {
            return Err(PyTypeError::new_err(format!("parameter `{name}`: {}", with_causes(&error))));
        }
    }
    serde_json::from_value(Value::Object(values)).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// Which rows are odd: at most one of four rules; a dict with these keys in Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RuleChoice {
    alpha: Option<f64>,
    fdr: Option<f64>,
    top: Option<usize>,
    contamination: Option<f64>,
}

impl RuleChoice {
    /// The rule, or `default` if none was given.
    pub(crate) fn rule(&self, default: Rule) -> PyResult<Rule> {
        let asked = [
            self.alpha.map(Rule::alpha),
            self.fdr.map(Rule::fdr),
            self.top.map(Rule::top),
            self.contamination.map(Rule::contamination),
        ];
        let mut asked = asked.into_iter().flatten();
        match (asked.next(), asked.next()) {
            (None, _) => Ok(default),
            (Some(rule), None) => rule.map_err(raised),
            (Some(_), Some(_)) => {
                Err(PyTypeError::new_err("alpha, fdr, top and contamination exclude each other; give one"))
            }
        }
    }
}
