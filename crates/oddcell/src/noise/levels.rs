//! Levels: how strong the noise of each cell is.

use super::random::{Bits, unit};
use crate::seed::{GOLDEN, mix};

/// The levels of a row: one from each of `count` equal intervals of [0, `sigma_max`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// The highest level.
    pub sigma_max: f32,
    /// The number of intervals, m.
    pub count: usize,
}

impl Levels {
    /// Gives every cell its level: the i-th level stands in ⌊(i+1)d/m⌋ − ⌊i·d/m⌋ cells at random places. With
    /// fewer cells than levels, each cell has another level, chosen at random.
    #[inline(always)]
    pub(super) fn assign(self, key: u64, width: usize, bits: &mut Bits, levels: &mut Vec<f32>) {
        let m = self.count;
        let draws = bits.draw(key, width + m);
        levels.clear();
        if m == 1 {
            levels.resize(width, self.level(0, key));
        } else if width >= m {
            self.deal(key, width, &draws[..width], levels);
        } else {
            // Fisher and Yates on the level numbers, the first `width` of them.
            let mut numbers: Vec<usize> = (0..m).collect();
            for (cell, &draw) in draws.iter().take(width).enumerate() {
                numbers.swap(cell, cell + scaled(draw, m - cell));
            }
            levels.extend(numbers[..width].iter().map(|&number| self.level(number, key)));
        }
    }

    /// The level drawn from interval `number`.
    #[inline(always)]
    fn level(self, number: usize, key: u64) -> f32 {
        let offset = unit(mix(key ^ (number as u64 + 1).wrapping_mul(GOLDEN)));
        (number as f32 + offset) * (self.sigma_max / self.count as f32)
    }

    /// Deals the levels out cell by cell: the next cell gets a level with the chance of its share among the cards
    /// that are left, which makes every arrangement equally likely, just as a shuffle would.
    #[inline(always)]
    fn deal(self, key: u64, width: usize, draws: &[u32], levels: &mut Vec<f32>) {
        const FEW: usize = 8;
        let m = self.count;
        let cards = |number: usize| ((number + 1) * width / m - number * width / m) as u32;
        if m <= FEW {
            // The usual case, without allocation: `left[i]` counts the cards of levels 0..=i.
            let mut left = [0u32; FEW];
            let mut value = [0.0f32; FEW];
            let mut total = 0;
            for number in 0..m {
                total += cards(number);
                left[number] = total;
                value[number] = self.level(number, key);
            }
            for (&draw, all) in draws.iter().zip((1..=width as u32).rev()) {
                let card = ((u64::from(draw) * u64::from(all)) >> 32) as u32;
                let mut number = 0;
                for &left in &left[..m - 1] {
                    number += usize::from(card >= left);
                }
                for (i, left) in left[..m].iter_mut().enumerate() {
                    *left -= u32::from(i >= number);
                }
                levels.push(value[number]);
            }
        } else {
            levels.extend(
                (0..m)
                    .flat_map(|number| std::iter::repeat_n(self.level(number, key), cards(number) as usize)),
            );
            for (cell, &draw) in draws.iter().enumerate() {
                levels.swap(cell, cell + scaled(draw, width - cell));
            }
        }
    }
}

/// A draw of 32 bits as a number in 0..n; the bias is below n / 2³².
#[inline(always)]
fn scaled(draw: u32, n: usize) -> usize {
    ((u64::from(draw) * n as u64) >> 32) as usize
}
