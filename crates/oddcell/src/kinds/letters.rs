//! Pairs of letters that stand beside each other, and how rare they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most different pairs that are remembered: all of most alphabets.
const MOST_PAIRS: usize = 20_000;

/// In how many texts each pair of letters stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Letters {
    texts: u64,
    pairs: BTreeMap<String, u64>,
}

impl Letters {
    /// Counts a text.
    pub(super) fn count(&mut self, text: &str) {
        self.texts += 1;
        let mut found = pairs(text);
        found.sort_unstable();
        found.dedup();
        for pair in found {
            let full = self.pairs.len() >= MOST_PAIRS;
            let pair: String = pair.iter().collect();
            match self.pairs.get_mut(&pair) {
                Some(texts) => *texts += 1,
                None if full => {}
                None => {
                    self.pairs.insert(pair, 1);
                }
            }
        }
    }

    /// The number of texts.
    pub(super) fn texts(&self) -> u64 {
        self.texts
    }

    /// −ln of the share of texts with the rarest pair of letters; the text itself does not count.
    pub(super) fn rarest(&self, text: &str, is_new: bool) -> f64 {
        let itself = u64::from(!is_new);
        let others = |pair: [char; 2]| {
            let pair: String = pair.iter().collect();
            self.pairs.get(&pair).map_or(0, |texts| texts.saturating_sub(itself))
        };
        let least = pairs(text).into_iter().map(others).min();
        least.map_or(0.0, |least| libm::log((self.texts + 1) as f64 / (least + 1) as f64).max(0.0))
    }
}

/// The pairs of a text, in small letters; digits are all alike.
fn pairs(text: &str) -> Vec<[char; 2]> {
    let plain = |letter: char| if letter.is_numeric() { '9' } else { letter };
    let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).map(plain).take(1_000).collect();
    letters.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // `qz` is in none of the 3 texts: ln(4/1). The rarest pair of `anna` is `nn`, in 1 text besides: ln(4/2).
    fn the_rarest_pair_counts_without_the_text_itself() {
        let mut letters = Letters::default();
        for text in ["Anna", "Hanna", "Ana"] {
            letters.count(text);
        }
        assert!((letters.rarest("qz", true) - 4f64.ln()).abs() < 1e-12);
        assert!((letters.rarest("Anna", false) - 2f64.ln()).abs() < 1e-12);
        assert!((letters.rarest("Hanna", false) - 4f64.ln()).abs() < 1e-12, "`ha` stands in no other text");
        assert_eq!(letters.rarest("x", true), 0.0);
    }
}
