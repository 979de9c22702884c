//! Learning an encoder from the training rows, each column by itself.

use std::collections::HashSet;

use rayon::prelude::*;

use super::{
    EncodeError, EncodeOptions, Encoder, IdentifierSign, LeftOut, LeftOutReason, MAX_FEATURES,
    column::LearnedColumn, copies, encoder::is_mixed, error::listed, groups, since,
};
use crate::{
    Table,
    kinds::{Content, Learned, Training},
    table::ColumnInfo,
};

impl Encoder {
    /// Learns from all rows of `table`. The column `label` and the ignored columns must exist, and make no features.
    pub fn fit(table: &Table, options: &EncodeOptions, label: Option<&str>) -> Result<Self, EncodeError> {
        Self::fit_sample(table, None, options, label)
    }

    /// Learns from a sample of the rows as if they were all rows. `row_numbers` are their positions in the whole table.
    pub(crate) fn fit_sample(
        table: &Table,
        row_numbers: Option<&[u64]>,
        options: &EncodeOptions,
        label: Option<&str>,
    ) -> Result<Self, EncodeError> {
        let n_rows = table.n_rows();
        let learned = learn_columns(table, row_numbers, options, label)?;
        let (mut columns, mut left_out) = (Vec::new(), Vec::new());
        for (learned, ColumnInfo { name, .. }) in learned.into_iter().zip(&table.columns) {
            match learned {
                Learned::Column { nulls, content } => {
                    columns.push(LearnedColumn {
                        name: name.clone(),
                        nulls,
                        content,
                        since: Vec::new(),
                        within: None,
                        copied: None,
                    });
                }
                Learned::LeftOut(reason) => left_out.push(LeftOut { name: name.clone(), reason }),
            }
        }
        since::learn(table, &mut columns)?;
        let place = |name: &String| columns.iter().position(|column| column.name == *name);
        let group_by: Vec<u32> = options.group_by.iter().filter_map(place).map(|at| at as u32).collect();
        groups::learn(table, &mut columns, &group_by)?;
        if is_mixed(&columns) {
            copies::learn(table, &mut columns, &group_by)?;
        }
        check_size(table, &columns, &left_out)?;
        let mut encoder = Encoder::assemble(n_rows as u64, columns, left_out, group_by)?;
        encoder.set_strict(options.strict);
        Ok(encoder)
    }
}

/// Learns from each column by itself, or leaves it out, in table order.
pub(super) fn learn_columns(
    table: &Table,
    row_numbers: Option<&[u64]>,
    options: &EncodeOptions,
    label: Option<&str>,
) -> Result<Vec<Learned<Content>>, EncodeError> {
    let names: HashSet<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let [ignored, identifiers]: [HashSet<&str>; 2] =
        [&options.ignore, &options.identifiers].map(|names| names.iter().map(String::as_str).collect());
    let asked = options.ignore.iter().map(|name| (name.as_str(), "to ignore"));
    let asked = asked.chain(options.group_by.iter().map(|name| (name.as_str(), "to group by")));
    let told = options.identifiers.iter().map(|name| (name.as_str(), "to leave out as an identifier"));
    for (name, role) in asked.chain(told).chain(label.map(|name| (name, "to use as the label"))) {
        if !names.contains(name) {
            return Err(EncodeError::NoSuchColumn {
                origin: table.origin.clone(),
                name: name.to_owned(),
                role,
                known: listed(table.columns.iter().map(|column| column.name.as_str())),
            });
        }
    }
    let n_rows = table.n_rows();
    if n_rows == 0 {
        return Err(EncodeError::NoRows { origin: table.origin.clone() });
    }
    // Collect first, then look for errors: so the error is that of the first column, whichever thread was first.
    let learned: Vec<Result<Learned<_>, EncodeError>> = (0..table.columns.len())
        .into_par_iter()
        .map(|at| {
            let name = table.columns[at].name.as_str();
            if label == Some(name) {
                Ok(Learned::LeftOut(LeftOutReason::Label))
            } else if ignored.contains(name) {
                Ok(Learned::LeftOut(LeftOutReason::Ignored))
            } else if identifiers.contains(name) {
                Ok(Learned::LeftOut(LeftOutReason::Identifier(IdentifierSign::Told)))
            } else {
                table.columns[at].kind.learn(&Training { table, at, n_rows, row_numbers, options })
            }
        })
        .collect();
    learned.into_iter().collect()
}

/// Checks that there are features, and not too many.
fn check_size(table: &Table, columns: &[LearnedColumn], left_out: &[LeftOut]) -> Result<(), EncodeError> {
    let mixed = is_mixed(columns);
    let Some(widest) = columns.iter().rev().max_by_key(|column| column.n_features(mixed)) else {
        return Err(EncodeError::NoFeatures { origin: table.origin.clone(), left_out: left_out.to_vec() });
    };
    let got = columns.iter().map(|column| column.n_features(mixed)).sum();
    if got > MAX_FEATURES {
        return Err(EncodeError::TooManyFeatures {
            origin: table.origin.clone(),
            got,
            allowed: MAX_FEATURES,
            widest: format!("`{}` with {}", widest.name, widest.n_features(mixed)),
        });
    }
    Ok(())
}
