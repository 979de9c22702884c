//! Turns scores into p-values: how often does a normal row score at least this high?
//!
//! Scores of different models are not comparable; p-values are. There are two ways to compute them:
//!
//! - [`Calibration`] holds the scores of normal rows that were not used for training. A new normal row is
//!   exchangeable with them, so its p-value is uniform whatever the distribution of scores (conformal
//!   prediction; Vovk, Gammerman, Shafer 2005). A saved model judges new rows this way.
//! - [`RobustNull`] is fitted to scores that may include anomalies: the one table of `detect`. Ranks alone
//!   would give every table the same p-values, so it models the tail instead.
//!
//! ```
//! use oddcell::calibrate::Calibration;
//!
//! let calibration = Calibration::conformal(vec![1.0, 2.0, 3.0, 4.0]);
//! assert_eq!(calibration.p_value(2.5), 0.6); // two of four scores are higher: (1 + 2) / (1 + 4)
//! assert_eq!(calibration.p_value(9.0), 0.2); // the smallest p-value that four scores allow
//! ```

mod apart;
mod conformal;
mod robust;

pub(crate) use apart::n_apart;
pub use conformal::Calibration;
pub use robust::RobustNull;

/// The Kolmogorov–Smirnov distance of p-values from the uniform distribution: the largest difference between
/// x and the share of p-values up to x. It is 0 if there are none.
#[doc(hidden)]
#[must_use]
pub fn distance_to_uniform(p_values: &[f64]) -> f64 {
    let mut sorted = p_values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let gap = |(at, p): (usize, &f64)| (p - at as f64 / n).abs().max((p - (at + 1) as f64 / n).abs());
    sorted.iter().enumerate().map(gap).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Two of four are up to 0.1, a distance of 0.4; at 0.9 the shares are 3/4 and 1.
    fn the_distance_to_uniform_is_the_one_worked_out_by_hand() {
        assert!((distance_to_uniform(&[0.6, 0.05, 0.9, 0.1]) - 0.4).abs() < 1e-12);
        assert_eq!(distance_to_uniform(&[]), 0.0);
    }
}
