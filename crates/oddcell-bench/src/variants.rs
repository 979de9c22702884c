//! Studies: variants of methods that differ in the same parameters, as in an ablation.

use std::collections::BTreeSet;

use crate::store::Row;

/// Keys of a variant that are not parameters of the method.
const NOT_STUDIED: [&str; 1] = ["columns"];

/// Variants that differ in the same parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    /// The parameters, one or two.
    pub keys: Vec<String>,
}

impl Varied {
    /// The end of the file names of its tables and pictures.
    #[must_use]
    pub fn name(&self) -> String {
        format!("by_{}", self.keys.join("_"))
    }

    /// The rows that belong to it.
    #[must_use]
    pub fn rows(&self, rows: &[Row]) -> Vec<Row> {
        rows.iter().filter(|row| keys(&row.variant) == self.keys).cloned().collect()
    }
}

/// All studies in some rows: parameters, or pairs of parameters, with several values.
#[must_use]
pub fn studied(rows: &[Row]) -> Vec<Varied> {
    let found: BTreeSet<Vec<&str>> = rows.iter().map(|row| keys(&row.variant)).collect();
    let all = found.into_iter().filter(|keys| (1..=2).contains(&keys.len()));
    let all = all.map(|keys| Varied { keys: keys.into_iter().map(str::to_owned).collect() });
    // A single variant has nothing to compare with.
    all.filter(|varied| names(&varied.rows(rows)).len() > 1).collect()
}

/// The rows that belong to no study.
#[must_use]
pub fn not_studied(rows: &[Row]) -> Vec<Row> {
    let studied = studied(rows);
    let is_studied = |row: &Row| studied.iter().any(|varied| keys(&row.variant) == varied.keys);
    rows.iter().filter(|row| !is_studied(row)).cloned().collect()
}

/// The rows that represent their methods in comparisons: those without a variant, or a single variant if the method was
/// not run without one.
#[must_use]
pub fn rivals(rows: &[Row]) -> Vec<Row> {
    let plain: BTreeSet<&str> =
        rows.iter().filter(|row| row.variant.is_empty()).map(|row| row.method.as_str()).collect();
    let represents = |row: &Row| row.variant.is_empty() || !plain.contains(row.method.as_str());
    not_studied(rows).into_iter().filter(represents).collect()
}

/// The distinct variants of some rows, ordered by their first value if it is a number.
#[must_use]
pub fn names(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = rows.iter().map(|row| row.variant.clone()).collect();
    let first = |name: &str| settings(name).first().map_or(f64::INFINITY, |(_, value)| number(value));
    names.sort_by(|a, b| first(a).total_cmp(&first(b)).then_with(|| a.cmp(b)));
    names.dedup();
    names
}

/// Parses `0.5` and `[0.5]`; infinity for anything else.
pub(crate) fn number(value: &str) -> f64 {
    value.trim_matches(['[', ']']).parse().unwrap_or(f64::INFINITY)
}

/// Splits `sigma_max=0.5; ratios=[0.2]` into pairs.
#[must_use]
pub fn settings(variant: &str) -> Vec<(&str, &str)> {
    let pairs = variant.split("; ").filter_map(|setting| setting.split_once('='));
    pairs.filter(|(key, _)| !NOT_STUDIED.contains(key)).collect()
}

/// The values of a variant: `0.5 [0.2]`.
#[must_use]
pub fn values(variant: &str) -> String {
    settings(variant).iter().map(|(_, value)| *value).collect::<Vec<_>>().join(" ")
}

/// The parameters of a variant. Kinds of noise that also set another parameter (gamma: beta) belong to the study of
/// kinds.
fn keys(variant: &str) -> Vec<&str> {
    let keys: Vec<&str> = settings(variant).into_iter().map(|(key, _)| key).collect();
    if keys.first() == Some(&"noise") { vec!["noise"] } else { keys }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::row;

    fn varied(variant: &str) -> Row {
        Row { variant: variant.to_owned(), ..row("wine", 0, "noise", 0, 0.5) }
    }

    #[test]
    fn parameters_with_several_values_are_studied() {
        let variants =
            ["", "train_for=9 steps", "sigma_max=10", "sigma_max=2", "noise=gamma; beta=3", "noise=uniform"];
        let rows = variants.map(varied);
        let found = studied(&rows);
        assert_eq!(found.iter().map(Varied::name).collect::<Vec<_>>(), ["by_noise", "by_sigma_max"]);
        assert_eq!(names(&found[0].rows(&rows)), ["noise=gamma; beta=3", "noise=uniform"]);
        assert_eq!(names(&found[1].rows(&rows)), ["sigma_max=2", "sigma_max=10"]);
        let left: Vec<String> = not_studied(&rows).into_iter().map(|row| row.variant).collect();
        assert_eq!(left, ["", "train_for=9 steps"]);
    }

    #[test]
    fn a_single_variant_represents_its_method() {
        let scad = Row { variant: "repeats=2".to_owned(), ..row("wine", 0, "scad", 0, 0.5) };
        let rows = [varied(""), varied("trust=0.5"), scad];
        let labels: Vec<String> = rivals(&rows).iter().map(Row::label).collect();
        assert_eq!(labels, ["noise", "scad repeats=2"]);
    }

    #[test]
    fn keys_that_are_not_parameters_are_ignored() {
        let rows = ["columns=all; sigma_max=1; ratios=[0.5]", "sigma_max=1; ratios=[0.2]"].map(varied);
        assert_eq!(studied(&rows)[0].keys, ["sigma_max", "ratios"]);
        assert_eq!(values(&rows[0].variant), "1 [0.5]");
    }
}
