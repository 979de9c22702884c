//! Files: any bytes give a table or an error, and a table comes back when it is written and read again.

use arrow_array::RecordBatch;
use oddcell::{
    encode::{EncodeOptions, overview},
    error::with_causes,
    table::{Format, ReadOptions, Table, TableError, TableReader, TableWriter, cell_text, read_cells},
};

/// The first byte chooses how a CSV is read; the rest is the file.
pub fn csv(data: &[u8]) {
    let Some((&choice, file)) = data.split_first() else { return };
    let delimiter = [None, Some(b','), Some(b'\t'), Some(b'|'), Some(b';')][usize::from(choice & 7) % 5];
    let format = Some(Format::Csv);
    exercise(
        file,
        &ReadOptions {
            format,
            delimiter,
            header: choice & 8 == 0,
            batch_rows: rows(choice),
            ..ReadOptions::default()
        },
    );
}

/// JSON lines and arrays.
pub fn json(data: &[u8]) {
    as_format(data, Some(Format::JsonLines));
}

/// Parquet.
pub fn parquet(data: &[u8]) {
    as_format(data, Some(Format::Parquet));
}

/// Arrow IPC, files and streams.
pub fn arrow(data: &[u8]) {
    as_format(data, Some(Format::ArrowIpc));
}

/// NPY, or NPZ if the first byte is odd.
pub fn numpy(data: &[u8]) {
    let is_npz = data.first().is_some_and(|choice| choice & 1 == 1);
    as_format(data, Some(if is_npz { Format::Npz } else { Format::Npy }));
}

/// Anything that is recognized by its first bytes, compressed files above all.
pub fn compressed(data: &[u8]) {
    as_format(data, None);
}

fn as_format(data: &[u8], format: Option<Format>) {
    let Some((&choice, file)) = data.split_first() else { return };
    exercise(file, &ReadOptions { format, batch_rows: rows(choice), ..ReadOptions::default() });
}

fn rows(choice: u8) -> usize {
    [2_048, 1, 7, 64][usize::from(choice >> 4) % 4]
}

fn exercise(file: &[u8], options: &ReadOptions) {
    if let Err(error) = read(file, options) {
        assert_plain(&with_causes(&error));
    }
}

/// Checks that a message can be shown on a terminal.
pub fn assert_plain(message: &str) {
    assert!(!message.contains(char::is_control), "{message:?}");
}

fn table_of(bytes: &[u8], options: &ReadOptions) -> Result<Table, TableError> {
    Table::from_reader(TableReader::from_bytes("fuzzed", bytes.to_vec(), options)?)
}

/// Reads a table in every way, and writes it in every format.
fn read(file: &[u8], options: &ReadOptions) -> Result<(), TableError> {
    let table = table_of(file, options)?;
    look(&table)?;
    for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
        let mut writer = TableWriter::create("fuzzed", Vec::new(), format, &table.schema(), &table.columns)?;
        table.batches.iter().try_for_each(|batch| writer.write(batch))?;
        let written = writer.finish()?;
        let again = table_of(&written, &ReadOptions { format: Some(format), ..ReadOptions::default() })
            .unwrap_or_else(|error| panic!("our own {format} is refused: {error}"));
        let names =
            |table: &Table| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        assert_eq!((again.n_rows(), names(&again)), (table.n_rows(), names(&table)), "as {format}");
        if (format, options.format) == (Format::Csv, Some(Format::Csv)) {
            assert_eq!(texts(&again), texts(&table), "cells of a CSV");
        }
    }
    Ok(())
}

/// Reads all cells as what they are, and asks for everything that is shown of a table.
pub fn look(table: &Table) -> Result<(), TableError> {
    let mut first_row = 0;
    for batch in &table.batches {
        for (info, column) in table.columns.iter().zip(batch.columns()) {
            let _ = read_cells(&info.name, column, info.reading(), first_row, "fuzzed")
                .map_err(|error| assert_plain(&with_causes(&error)));
        }
        first_row += batch.num_rows();
    }
    let _ = table.all_notes();
    let _ =
        overview(table, &EncodeOptions::default(), None).map_err(|error| assert_plain(&with_causes(&error)));
    Ok(())
}

/// The cells as they are shown; a null is an empty text, as in a CSV.
fn texts(table: &Table) -> Vec<String> {
    let of = |batch: &RecordBatch| -> Vec<String> {
        let rows = 0..batch.num_rows();
        rows.flat_map(|row| {
            batch.columns().iter().map(move |column| cell_text(column, row).unwrap_or_default())
        })
        .collect()
    };
    table.batches.iter().flat_map(of).collect()
}
