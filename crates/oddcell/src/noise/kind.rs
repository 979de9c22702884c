//! The distributions of the noise.
//!
//! | kind | formula at level σ | mean | standard deviation |
//! |---|---|---|---|
//! | gaussian | N(0, σ²) | 0 | σ |
//! | laplace | scale σ/√2 | 0 | σ |
//! | uniform | U(−√3σ, √3σ) | 0 | σ |
//! | rayleigh | Rayleigh(s) − s√(π/2), s = σ√(2/(4−π)) | 0 | σ |
//! | gamma, printed | Gamma(shape σ/√β, scale β) − √β·σ | 0 | √σ·β^¾ (not σ) |
//! | gamma, corrected | Gamma(shape σ²/β², scale β) − σ²/β | 0 | σ |
//! | poisson, printed | Poisson(σ) − σ | 0 | √σ (not σ) |
//! | poisson, corrected | Poisson(σ²) − σ² | 0 | σ |
//! | salt-pepper | the cell becomes its column's least or greatest value | – | – |
//! | bernoulli | the cell's sign flips | – | – |
//!
//! The last two alter the cell itself, each cell with its own probability, drawn from U(0, 1).

use serde::{Deserialize, Serialize};

use super::{
    Extremes, Noise,
    random::{self, Bits},
};
use crate::seed::{Seed, Stream};

/// A distribution of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Normal.
    Gaussian,
    /// Double exponential.
    Laplace,
    /// Uniform.
    Uniform,
    /// Rayleigh, shifted to mean 0.
    Rayleigh,
    /// Gamma, shifted to mean 0.
    Gamma,
    /// Poisson, shifted to mean 0.
    Poisson,
    /// The cell becomes its column's least or greatest value in the batch.
    SaltPepper,
    /// The cell's sign flips.
    Bernoulli,
}

impl Kind {
    /// All kinds.
    #[cfg(test)]
    pub(crate) const ALL: [Kind; 8] = [
        Kind::Gaussian,
        Kind::Laplace,
        Kind::Uniform,
        Kind::Rayleigh,
        Kind::Gamma,
        Kind::Poisson,
        Kind::SaltPepper,
        Kind::Bernoulli,
    ];

    /// Whether the noise has levels; otherwise it alters the cell itself.
    #[inline(always)]
    pub(super) fn has_levels(self) -> bool {
        match self {
            Kind::Gaussian | Kind::Laplace | Kind::Uniform | Kind::Rayleigh | Kind::Gamma | Kind::Poisson => {
                true
            }
            Kind::SaltPepper | Kind::Bernoulli => false,
        }
    }
}

/// Which formula Gamma and Poisson use: the paper's, or one with the standard deviation σ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The parameters as the paper prints them.
    Printed,
    /// Parameters that give the standard deviation σ.
    Corrected,
}

impl Noise {
    /// Noise of every cell at its level, for the kinds that have levels.
    #[inline(always)]
    pub(super) fn fill_at_levels(&self, key: u64, levels: &[f32], bits: &mut Bits, noise: &mut [f32]) {
        let Noise { form, beta, .. } = *self;
        // A loop of its own for each kind, so that each is vectorized.
        match self.kind {
            Kind::Gaussian => {
                random::normals(key, noise);
                for (e, level) in noise.iter_mut().zip(levels) {
                    *e *= level;
                }
            }
            Kind::Laplace => {
                bits.uniforms(key, noise);
                for (e, level) in noise.iter_mut().zip(levels) {
                    *e = level * laplace(*e);
                }
            }
            Kind::Rayleigh => {
                bits.uniforms(key, noise);
                for (e, level) in noise.iter_mut().zip(levels) {
                    *e = level * rayleigh(*e);
                }
            }
            Kind::Uniform => {
                bits.uniforms(key, noise);
                for (e, level) in noise.iter_mut().zip(levels) {
                    *e = level * (2.0 * *e - 1.0) * SQRT_3;
                }
            }
            Kind::Gamma => fill_slowly(key, levels, noise, |stream, sigma| match form {
                Form::Printed => gamma(stream, sigma / beta.sqrt()) * beta - beta.sqrt() * sigma,
                Form::Corrected => {
                    let mean = sigma * sigma / beta;
                    gamma(stream, mean / beta) * beta - mean
                }
            }),
            Kind::Poisson => fill_slowly(key, levels, noise, |stream, sigma| match form {
                Form::Printed => poisson(stream, sigma) - sigma,
                Form::Corrected => poisson(stream, sigma * sigma) - sigma * sigma,
            }),
            Kind::SaltPepper | Kind::Bernoulli => unreachable!("{:?} noise has no levels", self.kind),
        }
    }

    /// The noise of altered cells, for the kinds that alter the cell itself: the new value less the old one.
    pub(super) fn fill_by_altering(&self, key: u64, clean: &[f32], extremes: &Extremes, noise: &mut [f32]) {
        let mut stream = Seed(key).stream("alter", &[]);
        for (column, (e, &cell)) in noise.iter_mut().zip(clean).enumerate() {
            let chance = stream.uniform();
            let altered = stream.uniform() < chance;
            let salt = stream.uniform() < 0.5;
            let change = match self.kind {
                Kind::SaltPepper if salt => extremes.high[column] - cell,
                Kind::SaltPepper => extremes.low[column] - cell,
                Kind::Bernoulli => -2.0 * cell,
                Kind::Gaussian
                | Kind::Laplace
                | Kind::Uniform
                | Kind::Rayleigh
                | Kind::Gamma
                | Kind::Poisson => unreachable!("these kinds add noise instead of altering the cell"),
            };
            *e = if altered { change } else { 0.0 };
        }
    }
}

/// Draws the noise of one cell at a time, at its level.
fn fill_slowly(key: u64, levels: &[f32], noise: &mut [f32], draw: impl Fn(&mut Stream, f64) -> f64) {
    let mut stream = Seed(key).stream("cells", &[]);
    for (e, &level) in noise.iter_mut().zip(levels) {
        *e = draw(&mut stream, f64::from(level)) as f32;
    }
}

/// Half the width of a uniform distribution of standard deviation 1.
const SQRT_3: f32 = 1.732_050_8;

/// Inverse of the double exponential's distribution function, standard deviation 1.
#[inline(always)]
fn laplace(u: f32) -> f32 {
    const STEP: f32 = 1.0 / 16_777_216.0;
    // Twice the chance to lie farther out on the same side; exact on the 24-bit grid, and never 0.
    let tail = 2.0 * (u + STEP).min(1.0 - u);
    let size = -random::ln(tail) * std::f32::consts::FRAC_1_SQRT_2;
    if u < 0.5 { -size } else { size }
}

/// Inverse of Rayleigh's distribution function, shifted to mean 0, standard deviation 1.
#[inline(always)]
fn rayleigh(u: f32) -> f32 {
    const SCALE: f32 = 1.526_421_9; // √(2/(4−π))
    const MEAN: f32 = 1.913_053_5; // SCALE·√(π/2) = √(π/(4−π))
    SCALE.mul_add((-2.0 * random::ln(1.0 - u)).sqrt(), -MEAN)
}

/// Gamma with scale 1 (Marsaglia and Tsang 2000; shapes below 1 by their boost).
fn gamma(stream: &mut Stream, shape: f64) -> f64 {
    if shape <= 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        let boost = libm::pow(1.0 - stream.uniform(), 1.0 / shape);
        return gamma(stream, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && libm::log(1.0 - stream.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// Poisson by counting the arrivals of one unit of time; its cost grows with the mean, which is σ or σ² here.
fn poisson(stream: &mut Stream, mean: f64) -> f64 {
    let mut count = 0.0;
    let mut time = -libm::log(1.0 - stream.uniform());
    while time < mean {
        count += 1.0;
        time -= libm::log(1.0 - stream.uniform());
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // The outermost values of the 24-bit grid: −ln(2·2⁻²⁴)/√2 = 23·ln 2/√2 = 11.273.
    fn laplace_noise_ends_where_its_grid_ends_and_is_symmetric() {
        let largest = 1.0 - 1.0 / 16_777_216.0;
        assert!((laplace(largest) - 11.273).abs() < 1e-3, "{}", laplace(largest));
        assert_eq!(laplace(0.0), -laplace(largest));
        assert!(laplace(0.5).abs() < 1e-6);
    }
}
