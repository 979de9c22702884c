//! Turns p-values and scores into verdicts: which rows are called odd.
//!
//! There are four rules. One procedure applies them to tables in memory and to streams: a [`FirstPass`] sees every row
//! once, keeps little (the counts of distinct p-values, or the k highest scores), and then gives a [`Cutoff`] that
//! decides row by row. Rules that need no first pass ([`Rule::needs_two_passes`]) get their cutoff at once. [`verdicts`]
//! does all of this for rows in memory.
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
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BinaryHeap},
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
        matches!(self, Self::Fdr(_) | Self::Top(_))
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
                write!(
                    formatter,
                    "p-value at most {alpha}: about {} of normal rows are flagged",
                    percent(alpha)
                )
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
    first_pass.observe_all(scores, p_values);
    first_pass.decide().verdicts(0, scores, p_values)
}

/// Sees every row once, in order, and keeps what the rule needs for its decision.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct FirstPass(Kept);

#[derive(Debug, Clone)]
enum Kept {
    /// The rule decides without seeing the rows.
    Nothing(Cutoff),
    /// How many rows have each p-value. Conformal p-values are multiples of 1/(n + 1), so the map stays as small
    /// as the calibration set. The keys are bits, which sort like the numbers for positive floats.
    PValues { fdr: f64, counts: BTreeMap<u64, u64>, n_rows: u64 },
    /// The oddest rows so far, with the least odd on top.
    Oddest { most: usize, heap: BinaryHeap<Reverse<Place>>, n_rows: usize },
}

/// A row's place in the order of oddness: by score; among equal scores the earlier row is odder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) score: f64,
    pub(crate) row: usize,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Place {}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        // Adding 0.0 turns -0.0 into 0.0; the total order would distinguish them.
        (self.score + 0.0).total_cmp(&(other.score + 0.0)).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FirstPass {
    /// Starts a first pass; `reference` as in [`verdicts`].
    #[must_use]
    pub fn new(rule: Rule, reference: impl FnOnce() -> Calibration) -> Self {
        Self(match rule {
            Rule::Alpha(alpha) => Kept::Nothing(Cutoff(Line::PAtMost(alpha))),
            Rule::Contamination(share) => {
                Kept::Nothing(Cutoff(Line::ScoreAbove(reference().threshold(share))))
            }
            Rule::Fdr(fdr) => Kept::PValues { fdr, counts: BTreeMap::new(), n_rows: 0 },
            Rule::Top(most) => Kept::Oddest { most, heap: BinaryHeap::new(), n_rows: 0 },
        })
    }

    /// Sees the next row.
    pub fn observe_all(&mut self, scores: &[f64], p_values: &[f64]) {
        scores.iter().zip(p_values).for_each(|(&score, &p_value)| self.observe(score, p_value));
    }

    /// The next row.
    pub fn observe(&mut self, score: f64, p_value: f64) {
        match &mut self.0 {
            Kept::Nothing(_) => {}
            Kept::PValues { counts, n_rows, .. } => {
                *n_rows += 1;
                *counts.entry(p_value.to_bits()).or_insert(0) += 1;
            }
            Kept::Oddest { most, heap, n_rows } => {
                let place = Place { score, row: *n_rows };
                *n_rows += 1;
                if heap.len() < *most {
                    heap.push(Reverse(place));
                } else if let Some(mut least) = heap.peek_mut()
                    && place > least.0
                {
                    *least = Reverse(place);
                }
            }
        }
    }

    /// How many of the rows seen are odd; 0 for rules that need no first pass.
    #[must_use]
    pub fn n_odd(&self) -> usize {
        match &self.0 {
            Kept::Nothing(_) => 0,
            Kept::PValues { counts, .. } => {
                let Some(bound) = self.p_bound() else { return 0 };
                counts.range(..=bound.to_bits()).map(|(_, &count)| count as usize).sum()
            }
            Kept::Oddest { heap, .. } => heap.len(),
        }
    }

    /// The largest p-value of odd rows, by Benjamini and Hochberg.
    fn p_bound(&self) -> Option<f64> {
        let Kept::PValues { fdr, counts, n_rows } = &self.0 else { return None };
        let counts = counts.iter().map(|(&bits, &count)| (f64::from_bits(bits), count));
        benjamini_hochberg(*fdr, counts, *n_rows)
    }

    /// The cutoff between odd and normal.
    #[must_use]
    pub fn decide(self) -> Cutoff {
        match &self.0 {
            Kept::Nothing(cutoff) => *cutoff,
            Kept::PValues { .. } => Cutoff(Line::PAtMost(self.p_bound().unwrap_or(f64::NEG_INFINITY))),
            Kept::Oddest { most, heap, .. } => Cutoff(match heap.peek() {
                Some(Reverse(least)) if heap.len() == *most => Line::AtLeastAsOddAs(*least),
                // Fewer rows than asked for: all are odd.
                Some(_) => Line::PAtMost(f64::INFINITY),
                None => Line::PAtMost(f64::NEG_INFINITY),
            }),
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
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cutoff(Line);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Line {
    PAtMost(f64),
    ScoreAbove(f64),
    AtLeastAsOddAs(Place),
}

impl Cutoff {
    /// The verdicts on rows whose first has the index `first_row`.
    #[must_use]
    pub fn verdicts(&self, first_row: usize, scores: &[f64], p_values: &[f64]) -> Vec<bool> {
        let rows = scores.iter().zip(p_values).zip(first_row..);
        rows.map(|((&score, &p_value), row)| self.is_odd(row, score, p_value)).collect()
    }

    /// Whether the row with this index (from 0, as in the first pass), score and p-value is odd.
    #[must_use]
    pub fn is_odd(&self, row: usize, score: f64, p_value: f64) -> bool {
        match self.0 {
            Line::PAtMost(bound) => p_value <= bound,
            Line::ScoreAbove(bound) => score > bound,
            Line::AtLeastAsOddAs(least) => Place { score, row } >= least,
        }
    }
}

#[cfg(test)]
mod tests;
