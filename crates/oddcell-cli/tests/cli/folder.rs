//! A folder of its own for every test, with the commands run in it: paths in snapshots stay short and the same.

use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use insta::internals::SettingsBindDropGuard;
use tempfile::TempDir;

/// Trains next to nothing: these tests are about the command, not about the net.
pub(crate) const TINY: [&str; 6] = ["--detector", "noise", "--set", "train_for=30 steps", "--threads", "1"];

/// An empty folder, and filters for what changes from run to run.
pub(crate) struct Folder {
    folder: TempDir,
    _filters: SettingsBindDropGuard,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self::with_filters(&[])
    }

    /// Without the figures that a net gives: they change with every change of training, and these tests are not about
    /// them.
    pub(crate) fn without_figures() -> Self {
        Self::with_filters(&[
            (r#",(true|false),"[^"\n]+""#, ",$1,\"[reasons]\""),
            (r"\d+\.\d+(e-?\d+)?", "[figure]"),
            (r"\d+e-\d+", "[figure]"),
        ])
    }

    fn with_filters(filters: &[(&str, &str)]) -> Self {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"oddcell \d+\.\d+\.\d+", "oddcell [version]");
        for (pattern, name) in filters {
            settings.add_filter(pattern, *name);
        }
        Self { folder: TempDir::new().unwrap(), _filters: settings.bind_to_scope() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of the files there are, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command, to be run in this folder.
    pub(crate) fn oddcell<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(insta_cmd::get_cargo_bin("oddcell"));
        command.args(args).current_dir(self.folder.path()).env_remove("COLUMNS");
        command
    }

    /// The same with next to no training.
    pub(crate) fn tiny<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.oddcell(args);
        command.args(TINY);
        command
    }

    /// A folder with `orders.csv` and `m.oddcell`, which was fitted on it.
    pub(crate) fn with_model(self) -> Self {
        self.write("orders.csv", orders(120));
        succeed(&mut self.tiny(["fit", "orders.csv", "-o", "m.oddcell", "--quiet"]));
        self
    }
}

/// Runs a command that must end well, and gives its standard output.
pub(crate) fn succeed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// A CSV table with numbers, a category, dates, booleans and gaps; `weight` is about twice `amount`, and the cell
/// `amount` of row 7 is spoiled.
pub(crate) fn orders(n_rows: usize) -> String {
    let mut csv = String::from("amount,weight,city,placed,gift,rating\n");
    for row in 1..=n_rows {
        let amount = 10.0 + (row * 37 % 101) as f64 / 10.0;
        let weight = 2.0 * amount + (row * 17 % 13) as f64 / 10.0;
        let city = ["Oslo", "Bergen", "Voss"][row * 7 % 11 % 3];
        let (month, day, hour) = (1 + row * 5 % 12, 1 + row * 11 % 28, row * 7 % 24);
        let gift = row * 3 % 7 < 2;
        let rating = if row * 5 % 9 == 0 { String::new() } else { (1 + row * 13 % 5).to_string() };
        let amount = if row == 7 { 9_999.0 } else { amount };
        let placed = format!("2025-{month:02}-{day:02} {hour:02}:30:00");
        writeln!(csv, "{amount:.1},{weight:.1},{city},{placed},{gift},{rating}").unwrap();
    }
    csv
}

/// The cells of one column of a simple CSV table (no quotes before that column).
pub(crate) fn column(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let index = lines.next().unwrap().split(',').position(|header| header == name).unwrap();
    lines.map(|line| line.split(',').nth(index).unwrap().to_owned()).collect()
}
