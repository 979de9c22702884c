//! Tests of the runs.

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
        let center = if row < 40 { 0.0 } else { 9.0 };
        let mut cell = || center + stream.normal();
        let _ = writeln!(text, "{},{},{},{}", cell(), cell(), cell(), u8::from(row >= 40));
    }
    let path = folder.join("made.csv");
    fs::write(&path, text).unwrap();
    Entrant { name: "made".to_owned(), path, n_numeric: None }
}

fn matrix(folder: &Path, methods: &[&str]) -> Plan {
    let methods = methods.iter().map(|name| Method::named(name).unwrap()).collect();
    let sets = vec![write_set(folder)];
    Plan { protocol: Protocol::Uad, sets, methods, seeds: vec![0, 1, 2], one_hot: false }
}

const LIMITS: Limits = Limits { jobs: 2, threads: 1, memory: 1 << 30, time: None };

fn results(plan: &Plan, folder: &Path, limits: Limits) -> Vec<Row> {
    let mut store = Store::open(folder, false).unwrap();
    plan.run(&mut store, limits, &Seen::default()).unwrap();
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
fn runs_on_a_file_that_changed_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut matrix = matrix(folder.path(), &["knn"]);
    matrix.seeds = vec![0];
    let before = results(&matrix, folder.path(), LIMITS);
    assert_eq!(before[0].data, digest::of_file(&matrix.sets[0].path).unwrap());
    let text = fs::read_to_string(&matrix.sets[0].path).unwrap();
    let fewer: Vec<&str> = text.lines().skip(2).collect();
    fs::write(&matrix.sets[0].path, format!("x1,x2,x3,y\n{}\n", fewer.join("\n"))).unwrap();
    let after = results(&matrix, folder.path(), LIMITS);
    assert_eq!(after.len(), 1);
    assert_eq!((before[0].train_rows, after[0].train_rows), (20, 19));
    assert_ne!(after[0].data, before[0].data);
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
    let vary = ["train_for=40 steps", "sigma_max=0.5|2"].map(|text| Vary::parse(text).unwrap());
    matrix.methods = matrix.methods[0].variants(&vary).unwrap();
    let rows = results(&matrix, folder.path(), LIMITS);
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert!(row.variant.starts_with("train_for=40 steps; sigma_max="), "{}", row.variant);
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
        told.len() == 1 && told[0].starts_with("broken: ") && told[0].ends_with("the array `X` is missing"),
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
        assert_eq!(row.params, if row.method == ABS_Z { "" } else { r#"{"joint":false}"# });
    }
    // Clean cells are about 0 ± 1, spoiled ones are 1 to 3 further off; guessing finds a third of the rows.
    let of_reference = |figure: fn(&Row) -> Option<f64>| {
        let figures = rows.iter().filter(|row| row.method == ABS_Z).filter_map(figure);
        figures.sum::<f64>() / 3.0
    };
    assert!(of_reference(|row| row.auc) > 0.62, "{rows:?}");
    assert!(of_reference(|row| row.top1) > 0.45, "{rows:?}");
}

fn planned(folder: &Path, seed: u64, guess: f64) -> Planned {
    let method = Method::named("knn").unwrap();
    let job = Job { protocol: Protocol::Uad, set: "made".to_owned(), class: 0, method, seed };
    Planned { job, data: String::new(), entrant: write_set(folder), bytes: 1 << 20, guess }
}

// Runs of knn took twice what was guessed. Waiting: 2 · 10 = 20 s. Running since 1 s: 2 · 4 − 1 = 7 s.
#[test]
#[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
fn the_time_left_counts_what_runs_and_corrects_the_guesses() {
    let folder = tempfile::tempdir().unwrap();
    let (matrix, told) = (matrix(folder.path(), &["knn"]), Told::default());
    let mut store = Store::open(folder.path(), false).unwrap();
    let floor = Floor::new(&matrix, LIMITS, &told, &mut store, vec![planned(folder.path(), 0, 10.0)]);
    let mut state = floor.lock();
    state.rates.insert("knn".to_owned(), (6.0, 3.0));
    let start = Instant::now();
    let running = Running { method: "knn".to_owned(), guess: 4.0, start };
    state.running.insert(Key::of(&planned(folder.path(), 1, 4.0).job), running);
    let left = |jobs: usize, limit: Option<u64>, after: u64| {
        let limits = Limits { jobs, time: limit.map(Duration::from_secs), ..LIMITS };
        state.seconds_left(limits, start + Duration::from_secs(after))
    };
    assert_eq!(left(1, None, 1), 27.0);
    assert_eq!(left(2, None, 1), 20.0, "no job can share the longest run");
    assert_eq!(left(1, None, 100), 20.0, "never below 0");
    assert_eq!(left(1, Some(5), 1), 5.0 + 4.0, "no run takes longer than its limit");
}

#[test]
fn a_time_out_took_at_least_its_limit() {
    assert_eq!(seconds_of(&Outcome::TimedOut(Duration::from_secs(300))), 300.0);
    assert_eq!(seconds_of(&Outcome::Failed("at once".to_owned())), 0.0);
}

#[test]
fn a_worker_that_waits_for_memory_lets_go_of_its_set() {
    let folder = tempfile::tempdir().unwrap();
    let (matrix, told) = (matrix(folder.path(), &["knn"]), Told::default());
    let mut store = Store::open(folder.path(), false).unwrap();
    let waiting = (0..2).map(|seed| planned(folder.path(), seed, 1.0)).collect();
    let limits = Limits { memory: 1 << 20, ..LIMITS };
    let floor = Floor::new(&matrix, limits, &told, &mut store, waiting);
    let first = floor.next(&mut None).unwrap();
    let mut last = Some(Arc::new(matrix.read(&first.entrant).unwrap()));
    let held = Arc::downgrade(last.as_ref().unwrap());
    std::thread::scope(|scope| {
        let second = scope.spawn(|| floor.next(&mut last));
        let is_let_go = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            held.strong_count() == 0
        });
        let row = Row::unmeasured(&first.job, Status::Failed, "");
        floor.end(&first, &row, 0.0);
        assert!(second.join().unwrap().is_some());
        assert!(is_let_go);
    });
}

#[test] // Three labels for one row cannot be split.
fn a_split_that_panics_costs_its_run_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (matrix, told) = (matrix(folder.path(), &["knn"]), Told::default());
    let mut store = Store::open(folder.path(), false).unwrap();
    let floor = Floor::new(&matrix, LIMITS, &told, &mut store, Vec::new());
    let (rows, labels) = (oddcell::Matrix::zeros(1, 1), vec![0, 0, 1]);
    let set = LabeledSet { name: "made".to_owned(), rows, labels, n_numeric: 1, is_test: None };
    let broken = Arc::new(Loaded { set, data: String::new() });
    floor.sets.lock().unwrap().insert("made".to_owned(), Arc::downgrade(&broken));
    let (row, _) = floor.run(&planned(folder.path(), 0, 1.0), &mut None);
    assert_eq!((row.status, &*row.message), (Status::Failed, "panicked; please report this bug"));
}

#[test]
fn failures_of_before_are_counted_and_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(folder.path(), &["knn", "knn"]);
    let run = |again: bool, time: Option<Duration>| {
        let mut store = Store::open(folder.path(), again).unwrap();
        matrix.run(&mut store, Limits { time, ..LIMITS }, &Told::default()).unwrap()
    };
    assert_eq!(run(false, Some(Duration::ZERO)), Tally { made: 3, timed_out: 3, ..Tally::default() });
    assert_eq!(run(false, None), Tally { failed_before: 3, ..Tally::default() });
    assert_eq!(run(true, None), Tally { made: 3, ..Tally::default() });
    assert_eq!(run(false, None), Tally::default());
}
