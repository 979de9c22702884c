//! Names and numbers in figures.
//!
//! *Invariants:* the result of [`fit`] has no control characters (XML forbids them), no invisible characters that
//! reverse or hide text, and at most the requested width, unless a single letter is wider. The SVG writer escapes
//! texts.

use svg::node::element;

use super::{
    canvas::{FONT_FAMILY, px},
    png,
};

/// The most letters of a name; longer names are not measured further.
const MOST_LETTERS: usize = 200;

/// The most decimals of a number.
const MOST_DECIMALS: usize = 12;

/// The font size for measuring; widths are proportional to the font size.
const MEASURED_SIZE: f64 = 100.0;

/// The width of `text` in pixels at a font size.
pub(super) fn width(text: &str, font_size: f64) -> f64 {
    let label = element::Text::new(text).set("font-family", FONT_FAMILY).set("font-size", px(MEASURED_SIZE));
    let document = svg::Document::new().set("width", 1).set("height", 1).add(label);
    let tree = png::parse(&document.to_string()).expect("a document of one cleaned text can be read");
    f64::from(tree.root().bounding_box().width()) * font_size / MEASURED_SIZE
}

/// The widest of some texts; 0 if there are none.
pub(super) fn widest<'a>(texts: impl IntoIterator<Item = &'a String>, font_size: f64) -> f64 {
    texts.into_iter().map(|text| width(text, font_size)).fold(0.0, f64::max)
}

/// Cleans `name` and shortens it to a width, with an ellipsis if something was removed.
pub(super) fn fit(name: &str, font_size: f64, max_width: f64) -> String {
    let letters: Vec<char> = name.chars().filter_map(clean).take(MOST_LETTERS + 1).collect();
    let whole: String = letters.iter().collect::<String>().trim().to_owned();
    if letters.len() <= MOST_LETTERS && width(&whole, font_size) <= max_width {
        return whole;
    }
    let cut = |length: usize| letters[..length].iter().collect::<String>().trim().to_owned() + "…";
    // Finds the longest prefix that fits, but keeps at least one letter.
    let (mut fits, mut too_long) = (1, letters.len().min(MOST_LETTERS + 1));
    while fits + 1 < too_long {
        let middle = usize::midpoint(fits, too_long);
        if width(&cut(middle), font_size) <= max_width {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    cut(fits)
}

/// The letter as drawn: white space becomes a space, invisible characters are dropped.
fn clean(letter: char) -> Option<char> {
    match letter {
        _ if letter.is_whitespace() => Some(' '),
        _ if letter.is_control() => None,
        // Soft hyphen, Arabic letter mark, zero-width and direction marks, embeddings, isolates, byte order
        // mark.
        '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}'
        | '\u{ffff}' => None,
        _ => Some(letter),
    }
}

/// A number with a fixed number of decimals (at most 12) and a proper minus sign; zero has no sign.
pub(super) fn number(value: f64, decimals: usize) -> String {
    let decimals = decimals.min(MOST_DECIMALS);
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_direction_marks_are_dropped_and_line_breaks_become_spaces() {
        assert_eq!(fit("a\u{202e}b\u{0}c\nd\u{200f}\u{feff} ", 12.0, 1e3), "abc d");
        assert_eq!(fit("\u{202e}\u{1}", 12.0, 1e3), "");
    }

    #[test]
    fn long_names_are_cut_to_the_width_and_say_so() {
        let name = "W".repeat(1_000_000);
        let cut = fit(&name, 12.0, 100.0);
        assert!(cut.ends_with('…') && cut.starts_with("WWW"), "{cut}");
        assert!(width(&cut, 12.0) <= 100.0 && width(&(cut + "W"), 12.0) > 100.0);
        assert_eq!(fit("WWW", 12.0, 1.0), "W…");
        assert_eq!(fit(&"i".repeat(201), 1.0, 1e3).chars().count(), 201);
    }

    // In DejaVu Sans every digit is 1303 of 2048 units wide.
    #[test]
    fn a_text_is_measured_in_the_built_in_font() {
        assert!((width("00", 12.0) - 2.0 * 12.0 * 1303.0 / 2048.0).abs() < 1e-3);
        assert_eq!(width("", 12.0), 0.0);
    }

    #[test]
    fn numbers_have_their_decimals_and_zero_has_no_sign() {
        assert_eq!([number(-1.25, 1), number(-0.04, 1), number(7.0, 0)], ["−1.2", "0.0", "7"]);
        assert_eq!(number(1.0, usize::MAX), "1.000000000000");
    }
}
