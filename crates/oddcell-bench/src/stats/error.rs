//! Errors in the input of a statistic.

/// Why a statistic cannot be computed. Sets and methods are counted from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// There are no sets.
    #[error("found no sets, but at least one is needed")]
    NoSets,
    /// The table is not a rectangle.
    #[error("set {set} has {got} methods, but the first set has {expected}")]
    Ragged {
        /// The first set with another number of methods.
        set: usize,
        /// The methods found there.
        got: usize,
        /// The methods of the first set.
        expected: usize,
    },
    /// Two methods were not run on the same sets.
    #[error("one method has {first} values and the other {second}, but pairs were expected")]
    Unpaired {
        /// The values of the first method.
        first: usize,
        /// The values of the second method.
        second: usize,
    },
    /// NaN or an infinity.
    #[error("set {set}, method {method}: found {value}, but a finite number was expected")]
    NotFinite {
        /// The set with the value.
        set: usize,
        /// The method with the value, by its position among the arguments or columns.
        method: usize,
        /// The value.
        value: f64,
    },
    /// A number outside its range.
    #[error("{name} is {got}, but must be {allowed}")]
    OutOfRange {
        /// The name of the argument.
        name: &'static str,
        /// What was given.
        got: f64,
        /// The valid range, in words.
        allowed: &'static str,
    },
}

/// `Ok` if `value` lies strictly between 0 and 1; NaN does not.
pub(super) fn check_probability(name: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(StatsError::OutOfRange { name, got: value, allowed: "between 0 and 1, both excluded" })
    }
}

/// `Ok` if every value of `method` (counted from 1), one per set, is finite.
pub(super) fn check_finite(values: &[f64], method: usize) -> Result<(), StatsError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(StatsError::NotFinite { set: index + 1, method, value: values[index] }),
    }
}
