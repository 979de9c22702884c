//! What the cells of a column mean, judged from all of them.
//!
//! Typed columns (Parquet, Arrow, `NumPy`) say it themselves. Text columns are judged by their cells, whatever format
//! they come from, because much Parquet and JSON was CSV once: a column is of the first kind on the list that fits
//! every cell that is not null. A column without values is of the first kind, number. `0`/`1` columns are numbers.
//!
//! *A few slips do not change the kind.* If no kind but text and category fits every cell, a column is of the first kind that fits
//! at least 10 cells and 9 of 10, as long as the others are slips and not names. They are names, and the column is text or
//! category, if there are more than three of them, they are at least 1 % of the cells, and
//!
//! - they repeat: fewer than half of them differ (`V57`, `V58` among diagnoses such as `250`), unless all are one word
//!   without a digit (`unknown`) in a column of numbers or dates; or
//! - all of them are codes: a letter first, and a digit later (`A12` among `7` and `15`).

use std::collections::HashSet;

use arrow_array::{Array, ArrayRef, StringArray, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::{
    ColumnKind, Notation, NumberNotation, Reading, TypeGroup,
    arrow::written,
    date::{OpenEnds, seconds_of},
    epoch::{Epoch, Moments},
    scan, to_text,
    written::{Placeholders, is_integer},
};
use crate::{
    count::counted,
    table::{TableError, excerpt},
};

/// Looks at the cells of a text column, batch by batch.
pub(crate) trait Recognizer {
    /// Looks at more cells; `first_row` rows came before.
    fn observe(&mut self, cells: &StringArray, first_row: usize);

    /// Decides about all cells.
    fn finish(self: Box<Self>) -> Recognition;
}

/// Whether a column is of a kind. A note says what a reader should know about the column, without its name.
pub(crate) enum Recognition {
    /// Every cell is.
    Fits { notation: Notation, note: Option<String> },
    /// Nearly every cell is; the note says which ones are not.
    Nearly { notation: Notation, misfits: Unreadable, note: Option<String> },
    /// Some cell is not; the note, "because …", is shown if no other kind has one.
    Differs(Option<String>),
}

impl Recognition {
    /// The same, except that these cells cannot be read although they are of the kind.
    pub(super) fn without(self, cells: Unreadable) -> Self {
        match self {
            Self::Fits { notation, note } if cells.cells > 0 => {
                Self::Nearly { notation, misfits: cells, note }
            }
            Self::Nearly { notation, mut misfits, note } => {
                misfits.merge(cells);
                Self::Nearly { notation, misfits, note }
            }
            Self::Fits { .. } | Self::Differs(_) => self,
        }
    }

    /// The same for cells in this notation, with a note about how they are read.
    pub(super) fn read_in(self, notation: Notation, note: Option<String>) -> Self {
        match self {
            Self::Fits { .. } => Self::Fits { notation, note },
            Self::Nearly { misfits, .. } => Self::Nearly { notation, misfits, note },
            Self::Differs(_) => self,
        }
    }
}

/// A cell worth quoting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Its row, counted from 1.
    pub row: usize,
    /// Its text, shortened.
    pub value: String,
}

/// Cells of a column that are not of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unreadable {
    /// How many there are.
    pub cells: u64,
    /// The first of them.
    pub first: Option<Sighting>,
}

impl Unreadable {
    /// The cells of `array` at these positions; `first_row` rows come before.
    pub(crate) fn of(array: &ArrayRef, positions: &[u32], first_row: usize) -> Self {
        let first =
            positions.first().map(|&at| Sighting::new(first_row + at as usize, &written(array, at as usize)));
        Self { cells: positions.len() as u64, first }
    }

    /// Adds the cells of later rows.
    pub(crate) fn add(&mut self, later: &Self) {
        self.cells += later.cells;
        if self.first.is_none() {
            self.first.clone_from(&later.first);
        }
    }

    /// Adds cells of the same rows.
    pub(super) fn merge(&mut self, others: Self) {
        self.cells += others.cells;
        let firsts = [self.first.take(), others.first];
        self.first = firsts.into_iter().flatten().min_by_key(|sighting| sighting.row);
    }

    /// One sentence, without the column and without a full stop; `None` if every cell can be read.
    pub(crate) fn note(&self, reading: Reading) -> Option<String> {
        let Sighting { row, value } = self.first.as_ref()?;
        let cells = counted(self.cells as usize, "cell", "cells");
        let example = if self.cells == 1 { "namely" } else { "such as" };
        let expected = reading.kind.expected(reading.notation);
        Some(format!("{cells} cannot be read as {expected}, {example} `{value}` in row {row}"))
    }
}

/// The least number of cells that fit a kind although others do not.
const LEAST_FITTING: usize = 10;
/// One in so many cells may be a slip.
const SLIPS: usize = 10;
/// So few cells can always be slips.
const FEW: usize = 3;
/// One in so many cells may be a slip even if it repeats: `18OO` was copied.
const RARE_NAMES: usize = 100;
/// So many different misfits are remembered; more say nothing new.
const MOST_REMEMBERED: usize = 1_000;

/// Cells that do not fit a kind.
#[derive(Default)]
pub(super) struct Misfits {
    found: Unreadable,
    /// Those that differ, and how many cells they are.
    different: HashSet<Box<str>>,
    remembered: usize,
    /// Those that start with a letter and have a digit.
    codes: usize,
    /// Those with a digit.
    with_digit: usize,
}

impl Misfits {
    /// One more, in the row `index`, counted from 0.
    pub(super) fn add(&mut self, index: usize, cell: &str) {
        let cell = cell.trim_ascii();
        self.found.cells += 1;
        self.found.first.get_or_insert_with(|| Sighting::new(index, cell));
        if self.different.len() < MOST_REMEMBERED {
            self.remembered += 1;
            if !self.different.contains(cell) {
                self.different.insert(cell.into());
            }
        }
        let has_digit = cell.bytes().any(|byte| byte.is_ascii_digit());
        self.with_digit += usize::from(has_digit);
        self.codes += usize::from(has_digit && cell.starts_with(char::is_alphabetic));
    }

    /// More of them, which would fit a column of their own.
    pub(super) fn add_others(&mut self, count: usize, first: Option<Sighting>) {
        self.found.merge(Unreadable { cells: count as u64, first });
    }

    /// Adds the others.
    pub(super) fn absorb(&mut self, others: Self) {
        self.found.merge(others.found);
        self.different.extend(others.different);
        self.remembered += others.remembered;
        self.codes += others.codes;
        self.with_digit += others.with_digit;
    }

    /// Whether there are so many more misfits than fitting cells that looking on is a waste of time.
    pub(super) fn rule_out(&self, fitting: usize) -> bool {
        self.found.cells as usize > MOST_REMEMBERED + fitting
    }

    /// Whether all are one word without a digit, and more than a few.
    pub(super) fn repeat_a_word(&self) -> bool {
        self.found.cells as usize > FEW && self.different.len() == 1 && self.with_digit == 0
    }

    /// Whether they are names beside `fitting` cells of the kind, by the rule in the module docs.
    fn are_names(&self, fitting: usize) -> bool {
        let n = self.found.cells as usize;
        let repeat = self.different.len() * 2 < self.remembered && !self.repeat_a_word();
        n > FEW && n * RARE_NAMES >= n + fitting && (repeat || self.codes == n)
    }

    /// Decides about a column in which `fitting` cells fit.
    pub(super) fn judged(&self, fitting: usize) -> Recognition {
        let (notation, note, n) = (Notation::default(), None, self.found.cells as usize);
        if n == 0 {
            return Recognition::Fits { notation, note };
        }
        if fitting < LEAST_FITTING || n * SLIPS > n + fitting || self.are_names(fitting) {
            return Recognition::Differs(None);
        }
        Recognition::Nearly { notation, misfits: self.found.clone(), note }
    }
}

/// What a reader should know about a number that stands for "no value".
pub(super) fn placeholder_note(number: i32, rows: usize) -> String {
    format!("`{number}` in {} is read as missing", counted(rows, "row", "rows"))
}

impl Sighting {
    /// The cell in the row `index`, counted from 0.
    pub(super) fn new(index: usize, cell: &str) -> Self {
        Self { row: index + 1, value: excerpt(cell.trim_ascii()) }
    }
}

/// How a column is read as `kind`, whatever it looks like.
pub(crate) fn reading_as<'a>(
    column: &str,
    kind: ColumnKind,
    arrays: impl Iterator<Item = &'a ArrayRef>,
) -> Result<Reading, TableError> {
    let (mut recognizer, mut rows_seen) = (kind.recognizer(), 0);
    let arrays: Vec<&ArrayRef> = arrays.collect();
    if kind == ColumnKind::Date
        && let Some(notation) = epoch_of(column, &arrays)?
    {
        return Ok(Reading { kind, notation });
    }
    for array in arrays {
        if TypeGroup::of(array.data_type()) != Some(TypeGroup::Text) {
            return Ok(kind.into());
        }
        recognizer.observe(&to_text(column, array)?, rows_seen);
        rows_seen += array.len();
    }
    Ok(match recognizer.finish() {
        Recognition::Fits { notation, .. } => Reading { kind, notation },
        Recognition::Nearly { notation, .. } => {
            Reading { kind, notation: Notation { mixed: true, ..notation } }
        }
        Recognition::Differs(_) => {
            Reading { kind, notation: Notation { mixed: true, ..Notation::default() } }
        }
    })
}

/// How numbers are read as dates if a user says that they are; `None` if the cells are no numbers, or dates already.
fn epoch_of(column: &str, arrays: &[&ArrayRef]) -> Result<Option<Notation>, TableError> {
    let (mut n_numbers, mut n_others, mut largest, mut is_whole) = (0, 0, 0.0_f64, true);
    for array in arrays {
        match TypeGroup::of(array.data_type()) {
            Some(TypeGroup::Number) => {
                let numbers = cast(array, &DataType::Float64).expect("numbers cast to floats");
                for number in numbers.as_primitive::<Float64Type>().iter().flatten() {
                    (n_numbers, largest) = (n_numbers + 1, largest.max(number.abs()));
                    is_whole = is_whole && number.fract() == 0.0;
                }
            }
            Some(TypeGroup::Text) => {
                for cell in to_text(column, array)?.iter().flatten().filter(|cell| !scan::is_null(cell)) {
                    match scan::finite_number(cell) {
                        Some(number) => {
                            (n_numbers, largest) = (n_numbers + 1, largest.max(number.abs()));
                            is_whole = is_whole && is_integer(cell.trim_ascii().as_bytes());
                        }
                        None => n_others += 1,
                    }
                }
            }
            Some(TypeGroup::Null) => {}
            Some(TypeGroup::Boolean | TypeGroup::Date) | None => return Ok(None),
        }
    }
    let epoch = (n_numbers > n_others).then(|| Epoch::of_largest(largest));
    let number = NumberNotation { whole: is_whole, ..NumberNotation::default() };
    Ok(epoch.map(|epoch| Notation { epoch: Some(epoch), number, ..Notation::default() }))
}

/// Judges one column, batch by batch.
pub(crate) struct Judge {
    column: String,
    rows_seen: usize,
    has_value: bool,
    by_type: Option<Reading>,
    /// Of a column of typed whole numbers.
    moments: Moments,
    /// Of a column of typed numbers, or of typed dates.
    placeholders: Placeholders,
    open_ends: OpenEnds,
    /// Cells with a question mark.
    unknown: usize,
    recognizers: Vec<(ColumnKind, Box<dyn Recognizer>)>,
}

impl Judge {
    pub(crate) fn new(column: &str) -> Self {
        let recognizers = ColumnKind::ALL.iter().map(|&kind| (kind, kind.recognizer())).collect();
        Self {
            column: column.to_owned(),
            rows_seen: 0,
            has_value: false,
            by_type: None,
            moments: Moments::default(),
            placeholders: Placeholders::default(),
            open_ends: OpenEnds::default(),
            unknown: 0,
            recognizers,
        }
    }

    /// Looks at the next cells of the column.
    pub(crate) fn observe(&mut self, array: &ArrayRef) -> Result<(), TableError> {
        if TypeGroup::of(array.data_type()) == Some(TypeGroup::Text) {
            let cells = to_text(&self.column, array)?;
            self.has_value = self.has_value || cells.iter().flatten().any(|cell| !scan::is_null(cell));
            self.unknown += cells.iter().flatten().filter(|cell| cell.trim_ascii() == "?").count();
            for (_, recognizer) in &mut self.recognizers {
                recognizer.observe(&cells, self.rows_seen);
            }
        } else {
            self.has_value = self.has_value || array.logical_null_count() < array.len();
            // Nobody can read nested cells, which are left to the last kind; a table can be used without them.
            let kind = ColumnKind::ALL.iter().copied().find(|kind| kind.holds(array.data_type()));
            // As in text: whole numbers stay whole if they fit into 64 bits with a sign.
            let whole = array.data_type().is_integer() && *array.data_type() != DataType::UInt64;
            let number = NumberNotation { whole, ..NumberNotation::default() };
            self.by_type =
                kind.map(|kind| Reading { kind, notation: Notation { number, ..Notation::default() } });
            match TypeGroup::of(array.data_type()) {
                Some(TypeGroup::Number) => {
                    let numbers = cast(array, &DataType::Float64).expect("numbers cast to floats");
                    let numbers = numbers.as_primitive::<Float64Type>().iter().flatten();
                    for number in numbers.filter(|number| number.is_finite()) {
                        self.placeholders.add(number);
                        self.moments.add(if whole { number } else { 0.0 });
                    }
                }
                Some(TypeGroup::Date) => {
                    let moments = seconds_of(array).into_iter().filter(|moment| !moment.is_nan());
                    moments.for_each(|moment| self.open_ends.add(Some(moment)));
                }
                Some(TypeGroup::Null | TypeGroup::Boolean | TypeGroup::Text) | None => {}
            }
        }
        self.rows_seen += array.len();
        Ok(())
    }

    /// Returns how the column is read, and a note about it if the reader should know something.
    pub(crate) fn finish(self) -> (Reading, Option<String>) {
        let (unknown, has_value) = (self.unknown, self.has_value);
        let (reading, note) = self.by_cells();
        let unknown = (has_value && unknown > 0)
            .then(|| format!("`?` in {} is read as missing", counted(unknown, "row", "rows")));
        let notes: Vec<String> = note.into_iter().chain(unknown).collect();
        (reading, (!notes.is_empty()).then(|| notes.join("; ")))
    }

    /// The same without the note about question marks.
    fn by_cells(self) -> (Reading, Option<String>) {
        if !self.has_value {
            let reading = self.by_type.unwrap_or(ColumnKind::ALL[0].into());
            return (reading, Some("no cell has a value".to_owned()));
        }
        if let (Some(Reading { notation, .. }), Some(epoch)) = (self.by_type, self.moments.unit()) {
            let notation = Notation { epoch: Some(epoch), ..notation };
            let note = format!("whole numbers are read as {} since 1970", epoch.name());
            return (Reading { kind: ColumnKind::Date, notation }, Some(note));
        }
        if let Some(Reading { kind, mut notation }) = self.by_type {
            let open_ends = self.open_ends.note();
            notation.open_ended = open_ends.is_some();
            let missing = self.placeholders.found().filter(|_| kind == ColumnKind::Number);
            notation.number.missing = missing.map(|(number, _)| number);
            let missing = missing.map(|(number, rows)| placeholder_note(number, rows));
            return (Reading { kind, notation }, missing.or(open_ends));
        }
        let (mut near_miss, mut nearly) = (None, None);
        for (kind, recognizer) in self.recognizers {
            match recognizer.finish() {
                Recognition::Fits { notation, note } => {
                    let read_as = |why| format!("read as {}, {why}", kind.name());
                    let fits_all = (Reading { kind, notation }, note.or(near_miss.map(read_as)));
                    return nearly.filter(|_| kind.takes_anything()).unwrap_or(fits_all);
                }
                Recognition::Nearly { notation, misfits, note } => {
                    let reading = Reading { kind, notation: Notation { mixed: true, ..notation } };
                    let texts: Vec<String> = misfits.note(reading).into_iter().chain(note).collect();
                    nearly = nearly.or(Some((reading, Some(texts.join("; ")))));
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

    fn judged(cells: &[&str]) -> (Reading, Option<String>) {
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
        let day_first =
            Reading { kind: ColumnKind::Date, notation: Notation { day_first: true, ..Notation::default() } };
        assert_eq!(judged(&["1/2/2024", "31/1/2024"]), (day_first, None));
        assert_eq!(judged(&["1/2/2024", "1/31/2024"]), (ColumnKind::Date.into(), None));
        let (found, note) = judged(&["1/2/2024", "3/4/2024"]);
        assert_eq!(found, ColumnKind::Date.into());
        assert_eq!(
            note.unwrap(),
            "dates such as `1/2/2024` are read month first, because no cell shows the order"
        );
        assert_eq!(kind(&["13/1/2024", "1/13/2024"]), ColumnKind::Category);
    }

    #[test]
    fn a_few_cells_that_cannot_be_read_do_not_change_the_kind_and_are_noted() {
        let mut prices = vec!["1800"; 40];
        (prices[16], prices[30]) = ("18OO", "45o000");
        let (found, note) = judged(&prices);
        assert_eq!(found.kind, ColumnKind::Number);
        assert_eq!(note.unwrap(), "2 cells cannot be read as a number, such as `18OO` in row 17");
        let mut days = vec!["2014-02-28"; 12];
        days[3] = "2014-02-30";
        let (found, note) = judged(&days);
        assert_eq!(found.kind, ColumnKind::Date);
        assert_eq!(note.unwrap(), "1 cell cannot be read as a date or time, namely `2014-02-30` in row 4");
        let mut answers = vec!["yes"; 12];
        (answers[0], answers[1]) = ("yse", "no");
        assert_eq!(kind(&answers), ColumnKind::Boolean);
        let mut orders = vec!["31/1/2024"; 12];
        orders[5] = "1/31/2024";
        let (found, note) = judged(&orders);
        assert!(found.kind == ColumnKind::Date && found.notation.day_first);
        assert!(note.unwrap().ends_with("namely `1/31/2024` in row 6"));
    }

    #[test] // Norway is no answer, and Sweden no slip.
    fn one_word_alone_is_no_truth_value_but_true_and_false_are() {
        assert_eq!(kind(&["NO"; 40]), ColumnKind::Category);
        assert_eq!(kind(&[vec!["NO"; 40], vec!["SE"; 2]].concat()), ColumnKind::Category);
        assert_eq!(kind(&["F"; 40]), ColumnKind::Category);
        assert_eq!(kind(&["No", "Yes", "No"]), ColumnKind::Boolean);
        assert_eq!(kind(&["true"; 40]), ColumnKind::Boolean);
        assert_eq!(kind(&["False"; 40]), ColumnKind::Boolean);
    }

    #[test] // The rule allows one slip in ten cells, and needs ten cells that fit.
    fn too_many_cells_of_another_kind_make_a_category() {
        let with = |slips: &[&'static str], fitting: usize| kind(&[slips, &vec!["7"; fitting]].concat());
        assert_eq!(with(&["x"], 10), ColumnKind::Number);
        assert_eq!(with(&["x"], 9), ColumnKind::Category);
        assert_eq!(with(&["x", "yy"], 18), ColumnKind::Number);
        assert_eq!(with(&["x", "yy"], 17), ColumnKind::Category);
    }

    #[test]
    fn codes_and_words_that_repeat_are_names_and_not_slips() {
        let with = |misfits: &[&'static str]| kind(&[misfits, &vec!["250"; 200]].concat());
        assert_eq!(with(&["A12", "B7", "C 9", "D-1"]), ColumnKind::Category); // codes
        assert_eq!(with(&["12a", "7-9", "3b", "A1"]), ColumnKind::Number);
        assert_eq!(with(&["5V", "6V", "5V", "6V", "5V"]), ColumnKind::Category); // repeated
        assert_eq!(with(&["unknown"; 15]), ColumnKind::Number); // one word
        // Four of 5,000 cells are too few to be names, even if they repeat.
        for (fitting, expected) in [(397, ColumnKind::Number), (396, ColumnKind::Category)] {
            assert_eq!(kind(&[vec!["18OO"; 4], vec!["250"; fitting]].concat()), expected, "{fitting}");
        }
        let mut answers = vec!["yes"; 100];
        answers[8] = "no";
        answers[..8].fill("maybe");
        assert_eq!(kind(&answers), ColumnKind::Category);
    }

    #[test]
    fn numbers_in_other_notations_are_numbers_and_what_is_uncertain_gets_a_note() {
        let (found, note) = judged(&["7", "12,5"]);
        assert!(found.kind == ColumnKind::Number && found.notation.number.decimal_comma);
        assert_eq!(note.unwrap(), "numbers such as `12,5` are read with a decimal comma");
        let (found, note) = judged(&["$297,000.00", "$5", "", "NA"]);
        assert_eq!((found.kind, found.notation.number.affix.as_str(), note), (ColumnKind::Number, "$", None));
        assert_eq!(kind(&["1,234", "5,678"]), ColumnKind::Number);
        assert_eq!(kind(&["12 kg", "3 lb"]), ColumnKind::Category);
        assert_eq!(judged(&["7", "x"]), (ColumnKind::Category.into(), None));
    }

    #[test]
    fn numbers_with_leading_zeros_are_codes() {
        let (found, note) = judged(&["01005", "36061", "06037"]);
        assert_eq!(found.kind, ColumnKind::Category);
        assert_eq!(
            note.unwrap(),
            "read as category, because numbers such as `01005` start with a zero and so are codes"
        );
        let zips: Vec<String> = (0..40).map(|zip| format!("{:05}", 1_005 + 517 * zip)).collect();
        let (found, note) = judged(&zips.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(found.kind == ColumnKind::Text && note.unwrap().starts_with("read as text, because numbers"));
        assert_eq!(kind(&["01125", "10001"]), ColumnKind::Category);
        assert_eq!(kind(&["0", "0.5", "00.5", "-0.1"]), ColumnKind::Number);
        assert_eq!(kind(&["0", "7", "5"]), ColumnKind::Number);
        assert_eq!(kind(&["0123", "7", "15"]), ColumnKind::Number); // one slip
    }

    #[test]
    fn seconds_since_1970_are_dates_in_text_and_in_types() {
        let seconds: Vec<i64> = (0..40).map(|row| 1_700_000_000 + 3_600 * row).collect();
        let mut cells: Vec<String> = seconds.iter().map(i64::to_string).collect();
        cells[7] = "1700000x00".to_owned();
        let (found, note) = judged(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((found.kind, found.notation.epoch), (ColumnKind::Date, Some(Epoch::Seconds)));
        let note = note.unwrap();
        assert!(
            note.ends_with("whole numbers such as `1700000000` are read as seconds since 1970"),
            "{note}"
        );
        let typed: ArrayRef = Arc::new(arrow_array::Int64Array::from(seconds));
        let mut judge = Judge::new("c");
        judge.observe(&typed).unwrap();
        let (found, note) = judge.finish();
        assert_eq!(
            (found.kind, note.unwrap().as_str()),
            (ColumnKind::Date, "whole numbers are read as seconds since 1970")
        );
        // What a user calls a date need not be of our time.
        let early: ArrayRef = Arc::new(StringArray::from(vec!["86400", "172800"]));
        let reading = reading_as("c", ColumnKind::Date, [&early].into_iter()).unwrap();
        assert_eq!((reading.notation.epoch, reading.arrow_type()), (Some(Epoch::Seconds), DataType::Int64));
    }

    #[test]
    fn a_placeholder_is_read_as_missing_and_noted() {
        let (found, note) = judged(&["18", "44", "-999", "31", "-999", "90", "-999", "2"]);
        assert_eq!(found.notation.number.missing, Some(-999));
        assert_eq!(note.unwrap(), "`-999` in 3 rows is read as missing");
        let (found, note) = judged(&["18", "44", "-999", "31", "-999", "90"]);
        assert_eq!((found.notation.number.missing, note), (None, None));
    }

    #[test]
    fn placeholders_in_types_dates_at_the_end_of_time_and_question_marks_are_noted() {
        let by_type = |array: ArrayRef| {
            let mut judge = Judge::new("c");
            judge.observe(&array).unwrap();
            judge.finish()
        };
        let numbers = [18.0, 44.0, -999.0, 31.0, -999.0, 90.0, -999.0, 2.0];
        let (found, note) = by_type(Arc::new(arrow_array::Float64Array::from(numbers.to_vec())));
        assert_eq!(
            (found.notation.number.missing, note.unwrap().as_str()),
            (Some(-999), "`-999` in 3 rows is read as missing")
        );
        let (found, note) =
            by_type(Arc::new(arrow_array::Date32Array::from(vec![19_000, 19_001, 2_932_896])));
        assert!(found.notation.open_ended);
        assert_eq!(note.unwrap(), "`9999-12-31` in 1 row is read as missing");
        let (found, note) = judged(&["2024-01-31", "2024-02-01", "9999-12-31", "?"]);
        assert!(found.notation.open_ended);
        assert_eq!(
            note.unwrap(),
            "`9999-12-31` in 1 row is read as missing; `?` in 1 row is read as missing"
        );
    }

    #[test]
    fn columns_without_values_and_with_long_integers_get_a_note() {
        assert_eq!(judged(&["", "NA"]), (ColumnKind::Number.into(), Some("no cell has a value".into())));
        let (found, note) = judged(&["1", "12345678901234567"]);
        assert_eq!(found.kind, ColumnKind::Number);
        assert_eq!(
            note.unwrap(),
            "row 2 holds `12345678901234567`; only the first 15 digits of such a number count"
        );
    }
}
