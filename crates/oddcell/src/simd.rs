//! Runs a piece of numerical work compiled for the best instruction set of this CPU.
//!
//! The hot loops of the library are plain safe Rust over fixed-size arrays, which the compiler turns into vector
//! instructions of whatever width the surrounding function may use. This module is the one place that chooses
//! that width at run time. (The only other `unsafe` code is the inner loops of `net::gemm`.)
//!
//! *Invariant:* the choice never changes a bit. The loops use only operations whose result IEEE 754 fixes
//! (`+ - × ÷`, square root, fused multiply-add), each output element in an order that does not depend on the
//! vector width.

#![expect(unsafe_code, reason = "calling a function compiled for a CPU feature needs it; checked below")]

/// Work that is worth compiling several times.
pub(crate) trait Work {
    /// What it gives.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`, and so is everything hot they call: that is how they
    /// come to be compiled for the caller's instruction set. Hence no closures around multiply-adds: a closure may
    /// stay a function of its own, compiled for the oldest CPU. `ROWS` is the height of a register tile that suits
    /// the vector registers there are (see [`crate::net::gemm`]).
    fn run<const ROWS: usize>(self) -> Self::Output;
}

/// Runs `work` on the widest vectors this CPU has.
#[inline]
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    #[cfg(test)]
    if let Some(path) = tests::forced() {
        return path.run(work);
    }
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: both features that `run_avx512` enables were detected on the line above; AVX-512F includes
            // AVX2 and FMA.
            return unsafe { run_avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: both features that `run_avx2` enables were detected on the line above.
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

    /// A way to run work, other than the one that [`super::run`] chooses.
    #[derive(Debug, Clone, Copy)]
    pub(super) enum Path {
        /// The body of a path in plain instructions, by the height of its tile. No CPU is without these.
        Plain(usize),
        /// AVX2, which a CPU with AVX-512 would not choose.
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

    /// What `work` gives on this thread, which must be the same on every path: the one of this CPU, AVX2 if there is
    /// any, and the bodies of all paths in plain instructions. (What AVX-512 makes of its body, only a CPU that has it
    /// can show.)
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
