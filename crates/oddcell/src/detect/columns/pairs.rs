//! Levels that go together: a value that occurs with another column's value again and again, and once with something else.
//!
//! *Formula:* the other column's level a has been seen with this column's level b in n(a, b) rows. In a row with a and b,
//! the pair says ln((n(a, b*) + 1) / (n(a, b) + 1)), where b* is what a most often goes with. The column's own row is not
//! counted. The largest over a few partner columns is a surprise once it is compared with that of training rows.
//!
//! *Partners* are the columns whose level says most about this one: the share of rows that the most frequent level would
//! guess right, the row itself not counted, beyond that of always guessing the most common level.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{given::Lesson, surprisal::Surprisal};
use crate::{
    detect::saved,
    tensors::{TensorError, Tensors},
};

/// The most partners of a column.
const MOST_PARTNERS: usize = 4;
/// A partner guesses at least this share of the rows right that the most common level does not.
const LEAST_GAIN: f64 = 0.2;
/// Rows on which partners are chosen.
const ROWS_TO_CHOOSE: usize = 4_000;
/// Numbers with more different values are no partners.
const MOST_VALUES: usize = 400;

/// The pairs of one column with its partners.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pairs {
    partners: Vec<Partner>,
    usual: Surprisal,
}

/// A column whose values go with the levels of this one.
#[derive(Debug, Clone, PartialEq)]
struct Partner {
    feature: u32,
    /// For a value of the partner, as bits: the level it most often goes with, and its rows.
    most: HashMap<u32, (u32, u32)>,
    /// Rows of each pair of values.
    rows: HashMap<(u32, u32), u32>,
    /// Rows of each value of the partner.
    totals: HashMap<u32, u32>,
}

impl Partner {
    fn learn(feature: u32, rows: &[u32], input: &[f32], levels: &[u32]) -> Self {
        let mut pairs: HashMap<(u32, u32), u32> = HashMap::new();
        for &row in rows {
            *pairs.entry((input[row as usize].to_bits(), levels[row as usize])).or_default() += 1;
        }
        Self::of(feature, pairs)
    }

    fn of(feature: u32, rows: HashMap<(u32, u32), u32>) -> Self {
        let mut sorted: Vec<((u32, u32), u32)> = rows.iter().map(|(&pair, &n)| (pair, n)).collect();
        sorted.sort_unstable();
        let mut most: HashMap<u32, (u32, u32)> = HashMap::new();
        let mut totals: HashMap<u32, u32> = HashMap::new();
        for ((value, level), n) in sorted {
            let total = totals.entry(value).or_default();
            *total = total.saturating_add(n);
            let best = most.entry(value).or_insert((level, n));
            if n > best.1 {
                *best = (level, n);
            }
        }
        Self { feature, most, rows, totals }
    }

    /// What the pair says; `itself` is 1 if the row has been counted.
    fn says(&self, value: u32, level: u32, itself: u32) -> f64 {
        let Some(&(usual, most)) = self.most.get(&value) else { return 0.0 };
        if usual == level {
            return 0.0;
        }
        let own = self.rows.get(&(value, level)).map_or(0, |&rows| rows.saturating_sub(itself));
        libm::log(f64::from(most + 1) / f64::from(own + 1)).max(0.0)
    }
}

impl Pairs {
    /// Learns which levels go together; `None` if no other column says much about this one.
    pub(super) fn learn(lesson: &Lesson<'_>, levels: &[u32]) -> Option<Self> {
        let some = &lesson.rows[..lesson.rows.len().min(ROWS_TO_CHOOSE)];
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for &row in some {
            *counts.entry(levels[row as usize]).or_default() += 1;
        }
        let most = counts.into_values().max().unwrap_or(0);
        let base = most as f64 / some.len().max(1) as f64;
        let gain = |&feature: &u32| {
            let input = &lesson.inputs[feature as usize];
            let partner = Partner::learn(feature, some, input, levels);
            if partner.most.len() > some.len() / 2
                || (!lesson.is_level[feature as usize] && partner.most.len() > MOST_VALUES)
            {
                return (0.0, feature);
            }
            // A value of one row guesses nothing about others.
            let right: u64 = partner.most.values().map(|&(_, rows)| u64::from(rows) - 1).sum();
            ((right as f64 / some.len() as f64 - base) / (1.0 - base).max(1e-9), feature)
        };
        let mut gains: Vec<(f64, u32)> = lesson.allowed.par_iter().map(gain).collect();
        gains.retain(|&(gain, _)| gain >= LEAST_GAIN);
        gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        gains.truncate(MOST_PARTNERS);
        if gains.is_empty() {
            return None;
        }
        let learn = |&(_, feature): &(f64, u32)| {
            Partner::learn(feature, lesson.rows, &lesson.inputs[feature as usize], levels)
        };
        let partners: Vec<Partner> = gains.iter().map(learn).collect();
        let measured = lesson.measured();
        let usual = measured.iter().map(|&row| {
            let value = |feature: u32| lesson.inputs[feature as usize][row as usize];
            strongest(&partners, value, levels[row as usize], 1)
        });
        let usual = Surprisal::learn(usual.collect());
        Some(Self { partners, usual })
    }

    /// The chances of levels by the partner that is surest; `None` if no partner's value has been seen.
    pub(super) fn chances(&self, row: &[f32]) -> Option<Vec<(u32, f64)>> {
        let share = |partner: &Partner| {
            let value = row[partner.feature as usize].to_bits();
            let (_, rows) = partner.most.get(&value)?;
            let all = partner.totals.get(&value)?;
            // One row more that says something else: a value seen once is not sure of anything.
            Some((f64::from(*rows) / f64::from(all + 1), value))
        };
        let sure = self.partners.iter().filter_map(|partner| Some((share(partner)?, partner)));
        let ((_, value), partner) =
            sure.fold(None, |best: Option<((f64, u32), &Partner)>, other| match best {
                Some(best) if best.0.0 >= other.0.0 => Some(best),
                _ => Some(other),
            })?;
        let all = f64::from(partner.totals[&value] + 1);
        let of_value = partner.rows.iter().filter(|((other, _), _)| *other == value);
        Some(of_value.map(|(&(_, level), &rows)| (level, f64::from(rows) / all)).collect())
    }

    /// The surprise of a level in this row.
    pub(super) fn surprise(&self, row: &[f32], level: u32) -> f64 {
        let said = strongest(&self.partners, |feature| row[feature as usize], level, 0);
        if said > 0.0 { self.usual.of(said) } else { 0.0 }
    }

    pub(super) fn put(&self, tensors: &mut Tensors) {
        self.usual.put(tensors, "pairs.usual");
        tensors.put_u32("pairs.partners", &[1], vec![self.partners.len() as u32]);
        for (at, partner) in self.partners.iter().enumerate() {
            let mut rows: Vec<[u32; 3]> =
                partner.rows.iter().map(|(&(value, level), &rows)| [value, level, rows]).collect();
            rows.sort_unstable();
            tensors.put_u32(&format!("pairs.{at}.feature"), &[1], vec![partner.feature]);
            tensors.put_u32(&format!("pairs.{at}.count"), &[1], vec![rows.len() as u32]);
            tensors.put_u32(&format!("pairs.{at}.rows"), &[rows.len(), 3], rows.concat());
        }
    }

    pub(super) fn take(tensors: &mut Tensors, n_features: usize) -> Result<Self, TensorError> {
        let usual = Surprisal::take(tensors, "pairs.usual")?;
        let n = tensors.take_u32("pairs.partners", &[1])?[0] as usize;
        if !(1..=MOST_PARTNERS).contains(&n) {
            return Err(saved::invalid("pairs.partners", &format!("it must be from 1 to {MOST_PARTNERS}")));
        }
        let mut partners = Vec::with_capacity(n);
        for at in 0..n {
            let feature = tensors.take_u32(&format!("pairs.{at}.feature"), &[1])?[0];
            let n_rows = tensors.take_u32(&format!("pairs.{at}.count"), &[1])?[0] as usize;
            let name = format!("pairs.{at}.rows");
            let lines = tensors.take_u32(&name, &[n_rows, 3])?;
            let rows: HashMap<(u32, u32), u32> =
                lines.chunks_exact(3).map(|line| ((line[0], line[1]), line[2])).collect();
            let fits = (feature as usize) < n_features
                && rows.len() == n_rows
                && lines.chunks_exact(3).all(|line| (1..u32::MAX).contains(&line[2]));
            if !fits {
                return Err(saved::invalid(
                    &name,
                    &"it must hold different pairs of a feature that there is",
                ));
            }
            partners.push(Partner::of(feature, rows));
        }
        Ok(Self { partners, usual })
    }
}

fn strongest(partners: &[Partner], value: impl Fn(u32) -> f32, level: u32, itself: u32) -> f64 {
    let says = partners.iter().map(|partner| partner.says(value(partner.feature).to_bits(), level, itself));
    says.fold(0.0, f64::max)
}
