//! Numbers within groups: an amount that is normal in the table may be odd for its shop.
//!
//! *Formula:* with the center m and the spread s of all values (median, and the distance of the quarters / 1.349), and m', s'
//! those of a group with n rows, the group counts with n/(n + 5): z = (x − c) / r, where c = (n·m' + 5·m) / (n + 5) and
//! r² = (n·s'² + 5·s²) / (n + 5). Small groups lean on the whole table, and a group that training never had is the whole
//! table. Skewed numbers are compared on their own scale.

use std::collections::BTreeMap;

use arrow_array::Array;
use serde::{Deserialize, Serialize};

use super::{Check, EncodeError, Encoder, column::LearnedColumn};
use crate::{
    Table,
    count::counted,
    kinds::{CellAt, Cells, Hint, figure_within, read},
};

/// Rows of the whole table that a group counts with.
const LEAN: f64 = 5.0;
/// With fewer rows, a group's own normal range means nothing.
const LEAST_FOR_RANGE: u64 = 20;
/// No spread is smaller than this share of that of the whole table.
const LEAST_SPREAD: f64 = 0.02;

/// The numbers of a column within each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Within {
    whole: Group,
    groups: BTreeMap<String, Group>,
}

/// Where the numbers of a group lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    rows: u64,
    /// On the column's own scale, leaning on the whole table.
    center: f64,
    spread: f64,
    /// The ends of the normal range, as the numbers are: without 1 % of the numbers at either end, at least one.
    low: f64,
    high: f64,
    /// The median, as the numbers are.
    median: f64,
}

impl Within {
    /// How far out a number lies in its group. `scaled` puts numbers on the scale of the column.
    pub(super) fn distance(&self, number: f64, key: &str, scaled: impl Fn(f64) -> f64) -> f64 {
        let Group { center, spread, .. } = self.groups.get(key).unwrap_or(&self.whole);
        if number.is_nan() { 0.0 } else { ((scaled(number) - center) / spread).clamp(-1e6, 1e6) }
    }

    /// Says what is normal in the group called `name`, in which `number` is unusual. A range that holds the number would
    /// contradict that.
    fn tell(&self, number: f64, key: &str, name: &str) -> Hint {
        let text = match self.groups.get(key) {
            Some(&Group { rows, low, high, median, .. }) if rows >= LEAST_FOR_RANGE => {
                let figure = |end| figure_within(end, high - low);
                if (low..=high).contains(&number) {
                    format!("unusual for {name}: the median there is {}", figure(median))
                } else if low == high {
                    format!("unusual for {name}: nearly always {} there", figure(low))
                } else {
                    format!("unusual for {name}: normal {} to {} there", figure(low), figure(high))
                }
            }
            Some(&Group { rows, .. }) => {
                format!(
                    "unusual for {name}; training had only {} there",
                    counted(rows as usize, "row", "rows")
                )
            }
            None => format!("unusual for {name}, which training never had"),
        };
        text.into()
    }

    pub(super) fn validate(&self, check: &Check<'_>) -> Result<(), EncodeError> {
        self.groups.values().chain([&self.whole]).try_for_each(|group| {
            let Group { center, spread, low, high, median, .. } = *group;
            let in_order = low <= median && median <= high;
            let is_valid = center.is_finite() && spread > 0.0 && spread.is_finite() && in_order;
            check.ensure(is_valid, "a group", format!("{group:?}"), "finite numbers, and a spread above 0")
        })
    }
}

/// The key of every row: its values in the columns that make up groups.
pub(super) fn keys(cells: &[&Cells], n_rows: usize) -> Vec<String> {
    let key = |row: usize| {
        let mut key = String::new();
        for cells in cells {
            match cells {
                Cells::Names(names) if names.is_null(row) => {}
                Cells::Names(names) => key.push_str(names.value(row).trim_ascii()),
                Cells::Numbers(numbers) => key.push_str(&numbers[row].to_string()),
            }
            key.push('\u{1f}');
        }
        key
    };
    (0..n_rows).map(key).collect()
}

/// Learns the numbers of all columns within the groups that the columns at these positions make up.
pub(super) fn learn(table: &Table, columns: &mut [LearnedColumn], by: &[u32]) -> Result<(), EncodeError> {
    if by.is_empty() {
        return Ok(());
    }
    let numbers: Vec<usize> = (0..columns.len())
        .filter(|&at| !by.contains(&(at as u32)) && columns[at].content.as_kind().scaled(1.0).is_some())
        .collect();
    let mut values: Vec<BTreeMap<String, Vec<f64>>> = vec![BTreeMap::new(); numbers.len()];
    for rows in table.rows() {
        let cells = |at: usize| -> Result<Cells, EncodeError> {
            let column = &columns[at];
            let array = rows.batch.column_by_name(&column.name).expect("it was learned from this table");
            Ok(read(&column.name, array, column.reading(), rows.first_row, &rows.origin, false)?.cells)
        };
        let by = by.iter().map(|&at| cells(at as usize)).collect::<Result<Vec<_>, _>>()?;
        let keys = keys(&by.iter().collect::<Vec<_>>(), rows.n_rows());
        for (values, &at) in values.iter_mut().zip(&numbers) {
            for (key, &number) in keys.iter().zip(cells(at)?.numbers()) {
                if !number.is_nan() {
                    values.entry(key.clone()).or_default().push(number);
                }
            }
        }
    }
    for (mut groups, at) in values.into_iter().zip(numbers) {
        let kind = columns[at].content.as_kind();
        let scaled = |number: f64| kind.scaled(number).unwrap_or(number);
        let mut all: Vec<f64> = groups.values().flatten().copied().collect();
        if all.is_empty() {
            continue;
        }
        let whole = Group::of(&mut all, scaled, None);
        let groups =
            groups.iter_mut().map(|(key, own)| (key.clone(), Group::of(own, scaled, Some(whole)))).collect();
        columns[at].within = Some(Within { whole, groups });
    }
    Ok(())
}

impl Group {
    /// Of numbers, at least one; their order is lost.
    fn of(numbers: &mut [f64], scaled: impl Fn(f64) -> f64, whole: Option<Self>) -> Self {
        numbers.sort_unstable_by(f64::total_cmp);
        let quantile = |share: f64| numbers[((numbers.len() - 1) as f64 * share).round() as usize];
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(quantile);
        // The number that is found odd must not be the end of what is normal.
        let beyond = (numbers.len() / 100).max(1).min((numbers.len() - 1) / 2);
        let (low, high) = (numbers[beyond], numbers[numbers.len() - 1 - beyond]);
        let (own, spread) = (scaled(median), (scaled(upper) - scaled(lower)) / 1.349);
        let n = numbers.len() as f64;
        let (center, spread) = match whole {
            None => {
                // Where the quarters are equal, the ends of the normal range tell how far numbers lie apart.
                let wide = (scaled(high) - scaled(low)) / 4.65;
                (
                    own,
                    if spread > 0.0 {
                        spread
                    } else if wide > 0.0 {
                        wide
                    } else {
                        1.0
                    },
                )
            }
            Some(whole) => {
                let square = (n * spread * spread + LEAN * whole.spread * whole.spread) / (n + LEAN);
                let center = (n * own + LEAN * whole.center) / (n + LEAN);
                (center, square.sqrt().max(LEAST_SPREAD * whole.spread))
            }
        };
        Self { rows: numbers.len() as u64, center, spread, low, high, median }
    }
}

impl Encoder {
    /// Says what is normal for the group of a row in the column at position `column`.
    pub(crate) fn tell_within<'a>(
        &self,
        column: usize,
        cell: impl Fn(usize) -> CellAt<'a>,
    ) -> Result<Option<Hint>, EncodeError> {
        let Some(within) = &self.columns()[column].learned.within else { return Ok(None) };
        let Ok(number) = cell(column).number()? else { return Ok(None) };
        let by: Vec<usize> = self.group_by().iter().map(|&at| at as usize).collect();
        let cells = by.iter().map(|&at| cell(at).read()).collect::<Result<Vec<_>, _>>()?;
        let key = keys(&cells.iter().collect::<Vec<_>>(), 1).swap_remove(0);
        let named = by.iter().zip(key.split('\u{1f}'));
        let names: Vec<String> =
            named.map(|(&at, value)| format!("{} `{value}`", self.columns()[at].name())).collect();
        Ok(Some(within.tell(number, &key, &names.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // All: 1 … 9, median 5, quarters 3 and 7, spread 4/1.349. The group 7, 8, 9: median 8, quarters 8 and 9 (ranks 0.5 and
    // 1.5, rounded up). It counts 3, the whole 5: center (3·8 + 5·5)/8.
    #[test]
    fn a_small_group_leans_on_the_whole_table() {
        let plain = |number: f64| number;
        let whole = Group::of(&mut [5.0, 1.0, 2.0, 3.0, 4.0, 9.0, 6.0, 7.0, 8.0], plain, None);
        assert_eq!((whole.center, whole.spread), (5.0, 4.0 / 1.349));
        let group = Group::of(&mut [9.0, 7.0, 8.0], plain, Some(whole));
        assert_eq!((group.rows, group.center), (3, 49.0 / 8.0));
        let (own, all) = (1.0 / 1.349, 4.0 / 1.349);
        assert!((group.spread - ((3.0 * own * own + 5.0 * all * all) / 8.0f64).sqrt()).abs() < 1e-12);
        let within = Within { whole, groups: [("a".to_owned(), group)].into() };
        assert_eq!(within.distance(49.0 / 8.0, "a", plain), 0.0);
        assert_eq!(within.distance(5.0, "new", plain), 0.0);
        assert_eq!(within.distance(f64::NAN, "a", plain), 0.0);
    }

    // 1 … 20: without the lowest and the highest number, 2 to 19 are left; the median is the number of rank 9.5, rounded up.
    #[test]
    fn the_odd_number_is_not_the_end_of_what_is_normal() {
        let plain = |number: f64| number;
        let whole = Group::of(&mut (1..=20).map(f64::from).collect::<Vec<_>>(), plain, None);
        let mut numbers: Vec<f64> = (1..20).map(f64::from).chain([99.0]).collect();
        let group = Group::of(&mut numbers, plain, Some(whole));
        let few = Group::of(&mut [5.0], plain, Some(whole));
        let groups = [("a".to_owned(), group), ("b".to_owned(), few)].into();
        let within = Within { whole, groups };
        let told = |number, key| within.tell(number, key, "shop `a`").text;
        assert_eq!(told(99.0, "a"), "unusual for shop `a`: normal 2 to 19 there");
        assert_eq!(told(19.0, "a"), "unusual for shop `a`: the median there is 11");
        assert_eq!(told(19.0, "b"), "unusual for shop `a`; training had only 1 row there");
    }
}
