//! Keyword arguments become the library's options; the library's defaults become Python's.

use oddcell::{
    DetectorSpec,
    detect::DETECTORS,
    encode::EncodeOptions,
    error::ParamError,
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

/// Stands before the options that say which rows train and calibrate, as `fit.` does on the command line; detectors
/// have parameters of the same names.
const SPLIT_PREFIX: &str = "fit_";

/// The one list of detectors: name, summary, presets, and the parameters with their defaults.
#[pyfunction]
pub(crate) fn detectors(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let described = |entry: &oddcell::detect::Entry| {
        let spec = DetectorSpec::new(entry.name, None).map_err(raised)?;
        let described = PyDict::new(py);
        described.set_item("name", entry.name)?;
        described.set_item("summary", entry.summary)?;
        described.set_item("presets", entry.presets.to_vec())?;
        described.set_item("params", dict(py, spec.params())?)?;
        Ok(described)
    };
    DETECTORS.iter().map(described).collect()
}

/// The parameters of a preset.
#[pyfunction]
pub(crate) fn preset<'py>(py: Python<'py>, detector: &str, name: &str) -> PyResult<Bound<'py, PyDict>> {
    dict(py, DetectorSpec::new(detector, Some(name)).map_err(raised)?.params())
}

/// What is around every detector, with the defaults: how columns become features, which rows train and calibrate.
#[pyfunction]
pub(crate) fn default_options(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    options_dict(py, &EncodeOptions::default(), SplitOptions::default())
}

/// The options around a detector under their names in Python.
pub(crate) fn options_dict<'py>(
    py: Python<'py>,
    encode: &EncodeOptions,
    split: SplitOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let mut all = fields(encode);
    all.extend(fields(&split).into_iter().map(|(name, value)| (format!("{SPLIT_PREFIX}{name}"), value)));
    dict(py, &all)
}

/// What to learn with, as Python gathers it: a dict of these.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Learning<'py> {
    /// The detector's name.
    detector: String,
    /// Its parameters.
    params: Bound<'py, PyDict>,
    /// What is around it, by the names of `default_options`.
    options: Bound<'py, PyDict>,
    /// Columns to read as names.
    pub(crate) categorical: Vec<String>,
    /// The seed.
    pub(crate) seed: u64,
}

impl Learning<'_> {
    /// The library's options, all of them checked.
    pub(crate) fn fit_options(&self) -> PyResult<FitOptions> {
        fit_options(&self.detector, &self.params, &self.options)
    }
}

fn fit_options(
    detector: &str,
    params: &Bound<'_, PyDict>,
    options: &Bound<'_, PyDict>,
) -> PyResult<FitOptions> {
    let mut spec = DetectorSpec::new(detector, None).map_err(raised)?;
    for (name, value) in params {
        let name: String = name.extract()?;
        spec.set(&name, from_python(&name, &value)?).map_err(raised)?;
    }
    let mut fit = FitOptions::new(spec);
    let (mut encode, mut split) = (fields(&fit.encode), fields(&fit.split));
    for (name, value) in options {
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

/// Plain data as names and values.
fn fields(options: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(map)) => map,
        other => unreachable!("options are plain data: {other:?}"),
    }
}

/// The options with these values, each of which must have the right type.
fn checked<T: Serialize + DeserializeOwned + Default>(values: Map<String, Value>) -> PyResult<T> {
    for (name, value) in &values {
        let mut one = fields(&T::default());
        one.insert(name.clone(), value.clone());
        if let Err(error) = serde_json::from_value::<T>(Value::Object(one)) {
            let reason = oddcell::error::in_plain_words(&error.to_string());
            return Err(PyTypeError::new_err(format!("parameter `{name}`: {reason}")));
        }
    }
    serde_json::from_value(Value::Object(values)).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// Which rows are called odd: one of four rules, or `default`.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RuleChoice {
    alpha: Option<f64>,
    fdr: Option<f64>,
    n_odd: Option<usize>,
    contamination: Option<f64>,
}

/// On the command line it is called otherwise; here a detector's `train_for` is how long to train.
fn called_n_odd(error: ParamError) -> ParamError {
    match error {
        ParamError::OutOfRange { got, allowed, .. } => ParamError::OutOfRange { name: "n_odd", got, allowed },
        other => other,
    }
}

impl RuleChoice {
    pub(crate) fn rule(&self, default: Rule) -> PyResult<Rule> {
        let asked = [
            self.alpha.map(Rule::alpha),
            self.fdr.map(Rule::fdr),
            self.n_odd.map(|rows| Rule::top(rows).map_err(called_n_odd)),
            self.contamination.map(Rule::contamination),
        ];
        let mut asked = asked.into_iter().flatten();
        match (asked.next(), asked.next()) {
            (None, _) => Ok(default),
            (Some(rule), None) => rule.map_err(raised),
            (Some(_), Some(_)) => {
                Err(PyTypeError::new_err("alpha, fdr, n_odd and contamination exclude each other; give one"))
            }
        }
    }
}
