//! The thread pool of this process.
//!
//! Threads do not survive a fork: a child process inherits its parent's pool in memory, but not its threads. So we
//! store the process id with the pool, and a child makes a pool of its own.

use std::{
    process,
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use rayon::{ThreadPool, ThreadPoolBuilder};

struct Shared {
    /// As set by the user; 0: one per core.
    threads: usize,
    pool: Option<(u32, Arc<ThreadPool>)>,
}

// Only threads that hold the GIL lock this. A thread that forks holds the GIL too, so no child inherits a locked mutex.
static SHARED: Mutex<Shared> = Mutex::new(Shared { threads: 0, pool: None });

/// The pool of this process, made on first use.
pub(crate) fn current(_with_gil: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    match shared.pool.take() {
        Some((process, pool)) if process == process::id() => shared.pool = Some((process, pool)),
        // Dropping the parent's pool would wait forever for threads that do not exist here.
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

/// Sets the number of threads; `None`: one per core. It does not change any result.
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

/// The number of threads in use.
#[pyfunction]
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(current(py)?.current_num_threads())
}
