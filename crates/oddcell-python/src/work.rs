//! Long work: done on the pool without the GIL, while the calling thread listens for Ctrl-C and says how far it is.
//!
//! Python runs signal handlers on the main thread only, and progress callbacks belong to the thread that asked for the
//! work. So that thread waits for the result in short naps, and between them takes the GIL, runs pending handlers and
//! calls the callback. An exception of either cancels the work and is raised once it has ended.

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

/// How long the calling thread waits before it looks around again.
const NAP: Duration = Duration::from_millis(50);

/// What the work says and hears.
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
    /// Tells `callback` what is new: `callback(done, total, loss)`.
    fn tell(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (callback, news) {
            (Some(callback), Some(Progress { done, total, loss })) => {
                callback.call1(py, (done, total, loss)).map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// Does `work` on the pool and gives its result. `progress` is called now and then.
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
                // Nobody could listen less long than the work takes.
                let _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(watch))));
            });
            loop {
                match receiver.recv_timeout(NAP) {
                    Ok(outcome) => return outcome,
                    Err(RecvTimeoutError::Disconnected) => unreachable!("the work always answers"),
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        let told = Python::attach(|py| {
                            py.check_signals().and_then(|()| watch.tell(py, callback.as_ref()))
                        });
                        if let Err(error) = told {
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
    watch.tell(py, callback.as_ref())?;
    Ok(result)
}

/// Panics, on the pool or on the calling thread, to test that this never reaches Python as a panic.
#[pyfunction]
#[pyo3(name = "_panic")]
pub(crate) fn panic_for_tests(py: Python<'_>, on_pool: bool) -> PyResult<()> {
    if on_pool { run(py, None, |_| panic!("on purpose")) } else { errors::guarded(|| panic!("on purpose")) }
}
