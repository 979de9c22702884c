//! The shape of a text: runs of capitals, small letters and digits, with what stands between them.
//!
//! `N14228` and `N9` have the shape `A9`, `N668DN` has `A9A`, `12 kg` has `9 a`, `O'Hare` has `A'Aa`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A longer shape ends with a mark; what follows does not count.
const LONGEST: usize = 24;

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

/// How many rows have each shape.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Shapes {
    rows: BTreeMap<String, u64>,
}

impl Shapes {
    /// Counts `rows` rows with this text.
    pub(super) fn count(&mut self, text: &str, rows: u64) {
        *self.rows.entry(shape(text)).or_default() += rows;
    }

    /// How many rows have the shape of this text.
    pub(super) fn of(&self, text: &str) -> u64 {
        self.rows.get(&shape(text)).copied().unwrap_or(0)
    }

    /// The rows of every shape.
    pub(super) fn counts(&self) -> Vec<u64> {
        self.rows.values().copied().collect()
    }

    /// All rows.
    pub(super) fn texts(&self) -> u64 {
        self.rows.values().fold(0, |sum, &rows| sum.saturating_add(rows))
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
}
