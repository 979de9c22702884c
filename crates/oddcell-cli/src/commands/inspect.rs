//! `oddcell inspect`: shows the columns of a table, or what a model file contains.

use std::{fmt::Write as _, path::Path};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use oddcell::{
    Error, Model,
    encode::{ColumnOverview, Duplicate, Duplicates, duplicates, overview},
    model_file::ModelFileError,
};
use serde::Serialize;

use super::inspect_model;
use crate::{
    args::{InspectArgs, RunArgs},
    failure::Failure,
    learning, output, show,
    summary::{count, counted, note_line},
};

/// Longer names are cut.
const NAME_CHARS: usize = 24;
const WIDTH: u16 = 80;
/// Longer cells of duplicates are cut, and more of them only counted.
const CELL_CHARS: usize = 40;
const MOST_LISTED: usize = 20;

/// A table as it was understood.
#[derive(Serialize)]
struct Overview {
    data: String,
    rows: usize,
    columns: Vec<ColumnOverview>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicates: Option<Duplicates>,
}

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let pool = learning::pool(&RunArgs { threads: None, json: args.json, quiet: false })?;
    pool.install(|| inspect(args))
}

fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    if args.file == Path::new("-") {
        return inspect_table(args);
    }
    match Model::load(&args.file) {
        Ok(model) => {
            let flags = [
                ("--label", args.columns.label.is_some()),
                ("--ignore", !args.columns.ignore.is_empty()),
                ("--categorical", !args.columns.categorical.is_empty()),
                ("--kind", !args.columns.kinds.is_empty()),
                ("--keep-identifiers", args.columns.keep_identifiers),
                ("--config", args.config.is_some()),
                ("--duplicates", args.duplicates),
            ];
            if let Some((flag, _)) = flags.iter().find(|(_, is_set)| *is_set) {
                let message = format!(
                    "`{}` is a model, which keeps its columns; {flag} is for tables",
                    args.file.display()
                );
                return Err(Failure::bad_input(message));
            }
            inspect_model::show(&model, args.json)
        }
        // A pipe cannot be read twice.
        Err(Error::ModelFile(error))
            if matches!(error.problem(), ModelFileError::NotAModel { .. }) && args.file.is_file() =>
        {
            inspect_table(args)
        }
        Err(error) => Err(error.into()),
    }
}

fn inspect_table(args: &InspectArgs) -> Result<(), Failure> {
    let (options, kinds) = learning::column_options(args.config.as_deref(), &args.columns, &args.read)?;
    let (table, _) = learning::read_table(&args.file, &args.read, &args.columns, &kinds, &options)?;
    let columns = overview(&table, &options, args.columns.label.as_deref())?;
    let label = args.columns.label.as_deref();
    let duplicates = args.duplicates.then(|| duplicates(&table, &options, label)).transpose()?;
    let (data, rows, notes) = (table.origin.clone(), table.n_rows(), table.all_notes());
    let overview = Overview { data, rows, columns, notes, duplicates };
    if args.json {
        return output::print_json(&overview);
    }
    output::print(&overview.text())
}

impl Overview {
    fn text(&self) -> String {
        let mut text = format!(
            "{}: {}, {}\n\n",
            self.data,
            counted(self.rows, "row", "rows"),
            counted(self.columns.len(), "column", "columns")
        );
        let some_unreadable = self.columns.iter().any(|column| column.unreadable > 0);
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(WIDTH);
        let names = ["column", "kind", "missing", "distinct"].into_iter();
        table.set_header(names.chain(some_unreadable.then_some("unreadable")).chain(["usual values"]));
        for column in &self.columns {
            let figure = |n: u64| Cell::new(count(n as usize)).set_alignment(CellAlignment::Right);
            let normal = column.normal.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            let figures = [figure(column.missing), figure(column.distinct)].into_iter();
            let names =
                [Cell::new(show::cut(&show::clean(&column.name), NAME_CHARS)), Cell::new(column.kind.name())];
            let unreadable = some_unreadable.then(|| figure(column.unreadable));
            table.add_row(
                names
                    .into_iter()
                    .chain(figures)
                    .chain(unreadable)
                    .chain([Cell::new(show::unbroken(&normal))]),
            );
        }
        show::close_up(&mut table);
        text += &show::trimmed_lines(&table.to_string());
        let left_out: Vec<_> =
            self.columns.iter().filter_map(|column| Some((column, column.left_out?))).collect();
        if !left_out.is_empty() || !self.notes.is_empty() {
            text.push('\n');
        }
        for (column, reason) in left_out {
            let _ = writeln!(text, "{}", inspect_model::left_out_line(&column.name, reason));
        }
        for note in &self.notes {
            let _ = writeln!(text, "{}", note_line(note));
        }
        if let Some(duplicates) = &self.duplicates {
            text += &listed(duplicates);
        }
        text
    }
}

/// The equal and the nearly equal rows, the first ones of each.
fn listed(Duplicates { columns, equal, nearly_equal }: &Duplicates) -> String {
    let mut text = format!("\nrows compared by {}:\n", counted(columns.len(), "column", "columns"));
    let parts = [
        (equal, "row is equal to an earlier one", "rows are equal to an earlier one"),
        (nearly_equal, "row is nearly equal to an earlier one", "rows are nearly equal to an earlier one"),
    ];
    for (rows, one, many) in parts {
        let _ = writeln!(text, "{}", counted(rows.len(), one, many));
        for Duplicate { row, first, differs } in rows.iter().take(MOST_LISTED) {
            let _ = write!(text, "  row {} like row {}", count(*row), count(*first));
            let _ = match differs {
                Some((column, [before, now])) => {
                    let cell = |cell: &Option<String>| match cell {
                        Some(cell) => format!("`{}`", show::cut(&show::clean(cell), CELL_CHARS)),
                        None => "empty".to_owned(),
                    };
                    let column = show::cut(&show::clean(column), NAME_CHARS);
                    writeln!(text, ": {column} {} instead of {}", cell(now), cell(before))
                }
                None => writeln!(text),
            };
        }
        if rows.len() > MOST_LISTED {
            let _ = writeln!(text, "  and {} more; --json lists all", count(rows.len() - MOST_LISTED));
        }
    }
    text
}
