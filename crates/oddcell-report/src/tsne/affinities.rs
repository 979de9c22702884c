//! How similar rows are: the matrix p.

use rayon::prelude::*;

/// Bisection steps for β. After them the entropy is as exact as its sum.
const BISECTIONS: usize = 100;

/// Divides all values by the largest, so that no square overflows. The perplexity does not depend on the unit of
/// length.
pub(super) fn scaled(values: &[f64]) -> Vec<f64> {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    // Dividing by a subnormal number could overflow; differences that small count as zero.
    if largest >= f64::MIN_POSITIVE {
        values.iter().map(|value| value / largest).collect()
    } else {
        vec![0.0; values.len()]
    }
}

/// Returns p(j|i), where i is the row of an n × n matrix; p(i|i) = 0.
pub(super) fn conditional(rows: &[f64], n_columns: usize, perplexity: f64) -> Vec<f64> {
    let n = rows.len() / n_columns;
    let mut matrix = vec![0.0; n * n];
    matrix.par_chunks_mut(n).enumerate().for_each(|(i, out)| {
        let row = &rows[i * n_columns..][..n_columns];
        for (out, other) in out.iter_mut().zip(rows.chunks_exact(n_columns)) {
            *out = row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
        }
        neighborhood(out, i, libm::log(perplexity));
    });
    matrix
}

/// Turns the squared distances from row `own` into the distribution with the given entropy.
///
/// Distances are measured from the nearest other row, so the largest weight is 1 and nothing underflows to 0/0, and
/// in units of their mean, so β starts at 1 for any data. The entropy falls from ln(n − 1) at β = 0 to the logarithm of
/// the number of nearest rows. If there are more nearest rows than the perplexity, β ends at its bound and they share
/// the weight.
fn neighborhood(distances: &mut [f64], own: usize, entropy: f64) {
    let others = (distances.len() - 1) as f64;
    distances[own] = f64::INFINITY;
    let nearest = distances.iter().fold(f64::INFINITY, |nearest, &distance| nearest.min(distance));
    let mean = distances
        .iter()
        .filter(|distance| distance.is_finite())
        .map(|distance| distance - nearest)
        .sum::<f64>()
        / others;
    let unit = if mean >= f64::MIN_POSITIVE { mean } else { 1.0 };
    for distance in distances.iter_mut() {
        *distance = (*distance - nearest) / unit;
    }
    let (mut low, mut high, mut beta) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..BISECTIONS {
        if entropy_at(distances, beta) > entropy {
            low = beta;
            beta = if high.is_finite() { f64::midpoint(low, high) } else { beta * 2.0 };
        } else {
            high = beta;
            beta = f64::midpoint(low, high);
        }
    }
    let mut total = 0.0;
    for distance in distances.iter_mut() {
        *distance = libm::exp(-beta * *distance);
        total += *distance;
    }
    for weight in distances.iter_mut() {
        *weight /= total;
    }
}

/// Entropy of the weights exp(−βd): ln Σ exp(−βd) + β Σ d exp(−βd) / Σ exp(−βd). Infinite distances have weight 0.
fn entropy_at(distances: &[f64], beta: f64) -> f64 {
    let (mut total, mut moment) = (0.0, 0.0);
    for &distance in distances.iter().filter(|distance| distance.is_finite()) {
        let weight = libm::exp(-beta * distance);
        total += weight;
        moment += distance * weight;
    }
    libm::log(total) + beta * moment / total
}

/// pᵢⱼ = (p(j|i) + p(i|j)) / 2n.
pub(super) fn joint(mut conditional: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        for j in 0..i {
            let mean = (conditional[i * n + j] + conditional[j * n + i]) / (2.0 * n as f64);
            conditional[i * n + j] = mean;
            conditional[j * n + i] = mean;
        }
    }
    conditional
}
