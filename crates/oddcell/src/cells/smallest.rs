//! The fewest cells whose repair makes a row normal.
//!
//! *How:* the oddest cells of the row are candidates. Each in turn is replaced by what is expected there, and the row's own
//! detector judges the row anew. The replacement that leaves the lowest score stays; among those that are nearly as good, the
//! one of the oddest cell. That goes on until the row is normal, or nothing helps any more. In the end, every cell but the last
//! is put back once, and dropped from the set if the row stays normal.
//!
//! Rows of a batch take their steps together, so that the detector judges all candidates of all rows in one go.

use std::ops::Range;

use arrow_array::ArrayRef;

use super::{Expected, expected::Idea};
use crate::{
    Error, Matrix,
    encode::{CellValue, ReadRows},
    explain::column_noise,
    judge::{Findings, Judge},
    kinds::cell_text,
    table::Rows,
    verdict::Rule,
};

/// The most cells in a set.
const MOST_CELLS: usize = 5;
/// Candidates at every step: the oddest cells, and the oddest in the eyes of the row's own detector.
const CANDIDATES: usize = 4;
const OWN_CANDIDATES: usize = 2;
/// Scores this near to the lowest one are as good.
const AS_GOOD: f64 = 1.02;
/// A step must lower the score at least to this share of it.
const HELPS: f64 = 0.99;
/// The first one is the oddest cell unless another one lowers the score to this share of it.
const HELPS_FIRST: f64 = 0.9;
/// A row is normal again if at least this share of normal rows is as odd.
const NORMAL: f64 = 0.01;
/// Rows of which a smaller share of normal rows is as odd are explained under any rule.
const WORTH_EXPLAINING: f64 = 0.05;

/// A cell that makes its row odd.
#[derive(Debug, Clone, PartialEq)]
pub struct OddCell {
    /// The column, as a position in [`Encoder::columns`](crate::encode::Encoder::columns).
    pub column: usize,
    /// How odd the cell is, as a surprise.
    pub surprise: f64,
    /// The share of normal cells of the same column that are at least as odd.
    pub p_value: f64,
    /// What should stand there, if anything can be said.
    pub expected: Option<Expected>,
    /// The same, for the encoder.
    pub(crate) value: CellValue,
}

/// The odd cells of some rows, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sets {
    ends: Vec<usize>,
    cells: Vec<OddCell>,
    /// If the detector of the rows says nothing about cells: the rows that were looked at, and how odd each of their features is.
    told: Option<(Vec<usize>, Matrix)>,
}

impl Sets {
    /// The cells that make this row odd, in the order in which they were repaired; none if the row is normal.
    #[must_use]
    pub fn of(&self, row: usize) -> &[OddCell] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.cells[start..self.ends[row]]
    }

    /// How odd each feature of a row is, if the detector of the rows does not say it.
    pub(crate) fn told(&self, row: usize) -> Option<&[f64]> {
        let (rows, told) = self.told.as_ref()?;
        rows.binary_search(&row).ok().map(|at| told.row(at))
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.ends.len()
    }

    fn from_rows(rows: Vec<Vec<OddCell>>) -> Self {
        let mut sets = Self::default();
        for cells in rows {
            sets.cells.extend(cells);
            sets.ends.push(sets.cells.len());
        }
        sets
    }
}

/// Which rows are explained, and when they are normal again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Explained {
    /// Rows with a p-value up to this.
    up_to: f64,
    /// A row with a higher p-value is normal.
    normal: f64,
}

impl Explained {
    /// The rows that `rule` may call odd.
    pub(crate) fn by(rule: Rule) -> Self {
        match rule {
            Rule::Alpha(alpha) => {
                Self { up_to: alpha.max(WORTH_EXPLAINING), normal: alpha.min(WORTH_EXPLAINING) }
            }
            // It hardly ever calls a row with a p-value as high as the rate.
            Rule::Fdr(_) => Self { up_to: WORTH_EXPLAINING, normal: NORMAL },
            // Scores above a quantile of the reference have p-values up to the contamination, and one rank more.
            Rule::Contamination(share) => Self { up_to: 1.1 * share + 0.01, normal: NORMAL },
            Rule::Top(_) => Self { up_to: 0.25, normal: NORMAL },
        }
    }
}

/// The rows of a batch, as far as sets need them.
pub(crate) struct Batch<'a> {
    pub(crate) rows: &'a Rows,
    pub(crate) arrays: &'a [ArrayRef],
    pub(crate) features: &'a Matrix,
    pub(crate) findings: &'a Findings,
}

/// A row on its way to normal.
struct Patient {
    /// Its position among the rows that are explained.
    at: usize,
    score: f64,
    p_value: f64,
    candidates: Vec<usize>,
    set: Vec<(usize, CellValue)>,
    /// The first cells of the set are known to be needed.
    kept: usize,
    is_done: bool,
}

impl Sets {
    /// The odd cells of all rows of a batch; `None` if `judge` cannot judge cells.
    pub(crate) fn find(
        judge: &dyn Judge,
        batch: &Batch<'_>,
        explained: Explained,
    ) -> Result<Option<Self>, Error> {
        let Batch { rows, arrays, features, findings } = batch;
        if judge.expects(rows.first_row).is_none() {
            return Ok(None);
        }
        let p_values = &findings.p_values;
        let chosen: Vec<usize> = (0..rows.n_rows()).filter(|&row| p_values[row] <= explained.up_to).collect();
        let mut sets = vec![Vec::new(); rows.n_rows()];
        if chosen.is_empty() {
            return Ok(Some(Self::from_rows(sets)));
        }
        let encoder = judge.encoder();
        let numbers: Vec<usize> = chosen.iter().map(|&row| rows.first_row + row).collect();
        let own = features.take(&chosen);
        let Some(cells) = judge.cells(&numbers, &own)? else { return Ok(None) };
        let told = if findings.cells.is_some() { None } else { judge.cell_features(&numbers, &own)? };
        let all = encoder.read_rows(rows, arrays)?;
        let unchanged = vec![Vec::new(); chosen.len()];
        let work = Work {
            judge,
            arrays,
            chosen: &chosen,
            numbers: &numbers,
            read: all.pick(&chosen, &unchanged),
            normal: explained.normal,
        };
        let own_cells = findings.cells.as_ref();
        let patient = |(at, &row): (usize, &usize)| {
            let mut candidates = oddest(cells.surprises.row(at).iter().copied(), CANDIDATES);
            if let Some(own) = own_cells {
                let noise = encoder.columns().iter().map(|column| column_noise(column, own.row(row)));
                for column in oddest(noise, OWN_CANDIDATES) {
                    if !candidates.contains(&column) {
                        candidates.push(column);
                    }
                }
            }
            let (score, p_value) = (findings.scores[row], p_values[row]);
            Patient { at, score, p_value, candidates, set: Vec::new(), kept: 0, is_done: false }
        };
        let mut patients: Vec<Patient> = chosen.iter().enumerate().map(patient).collect();
        for _ in 0..MOST_CELLS {
            if !work.step(&mut patients, &own)? {
                break;
            }
        }
        work.drop_needless(&mut patients)?;
        let ideas = work.final_ideas(&patients);
        for (patient, ideas) in patients.into_iter().zip(ideas) {
            let at = patient.at;
            let cell = |((column, _), Idea { value, expected }): ((usize, CellValue), Idea)| OddCell {
                column,
                surprise: cells.surprises.row(at)[column],
                p_value: cells.p_values.row(at)[column],
                expected,
                value,
            };
            sets[chosen[at]] = patient.set.into_iter().zip(ideas).map(cell).collect();
        }
        let told = told.map(|told| (chosen, told));
        Ok(Some(Self { told, ..Self::from_rows(sets) }))
    }
}

/// The positions of the `k` largest of these, largest first; none that is 0.
fn oddest(values: impl Iterator<Item = f64>, k: usize) -> Vec<usize> {
    let mut top: Vec<(usize, f64)> = Vec::with_capacity(k + 1);
    for (at, value) in values.enumerate() {
        let place = top.partition_point(|&(_, other)| other >= value);
        if place < k && value > 0.0 {
            top.insert(place, (at, value));
            top.truncate(k);
        }
    }
    top.into_iter().map(|(at, _)| at).collect()
}

struct Work<'a> {
    judge: &'a dyn Judge,
    arrays: &'a [ArrayRef],
    /// The rows that are explained, in the batch and in the table.
    chosen: &'a [usize],
    numbers: &'a [usize],
    read: ReadRows,
    normal: f64,
}

impl Work<'_> {
    /// What should stand in a cell of a row with these features.
    fn idea(&self, at: usize, column: usize, features: &[f64]) -> Idea {
        let expects = self.judge.expects(self.numbers[at]).expect("it was asked before");
        let now = self.read.value(at, column);
        let text = cell_text(&self.arrays[column], self.chosen[at]);
        Idea::of(self.judge.encoder(), expects, features, column, now.as_ref(), text.as_deref())
    }

    /// Judges the explained rows at these positions, each with other cells.
    fn rejudge(
        &self,
        rows: &[usize],
        changes: &[Vec<(usize, CellValue)>],
    ) -> Result<(Matrix, Findings), Error> {
        let read = self.read.pick(rows, changes);
        debug_assert_eq!(read.n_rows(), rows.len());
        let (features, _) = self.judge.encoder().features_of(&read, true);
        let numbers: Vec<usize> = rows.iter().map(|&at| self.numbers[at]).collect();
        let findings = self.judge.rejudge(&numbers, &features)?;
        Ok((features, findings))
    }

    /// Replaces one more cell of every row that is not done; says whether there was any.
    fn step(&self, patients: &mut [Patient], first: &Matrix) -> Result<bool, Error> {
        let active: Vec<usize> = (0..patients.len()).filter(|&at| !patients[at].is_done).collect();
        if active.is_empty() {
            return Ok(false);
        }
        let current = if active.iter().all(|&at| patients[at].set.is_empty()) {
            first.take(&active.iter().map(|&at| patients[at].at).collect::<Vec<_>>())
        } else {
            let rows: Vec<usize> = active.iter().map(|&at| patients[at].at).collect();
            let changes: Vec<_> = active.iter().map(|&at| patients[at].set.clone()).collect();
            self.judge.encoder().features_of(&self.read.pick(&rows, &changes), true).0
        };
        let mut rows: Vec<usize> = Vec::new();
        let mut changes: Vec<Vec<(usize, CellValue)>> = Vec::new();
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (place, &at) in active.iter().enumerate() {
            let patient = &patients[at];
            let start = rows.len();
            for &column in &patient.candidates {
                if patient.set.iter().any(|(changed, _)| *changed == column) {
                    continue;
                }
                let idea = self.idea(patient.at, column, current.row(place));
                if self.read.value(patient.at, column).as_ref() == Some(&idea.value) {
                    continue;
                }
                let mut set = patient.set.clone();
                set.push((column, idea.value));
                rows.push(patient.at);
                changes.push(set);
            }
            spans.push(start..rows.len());
        }
        if rows.is_empty() {
            for at in active {
                patients[at].is_done = true;
            }
            return Ok(false);
        }
        let (_, judged) = self.rejudge(&rows, &changes)?;
        for (&at, span) in active.iter().zip(spans) {
            let patient = &mut patients[at];
            let lowest = span.clone().map(|at| judged.scores[at]).fold(f64::INFINITY, f64::min);
            let good = lowest + (AS_GOOD - 1.0) * lowest.abs();
            // Candidates come with the oddest first. Where none helps, the oddest one is what can be named.
            let helps_at_all = good <= patient.score - (1.0 - HELPS_FIRST) * patient.score.abs();
            let is_good =
                |&at: &usize| judged.scores[at] <= good || (patient.set.is_empty() && !helps_at_all);
            let best = span.clone().find(is_good);
            let helps = |score: f64| {
                patient.set.is_empty() || score < patient.score - (1.0 - HELPS) * patient.score.abs()
            };
            match best.filter(|&best| helps(judged.scores[best])) {
                None => patient.is_done = true,
                Some(best) => {
                    patient.set = std::mem::take(&mut changes[best]);
                    let was_normal = patient.p_value > self.normal;
                    (patient.score, patient.p_value) = (judged.scores[best], judged.p_values[best]);
                    patient.is_done = was_normal || patient.p_value > self.normal;
                }
            }
        }
        Ok(true)
    }

    /// Puts every cell but the last back once, and drops it if the row stays normal: what was repaired first often only made
    /// up for what was repaired later.
    fn drop_needless(&self, patients: &mut [Patient]) -> Result<(), Error> {
        for _ in 1..MOST_CELLS {
            let is_open =
                |patient: &Patient| patient.kept + 1 < patient.set.len() && patient.p_value > self.normal;
            let some: Vec<usize> = (0..patients.len()).filter(|&at| is_open(&patients[at])).collect();
            if some.is_empty() {
                break;
            }
            let rows: Vec<usize> = some.iter().map(|&at| patients[at].at).collect();
            let without = |&at: &usize| {
                let mut set = patients[at].set.clone();
                set.remove(patients[at].kept);
                set
            };
            let changes: Vec<_> = some.iter().map(without).collect();
            let (_, judged) = self.rejudge(&rows, &changes)?;
            for ((at, set), p_value) in some.into_iter().zip(changes).zip(judged.p_values) {
                if p_value > self.normal {
                    (patients[at].set, patients[at].p_value) = (set, p_value);
                } else {
                    patients[at].kept += 1;
                }
            }
        }
        Ok(())
    }

    /// What should stand in the cells of each set, now that the others are repaired.
    fn final_ideas(&self, patients: &[Patient]) -> Vec<Vec<Idea>> {
        let rows: Vec<usize> = patients.iter().map(|patient| patient.at).collect();
        let changes: Vec<_> = patients.iter().map(|patient| patient.set.clone()).collect();
        let (features, _) = self.judge.encoder().features_of(&self.read.pick(&rows, &changes), true);
        let ideas = patients.iter().enumerate().map(|(place, patient)| {
            let idea = |(column, _): &(usize, CellValue)| self.idea(patient.at, *column, features.row(place));
            patient.set.iter().map(idea).collect()
        });
        ideas.collect()
    }
}
