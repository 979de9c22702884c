//! The sheet of a figure: a thin layer over the SVG writer with our line widths and font sizes.

use svg::node::{Node, element};

use super::{Figure, style, text};

/// Verdana is about as wide as `DejaVu` Sans; it is the fallback if an SVG is shown without the built-in font.
pub(super) const FONT_FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
/// The usual font size.
pub(super) const LETTERS: f64 = 12.0;
/// The font size of tick labels and of values in cells.
pub(super) const SMALL_LETTERS: f64 = 11.0;
/// The font size of the title.
const TITLE_LETTERS: f64 = 15.0;
/// White space around everything.
pub(super) const MARGIN: f64 = 14.0;
/// The distance from the upper edge to below the title.
pub(super) const TITLE_HEIGHT: f64 = MARGIN + 26.0;
/// The distance from the base line of a text to the middle of its capitals, relative to its size: half of 0.73 in
/// `DejaVu` Sans.
const HALF_CAPITAL: f64 = 0.365;

/// Which part of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A coordinate with at most two decimals; zero has no sign.
pub(super) fn px(value: f64) -> String {
    ((value * 100.0).round() / 100.0 + 0.0).to_string()
}

/// A rectangle, from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn right(self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(self) -> f64 {
        self.top + self.height
    }

    /// The area of the overlap of two rectangles.
    pub(super) fn overlap(self, other: Self) -> f64 {
        let width = self.right().min(other.right()) - self.left.max(other.left);
        let height = self.bottom().min(other.bottom()) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }
}

/// A sheet that is being drawn.
pub(super) struct Canvas {
    document: svg::Document,
}

impl Canvas {
    /// A white sheet with a title.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let (width, height) = (width.ceil(), height.ceil());
        let document = svg::Document::new()
            .set("width", px(width))
            .set("height", px(height))
            .set("viewBox", format!("0 0 {} {}", px(width), px(height)))
            .set("font-family", FONT_FAMILY)
            .set("font-size", px(LETTERS))
            .set("fill", style::INK);
        let mut canvas = Self { document };
        let sheet = Frame { left: 0.0, top: 0.0, width, height };
        canvas.add(rectangle(sheet, "#ffffff"));
        let title = text::fit(title, TITLE_LETTERS, width - 2.0 * MARGIN);
        let label = label(width / 2.0, MARGIN + 8.0, &title, Anchor::Middle, TITLE_LETTERS);
        canvas.add(label);
        canvas
    }

    pub(super) fn add(&mut self, node: impl Node) {
        self.document.append(node);
    }

    pub(super) fn finish(self) -> Figure {
        Figure { svg: format!("{}\n", self.document) }
    }
}

/// A text whose capitals are centered on `y`.
pub(super) fn label(x: f64, y: f64, content: &str, anchor: Anchor, size: f64) -> element::Text {
    let label = element::Text::new(content).set("x", px(x)).set("y", px(y + size * HALF_CAPITAL));
    let label = if size == LETTERS { label } else { label.set("font-size", px(size)) };
    match anchor {
        Anchor::Start => label,
        Anchor::Middle => label.set("text-anchor", "middle"),
        Anchor::End => label.set("text-anchor", "end"),
    }
}

/// A text like [`label`], rotated clockwise around its point.
pub(super) fn turned_label(
    x: f64,
    y: f64,
    content: &str,
    anchor: Anchor,
    size: f64,
    degrees: f64,
) -> element::Text {
    label(x, y, content, anchor, size)
        .set("transform", format!("rotate({} {} {})", px(degrees), px(x), px(y)))
}

/// A straight line.
pub(super) fn line(from: (f64, f64), to: (f64, f64), color: &str, width: f64) -> element::Path {
    path(&[from, to], color, width)
}

/// A line through points.
pub(super) fn path(points: &[(f64, f64)], color: &str, width: f64) -> element::Path {
    element::Path::new()
        .set("d", path_data(points))
        .set("fill", "none")
        .set("stroke", color)
        .set("stroke-width", px(width))
}

/// Points as SVG path data.
pub(super) fn path_data(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|&(x, y)| format!("{} {}", px(x), px(y))).collect();
    format!("M{}", points.join("L"))
}

/// A filled rectangle.
pub(super) fn rectangle(frame: Frame, color: &str) -> element::Rectangle {
    element::Rectangle::new()
        .set("x", px(frame.left))
        .set("y", px(frame.top))
        .set("width", px(frame.width))
        .set("height", px(frame.height))
        .set("fill", color)
}

/// A pattern of diagonal stripes, used with `url(#id)`.
pub(super) fn hatching(id: &str, color: &str, distance: f64) -> element::Definitions {
    let stripe = line((0.0, 0.0), (0.0, distance), color, distance / 2.0);
    let pattern = element::Pattern::new()
        .set("id", id)
        .set("width", px(distance))
        .set("height", px(distance))
        .set("patternUnits", "userSpaceOnUse")
        .set("patternTransform", "rotate(45)")
        .add(stripe);
    element::Definitions::new().add(pattern)
}
