//! How the numbers of a column look: whether any is negative, how many decimals they have, and on which scale they are not
//! skewed.

use serde::{Deserialize, Serialize};

use super::{
    rarity::{KNOWN_SLIP, Rarity, share_surprise},
    seen::Hint,
    training::Counts,
    words::percent,
};
use crate::{
    count::counted,
    encode::{Check, EncodeError},
    layout::Role,
};

/// Numbers with more decimals than this count as having this many.
const MOST_DECIMALS: usize = 7;
/// If more numbers than one in so many have the other sign, a sign is nothing special.
const OTHER_SIGN: u64 = 100;
/// Numbers are skewed if the upper tail is so many times as long as the lower one.
const SKEWED: f64 = 3.0;

/// How the numbers of a column look.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    /// Numbers below 0, and above.
    negative: u64,
    positive: u64,
    /// How many have no decimals, one, two, and so on.
    decimals: [u64; MOST_DECIMALS + 1],
    /// If the numbers are skewed: x is judged as asinh(x / scale), which is like a logarithm for numbers far above the scale.
    scale: Option<f64>,
}

/// The features of a form; the last one only if the numbers are skewed.
const HIDDEN: [(Role, &str); 3] =
    [(Role::Sign, "other sign"), (Role::Sign, "odd decimals"), (Role::Skewed, "skewed")];

impl Form {
    /// Learns from numbers in rising order, at least one.
    pub(super) fn learn(sorted: &[f64]) -> Self {
        let n = sorted.len();
        let negative = sorted.partition_point(|&number| number < 0.0);
        let positive = n - sorted.partition_point(|&number| number <= 0.0);
        let mut of = [0; MOST_DECIMALS + 1];
        for &number in sorted {
            of[decimals(number)] += 1;
        }
        let quantile = |share: f64| sorted[((n - 1) as f64 * share).round() as usize];
        let [low, median, high] = [0.05, 0.5, 0.95].map(quantile);
        let is_skewed = negative * 20 <= n && median > 0.0 && high - median > SKEWED * (median - low);
        let scale = low.max(median / 100.0);
        let scale = (is_skewed && scale.is_normal() && n > 20).then_some(scale);
        Self { negative: negative as u64, positive: positive as u64, decimals: of, scale }
    }

    /// Its features.
    pub(super) fn hidden(&self) -> Vec<(Role, &'static str)> {
        HIDDEN[..2 + usize::from(self.scale.is_some())].to_vec()
    }

    /// Writes the features of a number.
    pub(super) fn write(&self, number: f64, is_new: bool, rarity: &Rarity, features: &mut [f64]) {
        if number.is_nan() {
            features.fill(0.0);
            return;
        }
        features[0] = self.sign(number, is_new);
        let itself = u64::from(is_new);
        features[1] = rarity.surprise(self.decimals[decimals(number)] + itself, is_new);
        if let Some(skewed) = features.get_mut(2) {
            *skewed = self.scaled(number);
        }
    }

    /// Says what is odd about how a number looks.
    pub(super) fn tell(&self, number: f64, hidden: usize, counts: Counts) -> Option<Hint> {
        let share = |rows: u64| match counts.share(rows) {
            0.0 => "no training row is".to_owned(),
            share => format!("{} of training rows are", percent(share)),
        };
        match hidden {
            0 if number < 0.0 => Some(format!("is negative; {}", share(self.negative)).into()),
            0 => Some(format!("is positive; {}", share(self.positive)).into()),
            1 => {
                let own = decimals(number);
                let usual = (0..=MOST_DECIMALS).max_by_key(|&n| self.decimals[n])?;
                let (own_share, usual_share) =
                    (counts.share(self.decimals[own]), percent(counts.share(self.decimals[usual])));
                let has = match own {
                    0 => "is whole".to_owned(),
                    MOST_DECIMALS => format!("has {MOST_DECIMALS} decimals or more"),
                    n => format!("has {}", counted(n, "decimal", "decimals")),
                };
                let usually = if usual == 0 {
                    "are whole".to_owned()
                } else {
                    format!("have {usual} (final zeros do not count)")
                };
                let like = if own_share == 0.0 {
                    "like no".into()
                } else {
                    format!("like {} of", percent(own_share))
                };
                let rows = if own_share == 0.0 { "training row" } else { "training rows" };
                Some(format!("{has}, {like} {rows}; {usual_share} {usually}").into())
            }
            _ => None,
        }
    }

    /// How rare each number of decimals is.
    pub(super) fn rarity(&self) -> Rarity {
        Rarity::of(self.decimals.iter().copied().filter(|&rows| rows > 0).collect())
    }

    /// A number on the scale on which the column is not skewed.
    pub(super) fn scaled(&self, number: f64) -> f64 {
        self.scale.map_or(number, |scale| libm::asinh((number / scale).clamp(-1e300, 1e300)))
    }

    /// The number that [`Form::scaled`] puts at `x`.
    pub(super) fn unscaled(&self, x: f64) -> f64 {
        self.scale.map_or(x, |scale| libm::sinh(x.clamp(-600.0, 600.0)) * scale)
    }

    /// The decimals that nearly all numbers make do with; `None` if they have too many to count.
    pub(super) fn usual_decimals(&self) -> Option<usize> {
        let all: u64 = self.decimals.iter().fold(0, |sum, &rows| sum.saturating_add(rows));
        let mut more = all;
        let usual = self.decimals.iter().position(|&rows| {
            more = more.saturating_sub(rows);
            more <= all / 20
        });
        usual.filter(|&decimals| decimals < MOST_DECIMALS)
    }

    /// The surprise of the sign of a number.
    fn sign(&self, number: f64, is_new: bool) -> f64 {
        let (own, other) = match number {
            _ if number < 0.0 => (self.negative, self.positive),
            _ if number > 0.0 => (self.positive, self.negative),
            _ => return 0.0,
        };
        let itself = u64::from(is_new);
        let (own, all) = (own + itself, own + other + itself);
        // A few rows in a small table prove nothing.
        if own > 1 && own * OTHER_SIGN > all || all < OTHER_SIGN / 5 {
            return 0.0;
        }
        KNOWN_SLIP + share_surprise(own.max(1), all)
    }

    /// Checks that `filled` numbers can look like this.
    pub(super) fn validate(&self, filled: u64, check: &Check<'_>) -> Result<(), EncodeError> {
        let total = self.decimals.iter().fold(0u64, |sum, &rows| sum.saturating_add(rows));
        check.ensure(total == filled, "numbers by decimals", total, "the rows with a number")?;
        let signed = self.negative.saturating_add(self.positive);
        check.ensure(signed <= filled, "numbers with a sign", signed, "at most the rows with a number")?;
        let valid = self.scale.is_none_or(|scale| scale > 0.0 && scale.is_normal());
        check.ensure(valid, "scale", format!("{:?}", self.scale), "a number above 0")
    }
}

/// How many decimals a number has, at most [`MOST_DECIMALS`].
fn decimals(number: f64) -> usize {
    let mut power = 1.0;
    for decimals in 0..MOST_DECIMALS {
        let shifted = number * power;
        if (shifted - shifted.round()).abs() <= 1e-9 * shifted.abs().max(1.0) {
            return decimals;
        }
        power *= 10.0;
    }
    MOST_DECIMALS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_counted_as_people_write_them() {
        for (number, expected) in [
            (12.0, 0),
            (12.5, 1),
            (-1.25, 2),
            (0.1 + 0.2, 1),
            (1.0 / 3.0, 7),
            (1e300, 0),
            (0.0, 0),
            (3.159_384_02, 7),
        ] {
            assert_eq!(decimals(number), expected, "{number}");
        }
    }

    #[test] // 199 prices with one decimal, one with two: ln(200/1) + ln(199/1). None negative: a new one is 1 of 201.
    fn another_sign_and_other_decimals_are_signs() {
        let mut prices: Vec<f64> = (1..200).map(|price| f64::from(price) + 0.5).collect();
        prices.insert(0, 1.25);
        let form = Form::learn(&prices);
        let signs = |number: f64, is_new| {
            let mut features = [f64::NAN; 2];
            form.write(number, is_new, &form.rarity(), &mut features);
            features
        };
        assert!((signs(1.25, false)[1] - (200f64 * 199.0).ln()).abs() < 1e-12);
        assert_eq!(signs(7.5, false), [0.0, 0.0]);
        assert!((signs(-7.5, true)[0] - (KNOWN_SLIP + 201f64.ln())).abs() < 1e-12);
        assert_eq!(signs(f64::NAN, true), [0.0, 0.0]);
    }

    #[test]
    fn amounts_are_judged_on_a_logarithmic_scale_and_heights_are_not() {
        let amounts: Vec<f64> = (0..100).map(|at| 1.1f64.powi(at)).collect();
        assert!(Form::learn(&amounts).scale.is_some());
        let heights: Vec<f64> = (0..100).map(|at| 150.0 + f64::from(at) / 3.0).collect();
        assert!(Form::learn(&heights).scale.is_none());
    }
}
