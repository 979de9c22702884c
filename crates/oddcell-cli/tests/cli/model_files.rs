//! Model files that are none, or no longer.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use insta_cmd::assert_cmd_snapshot;
use oddcell::count::count;

use crate::folder::{Folder, orders, succeed};

#[test]
fn no_such_model() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(10));
    assert_cmd_snapshot!(folder.oddcell(["score", "m.oddcell", "orders.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read `m.oddcell`: No such file or directory (os error 2)
    hint: check the path; `oddcell fit DATA -o MODEL` writes models
    ");
    assert_cmd_snapshot!(folder.oddcell(["inspect", "."]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read `.`: Is a directory (os error 21)
    ");
}

#[test]
fn a_table_instead_of_a_model() {
    let folder = Folder::new().with_model();
    assert_cmd_snapshot!(folder.oddcell(["score", "orders.csv", "m.oddcell"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `orders.csv`: not an oddcell model: it looks like a text, such as a CSV table
    hint: `oddcell fit DATA -o MODEL` writes models; the model comes first: `oddcell score MODEL DATA`
    ");
    folder.write("empty.oddcell", "");
    assert_cmd_snapshot!(folder.oddcell(["inspect", "empty.oddcell"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: empty.oddcell is empty, but a table was expected
    ");
}

#[test]
fn a_model_instead_of_a_table() {
    let folder = Folder::new().with_model();
    let output = folder.oddcell(["score", "m.oddcell", "m.oddcell"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: m.oddcell, line 1"), "{message}");
}

#[test]
fn a_model_that_is_cut_off() {
    let folder = Folder::new().with_model();
    let bytes = std::fs::read(folder.path("m.oddcell")).unwrap();
    folder.write("cut.oddcell", &bytes[..bytes.len() - 10]);
    let output = folder.oddcell(["inspect", "cut.oddcell"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = format!(
        "error: `cut.oddcell`: the model file is truncated: it has {} bytes, but needs {}\n\
         hint: copy the file again from its source, or fit the model again\n",
        count(bytes.len() - 10),
        count(bytes.len())
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[test]
fn a_model_with_a_flipped_bit() {
    let folder = Folder::new().with_model();
    let mut bytes = std::fs::read(folder.path("m.oddcell")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    folder.write("flipped.oddcell", &bytes);
    let output = folder.oddcell(["score", "flipped.oddcell", "orders.csv"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.starts_with("error: `flipped.oddcell`: the model file is damaged: its checksum"),
        "{message}"
    );
    assert!(output.stdout.is_empty());
}

#[cfg(unix)]
#[test]
fn a_model_can_come_from_a_pipe() {
    let folder = Folder::new().with_model();
    let model = std::fs::read(folder.path("m.oddcell")).unwrap();
    let expected = succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv"]));
    let run = |args: &[&'static str], bytes: &[u8]| -> Output {
        let mut command = folder.oddcell(args.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // What is refused early is not read to its end.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        child.wait_with_output().unwrap()
    };
    let output = run(&["score", "/dev/stdin", "orders.csv"], &model);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    // Cut off, before and after the first bytes; and something else altogether.
    let inspect = |bytes: &[u8]| {
        let output = run(&["inspect", "/dev/stdin"], bytes);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap().lines().next().unwrap().to_owned()
    };
    assert!(
        inspect(&model[..400])
            .starts_with("error: `/dev/stdin`: the model file is truncated: it has 400 bytes")
    );
    let cut = inspect(&model[..model.len() - 1]);
    assert!(cut.starts_with("error: `/dev/stdin`: the model file is truncated: it has "), "{cut}");
    let csv = inspect(orders(120).as_bytes());
    assert_eq!(csv, "error: `/dev/stdin`: not an oddcell model: it looks like a text, such as a CSV table");
}
