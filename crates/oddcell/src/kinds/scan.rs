//! What one text cell means: null, number, truth value.
//!
//! Inference, scoring and writing share one list of null tokens and one reading of numbers, so a cell cannot be a
//! number in one place and a null in another. Spaces around a cell do not count.

use serde::de::IgnoredAny;

/// Text that stands for "no value", ignoring case and the spaces around it.
pub const NULL_TOKENS: [&str; 12] =
    ["", "NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "none", "nil", "?", "-"];

/// Whether a cell stands for "no value".
#[must_use]
pub fn is_null(cell: &str) -> bool {
    let cell = cell.trim_ascii();
    cell.len() <= 4 && NULL_TOKENS.iter().any(|token| token.eq_ignore_ascii_case(cell))
}

/// A cell read as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NumberCell {
    Null,
    Finite(f64),
    /// `inf`, `-Infinity`, or a number too large for 64 bits (`1e999`).
    Infinite,
    Other,
}

/// Powers of ten that a 64-bit float holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Reads a cell as a number.
#[inline]
pub(super) fn number(cell: &[u8]) -> NumberCell {
    match plain_decimal(cell) {
        Some(value) => NumberCell::Finite(value),
        None => any_number(cell),
    }
}

/// The number in a cell, if there is a finite one.
#[inline]
pub(super) fn finite_number(cell: &str) -> Option<f64> {
    match number(cell.as_bytes()) {
        NumberCell::Finite(value) => Some(value),
        NumberCell::Null | NumberCell::Infinite | NumberCell::Other => None,
    }
}

/// Reads the notation of nearly every number in nearly every file: an optional minus, digits, perhaps a dot and more
/// digits. With at most 15 digits, both the digits as a whole number and the power of ten are exact. So their quotient
/// is correctly rounded: the same bits as the standard library's, in a fraction of the time.
#[inline]
fn plain_decimal(cell: &[u8]) -> Option<f64> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, cell),
    };
    let (whole, decimals) = if digits.len() <= 8 { short_decimal(digits)? } else { long_decimal(digits)? };
    let value = whole as f64 / EXACT_POWERS[decimals];
    Some(if negative { -value } else { value })
}

/// Every byte of a word the same.
const fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The digits of at most eight characters as a whole number, and how many of them follow the dot. It looks at
/// all characters at once, in one 64-bit word: the lengths of numbers vary from cell to cell, and a loop would cost
/// more in mispredicted branches than in work.
#[inline]
fn short_decimal(digits: &[u8]) -> Option<(u64, usize)> {
    let n = digits.len();
    // 1. The characters in one word, the first in the lowest byte. Two loads may overlap: they agree where they do.
    let word = match digits {
        [] => return None,
        [first] => u64::from(*first),
        [first, .., last] if n < 4 => {
            u64::from(*first) | u64::from(digits[1]) << 8 | u64::from(*last) << (8 * (n - 1))
        }
        _ => {
            let four = |at: usize| {
                digits[at..].first_chunk::<4>().map(|chunk| u64::from(u32::from_le_bytes(*chunk)))
            };
            four(0)? | four(n - 4)? << (8 * (n - 4))
        }
    };
    // 2. Moved to the upper bytes, with zeros in front.
    let zeros = repeated(b'0');
    let word = if n == 8 { word } else { word << (8 * (8 - n)) | zeros >> (8 * n) };
    // 3. The first dot is taken out by moving what stands before it over it.
    let others = word ^ repeated(b'.');
    let dots = others.wrapping_sub(repeated(1)) & !others & repeated(0x80);
    let (word, decimals) = if dots == 0 {
        (word, 0)
    } else {
        let before = dots.trailing_zeros() & !7;
        let low = word & ((1 << before) - 1);
        let high = word & (!0xFF << before);
        (high & !(0xFF << before) | low << 8 | u64::from(b'0'), 7 - before as usize / 8)
    };
    // 4. Nothing but digits is left, and at least one was there.
    let all_digits =
        word & repeated(0xF0) == zeros && word.wrapping_add(repeated(6)) & repeated(0xF0) == zeros;
    if !all_digits || (dots != 0 && n == 1) {
        return None;
    }
    // 5. Pairs, then fours, then eight digits are added up side by side.
    let pairs = (word & repeated(0x0F)).wrapping_mul(10 << 8 | 1) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(100 << 16 | 1) >> 16;
    let eight = (fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(10_000 << 32 | 1) >> 32;
    Some((eight, decimals))
}

/// The same for at most 15 digits, one by one.
fn long_decimal(digits: &[u8]) -> Option<(u64, usize)> {
    if digits.len() > 16 {
        return None;
    }
    let mut whole: u64 = 0;
    let mut dot = digits.len();
    for (at, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            whole = whole * 10 + u64::from(digit);
        } else if byte == b'.' && dot == digits.len() {
            dot = at;
        } else {
            return None;
        }
    }
    let n_digits = digits.len() - usize::from(dot < digits.len());
    (n_digits <= 15).then(|| (whole, (digits.len() - dot).saturating_sub(1)))
}

fn any_number(cell: &[u8]) -> NumberCell {
    let Ok(cell) = std::str::from_utf8(cell.trim_ascii()) else { return NumberCell::Other };
    if is_null(cell) {
        return NumberCell::Null;
    }
    match cell.parse::<f64>() {
        // "-nan" and "+nan" parse, but are neither in the list of nulls nor numbers.
        Ok(value) if value.is_nan() => NumberCell::Other,
        Ok(value) if value.is_infinite() => NumberCell::Infinite,
        Ok(value) => NumberCell::Finite(value),
        Err(_) => NumberCell::Other,
    }
}

/// Reads a cell as a truth value: true, yes, t or false, no, f, ignoring case.
pub(super) fn boolean(cell: &str) -> Option<bool> {
    let cell = cell.trim_ascii();
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| word.eq_ignore_ascii_case(cell));
    if cell.len() > 5 {
        None
    } else if is_one_of(["true", "yes", "t"]) {
        Some(true)
    } else if is_one_of(["false", "no", "f"]) {
        Some(false)
    } else {
        None
    }
}

/// A truth value in the words of this cell: `No` beside `Yes`; `None` if the cell has no such words.
pub(super) fn boolean_like(truth: bool, cell: &str) -> Option<&'static str> {
    const PAIRS: [[&str; 2]; 9] = [
        ["false", "true"],
        ["False", "True"],
        ["FALSE", "TRUE"],
        ["no", "yes"],
        ["No", "Yes"],
        ["NO", "YES"],
        ["f", "t"],
        ["F", "T"],
        ["n", "y"],
    ];
    let pair = PAIRS.into_iter().find(|pair| pair.contains(&cell.trim_ascii()))?;
    Some(pair[usize::from(truth)])
}

/// A whole number that a 64-bit float may not hold exactly: 16 digits or more.
pub(super) fn is_long_integer(cell: &str) -> bool {
    let digits = cell.trim_ascii().trim_start_matches(['-', '+']).trim_start_matches('0');
    digits.len() > 15 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a number as JSON writes it: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`
pub(crate) fn is_json_number(text: &[u8]) -> bool {
    // The ends tell numbers from other JSON, and from numbers with spaces around them.
    matches!(text, [b'-' | b'0'..=b'9', ..])
        && text.last().is_some_and(u8::is_ascii_digit)
        && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Writes a cell as a JSON string.
pub(crate) fn write_json_string(cell: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, cell).expect("a vector takes every string");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn null_tokens_are_known_in_any_case_and_with_spaces_around() {
        for cell in [
            "", "  ", "NA", "na", " n/a ", "NaN", "nan", "NULL", "None", "nil", "?", "-", "NaT", "<NA>",
            "#N/A",
        ] {
            assert!(is_null(cell), "{cell:?}");
        }
        for cell in ["0", "--", "nan1", "no", "n.a.", "nothing"] {
            assert!(!is_null(cell), "{cell:?}");
        }
        let longest = NULL_TOKENS.iter().map(|token| token.len()).max();
        assert_eq!(longest, Some(4), "the shortcut in is_null relies on it");
    }

    #[test]
    fn numbers_are_read_in_the_notations_people_use() {
        let cells =
            [("1", 1.0), ("-0.5", -0.5), ("+3", 3.0), ("1e5", 1e5), (".5", 0.5), ("5.", 5.0), (" 7 ", 7.0)];
        for (cell, value) in cells {
            assert_eq!(number(cell.as_bytes()), NumberCell::Finite(value), "{cell:?}");
        }
        for cell in ["inf", "-Infinity", "+INF", "1e999"] {
            assert_eq!(number(cell.as_bytes()), NumberCell::Infinite, "{cell:?}");
        }
        for cell in ["abc", "1,5", "12 000", "0x10", ".", "-.", "1.2.3", "--1", "-nan", "1_000", "٣"] {
            assert_eq!(number(cell.as_bytes()), NumberCell::Other, "{cell:?}");
        }
        assert_eq!(number(b"-"), NumberCell::Null);
    }

    #[test]
    fn long_integers_are_noticed() {
        assert!(is_long_integer("1234567890123456"));
        assert!(!is_long_integer("123456789012345"));
        assert!(!is_long_integer("0.1234567890123456"));
        assert!(!is_long_integer("0000000000000000001"));
    }

    proptest! {
        // Law: the short way gives the very bits of the standard library, sign of zero included.
        #[test]
        fn plain_decimals_are_correctly_rounded(cell in "-?[0-9]{0,17}(\\.[0-9]{0,17})?") {
            if let Some(value) = plain_decimal(cell.as_bytes()) {
                prop_assert_eq!(value.to_bits(), cell.parse::<f64>().unwrap().to_bits());
            } else {
                let digits = cell.bytes().filter(u8::is_ascii_digit).count();
                prop_assert!(digits == 0 || digits > 15, "{}", cell);
            }
        }

        #[test]
        fn every_float_that_is_written_is_read_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(number(value.to_string().as_bytes()), NumberCell::Finite(value));
            prop_assert_eq!(number(format!("{value:e}").as_bytes()), NumberCell::Finite(value));
        }
    }
}
