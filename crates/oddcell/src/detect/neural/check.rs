//! Ranges of parameters, written as what is valid, so that NaN fails.

use std::ops::RangeInclusive;

use crate::error::ParamError;

/// A number that is valid, or the error that names it.
pub(in crate::detect) fn number(
    name: &'static str,
    value: f64,
    valid: bool,
    allowed: &'static str,
) -> Result<(), ParamError> {
    if valid { Ok(()) } else { Err(ParamError::OutOfRange { name, got: value.to_string(), allowed }) }
}

/// A count within a range, or the error that names it.
pub(in crate::detect) fn count(
    name: &'static str,
    value: usize,
    range: RangeInclusive<usize>,
    allowed: &'static str,
) -> Result<(), ParamError> {
    number(name, value as f64, range.contains(&value), allowed)
}

/// A finite number above 0, or the error that names it.
pub(in crate::detect) fn positive(name: &'static str, value: f64) -> Result<(), ParamError> {
    number(name, value, value > 0.0 && value.is_finite(), "finite and above 0")
}

/// A finite number of at least 0, or the error that names it.
pub(in crate::detect) fn not_negative(name: &'static str, value: f64) -> Result<(), ParamError> {
    number(name, value, value >= 0.0 && value.is_finite(), "finite and at least 0")
}

/// A share that may be nothing but not all, or the error that names it.
pub(in crate::detect) fn share(name: &'static str, value: f64) -> Result<(), ParamError> {
    number(name, value, (0.0..1.0).contains(&value), "at least 0 and below 1")
}

/// A list of widths of hidden layers, or the error that names it.
pub(in crate::detect) fn widths(name: &'static str, widths: &[usize]) -> Result<(), ParamError> {
    count(name, widths.len(), 1..=16, "a list of 1 to 16 widths")?;
    widths.iter().try_for_each(|&width| count(name, width, 1..=4_096, "widths between 1 and 4096"))
}

/// What every net trained in batches has.
pub(in crate::detect) fn check_common(batch_size: usize, learning_rate: f64) -> Result<(), ParamError> {
    count("batch_size", batch_size, 1..=1 << 14, "between 1 and 16384")?;
    positive("learning_rate", learning_rate)
}
