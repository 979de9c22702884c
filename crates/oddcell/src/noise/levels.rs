//! Levels: how strong the noise of each cell is.

use super::random::{self, Bits, CHUNK, HALF, unit};
use crate::seed::{GOLDEN, mix};

/// Rows whose levels are dealt side by side. Dealing goes from cell to cell and cannot be vectorized along a
/// row.
pub(super) const GROUP: usize = 8;

/// The levels of a row: one from each of `count` equal intervals of [0, `sigma_max`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// The highest level.
    pub sigma_max: f32,
    /// The number of intervals, m.
    pub count: usize,
}

impl Levels {
    /// Gives every cell of a group of rows its level: the i-th level stands in ⌊(i+1)d/m⌋ − ⌊i·d/m⌋ cells at
    /// random places. With fewer cells than levels, each cell has another level, chosen at random. What a row
    /// gets depends on its key alone.
    #[inline(always)]
    pub(super) fn assign(
        self,
        keys: &[u64; GROUP],
        width: usize,
        bits: &mut Bits,
        levels: &mut Vec<[f32; GROUP]>,
    ) {
        levels.resize(width.next_multiple_of(CHUNK), [0.0; GROUP]);
        let levels = &mut levels[..width];
        match self.count {
            1 => levels.fill(keys.map(|key| self.level(0, key))),
            2 if width >= 2 => self.deal::<2>(keys, levels),
            3 if width >= 3 => self.deal::<3>(keys, levels),
            4 if width >= 4 => self.deal::<4>(keys, levels),
            5 if width >= 5 => self.deal::<5>(keys, levels),
            6 if width >= 6 => self.deal::<6>(keys, levels),
            7 if width >= 7 => self.deal::<7>(keys, levels),
            8 if width >= 8 => self.deal::<8>(keys, levels),
            _ => self.shuffle(keys, bits, levels),
        }
    }

    /// The level drawn from interval `number`.
    #[inline(always)]
    fn level(self, number: usize, key: u64) -> f32 {
        let offset = unit(mix(key ^ (number as u64 + 1).wrapping_mul(GOLDEN)));
        (number as f32 + offset) * (self.sigma_max / self.count as f32)
    }

    /// Deals `M` levels out cell by cell.
    #[inline(always)]
    fn deal<const M: usize>(self, keys: &[u64; GROUP], levels: &mut [[f32; GROUP]]) {
        let mut cards = Cards::<M>::new(self, keys, levels.len());
        for (chunk, levels) in levels.chunks_mut(CHUNK).enumerate() {
            let mut draws = [[0; GROUP]; CHUNK];
            for i in 0..levels.len().min(HALF) {
                (draws[i], draws[HALF + i]) = random::halves_of_each(keys, chunk * HALF + i);
            }
            for (level, draws) in levels.iter_mut().zip(&draws) {
                *level = cards.next(draws);
            }
        }
    }

    /// Any number of levels and of cells, row by row, by Fisher and Yates.
    fn shuffle(self, keys: &[u64; GROUP], bits: &mut Bits, levels: &mut [[f32; GROUP]]) {
        let (m, width) = (self.count, levels.len());
        let mut numbers: Vec<usize> = Vec::with_capacity(m.max(width));
        for (row, &key) in keys.iter().enumerate() {
            numbers.clear();
            if width < m {
                numbers.extend(0..m);
            } else {
                let cells = |number| (number + 1) * width / m - number * width / m;
                numbers.extend((0..m).flat_map(|number| std::iter::repeat_n(number, cells(number))));
            }
            let n = numbers.len();
            for (cell, (level, &draw)) in levels.iter_mut().zip(bits.draw(key, width)).enumerate() {
                numbers.swap(cell, cell + scaled(draw, n - cell));
                level[row] = self.level(numbers[cell], key);
            }
        }
    }
}

/// The levels of a group of rows as cards: the next cell gets a level with the chance of its share among the
/// cards that are left, which makes every arrangement equally likely, just as a shuffle would.
struct Cards<const M: usize> {
    /// `left[i]` counts the cards of levels 0..=i, which are the lowest ones.
    left: [[i32; GROUP]; M],
    value: [[f32; GROUP]; M],
    /// Cards of all levels. In 32 bits, so that a draw times this number is a single instruction.
    n_left: u32,
}

#[allow(clippy::cast_possible_wrap, reason = "rows have far fewer than 2³¹ cells")]
impl<const M: usize> Cards<M> {
    #[inline(always)]
    fn new(levels: Levels, keys: &[u64; GROUP], width: usize) -> Self {
        let (mut left, mut value) = ([[0; GROUP]; M], [[0.0; GROUP]; M]);
        for number in 0..M {
            left[number] = [((number + 1) * width / M) as i32; GROUP];
            for row in 0..GROUP {
                value[number][row] = levels.level(number, keys[row]);
            }
        }
        Self { left, value, n_left: width as u32 }
    }

    /// The level of the next cell of every row, by a draw for each.
    #[inline(always)]
    fn next(&mut self, draws: &[u32; GROUP]) -> [f32; GROUP] {
        let mut level = self.value[M - 1];
        for row in 0..GROUP {
            let card = ((u64::from(draws[row]) * u64::from(self.n_left)) >> 32) as i32;
            for number in (0..M - 1).rev() {
                let is_at_most = card < self.left[number][row];
                self.left[number][row] -= i32::from(is_at_most);
                level[row] = if is_at_most { self.value[number][row] } else { level[row] };
            }
        }
        self.n_left -= 1;
        level
    }
}

/// A draw of 32 bits as a number in 0..n; the bias is below n / 2³².
#[inline(always)]
fn scaled(draw: u32, n: usize) -> usize {
    ((u64::from(draw) * n as u64) >> 32) as usize
}
