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
//! text, written, dates, words       reading cells and writing figures
//! ```

mod alike;
mod arrow;
mod calendar;
mod cells;
mod dates;
mod epoch;
mod features;
mod form;
mod identifier;
mod letters;
mod levels;
mod normal;
mod rarity;
mod recognize;
mod scan;
mod seen;
mod shape;
mod spread;
mod training;
mod vocabulary;
mod words;
mod written;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

pub(crate) use self::{
    arrow::{TypeGroup, displayable, to_text},
    cells::{Checked, Source, read},
    features::{Block, Scale, write_null_flags},
    rarity::{KNOWN_SLIP, Rarity, UNREADABLE, share_surprise},
    recognize::{Judge, reading_as},
    scan::{is_json_number, write_json_string},
    seen::{CellAt, Hint},
    training::{Counts, Learned, Training},
    words::{Figure, fixed, number_within as figure_within, percent},
};
pub use self::{
    cells::{Cells, cell_text, read_cells},
    dates::format_date,
    epoch::Epoch,
    identifier::IdentifierSign,
    normal::{NormalRange, Share, Side},
    recognize::{Sighting, Unreadable},
    scan::{NULL_TOKENS, is_null},
    written::{Affix, NumberNotation},
};
use self::{recognize::Recognizer, seen::Seen};
use crate::{
    count::counted,
    encode::{Check, EncodeError, Feature, Report},
    layout::Role,
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

    /// Whether any text is of this kind. Such a kind is taken only if no other one fits nearly every cell.
    fn takes_anything() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Starts to look at a text column.
    fn recognizer() -> Box<dyn Recognizer>
    where
        Self: Sized;

    /// Reads the cells of a column. Cells that are not of this kind go to [`Source::misfit`].
    fn read(source: &Source<'_>) -> Result<Cells, TableError>
    where
        Self: Sized;

    /// The Arrow type that cells of a file without types (CSV, JSON lines) get in a file with types. It is text if no
    /// other type would give back every cell.
    fn arrow_type(_: Notation) -> DataType
    where
        Self: Sized,
    {
        DataType::Utf8
    }

    /// Text cells as [`Kind::arrow_type`], if that is not text. A cell that does not fit becomes null.
    fn typed(source: &Source<'_>) -> Result<ArrayRef, TableError>
    where
        Self: Sized,
    {
        source.text_with_nulls()
    }

    /// Writes a text cell, not null, as a JSON value. A cell of another kind becomes a string, so nothing is lost.
    fn write_json(cell: &str, out: &mut Vec<u8>)
    where
        Self: Sized,
    {
        scan::write_json_string(cell, out);
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

    /// What its coordinates are.
    fn role() -> Role
    where
        Self: Sized,
    {
        Role::Coordinate
    }

    /// Mean and standard deviation of each feature.
    fn scales(&self, counts: Counts) -> Vec<Scale>;

    /// The name of the feature at position `at`, for people.
    fn feature_name(&self, column: &str, _at: usize) -> String {
        column.to_owned()
    }

    /// Writes the features of a block of rows. Returns the number of values that training never had, and that
    /// [`Kind::unfamiliar`] words. By default the cells are numbers and the only feature.
    fn write(&self, cells: &Cells, features: &[Feature], block: Block<'_>) -> u64 {
        block.write_numbers(cells, features[0]);
        0
    }

    /// Words `count` values that training never had.
    fn unfamiliar(&self, count: usize) -> String {
        format!("{} never seen in training", counted(count, "value", "values"))
    }

    /// Whether cells are moments, so that the time between two columns means something.
    fn is_moment(&self) -> bool {
        false
    }

    /// A number on the scale that suits the column; `None` if cells are no numbers.
    fn scaled(&self, _number: f64) -> Option<f64> {
        None
    }

    /// The number that [`Kind::scaled`] puts at `x`; `None` if cells are no numbers.
    fn unscaled(&self, _x: f64) -> Option<f64> {
        None
    }

    /// A number as near to this one as a cell can hold; `None` if cells are no numbers.
    fn plausible(&self, _number: f64) -> Option<f64> {
        None
    }

    /// The name of the level at this position, if cells have levels.
    fn level(&self, _at: usize) -> Option<&str> {
        None
    }

    /// The level that most training rows have, as a position, and their share, if cells have levels.
    fn usual_level(&self, _counts: Counts) -> Option<(usize, f64)> {
        None
    }

    /// The level at this position as a number, if cells are read as numbers.
    fn level_number(&self, _at: usize) -> Option<f64> {
        None
    }

    /// Writes a number as the cells of the column are written; `like` is the cell in whose place it stands.
    fn written(&self, number: f64, _like: Option<&str>) -> String {
        number.to_string()
    }

    /// What was probably meant by a cell that looks like a slip of the pen.
    fn mend(&self, _cell: &str) -> Option<String> {
        None
    }

    /// What the kind tells of a cell besides its coordinates, each with a name for people.
    fn hidden(&self) -> Vec<(Role, &'static str)> {
        Vec::new()
    }

    /// Writes what [`Kind::hidden`] lists for a block of rows.
    fn write_hidden(&self, _cells: &Cells, _block: Block<'_>) {}

    /// Training cells that are not of the kind; `None` if any cell is.
    fn unreadable(&self) -> Option<u64> {
        None
    }

    /// Says what is odd about a cell by the feature at position `hidden` of [`Kind::hidden`]. `None` if there is nothing more to
    /// say than about its value.
    fn tell(&self, _cell: &CellAt<'_>, _hidden: usize, _counts: Counts) -> Result<Option<Hint>, TableError> {
        Ok(None)
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
        #[allow(clippy::large_enum_variant, reason = "there is one for each column")]
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

            /// The name: `number`, `boolean`, `date`, `text`, `category`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$Kind => stringify!($module),)* }
            }

            /// Whether cells are figures: aligned right, and sorted by their value.
            #[must_use]
            pub fn is_numeric(self) -> bool {
                match self { $(Self::$Kind => $module::$Kind::is_numeric(),)* }
            }

            /// Whether what is normal is a range: cells are numbers or dates.
            pub(crate) fn has_range(self) -> bool {
                matches!(self.wording(), Wording::Distance { .. })
            }

            /// The part of a cell to show where there is no room for all of it: the day of a date.
            #[must_use]
            pub fn short(self, cell: &str) -> &str {
                match self { $(Self::$Kind => $module::$Kind::short(cell),)* }
            }

            pub(crate) fn holds(self, data_type: &DataType) -> bool {
                match self { $(Self::$Kind => $module::$Kind::holds(data_type),)* }
            }

            pub(crate) fn expected(self, notation: Notation) -> &'static str {
                match self { $(Self::$Kind => $module::$Kind::expected(notation),)* }
            }

            fn takes_anything(self) -> bool {
                match self { $(Self::$Kind => $module::$Kind::takes_anything(),)* }
            }

            fn recognizer(self) -> Box<dyn Recognizer> {
                match self { $(Self::$Kind => $module::$Kind::recognizer(),)* }
            }

            fn read(self, source: &Source<'_>) -> Result<Cells, TableError> {
                match self { $(Self::$Kind => $module::$Kind::read(source),)* }
            }

            fn arrow_type(self, notation: Notation) -> DataType {
                match self { $(Self::$Kind => $module::$Kind::arrow_type(notation),)* }
            }

            fn typed(self, source: &Source<'_>) -> Result<ArrayRef, TableError> {
                match self { $(Self::$Kind => $module::$Kind::typed(source),)* }
            }

            pub(crate) fn write_json(self, cell: &str, out: &mut Vec<u8>) {
                match self { $(Self::$Kind => $module::$Kind::write_json(cell, out),)* }
            }

            pub(crate) fn learn(self, training: &Training<'_>) -> Result<Learned<Content>, EncodeError> {
                match self { $(Self::$Kind => Ok($module::$Kind::learn(training)?.map(Content::$Kind)),)* }
            }

            pub(crate) fn role(self) -> Role {
                match self { $(Self::$Kind => $module::$Kind::role(),)* }
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
    /// Names, titles and remarks; hardly two are equal.
    text: Text,
    /// Names out of a list. Columns of nested or binary types are categories, too, but their cells cannot be read:
    /// such columns can only be ignored.
    category: Category,
}

/// There is no kind of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind `{name}`; known: {}", known_kinds())]
pub struct UnknownKind {
    /// The name asked for.
    pub name: String,
}

fn known_kinds() -> String {
    ColumnKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

impl std::str::FromStr for ColumnKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let named = |kind: &&Self| kind.name() == name;
        Self::ALL.iter().find(named).copied().ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
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
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Notation {
    /// Whether `1/2/2024` is the first of February. A later table is read in the order that the training table
    /// showed, whatever its own cells allow.
    pub day_first: bool,
    /// Whether some times of the training table have an offset from UTC. They are read as their clock shows them.
    pub zoned: bool,
    /// Whether such times are read in UTC instead, to be compared with those of another column.
    pub utc: bool,
    /// If dates are written as numbers: their unit.
    pub epoch: Option<Epoch>,
    /// Whether 9999-12-31 and 0001-01-01 stand for no date.
    pub open_ended: bool,
    /// How numbers are written.
    #[doc(hidden)]
    pub number: NumberNotation,
    /// Whether truth values are written with other words than true and false.
    pub words: bool,
    /// Whether some cells of the training table are not of the kind.
    pub mixed: bool,
}

/// As what, and in which notation, the cells of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// What the cells mean.
    pub kind: ColumnKind,
    /// How they are written.
    pub notation: Notation,
}

impl Reading {
    /// The Arrow type of these cells in a file with types, if they come from a file without.
    pub(crate) fn arrow_type(self) -> DataType {
        if self.notation.mixed { DataType::Utf8 } else { self.kind.arrow_type(self.notation) }
    }

    /// The same, but times with an offset are read in UTC.
    pub(crate) fn in_utc(mut self) -> Self {
        self.notation.utc = self.notation.zoned;
        self
    }

    /// Text cells as [`Reading::arrow_type`]. Text stays as written, with nulls for null tokens.
    pub(crate) fn typed(self, source: &Source<'_>) -> Result<ArrayRef, TableError> {
        if self.arrow_type() == DataType::Utf8 { source.text_with_nulls() } else { self.kind.typed(source) }
    }
}

impl From<ColumnKind> for Reading {
    fn from(kind: ColumnKind) -> Self {
        Self { kind, notation: Notation::default() }
    }
}
