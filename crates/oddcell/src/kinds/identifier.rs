//! Columns that number or name the rows. They say nothing about what is normal, but a detector would learn them.
//!
//! *Rule:* at least [`MIN_ROWS`] rows, no nulls, all values distinct, and one of: a category column · whole
//! numbers that go up or down by one constant step · whole numbers that rise from row to row, by ten at most on average, in
//! at least [`MIN_RISING`] rows; or by any steps if the column has no name · whole numbers under a name like `id`, `order_id`,
//! `rowKey`.

use serde::{Deserialize, Serialize};

/// With fewer rows, distinct values mean nothing.
const MIN_ROWS: usize = 20;
/// With fewer rows, the table may just be sorted by the numbers.
const MIN_RISING: usize = 50;
/// The most that numbers may rise from row to row on average: other tables count on, or rows are gone.
const MOST_RISE: f64 = 10.0;

/// How columns without a name are called, here and by pandas.
const NAMELESS: [&str; 2] = ["unnamed column ", "Unnamed: "];

/// The last word of the name of an identifier column.
const WORDS: [&str; 9] = ["id", "uuid", "guid", "key", "index", "idx", "row", "rowid", "pk"];

/// What makes a column look like a row identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentifierSign {
    /// Whole numbers that change by the same step from row to row.
    Counter,
    /// Whole numbers that rise from row to row, as those of a counter that runs for several tables.
    Rising,
    /// Whole numbers, all different, under a name like `id` or `order_key`.
    Named,
    /// A category column in which no two rows have the same name.
    Names,
    /// The user said so.
    Told,
}

/// Why a column of numbers (no nulls, in table order) looks like an identifier, if it does. `row_numbers` are the rows
/// of a sample.
pub(super) fn of_numbers(name: &str, values: &[f64], row_numbers: Option<&[u64]>) -> Option<IdentifierSign> {
    if values.len() < MIN_ROWS || !values.iter().all(|value| value.fract() == 0.0) {
        return None;
    }
    let rows_between = |at: usize| row_numbers.map_or(1.0, |rows| (rows[at + 1] - rows[at]) as f64);
    let step = (values[1] - values[0]) / rows_between(0);
    let is_step = |(at, pair): (usize, &[f64])| pair[1] - pair[0] == step * rows_between(at);
    if step != 0.0 && values.windows(2).enumerate().all(is_step) {
        return Some(IdentifierSign::Counter);
    }
    let rows_in_all = row_numbers.map_or(values.len() as u64 - 1, |rows| rows[rows.len() - 1] - rows[0]);
    let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
    let slowly = (values[values.len() - 1] - values[0]) <= MOST_RISE * rows_in_all as f64;
    let is_nameless = NAMELESS.iter().any(|start| name.starts_with(start));
    if rises && (is_nameless || (slowly && values.len() >= MIN_RISING)) {
        return Some(IdentifierSign::Rising);
    }
    if !named_like_one(name) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    distinct.then_some(IdentifierSign::Named)
}

/// Why a category column looks like an identifier, if it does.
pub(super) fn of_names(n_rows: usize, n_levels: usize) -> Option<IdentifierSign> {
    (n_rows >= MIN_ROWS && n_levels == n_rows).then_some(IdentifierSign::Names)
}

/// Whether `name` ends with an identifier word as a word of its own: `id`, `order_id`, `orderId`, not `valid`.
fn named_like_one(name: &str) -> bool {
    let trimmed = name.trim();
    WORDS.into_iter().any(|word| {
        let Some(at) = trimmed.len().checked_sub(word.len()) else { return false };
        let Some((before, last)) = trimmed.split_at_checked(at) else { return false };
        let starts_high = last.starts_with(|first: char| first.is_ascii_uppercase());
        last.eq_ignore_ascii_case(word)
            && before.chars().next_back().is_none_or(|previous| {
                !previous.is_alphanumeric() || (previous.is_lowercase() && starts_high)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_all(name: &str, values: &[f64]) -> Option<IdentifierSign> {
        of_numbers(name, values, None)
    }

    #[test]
    fn a_name_counts_only_if_it_ends_with_the_word_itself() {
        for name in
            ["id", "ID", " Id ", "order_id", "order-id", "orderId", "orderID", "Row", "the key", "größe_id"]
        {
            assert!(named_like_one(name), "{name}");
        }
        for name in ["valid", "paid", "monkey", "idea", "id_type", "arrow", "", "é", "ORDERID"] {
            assert!(!named_like_one(name), "{name}");
        }
    }

    #[test]
    fn counters_are_identifiers_whatever_their_name_step_and_direction() {
        let counter = |first: f64, step: f64, n: usize| -> Vec<f64> {
            (0..n).map(|row| first + step * row as f64).collect()
        };
        assert!(of_all("x", &counter(1.0, 1.0, 20)).is_some());
        assert!(of_all("x", &counter(5000.0, -10.0, 20)).is_some());
        assert!(of_all("x", &counter(1.0, 1.0, 19)).is_none(), "too few rows");
        assert!(of_all("x", &counter(0.5, 1.0, 20)).is_none(), "not whole");
        assert!(of_all("x", &counter(7.0, 0.0, 20)).is_none(), "constant");
    }

    #[test]
    fn a_counter_is_recognized_by_some_of_its_rows() {
        let rows: Vec<u64> = (0..20).map(|row| row * row + 3).collect();
        let counter: Vec<f64> = rows.iter().map(|&row| 100.0 - 2.0 * row as f64).collect();
        assert!(of_numbers("x", &counter, Some(&rows)).is_some());
        assert!(of_all("x", &counter).is_none(), "as if there were no rows between");
        let mut not_quite = counter;
        not_quite[7] += 1.0;
        assert!(of_numbers("x", &not_quite, Some(&rows)).is_none());
    }

    // Steps of 3, 4, 3, 4, …: 3.5 on average.
    #[test]
    fn numbers_that_rise_slowly_from_row_to_row_are_counters() {
        let rising = |n: usize| (0..n).map(|row| (1_001 + 7 * row / 2) as f64).collect::<Vec<f64>>();
        assert_eq!(of_all("ticket", &rising(50)), Some(IdentifierSign::Rising));
        assert!(of_all("ticket", &rising(49)).is_none(), "too few rows");
        let mut falls_once = rising(50);
        falls_once.swap(20, 21);
        assert!(of_all("ticket", &falls_once).is_none());
        let squares: Vec<f64> = (0..50).map(|row| f64::from(row * row)).collect();
        assert!(of_all("population", &squares).is_none(), "49 on average");
        assert_eq!(of_all("unnamed column 1", &squares), Some(IdentifierSign::Rising));
    }

    #[test]
    fn distinct_whole_numbers_need_the_name_and_repeated_ones_are_never_identifiers() {
        let squares: Vec<f64> = (0..30).map(|row| f64::from(row * row)).collect();
        assert!(of_all("squares", &squares).is_none());
        assert!(of_all("order_id", &squares).is_some());
        let repeated: Vec<f64> = (0..30).map(|row| f64::from(row % 29)).collect();
        assert!(of_all("order_id", &repeated).is_none());
    }

    #[test]
    fn names_are_identifiers_when_no_two_rows_share_one() {
        assert!(of_names(20, 20).is_some());
        assert!(of_names(20, 19).is_none());
        assert!(of_names(19, 19).is_none());
    }
}
