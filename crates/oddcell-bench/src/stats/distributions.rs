//! Tails of the normal, Student's t and chi-square distributions.
//!
//! *Why not a crate:* for whole degrees of freedom, each takes a few lines, and with `libm` they give the same bits on
//! every machine. No small p-value is computed as 1 − (nearly 1), so all digits are right.
//! *Source:* M. Abramowitz and I. Stegun, *Handbook of Mathematical Functions*, 26.4 and 26.7;
//! NIST Digital Library of Mathematical Functions, <https://dlmf.nist.gov/8.17>.

use std::f64::consts::FRAC_1_SQRT_2;

/// P(Z > z) of a standard normal Z.
pub(super) fn normal_upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// P(|Z| > |z|) of a standard normal Z.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    libm::erfc(z.abs() * FRAC_1_SQRT_2)
}

/// P(|T| > |t|) of Student's t with ν degrees of freedom: the incomplete beta function Iₓ(ν/2, 1/2) at
/// x = ν/(ν + t²).
pub(super) fn student_two_sided(t: f64, degrees_of_freedom: usize) -> f64 {
    let nu = degrees_of_freedom as f64;
    // 1 − x has its own formula: the subtraction would lose all digits for a small t.
    incomplete_beta(nu / 2.0, 0.5, nu / (nu + t * t), 1.0 / (1.0 + nu / (t * t)))
}

/// P(X > x) of chi-square with ν degrees of freedom: Q(ν/2, x/2), from Q(1/2, y) = erfc(√y) or Q(1, y) = e⁻ʸ
/// up by Q(s + 1, y) = Q(s, y) + yˢ e⁻ʸ / Γ(s + 1).
pub(super) fn chi_square_upper_tail(x: f64, degrees_of_freedom: usize) -> f64 {
    let y = x / 2.0;
    let (mut s, mut tail) =
        if degrees_of_freedom % 2 == 1 { (0.5, libm::erfc(y.sqrt())) } else { (1.0, libm::exp(-y)) };
    while s < degrees_of_freedom as f64 / 2.0 {
        // With logarithms, because e⁻ʸ may underflow although the sum does not.
        tail += libm::exp(s * libm::log(y) - y - libm::lgamma(s + 1.0));
        s += 1.0;
    }
    tail.min(1.0)
}

/// The regularized incomplete beta function Iₓ(a, b), with `y` = 1 − x. At both ends log 0 = −∞ gives 0 or 1.
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let ln_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log(y) - ln_beta);
    // The fraction converges fast on this side of the mean; the other side is its mirror image.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, y) / b
    }
}

/// The continued fraction 1/(1 + d₁/(1 + d₂/(1 + …))) of DLMF 8.17.22, its denominator by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    // About √max(a, b) terms are needed.
    const MOST_TERMS: usize = 10_000;
    // Replaces zero as a divisor.
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };

    let (mut denominator, mut c, mut d) = (1.0, 1.0, 0.0);
    for term in 1..MOST_TERMS {
        let m = (term / 2) as f64;
        let numerator = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / away_from_zero(1.0 + numerator * d);
        c = away_from_zero(1.0 + numerator / c);
        denominator *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    1.0 / denominator
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, expected: f64) {
        assert!((got / expected - 1.0).abs() < 1e-12, "{got:e} instead of {expected:e}");
    }

    // ν = 1 is Cauchy's: P(|T| > 1) = 1/2.  ν = 2: P(|T| > t) = 1 − t/√(2 + t²), at t = √2 it is 1 − 1/√2.
    // ν = 2 of chi-square: e^(−x/2).  ν = 4: e^(−x/2)(1 + x/2).
    #[test]
    fn closed_forms_agree() {
        close(student_two_sided(1.0, 1), 0.5);
        close(student_two_sided(-std::f64::consts::SQRT_2, 2), 1.0 - FRAC_1_SQRT_2);
        close(chi_square_upper_tail(3.0, 2), libm::exp(-1.5));
        close(chi_square_upper_tail(3.0, 4), 2.5 * libm::exp(-1.5));
        assert_eq!(normal_upper_tail(0.0), 0.5);
    }

    #[test]
    fn the_ends_are_one_and_zero() {
        for degrees_of_freedom in [1, 2, 3, 44] {
            assert_eq!(student_two_sided(0.0, degrees_of_freedom), 1.0);
            assert_eq!(student_two_sided(f64::INFINITY, degrees_of_freedom), 0.0);
            assert_eq!(student_two_sided(1e200, degrees_of_freedom), 0.0);
            assert_eq!(chi_square_upper_tail(0.0, degrees_of_freedom), 1.0);
        }
    }

    // scipy 1.17.1: 2 * stats.t.sf(t, v); stats.chi2.sf(x, v); 2 * stats.norm.sf(z)
    #[test]
    fn tails_match_scipy() {
        let student = [
            (0.01, 3, 0.992_649_111_412_852),
            (0.7, 1, 0.611_199_775_571_570_5),
            (2.5, 9, 0.033_861_827_682_985_735),
            (2.0, 44, 0.051_696_603_082_390_83),
            (12.0, 44, 1.808_379_724_765_672e-15),
            (3.0, 1000, 0.002_766_709_044_238_192_5),
        ];
        for (t, degrees_of_freedom, expected) in student {
            close(student_two_sided(t, degrees_of_freedom), expected);
        }
        let chi_square = [
            (0.1, 1, 0.751_829_634_045_849_2),
            (7.5, 3, 0.057_558_451_972_636_4),
            (40.0, 8, 3.203_719_780_476_998e-6),
            (5.0, 15, 0.992_126_411_344_519_1),
            (300.0, 15, 5.589_749_323_124_643_5e-55),
            (1990.0, 2000, 0.558_762_559_479_011),
        ];
        for (x, degrees_of_freedom, expected) in chi_square {
            close(chi_square_upper_tail(x, degrees_of_freedom), expected);
        }
        let normal = [
            (0.1, 0.920_344_325_445_942),
            (1.96, 0.049_995_790_296_440_87),
            (5.0, 5.733_031_437_583_866e-7),
            (20.0, 5.507_248_237_212_311e-89),
        ];
        for (z, expected) in normal {
            close(normal_two_sided(-z), expected);
            close(normal_upper_tail(z), expected / 2.0);
        }
    }
}
