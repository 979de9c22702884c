//! Exact t-SNE: draws rows of many columns as points of a plane, similar rows close together.
//!
//! *Why:* a picture of normal, noised and anomalous rows shows whether the noise lands where anomalies are.
//! *Formula* (van der Maaten and Hinton 2008, JMLR 9): p(j|i) ∝ exp(−βᵢ |xᵢ − xⱼ|²), with βᵢ chosen such that the
//! perplexity exp(−Σⱼ p(j|i) ln p(j|i)) is the requested one; pᵢⱼ = (p(j|i) + p(i|j)) / 2n; wᵢⱼ = 1 / (1 +
//! |yᵢ − yⱼ|²), qᵢⱼ = wᵢⱼ / Σ w. Gradient descent with momentum and gains minimizes the loss Σ pᵢⱼ ln(pᵢⱼ/qᵢⱼ), whose
//! gradient is 4 Σⱼ (pᵢⱼ − qᵢⱼ) wᵢⱼ (yᵢ − yⱼ). The first iterations exaggerate p. The descent starts from the first two
//! principal components, scaled down.
//! *Cost:* O(n²) memory, and O(n²) time per iteration.
//! *Invariants:* no randomness; the same bits for any number of threads · every point is finite, because
//! every force is bounded · rows that are all equal stay in one point, and rows on a line stay on a line.

mod affinities;
mod descent;
mod start;
#[cfg(test)]
mod tests;

use oddcell::Matrix;

use self::{
    affinities::{conditional, joint, scaled},
    descent::{Descent, gradient},
    start::start,
};

/// The most rows: more would need gigabytes of memory.
const MOST_ROWS: usize = 10_000;
/// The number of iterations with exaggerated p and low momentum.
const EARLY_ITERATIONS: usize = 250;
/// Momentum during the early iterations, and after them.
const MOMENTA: (f64, f64) = (0.5, 0.8);

/// Parameters of t-SNE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TsneParams {
    /// Effective number of neighbors of a row: above 1, and below the number of rows minus 1.
    pub perplexity: f64,
    /// Steps of gradient descent.
    pub iterations: usize,
    /// Factor by which neighbors attract each other more during the first 250 iterations; at least 1.
    pub exaggeration: f64,
}

impl Default for TsneParams {
    fn default() -> Self {
        Self { perplexity: 30.0, iterations: 1000, exaggeration: 12.0 }
    }
}

impl TsneParams {
    /// The default parameters, with a smaller perplexity if there are too few rows for it.
    #[must_use]
    pub fn for_rows(n_rows: usize) -> Self {
        let usual = Self::default();
        Self { perplexity: usual.perplexity.min(n_rows as f64 / 4.0).max(1.5), ..usual }
    }
}

/// Why t-SNE cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TsneError {
    /// Too few rows for a neighborhood, or too many for memory.
    #[error("found {got} rows, but t-SNE needs 4 to {MOST_ROWS}")]
    RowCount {
        /// Number of rows.
        got: usize,
    },
    /// The rows have no columns.
    #[error("found rows without columns, but t-SNE needs at least one")]
    NoColumns,
    /// A value is infinite or not a number.
    #[error("row {row}, column {column}: found {got}, but t-SNE needs finite numbers")]
    NotFinite {
        /// Row, counted from 1.
        row: usize,
        /// Column, counted from 1.
        column: usize,
        /// The value.
        got: f64,
    },
    /// A parameter is out of range.
    #[error("{name}: found {got}, but must be {allowed}")]
    Param {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        got: f64,
        /// The range.
        allowed: String,
    },
}

/// Returns one point per row. Columns with a larger spread weigh more, so scale them first.
pub fn tsne(rows: &Matrix, params: &TsneParams) -> Result<Vec<(f64, f64)>, TsneError> {
    check(rows, params)?;
    let (n, n_columns) = (rows.n_rows(), rows.n_cols());
    let rows = scaled(rows.values());
    let p = joint(conditional(&rows, n_columns, params.perplexity), n);
    let [mut x, mut y] = start(&rows, n_columns);
    let (mut x_state, mut y_state) = (Descent::new(n), Descent::new(n));
    // The step of Belkina and others (2019), n / exaggeration, for a gradient that has its factor 4.
    let rate = n as f64 / (4.0 * params.exaggeration);
    for iteration in 0..params.iterations {
        let early = iteration < EARLY_ITERATIONS;
        let exaggeration = if early { params.exaggeration } else { 1.0 };
        let momentum = if early { MOMENTA.0 } else { MOMENTA.1 };
        let gradient = gradient(&p, &x, &y, exaggeration);
        x_state.step(&mut x, gradient.iter().map(|slope| slope.0), rate, momentum);
        y_state.step(&mut y, gradient.iter().map(|slope| slope.1), rate, momentum);
    }
    Ok(x.into_iter().zip(y).collect())
}

/// Checks the rows and the parameters.
fn check(rows: &Matrix, params: &TsneParams) -> Result<(), TsneError> {
    let n = rows.n_rows();
    if rows.n_cols() == 0 {
        return Err(TsneError::NoColumns);
    }
    if !(4..=MOST_ROWS).contains(&n) {
        return Err(TsneError::RowCount { got: n });
    }
    if let Some((row, column)) = rows.first_not_finite() {
        return Err(TsneError::NotFinite { row: row + 1, column: column + 1, got: rows.row(row)[column] });
    }
    let perplexity = params.perplexity;
    if !(perplexity > 1.0 && perplexity < (n - 1) as f64) {
        let allowed = format!("above 1 and below {} for {n} rows", n - 1);
        return Err(TsneError::Param { name: "perplexity", got: perplexity, allowed });
    }
    if !(1.0..=1e6).contains(&params.exaggeration) {
        let (name, allowed) = ("exaggeration", "1 to 1000000".to_owned());
        return Err(TsneError::Param { name, got: params.exaggeration, allowed });
    }
    Ok(())
}
