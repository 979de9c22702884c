//! Broken and hostile inputs: any bytes give a table or an error, never a panic.
//!
//! The tests truncate valid files of every format at many places, overwrite bytes, and put random bytes
//! behind every magic number. They read all batches and all cells.

#![allow(clippy::unwrap_used, reason = "a helper that fails makes its test fail")]

use std::{
    io::{Cursor, Write},
    sync::{Arc, LazyLock},
};

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, ListArray, RecordBatch,
    StringArray,
    types::{Int8Type, Int32Type},
};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::SchemaRef;
use oddcell::table::{Format, ReadOptions, Table, TableError, TableReader, TableWriter, read_cells};
use proptest::prelude::*;

/// Reads every cell and writes the table again. Any error is fine.
fn exercise(bytes: &[u8], format: Option<Format>) -> Result<usize, TableError> {
    let options = ReadOptions { format, batch_rows: 7, ..ReadOptions::default() };
    let table = Table::from_reader(TableReader::from_bytes("test", bytes.to_vec(), &options)?)?;
    let mut first_row = 0;
    for batch in &table.batches {
        for (info, column) in table.columns.iter().zip(batch.columns()) {
            // Nested columns cannot be read, but they can be written.
            let cells = read_cells(&info.name, column, info.kind, first_row, "test");
            if !matches!(cells, Err(TableError::UnsupportedType { .. })) {
                cells?;
            }
        }
        first_row += batch.num_rows();
    }
    for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
        let mut writer = TableWriter::create("test", Vec::new(), format, &table.schema(), &table.columns)?;
        table.batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
    }
    Ok(first_row)
}

fn sample() -> RecordBatch {
    let rows = 20;
    let float = |row: i64| (row % 5 != 0).then_some(row as f64 / 3.0);
    let list = |row: i64| (row % 4 != 0).then(|| (0..row % 3).map(|item| Some(item as i32)));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("f", Arc::new((0..rows).map(float).collect::<Float64Array>())),
        ("i", Arc::new((0..rows).collect::<Int64Array>())),
        ("b", Arc::new((0..rows).map(|row| Some(row % 2 == 0)).collect::<BooleanArray>())),
        ("d", Arc::new((0..rows).map(|row| Some(row as i32)).collect::<Date32Array>())),
        ("s", Arc::new((0..rows).map(|row| Some(format!("name {}", row % 3))).collect::<StringArray>())),
        (
            "k",
            Arc::new(
                (0..rows).map(|row| ["x", "y"][row as usize % 2]).collect::<DictionaryArray<Int8Type>>(),
            ),
        ),
        ("l", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>((0..rows).map(list)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn written(format: Format) -> Vec<u8> {
    let batch = sample();
    let mut writer = TableWriter::create("test", Vec::new(), format, &batch.schema(), &[]).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap()
}

fn compressed_ipc(schema: &SchemaRef, batch: &RecordBatch) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), schema, options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn ipc(stream: bool, schema: &SchemaRef, batch: &RecordBatch) -> Vec<u8> {
    if stream {
        let mut writer = StreamWriter::try_new(Vec::new(), schema).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        return writer.into_inner().unwrap();
    }
    let mut writer = FileWriter::try_new(Vec::new(), schema).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn npy() -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
    let header = b"{'descr': '<f8', 'fortran_order': True, 'shape': (4, 3), }";
    bytes.extend(header);
    bytes.resize(10 + 0x46 - 1, b' ');
    bytes.push(b'\n');
    bytes.extend((0..12).flat_map(|value| f64::from(value).to_le_bytes()));
    bytes
}

fn npz() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("X.npy", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(&npy()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// One valid file of every format.
static FILES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let batch = sample();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&written(Format::Csv)).unwrap();
    vec![
        ("csv", written(Format::Csv)),
        ("jsonl", written(Format::JsonLines)),
        ("csv.gz", gzip.finish().unwrap()),
        ("jsonl.zst", zstd::encode_all(&written(Format::JsonLines)[..], 1).unwrap()),
        ("parquet", written(Format::Parquet)),
        ("arrow file", ipc(false, &batch.schema(), &batch)),
        ("arrow file, compressed", compressed_ipc(&batch.schema(), &batch)),
        ("arrow stream", ipc(true, &batch.schema(), &batch)),
        ("npy", npy()),
        ("npz", npz()),
    ]
});

#[test]
fn the_files_themselves_are_read() {
    for (name, bytes) in FILES.iter() {
        let n_rows = exercise(bytes, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(n_rows, if name.starts_with("np") { 4 } else { 20 }, "{name}");
    }
}

#[test]
fn a_file_cut_anywhere_is_a_shorter_table_or_an_error() {
    for (name, bytes) in FILES.iter() {
        for end in (0..bytes.len()).step_by(bytes.len() / 500 + 1) {
            // Text formats and streams may end after any row; the other formats store their length.
            let read = exercise(&bytes[..end], None);
            let must_fail = matches!(
                *name,
                "parquet" | "arrow file" | "arrow file, compressed" | "npy" | "npz" | "csv.gz"
            );
            assert!(read.is_err() || !must_fail, "{name} cut at {end} of {}", bytes.len());
        }
    }
}

#[test] // Sizes, counts and offsets stand somewhere in there; a failed allocation would end the whole process.
fn huge_claims_anywhere_are_refused_without_allocating_for_them() {
    for (_, bytes) in FILES.iter() {
        for place in (0..bytes.len().saturating_sub(8)).step_by(4) {
            for claim in [i64::MAX - 7, 1 << 46] {
                let mut changed = bytes.clone();
                changed[place..place + 8].copy_from_slice(&claim.to_le_bytes());
                let _ = exercise(&changed, None);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn overwritten_bytes_never_make_a_reader_panic(
        file in 0..FILES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(0), Just(0xFF), Just(0x7F)]), 1..6),
    ) {
        let mut bytes = FILES[file].1.clone();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = exercise(&bytes, None);
    }

    #[test]
    fn removed_and_repeated_pieces_never_make_a_reader_panic(
        file in 0..FILES.len(),
        (from, to) in any::<(prop::sample::Index, prop::sample::Index)>(),
        repeat in any::<bool>(),
    ) {
        let bytes = &FILES[file].1;
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        let (from, to) = (from.min(to), from.max(to));
        let changed = if repeat { [&bytes[..to], &bytes[from..]].concat() } else { [&bytes[..from], &bytes[to..]].concat() };
        let _ = exercise(&changed, None);
    }

    #[test]
    fn random_bytes_never_make_a_reader_panic(
        format in prop::sample::select(Format::ALL.to_vec()),
        magic in prop::sample::select(vec![
            &b""[..], b"PAR1", b"ARROW1\0\0", b"\xFF\xFF\xFF\xFF", b"\x93NUMPY\x01\0", b"PK\x03\x04", b"{", b"\x1F\x8B\x08",
            b"\x28\xB5\x2F\xFD",
        ]),
        tail in prop::collection::vec(any::<u8>(), 0..200),
        ascii in "[ -~\n\t]{0,200}",
    ) {
        let _ = exercise(&[magic, &tail].concat(), None);
        let _ = exercise(&[magic, ascii.as_bytes()].concat(), Some(format));
    }
}
