//! `hbos`, the histogram-based outlier score: how rare the values of a row are in their columns, added up.
//!
//! *Why:* one histogram per column costs next to nothing, and a deep net that does not beat it has learned nothing about
//! how columns go together.
//!
//! *Formula:* every column is cut into `n_bins` bins of equal width between its smallest and its largest training value
//! (0.5 below and above a constant). With h the density of the bin that a value lies in, its part of the score is
//! −log₂(h + `alpha`). A value beyond the ends belongs to the last bin as long as it is at most `tol` bin widths away;
//! farther out it counts as the emptiest bin. The score is the sum over the columns.
//!
//! *Invariants:* agrees with `PyOD`'s `HBOS`, whose bins hold their lower edge when training rows are counted, and their
//! upper edge when rows are scored.
//!
//! *Source:* Goldstein, Dengel (2012), "Histogram-based outlier score (HBOS): a fast unsupervised anomaly detection
//! algorithm".

use rayon::prelude::*;

use super::{Abilities, Fitted, Judged, Params, parameters, ranges, saved};
use crate::{
    Context, Matrix,
    error::{FitError, ParamError},
    tensors::{TensorError, Tensors},
};

/// The tensor of the ends of every column.
const ENDS: &str = "ends";
/// The tensor of the parts of every bin.
const PARTS: &str = "parts";

parameters! {
    /// The parameters of `hbos`.
    pub(super) struct HbosParams {
        /// Bins per column, from 2 to 10,000.
        pub n_bins: usize = 10,
        /// Added to every density, finite and above 0. It limits what an empty bin adds.
        pub alpha: f64 = 0.1,
        /// How far beyond the ends a value still belongs to the last bin, in bin widths; finite and at least 0.
        pub tol: f64 = 0.5,
    }
}

impl Params for HbosParams {
    const NAME: &'static str = "hbos";
    const SUMMARY: &'static str = "histograms: how rare the values of a row are in their columns";
    const ABILITIES: Abilities = Abilities::SIMPLE;

    fn check(&self) -> Result<(), ParamError> {
        ranges::count("n_bins", self.n_bins, 2..=10_000, "from 2 to 10,000")?;
        ranges::positive("alpha", self.alpha)?;
        ranges::not_negative("tol", self.tol)
    }

    fn fit(&self, rows: &Matrix, _: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let columns = (0..rows.n_cols()).into_par_iter();
        let histograms = columns.map(|column| self.histogram(rows, column)).collect();
        Ok(Box::new(FittedHbos { tol: self.tol, histograms }))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let ends = saved::take_table(tensors, ENDS)?;
        let parts = saved::take_table(tensors, PARTS)?;
        if ends.n_cols() != 2 || parts.n_cols() != self.n_bins || ends.n_rows() != parts.n_rows() {
            let found = [ends.n_rows(), ends.n_cols(), parts.n_rows(), parts.n_cols()];
            let reason = format!(
                "ends are {} × {} and parts {} × {}, expected 2 ends and {} parts per column",
                found[0], found[1], found[2], found[3], self.n_bins
            );
            return Err(saved::invalid(PARTS, &reason));
        }
        if let Some((row, column)) = parts.first_not_finite().or(ends.first_not_finite()) {
            let reason = format!("column {}, number {} is not finite", row + 1, column + 1);
            return Err(saved::invalid(PARTS, &reason));
        }
        let mut histograms = Vec::with_capacity(ends.n_rows());
        for (at, (ends, parts)) in ends.rows().zip(parts.rows()).enumerate() {
            let edges = edges((ends[0], ends[1]), self.n_bins);
            if !edges.is_sorted() || ends[0] >= ends[1] {
                let reason = format!("column {} goes from {} to {}", at + 1, ends[0], ends[1]);
                return Err(saved::invalid(ENDS, &reason));
            }
            histograms.push(Histogram { edges, parts: parts.to_vec() });
        }
        Ok(Box::new(FittedHbos { tol: self.tol, histograms }))
    }
}

impl HbosParams {
    fn histogram(&self, rows: &Matrix, column: usize) -> Histogram {
        let values = || rows.rows().map(|row| row[column]);
        let (mut low, mut high) = values()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low == high {
            (low, high) = (low - 0.5, high + 0.5);
            // Far from zero, half a unit changes nothing.
            if low == high {
                (low, high) = (low - low.abs() * 1e-3, high + high.abs() * 1e-3);
            }
        }
        let (low, high) = (low.max(f64::MIN), high.min(f64::MAX));
        let edges = edges((low, high), self.n_bins);
        let mut counts = vec![0usize; self.n_bins];
        for value in values() {
            // The bin that holds it, lower edge included; the largest value belongs to the last bin.
            let above = edges.partition_point(|&edge| edge <= value);
            counts[above.clamp(1, self.n_bins) - 1] += 1;
        }
        let n_rows = rows.n_rows() as f64;
        let part = |(count, edges): (usize, &[f64])| {
            let density = count as f64 / (edges[1] - edges[0]).min(f64::MAX) / n_rows;
            // Bins narrower than any number hold no less than the largest one.
            -libm::log2(if density.is_nan() { 0.0 } else { density.min(f64::MAX) } + self.alpha)
        };
        let parts = counts.into_iter().zip(edges.windows(2)).map(part).collect();
        Histogram { edges, parts }
    }
}

/// The edges of bins of equal width.
fn edges((low, high): (f64, f64), n_bins: usize) -> Vec<f64> {
    let n = n_bins as f64;
    let span = high - low;
    let width = if span.is_finite() { span / n } else { high / n - low / n };
    let mut edges: Vec<f64> = (0..=n_bins).map(|edge| low + edge as f64 * width).collect();
    edges[n_bins] = high;
    edges
}

/// The histogram of a column.
#[derive(Debug)]
struct Histogram {
    /// One more than there are bins.
    edges: Vec<f64>,
    /// What each bin adds to the score.
    parts: Vec<f64>,
}

impl Histogram {
    fn part(&self, value: f64, tol: f64) -> f64 {
        let Self { edges, parts } = self;
        let last = parts.len();
        // The bin that holds it, upper edge included.
        match edges.partition_point(|&edge| edge < value) {
            0 if edges[0] - value > tol * (edges[1] - edges[0]) => self.rarest(),
            0 => parts[0],
            bin if bin <= last => parts[bin - 1],
            _ if value - edges[last] > tol * (edges[last] - edges[last - 1]) => self.rarest(),
            _ => parts[last - 1],
        }
    }

    /// What the emptiest bin adds.
    fn rarest(&self) -> f64 {
        self.parts.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The histograms of all columns.
#[derive(Debug)]
struct FittedHbos {
    tol: f64,
    histograms: Vec<Histogram>,
}

impl Fitted for FittedHbos {
    fn n_features(&self) -> usize {
        self.histograms.len()
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let score = |row: &[f64]| {
            row.iter().zip(&self.histograms).map(|(&value, histogram)| histogram.part(value, self.tol)).sum()
        };
        let scores = rows.values().par_chunks_exact(self.n_features()).map(score).collect();
        Judged { scores, cells: None }
    }

    fn save_to(&self, tensors: &mut Tensors) {
        let ends =
            self.histograms.iter().flat_map(|one| [one.edges[0], one.edges[one.parts.len()]]).collect();
        let parts: Vec<f64> = self.histograms.iter().flat_map(|one| &one.parts).copied().collect();
        let n_bins = parts.len() / self.n_features();
        saved::put_table(tensors, ENDS, &Matrix::new(ends, self.n_features(), 2));
        saved::put_table(tensors, PARTS, &Matrix::new(parts, self.n_features(), n_bins));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    fn fit(rows: &Matrix, params: HbosParams) -> Box<dyn Fitted> {
        params.build().unwrap().fit(rows, &Context::silent(Seed(0))).unwrap()
    }

    // Values 0, 0, 1, 4 in two bins: [0, 2) has 3 of 4 and [2, 4] one, so the densities are 3/8 and 1/8. With alpha 1/8
    // the parts are −log₂(1/2) = 1 and −log₂(1/4) = 2. 2 is the upper edge of the first bin. 5 is half a width out.
    #[test]
    fn the_parts_match_the_values_worked_out_by_hand() {
        let rows = Matrix::from_rows(&[[0.0], [0.0], [1.0], [4.0]]);
        let fitted = fit(&rows, HbosParams { n_bins: 2, alpha: 0.125, tol: 0.5 });
        let queries = Matrix::from_rows(&[[0.0], [2.0], [2.1], [5.0], [5.1], [-1.0], [-1.1]]);
        assert_eq!(fitted.score(&queries).unwrap(), [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0]);
        // Two such columns: their parts are added.
        let both = |x: f64, y: f64| Matrix::from_rows(&[[x, y]]);
        let rows = Matrix::from_rows(&[[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [4.0, 4.0]]);
        let fitted = fit(&rows, HbosParams { n_bins: 2, alpha: 0.125, tol: 0.5 });
        assert_eq!(fitted.score(&both(0.0, 3.0)).unwrap(), [3.0]);
    }

    #[test]
    fn constants_and_extreme_values_get_finite_scores() {
        for value in [0.0, 1e-320, 1e20, -1e300, f64::MAX] {
            let fitted = fit(&Matrix::from_rows(&[[value], [value]]), HbosParams::default());
            let scores = fitted.score(&Matrix::from_rows(&[[value], [f64::MIN], [f64::MAX]])).unwrap();
            assert!(scores.iter().all(|score| score.is_finite()), "{value}: {scores:?}");
        }
        let wide = Matrix::from_rows(&[[f64::MIN], [0.0], [f64::MAX], [1e-320]]);
        assert!(
            fit(&wide, HbosParams::default()).score(&wide).unwrap().iter().all(|score| score.is_finite())
        );
    }

    #[test]
    fn a_file_with_ends_in_the_wrong_order_is_refused() {
        let params = HbosParams { n_bins: 2, ..HbosParams::default() };
        let mut tensors = fit(&Matrix::from_rows(&[[0.0], [4.0]]), params.clone()).save();
        tensors.put_f64(ENDS, &[1, 2], vec![4.0, 0.0]);
        let error = params.load(&mut tensors).unwrap_err().to_string();
        assert_eq!(error, "tensor `ends`: column 1 goes from 4 to 0");
    }

    proptest! {
        // Law: columns are judged one by one, so the score of a row is the sum of its scores in each column alone.
        #[test]
        fn the_score_is_the_sum_over_columns_alone(cells in prop::collection::vec(-20i8..20, 6..90)) {
            let n_rows = cells.len() / 2;
            let rows = Matrix::new(cells[..2 * n_rows].iter().map(|&cell| f64::from(cell)).collect(), n_rows, 2);
            let alone = |column: usize| {
                let one = Matrix::new(rows.rows().map(|row| row[column]).collect(), n_rows, 1);
                fit(&one, HbosParams::default()).score(&one).unwrap()
            };
            let both = fit(&rows, HbosParams::default()).score(&rows).unwrap();
            let sums: Vec<f64> = alone(0).iter().zip(alone(1)).map(|(a, b)| a + b).collect();
            prop_assert_eq!(both, sums);
        }
    }
}
