//! Names, cells, files and settings that try to control the terminal: they are shown as text.

use std::{fmt::Write as _, fs, path::Path, process::Output};

use crate::folder::{Folder, TINY};

/// Clears the screen, colors what follows, reverses the direction of text, and goes back over the line.
const HOSTILE: &str = "\u{1b}[2J\u{1b}[31mred\u{202E}gnp\u{9b}\u{7}\u{8}";

/// Checks that nothing but text and line ends reaches the terminal.
fn assert_text(what: &str, output: &Output) {
    for (stream, bytes) in [("standard output", &output.stdout), ("standard error", &output.stderr)] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let active = text.chars().find(|&c| (c.is_control() && c != '\n') || c == '\u{202E}');
        assert_eq!(active, None, "{what}, {stream}: {text:?}");
    }
}

#[test]
fn names_and_cells_are_escaped_in_notes_errors_and_summaries() {
    let folder = Folder::new();
    let mut csv = format!("{HOSTILE},size,\"two\nlines\"\n");
    for row in 0..60 {
        writeln!(csv, "{HOSTILE}{},{row}.5,x{}", row % 7, row % 5).unwrap();
    }
    folder.write("hostile.csv", &csv);
    let fit = ["fit", "hostile.csv", "-o", "m.oddcell", "--detector", "ecod"];
    for args in [
        &["detect", "hostile.csv", "--detector", "ecod", "-o", "out.csv"][..],
        &["detect", "hostile.csv", "--strict", "--kind", "size=boolean"],
        &["detect", "hostile.csv", "--ignore", "absent"],
        &fit,
        &["inspect", "m.oddcell"],
        &["score", "m.oddcell", "hostile.csv", "-o", "out.csv", "--top", "2"],
        &["explain", "m.oddcell", "hostile.csv", "--row", "3"],
    ] {
        assert_text(&args.join(" "), &folder.oddcell(args.iter().copied()).output().unwrap());
    }
}

#[test]
fn file_names_settings_and_arguments_are_escaped() {
    let folder = Folder::new();
    folder.write("orders.csv", crate::folder::orders(60));
    let setting = format!("{HOSTILE}=1");
    let absent = format!("{HOSTILE}.csv");
    for args in [
        vec!["detect", &absent],
        vec!["detect", "orders.csv", "--set", &setting],
        vec!["detect", "orders.csv", "--kind", &setting],
        vec!["detect", "orders.csv", "--alpha", HOSTILE],
        vec!["detect", "orders.csv", "--label", HOSTILE],
        vec!["detect", "orders.csv", "--detector", HOSTILE],
        vec![HOSTILE],
    ] {
        let output = folder.oddcell(args.iter().copied()).output().unwrap();
        assert!(!output.status.success());
        assert_text(&format!("{args:?}"), &output);
    }
}

#[test] // The inputs that did so in version 0.1. That of a setting is the detector's name, NUL, and the setting.
fn the_inputs_that_reached_the_terminal_no_longer_do() {
    let folder = Folder::new();
    folder.write("orders.csv", crate::folder::orders(60));
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../oddcell/tests/crashes");
    let mut n_run = 0;
    for entry in fs::read_dir(inputs).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let content = fs::read(entry.path()).unwrap();
        let output = if name.contains("-toml-") {
            folder.write("c.toml", &content);
            folder.oddcell(["detect", "orders.csv", "--config", "c.toml"].into_iter().chain(TINY)).output()
        } else if name.contains("-set-") {
            let text = String::from_utf8(content).unwrap();
            let (detector, setting) = text.split_once('\0').unwrap();
            if setting.contains('\0') {
                continue;
            }
            folder.oddcell(["detect", "orders.csv", "--detector", detector, "--set", setting]).output()
        } else {
            continue;
        };
        assert_text(&name, &output.unwrap());
        n_run += 1;
    }
    assert!(n_run >= 12, "{n_run}");
}

#[test]
fn csv_safe_disarms_formulas_and_leaves_numbers_alone() {
    let folder = Folder::new();
    let mut csv = String::from("=name(),amount\n");
    for row in 0..40 {
        writeln!(csv, "=1+{},-{row}.5", row % 3).unwrap();
    }
    folder.write("formulas.csv", &csv);
    let plain = ["detect", "formulas.csv", "--detector", "ecod", "-o", "plain.csv"];
    assert!(folder.oddcell(plain).output().unwrap().status.success());
    let safe = ["detect", "formulas.csv", "--detector", "ecod", "--csv-safe", "-o", "safe.csv"];
    assert!(folder.oddcell(safe).output().unwrap().status.success());
    assert!(
        folder
            .read("plain.csv")
            .starts_with("=name(),amount,odd_score,odd_p,odd_verdict,odd_cells,odd_reasons\n=1+0,-0.5,")
    );
    assert!(
        folder
            .read("safe.csv")
            .starts_with("'=name(),amount,odd_score,odd_p,odd_verdict,odd_cells,odd_reasons\n'=1+0,-0.5,")
    );
}

#[test]
fn an_ending_that_cannot_be_written_is_an_error_that_lists_what_can() {
    let folder = Folder::new();
    folder.write("orders.csv", crate::folder::orders(60));
    let output = folder.oddcell(["detect", "orders.csv", "-o", "judged.xlsx"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("cannot write `judged.xlsx`") && error.contains(".parquet"), "{error}");
    assert!(!folder.path("judged.xlsx").exists());
}
