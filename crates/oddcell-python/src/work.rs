//! Long work runs on the pool without the GIL, while the calling thread handles Ctrl-C and reports progress.
//!
//! Python runs signal handlers on the main thread only, and the progress callback should run on the thread that asked
//! for the work. So that thread waits for the result in short naps. Between naps it takes the GIL, runs pending signal
//! handlers and calls the callback. If either raises an exception, the work is cancelled, and the exception is raised
//! when the work has ended.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    time::Duration,
};

use oddcell::{Error, Monitor, Progress};
use pyo3::prelude::*;

use crate::{errors, pool};

/// How long the calling thread sleeps between two looks at signals and progress.
const NAP: Duration = Duration::from_millis(50);

/// Carries progress from the work and cancellation to it.
#[derive(Default)]
struct Watch {
    cancelled: AtomicBool,
    latest: Mutex<Option<Progress>>,
}

impl Monitor for Watch {
    fn advanced(&self, progress: Progress) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// Calls `callback(done, total, loss)` if there is new progress.
    fn report(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (callback, news) {
            (Some(callback), Some(Progress { done, total, loss })) => {
                callback.call1(py, (done, total, loss)).map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// Does `work` on the pool and returns its result. Calls `progress` now and then.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Monitor) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let pool = pool::current(py)?;
    let callback = progress.map(|callback| callback.clone().unbind());
    let watch = Watch::default();
    let mut raised = None;
    let outcome = py.detach(|| {
        pool.in_place_scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            let watch = &watch;
            scope.spawn(move |_| {
                // The receiver outlives the work, so sending cannot fail.
                let _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(watch))));
            });
            loop {
                match receiver.recv_timeout(NAP) {
                    Ok(outcome) => return outcome,
                    Err(RecvTimeoutError::Disconnected) => unreachable!("the work always sends its outcome"),
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        let looked = Python::attach(|py| {
                            py.check_signals().and_then(|()| watch.report(py, callback.as_ref()))
                        });
                        if let Err(error) = looked {
                            watch.cancelled.store(true, Ordering::Relaxed);
                            raised = Some(error);
                        }
                    }
                }
            }
        })
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let result = outcome.map_err(|panic| errors::bug(&*panic))?.map_err(errors::raised)?;
    watch.report(py, callback.as_ref())?;
    Ok(result)
}
