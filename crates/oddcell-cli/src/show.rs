//! Shows the oddest rows to people: a table with the odd cells marked, and the reasons.

use std::{fmt::Write as _, io::IsTerminal};

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};
use oddcell::{
    encode::{EncodedColumn, Encoder},
    error::escaped,
    table::ColumnKind,
    verdict::probability,
};

use crate::oddest::{OddCell, OddRow};

/// The most names listed in a message.
const LISTED_NAMES: usize = 20;
/// Rows whose reasons are printed under the table.
const EXPLAINED_ROWS: usize = 5;
/// The width of the output where there is no terminal.
const WIDTH: usize = 80;
/// Longer cells are cut.
const CELL_CHARS: usize = 12;
/// Blanks between two columns.
const GAP: usize = 2;
/// The sign before a marked cell.
pub(crate) const MARK: char = '*';

/// The text with control characters escaped, also line ends: safe to print on a terminal.
pub(crate) fn clean(text: &str) -> String {
    escaped(text).into_owned()
}

/// Names for a message; a long list is cut.
pub(crate) fn name_list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(LISTED_NAMES);
    let shown: Vec<String> =
        names.take(LISTED_NAMES).map(|name| format!("`{}`", cut(&clean(name), 40))).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

/// The text of a cell, cut to fit: if it is long, only the part that its kind would show.
fn cell_shown(text: &str, kind: ColumnKind) -> String {
    let is_long = text.chars().count() > CELL_CHARS;
    cut(if is_long { kind.short(text) } else { text }, CELL_CHARS)
}

pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most - 1).collect();
    short.push('…');
    short
}

/// The width of the terminal, clamped to 60 to 160; 80 without a terminal.
fn terminal_width() -> usize {
    width_of(std::io::stdout().is_terminal())
}

/// The same for standard error.
pub(crate) fn note_width() -> usize {
    width_of(std::io::stderr().is_terminal())
}

fn width_of(is_terminal: bool) -> usize {
    if !is_terminal {
        return WIDTH;
    }
    let width = comfy_table::Table::new().width().map_or(0, usize::from);
    if width == 0 { WIDTH } else { width.clamp(60, 160) }
}

/// The columns with the most noise in these rows, as many as fit, in table order. Those that the printed reasons are about
/// come first.
fn chosen_columns(rows: &[OddRow], names: &[&str], widths: &[usize], room: usize) -> Vec<usize> {
    let explained = || rows.iter().filter(|row| !row.reasons.is_empty()).take(EXPLAINED_ROWS);
    let is_reason = |column: usize, nth: usize| {
        explained().any(|row| row.columns.get(nth).is_some_and(|name| name == names[column]))
    };
    // A column's weight is its noise, capped so that one extreme row does not decide alone.
    let weight = |column: usize| rows.iter().map(|row| row.cells[column].noise.min(10.0)).sum::<f64>();
    let mut order: Vec<usize> = (0..widths.len()).collect();
    order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
    order.sort_by_key(|&column| (!is_reason(column, 0), !is_reason(column, 1)));
    let mut room = room;
    order.retain(|&column| {
        let fits = widths[column] <= room;
        room -= if fits { widths[column] } else { 0 };
        fits
    });
    order.sort_unstable();
    order
}

fn longest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// What stands before the cells of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Its number, score, p-value and verdict.
    Rows,
    /// Its number, and the p-value of its oddest cell.
    Cells,
}

impl View {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Rows => &["row", "score", "p", "verdict"],
            Self::Cells => &["row", "p"],
        }
    }

    fn figures(self, row: &OddRow) -> Vec<String> {
        let verdict = if row.is_odd { "odd" } else { "normal" }.to_owned();
        match self {
            Self::Rows => vec![row.row.to_string(), figure(row.score), probability(row.p), verdict],
            Self::Cells => vec![row.row.to_string(), probability(row.p)],
        }
    }
}

/// The table of rows, with their figures and chosen cells, and the number of chosen columns.
fn cell_table(rows: &[OddRow], encoder: &Encoder, view: View, width: usize, color: bool) -> (String, usize) {
    let columns = encoder.columns();
    let names: Vec<String> =
        columns.iter().map(|column| cut(&clean(column.name()), CELL_CHARS + 1)).collect();
    // Every cell with its mark before it.
    let lines: Vec<Vec<String>> = rows.iter().map(|row| marked_cells(row, encoder)).collect();
    let figures: Vec<Vec<String>> = rows.iter().map(|row| view.figures(row)).collect();
    let figure_names = view.names();
    let n_figures = figure_names.len();
    let taken: usize = (0..n_figures)
        .map(|index| {
            longest(figures.iter().map(|line| line[index].as_str()).chain([figure_names[index]])) + GAP
        })
        .sum();
    let widths: Vec<usize> = (0..names.len())
        .map(|column| {
            longest(lines.iter().map(|line| line[column].as_str()).chain([names[column].as_str()])) + GAP
        })
        .collect();
    let full_names: Vec<&str> = columns.iter().map(EncodedColumn::name).collect();
    let chosen = chosen_columns(rows, &full_names, &widths, (width + GAP).saturating_sub(taken));

    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let header = figure_names.iter().copied().chain(chosen.iter().map(|&column| names[column].as_str()));
    table.set_header(header.map(Cell::new));
    for (figures, cells) in figures.iter().zip(&lines) {
        let cells = chosen.iter().map(|&column| match &cells[column] {
            text if color && text.starts_with(MARK) => {
                Cell::new(text).fg(Color::Red).add_attribute(Attribute::Bold)
            }
            text => Cell::new(text),
        });
        table.add_row(figures.iter().map(Cell::new).chain(cells));
    }
    let right = |column: usize| {
        column < n_figures.min(3)
            || (column >= n_figures && columns[chosen[column - n_figures]].kind().is_numeric())
    };
    close_up(&mut table);
    for (index, column) in table.column_iter_mut().enumerate() {
        if right(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    (trimmed_lines(&table.to_string()), chosen.len())
}

/// The cells of a row as they are shown, the odd ones marked.
fn marked_cells(row: &OddRow, encoder: &Encoder) -> Vec<String> {
    let shown = |(cell, column): (&OddCell, &EncodedColumn)| {
        let (mark, text) = (if cell.is_odd { MARK } else { ' ' }, cell_shown(&cell.text, column.kind()));
        match cell.expected.as_deref().filter(|_| cell.is_odd) {
            None => format!("{mark}{text}"),
            Some("") => format!("{mark}{text} → ·"),
            Some(expected) => {
                let (text, expected) = differing(&text, &cell.text, expected, column.kind());
                format!("{mark}{text} → {expected}")
            }
        }
    };
    row.cells.iter().zip(encoder.columns()).map(shown).collect()
}

/// A cell and what is expected there, both as they are shown; longer if they would look the same.
fn differing(shown: &str, text: &str, expected: &str, kind: ColumnKind) -> (String, String) {
    let short = cell_shown(expected, kind);
    if short == shown {
        (cut(text, 2 * CELL_CHARS), cut(expected, 2 * CELL_CHARS))
    } else {
        (shown.to_owned(), short)
    }
}

/// The table of the oddest rows, and the reasons.
pub(crate) fn oddest_table(rows: &[OddRow], encoder: &Encoder, view: View) -> String {
    let width = terminal_width();
    let (mut text, n_shown) = cell_table(rows, encoder, view, width, std::io::stdout().is_terminal());
    let n_columns = encoder.columns().len();
    let has_expected = rows.iter().any(|row| row.cells.iter().any(|cell| cell.expected.is_some()));
    let legend = if has_expected { "odd cell → what is expected there" } else { "odd cell" };
    if n_shown < n_columns {
        let hidden = n_columns - n_shown;
        let _ = writeln!(text, "({MARK} {legend}; {hidden} of {n_columns} columns not shown)");
    } else {
        let _ = writeln!(text, "({MARK} {legend})");
    }
    let explained: Vec<&OddRow> =
        rows.iter().filter(|row| !row.reasons.is_empty()).take(EXPLAINED_ROWS).collect();
    if !explained.is_empty() {
        text.push_str("\nWhy:\n");
        for row in explained {
            for (index, reason) in row.reasons.iter().take(2).enumerate() {
                let lead = if index == 0 { format!("row {}", row.row) } else { String::new() };
                for (part, line) in wrapped(reason, width - 14).into_iter().enumerate() {
                    let lead = if part == 0 { lead.as_str() } else { "" };
                    let _ = writeln!(text, "  {lead:<10}  {line}");
                }
            }
        }
    }
    text
}

/// Removes the blanks before the first column and leaves [`GAP`] between columns.
pub(crate) fn close_up(table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP as u16));
    }
}

/// A blank at which no line is broken.
const NO_BREAK: char = '\u{a0}';

/// A text for a cell of a table in which a figure stays with its sign: `Oslo (38 %)`. See [`trimmed_lines`].
pub(crate) fn unbroken(text: &str) -> String {
    clean(text).replace(" %", &format!("{NO_BREAK}%"))
}

/// The lines of a table.
pub(crate) fn trimmed_lines(text: &str) -> String {
    let text = text.replace(NO_BREAK, " ");
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// The words in lines of at most `width` characters; longer words are not broken.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// A score with about four digits.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-3..1e5).contains(&size) => {
            let decimals = if size >= 100.0 {
                1
            } else if size >= 1.0 {
                2
            } else {
                4
            };
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_dates_are_shown_by_day_and_other_long_cells_by_their_start() {
        assert_eq!(cell_shown("2065-06-15 18:18:17", ColumnKind::Date), "2065-06-15");
        assert_eq!(cell_shown("2065-06-15T18:18:17Z", ColumnKind::Date), "2065-06-15");
        assert_eq!(cell_shown("18:18:17", ColumnKind::Date), "18:18:17");
        // Twelve characters stay; thirteen become eleven and the dots.
        assert_eq!(cell_shown("twelve chars", ColumnKind::Category), "twelve chars");
        assert_eq!(cell_shown("thirteen char", ColumnKind::Category), "thirteen ch…");
    }

    #[test] // Room for 20: the oddest column (12) fits, the next (10) does not, the one after it (8) does.
    fn the_oddest_columns_are_shown_as_far_as_they_fit_in_table_order() {
        let cells = [1.0, 5.0, 3.0, 0.5]
            .map(|noise| OddCell { text: String::new(), noise, is_odd: false, expected: None })
            .to_vec();
        let mut row = OddRow {
            row: 1,
            score: 1.0,
            p: 0.1,
            is_odd: true,
            reasons: Vec::new(),
            columns: Vec::new(),
            cells,
        };
        let names = ["a", "b", "c", "d"];
        assert_eq!(chosen_columns(&[row.clone()], &names, &[8, 12, 10, 9], 20), [0, 1]);
        // The column of a reason (9) comes first, whatever its noise; then 12 does not fit, and 10 does.
        (row.reasons, row.columns) = (vec!["why".to_owned()], vec!["d".to_owned()]);
        assert_eq!(chosen_columns(&[row], &names, &[8, 12, 10, 9], 20), [2, 3]);
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<String> = (1..=22).map(|index| format!("c{index}")).collect();
        let text = name_list(names.iter().map(String::as_str));
        assert!(text.starts_with("`c1`, `c2`, ") && text.ends_with("`c20` and 2 more"), "{text}");
    }

    #[test]
    fn figures_keep_about_four_digits() {
        assert_eq!(
            [0.0, 0.12345, 8.514, 123.45, 1e6].map(figure),
            ["0.0000", "0.1235", "8.51", "123.5", "1.00e6"]
        );
        assert_eq!([0.25, 0.001, 0.00049].map(probability), ["0.250", "0.001", "5e-4"]);
    }

    #[test]
    fn words_are_wrapped_at_the_width() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
    }
}
