//! The figures of the laboratory, drawn as SVG. PNG files are rendered from the same SVG.
//!
//! *Why:* a table of 45 sets and 16 methods is exact but hard to grasp. Every figure is a plain function of plain data.
//! *Rules:* color-blind people can tell the colors apart (Okabe and Ito; cividis), and every color comes with a dash,
//! a shape or hatching, so that a gray print is readable, too. No letter is smaller than 11 pixels.
//! *Invariants:* equal input gives equal bytes · figures need no system fonts · names may be hostile: they are escaped,
//! stripped of control and direction characters, and shortened to fit · invalid input is a named error.

mod axes;
mod bars;
mod canvas;
mod critical_difference;
mod heat_map;
mod lines;
mod png;
mod scatter;
mod style;
#[cfg(test)]
mod tests;
mod text;
mod ticks;

pub use axes::Axes;
pub use bars::{BarSeries, Bars, bars};
pub use critical_difference::{CriticalDifference, critical_difference};
pub use heat_map::{HeatMap, heat_map};
pub use lines::{Series, lines};
pub use scatter::{Group, duel, scatter};

/// A finished figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The whole SVG document.
    pub svg: String,
}

impl Figure {
    /// Renders the figure as PNG, with two pixels per unit of the SVG, on white.
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        png::render(&self.svg)
    }
}

/// Why a figure cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// There is nothing to draw.
    #[error("nothing to draw: no {what}")]
    Empty {
        /// What is missing.
        what: &'static str,
    },
    /// A list has the wrong length.
    #[error("{what}: found {got}, but expected {expected}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many there should be.
        expected: String,
    },
    /// A number cannot be drawn.
    #[error("{what} {position}: found {got}, but expected {expected}")]
    Value {
        /// What the number is.
        what: &'static str,
        /// Its position in the data, counted from 1.
        position: usize,
        /// The number.
        got: f64,
        /// What can be drawn.
        expected: &'static str,
    },
    /// The SVG cannot be rendered.
    #[error("cannot render the SVG: {reason}")]
    Render {
        /// The message of the renderer.
        reason: String,
    },
}

/// Larger numbers are refused, so that sums and differences of two numbers stay finite.
const LARGEST: f64 = 1e300;

/// Whether `value` can be drawn.
fn is_drawable(value: f64) -> bool {
    (-LARGEST..=LARGEST).contains(&value)
}

/// Checks that all `values` can be drawn.
fn check_values(what: &'static str, values: impl IntoIterator<Item = f64>) -> Result<(), FigureError> {
    for (index, got) in values.into_iter().enumerate() {
        if !is_drawable(got) {
            return Err(FigureError::Value { what, position: index + 1, got, expected: "a finite number" });
        }
    }
    Ok(())
}

/// Checks that there is something to draw.
fn check_some(what: &'static str, is_empty: bool) -> Result<(), FigureError> {
    if is_empty { Err(FigureError::Empty { what }) } else { Ok(()) }
}

/// Checks the length of a list.
fn check_count(what: &'static str, got: usize, expected: usize) -> Result<(), FigureError> {
    if got == expected {
        return Ok(());
    }
    Err(FigureError::Count { what, got, expected: expected.to_string() })
}
