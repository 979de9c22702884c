//! The words of a column, and words that look like slips of the pen: `Rock Island Counyt` beside a hundred counties.
//!
//! *Rule:* a word is a run of at least four letters. A text has a slip if one of its words is rare, and nearly the same as a
//! common word of the column (`alike.rs`): one that so many times as many texts have.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{
    alike::Alike,
    rarity::{MISSPELLED, share_surprise},
};
use crate::encode::{Check, EncodeError};

/// Shorter words are not compared.
const LEAST_LETTERS: usize = 4;
/// A word is common if so many texts have it ...
const LEAST_COMMON: u64 = 3;
/// ... and is meant by a word that at most one in so many has.
const MORE_COMMON: u64 = 4;
/// The most words that are remembered, and the longest text that is looked at.
const MOST_WORDS: usize = 50_000;
const MOST_BYTES: usize = 4_096;

/// The words of a column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedVocabulary", into = "SavedVocabulary")]
pub(super) struct Vocabulary {
    saved: SavedVocabulary,
    /// The common words, most common first, and how to find words like them.
    common: Vec<Box<str>>,
    alike: Alike,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedVocabulary {
    /// Texts that have each word.
    words: BTreeMap<Box<str>, u64>,
    /// Texts, and those among them with a slip.
    texts: u64,
    slips: u64,
}

/// Counts the words of texts.
#[derive(Debug, Default)]
pub(super) struct WordCounts {
    words: HashMap<Box<str>, u64>,
    texts: u64,
}

impl WordCounts {
    /// Counts the words of a text that so many rows have.
    pub(super) fn count(&mut self, text: &str, rows: u64) {
        self.texts = self.texts.saturating_add(rows);
        let mut own: Vec<&str> = words(text).map(|(_, word)| word).collect();
        own.sort_unstable();
        own.dedup();
        for word in own {
            let is_full = self.words.len() >= MOST_WORDS;
            match self.words.get_mut(word) {
                Some(texts) => *texts = texts.saturating_add(rows),
                None if is_full => {}
                None => {
                    self.words.insert(word.into(), rows);
                }
            }
        }
    }

    /// The vocabulary of these `texts`, each with the rows that have it.
    pub(super) fn finish<'a>(self, texts: impl Iterator<Item = (&'a str, u64)>) -> Vocabulary {
        let words = self.words.into_iter().collect();
        let saved = SavedVocabulary { words, texts: self.texts, slips: 0 };
        let mut vocabulary = Vocabulary::from(saved);
        vocabulary.saved.slips = texts
            .filter(|(text, _)| vocabulary.slip(text).is_some())
            .fold(0, |sum: u64, (_, rows)| sum.saturating_add(rows));
        vocabulary
    }
}

impl Vocabulary {
    /// The first word of a text that looks like a slip: where it stands, and the common word that was meant.
    fn slip(&self, text: &str) -> Option<(usize, usize, &str)> {
        words(text).find_map(|(start, word)| {
            let rows = self.saved.words.get(word).copied().unwrap_or(0);
            if rows >= LEAST_COMMON * MORE_COMMON {
                // Too common to be a slip of anything but a far more common word; names such as these are names.
                return None;
            }
            let fits = |at: usize| {
                &*self.common[at] != word && self.saved.words[&self.common[at]] / MORE_COMMON >= rows.max(1)
            };
            let at = self.alike.find(word, fits)?;
            // Another case alone is a matter of style, unless hardly anybody writes it.
            Some((start, start + word.len(), &*self.common[at]))
        })
    }

    /// The surprise of a slip in this text; 0 if there is none. `is_new` unless it is a training row.
    pub(super) fn surprise(&self, text: &str, is_new: bool) -> f64 {
        let itself = u64::from(is_new);
        match self.slip(text) {
            Some(_) => {
                MISSPELLED + share_surprise((self.saved.slips + itself).max(1), self.saved.texts + itself)
            }
            None => 0.0,
        }
    }

    /// The text with the common word in place of the slip, and both words.
    pub(super) fn mended<'a>(&self, text: &'a str) -> Option<(String, &'a str, &str)> {
        let (start, end, meant) = self.slip(text)?;
        let word = &text[start..end];
        Some((format!("{}{}{}", &text[..start], in_case_of(word, meant), &text[end..]), word, meant))
    }

    /// Checks that `filled` texts can have these words.
    pub(super) fn validate(&self, filled: u64, check: &Check<'_>) -> Result<(), EncodeError> {
        let SavedVocabulary { words, texts, slips } = &self.saved;
        check.ensure(*texts == filled, "texts with words", texts, "the rows that are not null")?;
        check.ensure(slips <= texts, "texts with slips", slips, "at most the texts")?;
        let fits = words.values().all(|rows| (1..=*texts).contains(rows));
        check.ensure(fits && words.len() <= MOST_WORDS, "words", words.len(), "words of at most all texts")
    }
}

/// The meant word in capitals if the written one is.
fn in_case_of(word: &str, meant: &str) -> String {
    let is_high = word.chars().filter(|letter| letter.is_uppercase()).count() * 2 > word.chars().count();
    let is_high_meant = meant.chars().all(|letter| !letter.is_lowercase());
    if is_high && !is_high_meant { meant.to_uppercase() } else { meant.to_owned() }
}

/// The words of a text, with where each starts.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = (0..=MOST_BYTES.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let text = &text[..end];
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let start = rest + text[rest..].find(char::is_alphabetic)?;
            let word = &text[start..];
            let end = start + word.find(|letter: char| !letter.is_alphabetic()).unwrap_or(word.len());
            rest = end;
            // Beside a digit it is part of a code.
            let beside = text[..start].chars().next_back().into_iter().chain(text[end..].chars().next());
            let is_code = beside.into_iter().any(char::is_numeric);
            if !is_code && text[start..end].chars().nth(LEAST_LETTERS - 1).is_some() {
                return Some((start, &text[start..end]));
            }
        }
    })
}

impl From<SavedVocabulary> for Vocabulary {
    fn from(saved: SavedVocabulary) -> Self {
        let mut common: Vec<(&Box<str>, u64)> = saved
            .words
            .iter()
            .map(|(word, &rows)| (word, rows))
            .filter(|&(_, rows)| rows >= LEAST_COMMON)
            .collect();
        common.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let common: Vec<Box<str>> = common.into_iter().map(|(word, _)| word.clone()).collect();
        let alike = Alike::new(common.iter().map(|word| &**word));
        Self { saved, common, alike }
    }
}

impl From<Vocabulary> for SavedVocabulary {
    fn from(vocabulary: Vocabulary) -> Self {
        vocabulary.saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(texts: &[&str]) -> Vocabulary {
        let mut counts = WordCounts::default();
        for text in texts {
            counts.count(text, 1);
        }
        counts.finish(texts.iter().map(|&text| (text, 1)))
    }

    // `County` in 8 of 9 texts, `Counyt` in one: 5 + ln(9/1); a new slip is the second of 10.
    #[test]
    fn a_rare_word_like_a_common_one_is_a_slip() {
        let mut texts = vec!["Cook County"; 8];
        texts.push("Lake Counyt");
        let words = vocabulary(&texts);
        assert!((words.surprise("Lake Counyt", false) - MISSPELLED - 9f64.ln()).abs() < 1e-12);
        assert!((words.surprise("Lee Couunty, Ill.", true) - MISSPELLED - 5f64.ln()).abs() < 1e-12);
        assert_eq!(words.surprise("Lake County", true), 0.0);
        let (mended, word, meant) = words.mended("Lake Counyt (north)").unwrap();
        assert_eq!((&*mended, word, meant), ("Lake County (north)", "Counyt", "County"));
    }

    #[test]
    fn codes_short_words_and_words_that_are_common_themselves_are_no_slips() {
        let words =
            vocabulary(&["Maria", "Maria", "Maria", "Maria", "Marta", "Marta", "Marta", "the", "A1234"]);
        for text in ["Marta", "tje", "A1235", "Maria"] {
            assert_eq!(words.mended(text), None, "{text}");
        }
    }
}
