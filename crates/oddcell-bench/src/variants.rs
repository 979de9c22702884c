//! Variants of methods that differ in the same parameters: what an ablation compares.

use std::collections::BTreeSet;

use crate::store::Row;

/// What is varied around a method is no parameter that is studied.
const NOT_STUDIED: [&str; 1] = ["columns"];

/// Variants that differ in the same parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    /// The parameters, one or two.
    pub keys: Vec<String>,
}

impl Varied {
    /// The end of the names of its tables and pictures.
    #[must_use]
    pub fn name(&self) -> String {
        format!("by_{}", self.keys.join("_"))
    }

    /// Its rows among all.
    #[must_use]
    pub fn rows(&self, rows: &[Row]) -> Vec<Row> {
        rows.iter().filter(|row| keys(&row.variant) == self.keys).cloned().collect()
    }
}

/// What was varied: all parameters, or pairs of them, that have several values.
#[must_use]
pub fn studied(rows: &[Row]) -> Vec<Varied> {
    let found: BTreeSet<Vec<&str>> = rows.iter().map(|row| keys(&row.variant)).collect();
    let all = found.into_iter().filter(|keys| (1..=2).contains(&keys.len()));
    let all = all.map(|keys| Varied { keys: keys.into_iter().map(str::to_owned).collect() });
    // One variant alone is compared with nothing.
    all.filter(|varied| names(&varied.rows(rows)).len() > 1).collect()
}

/// The rows that belong to no study.
#[must_use]
pub fn not_studied(rows: &[Row]) -> Vec<Row> {
    let studied = studied(rows);
    let is_studied = |row: &Row| studied.iter().any(|varied| keys(&row.variant) == varied.keys);
    rows.iter().filter(|row| !is_studied(row)).cloned().collect()
}

/// The rows that stand for their methods beside others: those without a variant; and a variant that stands alone, where its
/// method was not run as it is.
#[must_use]
pub fn rivals(rows: &[Row]) -> Vec<Row> {
    let plain: BTreeSet<&str> =
        rows.iter().filter(|row| row.variant.is_empty()).map(|row| row.method.as_str()).collect();
    let stands = |row: &Row| row.variant.is_empty() || !plain.contains(row.method.as_str());
    not_studied(rows).into_iter().filter(stands).collect()
}

/// The variants of some rows, each once, in the order of their first value where that is a number.
#[must_use]
pub fn names(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = rows.iter().map(|row| row.variant.clone()).collect();
    let first = |name: &str| settings(name).first().map_or(f64::INFINITY, |(_, value)| number(value));
    names.sort_by(|a, b| first(a).total_cmp(&first(b)).then_with(|| a.cmp(b)));
    names.dedup();
    names
}

/// `0.5` and `[0.5]` as a number; infinity for anything else.
pub(crate) fn number(value: &str) -> f64 {
    value.trim_matches(['[', ']']).parse().unwrap_or(f64::INFINITY)
}

/// `sigma_max=0.5; ratios=[0.2]` as pairs.
#[must_use]
pub fn settings(variant: &str) -> Vec<(&str, &str)> {
    let pairs = variant.split("; ").filter_map(|setting| setting.split_once('='));
    pairs.filter(|(key, _)| !NOT_STUDIED.contains(key)).collect()
}

/// The values alone: `0.5 [0.2]`.
#[must_use]
pub fn values(variant: &str) -> String {
    settings(variant).iter().map(|(_, value)| *value).collect::<Vec<_>>().join(" ")
}

/// The parameters alone. What also sets another one (gamma noise its beta) belongs to the study of the first.
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
    fn what_has_several_values_is_studied_and_a_variant_alone_is_not() {
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
    fn a_variant_stands_for_its_method_if_there_is_nothing_else() {
        let scad = Row { variant: "repeats=2".to_owned(), ..row("wine", 0, "scad", 0, 0.5) };
        let rows = [varied(""), varied("trust=0.5"), scad];
        let labels: Vec<String> = rivals(&rows).iter().map(Row::label).collect();
        assert_eq!(labels, ["noise", "scad repeats=2"]);
    }

    #[test]
    fn what_is_varied_around_a_study_takes_no_part_in_it() {
        let rows = ["columns=all; sigma_max=1; ratios=[0.5]", "sigma_max=1; ratios=[0.2]"].map(varied);
        assert_eq!(studied(&rows)[0].keys, ["sigma_max", "ratios"]);
        assert_eq!(values(&rows[0].variant), "1 [0.5]");
    }
}
