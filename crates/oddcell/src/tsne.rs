//! Exact t-SNE: rows of many columns as points of a picture, neighbours beside neighbours.
//!
//! *Why:* a picture of normal, noised and anomalous rows shows whether the noise lands where anomalies are.
//! *Formula* (van der Maaten and Hinton 2008, JMLR 9): p(j|i) ∝ exp(−βᵢ |xᵢ − xⱼ|²), βᵢ such that the
//! perplexity exp(−Σⱼ p(j|i) ln p(j|i)) is the one asked for; pᵢⱼ = (p(j|i) + p(i|j)) / 2n; wᵢⱼ = 1 / (1 +
//! |yᵢ − yⱼ|²), qᵢⱼ = wᵢⱼ / Σ w. The loss Σ pᵢⱼ ln(pᵢⱼ/qᵢⱼ) has the gradient 4 Σⱼ (pᵢⱼ − qᵢⱼ) wᵢⱼ (yᵢ − yⱼ),
//! followed with momentum and gains; in the first iterations p is exaggerated. The start is the first two
//! principal components, made small.
//! *Cost:* O(n²) memory and O(n²) time per iteration.
//! *Invariants:* no randomness; the same bits for any number of threads · every point is finite, because
//! every force is bounded · rows that are all equal stay in one point, and rows on a line stay on a line.

use rayon::prelude::*;

use crate::Matrix;

/// Rows beyond this would need gigabytes.
const MOST_ROWS: usize = 10_000;
/// Iterations with exaggerated neighbourhoods and low momentum.
const EARLY_ITERATIONS: usize = 250;
/// Momentum in the early iterations and after them.
const MOMENTA: (f64, f64) = (0.5, 0.8);
/// Gains never fall below this.
const LEAST_GAIN: f64 = 0.01;
/// Standard deviation of both coordinates at the start.
const START_DEVIATION: f64 = 1e-4;
/// Halvings of the interval of β. The entropy is then as exact as its sum.
const BISECTIONS: usize = 100;
/// Steps of the power iteration. A start needs no more digits.
const POWER_STEPS: usize = 100;

/// How the points are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TsneParams {
    /// Effective number of neighbours of a row; above 1 and below the number of rows minus 1.
    pub perplexity: f64,
    /// Steps of gradient descent.
    pub iterations: usize,
    /// By how much neighbours attract more in the first 250 iterations; 1 or more.
    pub exaggeration: f64,
}

impl Default for TsneParams {
    fn default() -> Self {
        Self { perplexity: 30.0, iterations: 1000, exaggeration: 12.0 }
    }
}

impl TsneParams {
    /// The default, with a smaller perplexity where there are too few rows for it.
    #[must_use]
    pub fn for_rows(n_rows: usize) -> Self {
        let usual = Self::default();
        Self { perplexity: usual.perplexity.min(n_rows as f64 / 4.0).max(1.5), ..usual }
    }
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TsneError {
    /// Neighbourhoods need more rows, or memory fewer.
    #[error("found {got} rows, but t-SNE needs 4 to {MOST_ROWS}")]
    RowCount {
        /// Number of rows.
        got: usize,
    },
    /// Nothing sets the rows apart.
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
    #[error("{name}: found {got}, but allowed is {allowed}")]
    Param {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        got: f64,
        /// The range.
        allowed: String,
    },
}

/// One point for every row. Columns count by their spread: scale them first.
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

/// Everything is as it should be.
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

/// All values divided by the largest, so that no square overflows. The perplexity is found for any unit of
/// length.
fn scaled(values: &[f64]) -> Vec<f64> {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    // A subnormal divisor could overflow again; differences that small are none.
    if largest >= f64::MIN_POSITIVE {
        values.iter().map(|value| value / largest).collect()
    } else {
        vec![0.0; values.len()]
    }
}

/// p(j|i) with i the row of an n × n matrix; p(i|i) = 0.
fn conditional(rows: &[f64], n_columns: usize, perplexity: f64) -> Vec<f64> {
    let n = rows.len() / n_columns;
    let mut matrix = vec![0.0; n * n];
    matrix.par_chunks_mut(n).enumerate().for_each(|(i, out)| {
        let row = &rows[i * n_columns..][..n_columns];
        for (out, other) in out.iter_mut().zip(rows.chunks_exact(n_columns)) {
            *out = row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
        }
        neighbourhood(out, i, libm::log(perplexity));
    });
    matrix
}

/// Turns the squared distances of row `own` into the distribution with the entropy asked for.
///
/// Distances count from the nearest other row, so the largest weight is 1 and nothing underflows to 0/0, and
/// in units of their mean, so β starts at 1 whatever the data. The entropy falls from ln(n − 1) at β = 0 to
/// the logarithm of the number of nearest rows; if those are more than the perplexity, β ends at its bound,
/// and they share the weight.
fn neighbourhood(distances: &mut [f64], own: usize, entropy: f64) {
    let others = (distances.len() - 1) as f64;
    distances[own] = f64::INFINITY;
    let nearest = distances.iter().fold(f64::INFINITY, |nearest, &distance| nearest.min(distance));
    let mean = distances
        .iter()
        .filter(|distance| distance.is_finite())
        .map(|distance| distance - nearest)
        .sum::<f64>()
        / others;
    let unit = if mean >= f64::MIN_POSITIVE { mean } else { 1.0 };
    for distance in distances.iter_mut() {
        *distance = (*distance - nearest) / unit;
    }
    let (mut low, mut high, mut beta) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..BISECTIONS {
        if entropy_at(distances, beta) > entropy {
            low = beta;
            beta = if high.is_finite() { f64::midpoint(low, high) } else { beta * 2.0 };
        } else {
            high = beta;
            beta = f64::midpoint(low, high);
        }
    }
    let mut total = 0.0;
    for distance in distances.iter_mut() {
        *distance = libm::exp(-beta * *distance);
        total += *distance;
    }
    for weight in distances.iter_mut() {
        *weight /= total;
    }
}

/// Entropy of weights exp(−βd): ln Σ exp(−βd) + β Σ d exp(−βd) / Σ exp(−βd). An infinite distance has no
/// weight.
fn entropy_at(distances: &[f64], beta: f64) -> f64 {
    let (mut total, mut moment) = (0.0, 0.0);
    for &distance in distances.iter().filter(|distance| distance.is_finite()) {
        let weight = libm::exp(-beta * distance);
        total += weight;
        moment += distance * weight;
    }
    libm::log(total) + beta * moment / total
}

/// pᵢⱼ = (p(j|i) + p(i|j)) / 2n.
fn joint(mut conditional: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        for j in 0..i {
            let mean = (conditional[i * n + j] + conditional[j * n + i]) / (2.0 * n as f64);
            conditional[i * n + j] = mean;
            conditional[j * n + i] = mean;
        }
    }
    conditional
}

/// The first two principal components of the rows, both scaled down to the same spread.
fn start(rows: &[f64], n_columns: usize) -> [Vec<f64>; 2] {
    let n = rows.len() / n_columns;
    let mut centred = rows.to_vec();
    for column in 0..n_columns {
        let mean = rows.iter().skip(column).step_by(n_columns).sum::<f64>() / n as f64;
        centred.iter_mut().skip(column).step_by(n_columns).for_each(|value| *value -= mean);
    }
    let first = principal(&centred, n_columns, None);
    let second = principal(&centred, n_columns, Some(&first));
    // Each axis in its own unit: where one far row makes the first component much longer than the second, the second would
    // otherwise be pulled to nothing before it unfolds, and the picture would be a line.
    [first, second].map(|direction| {
        let axis: Vec<f64> = centred.chunks_exact(n_columns).map(|row| dot(row, &direction)).collect();
        let deviation = libm::sqrt(dot(&axis, &axis) / n as f64);
        let scale = if deviation > 0.0 { START_DEVIATION / deviation } else { 0.0 };
        axis.into_iter().map(|value| value * scale).collect()
    })
}

/// The direction of largest spread, or of the largest spread across `known`, by power iteration; zero if
/// there is no spread. The sign is such that its largest entry is positive.
fn principal(centred: &[f64], n_columns: usize, known: Option<&[f64]>) -> Vec<f64> {
    let spread = dot(centred, centred);
    // Any direction that is not by accident across the one we look for.
    let mut direction: Vec<f64> = (0..n_columns).map(|column| libm::cos(column as f64)).collect();
    for _ in 0..POWER_STEPS {
        if let Some(known) = known {
            let along = dot(&direction, known);
            direction.iter_mut().zip(known).for_each(|(value, known)| *value -= along * known);
        }
        let mut next = vec![0.0; n_columns];
        for row in centred.chunks_exact(n_columns) {
            let along = dot(row, &direction);
            next.iter_mut().zip(row).for_each(|(next, value)| *next += along * value);
        }
        let length = libm::sqrt(dot(&next, &next));
        // Below this there is only what rounding left over.
        if length <= 1e-12 * spread {
            return vec![0.0; n_columns];
        }
        direction = next.into_iter().map(|value| value / length).collect();
    }
    let largest = direction
        .iter()
        .fold(0.0_f64, |largest, &value| if value.abs() > largest.abs() { value } else { largest });
    if largest < 0.0 { direction.into_iter().map(|value| -value).collect() } else { direction }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Sums that run side by side: the compiler may not reorder additions, and a single sum waits for itself.
const LANES: usize = 4;

/// What other points do to one: Σ p w (y − yⱼ), Σ w² (y − yⱼ) and Σ w, in `LANES` parts.
#[derive(Default)]
struct Forces {
    attraction: [[f64; LANES]; 2],
    repulsion: [[f64; LANES]; 2],
    weights: [f64; LANES],
}

impl Forces {
    /// Adds the forces of some points on the one at `place`.
    fn add(&mut self, place: (f64, f64), p: &[f64], x: &[f64], y: &[f64]) {
        let whole = p.len() - p.len() % LANES;
        let chunks = p.chunks_exact(LANES).zip(x.chunks_exact(LANES)).zip(y.chunks_exact(LANES));
        for ((p, x), y) in chunks {
            for lane in 0..LANES {
                self.add_one(lane, place, p[lane], (x[lane], y[lane]));
            }
        }
        for j in whole..p.len() {
            self.add_one(j - whole, place, p[j], (x[j], y[j]));
        }
    }

    #[inline(always)]
    fn add_one(&mut self, lane: usize, place: (f64, f64), p: f64, other: (f64, f64)) {
        let (dx, dy) = (place.0 - other.0, place.1 - other.1);
        let w = 1.0 / (1.0 + dx * dx + dy * dy);
        let (pull, push) = (p * w, w * w);
        self.attraction[0][lane] += pull * dx;
        self.attraction[1][lane] += pull * dy;
        self.repulsion[0][lane] += push * dx;
        self.repulsion[1][lane] += push * dy;
        self.weights[lane] += w;
    }
}

/// The gradient of the loss at every point, with p times `exaggeration`.
fn gradient(p: &[f64], x: &[f64], y: &[f64], exaggeration: f64) -> Vec<(f64, f64)> {
    let n = x.len();
    let on_point = |(i, p): (usize, &[f64])| {
        let mut forces = Forces::default();
        // Before and after the point itself: its own weight of 1 would drown those of far points.
        forces.add((x[i], y[i]), &p[..i], &x[..i], &y[..i]);
        forces.add((x[i], y[i]), &p[i + 1..], &x[i + 1..], &y[i + 1..]);
        forces
    };
    let forces: Vec<Forces> = p.par_chunks_exact(n).enumerate().map(on_point).collect();
    // Summed in the order of the rows, whichever thread was first.
    let total: f64 = forces.iter().flat_map(|forces| forces.weights).sum();
    let slope = |forces: &Forces, axis: usize| {
        let (attraction, repulsion) = (forces.attraction[axis].iter(), forces.repulsion[axis].iter());
        4.0 * (exaggeration * attraction.sum::<f64>() - repulsion.sum::<f64>() / total)
    };
    forces.iter().map(|forces| (slope(forces, 0), slope(forces, 1))).collect()
}

/// Speed and gain of one coordinate of all points.
struct Descent {
    speeds: Vec<f64>,
    gains: Vec<f64>,
}

impl Descent {
    fn new(n: usize) -> Self {
        Self { speeds: vec![0.0; n], gains: vec![1.0; n] }
    }

    /// One step down the slopes: a gain grows while slope and speed agree on where to go, and shrinks when
    /// they do not. Then the points are centred, as the loss does not care where they are.
    fn step(&mut self, places: &mut [f64], slopes: impl Iterator<Item = f64>, rate: f64, momentum: f64) {
        for (((place, speed), gain), slope) in
            places.iter_mut().zip(&mut self.speeds).zip(&mut self.gains).zip(slopes)
        {
            *gain = if (slope > 0.0) == (*speed > 0.0) { *gain * 0.8 } else { *gain + 0.2 };
            *gain = gain.max(LEAST_GAIN);
            *speed = momentum * *speed - rate * *gain * slope;
            *place += *speed;
        }
        let mean = places.iter().sum::<f64>() / places.len() as f64;
        for place in places.iter_mut() {
            *place -= mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Even numbers in (−1, 1), the same for everybody.
    fn noise(count: usize) -> Vec<f64> {
        (1..=count).map(|k| 2.0 * (k as f64 * 0.618_033_988_749_894_9).fract() - 1.0).collect()
    }

    /// Two clusters of `each` rows in 5 columns, 20 apart in the first.
    fn clusters(each: usize) -> Vec<f64> {
        let mut values = noise(2 * each * 5);
        for row in each..2 * each {
            values[row * 5] += 20.0;
        }
        values
    }

    fn map(values: &[f64], n_columns: usize, params: TsneParams) -> Result<Vec<(f64, f64)>, TsneError> {
        tsne(&Matrix::new(values.to_vec(), values.len() / n_columns, n_columns), &params)
    }

    fn with(perplexity: f64) -> TsneParams {
        TsneParams { perplexity, ..TsneParams::default() }
    }

    /// Σ pᵢⱼ ln(pᵢⱼ/qᵢⱼ), straight from the definition.
    fn loss(p: &[f64], x: &[f64], y: &[f64]) -> f64 {
        let n = x.len();
        let w = |i: usize, j: usize| 1.0 / (1.0 + (x[i] - x[j]).powi(2) + (y[i] - y[j]).powi(2));
        let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j);
        let total: f64 = pairs().map(|(i, j)| w(i, j)).sum();
        pairs().map(|(i, j)| p[i * n + j] * (p[i * n + j] * total / w(i, j)).ln()).sum()
    }

    #[test]
    fn two_clusters_stay_apart() {
        let points = map(&clusters(40), 5, with(10.0)).unwrap();
        let distance = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
        let (left, right) = points.split_at(40);
        let widest = |cluster: &[(f64, f64)]| {
            cluster.iter().flat_map(|&a| cluster.iter().map(move |&b| distance(a, b))).fold(0.0, f64::max)
        };
        let nearest =
            left.iter().flat_map(|&a| right.iter().map(move |&b| distance(a, b))).fold(1e9, f64::min);
        // In every cluster all points are nearer to each other than any to the other cluster.
        assert!(nearest > widest(left).max(widest(right)), "{nearest}, {}, {}", widest(left), widest(right));
        // And a cluster is no single point.
        assert!(widest(left) > 1.0);
    }

    #[test]
    fn few_rows_have_a_perplexity_that_they_can_have() {
        assert_eq!(TsneParams::for_rows(2000), TsneParams::default());
        for n in [4, 5, 7, 30, 119] {
            let rows = Matrix::new(noise(2 * n), n, 2);
            assert_eq!(tsne(&rows, &TsneParams::for_rows(n)).unwrap().len(), n);
        }
    }

    #[test]
    fn every_neighbourhood_has_the_perplexity_asked_for() {
        for perplexity in [1.5, 5.0, 30.0, 70.0] {
            let p = conditional(&clusters(40), 5, perplexity);
            for (i, row) in p.chunks(80).enumerate() {
                assert_eq!(row[i], 0.0);
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let entropy: f64 = row.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
                assert!((entropy.exp() - perplexity).abs() < 1e-8 * perplexity, "{i}: {}", entropy.exp());
            }
        }
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let n = 7;
        let p = joint(conditional(&noise(n * 3), 3, 3.0), n);
        let (x, y): (Vec<f64>, Vec<f64>) = (noise(n), noise(3 * n).split_off(2 * n));
        let slopes = gradient(&p, &x, &y, 1.0);
        let step = 1e-5;
        for i in 0..n {
            let moved = |axis: &[f64], by: f64| {
                let mut axis = axis.to_vec();
                axis[i] += by;
                axis
            };
            let along_x = (loss(&p, &moved(&x, step), &y) - loss(&p, &moved(&x, -step), &y)) / (2.0 * step);
            let along_y = (loss(&p, &x, &moved(&y, step)) - loss(&p, &x, &moved(&y, -step))) / (2.0 * step);
            assert!((slopes[i].0 - along_x).abs() < 1e-9, "{} and {along_x}", slopes[i].0);
            assert!((slopes[i].1 - along_y).abs() < 1e-9, "{} and {along_y}", slopes[i].1);
        }
    }

    #[test]
    fn descent_makes_the_loss_smaller() {
        let rows = clusters(20);
        let p = joint(conditional(&rows, 5, 8.0), 40);
        let at = |iterations: usize| {
            let points = map(&rows, 5, TsneParams { iterations, ..with(8.0) }).unwrap();
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            loss(&p, &x, &y)
        };
        let (early, late) = (at(0), at(1000));
        assert!(late < 0.3 * early, "{early} to {late}");
    }

    // Rows on the diagonal of a plane in 3 columns: the first component is (1, 1, 0)/√2, the second (0, 0,
    // 1).
    #[test]
    fn the_start_is_the_principal_components() {
        let rows: Vec<f64> =
            (-3..=3).flat_map(|k| [f64::from(k), f64::from(k), 0.1 * f64::from(k * k) - 0.4]).collect();
        let first = principal(&rows, 3, None);
        let second = principal(&rows, 3, Some(&first));
        let half = 0.5_f64.sqrt();
        for (got, expected) in first.iter().chain(&second).zip([half, half, 0.0, 0.0, 0.0, 1.0]) {
            assert!((got - expected).abs() < 1e-9, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_far_row_does_not_press_the_others_onto_a_line() {
        let mut rows = noise(60 * 3);
        rows[0] = 300.0;
        let points = map(&rows, 3, with(10.0)).unwrap();
        let spread = |axis: fn(&(f64, f64)) -> f64| {
            let values = || points[1..].iter().map(axis);
            values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
        };
        let (x, y) = (spread(|point| point.0), spread(|point| point.1));
        assert!(y > 0.1 * x && x > 0.1 * y, "{x} and {y}");
    }

    #[test]
    fn equal_rows_stay_in_one_point() {
        for value in [0.0, 3.7, 1e308, 5e-324] {
            let points = map(&[value; 20], 2, with(3.0)).unwrap();
            assert!(points.iter().all(|&point| point == points[0] && point.0.is_finite()), "{points:?}");
        }
    }

    #[test]
    fn more_equal_rows_than_neighbours_and_huge_values_give_finite_points() {
        let mut rows = vec![1e308; 30];
        rows.extend(noise(10).iter().map(|value| value * 1e308));
        let points = map(&rows, 1, with(5.0)).unwrap();
        assert!(points.iter().all(|point| point.0.is_finite() && point.1 == 0.0), "{points:?}");
    }

    #[test]
    fn what_cannot_be_drawn_is_a_named_error() {
        let error = |values: &[f64], n_columns, params| map(values, n_columns, params).unwrap_err();
        assert_eq!(error(&[1.0; 6], 2, with(2.0)), TsneError::RowCount { got: 3 });
        assert_eq!(error(&[], 2, with(2.0)), TsneError::RowCount { got: 0 });
        assert_eq!(tsne(&Matrix::zeros(9, 0), &with(2.0)), Err(TsneError::NoColumns));
        let mut holed = [0.0; 8];
        holed[5] = f64::INFINITY;
        assert_eq!(
            error(&holed, 2, with(2.0)),
            TsneError::NotFinite { row: 3, column: 2, got: f64::INFINITY }
        );
        for perplexity in [9.0, 1.0, -2.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                error(&noise(20), 2, with(perplexity)),
                TsneError::Param { name: "perplexity", .. }
            ));
        }
        for exaggeration in [0.0, f64::NAN] {
            let params = TsneParams { exaggeration, ..with(3.0) };
            assert!(matches!(error(&noise(20), 2, params), TsneError::Param { name: "exaggeration", .. }));
        }
    }

    #[test]
    fn one_thread_and_three_give_the_same_bits() {
        let rows = clusters(30);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| map(&rows, 5, with(7.0)).unwrap())
        };
        assert_eq!(on(1), on(3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test] // Law: whatever the rows, with ties and constant columns, all points are finite and centred.
        fn points_are_finite_and_centred(
            cells in prop::collection::vec(-3i8..4, 12..60), n_columns in 1_usize..4
        ) {
            let n = cells.len() / n_columns;
            let rows: Vec<f64> = cells[..n * n_columns].iter().map(|&cell| f64::from(cell)).collect();
            let params = TsneParams { iterations: 300, ..with(1.9) };
            let points = map(&rows, n_columns, params).unwrap();
            prop_assert_eq!(points.len(), n);
            let size = points.iter().fold(1.0_f64, |size, point| size.max(point.0.abs()).max(point.1.abs()));
            prop_assert!(size.is_finite());
            prop_assert!(points.iter().map(|point| point.0).sum::<f64>().abs() < 1e-9 * size * n as f64);
        }
    }
}
