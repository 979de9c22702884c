//! Panics on purpose, to test that Python gets an exception. Only in builds with the feature `testing`.

use pyo3::prelude::*;

use crate::{errors, work};

/// Panics on the pool or on the calling thread.
#[pyfunction]
#[pyo3(name = "_panic")]
pub(crate) fn panic_on_purpose(py: Python<'_>, on_pool: bool) -> PyResult<()> {
    if on_pool {
        work::run(py, None, |_| panic!("on purpose"))
    } else {
        errors::guarded(|| panic!("on purpose"))
    }
}
