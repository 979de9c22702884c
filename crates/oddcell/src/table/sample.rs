//! A random sample of a table's rows, taken while the table streams by.
//!
//! *How:* every row has a random key, and rows with keys up to a bound are kept. When there are too many, the bound is
//! halved and the rows above it are dropped. So the sample depends on the last bound alone.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::{concat::concat_batches, filter::filter_record_batch};

use super::{Table, TableError, TableReader, widened};
use crate::{Seed, seed::subkey};

/// More rows would not improve means, spreads and levels.
const MOST_ROWS: usize = 1_000_000;
/// This many rows are kept even if they take more memory than allowed.
const FEWEST_ROWS: usize = 2_000;

/// Some rows of a table, or all if they are few.
#[derive(Debug)]
pub struct Sample {
    /// The rows, in their order.
    pub table: Table,
    /// Their positions in the whole table, counted from 0.
    pub row_numbers: Vec<u64>,
    /// The number of rows of the whole table.
    pub n_rows: usize,
}

impl Sample {
    /// Reads a whole table and keeps at most `most_bytes` of it, but at least about 1,000 rows.
    pub fn read(mut reader: TableReader, most_bytes: usize, seed: Seed) -> Result<Self, TableError> {
        let key = seed.key("sample", &[]);
        let (mut batches, mut row_numbers, mut bound) = (Vec::new(), Vec::new(), u64::MAX);
        let (mut n_rows, mut bytes) = (0, 0);
        while let Some(batch) = reader.next() {
            let batch = batch?;
            let first_row = n_rows;
            n_rows += batch.num_rows();
            let is_kept = |row: &u64| subkey(key, *row) <= bound;
            let mut rows = first_row as u64..n_rows as u64;
            let batch = filtered(&batch, &rows.clone().map(|row| is_kept(&row)).collect::<Vec<_>>());
            row_numbers.extend(rows.by_ref().filter(is_kept));
            bytes += batch.get_array_memory_size();
            batches.push(batch);
            while row_numbers.len() > MOST_ROWS || (bytes > most_bytes && row_numbers.len() > FEWEST_ROWS) {
                bound /= 2;
                let is_kept = |row: &u64| subkey(key, *row) <= bound;
                let kept: Vec<bool> = row_numbers.iter().map(is_kept).collect();
                batches = vec![filtered(&joined(batches, &reader), &kept)];
                row_numbers.retain(is_kept);
                bytes = batches[0].get_array_memory_size();
            }
        }
        let batches = vec![joined(batches, &reader)];
        let mut table = Table::from_batches(reader.origin(), batches)?;
        table.notes.splice(0..0, reader.notes().iter().cloned());
        Ok(Self { table, row_numbers, n_rows })
    }
}

fn filtered(batch: &RecordBatch, kept: &[bool]) -> RecordBatch {
    filter_record_batch(batch, &BooleanArray::from(kept.to_vec())).expect("one truth value for every row")
}

fn joined(batches: Vec<RecordBatch>, reader: &TableReader) -> RecordBatch {
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = batches.into_iter().map(|batch| widened(batch, schema)).collect();
    concat_batches(schema, &batches).expect("batches of one schema")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use arrow_array::cast::AsArray;

    use super::*;
    use crate::table::ReadOptions;

    fn sample(n_rows: usize, most_bytes: usize, batch_rows: usize) -> Sample {
        let mut csv = String::from("number\n");
        (0..n_rows).for_each(|row| writeln!(csv, "{row}").unwrap());
        let options = ReadOptions { batch_rows, ..ReadOptions::default() };
        let reader = TableReader::from_bytes("numbers", csv.into_bytes(), &options).unwrap();
        Sample::read(reader, most_bytes, Seed(5)).unwrap()
    }

    #[test]
    fn a_small_table_is_its_own_sample() {
        let sample = sample(500, 1 << 20, 64);
        assert_eq!((sample.n_rows, sample.table.n_rows()), (500, 500));
        assert_eq!(sample.row_numbers, (0..500).collect::<Vec<_>>());
    }

    #[test]
    fn the_rows_kept_are_those_of_their_numbers_in_order_and_spread_over_the_table() {
        let sample = sample(40_000, 100_000, 2_048);
        assert_eq!(sample.n_rows, 40_000);
        assert!((1_000..12_000).contains(&sample.row_numbers.len()), "{}", sample.row_numbers.len());
        assert!(sample.row_numbers.is_sorted());
        let cells = sample.table.batches[0].column(0).as_string::<i32>();
        let cells: Vec<u64> = cells.iter().map(|cell| cell.unwrap().parse().unwrap()).collect();
        assert_eq!(cells, sample.row_numbers);
        // The mean of n uniform numbers below 40,000 is 20,000 ± 11,547/√n.
        let n = cells.len() as f64;
        let mean = cells.iter().sum::<u64>() as f64 / n;
        assert!((mean - 20_000.0).abs() < 4.0 * 11_547.0 / n.sqrt(), "{mean}");
    }
}
