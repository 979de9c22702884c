//! Threads that work together in short bursts.
//!
//! *Why:* a training step of a small net takes under a millisecond and needs its threads twice. A thread pool
//! lets idle threads sleep in between, and waking one takes longer than its share of the work. The helpers of
//! a team stay awake for the few microseconds that the serial part of a step takes.
//!
//! *How:* tasks are numbers. [`Team::burst`] publishes `n` of them; the caller and all free helpers claim one
//! task after the other until all are done. A helper is a task of the caller's thread pool. It may start late
//! or never; the caller then does everything alone, so nothing can block. The job decides what a task may
//! touch (usually one lock per task, never contended).

use std::{
    hint,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// How often a thread spins before it yields, and how often a helper then yields before it sleeps.
const LOOKS: usize = 2_000;
const YIELDS: usize = 50;

/// Waits a moment before the next check.
fn pause(look: usize) {
    if look < LOOKS { hint::spin_loop() } else { thread::yield_now() }
}

/// Runs `work` with a team of at most `n_threads` threads of the current pool. The team's tasks run `job`.
pub(crate) fn with_team<J, R>(n_threads: usize, job: J, work: impl FnOnce(&Team<J>) -> R + Send) -> R
where
    J: Fn(usize) + Sync,
    R: Send,
{
    let team = Team {
        job,
        open: AtomicU64::new(0),
        n_done: AtomicUsize::new(0),
        closed: AtomicBool::new(false),
        n_sleeping: AtomicUsize::new(0),
        bed: Mutex::new(()),
        bell: Condvar::new(),
    };
    let n_helpers = n_threads.min(rayon::current_num_threads()) - 1;
    rayon::scope(|scope| {
        // Closes the team also on a panic; otherwise a waiting helper would keep the scope open forever.
        let _closing = Closing(&team);
        for _ in 0..n_helpers {
            scope.spawn(|_| team.help());
        }
        work(&team)
    })
}

/// Threads that work together in short bursts; see [`with_team`].
pub(crate) struct Team<J> {
    job: J,
    /// The number of unclaimed tasks.
    open: AtomicU64,
    n_done: AtomicUsize,
    closed: AtomicBool,
    n_sleeping: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

struct Closing<'a, J>(&'a Team<J>);

impl<J> Drop for Closing<'_, J> {
    fn drop(&mut self) {
        self.0.closed.store(true, SeqCst);
        self.0.ring();
    }
}

/// Counts a task as done even if it panics. The pool passes the panic on once all threads have stopped.
struct Counting<'a>(&'a AtomicUsize);

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl<J: Fn(usize) + Sync> Team<J> {
    /// Runs the tasks 0 to `n_tasks − 1` in parallel and in any order, and `own` on this thread.
    pub(crate) fn burst<R>(&self, n_tasks: usize, own: impl FnOnce() -> R) -> R {
        self.n_done.store(0, SeqCst);
        self.open.store(n_tasks as u64, SeqCst);
        self.ring();
        let result = own();
        while self.work_once() {}
        // The remaining tasks are running and end soon, unless the machine is busy and a helper was
        // preempted; yielding then gives it this thread's core.
        let mut look = 0;
        while self.n_done.load(SeqCst) < n_tasks {
            pause(look);
            look += 1;
        }
        result
    }

    /// Claims a task and runs it; returns false if there is none.
    fn work_once(&self) -> bool {
        let claimed = self.open.fetch_update(SeqCst, SeqCst, |open| open.checked_sub(1));
        let Ok(open) = claimed else { return false };
        let _done = Counting(&self.n_done);
        (self.job)(open as usize - 1);
        true
    }

    fn help(&self) {
        while !self.closed.load(SeqCst) {
            if !self.work_once() {
                self.wait();
            }
        }
    }

    fn wait(&self) {
        for look in 0..LOOKS + YIELDS {
            if self.is_wanted() {
                return;
            }
            pause(look);
        }
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.n_sleeping.fetch_add(1, SeqCst);
        // Checked after incrementing the count: whoever publishes work later sees the sleeper and rings.
        while !self.is_wanted() {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.n_sleeping.fetch_sub(1, SeqCst);
    }

    fn is_wanted(&self) -> bool {
        self.open.load(SeqCst) > 0 || self.closed.load(SeqCst)
    }
}

impl<J> Team<J> {
    /// Wakes the sleeping helpers.
    fn ring(&self) {
        if self.n_sleeping.load(SeqCst) > 0 {
            // While we hold the lock, no helper is between its last check and its sleep.
            let _bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
            self.bell.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(n_threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap()
    }

    #[test]
    fn every_task_of_every_burst_is_done_once_before_the_burst_ends() {
        for n_threads in [1, 2, 5] {
            let counts: Vec<AtomicUsize> = (0..7).map(|_| AtomicUsize::new(0)).collect();
            pool(n_threads).install(|| {
                with_team(
                    n_threads,
                    |task| {
                        counts[task].fetch_add(1, SeqCst);
                    },
                    |team| {
                        for round in 1..=2_000usize {
                            let n_tasks = round % 8;
                            let before: usize = counts.iter().map(|count| count.load(SeqCst)).sum();
                            assert_eq!(team.burst(n_tasks, || round), round);
                            let after: usize = counts.iter().map(|count| count.load(SeqCst)).sum();
                            assert_eq!(after - before, n_tasks);
                        }
                    },
                );
            });
            // Task t runs in the 8 − t − 1 of every eight rounds that have more than t tasks.
            let counts: Vec<usize> = counts.iter().map(|count| count.load(SeqCst)).collect();
            assert_eq!(counts, [1750, 1500, 1250, 1000, 750, 500, 250]);
        }
    }

    #[test]
    fn helpers_that_fell_asleep_are_woken() {
        let ran_elsewhere = AtomicBool::new(false);
        pool(2).install(|| {
            let caller = thread::current().id();
            let job = |_: usize| {
                if thread::current().id() == caller {
                    // Leaves the other task to the helper, which has to wake up for it.
                    while !ran_elsewhere.load(SeqCst) {
                        thread::yield_now();
                    }
                } else {
                    ran_elsewhere.store(true, SeqCst);
                }
            };
            with_team(2, job, |team| {
                for _ in 0..3 {
                    while team.n_sleeping.load(SeqCst) == 0 {
                        thread::yield_now();
                    }
                    ran_elsewhere.store(false, SeqCst);
                    team.burst(2, || {});
                }
            });
        });
    }

    #[test]
    fn teams_that_share_a_pool_do_not_block_each_other() {
        use rayon::prelude::*;
        let sums: Vec<usize> = pool(2).install(|| {
            let run = |seed: usize| {
                let sum = AtomicUsize::new(seed);
                with_team(
                    2,
                    |task| {
                        sum.fetch_add(task, SeqCst);
                    },
                    |team| {
                        (0..100).for_each(|_| team.burst(4, || {}));
                    },
                );
                sum.load(SeqCst)
            };
            (0..6).into_par_iter().map(run).collect()
        });
        assert_eq!(sums, [600, 601, 602, 603, 604, 605]);
    }

    #[test]
    fn a_panic_in_a_task_reaches_the_caller() {
        for culprit in 0..4 {
            let outcome = std::panic::catch_unwind(|| {
                pool(2).install(|| {
                    with_team(2, |task| assert_ne!(task, culprit), |team| team.burst(4, || {}));
                });
            });
            assert!(outcome.is_err());
        }
    }
}
