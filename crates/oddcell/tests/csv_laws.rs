//! Laws of CSV: we read what the `csv` crate writes, and it reads what we write, cell for cell.

#![allow(clippy::unwrap_used, reason = "a helper that fails makes its test fail")]

mod reading;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use oddcell::table::{Format, ReadOptions, TableWriter};
use proptest::prelude::*;

use self::reading::{cells, read_with};

fn any_cell() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9 ]{0,6}", "[,;\"\r\n\t|é ]{0,4}", ".{0,6}", "-?[0-9]{1,4}(\\.[0-9]{1,3})?"]
}

/// Rows of equal width with at least one column; a lone empty cell is written `""` and read back.
fn any_rows() -> impl Strategy<Value = Vec<Vec<String>>> {
    (1usize..5).prop_flat_map(|width| prop::collection::vec(prop::collection::vec(any_cell(), width), 1..12))
}

proptest! {
    // Law: any CSV written by the csv crate reads back cell for cell, at any batch size.
    #[test]
    fn a_csv_of_the_csv_crate_reads_back_cell_for_cell(
        rows in any_rows(),
        delimiter in prop::sample::select(b",;\t|".to_vec()),
        crlf in any::<bool>(),
        batch_rows in 1usize..5,
    ) {
        let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer =
            csv::WriterBuilder::new().delimiter(delimiter).terminator(terminator).from_writer(Vec::new());
        let width = rows[0].len();
        writer.write_record((0..width).map(|column| format!("c{column}"))).unwrap();
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        let format = Some(Format::Csv);
        let options =
            ReadOptions { delimiter: Some(delimiter), format, batch_rows, ..ReadOptions::default() };
        let table = read_with(bytes, &options).unwrap();
        let expected: Vec<Vec<Option<String>>> =
            rows.iter().map(|row| row.iter().cloned().map(Some).collect()).collect();
        prop_assert_eq!(cells(&table), expected);
    }

    // Law: what we write, the csv crate reads back cell for cell.
    #[test]
    fn our_csv_reads_back_with_the_csv_crate(
        rows in any_rows(),
        delimiter in prop::sample::select(b",;\t|".to_vec()),
    ) {
        let fields: Vec<Field> =
            (0..rows[0].len()).map(|column| Field::new(format!("c{column}"), DataType::Utf8, true)).collect();
        let column = |index: usize| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(row[index].as_str())).collect::<StringArray>())
        };
        let columns: Vec<ArrayRef> = (0..fields.len()).map(column).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let writer = TableWriter::create("test", Vec::new(), Format::Csv, &schema, &[]).unwrap();
        let mut writer = writer.with_delimiter(delimiter).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.finish().unwrap();
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(&bytes[..]);
        let back: Vec<Vec<String>> =
            reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(back, rows);
    }
}
