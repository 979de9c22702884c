//! The χ² distribution: its share below a value, its quantiles, and the factor that makes a covariance of the innermost
//! rows unbiased.
//!
//! *Formula:* P(χ²(w) ≤ x) = P(w/2, x/2), the regularized incomplete gamma function: its series for small x, its continued
//! fraction (Lentz) for large x.

/// Terms until series and fraction stop changing; a thousand columns need a few hundred.
const MOST_TERMS: usize = 10_000;

/// P(χ²(`width`) ≤ `x`).
pub(super) fn below(x: f64, width: f64) -> f64 {
    let (a, x) = (width / 2.0, x / 2.0);
    if x <= 0.0 {
        return 0.0;
    }
    if x == f64::INFINITY {
        return 1.0;
    }
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for n in 1..MOST_TERMS {
            term *= x / (a + n as f64);
            sum += term;
            if term < sum * f64::EPSILON * 0.5 {
                break;
            }
        }
        return front * sum;
    }
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / tiny, 1.0 / b);
    let mut fraction = d;
    for n in 1..MOST_TERMS {
        let an = -(n as f64) * (n as f64 - a);
        b += 2.0;
        let floor = |value: f64| if value.abs() < tiny { tiny } else { value };
        d = 1.0 / floor(an * d + b);
        c = floor(b + an / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 - front * fraction
}

/// The value that χ²(`width`) stays below with this probability, by bisection.
pub(super) fn quantile(share: f64, width: f64) -> f64 {
    if share >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, width + 10.0);
    while below(high, width) < share {
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if below(middle, width) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// By what to multiply the covariance of the innermost `share` of normal rows.
pub(super) fn consistency(width: usize, share: f64) -> f64 {
    let width = width as f64;
    share / below(quantile(share, width), width + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // scipy.stats.chi2: ppf(0.975, w), cdf(x, w).
    #[test]
    fn quantiles_and_shares_match_scipy() {
        let quantiles = [
            (0.975, 1.0, 5.023_886_187_314_888),
            (0.975, 2.0, 7.377_758_908_227_871),
            (0.975, 10.0, 20.483_177_350_807_388),
            (0.5, 3.0, 2.365_973_884_375_337_8),
            (0.975, 200.0, 241.057_895_506_310_93),
        ];
        for (share, width, expected) in quantiles {
            let found = quantile(share, width);
            assert!((found - expected).abs() < 1e-11 * expected, "{width}: {found} {expected}");
        }
        for (x, width, expected) in
            [(1.0, 1.0, 0.682_689_492_137_085_9), (30.0, 10.0, 0.999_143_358_789_224_7)]
        {
            assert!((below(x, width) - expected).abs() < 1e-13, "{x} {width}");
        }
        assert_eq!(
            (below(0.0, 3.0), below(f64::INFINITY, 3.0), quantile(1.0, 2.0)),
            (0.0, 1.0, f64::INFINITY)
        );
    }

    #[test] // With two columns, P(χ²(2) ≤ q) = 1 − e^(−q/2) and P(χ²(4) ≤ q) = 1 − e^(−q/2)·(1 + q/2). For ½: q = 2·ln 2.
    fn half_of_two_columns_needs_the_factor_worked_out_by_hand() {
        let expected = 0.5 / (1.0 - 0.5 * (1.0 + libm::log(2.0)));
        assert!((consistency(2, 0.5) - expected).abs() < 1e-13);
        assert_eq!(consistency(5, 1.0), 1.0);
    }
}
