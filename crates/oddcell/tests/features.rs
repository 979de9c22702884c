//! Every build reads and writes CSV and JSON lines; a format that was compiled out is refused with its
//! feature.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod reading;

use oddcell::table::{Format, TableError, TableWriter};

use self::reading::{read, written};

/// The first bytes of each format and the feature that reads it.
const GATED: [(&[u8], &str, bool); 7] = [
    (b"PAR1", "parquet", cfg!(feature = "parquet")),
    (b"ARROW1\0\0", "ipc", cfg!(feature = "ipc")),
    (b"\xFF\xFF\xFF\xFF", "ipc", cfg!(feature = "ipc")),
    (b"\x93NUMPY", "numpy", cfg!(feature = "numpy")),
    (b"PK\x03\x04", "numpy", cfg!(feature = "numpy")),
    (b"\x1F\x8B", "compression", cfg!(feature = "compression")),
    (b"\x28\xB5\x2F\xFD", "compression", cfg!(feature = "compression")),
];

#[test]
fn a_format_that_was_compiled_out_is_refused_with_the_name_of_its_feature() {
    for (start, feature, compiled) in GATED {
        // Compiled in, the reader gets as far as finding out that the file is cut off.
        match read(start).unwrap_err() {
            TableError::MissingFeature { feature: named, .. } => {
                assert!(!compiled && named == feature, "{feature}");
            }
            error => assert!(compiled, "{feature}: {error}"),
        }
    }
}

#[test]
fn every_build_reads_and_writes_csv_and_json_lines() {
    let table = read(b"id,amount\na,1.5\nb,2.5\n").unwrap();
    let json = written(&table, Format::JsonLines);
    assert_eq!(json, b"{\"id\":\"a\",\"amount\":1.5}\n{\"id\":\"b\",\"amount\":2.5}\n");
    assert_eq!(read(&json).unwrap().columns, table.columns);
}

#[test]
fn parquet_is_written_only_by_builds_that_have_it() {
    let table = read(b"a\n1\n").unwrap();
    let created = TableWriter::create("out.parquet", Vec::new(), Format::Parquet, &table.schema(), &[]);
    let message =
        "out.parquet: this build of oddcell has no support for Parquet; enable its cargo feature `parquet`";
    let expected = if cfg!(feature = "parquet") { None } else { Some(message.to_owned()) };
    assert_eq!(created.err().map(|error| error.to_string()), expected);
}
