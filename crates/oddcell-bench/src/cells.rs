//! Spoils cells, to measure how well methods find them.
//!
//! Methods train on half of the normal rows. In each row of the other half, one to three cells are spoiled, and a
//! method has to name them. Noise of one to three standard deviations may be visible in the column alone. A value
//! swapped in from another row is ordinary in its column, and only the rest of the row gives it away.

use oddcell::{Matrix, Seed, seed::Stream};

use crate::{methods::Method, protocol::Split};

/// The most spoiled cells per row; never more than half of its cells.
const MOST_CELLS: usize = 3;
/// The size of the noise, in standard deviations of the training column.
const NOISE: std::ops::Range<f64> = 1.0..3.0;
/// How many other rows are tried to find a different value.
const TRIES: usize = 50;

/// How cells are spoiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoil {
    /// Adds a random number.
    Noise,
    /// Takes the value of another row.
    Swap,
}

/// Training rows, and test rows that all have spoiled cells.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSplit {
    /// The training rows.
    pub train: Matrix,
    /// The test rows.
    pub test: Matrix,
    /// Whether each cell of the test rows was spoiled, row after row.
    pub truth: Vec<bool>,
}

/// The method with the parameters it uses to score cells, so that results state the parameters of the run. Every row is
/// scored independently, as nets do, so the parameter that ranks test rows among each other is off.
pub(crate) fn as_judged(method: &Method) -> Method {
    let mut method = method.clone();
    if let Some(spec) = method.spec.as_mut().filter(|spec| spec.params().contains_key("joint")) {
        spec.set("joint", false.into()).expect("it has this parameter");
    }
    method
}

/// Spoils the normal test rows of a split. Leaves out rows in which no cell could be spoiled.
#[must_use]
pub fn spoil(split: &Split, how: Spoil, seed: Seed) -> CellSplit {
    let normal: Vec<usize> = (0..split.truth.len()).filter(|&row| !split.truth[row]).collect();
    let clean = split.test.take(&normal);
    // Columns that are constant in training are left alone: a change there is trivial to find.
    let columns: Vec<usize> = (0..clean.n_cols())
        .filter(|&column| split.train.rows().any(|row| row[column] != split.train.row(0)[column]))
        .collect();
    let most = MOST_CELLS.min(columns.len() / 2).max(1);
    let (mut values, mut truth) = (Vec::new(), Vec::new());
    for row in 0..clean.n_rows() {
        let mut stream = seed.stream("spoil", &[row as u64]);
        let mut cells = clean.row(row).to_vec();
        let mut is_spoiled = vec![false; cells.len()];
        let mut order = columns.clone();
        stream.shuffle(&mut order);
        let count = 1 + stream.below(most);
        for &column in order.iter().take(count) {
            let value = match how {
                Spoil::Noise => Some(cells[column] + noise(&mut stream)),
                Spoil::Swap => other_value(&clean, row, column, &mut stream),
            };
            if let Some(value) = value {
                cells[column] = value;
                is_spoiled[column] = true;
            }
        }
        if is_spoiled.contains(&true) {
            values.extend(cells);
            truth.extend(is_spoiled);
        }
    }
    let n_rows = truth.len() / clean.n_cols().max(1);
    CellSplit { train: split.train.clone(), test: Matrix::new(values, n_rows, clean.n_cols()), truth }
}

fn noise(stream: &mut Stream) -> f64 {
    let size = NOISE.start + (NOISE.end - NOISE.start) * stream.uniform();
    if stream.uniform() < 0.5 { -size } else { size }
}

/// A value of the same column from another row that differs from this one, if a few tries find one.
fn other_value(rows: &Matrix, row: usize, column: usize, stream: &mut Stream) -> Option<f64> {
    (0..TRIES)
        .map(|_| rows.row(stream.below(rows.n_rows()))[column])
        .find(|&value| value != rows.row(row)[column])
}

/// The share of rows whose oddest cell was spoiled. Of equally odd cells, the first counts.
#[must_use]
pub fn top1(cells: &Matrix, truth: &[bool]) -> f64 {
    let hits = cells.rows().zip(truth.chunks_exact(cells.n_cols())).filter(|(cells, truth)| {
        let oddest = (0..cells.len()).rev().max_by(|&a, &b| cells[a].total_cmp(&cells[b]));
        oddest.is_some_and(|oddest| truth[oddest])
    });
    hits.count() as f64 / cells.n_rows() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::by_columns;

    /// Two correlated columns and a constant one.
    fn split(n_rows: usize) -> Split {
        let values = |from: usize| (from..from + n_rows).flat_map(|row| [row as f64, 2.0 * row as f64, 7.0]);
        let matrix = |from| Matrix::new(values(from).collect(), n_rows, 3);
        let truth = (0..n_rows).map(|row| row == 0).collect();
        Split { train: matrix(0), test: matrix(100), truth, is_one_table: false }
    }

    #[test]
    fn noise_of_one_to_three_is_added_to_the_marked_cells() {
        let split = split(200);
        let spoiled = spoil(&split, Spoil::Noise, Seed(1));
        assert_eq!((spoiled.test.n_rows(), spoiled.truth.len()), (199, 199 * 3));
        for row in 0..199 {
            let (found, clean) = (spoiled.test.row(row), split.test.row(row + 1));
            for column in 0..3 {
                let size = (found[column] - clean[column]).abs();
                let expected = if spoiled.truth[row * 3 + column] { 0.999..3.001 } else { 0.0..1e-300 };
                assert!(expected.contains(&size), "row {row}, column {column}: {size}");
            }
            assert!(!spoiled.truth[row * 3 + 2], "the constant column is left alone");
        }
    }

    #[test]
    fn swapped_values_come_from_other_rows_of_the_same_column() {
        let split = split(50);
        let spoiled = spoil(&split, Spoil::Swap, Seed(2));
        for row in 0..spoiled.test.n_rows() {
            let n_spoiled = spoiled.truth[row * 3..][..3].iter().filter(|&&is_spoiled| is_spoiled).count();
            assert_eq!(n_spoiled, 1, "half of two columns");
            let [a, b, _] = spoiled.test.row(row) else { unreachable!() };
            assert_ne!(2.0 * a, *b, "the columns no longer match");
        }
    }

    #[test]
    fn ranks_among_test_rows_are_off_and_the_parameters_say_so() {
        for name in by_columns() {
            let method = Method::named(name).unwrap();
            assert_eq!(
                (&*method.params(), &*as_judged(&method).params()),
                (r#"{"joint":true}"#, r#"{"joint":false}"#)
            );
        }
        let ours = Method::named("noise").unwrap();
        assert_eq!(as_judged(&ours).params(), ours.params());
        assert!(as_judged(&Method::abs_z()).spec.is_none());
    }

    #[test] // A hit, a miss, and a tie whose first cell is a hit.
    fn top1_counts_rows_whose_oddest_cell_was_spoiled() {
        let cells = Matrix::from_rows(&[[1.0, 5.0], [3.0, 2.0], [4.0, 4.0]]);
        let truth = [false, true, false, true, true, false];
        assert_eq!(top1(&cells, &truth), 2.0 / 3.0);
    }
}
