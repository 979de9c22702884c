//! Finds the odd rows of a table, and the very cells that make them odd.
//!
//! ```
//! use oddcell::{Context, DetectorSpec, Model, Seed, Table, demo, model::FitOptions};
//! use oddcell::table::{ReadOptions, TableReader};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! // Orders of a shop, believed normal. From a file: `Table::read(&Source::Path(path), &ReadOptions::default())`.
//! let csv = demo::orders(300, 0, Seed(1)).csv.into_bytes();
//! let table = Table::from_reader(TableReader::from_bytes("orders", csv, &ReadOptions::default())?)?;
//!
//! let mut noise = DetectorSpec::new("noise", None)?;
//! noise.set_text("train_for", "300 steps")?; // shorter than the default, for this example
//! let model = Model::fit(&table, &FitOptions::new(noise), &Context::silent(Seed(0)))?;
//!
//! let findings = model.judge(&table.batches[0], 0, "orders", true)?;
//! assert_eq!(findings.p_values.len(), 300); // one score, one p-value and one row of cells for every row
//! # Ok(())
//! # }
//! ```
//!
//! The way of the data, top to bottom; every step is one module:
//!
//! ```text
//! table      files and streams become Arrow record batches with a kind for every column
//! encode     columns become features: standardised numbers, one-hot categories, flags for nulls
//! noise      rows believed normal become rows whose distance from normal is known
//! net        a small network learns to say how much noise sits in each cell
//! detect     the detectors behind one trait, and the one list of them
//! calibrate  scores become p-values, p-values become verdicts
//! explain    cells become reasons: which column, how far off, in the column's own units
//! model      all of the above in one value that can be saved, loaded and asked
//! ```

pub mod aggregate;
pub mod calibrate;
pub mod context;
pub mod count;
pub mod demo;
pub mod detect;
pub mod encode;
pub mod error;
pub mod explain;
pub mod judge;
mod kinds;
pub mod matrix;
pub mod metrics;
pub mod model;
pub mod model_file;
pub mod net;
pub mod noise;
mod progress;
pub mod seed;
mod simd;
pub mod table;
mod team;
pub mod tensors;
pub mod verdict;

pub use context::{Context, Monitor, Progress, Silent};
pub use detect::{Detector, DetectorSpec, Fitted};
pub use error::Error;
pub use matrix::Matrix;
pub use model::Model;
pub use seed::Seed;
pub use table::Table;

/// The Rust code in the README is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
