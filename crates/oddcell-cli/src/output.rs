//! Writes judged rows to a file, to standard output, or nowhere.

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_schema::SchemaRef;
use oddcell::{
    Error,
    error::escaped,
    judge::{Sink, judged_schema},
    model_file::write_atomically,
    table::{ColumnInfo, Format, TableWriter},
};

use crate::{
    args::{OutputArgs, RunArgs},
    failure::Failure,
    judging::Origin,
};

/// Where judged rows go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file, written whole or not at all.
    File(PathBuf, Format),
    /// Standard output.
    Stdout(Format),
    /// Nowhere: a person sees the oddest rows only, or a program reads the summary.
    Nowhere,
}

impl Target {
    /// The target of `-o OUT`; without it, standard output in a pipe, and nowhere on a terminal or with `--json`.
    pub(crate) fn of(args: &OutputArgs, run: &RunArgs) -> Result<Self, Failure> {
        let format = args.format;
        match &args.output {
            Some(path) if path == Path::new("-") => {
                if run.json {
                    return Err(Failure::bad_input("-o - and --json both write to standard output")
                        .with_hint("write the rows to a file with -o FILE"));
                }
                Ok(Self::Stdout(format.unwrap_or(Format::Csv)))
            }
            Some(path) => {
                let compressed = path.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
                if compressed {
                    let message =
                        format!("cannot write `{}`: compressed output is not supported", path.display());
                    return Err(Failure::bad_input(message)
                        .with_hint("compress standard output instead: -o - | gzip > FILE"));
                }
                let by_name = || {
                    match Format::from_path(path) {
                    Some(known @ (Format::Csv | Format::JsonLines | Format::Parquet)) => Ok(known),
                    // A pipe or a device, or a name without an ending.
                    None if path.extension().is_none() => Ok(Format::Csv),
                    None => Err(Failure::bad_input(format!(
                        "cannot write `{}`: its ending stands for no format that can be written",
                        path.display()
                    ))
                    .with_hint(
                        "use .csv, .tsv or .tab, .jsonl, .ndjson or .json, .parquet or .pq, or set --format; spreadsheets \
                         open .csv",
                    )),
                    Some(other) => Err(Failure::bad_input(format!(
                        "cannot write `{}`: judged rows are written as csv, jsonl or parquet, not as {other}",
                        path.display()
                    ))
                    .with_hint("use another file extension, or --format")),
                }
                };
                Ok(Self::File(path.clone(), format.map_or_else(by_name, Ok)?))
            }
            None if run.json || io::stdout().is_terminal() => Ok(Self::Nowhere),
            None => Ok(Self::Stdout(format.unwrap_or(Format::Csv))),
        }
    }

    /// The format of the rows; `None` if none are written.
    pub(crate) fn format(&self) -> Option<Format> {
        match self {
            Self::File(_, format) | Self::Stdout(format) => Some(*format),
            Self::Nowhere => None,
        }
    }

    /// Opens the target, lets `work` write judged rows, and completes it.
    pub(crate) fn write<T>(
        &self,
        origin: &Origin<'_>,
        work: impl FnOnce(Option<&mut dyn Sink>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let form = self.format().unwrap_or(Format::Csv).into();
        let schema = Arc::new(judged_schema(origin.schema, form));
        let &Origin { kinds, delimiter, csv_safe, .. } = origin;
        self.write_as(&Written { schema, kinds, delimiter, csv_safe, header: true }, work)
    }

    /// Opens the target, lets `work` write rows of any table, and completes it.
    pub(crate) fn write_as<T>(
        &self,
        table: &Written<'_>,
        work: impl FnOnce(Option<&mut dyn Sink>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self {
            Self::Nowhere => work(None),
            Self::Stdout(format) => {
                let stdout = BufWriter::new(PipeSafe(io::stdout()));
                write_rows("standard output", stdout, *format, table, work)
            }
            Self::File(path, format) => {
                let mut result = None;
                write_atomically(path, |file: &mut BufWriter<&File>| {
                    let target = format!("`{}`", path.display());
                    result = Some(write_rows(&target, file, *format, table, work)?);
                    Ok::<_, Failure>(())
                })?;
                Ok(result.expect("the writer ran"))
            }
        }
    }
}

/// A table as it is written.
pub(crate) struct Written<'a> {
    pub(crate) schema: SchemaRef,
    /// What the text columns of an input without types mean.
    pub(crate) kinds: &'a [ColumnInfo],
    /// The field separator of a CSV.
    pub(crate) delimiter: Option<u8>,
    /// Whether formulas are disarmed in a CSV.
    pub(crate) csv_safe: bool,
    /// Whether a CSV begins with the names of its columns.
    pub(crate) header: bool,
}

fn write_rows<W: Write + Send, T>(
    target: &str,
    file: W,
    format: Format,
    table: &Written<'_>,
    work: impl FnOnce(Option<&mut dyn Sink>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let writer = TableWriter::create(target, file, format, &table.schema, table.kinds)?;
    let writer = if table.csv_safe { writer.with_disarmed_formulas() } else { writer };
    let writer = if table.header { writer } else { writer.without_header() };
    let mut writer = match table.delimiter.filter(|_| format == Format::Csv) {
        Some(delimiter) => writer.with_delimiter(delimiter)?,
        None => writer,
    };
    let result = work(Some(&mut writer))?;
    writer.finish()?;
    Ok(result)
}

/// Standard output whose reader may close it early (`| head`). That ends the program without an error.
struct PipeSafe<W>(W);

impl<W: Write> Write for PipeSafe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        end_with_the_reader(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        end_with_the_reader(self.0.flush())
    }
}

/// Ends the program if nobody reads its output any more.
fn end_with_the_reader<T>(result: io::Result<T>) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other,
    }
}

/// Prints text to standard output, line by line; a closed pipe is not an error. Whatever names and cells it quotes, nothing
/// but text reaches the terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_styled(&shown(text))
}

/// Text with every control character escaped, except line ends.
fn shown(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Prints text with colors to standard output. Names and cells in it must have been [`escaped`] before.
pub(crate) fn print_styled(text: &str) -> Result<(), Failure> {
    let mut stdout = PipeSafe(io::stdout().lock());
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::failed(format!("cannot write to standard output: {error}")))
}

/// Prints lines to standard error, escaped as in [`print`], and ignores failures.
pub(crate) fn eprint_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(text));
}

/// Prints a JSON document to standard output, indented.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::failed(format!("cannot write the summary: {error}")))?;
    // JSON has escapes of its own.
    print_styled(&(text + "\n"))
}

/// The failure of `action` on a file.
pub(crate) fn file_error(action: &'static str, path: &Path, source: io::Error) -> Failure {
    Error::File { action, path: path.to_owned(), source }.into()
}
