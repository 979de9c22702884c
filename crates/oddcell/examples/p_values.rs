//! `p_values ROWS TABLES [NAME=VALUE ...]` measures how often new normal rows get small p-values. For each of
//! TABLES tables, it fits a model with the default detector to ROWS normal rows and judges 2,000 others. The
//! last line shows the means over the tables with their standard errors, and the Kolmogorov–Smirnov distance
//! of all p-values from the uniform distribution. NAME=VALUE sets a parameter of the detector.
#![allow(clippy::print_stdout, reason = "a measurement prints")]

use std::error::Error;

use oddcell::{
    Context, DetectorSpec, Model, Seed, Table,
    calibrate::distance_to_uniform,
    demo,
    judge::Scorer,
    model::FitOptions,
    table::{ReadOptions, TableReader},
    verdict::Rule,
};

const FRESH_ROWS: usize = 2_000;
const LEVELS: [f64; 3] = [0.01, 0.05, 0.1];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [n_rows, n_tables, settings @ ..] = arguments.as_slice() else {
        return Err("usage: p_values ROWS TABLES [NAME=VALUE ...]".into());
    };
    let (n_rows, n_tables): (usize, u64) = (n_rows.parse()?, n_tables.parse()?);
    let mut spec = DetectorSpec::new("noise", None)?;
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or("expected NAME=VALUE")?;
        spec.set_text(name, value)?;
    }
    let options = FitOptions::new(spec);
    let mut pooled = Vec::new();
    let mut rates = Vec::new();
    for table in 0..n_tables {
        let train = normal_rows(n_rows, 2 * table)?;
        let model = Model::fit(&train, &options, &Context::silent(Seed(table)))?;
        let fresh = normal_rows(FRESH_ROWS, 2 * table + 1)?;
        let scorer = Scorer::new(&model, Rule::FOR_NEW_ROWS);
        let p_values = scorer.collect("fresh rows", &fresh.batches, &mut [])?.0.p_values;
        let at = |level: f64| p_values.iter().filter(|&&p| p <= level).count() as f64 / FRESH_ROWS as f64;
        rates.push(LEVELS.map(at));
        println!(
            "{n_rows} rows, {} members, table {table}: {:.4?}",
            model.members().len(),
            rates[rates.len() - 1]
        );
        pooled.extend(p_values);
    }
    for (index, level) in LEVELS.into_iter().enumerate() {
        let n = n_tables as f64;
        let mean = rates.iter().map(|rates| rates[index]).sum::<f64>() / n;
        let variance = rates.iter().map(|rates| (rates[index] - mean).powi(2)).sum::<f64>() / (n - 1.0);
        print!("p ≤ {level}: {mean:.4} ± {:.4}   ", (variance / n).sqrt());
    }
    println!("KS {:.4}", distance_to_uniform(&pooled));
    Ok(())
}

/// Orders without wrong cells.
fn normal_rows(n_rows: usize, seed: u64) -> Result<Table, Box<dyn Error>> {
    let csv = demo::orders(n_rows, 0, Seed(1_000 + seed)).csv;
    let reader = TableReader::from_bytes("orders", csv.into_bytes(), &ReadOptions::default())?;
    Ok(Table::from_reader(reader)?)
}
