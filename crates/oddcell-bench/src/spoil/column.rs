//! What the cells of a column are, as far as errors in them need to know.

use std::collections::HashMap;

use super::{
    dates::{First, WrittenDate},
    numbers::Written,
    sheet::Sheet,
};

/// The share of cells that must be numbers or dates for their column to be one.
const MOSTLY: f64 = 0.95;
/// The share of numbers with a leading zero from which a column holds codes.
const FEW_CODES: f64 = 0.01;
/// A value that occurs this often is one that people know.
pub(super) const KNOWN: usize = 3;
/// Columns in which this share of the cells has known values have levels that repeat.
const REPEATS: f64 = 0.9;

/// The broad kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers.
    Number,
    /// Dates.
    Date(First),
    /// Texts and codes of which at most half of the cells differ.
    Category,
    /// Identifiers, names, free text, and columns that are empty or constant: nobody could tell an error there from the
    /// value it replaces, or everybody could.
    Other,
}

/// A column of a table before errors are planted.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) kind: Kind,
    /// How often each value occurs, missing cells aside.
    counts: HashMap<String, usize>,
    /// Numbers, or days of dates, sorted.
    sorted: Vec<f64>,
    /// The share of missing cells.
    pub(super) missing: f64,
    /// Whether at least nine in ten cells have a value that occurs three times or more.
    pub(super) repeats: bool,
    /// Whether it holds years.
    pub(super) is_year: bool,
}

/// Whether a cell is missing as people write it.
pub(super) fn is_missing(cell: &str) -> bool {
    matches!(cell.trim(), "" | "NA" | "N/A" | "n/a" | "NaN" | "nan" | "null" | "NULL")
}

/// The number in a cell, also one with an exponent.
fn number(cell: &str) -> Option<f64> {
    let plain = Written::parse(cell).map(|number| number.value());
    plain.or_else(|| cell.trim().parse().ok().filter(|value: &f64| value.is_finite()))
}

impl Column {
    /// Looks at all cells of a column.
    pub(super) fn of(sheet: &Sheet, column: usize) -> Self {
        let all = (0..sheet.n_rows()).map(|row| sheet.cell(row, column));
        let cells: Vec<&str> = all.filter(|cell| !is_missing(cell)).collect();
        let mut counts = HashMap::<String, usize>::new();
        for &cell in &cells {
            *counts.entry(cell.to_owned()).or_default() += 1;
        }
        let (kind, sorted) = kind(&cells, counts.len());
        let known = cells.iter().filter(|&&cell| counts[cell] >= KNOWN).count();
        let name = sheet.names[column].to_lowercase();
        let is_year = kind == Kind::Number
            && (name.contains("year") || name.ends_with("yr"))
            && sorted.iter().all(|value| value.fract() == 0.0 && (1500.0..=2100.0).contains(value));
        Self {
            kind,
            counts,
            sorted,
            missing: 1.0 - cells.len() as f64 / sheet.n_rows().max(1) as f64,
            repeats: known as f64 >= REPEATS * cells.len() as f64,
            is_year,
        }
    }

    /// How often a value occurs.
    pub(super) fn count(&self, value: &str) -> usize {
        self.counts.get(value).copied().unwrap_or(0)
    }

    /// The number in a cell, or the days of a date; `None` if this column has neither, or this cell none.
    pub(super) fn measure(&self, cell: &str) -> Option<f64> {
        match self.kind {
            Kind::Number => number(cell),
            Kind::Date(first) => WrittenDate::parse(cell, first).map(|date| date.days()),
            Kind::Category | Kind::Other => None,
        }
    }

    /// The smallest and the greatest number or date.
    pub(super) fn range(&self) -> (f64, f64) {
        (self.sorted[0], self.sorted[self.sorted.len() - 1])
    }

    /// The distance between the quarters of the numbers or dates.
    pub(super) fn quarters(&self) -> f64 {
        let at = |share: f64| self.sorted[((self.sorted.len() - 1) as f64 * share).round() as usize];
        at(0.75) - at(0.25)
    }

    /// Whether at most one in a hundred numbers that are not zero has another sign than the others.
    pub(super) fn has_one_sign(&self) -> bool {
        let negative = self.sorted.iter().filter(|&&value| value < 0.0).count();
        let positive = self.sorted.iter().filter(|&&value| value > 0.0).count();
        100 * negative.min(positive) <= negative.max(positive)
    }

    /// Whether a look at the column alone shows that a new value does not belong there: it cannot be read, it is outside the
    /// range of the others, or it is a category that none of them has.
    pub(super) fn shows(&self, value: &str) -> bool {
        match (self.kind, self.measure(value)) {
            (Kind::Number | Kind::Date(_), Some(measure)) => {
                measure < self.range().0 || measure > self.range().1
            }
            (Kind::Number | Kind::Date(_), None) => true,
            (Kind::Category | Kind::Other, _) => self.count(value) == 0,
        }
    }
}

/// The kind of a column by its cells, of which `n_distinct` differ, and its numbers or days, sorted.
fn kind(cells: &[&str], n_distinct: usize) -> (Kind, Vec<f64>) {
    if n_distinct < 2 {
        return (Kind::Other, Vec::new());
    }
    let enough = |count: usize| count as f64 >= MOSTLY * cells.len() as f64;
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let numbers: Vec<f64> = cells.iter().filter_map(|cell| number(cell)).collect();
    if enough(numbers.len()) {
        let written: Vec<Written> = cells.iter().filter_map(|cell| Written::parse(cell)).collect();
        let codes = written.iter().filter(|number| number.is_code()).count();
        // Whole numbers that never repeat are identifiers or counters.
        let is_identifier = n_distinct == cells.len() && written.iter().all(Written::is_whole);
        if codes as f64 <= FEW_CODES * cells.len() as f64 {
            let kind = if is_identifier { Kind::Other } else { Kind::Number };
            return (kind, sorted(numbers));
        }
    } else if let Some(first) = First::of(cells) {
        let days: Vec<f64> =
            cells.iter().filter_map(|cell| Some(WrittenDate::parse(cell, first)?.days())).collect();
        if enough(days.len()) {
            return (Kind::Date(first), sorted(days));
        }
    }
    let kind = if 2 * n_distinct <= cells.len() { Kind::Category } else { Kind::Other };
    (kind, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> Column {
        Column::of(&Sheet::parse(format!("year\n\"{}\"\n", cells.join("\"\n\""))).unwrap(), 0)
    }

    #[test]
    fn columns_are_known_by_their_cells() {
        assert_eq!(column(&["1", "2", "2", "NA", "$3.5"]).kind, Kind::Number);
        assert_eq!(column(&["1", "2", "3"]).kind, Kind::Other, "an identifier");
        assert_eq!(column(&["1.0", "2.0", "3.0"]).kind, Kind::Number);
        assert_eq!(column(&["01005", "01007", "01005", "01007"]).kind, Kind::Category, "codes");
        assert_eq!(column(&["1.2.2014", "2.2.2014"]).kind, Kind::Date(First::Day));
        assert_eq!(column(&["a", "a", "b", "b"]).kind, Kind::Category);
        assert_eq!(column(&["a", "b", "b"]).kind, Kind::Other, "mostly different");
        assert_eq!(column(&["a", "a", ""]).kind, Kind::Other, "constant");
    }

    #[test]
    fn a_column_knows_what_is_unlike_its_values() {
        let numbers = column(&["10", "20", "20", "40", "-1"]);
        assert!(numbers.shows("41") && numbers.shows("4O") && !numbers.shows("30"));
        assert_eq!(
            (numbers.range(), numbers.quarters(), numbers.has_one_sign()),
            ((-1.0, 40.0), 10.0, false)
        );
        let levels = column(&["a", "a", "a", "b", "b", "b"]);
        assert!(levels.shows("c") && !levels.shows("b") && levels.repeats && levels.missing == 0.0);
        assert!(column(&["2013", "2014", "2014", "2013"]).is_year && !numbers.is_year);
    }
}
