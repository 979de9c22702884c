//! Splits CSV bytes into rows and fields.
//!
//! We wrote our own parser for three reasons: it reports an unclosed quote with its line instead of
//! swallowing the rest of the file; it knows the line of every row; and it copies a field from the input
//! buffer straight into its column, which makes reading fast.
//!
//! It follows the rules of the `csv` crate, which is the oracle in the tests. A field that starts with `"`
//! ends at the next `"` that is not doubled; any text between that quote and the delimiter is appended
//! unchanged. A quote inside any other field is an ordinary character. `\n`, `\r\n` and `\r` end a row. Empty
//! lines are skipped.

use std::io::Read;

use super::{LineProblem, TableError, limits::LONGEST_ROW};

const FIRST_BUFFER: usize = 256 << 10;

/// The position of a field's text.
#[derive(Debug, Clone, Copy)]
struct Field {
    begin: u32,
    end: u32,
    /// Whether the text is in `unquoted` instead of the input buffer, because quotes were removed.
    rewritten: bool,
}

enum Scanned {
    /// The row is `length` bytes long and contains `line_ends` line ends.
    Row { length: usize, line_ends: u64, ends_with_return: bool },
    /// The buffer ends before the row does.
    NeedsMore,
    /// The file ends inside quotes that opened after `line_ends` line ends.
    Unclosed { line_ends: u64 },
}

/// Splits a stream of bytes into rows of fields.
pub(super) struct Records<R> {
    input: R,
    origin: String,
    delimiter: u8,
    ends_field: [u8; 3],
    buffer: Vec<u8>,
    begin: usize,
    filled: usize,
    input_ended: bool,
    fields: Vec<Field>,
    unquoted: Vec<u8>,
    row_begin: usize,
    /// Line of the next byte.
    line: u64,
    row_line: u64,
    after_return: bool,
}

impl<R: Read> Records<R> {
    /// `delimiter` must be an ASCII byte other than a quote and a line end.
    pub(super) fn new(input: R, origin: &str, delimiter: u8) -> Self {
        Self {
            input,
            origin: origin.to_owned(),
            delimiter,
            ends_field: [delimiter, b'\n', b'\r'],
            buffer: vec![0; FIRST_BUFFER],
            begin: 0,
            filled: 0,
            input_ended: false,
            fields: Vec::new(),
            unquoted: Vec::new(),
            row_begin: 0,
            line: 1,
            row_line: 1,
            after_return: false,
        }
    }

    /// Moves to the next row; returns false at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, TableError> {
        if !self.skip_empty_lines()? {
            return Ok(false);
        }
        loop {
            match self.scan() {
                Scanned::Row { length, line_ends, ends_with_return } => {
                    self.row_begin = self.begin;
                    self.row_line = self.line;
                    self.begin += length;
                    self.line += line_ends;
                    self.after_return = ends_with_return;
                    return Ok(true);
                }
                Scanned::NeedsMore => self.refill()?,
                Scanned::Unclosed { line_ends } => {
                    return Err(self.wrong(self.line + line_ends, LineProblem::UnclosedQuote));
                }
            }
        }
    }

    /// The error about a line.
    pub(super) fn wrong(&self, line: u64, problem: LineProblem) -> TableError {
        TableError::Line { origin: self.origin.clone(), line, problem }
    }

    /// The number of fields of the current row.
    pub(super) fn n_fields(&self) -> usize {
        self.fields.len()
    }

    /// The fields of the current row.
    pub(super) fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.located_fields().map(|(text, begin, end)| &text[begin..end])
    }

    /// The fields of the current row, each as a text and its position in that text.
    pub(super) fn located_fields(&self) -> impl ExactSizeIterator<Item = (&[u8], usize, usize)> {
        let row = &self.buffer[self.row_begin..self.filled];
        let text = move |field: &Field| if field.rewritten { &self.unquoted[..] } else { row };
        self.fields.iter().map(move |field| (text(field), field.begin as usize, field.end as usize))
    }

    /// The line of the file on which the current row starts, counted from 1.
    pub(super) fn row_line(&self) -> u64 {
        self.row_line
    }

    /// Whether the input ends with the current row, with or without a line end.
    pub(super) fn at_last_byte(&self) -> bool {
        self.input_ended && self.begin == self.filled
    }

    /// Skips empty lines; returns false if there is no row left.
    fn skip_empty_lines(&mut self) -> Result<bool, TableError> {
        loop {
            while let Some(&byte @ (b'\n' | b'\r')) = self.buffer[self.begin..self.filled].first() {
                // The second half of `\r\n` does not end another line.
                if !(byte == b'\n' && self.after_return) {
                    self.line += 1;
                }
                self.after_return = byte == b'\r';
                self.begin += 1;
            }
            if self.begin < self.filled {
                return Ok(true);
            }
            if self.input_ended {
                return Ok(false);
            }
            self.refill()?;
        }
    }

    /// Finds the fields of the row that starts at `begin`.
    fn scan(&mut self) -> Scanned {
        self.fields.clear();
        self.unquoted.clear();
        let data = &self.buffer[self.begin..self.filled];
        let mut at = 0;
        let mut line_ends = 0;
        loop {
            let mut begin = at;
            let mut rewritten = false;
            if data.get(at) == Some(&b'"') {
                // 1. Quoted text, up to the closing quote.
                let opened_after = line_ends;
                let rewritten_begin = self.unquoted.len();
                let mut piece = at + 1;
                loop {
                    let Some(length) = data[piece..].iter().position(|&byte| byte == b'"') else {
                        let unclosed = Scanned::Unclosed { line_ends: opened_after };
                        return if self.input_ended { unclosed } else { Scanned::NeedsMore };
                    };
                    let quote = piece + length;
                    line_ends += count_line_ends(&data[piece..quote]);
                    let next = data.get(quote + 1);
                    self.unquoted.extend_from_slice(&data[piece..quote]);
                    at = quote + 1;
                    // A quote at the end of the buffer may be half of a doubled one; step 2 then asks for
                    // more.
                    if next != Some(&b'"') {
                        break;
                    }
                    self.unquoted.push(b'"');
                    piece = quote + 2;
                }
                begin = rewritten_begin;
                rewritten = true;
            }
            // 2. Text without quotes, up to the delimiter or line end.
            let rest = &data[at..];
            let stop = first_of(rest, self.ends_field);
            if stop.is_none() && !self.input_ended {
                return Scanned::NeedsMore;
            }
            let length = stop.unwrap_or(rest.len());
            at += length;
            let end = if rewritten {
                self.unquoted.extend_from_slice(&rest[..length]);
                self.unquoted.len()
            } else {
                at
            };
            // Rows are shorter than 2³² bytes: see LONGEST_ROW.
            self.fields.push(Field { begin: begin as u32, end: end as u32, rewritten });
            // 3. What ended the field.
            match data.get(at) {
                Some(&byte) if byte == self.delimiter => at += 1,
                Some(&byte) => {
                    let ends_with_return = byte == b'\r';
                    return Scanned::Row { length: at + 1, line_ends: line_ends + 1, ends_with_return };
                }
                None => return Scanned::Row { length: at, line_ends, ends_with_return: false },
            }
        }
    }

    /// Reads until the buffer is full or the input ends. The buffer doubles, so rescanning a long row at most
    /// doubles the work.
    fn refill(&mut self) -> Result<(), TableError> {
        self.buffer.copy_within(self.begin..self.filled, 0);
        self.filled -= self.begin;
        self.begin = 0;
        if self.filled == self.buffer.len() {
            if self.filled >= LONGEST_ROW {
                return Err(self.wrong(self.line, LineProblem::TooLong(LONGEST_ROW)));
            }
            self.buffer.resize(self.filled * 2, 0);
        }
        while self.filled < self.buffer.len() && !self.input_ended {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.input_ended = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TableError::reading(&self.origin)(error)),
            }
        }
        Ok(())
    }
}

/// The position of the first of three bytes. It checks eight bytes at a time, because most fields are shorter
/// than that and a loop of unpredictable length costs more than its work.
#[inline]
fn first_of(text: &[u8], wanted: [u8; 3]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH_BITS: u64 = ONES << 7;
    let patterns = wanted.map(|byte| u64::from(byte) * ONES);
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Sets the high bit of bytes that are zero, that is, equal. Bits above the first one may be wrong.
        let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & HIGH_BITS;
        let found = patterns.iter().fold(0, |found, pattern| found | zero_bytes(word ^ pattern));
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| wanted.contains(byte))?;
    Some(words.len() * 8 + at)
}

/// Counts `\n`, `\r\n` and lone `\r`. A doubled quote cannot split a pair.
fn count_line_ends(text: &[u8]) -> u64 {
    let mut count = 0;
    let mut after_return = false;
    for &byte in text {
        count += u64::from(byte == b'\r' || (byte == b'\n' && !after_return));
        after_return = byte == b'\r';
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a few bytes at a time, so that every token is split somewhere.
    struct Trickle<'a>(&'a [u8], usize);
    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    /// The line of a row and its fields.
    type Row = (u64, Vec<Vec<u8>>);

    /// All rows, read through a buffer that starts with `buffer` bytes.
    fn rows(text: &[u8], delimiter: u8, buffer: usize) -> Result<Vec<Row>, TableError> {
        let mut records = Records::new(Trickle(text, 3), "test", delimiter);
        records.buffer = vec![0; buffer];
        let mut rows = Vec::new();
        while records.advance()? {
            rows.push((records.row_line(), records.fields().map(<[u8]>::to_vec).collect()));
        }
        Ok(rows)
    }

    fn oracle(text: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).flexible(true).delimiter(delimiter).from_reader(text);
        reader.byte_records().map(|row| row.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
    }

    #[test]
    fn rows_know_the_line_they_start_on_whatever_ends_a_line() {
        let lines = |text: &[u8]| rows(text, b',', 4).unwrap().iter().map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(lines(b"a,b\n\n1,\"x\ny\"\n2,3"), [1, 3, 5]);
        assert_eq!(lines(b"a,b\r\n\r\n1,\"x\r\ny\"\r\n2,3\r\n"), [1, 3, 5]);
        assert_eq!(lines(b"a,b\r1,2\r\r3,4\r"), [1, 2, 4]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_reported_where_it_was_opened() {
        let error = rows(b"a,b\n1,2\n\"x\ny\",\"oops\n3,4\n", b',', 4).unwrap_err();
        assert!(
            matches!(error, TableError::Line { line: 4, problem: LineProblem::UnclosedQuote, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_row_without_end_is_refused_before_it_fills_the_memory() {
        struct Endless;
        impl Read for Endless {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                into.fill(b'x');
                Ok(into.len())
            }
        }
        let error = Records::new(Endless, "test", b',').advance().unwrap_err();
        let is_too_long = |problem: &LineProblem| *problem == LineProblem::TooLong(LONGEST_ROW);
        assert!(
            matches!(&error, TableError::Line { line: 1, problem, .. } if is_too_long(problem)),
            "{error}"
        );
    }

    proptest! {
        // Law: on any bytes whose quotes are closed, the rows are those of the csv crate, at any buffer size.
        #[test]
        fn rows_are_those_of_the_csv_crate(
            text in proptest::collection::vec(prop::sample::select(b"ab,;\"\"\n\r \xC3".to_vec()), 0..60),
            buffer in 1usize..20,
            delimiter in prop::sample::select(b",;".to_vec()),
        ) {
            if let Ok(rows) = rows(&text, delimiter, buffer) {
                let fields: Vec<_> = rows.into_iter().map(|row| row.1).collect();
                prop_assert_eq!(fields, oracle(&text, delimiter));
            } else {
                // Refused only if a closing quote was missing: with one appended, the rows come back.
                let mut closed = text.clone();
                closed.push(b'"');
                prop_assert!(rows(&closed, delimiter, buffer).is_ok());
            }
        }
    }
}
