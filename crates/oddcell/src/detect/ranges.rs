//! Range checks for parameters. Each states what is valid, so that NaN fails.

use std::{fmt::Display, ops::RangeInclusive};

use crate::error::ParamError;

/// Accepts a parameter if `valid`; otherwise returns the error that names it.
pub(crate) fn require(
    valid: bool,
    name: &'static str,
    got: impl Display,
    allowed: &'static str,
) -> Result<(), ParamError> {
    if valid { Ok(()) } else { Err(ParamError::OutOfRange { name, got: got.to_string(), allowed }) }
}

/// Requires a count within a range.
pub(super) fn count(
    name: &'static str,
    value: usize,
    range: RangeInclusive<usize>,
    allowed: &'static str,
) -> Result<(), ParamError> {
    require(range.contains(&value), name, value, allowed)
}

/// Requires a count of at least 1.
pub(super) fn at_least_one(name: &'static str, value: usize) -> Result<(), ParamError> {
    count(name, value, 1..=usize::MAX, "at least 1")
}

/// Requires a finite number above 0.
pub(super) fn positive(name: &'static str, value: f64) -> Result<(), ParamError> {
    require(value > 0.0 && value.is_finite(), name, value, "finite and above 0")
}

/// Requires the step of a search or a training: a larger one leaves the range of finite numbers.
pub(super) fn rate(name: &'static str, value: f64) -> Result<(), ParamError> {
    require(value > 0.0 && value <= 1e3, name, value, "above 0 and at most 1000")
}

/// Requires a divisor that leaves quotients within the range of finite numbers.
pub(super) fn divisor(name: &'static str, value: f64) -> Result<(), ParamError> {
    require((1e-6..=1e6).contains(&value), name, value, "from 1e-6 to 1e6")
}

/// Requires a finite number of at least 0.
pub(super) fn not_negative(name: &'static str, value: f64) -> Result<(), ParamError> {
    require(value >= 0.0 && value.is_finite(), name, value, "finite and at least 0")
}

/// Requires a share that may be 0 but not 1.
pub(super) fn share(name: &'static str, value: f64) -> Result<(), ParamError> {
    require((0.0..1.0).contains(&value), name, value, "at least 0 and below 1")
}

/// Requires a list of widths of hidden layers.
pub(super) fn widths(name: &'static str, widths: &[usize]) -> Result<(), ParamError> {
    count(name, widths.len(), 1..=16, "a list of 1 to 16 widths")?;
    widths.iter().try_for_each(|&width| count(name, width, 1..=4_096, "widths between 1 and 4096"))
}

/// Requires what all nets trained in batches share.
pub(super) fn training(batch_size: usize, learning_rate: f64) -> Result<(), ParamError> {
    count("batch_size", batch_size, 1..=1 << 14, "between 1 and 16384")?;
    positive("learning_rate", learning_rate)
}
