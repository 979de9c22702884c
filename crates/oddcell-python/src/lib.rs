//! The compiled part of the Python package: converts arguments, releases the GIL, calls the library, converts results.
//!
//! ```text
//! table      converts `NumPy` arrays and Arrow streams to record batches
//! settings   converts keyword arguments to the library's options, and its defaults to Python values
//! model      a fitted model: judge, explain, save, load
//! detection  judges one table by itself
//! stream     judges a table that arrives in batches
//! report     the HTML report of judged rows
//! cells      judges every cell, and says what should stand there
//! found      converts scores, p-values, verdicts, reasons and noise to Python values
//! work       runs long work on the pool, while the calling thread handles Ctrl-C and reports progress
//! pool       the thread pool of this process
//! errors     converts the library's errors to Python exceptions
//! values     converts parameters between Python and JSON
//! ```
//!
//! Defaults, checks and logic belong to the library. What Python users see is in `python/oddcell`.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]

mod cells;
mod detection;
mod errors;
mod found;
mod model;
#[cfg(feature = "testing")]
mod panics;
mod pool;
mod report;
mod settings;
mod stream;
mod table;
mod values;
mod work;

use pyo3::pymodule;

/// The compiled part of oddcell.
#[pymodule]
mod _oddcell {
    #[cfg(feature = "testing")]
    #[pymodule_export]
    use super::panics::panic_on_purpose;
    #[pymodule_export]
    use super::{
        cells::{cells, repair},
        detection::detect,
        model::{Model, threshold},
        pool::{set_threads, threads},
        settings::{default_options, detectors, preset},
        stream::Stream,
        table::Table,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("FOUND_COLUMNS", oddcell::judge::COLUMNS.to_vec())
    }
}
