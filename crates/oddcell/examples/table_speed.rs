//! For `benchmarks/scoring`: `table_speed make ROWS COLUMNS > FILE` writes a CSV of random numbers;
//! `table_speed parse FILE` only parses it, from text to numbers, with the reader of `oddcell score`.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::{
    error::Error,
    io::{BufWriter, Write},
    path::PathBuf,
};

use oddcell::{
    Seed,
    table::{ColumnKind, ReadOptions, Source, TableReader, read_cells},
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["make", rows, columns] => make(rows.parse()?, columns.parse()?),
        ["parse", file] => parse(file),
        _ => Err("usage: table_speed make ROWS COLUMNS | table_speed parse FILE".into()),
    }
}

/// Correlated columns with three decimals, like measurements.
fn make(rows: usize, columns: usize) -> Result<(), Box<dyn Error>> {
    let mut stream = Seed(1).stream("table", &[]);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let names: Vec<String> = (1..=columns).map(|column| format!("m{column}")).collect();
    writeln!(out, "{}", names.join(","))?;
    for _ in 0..rows {
        let common = stream.normal();
        for column in 0..columns {
            let value = 100.0 + 10.0 * (0.7 * common + 0.7 * stream.normal());
            write!(out, "{}{value:.3}", if column > 0 { "," } else { "" })?;
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

fn parse(file: &str) -> Result<(), Box<dyn Error>> {
    let reader = TableReader::open(&Source::Path(PathBuf::from(file)), &ReadOptions::default())?;
    let mut n_rows = 0;
    for batch in reader {
        let batch = batch?;
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            read_cells(field.name(), column, ColumnKind::Number, n_rows, file)?;
        }
        n_rows += batch.num_rows();
    }
    println!("{n_rows}");
    Ok(())
}
