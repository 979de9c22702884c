//! What line charts, scatter plots and bar charts share: a sheet with a title, a legend and axes.
//!
//! The legend is above the picture, so it never hides data.

use svg::node::element;

use super::{
    canvas::{
        Anchor, Canvas, Frame, LETTERS, MARGIN, SMALL_LETTERS, TITLE_HEIGHT, label, line, turned_label,
    },
    style, text,
    ticks::Scale,
};

/// Width of a sheet with axes.
pub(super) const SHEET_WIDTH: f64 = 720.0;
/// Height of the picture between its axes.
const PICTURE_HEIGHT: f64 = 340.0;
/// Space to the right of the picture, for half a tick label.
const RIGHT: f64 = 24.0;
/// Height of an axis title with the space around it.
const AXIS_TITLE: f64 = 26.0;
/// Height of one line of the legend.
const LEGEND_LINE: f64 = 20.0;
/// Space between two names in the legend.
const LEGEND_SPACE: f64 = 18.0;
/// Length of a tick mark.
const TICK: f64 = 4.0;

/// Title and axes of a figure. Axis titles name the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Axes<'a> {
    /// Title above the figure.
    pub title: &'a str,
    /// Title of the horizontal axis.
    pub x_title: &'a str,
    /// Title of the vertical axis.
    pub y_title: &'a str,
    /// Whether the horizontal axis is logarithmic; its values must then be positive.
    pub log_x: bool,
}

/// Names, each with a sample of its style.
pub(super) struct Legend<'a> {
    pub(super) names: Vec<&'a str>,
    /// Width of a sample.
    pub(super) width: f64,
    /// Draws the sample of a name; takes its index, left end and middle height.
    pub(super) sample: &'a dyn Fn(usize, f64, f64) -> element::Group,
}

/// A sheet with axes, ready for data.
pub(super) struct Picture {
    pub(super) canvas: Canvas,
    pub(super) frame: Frame,
    y: Scale,
}

impl Picture {
    /// Draws the title, the legend and the vertical axis. `bottom` is the height reserved below the picture.
    pub(super) fn new((title, y_title): (&str, &str), y: Scale, bottom: f64, legend: &Legend<'_>) -> Self {
        let ticks = y.ticks(7);
        let tick_width = text::widest(ticks.iter().map(|tick| &tick.label), SMALL_LETTERS);
        let left = MARGIN + AXIS_TITLE + tick_width + TICK + 4.0;
        let width = SHEET_WIDTH - left - RIGHT;
        let (places, legend_height) = legend.places(width);

        let frame = Frame { left, top: TITLE_HEIGHT + legend_height + 8.0, width, height: PICTURE_HEIGHT };
        let mut canvas = Canvas::new(SHEET_WIDTH, frame.bottom() + bottom + MARGIN, title);
        for (index, (name, dx, dy)) in places.iter().enumerate() {
            let (x, y) = (left + dx, TITLE_HEIGHT + dy);
            canvas.add((legend.sample)(index, x, y));
            canvas.add(label(x + legend.width + 6.0, y, name, Anchor::Start, LETTERS));
        }
        for tick in &ticks {
            let y = frame.bottom() - y.share(tick.value) * frame.height;
            canvas.add(line((left - TICK, y), (left, y), style::INK, 1.0));
            canvas.add(line((left, y), (frame.right(), y), style::GRID, 1.0));
            canvas.add(label(left - TICK - 4.0, y, &tick.label, Anchor::End, SMALL_LETTERS));
        }
        let y_title = text::fit(y_title, LETTERS, frame.height);
        let middle = frame.top + frame.height / 2.0;
        canvas.add(turned_label(MARGIN + 8.0, middle, &y_title, Anchor::Middle, LETTERS, -90.0));
        canvas.add(line((left, frame.top), (left, frame.bottom()), style::INK, 1.0));
        canvas.add(line((left, frame.bottom()), (frame.right(), frame.bottom()), style::INK, 1.0));
        Self { canvas, frame, y }
    }

    /// The height of a value on the sheet.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.frame.bottom() - self.y.share(value) * self.frame.height
    }
}

/// A sheet with two numerical axes.
pub(super) struct Plane {
    pub(super) picture: Picture,
    x: Scale,
}

impl Plane {
    /// Draws everything except the data.
    pub(super) fn new(axes: &Axes<'_>, (x, y): (Scale, Scale), legend: &Legend<'_>) -> Self {
        let tick_height = TICK + SMALL_LETTERS + 6.0;
        let bottom = tick_height + AXIS_TITLE - 6.0;
        let mut picture = Picture::new((axes.title, axes.y_title), y, bottom, legend);
        let frame = picture.frame;
        for value in x.minor_ticks() {
            let x = frame.left + x.share(value) * frame.width;
            picture.canvas.add(line((x, frame.bottom()), (x, frame.bottom() + TICK / 2.0), style::INK, 0.8));
        }
        for tick in x.ticks(9) {
            let x = frame.left + x.share(tick.value) * frame.width;
            picture.canvas.add(line((x, frame.bottom()), (x, frame.bottom() + TICK), style::INK, 1.0));
            let y = frame.bottom() + TICK + 10.0;
            picture.canvas.add(label(x, y, &tick.label, Anchor::Middle, SMALL_LETTERS));
        }
        let x_title = text::fit(axes.x_title, LETTERS, frame.width);
        let (x_middle, y_title) = (frame.left + frame.width / 2.0, frame.bottom() + tick_height + 12.0);
        picture.canvas.add(label(x_middle, y_title, &x_title, Anchor::Middle, LETTERS));
        Self { picture, x }
    }

    /// The position of a point on the sheet.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.picture.frame.left + self.x.share(x) * self.picture.frame.width, self.picture.y(y))
    }
}

impl Legend<'_> {
    /// The shortened names with the positions of their samples, and the height of the legend.
    fn places(&self, width: f64) -> (Vec<(String, f64, f64)>, f64) {
        let mut places = Vec::with_capacity(self.names.len());
        let (mut x, mut y) = (0.0, LEGEND_LINE / 2.0);
        for name in &self.names {
            // Even two long names fit side by side.
            let name = text::fit(name, LETTERS, width / 2.0 - self.width - LEGEND_SPACE);
            let needed = self.width + 6.0 + text::width(&name, LETTERS);
            if x > 0.0 && x + needed > width {
                (x, y) = (0.0, y + LEGEND_LINE);
            }
            places.push((name, x, y));
            x += needed + LEGEND_SPACE;
        }
        (places, y + LEGEND_LINE / 2.0)
    }
}
