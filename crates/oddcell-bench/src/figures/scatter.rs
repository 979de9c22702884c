//! Scatter plots: t-SNE of thousands of rows, a few methods with their names as labels, or two methods set by set.
//!
//! *Labels:* each label tries positions around its point, near ones first, and takes the one that covers least of
//! other labels, marks and the edge. A thin line connects distant labels with their points. Labels choose in the given
//! order, so equal input gives equal positions.

use svg::node::element;

use super::{
    Axes, Figure, FigureError,
    axes::{Legend, Plane},
    canvas::{Anchor, Canvas, Frame, SMALL_LETTERS, label, line},
    check_count, check_some,
    lines::check_points,
    style, text,
    ticks::Scale,
};

/// With more points than this, marks are small and translucent.
const FEW_POINTS: usize = 200;
/// Width of a sample in the legend.
const SAMPLE: f64 = 12.0;
/// The most labels: each is compared with all others.
const MOST_LABELS: usize = 300;
/// The maximum width of a label.
const LONGEST_LABEL: f64 = 140.0;
/// Distances from the edge of the mark at which a label is tried.
const DISTANCES: [f64; 4] = [4.0, 12.0, 22.0, 34.0];
/// Labels farther away than this get a line to their point.
const LED: f64 = 10.0;

/// Minimum distance from other marks, so that a label does not seem to belong to them.
const CLEARANCE: f64 = 5.0;
/// How often every label chooses.
const ROUNDS: usize = 4;

/// Points of one kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// Name in the legend.
    pub name: String,
    /// The points; later groups are drawn over earlier ones.
    pub points: Vec<(f64, f64)>,
    /// A label for every point.
    pub labels: Option<Vec<String>>,
}

/// The style of marks.
#[derive(Clone, Copy)]
struct Marks {
    radius: f64,
    opacity: &'static str,
}

const LARGE_MARKS: Marks = Marks { radius: 4.5, opacity: "0.85" };
const SMALL_MARKS: Marks = Marks { radius: 2.3, opacity: "0.5" };

/// Draws a scatter plot.
pub fn scatter(axes: &Axes<'_>, groups: &[Group]) -> Result<Figure, FigureError> {
    let points = || groups.iter().flat_map(|group| group.points.iter());
    let scales = || {
        let x = Scale::around(points().map(|point| point.0), axes.log_x);
        (x, Scale::around(points().map(|point| point.1), false))
    };
    draw(axes, groups, &scales, false)
}

/// Draws two quantities of the same kind against each other: both axes have the same scale, and a line shows where the
/// two are equal.
pub fn duel(axes: &Axes<'_>, groups: &[Group]) -> Result<Figure, FigureError> {
    let values = || groups.iter().flat_map(|group| group.points.iter()).flat_map(|&(x, y)| [x, y]);
    draw(axes, groups, &|| (Scale::around(values(), axes.log_x), Scale::around(values(), axes.log_x)), true)
}

fn draw(
    axes: &Axes<'_>,
    groups: &[Group],
    scales: &dyn Fn() -> (Scale, Scale),
    with_diagonal: bool,
) -> Result<Figure, FigureError> {
    check(axes, groups)?;
    let points = || groups.iter().flat_map(|group| group.points.iter());
    let names = groups.iter().map(|group| group.name.as_str()).collect();
    // The legend has large marks.
    let sample = |index, x, y| cloud(index, LARGE_MARKS, &[(x + SAMPLE / 2.0, y)]);
    let mut plane = Plane::new(axes, scales(), &Legend { names, width: SAMPLE, sample: &sample });
    if with_diagonal {
        let Frame { left, top, .. } = plane.picture.frame;
        let (right, bottom) = (plane.picture.frame.right(), plane.picture.frame.bottom());
        plane.picture.canvas.add(line((left, bottom), (right, top), style::GRAY, 1.0));
    }
    let marks = if points().count() <= FEW_POINTS { LARGE_MARKS } else { SMALL_MARKS };
    let places: Vec<Vec<(f64, f64)>> =
        groups.iter().map(|group| group.points.iter().map(|&point| plane.place(point)).collect()).collect();
    for (index, places) in places.iter().enumerate() {
        plane.picture.canvas.add(cloud(index, marks, places));
    }
    let mut labels = Vec::new();
    for (group, places) in groups.iter().zip(&places) {
        let names = group.labels.iter().flatten();
        labels.extend(names.zip(places).map(|(name, &point)| Label::new(name, point, marks.radius)));
    }
    arrange(&mut labels, &places.concat(), marks.radius, plane.picture.frame);
    for label in &labels {
        label.draw(&mut plane.picture.canvas);
    }
    Ok(plane.picture.canvas.finish())
}

fn check(axes: &Axes<'_>, groups: &[Group]) -> Result<(), FigureError> {
    check_some("points", groups.iter().all(|group| group.points.is_empty()))?;
    let mut n_labels = 0;
    for group in groups {
        check_points(axes, &group.points)?;
        if let Some(labels) = &group.labels {
            check_count("labels of points", labels.len(), group.points.len())?;
            n_labels += labels.len();
        }
    }
    if n_labels > MOST_LABELS {
        let expected = format!("at most {MOST_LABELS}");
        return Err(FigureError::Count { what: "labels of points", got: n_labels, expected });
    }
    Ok(())
}

/// All marks of a group. Each is a separate element, so that overlapping marks look darker.
fn cloud(index: usize, marks: Marks, places: &[(f64, f64)]) -> element::Group {
    let group = element::Group::new().set("fill", style::color(index)).set("fill-opacity", marks.opacity);
    places.iter().fold(group, |group, &(x, y)| {
        group.add(element::Path::new().set("d", style::marker(index, x, y, marks.radius)))
    })
}

/// A label and its possible positions.
struct Label {
    name: String,
    point: (f64, f64),
    /// Possible positions, with their distances from the point.
    candidates: Vec<(Frame, f64)>,
    chosen: usize,
}

impl Label {
    fn new(name: &str, point: (f64, f64), radius: f64) -> Self {
        let name = text::fit(name, SMALL_LETTERS, LONGEST_LABEL);
        let size = (text::width(&name, SMALL_LETTERS), SMALL_LETTERS + 2.0);
        Self { name, point, candidates: candidates(point, size, radius), chosen: 0 }
    }

    fn frame(&self) -> Frame {
        self.candidates[self.chosen].0
    }

    fn draw(&self, canvas: &mut Canvas) {
        let (frame, distance) = self.candidates[self.chosen];
        let (x, y) = self.point;
        if distance > LED {
            let near = (x.clamp(frame.left, frame.right()), y.clamp(frame.top, frame.bottom()));
            canvas.add(line((x, y), near, style::GRAY, 0.8));
        }
        let (x, y) = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
        canvas.add(label(x, y, &self.name, Anchor::Middle, SMALL_LETTERS));
    }
}

/// Puts every label where it covers least. After the first round, labels may move again, because they now see the
/// later ones.
fn arrange(labels: &mut [Label], points: &[(f64, f64)], radius: f64, picture: Frame) {
    for round in 0..ROUNDS {
        for index in 0..labels.len() {
            let own = labels[index].point;
            let marks = points.iter().filter(|&&point| point != own);
            let marks = marks.map(|&point| around(point, radius + CLEARANCE));
            let placed = if round == 0 { index } else { labels.len() };
            let others = (0..placed).filter(|&other| other != index).map(|other| labels[other].frame());
            let taken: Vec<Frame> = marks.chain(others).collect();
            let cost = |(frame, distance): &(Frame, f64)| {
                let covered: f64 = taken.iter().map(|other| frame.overlap(*other)).sum();
                let outside = frame.width * frame.height - frame.overlap(picture);
                // Covering something is bad, leaving the picture is worse; of free positions, the nearest is best.
                covered + 10.0 * outside + 0.4 * distance
            };
            let costs: Vec<f64> = labels[index].candidates.iter().map(cost).collect();
            let first_least = |best: usize, next: usize| if costs[next] < costs[best] { next } else { best };
            labels[index].chosen = (1..costs.len()).fold(0, first_least);
        }
    }
}

/// The square around a mark.
fn around((x, y): (f64, f64), radius: f64) -> Frame {
    Frame { left: x - radius, top: y - radius, width: 2.0 * radius, height: 2.0 * radius }
}

/// Positions of a label around a point, with their distances: near ones first; right, left, above and below before
/// the corners.
fn candidates(point: (f64, f64), (width, height): (f64, f64), radius: f64) -> Vec<(Frame, f64)> {
    const SIDES: [(f64, f64); 8] = [
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, -1.0),
        (0.0, 1.0),
        (0.8, -0.8),
        (0.8, 0.8),
        (-0.8, -0.8),
        (-0.8, 0.8),
    ];
    let mut places = Vec::with_capacity(DISTANCES.len() * SIDES.len());
    for distance in DISTANCES {
        for (dx, dy) in SIDES {
            let reach = radius + distance;
            // The near edge or corner of the label lies in that direction.
            let left = point.0 + dx * reach - width * (1.0 - f64::from(sign(dx))) / 2.0;
            let top = point.1 + dy * reach - height * (1.0 - f64::from(sign(dy))) / 2.0;
            places.push((Frame { left, top, width, height }, distance));
        }
    }
    places
}

/// −1, 0 or 1; `f64::signum` never returns 0.
fn sign(value: f64) -> i8 {
    i8::from(value > 0.0) - i8::from(value < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Twelve points 14 and 15 pixels apart, each with a label about four times as wide.
    #[test]
    fn labels_of_crowded_points_do_not_overlap() {
        let points: Vec<(f64, f64)> =
            (0..12).map(|k| (300.0 + 14.0 * f64::from(k % 4), 200.0 + 15.0 * f64::from(k / 4))).collect();
        let mut labels: Vec<Label> = points
            .iter()
            .enumerate()
            .map(|(k, &point)| Label::new(&format!("method {k}"), point, 4.5))
            .collect();
        let picture = Frame { left: 50.0, top: 50.0, width: 600.0, height: 340.0 };
        arrange(&mut labels, &points, 4.5, picture);
        for (index, label) in labels.iter().enumerate() {
            assert_eq!(label.frame().overlap(picture), label.frame().width * label.frame().height);
            for other in &labels[..index] {
                assert_eq!(label.frame().overlap(other.frame()), 0.0, "{} and {}", label.name, other.name);
            }
        }
    }
}
