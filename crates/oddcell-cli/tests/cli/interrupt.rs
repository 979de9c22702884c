//! Ctrl-C leaves no half file.
#![cfg(unix)]

use std::{
    io::Write,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::folder::{Folder, orders};

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn an_interrupted_fit_writes_no_model() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(120));
    let args =
        ["fit", "orders.csv", "-o", "m.oddcell", "--threads", "1", "--set", "train_for=100000000 steps"];
    let mut child = folder.oddcell(args).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(child.try_wait().unwrap().is_none(), "it is still learning");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: interrupted\n");
    assert_eq!(folder.names(), ["orders.csv"]);
}

#[test]
fn an_interrupted_score_takes_its_unfinished_file_away_even_while_it_waits_for_rows() {
    let folder = Folder::new().with_model();
    folder.write("out.csv", "older result\n");
    let args = ["score", "m.oddcell", "-", "-o", "out.csv"];
    let mut child = folder.oddcell(args).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(orders(20_000).as_bytes()).unwrap();
    let unfinished = || folder.names().iter().any(|name| name.starts_with(".oddcell-"));
    let mut waited = 0;
    while !unfinished() {
        waited += 1;
        assert!(waited < 600, "nothing is written");
        std::thread::sleep(Duration::from_millis(50));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: interrupted\n");
    assert_eq!(folder.names(), ["m.oddcell", "orders.csv", "out.csv"]);
    assert_eq!(folder.read("out.csv"), "older result\n");
}
