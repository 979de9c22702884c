//! Encoded rows in a temporary file, dealt at random to parts of fixed sizes.
//!
//! *Why:* a table larger than memory cannot be shuffled in memory. When its rows are dealt like cards, every part is a
//! random sample of the table that fits into memory: one part is held out, each of the others is a training block.
//!
//! *How:* the chance that a row goes to a part is proportional to the places left in it. All ways to deal are therefore
//! equally likely, and every part gets exactly its number of rows; rows without a place are left out, each with the
//! same chance. The file holds part after part; the sizes are known, and so is the position of every part. Each part
//! has a small buffer, because long writes are faster.
//!
//! *Invariant:* where a row goes depends only on the seed, the sizes and the number of rows before it.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    iter,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use crate::{Matrix, Seed, detect::RowBlocks, seed::Stream};

/// Bytes of a number in the file.
const CELL: usize = size_of::<f64>();
/// Rows are read this many bytes at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Deals rows to parts until all rows have come.
pub(super) struct Dealer {
    file: File,
    n_cols: usize,
    parts: Vec<Pile>,
    n_left: usize,
    stream: Stream,
    buffer_bytes: usize,
}

/// A part that is being written.
struct Pile {
    /// Rows still to come.
    n_left: usize,
    /// Where the next bytes go.
    position: u64,
    buffer: Vec<u8>,
}

impl Dealer {
    /// Creates a file for parts of `sizes` rows, dealt from `n_rows` rows of `n_cols` numbers. All buffers together
    /// take about `buffer_bytes`.
    pub(super) fn new(
        [n_rows, n_cols]: [usize; 2],
        sizes: &[usize],
        buffer_bytes: usize,
        seed: Seed,
    ) -> io::Result<Self> {
        let row_bytes = (n_cols * CELL) as u64;
        let mut position = 0;
        let parts = sizes.iter().map(|&size| {
            let part = Pile { n_left: size, position, buffer: Vec::new() };
            position += size as u64 * row_bytes;
            part
        });
        Ok(Self {
            file: tempfile::tempfile()?,
            n_cols,
            parts: parts.collect(),
            n_left: n_rows,
            stream: seed.stream("deal", &[]),
            buffer_bytes: buffer_bytes / sizes.len().max(1),
        })
    }

    /// Rows still to come.
    pub(super) fn n_left(&self) -> usize {
        self.n_left
    }

    /// Deals a row; at least one must still be to come.
    pub(super) fn deal(&mut self, row: &[f64]) -> io::Result<()> {
        let mut place = self.stream.below(self.n_left);
        self.n_left -= 1;
        let part = self.parts.iter_mut().find(|part| {
            let is_here = place < part.n_left;
            if !is_here {
                place -= part.n_left;
            }
            is_here
        });
        let Some(part) = part else { return Ok(()) };
        part.n_left -= 1;
        part.buffer.extend(row.iter().flat_map(|cell| cell.to_le_bytes()));
        if part.buffer.len() >= self.buffer_bytes { part.flush(&mut self.file) } else { Ok(()) }
    }

    /// The dealt rows, once all have come.
    pub(super) fn finish(mut self) -> io::Result<Spilled> {
        let mut sizes = Vec::with_capacity(self.parts.len());
        let mut start = 0;
        for part in &mut self.parts {
            part.flush(&mut self.file)?;
            sizes.push(start..part.position);
            start = part.position;
        }
        Ok(Spilled { file: Mutex::new(self.file), n_cols: self.n_cols, parts: sizes })
    }
}

impl Pile {
    fn flush(&mut self, file: &mut File) -> io::Result<()> {
        file.seek(SeekFrom::Start(self.position))?;
        file.write_all(&self.buffer)?;
        self.position += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Rows in a file. The first part is held out; the others are the training blocks.
#[derive(Debug)]
pub(super) struct Spilled {
    file: Mutex<File>,
    n_cols: usize,
    /// The byte range of each part in the file.
    parts: Vec<Range<u64>>,
}

impl Spilled {
    fn row_bytes(&self) -> usize {
        self.n_cols * CELL
    }

    /// The rows held out, some at a time.
    pub(super) fn held_out(&self) -> impl Iterator<Item = io::Result<Matrix>> {
        self.pieces(0)
    }

    /// The rows of a part, some at a time.
    fn pieces(&self, part: usize) -> impl Iterator<Item = io::Result<Matrix>> {
        let most_bytes = (PIECE_BYTES / self.row_bytes()).max(1) * self.row_bytes();
        let Range { mut start, end } = self.parts[part];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        iter::from_fn(move || {
            let mut bytes = vec![0; (end - start).min(most_bytes as u64) as usize];
            let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut bytes));
            start += bytes.len() as u64;
            let (cells, _) = bytes.as_chunks();
            let cells: Vec<f64> = cells.iter().map(|&cell| f64::from_le_bytes(cell)).collect();
            let n_rows = cells.len() / self.n_cols;
            (n_rows > 0).then(|| read.map(|()| Matrix::new(cells, n_rows, self.n_cols)))
        })
    }
}

impl RowBlocks for Spilled {
    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn n_blocks(&self) -> usize {
        self.parts.len() - 1
    }

    fn block_rows(&self, block: usize) -> usize {
        let Range { start, end } = self.parts[block + 1];
        (end - start) as usize / self.row_bytes()
    }

    fn each_row(&self, block: usize, take: &mut dyn FnMut(&[f64])) -> io::Result<()> {
        for piece in self.pieces(block + 1) {
            piece?.rows().for_each(&mut *take);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Deals the rows 0, 1, 2, … (each its number and a third of it) and reads all parts back.
    fn dealt(n_rows: usize, sizes: &[usize], buffer_bytes: usize, seed: u64) -> Vec<Vec<usize>> {
        let mut dealer = Dealer::new([n_rows, 2], sizes, buffer_bytes, Seed(seed)).unwrap();
        for row in 0..n_rows {
            dealer.deal(&[row as f64, row as f64 / 3.0]).unwrap();
        }
        assert_eq!(dealer.n_left(), 0);
        let spilled = dealer.finish().unwrap();
        let number = |row: &[f64]| {
            assert_eq!(row[1], row[0] / 3.0);
            row[0] as usize
        };
        let held_out: Vec<Matrix> = spilled.held_out().map(Result::unwrap).collect();
        let mut parts = vec![held_out.iter().flat_map(Matrix::rows).map(number).collect()];
        for block in 0..spilled.n_blocks() {
            let mut part = Vec::new();
            spilled.each_row(block, &mut |row| part.push(number(row))).unwrap();
            assert_eq!(part.len(), spilled.block_rows(block));
            parts.push(part);
        }
        parts
    }

    proptest! {
        #[test]
        fn every_row_is_dealt_once_at_most_and_every_part_gets_its_number(
            sizes in prop::collection::vec(1usize..60, 2..6),
            left_out in 0usize..60,
            buffer in 0usize..400,
            seed in any::<u64>(),
        ) {
            let n_rows = sizes.iter().sum::<usize>() + left_out;
            let parts = dealt(n_rows, &sizes, buffer, seed);
            prop_assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), sizes.clone());
            prop_assert!(parts.iter().all(|part| part.is_sorted()));
            let mut all = parts.concat();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len() + left_out, n_rows);
            prop_assert!(all.iter().all(|&row| row < n_rows));
            // The buffer size does not change the deal.
            prop_assert_eq!(parts, dealt(n_rows, &sizes, 1 << 20, seed));
        }
    }

    // There are six ways to choose two of four rows, each with a chance of 1/6: 1,000 ± 29 of 6,000 seeds give each
    // way. The same holds if one of the other two rows is left out.
    #[test]
    fn all_ways_to_deal_are_equally_likely() {
        for sizes in [[2, 2], [2, 1]] {
            let mut ways = std::collections::BTreeMap::new();
            for seed in 0..6_000 {
                *ways.entry(dealt(4, &sizes, 1 << 10, seed)[0].clone()).or_insert(0) += 1;
            }
            assert_eq!(ways.len(), 6);
            assert!(ways.values().all(|&count| (880..1_120).contains(&count)), "{ways:?}");
        }
    }
}
