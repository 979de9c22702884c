//! The p-values of cells that a model judges, beyond the most surprising of the held-out cells.
//!
//! *Why:* n held-out cells give no p-value below 1/(n + 1). A false-discovery rate over the cells of a whole table needs much
//! smaller ones.
//!
//! *Formula:* the excess of large surprises falls like e^−x/β. β is measured as the mean excess of the held-out surprises above
//! their 90 % quantile, but is at least 1, as surprises are logarithms of shares already. So beyond the greatest held-out
//! surprise M, p(s) = 1/(n + 1) · e^−(s − M)/β. A new cell is beyond M with a chance of 1/(n + 1); where the formula holds,
//! its p-value is uniform below that. p is never less than e^−s: a surprise promises no more.
//!
//! The exponent is rounded down to sixteenths, so that a stream has few different p-values.

use crate::calibrate::Calibration;

/// The tail begins at this quantile.
const TAIL_FROM: f64 = 0.9;
/// With fewer surprises in the tail, nothing can be measured.
const LEAST_MEASURED: usize = 5;
/// The mean excess that is assumed then.
const UNMEASURED: f64 = 2.0;
/// Exponents are multiples of 1/16.
const STEPS: f64 = 16.0;
/// No p-value is smaller.
const LEAST: f64 = 1e-300;

/// How surprises of normal cells of one column go on beyond those that were held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tail {
    greatest: f64,
    slope: f64,
}

impl Tail {
    pub(crate) fn of(held_out: &Calibration) -> Self {
        let sorted = held_out.sorted();
        let start = held_out.quantile(TAIL_FROM);
        let beyond = &sorted[sorted.partition_point(|&surprise| surprise <= start)..];
        let excess: f64 = beyond.iter().map(|surprise| surprise - start).sum();
        let measured = if beyond.len() < LEAST_MEASURED { UNMEASURED } else { excess / beyond.len() as f64 };
        Self { greatest: sorted.last().copied().unwrap_or(f64::INFINITY), slope: measured.max(1.0) }
    }

    /// By how much a p-value shrinks for a surprise beyond those held out: at most 1.
    pub(crate) fn beyond(self, surprise: f64) -> f64 {
        let exponent = ((surprise - self.greatest) / self.slope).max(0.0);
        libm::exp(-(exponent * STEPS).floor() / STEPS)
    }
}

/// The p-value of a cell with this surprise: `conformal` among the held-out ones, and `beyond` them.
pub(crate) fn p_value(conformal: f64, beyond: f64, surprise: f64) -> f64 {
    let promised = libm::exp(-(surprise * STEPS).floor() / STEPS);
    (conformal * beyond).max(promised.min(conformal)).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// p-values of normal cells whose surprises fall like e^−s/scale: of every draw of 99 held-out ones, one new cell.
    fn shares(scale: f64, levels: [f64; 3]) -> [f64; 3] {
        let draws = 40_000;
        let mut counts = [0usize; 3];
        for draw in 0..draws {
            let mut stream = Seed(8).stream("tail", &[draw]);
            let mut surprise = || -scale * (1.0 - stream.uniform()).ln();
            let held_out = Calibration::conformal((0..99).map(|_| surprise()).collect());
            let new = surprise();
            let p = p_value(held_out.p_value(new), Tail::of(&held_out).beyond(new), new);
            levels.iter().zip(&mut counts).for_each(|(&level, count)| *count += usize::from(p <= level));
        }
        counts.map(|count| count as f64 / draws as f64)
    }

    #[test] // Within three standard errors: 0.1 ± 0.0045, 0.01 ± 0.0015, 0.001 ± 0.0005; measured slopes add to the last.
    fn surprises_that_fall_exponentially_have_uniform_p_values_below_the_smallest_conformal_one() {
        for scale in [1.0, 2.5] {
            let [tenth, hundredth, thousandth] = shares(scale, [0.1, 0.01, 0.001]);
            assert!((0.0955..0.1045).contains(&tenth), "{scale}: {tenth}");
            assert!((0.0075..0.0115).contains(&hundredth), "{scale}: {hundredth}");
            assert!((0.0003..0.0025).contains(&thousandth), "{scale}: {thousandth}");
        }
    }

    #[test]
    fn p_values_fall_with_the_surprise_and_never_below_what_it_promises() {
        let held_out = Calibration::conformal((0..999).map(|at| f64::from(at) / 200.0).collect());
        let tail = Tail::of(&held_out);
        let p = |surprise: f64| p_value(held_out.p_value(surprise), tail.beyond(surprise), surprise);
        let mut previous = 1.0;
        for surprise in (0..4_000).map(|tenth| f64::from(tenth) / 10.0) {
            let p = p(surprise);
            let promised = libm::exp(-surprise).clamp(LEAST, 1e-3);
            assert!(p <= previous && p >= promised * (1.0 - 1e-12), "{surprise}: {p}");
            previous = p;
        }
        assert_eq!(p(1e9), LEAST);
        // 0.5 within the held-out ones: 1 + #{≥ 0.5} = 900 of 1,000.
        assert_eq!(p(0.5), 0.9);
    }

    #[test] // Nothing in a column was ever surprising: what is has the p-value that the surprise promises, or the conformal one.
    fn a_column_without_surprises_believes_the_surprise() {
        let held_out = Calibration::conformal(vec![0.0; 99]);
        let p = |surprise: f64| {
            p_value(held_out.p_value(surprise), Tail::of(&held_out).beyond(surprise), surprise)
        };
        assert_eq!(p(0.0), 1.0);
        assert_eq!(p(2.0), 0.01);
        assert!((p(8.0) - (-8.0f64).exp()).abs() < 1e-12, "{}", p(8.0));
        assert!((p(20.0) - 0.01 * (-10.0f64).exp()).abs() < 1e-12, "{}", p(20.0));
    }
}
