//! What a method found among the cells of a pair of tables.

use std::time::Instant;

use oddcell::Seed;

use super::{Grid, Method, Pair, Said, judge, results::Measured, simple};
use crate::LabError;

/// Judges the dirty table of a pair with a method, and compares. An error of the method becomes a result with a message.
pub fn measure(pair: &Pair, method: Method, seed: Seed) -> Result<Measured, LabError> {
    let (grid, clean) = (Grid::read(&pair.dirty)?, Grid::read(&pair.clean)?);
    let bad = |reason| LabError::BadSet { path: pair.dirty.clone(), reason };
    let wrong = grid.wrong(&clean).map_err(bad)?;
    #[allow(clippy::disallowed_methods, reason = "a laboratory measures time")]
    let start = Instant::now();
    let said = match method {
        Method::Cells => judge::cells(pair, &grid, seed).map_err(|error| oddcell::error::with_causes(&error)),
        Method::Ecod => judge::ecod(pair, &grid).map_err(|error| oddcell::error::with_causes(&error)),
        Method::Rarity => Ok(simple::rarity(&grid)),
        Method::Mixture => Ok(simple::mixture(&grid)),
        Method::Pairs => Ok(simple::pairs(&grid)),
    };
    let mut measured = Measured {
        table: pair.table.clone(),
        kind: pair.kind.clone(),
        method: method.name().to_owned(),
        seed: seed.0,
        rows: grid.n_rows(),
        columns: grid.n_columns(),
        wrong: wrong.iter().filter(|&&wrong| wrong).count(),
        seconds: start.elapsed().as_secs_f64(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Measured::default()
    };
    match said {
        Ok(said) => measured.fill(&said, &wrong, &clean),
        Err(message) => measured.message = message,
    }
    Ok(measured)
}

impl Measured {
    fn fill(&mut self, said: &Said, wrong: &[bool], clean: &Grid) {
        let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        self.ap = average_precision(&said.scores, wrong);
        // Without a rule, as many cells as are wrong: the best a threshold could hope to know.
        let by_count = || {
            let mut sorted = said.scores.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let least = self.wrong.checked_sub(1).map_or(f64::INFINITY, |at| sorted[at]);
            said.scores.iter().map(|&score| score >= least && score > 0.0).collect()
        };
        let called = said.called.clone().unwrap_or_else(by_count);
        self.called = called.iter().filter(|&&called| called).count();
        let right = called.iter().zip(wrong).filter(|(called, wrong)| **called && **wrong).count();
        self.precision = share(right, self.called);
        self.recall = share(right, self.wrong);
        let sum = self.precision + self.recall;
        self.f1 = if sum > 0.0 { 2.0 * self.precision * self.recall / sum } else { 0.0 };
        let repaired = said.expected.iter().zip(&clean.cells).zip(wrong.iter().zip(&called));
        let same = |(expected, clean): (&Option<String>, &String)| expected.as_ref() == Some(clean);
        let exact = repaired.filter(|&(pair, (&wrong, &called))| wrong && called && same(pair)).count();
        self.repaired = share(exact, right);
    }
}

/// Average precision; cells with equal scores are taken together.
fn average_precision(scores: &[f64], wrong: &[bool]) -> f64 {
    let mut cells: Vec<(f64, bool)> = scores.iter().copied().zip(wrong.iter().copied()).collect();
    cells.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = wrong.iter().filter(|&&wrong| wrong).count() as f64;
    let (mut right, mut seen, mut sum) = (0.0, 0.0, 0.0);
    for tied in cells.chunk_by(|a, b| a.0 == b.0) {
        let own = tied.iter().filter(|cell| cell.1).count() as f64;
        right += own;
        seen += tied.len() as f64;
        sum += own * right / seen;
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Ranked: wrong, right, wrong: (1/1 + 2/3) / 2. All tied: 2 of 3.
    fn average_precision_takes_equal_scores_together() {
        let wrong = [true, false, true];
        assert!((average_precision(&[3.0, 2.0, 1.0], &wrong) - f64::midpoint(1.0, 2.0 / 3.0)).abs() < 1e-12);
        assert!((average_precision(&[1.0; 3], &wrong) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(average_precision(&[1.0], &[false]), 0.0);
    }
}
