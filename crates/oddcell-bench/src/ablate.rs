//! The paper's ablations: which noise, how much of it, in how many cells, and how cells become a score.

use std::str::FromStr;

use crate::{LabError, methods::Method};

/// One ablation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Study {
    /// Eight noise levels.
    Level,
    /// Five noise levels by four noise ratios, with one noised copy per row.
    Ratio,
    /// Nine kinds of noise.
    Kind,
    /// Three ways from cells to a score, with their paths over the training.
    Aggregate,
}

const LEVELS: [&str; 8] = ["0.1", "0.2", "0.5", "0.8", "1", "2", "3", "5"];
const RATIO_LEVELS: [&str; 5] = ["0.1", "0.5", "1", "3", "5"];
const RATIOS: [&str; 4] = ["[0.2]", "[0.5]", "[0.8]", "[1]"];
const KINDS: [(&str, Option<&str>); 9] = [
    ("gaussian", None),
    ("laplace", None),
    ("uniform", None),
    ("rayleigh", None),
    ("gamma", Some("1")),
    ("gamma", Some("3")),
    ("poisson", None),
    ("salt-pepper", None),
    ("bernoulli", None),
];
const AGGREGATIONS: [&str; 3] = ["max", "mean", "min"];

impl Study {
    /// All there are.
    pub const ALL: [Study; 4] = [Study::Level, Study::Ratio, Study::Kind, Study::Aggregate];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Study::Level => "level",
            Study::Ratio => "ratio",
            Study::Kind => "kind",
            Study::Aggregate => "aggregate",
        }
    }

    /// The variants of a method that are compared.
    pub fn variants(self, method: &Method) -> Result<Vec<Method>, LabError> {
        let each = |key: &str, values: &[&str]| -> Result<Vec<Method>, LabError> {
            values.iter().map(|value| method.with(key, value)).collect()
        };
        match self {
            Study::Level => each("sigma_max", &LEVELS),
            Study::Ratio => {
                let mut all = Vec::new();
                for level in each("sigma_max", &RATIO_LEVELS)? {
                    for ratio in RATIOS {
                        all.push(level.with("ratios", ratio)?);
                    }
                }
                Ok(all)
            }
            Study::Kind => KINDS
                .iter()
                .map(|&(kind, beta)| {
                    let method = method.with("noise", kind)?;
                    beta.map_or(Ok(method.clone()), |beta| method.with("beta", beta))
                })
                .collect(),
            Study::Aggregate => each("aggregate", &AGGREGATIONS),
        }
    }
}

impl FromStr for Study {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        Self::ALL.into_iter().find(|study| study.name() == text).ok_or_else(|| LabError::Unknown {
            what: "study",
            name: text.to_owned(),
            known: Self::ALL.map(Study::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_have_as_many_variants_as_the_paper() {
        let method = Method::named("noise-paper-mlp").unwrap();
        let counts = Study::ALL.map(|study| study.variants(&method).unwrap().len());
        assert_eq!(counts, [8, 20, 9, 3]);
        let kinds = Study::Kind.variants(&method).unwrap();
        assert_eq!(kinds[5].variant, "noise=gamma; beta=3");
        assert!(Study::Level.variants(&Method::named("knn").unwrap()).is_err());
        assert_eq!("kind".parse::<Study>().unwrap(), Study::Kind);
        assert!("noise".parse::<Study>().is_err());
    }
}
