//! What the cells of a column mean, judged from all of them.
//!
//! Typed columns (Parquet, Arrow, `NumPy`) say it themselves. Text columns are judged by their cells, whatever format
//! they come from, because much Parquet and JSON was CSV once: number if every non-null cell is one, else boolean,
//! else date, else category. A column without values is a number column. `0`/`1` columns are numbers.

use arrow_array::{Array, ArrayRef, StringArray};

use super::{
    ColumnKind, Note, TableError,
    cells::{TypeGroup, to_text},
    dates::{self, DateShape},
    error::excerpt,
    text::{self, NumberCell},
};

/// A share of numbers at which the few other cells are more likely mistakes than names.
const MOSTLY: f64 = 0.98;
/// Fewer cells than this tell nothing about shares.
const FEWEST_CELLS: usize = 50;

/// Judges one column, batch by batch.
#[derive(Debug)]
pub(super) struct Judge {
    column: String,
    rows_seen: usize,
    n_cells: usize,
    n_numbers: usize,
    native: Option<ColumnKind>,
    booleans_only: bool,
    decimal_commas_only: bool,
    dates: Option<Dates>,
    first_cell: Option<String>,
    first_other: Option<(usize, String)>,
    first_long_integer: Option<(usize, String)>,
}

/// What the dates of a column have shown so far.
#[derive(Debug, Clone, Copy, Default)]
struct Dates {
    times_of_day: bool,
    calendar: bool,
    slashes: Slashes,
}

/// What `a/b/yyyy` means in a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Slashes {
    #[default]
    NotSeen,
    Ambiguous,
    MonthFirst,
    DayFirst,
}

impl Dates {
    /// The evidence with one more cell; `None` once the cells contradict each other.
    fn with(self, shape: DateShape) -> Option<Self> {
        let slashes = match (self.slashes, shape) {
            (Slashes::MonthFirst, DateShape::DayFirst) | (Slashes::DayFirst, DateShape::MonthFirst) => {
                return None;
            }
            (_, DateShape::MonthFirst) => Slashes::MonthFirst,
            (_, DateShape::DayFirst) => Slashes::DayFirst,
            (Slashes::NotSeen, DateShape::EitherOrder) => Slashes::Ambiguous,
            (known, _) => known,
        };
        let time_of_day = shape == DateShape::TimeOfDay;
        let times_of_day = self.times_of_day || time_of_day;
        let calendar = self.calendar || !time_of_day;
        (!(times_of_day && calendar)).then_some(Self { times_of_day, calendar, slashes })
    }
}

impl Judge {
    pub(super) fn new(column: &str) -> Self {
        Self {
            column: column.to_owned(),
            rows_seen: 0,
            n_cells: 0,
            n_numbers: 0,
            native: None,
            booleans_only: true,
            decimal_commas_only: true,
            dates: Some(Dates::default()),
            first_cell: None,
            first_other: None,
            first_long_integer: None,
        }
    }

    /// Looks at the next cells of the column.
    pub(super) fn observe(&mut self, array: &ArrayRef) -> Result<(), TableError> {
        match TypeGroup::of(array.data_type()) {
            Some(TypeGroup::Text) => self.observe_text(&to_text(&self.column, array)?),
            group => {
                self.n_cells += array.len() - array.logical_null_count();
                self.native = match group {
                    Some(TypeGroup::Boolean) => Some(ColumnKind::Boolean),
                    Some(TypeGroup::Date) => Some(ColumnKind::Date),
                    Some(_) => Some(ColumnKind::Number),
                    // Nobody can read nested cells; the table may still be used without them.
                    None => Some(ColumnKind::Category),
                };
            }
        }
        self.rows_seen += array.len();
        Ok(())
    }

    fn observe_text(&mut self, cells: &StringArray) {
        for (index, cell) in cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            match text::number(cell.as_bytes()) {
                NumberCell::Null => continue,
                NumberCell::Finite(_) | NumberCell::Infinite => {
                    self.n_numbers += 1;
                    if cell.len() > 15 && self.first_long_integer.is_none() && text::is_long_integer(cell) {
                        self.first_long_integer =
                            Some((self.rows_seen + index + 1, excerpt(cell.trim_ascii())));
                    }
                }
                NumberCell::Other if self.first_other.is_none() => {
                    self.first_other = Some((self.rows_seen + index + 1, excerpt(cell.trim_ascii())));
                }
                NumberCell::Other => {}
            }
            self.n_cells += 1;
            if self.first_other.is_some() || self.n_cells == 1 {
                self.observe_other(cell.trim_ascii());
            }
        }
    }

    /// Tests that matter only once a cell was no number. The first cell is always looked at: it decides for all the
    /// numbers after it, as no number is a boolean or a date; and a number with a decimal comma needs an example.
    fn observe_other(&mut self, cell: &str) {
        self.first_cell.get_or_insert_with(|| excerpt(cell));
        self.booleans_only = self.booleans_only && text::boolean(cell).is_some();
        self.decimal_commas_only = self.decimal_commas_only && text::is_decimal_comma(cell);
        self.dates = self.dates.and_then(|dates| dates.with(dates::shape(cell)?));
    }

    /// The verdict, with what is worth telling about it.
    pub(super) fn finish(self) -> (ColumnKind, Option<Note>) {
        let column = self.column;
        if self.n_cells == 0 {
            return (self.native.unwrap_or(ColumnKind::Number), Some(Note::AllNull { column }));
        }
        if let Some(kind) = self.native {
            return (kind, None);
        }
        let Some((row, value)) = self.first_other else {
            let note = self.first_long_integer.map(|(row, value)| Note::LongIntegers { column, row, value });
            return (ColumnKind::Number, note);
        };
        if self.booleans_only {
            return (ColumnKind::Boolean, None);
        }
        if let Some(dates) = self.dates {
            let day_first = dates.slashes == Slashes::DayFirst;
            let kind = if day_first { ColumnKind::DayFirstDate } else { ColumnKind::Date };
            let ambiguous = dates.slashes == Slashes::Ambiguous;
            let value = self.first_cell.unwrap_or_default();
            return (kind, ambiguous.then_some(Note::AmbiguousDates { column, value }));
        }
        let (n_numbers, n_cells) = (self.n_numbers, self.n_cells);
        let mostly = n_cells >= FEWEST_CELLS && n_numbers as f64 >= MOSTLY * n_cells as f64;
        let note = if mostly {
            Some(Note::MostlyNumbers { column, row, value, n_numbers, n_cells })
        } else if self.decimal_commas_only {
            Some(Note::DecimalCommas { column, value })
        } else {
            None
        };
        (ColumnKind::Category, note)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn judged(cells: &[&str]) -> (ColumnKind, Option<Note>) {
        let mut judge = Judge::new("c");
        // Two batches: the verdict must not depend on where a batch ends.
        let (first, second) = cells.split_at(cells.len() / 2);
        for part in [first, second] {
            judge.observe(&(Arc::new(StringArray::from(part.to_vec())) as ArrayRef)).unwrap();
        }
        judge.finish()
    }

    fn kind(cells: &[&str]) -> ColumnKind {
        judged(cells).0
    }

    #[test]
    fn the_narrowest_kind_that_fits_every_cell_wins() {
        assert_eq!(kind(&["1", "NA", "2.5", "", "-1e3"]), ColumnKind::Number);
        assert_eq!(kind(&["0", "1", "1"]), ColumnKind::Number);
        assert_eq!(kind(&["1", "inf"]), ColumnKind::Number);
        assert_eq!(kind(&["yes", "No", "-", "T"]), ColumnKind::Boolean);
        assert_eq!(kind(&["2024-01-31", "", "2024-02-01 10:00"]), ColumnKind::Date);
        assert_eq!(kind(&["10:30", "23:59:59"]), ColumnKind::Date);
        assert_eq!(kind(&["red", "green"]), ColumnKind::Category);
    }

    #[test]
    fn one_cell_that_does_not_fit_makes_a_category_wherever_it_stands() {
        assert_eq!(kind(&["1", "2", "3", "x"]), ColumnKind::Category);
        assert_eq!(kind(&["1", "yes"]), ColumnKind::Category);
        assert_eq!(kind(&["yes", "1"]), ColumnKind::Category);
        assert_eq!(kind(&["2024-01-31", "5"]), ColumnKind::Category);
        assert_eq!(kind(&["5", "6", "2024-01-31"]), ColumnKind::Category);
        assert_eq!(kind(&["2024-01-31", "10:30"]), ColumnKind::Category);
        assert_eq!(kind(&["true", "2024-01-31"]), ColumnKind::Category);
    }

    #[test]
    fn dates_with_slashes_take_their_order_from_the_cell_that_tells_it() {
        assert_eq!(judged(&["1/2/2024", "31/1/2024"]), (ColumnKind::DayFirstDate, None));
        assert_eq!(judged(&["1/2/2024", "1/31/2024"]), (ColumnKind::Date, None));
        let (kind_found, note) = judged(&["1/2/2024", "3/4/2024"]);
        assert_eq!(kind_found, ColumnKind::Date);
        assert_eq!(note, Some(Note::AmbiguousDates { column: "c".into(), value: "1/2/2024".into() }));
        assert_eq!(kind(&["13/1/2024", "1/13/2024"]), ColumnKind::Category);
    }

    #[test] // 99 numbers of 100 cells are at least 98 %; 48 of 49 cells are too few to tell.
    fn a_column_of_numbers_with_a_slip_is_told() {
        let mut cells = vec!["7"; 100];
        cells[16] = "12,5";
        let (kind_found, note) = judged(&cells);
        assert_eq!(kind_found, ColumnKind::Category);
        assert_eq!(
            note.unwrap().to_string(),
            "column `c`: read as category because row 17 holds `12,5`; 99 of 100 cells are numbers"
        );
        assert_eq!(
            judged(&cells[..49]).1,
            Some(Note::DecimalCommas { column: "c".into(), value: "12,5".into() })
        );
        cells[16] = "x";
        assert_eq!(judged(&cells[..49]), (ColumnKind::Category, None));
    }

    #[test]
    fn columns_without_values_and_long_integers_are_told() {
        assert_eq!(judged(&["", "NA"]), (ColumnKind::Number, Some(Note::AllNull { column: "c".into() })));
        let (kind_found, note) = judged(&["1", "12345678901234567"]);
        assert_eq!(kind_found, ColumnKind::Number);
        assert!(matches!(note, Some(Note::LongIntegers { row: 2, .. })), "{note:?}");
    }
}
