//! Random streams, all derived from the user's one seed.
//!
//! Each use of randomness in the library has a stream of its own, named by purpose and indices. A value
//! depends only on (seed, name, indices), not on threads, batch sizes or earlier draws.

use serde::{Deserialize, Serialize};

/// The user's seed. The same data, seed and version give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

/// 2⁶⁴ divided by the golden ratio, the increment of SplitMix64.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of SplitMix64 (Steele, Lea, Flood 2014): a bijection in which every output bit depends
/// on every input bit.
#[inline(always)]
pub(crate) const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Seed {
    /// The key of the stream `name` for `indices`, e.g. `("noise", [epoch, row, copy])`.
    #[must_use]
    pub fn key(self, name: &str, indices: &[u64]) -> u64 {
        let mut key = mix(self.0.wrapping_add(GOLDEN));
        for byte in name.bytes() {
            key = mix(key ^ u64::from(byte).wrapping_mul(GOLDEN));
        }
        indices.iter().fold(key, |key, &index| subkey(key, index))
    }

    /// A generator for the stream `name` and `indices`.
    #[must_use]
    pub fn stream(self, name: &str, indices: &[u64]) -> Stream {
        Stream { state: self.key(name, indices) }
    }

    /// Derives a seed for a part of the work (a fold, a repeat).
    #[must_use]
    pub fn child(self, name: &str, index: u64) -> Seed {
        Seed(self.key(name, &[index]))
    }
}

/// The key of the `index`-th stream below `key`.
#[inline(always)]
pub(crate) const fn subkey(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// A sequential generator (SplitMix64) for work outside hot loops: splits, shuffles, initial weights.
#[derive(Debug, Clone)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A uniform number in [0, 1) with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An unbiased uniform number in 0..n (Lemire's multiply and reject). `n` must not be 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            let low = product as u64;
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 64) as usize;
            }
        }
    }

    /// A standard normal number (one of a Box–Muller pair).
    pub fn normal(&mut self) -> f64 {
        // `libm` gives the same bits on every machine; the system's logarithm and cosine do not.
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Shuffles `items` uniformly (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A uniformly random permutation of 0..n.
    #[must_use]
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_by_every_index_and_repeat_exactly() {
        let seed = Seed(7);
        let first = |name: &str, indices: &[u64]| seed.stream(name, indices).next_u64();
        assert_eq!(first("noise", &[1, 2, 3]), first("noise", &[1, 2, 3]));
        let others = [first("split", &[1, 2, 3]), first("noise", &[2, 1, 3]), first("noise", &[1, 2])];
        assert!(others.iter().all(|&other| other != first("noise", &[1, 2, 3])));
        assert_ne!(Seed(8).stream("noise", &[1, 2, 3]).next_u64(), first("noise", &[1, 2, 3]));
    }

    #[test] // SplitMix64 from state 0: published first outputs of the reference implementation.
    fn the_generator_gives_the_reference_sequence_of_splitmix64() {
        let mut stream = Stream { state: 0 };
        assert_eq!(stream.next_u64(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(stream.next_u64(), 0x6E78_9E6A_A1B9_65F4);
        assert_eq!(stream.next_u64(), 0x06C4_5D18_8009_454F);
    }

    #[test]
    fn below_is_uniform_and_uniform_stays_below_one() {
        let mut stream = Seed(1).stream("test", &[]);
        let mut counts = [0usize; 6];
        for _ in 0..60_000 {
            counts[stream.below(6)] += 1;
            assert!((0.0..1.0).contains(&stream.uniform()));
        }
        // 10,000 each; standard deviation sqrt(60,000 · 1/6 · 5/6) = 91.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 5 * 91), "{counts:?}");
    }

    #[test]
    fn a_permutation_holds_every_index_once() {
        let mut order = Seed(3).stream("test", &[]).permutation(100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}
