//! Which features of a row make up one column of the table, and what each of them is.
//!
//! Most detectors compare rows as points, and only see the features that are coordinates. A detector that judges whole
//! columns (predicts one from the others, or replaces the value of one) also sees levels and signs, which are no
//! coordinates, and knows which features belong together.

use std::ops::Range;

/// What a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A number: nearer is more alike.
    Number,
    /// A position in time, as a number. It tells the rows of a table apart, but later tables go on in time.
    Time,
    /// The number of the column on a scale on which it is not skewed. Not a coordinate.
    Skewed,
    /// A part of the value as a number, such as the hour of a date. Not a coordinate.
    Part,
    /// One of two values, told apart by the sign: negative or 0 is no, positive is yes.
    Flag,
    /// With the other coordinates of its column, a place for a level: equal levels have equal places.
    Coordinate,
    /// A level out of many as its position in a list, so near means nothing. Not a coordinate.
    Level,
    /// A sign that a cell is odd by itself, as a surprise: 0 for most cells, −ln of a share for others. Not a coordinate.
    Sign,
}

impl Role {
    /// Whether it is a coordinate of the row as a point.
    pub(crate) fn is_coordinate(self) -> bool {
        match self {
            Self::Number | Self::Time | Self::Flag | Self::Coordinate => true,
            Self::Skewed | Self::Part | Self::Level | Self::Sign => false,
        }
    }
}

/// The features of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// All features, the flag for empty cells included.
    pub(crate) features: Range<usize>,
    /// What each of them is.
    pub(crate) roles: Vec<Role>,
    /// The feature that says whether the cell is empty, if the column has one. It is the last coordinate.
    pub(crate) null_flag: Option<usize>,
    /// The sign that the cell has no value where it should have one, if the table has signs.
    pub(crate) gap: Option<usize>,
    /// Whether the column only tells which group a row is in: other columns are judged by it, not the other way round.
    pub(crate) is_context: bool,
}

/// The columns behind a row of features, in the order of the features.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout(pub(crate) Vec<Group>);

impl Layout {
    /// Every feature is a number and a column of its own.
    #[must_use]
    pub(crate) fn of_numbers(n_features: usize) -> Self {
        let number = |at| Group {
            features: at..at + 1,
            roles: vec![Role::Number],
            null_flag: None,
            gap: None,
            is_context: false,
        };
        Self((0..n_features).map(number).collect())
    }

    /// The number of features.
    #[must_use]
    pub(crate) fn n_features(&self) -> usize {
        self.0.iter().map(|group| group.features.len()).sum()
    }

    /// The role of every feature, in order.
    pub(crate) fn roles(&self) -> impl Iterator<Item = Role> + '_ {
        self.0.iter().flat_map(|group| group.roles.iter().copied())
    }

    /// The features that are coordinates; `None` if all are.
    pub(crate) fn coordinates(&self) -> Option<Vec<u32>> {
        let kept: Vec<u32> =
            self.roles().zip(0..).filter(|(role, _)| role.is_coordinate()).map(|(_, at)| at).collect();
        (kept.len() < self.n_features()).then_some(kept)
    }
}
