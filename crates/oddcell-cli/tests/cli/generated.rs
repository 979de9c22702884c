//! What the program writes about itself for shells, manuals and editors.

use std::{fs, process::Command};

use crate::folder::{Folder, succeed};

/// The commands that people see, from the help text.
fn commands(folder: &Folder) -> Vec<String> {
    let help = succeed(&mut folder.oddcell(["--help"]));
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn completions_of_every_shell_name_every_command_and_flags() {
    let folder = Folder::new();
    let commands = commands(&folder);
    assert!(commands.len() >= 7, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = succeed(&mut folder.oddcell(["completions", shell]));
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
        for flag in ["group-by", "csv-safe", "keep-rows"] {
            assert!(script.contains(flag), "{shell}: {flag}");
        }
    }
    let output = folder.oddcell(["completions", "tcsh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[cfg(unix)]
#[test] // Bash itself runs the script and asks it.
fn bash_completes_commands_flags_and_values() {
    let folder = Folder::new();
    folder.write("oddcell.bash", succeed(&mut folder.oddcell(["completions", "bash"])));
    let complete = |words: &str, last: &str| {
        let line = format!(
            ". ./oddcell.bash; COMP_WORDS=({words} {last}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _oddcell oddcell {last} x; echo ${{COMPREPLY[*]}}"
        );
        let output = Command::new("bash").args(["-c", &line]).current_dir(folder.path("")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    assert_eq!(complete("oddcell", "de"), "demo detect");
    assert_eq!(complete("oddcell detect", "--csv"), "--csv-safe");
    assert_eq!(complete("oddcell bench", "abl"), "ablate");
}

#[test]
fn manual_pages_are_written_for_every_command_and_printed_one_by_one() {
    let folder = Folder::new();
    succeed(&mut folder.oddcell(["man", "--dir", "man1"]));
    let names: Vec<String> = fs::read_dir(folder.path("man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for command in commands(&folder) {
        assert!(names.contains(&format!("oddcell-{command}.1")), "{command}: {names:?}");
    }
    assert!(names.contains(&"oddcell.1".to_owned()) && names.contains(&"oddcell-bench-uad.1".to_owned()));
    let page = succeed(&mut folder.oddcell(["man", "bench", "uad"]));
    assert_eq!(page, folder.read("man1/oddcell-bench-uad.1"));
    assert!(page.contains(".SH EXAMPLES\n.nf\n  oddcell bench uad \\-\\-data DIR"), "{page}");
    let output = folder.oddcell(["man", "bench", "nothing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("there is no command `bench nothing`"));
}

#[test]
fn the_schema_is_json_with_every_part_of_a_config() {
    let schema: serde_json::Value =
        serde_json::from_str(&succeed(&mut Folder::new().oddcell(["config-schema"]))).unwrap();
    // The parts that the error about a wrong config lists.
    let folder = Folder::new();
    folder.write("orders.csv", crate::folder::orders(40));
    folder.write("c.toml", "surprise = 1\n");
    let output = folder.oddcell(["detect", "orders.csv", "--config", "c.toml"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let parts = error.split("expected one of").nth(1).unwrap().split('`').skip(1).step_by(2);
    let mut known: Vec<&str> = parts.take_while(|part| part.chars().all(char::is_alphabetic)).collect();
    known.sort_unstable();
    let mut described: Vec<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    described.sort_unstable();
    assert_eq!(described, known);
}
