//! How odd normal cells of a column are, seen in a table whose cells may be wrong.
//!
//! *Formula:* the surprise s of a cell is −ln of a share already, so normal surprises fall like e^−s. They fall more slowly
//! where several questions are asked of a column. So beyond the start u (the median) the share of cells is
//! q · e^−(s − u)/β, with q the share beyond u, and β at least 1, the censored mean excess: cells beyond the 90 % quantile are
//! counted, but how far out they lie is not. p is that, but never less than e^−s: a surprise promises no more.
//! A column may have many wrong cells. Surprises that are too many to be the tail of the others are left out first.

/// The share of cells whose distance counts.
const CENSORED_FROM: f64 = 0.9;
/// With fewer surprising cells, nothing can be measured.
const LEAST_MEASURED: usize = 10;
/// From where on surprises may lie apart from the others, and at most which share of them may.
const APART_FROM: [f64; 4] = [4.0, 5.0, 6.5, 8.0];
const MOST_APART: f64 = 0.4;
/// How many more must lie there than before, in standard deviations.
const DEVIATIONS: f64 = 2.0;
/// No p-value is smaller.
const LEAST: f64 = 1e-300;

/// The surprises of normal cells of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellNull {
    sorted: Vec<f64>,
    start: f64,
    share: f64,
    slope: f64,
}

/// How many of the highest of these sorted surprises are too many to be the tail of the others: beyond t lie more than between
/// t/2 and t, and by more than chance. (A tail that falls like e^−s/β has fewer there up to β = t/1.4.)
fn n_apart(sorted: &[f64]) -> usize {
    let beyond = |t: f64| sorted.len() - sorted.partition_point(|&surprise| surprise < t);
    let is_apart = |&t: &f64| {
        let (far, near) = (beyond(t), beyond(0.5 * t) - beyond(t));
        far as f64 > near as f64 + DEVIATIONS * (near as f64 + 1.0).sqrt()
    };
    let first = APART_FROM.into_iter().find(is_apart);
    first.map(beyond).filter(|&far| far as f64 <= MOST_APART * sorted.len() as f64).unwrap_or(0)
}

impl CellNull {
    /// Learns from the surprises of all cells of a column.
    pub(crate) fn fit(mut surprises: Vec<f64>) -> Self {
        surprises.sort_unstable_by(f64::total_cmp);
        surprises.truncate(surprises.len() - n_apart(&surprises));
        let n = surprises.len();
        let quantile =
            |share: f64| surprises.get(((n as f64 * share) as usize).min(n.saturating_sub(1))).copied();
        let (start, bound) = (quantile(0.5).unwrap_or(0.0), quantile(CENSORED_FROM).unwrap_or(0.0));
        let first = surprises.partition_point(|&surprise| surprise <= start);
        let censored_from = surprises.partition_point(|&surprise| surprise <= bound).max(first);
        let measured = &surprises[first..censored_from];
        let exposure: f64 = measured.iter().map(|surprise| surprise - start).sum::<f64>()
            + (n - censored_from) as f64 * (bound - start);
        let slope =
            if measured.len() < LEAST_MEASURED { 1.0 } else { (exposure / measured.len() as f64).max(1.0) };
        Self { start, share: (n - first) as f64 / n.max(1) as f64, slope, sorted: surprises }
    }

    /// The share of normal cells that are at least as surprising.
    pub(crate) fn p_value(&self, surprise: f64) -> f64 {
        if surprise <= self.start {
            let at_least = self.sorted.len() - self.sorted.partition_point(|&other| other < surprise);
            return at_least.max(1) as f64 / self.sorted.len().max(1) as f64;
        }
        let tail = self.share * libm::exp(-(surprise - self.start) / self.slope);
        tail.max(libm::exp(-surprise)).max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test] // Exponential surprises: P(s > 3) = e^−3.
    fn surprises_that_fall_as_promised_have_the_p_values_they_promise() {
        let mut stream = Seed(4).stream("cells", &[]);
        let null = CellNull::fit((0..4_000).map(|_| -(1.0 - stream.uniform()).ln()).collect());
        for surprise in [1.0f64, 3.0, 8.0] {
            let ratio = null.p_value(surprise) / (-surprise).exp();
            assert!((0.8..1.5).contains(&ratio), "{surprise}: {ratio}");
        }
    }

    #[test] // Twice as slow: slope 2, so P(s > 6) = e^−3.
    fn surprises_that_fall_slowly_are_believed_less() {
        let mut stream = Seed(5).stream("cells", &[]);
        let null = CellNull::fit((0..4_000).map(|_| -2.0 * (1.0 - stream.uniform()).ln()).collect());
        let ratio = null.p_value(6.0) / (-3.0f64).exp();
        assert!((0.7..1.4).contains(&ratio), "{ratio}");
    }

    #[test] // 150 of 1,000 cells are wrong, and all as odd. The others are not believed less for that.
    fn many_wrong_cells_do_not_hide_each_other() {
        let mut stream = Seed(6).stream("cells", &[]);
        let mut surprises: Vec<f64> = (0..850).map(|_| -(1.0 - stream.uniform()).ln()).collect();
        surprises.extend([9.9; 150]);
        let p = CellNull::fit(surprises).p_value(9.9);
        assert!(p < 1e-3, "{p}");
    }

    #[test]
    fn where_nearly_all_cells_are_unsurprising_a_surprise_counts_as_it_is() {
        let mut surprises = vec![0.0; 997];
        surprises.extend([9.0; 3]);
        let null = CellNull::fit(surprises);
        assert_eq!(null.p_value(0.0), 1.0);
        assert!((null.p_value(9.0) - (-9.0f64).exp()).abs() < 1e-12);
        assert!(null.p_value(1e9) > 0.0);
        assert_eq!(CellNull::fit(Vec::new()).p_value(0.0), 1.0);
    }
}
