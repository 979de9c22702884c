//! Where the descent starts: at the first two principal components.

/// Standard deviation of both coordinates at the start.
const START_DEVIATION: f64 = 1e-4;
/// Steps of the power iteration. A start needs no more digits.
const POWER_STEPS: usize = 100;

/// The first two principal components of the rows, both scaled down to the same spread.
pub(super) fn start(rows: &[f64], n_columns: usize) -> [Vec<f64>; 2] {
    let n = rows.len() / n_columns;
    let mut centered = rows.to_vec();
    for column in 0..n_columns {
        let mean = rows.iter().skip(column).step_by(n_columns).sum::<f64>() / n as f64;
        centered.iter_mut().skip(column).step_by(n_columns).for_each(|value| *value -= mean);
    }
    let first = principal(&centered, n_columns, None);
    let second = principal(&centered, n_columns, Some(&first));
    // Each axis has its own unit. Otherwise, one far row that makes the first component much longer than the second
    // would shrink the second to nothing before it unfolds, and the picture would be a line.
    [first, second].map(|direction| {
        let axis: Vec<f64> = centered.chunks_exact(n_columns).map(|row| dot(row, &direction)).collect();
        let deviation = libm::sqrt(dot(&axis, &axis) / n as f64);
        let scale = if deviation > 0.0 { START_DEVIATION / deviation } else { 0.0 };
        axis.into_iter().map(|value| value * scale).collect()
    })
}

/// The direction of the largest spread, or of the largest spread orthogonal to `known`, by power iteration; zero if
/// there is no spread. Its largest entry is positive.
pub(super) fn principal(centered: &[f64], n_columns: usize, known: Option<&[f64]>) -> Vec<f64> {
    let spread = dot(centered, centered);
    // Any direction that is unlikely to be orthogonal to the one we look for.
    let mut direction: Vec<f64> = (0..n_columns).map(|column| libm::cos(column as f64)).collect();
    for _ in 0..POWER_STEPS {
        if let Some(known) = known {
            let along = dot(&direction, known);
            direction.iter_mut().zip(known).for_each(|(value, known)| *value -= along * known);
        }
        let mut next = vec![0.0; n_columns];
        for row in centered.chunks_exact(n_columns) {
            let along = dot(row, &direction);
            next.iter_mut().zip(row).for_each(|(next, value)| *next += along * value);
        }
        let length = libm::sqrt(dot(&next, &next));
        // Below this, only rounding errors are left.
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
