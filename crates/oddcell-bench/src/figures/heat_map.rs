//! Heat maps: tables as colors, with the value written in every cell.
//!
//! The scale runs from the smallest to the largest value of the table; light is large. Missing cells are
//! hatched.

use svg::node::element;

use super::{
    Figure, FigureError,
    canvas::{
        Anchor, Canvas, Frame, LETTERS, MARGIN, SMALL_LETTERS, TITLE_HEIGHT, hatching, label, line,
        rectangle, turned_label,
    },
    check_count, check_some, check_values, style, text,
    ticks::Scale,
};

const CELL_HEIGHT: f64 = 21.0;
/// Cell sizes of small tables, which would look lost on their sheet otherwise.
const WIDE_CELL: f64 = 76.0;
const TALL_CELL: f64 = 36.0;
/// The most rows of a table with tall cells, and the most columns of a table with wide cells.
const SMALL_TABLE: usize = 8;
/// The maximum width of the name of a row or a column.
const LONGEST_NAME: f64 = 190.0;
/// Column names that do not fit above their cells are rotated by this many degrees.
const TURN: f64 = -45.0;
/// Height of the title of rows or columns, with the space around it.
const AXIS_TITLE: f64 = 24.0;
/// Space between table and color bar, and width of the bar.
const BAR_SPACE: f64 = 26.0;
const BAR_WIDTH: f64 = 14.0;
const BAR_HEIGHT: f64 = 260.0;

/// A table to draw as colors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap<'a> {
    /// Title above the figure.
    pub title: &'a str,
    /// What the rows are; may be empty.
    pub row_title: &'a str,
    /// What the columns are; may be empty.
    pub column_title: &'a str,
    /// What the values are, with their unit.
    pub value_title: &'a str,
    /// Names of the rows, from the top down.
    pub row_names: &'a [String],
    /// Names of the columns.
    pub column_names: &'a [String],
    /// Values, row after row; `None` where there is no result.
    pub cells: &'a [Option<f64>],
    /// Decimals of the values in the cells.
    pub decimals: usize,
}

/// The positions of the parts.
struct Layout {
    /// All cells together.
    table: Frame,
    cell: (f64, f64),
    /// Whether column names are rotated.
    turned: bool,
    /// Positions on the color bar, from 0 to 1, with their labels.
    bar_labels: Vec<(f64, String)>,
    /// The right end of the color bar, including labels and title.
    bar_right: f64,
    sheet: (f64, f64),
}

/// Draws a heat map.
pub fn heat_map(map: &HeatMap<'_>) -> Result<Figure, FigureError> {
    check(map)?;
    let fit = |name: &String| text::fit(name, LETTERS, LONGEST_NAME);
    let row_names: Vec<String> = map.row_names.iter().map(fit).collect();
    let column_names: Vec<String> = map.column_names.iter().map(fit).collect();
    let range = range(map.cells);
    let layout = layout(map, &row_names, &column_names, range);
    let mut canvas = Canvas::new(layout.sheet.0, layout.sheet.1, map.title);
    canvas.add(hatching("missing", "#d8d8d8", 5.0));
    names(&mut canvas, &layout, &row_names, &column_names);
    titles(&mut canvas, &layout, map);
    for (index, &value) in map.cells.iter().enumerate() {
        let (row, column) = (index / column_names.len(), index % column_names.len());
        let (width, height) = layout.cell;
        let left = layout.table.left + width * column as f64;
        let top = layout.table.top + height * row as f64;
        // The gap separates neighbors of the same color.
        let frame = Frame { left: left + 0.5, top: top + 0.5, width: width - 1.0, height: height - 1.0 };
        cell(&mut canvas, frame, value.map(|value| (share(value, range), text::number(value, map.decimals))));
    }
    color_bar(&mut canvas, &layout, map.value_title);
    Ok(canvas.finish())
}

fn check(map: &HeatMap<'_>) -> Result<(), FigureError> {
    check_some("rows", map.row_names.is_empty())?;
    check_some("columns", map.column_names.is_empty())?;
    check_count("cells", map.cells.len(), map.row_names.len() * map.column_names.len())?;
    // Missing cells are valid; they count as zero so that positions stay right.
    check_values("cell", map.cells.iter().map(|cell| cell.unwrap_or(0.0)))?;
    check_some("values in the cells", map.cells.iter().all(Option::is_none))?;
    Ok(())
}

/// Smallest and largest value.
fn range(cells: &[Option<f64>]) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    cells.iter().flatten().fold(start, |(low, high), &value| (low.min(value), high.max(value)))
}

/// The position of a value on the scale; the middle if all values are equal.
fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    if high > low { (value - low) / (high - low) } else { 0.5 }
}

fn layout(
    map: &HeatMap<'_>,
    row_names: &[String],
    column_names: &[String],
    (low, high): (f64, f64),
) -> Layout {
    let widest_value =
        [low, high].map(|value| text::width(&text::number(value, map.decimals), SMALL_LETTERS));
    let least_width = if column_names.len() <= SMALL_TABLE { WIDE_CELL } else { 0.0 };
    let width = (widest_value[0].max(widest_value[1]) + 9.0).max(least_width);
    let height = if row_names.len() <= SMALL_TABLE { TALL_CELL } else { CELL_HEIGHT };

    let widest_column = text::widest(column_names, LETTERS);
    let turned = widest_column + 6.0 > width;
    let slope = libm::sin(-TURN.to_radians());
    let names_height = if turned { widest_column * slope + 14.0 } else { 20.0 };
    let title_height = |title: &str| if title.is_empty() { 0.0 } else { AXIS_TITLE };
    let left = MARGIN + title_height(map.row_title) + text::widest(row_names, LETTERS) + 8.0;
    let top = TITLE_HEIGHT + 6.0 + title_height(map.column_title) + names_height;
    let table = Frame {
        left,
        top,
        width: width * column_names.len() as f64,
        height: height * row_names.len() as f64,
    };
    let bar_labels = bar_labels(map, (low, high));
    let bar_label_width = text::widest(bar_labels.iter().map(|(_, written)| written), SMALL_LETTERS);
    let bar = BAR_SPACE + BAR_WIDTH + 8.0 + bar_label_width + title_height(map.value_title);
    // The last rotated name extends beyond the right edge of the table.
    let lean = if turned { text::width(&column_names[column_names.len() - 1], LETTERS) * slope } else { 0.0 };
    let sheet = (table.right() + bar.max(lean) + MARGIN, table.bottom() + MARGIN + 4.0);
    Layout { table, cell: (width, height), turned, bar_labels, bar_right: table.right() + bar, sheet }
}

/// The labels of the color bar. If all values are equal, there is one label in the middle.
fn bar_labels(map: &HeatMap<'_>, (low, high): (f64, f64)) -> Vec<(f64, String)> {
    if high > low {
        let ticks = Scale::between(low, high).ticks(5).into_iter();
        ticks.map(|tick| (share(tick.value, (low, high)), tick.label)).collect()
    } else {
        vec![(0.5, text::number(low, map.decimals))]
    }
}

fn names(canvas: &mut Canvas, layout: &Layout, row_names: &[String], column_names: &[String]) {
    let (width, height) = layout.cell;
    for (row, name) in row_names.iter().enumerate() {
        let y = layout.table.top + height * (row as f64 + 0.5);
        canvas.add(label(layout.table.left - 8.0, y, name, Anchor::End, LETTERS));
    }
    for (column, name) in column_names.iter().enumerate() {
        let x = layout.table.left + width * (column as f64 + 0.5);
        canvas.add(if layout.turned {
            turned_label(x + 2.0, layout.table.top - 8.0, name, Anchor::Start, LETTERS, TURN)
        } else {
            label(x, layout.table.top - 11.0, name, Anchor::Middle, LETTERS)
        });
    }
}

fn titles(canvas: &mut Canvas, layout: &Layout, map: &HeatMap<'_>) {
    let table = layout.table;
    let row_title = text::fit(map.row_title, LETTERS, table.height.max(120.0));
    let y = (table.top + table.height / 2.0).max(TITLE_HEIGHT + 60.0);
    canvas.add(turned_label(MARGIN + 7.0, y, &row_title, Anchor::Middle, LETTERS, -90.0));
    let column_title = text::fit(map.column_title, LETTERS, table.width.max(200.0));
    let x = table.left + table.width / 2.0;
    canvas.add(label(x, TITLE_HEIGHT + 14.0, &column_title, Anchor::Middle, LETTERS));
}

fn cell(canvas: &mut Canvas, frame: Frame, value: Option<(f64, String)>) {
    let (x, y) = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
    if let Some((share, written)) = value {
        let color = style::scale_color(share);
        canvas.add(rectangle(frame, &color.hex()));
        let label = label(x, y, &written, Anchor::Middle, SMALL_LETTERS);
        canvas.add(label.set("fill", color.letter_color()));
    } else {
        canvas.add(rectangle(frame, "#f4f4f4"));
        canvas.add(rectangle(frame, "url(#missing)"));
        canvas.add(label(x, y, "–", Anchor::Middle, SMALL_LETTERS));
    }
}

fn color_bar(canvas: &mut Canvas, layout: &Layout, title: &str) {
    let mut gradient = element::LinearGradient::new().set("id", "scale").set("x1", 0).set("y1", 1);
    gradient = gradient.set("x2", 0).set("y2", 0);
    for (index, color) in style::SCALE.iter().enumerate() {
        let offset = format!("{:.4}", index as f64 / (style::SCALE.len() - 1) as f64);
        gradient = gradient.add(element::Stop::new().set("offset", offset).set("stop-color", color.hex()));
    }
    canvas.add(element::Definitions::new().add(gradient));
    let table = layout.table;
    let frame = Frame {
        left: table.right() + BAR_SPACE,
        top: table.top,
        width: BAR_WIDTH,
        height: table.height.min(BAR_HEIGHT),
    };
    canvas.add(rectangle(frame, "url(#scale)"));
    for (share, written) in &layout.bar_labels {
        let y = frame.bottom() - share * frame.height;
        canvas.add(line((frame.right(), y), (frame.right() + 4.0, y), style::INK, 1.0));
        canvas.add(label(frame.right() + 8.0, y, written, Anchor::Start, SMALL_LETTERS));
    }
    let title = text::fit(title, LETTERS, frame.height.max(120.0));
    let x = layout.bar_right - 7.0;
    let y = frame.top + frame.height / 2.0;
    canvas.add(turned_label(x, y, &title, Anchor::Middle, LETTERS, -90.0));
}
