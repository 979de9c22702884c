//! Mean and covariance of some rows, and squared distances by the inverse of the covariance.
//!
//! *Formula:* Σ = G·Gᵀ (Cholesky), and (x − μ)ᵀΣ⁻¹(x − μ) = |G⁻¹(x − μ)|². If Σ is singular, it is taken apart into
//! eigenvectors (Jacobi), and the distance is the sum over those with an eigenvalue above ε·w·(largest eigenvalue), as
//! with scikit-learn's pseudo-inverse.

use crate::Matrix;

/// A pivot of Cholesky below this share of its variance counts as none: the column follows from those before it.
const LEAST_PIVOT: f64 = 1e-12;
/// Sweeps of Jacobi; five to ten are enough.
const MOST_SWEEPS: usize = 60;

/// Where rows are, and how they spread.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) location: Vec<f64>,
    pub(super) covariance: Matrix,
}

impl Shape {
    /// That of some of the rows, at least one; summed in the given order.
    pub(super) fn of(rows: &Matrix, chosen: &[usize]) -> Self {
        let (width, n) = (rows.n_cols(), chosen.len() as f64);
        let mut location = vec![0.0; width];
        for &row in chosen {
            location.iter_mut().zip(rows.row(row)).for_each(|(mean, cell)| *mean += cell);
        }
        for mean in &mut location {
            *mean /= n;
        }
        let mut covariance = Matrix::zeros(width, width);
        let mut centered = vec![0.0; width];
        for &row in chosen {
            let cells = rows.row(row).iter().zip(&location);
            centered.iter_mut().zip(cells).for_each(|(centered, (cell, mean))| *centered = cell - mean);
            for a in 0..width {
                let here = centered[a];
                let line = &mut covariance.row_mut(a)[..=a];
                line.iter_mut().zip(&centered).for_each(|(sum, cell)| *sum += here * cell);
            }
        }
        for a in 0..width {
            for b in 0..=a {
                let value = covariance.row(a)[b] / n;
                covariance.row_mut(a)[b] = value;
                covariance.row_mut(b)[a] = value;
            }
        }
        Self { location, covariance }
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.covariance.values_mut().iter_mut().for_each(|cell| *cell *= factor);
    }

    /// Ready to measure distances.
    pub(super) fn inverted(self) -> Inverted {
        let (inverse, log_determinant) = match cholesky(&self.covariance) {
            Some(factor) => {
                let diagonal = (0..factor.n_cols()).map(|at| factor.row(at)[at]);
                let log_determinant = 2.0 * diagonal.map(libm::log).sum::<f64>();
                (inverse_of_lower(&factor), log_determinant)
            }
            None => (inverse_root(&self.covariance), f64::NEG_INFINITY),
        };
        Inverted { shape: self, inverse, log_determinant }
    }
}

/// A shape with the root of its inverse.
#[derive(Debug, Clone)]
pub(super) struct Inverted {
    pub(super) shape: Shape,
    /// The squared length of this times (x − μ) is the squared distance.
    inverse: Matrix,
    /// −∞ if the covariance is singular.
    pub(super) log_determinant: f64,
}

impl Inverted {
    /// The squared distance of a row.
    pub(super) fn distance(&self, row: &[f64]) -> f64 {
        let mut centered = Vec::with_capacity(row.len());
        centered.extend(row.iter().zip(&self.shape.location).map(|(cell, mean)| cell - mean));
        let is_lower = self.log_determinant > f64::NEG_INFINITY;
        let square = |(at, line): (usize, &[f64])| {
            let until = if is_lower { at + 1 } else { line.len() };
            let sum = dot(&line[..until], &centered[..until]);
            sum * sum
        };
        self.inverse.rows().enumerate().map(square).sum()
    }

    /// The squared distances of all rows.
    pub(super) fn distances(&self, rows: &Matrix) -> Vec<f64> {
        rows.rows().map(|row| self.distance(row)).collect()
    }
}

/// Σ aᵢ·bᵢ in four interleaved sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 4];
    let (a_fours, b_fours) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a_fours.remainder().iter().zip(b_fours.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_fours.zip(b_fours) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The lower triangle G with G·Gᵀ the matrix; `None` if it is singular.
fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let width = matrix.n_cols();
    let mut factor = Matrix::zeros(width, width);
    for a in 0..width {
        for b in 0..=a {
            let left = matrix.row(a)[b] - dot(&factor.row(a)[..b], &factor.row(b)[..b]);
            let cell = if a == b {
                let is_there = left > LEAST_PIVOT * matrix.row(a)[a] && left > 0.0;
                is_there.then(|| left.sqrt())?
            } else {
                left / factor.row(b)[b]
            };
            factor.row_mut(a)[b] = cell;
        }
    }
    Some(factor)
}

/// The inverse of a lower triangle, which is one, too.
fn inverse_of_lower(factor: &Matrix) -> Matrix {
    let width = factor.n_cols();
    let mut inverse = Matrix::zeros(width, width);
    let mut column = vec![0.0; width];
    for unit in 0..width {
        for a in unit..width {
            let inner = dot(&factor.row(a)[unit..a], &column[unit..a]);
            let target = if a == unit { 1.0 } else { 0.0 };
            column[a] = (target - inner) / factor.row(a)[a];
            inverse.row_mut(a)[unit] = column[a];
        }
    }
    inverse
}

/// Eigenvectors as lines, each divided by the root of its eigenvalue; those without variance are zero.
fn inverse_root(matrix: &Matrix) -> Matrix {
    let width = matrix.n_cols();
    let (values, mut vectors) = eigen(matrix);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let least = f64::EPSILON * width as f64 * largest;
    for (at, &value) in values.iter().enumerate() {
        let factor = if value > least && value > 0.0 { 1.0 / value.sqrt() } else { 0.0 };
        vectors.row_mut(at).iter_mut().for_each(|cell| *cell *= factor);
    }
    vectors
}

/// Eigenvalues, and eigenvectors as lines, of a symmetric matrix: cyclic Jacobi rotations.
fn eigen(matrix: &Matrix) -> (Vec<f64>, Matrix) {
    let width = matrix.n_cols();
    let mut left = matrix.clone();
    let mut vectors = Matrix::zeros(width, width);
    (0..width).for_each(|at| vectors.row_mut(at)[at] = 1.0);
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..width {
            for q in p + 1..width {
                let (pq, pp, qq) = (left.row(p)[q], left.row(p)[p], left.row(q)[q]);
                if pq.abs() <= f64::EPSILON * (pp.abs() * qq.abs()).sqrt() || pq == 0.0 {
                    continue;
                }
                rotated = true;
                // The tangent of the smaller angle that makes the cell (p, q) vanish.
                let theta = (qq - pp) / (2.0 * pq);
                let tangent = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                for k in 0..width {
                    let (kp, kq) = (left.row(k)[p], left.row(k)[q]);
                    let line = left.row_mut(k);
                    line[p] = cosine * kp - sine * kq;
                    line[q] = sine * kp + cosine * kq;
                }
                rotate(&mut left, (p, q), (cosine, sine));
                rotate(&mut vectors, (p, q), (cosine, sine));
            }
        }
        if !rotated {
            break;
        }
    }
    ((0..width).map(|at| left.row(at)[at]).collect(), vectors)
}

/// Turns the lines p and q.
fn rotate(matrix: &mut Matrix, (p, q): (usize, usize), (cosine, sine): (f64, f64)) {
    for at in 0..matrix.n_cols() {
        let (above, below) = (matrix.row(p)[at], matrix.row(q)[at]);
        matrix.row_mut(p)[at] = cosine * above - sine * below;
        matrix.row_mut(q)[at] = sine * above + cosine * below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // (0, 0), (2, 0), (2, 3), (0, 3): means 1 and 1.5, variances 1 and 2.25, no covariance. (3, 0): 2²/1 + 1.5²/2.25 = 5.
    #[test]
    fn the_distance_matches_the_one_worked_out_by_hand() {
        let rows = Matrix::from_rows(&[[0.0, 0.0], [2.0, 0.0], [2.0, 3.0], [0.0, 3.0], [50.0, 50.0]]);
        let shape = Shape::of(&rows, &[0, 1, 2, 3]);
        assert_eq!(
            (shape.location.as_slice(), shape.covariance.values()),
            (&[1.0, 1.5][..], &[1.0, 0.0, 0.0, 2.25][..])
        );
        let inverted = shape.inverted();
        assert!((inverted.distance(&[3.0, 0.0]) - 5.0).abs() < 1e-14);
        assert!((inverted.log_determinant - libm::log(2.25)).abs() < 1e-15);
    }

    // [[2, 1], [1, 2]] has the eigenvalues 1 and 3 with (1, −1)/√2 and (1, 1)/√2.
    #[test]
    fn eigenvalues_match_those_worked_out_by_hand() {
        let (mut values, vectors) = eigen(&Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]));
        let half = 0.5f64.sqrt();
        assert!(vectors.values().iter().all(|cell| (cell.abs() - half).abs() < 1e-15), "{vectors:?}");
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15, "{values:?}");
    }

    // Law: the eigenvectors times their eigenvalues give the matrix back.
    #[test]
    fn eigenvectors_give_the_matrix_back() {
        let mut stream = crate::Seed(3).stream("rows", &[]);
        let rows = Matrix::new((0..40 * 12).map(|_| stream.normal()).collect(), 40, 12);
        let covariance = Shape::of(&rows, &(0..40).collect::<Vec<_>>()).covariance;
        let (values, vectors) = eigen(&covariance);
        for a in 0..12 {
            for b in 0..12 {
                let back: f64 = (0..12).map(|k| values[k] * vectors.row(k)[a] * vectors.row(k)[b]).sum();
                assert!((back - covariance.row(a)[b]).abs() < 1e-13);
            }
        }
    }

    #[test] // The second column is twice the first: only along (1, 2) is there variance, 5 per step of 1 in the first.
    fn directions_without_variance_are_ignored() {
        let rows = Matrix::from_rows(&[[-1.0, -2.0], [1.0, 2.0]]);
        let inverted = Shape::of(&rows, &[0, 1]).inverted();
        assert_eq!(inverted.log_determinant, f64::NEG_INFINITY);
        assert!((inverted.distance(&[2.0, 4.0]) - 4.0).abs() < 1e-12);
        assert!(inverted.distance(&[2.0, -1.0]) < 1e-12, "at right angles to (1, 2)");
        // No variance at all: no distance.
        let none = Shape::of(&rows, &[0]).inverted();
        assert_eq!(none.distance(&[9.0, 9.0]), 0.0);
    }
}
