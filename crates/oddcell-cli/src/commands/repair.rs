//! `oddcell repair`: replaces the odd cells of a table, with a log of every change, and takes changes back.
//!
//! The table is read twice: to judge it, and to write it with every other cell as it stands. It is written under a temporary
//! name; then the log is written and renamed; then the table is renamed. So no changed table is ever there without its log.

use std::{
    ffi::OsString,
    fmt::Write as _,
    io::IsTerminal,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use oddcell::{
    Error, Seed,
    cells::{
        CalledCell, CellForm, Change, Cure, RepairError, Repairs, Undo, changes_batch, changes_schema,
        read_changes,
    },
    table::{Format, ReadOptions, Rows, Source, TableReader, Wanted},
};
use serde::Serialize;

use crate::{
    args::RepairArgs,
    cells::{find, in_words},
    failure::Failure,
    learning,
    output::{self, Target, Written},
    show::{self, View},
    summary::{count, counted, note_line},
};

/// The summary of a repair, for programs.
#[derive(Serialize)]
struct Summary {
    data: String,
    rows: usize,
    cells: usize,
    odd_cells: usize,
    changed: usize,
    left_alone: usize,
    /// Which cells are called odd, in words.
    rule: String,
    seed: Seed,
    notes: Vec<String>,
    output: String,
    log: String,
}

/// The summary of what was taken back, for programs.
#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the name of the field is what programs read")]
struct Undone {
    data: String,
    rows: usize,
    undone: usize,
    log: String,
    output: String,
}

pub(crate) fn run(args: &RepairArgs) -> Result<(), Failure> {
    let data = args.cells.files.data();
    if data == Path::new("-") {
        return Err(Failure::bad_input("repair reads the table twice, so it cannot be standard input")
            .with_hint("write it to a file first"));
    }
    match &args.undo {
        None => repair(args, data),
        Some(log) => undo(args, data, log),
    }
}

fn repair(args: &RepairArgs, data: &Path) -> Result<(), Failure> {
    let log = args.log.clone().unwrap_or_else(|| default_log(&args.output));
    check_outputs(args, &log)?;
    // Before the work: whether the table can be written in its format.
    drop(open(args, data)?);
    let mut called: Vec<CalledCell> = Vec::new();
    let found = find(&args.cells, |_, cells| {
        called.extend(cells);
        Ok(())
    })?;
    let cure = match (args.blank, args.sure) {
        (true, _) => Cure::Blank,
        (false, Some(sure)) => Cure::Expected { sure },
        (false, None) => Cure::DEPENDABLE,
    };
    let encoder = found.judge.encoder();
    let mut repairs = Repairs::new(encoder, &called, cure);
    let changed_meanwhile = "the table changed while it was read; run the command again";
    let written = write(args, data, |reader, put| {
        let (form, origin) = (form(reader), reader.origin().to_owned());
        let n_rows = each(reader, |rows| {
            put(repairs.apply(rows).map_err(|error| wrong(error, changed_meanwhile))?)
        })?;
        let (changes, n_left) =
            repairs.finish(&origin, n_rows).map_err(|error| wrong(error, changed_meanwhile))?;
        write_log(&log, &changes, form)?;
        Ok((changes, n_left))
    })?;
    let (changes, n_left) = written;
    let summary = Summary {
        data: found.data.clone(),
        rows: found.outcome.n_rows,
        cells: found.outcome.n_cells,
        odd_cells: found.outcome.n_odd,
        changed: changes.len(),
        left_alone: n_left,
        rule: in_words(found.rule),
        seed: found.seed,
        notes: found.notes.clone(),
        output: args.output.display().to_string(),
        log: log.display().to_string(),
    };
    if args.cells.run.json {
        return output::print_json(&summary);
    }
    if args.cells.run.quiet {
        return Ok(());
    }
    if std::io::stdout().is_terminal() && !found.rows.is_empty() {
        output::print_styled(&(show::oddest_table(&found.rows, encoder, View::Cells) + "\n"))?;
    }
    let mut text = found.counts();
    text += &summary.text(&changes, args.blank);
    found.notes.iter().for_each(|note| text.push_str(&(note_line(note) + "\n")));
    output::eprint_line(text.trim_end());
    Ok(())
}

impl Summary {
    fn text(&self, changes: &[Change], blank: bool) -> String {
        let mut text = String::new();
        let rows = changes.chunk_by(|one, other| one.row == other.row).count();
        let done = if blank { "emptied" } else { "replaced by what is expected there" };
        let verb = if self.changed == 1 { "was" } else { "were" };
        let cells = counted(self.changed, "cell", "cells");
        let _ = writeln!(text, "{cells} in {} {verb} {done}.", counted(rows, "row", "rows"));
        if self.left_alone > 0 {
            let verb = if self.left_alone == 1 { "was" } else { "were" };
            let way_out = if blank {
                "they are empty already, or the column cannot be empty"
            } else {
                "nothing dependable is expected there (--sure lowers the bar, --blank empties them)"
            };
            let _ = writeln!(text, "{} {verb} left alone: {way_out}.", count(self.left_alone));
        }
        let _ = writeln!(text, "written to {}\nevery change: {}", self.output, self.log);
        let _ = writeln!(text, "to undo: oddcell repair --undo {} {} -o FILE", self.log, self.output);
        text
    }
}

fn undo(args: &RepairArgs, data: &Path, log: &Path) -> Result<(), Failure> {
    if args.cells.files.model().is_some() {
        return Err(Failure::bad_input("--undo needs the repaired table and its log, but no model")
            .with_hint("oddcell repair --undo LOG REPAIRED -o ORIGINAL"));
    }
    check_outputs(args, log)?;
    let other = "this log belongs to another table, or the table was changed since";
    let (n_changes, n_rows, origin) = write(args, data, |reader, put| {
        let origin = reader.origin().to_owned();
        let changes = read_log(log, form(reader))?;
        let n_changes = changes.len();
        let mut undo = Undo::new(changes);
        let n_rows = each(reader, |rows| put(undo.apply(rows).map_err(|error| wrong(error, other))?))?;
        undo.finish(&origin, n_rows).map_err(|error| wrong(error, other))?;
        Ok((n_changes, n_rows, origin))
    })?;
    let (log, output) = (log.display().to_string(), args.output.display().to_string());
    if args.cells.run.json {
        return output::print_json(&Undone { data: origin, rows: n_rows, undone: n_changes, log, output });
    }
    if !args.cells.run.quiet {
        let verb = if n_changes == 1 { "was" } else { "were" };
        let changes = counted(n_changes, "change", "changes");
        output::eprint_line(&format!("{changes} {verb} taken back.\nwritten to {output}"));
    }
    Ok(())
}

/// OUT.changes.csv.
fn default_log(output: &Path) -> PathBuf {
    let mut name = OsString::from(output);
    name.push(".changes.csv");
    PathBuf::from(name)
}

/// Checks before the work that table and log can be written, and are not inputs or each other.
fn check_outputs(args: &RepairArgs, log: &Path) -> Result<(), Failure> {
    let output = &args.output;
    if output == Path::new("-") || output.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(Failure::bad_input(format!(
            "`{}` is no file; the repaired table and its log are files",
            output.display()
        ))
        .with_hint("e.g. -o fixed.csv"));
    }
    let log = log.to_owned();
    let mut inputs = args.cells.files.inputs();
    if args.undo.is_some() {
        inputs.push(&log);
        return learning::check_output(output, &inputs);
    }
    learning::check_output(output, &inputs)?;
    learning::check_output(&log, &inputs)?;
    if log == *output {
        return Err(Failure::bad_input(format!(
            "`{}` is named twice: for the table and for the log",
            log.display()
        ))
        .with_hint("give the log another name"));
    }
    match log.extension() {
        None => Ok(()),
        Some(ending) if ending == "csv" => Ok(()),
        Some(_) => Err(Failure::bad_input(format!(
            "the log `{}` is a CSV, and its name says something else",
            log.display()
        ))
        .with_hint("end its name in .csv")),
    }
}

/// Opens the table so that every cell comes through as it stands.
fn open(args: &RepairArgs, data: &Path) -> Result<(TableReader, Format), Failure> {
    let reader = learning::open(data, &args.cells.read, Wanted::Nothing)?;
    let kept = match reader.format() {
        Format::Csv => Format::Csv,
        Format::JsonLines => Format::JsonLines,
        Format::Parquet | Format::ArrowIpc => Format::Parquet,
        other @ (Format::Npy | Format::Npz) => {
            return Err(Failure::bad_input(format!(
                "{} is {other}, which cannot be written",
                reader.origin()
            ))
            .with_hint("convert the table to CSV or Parquet first"));
        }
    };
    let ending = |path: &Path| path.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
    let named = Format::from_path(&args.output);
    if ending(&args.output)
        || named.is_some_and(|named| named != kept)
        || (named.is_none() && args.output.extension().is_some())
    {
        return Err(Failure::bad_input(format!(
            "{} is {}, so the repaired table is {kept}, and `{}` must be named so",
            reader.origin(),
            reader.format(),
            args.output.display()
        ))
        .with_hint("only then can every other cell stay as it is"));
    }
    Ok((reader, kept))
}

/// Reads the table again, and lets `work` write it.
fn write<T>(
    args: &RepairArgs,
    data: &Path,
    work: impl FnOnce(&mut TableReader, &mut dyn FnMut(RecordBatch) -> Result<(), Failure>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (mut reader, format) = open(args, data)?;
    let cure = if args.blank { Cure::Blank } else { Cure::DEPENDABLE };
    let table = Written {
        schema: cure.schema(reader.schema()),
        kinds: &[],
        delimiter: reader.delimiter(),
        csv_safe: false,
        header: !args.cells.read.no_header,
    };
    Target::File(args.output.clone(), format).write_as(&table, |sink| {
        let sink = sink.expect("a file takes rows");
        work(&mut reader, &mut |batch| Ok(sink.put(batch)?))
    })
}

/// Calls `work` for all rows, and returns their number.
fn each(
    reader: &mut TableReader,
    mut work: impl FnMut(&Rows) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let origin: std::sync::Arc<str> = reader.origin().into();
    let mut first_row = 0;
    for batch in reader {
        let rows = Rows::new(batch?, first_row, std::sync::Arc::clone(&origin));
        first_row += rows.n_rows();
        work(&rows)?;
    }
    Ok(first_row)
}

/// How the log of this table writes cells.
fn form(reader: &TableReader) -> CellForm {
    CellForm::of(reader.schema(), reader.format() == Format::Csv)
}

fn write_log(path: &Path, changes: &[Change], form: CellForm) -> Result<(), Failure> {
    let table =
        Written { schema: changes_schema(), kinds: &[], delimiter: None, csv_safe: false, header: true };
    Target::File(path.to_owned(), Format::Csv).write_as(&table, |sink| {
        let sink = sink.expect("a file takes rows");
        Ok(sink.put(changes_batch(changes, form))?)
    })
}

fn read_log(path: &Path, form: CellForm) -> Result<Vec<Change>, Failure> {
    let options = ReadOptions { format: Some(Format::Csv), delimiter: Some(b','), ..ReadOptions::default() };
    let mut reader = match TableReader::open(&Source::Path(path.to_owned()), &options) {
        Ok(reader) => reader,
        // A log without changes.
        Err(oddcell::table::TableError::NoRows { n_columns, .. })
            if n_columns == changes_schema().fields().len() =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let mut changes = Vec::new();
    each(&mut reader, |rows| {
        changes.extend(
            read_changes(rows, form)
                .map_err(|error| wrong(error, "--undo takes the log that repair wrote beside the table"))?,
        );
        Ok(())
    })?;
    Ok(changes)
}

fn wrong(error: RepairError, hint: &str) -> Failure {
    Failure::from(Error::from(error)).with_hint(hint)
}
