//! One `NumPy` array in a file: checks its header against the file and reads its rows piece by piece.
//!
//! Integers become `Int64` or `UInt64`, floats `Float32` or `Float64`, booleans `Boolean`. C and Fortran
//! order and both byte orders work. Memory for a shape is allocated only after checking that the file holds
//! that many bytes.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    sync::Arc,
};

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Float32Array, Float64Array, Int64Array, UInt64Array,
    types::Float16Type,
};
use arrow_schema::DataType;
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};

use super::{Format, TableError, limits};

/// A float of half precision.
type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The longest header. A real one is a line of text.
const LONGEST_HEADER: u64 = 1 << 20;
/// The number of bytes read at a time.
const PIECE_BYTES: u64 = 16 << 20;

/// Shape and type of an array.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The shape as written in the header.
    pub(super) shape: Vec<u64>,
    dtype: String,
    element: Option<Element>,
    big_endian: bool,
    fortran: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Boolean,
    Signed(u64),
    Unsigned(u64),
    Float(u64),
}

impl Layout {
    /// Reads the header and stops before the data.
    pub(super) fn read(reader: &mut dyn Read, origin: &str, format: Format) -> Result<Self, TableError> {
        let malformed = |error: std::io::Error| TableError::malformed(origin, format, error);
        // Magic (6 bytes), version (2), length of the header (2, or 4 from version 2 on).
        let mut start = vec![0; 8];
        reader.read_exact(&mut start).map_err(malformed)?;
        let length_bytes = if start[6] == 1 { 2 } else { 4 };
        start.resize(8 + length_bytes, 0);
        reader.read_exact(&mut start[8..]).map_err(malformed)?;
        let length = start[8..].iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
        if length > LONGEST_HEADER {
            let reason = format!("its header claims to be {length} bytes long");
            return Err(TableError::malformed(origin, format, reason));
        }
        let header = NpyHeader::from_reader(start.as_slice().chain(reader)).map_err(malformed)?;
        let dtype = header.dtype();
        let (element, big_endian) = match &dtype {
            DType::Plain(plain) => {
                let element = match (plain.type_char(), plain.size_field()) {
                    (TypeChar::Bool, 1) => Some(Element::Boolean),
                    (TypeChar::Int, size @ (1 | 2 | 4 | 8)) => Some(Element::Signed(size)),
                    (TypeChar::Uint, size @ (1 | 2 | 4 | 8)) => Some(Element::Unsigned(size)),
                    (TypeChar::Float, size @ (2 | 4 | 8)) => Some(Element::Float(size)),
                    _ => None,
                };
                (element, plain.endianness() == Endianness::Big)
            }
            _ => (None, false),
        };
        Ok(Self {
            shape: header.shape().to_vec(),
            dtype: dtype.descr(),
            element,
            big_endian,
            fortran: header.order() == Order::Fortran,
        })
    }

    /// The numbers of rows and columns, if the array is a table or one column.
    pub(super) fn rows_and_columns(&self) -> Option<(u64, u64)> {
        match self.shape[..] {
            [rows] => Some((rows, 1)),
            [rows, columns] if columns <= limits::MOST_COLUMNS as u64 => Some((rows, columns)),
            _ => None,
        }
    }

    pub(super) fn is_numeric(&self) -> bool {
        self.element.is_some()
    }

    pub(super) fn describe(&self) -> String {
        format!("{:?} {}", self.shape, self.dtype)
    }
}

/// An array in a file of its own.
#[derive(Debug)]
pub(super) struct ArrayFile {
    origin: String,
    file: File,
    data_begin: u64,
    layout: Layout,
    element: Element,
    pub(super) n_rows: u64,
    pub(super) n_columns: u64,
}

impl ArrayFile {
    /// Reads the header and checks that shape, type and file size agree. `name` is the array's name in
    /// messages.
    pub(super) fn open(mut file: File, name: &str, origin: &str, format: Format) -> Result<Self, TableError> {
        let layout = Layout::read(&mut file, origin, format)?;
        let wrong = |problem: String| {
            let (origin, array) = (origin.to_owned(), name.to_owned());
            Err(TableError::Array { origin, array, problem })
        };
        let Some((n_rows, n_columns)) = layout.rows_and_columns() else {
            let shape = &layout.shape;
            return wrong(format!(
                "found the shape {shape:?}, but rows × columns (two dimensions) were expected"
            ));
        };
        let Some(element) = layout.element else {
            let dtype = &layout.dtype;
            return wrong(format!("found the dtype {dtype}, but integers, floats or booleans were expected"));
        };
        let data_begin = file.stream_position().map_err(TableError::reading(origin))?;
        let found = file.metadata().map_err(TableError::reading(origin))?.len().saturating_sub(data_begin);
        let claimed = u128::from(n_rows) * u128::from(n_columns) * u128::from(element.size());
        if claimed != u128::from(found) {
            return wrong(format!("the header claims {claimed} bytes of data, but the file holds {found}"));
        }
        Ok(Self { origin: origin.to_owned(), file, data_begin, layout, element, n_rows, n_columns })
    }

    /// The Arrow type of its columns.
    pub(super) fn data_type(&self) -> DataType {
        match self.element {
            Element::Boolean => DataType::Boolean,
            Element::Signed(_) => DataType::Int64,
            Element::Unsigned(_) => DataType::UInt64,
            Element::Float(8) => DataType::Float64,
            Element::Float(_) => DataType::Float32,
        }
    }

    /// The number of rows that fit into a piece, at least one.
    pub(super) fn rows_at_a_time(&self) -> u64 {
        (PIECE_BYTES / (self.n_columns * self.element.size()).max(1)).max(1)
    }

    /// The columns of `count` rows from `first` on. The rows must exist.
    pub(super) fn read_rows(&mut self, first: u64, count: u64) -> Result<Vec<ArrayRef>, TableError> {
        let size = self.element.size();
        let mut columns = Vec::with_capacity(self.n_columns as usize);
        if self.layout.fortran && self.n_columns > 1 {
            for column in 0..self.n_columns {
                let bytes = self.bytes_at((column * self.n_rows + first) * size, count * size)?;
                columns.push(self.column(&bytes, 0, size as usize));
            }
        } else {
            let width = self.n_columns * size;
            let bytes = self.bytes_at(first * width, count * width)?;
            for column in 0..self.n_columns {
                columns.push(self.column(&bytes, (column * size) as usize, width as usize));
            }
        }
        Ok(columns)
    }

    fn bytes_at(&mut self, offset: u64, length: u64) -> Result<Vec<u8>, TableError> {
        let mut bytes = vec![0; length as usize];
        let read = self.file.seek(SeekFrom::Start(self.data_begin + offset));
        let read = read.and_then(|_| self.file.read_exact(&mut bytes));
        read.map(|()| bytes).map_err(TableError::reading(&self.origin))
    }

    /// The elements that start at `begin`, `begin + stride`, ….
    fn column(&self, bytes: &[u8], begin: usize, stride: usize) -> ArrayRef {
        let size = self.element.size() as usize;
        let big_endian = self.layout.big_endian;
        // Each element in the low bytes of a 64-bit word.
        let words = bytes.chunks_exact(stride).map(move |row| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(&row[begin..begin + size]);
            if big_endian {
                word[..size].reverse();
            }
            u64::from_le_bytes(word)
        });
        let unused_bits = 64 - 8 * size as u32;
        match self.element {
            Element::Boolean => Arc::new(words.map(|word| Some(word != 0)).collect::<BooleanArray>()),
            Element::Signed(_) => {
                let extend = |word: u64| (word << unused_bits).cast_signed() >> unused_bits;
                Arc::new(Int64Array::from_iter_values(words.map(extend)))
            }
            Element::Unsigned(_) => Arc::new(UInt64Array::from_iter_values(words)),
            Element::Float(8) => Arc::new(Float64Array::from_iter_values(words.map(f64::from_bits))),
            Element::Float(4) => {
                Arc::new(Float32Array::from_iter_values(words.map(|word| f32::from_bits(word as u32))))
            }
            Element::Float(_) => Arc::new(Float32Array::from_iter_values(
                words.map(|word| Half::from_bits(word as u16).to_f32()),
            )),
        }
    }
}

impl Element {
    fn size(self) -> u64 {
        match self {
            Self::Boolean => 1,
            Self::Signed(size) | Self::Unsigned(size) | Self::Float(size) => size,
        }
    }
}
