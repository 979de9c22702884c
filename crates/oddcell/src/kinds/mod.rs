//! Kinds of columns: everything that differs between a column of numbers and a column of names, one file per kind.
//!
//! A kind implements [`Kind`] and stands in the one list below. `table` asks it to recognize and read cells,
//! `encode` to learn and to write features, `explain` to word reasons. None of them knows which kinds exist.
//!
//! ```text
//! number, boolean, date, category   the kinds
//! recognize                         text and Arrow types ─► the kind of a column
//! cells, arrow                      a column ─► its cells, whatever its Arrow type
//! training, features, seen          what a kind learns from, writes to, and shows of one cell
//! spread, levels, identifier        what several kinds learn
//! text, dates, words                reading cells and writing figures
//! ```

mod arrow;
mod cells;
mod dates;
mod features;
mod identifier;
mod levels;
mod normal;
mod recognize;
mod seen;
mod spread;
mod text;
mod training;
mod words;

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

pub(crate) use self::{
    arrow::{TypeGroup, displayable, to_text},
    cells::Source,
    features::{Block, Scale, write_null_flags},
    recognize::Judge,
    seen::CellAt,
    text::{is_json_number, write_json_string},
    training::{Counts, Learned, Training},
    words::{Figure, fixed, percent},
};
pub use self::{
    cells::{Cells, cell_text, read_cells},
    dates::format_date,
    identifier::IdentifierSign,
    normal::{NormalRange, Share, Side},
    text::{NULL_TOKENS, is_null},
};
use self::{recognize::Recognizer, seen::Seen};
use crate::{
    encode::{Check, EncodeError, Feature, Report},
    table::TableError,
};

/// One kind of column.
///
/// The functions without `self` are about the kind itself; the methods are about one column, and `self` holds
/// what was learned from it. Nulls are not a kind's business: the encoder flags them, and [`crate::explain`] words
/// them.
pub(crate) trait Kind {
    // ── The kind ────────────────────────────────────────────────────────────────────────────────────────────────

    /// Names a cell of this kind: "found `x`, but … was expected".
    fn expected(notation: Notation) -> &'static str
    where
        Self: Sized;

    /// Whether all cells of this Arrow type are of this kind. Not asked about text.
    fn holds(data_type: &DataType) -> bool
    where
        Self: Sized;

    /// Starts to look at a text column.
    fn recognizer() -> Box<dyn Recognizer>
    where
        Self: Sized;

    /// Reads the cells of a column. The first cell that is not of this kind is an error.
    fn read(source: &Source<'_>) -> Result<Cells, TableError>
    where
        Self: Sized;

    /// The Arrow type that cells of a file without types (CSV, JSON lines) get in a file with types.
    fn arrow_type() -> DataType
    where
        Self: Sized,
    {
        DataType::Utf8
    }

    /// Text cells as [`Kind::arrow_type`]. By default they stay as written, with nulls for null tokens.
    fn typed(source: &Source<'_>) -> Result<ArrayRef, TableError>
    where
        Self: Sized,
    {
        Ok(Arc::new(arrow::null_tokens_as_nulls(&source.text()?)))
    }

    /// Writes a text cell, not null, as a JSON value. A cell of another kind becomes a string, so nothing is lost.
    fn write_json(cell: &str, out: &mut Vec<u8>)
    where
        Self: Sized,
    {
        text::write_json_string(cell, out);
    }

    /// Learns from the training cells, or decides to leave the column out.
    fn learn(training: &Training<'_>) -> Result<Learned<Self>, EncodeError>
    where
        Self: Sized;

    /// How reasons word a cell of this kind.
    fn wording() -> Wording
    where
        Self: Sized,
    {
        Wording::Share
    }

    /// Whether cells are figures: aligned right, and sorted by their value.
    fn is_numeric() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// The part of a cell to show where there is no room for all of it.
    fn short(cell: &str) -> &str
    where
        Self: Sized,
    {
        cell
    }

    // ── A column ────────────────────────────────────────────────────────────────────────────────────────────────

    /// How the cells were written in training; later tables are read in the same way.
    fn notation(&self) -> Notation {
        Notation::default()
    }

    /// The number of features that a cell makes.
    fn n_features(&self) -> usize {
        1
    }

    /// Mean and standard deviation of each feature.
    fn scales(&self, counts: Counts) -> Vec<Scale>;

    /// The name of the feature at position `at`, for people.
    fn feature_name(&self, column: &str, _at: usize) -> String {
        column.to_owned()
    }

    /// Writes the features of a block of rows. Returns the number of values that training never had. By default the
    /// cells are numbers and the only feature.
    fn write(&self, cells: &Cells, features: &[Feature], block: Block<'_>) -> u64 {
        block.write_numbers(cells, features[0]);
        0
    }

    /// Looks at one cell, for its reason.
    fn look<'a>(&self, cell: &CellAt<'a>, counts: Counts) -> Result<Seen<'a>, TableError>;

    /// What is normal in the column.
    fn normal(&self, counts: Counts) -> NormalRange;

    /// What else a user should know about the column.
    fn report(&self, _column: &str) -> Option<Report> {
        None
    }

    /// Checks every figure: the column may come from a hostile file.
    fn validate(&self, counts: Counts, check: &Check<'_>) -> Result<(), EncodeError>;
}

/// Declares the kinds: an enum of them, an enum of what they learned, and the way from both to [`Kind`].
macro_rules! kinds {
    ($($(#[$doc:meta])* $module:ident: $Kind:ident,)*) => {
        $(mod $module;)*

        /// What the cells of a column mean.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum ColumnKind {
            $($(#[$doc])* $Kind,)*
        }

        /// What was learned about a column.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
        pub(crate) enum Content {
            $($Kind($module::$Kind),)*
        }

        impl Content {
            pub(crate) fn kind(&self) -> ColumnKind {
                match self { $(Self::$Kind(_) => ColumnKind::$Kind,)* }
            }

            pub(crate) fn as_kind(&self) -> &dyn Kind {
                match self { $(Self::$Kind(learned) => learned,)* }
            }
        }

        impl ColumnKind {
            /// All kinds. A text column is of the first kind that fits every cell; the last one fits any cell.
            pub const ALL: &[Self] = &[$(Self::$Kind,)*];

            /// The name: `number`, `boolean`, `date`, `category`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$Kind => stringify!($module),)* }
            }

            /// Whether cells are figures: aligned right, and sorted by their value.
            #[must_use]
            pub fn is_numeric(self) -> bool {
                match self { $(Self::$Kind => $module::$Kind::is_numeric(),)* }
            }

            /// The part of a cell to show where there is no room for all of it: the day of a date.
            #[must_use]
            pub fn short(self, cell: &str) -> &str {
                match self { $(Self::$Kind => $module::$Kind::short(cell),)* }
            }

            pub(crate) fn holds(self, data_type: &DataType) -> bool {
                match self { $(Self::$Kind => $module::$Kind::holds(data_type),)* }
            }

            fn expected(self, notation: Notation) -> &'static str {
                match self { $(Self::$Kind => $module::$Kind::expected(notation),)* }
            }

            fn recognizer(self) -> Box<dyn Recognizer> {
                match self { $(Self::$Kind => $module::$Kind::recognizer(),)* }
            }

            fn read(self, source: &Source<'_>) -> Result<Cells, TableError> {
                match self { $(Self::$Kind => $module::$Kind::read(source),)* }
            }

            pub(crate) fn arrow_type(self) -> DataType {
                match self { $(Self::$Kind => $module::$Kind::arrow_type(),)* }
            }

            pub(crate) fn typed(self, source: &Source<'_>) -> Result<ArrayRef, TableError> {
                match self { $(Self::$Kind => $module::$Kind::typed(source),)* }
            }

            pub(crate) fn write_json(self, cell: &str, out: &mut Vec<u8>) {
                match self { $(Self::$Kind => $module::$Kind::write_json(cell, out),)* }
            }

            pub(crate) fn learn(self, training: &Training<'_>) -> Result<Learned<Content>, EncodeError> {
                match self { $(Self::$Kind => Ok($module::$Kind::learn(training)?.map(Content::$Kind)),)* }
            }

            pub(crate) fn wording(self) -> Wording {
                match self { $(Self::$Kind => $module::$Kind::wording(),)* }
            }
        }
    };
}

// The order decides what a text column is: the first kind that fits every cell.
kinds! {
    /// Whole or decimal numbers.
    number: Number,
    /// True or false.
    boolean: Boolean,
    /// Dates, times of day, or both. As numbers they are seconds, since 1970-01-01 or since midnight.
    date: Date,
    /// Names out of a list. Columns of nested or binary types are categories, too, but their cells cannot be read:
    /// such columns can only be ignored.
    category: Category,
}

/// How reasons word the cells of a kind.
#[derive(Clone, Copy)]
pub(crate) enum Wording {
    /// How sure it is that the cell is wrong, from 0 to 1, and which values are usual: `unexpected (0.93 of 1)`.
    Share,
    /// How far off the cell is, in the column's own `unit`, and the normal range: `3.2 sd off (816.1)`.
    Distance { unit: fn(f64) -> Figure, above: &'static str, below: &'static str },
}

/// How the cells of a column are written, where its kind can be written in more than one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notation {
    /// Whether `1/2/2024` is the first of February. A later table is read in the order that the training table
    /// showed, whatever its own cells allow.
    pub day_first: bool,
}

/// As what, and in which notation, the cells of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// What the cells mean.
    pub kind: ColumnKind,
    /// How they are written.
    pub notation: Notation,
}

impl From<ColumnKind> for Reading {
    fn from(kind: ColumnKind) -> Self {
        Self { kind, notation: Notation::default() }
    }
}
