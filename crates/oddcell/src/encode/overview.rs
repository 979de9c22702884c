//! What a table holds, column by column, before a detector learns from it.

use std::{
    collections::HashSet,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

use arrow_array::Array;
use rayon::prelude::*;
use serde::Serialize;

use super::{EncodeError, EncodeOptions, LeftOutReason, NormalRange, fit::learn_columns};
use crate::{
    Table,
    kinds::{Cells, Counts, Learned, Training, read},
    table::{ColumnKind, Rows},
};

/// What one column holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnOverview {
    /// The name in the header.
    pub name: String,
    /// What its cells mean.
    pub kind: ColumnKind,
    /// Rows without a value.
    pub missing: u64,
    /// Different values.
    pub distinct: u64,
    /// Cells that are not of the column's kind.
    pub unreadable: u64,
    /// What is normal in the column; `None` if it has no values, or if its cells cannot be read at all.
    pub normal: Option<NormalRange>,
    /// Why the column would be left out.
    pub left_out: Option<LeftOutReason>,
}

/// Looks at every column of `table`, in table order, as [`super::Encoder::fit`] would.
pub fn overview(
    table: &Table,
    options: &EncodeOptions,
    label: Option<&str>,
) -> Result<Vec<ColumnOverview>, EncodeError> {
    let learned = learn_columns(table, None, options, label)?;
    // Whatever will be left out is looked at, too.
    let all = &EncodeOptions { keep_identifiers: true, ..EncodeOptions::default() };
    let look = |(at, learned): (usize, Learned<_>)| {
        let training = Training { table, at, n_rows: table.n_rows(), row_numbers: None, options: all };
        let column = &table.columns[at];
        let left_out = match &learned {
            Learned::Column { .. } => None,
            Learned::LeftOut(reason) => Some(*reason),
        };
        let learned = match left_out {
            Some(_) => column.kind.learn(&training),
            None => Ok(learned),
        };
        let normal = match learned {
            Ok(Learned::Column { nulls, content }) => {
                Some(content.as_kind().normal(Counts { n_rows: table.n_rows() as u64, nulls }))
            }
            Ok(Learned::LeftOut(_)) => None,
            // A nested column that is ignored.
            Err(_) if left_out.is_some() => None,
            Err(error) => return Err(error),
        };
        let counts = count(table, at, options.strict && left_out.is_none());
        let Counted { missing, distinct, unreadable } = match counts {
            Err(_) if left_out.is_some() => Counted {
                missing: table.batches.iter().map(|batch| batch.column(at).null_count() as u64).sum(),
                ..Counted::default()
            },
            counts => counts?,
        };
        let (name, kind) = (column.name.clone(), column.kind);
        Ok(ColumnOverview { name, kind, missing, distinct, unreadable, normal, left_out })
    };
    learned.into_iter().enumerate().collect::<Vec<_>>().into_par_iter().map(look).collect()
}

#[derive(Default)]
struct Counted {
    missing: u64,
    distinct: u64,
    unreadable: u64,
}

fn count(table: &Table, at: usize, strict: bool) -> Result<Counted, EncodeError> {
    let column = &table.columns[at];
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    // Hashes instead of values: 64 bits for each, however long it is.
    let mut different: HashSet<u64> = HashSet::new();
    let mut counted = Counted::default();
    for Rows { batch, first_row, origin } in table.rows() {
        let reading = column.reading();
        let checked = read(&column.name, batch.column(at), reading, first_row, &origin, strict)?;
        counted.missing += checked.null_count() as u64;
        counted.unreadable += checked.unreadable.len() as u64;
        match &checked.cells {
            Cells::Numbers(numbers) => {
                // Adding 0 makes -0 and 0 one number.
                let numbers = numbers.iter().filter(|number| !number.is_nan());
                different.extend(numbers.map(|number| (number + 0.0).to_bits()));
            }
            Cells::Names(names) => {
                different.extend(names.iter().flatten().map(|name| hasher.hash_one(name.trim_ascii())));
            }
        }
    }
    Ok(Counted { distinct: different.len() as u64, ..counted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        encode::IdentifierSign,
        table::{ReadOptions, TableReader},
    };

    #[test]
    fn every_column_is_counted_and_what_is_left_out_is_said() {
        let mut csv = String::from("order,price,city,empty,note\n");
        for row in 0..40 {
            let price = if row == 7 { "18OO".to_owned() } else { (row % 4).to_string() };
            let city = [" Oslo", "Oslo", "Voss", "NA"][row % 4];
            csv.push_str(&[&(100 + row).to_string(), ",", &price, ",", city, ",,x\n"].concat());
        }
        let reader = TableReader::from_bytes("t.csv", csv.into_bytes(), &ReadOptions::default()).unwrap();
        let table = Table::from_reader(reader).unwrap();
        let options = EncodeOptions { ignore: vec!["note".to_owned()], ..EncodeOptions::default() };
        let found = overview(&table, &options, None).unwrap();
        let counts = |at: usize| {
            let ColumnOverview { missing, distinct, unreadable, .. } = found[at];
            (missing, distinct, unreadable)
        };
        // Rows 3, 7, 11, … hold 3 in `price`, but row 7 cannot be read.
        let all: Vec<_> = (0..5).map(counts).collect();
        assert_eq!(all, [(0, 40, 0), (0, 4, 1), (10, 2, 0), (40, 0, 0), (0, 1, 0)]);
        let left_out: Vec<_> = found.iter().map(|column| column.left_out).collect();
        let order = LeftOutReason::Identifier(IdentifierSign::Counter);
        assert_eq!(
            left_out,
            [Some(order), None, None, Some(LeftOutReason::AllNull), Some(LeftOutReason::Ignored)]
        );
        assert_eq!(found[1].normal.as_ref().unwrap().to_string(), "0 to 3");
        assert!(found[0].normal.is_some(), "what is left out is looked at, too");
        assert_eq!((found[3].normal.clone(), found[1].kind), (None, ColumnKind::Number));
    }
}
