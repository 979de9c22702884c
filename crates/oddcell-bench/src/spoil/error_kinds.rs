//! The kinds of errors, and which cells they fit.
//!
//! | kind | what happens | cells it fits |
//! |---|---|---|
//! | `typo` | a letter is swapped with the next, dropped, doubled or replaced | categories with at least three letters whose value occurs at least three times; the result is no value of the column |
//! | `case or blank` | all lower or upper case, a blank in front, or a blank doubled | as for `typo`, with one letter |
//! | `unseen level` | a made-up level | categories in a column whose levels repeat |
//! | `unreadable number` | `18OO`, `l2`, `12,,5`, `45o` | numbers |
//! | `factor ten` | the point moves to the right: `12.5` becomes `125` | numbers other than zero |
//! | `shifted decimal` | the point moves to the left: `12.5` becomes `1.25` | numbers other than zero |
//! | `sign` | a minus is added or removed | numbers other than zero, in columns where at most 1 % has another sign |
//! | `extreme` | the column's greatest number and five times the distance of its quarters, or the same below the smallest if that is negative | numbers in columns whose quarters differ |
//! | `placeholder` | `-999` or `9999` if outside the column's range, or `?` | numbers, dates and categories in columns with at most 5 % missing cells |
//! | `wrong century` | the year is 100 years later or earlier | dates, and years in columns of that name |
//! | `impossible date` | the 30th of February, the 31st of April, or month 13 | dates |
//! | `swapped columns` | two cells of a row change places | two numbers, two dates or two categories that differ |
//! | `contradiction` | the value of another row; numbers and dates differ by at least the distance of the column's quarters | categories, numbers, dates |

use std::fmt;

use oddcell::seed::Stream;

use super::{
    column::{Column, KNOWN, Kind, is_missing},
    dates::WrittenDate,
    numbers::Written,
    sheet::Sheet,
};

/// How often a random change is tried until it gives a value that fits.
const TRIES: usize = 50;
/// Levels that no column has.
const UNSEEN: [&str; 12] = [
    "misc",
    "legacy",
    "reserve",
    "type 7",
    "to check",
    "Omega",
    "Qx",
    "K-9",
    "new entry",
    "Delta 4",
    "ZZ",
    "tbd",
];
/// Numbers that stand for a missing value.
const PLACEHOLDERS: [&str; 2] = ["-999", "9999"];
/// The text that stands for a missing value.
const QUESTION: &str = "?";
/// Missing cells are ordinary in columns with more of them.
const FEW_MISSING: f64 = 0.05;

/// A kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// A misspelled category.
    Typo,
    /// Another case, or a blank too many.
    CaseOrBlank,
    /// A category that no other row has.
    UnseenLevel,
    /// A number with a letter or two separators in it.
    UnreadableNumber,
    /// Ten times the number.
    FactorTen,
    /// A tenth of the number.
    ShiftedDecimal,
    /// The number with the other sign.
    Sign,
    /// A number far outside the range of its column.
    Extreme,
    /// A number or a question mark that stands for a missing value.
    Placeholder,
    /// A date or year off by 100 years.
    WrongCentury,
    /// A date that does not exist.
    ImpossibleDate,
    /// Two cells that changed places.
    SwappedColumns,
    /// The value of another row.
    Contradiction,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Typo,
        Self::CaseOrBlank,
        Self::UnseenLevel,
        Self::UnreadableNumber,
        Self::FactorTen,
        Self::ShiftedDecimal,
        Self::Sign,
        Self::Extreme,
        Self::Placeholder,
        Self::WrongCentury,
        Self::ImpossibleDate,
        Self::SwappedColumns,
        Self::Contradiction,
    ];

    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Typo => "typo",
            Self::CaseOrBlank => "case or blank",
            Self::UnseenLevel => "unseen level",
            Self::UnreadableNumber => "unreadable number",
            Self::FactorTen => "factor ten",
            Self::ShiftedDecimal => "shifted decimal",
            Self::Sign => "sign",
            Self::Extreme => "extreme",
            Self::Placeholder => "placeholder",
            Self::WrongCentury => "wrong century",
            Self::ImpossibleDate => "impossible date",
            Self::SwappedColumns => "swapped columns",
            Self::Contradiction => "contradiction",
        }
    }

    /// New values for cells of a row, by column; `None` if this kind fits no cell of the row.
    pub(super) fn change(
        self,
        sheet: &Sheet,
        columns: &[Column],
        row: usize,
        stream: &mut Stream,
    ) -> Option<Vec<(usize, String)>> {
        let mut order = stream.permutation(columns.len());
        order.retain(|&column| !is_missing(sheet.cell(row, column)));
        if self == Self::SwappedColumns {
            return swapped(sheet, columns, row, &order);
        }
        order.into_iter().find_map(|at| {
            let (column, cell) = (&columns[at], sheet.cell(row, at));
            let value = self.changed(column, cell, stream).or_else(|| {
                (self == Self::Contradiction).then(|| other_value(sheet, column, (row, at), stream)).flatten()
            })?;
            (value != cell).then(|| vec![(at, value)])
        })
    }

    /// A new value for a cell that is not missing, if this kind fits it and needs nothing but its column.
    fn changed(self, column: &Column, cell: &str, stream: &mut Stream) -> Option<String> {
        let number = || Written::parse(cell).filter(|_| column.kind == Kind::Number);
        let nonzero = || number().filter(|number| number.value() != 0.0);
        let date = || match column.kind {
            Kind::Date(first) => WrittenDate::parse(cell, first),
            Kind::Number | Kind::Category | Kind::Other => None,
        };
        let is_category = column.kind == Kind::Category;
        match self {
            Self::Typo | Self::CaseOrBlank if !is_category || column.count(cell) < KNOWN => None,
            Self::Typo => retried(stream, |stream| typo(cell, stream), |value| column.count(value) == 0),
            Self::CaseOrBlank => {
                retried(stream, |stream| other_form(cell, stream), |value| column.count(value) == 0)
            }
            Self::UnseenLevel if is_category && column.repeats => retried(
                stream,
                |stream| Some(pick(&UNSEEN, stream).to_owned()),
                |value| column.count(value) == 0,
            ),
            Self::UnreadableNumber => number().map(|number| unreadable(&number.text(), stream)),
            Self::FactorTen => nonzero().map(|number| number.times_ten().text()),
            Self::ShiftedDecimal => nonzero().map(|number| number.tenth().text()),
            Self::Sign => nonzero().filter(|_| column.has_one_sign()).map(|number| number.negated().text()),
            Self::Extreme => {
                let (number, step) = (number()?, 5.0 * column.quarters());
                let (least, most) = column.range();
                let is_below = least < 0.0 && stream.uniform() < 0.5;
                let value = if is_below { least - step } else { most + step };
                (step > 0.0).then(|| number.with_value(value).text())
            }
            Self::Placeholder if column.kind != Kind::Other && column.missing <= FEW_MISSING => {
                let outside = |text: &&&str| column.kind == Kind::Number && column.shows(text);
                let mut choices: Vec<&str> = PLACEHOLDERS.iter().filter(outside).copied().collect();
                choices.extend((column.count(QUESTION) == 0).then_some(QUESTION));
                (!choices.is_empty()).then(|| pick(&choices, stream).to_owned())
            }
            Self::WrongCentury => {
                let years = if stream.uniform() < 0.5 { -100 } else { 100 };
                let year = || number().filter(|_| column.is_year);
                date()
                    .map(|date| date.years_later(years))
                    .or_else(|| year().map(|number| number.with_value(number.value() + years as f64).text()))
            }
            Self::ImpossibleDate => {
                let (month, day) = pick(&[(2, 30), (4, 31), (13, 1)], stream);
                date().map(|date| date.with_month_and_day(month, day))
            }
            Self::UnseenLevel | Self::Placeholder | Self::SwappedColumns | Self::Contradiction => None,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

fn pick<T: Copy>(choices: &[T], stream: &mut Stream) -> T {
    choices[stream.below(choices.len())]
}

/// The first of some tries that fits.
fn retried(
    stream: &mut Stream,
    mut one: impl FnMut(&mut Stream) -> Option<String>,
    fits: impl Fn(&str) -> bool,
) -> Option<String> {
    (0..TRIES).find_map(|_| one(stream).filter(|value| fits(value)))
}

/// The cell with one letter wrong; `None` if it has fewer than three letters, or if nothing changed.
fn typo(cell: &str, stream: &mut Stream) -> Option<String> {
    let mut letters: Vec<char> = cell.chars().collect();
    let places: Vec<usize> = (0..letters.len()).filter(|&at| letters[at].is_alphabetic()).collect();
    if places.len() < 3 {
        return None;
    }
    let at = pick(&places, stream);
    match stream.below(4) {
        0 if letters.get(at + 1).is_some_and(|next| next.is_alphabetic()) => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => {
            let letter = char::from(b'a' + stream.below(26) as u8);
            letters[at] = if letters[at].is_uppercase() { letter.to_ascii_uppercase() } else { letter };
        }
    }
    let changed: String = letters.into_iter().collect();
    (changed != cell).then_some(changed)
}

/// The cell in another case or with another blank; `None` if it has no letter, or if nothing changed.
fn other_form(cell: &str, stream: &mut Stream) -> Option<String> {
    if !cell.chars().any(char::is_alphabetic) {
        return None;
    }
    let changed = match stream.below(4) {
        0 => cell.to_lowercase(),
        1 => cell.to_uppercase(),
        2 => format!(" {cell}"),
        _ => cell.trim_start().replacen(' ', "  ", 1),
    };
    (changed != cell).then_some(changed)
}

/// A number that no program reads: letters that look like digits, two separators, or a letter after it.
fn unreadable(cell: &str, stream: &mut Stream) -> String {
    let mut forms = vec![format!("{cell}o")];
    forms.extend(cell.contains('0').then(|| cell.replace('0', "O")));
    forms.extend(cell.contains('1').then(|| cell.replacen('1', "l", 1)));
    forms.extend(cell.contains('.').then(|| cell.replacen('.', ",,", 1)));
    forms.swap_remove(stream.below(forms.len()))
}

/// The first two columns of the same kind whose cells in this row differ, with each other's values.
fn swapped(sheet: &Sheet, columns: &[Column], row: usize, order: &[usize]) -> Option<Vec<(usize, String)>> {
    let fits = |a: usize, b: usize| {
        columns[a].kind != Kind::Other
            && columns[a].kind == columns[b].kind
            && sheet.cell(row, a) != sheet.cell(row, b)
    };
    let pairs = order.iter().enumerate().flat_map(|(at, &a)| order[at + 1..].iter().map(move |&b| (a, b)));
    let (a, b) = pairs.into_iter().find(|&(a, b)| fits(a, b))?;
    let value = |column: usize| sheet.cell(row, column).to_owned();
    Some(vec![(a, value(b)), (b, value(a))])
}

/// The value of another row in this column, if a few tries find one that differs enough.
fn other_value(
    sheet: &Sheet,
    column: &Column,
    (row, at): (usize, usize),
    stream: &mut Stream,
) -> Option<String> {
    if column.kind == Kind::Other {
        return None;
    }
    let cell = sheet.cell(row, at);
    let differs = |value: &str| match (column.measure(cell), column.measure(value)) {
        (Some(a), Some(b)) => a != b && (a - b).abs() >= column.quarters(),
        (None, None) => value != cell && column.kind == Kind::Category,
        _ => false,
    };
    retried(
        stream,
        |stream| Some(sheet.cell(stream.below(sheet.n_rows()), at).to_owned()),
        |value| !is_missing(value) && differs(value),
    )
}
