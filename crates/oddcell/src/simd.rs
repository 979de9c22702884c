//! Runs numerical code compiled for the best instruction set of this CPU.
//!
//! The hot loops of the library are safe Rust over fixed-size arrays. The compiler turns them into vector
//! instructions as wide as the surrounding function allows; this module chooses that width at run time. (The
//! only other `unsafe` code is the inner loops of `net::gemm`.)
//!
//! *Invariant:* the choice never changes a bit. The loops use only operations whose result IEEE 754 fixes
//! (sums, products, quotients, square roots, fused multiply-adds), and the order of operations for each output
//! element does not depend on the vector width.

#![expect(unsafe_code, reason = "calling a function compiled for a CPU feature needs it; checked below")]

/// Work that is compiled once per instruction set.
pub(crate) trait Work {
    /// The result.
    type Output;

    /// Runs the work. Implementations, and all hot functions they call, must be `#[inline(always)]`, so that
    /// they are compiled for the caller's instruction set. Multiply-adds must not be in closures: a closure
    /// may stay a separate function, compiled for the oldest CPU. `ROWS` is the height of a register tile
    /// that suits the available vector registers (see `net::gemm`).
    fn run<const ROWS: usize>(self) -> Self::Output;
}

/// Runs `work` on the widest vectors of this CPU.
#[inline]
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    #[cfg(test)]
    if let Some(path) = tests::forced() {
        return path.run(work);
    }
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the line above detected AVX-512F and AVX-512VL; AVX-512F includes AVX2 and FMA.
            return unsafe { run_avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the line above detected both features that `run_avx2` enables.
            return unsafe { run_avx2(work) };
        }
    }
    work.run::<4>()
}

// 12 × 16 sums fill 12 of the 32 registers of 16 floats.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
fn run_avx512<W: Work>(work: W) -> W::Output {
    work.run::<12>()
}

// 6 × 16 sums fill 12 of the 16 registers of 8 floats.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<W: Work>(work: W) -> W::Output {
    work.run::<6>()
}

#[cfg(test)]
pub(crate) use tests::on_every_path;

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fmt::Debug};

    use super::Work;

    /// A code path other than the one that [`super::run`] chooses.
    #[derive(Debug, Clone, Copy)]
    pub(super) enum Path {
        /// The body of a path in baseline instructions, by the height of its tile. Every CPU has these.
        Plain(usize),
        /// AVX2, which a CPU with AVX-512 does not choose.
        #[cfg(target_arch = "x86_64")]
        Avx2,
    }

    thread_local! {
        static FORCED: Cell<Option<Path>> = const { Cell::new(None) };
    }

    pub(super) fn forced() -> Option<Path> {
        FORCED.get()
    }

    impl Path {
        pub(super) fn run<W: Work>(self, work: W) -> W::Output {
            match self {
                Self::Plain(4) => work.run::<4>(),
                Self::Plain(6) => work.run::<6>(),
                Self::Plain(12) => work.run::<12>(),
                Self::Plain(height) => unreachable!("no path has tiles of {height} rows"),
                // SAFETY: `on_every_path` detected the features before it forced this path.
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => unsafe { super::run_avx2(work) },
            }
        }
    }

    /// Returns the result of `work` and asserts that it is the same on every path: the one that this CPU
    /// chooses, AVX2 if available, and the bodies of all paths in baseline instructions. (Only a CPU with
    /// AVX-512 can test that path.)
    pub(crate) fn on_every_path<T: PartialEq + Debug>(work: impl Fn() -> T) -> T {
        let chosen = work();
        let mut paths = [4, 6, 12].map(Path::Plain).to_vec();
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            paths.push(Path::Avx2);
        }
        for path in paths {
            FORCED.set(Some(path));
            let found = work();
            FORCED.set(None);
            assert!(found == chosen, "{path:?}: {found:?}, but {chosen:?} on the path of this CPU");
        }
        chosen
    }

    #[test]
    fn every_path_is_taken() {
        struct Height;
        impl Work for Height {
            type Output = usize;
            fn run<const ROWS: usize>(self) -> usize {
                ROWS
            }
        }
        let heights = Cell::new(Vec::new());
        on_every_path(|| {
            let mut seen = heights.take();
            seen.push(super::run(Height));
            heights.set(seen);
        });
        assert_eq!(heights.take()[1..4], [4, 6, 12]);
    }
}
