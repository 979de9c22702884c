//! The map: rows as points of a plane, similar rows close together. It is t-SNE of the detector's last hidden layer, or
//! of the encoded rows if the detector has no such layer.
//!
//! The map shows a random sample of the rows, and always the oddest rows. Rows are compared by their coordinates. Levels and
//! signs, which encoded rows also have, are no coordinates: a level is only a position in a list.

use std::collections::BTreeSet;

use oddcell::{Error, Fitted, Matrix, Seed, noise::Noise};
use serde::Serialize;

use crate::{
    oddest::KeptRow,
    sample::Sampled,
    tsne::{TsneParams, tsne},
};

/// The number of oddest rows on the map.
const ODDEST_ROWS: usize = 200;
/// The number of noised rows on the map.
const NOISED_ROWS: usize = 300;
/// The length of the map's longer side, in units.
const SIDE: f64 = 1_000.0;

/// The points of a map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Map {
    /// Whether they come from a hidden layer.
    pub(crate) layer: bool,
    /// The number of rows taken at random.
    pub(crate) sampled: usize,
    pub(crate) points: Vec<Point>,
    /// Noised rows.
    pub(crate) noised: Vec<(f64, f64)>,
}

/// Coordinates, number, score and p-value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Point(f64, f64, usize, f64, f64);

/// Computes the map; `None` if there are too few rows. Without a detector, or if it has no hidden layer, the encoded
/// rows are drawn. With the noise that the detector was trained with, the map also shows some rows with noise.
/// `coordinates` are the features by which rows are compared.
pub(crate) fn map(
    fitted: Option<&dyn Fitted>,
    noise: Option<&Noise>,
    sample: &[Sampled],
    oddest: &[KeptRow],
    coordinates: &[usize],
    seed: Seed,
) -> Result<Option<Map>, Error> {
    let known: BTreeSet<usize> = sample.iter().map(|row| row.row).collect();
    let odd = oddest.iter().take(ODDEST_ROWS).filter(|row| !known.contains(&row.row));
    let sampled = sample.iter().map(|row| (row.row, row.score, row.p, &row.features));
    let rows: Vec<(usize, f64, f64, &Vec<f64>)> =
        sampled.chain(odd.map(|row| (row.row, row.score, row.p, &row.features))).collect();
    let features: Vec<&[f64]> = rows.iter().map(|row| row.3.as_slice()).collect();
    let mut inputs = vec![Matrix::from_rows(&features)];
    if let Some(noise) = noise.filter(|_| !sample.is_empty()) {
        let normal: Vec<&[f64]> = sample.iter().map(|row| row.features.as_slice()).collect();
        let some: Vec<u32> = (0..sample.len().min(NOISED_ROWS) as u32).collect();
        let noised = noise.noised(&only(&Matrix::from_rows(&normal), coordinates), &some, seed);
        inputs.push(spread_out(&noised, coordinates, normal[0].len()));
    }
    let mut layers = Vec::new();
    for input in &inputs {
        layers.extend(fitted.map(|fitted| fitted.embed(input)).transpose()?.flatten());
    }
    let layer = layers.len() == inputs.len();
    let drawn = if layer { stacked(&layers) } else { only(&stacked(&inputs), coordinates) };
    let Ok(mut places) = tsne(&drawn, &TsneParams::for_rows(drawn.n_rows())) else { return Ok(None) };
    fit(&mut places);
    let noised = places.split_off(rows.len());
    let point = |(&(row, score, p, _), (x, y))| Point(x, y, row, score, p);
    let points = rows.iter().zip(places).map(point).collect();
    Ok(Some(Map { layer, sampled: sample.len(), points, noised }))
}

/// These features of every row.
fn only(rows: &Matrix, features: &[usize]) -> Matrix {
    let values = rows.rows().flat_map(|row| features.iter().map(|&feature| row[feature])).collect();
    Matrix::new(values, rows.n_rows(), features.len())
}

/// Puts the columns of `rows` at the places `features` among `n_features`; all others are 0.
fn spread_out(rows: &Matrix, features: &[usize], n_features: usize) -> Matrix {
    let mut all = Matrix::zeros(rows.n_rows(), n_features);
    for (at, row) in rows.rows().enumerate() {
        let all = all.row_mut(at);
        features.iter().zip(row).for_each(|(&feature, &x)| all[feature] = x);
    }
    all
}

/// Stacks matrices on top of each other.
fn stacked(parts: &[Matrix]) -> Matrix {
    let values = parts.iter().flat_map(|part| part.values().iter().copied()).collect();
    Matrix::new(values, parts.iter().map(Matrix::n_rows).sum(), parts[0].n_cols())
}

/// Shifts the points to 0 and above, scales them to the size of the map, and rounds them, which keeps the page small.
fn fit(points: &mut [(f64, f64)]) {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = || points.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (top, bottom)) = (range(|point| point.0), range(|point| point.1));
    let size = (right - left).max(bottom - top);
    let scale = if size > 0.0 { SIDE / size } else { 0.0 };
    for (x, y) in points {
        (*x, *y) = (((*x - left) * scale).round(), ((*y - top) * scale).round());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(row: usize, x: f64) -> Sampled {
        Sampled { row, score: x, p: 0.5, features: vec![x, -x] }
    }

    #[test]
    fn points_fill_the_map_and_keep_its_shape() {
        let mut points = [(-1.0, 2.0), (3.0, 4.0), (1.0, 3.0)];
        fit(&mut points);
        assert_eq!(points, [(0.0, 0.0), (1000.0, 500.0), (500.0, 250.0)]);
        let mut one = [(5.0, 5.0); 2];
        fit(&mut one);
        assert_eq!(one, [(0.0, 0.0); 2]);
    }

    #[test]
    fn a_row_that_is_sampled_and_odd_is_one_point_and_few_rows_are_no_map() {
        let sample: Vec<Sampled> = (1..=12).map(|row| sampled(row, row as f64)).collect();
        let odd = |row| KeptRow { row, features: vec![9.0, 9.0], ..KeptRow::default() };
        let map = |sample: &[Sampled]| {
            super::map(None, None, sample, &[odd(3), odd(40)], &[0, 1], Seed(0)).unwrap()
        };
        let found = map(&sample).unwrap();
        assert_eq!((found.points.len(), found.sampled, found.layer), (13, 12, false));
        assert_eq!(found.points[12].2, 40);
        assert_eq!(map(&sample[..1]), None);
    }

    #[test]
    fn levels_and_signs_do_not_move_points() {
        let rows = |level: fn(usize) -> f64| -> Vec<Sampled> {
            let features = |row: usize| vec![row as f64, level(row), -(row as f64)];
            (1..=12).map(|row| Sampled { features: features(row), ..sampled(row, row as f64) }).collect()
        };
        let map = |sample: &[Sampled]| super::map(None, None, sample, &[], &[0, 2], Seed(0)).unwrap();
        let coded = map(&rows(|row| (row * 7919 % 1_000) as f64));
        assert!(coded.is_some());
        assert_eq!(coded, map(&rows(|_| 0.0)));
    }
}
