//! Where the time goes, for `--timings`. The library has no clock: the command times its own calls of it.
//!
//! Threads work side by side, so the parts add up to more than the time on the clock. *Invariant:* a moment of a thread
//! counts for one part at most. A thread that waits within one part may take up another meanwhile; then the first
//! one's watch stands still.

use std::{
    cell::Cell,
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde::{Serialize, Serializer};

/// What a thread may be busy with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// From the file to cells: reading, decompressing, parsing the format.
    Reading,
    /// From cells to features.
    Encoding,
    /// From features to scores, p-values and cells.
    Judging,
    /// From cells to reasons.
    Reasons,
    /// Counting, the oddest rows, the page.
    Summary,
    /// Verdicts, and from rows to the file.
    Writing,
}

const PARTS: [(Part, &str); 6] = [
    (Part::Reading, "reading"),
    (Part::Encoding, "encoding"),
    (Part::Judging, "judging"),
    (Part::Reasons, "reasons"),
    (Part::Summary, "summary"),
    (Part::Writing, "writing"),
];

thread_local! {
    /// What this thread is busy with, and since when.
    static BUSY: Cell<Option<(Part, Instant)>> = const { Cell::new(None) };
}

/// Watches that run from the start of a command.
#[derive(Debug)]
pub(crate) struct Timings {
    start: Instant,
    /// Nanoseconds of all threads, by part.
    spent: [AtomicU64; PARTS.len()],
}

impl Timings {
    pub(crate) fn start() -> Self {
        Self { start: now(), spent: Default::default() }
    }

    /// Does `work`, which counts for `part`, but for what in it counts for another.
    pub(crate) fn time<T>(&self, part: Part, work: impl FnOnce() -> T) -> T {
        self.busy_with(Some(part), work)
    }

    /// Does `work`, in which this thread mostly waits for others: only what in it is timed counts.
    pub(crate) fn wait<T>(&self, work: impl FnOnce() -> T) -> T {
        self.busy_with(None, work)
    }

    fn busy_with<T>(&self, part: Option<Part>, work: impl FnOnce() -> T) -> T {
        let before = self.switch(part);
        let result = work();
        self.switch(before);
        result
    }

    /// From now on this thread is busy with `part`; gives what it was busy with so far.
    fn switch(&self, part: Option<Part>) -> Option<Part> {
        let now = now();
        let (before, since) = BUSY.replace(part.map(|part| (part, now)))?;
        self.spent[before as usize].fetch_add((now - since).as_nanos() as u64, Ordering::Relaxed);
        Some(before)
    }

    /// What was spent so far.
    pub(crate) fn spent(&self) -> Spent {
        let seconds = |part: Part| {
            Duration::from_nanos(self.spent[part as usize].load(Ordering::Relaxed)).as_secs_f64()
        };
        let parts = PARTS.map(|(part, name)| (name, seconds(part)));
        let parts = parts.into_iter().filter(|&(_, seconds)| seconds > 0.0).collect();
        Spent { clock: self.start.elapsed().as_secs_f64(), parts }
    }
}

#[expect(clippy::disallowed_methods, reason = "the command measures time")]
fn now() -> Instant {
    Instant::now()
}

/// What a command spent, in seconds.
#[derive(Debug, Serialize)]
pub(crate) struct Spent {
    #[serde(rename = "clock_seconds")]
    clock: f64,
    /// Thread time by part, those that took any.
    #[serde(rename = "thread_seconds", serialize_with = "as_map")]
    parts: Vec<(&'static str, f64)>,
}

impl Spent {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let total: f64 = self.parts.iter().map(|(_, seconds)| seconds).sum();
        let mut text = format!("timings: {:.3} s on the clock, {total:.3} s of all threads\n", self.clock);
        for (name, seconds) in &self.parts {
            let _ = writeln!(text, "  {name:8} {seconds:>9.3} s {:>5.1} %", 100.0 * seconds / total);
        }
        text
    }
}

fn as_map<S: Serializer>(parts: &[(&'static str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_moment_of_a_thread_counts_for_the_innermost_part_alone() {
        let nap = || thread::sleep(Duration::from_millis(20));
        let timings = Timings::start();
        timings.time(Part::Writing, || {
            timings.time(Part::Judging, || {
                nap();
                timings.wait(nap);
            });
        });
        let spent = timings.spent();
        let seconds = |name| spent.parts.iter().find(|part| part.0 == name).unwrap().1;
        // Slept once for `judging`, once for nobody; `writing` only opened and closed. Naps may be longer than asked for,
        // so only what must have been is compared: 20 ms of judging, and all parts together without the second nap.
        assert!(seconds("judging") >= 0.020 && seconds("writing") > 0.0, "{spent:?}");
        assert!(seconds("judging") + seconds("writing") <= spent.clock - 0.020, "{spent:?}");
        assert_eq!(spent.parts.len(), 2);
    }

    #[test] // 0.5 + 1.5 = 2 seconds of threads; 25 % and 75 % of them.
    fn shares_are_of_the_time_of_all_threads() {
        let spent = Spent { clock: 1.0, parts: vec![("reading", 0.5), ("judging", 1.5)] };
        assert_eq!(
            spent.text(),
            "timings: 1.000 s on the clock, 2.000 s of all threads\n  \
               reading      0.500 s  25.0 %\n  \
               judging      1.500 s  75.0 %\n"
        );
        let json = serde_json::to_string(&spent).unwrap();
        assert_eq!(json, r#"{"clock_seconds":1.0,"thread_seconds":{"reading":0.5,"judging":1.5}}"#);
    }
}
