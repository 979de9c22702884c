//! How the numbers of a column look: whether any is negative, how many decimals they have, and on which scale they are not
//! skewed.
//!
//! *Fewer decimals:* a price such as 207,900.00 counts as whole, because its last decimals happen to be zero. Of numbers with
//! D decimals, one in 10^(D − d) ends like that. So fewer decimals are never more surprising than that share.

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

/// The surprise of a number by the number of its decimals.
pub(super) type OddDecimals = [f64; MOST_DECIMALS + 1];

/// What a feature of a form is about.
#[derive(Clone, Copy)]
enum Told {
    Sign,
    Decimals,
    /// The number itself, on the scale on which the numbers are not skewed.
    Scaled,
}

/// The features of a form; the last one only if the numbers are skewed.
const HIDDEN: [(Told, Role, &str); 3] = [
    (Told::Sign, Role::Sign, "other sign"),
    (Told::Decimals, Role::Sign, "odd decimals"),
    (Told::Scaled, Role::Skewed, "skewed"),
];

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
        let n_features = HIDDEN.len() - usize::from(self.scale.is_none());
        HIDDEN[..n_features].iter().map(|&(_, role, name)| (role, name)).collect()
    }

    /// Writes the features of a number; `odd_decimals` is what [`Form::odd_decimals`] says.
    pub(super) fn write(&self, number: f64, is_new: bool, odd_decimals: &OddDecimals, features: &mut [f64]) {
        if number.is_nan() {
            features.fill(0.0);
            return;
        }
        for (x, (told, ..)) in features.iter_mut().zip(HIDDEN) {
            *x = match told {
                Told::Sign => self.sign(number, is_new),
                Told::Decimals => odd_decimals[decimals(number)],
                Told::Scaled => self.scaled(number),
            };
        }
    }

    /// Says what is odd about how a number looks.
    pub(super) fn tell(&self, number: f64, hidden: usize, counts: Counts) -> Option<Hint> {
        let share = |rows: u64| match counts.share(rows) {
            0.0 => "no training row is".to_owned(),
            share => format!("{} of training rows are", percent(share)),
        };
        match HIDDEN.get(hidden)?.0 {
            Told::Sign if number < 0.0 => Some(format!("is negative; {}", share(self.negative)).into()),
            Told::Sign => Some(format!("is positive; {}", share(self.positive)).into()),
            Told::Decimals => {
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
            Told::Scaled => None,
        }
    }

    /// The surprise of a number with so many decimals if it had more and the last ones happened to be zero.
    fn by_chance(&self, own: usize) -> f64 {
        let total: u64 = self.decimals.iter().sum();
        let more = (own + 1..).zip(&self.decimals[own + 1..]);
        let like_it: f64 = more.map(|(n, &rows)| rows as f64 * libm::pow(0.1, (n - own) as f64)).sum();
        if like_it > 0.0 { libm::log(total as f64 / like_it).max(0.0) } else { f64::INFINITY }
    }

    /// How surprising each number of decimals is.
    pub(super) fn odd_decimals(&self, is_new: bool) -> OddDecimals {
        let rarity = Rarity::of(self.decimals.iter().copied().filter(|&rows| rows > 0).collect());
        let odd = |own: usize| {
            let by_count = rarity.surprise(self.decimals[own] + u64::from(is_new), is_new);
            by_count.min(self.by_chance(own))
        };
        std::array::from_fn(odd)
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

/// How many decimals a number has, at most [`MOST_DECIMALS`]. 0.1 + 0.2 has one: the tolerance is that of a few roundings.
fn decimals(number: f64) -> usize {
    let mut power = 1.0;
    for decimals in 0..MOST_DECIMALS {
        let shifted = number * power;
        if (shifted - shifted.round()).abs() <= 4.0 * f64::EPSILON * shifted.abs() {
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
            (3.0 * 39.9, 1),
            (11.354_069_994_912_443, 7),
            (40_300.619_960_004_3, 7),
            (1e-12, 7),
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
            form.write(number, is_new, &form.odd_decimals(is_new), &mut features);
            features
        };
        assert!((signs(1.25, false)[1] - (200f64 * 199.0).ln()).abs() < 1e-12);
        assert_eq!(signs(7.5, false), [0.0, 0.0]);
        assert!((signs(-7.5, true)[0] - (KNOWN_SLIP + 201f64.ln())).abs() < 1e-12);
        assert_eq!(signs(f64::NAN, true), [0.0, 0.0]);
    }

    // 180 prices end in two digits, 18 in one zero, 2 in two: ln(200/2) + ln(18/2)/√2 by rarity. But of prices with two
    // decimals one in 100 ends in .00, of those with one, one in ten: ln(200/(180/100 + 18/10)).
    #[test]
    fn decimals_that_happen_to_be_zero_are_as_surprising_as_chance_makes_them() {
        let mut prices: Vec<f64> = (0..180).map(|price| f64::from(price) + 0.25).collect();
        prices.extend((0..18).map(|price| f64::from(price) + 0.5));
        prices.extend([7.0, 9.0]);
        prices.sort_by(f64::total_cmp);
        let form = Form::learn(&prices);
        let mut features = [f64::NAN; 2];
        form.write(7.0, false, &form.odd_decimals(false), &mut features);
        assert!((features[1] - (200.0f64 / 3.6).ln()).abs() < 1e-12, "{}", features[1]);
        // More decimals than usual do not happen by chance.
        form.write(7.125, true, &form.odd_decimals(true), &mut features);
        assert!(features[1] > (201f64).ln(), "{}", features[1]);
    }

    #[test]
    fn amounts_are_judged_on_a_logarithmic_scale_and_heights_are_not() {
        let amounts: Vec<f64> = (0..100).map(|at| 1.1f64.powi(at)).collect();
        assert!(Form::learn(&amounts).scale.is_some());
        let heights: Vec<f64> = (0..100).map(|at| 150.0 + f64::from(at) / 3.0).collect();
        assert!(Form::learn(&heights).scale.is_none());
    }
}
