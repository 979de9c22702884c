//! Turns p-values and scores into verdicts: which rows are called odd.
//!
//! There are four rules. One procedure applies them to tables in memory and to streams: a first pass sees every row
//! once, keeps little (the counts of distinct p-values, or the k highest scores), and then gives a cutoff that
//! decides row by row. Rules that need no first pass ([`Rule::needs_two_passes`]) get their cutoff at once.
//! [`verdicts`] does all of this for rows in memory.
//!
//! ```
//! use oddcell::{calibrate::Calibration, verdict::{Rule, verdicts}};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! let (scores, p_values) = ([3.0, 9.0, 1.0], [0.2, 0.01, 0.7]);
//! let reference = Calibration::conformal(vec![1.0, 2.0, 4.0]);
//! assert_eq!(verdicts(Rule::alpha(0.05)?, &scores, &p_values, &reference), [false, true, false]);
//! assert_eq!(verdicts(Rule::top(2)?, &scores, &p_values, &reference), [true, true, false]);
//! # Ok(())
//! # }
//! ```

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{
    calibrate::Calibration,
    count::{count, counted},
    detect::ranges::require,
    error::ParamError,
};

/// Which rows are called odd. The constructors check the ranges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Rows whose p-value is at most this.
    Alpha(f64),
    /// Benjamini-Hochberg: about this share of the rows called odd is expected to be normal.
    Fdr(f64),
    /// The k rows with the highest scores; among equal scores, the earlier rows.
    Top(usize),
    /// As in `PyOD`: rows that score above the quantile 1 − contamination of the reference scores.
    Contamination(f64),
}

impl Rule {
    /// The default for new rows judged by a model: one normal row in a hundred is called odd.
    pub const FOR_NEW_ROWS: Self = Self::Alpha(0.01);
    /// The default for one table judged by itself: about one in ten of the rows called odd is expected to be normal.
    pub const FOR_ONE_TABLE: Self = Self::Fdr(0.1);

    /// Rows with a p-value of at most `alpha`, which is between 0 and 1.
    pub fn alpha(alpha: f64) -> Result<Self, ParamError> {
        require(alpha > 0.0 && alpha < 1.0, "alpha", alpha, "more than 0 and less than 1")?;
        Ok(Self::Alpha(alpha))
    }

    /// Rows at the false-discovery rate `fdr`, which is between 0 and 1.
    pub fn fdr(fdr: f64) -> Result<Self, ParamError> {
        require(fdr > 0.0 && fdr < 1.0, "fdr", fdr, "more than 0 and less than 1")?;
        Ok(Self::Fdr(fdr))
    }

    /// The `rows` oddest rows; `rows` is at least 1.
    pub fn top(rows: usize) -> Result<Self, ParamError> {
        require(rows > 0, "top", rows, "at least 1")?;
        Ok(Self::Top(rows))
    }

    /// Rows that score above all but the share `contamination` of the reference scores; above 0 and at most 0.5.
    pub fn contamination(contamination: f64) -> Result<Self, ParamError> {
        let valid = contamination > 0.0 && contamination <= 0.5;
        require(valid, "contamination", contamination, "more than 0 and at most 0.5")?;
        Ok(Self::Contamination(contamination))
    }

    /// Whether the rule must see all rows before it can judge the first.
    #[must_use]
    pub fn needs_two_passes(self) -> bool {
        match self {
            Self::Fdr(_) | Self::Top(_) => true,
            Self::Alpha(_) | Self::Contamination(_) => false,
        }
    }

    /// A note if the rule cannot flag any row, or cannot flag a single row alone: with n calibration rows the smallest
    /// p-value is 1/(n + 1). `n_odd` of `n_rows` rows were called odd.
    #[must_use]
    pub fn too_coarse(self, n_calibration: usize, n_rows: usize, n_odd: usize) -> Option<String> {
        let (name, level) = match self {
            Self::Alpha(level) => ("alpha", level),
            Self::Fdr(level) => ("fdr", level),
            Self::Top(_) | Self::Contamination(_) => return None,
        };
        let least = 1.0 / (n_calibration as f64 + 1.0);
        let needed = |times: f64| counted(times.ceil() as usize - 1, "calibration row", "calibration rows");
        if least > level {
            return Some(format!(
                "{name} {level} cannot flag any row: with {} the smallest p-value is {}; use top or contamination, or fit \
                 with at least {}",
                counted(n_calibration, "calibration row", "calibration rows"),
                probability(least),
                needed(1.0 / level)
            ));
        }
        // Benjamini-Hochberg calls k of m rows odd if their p-values are at most level · k/m.
        let together = (least * n_rows as f64 / level).ceil() as usize;
        (name == "fdr" && n_odd == 0 && together > 1).then(|| {
            format!(
                "{name} {level} cannot flag fewer than {} of these {}; use alpha or top, or fit with at least {}",
                count(together),
                counted(n_rows, "row", "rows"),
                needed(n_rows as f64 / level)
            )
        })
    }
}

/// A p-value in two figures.
#[doc(hidden)]
#[must_use]
pub fn probability(p: f64) -> String {
    if p >= 0.001 { format!("{p:.3}") } else { format!("{p:.0e}") }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Alpha(alpha) => {
                let share = percent(alpha);
                write!(formatter, "p-value at most {alpha}: about {share} of normal rows are flagged")
            }
            Self::Fdr(fdr) => write!(
                formatter,
                "false-discovery rate {fdr}: at most about {} of the flagged rows are expected to be normal",
                percent(fdr)
            ),
            Self::Top(1) => write!(formatter, "top 1: the row with the highest score"),
            Self::Top(rows) => write!(formatter, "top {rows}: the {rows} rows with the highest scores"),
            Self::Contamination(share) => write!(
                formatter,
                "contamination {share}: scores above all but the top {} of the reference scores",
                percent(share)
            ),
        }
    }
}

/// 0.05 as "5 %", without the rounding errors of binary fractions.
fn percent(share: f64) -> String {
    let hundredths = (share * 1e10).round() / 1e8;
    format!("{hundredths} %")
}

/// The verdict on every row. `scores` and `p_values` have one entry per row; `reference` holds the scores that a
/// contamination refers to: the calibration scores of a model, or all scores of the table that `detect` judges.
///
/// # Panics
/// If the numbers of p-values and scores differ. That is a bug in the caller, not in the data.
#[must_use]
pub fn verdicts(rule: Rule, scores: &[f64], p_values: &[f64], reference: &Calibration) -> Vec<bool> {
    assert_eq!(scores.len(), p_values.len(), "one p-value per score");
    let mut first_pass = FirstPass::new(rule, || reference.clone());
    first_pass.observe(scores, p_values);
    first_pass.decide().verdicts(0, scores, p_values)
}

/// Sees every row once, in order, and keeps what the rule needs for its decision.
#[derive(Debug, Clone)]
pub(crate) enum FirstPass {
    /// The rule decides without seeing the rows.
    Nothing(Cutoff),
    /// How many rows have each p-value. Conformal p-values are multiples of 1/(n + 1), so the map stays as small
    /// as the calibration set. The keys are bits, which sort like the numbers for positive floats.
    PValues { fdr: f64, counts: BTreeMap<u64, u64>, n_rows: u64 },
    /// The oddest rows so far, the least odd first.
    Oddest { most: usize, rows: BTreeSet<Oddness>, n_rows: usize },
}

/// A row's place in the order of oddness: by score; among equal scores the earlier row is odder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Oddness(i64, Reverse<usize>);

impl Oddness {
    pub(crate) fn of(score: f64, row: usize) -> Self {
        // Adding 0.0 turns -0.0 into 0.0; the total order would distinguish them.
        Self(in_total_order(score + 0.0), Reverse(row))
    }
}

/// A whole number for every float, in the order of [`f64::total_cmp`].
fn in_total_order(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    // All bits but the sign are reversed in negative numbers.
    bits ^ ((bits >> 63) & i64::MAX)
}

impl FirstPass {
    /// Starts a first pass; `reference` as in [`verdicts`].
    pub(crate) fn new(rule: Rule, reference: impl FnOnce() -> Calibration) -> Self {
        match rule {
            Rule::Alpha(alpha) => Self::Nothing(Cutoff::PAtMost(alpha)),
            Rule::Contamination(share) => Self::Nothing(Cutoff::ScoreAbove(reference().threshold(share))),
            Rule::Fdr(fdr) => Self::PValues { fdr, counts: BTreeMap::new(), n_rows: 0 },
            Rule::Top(most) => Self::Oddest { most, rows: BTreeSet::new(), n_rows: 0 },
        }
    }

    /// Sees the next rows.
    pub(crate) fn observe(&mut self, scores: &[f64], p_values: &[f64]) {
        match self {
            Self::Nothing(_) => {}
            Self::PValues { counts, n_rows, .. } => {
                *n_rows += p_values.len() as u64;
                for p_value in p_values {
                    *counts.entry(p_value.to_bits()).or_insert(0) += 1;
                }
            }
            Self::Oddest { most, rows, n_rows } => {
                for &score in scores {
                    let row = Oddness::of(score, *n_rows);
                    *n_rows += 1;
                    if rows.len() < *most || rows.first().is_some_and(|least| row > *least) {
                        rows.insert(row);
                    }
                    if rows.len() > *most {
                        rows.pop_first();
                    }
                }
            }
        }
    }

    /// How many of the rows seen are odd; 0 for rules that need no first pass.
    pub(crate) fn n_odd(&self) -> usize {
        match self {
            Self::Nothing(_) => 0,
            Self::PValues { counts, .. } => {
                let cutoff = self.decide();
                let is_odd = |&(&bits, _): &(&u64, &u64)| cutoff.is_odd(0, 0.0, f64::from_bits(bits));
                counts.iter().filter(is_odd).map(|(_, &count)| count as usize).sum()
            }
            Self::Oddest { rows, .. } => rows.len(),
        }
    }

    /// The cutoff between odd and normal.
    pub(crate) fn decide(&self) -> Cutoff {
        match self {
            Self::Nothing(cutoff) => *cutoff,
            Self::PValues { fdr, counts, n_rows } => {
                let counts = counts.iter().map(|(&bits, &count)| (f64::from_bits(bits), count));
                Cutoff::PAtMost(benjamini_hochberg(*fdr, counts, *n_rows).unwrap_or(f64::NEG_INFINITY))
            }
            Self::Oddest { most, rows, .. } => match rows.first() {
                Some(least) if rows.len() == *most => Cutoff::AtLeastAsOddAs(*least),
                // Fewer rows than asked for: all are odd.
                Some(_) => Cutoff::PAtMost(f64::INFINITY),
                None => Cutoff::PAtMost(f64::NEG_INFINITY),
            },
        }
    }
}

/// The largest p-value p with p ≤ fdr · #{pᵢ ≤ p}/n; every row up to it is called odd. `None` if there is no such
/// p-value. `counts` holds how many of the `n_rows` rows have each p-value, in ascending order.
#[doc(hidden)]
#[must_use]
pub fn benjamini_hochberg(
    fdr: f64,
    counts: impl IntoIterator<Item = (f64, u64)>,
    n_rows: u64,
) -> Option<f64> {
    let (mut up_to, mut bound) = (0, None);
    for (p_value, count) in counts {
        up_to += count;
        // Conformal p-values often equal the bound; rounding must not decide then.
        if p_value * n_rows as f64 <= fdr * up_to as f64 * (1.0 + 1e-12) {
            bound = Some(p_value);
        }
    }
    bound
}

/// Decides row by row which rows are odd.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cutoff {
    PAtMost(f64),
    ScoreAbove(f64),
    AtLeastAsOddAs(Oddness),
}

impl Cutoff {
    /// The verdicts on rows whose first has the index `first_row`.
    pub(crate) fn verdicts(&self, first_row: usize, scores: &[f64], p_values: &[f64]) -> Vec<bool> {
        let rows = scores.iter().zip(p_values).zip(first_row..);
        rows.map(|((&score, &p_value), row)| self.is_odd(row, score, p_value)).collect()
    }

    /// Whether the row with this index (from 0, as in the first pass), score and p-value is odd.
    fn is_odd(&self, row: usize, score: f64, p_value: f64) -> bool {
        match *self {
            Self::PAtMost(bound) => p_value <= bound,
            Self::ScoreAbove(bound) => score > bound,
            Self::AtLeastAsOddAs(least) => Oddness::of(score, row) >= least,
        }
    }
}

#[cfg(test)]
mod tests;
