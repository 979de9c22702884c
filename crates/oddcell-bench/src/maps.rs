//! Maps of rows: t-SNE of a net's last hidden layer for normal, noised and anomalous rows, as in the paper's figure.
//!
//! If anomalies lie among noised rows and away from normal rows, the net has learned what it needs. No choice depends
//! on a map.

use oddcell::{Context, Error, Matrix, Seed};
use oddcell_report::tsne::{TsneError, TsneParams, tsne};

use crate::{
    figures::{Axes, Figure, FigureError, Group, scatter},
    methods::Method,
    protocol::Split,
};

/// The most rows of each kind on a map.
const MOST_ROWS: usize = 500;

/// Why there is no map.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The method has no hidden layer.
    #[error("method `{0}` has no hidden layer to draw; choose noise, noise-paper-mlp or noise-paper-resmlp")]
    NoLayer(String),
    /// Its parameters are invalid, or it could not be fitted, or rows could not be judged.
    #[error(transparent)]
    Method(#[from] oddcell::Error),
    /// t-SNE failed.
    #[error(transparent)]
    Tsne(#[from] TsneError),
    /// The picture could not be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
}

/// Draws the map of a method fitted on a split.
pub fn map(method: &Method, split: &Split, title: &str, seed: Seed) -> Result<Figure, MapError> {
    let no_layer = || MapError::NoLayer(method.name.clone());
    let spec = method.spec.as_ref().ok_or_else(no_layer)?;
    let noise = spec.noise().ok_or_else(no_layer)?;
    let fitted =
        spec.build().map_err(Error::from)?.fit(&split.train, &Context::silent(seed)).map_err(Error::from)?;
    let some = |wanted: bool| {
        let mut rows: Vec<usize> = (0..split.truth.len()).filter(|&row| split.truth[row] == wanted).collect();
        seed.stream("map", &[u64::from(wanted)]).shuffle(&mut rows);
        rows.truncate(MOST_ROWS);
        split.test.take(&rows)
    };
    let mut noised: Vec<u32> = (0..split.train.n_rows() as u32).collect();
    seed.stream("map", &[2]).shuffle(&mut noised);
    noised.truncate(MOST_ROWS);
    let groups = [
        ("normal rows", some(false)),
        ("noised training rows", noise.noised(&split.train, &noised, seed)),
        ("anomalies", some(true)),
    ];
    let mut values = Vec::new();
    let mut n_units = 0;
    for (_, rows) in &groups {
        let layer = fitted.embed(rows).map_err(Error::from)?.ok_or_else(no_layer)?;
        n_units = layer.n_cols();
        values.extend(layer.into_values());
    }
    let layer = Matrix::new(values, groups.iter().map(|(_, rows)| rows.n_rows()).sum(), n_units);
    let params = TsneParams::for_rows(layer.n_rows());
    let mut points = tsne(&layer, &params)?.into_iter();
    let groups = groups.map(|(name, rows)| Group {
        name: name.to_owned(),
        points: points.by_ref().take(rows.n_rows()).collect(),
        labels: None,
    });
    let axes =
        Axes { title, x_title: "t-SNE, first dimension", y_title: "t-SNE, second dimension", log_x: false };
    Ok(scatter(&axes, &groups)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split() -> Split {
        let mut stream = Seed(1).stream("rows", &[]);
        let mut matrix =
            |n: usize, center: f64| Matrix::new((0..3 * n).map(|_| center + stream.normal()).collect(), n, 3);
        let (train, normal, odd) = (matrix(60, 0.0), matrix(40, 0.0), matrix(10, 8.0));
        let values = normal.values().iter().chain(odd.values()).copied().collect();
        let truth = (0..50).map(|row| row >= 40).collect();
        Split { train, test: Matrix::new(values, 50, 3), truth, is_one_table: false }
    }

    #[test]
    fn every_row_is_a_point_of_its_kind() {
        let method = Method::named("noise").unwrap().with("train_for", "50 steps").unwrap();
        let figure = map(&method, &split(), "made", Seed(1)).unwrap();
        for name in ["normal rows", "noised training rows", "anomalies"] {
            assert!(figure.svg.contains(name), "{name}");
        }
        assert_eq!(figure, map(&method, &split(), "made", Seed(1)).unwrap());
    }

    #[test]
    fn a_method_without_a_layer_is_refused_by_name() {
        let error = map(&Method::named("knn").unwrap(), &split(), "made", Seed(1)).unwrap_err();
        assert!(error.to_string().starts_with("method `knn` has no hidden layer"), "{error}");
    }
}
