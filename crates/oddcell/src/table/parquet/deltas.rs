//! Texts stored as differences: the encodings `DELTA_LENGTH_BYTE_ARRAY` and `DELTA_BYTE_ARRAY`.
//!
//! Both begin with a run of numbers, bit-packed in blocks: lengths, or how much of the previous text a text repeats.
//! A few bytes can claim any number of numbers, and a repeated text takes no bytes at all. So the runs are read here
//! first: what they claim is known before anything is allocated for it.

use crate::count::count;

/// The most numbers in one run, and so texts in one page. Writers end a page after some ten thousand.
const MOST_VALUES: u64 = 1 << 24;

/// Checks a page of `DELTA_LENGTH_BYTE_ARRAY`.
pub(super) fn check_lengths(page: &[u8], most_values: u64) -> Result<(), String> {
    Run::begin(page, most_values).map(drop)
}

/// Checks a page of `DELTA_BYTE_ARRAY`, whose texts may take `most_bytes` together.
pub(super) fn check_texts(page: &[u8], most_values: u64, most_bytes: u64) -> Result<(), String> {
    let repeated = Run::begin(page, most_values)?;
    let rest = repeated.end()?;
    let added = Run::begin(page.get(rest..).ok_or(ENDS_EARLY)?, most_values)?;
    let (mut length, mut total) = (0u64, 0u64);
    for (repeated, added) in repeated.zip(added) {
        let negative = |_| "a text has a negative length";
        let (repeated, added) =
            (u64::try_from(repeated?).map_err(negative)?, u64::try_from(added?).map_err(negative)?);
        length = length.min(repeated) + added;
        total += length;
        if total > most_bytes {
            return Err(format!("the texts of a page take more than {} bytes", count(most_bytes as usize)));
        }
    }
    Ok(())
}

const ENDS_EARLY: &str = "a page ends early";

/// A run of bit-packed differences, read from its beginning.
#[derive(Debug, Clone)]
struct Run<'a> {
    bytes: &'a [u8],
    /// The next byte of a block's head.
    at: usize,
    /// Numbers that are still to come.
    left: u64,
    /// Whether the next number is the first, which is in the head of the run.
    at_first: bool,
    last: i32,
    per_mini_block: u64,
    mini_blocks: usize,
    /// The widths of the mini-blocks of this block that were not begun yet.
    widths: &'a [u8],
    least_delta: i64,
    /// The bits of the current mini-block.
    packed: &'a [u8],
    width: u32,
    /// The position in it.
    in_mini_block: u64,
}

impl<'a> Run<'a> {
    fn begin(bytes: &'a [u8], most_values: u64) -> Result<Self, String> {
        let mut at = 0;
        let block = varint(bytes, &mut at)?;
        let mini_blocks = varint(bytes, &mut at)?;
        let left = varint(bytes, &mut at)?;
        let first = zigzag(varint(bytes, &mut at)?);
        let per_mini_block = block.checked_div(mini_blocks).unwrap_or(0);
        if per_mini_block == 0 || per_mini_block % 32 != 0 || block % mini_blocks != 0 || block > MOST_VALUES
        {
            return Err(format!("blocks of {block} numbers in {mini_blocks} parts"));
        }
        let most = most_values.min(MOST_VALUES);
        if left > most {
            return Err(format!("a page of at most {most} values claims {left} lengths"));
        }
        Ok(Self {
            bytes,
            at,
            left,
            at_first: true,
            last: i32::try_from(first).map_err(|_| "a length is beyond 32 bits")?,
            per_mini_block,
            mini_blocks: mini_blocks as usize,
            widths: &[],
            least_delta: 0,
            packed: &[],
            width: 0,
            in_mini_block: per_mini_block,
        })
    }

    /// Where the bytes after the run begin.
    fn end(&self) -> Result<usize, String> {
        let (mut run, mut left) = (self.clone(), self.left.saturating_sub(1));
        while left > 0 {
            run.next_mini_block()?;
            left = left.saturating_sub(run.per_mini_block);
        }
        Ok(run.at)
    }

    /// Moves to the next mini-block, and reads the head of the next block if there is none.
    fn next_mini_block(&mut self) -> Result<(), String> {
        if self.widths.is_empty() {
            self.least_delta = zigzag(varint(self.bytes, &mut self.at)?);
            self.widths = self.bytes.get(self.at..self.at + self.mini_blocks).ok_or(ENDS_EARLY)?;
            self.at += self.mini_blocks;
        }
        let (&width, rest) = self.widths.split_first().ok_or(ENDS_EARLY)?;
        (self.widths, self.width) = (rest, u32::from(width));
        if width > 32 {
            return Err(format!("a length of {width} bits"));
        }
        let length = (u64::from(width) * self.per_mini_block / 8) as usize;
        self.packed = self.bytes.get(self.at..self.at + length).ok_or(ENDS_EARLY)?;
        self.at += length;
        self.in_mini_block = 0;
        Ok(())
    }

    fn advance(&mut self) -> Result<i32, String> {
        if std::mem::take(&mut self.at_first) {
            return Ok(self.last);
        }
        if self.in_mini_block == self.per_mini_block {
            self.next_mini_block()?;
        }
        let bit = self.in_mini_block * u64::from(self.width);
        self.in_mini_block += 1;
        let mut eight = [0; 8];
        let begin = &self.packed[(bit / 8) as usize..];
        let n = begin.len().min(8);
        eight[..n].copy_from_slice(&begin[..n]);
        let packed = (u64::from_le_bytes(eight) >> (bit % 8)) & ((1 << self.width) - 1);
        // As the decoder does: in 32 bits, wrapping.
        self.last = self.last.wrapping_add(self.least_delta as i32).wrapping_add(packed as i32);
        Ok(self.last)
    }
}

impl Iterator for Run<'_> {
    type Item = Result<i32, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.advance())
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or(ENDS_EARLY)?;
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number of more than 64 bits".to_owned())
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of Parquet's documentation: 7, 5, 3, 1, 2, 3, 4, 5 has the differences -2, -2, -2, 1, 1, 1, 1. In one
    // block of 128 with 4 parts: 8 numbers, first 7 (zigzag 14), least -2 (zigzag 3), widths 2, 0, 0, 0, and the
    // differences above the least as 2 bits each: 0, 0, 0, 3, 3, 3, 3, then padding up to 32 numbers: 8 bytes.
    const RUN: [u8; 18] = [0x80, 0x01, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];

    #[test]
    fn the_documented_example_reads_as_documented() {
        let run = Run::begin(&RUN, 8).unwrap();
        assert_eq!(run.end(), Ok(RUN.len()));
        let numbers: Result<Vec<_>, _> = run.collect();
        assert_eq!(numbers.unwrap(), [7, 5, 3, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn more_lengths_than_values_and_absurd_blocks_are_refused() {
        assert!(check_lengths(&RUN, 7).unwrap_err().contains("claims 8 lengths"));
        let huge = [0x80, 0x01, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0];
        assert!(check_lengths(&huge, u64::MAX).unwrap_err().contains("lengths"));
        assert!(check_lengths(&[0, 4, 1, 0], 8).is_err());
        assert!(check_lengths(&[0x80, 0x01, 0, 1, 0], 8).is_err());
    }

    // Three texts: 5 new bytes, then twice all 5 of the text before: 15 bytes from 5.
    #[test]
    fn the_bytes_of_repeated_texts_count() {
        let repeated = [0x80, 0x01, 4, 3, 0, 0, 3, 0, 0, 0, 0b101, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // Prefixes 0, 5, 5: least difference 0, widths 3: 5, 0. Suffixes 5, 0, 0: differences -5, 0: least -5, 0, 5.
        let added = [0x80, 0x01, 4, 3, 10, 9, 3, 0, 0, 0, 0b101_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let page = [&repeated[..], &added, b"hello"].concat();
        assert_eq!(check_texts(&page, 3, 15), Ok(()));
        assert!(check_texts(&page, 3, 14).unwrap_err().contains("more than 14 bytes"));
    }

    #[test]
    fn a_run_cut_anywhere_is_an_error_or_shorter() {
        for end in 0..RUN.len() {
            let cut = Run::begin(&RUN[..end], 8).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            assert!(cut.is_err(), "{end}");
        }
    }
}
