//! Several pieces of work under one monitor: to whoever watches it is one piece that only moves forward.

use std::sync::{
    OnceLock,
    atomic::{AtomicUsize, Ordering},
};

use crate::{Context, Monitor, Progress};

/// Folds the progress of `count` pieces of equal weight into one. All are measured in the units of the first,
/// so that the total never changes, even if later pieces count differently.
pub(crate) struct Parts<'a> {
    monitor: &'a dyn Monitor,
    count: usize,
    unit: OnceLock<usize>,
    reached: AtomicUsize,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(monitor: &'a dyn Monitor, count: usize) -> Self {
        Self { monitor, count, unit: OnceLock::new(), reached: AtomicUsize::new(0) }
    }

    /// Does the piece number `index`; once it has succeeded it counts as done, whatever it reported.
    pub(crate) fn run<T, E>(
        &self,
        index: usize,
        context: Context<'_>,
        work: impl FnOnce(&Context<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let part = Part { parts: self, index };
        let result = work(&Context { monitor: &part, ..context })?;
        let unit = *self.unit.get_or_init(|| 1);
        if self.reached.load(Ordering::Relaxed) < (index + 1) * unit {
            part.advanced(Progress { done: unit, total: unit, loss: None });
        }
        Ok(result)
    }
}

struct Part<'a> {
    parts: &'a Parts<'a>,
    index: usize,
}

impl Monitor for Part<'_> {
    fn advanced(&self, progress: Progress) {
        let Parts { monitor, count, unit, reached } = self.parts;
        let unit = *unit.get_or_init(|| progress.total.max(1));
        // In 128 bits, because the product of two counts may need them.
        let share = progress.done.min(progress.total) as u128 * unit as u128;
        let within = (share / progress.total.max(1) as u128) as usize;
        let done = self.index * unit + within;
        let done = done.max(reached.fetch_max(done, Ordering::Relaxed));
        monitor.advanced(Progress { done, total: count * unit, loss: progress.loss });
    }

    fn cancelled(&self) -> bool {
        self.parts.monitor.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::Seed;

    #[derive(Default)]
    struct Watch(Mutex<Vec<(usize, usize)>>);

    impl Monitor for Watch {
        fn advanced(&self, progress: Progress) {
            self.0.lock().unwrap().push((progress.done, progress.total));
        }
    }

    // Three pieces: the first counts to 4, the second to 8 (two of its steps are one unit), the third says nothing.
    #[test]
    fn pieces_that_count_differently_make_one_that_only_moves_forward() {
        let watch = Watch::default();
        let parts = Parts::new(&watch, 3);
        let run = |index, steps: &[(usize, usize)]| {
            let context = Context { seed: Seed(0), monitor: &watch };
            let work = |context: &Context<'_>| {
                for &(done, total) in steps {
                    context.monitor.advanced(Progress { done, total, loss: None });
                }
                Ok::<(), ()>(())
            };
            parts.run(index, context, work).unwrap();
        };
        run(0, &[(0, 4), (1, 4), (4, 4)]);
        run(1, &[(2, 8), (1, 8), (7, 8)]);
        run(2, &[]);
        let seen = watch.0.into_inner().unwrap();
        assert_eq!(seen, [(0, 12), (1, 12), (4, 12), (5, 12), (5, 12), (7, 12), (8, 12), (12, 12)]);
    }
}
