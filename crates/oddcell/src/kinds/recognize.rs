//! What the cells of a column mean, judged from all of them.
//!
//! Typed columns (Parquet, Arrow, `NumPy`) say it themselves. Text columns are judged by their cells, whatever format
//! they come from, because much Parquet and JSON was CSV once: a column is of the first kind on the list that fits
//! every cell that is not null. A column without values is of the first kind, number. `0`/`1` columns are numbers.

use arrow_array::{Array, ArrayRef, StringArray};

use super::{ColumnKind, Notation, Reading, TypeGroup, text, to_text};
use crate::table::{Note, TableError, excerpt};

/// Looks at the cells of a text column, batch by batch.
pub(crate) trait Recognizer {
    /// Looks at more cells; `first_row` rows came before.
    fn observe(&mut self, cells: &StringArray, first_row: usize);

    /// Decides about all cells. At least one has a value.
    fn finish(self: Box<Self>) -> Recognition;
}

/// Whether a column is of a kind. A note is what is worth telling about it, without the column's name.
pub(crate) enum Recognition {
    /// Every cell is.
    Fits { notation: Notation, note: Option<String> },
    /// Some cell is not; the note is worth telling if no other kind has one.
    Differs(Option<String>),
}

/// A cell worth quoting.
pub(super) struct Sighting {
    /// Its row, counted from 1.
    pub(super) row: usize,
    /// Its text, shortened.
    pub(super) value: String,
}

impl Sighting {
    /// The cell in the row `index`, counted from 0.
    pub(super) fn new(index: usize, cell: &str) -> Self {
        Self { row: index + 1, value: excerpt(cell.trim_ascii()) }
    }
}

/// Judges one column, batch by batch.
pub(crate) struct Judge {
    column: String,
    rows_seen: usize,
    has_value: bool,
    by_type: Option<ColumnKind>,
    recognizers: Vec<(ColumnKind, Box<dyn Recognizer>)>,
}

impl Judge {
    pub(crate) fn new(column: &str) -> Self {
        let recognizers = ColumnKind::ALL.iter().map(|&kind| (kind, kind.recognizer())).collect();
        Self { column: column.to_owned(), rows_seen: 0, has_value: false, by_type: None, recognizers }
    }

    /// Looks at the next cells of the column.
    pub(crate) fn observe(&mut self, array: &ArrayRef) -> Result<(), TableError> {
        if TypeGroup::of(array.data_type()) == Some(TypeGroup::Text) {
            let cells = to_text(&self.column, array)?;
            self.has_value = self.has_value || cells.iter().flatten().any(|cell| !text::is_null(cell));
            for (_, recognizer) in &mut self.recognizers {
                recognizer.observe(&cells, self.rows_seen);
            }
        } else {
            self.has_value = self.has_value || array.logical_null_count() < array.len();
            // Nobody can read nested cells, which are left to the last kind; a table can be used without them.
            self.by_type = ColumnKind::ALL.iter().copied().find(|kind| kind.holds(array.data_type()));
        }
        self.rows_seen += array.len();
        Ok(())
    }

    /// Returns how the column is read, with what is worth telling about it.
    pub(crate) fn finish(self) -> (Reading, Option<Note>) {
        let column = self.column;
        if !self.has_value {
            let kind = self.by_type.unwrap_or(ColumnKind::ALL[0]);
            return (kind.into(), Some(Note::AllNull { column }));
        }
        if let Some(kind) = self.by_type {
            return (kind.into(), None);
        }
        let mut near_miss = None;
        for (kind, recognizer) in self.recognizers {
            match recognizer.finish() {
                Recognition::Fits { notation, note } => {
                    let note = note.or(near_miss).map(|text| Note::Recognized { column, text });
                    return (Reading { kind, notation }, note);
                }
                Recognition::Differs(note) => near_miss = near_miss.or(note),
            }
        }
        unreachable!("the last kind fits any cell")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn judged(cells: &[&str]) -> (Reading, Option<Note>) {
        let mut judge = Judge::new("c");
        // Two batches: the verdict must not depend on where a batch ends.
        let (first, second) = cells.split_at(cells.len() / 2);
        for part in [first, second] {
            judge.observe(&(Arc::new(StringArray::from(part.to_vec())) as ArrayRef)).unwrap();
        }
        judge.finish()
    }

    fn kind(cells: &[&str]) -> ColumnKind {
        judged(cells).0.kind
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
        let day_first = Reading { kind: ColumnKind::Date, notation: Notation { day_first: true } };
        assert_eq!(judged(&["1/2/2024", "31/1/2024"]), (day_first, None));
        assert_eq!(judged(&["1/2/2024", "1/31/2024"]), (ColumnKind::Date.into(), None));
        let (found, note) = judged(&["1/2/2024", "3/4/2024"]);
        assert_eq!(found, ColumnKind::Date.into());
        assert_eq!(
            note.unwrap().to_string(),
            "column `c`: dates such as `1/2/2024` are read month first, because no cell shows the order"
        );
        assert_eq!(kind(&["13/1/2024", "1/13/2024"]), ColumnKind::Category);
    }

    #[test] // 99 numbers of 100 cells are at least 98 %; 48 of 49 cells are too few to tell.
    fn a_column_of_numbers_with_a_slip_gets_a_note() {
        let mut cells = vec!["7"; 100];
        cells[16] = "12,5";
        let (found, note) = judged(&cells);
        assert_eq!(found.kind, ColumnKind::Category);
        assert_eq!(
            note.unwrap().to_string(),
            "column `c`: read as category because row 17 holds `12,5`; 99 of 100 cells are numbers"
        );
        assert_eq!(
            judged(&cells[..49]).1.unwrap().to_string(),
            "column `c`: read as category; cells such as `12,5` look like numbers with a decimal comma, but numbers \
             need a dot"
        );
        cells[16] = "x";
        assert_eq!(judged(&cells[..49]), (ColumnKind::Category.into(), None));
    }

    #[test]
    fn columns_without_values_and_with_long_integers_get_a_note() {
        assert_eq!(
            judged(&["", "NA"]),
            (ColumnKind::Number.into(), Some(Note::AllNull { column: "c".into() }))
        );
        let (found, note) = judged(&["1", "12345678901234567"]);
        assert_eq!(found.kind, ColumnKind::Number);
        assert_eq!(
            note.unwrap().to_string(),
            "column `c`: row 2 holds `12345678901234567`; only the first 15 digits of such a number count"
        );
    }
}
