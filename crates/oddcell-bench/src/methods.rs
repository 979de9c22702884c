//! From a method's name to a detector with its parameters, and from `--vary` to variants of it.
//!
//! A method is a detector of the library under its own name, with the preset `paper` if it has one, since the
//! laboratory compares with published results. Noise evaluation comes five times: `noise` is its default
//! preset, `noise-fast` and `noise-best` are the presets of those names, `noise-paper-mlp` and
//! `noise-paper-resmlp` are the paper's two nets.

use std::collections::BTreeMap;

use oddcell::{
    DetectorSpec,
    detect::{Abilities, CellUnit, DETECTORS, Entry, Size},
    error::ParamError,
};
use serde_json::Value;

use crate::{LabError, variants};

/// Our own method: the name of its default preset.
pub const OURS: &str = "noise";
/// Its other presets that are methods: `noise-fast`, `noise-best`.
const PRESETS: [&str; 2] = ["fast", "best"];
/// The names of the paper's own settings begin with this, followed by the net.
pub const PAPER: &str = "noise-paper-";
const PAPER_NETS: [&str; 2] = ["mlp", "resmlp"];

/// The detectors that our cells are compared with: they judge every cell by its column alone.
pub fn by_columns() -> impl Iterator<Item = &'static str> {
    let alone = |entry: &&Entry| entry.abilities.cells == Some(CellUnit::Surprise);
    DETECTORS.iter().filter(alone).map(|entry| entry.name)
}

/// How far a cell is from its column's mean, in standard deviations: the reference for odd cells. It is not a
/// detector.
pub const ABS_Z: &str = "abs-z";

/// A detector with its parameters, under the name it has in results.
#[derive(Debug, Clone)]
pub struct Method {
    /// The name in results.
    pub name: String,
    /// How it differs from the method's own parameters: `sigma_max=0.5; noise=laplace`; empty if it does not.
    pub variant: String,
    /// The detector; `None` stands for [`ABS_Z`].
    pub spec: Option<DetectorSpec>,
}

/// Names of all methods.
#[must_use]
pub fn names() -> Vec<String> {
    let ours = [OURS.to_owned()]
        .into_iter()
        .chain(PRESETS.map(|preset| format!("{OURS}-{preset}")))
        .chain(PAPER_NETS.map(|net| format!("{PAPER}{net}")));
    let others = DETECTORS.iter().map(|entry| entry.name).filter(|&name| name != OURS);
    ours.chain(others.map(str::to_owned)).collect()
}

impl Method {
    /// The method of that name.
    pub fn named(name: &str) -> Result<Self, LabError> {
        if !names().iter().any(|known| known == name) {
            let known = names().join(", ");
            return Err(LabError::Unknown { what: "method", name: name.to_owned(), known });
        }
        let wrong = |source| LabError::Param { method: name.to_owned(), source };
        let preset = PRESETS.into_iter().find(|preset| name == format!("{OURS}-{preset}"));
        let spec = match (name.strip_prefix(PAPER), preset) {
            (_, Some(preset)) => DetectorSpec::new(OURS, Some(preset)),
            (Some(net), None) => DetectorSpec::new(OURS, Some("paper")).and_then(|mut spec| {
                spec.set_text("net", net)?;
                Ok(spec)
            }),
            (None, None) => DetectorSpec::new(name, published_preset(name)),
        };
        Ok(Self { name: name.to_owned(), variant: String::new(), spec: Some(spec.map_err(wrong)?) })
    }

    /// The reference for odd cells.
    #[must_use]
    pub fn abs_z() -> Self {
        Self { name: ABS_Z.to_owned(), variant: String::new(), spec: None }
    }

    /// The name with the variant.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} {}", self.name, self.variant).trim_end().to_owned()
    }

    /// Whether it can say which cells are odd.
    #[must_use]
    pub fn knows_cells(&self) -> bool {
        self.spec.as_ref().is_none_or(|spec| spec.entry().abilities.cells.is_some())
    }

    /// A rough estimate of the seconds of a run on one core; 0 for the reference. It orders runs and predicts how
    /// long they take until something better is known; results never depend on it.
    #[must_use]
    pub fn seconds(&self, size: Size) -> f64 {
        // Parameters that no detector accepts fail when the run begins.
        self.spec.as_ref().and_then(|spec| spec.seconds(size).ok()).unwrap_or(0.0)
    }

    /// What it can do; `None` for the reference, and for parameters that no detector accepts.
    #[must_use]
    pub fn abilities(&self) -> Option<Abilities> {
        self.spec.as_ref()?.abilities().ok()
    }

    /// The detector's name.
    #[must_use]
    pub fn detector(&self) -> Option<&'static str> {
        Some(self.spec.as_ref()?.entry().name)
    }

    /// All parameters as JSON, in the order of their names; empty for the reference.
    #[must_use]
    pub fn params(&self) -> String {
        let Some(spec) = &self.spec else { return String::new() };
        let sorted: BTreeMap<String, Value> = spec.params().clone().into_iter().collect();
        Value::Object(sorted.into_iter().collect()).to_string()
    }

    fn has(&self, key: &str) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.params().contains_key(key))
    }

    /// The method with every combination of the values to vary, as far as it has the parameters. Its own
    /// values are among them only if they are listed. A method with none of the parameters is returned alone.
    pub fn variants(&self, vary: &[Vary]) -> Result<Vec<Self>, LabError> {
        let mut methods = vec![self.clone()];
        for vary in vary.iter().filter(|vary| self.has(&vary.key)) {
            let mut next = Vec::new();
            for method in &methods {
                for value in &vary.values {
                    next.push(method.with(&vary.key, value)?);
                }
            }
            methods = next;
        }
        Ok(methods)
    }

    /// The method with one more parameter changed.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, LabError> {
        let wrong = |source: ParamError| LabError::Param { method: self.name.clone(), source };
        if variants::settings(&self.variant).iter().any(|(varied, _)| *varied == key) {
            let reason = format!("`{key}` is varied already, in `{}`", self.variant);
            return Err(LabError::Vary { text: format!("{key}={value}"), reason });
        }
        let mut method = self.noted(key, value);
        if let Some(spec) = &mut method.spec {
            spec.set_text(key, value).map_err(wrong)?;
            spec.build().map_err(wrong)?;
        }
        Ok(method)
    }

    /// The method for rows that are judged by each other.
    pub fn for_one_table(&self) -> Result<Self, LabError> {
        let wrong = |source| LabError::Param { method: self.name.clone(), source };
        let spec = self.spec.as_ref().map(DetectorSpec::for_one_table).transpose().map_err(wrong)?;
        Ok(Self { spec, ..self.clone() })
    }

    /// The method under the name of a variant that differs outside of its parameters.
    #[must_use]
    pub fn noted(&self, key: &str, value: &str) -> Self {
        let separator = if self.variant.is_empty() { "" } else { "; " };
        Self { variant: format!("{}{separator}{key}={value}", self.variant), ..self.clone() }
    }
}

/// The preset to compare with: the published one. `noise` is the exception: there it is the one we recommend.
fn published_preset(name: &str) -> Option<&'static str> {
    let entry = Entry::named(name).ok()?;
    entry.presets().into_iter().find(|&preset| preset == "paper" && name != OURS)
}

/// A parameter and the values to try: `sigma_max=0.5|1|2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vary {
    key: String,
    values: Vec<String>,
}

impl Vary {
    /// Reads `KEY=VALUE|VALUE|…`; values are written as with `--set`.
    pub fn parse(text: &str) -> Result<Self, LabError> {
        let wrong = |reason: &str| LabError::Vary { text: text.to_owned(), reason: reason.to_owned() };
        let (key, values) = text.split_once('=').ok_or_else(|| wrong("expected KEY=VALUE|VALUE|..."))?;
        let values: Vec<String> = values.split('|').map(|value| value.trim().to_owned()).collect();
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(wrong("expected KEY=VALUE|VALUE|..., without empty parts"));
        }
        Ok(Self { key: key.trim().to_owned(), values })
    }

    /// Checks that one of the chosen methods has the parameter: a typo is an error.
    pub fn check(&self, methods: &[Method]) -> Result<(), LabError> {
        if methods.iter().any(|method| method.has(&self.key)) {
            return Ok(());
        }
        let text = format!("{}={}", self.key, self.values.join("|"));
        Err(LabError::Vary { text, reason: "none of the chosen methods has this parameter".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_gives_a_method_that_can_be_built() {
        let names = names();
        assert_eq!(names.len(), DETECTORS.len() + PRESETS.len() + PAPER_NETS.len());
        for name in names {
            Method::named(&name).unwrap().spec.unwrap().build().unwrap();
        }
        let error = Method::named("knm").unwrap_err().to_string();
        assert!(
            error.starts_with("unknown method `knm`; available: noise, noise-fast, noise-best,"),
            "{error}"
        );
    }

    #[test]
    fn more_rows_columns_or_layers_are_guessed_to_take_longer() {
        let seconds = |method: Method, n_train, n_cols| method.seconds(Size { n_train, n_test: 100, n_cols });
        let guess = |name: &str, n_train, n_cols| seconds(Method::named(name).unwrap(), n_train, n_cols);
        for name in ["noise-paper-mlp", "knn", "iforest", "scad", "ae"] {
            assert!(guess(name, 2_000, 10) > guess(name, 1_000, 10), "{name}");
            assert!(guess(name, 1_000, 20) > guess(name, 1_000, 10), "{name}");
        }
        assert!(guess("noise-paper-resmlp", 1_000, 10) > guess("noise-paper-mlp", 1_000, 10));
        let wide = Method::named("noise").unwrap().with("hidden", "512").unwrap();
        assert!(seconds(wide, 1_000, 10) > 4.0 * guess("noise", 1_000, 10));
    }

    #[test]
    fn the_papers_settings_are_what_was_published() {
        let param = |name: &str, key: &str| Method::named(name).unwrap().spec.unwrap().params()[key].clone();
        assert_eq!(param("noise-paper-resmlp", "net"), "resmlp");
        assert_eq!(param("noise-paper-mlp", "sigma_max"), 2.0);
        assert_eq!(param("noise", "sigma_max"), 1.0);
        assert_eq!(param("copod", "joint"), true);
    }

    #[test]
    fn variants_are_all_combinations_of_what_the_method_has() {
        let vary = ["n_neighbors=1|5", "sigma_max=1|2"].map(|text| Vary::parse(text).unwrap());
        let knn = Method::named("knn").unwrap().variants(&vary).unwrap();
        let names =
            |methods: &[Method]| methods.iter().map(|method| method.variant.clone()).collect::<Vec<_>>();
        assert_eq!(names(&knn), ["n_neighbors=1", "n_neighbors=5"]);
        assert_eq!(knn[0].spec.as_ref().unwrap().params()["n_neighbors"], 1);
        let iforest = Method::named("iforest").unwrap();
        assert_eq!(names(&iforest.variants(&vary).unwrap()), [""]);
        assert!(vary[1].check(&[iforest]).is_err() && vary[0].check(&knn).is_ok());
        for text in ["", "k", "=1", "k=", "k=1||2"] {
            assert!(Vary::parse(text).is_err(), "{text}");
        }
        let twice = ["n_neighbors=1", "n_neighbors=5"].map(|text| Vary::parse(text).unwrap());
        let error = Method::named("knn").unwrap().variants(&twice).unwrap_err().to_string();
        assert_eq!(error, "`n_neighbors=5`: `n_neighbors` is varied already, in `n_neighbors=1`");
        let wrong = Vary::parse("n_neighbors=0").unwrap();
        let error = Method::named("knn").unwrap().variants(&[wrong]).unwrap_err().to_string();
        assert!(error.starts_with("method `knn`: "), "{error}");
    }
}
