//! The questions about every row: the value of a column, whether its cell is empty, and what is odd about it by itself.

use std::ops::Range;

use crate::{
    detect::saved,
    layout::{Layout, Role},
    tensors::{TensorError, Tensors},
};

/// One question about every row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// The feature that it is about.
    pub(super) at: usize,
    pub(super) role: Role,
    /// The feature that is positive if there is no value.
    null_flag: Option<usize>,
    /// The feature that is not 0 if the cell has no value although it should have one.
    gap: Option<usize>,
    /// Whether the other columns say nothing about it, because it tells which group a row is in.
    pub(super) is_context: bool,
    /// All features of the column: none of them may help to predict another.
    pub(super) column: Range<usize>,
}

impl Asked {
    /// All questions, column by column.
    pub(super) fn of(layout: &Layout) -> Vec<Self> {
        let mut all = Vec::new();
        for group in &layout.0 {
            let is_skewed = group.roles.contains(&Role::Skewed);
            for (at, &role) in group.features.clone().zip(&group.roles) {
                let is_value = role != Role::Sign && Some(at) != group.null_flag;
                let (null_flag, gap) = if is_value { (group.null_flag, group.gap) } else { (None, None) };
                let is_asked = match role {
                    Role::Number => !is_skewed,
                    Role::Time | Role::Skewed | Role::Part | Role::Flag | Role::Level | Role::Sign => true,
                    Role::Coordinate => false,
                };
                if is_asked {
                    let (is_context, column) = (group.is_context, group.features.clone());
                    all.push(Self { at, role, null_flag, gap, is_context, column });
                }
            }
        }
        all
    }

    /// Whether a row has a value that the question is about.
    pub(super) fn has_value(&self, row: &[f64]) -> bool {
        // The flag is standardized: 0 lies below its mean, 1 above.
        self.null_flag.is_none_or(|flag| row[flag] <= 0.0) && self.gap.is_none_or(|gap| row[gap] == 0.0)
    }

    /// The question about the value of a column among all questions about it.
    pub(super) fn about_value(of_column: &[Self]) -> Option<usize> {
        let flag = of_column.iter().find_map(|question| question.null_flag);
        of_column.iter().position(|question| {
            Some(question.at) != flag
                && match question.role {
                    Role::Number | Role::Time | Role::Skewed | Role::Flag | Role::Level => true,
                    Role::Part | Role::Coordinate | Role::Sign => false,
                }
        })
    }

    /// Whether the answer helps to predict other columns.
    pub(super) fn is_known(&self, times: bool) -> bool {
        match self.role {
            Role::Time => times,
            Role::Number | Role::Skewed | Role::Part | Role::Flag | Role::Level => true,
            Role::Coordinate | Role::Sign => false,
        }
    }

    /// The level of a row.
    pub(super) fn level(&self, row: &[f64]) -> u32 {
        match self.role {
            Role::Flag => u32::from(row[self.at] > 0.0),
            Role::Level => row[self.at].max(0.0) as u32,
            Role::Number | Role::Time | Role::Skewed | Role::Part | Role::Coordinate | Role::Sign => 0,
        }
    }

    /// Writes the questions.
    pub(super) fn put_all(tensors: &mut Tensors, n_features: usize, asked: &[Self]) {
        let none = n_features as u32;
        let line = |question: &Self| {
            let Self { at, role, null_flag, gap, is_context, column } = question;
            let role = ROLES.iter().position(|other| other == role).unwrap_or(ROLES.len());
            let place = |feature: &Option<usize>| feature.map_or(none, |feature| feature as u32);
            let context = u32::from(*is_context);
            let (first, last) = (column.start as u32, column.end as u32);
            [*at as u32, role as u32, place(null_flag), place(gap), context, first, last]
        };
        tensors.put_u32("features", &[1], vec![none]);
        tensors.put_u32("questions", &[1], vec![asked.len() as u32]);
        tensors.put_u32("layout", &[asked.len(), 7], asked.iter().flat_map(line).collect());
    }

    /// Reads the questions from a file that may be hostile.
    pub(super) fn take_all(tensors: &mut Tensors) -> Result<(usize, Vec<Self>), TensorError> {
        let n_features = tensors.take_u32("features", &[1])?[0] as usize;
        let n_asked = tensors.take_u32("questions", &[1])?[0] as usize;
        let lines = tensors.take_u32("layout", &[n_asked, 7])?;
        let mut asked: Vec<Self> = Vec::with_capacity(n_asked);
        for line in lines.chunks_exact(7) {
            let [at, role, flag, gap, context, first, last] =
                [0, 1, 2, 3, 4, 5, 6].map(|at| line[at] as usize);
            let fits = flag <= n_features
                && gap <= n_features
                && context <= 1
                && first <= at
                && at < last
                && last <= n_features
                && asked.last().is_none_or(|before| {
                    before.at < at && (before.column == (first..last) || before.column.end <= first)
                });
            let place = |feature: usize| (feature != n_features).then_some(feature);
            match ROLES.get(role) {
                Some(&role) if fits => {
                    let (null_flag, gap) = (place(flag), place(gap));
                    let is_context = context == 1;
                    asked.push(Self { at, role, null_flag, gap, is_context, column: first..last });
                }
                _ => {
                    let said = format!("{line:?} does not fit {n_features} features");
                    return Err(saved::invalid("layout", &said));
                }
            }
        }
        if asked.is_empty() {
            return Err(saved::invalid("layout", &"it says no columns, but there must be at least 1"));
        }
        Ok((n_features, asked))
    }
}

/// The roles of questions, in the order of their numbers in a file.
const ROLES: [Role; 7] =
    [Role::Number, Role::Time, Role::Skewed, Role::Part, Role::Flag, Role::Level, Role::Sign];
