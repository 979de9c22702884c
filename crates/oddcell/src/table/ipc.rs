//! Arrow IPC: the stream format, and the file format (also called Feather), which is a stream between a magic
//! number and a footer. Both are read sequentially, so that standard input needs no temporary file.
//!
//! The arrow crates' decoder allocates whatever a compressed buffer claims to hold, and a failed allocation
//! aborts the process. So this module splits the stream into messages and checks their claims before they are
//! decoded. A file must end with its footer: a truncated file must not be taken for a short one.

use std::{
    fmt::Display,
    io::{BufReader, Read},
};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::{CompressionType, MessageHeader, reader::StreamDecoder, root_as_message};
use arrow_schema::{
    DECIMAL32_MAX_PRECISION, DECIMAL64_MAX_PRECISION, DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION,
    DataType,
};

use super::{
    Format, TableError,
    limits::{self, MOST_DECODED_BYTES, mebibytes},
    reader::{BatchSource, Opened},
    source::Input,
};

const MAGIC: &[u8] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xFF; 4];
const END_OF_STREAM: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];
/// The description of a batch takes a few bytes per column; this is a million columns.
const LONGEST_METADATA: u32 = 256 << 20;
/// Types within types. Readers and writers of nested columns call themselves once for each.
const DEEPEST: usize = 64;
/// The most rows in a batch. A column of nulls takes no bytes, so the file's size does not bound the claim.
const MOST_ROWS: i64 = i32::MAX as i64;

pub(super) fn open(input: Input) -> Result<Opened, TableError> {
    let origin = input.origin.clone();
    let is_file = input.start.starts_with(MAGIC);
    // The magic number is padded with zeros, to 8 bytes by most writers, to 64 by some.
    let padding = input.start.iter().skip(MAGIC.len()).take(128).take_while(|&&byte| byte == 0).count();
    let stream_begin = if is_file { MAGIC.len() + padding } else { 0 };
    let mut reader = BufReader::new(input.into_read());
    std::io::copy(&mut reader.by_ref().take(stream_begin as u64), &mut std::io::sink())
        .map_err(TableError::reading(&origin))?;
    let mut source = IpcBatches {
        reader,
        origin,
        is_file,
        ended: false,
        decoder: StreamDecoder::new(),
        pending: Buffer::from_vec(Vec::<u8>::new()),
    };
    // The decoder returns the schema only after it has seen what follows, which may be the first batch.
    let first = source.next_batch()?;
    let schema = source.decoder.schema().ok_or_else(|| source.malformed("it ends before its schema"))?;
    limits::check_columns(&source.origin, schema.fields().len())?;
    for field in schema.fields() {
        check_type(field.data_type(), DEEPEST)
            .map_err(|problem| source.malformed(format!("column `{}`: {problem}", field.name())))?;
    }
    Ok(Opened { first, ..Opened::new(schema, source) })
}

/// Checks that a type is possible. The format can state others, such as decimals of 200 digits, and code that gets one
/// panics far from here: when its values are shown, compared or written.
fn check_type(data_type: &DataType, deepest: usize) -> Result<(), String> {
    let deeper = deepest.checked_sub(1).ok_or_else(|| format!("it is nested more than {DEEPEST} deep"))?;
    let digits = |precision: u8, scale: i8, most: u8| {
        let possible = (1..=most).contains(&precision) && i16::from(scale) <= i16::from(precision);
        if possible { Ok(()) } else { Err(format!("{data_type} is not a possible type")) }
    };
    match data_type {
        DataType::Decimal32(precision, scale) => digits(*precision, *scale, DECIMAL32_MAX_PRECISION),
        DataType::Decimal64(precision, scale) => digits(*precision, *scale, DECIMAL64_MAX_PRECISION),
        DataType::Decimal128(precision, scale) => digits(*precision, *scale, DECIMAL128_MAX_PRECISION),
        DataType::Decimal256(precision, scale) => digits(*precision, *scale, DECIMAL256_MAX_PRECISION),
        DataType::FixedSizeBinary(size) | DataType::FixedSizeList(_, size) if *size < 0 => {
            Err(format!("{data_type} is not a possible type"))
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => check_type(item.data_type(), deeper),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| check_type(field.data_type(), deeper)),
        DataType::Union(fields, _) => {
            fields.iter().try_for_each(|(_, field)| check_type(field.data_type(), deeper))
        }
        DataType::Dictionary(key, value) => check_type(key, deeper).and_then(|()| check_type(value, deeper)),
        DataType::RunEndEncoded(ends, values) => {
            check_type(ends.data_type(), deeper).and_then(|()| check_type(values.data_type(), deeper))
        }
        _ => Ok(()),
    }
}

struct IpcBatches {
    reader: BufReader<Box<dyn Read + Send>>,
    origin: String,
    is_file: bool,
    ended: bool,
    decoder: StreamDecoder,
    /// Bytes that the decoder has not consumed yet.
    pending: Buffer,
}

impl BatchSource for IpcBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        loop {
            if !self.pending.is_empty() {
                let decoded = self.decoder.decode(&mut self.pending);
                if let Some(batch) = decoded.map_err(|error| self.malformed(error))? {
                    return Ok(Some(batch));
                }
            } else if self.ended {
                return Ok(None);
            } else if let Some(message) = self.next_message()? {
                self.pending = Buffer::from_vec(message);
            } else {
                self.ended = true;
                self.check_end()?;
                // The decoder handles a message without a body only when something follows it.
                self.pending = Buffer::from_vec(END_OF_STREAM.to_vec());
            }
        }
    }
}

impl IpcBatches {
    /// The next message with its body; `None` at the end of the stream.
    fn next_message(&mut self) -> Result<Option<Vec<u8>>, TableError> {
        let mut message = Vec::new();
        self.append(4, &mut message)?;
        if message.is_empty() {
            // A stream may end without an end marker, a file may not.
            return if self.is_file { Err(self.malformed("it ends before its footer")) } else { Ok(None) };
        }
        if message == CONTINUATION {
            self.append(4, &mut message)?;
        }
        let Some(length) = message.last_chunk::<4>().map(|length| u32::from_le_bytes(*length)) else {
            return Err(self.malformed("it ends within a message"));
        };
        let begin = message.len();
        if length == 0 && begin > 4 {
            return Ok(None);
        }
        if length > LONGEST_METADATA {
            return Err(self.malformed(format!("the metadata of a message claims to be {length} bytes long")));
        }
        self.append(u64::from(length), &mut message)?;
        let metadata = message[begin..].to_vec();
        let parsed = root_as_message(&metadata).map_err(|error| self.malformed(error))?;
        let body_length = u64::try_from(parsed.bodyLength())
            .map_err(|_| self.malformed("a message claims a body of negative length"))?;
        let body_begin = message.len();
        self.append(body_length, &mut message)?;
        if metadata.len() as u64 != u64::from(length) || (message.len() - body_begin) as u64 != body_length {
            return Err(self.malformed("it ends within a message"));
        }
        let batch = match parsed.header_type() {
            MessageHeader::RecordBatch => parsed.header_as_record_batch(),
            MessageHeader::DictionaryBatch => {
                parsed.header_as_dictionary_batch().and_then(|batch| batch.data())
            }
            _ => None,
        };
        if let Some(batch) = batch {
            check_claims(&batch, &message[body_begin..]).map_err(|claim| self.malformed(claim))?;
        }
        Ok(Some(message))
    }

    /// Appends up to `length` bytes. Memory grows with the bytes that arrive, not with the claimed length.
    fn append(&mut self, length: u64, message: &mut Vec<u8>) -> Result<(), TableError> {
        let read = self.reader.by_ref().take(length).read_to_end(message);
        read.map(|_| ()).map_err(TableError::reading(&self.origin))
    }

    /// Checks that a file ends with its magic number.
    fn check_end(&mut self) -> Result<(), TableError> {
        if !self.is_file {
            return Ok(());
        }
        let mut footer = Vec::new();
        self.append(u64::from(LONGEST_METADATA), &mut footer)?;
        if footer.ends_with(MAGIC) { Ok(()) } else { Err(self.malformed("its footer is missing or cut off")) }
    }

    fn malformed(&self, reason: impl Display) -> TableError {
        TableError::malformed(&self.origin, Format::ArrowIpc, reason)
    }
}

/// Checks that the claimed rows and uncompressed sizes are possible for the bytes of the batch.
fn check_claims(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
    if !(0..=MOST_ROWS).contains(&batch.length()) {
        return Err(format!("a batch claims {} rows", batch.length()));
    }
    let (Some(compression), Some(buffers)) = (batch.compression(), batch.buffers()) else { return Ok(()) };
    // The most that one byte can expand to: an LZ4 length grows by 255 per byte; a zstd block of 4 bytes
    // repeats one byte up to 128 KiB.
    let most_per_byte = if compression.codec() == CompressionType::LZ4_FRAME { 255 } else { 1 << 16 };
    for buffer in buffers {
        let bytes = usize::try_from(buffer.offset()).ok().and_then(|offset| {
            let end = offset.checked_add(usize::try_from(buffer.length()).ok()?)?;
            body.get(offset..end)
        });
        let bytes = bytes.ok_or("a buffer lies outside its message")?;
        // A buffer starts with its uncompressed size; −1 means that it is not compressed.
        let Some(claimed) = bytes.first_chunk::<8>().map(|size| i64::from_le_bytes(*size)) else { continue };
        let most = i64::try_from(bytes.len()).unwrap_or(i64::MAX).saturating_mul(most_per_byte);
        if claimed != -1 && !(0..=most).contains(&claimed) {
            return Err(format!("a compressed buffer of {} bytes claims to hold {claimed}", bytes.len()));
        }
        if u64::try_from(claimed).is_ok_and(|claimed| claimed > MOST_DECODED_BYTES as u64) {
            let limit = mebibytes(MOST_DECODED_BYTES);
            return Err(format!(
                "a compressed buffer claims to hold {claimed} bytes, more than the limit of {limit}"
            ));
        }
    }
    Ok(())
}
