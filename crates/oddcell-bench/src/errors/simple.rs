//! Simple detectors of wrong cells, to compare with. They look at a column, or at pairs of columns, and learn nothing else.

use std::collections::HashMap;

use super::{Grid, Said};

/// The most components of a mixture.
const COMPONENTS: usize = 3;
/// Rounds of expectation and maximization.
const ROUNDS: usize = 60;

/// The numbers of a column; `None` if a tenth of its cells or more are none. An empty cell is no number and does not count.
fn numbers(grid: &Grid, column: usize) -> Option<Vec<Option<f64>>> {
    let cells: Vec<&str> = grid.column(column).collect();
    let read = |cell: &&str| cell.parse::<f64>().ok().filter(|number| number.is_finite());
    let numbers: Vec<Option<f64>> = cells.iter().map(read).collect();
    let n_filled = cells.iter().filter(|cell| !cell.is_empty()).count();
    let n_numbers = numbers.iter().flatten().count();
    (n_numbers > 0 && n_numbers * 10 > n_filled * 9).then_some(numbers)
}

/// −ln of the share of the cells of a column that are equal.
fn rarities(grid: &Grid, column: usize) -> Vec<f64> {
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for cell in grid.column(column) {
        *counts.entry(cell).or_default() += 1.0;
    }
    let n = grid.n_rows() as f64;
    grid.column(column).map(|cell| -libm::log(counts[cell] / n)).collect()
}

/// Puts the scores of columns together.
fn by_column(grid: &Grid, of: impl Fn(usize) -> Vec<f64>) -> Said {
    let n_columns = grid.n_columns();
    let mut scores = vec![0.0; grid.cells.len()];
    for column in 0..n_columns {
        for (row, score) in of(column).into_iter().enumerate() {
            scores[row * n_columns + column] = score;
        }
    }
    Said::of_scores(scores)
}

fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Robust z for numbers: the distance from the median, in median absolute deviations / 0.6745. Rarity for names.
pub(super) fn rarity(grid: &Grid) -> Said {
    by_column(grid, |column| {
        let Some(numbers) = numbers(grid, column) else { return rarities(grid, column) };
        let mut sorted: Vec<f64> = numbers.iter().flatten().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = median(&sorted);
        let mut off: Vec<f64> = sorted.iter().map(|number| (number - middle).abs()).collect();
        off.sort_unstable_by(f64::total_cmp);
        let spread = (median(&off) / 0.6745).max(1e-9);
        let score = |(number, rarity): (&Option<f64>, f64)| {
            number.map_or(rarity, |number| ((number - middle).abs() / spread).min(1e6))
        };
        numbers.iter().zip(rarities(grid, column)).map(score).collect()
    })
}

/// −ln of the density of a mixture of normal distributions, fitted to the column; rarity for names.
pub(super) fn mixture(grid: &Grid) -> Said {
    by_column(grid, |column| {
        let Some(numbers) = numbers(grid, column) else { return rarities(grid, column) };
        let known: Vec<f64> = numbers.iter().flatten().copied().collect();
        let fitted = Mixture::fit(&known);
        let rarities = rarities(grid, column);
        numbers
            .iter()
            .zip(rarities)
            .map(|(number, rarity)| number.map_or(rarity, |number| fitted.surprise(number)))
            .collect()
    })
}

/// A mixture of normal distributions over standardized numbers.
struct Mixture {
    mean: f64,
    std: f64,
    /// Weight, mean and variance.
    parts: Vec<[f64; 3]>,
}

impl Mixture {
    fn fit(numbers: &[f64]) -> Self {
        let n = numbers.len().max(1) as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let std = (numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt().max(1e-12);
        let mut z: Vec<f64> = numbers.iter().map(|x| (x - mean) / std).collect();
        z.sort_unstable_by(f64::total_cmp);
        let start = |part: usize| z.get((2 * part + 1) * z.len() / (2 * COMPONENTS)).copied().unwrap_or(0.0);
        let mut parts: Vec<[f64; 3]> =
            (0..COMPONENTS).map(|part| [1.0 / COMPONENTS as f64, start(part), 1.0]).collect();
        for _ in 0..ROUNDS {
            let mut sums = [[1e-9, 0.0, 0.0]; COMPONENTS];
            for &x in &z {
                let shares: Vec<f64> = parts.iter().map(|part| density(part, x)).collect();
                let all = shares.iter().sum::<f64>().max(1e-300);
                for (sum, share) in sums.iter_mut().zip(shares) {
                    let share = share / all;
                    sum[0] += share;
                    sum[1] += share * x;
                    sum[2] += share * x * x;
                }
            }
            parts = sums
                .iter()
                .map(|[n_own, sum, squares]| {
                    let middle = sum / n_own;
                    [n_own / n, middle, (squares / n_own - middle * middle).max(1e-4)]
                })
                .collect();
        }
        Self { mean, std, parts }
    }

    fn surprise(&self, number: f64) -> f64 {
        let x = (number - self.mean) / self.std;
        let density: f64 = self.parts.iter().map(|part| density(part, x)).sum();
        -libm::log(density.max(1e-300))
    }
}

fn density([weight, mean, variance]: &[f64; 3], x: f64) -> f64 {
    let off = x - mean;
    weight * libm::exp(-off * off / (2.0 * variance)) / (2.0 * std::f64::consts::PI * variance).sqrt()
}

/// How rare a value is beside the value of another column, the largest over all other columns: ln of how many times as
/// often that value has its most frequent companion. Numbers are put into ten groups of equal size.
pub(super) fn pairs(grid: &Grid) -> Said {
    let n_columns = grid.n_columns();
    let values: Vec<Vec<u32>> = (0..n_columns).map(|column| values(grid, column)).collect();
    by_column(grid, |column| {
        let mut scores = vec![0.0f64; grid.n_rows()];
        for other in (0..n_columns).filter(|&other| other != column) {
            let mut both: HashMap<(u32, u32), f64> = HashMap::new();
            for (&own, &beside) in values[column].iter().zip(&values[other]) {
                *both.entry((beside, own)).or_default() += 1.0;
            }
            let mut most: HashMap<u32, f64> = HashMap::new();
            #[allow(clippy::iter_over_hash_type, reason = "a maximum does not depend on the order")]
            for (&(beside, _), &n) in &both {
                let best = most.entry(beside).or_default();
                *best = best.max(n);
            }
            for (score, (own, beside)) in scores.iter_mut().zip(values[column].iter().zip(&values[other])) {
                *score = score.max(libm::log(most[beside] / both[&(*beside, *own)]));
            }
        }
        scores
    })
}

/// The values of a column as numbers of their own.
fn values(grid: &Grid, column: usize) -> Vec<u32> {
    if let Some(numbers) = numbers(grid, column) {
        let mut sorted: Vec<f64> = numbers.iter().flatten().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let group = |number: f64| 1 + sorted.partition_point(|&other| other < number) * 10 / sorted.len();
        return numbers.iter().map(|number| number.map_or(0, group) as u32).collect();
    }
    let mut known: HashMap<&str, u32> = HashMap::new();
    grid.column(column)
        .map(|cell| {
            let next = known.len() as u32;
            *known.entry(cell).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(names: &[&str], rows: &[&[&str]]) -> Grid {
        let cells = rows.iter().flat_map(|row| row.iter().map(|&cell| cell.to_owned())).collect();
        Grid { names: names.iter().map(|&name| name.to_owned()).collect(), cells }
    }

    // Median 3 (of 1 2 3 4 90), deviations 2 1 0 1 87, median 1: z = 87·0.6745. The name that is alone: ln 5.
    #[test]
    fn far_numbers_and_rare_names_are_odd() {
        let rows: [&[&str]; 5] = [&["1", "a"], &["2", "a"], &["3", "b"], &["4", "a"], &["90", "a"]];
        let said = rarity(&grid(&["x", "y"], &rows));
        assert!((said.scores[8] - 87.0 * 0.6745).abs() < 1e-9);
        assert!((said.scores[5] - 5f64.ln()).abs() < 1e-12);
    }

    #[test] // The density of a normal distribution at its mean is 1/√(2π).
    fn numbers_where_hardly_any_lies_are_odd_for_a_mixture() {
        assert!((density(&[0.5, 2.0, 1.0], 2.0) - 0.5 / (2.0 * std::f64::consts::PI).sqrt()).abs() < 1e-12);
        let numbers: Vec<f64> = (0..100).map(|at| f64::from(at % 20) / 10.0).collect();
        let fitted = Mixture::fit(&numbers);
        assert!(fitted.surprise(1.0) < 2.0 && fitted.surprise(4.0) > 10.0);
    }

    #[test] // Oslo goes with N three times; once with S: ln 3.
    fn a_value_that_contradicts_another_column_is_odd() {
        let rows: [&[&str]; 6] = [
            &["Oslo", "N"],
            &["Oslo", "N"],
            &["Oslo", "N"],
            &["Oslo", "S"],
            &["Bergen", "S"],
            &["Bergen", "S"],
        ];
        let said = pairs(&grid(&["city", "country"], &rows));
        assert!((said.scores[7] - 3f64.ln()).abs() < 1e-12);
    }
}
