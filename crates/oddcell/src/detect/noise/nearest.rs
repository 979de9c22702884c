//! How odd a row is by its nearest training rows.
//!
//! *Why:* a net sees at once that a row leaves the regions where rows live, but hardly that it lies between
//! them, where no row was. The distance to the nearest training row (or to the tenth, if odd rows may come in
//! groups) shows just that, and the cells in which the two rows differ show where.
//!
//! *Formula:* rows are compared in two spaces, because no single one suits all tables.
//! - **By rank:** a cell becomes the normal quantile of its rank in its column, Φ⁻¹(rank), standardized;
//!   beyond the column's ends it continues with slope 1. So skewed columns and far-out values neither crowd
//!   nor dominate.
//! - **Decorrelated:** y = G⁻¹x with G·Gᵀ = (1 − λ)·C + λ·I, C the covariance of the kept rows. So
//!   differences along the directions in which rows hardly differ count most. With r the difference from that
//!   row and P = (G·Gᵀ)⁻¹, the squared distance is rᵀPr. A cell's part is (Pr)ⱼ²/Pⱼⱼ: the amount by which the
//!   distance would fall if the cell were as the others predict.
//!
//! *Invariants:* everything follows from the kept rows alone, so a model file holds nothing else. One exact
//! copy of a row among them is skipped, since it may be the row itself: so a training row is judged like any
//! other.

use std::io;

use rayon::prelude::*;

use super::ranks::Ranks;
use crate::{
    Matrix, Seed,
    detect::{
        RowBlocks, held,
        neighbors::{Neighbor, Neighbors},
    },
};

/// λ: how much of the columns' own directions is kept. Results hardly depend on it between 0.01 and 0.2.
const OWN_DIRECTIONS: f64 = 0.05;
/// Up to this many features covariances are taken; above, each feature stands for itself, and G is 1.
const MOST_CORRELATED: usize = 2_048;

/// What one way of looking says of rows.
pub(super) struct Evidence {
    /// How odd each row is.
    pub(super) norms: Vec<f64>,
    /// Where cells are wanted: how much of it is each cell's, ≥ 0, in squares.
    pub(super) squares: Option<Matrix>,
}

/// Some of the training rows, ready to be compared with.
#[derive(Debug)]
pub(super) struct Nearest {
    kept: Matrix,
    ranks: Ranks,
    by_rank: Neighbors,
    directions: Option<Directions>,
    decorrelated: Neighbors,
    /// Which of the kept rows, by distance, counts: 1 is the nearest.
    rank: usize,
}

impl Nearest {
    /// Keeps at most `most` of `rows`, drawn at random if there are more.
    pub(super) fn learn(rows: &dyn RowBlocks, most: usize, rank: usize, seed: Seed) -> io::Result<Self> {
        let mut kept = Vec::new();
        let mut left = most;
        // Blocks are random samples: whole ones, and some rows of the last, are one, too.
        for block in 0..rows.n_blocks() {
            let mut drawn: Vec<usize> = (0..rows.block_rows(block)).collect();
            if drawn.len() > left {
                seed.stream("nearest", &[]).shuffle(&mut drawn);
                drawn.truncate(left);
                drawn.sort_unstable();
            }
            left -= drawn.len();
            let (mut drawn, mut at) = (drawn.into_iter().peekable(), 0..);
            rows.each_row(block, &mut |row| {
                if at.next().is_some_and(|at| drawn.next_if_eq(&at).is_some()) {
                    kept.extend_from_slice(row);
                }
            })?;
            if left == 0 {
                break;
            }
        }
        let n_rows = kept.len() / rows.n_cols();
        Ok(Self::of(&Matrix::new(kept, n_rows, rows.n_cols()), rank))
    }

    /// Compares with exactly these rows: at least one, all finite.
    pub(super) fn of(rows: &Matrix, rank: usize) -> Self {
        let kept = within_bounds(rows);
        let ranks = Ranks::of(&kept);
        let by_rank = Neighbors::new(ranks.apply(&kept));
        let directions = (kept.n_cols() <= MOST_CORRELATED).then(|| Directions::of(&kept));
        let decorrelated = match &directions {
            Some(directions) => Neighbors::new(directions.apply(&kept)),
            None => Neighbors::new(kept.clone()),
        };
        Self { kept, ranks, by_rank, directions, decorrelated, rank }
    }

    /// The kept rows.
    pub(super) fn kept(&self) -> &Matrix {
        &self.kept
    }

    /// What both spaces say of `rows`.
    pub(super) fn compare(&self, rows: &Matrix, want_cells: bool) -> [Evidence; 2] {
        let rows = within_bounds(rows);
        let squared = |difference: &mut [f64]| difference.iter_mut().for_each(|cell| *cell *= *cell);
        let by_rank = self.evidence(&self.by_rank, &self.ranks.apply(&rows), want_cells, squared);
        let decorrelated = match &self.directions {
            Some(directions) => {
                let share = |difference: &mut [f64]| directions.share(difference);
                self.evidence(&self.decorrelated, &directions.apply(&rows), want_cells, share)
            }
            None => self.evidence(&self.decorrelated, &rows, want_cells, squared),
        };
        [by_rank, decorrelated]
    }

    /// The distance to the row that counts, and what `share` makes of the difference from it.
    fn evidence(
        &self,
        neighbors: &Neighbors,
        rows: &Matrix,
        want_cells: bool,
        share: impl Fn(&mut [f64]) + Sync,
    ) -> Evidence {
        // One more than counts, in place of the copy that is passed over.
        let n_nearest = (self.rank + 1).min(neighbors.rows().n_rows());
        let found = neighbors.map(rows, n_nearest, |nearest: &[Neighbor]| {
            let copies = usize::from(nearest[0].distance() == 0.0);
            nearest[(self.rank - 1 + copies).min(nearest.len() - 1)]
        });
        let norms = found.iter().map(|found| found.distance()).collect();
        let squares = want_cells.then(|| {
            let mut squares = Matrix::zeros(rows.n_rows(), rows.n_cols());
            let lines = squares.values_mut().par_chunks_exact_mut(rows.n_cols());
            lines.zip(&found).enumerate().for_each(|(row, (line, found))| {
                let pairs = rows.row(row).iter().zip(neighbors.rows().row(found.row));
                line.iter_mut().zip(pairs).for_each(|(cell, (here, there))| *cell = here - there);
                share(line);
            });
            squares
        });
        Evidence { norms, squares }
    }
}

/// The rows as the net sees them.
fn within_bounds(rows: &Matrix) -> Matrix {
    let values = rows.values().iter().map(|&cell| held::near(cell)).collect();
    Matrix::new(values, rows.n_rows(), rows.n_cols())
}

/// G⁻¹ of the formula above: lower triangular, row by row.
#[derive(Debug)]
struct Directions {
    inverse: Matrix,
    /// Pⱼⱼ.
    own: Vec<f64>,
}

impl Directions {
    fn of(rows: &Matrix) -> Self {
        let mut factor = covariance(rows);
        let width = rows.n_cols();
        for (at, cell) in factor.values_mut().iter_mut().enumerate() {
            *cell *= 1.0 - OWN_DIRECTIONS;
            if at / width == at % width {
                *cell += OWN_DIRECTIONS;
            }
        }
        factorize(&mut factor);
        let inverse = inverse_of_lower(&factor);
        let mut own = vec![0.0; width];
        for row in inverse.rows() {
            own.iter_mut().zip(row).for_each(|(own, cell)| *own += cell * cell);
        }
        Self { inverse, own }
    }

    /// G⁻¹x of every row.
    fn apply(&self, rows: &Matrix) -> Matrix {
        let width = rows.n_cols();
        let mut turned = Matrix::zeros(rows.n_rows(), width);
        let lines = turned.values_mut().par_chunks_exact_mut(width);
        lines.zip(rows.values().par_chunks_exact(width)).for_each(|(line, row)| {
            for ((to, cell), direction) in (1..).zip(line).zip(self.inverse.rows()) {
                *cell = dot(&direction[..to], &row[..to]);
            }
        });
        turned
    }

    /// From G⁻¹r to (Pr)ⱼ²/Pⱼⱼ = (G⁻ᵀG⁻¹r)ⱼ²/Pⱼⱼ.
    fn share(&self, difference: &mut [f64]) {
        let mut back = vec![0.0; difference.len()];
        for (to, (turned, direction)) in (1..).zip(difference.iter().zip(self.inverse.rows())) {
            for (back, cell) in back[..to].iter_mut().zip(direction) {
                *back += turned * cell;
            }
        }
        for ((cell, back), own) in difference.iter_mut().zip(back).zip(&self.own) {
            *cell = back * back / own;
        }
    }
}

/// Covariances of columns. Every one is summed in row order, so threads do not matter.
fn covariance(rows: &Matrix) -> Matrix {
    let (n_rows, width) = (rows.n_rows(), rows.n_cols());
    let mut means = vec![0.0; width];
    for row in rows.rows() {
        means.iter_mut().zip(row).for_each(|(mean, cell)| *mean += cell);
    }
    for mean in &mut means {
        *mean /= n_rows as f64;
    }
    // Columns as rows, so that the sums run along memory.
    let mut columns = Matrix::zeros(width, n_rows);
    for (at, row) in rows.rows().enumerate() {
        for (column, (cell, mean)) in row.iter().zip(&means).enumerate() {
            columns.row_mut(column)[at] = cell - mean;
        }
    }
    let mut covariances = Matrix::zeros(width, width);
    let lines = covariances.values_mut().par_chunks_exact_mut(width).enumerate();
    lines.for_each(|(a, line)| {
        for (b, cell) in line.iter_mut().enumerate().take(a + 1) {
            *cell = dot(columns.row(a), columns.row(b)) / n_rows as f64;
        }
    });
    for a in 0..width {
        for b in 0..a {
            covariances.row_mut(b)[a] = covariances.row(a)[b];
        }
    }
    covariances
}

/// Σ aᵢ·bᵢ in eight interleaved sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (eights, others) = (a.chunks_exact(8).zip(b.chunks_exact(8)), a.len() / 8 * 8);
    for (a, b) in eights {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a[others..].iter().zip(&b[others..]).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// Cholesky: the lower triangle becomes G with G·Gᵀ the symmetric matrix that was there; it is at least λ in
/// every direction, so every root exists.
fn factorize(matrix: &mut Matrix) {
    for a in 0..matrix.n_cols() {
        for b in 0..=a {
            let inner = dot(&matrix.row(a)[..b], &matrix.row(b)[..b]);
            let left = matrix.row(a)[b] - inner;
            matrix.row_mut(a)[b] = if a == b { left.sqrt() } else { left / matrix.row(b)[b] };
        }
    }
}

/// The inverse of a lower triangle, which is one, too.
fn inverse_of_lower(factor: &Matrix) -> Matrix {
    let width = factor.n_cols();
    // By columns of the inverse, kept as rows: each is a forward substitution of a unit vector.
    let mut columns = Matrix::zeros(width, width);
    columns.values_mut().par_chunks_exact_mut(width).enumerate().for_each(|(unit, column)| {
        for a in unit..width {
            let inner = dot(&factor.row(a)[unit..a], &column[unit..a]);
            let target = if a == unit { 1.0 } else { 0.0 };
            column[a] = (target - inner) / factor.row(a)[a];
        }
    });
    let mut inverse = Matrix::zeros(width, width);
    for a in 0..width {
        for b in 0..=a {
            inverse.row_mut(a)[b] = columns.row(b)[a];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::blocks::Numbered;

    // C = [[4, 2], [2, 3]] = G·Gᵀ with G = [[2, 0], [1, √2]]; G⁻¹ = [[1/2, 0], [−1/(2√2), 1/√2]].
    #[test]
    fn a_matrix_is_factorized_and_its_factor_inverted() {
        let mut factor = Matrix::from_rows(&[[4.0, 2.0], [2.0, 3.0]]);
        factorize(&mut factor);
        assert_eq!(factor.row(0)[0], 2.0);
        assert_eq!(factor.row(1)[0], 1.0);
        assert!((factor.row(1)[1] - 2f64.sqrt()).abs() < 1e-15);
        let inverse = inverse_of_lower(&factor);
        let expected = [0.5, 0.0, -0.125f64.sqrt(), 0.5f64.sqrt()];
        for (got, expected) in inverse.values().iter().zip(expected) {
            assert!((got - expected).abs() < 1e-15, "{got} {expected}");
        }
    }

    #[test] // Means 2 and 4; deviations ∓1, ∓2 and, in the third row, 0: covariances 2/3, 4/3, 8/3.
    fn covariances_are_those_worked_out_by_hand() {
        let rows = Matrix::from_rows(&[[1.0, 2.0], [3.0, 6.0], [2.0, 4.0]]);
        assert_eq!(covariance(&rows).values(), [2.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0, 8.0 / 3.0]);
    }

    /// Two columns that go together, and one of their own.
    fn rows() -> Matrix {
        let mut stream = Seed(3).stream("rows", &[]);
        let rows: Vec<[f64; 3]> = (0..400)
            .map(|_| {
                let both = stream.normal();
                [both, both + 0.1 * stream.normal(), stream.normal()]
            })
            .collect();
        Matrix::from_rows(&rows)
    }

    #[test] // The first two columns go together; (1, −1) breaks that, though each of its cells is common.
    fn a_broken_rule_is_seen_by_the_decorrelated_space_and_in_its_cells() {
        let nearest = Nearest::learn(&rows(), 1_000, 1, Seed(1)).unwrap();
        let [by_rank, decorrelated] =
            nearest.compare(&Matrix::from_rows(&[[1.0, 1.0, 0.5], [1.0, -1.0, 0.5]]), true);
        assert!(decorrelated.norms[1] > 4.0 * decorrelated.norms[0], "{:?}", decorrelated.norms);
        assert!(by_rank.norms[1] > by_rank.norms[0]);
        let squares = decorrelated.squares.unwrap();
        assert!(squares.row(1)[0] > 5.0 * squares.row(1)[2] && squares.row(1)[1] > 5.0 * squares.row(1)[2]);
    }

    // Law: (Pr)ⱼ²/Pⱼⱼ is by how much rᵀPr falls if cell j takes the value that makes it least.
    #[test]
    fn the_share_of_a_cell_is_what_restoring_it_would_save() {
        let directions = Directions::of(&rows());
        let norm = |r: [f64; 3]| {
            directions.apply(&Matrix::from_rows(&[r])).values().iter().map(|y| y * y).sum::<f64>()
        };
        let r = [0.8, -0.3, 0.6];
        let mut shares = directions.apply(&Matrix::from_rows(&[r])).into_values();
        directions.share(&mut shares);
        for cell in 0..3 {
            let restored = |to: f64| {
                let mut r = r;
                r[cell] = to;
                norm(r)
            };
            let least = (-4000..4000).map(|at| restored(f64::from(at) * 1e-3)).fold(f64::INFINITY, f64::min);
            assert!((norm(r) - shares[cell] - least).abs() < 1e-4 * norm(r), "cell {cell}");
        }
    }

    // Five equal rows far out: by the nearest row they are nothing odd, by the fifth other one they are.
    #[test]
    fn a_group_vouches_for_itself_only_as_far_as_it_is_large() {
        let far = [9.0, -9.0, 9.0];
        let all: Vec<Vec<f64>> = rows().rows().map(<[f64]>::to_vec).chain(vec![far.to_vec(); 5]).collect();
        let all = Matrix::from_rows(&all);
        let norms = |rank: usize| {
            Nearest::learn(&all, 1_000, rank, Seed(1))
                .unwrap()
                .compare(&Matrix::from_rows(&[far]), false)
                .map(|e| e.norms[0])
        };
        assert_eq!(norms(4), [0.0, 0.0]);
        assert!(norms(5).into_iter().all(|norm| norm > 1.0), "{:?}", norms(5));
    }

    #[test]
    fn a_training_row_is_not_its_own_neighbor() {
        let rows = rows();
        let nearest = Nearest::learn(&rows, 1_000, 1, Seed(1)).unwrap();
        for evidence in nearest.compare(&rows, false) {
            assert!(evidence.norms.iter().all(|&norm| norm > 0.0));
        }
    }

    #[test]
    fn no_more_rows_are_kept_than_asked_for_and_the_seed_chooses_them() {
        let rows = rows();
        let kept = |seed| Nearest::learn(&rows, 50, 1, Seed(seed)).unwrap().kept().clone();
        assert_eq!(kept(1).n_rows(), 50);
        assert_eq!(kept(1), kept(1));
        assert_ne!(kept(1), kept(2));
        assert!(kept(1).rows().all(|row| rows.rows().any(|other| other == row)));
    }

    // Of 20 + 30 + 50 rows: 10 are drawn from the first block; 60 are the first two and 10 of the third.
    #[test]
    fn rows_are_kept_block_by_block_until_there_are_enough() {
        let kept = |most| {
            let nearest = Nearest::learn(&Numbered(vec![20, 30, 50]), most, 1, Seed(1)).unwrap();
            nearest.kept().values().iter().map(|&row| row as usize).collect::<Vec<_>>()
        };
        let few = kept(10);
        assert!(few.len() == 10 && few.is_sorted() && few[9] >= 10 && few[9] < 20, "{few:?}");
        let some = kept(60);
        assert_eq!(some[..50], (0..50).collect::<Vec<_>>());
        assert!(some.len() == 60 && some.is_sorted() && some[59] >= 60 && some[59] < 100, "{some:?}");
        assert_eq!(kept(1_000), (0..100).collect::<Vec<_>>());
    }
}
