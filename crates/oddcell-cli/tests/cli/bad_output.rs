//! Places where nothing can be written, and files that must not be overwritten.

use insta_cmd::assert_cmd_snapshot;

use crate::folder::{Folder, orders};

#[test]
fn a_missing_folder_is_told_before_anything_is_learned() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    // Without the check this would train for hours.
    let long = ["--set", "train_for=100000000 steps"];
    let fit = ["fit", "orders.csv", "-o", "absent/m.oddcell"];
    assert_cmd_snapshot!(folder.oddcell(fit.into_iter().chain(long)), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot create `absent/m.oddcell`: there is no folder `absent`
    hint: create the folder first
    ");
    let detect = ["detect", "orders.csv", "-o", "absent/out.csv"];
    assert_cmd_snapshot!(folder.oddcell(detect.into_iter().chain(long)), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot create `absent/out.csv`: there is no folder `absent`
    hint: create the folder first
    ");
    assert_cmd_snapshot!(folder.oddcell(["detect", "orders.csv", "-o", "."].into_iter().chain(long)), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot write `.`: it is a folder
    hint: name a file in that folder
    ");
}

#[test]
fn a_file_used_as_a_folder() {
    let folder = Folder::new().with_model();
    let args = ["score", "m.oddcell", "orders.csv", "-o", "orders.csv/out.csv"];
    assert_cmd_snapshot!(folder.oddcell(args), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot create `orders.csv/out.csv`: Not a directory (os error 20)
    hint: check that the folder exists and is writable
    ");
}

#[cfg(target_os = "linux")]
#[test] // Permissions do not stop root; /proc takes new files from nobody.
fn a_folder_that_takes_no_files() {
    let folder = Folder::new().with_model();
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "/proc/out.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot create `/proc/out.csv`: No such file or directory (os error 2)
    hint: check that the folder exists and is writable
    ");
    assert_cmd_snapshot!(folder.tiny(["fit", "orders.csv", "-o", "/proc/m.oddcell"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot create `/proc/m.oddcell`: No such file or directory (os error 2)
    hint: check that the folder exists and is writable
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = Folder::new().with_model();
    let score = |flags: [&'static str; 4]| {
        folder.oddcell(["score", "m.oddcell", "orders.csv"].into_iter().chain(flags))
    };
    assert_cmd_snapshot!(score(["-o", "/dev/full", "--top", "3"]), @r"
    success: false
    exit_code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write `/dev/full` as csv: No space left on device (os error 28)
    hint: free some space, or write to another disk
    ");
    assert_cmd_snapshot!(score(["-o", "/dev/full", "--format", "jsonl"]), @r"
    success: false
    exit_code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write `/dev/full` as jsonl: No space left on device (os error 28)
    hint: free some space, or write to another disk
    ");
    assert_cmd_snapshot!(score(["-o", "/dev/full", "--format", "parquet"]), @r"
    success: false
    exit_code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write `/dev/full` as parquet: No space left on device (os error 28)
    hint: free some space, or write to another disk
    ");
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "-o", "/dev/full"]), @r"
    success: false
    exit_code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write `/dev/full` as csv: No space left on device (os error 28)
    hint: free some space, or write to another disk
    ");
    assert_cmd_snapshot!(folder.tiny(["fit", "orders.csv", "-o", "/dev/full"]), @r"
    success: false
    exit_code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write `/dev/full`: No space left on device (os error 28)
    hint: free some space, or write to another disk
    ");
    for args in [&["score", "m.oddcell", "orders.csv"][..], &["inspect", "m.oddcell"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = folder.oddcell(args.iter().copied()).stdout(full).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("No space left on device"), "{message}");
    }
}

#[test]
fn results_do_not_overwrite_what_they_are_made_from() {
    let folder = Folder::new().with_model();
    assert_cmd_snapshot!(folder.tiny(["detect", "orders.csv", "-o", "orders.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `orders.csv` is an input of this command; writing the result there would overwrite it
    hint: give the result another name
    ");
    assert_cmd_snapshot!(folder.tiny(["fit", "orders.csv", "-o", "./orders.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `orders.csv` is an input of this command; writing the result there would overwrite it
    hint: give the result another name
    ");
    let onto_model = ["score", "m.oddcell", "orders.csv", "-o", "m.oddcell", "--format", "csv"];
    assert_cmd_snapshot!(folder.oddcell(onto_model), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `m.oddcell` is an input of this command; writing the result there would overwrite it
    hint: give the result another name
    ");
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "out.xlsx"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot write `out.xlsx`: its ending stands for no format that can be written
    hint: use .csv, .tsv or .tab, .jsonl, .ndjson or .json, .parquet or .pq, or set --format; spreadsheets open .csv
    ");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("orders.csv", folder.path("link.csv")).unwrap();
        assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "orders.csv", "-o", "link.csv"]), @r"
        success: false
        exit_code: 2
        ----- stdout -----

        ----- stderr -----
        error: `orders.csv` is an input of this command; writing the result there would overwrite it
        hint: give the result another name
        ");
        assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "link.csv", "-o", "orders.csv"]), @r"
        success: false
        exit_code: 2
        ----- stdout -----

        ----- stderr -----
        error: `link.csv` is an input of this command; writing the result there would overwrite it
        hint: give the result another name
        ");
    }
    assert_eq!(folder.read("orders.csv"), orders(120));
}
