//! The map: rows as points of a plane, similar rows close together. It is t-SNE of the detector's last hidden layer, or of
//! the encoded rows if the detector has no such layer.
//!
//! The map shows a random sample of the rows, and always the oddest rows.

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

/// What a map is computed from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MapSource<'a> {
    /// The detector whose hidden layer is drawn. Without one, or without a hidden layer, the encoded rows are drawn.
    pub(crate) fitted: Option<&'a dyn Fitted>,
    /// The noise that the detector was trained with. If given, the map also shows some rows with noise, as in training.
    pub(crate) noise: Option<&'a Noise>,
}

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

/// Computes the map; `None` if there are too few rows.
pub(crate) fn map(
    source: MapSource<'_>,
    sample: &[Sampled],
    oddest: &[KeptRow],
    seed: Seed,
) -> Result<Option<Map>, Error> {
    let known: BTreeSet<usize> = sample.iter().map(|row| row.row).collect();
    let odd = oddest.iter().take(ODDEST_ROWS).filter(|row| !known.contains(&row.row));
    let sampled = sample.iter().map(|row| (row.row, row.score, row.p, &row.features));
    let rows: Vec<(usize, f64, f64, &Vec<f64>)> =
        sampled.chain(odd.map(|row| (row.row, row.score, row.p, &row.features))).collect();
    let features: Vec<&[f64]> = rows.iter().map(|row| row.3.as_slice()).collect();
    let mut inputs = vec![Matrix::from_rows(&features)];
    if let Some(noise) = source.noise.filter(|_| !sample.is_empty()) {
        let normal: Vec<&[f64]> = sample.iter().map(|row| row.features.as_slice()).collect();
        let some: Vec<u32> = (0..sample.len().min(NOISED_ROWS) as u32).collect();
        inputs.push(noise.noised(&Matrix::from_rows(&normal), &some, seed));
    }
    let mut layers = Vec::new();
    for input in &inputs {
        layers.extend(source.fitted.map(|fitted| fitted.embed(input)).transpose()?.flatten());
    }
    let layer = layers.len() == inputs.len();
    let drawn = stacked(if layer { &layers } else { &inputs });
    let Ok(mut places) = tsne(&drawn, &TsneParams::for_rows(drawn.n_rows())) else { return Ok(None) };
    fit(&mut places);
    let noised = places.split_off(rows.len());
    let point = |(&(row, score, p, _), (x, y))| Point(x, y, row, score, p);
    let points = rows.iter().zip(places).map(point).collect();
    Ok(Some(Map { layer, sampled: sample.len(), points, noised }))
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
            super::map(MapSource::default(), sample, &[odd(3), odd(40)], Seed(0)).unwrap()
        };
        let found = map(&sample).unwrap();
        assert_eq!((found.points.len(), found.sampled, found.layer), (13, 12, false));
        assert_eq!(found.points[12].2, 40);
        assert_eq!(map(&sample[..1]), None);
    }
}
