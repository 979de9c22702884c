//! `NumPy` arrays as tables: orders, types, archives, and headers that claim more than the file holds.

#![allow(clippy::unwrap_used, reason = "a helper that fails makes its test fail")]

mod reading;

use std::io::{Cursor, Write};

use oddcell::table::{ColumnKind, ReadOptions};

use self::reading::{error, kinds, names, numbers, read, read_with};

/// An NPY file: magic, version 1.0, header padded to 64 bytes, data.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn arrays_are_read_in_both_orders_and_every_type() {
    // [[1, 2, 3], [4, 5, 6]] row by row, then column by column.
    let rows = npy("<f8", false, "(2, 3)", &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let columns = npy("<f8", true, "(2, 3)", &doubles(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    for bytes in [rows, columns] {
        let table = read_with(bytes, &ReadOptions { batch_rows: 1, ..ReadOptions::default() }).unwrap();
        assert_eq!((names(&table), table.batches.len()), (vec!["x1", "x2", "x3"], 2));
        assert_eq!(numbers(&table, "x2"), [2.0, 5.0]);
        assert_eq!(numbers(&table, "x3"), [3.0, 6.0]);
    }
    // −2 and 3 in every type that has them; big endian too. Half precision: −2 = 0xC000, 3 = 0x4200.
    let types: [(&str, Vec<u8>); 7] = [
        ("|i1", vec![0xFE, 3]),
        ("<i2", vec![0xFE, 0xFF, 3, 0]),
        (">i4", vec![0xFF, 0xFF, 0xFF, 0xFE, 0, 0, 0, 3]),
        ("<i8", [(-2i64).to_le_bytes(), 3i64.to_le_bytes()].concat()),
        ("<f2", vec![0x00, 0xC0, 0x00, 0x42]),
        ("<f4", [(-2f32).to_le_bytes(), 3f32.to_le_bytes()].concat()),
        (">f8", [(-2f64).to_be_bytes(), 3f64.to_be_bytes()].concat()),
    ];
    for (descr, data) in types {
        assert_eq!(numbers(&read(npy(descr, false, "(2,)", &data)).unwrap(), "x1"), [-2.0, 3.0], "{descr}");
    }
    assert_eq!(
        numbers(&read(npy(">u2", false, "(2, 1)", &[0xFF, 0xFE, 0, 3])).unwrap(), "x1"),
        [65534.0, 3.0]
    );
    let booleans = read(npy("|b1", false, "(2,)", &[1, 0])).unwrap();
    assert_eq!((kinds(&booleans), numbers(&booleans, "x1")), (vec![ColumnKind::Boolean], vec![1.0, 0.0]));
}

#[test]
fn archives_give_the_table_its_companions_and_notes_about_the_rest() {
    let x = npy("<f8", false, "(2, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0]));
    let y = npy("|u1", false, "(2,)", &[0, 1]);
    let n_numeric = npy("<i8", false, "()", &2i64.to_le_bytes());
    let archive = npz(&[("y", y.clone()), ("n_numeric", n_numeric), ("X", x.clone())]);
    let table = read(archive).unwrap();
    assert_eq!(names(&table), ["x1", "x2", "y"]);
    assert_eq!(numbers(&table, "y"), [0.0, 1.0]);
    assert!(
        matches!(&table.notes[..], [note] if note.starts_with("array `n_numeric` is left out: ")),
        "{:?}",
        table.notes
    );
    assert_eq!(names(&read(npz(&[("data", x.clone()), ("y", y.clone())])).unwrap()), ["x1", "x2", "y"]);
    let none = error(npz(&[("y", y)]));
    assert_eq!(
        none,
        "test: expected an array named `X`, or exactly one array of two dimensions; found `y` [2] '|u1'"
    );
    assert!(error(npz(&[("a", x.clone()), ("b", x)])).contains("found `a` [2, 2] '<f8', `b` [2, 2] '<f8'"));
}

#[test]
fn arrays_that_are_no_tables_are_refused_before_anything_is_allocated() {
    let huge = error(npy("<f8", false, "(1000000000000, 1000000)", &[0; 16]));
    assert_eq!(
        huge,
        "test, array of the file: the header claims 8000000000000000000 bytes of data, but the file holds 16"
    );
    let cube = error(npy("<f8", false, "(1, 1, 1)", &[0; 8]));
    assert!(cube.contains("found the shape [1, 1, 1], but rows × columns"), "{cube}");
    let text = error(npy("<U3", false, "(1,)", &[0; 12]));
    assert!(text.contains("found the dtype '<U3', but integers, floats or booleans"), "{text}");
    assert!(error(npy("<f8", false, "(0, 2)", &[])).contains("no rows"));
    assert!(error(npy("<f8", false, "(2, 0)", &[])).contains("no columns"));
    let mut long_header = b"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF".to_vec();
    long_header.extend([b' '; 50]);
    assert!(error(long_header).contains("its header claims to be 4294967295 bytes long"));
}
