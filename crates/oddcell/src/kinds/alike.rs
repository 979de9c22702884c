//! Names that are nearly the same: a typo, another case, a blank too many, or letters that look like digits.
//!
//! *Rule:* two names are alike if their plain forms are equal, or if one letter swapped with the next, dropped, added or
//! replaced makes them so. The plain form has small letters, no blanks and punctuation, and `o`, `l`, `s` for `0`, `1`, `5`
//! where letters stand beside. Names of fewer than four characters must have equal plain forms, and a change of a digit
//! does not count: `A101` and `A102` are two codes.
//!
//! Every common name is listed under its plain form and under each form with one character dropped. A name with one
//! change shares one of these with it, so looking up costs as many steps as the name has characters.

use std::collections::HashMap;

use crate::seed::{GOLDEN, mix};

/// Longer names are compared by their plain forms alone.
const MOST_CHARS: usize = 64;
/// Shorter ones, too: most pairs of three letters are alike.
const LEAST_CHARS: usize = 4;

/// Common names, to be found by names like them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Alike {
    plain: Vec<Vec<char>>,
    /// The hash of a form to the names listed under it, as positions in `plain`.
    places: HashMap<u64, Vec<u32>>,
}

impl Alike {
    /// Lists the names, the most common first.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut alike = Self::default();
        for (name, at) in names.zip(0u32..) {
            let plain = plain(name);
            each_form(&plain, |form| {
                let places = alike.places.entry(form).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            });
            alike.plain.push(plain);
        }
        alike
    }

    /// The first listed name that is like `name` and fits, as a position.
    pub(super) fn find(&self, name: &str, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let plain = plain(name);
        let mut best: Option<u32> = None;
        each_form(&plain, |form| {
            for &at in self.places.get(&form).into_iter().flatten() {
                if best.is_some_and(|best| at >= best) {
                    break;
                }
                if fits(at as usize) && is_one_slip(&plain, &self.plain[at as usize]) {
                    best = Some(at);
                    break;
                }
            }
        });
        best.map(|at| at as usize)
    }
}

/// The name without what a slip of the pen changes.
fn plain(name: &str) -> Vec<char> {
    let mut plain: Vec<char> =
        name.chars().flat_map(char::to_lowercase).filter(|letter| letter.is_alphanumeric()).collect();
    if plain.is_empty() {
        return name.chars().filter(|letter| !letter.is_whitespace()).collect();
    }
    for at in 0..plain.len() {
        let beside =
            |at: Option<usize>| at.and_then(|at| plain.get(at)).is_some_and(|letter| letter.is_alphabetic());
        if beside(at.checked_sub(1)) && beside(Some(at + 1)) {
            plain[at] = match plain[at] {
                '0' => 'o',
                '1' => 'l',
                '5' => 's',
                other => other,
            };
        }
    }
    plain
}

/// The hashes of the plain form and, if it is of a fitting length, of the forms with one character dropped.
fn each_form(plain: &[char], mut visit: impl FnMut(u64)) {
    let hash = |without: usize| {
        let letters = plain.iter().enumerate().filter(|&(at, _)| at != without);
        letters.fold(GOLDEN, |hash, (_, &letter)| mix(hash ^ u64::from(letter).wrapping_mul(GOLDEN)))
    };
    visit(hash(usize::MAX));
    if (LEAST_CHARS..=MOST_CHARS).contains(&plain.len()) {
        (0..plain.len()).for_each(|at| visit(hash(at)));
    }
}

/// Whether two plain forms are equal, or one slip apart that is not about a digit.
fn is_one_slip(a: &[char], b: &[char]) -> bool {
    let same = |a: &[char], b: &[char]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let start = same(a, b);
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let letters = |of: &[char]| of.iter().all(|letter| letter.is_alphabetic());
    match (a, b) {
        ([], []) => true,
        ([_], [] | [_]) | ([], [_]) => letters(a) && letters(b),
        ([a1, a2], [b1, b2]) => a1 == b2 && a2 == b1 && letters(a),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], name: &str) -> Option<usize> {
        Alike::new(names.iter().copied()).find(name, |_| true)
    }

    #[test]
    fn names_with_one_slip_are_found() {
        let names = ["New York", "Boston", "Springfield"];
        for slip in
            ["New Yrok", "new york", " New York", "New  York", "NewYork", "New Yrk", "New Yoork", "New Yark"]
        {
            assert_eq!(found(&names, slip), Some(0), "{slip}");
        }
        assert_eq!(found(&names, "B0ston"), Some(1));
        assert_eq!(found(&names, "Chicago"), None);
        assert_eq!(found(&names, "Bsotno"), None, "two slips");
    }

    #[test]
    fn codes_that_differ_by_a_digit_and_short_names_are_not_alike() {
        assert_eq!(found(&["A101"], "A102"), None);
        assert_eq!(found(&["A101"], "A1012"), None);
        assert_eq!(found(&["UA"], "US"), None);
        assert_eq!(found(&["UA"], "ua"), Some(0));
        assert_eq!(found(&["--"], "-"), None);
    }

    #[test] // The more common one is listed first.
    fn the_first_fitting_name_is_found() {
        let alike = Alike::new(["Maria", "Marta"].into_iter());
        assert_eq!(alike.find("Mara", |_| true), Some(0));
        assert_eq!(alike.find("Mara", |at| at > 0), Some(1));
    }
}
