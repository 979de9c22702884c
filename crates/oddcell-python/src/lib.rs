//! The compiled part of the Python package: converts, lets the GIL go, calls the library, converts back.
//!
//! ```text
//! table      `NumPy` arrays and Arrow streams become record batches
//! settings   keyword arguments become the library's options, and its defaults become Python's
//! model      a fitted model: judge, explain, save, load
//! detection  one table judged by itself
//! report     the page that shows judged rows
//! found      scores, p-values, verdicts, reasons and noise on their way to Python
//! work       long work on the pool, while the calling thread listens for Ctrl-C and tells how far it is
//! pool       the one pool of threads of this process
//! errors     the library's errors as Python's, with the same words
//! values     parameters as Python values
//! ```
//!
//! Defaults, checks and logic are the library's. What Python users see is in `python/oddcell`.

#![allow(clippy::needless_pass_by_value, reason = "what Python hands over is turned into values of our own")]

mod detection;
mod errors;
mod found;
mod model;
mod pool;
mod report;
mod settings;
mod table;
mod values;
mod work;

use pyo3::pymodule;

/// The compiled part of oddcell.
#[pymodule]
mod _oddcell {
    #[pymodule_export]
    use super::{
        detection::detect,
        model::{Model, threshold},
        pool::{set_threads, threads},
        settings::{default_options, detectors, preset},
        table::Table,
        work::panic_for_tests,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("FOUND_COLUMNS", oddcell::judge::COLUMNS.to_vec())
    }
}
