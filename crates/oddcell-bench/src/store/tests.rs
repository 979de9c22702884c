//! Tests of the results file: crashes, other parameters, other programs.

use super::*;
use crate::{methods::Method, protocol::Protocol};

fn job(seed: u64) -> Job {
    let method = Method::named("knn").unwrap();
    Job { protocol: Protocol::Uad, set: "ein \"grüner\", Satz".to_owned(), class: 0, method, seed }
}

fn row(seed: u64, auc: f64) -> Row {
    Row { auc: Some(auc), ..Row::unmeasured(&job(seed), Status::Ok, "") }
}

#[test]
fn rows_read_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), false).unwrap();
    let rows = [row(0, 0.1 + 0.2), row(1, 1.0 / 3.0)];
    for row in &rows {
        store.add(row).unwrap();
    }
    assert_eq!(store.rows().unwrap(), rows);
    assert!(store.status(&job(1), "").is_some() && store.status(&job(2), "").is_none());
}

// Whatever a power cut leaves behind: whole rows stay, a piece of a row goes, and writing goes on.
#[test]
fn a_file_cut_at_any_byte_keeps_its_whole_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    {
        let mut store = Store::open(folder.path(), false).unwrap();
        for seed in 0..3 {
            store.add(&row(seed, 0.5)).unwrap();
        }
    }
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let n_lines = whole[..cut].split(|&byte| byte == b'\n').count() - 1;
        let mut store = Store::open(folder.path(), false).unwrap();
        let kept = n_lines.saturating_sub(1);
        assert_eq!(store.rows().unwrap().len(), kept, "cut at {cut}");
        store.add(&row(9, 0.25)).unwrap();
        let rows = store.rows().unwrap();
        assert_eq!((rows.len(), rows[kept].auc), (kept + 1, Some(0.25)), "cut at {cut}");
    }
}

#[test]
fn failures_are_run_again_only_if_asked_for_and_then_replaced() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = Store::open(folder.path(), false).unwrap();
        store.add(&Row::unmeasured(&job(0), Status::Failed, "no\nway")).unwrap();
    }
    assert!(Store::open(folder.path(), false).unwrap().status(&job(0), "").is_some());
    let mut store = Store::open(folder.path(), true).unwrap();
    assert!(store.status(&job(0), "").is_none());
    store.add(&row(0, 0.75)).unwrap();
    assert_eq!(store.rows().unwrap(), [row(0, 0.75)]);
}

#[test]
fn a_run_with_other_parameters_is_run_again_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), false).unwrap();
    store.add(&Row { params: "{}".to_owned(), ..row(0, 0.5) }).unwrap();
    assert!(store.status(&job(0), "").is_none());
    store.add(&row(0, 0.75)).unwrap();
    assert!(store.status(&job(0), "").is_some());
    assert_eq!(store.rows().unwrap(), [row(0, 0.75)]);
}

#[test]
fn a_run_on_other_data_is_run_again_and_replaced_and_unknown_data_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), false).unwrap();
    let of = |data: &str, auc| Row { data: data.to_owned(), ..row(0, auc) };
    store.add(&of("", 0.25)).unwrap();
    assert!(store.status(&job(0), "aa").is_some());
    store.add(&of("aa", 0.5)).unwrap();
    drop(store);
    let mut store = Store::open(folder.path(), false).unwrap();
    assert!(store.status(&job(0), "aa").is_some() && store.status(&job(0), "bb").is_none());
    store.add(&of("bb", 0.75)).unwrap();
    assert!(store.status(&job(0), "bb").is_some());
    assert_eq!(store.rows().unwrap(), [of("bb", 0.75)]);
}

#[test]
fn a_file_that_is_not_ours_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, "a letter without an end").unwrap();
    assert!(matches!(Store::open(folder.path(), false), Err(LabError::BadHeader { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a letter without an end");
}

#[test]
fn an_invalid_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    Store::open(folder.path(), false).unwrap().add(&row(0, 0.5)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap() + "not,a,result\n";
    std::fs::write(&path, text).unwrap();
    let error = Store::open(folder.path(), false).unwrap_err();
    assert!(matches!(error, LabError::BadResults { line: 3, .. }), "{error}");
}

#[test]
fn two_runs_do_not_write_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Store::open(folder.path(), false).unwrap();
    assert!(matches!(Store::open(folder.path(), false), Err(LabError::Busy { .. })));
}

#[test]
fn a_file_with_other_columns_is_not_added_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    Store::open(folder.path(), false).unwrap().add(&row(0, 0.5)).unwrap();
    let swapped = std::fs::read_to_string(&path).unwrap().replacen("auc,ap,", "ap,auc,", 1);
    std::fs::write(&path, &swapped).unwrap();
    let error = Store::open(folder.path(), false).unwrap_err();
    assert!(matches!(error, LabError::BadHeader { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), swapped);
    assert_eq!(read(&path).unwrap()[0].ap, Some(0.5));
}

type Change = fn(&Path);

/// What another program may do to the file of a run.
fn other_programs() -> [(&'static str, Change); 4] {
    [
        ("replaced by a copy", |path| {
            let copy = path.with_extension("copy");
            std::fs::copy(path, &copy).unwrap();
            std::fs::rename(&copy, path).unwrap();
        }),
        ("cut off", |path| std::fs::write(path, "").unwrap()),
        ("added to", |path| {
            let text = std::fs::read_to_string(path).unwrap();
            std::fs::write(path, format!("{text}\n")).unwrap();
        }),
        ("removed", |path| std::fs::remove_file(path).unwrap()),
    ]
}

#[test]
fn a_row_goes_to_a_separate_file_if_another_program_changed_the_file() {
    for (what, change) in other_programs() {
        if what == "replaced by a copy" && !cfg!(unix) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let mut store = Store::open(folder.path(), false).unwrap();
        store.add(&row(0, 0.5)).unwrap();
        change(&path);
        let left = std::fs::read(&path).ok();
        for seed in [1, 2] {
            let error = store.add(&row(seed, 0.25)).unwrap_err();
            assert!(matches!(error, LabError::Changed { .. }), "{what}: {error}");
        }
        assert_eq!(std::fs::read(&path).ok(), left, "{what}");
        // Appended to the file as it was, the rows are as if they had been added.
        let kept = std::fs::read_to_string(folder.path().join(UNSAVED)).unwrap();
        let header = String::from_utf8(line(&row(0, 0.5), true).unwrap()).unwrap();
        std::fs::write(&path, header + &kept).unwrap();
        assert_eq!(read(&path).unwrap(), [row(0, 0.5), row(1, 0.25), row(2, 0.25)], "{what}");
    }
}
