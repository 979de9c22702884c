//! Random numbers for the hot loop: keyed, counted, and made many at a time.
//!
//! The j-th number of a key is `mix(key + (j + 1)·golden)`, the SplitMix64 sequence entered at any place, so
//! no state is carried and the compiler can draw a whole chunk side by side. Logarithm, sine and cosine are
//! polynomials in fused multiply-adds: fast, and the same bits on every machine.

use crate::seed::{GOLDEN, mix};

/// Numbers drawn at a time. Buffers are multiples of it.
pub(super) const CHUNK: usize = 16;
/// A chunk's first half are the upper 32 bits of as many numbers, its second half the lower ones.
pub(super) const HALF: usize = CHUNK / 2;

/// Uniform in [0, 1) from the upper 24 bits.
#[inline(always)]
pub(super) fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 * (1.0 / 16_777_216.0)
}

/// `N` numbers of a key, as upper and lower halves.
#[inline(always)]
fn halves<const N: usize>(key: u64, first: usize) -> ([u32; N], [u32; N]) {
    let start = key.wrapping_add((first as u64 + 1).wrapping_mul(GOLDEN));
    let (mut upper, mut lower) = ([0; N], [0; N]);
    for i in 0..N {
        let bits = mix(start.wrapping_add((i as u64).wrapping_mul(GOLDEN)));
        (upper[i], lower[i]) = ((bits >> 32) as u32, bits as u32);
    }
    (upper, lower)
}

/// Number `place` of several keys, as upper and lower halves.
#[inline(always)]
pub(super) fn halves_of_each<const N: usize>(keys: &[u64; N], place: usize) -> ([u32; N], [u32; N]) {
    let step = (place as u64 + 1).wrapping_mul(GOLDEN);
    let (mut upper, mut lower) = ([0; N], [0; N]);
    for i in 0..N {
        let bits = mix(keys[i].wrapping_add(step));
        (upper[i], lower[i]) = ((bits >> 32) as u32, bits as u32);
    }
    (upper, lower)
}

/// Uniform in [0, 1), 24 bits.
#[inline(always)]
fn unit32(bits: u32) -> f32 {
    (bits >> 8).cast_signed() as f32 * (1.0 / 16_777_216.0)
}

/// A buffer of 32-bit random numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Bits(Vec<u32>);

impl Bits {
    /// At least `n` numbers of `key`.
    #[inline(always)]
    pub(super) fn draw(&mut self, key: u64, n: usize) -> &[u32] {
        self.0.resize(n.next_multiple_of(CHUNK), 0);
        for (chunk, numbers) in self.0.chunks_exact_mut(CHUNK).enumerate() {
            let (upper, lower) = halves::<HALF>(key, chunk * HALF);
            numbers[..HALF].copy_from_slice(&upper);
            numbers[HALF..].copy_from_slice(&lower);
        }
        &self.0
    }

    /// Uniform in [0, 1) for every value.
    #[inline(always)]
    pub(super) fn uniforms(&mut self, key: u64, values: &mut [f32]) {
        let draws = self.draw(key, values.len());
        for (value, &bits) in values.iter_mut().zip(draws) {
            *value = unit32(bits);
        }
    }
}

/// Fills `values` (a multiple of [`CHUNK`]) with standard normal numbers, by Box and Muller.
#[inline(always)]
pub(super) fn normals(key: u64, values: &mut [f32]) {
    // Two chunks at a time, because one alone spends most of its time waiting for its own results.
    let mut pairs = values.chunks_exact_mut(2 * CHUNK);
    let mut first = 0;
    for pair in pairs.by_ref() {
        box_muller::<CHUNK>(key, first, pair);
        first += CHUNK;
    }
    for chunk in pairs.into_remainder().chunks_exact_mut(CHUNK) {
        box_muller::<HALF>(key, first, chunk);
    }
}

/// `2N` normal numbers, in chunks, from `N` numbers of a key.
#[inline(always)]
fn box_muller<const N: usize>(key: u64, first: usize, values: &mut [f32]) {
    let (upper, lower) = halves::<N>(key, first);
    let (mut cosines, mut sines) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        // 1 − u lies in (0, 1]: its logarithm is finite.
        let radius = (-2.0 * ln(1.0 - unit32(upper[i]))).sqrt();
        let (sin, cos) = sin_cos_turns(lower[i] >> 8);
        cosines[i] = radius * cos;
        sines[i] = radius * sin;
    }
    let halves = cosines.chunks_exact(HALF).zip(sines.chunks_exact(HALF));
    for (values, (cosines, sines)) in values.chunks_exact_mut(CHUNK).zip(halves) {
        values[..HALF].copy_from_slice(cosines);
        values[HALF..].copy_from_slice(sines);
    }
}

/// The natural logarithm of a positive normal number, to about 1e-7 of max(1, |ln x|).
///
/// x = 2ᵉ·m with m in [√½, √2); ln m = 2·artanh(s) with s = (m−1)/(m+1), |s| < 0.172, by its series.
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    const SQRT_HALF_BITS: u32 = 0x3F35_04F3;
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF_BITS).cast_signed();
    let exponent = shifted >> 23;
    let mantissa = f32::from_bits(((shifted & 0x007F_FFFF) as u32).wrapping_add(SQRT_HALF_BITS));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = square.mul_add(square.mul_add(square.mul_add(2.0 / 7.0, 2.0 / 5.0), 2.0 / 3.0), 2.0);
    (exponent as f32).mul_add(std::f32::consts::LN_2, s * series)
}

/// Sine and cosine of `turns`·2⁻²⁴ of a full turn, for turns below 2²⁴, to about 1e-7.
///
/// The angle is (q + r) quarter turns with |r| ≤ ½; sine and cosine of r·π/2 by their series, then turned by
/// q. (In whole numbers as far as it goes: to make one of a float takes checks that keep the loop from being
/// vectorized.)
#[inline(always)]
fn sin_cos_turns(turns: u32) -> (f32, f32) {
    const QUARTER: u32 = 1 << 22;
    let q = ((turns + QUARTER / 2) / QUARTER).cast_signed();
    let r = turns.cast_signed() as f32 * (1.0 / QUARTER as f32) - q as f32;
    let square = r * r;
    // Taylor coefficients of sin(πr/2)/r and cos(πr/2) in r²; the next terms are below 2e-8 for |r| ≤ ½.
    let sin = square.mul_add(
        square.mul_add(
            square.mul_add(square.mul_add(1.604_411_8e-4, -4.681_754e-3), 7.969_262_6e-2),
            -0.645_964_1,
        ),
        std::f32::consts::FRAC_PI_2,
    ) * r;
    let cos = square.mul_add(
        square
            .mul_add(square.mul_add(square.mul_add(9.192_603e-4, -2.086_348e-2), 0.253_669_5), -1.233_700_6),
        1.0,
    );
    let swap = q & 1 != 0;
    let (sin, cos) = if swap { (cos, sin) } else { (sin, cos) };
    let sin = if q & 2 != 0 { -sin } else { sin };
    let cos = if (q + 1) & 2 != 0 { -cos } else { cos };
    (sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_sine_and_cosine_agree_with_double_precision() {
        for i in 1..=1_000_000u32 {
            let x = i as f32 / 1_000_000.0;
            let expected = f64::from(x).ln();
            assert!((f64::from(ln(x)) - expected).abs() < 3e-7 * expected.abs().max(1.0), "ln {x}");
            let turns = 16 * i; // up to 16 million of 2²⁴, which is 16.8 million
            let (sin, cos) = sin_cos_turns(turns);
            let angle = std::f64::consts::TAU * f64::from(turns) / 16_777_216.0;
            assert!((f64::from(sin) - angle.sin()).abs() < 4e-7, "sin {x}");
            assert!((f64::from(cos) - angle.cos()).abs() < 4e-7, "cos {x}");
        }
    }

    #[test]
    fn numbers_of_several_keys_are_the_numbers_of_each() {
        let keys = [7, 1 << 63, 0];
        let mut bits = Bits::default();
        for (row, &key) in keys.iter().enumerate() {
            let alone = bits.draw(key, 3 * CHUNK);
            for place in 0..3 * HALF {
                let (upper, lower) = halves_of_each(&keys, place);
                let chunk = &alone[place / HALF * CHUNK..][..CHUNK];
                assert_eq!([upper[row], lower[row]], [chunk[place % HALF], chunk[HALF + place % HALF]]);
            }
        }
    }

    // Moments of N(0,1) with n = 1.6 million: sd of the mean 0.0008, of the variance 0.0011, of the fourth
    // 0.008.
    #[test]
    fn normals_have_the_moments_of_the_standard_normal() {
        let mut values = vec![0.0f32; 160];
        let mut sums = [0.0f64; 5];
        for key in 0..10_000u64 {
            normals(mix(key), &mut values);
            for &value in &values {
                let value = f64::from(value);
                (0i32..).zip(&mut sums).for_each(|(power, sum)| *sum += value.powi(power));
            }
        }
        let n = sums[0];
        let moments = [sums[1] / n, sums[2] / n - 1.0, sums[3] / n, sums[4] / n - 3.0];
        let bounds = [0.0008, 0.0012, 0.0031, 0.0078].map(|sd: f64| 5.0 * sd);
        assert!(moments.iter().zip(bounds).all(|(moment, bound)| moment.abs() < bound), "{moments:?}");
    }

    #[test] // Kolmogorov and Smirnov: 1.63/√n at 1 %; the seed is fixed, so this cannot flicker.
    fn normals_follow_the_normal_distribution_function() {
        let mut values = vec![0.0f32; 100_000];
        normals(42, &mut values);
        values.sort_by(f32::total_cmp);
        let n = values.len() as f64;
        let cdf = |x: f64| {
            // Φ by numerical integration of the density from 0, plain and sure.
            let steps = 400;
            let h = x / f64::from(steps);
            let density = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
            0.5 + (0..steps).map(|i| density((f64::from(i) + 0.5) * h) * h).sum::<f64>()
        };
        let gap = (0..values.len()).step_by(97).map(|i| (cdf(f64::from(values[i])) - i as f64 / n).abs());
        assert!(gap.fold(0.0, f64::max) < 1.63 / n.sqrt());
    }

    #[test] // Correlation of independent series of n = 100,000: sd 0.0032.
    fn neighboring_keys_and_neighboring_cells_are_uncorrelated() {
        let n = 100_000;
        let series = |key: u64| {
            let mut values = vec![0.0f32; n];
            normals(crate::seed::subkey(9, key), &mut values);
            values
        };
        let correlation = |a: &[f32], b: &[f32]| {
            a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>() / a.len() as f64
        };
        let (a, b) = (series(0), series(1));
        for lag in [1, 2, 8, 16] {
            assert!(correlation(&a[lag..], &a[..n - lag]).abs() < 5.0 * 0.0032, "lag {lag}");
        }
        assert!(correlation(&a, &b).abs() < 5.0 * 0.0032);
        let squares = |values: &[f32]| values.iter().map(|v| v * v - 1.0).collect::<Vec<_>>();
        assert!(correlation(&squares(&a), &squares(&b)).abs() < 5.0 * 2.0 * 0.0032);
    }
}
