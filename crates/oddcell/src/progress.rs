//! Reports several pieces of work to one monitor as one piece that only moves forward.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Context, Monitor, Progress};

/// Combines the progress of `count` pieces of equal weight, sequential or parallel, into one. The first piece
/// that reports sets the unit for all, so that the total never changes even if others count differently.
pub(crate) struct Parts<'a> {
    monitor: &'a dyn Monitor,
    reached: Mutex<Reached>,
}

struct Reached {
    unit: Option<usize>,
    /// The units done, by piece.
    done: Vec<usize>,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(monitor: &'a dyn Monitor, count: usize) -> Self {
        Self { monitor, reached: Mutex::new(Reached { unit: None, done: vec![0; count] }) }
    }

    /// Runs piece number `index`. Once it succeeds it counts as done, whatever it reported.
    pub(crate) fn run<T, E>(
        &self,
        index: usize,
        context: Context<'_>,
        work: impl FnOnce(&Context<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let part = Piece { parts: self, index };
        let result = work(&Context { monitor: &part, ..context })?;
        let unit = *self.lock().unit.get_or_insert(1);
        if self.lock().done[index] < unit {
            part.advanced(Progress { done: unit, total: unit, loss: None });
        }
        Ok(result)
    }

    fn lock(&self) -> MutexGuard<'_, Reached> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Piece<'a> {
    parts: &'a Parts<'a>,
    index: usize,
}

impl Monitor for Piece<'_> {
    fn advanced(&self, progress: Progress) {
        // Held while calling the monitor, so that it never gets an earlier state after a later one.
        let Reached { unit, done } = &mut *self.parts.lock();
        let unit = *unit.get_or_insert(progress.total.max(1));
        // The product of two counts may need 128 bits.
        let share = progress.done.min(progress.total) as u128 * unit as u128;
        let within = (share / progress.total.max(1) as u128) as usize;
        done[self.index] = done[self.index].max(within);
        let (done, total) = (done.iter().sum(), done.len() * unit);
        self.parts.monitor.advanced(Progress { done, total, loss: progress.loss });
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

    // Three pieces: the first counts to 4, the second to 8 (two of its steps are one unit), the third never
    // reports.
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

    // Two pieces of four: the second does all of its work between the first and the second half of the first.
    #[test]
    fn pieces_side_by_side_add_up() {
        let watch = Watch::default();
        let parts = Parts::new(&watch, 2);
        let context = Context { seed: Seed(0), monitor: &watch };
        let step = |context: &Context<'_>, done| {
            context.monitor.advanced(Progress { done, total: 4, loss: None });
        };
        let first = |outer: &Context<'_>| {
            step(outer, 2);
            let second = |inner: &Context<'_>| {
                step(inner, 1);
                step(inner, 4);
                Ok::<(), ()>(())
            };
            parts.run(1, context, second)?;
            step(outer, 3);
            Ok::<(), ()>(())
        };
        parts.run(0, context, first).unwrap();
        assert_eq!(watch.0.into_inner().unwrap(), [(2, 8), (3, 8), (6, 8), (7, 8), (8, 8)]);
    }
}
