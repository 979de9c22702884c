//! Columns of numbers that are copies or sums of others: a total, or inches beside centimeters.
//!
//! *Why:* an amount that is unusual in `price` is unusual in `total`, too, and would count twice. Such a column says nothing
//! else, as long as the relation holds. So it is only asked whether it does; a row that breaks it is odd.
//!
//! *Relations:* x = k·a + c with an earlier column a, or x = a + b (+ d) with columns anywhere. They must hold in 98 of 100 rows in
//! which all of them have a number, at least [`LEAST_ROWS`], and as often where x has not its most common value: columns of
//! zeros are no copies of each other. How far off a number may be follows from the decimals of the columns: 2.54 cm of 88.6 in
//! are 225.0 within 0.18.

use serde::{Deserialize, Serialize};

use super::{Check, EncodeError, Encoder, Report, column::LearnedColumn};
use crate::{
    Table,
    kinds::{Hint, KNOWN_SLIP, figure_within, percent, read, share_surprise},
};

/// With fewer rows, numbers may agree by chance.
const LEAST_ROWS: usize = 50;
/// The share of rows in which a relation must hold.
const HOLDS: f64 = 0.98;
/// Only so many columns are compared with each other, and only so few with sums of three.
const MOST_COLUMNS: usize = 60;
const MOST_FOR_THREE: usize = 24;
/// A first look at so many rows rules nearly all relations out.
const SAMPLE_ROWS: usize = 400;
/// A relation that is less exact than this share of the width of a column says too little.
const EXACT: f64 = 0.02;

/// How a column follows from others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Copied {
    /// The columns that are added up, as positions in [`Encoder::columns`].
    terms: Vec<u32>,
    factor: f64,
    offset: f64,
    /// How far off a number may be.
    tolerance: f64,
    /// Training rows that break the relation.
    broken: u64,
    /// Training rows in which it holds.
    holds: u64,
}

impl Copied {
    /// The number that should stand there; NaN if some other number is missing.
    fn expected(&self, number: impl Fn(u32) -> f64) -> f64 {
        self.factor * self.terms.iter().map(|&term| number(term)).sum::<f64>() + self.offset
    }

    /// Whether a row breaks the relation.
    fn is_broken(&self, own: f64, expected: f64) -> bool {
        // False if a number is missing.
        (own - expected).abs() > self.tolerance
    }

    /// The surprise of a row.
    pub(super) fn sign(&self, own: f64, number: impl Fn(u32) -> f64, is_new: bool) -> f64 {
        if !self.is_broken(own, self.expected(number)) {
            return 0.0;
        }
        let itself = u64::from(is_new);
        let broken = (self.broken + itself).max(1);
        KNOWN_SLIP + share_surprise(broken, self.broken + self.holds + itself)
    }

    /// The relation, for people.
    fn formula<'a>(&self, name: impl Fn(u32) -> &'a str) -> String {
        let names: Vec<String> = self.terms.iter().map(|&term| format!("`{}`", name(term))).collect();
        let sum = names.join(" + ");
        let figure = |x: f64| figure_within(x, x);
        let times = match self.factor {
            1.0 => sum,
            factor => format!("{} × {sum}", figure(factor)),
        };
        match self.offset {
            0.0 => times,
            offset if offset < 0.0 => format!("{times} − {}", figure(-offset)),
            offset => format!("{times} + {}", figure(offset)),
        }
    }

    pub(super) fn validate(
        &self,
        at: usize,
        columns: &[LearnedColumn],
        check: &Check<'_>,
    ) -> Result<(), EncodeError> {
        let is_number = |column: &LearnedColumn| column.content.as_kind().scaled(1.0).is_some();
        let fits = |&term: &u32| {
            let term = term as usize;
            term != at && columns.get(term).is_some_and(|other| is_number(other) && other.copied.is_none())
        };
        let valid = !self.terms.is_empty() && self.terms.iter().all(fits) && is_number(&columns[at]);
        check.ensure(valid, "copied columns", format!("{:?}", self.terms), "other columns of numbers")?;
        let figures = [self.factor, self.offset, self.tolerance];
        let valid = figures.iter().all(|figure| figure.is_finite()) && self.tolerance >= 0.0;
        check.ensure(valid, "copied numbers", format!("{figures:?}"), "finite numbers")
    }
}

/// A column of numbers, NaN where there is none.
struct Numbers {
    /// Its position among the columns of the encoder.
    at: u32,
    all: Vec<f64>,
    /// The step between numbers with as many decimals as these; 0 if they have many.
    unit: f64,
    /// From the 2 % to the 98 % quantile.
    width: f64,
    common: f64,
    /// What rounding of floats can make of the largest number.
    slack: f64,
}

impl Numbers {
    fn of(at: u32, all: Vec<f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = all.iter().copied().filter(|number| !number.is_nan()).collect();
        if sorted.len() < LEAST_ROWS {
            return None;
        }
        sorted.sort_unstable_by(f64::total_cmp);
        let runs = sorted.chunk_by(|a, b| a == b);
        let common = runs.max_by_key(|run| run.len()).map(|run| run[0])?;
        let quantile = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
        let width = quantile(0.98) - quantile(0.02);
        let slack = 1e-9 * sorted[0].abs().max(sorted[sorted.len() - 1].abs());
        let step = (sorted.len() / SAMPLE_ROWS).max(1);
        let has_unit = |unit: f64| {
            let sample = sorted.iter().step_by(step);
            let (mut fits, mut n) = (0, 0);
            for number in sample {
                let steps = number / unit;
                n += 1;
                fits += usize::from((steps - steps.round()).abs() <= 1e-9 * steps.abs().max(1.0));
            }
            fits * 20 >= n * 19
        };
        let unit = (0..6).map(|decimals| 0.1f64.powi(decimals)).find(|&unit| has_unit(unit)).unwrap_or(0.0);
        (width > 0.0 && width.is_finite()).then_some(Self { at, all, unit, width, common, slack })
    }
}

/// Finds columns that follow from others, in a table that is not made of numbers alone.
pub(super) fn learn(table: &Table, columns: &mut [LearnedColumn], by: &[u32]) -> Result<(), EncodeError> {
    let is_candidate =
        |at: &usize| !by.contains(&(*at as u32)) && columns[*at].content.as_kind().scaled(1.0).is_some();
    let candidates: Vec<usize> = (0..columns.len()).filter(is_candidate).collect();
    if !(2..=MOST_COLUMNS).contains(&candidates.len()) {
        return Ok(());
    }
    let mut numbers: Vec<Vec<f64>> = vec![Vec::with_capacity(table.n_rows()); candidates.len()];
    for rows in table.rows() {
        for (numbers, &at) in numbers.iter_mut().zip(&candidates) {
            let column = &columns[at];
            let array = rows.batch.column_by_name(&column.name).expect("it was learned from this table");
            let checked = read(&column.name, array, column.reading(), rows.first_row, &rows.origin, false)?;
            numbers.extend_from_slice(checked.cells.numbers());
        }
    }
    let numbers: Vec<Numbers> =
        candidates.iter().zip(numbers).filter_map(|(&at, all)| Numbers::of(at as u32, all)).collect();
    for (at, copied) in relations(&numbers) {
        columns[at as usize].copied = Some(copied);
    }
    Ok(())
}

/// Every column that follows from others. No column follows from one that follows from others itself.
fn relations(numbers: &[Numbers]) -> Vec<(u32, Copied)> {
    let mut found: Vec<(u32, Copied)> = Vec::new();
    for (place, own) in numbers.iter().enumerate() {
        let is_source = found.iter().any(|(_, copied)| copied.terms.contains(&own.at));
        if is_source {
            continue;
        }
        let is_free = |other: &&Numbers| other.at != own.at && found.iter().all(|(at, _)| *at != other.at);
        let before: Vec<&Numbers> = numbers[..place].iter().filter(is_free).collect();
        let others: Vec<&Numbers> = numbers.iter().filter(is_free).collect();
        let copied = before.iter().find_map(|&other| copy_of(own, other)).or_else(|| sum_of(own, &others));
        found.extend(copied.map(|copied| (own.at, copied)));
    }
    found
}

/// Checks a relation in all rows.
fn checked(own: &Numbers, terms: &[&Numbers], factor: f64, offset: f64, tolerance: f64) -> Option<Copied> {
    let mut copied = Copied {
        terms: terms.iter().map(|term| term.at).collect(),
        factor,
        offset,
        tolerance,
        broken: 0,
        holds: 0,
    };
    let n_rows = own.all.len();
    let look = |copied: &Copied, row: usize| {
        let sum: f64 = terms.iter().map(|term| term.all[row]).sum();
        let (x, expected) = (own.all[row], copied.factor * sum + copied.offset);
        (!x.is_nan() && !expected.is_nan()).then(|| copied.is_broken(x, expected))
    };
    let step = (n_rows / SAMPLE_ROWS).max(1);
    let mut broken = 0;
    for row in (0..n_rows).step_by(step) {
        broken += usize::from(look(&copied, row) == Some(true));
        // In a sample, a few more may break it.
        if broken as f64 > 5.0 + 2.0 * (1.0 - HOLDS) * SAMPLE_ROWS as f64 {
            return None;
        }
    }
    let (mut telling, mut telling_holds, mut filled) = (0, 0, 0);
    let mut matters = vec![0; terms.len()];
    for row in 0..n_rows {
        filled += usize::from(!own.all[row].is_nan());
        let Some(is_broken) = look(&copied, row) else { continue };
        if is_broken {
            copied.broken += 1;
        } else {
            copied.holds += 1;
        }
        if own.all[row] != own.common {
            telling += 1;
            telling_holds += usize::from(!is_broken);
            for (count, term) in matters.iter_mut().zip(terms) {
                *count += usize::from(!is_broken && (term.all[row] != 0.0 || terms.len() == 1));
            }
        }
    }
    let n = copied.broken + copied.holds;
    let holds = copied.holds as f64 >= HOLDS * n as f64
        && telling_holds as f64 >= HOLDS * telling as f64
        && telling >= LEAST_ROWS
        && n as usize * 10 >= filled * 9
        && matters.iter().all(|&count| count * 20 >= telling);
    holds.then_some(copied)
}

/// x = k·a + c.
fn copy_of(own: &Numbers, other: &Numbers) -> Option<Copied> {
    if let Some(same) = checked(own, &[other], 1.0, 0.0, own.slack) {
        return Some(same);
    }
    // Slopes between rows that lie half of all apart in order of a, and their median.
    let step = (own.all.len() / SAMPLE_ROWS).max(1);
    let both = own.all.iter().zip(&other.all).step_by(step).filter(|(x, a)| !x.is_nan() && !a.is_nan());
    let mut both: Vec<(f64, f64)> = both.map(|(&x, &a)| (a, x)).collect();
    both.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
    let half = both.len() / 2;
    let slopes = both[..half].iter().zip(&both[both.len() - half..]);
    let mut slopes: Vec<f64> = slopes.map(|(low, high)| (high.1 - low.1) / (high.0 - low.0)).collect();
    slopes.retain(|slope| slope.is_finite());
    let factor = short(median(&mut slopes)?);
    let tolerance = 1.05 * 0.5 * (own.unit + factor.abs() * other.unit) + own.slack;
    let differ = both.chunk_by(|one, two| one.0 == two.0).count();
    if factor == 0.0 || differ < 10 || tolerance > EXACT * own.width {
        return None;
    }
    let mut offsets: Vec<f64> = both.iter().map(|(a, x)| x - factor * a).collect();
    let offset = median(&mut offsets)?;
    // Nearly proportional is proportional.
    let offset = if offset.abs() <= tolerance { 0.0 } else { short(offset) };
    checked(own, &[other], factor, offset, tolerance)
}

/// x = a + b or a + b + d.
fn sum_of(own: &Numbers, others: &[&Numbers]) -> Option<Copied> {
    let tolerance = |terms: &[&Numbers]| {
        let is_finer = terms.iter().any(|term| term.unit < own.unit);
        own.slack + if is_finer { 0.51 * own.unit } else { 0.0 }
    };
    let sum = |terms: &[&Numbers]| {
        let tolerance = tolerance(terms);
        (tolerance <= EXACT * own.width).then(|| checked(own, terms, 1.0, 0.0, tolerance)).flatten()
    };
    for (at, &one) in others.iter().enumerate() {
        for (then, &two) in others.iter().enumerate().skip(at + 1) {
            if let Some(copied) = sum(&[one, two]) {
                return Some(copied);
            }
            let more = if others.len() <= MOST_FOR_THREE { &others[then + 1..] } else { &[] };
            if let Some(copied) = more.iter().find_map(|&three| sum(&[one, two, three])) {
                return Some(copied);
            }
        }
    }
    None
}

fn median(numbers: &mut [f64]) -> Option<f64> {
    let middle = numbers.len() / 2;
    (numbers.len() >= LEAST_ROWS / 2).then(|| *numbers.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// A number with few digits if that is nearly the same: 2.5400012 is 2.54.
fn short(x: f64) -> f64 {
    if !x.is_normal() {
        return x;
    }
    let digits = (1..6).find_map(|digits| {
        let power = 10f64.powi(digits - 1 - libm::floor(libm::log10(x.abs())) as i32);
        let rounded = (x * power).round() / power;
        ((rounded - x).abs() <= 1e-4 * x.abs()).then_some(rounded)
    });
    digits.unwrap_or(x)
}

impl Encoder {
    /// Says which relation the cell of a row breaks in the column at position `column`.
    pub(crate) fn tell_copied(
        &self,
        column: usize,
        number: impl Fn(usize) -> Result<Option<f64>, EncodeError>,
    ) -> Result<Option<Hint>, EncodeError> {
        let Some(copied) = &self.columns()[column].learned.copied else { return Ok(None) };
        let mut sum = 0.0;
        for &term in &copied.terms {
            let Some(number) = number(term as usize)? else { return Ok(None) };
            sum += number;
        }
        let expected = copied.factor * sum + copied.offset;
        let figure = figure_within(expected, copied.tolerance.max(expected.abs() * 1e-4)).to_string();
        let share = copied.holds as f64 / (copied.holds + copied.broken) as f64;
        let formula = copied.formula(|term| self.columns()[term as usize].name());
        let text = format!("is not {formula} = {figure}, as in {} of training rows", percent(share));
        Ok(Some(Hint { text, expected: Some(figure) }))
    }

    /// The columns that follow from others.
    pub(super) fn copies(&self) -> impl Iterator<Item = Report> {
        self.columns().iter().filter_map(|column| {
            let copied = column.learned.copied.as_ref()?;
            let formula = copied.formula(|term| self.columns()[term as usize].name());
            Some(Report::Copied { column: column.name().to_owned(), formula, broken: copied.broken })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn numbers(columns: Vec<Vec<f64>>) -> Vec<Numbers> {
        columns.into_iter().zip(0..).filter_map(|(all, at)| Numbers::of(at, all)).collect()
    }

    fn formulas(columns: Vec<Vec<f64>>) -> Vec<String> {
        let name = |at: u32| ["a", "b", "c", "d", "e"][at as usize];
        let found = relations(&numbers(columns));
        found.iter().map(|(at, copied)| format!("{} = {}", name(*at), copied.formula(name))).collect()
    }

    /// Two unrelated columns with one decimal.
    fn lengths() -> [Vec<f64>; 2] {
        let mut stream = Seed(1).stream("lengths", &[]);
        let mut column = || (0..400).map(|_| (1_000.0 + 100.0 * stream.normal()).round() / 10.0).collect();
        [column(), column()]
    }

    fn each(columns: &[&[f64]], of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        (0..columns[0].len()).map(|row| of(&columns.iter().map(|c| c[row]).collect::<Vec<_>>())).collect()
    }

    #[test]
    fn copies_other_units_and_sums_are_recognized_wherever_they_stand() {
        let [a, b] = lengths();
        let inches = each(&[&a], |row| (row[0] * 25.4).round() / 10.0);
        let degrees = each(&[&a], |row| (row[0] * 18.0 + 320.0).round() / 10.0);
        let sum = each(&[&a, &b], |row| row[0] + row[1]);
        assert_eq!(formulas(vec![a.clone(), b.clone(), a.clone()]), ["c = `a`"]);
        assert_eq!(formulas(vec![a.clone(), inches]), ["b = 2.54 × `a`"]);
        assert_eq!(formulas(vec![a.clone(), degrees]), ["b = 1.8 × `a` + 32"]);
        assert_eq!(formulas(vec![a.clone(), sum.clone(), b.clone()]), ["b = `a` + `c`"]);
        let total = each(&[&a, &b, &sum], |row| row[0] + row[1] + row[2]);
        // The sum is a sum itself, so the total, 2a + 2b, is twice the sum or nothing.
        assert_eq!(formulas(vec![a.clone(), b.clone(), sum, total]).len(), 1);
        let third = each(&[&a], |row| (row[0] * row[0] / 7.0).round());
        let total = each(&[&a, &b, &third], |row| row[0] + row[1] + row[2]);
        assert_eq!(formulas(vec![total, a.clone(), b.clone(), third]), ["a = `b` + `c` + `d`"]);
        assert_eq!(formulas(vec![a, b]), [""; 0]);
        assert_eq!([0.0, 2.540_001].map(short), [0.0, 2.54]);
    }

    #[test]
    fn columns_that_agree_because_they_hold_little_are_no_copies() {
        let zeros =
            |at: usize| (0..400).map(|row| f64::from(u8::from(row % 100 == at))).collect::<Vec<f64>>();
        assert_eq!(formulas(vec![zeros(1), zeros(2), zeros(3)]), [""; 0]);
        // A rating tells a price of 1 to 5 only roughly.
        let rating: Vec<f64> = (0..400).map(|row| f64::from(row % 5)).collect();
        let rough = each(&[&rating], |row| (row[0] * 1.3).round());
        assert_eq!(formulas(vec![rating, rough]), [""; 0]);
    }

    // 4 of 400 rows break it: 3 + ln(400/4); a new one is one of 5 in 401.
    #[test]
    fn a_row_that_breaks_the_relation_is_as_surprising_as_that_is_rare() {
        let [a, _] = lengths();
        let mut copy = a.clone();
        copy[..4].iter_mut().for_each(|x| *x += 1.0);
        let found = relations(&numbers(vec![a.clone(), copy]));
        let copied = &found[0].1;
        assert_eq!((copied.broken, copied.holds), (4, 396));
        let sign = |own: f64, is_new| copied.sign(own, |_| 50.0, is_new);
        assert_eq!([sign(50.0, true), sign(f64::NAN, true)], [0.0, 0.0]);
        assert!((sign(51.0, false) - (KNOWN_SLIP + 100f64.ln())).abs() < 1e-12);
        assert!((sign(51.0, true) - (KNOWN_SLIP + (401.0f64 / 5.0).ln())).abs() < 1e-12);
    }
}
