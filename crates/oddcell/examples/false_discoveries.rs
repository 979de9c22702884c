//! `false_discoveries DETECTOR ROWS TABLES [SCENARIO]` measures what `detect --fdr 0.1` calls odd: in clean tables of
//! four kinds, and in tables with 1, 5, 15 and 30 % planted rows. Prints a CSV row per scenario. With `--scores FILE`,
//! it writes the score and the truth of every row instead, for experiments with the null distribution.
#![allow(clippy::print_stdout, reason = "a measurement prints")]

use std::{error::Error, fs::File, io::Write, sync::Arc};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use oddcell::{
    Context, DetectorSpec, Seed, Table,
    model::{FitOptions, detect},
    seed::Stream,
    verdict::{Rule, verdicts},
};
use rayon::prelude::*;

/// Name, kind of table, share of planted rows.
const SCENARIOS: [(&str, Kind, f64); 12] = [
    ("gaussian", Kind::Gaussian, 0.0),
    ("t3", Kind::HeavyTailed, 0.0),
    ("mixed", Kind::Mixed, 0.0),
    ("equal30", Kind::ThirtyPercentEqual, 0.0),
    ("gaussian", Kind::Gaussian, 0.01),
    ("gaussian", Kind::Gaussian, 0.05),
    ("gaussian", Kind::Gaussian, 0.15),
    ("gaussian", Kind::Gaussian, 0.3),
    ("mixed", Kind::Mixed, 0.01),
    ("mixed", Kind::Mixed, 0.05),
    ("mixed", Kind::Mixed, 0.15),
    ("mixed", Kind::Mixed, 0.3),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Six columns that share a factor.
    Gaussian,
    /// Six independent columns with Student's t distribution of three degrees of freedom.
    HeavyTailed,
    /// Three numbers and three names; two of the names depend on a number.
    Mixed,
    /// As `Gaussian`, with 30 % of the rows copies of one row.
    ThirtyPercentEqual,
}

struct Judged {
    scores: Vec<f64>,
    is_odd: Vec<bool>,
    called: Vec<bool>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let scores = arguments.iter().position(|argument| argument == "--scores").map(|place| {
        arguments.remove(place);
        arguments.remove(place)
    });
    let [detector, n_rows, n_tables, only @ ..] = arguments.as_slice() else {
        return Err("usage: false_discoveries DETECTOR ROWS TABLES [SCENARIO] [--scores FILE]".into());
    };
    let (n_rows, n_tables): (usize, u64) = (n_rows.parse()?, n_tables.parse()?);
    let mut file = scores.map(File::create).transpose()?;
    for (name, kind, share) in
        SCENARIOS.into_iter().filter(|(name, ..)| only.first().is_none_or(|only| only == name))
    {
        let judged = (0..n_tables).into_par_iter().map(|index| judge(detector, kind, share, n_rows, index));
        let judged = judged.collect::<Result<Vec<_>, _>>()?;
        if let Some(file) = &mut file {
            for (table, judged) in judged.iter().enumerate() {
                let rows = judged.scores.iter().zip(&judged.is_odd);
                let rows: Vec<String> =
                    rows.map(|(score, &odd)| format!("{score}:{}", u8::from(odd))).collect();
                writeln!(file, "{name},{share},{n_rows},{detector},{table},{}", rows.join(" "))?;
            }
            continue;
        }
        let n = n_tables as f64;
        let count = |judged: &Judged, of: bool| {
            judged.called.iter().zip(&judged.is_odd).filter(|&(&called, &odd)| called && odd == of).count()
                as f64
        };
        let n_odd = (share * n_rows as f64).round().max(1.0);
        let alarms = judged.iter().filter(|judged| judged.called.contains(&true)).count() as f64 / n;
        let found = judged.iter().map(|judged| count(judged, true) / n_odd).sum::<f64>() / n;
        let wrong =
            |judged: &Judged| count(judged, false) / (count(judged, false) + count(judged, true)).max(1.0);
        let wrong = judged.iter().map(wrong).sum::<f64>() / n;
        println!("{name},{share},{n_rows},{detector},{n_tables},{alarms:.3},{found:.3},{wrong:.3}");
    }
    Ok(())
}

fn judge(
    detector: &str,
    kind: Kind,
    share: f64,
    n_rows: usize,
    index: u64,
) -> Result<Judged, oddcell::Error> {
    let mut stream = Seed(23).stream("table", &[index, n_rows as u64, (share * 100.0) as u64, kind as u64]);
    let (table, is_odd) = table(kind, share, n_rows, &mut stream)?;
    let (name, preset) =
        detector.split_once(':').map_or((detector, None), |(name, preset)| (name, Some(preset)));
    let options = FitOptions::new(DetectorSpec::new(name, preset)?);
    let detection = detect(&table, &options, &Context::silent(Seed(index)))?;
    let findings = detection.findings;
    let called = verdicts(Rule::Fdr(0.1), &findings.scores, &findings.p_values, detection.null.reference());
    Ok(Judged { scores: findings.scores, is_odd, called })
}

/// A table, and which rows are planted.
fn table(
    kind: Kind,
    share: f64,
    n_rows: usize,
    stream: &mut Stream,
) -> Result<(Table, Vec<bool>), oddcell::Error> {
    let n_odd = (share * n_rows as f64).round() as usize;
    let mut is_odd = vec![false; n_rows];
    stream.permutation(n_rows)[..n_odd].iter().for_each(|&row| is_odd[row] = true);
    let n_numbers = if kind == Kind::Mixed { 3 } else { 6 };
    let mut numbers = vec![Vec::with_capacity(n_rows); n_numbers];
    let mut names = vec![Vec::with_capacity(n_rows); if kind == Kind::Mixed { 3 } else { 0 }];
    for row in 0..n_rows {
        let factor = stream.normal();
        let mut cells: Vec<f64> = (0..n_numbers)
            .map(|_| match kind {
                Kind::HeavyTailed => {
                    let square: f64 = (0..3).map(|_| stream.normal().powi(2)).sum();
                    stream.normal() / (square / 3.0).sqrt()
                }
                Kind::ThirtyPercentEqual if row * 10 < n_rows * 3 => 0.5,
                _ => 0.7 * factor + 0.7 * stream.normal(),
            })
            .collect();
        // Two cells far from normal: six to twelve standard deviations.
        if is_odd[row] {
            for &column in &stream.permutation(n_numbers)[..2] {
                let sign = if stream.below(2) == 0 { -1.0 } else { 1.0 };
                cells[column] += sign * (6.0 + 6.0 * stream.uniform());
            }
        }
        if kind == Kind::Mixed {
            let half = if factor > 0.0 { "high" } else { "low" };
            let levels = ["a", "b", "c", "d", "e"];
            names[0].push(half);
            names[1].push(levels[stream.below(5).min(stream.below(5))]);
            names[2].push(if stream.uniform() < 0.95 { half } else { "other" });
        }
        numbers.iter_mut().zip(&cells).for_each(|(column, &cell)| column.push(cell));
    }
    let numbers = numbers
        .into_iter()
        .enumerate()
        .map(|(index, column)| (format!("n{index}"), Arc::new(Float64Array::from(column)) as ArrayRef));
    let names = names
        .into_iter()
        .enumerate()
        .map(|(index, column)| (format!("c{index}"), Arc::new(StringArray::from(column)) as ArrayRef));
    let batch = RecordBatch::try_from_iter(numbers.chain(names)).expect("columns of one length");
    Ok((Table::from_batches("table", vec![batch])?, is_odd))
}
