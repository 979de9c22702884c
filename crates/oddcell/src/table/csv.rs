//! CSV: finds the delimiter and the header, and turns rows into text columns exactly as written.
//!
//! This module does not interpret cells: `NA`, ` 7 ` and `007` stay as they are, so that writers can return
//! the input byte for byte. Kind inference and `read_cells` decide what cells mean.

use std::{collections::HashMap, io::Read, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema, SchemaRef};

use super::{
    LineProblem, ReadOptions, TableError, limits, quoted,
    reader::{BatchSource, Opened},
    records::Records,
    source::Input,
    typed::untyped_field,
};

/// The delimiters to try when none is given, likeliest first.
pub(super) const DELIMITERS: [u8; 4] = *b",;\t|";
/// The number of rows used to guess the delimiter.
const GUESSING_ROWS: usize = 50;
/// A batch ends early once its text reaches this size, so that 10,000 columns do not take gigabytes.
const BATCH_BYTES: usize = 16 << 20;

pub(super) fn open(input: Input, options: &ReadOptions) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let delimiter = match options.delimiter {
        Some(delimiter) => checked_delimiter(delimiter)?,
        None => guess_delimiter(&input.start, input.start_is_all()),
    };
    let mut records = Records::new(input.into_text()?, &origin, delimiter);
    if !records.advance()? {
        return Err(TableError::Empty { origin });
    }
    let n_columns = records.n_fields();
    limits::check_columns(&origin, n_columns)?;
    let (names, unnamed) = if options.header {
        names(&records)?
    } else {
        ((1..=n_columns).map(|index| format!("x{index}")).collect(), Vec::new())
    };
    let fields: Vec<Field> = names.into_iter().map(untyped_field).collect();
    if unnamed.len() == n_columns {
        return Err(TableError::EmptyNames { origin, positions: (1..=n_columns).collect() });
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let source = CsvBatches {
        records,
        schema: Arc::clone(&schema),
        expectation: if options.header { "the header" } else { "the first row" },
        batch_rows: options.batch_rows.max(1),
        pending_row: !options.header,
        columns: (0..n_columns).map(|_| TextColumn::default()).collect(),
        lines: Vec::new(),
    };
    let called = |which: &str| format!("{which} called {}", quoted(&unnamed));
    let notes = match unnamed.len() {
        0 => Vec::new(),
        1 => vec![called("the column without a name is")],
        _ => vec![called("columns without a name are")],
    };
    Ok(Opened { delimiter: Some(delimiter), notes, ..Opened::new(schema, source) })
}

/// The names in the header, and which of them are ours because the header has none.
fn names<R: Read>(header: &Records<R>) -> Result<(Vec<String>, Vec<String>), TableError> {
    let as_written = header.fields().map(|field| {
        std::str::from_utf8(field).map_err(|error| {
            let problem = LineProblem::NotUtf8 { column: None, byte: field[error.valid_up_to()] };
            header.wrong(header.row_line(), problem)
        })
    });
    let as_written = as_written.collect::<Result<Vec<&str>, TableError>>()?;
    // Trimmed: the header `id, amount` names the column `amount`. But blanks stay if they tell two names apart.
    let mut times = HashMap::new();
    for name in &as_written {
        *times.entry(name.trim()).or_insert(0) += 1;
    }
    let mut unnamed = Vec::new();
    let name = |(index, name): (usize, &&str)| match name.trim() {
        "" => {
            unnamed.push(format!("unnamed column {}", index + 1));
            unnamed[unnamed.len() - 1].clone()
        }
        trimmed if times[trimmed] == 1 => trimmed.to_owned(),
        _ => (*name).to_owned(),
    };
    let names = as_written.iter().enumerate().map(name).collect();
    Ok((names, unnamed))
}

/// The delimiter, if it can separate fields.
pub(super) fn checked_delimiter(delimiter: u8) -> Result<u8, TableError> {
    match delimiter {
        b'"' | b'\n' | b'\r' | 0x80.. => Err(TableError::BadDelimiter { delimiter }),
        _ => Ok(delimiter),
    }
}

/// The delimiter that splits the first rows into equally many fields, preferring more fields; a comma if none
/// does.
fn guess_delimiter(start: &[u8], start_is_all: bool) -> u8 {
    let agreement = |delimiter: u8| -> Option<(f64, usize)> {
        let mut records = Records::new(start, "", delimiter);
        let mut counts = Vec::new();
        while counts.len() < GUESSING_ROWS && records.advance().ok()? {
            // The end of the sample may cut off the last row.
            if records.at_last_byte() && !start_is_all && !counts.is_empty() {
                break;
            }
            counts.push(records.n_fields());
        }
        let first = *counts.first().filter(|&&count| count > 1)?;
        let agreeing = counts.iter().filter(|&&count| count == first).count();
        Some((agreeing as f64 / counts.len() as f64, first))
    };
    let mut best = (DELIMITERS[0], (0.0, 0));
    for delimiter in DELIMITERS {
        // Only a strictly better one replaces the best, so that the likelier delimiter wins a draw.
        if let Some(found) = agreement(delimiter).filter(|&found| found > best.1) {
            best = (delimiter, found);
        }
    }
    best.0
}

/// The text of one column of the batch under construction.
#[derive(Default)]
struct TextColumn {
    /// Longer than the text in it; see `append`.
    text: Vec<u8>,
    used: usize,
    ends: Vec<i32>,
}

impl TextColumn {
    /// Most cells are short. Copying a fixed number of bytes takes two instructions (the next cell overwrites
    /// the surplus); copying a varying number takes a call.
    const SHORT: usize = 16;

    #[inline]
    fn append(&mut self, text: &[u8], begin: usize, end: usize) {
        let length = end - begin;
        let room = length.max(Self::SHORT);
        if self.text.len() - self.used < room {
            self.grow(room);
        }
        let target = &mut self.text[self.used..];
        match (text[begin..].first_chunk::<{ Self::SHORT }>(), target.first_chunk_mut()) {
            (Some(source), Some(target)) if length <= Self::SHORT => *target = *source,
            _ => target[..length].copy_from_slice(&text[begin..end]),
        }
        self.used += length;
        self.ends.push(i32::try_from(self.used).expect("the limits on rows and batches are far below 2³¹"));
    }

    #[cold]
    fn grow(&mut self, room: usize) {
        self.text.resize((self.text.len() * 2).max(self.used + room), 0);
    }

    /// Returns the text and its offsets, and reserves as much room for the next batch.
    fn take(&mut self) -> (Vec<u8>, Vec<i32>) {
        let mut text = std::mem::replace(&mut self.text, vec![0; self.used + Self::SHORT]);
        text.truncate(std::mem::take(&mut self.used));
        let capacity = self.ends.len();
        (text, std::mem::replace(&mut self.ends, Vec::with_capacity(capacity)))
    }
}

struct CsvBatches {
    records: Records<Box<dyn Read + Send>>,
    schema: SchemaRef,
    expectation: &'static str,
    batch_rows: usize,
    /// Whether the current row still has to be appended: without a header, `open` reads the first row to
    /// count columns.
    pending_row: bool,
    columns: Vec<TextColumn>,
    /// The line of every row of the batch, for error messages.
    lines: Vec<u64>,
}

impl BatchSource for CsvBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        self.lines.clear();
        for column in &mut self.columns {
            column.ends.push(0);
        }
        let mut bytes = 0;
        while self.lines.len() < self.batch_rows && bytes < BATCH_BYTES {
            if !std::mem::take(&mut self.pending_row) && !self.records.advance()? {
                break;
            }
            bytes += self.append_row()?;
        }
        if self.lines.is_empty() {
            return Ok(None);
        }
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for index in 0..self.columns.len() {
            let (text, ends) = self.columns[index].take();
            arrays.push(Arc::new(self.checked_text(index, text, ends)?));
        }
        Ok(Some(
            RecordBatch::try_new(Arc::clone(&self.schema), arrays).expect("columns of one length and type"),
        ))
    }
}

impl CsvBatches {
    /// Appends the current row to the columns and returns its size.
    fn append_row(&mut self) -> Result<usize, TableError> {
        let (found, expected) = (self.records.n_fields(), self.columns.len());
        if found != expected {
            let problem = LineProblem::Ragged { found, expected, model: self.expectation };
            return Err(self.records.wrong(self.records.row_line(), problem));
        }
        let mut bytes = 0;
        for (column, (text, begin, end)) in self.columns.iter_mut().zip(self.records.located_fields()) {
            column.append(text, begin, end);
            bytes += end - begin;
        }
        self.lines.push(self.records.row_line());
        // Even an empty field takes the memory of its end offset.
        Ok(bytes + found * size_of::<i32>())
    }

    /// Returns the column as an Arrow array, or an error that names the cell that is not UTF-8.
    fn checked_text(&self, index: usize, text: Vec<u8>, ends: Vec<i32>) -> Result<StringArray, TableError> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        let values = Buffer::from_vec(text);
        StringArray::try_new(offsets.clone(), values.clone(), None).map_err(|_| {
            let bad_byte = |row: usize| {
                let cell = &values[offsets[row] as usize..offsets[row + 1] as usize];
                std::str::from_utf8(cell).err().map(|error| (row, cell[error.valid_up_to()]))
            };
            let (row, byte) = (0..self.lines.len()).find_map(bad_byte).unwrap_or((0, 0));
            let column = Some(self.schema.field(index).name().clone());
            self.records.wrong(self.lines[row], LineProblem::NotUtf8 { column, byte })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_guessed_from_rows_that_agree() {
        let guess = |text: &str| guess_delimiter(text.as_bytes(), true) as char;
        assert_eq!(guess("a,b,c\n1,2,3\n"), ',');
        assert_eq!(guess("a;b\n1,5;2,5\n3,5;4,5\n"), ';');
        assert_eq!(guess("a\tb\nx, y\tz\n"), '\t');
        assert_eq!(guess("name|note\nx|\"a,b|c\"\n"), '|');
        assert_eq!(guess("alone\n1\n2\n"), ',');
        assert_eq!(guess(""), ',');
        // One ragged row among many does not change the guess: its error should name the comma's count.
        assert_eq!(guess("a,b,c\n1,2,3\n1,2\n4,5,6\n"), ',');
    }

    #[test]
    fn a_row_cut_off_by_the_end_of_the_sample_does_not_count() {
        assert_eq!(guess_delimiter(b"a;b;c\n1;2;3\n4", false), b';');
        assert_eq!(guess_delimiter(b"a;b,c\n1;2,3\n4;5", false), b',');
    }
}
