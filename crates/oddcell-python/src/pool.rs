//! The one pool of threads of this process.
//!
//! Threads do not survive a fork: a child finds the pool of its parent in memory, but nobody works in it. So the pool
//! remembers its process, and a child makes its own.

use std::{
    process,
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use rayon::{ThreadPool, ThreadPoolBuilder};

struct Shared {
    /// As asked for; 0: one per core.
    threads: usize,
    pool: Option<(u32, Arc<ThreadPool>)>,
}

// Locked only by threads that hold the GIL, as a thread that forks does: no child finds it locked.
static SHARED: Mutex<Shared> = Mutex::new(Shared { threads: 0, pool: None });

/// The pool of this process, made when it is first asked for.
pub(crate) fn current(_with_gil: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    match shared.pool.take() {
        Some((process, pool)) if process == process::id() => shared.pool = Some((process, pool)),
        // To drop the parent's pool would be to wait for threads that are not there.
        Some((_, of_parent)) => std::mem::forget(of_parent),
        None => {}
    }
    if let Some((_, pool)) = &shared.pool {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(shared.threads).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start the threads: {error}")))?;
    let pool = Arc::new(pool);
    shared.pool = Some((process::id(), Arc::clone(&pool)));
    Ok(pool)
}

/// Works on `count` threads from now on; `None`: one per core. Results do not depend on it.
#[pyfunction]
#[pyo3(signature = (count=None))]
pub(crate) fn set_threads(py: Python<'_>, count: Option<std::num::NonZeroUsize>) -> PyResult<()> {
    {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.threads = count.map_or(0, usize::from);
        if let Some((process, pool)) = shared.pool.take()
            && process != process::id()
        {
            std::mem::forget(pool);
        }
    }
    current(py).map(drop)
}

/// The number of threads that work is done on.
#[pyfunction]
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(current(py)?.current_num_threads())
}
