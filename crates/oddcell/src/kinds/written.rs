//! Numbers as people write them: `1,234.5`, `$297,000.00`, `1.234,56 €`, `12 kg`, `12.5 %`, `(3)`.
//!
//! A cell is an optional sign or parentheses (both negative), a figure, and a text before it (a currency) or after it (a
//! currency, `%`, or a unit). The figure has digits, perhaps in groups of three, and perhaps decimals. All cells
//! of a column together tell whether a dot or a comma separates the decimals, and which text stands beside the
//! figures ([`Tally`]); later tables are read in the same way.

use serde::{Deserialize, Serialize};

use super::{
    recognize::{Sighting, Unreadable},
    scan::{self, NumberCell},
};

/// How the numbers of a column are written. By default they have digits, sign, dot and exponent, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct NumberNotation {
    /// Whether a comma separates the decimals.
    pub decimal_comma: bool,
    /// Whether digits may stand in groups: `1,234,567`.
    pub grouped: bool,
    /// Whether negative numbers may stand in parentheses, or have another minus sign than the hyphen.
    pub signs: bool,
    /// The text that may stand beside the figures: a currency, `%`, or a unit. Empty if there is none.
    pub affix: Affix,
    /// The number that stands for "no value", if there is one.
    pub missing: Option<i32>,
    /// Whether all numbers are whole, and written as 64-bit integers are.
    pub whole: bool,
}

impl NumberNotation {
    /// Whether every number is written with digits, sign, dot and exponent.
    pub(super) fn is_plain(self) -> bool {
        Self { missing: None, whole: false, ..self } == Self::default()
    }

    /// Whether a number stands for "no value".
    #[inline]
    pub(super) fn stands_for_null(self, number: f64) -> bool {
        self.missing.is_some_and(|missing| f64::from(missing) == number)
    }

    /// Writes a number, which is given in digits with a dot, as the column is written. `like` is a cell of the column whose
    /// text around the figure stays.
    pub(super) fn dress(self, plain: &str, like: Option<&str>) -> String {
        let (negative, digits) = plain.strip_prefix('-').map_or((false, plain), |digits| (true, digits));
        let like = like.and_then(|cell| Parts::of(cell).map(|parts| (cell, parts)));
        let affix = self.affix.as_str();
        let (before, after) = match &like {
            Some((cell, parts)) if parts.affix == affix => {
                let (before, after) = cell.trim().split_once(parts.figure).unwrap_or(("", ""));
                let bare = |text: &str| text.replace(['-', '−', '+', '(', ')'], "");
                (bare(before), bare(after))
            }
            _ if affix.is_empty() => Default::default(),
            _ if SYMBOLS.iter().any(|symbol| affix.starts_with(*symbol)) && !self.decimal_comma => {
                (affix.to_owned(), String::new())
            }
            _ if affix == "%" => (String::new(), affix.to_owned()),
            _ => (String::new(), format!(" {affix}")),
        };
        let (whole, decimals) =
            digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
        let is_plain_number = whole.bytes().all(|byte| byte.is_ascii_digit());
        let mut text = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if self.grouped && is_plain_number && at > 0 && (whole.len() - at).is_multiple_of(3) {
                text.push(if self.decimal_comma { '.' } else { ',' });
            }
            text.push(digit);
        }
        if let Some(decimals) = decimals {
            text.push(if self.decimal_comma { ',' } else { '.' });
            text.push_str(decimals);
        }
        format!("{}{before}{text}{after}", if negative { "-" } else { "" })
    }

    /// Reads a cell, whatever number stands for "no value".
    #[inline]
    pub(super) fn read(self, cell: &[u8]) -> NumberCell {
        let plainly = scan::number(cell);
        match plainly {
            NumberCell::Other if !self.is_plain() => {}
            // `1.234` are four digits here.
            NumberCell::Finite(_) if self.decimal_comma && cell.contains(&b'.') => {}
            NumberCell::Finite(_) | NumberCell::Null | NumberCell::Infinite | NumberCell::Other => {
                return plainly;
            }
        }
        let Ok(cell) = std::str::from_utf8(cell) else { return NumberCell::Other };
        let fits = |parts: &Parts<'_>| parts.affix.is_empty() || parts.affix == self.affix.as_str();
        let Some(parts) = Parts::of(cell).filter(fits) else { return NumberCell::Other };
        let decimal = if self.decimal_comma { ',' } else { '.' };
        match figure(parts.figure, decimal) {
            Some((value, grouped)) if self.grouped || !grouped => {
                NumberCell::Finite(if parts.negative { -value } else { value })
            }
            _ => NumberCell::Other,
        }
    }
}

/// A short text without the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Affix {
    bytes: [u8; Self::LONGEST],
    len: u8,
}

impl Affix {
    const LONGEST: usize = 12;

    fn new(text: &str) -> Option<Self> {
        let mut affix = Self { len: text.len() as u8, ..Self::default() };
        affix.bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(affix)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl TryFrom<String> for Affix {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or("a unit has at most 12 bytes")
    }
}

impl From<Affix> for String {
    fn from(affix: Affix) -> Self {
        affix.as_str().to_owned()
    }
}

/// Currencies that may stand before a number, beside symbols.
const CURRENCIES: [&str; 28] = [
    "USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK",
    "HUF", "BRL", "MXN", "ZAR", "KRW", "RUB", "TRY", "US$", "A$", "C$", "R$", "Rs", "kr",
];
const SYMBOLS: [char; 9] = ['$', '€', '£', '¥', '₹', '₽', '₩', '¢', '₺'];

/// The parts of a cell.
struct Parts<'a> {
    negative: bool,
    figure: &'a str,
    affix: &'a str,
}

impl<'a> Parts<'a> {
    fn of(cell: &'a str) -> Option<Self> {
        let cell = cell.trim();
        let inner = cell.strip_prefix('(').and_then(|cell| cell.strip_suffix(')'));
        let (mut negative, mut rest) = (inner.is_some(), inner.unwrap_or(cell).trim());
        let mut sign = |rest: &mut &'a str| {
            if let Some(after) = rest.strip_prefix(['-', '−', '+']) {
                let minus = !rest.starts_with('+');
                *rest = after.trim_start();
                return !(minus && std::mem::replace(&mut negative, true));
            }
            true
        };
        if !sign(&mut rest) {
            return None; // (-5)
        }
        let before = rest.find(|c: char| c.is_ascii_digit() || matches!(c, '-' | '−' | '.' | ','))?;
        let (prefix, mut rest) = rest.split_at(before);
        if !prefix.is_empty() && !sign(&mut rest) {
            return None;
        }
        let end = rest.rfind(|c: char| c.is_ascii_digit())? + 1;
        let (figure, suffix) = (&rest[..end], rest[end..].trim_start());
        let prefix = prefix.trim_end();
        let is_currency = CURRENCIES.contains(&prefix)
            || prefix.chars().all(|c| SYMBOLS.contains(&c)) && prefix.chars().count() == 1;
        let affix = match (prefix.is_empty(), suffix.is_empty()) {
            (true, _) if is_unit(suffix) => suffix,
            (false, true) if is_currency => prefix,
            _ => return None,
        };
        (affix.len() <= Affix::LONGEST).then_some(Self { negative, figure, affix })
    }
}

/// Whether a text can stand after a number: letters and signs such as `km/h`, `°C`, `%`, `€`; or nothing.
fn is_unit(text: &str) -> bool {
    let signs = |c: char| SYMBOLS.contains(&c) || matches!(c, '%' | '‰' | '°' | '/' | '²' | '³' | '·');
    text.chars().all(|c| c.is_alphabetic() || signs(c))
}

/// The value of digits with this sign before the decimals, and whether the digits are in groups.
fn figure(text: &str, decimal: char) -> Option<(f64, bool)> {
    let (whole, decimals) =
        text.split_once(decimal).map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if decimals.is_some_and(|decimals| !is_digits(decimals)) {
        return None;
    }
    let separators = [if decimal == '.' { ',' } else { '.' }, '\'', '’', ' ', '\u{a0}', '\u{202f}'];
    let grouped = whole.contains(separators);
    let mut plain = String::with_capacity(text.len());
    if grouped {
        let separator = whole.chars().find(|c| separators.contains(c))?;
        let groups: Vec<&str> = whole.split(separator).collect();
        let (first, others) = groups.split_first()?;
        let fits = (1..=3).contains(&first.len()) && others.iter().all(|group| group.len() == 3);
        if !fits || !groups.iter().all(|group| is_digits(group)) || (first.starts_with('0')) {
            return None;
        }
        for group in groups {
            plain.push_str(group);
        }
    } else if whole.is_empty() && decimals.is_some() {
        plain.push('0');
    } else if is_digits(whole) {
        plain.push_str(whole);
    } else {
        return None;
    }
    if let Some(decimals) = decimals {
        plain.push('.');
        plain.push_str(decimals);
    }
    scan::finite_number(&plain).map(|value| (value, grouped))
}

/// What a figure tells about the sign before the decimals.
#[derive(Clone, Copy)]
enum Shape {
    /// Nothing: there is neither a dot nor a comma.
    Plain,
    /// `1,234.5`, `1,234,567`: only a dot can separate the decimals.
    Dot,
    /// `12,5`, `1.234,5`: only a comma can.
    Comma,
    /// `1,234`.
    EitherComma,
    /// `1.234`.
    EitherDot,
}

const N_SHAPES: usize = 5;
/// More different texts beside the figures are not counted.
const MOST_AFFIXES: usize = 16;

/// Cells of one shape.
#[derive(Default)]
struct Cells {
    found: Unreadable,
    /// Those with digits in groups.
    grouped: usize,
    /// Those that differ from plain numbers in their sign alone.
    signs: usize,
}

/// What the cells of a column tell about its notation.
#[derive(Default)]
pub(super) struct Tally {
    /// Numbers without a dot that are written plainly.
    plain: usize,
    /// Numbers with a dot that are written plainly: only a dot can separate the decimals, or a comma can as well.
    plain_dots: [Unreadable; 2],
    /// Counts by text beside the figure and by shape.
    affixes: Vec<(String, [Cells; N_SHAPES])>,
}

/// What a [`Tally`] says.
pub(super) struct Told {
    pub(super) notation: NumberNotation,
    /// Cells in this notation.
    pub(super) fitting: usize,
    /// Cells in another one. Without those that have a text beside the figure if the column has none.
    pub(super) others: Unreadable,
    pub(super) note: Option<String>,
}

impl Tally {
    /// Counts a finite number that is written plainly.
    #[inline]
    pub(super) fn add_plain(&mut self, index: usize, cell: &str) {
        if !cell.as_bytes().contains(&b'.') {
            self.plain += 1;
            return;
        }
        let digits = cell.trim_start_matches(['-', '+']).as_bytes();
        let n_whole = digits.len().saturating_sub(4);
        let is_either = (1..=3).contains(&n_whole)
            && digits[n_whole] == b'.'
            && digits[0] != b'0'
            && digits[n_whole + 1..].iter().all(u8::is_ascii_digit);
        let found = &mut self.plain_dots[usize::from(is_either)];
        found.cells += 1;
        if found.first.is_none() {
            found.first = Some(Sighting::new(index, cell));
        }
    }

    /// Counts a cell that is not written plainly; returns whether there is a text beside the figure. `None` if the cell is no
    /// number in any notation.
    pub(super) fn add(&mut self, index: usize, cell: &str) -> Option<bool> {
        let parts = Parts::of(cell)?;
        let (dot, comma) = (figure(parts.figure, '.'), figure(parts.figure, ','));
        let (shape, grouped) = match (dot, comma) {
            (Some((_, grouped)), Some(_)) if parts.figure.contains(',') => (Shape::EitherComma, grouped),
            (Some(_), Some((_, grouped))) if parts.figure.contains('.') => (Shape::EitherDot, grouped),
            (Some((_, grouped)), Some(_)) => (Shape::Plain, grouped),
            (Some((_, grouped)), None) => (Shape::Dot, grouped),
            (None, Some((_, grouped))) => (Shape::Comma, grouped),
            (None, None) => return None,
        };
        let cells = self.count(parts.affix, shape, grouped, index, cell)?;
        cells.signs += usize::from(parts.affix.is_empty() && !grouped);
        Some(!parts.affix.is_empty())
    }

    fn count(
        &mut self,
        affix: &str,
        shape: Shape,
        grouped: bool,
        index: usize,
        cell: &str,
    ) -> Option<&mut Cells> {
        let known = self.affixes.iter().position(|(known, _)| known == affix);
        let at = match known {
            Some(at) => at,
            None if self.affixes.len() == MOST_AFFIXES => return None,
            None => {
                self.affixes.push((affix.to_owned(), Default::default()));
                self.affixes.len() - 1
            }
        };
        let cells = &mut self.affixes[at].1[shape as usize];
        cells.grouped += usize::from(grouped);
        cells.found.cells += 1;
        cells.found.first.get_or_insert_with(|| Sighting::new(index, cell));
        Some(cells)
    }

    /// Decides. A text beside the figures belongs to the column if at least half of its numbers have it. The decimals follow
    /// a comma if more cells need that than need a dot.
    pub(super) fn told(self) -> Told {
        let counts =
            |shapes: &[Cells; N_SHAPES]| shapes.iter().map(|cells| cells.found.cells as usize).sum::<usize>();
        let plain_dots: u64 = self.plain_dots.iter().map(|found| found.cells).sum();
        let total: usize = self.plain
            + plain_dots as usize
            + self.affixes.iter().map(|(_, shapes)| counts(shapes)).sum::<usize>();
        let widest = self.affixes.iter().filter(|(affix, _)| !affix.is_empty());
        let widest = widest.rev().max_by_key(|(_, shapes)| counts(shapes));
        let affix = widest.filter(|(_, shapes)| counts(shapes) * 2 >= total).map(|(affix, _)| affix.clone());
        let affix = affix.unwrap_or_default();
        let mut told = Told {
            notation: NumberNotation::default(),
            fitting: self.plain,
            others: Unreadable::default(),
            note: None,
        };
        told.notation.affix = Affix::new(&affix).unwrap_or_default();
        let mut ours: [Cells; N_SHAPES] = Default::default();
        let [dot, either] = self.plain_dots;
        ours[Shape::Dot as usize].found = dot;
        ours[Shape::EitherDot as usize].found = either;
        for (found, shapes) in self.affixes {
            for (sum, cells) in ours.iter_mut().zip(shapes) {
                if found.is_empty() || found == affix {
                    sum.found.merge(cells.found);
                    sum.grouped += cells.grouped;
                    sum.signs += cells.signs;
                } else if !affix.is_empty() {
                    told.others.merge(cells.found);
                }
            }
        }
        let [plain, dot, comma, either_comma, either_dot] = ours;
        let decimal_comma = comma.found.cells > dot.found.cells;
        told.notation.decimal_comma = decimal_comma;
        let (grouped, wrong) =
            if decimal_comma { (either_dot.found.cells, &dot) } else { (either_comma.found.cells, &comma) };
        let right = if decimal_comma { &comma } else { &dot };
        told.notation.signs = plain.signs + right.signs > 0 && !decimal_comma;
        told.notation.grouped = grouped > 0 || plain.grouped + right.grouped > 0;
        for cells in [&plain, right, &either_comma, &either_dot] {
            told.fitting += cells.found.cells as usize;
        }
        told.others.merge(wrong.found.clone());
        let example = |cells: &Cells| cells.found.first.as_ref().map(|first| first.value.clone());
        told.note = if decimal_comma {
            example(&comma).map(|value| format!("numbers such as `{value}` are read with a decimal comma"))
        } else if dot.found.cells + plain.grouped as u64 == 0 {
            example(&either_comma).map(|value| {
                format!("the comma in numbers such as `{value}` is read as a thousands separator, because no cell shows decimals")
            })
        } else {
            None
        };
        told
    }
}

/// Whether a cell is written as a 64-bit integer is: no plus, no leading zero, at most 18 digits.
#[inline]
pub(super) fn is_integer(cell: &[u8]) -> bool {
    match cell.strip_prefix(b"-").unwrap_or(cell) {
        b"0" => cell.len() == 1,
        digits @ [b'1'..=b'9', ..] => digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Numbers that often stand for "no value".
const PLACEHOLDERS: [i32; 8] = [-99, -999, -9_999, -99_999, 999, 9_999, 99_999, 999_999];

/// Looks for a number that stands for "no value".
///
/// *Rule:* one of [`PLACEHOLDERS`], in at least three cells and at most half of them. It is negative, and no other number
/// is; or it is more than five times as far from the other numbers as these are apart.
pub(super) struct Placeholders {
    counts: [usize; PLACEHOLDERS.len()],
    others: usize,
    min: f64,
    max: f64,
}

impl Default for Placeholders {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { counts: [0; PLACEHOLDERS.len()], others: 0, min, max }
    }
}

impl Placeholders {
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        if !(-98.0..=998.0).contains(&value)
            && let Some(at) = PLACEHOLDERS.iter().position(|&placeholder| f64::from(placeholder) == value)
        {
            self.counts[at] += 1;
            return;
        }
        self.others += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// The number and the cells that have it.
    pub(super) fn found(&self) -> Option<(i32, usize)> {
        let width = self.max - self.min;
        let is_placeholder = |&(placeholder, count): &(i32, usize)| {
            let value = f64::from(placeholder);
            let is_far = (value - self.max).max(self.min - value) > 5.0 * width && width > 0.0;
            (3..=self.others).contains(&count) && (is_far || (value < 0.0 && self.min >= 0.0))
        };
        PLACEHOLDERS.into_iter().zip(self.counts).filter(is_placeholder).max_by_key(|&(_, count)| count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cells: &[&str]) -> Told {
        let mut tally = Tally::default();
        for (index, cell) in cells.iter().enumerate() {
            match scan::number(cell.as_bytes()) {
                NumberCell::Finite(_) => tally.add_plain(index, cell),
                _ => assert!(tally.add(index, cell).is_some(), "{cell}"),
            }
        }
        tally.told()
    }

    #[track_caller]
    fn assert_read(cells: &[&str], values: &[f64]) {
        let Told { notation, fitting, others, .. } = told(cells);
        assert_eq!((fitting, others.cells), (cells.len(), 0), "{notation:?}");
        for (cell, &value) in cells.iter().zip(values) {
            assert_eq!(notation.read(cell.as_bytes()), NumberCell::Finite(value), "{cell} {notation:?}");
        }
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_read(&["1,234,567.5", "12", "1,000"], &[1_234_567.5, 12.0, 1_000.0]);
        assert_read(&["$297,000.00", "-$5", "$-5.50", "($1,200)"], &[297_000.0, -5.0, -5.5, -1_200.0]);
        assert_read(&["1.234,56 €", "3 €", "1.000 €"], &[1_234.56, 3.0, 1_000.0]);
        assert_read(&["£5", "£1,005"], &[5.0, 1_005.0]);
        assert_read(&["USD 12", "USD 1.5"], &[12.0, 1.5]);
        assert_read(&["12.5%", "7 %"], &[12.5, 7.0]);
        assert_read(&["12,5", "7", "0,25", "1.234"], &[12.5, 7.0, 0.25, 1_234.0]);
        assert_read(&["12 kg", "7.5kg", "3"], &[12.0, 7.5, 3.0]);
        assert_read(&["1 234 567", "12\u{a0}000", "5"], &[1_234_567.0, 12_000.0, 5.0]);
        assert_read(&["(3)", "4.5"], &[-3.0, 4.5]);
        assert_read(&["−3", "4"], &[-3.0, 4.0]);
    }

    #[test]
    fn a_comma_before_three_digits_separates_thousands_unless_another_cell_has_a_decimal_comma() {
        let found = told(&["1,234", "5,678"]);
        assert!(found.notation.grouped && !found.notation.decimal_comma);
        assert!(
            found.note.unwrap().starts_with("the comma in numbers such as `1,234` is read as a thousands")
        );
        assert!(told(&["1,234", "5,67"]).notation.decimal_comma);
        assert!(told(&["1,234", "5.67"]).note.is_none());
        assert!(told(&["1.234", "5.678"]).notation.is_plain());
    }

    #[test]
    fn other_notations_are_counted_as_others() {
        let found = told(&["1.5 kg", "2 kg", "3 lb", "2,5 kg"]);
        assert_eq!((found.notation.affix.as_str(), found.fitting, found.others.cells), ("kg", 2, 2));
        assert_eq!(found.others.first.unwrap().row, 3);
        assert_eq!(found.notation.read(b"3 lb"), NumberCell::Other);
        assert_eq!(told(&["7", "8", "9 kg"]).notation.affix.as_str(), "");
        let plain = NumberNotation::default();
        for cell in ["1,234", "$5", "7%", "(3)"] {
            assert_eq!(plain.read(cell.as_bytes()), NumberCell::Other, "{cell}");
        }
    }

    #[test]
    fn what_is_no_number_in_any_notation_is_none() {
        let others = [
            "A12",
            "2014-02-30",
            "12:30",
            "1.2.3.4",
            "31.01.2024",
            "PC 17599",
            "1,2,3",
            "--5",
            "(-5)",
            "12-14",
            "<5",
            ",",
            "$",
            "1,23,456",
            "0,123,456",
            "12 34",
            "",
        ];
        for cell in others {
            assert!(Tally::default().add(0, cell).is_none(), "{cell}");
        }
    }

    #[test] // The others lie from 0 to 90: 999 is more than 5 · 90 above them, 99 would not be.
    fn placeholders_are_repeated_and_far_from_all_other_numbers() {
        let found = |placeholder: f64, times: usize, others: &[f64]| {
            let mut looked = Placeholders::default();
            for &value in others {
                looked.add(value);
            }
            (0..times).for_each(|_| looked.add(placeholder));
            looked.found()
        };
        let ages = [0.0, 18.0, 90.0, 44.0, 31.0];
        assert_eq!(found(-999.0, 3, &ages), Some((-999, 3)));
        assert_eq!(found(999.0, 3, &ages), Some((999, 3)));
        assert_eq!(found(-999.0, 2, &ages), None);
        assert_eq!(found(-999.0, 6, &ages), None);
        assert_eq!(found(-999.0, 3, &[-500.0, 0.0, 700.0]), None);
        assert_eq!(found(9_999.0, 3, &[0.0, 8_000.0, 12_000.0]), None);
    }
}
