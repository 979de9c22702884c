//! Which cell was spoiled?
//!
//! Half of the normal rows are trained on. In each row of the other half one to three cells are spoiled, and a method has
//! to say which: by noise of one to three standard deviations, which a look at the column alone may find, or by swapping in
//! the value of another row, so that every cell is ordinary and only the row as a whole gives it away.

use oddcell::{Matrix, Seed, seed::Stream};

use crate::{methods::Method, protocol::Split};

/// Most cells that are spoiled in a row, but never more than half of them.
const MOST_CELLS: usize = 3;
/// Noise in standard deviations of the training column.
const NOISE: std::ops::Range<f64> = 1.0..3.0;
/// Other rows that are tried for a value that differs.
const TRIES: usize = 50;

/// How cells are spoiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoil {
    /// A number is added.
    Noise,
    /// The value of another row takes the place.
    Swap,
}

/// Training rows, and test rows of which every one has spoiled cells.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSplit {
    /// What is learned from.
    pub train: Matrix,
    /// What is judged.
    pub test: Matrix,
    /// Whether each cell of the test rows was spoiled, row after row.
    pub truth: Vec<bool>,
}

/// The method as it judges cells, so that a row of results states the parameters that were run. Every row is judged by itself,
/// as the nets do it: the parameter that would rank rows among all scored rows, too, is off.
pub(crate) fn as_judged(method: &Method) -> Method {
    let mut method = method.clone();
    if let Some(spec) = method.spec.as_mut().filter(|spec| spec.params().contains_key("joint")) {
        spec.set("joint", false.into()).expect("it has this parameter");
    }
    method
}

/// Spoils the normal test rows of a split. Rows in which nothing could be spoiled are left out.
#[must_use]
pub fn spoil(split: &Split, how: Spoil, seed: Seed) -> CellSplit {
    let normal: Vec<usize> = (0..split.truth.len()).filter(|&row| !split.truth[row]).collect();
    let clean = split.test.take(&normal);
    // What never changes in training cannot be learned, and a change of it is no riddle.
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

/// A value of the column in another row that differs from this row's, if a few tries find one.
fn other_value(rows: &Matrix, row: usize, column: usize, stream: &mut Stream) -> Option<f64> {
    (0..TRIES)
        .map(|_| rows.row(stream.below(rows.n_rows()))[column])
        .find(|&value| value != rows.row(row)[column])
}

/// The share of rows whose oddest cell is a spoiled one; the first of several that are equally odd counts.
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
    use crate::methods::BY_COLUMNS;

    /// Two columns that go together, one that never changes.
    fn split(n_rows: usize) -> Split {
        let values = |from: usize| (from..from + n_rows).flat_map(|row| [row as f64, 2.0 * row as f64, 7.0]);
        let matrix = |from| Matrix::new(values(from).collect(), n_rows, 3);
        let truth = (0..n_rows).map(|row| row == 0).collect();
        Split { train: matrix(0), test: matrix(100), truth, is_one_table: false }
    }

    #[test]
    fn noise_of_one_to_three_is_added_to_the_cells_told() {
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
            assert_ne!(2.0 * a, *b, "the columns do not go together any more");
        }
    }

    #[test]
    fn ranks_among_all_rows_are_off_and_said_to_be_off() {
        for name in BY_COLUMNS {
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

    #[test] // Rows: hit; miss; a tie, of which the first counts: hit.
    fn top1_counts_rows_whose_oddest_cell_was_spoiled() {
        let cells = Matrix::from_rows(&[[1.0, 5.0], [3.0, 2.0], [4.0, 4.0]]);
        let truth = [false, true, false, true, true, false];
        assert_eq!(top1(&cells, &truth), 2.0 / 3.0);
    }
}
