//! Appends one JSON object as one row to the columns under construction.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
    fmt::Write as _,
    sync::Arc,
};

use arrow_array::{
    ArrayRef,
    builder::{ArrayBuilder, StringBuilder},
};
use arrow_schema::{DataType, Field};
use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::Value;

use super::{MOST_LATE_KEYS, raw};
use crate::table::{
    LineProblem, Wanted, limits::MOST_COLUMNS, raw_json::json_field, typed::json_values_field,
};

/// The columns of the batch under construction.
pub(super) struct Columns {
    pub(super) all: Vec<Column>,
    pub(super) by_name: HashMap<String, usize>,
    pub(super) n_rows: usize,
    named: HashSet<String>,
    /// Whether only the named columns are wanted; otherwise all but the named ones are.
    only: bool,
    /// Whether no column is wanted.
    nothing: bool,
    /// The number of columns of the first batch, once it is read.
    n_early: Option<usize>,
    /// The number of rows of the first batch, once it is read.
    pub(super) first_rows: usize,
    /// Late keys that did not become columns.
    pub(super) left_out: BTreeSet<String>,
    problem: Option<LineProblem>,
}

pub(super) struct Column {
    pub(super) name: String,
    text: StringBuilder,
    /// Nobody reads the cells; they are kept as JSON, whatever they hold.
    carried: bool,
    /// Whether any value so far is a string, and whether any is not.
    has: [bool; 2],
    /// Whether all values of the first batch that has the column are strings; `None` before its end.
    is_text: Option<bool>,
}

impl Columns {
    pub(super) fn new(wanted: &Wanted) -> Self {
        let (named, only) = match wanted {
            Wanted::All | Wanted::Nothing => (&[][..], false),
            Wanted::Except(names) => (names.as_slice(), false),
            Wanted::Only(names) => (names.as_slice(), true),
        };
        Self {
            all: Vec::new(),
            by_name: HashMap::new(),
            n_rows: 0,
            named: named.iter().cloned().collect(),
            only,
            nothing: *wanted == Wanted::Nothing,
            n_early: None,
            first_rows: 0,
            left_out: BTreeSet::new(),
            problem: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The columns so far. Strings are given back as strings where a column has nothing else.
    pub(super) fn fields(&mut self) -> Vec<Field> {
        let field = |column: &mut Column| {
            let Column { name, carried, has, is_text, .. } = column;
            match (*carried, *is_text.get_or_insert(*has == [true, false])) {
                (true, _) => json_field(name),
                (false, true) => Field::new(name.clone(), DataType::Utf8, true),
                (false, false) => json_values_field(name.clone()),
            }
        };
        self.all.iter_mut().map(field).collect()
    }

    /// Adds a column, with nulls in the rows so far, and returns its position.
    pub(super) fn add(&mut self, name: String) -> usize {
        let carried = self.nothing || self.named.contains(&name) != self.only;
        // Most lines of hostile input have keys of their own: room is made when there is text.
        let mut text = StringBuilder::with_capacity(0, 0);
        text.append_nulls(self.n_rows);
        self.by_name.insert(name.clone(), self.all.len());
        self.all.push(Column { name, text, carried, has: [false; 2], is_text: None });
        self.all.len() - 1
    }

    /// Treats keys that first appear from now on as late.
    pub(super) fn settle(&mut self) {
        self.n_early = Some(self.len());
        self.first_rows = self.n_rows;
    }

    /// Returns the cells of the batch and starts the next one.
    pub(super) fn finish(&mut self) -> Vec<ArrayRef> {
        self.n_rows = 0;
        self.all.iter_mut().map(|column| Arc::new(column.text.finish()) as ArrayRef).collect()
    }

    /// Appends the values of a row as they are written.
    fn append_raw(&mut self, entries: Vec<(String, &str)>) -> Result<(), LineProblem> {
        let mut guess = 0;
        for (key, value) in entries {
            let Some(index) = self.place(&key, guess)? else { continue };
            match value {
                "null" => self.all[index].text.append_null(),
                value => self.all[index].text.append_value(value),
            }
            guess = index + 1;
        }
        Ok(())
    }

    /// Fills up a row with nulls.
    fn end_row(&mut self) {
        self.n_rows += 1;
        for Column { text, .. } in &mut self.all {
            if text.len() < self.n_rows {
                text.append_null();
            }
        }
    }

    /// Returns the column of `key`, or `None` if its values go nowhere. `guess` is the likeliest column and is tried
    /// first.
    fn place(&mut self, key: &str, guess: usize) -> Result<Option<usize>, LineProblem> {
        let guessed = self.all.get(guess).is_some_and(|column| column.name == key).then_some(guess);
        match guessed.or_else(|| self.by_name.get(key).copied()) {
            Some(index) if self.all[index].text.len() > self.n_rows => {
                Err(LineProblem::DuplicateKey(key.to_owned()))
            }
            Some(index) => Ok(Some(index)),
            None => match self.n_early {
                Some(_) if self.only => {
                    if self.left_out.len() < MOST_LATE_KEYS && !self.left_out.contains(key) {
                        self.left_out.insert(key.to_owned());
                    }
                    Ok(None)
                }
                Some(n_early) if self.len() - n_early == MOST_LATE_KEYS => {
                    Err(LineProblem::TooManyLateKeys { limit: MOST_LATE_KEYS, rows: self.first_rows })
                }
                _ if self.len() == MOST_COLUMNS => Err(LineProblem::TooManyKeys(MOST_COLUMNS)),
                _ => Ok(Some(self.add(key.to_owned()))),
            },
        }
    }
}

/// Appends the object of a line as a row.
pub(super) fn read_row(columns: &mut Columns, line: &[u8]) -> Result<(), LineProblem> {
    let text = std::str::from_utf8(line)
        .map_err(|error| LineProblem::NotUtf8 { column: None, byte: line[error.valid_up_to()] })?;
    if let Some(entries) = Some(text).filter(|_| columns.nothing).and_then(raw::entries) {
        columns.append_raw(entries)?;
        columns.end_row();
        return Ok(());
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result = deserializer.deserialize_any(RowVisitor { columns }).and_then(|()| deserializer.end());
    if let Err(error) = result {
        return Err(columns.problem.take().unwrap_or_else(|| {
            // Every other value finds its place, so a wrong type is that of the whole line.
            if error.is_data() {
                return LineProblem::NotAnObject(match line[0] {
                    b'[' => "an array",
                    b'"' => "a string",
                    b't' | b'f' => "a truth value",
                    b'n' => "null",
                    _ => "a number",
                });
            }
            // The parser's position is within the line; the caller knows which line.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            LineProblem::JsonSyntax { character: error.column(), message }
        }));
    }
    columns.end_row();
    Ok(())
}

struct RowVisitor<'a> {
    columns: &'a mut Columns,
}

impl<'de> Visitor<'de> for RowVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // Nearly every line has its keys in the same order, so the next column is the likeliest.
        let mut guess = 0;
        while let Some(Key(key)) = map.next_key()? {
            match self.columns.place(&key, guess) {
                Ok(Some(index)) => {
                    map.next_value_seed(CellSeed { columns: self.columns, index })?;
                    guess = index + 1;
                }
                Ok(None) => drop(map.next_value::<IgnoredAny>()?),
                Err(problem) => {
                    self.columns.problem = Some(problem);
                    return Err(serde::de::Error::custom("no place for the key"));
                }
            }
        }
        Ok(())
    }
}

/// A key, borrowed from its line unless it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Appends a value to its column: as text, or as JSON if nobody reads the column.
struct CellSeed<'a> {
    columns: &'a mut Columns,
    index: usize,
}

impl CellSeed<'_> {
    /// Appends a value that looks the same as text and as JSON.
    #[expect(clippy::unnecessary_wraps, reason = "visitors return results")]
    fn append<E>(self, value: impl std::fmt::Display) -> Result<(), E> {
        let Column { text, has, .. } = &mut self.columns.all[self.index];
        has[1] = true;
        write!(text, "{value}").expect("a string takes everything");
        text.append_value("");
        Ok(())
    }

    fn nested<'de, D: Deserializer<'de>>(self, found: &'static str, value: D) -> Result<(), D::Error> {
        let Column { name, text, carried, .. } = &mut self.columns.all[self.index];
        if !*carried {
            self.columns.problem = Some(LineProblem::Nested { key: name.clone(), found });
            return Err(serde::de::Error::custom("nested"));
        }
        text.append_value(Value::deserialize(value)?.to_string());
        Ok(())
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
        formatter.write_str("a JSON value")
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        if self.columns.all[self.index].carried {
            return self.append(Value::from(value));
        }
        let Column { text, has, .. } = &mut self.columns.all[self.index];
        has[0] = true;
        text.append_value(value);
        Ok(())
    }
    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.append(value)
    }
    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.append(value)
    }
    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.append(value)
    }
    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        // With an exponent where that is shorter: 1e300 must not turn into 301 digits.
        self.append(format_args!("{value:?}"))
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        self.columns.all[self.index].text.append_null();
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        self.nested("an array", SeqAccessDeserializer::new(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        self.nested("an object", MapAccessDeserializer::new(entries))
    }
}
