//! Line charts, such as AUC against noise level or during training.

use svg::node::element;

use super::{
    Axes, Figure, FigureError,
    axes::{Legend, Plane},
    canvas::{path, path_data},
    check_count, check_some, check_values, is_drawable, style,
    ticks::Scale,
};

/// A line with more points than this has marks at some points only.
const MARKED_POINTS: usize = 24;
/// Length of a line in the legend.
const SAMPLE: f64 = 28.0;
/// Radius of the marks.
const MARK: f64 = 3.5;

/// One line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points, joined in this order.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper end of a band around the line at every point, such as mean ± standard deviation.
    pub band: Option<Vec<(f64, f64)>>,
}

/// Draws a line chart.
pub fn lines(axes: &Axes<'_>, series: &[Series]) -> Result<Figure, FigureError> {
    check(axes, series)?;
    let xs = series.iter().flat_map(|one| one.points.iter().map(|point| point.0));
    let ys = series.iter().flat_map(|one| one.points.iter().map(|point| point.1).chain(band_values(one)));
    let scales = (Scale::around(xs, axes.log_x), Scale::around(ys, false));
    let names = series.iter().map(|one| one.name.as_str()).collect();
    let sample =
        |index, x, y| strokes(index, &[(x, y), (x + SAMPLE, y)]).add(mark(index, x + SAMPLE / 2.0, y));
    let mut plane = Plane::new(axes, scales, &Legend { names, width: SAMPLE, sample: &sample });
    // Bands come first, so that they hide no line.
    for (index, one) in series.iter().enumerate() {
        if let Some(band) = &one.band {
            plane.picture.canvas.add(area(index, &plane, &one.points, band));
        }
    }
    for (index, one) in series.iter().enumerate() {
        let points: Vec<(f64, f64)> = one.points.iter().map(|&point| plane.place(point)).collect();
        let mut group = strokes(index, &points);
        let stride = points.len().div_ceil(MARKED_POINTS);
        // Every line starts its marks at another point, so that marks of close lines do not coincide.
        for &(x, y) in points.iter().skip(if stride > 1 { index * stride / 3 } else { 0 }).step_by(stride) {
            group = group.add(mark(index, x, y));
        }
        plane.picture.canvas.add(group);
    }
    Ok(plane.picture.canvas.finish())
}

fn check(axes: &Axes<'_>, series: &[Series]) -> Result<(), FigureError> {
    check_some("series", series.is_empty())?;
    for one in series {
        check_some("points in a series", one.points.is_empty())?;
        check_points(axes, &one.points)?;
        if let Some(band) = &one.band {
            check_count("ends of a band", band.len(), one.points.len())?;
            check_values("end of a band", band_values(one))?;
        }
    }
    Ok(())
}

/// Checks that points can be drawn on the axes.
pub(super) fn check_points(axes: &Axes<'_>, points: &[(f64, f64)]) -> Result<(), FigureError> {
    for (index, &(x, _)) in points.iter().enumerate() {
        let expected = if axes.log_x { "a finite number above 0" } else { "a finite number" };
        if !(is_drawable(x) && (!axes.log_x || x > 0.0)) {
            return Err(FigureError::Value { what: "x of point", position: index + 1, got: x, expected });
        }
    }
    check_values("y of point", points.iter().map(|point| point.1))
}

fn band_values(series: &Series) -> impl Iterator<Item = f64> {
    series.band.iter().flatten().flat_map(|&(low, high)| [low, high])
}

fn area(index: usize, plane: &Plane, points: &[(f64, f64)], band: &[(f64, f64)]) -> element::Path {
    let lower = points.iter().zip(band).map(|(point, ends)| plane.place((point.0, ends.0)));
    let upper = points.iter().zip(band).map(|(point, ends)| plane.place((point.0, ends.1)));
    let outline: Vec<(f64, f64)> = lower.chain(upper.rev()).collect();
    element::Path::new()
        .set("d", path_data(&outline) + "Z")
        .set("fill", style::color(index))
        .set("fill-opacity", "0.15")
}

fn strokes(index: usize, points: &[(f64, f64)]) -> element::Group {
    let stroke = path(points, &style::color(index), 1.8).set("stroke-linejoin", "round");
    element::Group::new().add(stroke.set("stroke-dasharray", style::dash(index)))
}

fn mark(index: usize, x: f64, y: f64) -> element::Path {
    element::Path::new()
        .set("d", style::marker(index, x, y, MARK))
        .set("fill", style::color(index))
        .set("stroke", "#ffffff")
        .set("stroke-width", "0.7")
}
