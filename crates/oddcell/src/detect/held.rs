//! Numbers kept within what later arithmetic can hold.

/// Standardized values beyond this count as this: products of 32-bit numbers could overflow, and a cell that
/// far out is odd enough.
const FARTHEST: f64 = 1e6;

/// The value, or ±1e6 if it is farther out.
#[inline]
pub(super) fn near(value: f64) -> f64 {
    value.clamp(-FARTHEST, FARTHEST)
}

/// The value as the input of a net.
#[inline]
pub(super) fn net_input(value: f64) -> f32 {
    near(value) as f32
}

/// The output of a net, or the largest number if it overflowed: as odd as can be. Trained nets do not
/// overflow, but a model file may hold any weights.
#[inline]
pub(super) fn net_output(value: f32) -> f32 {
    if value.is_finite() { value } else { f32::MAX }
}

/// The score, or the largest number if it overflowed.
#[inline]
pub(super) fn score(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::MAX }
}
