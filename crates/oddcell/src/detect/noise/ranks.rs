//! Cells as normal quantiles of their ranks: the same shape for every column.

use std::f64::consts::PI;

use rayon::prelude::*;

use crate::Matrix;

/// Most points that a column's ranks are remembered by; between them they go straight.
const MOST_POINTS: usize = 1_000;

/// For every column, where its values rank.
#[derive(Debug)]
pub(super) struct Ranks {
    columns: Vec<Column>,
}

/// A rising line through points (value, quantile), which goes on with slope 1 beyond its ends.
#[derive(Debug)]
struct Column {
    values: Vec<f64>,
    quantiles: Vec<f64>,
}

impl Ranks {
    /// Those of `rows`: at least one, all finite.
    pub(super) fn of(rows: &Matrix) -> Self {
        let columns = (0..rows.n_cols()).into_par_iter();
        Self {
            columns: columns.map(|column| Column::of(rows.rows().map(|row| row[column]).collect())).collect(),
        }
    }

    /// Rows with every cell replaced.
    pub(super) fn apply(&self, rows: &Matrix) -> Matrix {
        let mut ranked = rows.clone();
        ranked.values_mut().par_chunks_exact_mut(rows.n_cols()).for_each(|row| {
            for (cell, column) in row.iter_mut().zip(&self.columns) {
                *cell = column.apply(*cell);
            }
        });
        ranked
    }
}

impl Column {
    fn of(mut cells: Vec<f64>) -> Self {
        cells.sort_unstable_by(f64::total_cmp);
        let n_rows = cells.len() as f64;
        let (mut values, mut quantiles) = (Vec::new(), Vec::new());
        let mut before = 0usize;
        for equal in cells.chunk_by(|a, b| a == b) {
            values.push(equal[0]);
            // Of equal cells the middle rank.
            quantiles.push(normal_quantile((before as f64 + 0.5 * equal.len() as f64) / n_rows));
            before += equal.len();
        }
        // Standardized over the rows, as every column is.
        let over_rows = |of: &dyn Fn(f64) -> f64| {
            let groups = cells.chunk_by(|a, b| a == b).zip(&quantiles);
            groups.map(|(equal, &quantile)| equal.len() as f64 * of(quantile)).sum::<f64>() / n_rows
        };
        let mean = over_rows(&|quantile| quantile);
        let deviation = over_rows(&|quantile| (quantile - mean) * (quantile - mean)).sqrt();
        let scale = if deviation > 0.0 { deviation } else { 1.0 };
        let points = values.len();
        if points > MOST_POINTS {
            let kept: Vec<usize> = (0..MOST_POINTS).map(|at| at * (points - 1) / (MOST_POINTS - 1)).collect();
            values = kept.iter().map(|&at| values[at]).collect();
            quantiles = kept.iter().map(|&at| quantiles[at]).collect();
        }
        for quantile in &mut quantiles {
            *quantile = (*quantile - mean) / scale;
        }
        Self { values, quantiles }
    }

    fn apply(&self, cell: f64) -> f64 {
        let above = self.values.partition_point(|&value| value < cell);
        match above {
            0 => self.quantiles[0] + (cell - self.values[0]),
            _ if above == self.values.len() => self.quantiles[above - 1] + (cell - self.values[above - 1]),
            _ => {
                let (low, high) = (self.values[above - 1], self.values[above]);
                let share = (cell - low) / (high - low);
                self.quantiles[above - 1] + share * (self.quantiles[above] - self.quantiles[above - 1])
            }
        }
    }
}

/// Φ⁻¹ of a share between 0 and 1, both excluded.
fn normal_quantile(share: f64) -> f64 {
    if share > 0.5 {
        return -normal_quantile(1.0 - share);
    }
    // Newton's method on ln Φ, which is concave: from −√(−2·ln p), below the root, every step stays below it.
    let mut quantile = -(-2.0 * libm::log(share)).sqrt();
    for _ in 0..50 {
        let below = 0.5 * libm::erfc(-quantile * std::f64::consts::FRAC_1_SQRT_2);
        let density = libm::exp(-0.5 * quantile * quantile) / (2.0 * PI).sqrt();
        let step = libm::log(share / below) * below / density;
        quantile += step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    quantile
}

#[cfg(test)]
mod tests {
    use super::*;

    // Φ(−1.959964) = 0.025, Φ(−1) = 0.158655, Φ(−4.264891) = 1e-5: from tables of the normal distribution.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (share, expected) in
            [(0.025, -1.959_963_984_540_054), (0.158_655_253_931_457, -1.0), (1e-5, -4.264_890_793_922_825)]
        {
            assert!((normal_quantile(share) - expected).abs() < 1e-12, "{share}");
            assert!((normal_quantile(1.0 - share) + expected).abs() < 1e-10, "1 - {share}");
        }
        assert!(normal_quantile(0.5).abs() < 1e-15);
    }

    // Two cells of four equal: ranks 1/8, 1/2 (middle of 1/4 and 3/4), 7/8, quantiles −q, 0, q with q =
    // 1.150349; their variance over the rows is q²/2, so −√2, 0, √2.
    #[test]
    fn a_column_of_four_is_ranked_as_worked_out_by_hand() {
        let column = Column::of(vec![5.0, 1.0, 5.0, 50.0]);
        let root = 2f64.sqrt();
        for (cell, expected) in [
            (1.0, -root),
            (5.0, 0.0),
            (50.0, root),
            (3.0, -root / 2.0),
            (52.0, root + 2.0),
            (0.0, -root - 1.0),
        ] {
            assert!((column.apply(cell) - expected).abs() < 1e-12, "{cell}: {}", column.apply(cell));
        }
    }

    #[test]
    fn a_constant_column_keeps_what_is_beyond_it() {
        let column = Column::of(vec![2.0; 9]);
        assert_eq!([column.apply(2.0), column.apply(5.0), column.apply(1.5)], [0.0, 3.0, -0.5]);
    }

    #[test] // Law: order is kept, also where points were left out.
    fn ranks_rise_with_the_cells() {
        let mut stream = crate::Seed(4).stream("cells", &[]);
        let cells: Vec<f64> = (0..5_000).map(|_| stream.normal().powi(3)).collect();
        let column = Column::of(cells.clone());
        assert_eq!(column.values.len(), MOST_POINTS);
        let mut sorted = cells;
        sorted.sort_unstable_by(f64::total_cmp);
        let ranked: Vec<f64> = sorted.iter().map(|&cell| column.apply(cell)).collect();
        assert!(ranked.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ranked[0] < -3.0 && ranked[4_999] > 3.0);
    }
}
