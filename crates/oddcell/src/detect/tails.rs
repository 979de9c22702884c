//! Tail probabilities, column by column: the common part of `copod` and `ecod`.
//!
//! *Why:* a value that few training values reach is odd by itself. Adding up over the columns gives a score
//! that needs no tuning and shows which columns it came from: those parts are the cells, in nats.
//!
//! *Formula:* with N values in a column, the row's own among them, the tails of a value x are
//!
//! ```text
//! L = −ln( #{values ≤ x} / N )        R = −ln( #{values ≥ x} / N )
//! S = L if the column is skewed to the left, R if to the right, L + R if it is not skewed
//! copod: max(S, (L + R)/2)        ecod: max(L, R, S)        score = sum over the columns
//! ```
//!
//! Skewness is m₃/m₂^1.5 with population moments; below 1e-12 in size it counts as none, because there only
//! the rounding of the sums decides its sign.
//!
//! *Which N values:* by default the training column and the row's own value, N = n + 1, and the skewness of
//! the training column, so that a row's score does not depend on the rows scored with it. With `joint`, as in
//! `PyOD`: the training column and all rows of the call, N = n + m, skewness included. A single row scored
//! jointly differs from the default only where it alone turns the sign of a skewness.
//!
//! *Invariants:* the row itself is counted, so no probability is 0 and scores are finite, at most
//! d · 2 · ln(N). A constant column adds 0 for its own value. The cells of a row add up to its score.

mod skew;

use std::{fmt::Debug, marker::PhantomData};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) use self::skew::Skew;
use super::{Abilities, CellUnit, Fitted, Judged, Keeps, Params, Preset, saved};
use crate::{
    Context, Matrix,
    error::{FitError, ParamError},
    tensors::{TensorError, Tensors},
};

/// The tensor of the sorted training columns.
const COLUMNS: &str = "columns";

/// How the two tails of a cell become its part of the score: what tells `copod` from `ecod`.
pub(super) trait TailRule: Debug + Clone + Copy + Default + PartialEq + Send + Sync + 'static {
    /// The detector's name.
    const NAME: &'static str;
    /// What it does, in one line.
    const SUMMARY: &'static str;

    /// The part of a cell with the tails L and R in a column of this skewness.
    fn part(left: f64, right: f64, skew: Skew) -> f64;
}

/// The parameters of `copod` and `ecod`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, bound = "")]
pub(super) struct TailParams<R: TailRule> {
    /// Whether the rows of one call are ranked among each other too, as in `PyOD`. Then a row's score depends
    /// on the rows scored with it; meant for repeating published results.
    pub joint: bool,
    #[serde(skip)]
    rule: PhantomData<R>,
}

impl<R: TailRule> TailParams<R> {
    /// What `PyOD` does: `joint`.
    #[must_use]
    pub(super) fn published() -> Self {
        Self { joint: true, rule: PhantomData }
    }
}

impl<R: TailRule> Params for TailParams<R> {
    const NAME: &'static str = R::NAME;
    const SUMMARY: &'static str = R::SUMMARY;
    const PRESETS: &'static [Preset<Self>] = &[("default", Self::default), ("paper", Self::published)];
    const ABILITIES: Abilities =
        Abilities { cells: Some(CellUnit::Surprise), keeps: Keeps::Values(usize::MAX), ..Abilities::SIMPLE };
    const LEAST_ROWS: usize = 1;

    fn check(&self) -> Result<(), ParamError> {
        Ok(())
    }

    fn fit(&self, rows: &Matrix, _: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        Ok(Box::new(FittedTails::of_columns(self, sorted_columns(rows))))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let columns = saved::take_table(tensors, COLUMNS)?;
        for (column, values) in columns.rows().enumerate() {
            if let Some(at) = values.windows(2).position(|pair| pair[0] > pair[1]) {
                let (column, at, next) = (column + 1, at + 1, at + 2);
                let reason =
                    format!("column {column} is not sorted: value {next} is smaller than value {at}");
                return Err(saved::invalid(COLUMNS, &reason));
            }
        }
        Ok(Box::new(FittedTails::of_columns(self, columns)))
    }
}

/// `copod` or `ecod` with its sorted training columns.
#[derive(Debug)]
struct FittedTails<R: TailRule> {
    params: TailParams<R>,
    /// Columns × training rows, every column sorted.
    columns: Matrix,
    skews: Vec<Skew>,
}

/// A cell of a column and the row it came from.
type Placed = (f64, u32);

impl<R: TailRule> FittedTails<R> {
    fn of_columns(params: &TailParams<R>, columns: Matrix) -> Self {
        let skews = (0..columns.n_rows()).into_par_iter().map(|column| Skew::of([columns.row(column), &[]]));
        Self { params: params.clone(), skews: skews.collect(), columns }
    }

    /// What each cell of a column adds to the score of its row. With `joint`, all cells of the call count among the
    /// training cells; otherwise, each cell alone.
    ///
    /// Up the sorted column, positions among the training values only rise: each is searched from the one
    /// before, and equal values are looked up once.
    fn column_parts(&self, rows: &Matrix, column: usize) -> Vec<f64> {
        let mut cells: Vec<Placed> = rows.rows().zip(0..).map(|(row, at)| (row[column], at)).collect();
        cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (training, joint) = (self.columns.row(column), self.params.joint);
        let (n_added, skew) = if joint {
            let values: Vec<f64> = cells.iter().map(|cell| cell.0).collect();
            (cells.len(), Skew::of([training, &values]))
        } else {
            (1, self.skews[column])
        };
        let total = training.len() + n_added;
        let mut parts = vec![0.0; cells.len()];
        let (mut start, mut place) = (0, 0);
        while let Some(&(value, _)) = cells.get(start) {
            let n_equal = cells[start..].iter().take_while(|cell| cell.0 == value).count();
            let n_below = climb(training, place, |other| other < value);
            place = climb(training, n_below, |other| other <= value);
            let (added_below, added_up_to) = if joint { (start, start + n_equal) } else { (0, 1) };
            let (up_to, from) = (place + added_up_to, total - n_below - added_below);
            let tail = |count: usize| libm::log(total as f64 / count as f64);
            let part = R::part(tail(up_to), tail(from), skew);
            for &(_, row) in &cells[start..][..n_equal] {
                parts[row as usize] = part;
            }
            start += n_equal;
        }
        parts
    }
}

/// The first position from `start` on whose value does not pass; all before it pass. Looks near `start`
/// first, so that many steps up a column cost no more than one walk along it, and a single step no more than
/// a search.
fn climb(sorted: &[f64], start: usize, passes: impl Fn(f64) -> bool) -> usize {
    let rest = &sorted[start..];
    let mut reach = 1;
    while rest.get(reach - 1).is_some_and(|&value| passes(value)) {
        reach *= 2;
    }
    let (known, end) = (reach / 2, rest.len().min(reach));
    start + known + rest[known..end].partition_point(|&value| passes(value))
}

/// Columns × rows, every column sorted.
fn sorted_columns(rows: &Matrix) -> Matrix {
    let (n_rows, n_cols) = (rows.n_rows(), rows.n_cols());
    let mut columns = Matrix::zeros(n_cols, n_rows);
    if n_rows > 0 {
        columns.values_mut().par_chunks_mut(n_rows).enumerate().for_each(|(column, values)| {
            for (value, row) in values.iter_mut().zip(rows.rows()) {
                *value = row[column];
            }
            values.sort_unstable_by(f64::total_cmp);
        });
    }
    columns
}

impl<R: TailRule> Fitted for FittedTails<R> {
    fn n_features(&self) -> usize {
        self.columns.n_rows()
    }

    fn is_joint(&self) -> bool {
        self.params.joint
    }

    fn judge_checked(&self, rows: &Matrix, want_cells: bool) -> Judged {
        let mut scores = vec![0.0; rows.n_rows()];
        let mut cells = want_cells.then(|| Matrix::zeros(rows.n_rows(), rows.n_cols()));
        // As many columns at a time as keep all threads busy, so that memory is theirs and not the whole
        // table's.
        let all: Vec<usize> = (0..self.n_features()).collect();
        for some in all.chunks(2 * rayon::current_num_threads()) {
            let parts: Vec<_> = some.par_iter().map(|&column| self.column_parts(rows, column)).collect();
            for (&column, parts) in some.iter().zip(parts) {
                scores.iter_mut().zip(&parts).for_each(|(score, part)| *score += part);
                if let Some(cells) = &mut cells {
                    parts.iter().enumerate().for_each(|(row, &part)| cells.row_mut(row)[column] = part);
                }
            }
        }
        Judged { scores, cells }
    }

    fn save_to(&self, tensors: &mut Tensors) {
        saved::put_table(tensors, COLUMNS, &self.columns);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Seed,
        detect::{copod::Copod, ecod::Ecod},
    };

    fn tails<R: TailRule>(joint: bool) -> TailParams<R> {
        TailParams { joint, rule: PhantomData }
    }

    fn score<R: TailRule>(joint: bool, train: &Matrix, rows: &Matrix) -> Vec<f64> {
        tails::<R>(joint).fit(train, &Context::silent(Seed(0))).unwrap().score(rows).unwrap()
    }

    // Training 1, 2, 2, 9 (skewed to the right: mean 3.5, third powers −15.6 − 3.4 − 3.4 + 166.4 > 0). N = 5.
    // x = 2: values ≤ 2 are 1, 2, 2 and itself: L = ln(5/4); values ≥ 2 are 2, 2, 9 and itself: R = ln(5/4).
    // x = 0: only itself below: L = ln 5; all above: R = 0.   x = 10: L = 0, R = ln 5.
    #[test]
    fn parts_match_the_values_worked_out_by_hand() {
        let rows = Matrix::from_rows(&[[1.0], [2.0], [2.0], [9.0]]);
        let queries = Matrix::from_rows(&[[2.0], [0.0], [10.0]]);
        let (a, b) = (libm::log(1.25), libm::log(5.0));
        assert_eq!(score::<Copod>(false, &rows, &queries), [a, b / 2.0, b]);
        assert_eq!(score::<Ecod>(false, &rows, &queries), [a, b, b]);
    }

    // Jointly with themselves, every row counts twice, and N = 8: as if each counted once, and N = 4. For 1,
    // L = ln 4 and R = 0; for 2, L = ln(4/3), R = ln(4/3); for 9, L = 0, R = ln 4.
    #[test]
    fn training_rows_judged_jointly_are_ranked_among_themselves() {
        let rows = Matrix::from_rows(&[[1.0], [2.0], [2.0], [9.0]]);
        let scores = score::<Copod>(true, &rows, &rows);
        let (third, fourth) = (libm::log(4.0 / 3.0), libm::log(4.0));
        assert_eq!(scores, [fourth / 2.0, third, third, fourth]);
    }

    #[test] // Jointly, two far rows keep each other company: each is 2 of 6 from the right, not 1 of 5.
    fn only_joint_scores_depend_on_the_company() {
        let rows = Matrix::from_rows(&[[1.0], [2.0], [2.0], [9.0]]);
        let both = Matrix::from_rows(&[[10.0], [10.0]]);
        assert_eq!(score::<Ecod>(true, &rows, &both), [libm::log(3.0); 2]);
        assert_eq!(score::<Ecod>(false, &rows, &both), [libm::log(5.0); 2]);
        assert_eq!(score::<Ecod>(true, &rows, &both.take(&[0])), [libm::log(5.0)]);
    }

    #[test]
    fn an_unsorted_column_is_refused_when_loaded() {
        let ecod = tails::<Ecod>(false);
        let fitted = ecod.fit(&Matrix::from_rows(&[[1.0], [2.0]]), &Context::silent(Seed(0))).unwrap();
        let mut tensors = fitted.save();
        tensors.put_f64(COLUMNS, &[1, 2], vec![2.0, 1.0]);
        let error = ecod.load(&mut tensors).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tensor `columns`: column 1 is not sorted: value 2 is smaller than value 1"
        );
    }

    fn table() -> impl Strategy<Value = Matrix> {
        (1usize..5, prop::collection::vec(-20i8..20, 5..150)).prop_map(|(n_cols, cells)| {
            let n_rows = cells.len() / n_cols;
            let values = cells[..n_rows * n_cols].iter().map(|&cell| f64::from(cell)).collect();
            Matrix::new(values, n_rows, n_cols)
        })
    }

    proptest! {
        // Law: left and right are equals. Mirroring every column exchanges the tails and leaves the scores.
        #[test]
        fn mirroring_every_column_leaves_the_scores_as_they_were(rows in table(), joint in any::<bool>()) {
            let mut mirrored = rows.clone();
            mirrored.values_mut().iter_mut().for_each(|value| *value = -*value);
            let both = |rows: &Matrix| [score::<Copod>(joint, rows, rows), score::<Ecod>(joint, rows, rows)];
            prop_assert_eq!(both(&rows), both(&mirrored));
        }

        // Law: the cells of a row add up to its score, and none is negative.
        #[test]
        fn cells_add_up_to_the_score(rows in table(), joint in any::<bool>()) {
            let context = Context::silent(Seed(0));
            let copod = tails::<Copod>(joint).fit(&rows, &context).unwrap();
            let ecod = tails::<Ecod>(joint).fit(&rows, &context).unwrap();
            for fitted in [copod, ecod] {
                let Judged { scores, cells } = fitted.judge(&rows, true).unwrap();
                let cells = cells.unwrap();
                prop_assert!(cells.values().iter().all(|&cell| cell >= 0.0));
                let sums: Vec<f64> = cells.rows().map(|row| row.iter().sum()).collect();
                prop_assert_eq!(sums, scores);
            }
        }
    }
}
