//! Many runs: in parallel within a memory budget, the largest first, every one a row of the store as soon as it ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use oddcell::Seed;

use crate::{
    LabError, cells,
    job::{self, Job, Outcome},
    methods::{Method, guess_seconds},
    protocol::{self, Protocol},
    sets::LabelledSet,
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
    /// A set cannot take part.
    fn left_out(&self, set: &str, reason: &str);

    /// A run ended. `left` is a guess at the seconds that remain, on the present number of jobs.
    fn finished(&self, row: &Row, done: usize, total: usize, left: f64);
}

/// What is to be run on which sets.
#[derive(Debug)]
pub struct Matrix {
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

/// A run with what it is thought to cost.
#[derive(Debug)]
struct Planned {
    job: Job,
    entrant: Entrant,
    bytes: u64,
    guess: f64,
}

impl Matrix {
    /// Runs what the store does not have yet.
    pub fn run(&self, store: &mut Store, limits: Limits, watcher: &dyn Watcher) -> Result<(), LabError> {
        let mut planned = self.plan(store, watcher);
        // Taken from the end: the largest first.
        planned.sort_by(|a, b| a.guess.total_cmp(&b.guess));
        let total = planned.len();
        let state = Mutex::new(State {
            waiting: planned,
            free: limits.memory,
            running: 0,
            done: 0,
            total,
            store,
            rates: BTreeMap::new(),
            error: None,
        });
        let floor =
            Floor { matrix: self, limits, watcher, state, changed: Condvar::new(), sets: Mutex::default() };
        std::thread::scope(|scope| {
            for _ in 0..limits.jobs.max(1) {
                scope.spawn(|| floor.work());
            }
        });
        match floor.state.into_inner().unwrap_or_else(PoisonError::into_inner).error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// What the store does not have, once each. Sets that cannot be read are left out.
    fn plan(&self, store: &Store, watcher: &dyn Watcher) -> Vec<Planned> {
        let (mut planned, mut known) = (Vec::new(), BTreeSet::new());
        for entrant in &self.sets {
            let set = match self.read(entrant) {
                Ok(set) => set,
                Err(error) => {
                    watcher.left_out(&entrant.name, &error.to_string());
                    continue;
                }
            };
            let classes = protocol::normal_classes(&set, self.protocol);
            if classes.is_empty() {
                watcher.left_out(&entrant.name, "no class has more than 20 rows");
            }
            let (n_rows, n_cols) = (set.rows.n_rows(), set.rows.n_cols());
            for class in classes {
                let n_normal = set.labels.iter().filter(|&&label| label == class).count();
                let n_train = if self.protocol == Protocol::Contaminated { n_rows } else { n_normal / 2 };
                for method in &self.methods {
                    let method = if self.one_hot { method.noted("columns", "all") } else { method.clone() };
                    let guess = guess_seconds(&method, n_train, n_rows, n_cols);
                    let bytes = memory_of(&method, n_rows, n_cols);
                    for &seed in &self.seeds {
                        let (set, method) = (entrant.name.clone(), method.clone());
                        let job = Job { protocol: self.protocol, set, class, method, seed };
                        if !store.has(&job) && known.insert(Key::of(&job)) {
                            planned.push(Planned { job, entrant: entrant.clone(), bytes, guess });
                        }
                    }
                }
            }
        }
        planned
    }

    fn read(&self, entrant: &Entrant) -> Result<LabelledSet, LabError> {
        let mut set = LabelledSet::read(&entrant.name, &entrant.path, entrant.n_numeric)?;
        if !self.one_hot {
            set.keep_numbers();
        }
        Ok(set)
    }
}

/// A rough guess: the set, its two parts, and what the method makes of them.
fn memory_of(method: &Method, n_rows: usize, n_cols: usize) -> u64 {
    let own = if method.detector() == Some("scad") { 600 << 20 } else { 64 << 20 };
    4 * 8 * n_rows as u64 * n_cols as u64 + own
}

/// Where the runs are done.
struct Floor<'a> {
    matrix: &'a Matrix,
    limits: Limits,
    watcher: &'a dyn Watcher,
    state: Mutex<State<'a>>,
    changed: Condvar,
    /// Sets that some run has in use.
    sets: Mutex<BTreeMap<String, Weak<LabelledSet>>>,
}

struct State<'a> {
    /// Smallest first.
    waiting: Vec<Planned>,
    /// Bytes not in use.
    free: u64,
    running: usize,
    done: usize,
    total: usize,
    store: &'a mut Store,
    /// Seconds that runs of a method took, and the guesses at them.
    rates: BTreeMap<String, (f64, f64)>,
    error: Option<LabError>,
}

impl<'a> Floor<'a> {
    /// Runs until nothing waits, or until results cannot be written any more.
    fn work(&self) {
        let mut set = None;
        while let Some(planned) = self.next() {
            let (row, seconds) = self.run(&planned, &mut set);
            self.end(&planned, &row, seconds);
        }
    }

    /// The largest run that there is memory for; waits for others to end if there is none.
    fn next(&self) -> Option<Planned> {
        let mut state = self.lock();
        loop {
            if state.error.is_some() || state.waiting.is_empty() {
                return None;
            }
            // A run that is too large for the budget is taken alone, and then refused.
            let fits = |planned: &Planned| planned.bytes <= state.free || state.running == 0;
            if let Some(at) = state.waiting.iter().rposition(fits) {
                let planned = state.waiting.remove(at);
                state.free = state.free.saturating_sub(planned.bytes);
                state.running += 1;
                return Some(planned);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does a run, on threads of its own. `last` keeps the set for the next run.
    fn run(&self, planned: &Planned, last: &mut Option<Arc<LabelledSet>>) -> (Row, f64) {
        let (job, Limits { memory, threads, time, .. }) = (&planned.job, self.limits);
        let failed = |message: &str| (Row::unmeasured(job, Status::Failed, message), 0.0);
        if planned.bytes > memory {
            let (needed, budget) = (planned.bytes >> 20, memory >> 20);
            return failed(&format!("needs about {needed} MB of memory, and only {budget} MB may be used"));
        }
        let set = match self.set(&planned.entrant, last) {
            Ok(set) => set,
            Err(error) => return failed(&error.to_string()),
        };
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool,
            Err(error) => return failed(&error.to_string()),
        };
        let split = protocol::split(&set, job.protocol, job.class, Seed(job.seed));
        // A panic is a bug of ours; it costs this run, not the hundreds that come after it.
        let caught = |run: &(dyn Fn() -> Outcome + Sync)| {
            catch_unwind(AssertUnwindSafe(|| pool.install(run)))
                .unwrap_or_else(|_| Outcome::Failed("panicked; please report this bug".to_owned()))
        };
        let (row, outcome) = match job.protocol.spoil() {
            None => {
                let outcome = caught(&|| job::run(&job.method, &split, job.seed, time));
                (Row::of(job, &split.train, &split.test, &outcome), outcome)
            }
            Some(how) => {
                let split = cells::spoil(&split, how, Seed(job.seed));
                let outcome = caught(&|| job::run_cells(&job.method, &split, job.seed, time));
                (Row::of(job, &split.train, &split.test, &outcome), outcome)
            }
        };
        let seconds = match &outcome {
            Outcome::Done(measured) => measured.fit_seconds + measured.score_seconds,
            Outcome::TimedOut(_) | Outcome::Failed(_) => 0.0,
        };
        (Row { threads, jobs: self.limits.jobs, ..row }, seconds)
    }

    /// The set, read once for all runs that have it at the same time.
    fn set(
        &self,
        entrant: &Entrant,
        last: &mut Option<Arc<LabelledSet>>,
    ) -> Result<Arc<LabelledSet>, LabError> {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = sets.get(&entrant.name).and_then(Weak::upgrade) {
            *last = Some(Arc::clone(&set));
            return Ok(set);
        }
        *last = None;
        let set = Arc::new(self.matrix.read(entrant)?);
        sets.insert(entrant.name.clone(), Arc::downgrade(&set));
        *last = Some(Arc::clone(&set));
        Ok(set)
    }

    fn end(&self, planned: &Planned, row: &Row, seconds: f64) {
        let mut state = self.lock();
        if state.error.is_none() {
            state.error = state.store.add(row).err();
        }
        state.free = (state.free + planned.bytes).min(self.limits.memory);
        state.running -= 1;
        state.done += 1;
        if seconds > 0.0 {
            let rate = state.rates.entry(planned.job.method.name.clone()).or_default();
            *rate = (rate.0 + seconds, rate.1 + planned.guess);
        }
        let left = state.seconds_left() / self.limits.jobs.max(1) as f64;
        self.watcher.finished(row, state.done, state.total, left);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State<'_> {
    /// The guesses at what waits, corrected by how far off they were for each method so far.
    fn seconds_left(&self) -> f64 {
        let corrected = |planned: &Planned| match self.rates.get(&planned.job.method.name) {
            Some(&(took, guessed)) if guessed > 0.0 => planned.guess * took / guessed,
            _ => planned.guess,
        };
        self.waiting.iter().map(corrected).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::{fmt::Write as _, fs, path::Path};

    use super::*;
    use crate::methods::{ABS_Z, Vary};

    #[derive(Default)]
    struct Seen(Mutex<Vec<(usize, usize)>>);

    impl Watcher for Seen {
        fn left_out(&self, set: &str, reason: &str) {
            panic!("{set}: {reason}");
        }

        fn finished(&self, _: &Row, done: usize, total: usize, left: f64) {
            assert!(left >= 0.0);
            self.0.lock().unwrap().push((done, total));
        }
    }

    /// Forty rows around 0 and four far off.
    fn write_set(folder: &Path) -> Entrant {
        let mut stream = Seed(1).stream("set", &[]);
        let mut text = "x1,x2,x3,y\n".to_owned();
        for row in 0..44 {
            let centre = if row < 40 { 0.0 } else { 9.0 };
            let mut cell = || centre + stream.normal();
            let _ = writeln!(text, "{},{},{},{}", cell(), cell(), cell(), u8::from(row >= 40));
        }
        let path = folder.join("made.csv");
        fs::write(&path, text).unwrap();
        Entrant { name: "made".to_owned(), path, n_numeric: None }
    }

    fn matrix(folder: &Path, methods: &[&str]) -> Matrix {
        let methods = methods.iter().map(|name| Method::named(name).unwrap()).collect();
        let sets = vec![write_set(folder)];
        Matrix { protocol: Protocol::Uad, sets, methods, seeds: vec![0, 1, 2], one_hot: false }
    }

    const LIMITS: Limits = Limits { jobs: 2, threads: 1, memory: 1 << 30, time: None };

    fn results(matrix: &Matrix, folder: &Path, limits: Limits) -> Vec<Row> {
        let mut store = Store::open(folder, false).unwrap();
        matrix.run(&mut store, limits, &Seen::default()).unwrap();
        let mut rows = store.rows().unwrap();
        rows.sort_by_key(Row::key);
        rows
    }

    /// What does not depend on the clock.
    fn timeless(rows: Vec<Row>) -> Vec<Row> {
        rows.into_iter().map(|row| Row { fit_seconds: None, score_seconds: None, ..row }).collect()
    }

    #[test]
    fn every_run_is_a_row_and_far_off_rows_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let rows = results(&matrix(folder.path(), &["knn", "copod"]), folder.path(), LIMITS);
        assert_eq!(rows.len(), 6);
        for row in &rows {
            assert_eq!((row.auc, row.ap, row.f1), (Some(1.0), Some(1.0), Some(1.0)), "{row:?}");
            assert_eq!((row.train_rows, row.test_rows, row.columns), (20, 24, 3));
        }
    }

    #[test]
    fn what_is_there_is_not_run_again_and_what_is_missing_is() {
        let folder = tempfile::tempdir().unwrap();
        let all = results(&matrix(folder.path(), &["knn", "iforest"]), folder.path(), LIMITS);
        let path = folder.path().join(crate::store::FILE_NAME);
        let text = fs::read_to_string(&path).unwrap();
        // As after a crash: two rows are there, and half of the third.
        let cut: usize = text.split_inclusive('\n').take(3).map(str::len).sum();
        fs::write(&path, &text[..cut + 20]).unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        let seen = Seen::default();
        matrix(folder.path(), &["knn", "iforest"]).run(&mut store, LIMITS, &seen).unwrap();
        assert_eq!(seen.0.into_inner().unwrap(), [(1, 4), (2, 4), (3, 4), (4, 4)]);
        let mut rows = store.rows().unwrap();
        rows.sort_by_key(Row::key);
        assert_eq!(timeless(rows), timeless(all));
    }

    #[test]
    fn one_job_or_many_threads_give_the_same_rows() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [alone, together] = [(1, 2), (3, 1)].map(|(jobs, threads)| {
            let folder = folders[jobs / 2].path();
            let limits = Limits { jobs, threads, ..LIMITS };
            let rows = timeless(results(&matrix(folder, &["lof", "iforest"]), folder, limits));
            rows.into_iter().map(|row| Row { threads: 0, jobs: 0, ..row }).collect::<Vec<_>>()
        });
        assert_eq!(alone, together);
    }

    #[test]
    fn a_run_that_is_too_large_or_too_slow_is_a_row_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let small = Limits { memory: 1 << 20, ..LIMITS };
        let rows = results(&matrix(folder.path(), &["knn"]), folder.path(), small);
        assert!(
            rows.iter().all(|row| row.status == Status::Failed && row.message.contains("memory")),
            "{rows:?}"
        );

        let folder = tempfile::tempdir().unwrap();
        let short = Limits { time: Some(Duration::ZERO), ..LIMITS };
        let rows = results(&matrix(folder.path(), &["knn", "noise"]), folder.path(), short);
        assert_eq!(rows.len(), 6);
        assert!(rows.iter().all(|row| row.status == Status::Timeout && row.auc.is_none()), "{rows:?}");
    }

    #[test] // 40 steps, looked at 20 times; the last look is the result, and the oracle is never worse.
    fn the_path_of_a_training_ends_at_the_result() {
        let folder = tempfile::tempdir().unwrap();
        let mut matrix = matrix(folder.path(), &["noise-fast"]);
        let vary = ["budget=40 steps", "sigma_max=0.5|2"].map(|text| Vary::parse(text).unwrap());
        matrix.methods = matrix.methods[0].variants(&vary).unwrap();
        let rows = results(&matrix, folder.path(), LIMITS);
        assert_eq!(rows.len(), 6);
        for row in rows {
            assert!(row.variant.starts_with("budget=40 steps; sigma_max="), "{}", row.variant);
            assert_eq!(row.steps, Some(40));
            let path: Vec<&str> = row.path.split(' ').collect();
            assert_eq!(path.len(), 20);
            assert_eq!(*path.last().unwrap(), format!("1.000:{:.5}", row.auc.unwrap()));
            assert!(row.oracle_auc.unwrap() >= row.auc.unwrap());
        }
    }

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Watcher for Told {
        fn left_out(&self, set: &str, reason: &str) {
            self.0.lock().unwrap().push(format!("{set}: {reason}"));
        }

        fn finished(&self, _: &Row, _: usize, _: usize, _: f64) {}
    }

    #[test]
    fn a_set_that_cannot_be_read_is_told_and_the_others_are_run_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut matrix = matrix(folder.path(), &["knn", "knn"]);
        let broken = folder.path().join("broken.csv");
        fs::write(&broken, "a,b\n1,2\n").unwrap();
        matrix.sets.insert(0, Entrant { name: "broken".to_owned(), path: broken, n_numeric: None });
        let mut store = Store::open(folder.path(), false).unwrap();
        let told = Told::default();
        matrix.run(&mut store, LIMITS, &told).unwrap();
        assert_eq!(store.rows().unwrap().len(), 3);
        let told = told.0.into_inner().unwrap();
        assert!(
            told.len() == 1 && told[0].starts_with("broken: ") && told[0].ends_with("no array `X`"),
            "{told:?}"
        );
    }

    #[test]
    fn one_hot_columns_take_part_only_if_asked_for_and_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut matrix = matrix(folder.path(), &["knn"]);
        matrix.sets[0].n_numeric = Some(2);
        matrix.seeds = vec![0];
        let shape = |rows: &[Row]| rows.iter().map(|row| (row.label(), row.columns)).collect::<Vec<_>>();
        assert_eq!(shape(&results(&matrix, folder.path(), LIMITS)), [("knn".to_owned(), 2)]);
        matrix.one_hot = true;
        let rows = results(&matrix, folder.path(), LIMITS);
        assert_eq!(shape(&rows), [("knn".to_owned(), 2), ("knn columns=all".to_owned(), 3)]);
    }

    #[test]
    fn spoiled_cells_are_found_by_how_far_they_are_off() {
        let folder = tempfile::tempdir().unwrap();
        let mut matrix = matrix(folder.path(), &["copod"]);
        matrix.protocol = Protocol::CellsNoise;
        matrix.methods.push(Method::abs_z());
        let rows = results(&matrix, folder.path(), LIMITS);
        for row in &rows {
            assert_eq!((row.status, row.test_rows), (Status::Ok, 20), "{row:?}");
            assert!(row.top1.is_some(), "{row:?}");
        }
        // Clean cells are about 0 ± 1, spoiled ones are 1 to 3 further off; guessing finds a third of the rows.
        let of_reference = |figure: fn(&Row) -> Option<f64>| {
            let figures = rows.iter().filter(|row| row.method == ABS_Z).filter_map(figure);
            figures.sum::<f64>() / 3.0
        };
        assert!(of_reference(|row| row.auc) > 0.62, "{rows:?}");
        assert!(of_reference(|row| row.top1) > 0.45, "{rows:?}");
    }
}
