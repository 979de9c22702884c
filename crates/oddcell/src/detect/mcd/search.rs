//! `FastMCD`: the h rows whose covariance has the smallest determinant, approximately.
//!
//! *Why it works:* a concentration step takes mean and covariance of h rows, and then the h rows nearest to them. The
//! determinant never grows. So from many random halves, a few steps each, the best are followed to their end.
//!
//! *Large tables:* above 500 rows, random parts of about 300 rows are searched first; the best of each part go on in a
//! random sample of 1,500 rows, and the best of these on all rows. Sizes and counts are those of scikit-learn.

use rayon::prelude::*;

use super::symmetric::{Inverted, Shape};
use crate::{Context, Matrix, error::FitError};

/// Above this many rows, parts are searched first.
const MOST_ROWS_AT_ONCE: usize = 500;
const ROWS_OF_A_PART: usize = 300;
const ROWS_OF_A_SAMPLE: usize = 1_500;
/// Random halves to start from, of a table and of all parts together.
const STARTS: usize = 30;
const STARTS_OF_PARTS: usize = 500;
/// How many candidates go on.
const BEST: usize = 10;
/// Steps from a random half, and steps to the end.
const FIRST_STEPS: usize = 2;
const MOST_STEPS: usize = 30;

/// Mean and covariance of the `n_support` rows that were found. Rows: at least two, cells of moderate size.
pub(super) fn smallest(rows: &Matrix, n_support: usize, context: &Context<'_>) -> Result<Inverted, FitError> {
    let n_rows = rows.n_rows();
    let all: Vec<usize> = (0..n_rows).collect();
    if rows.n_cols() == 1 {
        return Ok(shortest(rows, n_support));
    }
    if n_rows <= MOST_ROWS_AT_ONCE {
        let started = from_random_halves(rows, &all, n_support, STARTS, 0, context)?;
        return Ok(first(best(go_on(rows, &all, n_support, started, context)?, 1)));
    }
    let share = n_support as f64 / n_rows as f64;
    let of = |n: usize| ((n as f64 * share).ceil() as usize).clamp(1, n);
    let n_parts = n_rows / ROWS_OF_A_PART;
    let n_of_part = n_rows / n_parts;
    let mut shuffled = all.clone();
    context.seed.stream("mcd parts", &[]).shuffle(&mut shuffled);
    let starts = (STARTS_OF_PARTS / n_parts).max(BEST);
    let mut candidates = Vec::new();
    for (part, chosen) in shuffled.chunks_exact(n_of_part).take(n_parts).enumerate() {
        candidates.extend(from_random_halves(rows, chosen, of(n_of_part), starts, 1 + part as u64, context)?);
    }
    let n_sample = ROWS_OF_A_SAMPLE.min(n_rows);
    let mut sample = all.clone();
    context.seed.stream("mcd sample", &[]).shuffle(&mut sample);
    sample.truncate(n_sample);
    sample.sort_unstable();
    let merged = best(go_on(rows, &sample, of(n_sample), candidates, context)?, BEST);
    if n_sample == n_rows {
        return Ok(first(merged));
    }
    Ok(first(best(go_on(rows, &all, n_support, merged, context)?, 1)))
}

fn first(candidates: Vec<Inverted>) -> Inverted {
    candidates.into_iter().next().expect("there is at least one start")
}

/// The best candidates after a few steps from random halves of the `chosen` rows.
fn from_random_halves(
    rows: &Matrix,
    chosen: &[usize],
    n_support: usize,
    starts: usize,
    part: u64,
    context: &Context<'_>,
) -> Result<Vec<Inverted>, FitError> {
    crate::context::go_on(context.monitor)?;
    let from = |start: usize| {
        let mut half = chosen.to_vec();
        context.seed.stream("mcd start", &[part, start as u64]).shuffle(&mut half);
        half.truncate(n_support);
        half.sort_unstable();
        concentrate(rows, chosen, n_support, Shape::of(rows, &half).inverted(), FIRST_STEPS)
    };
    Ok(best((0..starts).into_par_iter().map(from).collect(), BEST))
}

/// The candidates after as many steps as it takes, on the `chosen` rows.
fn go_on(
    rows: &Matrix,
    chosen: &[usize],
    n_support: usize,
    candidates: Vec<Inverted>,
    context: &Context<'_>,
) -> Result<Vec<Inverted>, FitError> {
    crate::context::go_on(context.monitor)?;
    let to_the_end = |candidate: Inverted| {
        // The candidate comes from other rows, so its determinant says nothing about these.
        let start = nearest(rows, chosen, n_support, &candidate);
        concentrate(rows, chosen, n_support, Shape::of(rows, &start).inverted(), MOST_STEPS)
    };
    Ok(candidates.into_par_iter().map(to_the_end).collect())
}

/// Concentration steps until the determinant no longer falls. A singular covariance cannot get smaller.
fn concentrate(rows: &Matrix, chosen: &[usize], n_support: usize, start: Inverted, steps: usize) -> Inverted {
    let mut now = start;
    for _ in 0..steps {
        if now.log_determinant == f64::NEG_INFINITY {
            break;
        }
        let next = Shape::of(rows, &nearest(rows, chosen, n_support, &now)).inverted();
        if next.log_determinant >= now.log_determinant {
            break;
        }
        now = next;
    }
    now
}

/// The `n_support` of the chosen rows that are nearest; of equally near rows, the first ones. In row order.
fn nearest(rows: &Matrix, chosen: &[usize], n_support: usize, shape: &Inverted) -> Vec<usize> {
    let mut by_distance: Vec<(f64, usize)> =
        chosen.iter().map(|&row| (shape.distance(rows.row(row)), row)).collect();
    if n_support < by_distance.len() {
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        by_distance.select_nth_unstable_by(n_support, order);
        by_distance.truncate(n_support);
    }
    let mut nearest: Vec<usize> = by_distance.into_iter().map(|(_, row)| row).collect();
    nearest.sort_unstable();
    nearest
}

/// The candidates with the smallest determinants, the smallest first; of equals, the earlier ones.
fn best(mut candidates: Vec<Inverted>, most: usize) -> Vec<Inverted> {
    candidates.sort_by(|a, b| a.log_determinant.total_cmp(&b.log_determinant));
    candidates.truncate(most);
    candidates
}

/// One column: the shortest stretch with so many rows, exactly. Its middle is the location.
fn shortest(rows: &Matrix, n_support: usize) -> Inverted {
    let n_rows = rows.n_rows();
    let all: Vec<usize> = (0..n_rows).collect();
    if n_support == n_rows {
        return Shape::of(rows, &all).inverted();
    }
    let mut sorted = rows.values().to_vec();
    sorted.sort_by(f64::total_cmp);
    // As in scikit-learn: the stretch goes to the next row after the h, and ties are averaged.
    let lengths = || {
        sorted[n_support..].iter().zip(&sorted).map(|(high, low)| (high - low, f64::midpoint(*low, *high)))
    };
    let least = lengths().map(|(length, _)| length).fold(f64::INFINITY, f64::min);
    let middles: Vec<f64> =
        lengths().filter(|(length, _)| *length == least).map(|(_, middle)| middle).collect();
    let location = middles.iter().sum::<f64>() / middles.len() as f64;
    let around = Shape { location: vec![location], covariance: Matrix::from_rows(&[[1.0]]) }.inverted();
    let mut shape = Shape::of(rows, &nearest(rows, &all, n_support, &around));
    shape.location = vec![location];
    shape.inverted()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    // Of 0, 1, 2, 10, 20: the shortest stretch over three steps, from a row to the third after it, is 0 to 10 (middle 5)
    // and 1 to 20; the three rows nearest to 5 are 1, 2 and 0 or 10, with equal distances: the earlier row.
    #[test]
    fn one_column_is_searched_exactly() {
        let rows = Matrix::from_rows(&[[0.0], [1.0], [2.0], [10.0], [20.0]]);
        let found = shortest(&rows, 3);
        assert_eq!(found.shape.location, [5.0]);
        assert_eq!(found.shape.covariance.values(), [2.0 / 3.0]);
    }

    #[test] // 8 of 12 rows near each other: no other eight have a smaller determinant.
    fn the_search_finds_the_rows_that_a_full_search_finds() {
        let mut stream = Seed(4).stream("rows", &[]);
        let rows: Vec<[f64; 2]> = (0..12)
            .map(|row| {
                let far = if row >= 8 { 3.0 } else { 1.0 };
                [far * stream.normal(), far * stream.normal()]
            })
            .collect();
        let rows = Matrix::from_rows(&rows);
        let full = (0u32..1 << 12).filter(|set| set.count_ones() == 8).map(|set| {
            let chosen: Vec<usize> = (0..12).filter(|row| set >> row & 1 == 1).collect();
            Shape::of(&rows, &chosen).inverted().log_determinant
        });
        let least = full.fold(f64::INFINITY, f64::min);
        let found = smallest(&rows, 8, &Context::silent(Seed(1))).unwrap();
        assert!((found.log_determinant - least).abs() < 1e-12, "{} {least}", found.log_determinant);
    }

    #[test]
    fn large_tables_are_searched_in_parts_and_odd_rows_stay_out() {
        let mut stream = Seed(5).stream("rows", &[]);
        let rows = Matrix::new(
            (0..4_000 * 3).map(|at| stream.normal() + if at % 12 < 3 { 20.0 } else { 0.0 }).collect(),
            4_000,
            3,
        );
        let found = smallest(&rows, 2_002, &Context::silent(Seed(1))).unwrap();
        assert!(found.shape.location.iter().all(|mean| mean.abs() < 0.3), "{:?}", found.shape.location);
    }
}
