//! A CSV file whose cells can be replaced one by one. All other bytes stay as they are.

use std::{collections::BTreeMap, ops::Range, path::Path};

use crate::LabError;

/// A CSV file with a header, separated by commas. Cells may be quoted.
#[derive(Debug, Clone)]
pub struct Sheet {
    text: String,
    /// The names of the columns.
    pub names: Vec<String>,
    /// Where the cells are in the text, row after row, quotes included.
    places: Vec<Range<usize>>,
    /// The cells without quotes, row after row.
    cells: Vec<String>,
    /// New values, by their position in `cells`.
    replaced: BTreeMap<usize, String>,
}

impl Sheet {
    /// Reads a file. Every row must have as many cells as the header.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let bytes = std::fs::read(path).map_err(LabError::file("read", path))?;
        let bad = |reason: String| LabError::BadSet { path: path.to_owned(), reason };
        let text = String::from_utf8(bytes).map_err(|_| bad("found bytes that are not UTF-8".to_owned()))?;
        Self::parse(text).map_err(bad)
    }

    /// Parses text. The error says what was found and expected.
    pub fn parse(text: String) -> Result<Self, String> {
        let mut rows = split(&text)?.into_iter();
        let header = rows.next().ok_or("the file is empty")?;
        let names: Vec<String> = header.iter().map(|place| unquoted(&text[place.clone()])).collect();
        let mut places = Vec::new();
        for (row, found) in rows.enumerate() {
            if found.len() != names.len() {
                let (row, found, expected) = (row + 1, found.len(), names.len());
                return Err(format!("row {row} has {found} cells; expected {expected}"));
            }
            places.extend(found);
        }
        let cells = places.iter().map(|place| unquoted(&text[place.clone()])).collect();
        Ok(Self { text, names, places, cells, replaced: BTreeMap::new() })
    }

    /// The number of rows, without the header.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.cells.len() / self.names.len()
    }

    /// The number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.names.len()
    }

    /// A cell as it was read, without quotes. Rows are counted from 0 here.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> &str {
        &self.cells[row * self.names.len() + column]
    }

    /// Replaces a cell. [`Sheet::cell`] still returns what was read.
    pub fn replace(&mut self, row: usize, column: usize, value: String) {
        self.replaced.insert(row * self.names.len() + column, value);
    }

    /// The file with the replaced cells. A new value is quoted if it has to be or if the old one was.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + 16 * self.replaced.len());
        let mut done = 0;
        for (&at, value) in &self.replaced {
            let place = &self.places[at];
            text.push_str(&self.text[done..place.start]);
            if self.text[place.clone()].starts_with('"') || value.contains([',', '"', '\n', '\r']) {
                text.push('"');
                text.push_str(&value.replace('"', "\"\""));
                text.push('"');
            } else {
                text.push_str(value);
            }
            done = place.end;
        }
        text.push_str(&self.text[done..]);
        text
    }
}

/// Where the cells of every row are. Empty lines are left out.
fn split(text: &str) -> Result<Vec<Vec<Range<usize>>>, &'static str> {
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    let (mut start, mut quoted) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                row.push(start..at);
                start = at + 1;
            }
            b'\n' if !quoted => {
                let end = if text[start..at].ends_with('\r') { at - 1 } else { at };
                if !(row.is_empty() && start == end) {
                    row.push(start..end);
                    rows.push(std::mem::take(&mut row));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    if quoted {
        return Err("the file ends inside quotes");
    }
    if start < text.len() || !row.is_empty() {
        row.push(start..text.len());
        rows.push(row);
    }
    Ok(rows)
}

fn unquoted(raw: &str) -> String {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => raw.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_replaced_cells_change_and_everything_else_stays_byte_for_byte() {
        let text = "\u{fc}ber,\"b, c\"\r\n 1.50 ,\"say \"\"hi\"\"\"\n\n2,\n3,\"two\nlines\"";
        let mut sheet = Sheet::parse(text.to_owned()).unwrap();
        assert_eq!(sheet.names, ["\u{fc}ber", "b, c"]);
        assert_eq!((sheet.n_rows(), sheet.n_columns(), sheet.text()), (3, 2, text.to_owned()));
        assert_eq!(
            (sheet.cell(0, 0), sheet.cell(0, 1), sheet.cell(2, 1)),
            (" 1.50 ", "say \"hi\"", "two\nlines")
        );
        sheet.replace(1, 1, "a,b".to_owned());
        sheet.replace(0, 1, "bye".to_owned());
        assert_eq!(sheet.text(), "\u{fc}ber,\"b, c\"\r\n 1.50 ,\"bye\"\n\n2,\"a,b\"\n3,\"two\nlines\"");
    }

    #[test]
    fn a_row_of_another_length_and_an_open_quote_are_errors() {
        assert_eq!(Sheet::parse("a,b\n1\n".to_owned()).unwrap_err(), "row 1 has 1 cells; expected 2");
        assert_eq!(Sheet::parse("a\n\"1\n".to_owned()).unwrap_err(), "the file ends inside quotes");
        assert_eq!(Sheet::parse(String::new()).unwrap_err(), "the file is empty");
    }
}
