//! JSON lines: one object per line, keys are columns.
//!
//! Columns are text, like those of a CSV: a column that starts with whole numbers and turns to decimals or names after
//! a million rows is read all the same, and kind inference says what it is. JSON's null and missing keys are nulls.
//! The columns are settled by the keys of the first batch; a new key after it is an error that names its line, because
//! the rows before it have been handed out already.

use std::{
    collections::HashMap,
    fmt::Write as _,
    io::{BufRead, BufReader, Read},
    sync::Arc,
};

use arrow_array::{
    ArrayRef, RecordBatch,
    builder::{ArrayBuilder, StringBuilder},
};
use arrow_schema::{Schema, SchemaRef};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{
    ReadOptions, TableError,
    reader::{BatchSource, Opened},
    source::Input,
    typed::untyped_field,
};

/// A longer line is no row; it bounds the memory of the reader.
const LONGEST_LINE: usize = 64 << 20;
/// A batch ends early once its lines reach this size.
const BATCH_BYTES: usize = 16 << 20;

pub(super) fn open(input: Input, options: &ReadOptions) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let lines = Lines {
        reader: BufReader::with_capacity(256 << 10, input.into_text()?),
        number: 0,
        text: Vec::new(),
    };
    let mut source = JsonBatches {
        origin,
        lines,
        columns: Columns::default(),
        batch_rows: options.batch_rows.max(1),
        settled_rows: None,
        schema: Arc::new(Schema::empty()),
        first: None,
    };
    // The keys are known only after the first batch.
    let first = source.read_batch()?;
    source.settled_rows = first.as_ref().map(RecordBatch::num_rows);
    source.first = first;
    Ok(Opened {
        schema: Arc::clone(&source.schema),
        source: Box::new(source),
        notes: Vec::new(),
        delimiter: None,
    })
}

struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    number: u64,
    text: Vec<u8>,
}

struct JsonBatches {
    origin: String,
    lines: Lines,
    columns: Columns,
    batch_rows: usize,
    /// The rows of the first batch, once it is read.
    settled_rows: Option<usize>,
    schema: SchemaRef,
    first: Option<RecordBatch>,
}

impl BatchSource for JsonBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        if self.first.is_some() {
            return Ok(self.first.take());
        }
        self.read_batch()
    }
}

impl JsonBatches {
    fn read_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let mut bytes = 0;
        while self.columns.n_rows < self.batch_rows && bytes < BATCH_BYTES && self.next_line()? {
            let line = self.lines.text.trim_ascii();
            if !line.is_empty() {
                bytes += line.len() + self.columns.texts.len();
                read_row(&mut self.columns, line, self.settled_rows.is_none())
                    .map_err(|problem| self.located(problem))?;
            }
        }
        if std::mem::take(&mut self.columns.n_rows) == 0 {
            return Ok(None);
        }
        if self.settled_rows.is_none() {
            let fields: Vec<_> = self.columns.names.iter().cloned().map(untyped_field).collect();
            self.schema = Arc::new(Schema::new(fields));
        }
        if self.columns.names.is_empty() {
            return Err(TableError::NoColumns { origin: self.origin.clone() });
        }
        let arrays = self.columns.texts.iter_mut().map(|text| Arc::new(text.finish()) as ArrayRef).collect();
        Ok(Some(
            RecordBatch::try_new(Arc::clone(&self.schema), arrays).expect("columns of one length and type"),
        ))
    }

    /// Reads the next line; false at the end of the input.
    fn next_line(&mut self) -> Result<bool, TableError> {
        let Lines { reader, number, text } = &mut self.lines;
        text.clear();
        *number += 1;
        let read = reader.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', text);
        let origin = || self.origin.clone();
        read.map_err(|source| TableError::Io { action: "read", origin: origin(), source })?;
        if text.len() > LONGEST_LINE {
            return Err(TableError::RowTooLong { origin: origin(), line: *number, limit: LONGEST_LINE });
        }
        Ok(!text.is_empty())
    }

    fn located(&self, problem: Problem) -> TableError {
        let (origin, line) = (self.origin.clone(), self.lines.number);
        match problem {
            Problem::NotAnObject(found) => TableError::JsonNotAnObject { origin, line, found },
            Problem::Nested(key, found) => TableError::JsonNested { origin, line, key, found },
            Problem::Duplicate(key) => TableError::JsonDuplicateKey { origin, line, key },
            Problem::Late(key) => {
                TableError::JsonLateKey { origin, line, key, settled_rows: self.settled_rows.unwrap_or(0) }
            }
            Problem::NotUtf8(byte) => TableError::NotUtf8 { origin, line, column: None, byte },
            Problem::Syntax(character, message) => {
                TableError::JsonSyntax { origin, line, character, message }
            }
        }
    }
}

/// The columns of the batch under construction.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    by_name: HashMap<String, usize>,
    texts: Vec<StringBuilder>,
    n_rows: usize,
    problem: Option<Problem>,
}

enum Problem {
    NotAnObject(&'static str),
    Nested(String, &'static str),
    Duplicate(String),
    Late(String),
    NotUtf8(u8),
    Syntax(usize, String),
}

fn read_row(columns: &mut Columns, line: &[u8], may_add: bool) -> Result<(), Problem> {
    let text = std::str::from_utf8(line).map_err(|error| Problem::NotUtf8(line[error.valid_up_to()]))?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result =
        RowSeed { columns, may_add }.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    if let Err(error) = result {
        return Err(columns.problem.take().unwrap_or_else(|| {
            // The parser's own place is within the line; the caller knows which line.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            Problem::Syntax(error.column(), message)
        }));
    }
    columns.n_rows += 1;
    for text in &mut columns.texts {
        if text.len() < columns.n_rows {
            text.append_null();
        }
    }
    Ok(())
}

struct RowSeed<'a> {
    columns: &'a mut Columns,
    may_add: bool,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl RowSeed<'_> {
    fn no_object<E: serde::de::Error>(self, found: &'static str) -> Result<(), E> {
        self.columns.problem = Some(Problem::NotAnObject(found));
        Err(E::custom("not an object"))
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // Keys come in the same order on nearly every line, so the next column is the likeliest.
        let mut guess = 0;
        while let Some(index) =
            map.next_key_seed(KeySeed { columns: self.columns, may_add: self.may_add, guess })?
        {
            map.next_value_seed(CellSeed { columns: self.columns, index })?;
            guess = index + 1;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.no_object("an array")
    }
    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        self.no_object("a string")
    }
    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.no_object("a truth value")
    }
    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        self.no_object("a number")
    }
    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        self.no_object("a number")
    }
    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        self.no_object("a number")
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.no_object("null")
    }
}

/// Turns a key into the position of its column.
struct KeySeed<'a> {
    columns: &'a mut Columns,
    may_add: bool,
    guess: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = usize;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = usize;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<usize, E> {
        let Columns { names, by_name, texts, n_rows, problem } = self.columns;
        let guessed = names.get(self.guess).is_some_and(|name| name == key).then_some(self.guess);
        let index = match guessed.or_else(|| by_name.get(key).copied()) {
            Some(index) => index,
            None if self.may_add => {
                let mut text = StringBuilder::new();
                text.append_nulls(*n_rows);
                texts.push(text);
                names.push(key.to_owned());
                by_name.insert(key.to_owned(), names.len() - 1);
                names.len() - 1
            }
            None => {
                *problem = Some(Problem::Late(key.to_owned()));
                return Err(E::custom("late key"));
            }
        };
        if texts[index].len() > *n_rows {
            *problem = Some(Problem::Duplicate(key.to_owned()));
            return Err(E::custom("duplicate key"));
        }
        Ok(index)
    }
}

/// Appends a value to its column as text.
struct CellSeed<'a> {
    columns: &'a mut Columns,
    index: usize,
}

impl CellSeed<'_> {
    fn append(self, value: impl std::fmt::Display) {
        let text = &mut self.columns.texts[self.index];
        write!(text, "{value}").expect("a string takes everything");
        text.append_value("");
    }

    fn nested<E: serde::de::Error>(self, found: &'static str) -> Result<(), E> {
        self.columns.problem = Some(Problem::Nested(self.columns.names[self.index].clone(), found));
        Err(E::custom("nested"))
    }
}

impl<'de> DeserializeSeed<'de> for CellSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CellSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a string, number, true, false or null")
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.columns.texts[self.index].append_value(value);
        Ok(())
    }
    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.append(value);
        Ok(())
    }
    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.append(value);
        Ok(())
    }
    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.append(value);
        Ok(())
    }
    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        // With an exponent where that is shorter: 1e300 must not become 301 digits.
        self.append(format_args!("{value:?}"));
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        self.columns.texts[self.index].append_null();
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.nested("an array")
    }
    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.nested("an object")
    }
}
