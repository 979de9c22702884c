//! Learning an encoder from the training rows, one column by itself after (or beside) the other.

use std::collections::{HashMap, HashSet};

use arrow_array::RecordBatch;
use rayon::prelude::*;

use super::{
    Content, DateStyle, EncodeError, EncodeOptions, Encoder, LeftOut, LeftOutReason, Levels, MAX_FEATURES,
    Spread, column::LearnedColumn, error::listed, identifier, spread,
};
use crate::{
    Table,
    table::{Cells, ColumnInfo, ColumnKind, Sample, read_cells},
};

/// A kept level has at least one in so many rows.
const MIN_LEVEL_SHARE: usize = 1_000;

impl Encoder {
    /// Learns from all rows of `table`. The column `label` and the ignored ones make no features; both must
    /// exist.
    pub fn fit(table: &Table, options: &EncodeOptions, label: Option<&str>) -> Result<Self, EncodeError> {
        Self::fit_some(table, None, options, label)
    }

    /// The same from a sample of the rows, as if they were all.
    pub fn fit_sample(
        sample: &Sample,
        options: &EncodeOptions,
        label: Option<&str>,
    ) -> Result<Self, EncodeError> {
        Self::fit_some(&sample.table, Some(&sample.row_numbers), options, label)
    }

    fn fit_some(
        table: &Table,
        row_numbers: Option<&[u64]>,
        options: &EncodeOptions,
        label: Option<&str>,
    ) -> Result<Self, EncodeError> {
        options.validate()?;
        let names: HashSet<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let ignored: HashSet<&str> = options.ignore.iter().map(String::as_str).collect();
        let asked = options.ignore.iter().map(|name| (name.as_str(), "ignored"));
        for (name, role) in asked.chain(label.map(|name| (name, "the label"))) {
            if !names.contains(name) {
                return Err(EncodeError::NoSuchColumn {
                    origin: table.origin.clone(),
                    name: name.to_owned(),
                    role,
                    known: listed(table.columns.iter().map(|column| column.name.as_str())),
                });
            }
        }
        let n_rows: usize = table.batches.iter().map(RecordBatch::num_rows).sum();
        if n_rows == 0 {
            return Err(EncodeError::NoRows { origin: table.origin.clone() });
        }

        // Collected before looking for errors: the first column in table order is named, whichever thread came
        // upon an error first.
        let learned: Vec<Result<Learned, EncodeError>> = (0..table.columns.len())
            .into_par_iter()
            .map(|at| {
                let name = table.columns[at].name.as_str();
                if label == Some(name) {
                    Ok(Learned::LeftOut(LeftOutReason::Label))
                } else if ignored.contains(name) {
                    Ok(Learned::LeftOut(LeftOutReason::Ignored))
                } else {
                    learn(table, row_numbers, at, n_rows, options)
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

/// What became of a column.
enum Learned {
    Column { nulls: u64, content: Content },
    LeftOut(LeftOutReason),
}

fn learn(
    table: &Table,
    row_numbers: Option<&[u64]>,
    at: usize,
    n_rows: usize,
    options: &EncodeOptions,
) -> Result<Learned, EncodeError> {
    match table.columns[at].kind {
        ColumnKind::Category => learn_names(table, at, n_rows, options),
        _ => learn_numbers(table, row_numbers, at, n_rows, options),
    }
}

fn learn_numbers(
    table: &Table,
    row_numbers: Option<&[u64]>,
    at: usize,
    n_rows: usize,
    options: &EncodeOptions,
) -> Result<Learned, EncodeError> {
    let mut values = Vec::with_capacity(n_rows);
    for_each_batch(table, at, |cells| {
        if let Cells::Numbers(numbers) = cells {
            values.extend(numbers.iter().copied().filter(|number| !number.is_nan()));
        }
    })?;
    if values.is_empty() {
        return Ok(Learned::LeftOut(LeftOutReason::AllNull));
    }
    let ColumnInfo { name, kind } = &table.columns[at];
    let kind = *kind;
    let nulls = (n_rows - values.len()) as u64;
    if kind == ColumnKind::Boolean {
        let true_rows = values.iter().filter(|&&value| value != 0.0).count() as u64;
        return Ok(Learned::Column { nulls, content: Content::Boolean { true_rows } });
    }
    let suspect = kind == ColumnKind::Number && nulls == 0 && !options.keep_identifiers;
    if let Some(sign) = suspect.then(|| identifier::of_numbers(name, &values, row_numbers)).flatten() {
        return Ok(Learned::LeftOut(LeftOutReason::Identifier(sign)));
    }
    let spread = Spread::of(&mut values).map_err(|(low, high)| EncodeError::TooFarApart {
        origin: table.origin.clone(),
        column: name.to_owned(),
        low,
        high,
    })?;
    let content = match kind {
        ColumnKind::Date | ColumnKind::DayFirstDate => Content::Date {
            spread: spread::date_unit(&values).map_or(spread, |unit| spread.in_units(unit)),
            style: DateStyle::of(&values),
            day_first: kind == ColumnKind::DayFirstDate,
        },
        ColumnKind::Number | ColumnKind::Boolean | ColumnKind::Category => Content::Number(spread),
    };
    Ok(Learned::Column { nulls, content })
}

fn learn_names(
    table: &Table,
    at: usize,
    n_rows: usize,
    options: &EncodeOptions,
) -> Result<Learned, EncodeError> {
    let mut counts: HashMap<Box<str>, u64> = HashMap::new();
    let mut nulls = 0;
    for_each_batch(table, at, |cells| {
        let Cells::Names(names) = cells else { return };
        for name in names {
            match name {
                None => nulls += 1,
                Some(name) => match counts.get_mut(name) {
                    Some(count) => *count += 1,
                    None => {
                        counts.insert(name.into(), 1);
                    }
                },
            }
        }
    })?;
    if counts.is_empty() {
        return Ok(Learned::LeftOut(LeftOutReason::AllNull));
    }
    if let Some(sign) = identifier::of_names(n_rows, counts.len()).filter(|_| !options.keep_identifiers) {
        return Ok(Learned::LeftOut(LeftOutReason::Identifier(sign)));
    }
    let min_rows = options.min_level_rows.max(n_rows.div_ceil(MIN_LEVEL_SHARE)) as u64;
    let levels = Levels::of(counts, options.max_levels, min_rows);
    // All pooled: every cell, also of later rows, would be "other". Only nulls would still tell rows apart.
    if levels.kept().is_empty() && nulls == 0 {
        return Ok(Learned::LeftOut(LeftOutReason::NoCommonLevel { levels: levels.pooled_levels() }));
    }
    Ok(Learned::Column { nulls, content: Content::Category(levels) })
}

fn for_each_batch(table: &Table, at: usize, mut visit: impl FnMut(&Cells)) -> Result<(), EncodeError> {
    let ColumnInfo { name, kind } = &table.columns[at];
    let mut first_row = 0;
    for batch in &table.batches {
        visit(&read_cells(name, batch.column(at), *kind, first_row, &table.origin)?);
        first_row += batch.num_rows();
    }
    Ok(())
}

/// There are features, and not too many.
fn check_size(table: &Table, columns: &[LearnedColumn], left_out: &[LeftOut]) -> Result<(), EncodeError> {
    let Some(widest) = columns.iter().rev().max_by_key(|column| column.n_features()) else {
        let reasons: Vec<_> =
            left_out.iter().take(5).map(|out| format!("`{}`: {}", out.name, out.reason)).collect();
        let more =
            if left_out.len() > 5 { format!("; and {} more", left_out.len() - 5) } else { String::new() };
        return Err(EncodeError::NoFeatures {
            origin: table.origin.clone(),
            left_out: reasons.join("; ") + &more,
        });
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
