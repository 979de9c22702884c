//! Reads tables from bytes, and takes them apart.
#![allow(dead_code, reason = "every test crate uses the part it needs")]

use arrow_array::{Array, ArrayRef, cast::AsArray};
use oddcell::table::{
    Cells, ColumnKind, Format, ReadOptions, Table, TableError, TableReader, TableWriter, cell_text,
    read_cells,
};

pub(crate) fn read_with(bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, TableError> {
    TableReader::from_bytes("test", bytes.as_ref().to_vec(), options).and_then(Table::from_reader)
}

pub(crate) fn read(bytes: impl AsRef<[u8]>) -> Result<Table, TableError> {
    read_with(bytes, &ReadOptions::default())
}

pub(crate) fn error(bytes: impl AsRef<[u8]>) -> String {
    read(bytes).unwrap_err().to_string()
}

pub(crate) fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| column.name.as_str()).collect()
}

pub(crate) fn kinds(table: &Table) -> Vec<ColumnKind> {
    table.columns.iter().map(|column| column.kind).collect()
}

/// All cells of a text table, row by row; nulls as `None`.
pub(crate) fn cells(table: &Table) -> Vec<Vec<Option<String>>> {
    let mut rows = Vec::new();
    for batch in &table.batches {
        for row in 0..batch.num_rows() {
            let cell = |column: &ArrayRef| {
                let text = column.as_string::<i32>();
                text.is_valid(row).then(|| text.value(row).to_owned())
            };
            rows.push(batch.columns().iter().map(cell).collect());
        }
    }
    rows
}

pub(crate) fn numbers(table: &Table, name: &str) -> Vec<f64> {
    let index = table.column(name).unwrap();
    let kind = table.columns[index].kind;
    let mut all = Vec::new();
    for batch in &table.batches {
        match read_cells(name, batch.column(index), kind, all.len(), "test").unwrap() {
            Cells::Numbers(numbers) => all.extend(numbers),
            Cells::Names(names) => panic!("{names:?}"),
        }
    }
    all
}

pub(crate) fn written(table: &Table, format: Format) -> Vec<u8> {
    let mut writer =
        TableWriter::create("test", Vec::new(), format, &table.schema(), &table.columns).unwrap();
    table.batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap()
}

/// The cells of a table of any types as they are shown; a null is an empty text, as in a CSV.
pub(crate) fn texts(table: &Table) -> Vec<Vec<String>> {
    let row = |batch: &arrow_array::RecordBatch, row: usize| {
        batch.columns().iter().map(|column| cell_text(column, row).unwrap_or_default()).collect()
    };
    table.batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |index| row(batch, index))).collect()
}
