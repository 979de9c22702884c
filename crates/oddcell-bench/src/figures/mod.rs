//! The pictures of the laboratory, each drawn once as SVG; the PNG is made from that very SVG.
//!
//! *Why:* a table of 45 sets and 16 methods is right but hard to see. Every picture here is a plain function
//! of plain data.
//! *Rules:* colours that the colour-blind can tell apart (Okabe and Ito; cividis), and beside every colour a
//! second mark (dash, shape, hatching), so that a grey print reads, too. No letter is smaller than 11 pixels.
//! *Invariants:* equal input gives equal bytes · a figure needs no font of the system · names may be hostile:
//! they are escaped, freed of control and direction marks, and cut to the room there is · what cannot be
//! drawn is a named error.

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
pub use scatter::{Group, scatter};

/// A finished picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The whole SVG document.
    pub svg: String,
}

impl Figure {
    /// The picture as PNG, two pixels per unit of the SVG, on white.
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
    /// A list has another length than the one it belongs to.
    #[error("{what}: found {got}, but expected {expected}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many there should be.
        expected: String,
    },
    /// A number lies outside what can be drawn.
    #[error("{what} {position}: found {got}, but expected {expected}")]
    Value {
        /// What the number is.
        what: &'static str,
        /// Its place in the data, counted from 1.
        position: usize,
        /// The number.
        got: f64,
        /// What can be drawn.
        expected: &'static str,
    },
    /// The SVG is none that can be turned into pixels.
    #[error("the SVG cannot be turned into pixels: {reason}")]
    Render {
        /// What the renderer said.
        reason: String,
    },
}

/// Numbers beyond this are refused: sums and differences of two of them must stay finite.
const LARGEST: f64 = 1e300;

/// Whether `value` can be put on an axis.
fn is_drawable(value: f64) -> bool {
    (-LARGEST..=LARGEST).contains(&value)
}

/// All `values` can be put on an axis.
fn check_values(what: &'static str, values: impl IntoIterator<Item = f64>) -> Result<(), FigureError> {
    for (index, got) in values.into_iter().enumerate() {
        if !is_drawable(got) {
            return Err(FigureError::Value { what, position: index + 1, got, expected: "a finite number" });
        }
    }
    Ok(())
}

/// A list is as long as the one it belongs to.
fn check_count(what: &'static str, got: usize, expected: usize) -> Result<(), FigureError> {
    if got == expected {
        return Ok(());
    }
    Err(FigureError::Count { what, got, expected: expected.to_string() })
}
