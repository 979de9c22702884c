//! Measures where the time goes, for `--timings`. The library reads no clock; it tells its monitor which stage a thread
//! is in.
//!
//! Threads run in parallel, so the stages add up to more than the wall-clock time. *Invariant:* each moment of a thread
//! counts for at most one stage. A thread that waits in one stage may enter another; the first stage's watch then
//! stops.

use std::{
    cell::Cell,
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use oddcell::{Monitor, Progress, Stage};
use serde::{Serialize, Serializer};

/// The stages, as `--timings` names them.
const STAGES: [(Stage, &str); 6] = [
    (Stage::Reading, "reading"),
    (Stage::Encoding, "encoding"),
    (Stage::Judging, "judging"),
    (Stage::Reasons, "reasons"),
    (Stage::Observing, "summary"),
    (Stage::Writing, "writing"),
];

thread_local! {
    /// What this thread is busy with, and since when.
    static BUSY: Cell<Option<(Stage, Instant)>> = const { Cell::new(None) };
}

/// Stopwatches that start with the command.
#[derive(Debug)]
pub(crate) struct Timings {
    start: Instant,
    /// Nanoseconds of all threads, by stage.
    spent: [AtomicU64; STAGES.len()],
}

impl Timings {
    pub(crate) fn start() -> Self {
        Self { start: now(), spent: Default::default() }
    }

    /// Runs `work` and counts its time for `stage`, except for parts that count for another stage.
    pub(crate) fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let before = self.turned_to(Some(stage));
        let result = work();
        self.turned_to(before);
        result
    }

    /// The time spent so far.
    pub(crate) fn spent(&self) -> Spent {
        let seconds = |stage: Stage| {
            Duration::from_nanos(self.spent[stage as usize].load(Ordering::Relaxed)).as_secs_f64()
        };
        let stages = STAGES.map(|(stage, name)| (name, seconds(stage)));
        let stages = stages.into_iter().filter(|&(_, seconds)| seconds > 0.0).collect();
        Spent { clock: self.start.elapsed().as_secs_f64(), stages }
    }
}

impl Monitor for Timings {
    fn advanced(&self, _: Progress) {}

    fn turned_to(&self, stage: Option<Stage>) -> Option<Stage> {
        let now = now();
        let (before, since) = BUSY.replace(stage.map(|stage| (stage, now)))?;
        self.spent[before as usize].fetch_add((now - since).as_nanos() as u64, Ordering::Relaxed);
        Some(before)
    }
}

#[expect(clippy::disallowed_methods, reason = "the command measures time")]
fn now() -> Instant {
    Instant::now()
}

/// The time a command took, in seconds.
#[derive(Debug, Serialize)]
pub(crate) struct Spent {
    #[serde(rename = "clock_seconds")]
    clock: f64,
    /// Thread time by stage; stages that took no time are left out.
    #[serde(rename = "thread_seconds", serialize_with = "as_map")]
    stages: Vec<(&'static str, f64)>,
}

impl Spent {
    /// The text for people.
    pub(crate) fn text(&self) -> String {
        let total: f64 = self.stages.iter().map(|(_, seconds)| seconds).sum();
        let mut text = format!("timings: {:.3} s wall clock, {total:.3} s thread time\n", self.clock);
        for (name, seconds) in &self.stages {
            let _ = writeln!(text, "  {name:8} {seconds:>9.3} s {:>5.1} %", 100.0 * seconds / total);
        }
        text
    }
}

fn as_map<S: Serializer>(stages: &[(&'static str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(stages.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_moment_of_a_thread_counts_for_the_innermost_stage_alone() {
        let nap = || thread::sleep(Duration::from_millis(20));
        let timings = Timings::start();
        timings.time(Stage::Writing, || {
            timings.time(Stage::Judging, || {
                nap();
                let judging = timings.turned_to(None);
                nap();
                timings.turned_to(judging);
            });
        });
        let spent = timings.spent();
        let seconds = |name| spent.stages.iter().find(|stage| stage.0 == name).unwrap().1;
        // One nap counts for `judging`, one for no stage; `writing` only opens and closes. Naps may take longer than
        // asked for, so we compare lower bounds only: 20 ms of judging, and all stages together without the second nap.
        assert!(seconds("judging") >= 0.020 && seconds("writing") > 0.0, "{spent:?}");
        assert!(seconds("judging") + seconds("writing") <= spent.clock - 0.020, "{spent:?}");
        assert_eq!(spent.stages.len(), 2);
    }

    #[test] // 0.5 + 1.5 = 2 seconds of thread time; 25 % and 75 % of them.
    fn shares_are_shares_of_the_thread_time() {
        let spent = Spent { clock: 1.0, stages: vec![("reading", 0.5), ("judging", 1.5)] };
        assert_eq!(
            spent.text(),
            "timings: 1.000 s wall clock, 2.000 s thread time\n  \
               reading      0.500 s  25.0 %\n  \
               judging      1.500 s  75.0 %\n"
        );
        let json = serde_json::to_string(&spent).unwrap();
        assert_eq!(json, r#"{"clock_seconds":1.0,"thread_seconds":{"reading":0.5,"judging":1.5}}"#);
    }
}
