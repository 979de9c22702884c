//! NPY and NPZ files as tables.
//!
//! An NPY file holds one array, whose columns are called `x1`, `x2`, …. In an NPZ file, these columns come
//! from the array `X`, or from the only two-dimensional array if there is no `X`. Every array with one value
//! per row, such as `y`, adds a column under its own name. Other arrays are left out and reported in a note.

use std::{fmt::Display, fs::File, io::Read, sync::Arc};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use zip::ZipArchive;

use super::{
    Format, ReadOptions, TableError,
    numpy::{ArrayFile, Layout},
    reader::{BatchSource, Opened},
    source::{Input, spooled},
};

pub(super) fn open_npy(input: Input, options: &ReadOptions) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let array = ArrayFile::open(input.into_file()?, "of the file", &origin, Format::Npy)?;
    Ok(opened(vec![(None, array)], Vec::new(), options))
}

pub(super) fn open_npz(input: Input, options: &ReadOptions) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let zip = ZipArchive::new(input.into_file()?).map_err(malformed(&origin))?;
    let mut archive = Archive { zip, origin };
    let entries = archive.entries()?;
    let is_table = |entry: &&Entry| entry.layout.shape.len() == 2;
    let named = entries.iter().find(|entry| entry.name == "X");
    let mut tables = entries.iter().filter(is_table);
    let only = tables.next().filter(|_| tables.next().is_none());
    let Some(main) = named.or(only) else {
        let arrays =
            entries.iter().map(|entry| format!("`{}` {}", entry.name, entry.layout.describe())).collect();
        return Err(TableError::NoArray { origin: archive.origin, arrays });
    };
    let mut arrays = vec![(None, archive.array(main)?)];
    let n_rows = arrays[0].1.n_rows;
    let mut notes = Vec::new();
    for entry in entries.iter().filter(|entry| entry.index != main.index) {
        match reason_to_leave_out(&entry.layout, n_rows) {
            None => arrays.push((Some(entry.name.clone()), archive.array(entry)?)),
            Some(reason) => notes.push(format!("array `{}` is left out: {reason}", entry.name)),
        }
    }
    Ok(opened(arrays, notes, options))
}

fn reason_to_leave_out(layout: &Layout, n_rows: u64) -> Option<String> {
    match layout.rows_and_columns() {
        Some((rows, 1)) if rows == n_rows && layout.is_numeric() => None,
        _ => Some(format!("{} is not one number per row", layout.describe())),
    }
}

/// Arrays of equal length side by side: an array with a name is one column, one without is `x1`, `x2`, ….
fn opened(arrays: Vec<(Option<String>, ArrayFile)>, notes: Vec<String>, options: &ReadOptions) -> Opened {
    let mut fields = Vec::new();
    for (name, array) in &arrays {
        match name {
            Some(name) => fields.push(Field::new(name, array.data_type(), true)),
            None => fields.extend(
                (1..=array.n_columns).map(|column| Field::new(format!("x{column}"), array.data_type(), true)),
            ),
        }
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let arrays: Vec<ArrayFile> = arrays.into_iter().map(|(_, array)| array).collect();
    let rows_at_a_time = arrays.iter().map(ArrayFile::rows_at_a_time).min().unwrap_or(1);
    let batch_rows = rows_at_a_time.min(options.batch_rows.max(1) as u64);
    let n_rows = arrays.first().map_or(0, |array| array.n_rows);
    let source = ArrayBatches { schema: Arc::clone(&schema), arrays, next_row: 0, n_rows, batch_rows };
    Opened { notes, ..Opened::new(schema, source) }
}

struct ArrayBatches {
    schema: SchemaRef,
    arrays: Vec<ArrayFile>,
    next_row: u64,
    n_rows: u64,
    batch_rows: u64,
}

impl BatchSource for ArrayBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let count = self.batch_rows.min(self.n_rows - self.next_row);
        if count == 0 {
            return Ok(None);
        }
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for array in &mut self.arrays {
            columns.extend(array.read_rows(self.next_row, count)?);
        }
        self.next_row += count;
        Ok(Some(
            RecordBatch::try_new(Arc::clone(&self.schema), columns).expect("columns of one length and type"),
        ))
    }
}

struct Archive {
    zip: ZipArchive<File>,
    origin: String,
}

/// An array of the archive.
struct Entry {
    index: usize,
    name: String,
    layout: Layout,
}

impl Archive {
    /// All arrays with their headers, in the order of the archive.
    fn entries(&mut self) -> Result<Vec<Entry>, TableError> {
        let Self { zip, origin } = self;
        let mut entries = Vec::new();
        for index in 0..zip.len() {
            let mut file = zip.by_index(index).map_err(malformed(origin))?;
            let name = file.name().map_err(malformed(origin))?.into_owned();
            let Some(name) = name.strip_suffix(".npy") else { continue };
            let layout = Layout::read(&mut file, origin, Format::Npz)?;
            entries.push(Entry { index, name: name.to_owned(), layout });
        }
        Ok(entries)
    }

    /// Extracts the array into a temporary file, because an archive's content can only be read in sequence.
    fn array(&mut self, entry: &Entry) -> Result<ArrayFile, TableError> {
        let Self { zip, origin } = self;
        let mut file = zip.by_index(entry.index).map_err(malformed(origin))?;
        // Only as many bytes as the archive claims, so that endless data cannot fill the disk.
        let claimed = file.size();
        let spool = spooled(&mut (&mut file).take(claimed)).map_err(malformed(origin))?;
        let name = format!("`{}`", entry.name);
        ArrayFile::open(spool, &name, origin, Format::Npz)
    }
}

fn malformed<E: Display>(origin: &str) -> impl FnOnce(E) -> TableError + '_ {
    |error| TableError::malformed(origin, Format::Npz, error)
}
