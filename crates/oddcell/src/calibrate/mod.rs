//! Scores become p-values: how often would a normal row score at least this high?
//!
//! *Why:* a score has no unit, a p-value has one. Two references are needed, because two questions are asked:
//!
//! - [`Calibration`] holds the scores of rows that are believed normal and that no net was trained on. A fresh
//!   normal row is exchangeable with them, so its p-value is uniform whatever the scores look like (conformal
//!   prediction; Vovk, Gammerman, Shafer 2005). Used by a saved model on new rows.
//! - [`RobustNull`] is fitted to scores of which some may belong to anomalies: the one table of `detect`. Ranks
//!   alone would give every table the same p-values, so the tail is modelled instead.

mod conformal;
mod robust;

pub use conformal::Calibration;
pub use robust::RobustNull;

/// How far p-values are from uniform: the largest difference between the share of them up to x, and x (Kolmogorov and
/// Smirnov's distance). 0 if there are none.
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

    #[test] // Up to 0.1 lie 2 of 4: a distance of 0.4; at 0.9 the shares are 3/4 and 1.
    fn the_distance_to_uniform_is_the_one_worked_out_by_hand() {
        assert!((distance_to_uniform(&[0.6, 0.05, 0.9, 0.1]) - 0.4).abs() < 1e-12);
        assert_eq!(distance_to_uniform(&[]), 0.0);
    }
}
