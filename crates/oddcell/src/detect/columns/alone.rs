//! How surprising a value is in its column, whatever the other columns say.
//!
//! *Numbers:* the distance from the median, among the distances on the same side. A number with few different values
//! also counts by how rare the value is. *Flags:* by how rare the value is (`kinds/rarity.rs`). How rare the level of a
//! category is, is a sign that its kind gives.

use std::cmp::Ordering;

use super::surprisal::Surprisal;
use crate::{
    detect::saved,
    kinds::Rarity,
    tensors::{TensorError, Tensors},
};

/// Up to this many different numbers, each is a value that can be rare.
const FEW_VALUES: usize = 12;
/// Distances from the median that a model remembers of a column, on both sides.
pub(super) const MOST_DISTANCES: usize = 2 * Surprisal::MOST_KEPT;

/// The different values of a column, and how rare each is.
#[allow(clippy::struct_field_names, reason = "the values are what the struct is about")]
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    /// In rising order, with their rows.
    values: Vec<f64>,
    rows: Vec<u64>,
    rarity: Rarity,
}

impl Values {
    /// Counts sorted numbers.
    fn learn(sorted: &[f64]) -> Self {
        let groups = sorted.chunk_by(|a, b| a == b);
        let (values, rows) = groups.map(|group| (group[0], group.len() as u64)).unzip();
        Self::of(values, rows)
    }

    fn of(values: Vec<f64>, rows: Vec<u64>) -> Self {
        Self { values, rarity: Rarity::of(rows.clone()), rows }
    }

    /// The surprise of a number, and whether training had it.
    fn surprise(&self, number: f64) -> (f64, bool) {
        match self.values.iter().position(|&value| value == number) {
            Some(at) => (self.rarity.surprise(self.rows[at], false), true),
            None => (self.rarity.surprise(1, true), false),
        }
    }

    fn put(&self, tensors: &mut Tensors) {
        tensors.put_f64("values", &[self.values.len()], self.values.clone());
        tensors.put_f64("rows", &[self.rows.len()], self.rows.iter().map(|&rows| rows as f64).collect());
    }

    fn take(tensors: &mut Tensors) -> Result<Self, TensorError> {
        let n = tensors.shape("values")?.iter().product();
        let (values, rows) = (tensors.take_f64("values", &[n])?, tensors.take_f64("rows", &[n])?);
        let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
        if !(n <= FEW_VALUES && rises) {
            return Err(saved::invalid(
                "values",
                &format!("it must hold at most {FEW_VALUES} rising numbers"),
            ));
        }
        Ok(Self::of(values, counts("rows", &rows)?))
    }
}

/// Numbers of rows, from a file that may be hostile.
fn counts(name: &str, rows: &[f64]) -> Result<Vec<u64>, TensorError> {
    if rows.iter().all(|rows| (0.0..=9e15).contains(rows) && rows.fract() == 0.0) {
        Ok(rows.iter().map(|&rows| rows as u64).collect())
    } else {
        Err(saved::invalid(name, &"it must hold numbers of rows"))
    }
}

/// How rare each of two values is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flag {
    rows: [u64; 2],
    rarity: Rarity,
}

impl Flag {
    /// From the rows of each value.
    pub(super) fn learn(counts: &[u64]) -> Self {
        let of = |value: usize| counts.get(value).copied().unwrap_or(0);
        let rows = [of(0), of(1)];
        Self { rows, rarity: Rarity::of(rows.into_iter().filter(|&rows| rows > 0).collect()) }
    }

    /// How rare the value is. One that training never had counts as one row.
    pub(super) fn surprise(&self, value: u32) -> f64 {
        self.rarity.surprise(self.rows[usize::from(value > 0)].max(1), false)
    }

    /// The shares of both values.
    pub(super) fn shares(&self) -> [f64; 2] {
        let n = (self.rows[0].saturating_add(self.rows[1])).max(1) as f64;
        self.rows.map(|rows| rows as f64 / n)
    }

    pub(super) fn put(&self, tensors: &mut Tensors) {
        tensors.put_f64("flag", &[2], self.rows.map(|rows| rows as f64).to_vec());
    }

    pub(super) fn take(tensors: &mut Tensors) -> Result<Self, TensorError> {
        Ok(Self::learn(&counts("flag", &tensors.take_f64("flag", &[2])?)?))
    }
}

/// The values of a column of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    median: f64,
    below: Side,
    above: Side,
    /// If there are few different ones.
    values: Option<Values>,
    /// If nearly all numbers are equal to the median, and the others lie scattered around it: how odd each of these is.
    stray: f64,
}

/// A number that is not 0 rules its column if so many rows have it, no other number has so many, and of the others, so many
/// lie on either side.
const RULES: f64 = 0.6;
const NEXT: f64 = 0.05;
const EITHER_SIDE: f64 = 0.15;
/// Added to the surprise of a number that strays from the one that rules.
const STRAY: f64 = 8.0;

/// How odd a number is that is not the one that rules its column; 0 if none does.
fn stray(sorted: &[f64], median: f64) -> f64 {
    let n = sorted.len() as f64;
    let count = |is: &dyn Fn(f64) -> bool| sorted.iter().filter(|&&number| is(number)).count() as f64;
    let (below, above) = (count(&|number| number < median), count(&|number| number > median));
    let others = below + above;
    let next = sorted.chunk_by(|a, b| a == b).filter(|equal| equal[0] != median).map(<[f64]>::len).max();
    let rules = median != 0.0
        && n - others >= RULES * n
        && next.is_some_and(|next| (next as f64) < (NEXT * n).max(2.0))
        && below.min(above) >= (EITHER_SIDE * others).max(1.0);
    if rules { STRAY + libm::log(n / others) } else { 0.0 }
}

/// The numbers on one side of the median.
#[derive(Debug, Clone, PartialEq)]
struct Side {
    /// How many rows lie there, as a share of all.
    share: f64,
    distances: Surprisal,
}

impl Side {
    fn learn(distances: Vec<f64>, n_rows: usize, core: f64) -> Self {
        let share = distances.len() as f64 / n_rows as f64;
        Self { share, distances: Surprisal::learn_apart(distances, core) }
    }

    /// `any` is the surprise of a number where no row has one.
    fn surprise(&self, distance: f64, any: f64) -> f64 {
        if self.share == 0.0 {
            any
        } else {
            self.distances.of(distance) - libm::log((2.0 * self.share).min(1.0))
        }
    }
}

impl Numbers {
    /// Learns from the numbers of the rows that have one, all finite.
    pub(super) fn learn(numbers: &[f64]) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let n_values = sorted.chunk_by(|a, b| a == b).take(FEW_VALUES + 1).count();
        let values = (n_values <= FEW_VALUES).then(|| Values::learn(&sorted));
        let (n, median) =
            (sorted.len(), sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0));
        let below = sorted.iter().filter(|&&number| number < median).map(|number| median - number);
        let above = sorted.iter().filter(|&&number| number > median).map(|number| number - median);
        let quarter = |of: usize| sorted.get(of * n.saturating_sub(1) / 4).copied().unwrap_or(0.0);
        let core = quarter(3) - quarter(1);
        let side = |distances: Vec<f64>| Side::learn(distances, n.max(1), core);
        let (below, above) = (side(below.collect()), side(above.collect()));
        Self { median, below, above, values, stray: stray(&sorted, median) }
    }

    /// The surprise of a number.
    pub(super) fn surprise(&self, number: f64) -> f64 {
        let stray = if number == self.median { 0.0 } else { self.stray };
        self.among_others(number).max(stray)
    }

    /// The surprise of a number where none rules.
    fn among_others(&self, number: f64) -> f64 {
        let (rarity, is_seen) = self.values.as_ref().map_or((0.0, false), |values| values.surprise(number));
        // Among few values, the distance of one that was seen says nothing more.
        match number.partial_cmp(&self.median) {
            _ if is_seen => rarity,
            Some(Ordering::Greater) => self.above.surprise(number - self.median, rarity).max(rarity),
            Some(Ordering::Less) => self.below.surprise(self.median - number, rarity).max(rarity),
            Some(Ordering::Equal) | None => rarity,
        }
    }

    /// The median, and the ends of the range that nine in ten training rows fall into.
    pub(super) fn usual(&self) -> [f64; 3] {
        let end = |side: &Side| {
            if side.share > 0.05 { side.distances.quantile(1.0 - 0.05 / side.share) } else { 0.0 }
        };
        [self.median - end(&self.below), self.median, self.median + end(&self.above)]
    }

    pub(super) fn put(&self, tensors: &mut Tensors) {
        tensors.put_f64("median", &[4], vec![self.median, self.below.share, self.above.share, self.stray]);
        self.below.distances.put(tensors, "below");
        self.above.distances.put(tensors, "above");
        tensors.put_u32("few", &[1], vec![u32::from(self.values.is_some())]);
        if let Some(values) = &self.values {
            values.put(tensors);
        }
    }

    pub(super) fn take(tensors: &mut Tensors) -> Result<Self, TensorError> {
        let figures = tensors.take_f64("median", &[4])?;
        let mut side = |name: &str, share: f64| {
            let distances = Surprisal::take(tensors, name)?;
            if (0.0..=1.0).contains(&share) {
                Ok(Side { share, distances })
            } else {
                Err(saved::invalid("median", &"shares must be from 0 to 1"))
            }
        };
        let (below, above) = (side("below", figures[1])?, side("above", figures[2])?);
        let stray = figures[3];
        if !figures[0].is_finite() || !(0.0..=1e3).contains(&stray) {
            return Err(saved::invalid("median", &"it must be finite, and a stray at most 1,000"));
        }
        let values = match tensors.take_u32("few", &[1])?[0] {
            0 => None,
            1 => Some(Values::take(tensors)?),
            other => return Err(saved::invalid("few", &format!("it is {other}, but must be 0 or 1"))),
        };
        Ok(Self { median: figures[0], below, above, values, stray })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // True in 4 of 100 rows: ln(100/4) + ln(96/4)/√4. Never false: as if in one row of all.
    fn a_flag_is_as_surprising_as_its_value_is_rare() {
        let flag = Flag::learn(&[96, 4]);
        assert_eq!(flag.surprise(0), 0.0);
        assert!((flag.surprise(1) - 25f64.ln() - 24f64.ln() / 2.0).abs() < 1e-12);
        assert!((Flag::learn(&[0, 50]).surprise(0) - 2.0 * 50f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn far_out_numbers_are_surprising_on_their_own_side() {
        let mut stream = crate::Seed(2).stream("numbers", &[]);
        // Skewed: the long side is above.
        let numbers: Vec<f64> = (0..2_000).map(|_| libm::exp(stream.normal())).collect();
        let learned = Numbers::learn(&numbers);
        assert!(learned.surprise(1.0) < 0.5);
        assert!(learned.surprise(100.0) > learned.surprise(10.0) + 1.0);
        assert!(
            learned.surprise(-4.0) > learned.surprise(6.0) + 2.0,
            "{} {}",
            learned.surprise(-4.0),
            learned.surprise(6.0)
        );
    }

    #[test] // Of 0 (90 rows), 1 (9), 2 (1): 2 is one in a hundred, and the next has 9; 50 is unseen, and far beyond.
    fn few_numbers_count_by_how_rare_they_are() {
        let numbers: Vec<f64> =
            (0..100).map(|row| f64::from(u8::from(row >= 90)) + f64::from(u8::from(row == 99))).collect();
        let learned = Numbers::learn(&numbers);
        assert_eq!(learned.surprise(0.0), 0.0);
        assert!((learned.surprise(2.0) - 100f64.ln() - 9f64.ln()).abs() < 1e-12);
        assert!(learned.surprise(50.0) > learned.surprise(2.0));
    }
}
