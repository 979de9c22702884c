//! Many runs: in parallel within a memory limit, the largest first. Each becomes a row of the store when it
//! ends.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use oddcell::{Seed, detect::Size, error::with_causes};

use crate::{
    LabError, cells, digest,
    job::{self, Job, Outcome},
    methods::Method,
    protocol::{self, Protocol},
    sets::{LabeledSet, traits::Known},
    store::{Key, Row, Status, Store},
};

/// A set that takes part, and what is known of it before it is read.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// Its name in results.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// How many of its leading columns are numbers; `None`: all.
    pub n_numeric: Option<usize>,
}

/// What may be used.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Runs at a time.
    pub jobs: usize,
    /// Threads of each run.
    pub threads: usize,
    /// Bytes that all runs at a time may need, by a rough guess.
    pub memory: u64,
    /// Time of one run.
    pub time: Option<Duration>,
}

/// Somebody who watches the runs.
pub trait Watcher: Sync {
    /// All sets were read, and so many runs are to be made.
    fn planned(&self, _total: usize) {}

    /// A set cannot take part.
    fn left_out(&self, set: &str, reason: &str);

    /// A run ended. `left` is a guess at the seconds that remain, on the present number of jobs.
    fn finished(&self, row: &Row, done: usize, total: usize, left: f64);
}

/// What is to be run on which sets.
#[derive(Debug)]
pub struct Plan {
    /// How sets are split.
    pub protocol: Protocol,
    /// The sets.
    pub sets: Vec<Entrant>,
    /// The methods and their variants.
    pub methods: Vec<Method>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Whether one-hot columns take part; the paper used the numbers alone.
    pub one_hot: bool,
}

/// What became of the runs that were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs that were made now.
    pub made: usize,
    /// Runs that exceeded their time.
    pub timed_out: usize,
    /// Runs that ended with an error.
    pub failed: usize,
    /// Time-outs and failures of before, which were not run again.
    pub failed_before: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.made += other.made;
        self.timed_out += other.timed_out;
        self.failed += other.failed;
        self.failed_before += other.failed_before;
    }
}

/// A run with what it is thought to cost.
#[derive(Debug)]
struct Planned {
    job: Job,
    /// Digest of the set's file.
    data: String,
    entrant: Entrant,
    bytes: u64,
    guess: f64,
}

/// A set in memory, and the digest of its file.
#[derive(Debug)]
struct Loaded {
    set: LabeledSet,
    data: String,
}

impl Plan {
    /// Runs what the store does not have yet.
    pub fn run(&self, store: &mut Store, limits: Limits, watcher: &dyn Watcher) -> Result<Tally, LabError> {
        let (planned, failed_before) = self.plan(store, watcher)?;
        watcher.planned(planned.len());
        let floor = Floor::new(self, limits, watcher, store, planned);
        std::thread::scope(|scope| {
            for _ in 0..limits.jobs.max(1) {
                scope.spawn(|| floor.work());
            }
        });
        let State { error, tally, .. } = floor.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(Tally { failed_before, ..tally }), Err)
    }

    /// What the store does not have, once each, and how many failures it has. Sets that cannot take part are
    /// left out; it is an error if that leaves none.
    fn plan(&self, store: &Store, watcher: &dyn Watcher) -> Result<(Vec<Planned>, usize), LabError> {
        let (mut planned, mut known, mut failed_before) = (Vec::new(), BTreeSet::new(), 0);
        let mut traits = Known::of(store.folder())?;
        let mut left_out: Vec<(&str, String)> = Vec::new();
        for entrant in &self.sets {
            let mut leave_out = |reason: String| {
                watcher.left_out(&entrant.name, &reason);
                left_out.push((&entrant.name, reason));
            };
            let Loaded { set, data } = match self.read(entrant) {
                Ok(loaded) => loaded,
                Err(error) => {
                    leave_out(with_causes(&error));
                    continue;
                }
            };
            if let Some(reason) = protocol::unusable(&set, self.protocol) {
                leave_out(reason.to_owned());
                continue;
            }
            traits.add(&set, &data);
            let classes = protocol::normal_classes(&set, self.protocol);
            let (n_rows, n_cols) = (set.rows.n_rows(), set.rows.n_cols());
            for class in classes {
                let n_normal = set.labels.iter().filter(|&&label| label == class).count();
                let n_train = if self.protocol == Protocol::Contaminated { n_rows } else { n_normal / 2 };
                for method in &self.methods {
                    let method = if self.one_hot { method.noted("columns", "all") } else { method.clone() };
                    let method =
                        if self.protocol.spoil().is_some() { cells::as_judged(&method) } else { method };
                    let guess = method.seconds(Size { n_train, n_test: n_rows, n_cols });
                    let memory = method.abilities().map_or(0, |abilities| abilities.memory);
                    // The set, its two parts, the columns of the test rows, and the method's own memory.
                    let bytes = 4 * 8 * n_rows as u64 * n_cols as u64 + memory;
                    for &seed in &self.seeds {
                        let (set, method) = (entrant.name.clone(), method.clone());
                        let job = Job { protocol: self.protocol, set, class, method, seed };
                        if !known.insert(Key::of(&job)) {
                            continue;
                        }
                        match store.status(&job, &data) {
                            None => {
                                let (entrant, data) = (entrant.clone(), data.clone());
                                planned.push(Planned { job, data, entrant, bytes, guess });
                            }
                            Some(status) => failed_before += usize::from(status != Status::Ok),
                        }
                    }
                }
            }
        }
        traits.write(store.folder())?;
        let n_left_out = left_out.len();
        match left_out.into_iter().next() {
            Some((set, reason)) if n_left_out == self.sets.len() => {
                Err(LabError::NoSet { set: set.to_owned(), reason })
            }
            Some(_) | None => Ok((planned, failed_before)),
        }
    }

    fn read(&self, entrant: &Entrant) -> Result<Loaded, LabError> {
        let data = digest::of_file(&entrant.path)?;
        let mut set = LabeledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
        if !self.one_hot {
            set.keep_numbers();
        }
        Ok(Loaded { set, data })
    }
}

/// The runs under way.
struct Floor<'a> {
    plan: &'a Plan,
    limits: Limits,
    watcher: &'a dyn Watcher,
    state: Mutex<State<'a>>,
    changed: Condvar,
    /// Sets that some run has in use.
    sets: Mutex<BTreeMap<String, Weak<Loaded>>>,
}

struct State<'a> {
    /// Smallest first.
    waiting: Vec<Planned>,
    /// Bytes not in use.
    free: u64,
    running: BTreeMap<Key, Running>,
    /// What became of the runs so far.
    tally: Tally,
    total: usize,
    store: &'a mut Store,
    /// Seconds that runs of a method took, and the guesses at them.
    rates: BTreeMap<String, (f64, f64)>,
    error: Option<LabError>,
}

/// A run under way.
struct Running {
    method: String,
    guess: f64,
    start: Instant,
}

impl<'a> Floor<'a> {
    fn new(
        plan: &'a Plan,
        limits: Limits,
        watcher: &'a dyn Watcher,
        store: &'a mut Store,
        mut waiting: Vec<Planned>,
    ) -> Self {
        // Taken from the end: the largest first.
        waiting.sort_by(|a, b| a.guess.total_cmp(&b.guess));
        let state = State {
            total: waiting.len(),
            waiting,
            free: limits.memory,
            running: BTreeMap::new(),
            tally: Tally::default(),
            store,
            rates: BTreeMap::new(),
            error: None,
        };
        let (changed, sets) = (Condvar::new(), Mutex::default());
        Self { plan, limits, watcher, state: Mutex::new(state), changed, sets }
    }

    /// Runs until nothing waits, or until results cannot be written any more.
    fn work(&self) {
        let mut set = None;
        while let Some(planned) = self.next(&mut set) {
            let (row, seconds) = self.run(&planned, &mut set);
            self.end(&planned, &row, seconds);
        }
    }

    /// The largest run that there is memory for; waits for others to end if there is none, and keeps no set
    /// meanwhile.
    #[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
    fn next(&self, last: &mut Option<Arc<Loaded>>) -> Option<Planned> {
        let mut state = self.lock();
        loop {
            if state.error.is_some() || state.waiting.is_empty() {
                return None;
            }
            // A run that exceeds the memory limit is taken alone, and then refused.
            let fits = |planned: &Planned| planned.bytes <= state.free || state.running.is_empty();
            if let Some(at) = state.waiting.iter().rposition(fits) {
                let planned = state.waiting.remove(at);
                state.free = state.free.saturating_sub(planned.bytes);
                let (method, guess) = (planned.job.method.name.clone(), planned.guess);
                state.running.insert(Key::of(&planned.job), Running { method, guess, start: Instant::now() });
                return Some(planned);
            }
            *last = None;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does a run, on threads of its own. `last` keeps the set for the next run.
    fn run(&self, planned: &Planned, last: &mut Option<Arc<Loaded>>) -> (Row, f64) {
        let (job, Limits { memory, threads, time, .. }) = (&planned.job, self.limits);
        let failed = |message: &str| {
            let row = Row::unmeasured(job, Status::Failed, message);
            (Row { data: planned.data.clone(), ..row }, 0.0)
        };
        if planned.bytes > memory {
            let (needed, limit) = (planned.bytes >> 20, memory >> 20);
            return failed(&format!("needs about {needed} MB of memory, but the limit is {limit} MB"));
        }
        let loaded = match self.set(&planned.entrant, last) {
            Ok(loaded) => loaded,
            Err(error) => return failed(&error.to_string()),
        };
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool,
            Err(error) => return failed(&error.to_string()),
        };
        // A panic is a bug of ours; it costs this run, not the hundreds that come after it.
        let made = || pool.install(|| measure(job, &loaded.set, time));
        let Ok((row, seconds)) = catch_unwind(AssertUnwindSafe(made)) else {
            return failed("panicked; please report this bug");
        };
        (Row { threads, jobs: self.limits.jobs, data: loaded.data.clone(), ..row }, seconds)
    }

    /// The set, read once for all runs that have it at the same time.
    fn set(&self, entrant: &Entrant, last: &mut Option<Arc<Loaded>>) -> Result<Arc<Loaded>, LabError> {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = sets.get(&entrant.name).and_then(Weak::upgrade) {
            *last = Some(Arc::clone(&set));
            return Ok(set);
        }
        *last = None;
        let set = Arc::new(self.plan.read(entrant)?);
        sets.insert(entrant.name.clone(), Arc::downgrade(&set));
        *last = Some(Arc::clone(&set));
        Ok(set)
    }

    #[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
    fn end(&self, planned: &Planned, row: &Row, seconds: f64) {
        let mut state = self.lock();
        // Also after an error: a row of a run that was under way then is put beside the file, or fails like
        // the first.
        let error = state.store.add(row).err();
        state.error = state.error.take().or(error);
        state.free = (state.free + planned.bytes).min(self.limits.memory);
        state.running.remove(&Key::of(&planned.job));
        state.tally.made += 1;
        state.tally.timed_out += usize::from(row.status == Status::Timeout);
        state.tally.failed += usize::from(row.status == Status::Failed);
        if seconds > 0.0 {
            let rate = state.rates.entry(planned.job.method.name.clone()).or_default();
            *rate = (rate.0 + seconds, rate.1 + planned.guess);
        }
        let left = state.seconds_left(self.limits, Instant::now());
        self.watcher.finished(row, state.tally.made, state.total, left);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Splits the set, fits, scores and measures; also says how many seconds that took, if they tell something of
/// other runs.
fn measure(job: &Job, set: &LabeledSet, limit: Option<Duration>) -> (Row, f64) {
    let split = protocol::split(set, job.protocol, job.class, Seed(job.seed));
    let (row, outcome) = match job.protocol.spoil() {
        None => {
            let outcome = job::run(&job.method, &split, job.seed, limit);
            (Row::of(job, &split.train, &split.test, &outcome), outcome)
        }
        Some(how) => {
            let split = cells::spoil(&split, how, Seed(job.seed));
            let outcome = job::run_cells(&job.method, &split, job.seed, limit);
            (Row::of(job, &split.train, &split.test, &outcome), outcome)
        }
    };
    (row, seconds_of(&outcome))
}

fn seconds_of(outcome: &Outcome) -> f64 {
    match outcome {
        Outcome::Done(measured) => measured.fit_seconds + measured.score_seconds,
        // At least so long.
        Outcome::TimedOut(limit) => limit.as_secs_f64(),
        Outcome::Failed(_) => 0.0,
    }
}

impl State<'_> {
    /// The guesses at what waits and runs, corrected by how far off they were for each method so far, without
    /// what the running ones have behind them. No run takes longer than its limit, and all together not less
    /// than the longest.
    fn seconds_left(&self, limits: Limits, now: Instant) -> f64 {
        let corrected = |method: &str, guess: f64| {
            let seconds = match self.rates.get(method) {
                Some(&(took, guessed)) if guessed > 0.0 => guess * took / guessed,
                Some(_) | None => guess,
            };
            limits.time.map_or(seconds, |limit| seconds.min(limit.as_secs_f64()))
        };
        let waiting = self.waiting.iter().map(|planned| corrected(&planned.job.method.name, planned.guess));
        let running = self.running.values().map(|run| {
            (corrected(&run.method, run.guess) - now.saturating_duration_since(run.start).as_secs_f64())
                .max(0.0)
        });
        let (sum, longest) =
            waiting.chain(running).fold((0.0, 0.0_f64), |(sum, most), one| (sum + one, most.max(one)));
        (sum / limits.jobs.max(1) as f64).max(longest)
    }
}
