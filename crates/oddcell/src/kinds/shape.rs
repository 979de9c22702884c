//! The shape of a text: runs of capitals, small letters and digits, with what stands between them.
//!
//! `N14228` and `N9` have the shape `A9`, `N668DN` has `A9A`, `12 kg` has `9 a`, `O'Hare` has `A'Aa`.
//! Beside it the form: how many letters and digits stand between the marks, whichever they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rarity::Rarity;

/// A longer shape ends with a mark; what follows does not count.
const LONGEST: usize = 24;
/// The same for forms.
const LONGEST_FORM: usize = 48;

/// The shape of a text without the blanks around it.
pub(super) fn shape(text: &str) -> String {
    let (mut shape, mut last, mut n) = (String::new(), '\0', 0);
    for letter in text.trim().chars() {
        let class = match letter {
            _ if letter.is_numeric() => '9',
            _ if letter.is_uppercase() => 'A',
            _ if letter.is_alphabetic() => 'a',
            _ if letter.is_whitespace() => ' ',
            other => other,
        };
        if class == last && class.is_alphanumeric() {
            continue;
        }
        if n == LONGEST {
            shape.push('…');
            break;
        }
        shape.push(class);
        (last, n) = (class, n + 1);
    }
    shape
}

/// The form of a text: where letters and digits stand, each as `x`, and what stands between them. `AB-12` and `12-AB` have the
/// form `xx-xx`; where a letter is missing, the form is another one.
fn form(text: &str) -> String {
    let class = |letter: char| if letter.is_alphanumeric() { 'x' } else { letter };
    let mut form: String = text.trim().chars().take(LONGEST_FORM).map(class).collect();
    if text.chars().nth(LONGEST_FORM).is_some() {
        form.push('…');
    }
    form
}

/// How many rows have each shape and each form, and how rare that is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedShapes", into = "SavedShapes")]
pub(super) struct Shapes {
    saved: SavedShapes,
    shape_rarity: Rarity,
    form_rarity: Rarity,
}

/// The stored part of [`Shapes`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedShapes {
    shapes: BTreeMap<String, u64>,
    forms: BTreeMap<String, u64>,
}

impl SavedShapes {
    /// Counts `rows` rows with this text.
    pub(super) fn count(&mut self, text: &str, rows: u64) {
        *self.shapes.entry(shape(text)).or_default() += rows;
        *self.forms.entry(form(text)).or_default() += rows;
    }
}

impl Shapes {
    /// The surprise of the shape or the form of a text, whichever is rarer. `is_new` unless it is a training row.
    pub(super) fn surprise(&self, text: &str, is_new: bool) -> f64 {
        let itself = u64::from(is_new);
        let of = |counts: &BTreeMap<String, u64>, key: &str, rarity: &Rarity| {
            let rows = counts.get(key).copied().unwrap_or(0);
            rarity.surprise((rows + itself).max(1), is_new)
        };
        let shape = of(&self.saved.shapes, &shape(text), &self.shape_rarity);
        shape.max(of(&self.saved.forms, &form(text), &self.form_rarity))
    }

    /// What is odd about a text: its shape or its form, and the training rows that have it.
    pub(super) fn odd(&self, text: &str) -> (String, u64) {
        let of = |counts: &BTreeMap<String, u64>, key: String, rarity: &Rarity| {
            let rows = counts.get(&key).copied().unwrap_or(0);
            (rarity.surprise(rows.max(1), false), key, rows)
        };
        let shape = of(&self.saved.shapes, shape(text), &self.shape_rarity);
        let form = of(&self.saved.forms, form(text), &self.form_rarity);
        let (_, odd, rows) = if form.0 > shape.0 { form } else { shape };
        (odd, rows)
    }

    /// All rows; the smaller figure if shapes and forms contradict each other.
    pub(super) fn texts(&self) -> u64 {
        let all = |counts: &BTreeMap<String, u64>| {
            counts.values().fold(0, |sum: u64, &rows| sum.saturating_add(rows))
        };
        all(&self.saved.shapes).min(all(&self.saved.forms))
    }
}

impl From<SavedShapes> for Shapes {
    fn from(saved: SavedShapes) -> Self {
        let rarity = |counts: &BTreeMap<String, u64>| Rarity::of(counts.values().copied().collect());
        Self { shape_rarity: rarity(&saved.shapes), form_rarity: rarity(&saved.forms), saved }
    }
}

impl From<Shapes> for SavedShapes {
    fn from(shapes: Shapes) -> Self {
        shapes.saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_made_of_runs_and_what_stands_between_them() {
        for (text, expected) in [
            ("N14228", "A9"),
            ("N668DN", "A9A"),
            ("12 kg", "9 a"),
            (" O'Hare ", "A'Aa"),
            ("2014-02-30", "9-9-9"),
            ("", ""),
            ("a--b", "a--a"),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
        assert_eq!(shape(&"a ".repeat(40)).chars().count(), LONGEST + 1);
    }

    // Of 20 codes of four letters or digits, one has three: ln(20/1) + ln(19/1). All have the shape of one run or two.
    #[test]
    fn a_code_with_a_letter_less_has_a_rare_form() {
        let mut counts = SavedShapes::default();
        (10..29).for_each(|code| counts.count(&format!("AB{code}"), 1));
        counts.count("AB1", 1);
        let shapes = Shapes::from(counts);
        assert!((shapes.surprise("AB1", false) - (20f64 * 19.0).ln()).abs() < 1e-12);
        assert_eq!(shapes.odd("AB1"), ("xxx".to_owned(), 1));
        assert_eq!(shapes.surprise("AB12", false), 0.0);
        assert_eq!(shapes.odd("AB-12").1, 0);
    }
}
