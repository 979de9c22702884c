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
