//! Judges a spoiled table as `oddcell detect` does, and measures what was found.

use std::time::Instant;

use oddcell::{
    Context, Error, Seed, Table,
    judge::{Collected, ReasonForm, Scorer, ready_to_learn},
    metrics::{auc, average_precision},
    model::{FitOptions, detect},
    table::{ReadOptions, TableReader},
    verdict::Rule,
};
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::{
    plant::Spoiled,
    results::{Found, Measured},
};
use crate::{cells::as_judged, methods::Method};

/// The false-discovery rate at which verdicts are measured: the default of `oddcell detect`.
pub const FDR: f64 = 0.1;

/// Judges the spoiled table by itself with a method, on the threads of the calling rayon pool. An error of the method becomes
/// a result with a message, with nothing found.
#[must_use]
pub fn measure(
    name: &str,
    half: &str,
    spoiled: &Spoiled,
    method: &Method,
    seed: Seed,
) -> (Measured, Vec<Found>) {
    #[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
    let start = Instant::now();
    let judged = judge(name, spoiled, method, seed);
    let seconds = start.elapsed().as_secs_f64();
    let mut measured = Measured {
        table: name.to_owned(),
        half: half.to_owned(),
        method: method.label(),
        seed: seed.0,
        rows: spoiled.sheet.n_rows(),
        columns: spoiled.sheet.n_columns(),
        spoiled: spoiled.rows.len(),
        seconds,
        threads: rayon::current_num_threads(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Measured::default()
    };
    match judged {
        Ok(judged) => {
            let found = found(&measured, spoiled, &judged);
            measured.fill(&judged.scores, &judged.odd, &spoiled.truth(), &found);
            (measured, found)
        }
        Err(error) => {
            measured.message = oddcell::error::with_causes(&error);
            let nothing = Collected::default();
            let found = found(&measured, spoiled, &nothing);
            (measured, found)
        }
    }
}

/// Reads the table from its bytes and judges it, on the road of the command.
fn judge(name: &str, spoiled: &Spoiled, method: &Method, seed: Seed) -> Result<Collected, Error> {
    let bytes = spoiled.sheet.text().into_bytes();
    let table = Table::from_reader(TableReader::from_bytes(name, bytes, &ReadOptions::default())?)?;
    let table = ready_to_learn(table, &[])?;
    // As for cells, every row is scored independently.
    let spec = as_judged(method).spec.expect("every method that judges rows is a detector");
    let detection = detect(&table, &FitOptions::new(spec), &Context::silent(seed))?;
    let scorer = Scorer { reasons: Some(ReasonForm::Json), ..Scorer::new(&detection, Rule::Fdr(FDR)) };
    Ok(scorer.collect(name, &table.batches, &mut [])?.0)
}

/// What was found about each spoiled row. Without scores, nothing was found.
fn found(measured: &Measured, spoiled: &Spoiled, judged: &Collected) -> Vec<Found> {
    let Collected { scores, odd, .. } = judged;
    let threshold = threshold(scores, spoiled.rows.len());
    let reasons: Vec<Option<&str>> = judged.reasons().collect();
    let one = |row: &super::SpoiledRow| {
        let score = scores.get(row.row).copied();
        let first = reasons.get(row.row).copied().flatten().and_then(first_column).unwrap_or_default();
        let columns: Vec<&str> = row.cells.iter().map(|cell| &*spoiled.sheet.names[cell.column]).collect();
        Found {
            table: measured.table.clone(),
            half: measured.half.clone(),
            method: measured.method.clone(),
            seed: measured.seed,
            row: row.row + 1,
            kind: row.kind.name().to_owned(),
            columns: columns.join("; "),
            shows: row.cells.iter().any(|cell| cell.shows),
            before: row.cells[0].before.clone(),
            after: row.cells[0].after.clone(),
            // Rows that score higher, and this one.
            rank: score.map_or(0, |score| 1 + scores.iter().filter(|&&other| other > score).count()),
            found: score.is_some_and(|score| score > threshold),
            called: odd.get(row.row).copied().unwrap_or(false),
            reason_right: columns.contains(&&*first),
            first_reason: first,
        }
    };
    spoiled.rows.iter().map(one).collect()
}

/// The score that rows must exceed to be among the top `k`: of tied rows at the cut, none counts, as for F1.
fn threshold(scores: &[f64], k: usize) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.get(k).copied().unwrap_or(f64::NEG_INFINITY)
}

/// The first name of a JSON object, whose order is that of the reasons.
fn first_column(reasons: &str) -> Option<String> {
    struct First;

    impl<'de> Visitor<'de> for First {
        type Value = Option<String>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let first = map.next_entry::<String, IgnoredAny>()?;
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(first.map(|(name, _)| name))
        }
    }

    serde::Deserializer::deserialize_map(&mut serde_json::Deserializer::from_str(reasons), First)
        .ok()
        .flatten()
}

impl Measured {
    /// Fills in what scores, verdicts and the spoiled rows say.
    fn fill(&mut self, scores: &[f64], odd: &[bool], truth: &[bool], found: &[Found]) {
        let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        let count = |is: fn(&Found) -> bool| found.iter().filter(|row| is(row)).count();
        self.called = odd.iter().filter(|&&is_odd| is_odd).count();
        let right = count(|row| row.called);
        self.precision_at_k = share(count(|row| row.found), found.len());
        self.ap = average_precision(scores, truth).unwrap_or_default();
        self.auc = auc(scores, truth).unwrap_or_default();
        self.first_reason_right = share(count(|row| row.reason_right), found.len());
        self.unspoiled_called = share(self.called - right, self.called);
        self.spoiled_called = share(right, found.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // The third highest of 5, 4, 4, 1 is 4: one row is above it, and the tied rows are not.
    fn tied_rows_at_the_cut_do_not_count() {
        assert_eq!(threshold(&[4.0, 1.0, 5.0, 4.0], 2), 4.0);
        assert_eq!(threshold(&[4.0, 1.0, 5.0, 4.0], 3), 1.0);
        assert_eq!(threshold(&[4.0], 1), f64::NEG_INFINITY);
    }

    #[test]
    fn the_first_reason_is_the_first_name_of_the_object() {
        assert_eq!(first_column(r#"{"z \"q\"":{"noise":1.5},"a":{"noise":1}}"#).as_deref(), Some("z \"q\""));
        assert_eq!((first_column("{}"), first_column("none")), (None, None));
    }
}
