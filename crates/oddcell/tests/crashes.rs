//! Every input that ever broke a reader, read again.
//!
//! The files in `tests/crashes` were found by fuzzing version 0.1; the second word of a name says what it was read as.
//! Each of them must be an error or a table, and a table must come back when it is written and read again.
//! `oddcell-cli` has the same for configs and settings (`tests/cli/hostile_text.rs`).

#![allow(clippy::unwrap_used, reason = "a helper that fails makes its test fail")]

mod reading;

use std::{fs, path::Path};

use oddcell::table::{Format, ReadOptions, Table, TableError, TableWriter, read_cells};

use self::reading::{names, read_with, texts};

/// The inputs that were read as one of `formats`, with their names.
fn inputs(formats: &[&str]) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crashes");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut all: Vec<String> = fs::read_dir(&folder).unwrap().map(|entry| name(entry.unwrap())).collect();
    all.sort();
    all.retain(|name| formats.contains(&name.split('-').nth(1).unwrap_or_default()));
    assert!(!all.is_empty(), "{formats:?}");
    all.into_iter().map(|name| (name.clone(), fs::read(folder.join(&name)).unwrap())).collect()
}

/// Reads all cells, in every kind of column, and writes the table in every format; CSV and JSON lines must come back.
fn exercise(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<(), TableError> {
    let table = read_with(bytes, options)?;
    let mut first_row = 0;
    for batch in &table.batches {
        for (info, column) in table.columns.iter().zip(batch.columns()) {
            let cells = read_cells(&info.name, column, info.kind, first_row, "test");
            if !matches!(cells, Err(TableError::UnsupportedType { .. })) {
                cells?;
            }
        }
        first_row += batch.num_rows();
    }
    let _ = table.all_notes();
    for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
        let mut writer = TableWriter::create("test", Vec::new(), format, &table.schema(), &table.columns)?;
        table.batches.iter().try_for_each(|batch| writer.write(batch))?;
        let written = writer.finish()?;
        let again = read_with(&written, &ReadOptions { format: Some(format), ..ReadOptions::default() })
            .unwrap_or_else(|error| panic!("{name}: our own {format} is refused: {error}"));
        assert_eq!(again.n_rows(), table.n_rows(), "{name}: rows as {format}");
        assert_eq!(names(&again), names(&table), "{name}: names as {format}");
        if format == Format::Csv && options.format == Some(Format::Csv) {
            assert_eq!(texts(&again), texts(&table), "{name}: cells as {format}");
        }
    }
    Ok(())
}

#[test] // The first byte of every input chose the options of the fuzzer; the rest was the file.
fn binary_files_are_a_table_or_an_error() {
    for (name, bytes) in inputs(&["arrow", "parquet", "npy"]) {
        for batch_rows in [1, 7, 2_048] {
            let options = ReadOptions { batch_rows, ..ReadOptions::default() };
            let _ = exercise(&name, &bytes[1..], &options);
        }
    }
}

#[test]
fn text_files_come_back_as_they_were_read() {
    for (name, bytes) in inputs(&["csv", "csvoracle", "jsonl"]) {
        let format = if name.contains("jsonl") { Format::JsonLines } else { Format::Csv };
        for delimiter in [None, Some(b','), Some(b'\t'), Some(b'|')] {
            for header in [true, false] {
                let options =
                    ReadOptions { format: Some(format), delimiter, header, ..ReadOptions::default() };
                let _ = exercise(&name, &bytes[1..], &options);
            }
        }
    }
}

/// A table whose columns are called `names`, as CSV, and what comes back.
fn back(names: &[&str]) -> Table {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    let cell: ArrayRef = Arc::new(StringArray::from(vec!["1"]));
    let columns = names.iter().map(|name| (*name, Arc::clone(&cell)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let table = Table::from_batches("test", vec![batch]).unwrap();
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    read_with(reading::written(&table, Format::Csv), &options).unwrap()
}

#[test]
fn names_that_look_like_the_start_of_a_file_survive_a_csv() {
    for of in [&["\u{FEFF}a", "a"][..], &["a", "\u{FEFF}a"], &["a\0b\0", "c"], &["a\0", "\0"], &[" a", "a"]] {
        assert_eq!(names(&back(of)), of, "{of:?}");
    }
}

#[test]
fn a_mark_before_the_first_name_is_no_part_of_it_however_often_it_was_added() {
    let twice = read_with(b"\xEF\xBB\xBF\xEF\xBB\xBFa,b\n1,2\n", &ReadOptions::default()).unwrap();
    assert_eq!(names(&twice), ["a", "b"]);
}
