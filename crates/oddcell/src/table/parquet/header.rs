//! The sizes in a page's header.
//!
//! The header is a struct in Thrift's compact protocol. Only its first fields matter here; the others (statistics,
//! counts of values) are walked over to find where the page begins.

use std::io::{self, Read};

/// What a page's header says about sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PageSizes {
    /// Pages of this type hold no values and are skipped.
    pub(super) is_index: bool,
    pub(super) uncompressed: i32,
    pub(super) compressed: i32,
    /// The bytes of the header itself.
    pub(super) header: u64,
}

/// Structs within structs; real headers have two levels.
const DEEPEST: usize = 8;

impl PageSizes {
    /// Reads a header, leaving `input` at the first byte of the page.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut compact = Compact { input, n_read: 0 };
        let mut sizes = Self::default();
        let mut previous = 0;
        while let Some((field, kind)) = compact.field(previous)? {
            previous = field;
            match (field, kind) {
                (1, Compact::<&[u8]>::I32) => sizes.is_index = compact.int()? == 1,
                (2, Compact::<&[u8]>::I32) => sizes.uncompressed = compact.int()?,
                (3, Compact::<&[u8]>::I32) => sizes.compressed = compact.int()?,
                _ => compact.skip(kind, DEEPEST)?,
            }
        }
        sizes.header = compact.n_read;
        Ok(sizes)
    }
}

struct Compact<R> {
    input: R,
    n_read: u64,
}

impl<R: Read> Compact<R> {
    const I32: u8 = 5;

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.n_read += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    /// A number with its sign in the lowest bit.
    fn int(&mut self) -> io::Result<i32> {
        let value = self.varint()?;
        let signed = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
        i32::try_from(signed).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// The number and type of the next field; `None` at the end of the struct.
    fn field(&mut self, previous: i32) -> io::Result<Option<(i32, u8)>> {
        let head = self.byte()?;
        match (head >> 4, head & 0x0F) {
            (_, 0) => Ok(None),
            (0, kind) => Ok(Some((self.int()?, kind))),
            (step, kind) => Ok(Some((previous.saturating_add(i32::from(step)), kind))),
        }
    }

    fn skip(&mut self, kind: u8, deepest: usize) -> io::Result<()> {
        let deeper = deepest.checked_sub(1).ok_or(io::ErrorKind::InvalidData)?;
        match kind {
            // Truth values are part of the field's head.
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => (0..8).try_for_each(|_| self.byte().map(drop)),
            8 => {
                let length = self.varint()?;
                let skipped = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())?;
                self.n_read += skipped;
                if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // In a list a truth value takes a byte.
                let kind = if matches!(head & 0x0F, 1 | 2) { 3 } else { head & 0x0F };
                (0..length).try_for_each(|_| self.skip(kind, deeper))
            }
            12 => {
                let mut previous = 0;
                while let Some((field, kind)) = self.field(previous)? {
                    previous = field;
                    self.skip(kind, deeper)?;
                }
                Ok(())
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Field 1 (head 0x15: one step, i32) = 0, field 2 = 300 (zigzag 600 = 0xD8 0x04), field 3 = 17 (zigzag 34), field 5
    // (head 0x2C: two steps, struct) with field 1 = 20 and field 5 (head 0x4C) an empty struct, end, end. 14 bytes.
    const HEADER: [u8; 14] =
        [0x15, 0x00, 0x15, 0xD8, 0x04, 0x15, 0x22, 0x2C, 0x15, 0x28, 0x4C, 0x00, 0x00, 0x00];

    #[test]
    fn the_sizes_are_those_worked_out_by_hand_and_the_page_begins_after_the_header() {
        let mut input = &[&HEADER[..], b"page"].concat()[..];
        let sizes = PageSizes::read(&mut input).unwrap();
        assert_eq!(sizes, PageSizes { is_index: false, uncompressed: 300, compressed: 17, header: 14 });
        assert_eq!(input, b"page");
    }

    #[test]
    fn a_header_that_is_cut_or_nested_without_end_is_an_error() {
        for end in 0..HEADER.len() {
            assert!(PageSizes::read(&mut &HEADER[..end]).is_err(), "{end}");
        }
        assert!(PageSizes::read(&mut &[0x1C; 1000][..]).is_err());
    }
}
