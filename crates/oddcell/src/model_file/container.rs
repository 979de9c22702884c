//! Converts header and tensors to bytes and back. The parent module describes the layout.

use std::{collections::BTreeMap, fmt, fmt::Write as _};

use serde::{Deserialize, Deserializer, Serialize, de};
use sha2::{Digest, Sha256};

use super::{FORMAT_VERSION, MAX_FILE_BYTES, MAX_INDEX_BYTES, ModelFileError, foreign::looks_like};
use crate::tensors::{Tensor, Tensors};

/// The number of bytes before the index.
const LENGTH_BYTES: u64 = 8;
/// The key in the index that is not a tensor.
const METADATA: &str = "__metadata__";

/// The number types we store, as the container, messages and checksums name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Dtype {
    F64,
    F32,
    U32,
}

impl Dtype {
    fn of(tensor: &Tensor) -> Self {
        match tensor {
            Tensor::F64(..) => Self::F64,
            Tensor::F32(..) => Self::F32,
            Tensor::U32(..) => Self::U32,
        }
    }

    fn size(self) -> u64 {
        if self == Self::F64 { 8 } else { 4 }
    }
}

/// The position of a tensor. The order of the fields is the order in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Slot {
    dtype: Dtype,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// The metadata of the container. The order of the fields is the order in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Metadata {
    checksum: Option<String>,
    oddcell: Option<String>,
}

/// Joins header and tensors. Equal content gives equal bytes.
pub fn seal(header: &str, tensors: &Tensors) -> Result<Vec<u8>, ModelFileError> {
    // The widest type first, so that every tensor starts at a multiple of its own size.
    let mut order: Vec<(&String, &Tensor)> = tensors.0.iter().collect();
    order.sort_by_key(|(name, tensor)| (Dtype::of(tensor), *name));
    let metadata = Metadata { checksum: Some(checksum(header, tensors)), oddcell: Some(header.to_owned()) };
    let mut index = format!("{{{}:{}", json(METADATA), json(&metadata));
    let mut data = Vec::new();
    for (name, tensor) in order {
        let begin = data.len() as u64;
        each_piece(tensor, |bytes| data.extend_from_slice(bytes));
        let shape = tensor.shape().iter().map(|&size| size as u64).collect();
        let place = Slot { dtype: Dtype::of(tensor), shape, data_offsets: (begin, data.len() as u64) };
        // Writing to a string cannot fail.
        let _ = write!(index, ",{}:{}", json(name), json(&place));
    }
    index.push('}');
    while !index.len().is_multiple_of(8) {
        index.push(' ');
    }
    check_size("index", index.len() as u64, MAX_INDEX_BYTES)?;
    let total = LENGTH_BYTES + index.len() as u64 + data.len() as u64;
    check_size("whole", total, MAX_FILE_BYTES)?;
    let mut bytes = Vec::with_capacity(total as usize);
    bytes.extend_from_slice(&(index.len() as u64).to_le_bytes());
    bytes.extend_from_slice(index.as_bytes());
    bytes.append(&mut data);
    Ok(bytes)
}

/// Splits a file into its header and its tensors, and checks everything that can be checked without knowing
/// their meaning.
pub fn open(bytes: &[u8]) -> Result<(String, Tensors), ModelFileError> {
    // 1. The index is within the file and is JSON.
    let index_length = check_start(bytes, bytes.len() as u64)? as usize;
    let (index, data) = bytes[LENGTH_BYTES as usize..].split_at(index_length);
    let index: Index = serde_json::from_slice(index).map_err(ModelFileError::Index)?;
    // 2. We wrote it, in this format version.
    let foreign = ModelFileError::NotAModel { looks_like: "a safetensors file that oddcell did not write" };
    let header = index.metadata.oddcell.ok_or(foreign)?;
    check_version(&header)?;
    // 3. Every tensor is where it should be, and nothing else is there.
    check_layout(&index.places, bytes.len() as u64 - data.len() as u64, data.len() as u64)?;
    // 4. The content has not changed since it was written.
    let tensors =
        Tensors(index.places.into_iter().map(|(name, place)| (name, read_tensor(&place, data))).collect());
    let (found, expected) = (index.metadata.checksum.unwrap_or_default(), checksum(&header, &tensors));
    if found != expected {
        let found = if found.is_empty() { "missing".to_owned() } else { found };
        return Err(ModelFileError::Checksum { found, expected });
    }
    Ok((header, tensors))
}

/// Checks the first bytes of a file of `total` bytes and returns the length of the index.
pub(super) fn check_start(start: &[u8], total: u64) -> Result<u64, ModelFileError> {
    if let Some(looks_like) = looks_like(start) {
        return Err(ModelFileError::NotAModel { looks_like });
    }
    check_size("whole", total, MAX_FILE_BYTES)?;
    let Some(length) = start.first_chunk().map(|&bytes| u64::from_le_bytes(bytes)) else {
        return Err(ModelFileError::Truncated { got: total, needed: LENGTH_BYTES + 1 });
    };
    check_size("index", length, MAX_INDEX_BYTES)?;
    let needed = LENGTH_BYTES + length;
    if total < needed { Err(ModelFileError::Truncated { got: total, needed }) } else { Ok(length) }
}

fn check_size(part: &'static str, got: u64, limit: u64) -> Result<(), ModelFileError> {
    if got <= limit { Ok(()) } else { Err(ModelFileError::TooLarge { part, got, limit }) }
}

/// Checks the format version. It ignores all other fields, so that a file of another version gets the right
/// error.
fn check_version(header: &str) -> Result<(), ModelFileError> {
    #[derive(Deserialize)]
    struct Version {
        format: u64,
    }
    let found = serde_json::from_str::<Version>(header).map_err(ModelFileError::Header)?.format;
    if found == FORMAT_VERSION {
        Ok(())
    } else {
        Err(ModelFileError::UnknownVersion { found, supported: FORMAT_VERSION })
    }
}

/// Checks that tensors follow each other from 0 to the end of the file, without gaps or overlaps, and match
/// their shapes.
fn check_layout(places: &BTreeMap<String, Slot>, before: u64, length: u64) -> Result<(), ModelFileError> {
    let mut order: Vec<(&String, &Slot)> = places.iter().collect();
    order.sort_by_key(|(name, place)| (place.data_offsets, *name));
    let mut reached = 0;
    for (name, place) in order {
        let wrong = |reason: String| ModelFileError::Layout { name: name.clone(), reason };
        let (begin, end) = place.data_offsets;
        if begin != reached {
            return Err(wrong(format!(
                "starts at byte {begin}, but the one before it ends at byte {reached}"
            )));
        }
        // No axis is longer than the whole file. Without this check, a tensor without values could claim any
        // size.
        if let Some(size) = place.shape.iter().find(|&&size| size > before + length) {
            return Err(wrong(format!("claims {size} values along one axis, more than the file has bytes")));
        }
        let values = place.shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        let needed = values.and_then(|values| values.checked_mul(place.dtype.size()));
        if needed.is_none() || needed != end.checked_sub(begin) {
            let (shape, dtype) = (&place.shape, place.dtype);
            return Err(wrong(format!(
                "spans bytes {begin} to {end}, which does not match {shape:?} {dtype:?}"
            )));
        }
        reached = end;
    }
    if reached > length {
        let needed = before.saturating_add(reached);
        return Err(ModelFileError::Truncated { got: before + length, needed });
    }
    if reached < length { Err(ModelFileError::Extra { extra: length - reached }) } else { Ok(()) }
}

/// Reads the tensor at a checked position.
fn read_tensor(place: &Slot, data: &[u8]) -> Tensor {
    fn values<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
        bytes.as_chunks::<N>().0.iter().map(|&chunk| read(chunk)).collect()
    }
    let bytes = &data[place.data_offsets.0 as usize..place.data_offsets.1 as usize];
    let shape = place.shape.iter().map(|&size| size as usize).collect();
    match place.dtype {
        Dtype::F64 => Tensor::F64(shape, values(bytes, f64::from_le_bytes)),
        Dtype::F32 => Tensor::F32(shape, values(bytes, f32::from_le_bytes)),
        Dtype::U32 => Tensor::U32(shape, values(bytes, u32::from_le_bytes)),
    }
}

/// Calls `with` with the little-endian bytes of the tensor, piece by piece.
fn each_piece(tensor: &Tensor, mut with: impl FnMut(&[u8])) {
    fn pieces<const N: usize, T: Copy>(values: &[T], write: fn(T) -> [u8; N], with: &mut impl FnMut(&[u8])) {
        for values in values.chunks(1024) {
            with(values.iter().map(|&value| write(value)).collect::<Vec<_>>().as_flattened());
        }
    }
    match tensor {
        Tensor::F64(_, values) => pieces(values, f64::to_le_bytes, &mut with),
        Tensor::F32(_, values) => pieces(values, f32::to_le_bytes, &mut with),
        Tensor::U32(_, values) => pieces(values, u32::to_le_bytes, &mut with),
    }
}

/// The SHA-256 of the header and of name, type, shape and bytes of each tensor, by name. Every part of
/// variable length is preceded by its length, so that different contents hash different sequences.
fn checksum(header: &str, tensors: &Tensors) -> String {
    fn text(hash: &mut Sha256, text: &str) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let mut hash = Sha256::new();
    text(&mut hash, header);
    for (name, tensor) in &tensors.0 {
        text(&mut hash, name);
        text(&mut hash, &format!("{:?}", Dtype::of(tensor)));
        hash.update((tensor.shape().len() as u64).to_le_bytes());
        for &size in tensor.shape() {
            hash.update((size as u64).to_le_bytes());
        }
        each_piece(tensor, |bytes| hash.update(bytes));
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    text
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("text and numbers are JSON")
}

/// The index of a file. A repeated name is an error instead of being dropped silently.
struct Index {
    metadata: Metadata,
    places: BTreeMap<String, Slot>,
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Index;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an index of tensors")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Index, A::Error> {
                let mut metadata = None;
                let mut places = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let is_new = if name == METADATA {
                        metadata.replace(map.next_value()?).is_none()
                    } else {
                        let place = map.next_value()?;
                        places.insert(name.clone(), place).is_none()
                    };
                    if !is_new {
                        return Err(de::Error::custom(format_args!("`{name}` appears twice")));
                    }
                }
                let metadata = metadata.unwrap_or(Metadata { checksum: None, oddcell: None });
                Ok(Index { metadata, places })
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

#[cfg(test)]
mod tests;
