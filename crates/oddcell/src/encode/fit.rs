//! Learning an encoder from the training rows, each column by itself.

use std::collections::HashSet;

use rayon::prelude::*;

use super::{
    EncodeError, EncodeOptions, Encoder, LeftOut, LeftOutReason, MAX_FEATURES, column::LearnedColumn,
    error::listed,
};
use crate::{
    Table,
    kinds::{Learned, Training},
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
        options.validate()?;
        let names: HashSet<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let ignored: HashSet<&str> = options.ignore.iter().map(String::as_str).collect();
        let asked = options.ignore.iter().map(|name| (name.as_str(), "to ignore"));
        for (name, role) in asked.chain(label.map(|name| (name, "to use as the label"))) {
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
                } else {
                    table.columns[at].kind.learn(&Training { table, at, n_rows, row_numbers, options })
                }
            })
            .collect();
        let (mut columns, mut left_out) = (Vec::new(), Vec::new());
        for (learned, ColumnInfo { name, .. }) in learned.into_iter().zip(&table.columns) {
            match learned? {
                Learned::Column { nulls, content } => {
                    columns.push(LearnedColumn { name: name.clone(), nulls, content });
                }
                Learned::LeftOut(reason) => left_out.push(LeftOut { name: name.clone(), reason }),
            }
        }
        check_size(table, &columns, &left_out)?;
        Encoder::assemble(n_rows as u64, columns, left_out)
    }
}

/// Checks that there are features, and not too many.
fn check_size(table: &Table, columns: &[LearnedColumn], left_out: &[LeftOut]) -> Result<(), EncodeError> {
    let Some(widest) = columns.iter().rev().max_by_key(|column| column.n_features()) else {
        return Err(EncodeError::NoFeatures { origin: table.origin.clone(), left_out: left_out.to_vec() });
    };
    let got = columns.iter().map(LearnedColumn::n_features).sum();
    if got > MAX_FEATURES {
        return Err(EncodeError::TooManyFeatures {
            origin: table.origin.clone(),
            got,
            allowed: MAX_FEATURES,
            widest: format!("`{}` with {}", widest.name, widest.n_features()),
        });
    }
    Ok(())
}
