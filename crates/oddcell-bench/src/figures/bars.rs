//! Bar charts, with one group of bars per name. All bars start at zero, so their lengths are comparable.

use svg::node::element;

use super::{
    Figure, FigureError,
    axes::{Legend, Picture},
    canvas::{
        Anchor, Canvas, Frame, LETTERS, SMALL_LETTERS, hatching, label, line, path, rectangle, turned_label,
    },
    check_count, check_some, check_values, style, text,
    ticks::Scale,
};

/// The share of its space that a group of bars fills.
const FILLED: f64 = 0.78;
/// Width of a bar in the legend.
const SAMPLE: f64 = 18.0;
/// Names that do not fit side by side are rotated by this many degrees.
const TURN: f64 = -35.0;
/// The maximum width of a name below the axis.
const LONGEST_NAME: f64 = 150.0;

/// A bar chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars<'a> {
    /// Title above the figure.
    pub title: &'a str,
    /// What the bars show, with its unit.
    pub y_title: &'a str,
    /// Name below each group of bars.
    pub names: &'a [String],
    /// The series; each has one bar in every group.
    pub series: &'a [BarSeries],
    /// Decimals of the values written above the bars.
    pub decimals: usize,
}

/// One bar in every group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarSeries {
    /// Name in the legend.
    pub name: String,
    /// Lengths, one for each group.
    pub values: Vec<f64>,
    /// Half lengths of the error bars, one for each group.
    pub errors: Option<Vec<f64>>,
}

/// Draws a bar chart, with the values above the bars if they fit.
pub fn bars(bars: &Bars<'_>) -> Result<Figure, FigureError> {
    check(bars)?;
    let names: Vec<String> = bars.names.iter().map(|name| text::fit(name, LETTERS, LONGEST_NAME)).collect();
    let widest = text::widest(&names, LETTERS);
    // The picture is at least 600 wide.
    let turned = widest + 8.0 > 600.0 / bars.names.len() as f64;
    let bottom = if turned { 16.0 + widest * libm::sin(-TURN.to_radians()) } else { 20.0 };
    let series_names = bars.series.iter().map(|one| one.name.as_str()).collect();
    let sample = |index, x, y| bar(index, Frame { left: x, top: y - 6.0, width: SAMPLE, height: 12.0 });
    let legend = Legend { names: series_names, width: SAMPLE, sample: &sample };
    let scale = Scale::between(lowest(bars), highest(bars));
    let mut picture = Picture::new((bars.title, bars.y_title), scale, bottom, &legend);
    picture.canvas.add(hatching("bar-stripes", "#ffffff", 6.0));

    let group_width = picture.frame.width / bars.names.len() as f64;
    let width = group_width * FILLED / bars.series.len() as f64;
    for (group, name) in names.iter().enumerate() {
        let middle = picture.frame.left + group_width * (group as f64 + 0.5);
        let below = picture.frame.bottom() + 14.0;
        picture.canvas.add(if turned {
            turned_label(middle + 4.0, below - 2.0, name, Anchor::End, LETTERS, TURN)
        } else {
            label(middle, below, name, Anchor::Middle, LETTERS)
        });
        for (index, one) in bars.series.iter().enumerate() {
            let left = middle - group_width * FILLED / 2.0 + width * index as f64;
            let (value, zero) = (picture.y(one.values[group]), picture.y(0.0));
            let frame = Frame {
                left: left + 1.0,
                top: value.min(zero),
                width: width - 2.0,
                height: (value - zero).abs(),
            };
            picture.canvas.add(bar(index, frame));
            let error = one.errors.as_ref().map_or(0.0, |errors| errors[group]);
            let (low, high) = (picture.y(one.values[group] - error), picture.y(one.values[group] + error));
            if error > 0.0 {
                error_bar(&mut picture.canvas, left + width / 2.0, low, high);
            }
            let written = text::number(one.values[group], bars.decimals);
            if text::width(&written, SMALL_LETTERS) <= width + 1.0 {
                let y = if one.values[group] < 0.0 { low + 10.0 } else { high - 9.0 };
                picture.canvas.add(label(left + width / 2.0, y, &written, Anchor::Middle, SMALL_LETTERS));
            }
        }
    }
    let (left, right, zero) = (picture.frame.left, picture.frame.right(), picture.y(0.0));
    picture.canvas.add(line((left, zero), (right, zero), style::INK, 1.0));
    Ok(picture.canvas.finish())
}

fn check(bars: &Bars<'_>) -> Result<(), FigureError> {
    check_some("names of bars", bars.names.is_empty())?;
    check_some("series", bars.series.is_empty())?;
    for one in bars.series {
        check_count("values of bars", one.values.len(), bars.names.len())?;
        check_values("value of bar", one.values.iter().copied())?;
        let Some(errors) = &one.errors else { continue };
        check_count("errors of bars", errors.len(), bars.names.len())?;
        check_values("error of bar", errors.iter().copied())?;
        if let Some(position) = errors.iter().position(|&error| error < 0.0) {
            let (what, expected, got) = ("error of bar", "0 or more", errors[position]);
            return Err(FigureError::Value { what, position: position + 1, got, expected });
        }
    }
    Ok(())
}

/// The ends of all bars, including error bars.
fn ends(bars: &Bars<'_>) -> impl Iterator<Item = (f64, f64)> {
    bars.series.iter().flat_map(|one| {
        let error = |index: usize| one.errors.as_ref().map_or(0.0, |errors| errors[index]);
        one.values.iter().enumerate().map(move |(index, &value)| (value - error(index), value + error(index)))
    })
}

/// The upper end of the axis, with room for the written values.
fn highest(bars: &Bars<'_>) -> f64 {
    let (low, high) =
        ends(bars).fold((0.0_f64, 0.0_f64), |(low, high), end| (low.min(end.0), high.max(end.1)));
    if low == 0.0 && high == 0.0 { 1.0 } else { high + 0.07 * (high - low) }
}

/// The lower end of the axis: zero, unless there are negative values.
fn lowest(bars: &Bars<'_>) -> f64 {
    let low = ends(bars).fold(0.0_f64, |low, end| low.min(end.0));
    if low < 0.0 { low - 0.07 * (highest(bars) - low) } else { 0.0 }
}

/// A bar; every second series is striped.
fn bar(index: usize, frame: Frame) -> element::Group {
    let group = element::Group::new().add(rectangle(frame, &style::color(index)));
    if index.is_multiple_of(2) {
        return group;
    }
    group.add(rectangle(frame, "url(#bar-stripes)").set("fill-opacity", "0.45"))
}

fn error_bar(canvas: &mut Canvas, x: f64, low: f64, high: f64) {
    let mut add = |node: element::Path| canvas.add(node);
    add(path(&[(x, low), (x, high)], style::INK, 1.2));
    for y in [low, high] {
        add(path(&[(x - 3.0, y), (x + 3.0, y)], style::INK, 1.2));
    }
}
