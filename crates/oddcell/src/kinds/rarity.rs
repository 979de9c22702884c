//! How rare a level is among levels that may all be rare.
//!
//! *Formula:* with r rows whose level is at most as common, of n rows, and c rows of the next more common level, the surprise
//! is ln(n / r) + ln(max(c / r, 1)) / √r. So a common level is never surprising for being common; where nearly all levels
//! differ, an unseen one is not surprising, either; and where all levels but one have many rows, that one is more
//! surprising than its share.
//!
//! A training row is compared as if it had not been counted. So "as common" means: as common among the *other* rows.
//! A level with c rows is met by a training row with c − 1 others, by a new row with c others; both look it up by the count
//! with themselves.

/// The rows of every level, ready to be compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rarity {
    /// The different counts, rising.
    counts: Vec<u64>,
    /// The rows whose level has at most that count.
    rows: Vec<u64>,
}

impl Rarity {
    /// From the rows of every level, in any order.
    pub(crate) fn of(mut levels: Vec<u64>) -> Self {
        levels.sort_unstable();
        let (mut counts, mut rows, mut sum) = (Vec::new(), Vec::new(), 0);
        for group in levels.chunk_by(|a, b| a == b) {
            sum = group.iter().fold(sum, |sum: u64, &rows| sum.saturating_add(rows));
            counts.push(group[0]);
            rows.push(sum);
        }
        Self { counts, rows }
    }

    /// The surprise of a row whose level has `count` rows, itself included. `is_new` if it is no training row.
    pub(crate) fn surprise(&self, count: u64, is_new: bool) -> f64 {
        let n = self.rows.last().copied().unwrap_or(0);
        let at_most = self.counts.partition_point(|&other| other <= count);
        let rarer = if at_most == 0 { 0 } else { self.rows[at_most - 1] };
        let itself = u64::from(is_new);
        let rarer = (rarer + itself).max(1);
        // Between such levels and the next more common ones there may be a gap.
        let next = self.counts.get(at_most).copied().unwrap_or(rarer);
        share_surprise(rarer, n + itself) + share_surprise(rarer, next) / (rarer as f64).sqrt()
    }
}

/// −ln(rows / of), never negative.
pub(crate) fn share_surprise(rows: u64, of: u64) -> f64 {
    libm::log(of.max(1) as f64 / rows.max(1) as f64).max(0.0)
}

/// Added to the surprise of a cell that looks like a known kind of slip: a misspelled common name, or a number that cannot be
/// read. It says that such a cell is twenty times as likely to be an error as one that is just as rare.
pub(crate) const KNOWN_SLIP: f64 = 3.0;
/// The same for a name or a word that is one slip away from a far more common one: hardly anything else explains that.
pub(crate) const MISSPELLED: f64 = 5.0;
/// The same for a cell that cannot be read: it is almost certainly an error.
pub(crate) const UNREADABLE: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    // 6 rows of level 0, 3 of level 1, 1 of level 2: 10, 4 and 1 of 10 rows are at most as common. The next counts are 6 and 3:
    // ln(6/4)/√4 and ln(3/1)/√1 more.
    #[test]
    fn a_level_is_as_surprising_as_levels_so_rare_are() {
        let rarity = Rarity::of(vec![3, 1, 6]);
        let expected = [(6, 0.0), (3, 2.5f64.ln() + 1.5f64.ln() / 2.0), (1, 10f64.ln() + 3f64.ln())];
        for (count, expected) in expected {
            assert!((rarity.surprise(count, false) - expected).abs() < 1e-12, "{count}");
        }
        // A new row makes an unseen level one of 11 rows: it and the row that was alone are the rarest two; the next has 3.
        let expected = 5.5f64.ln() + 1.5f64.ln() / 2f64.sqrt();
        assert!((rarity.surprise(1, true) - expected).abs() < 1e-12);
    }

    #[test]
    fn where_all_levels_differ_none_is_surprising() {
        let rarity = Rarity::of(vec![1; 200]);
        assert_eq!([rarity.surprise(1, false), rarity.surprise(1, true)], [0.0, 0.0]);
    }
}
