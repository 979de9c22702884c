//! A model: encoder, fitted detector and calibration in one value that can judge rows and be saved and loaded.
//!
//! ```
//! use oddcell::{Context, DetectorSpec, Model, Seed, Table, demo, judge::Judge, model::FitOptions};
//! use oddcell::table::{ReadOptions, TableReader};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! let csv = demo::orders(200, 0, Seed(1)).csv.into_bytes();
//! let table = Table::from_reader(TableReader::from_bytes("orders", csv, &ReadOptions::default())?)?;
//! let knn = FitOptions::new(DetectorSpec::new("knn", None)?);
//! let model = Model::fit(&table, &knn, &Context::silent(Seed(0)))?;
//! let again = Model::from_bytes(&model.to_bytes()?)?; // or `save` and `load` with a path
//! assert_eq!((again.n_rows(), again.spec().entry().name), (200, "knn"));
//! # Ok(())
//! # }
//! ```
//!
//! *How it is calibrated:* p-values need scores of rows that the detector was not trained on. With many rows, we hold
//! some out: one member, p = (1 + #{cᵢ ≥ s})/(n + 1). With few rows, training needs them all, so we cross-fit: K
//! members, each trained without one fold and calibrated on it (cross-conformal prediction; Vovk 2015). A row's score
//! is then the mean of the members' scores, and p = (1 + Σₖ #{cₖᵢ ≥ sₖ}) / (1 + Σₖ nₖ), where each member's score sₖ is
//! compared with its own fold.
//!
//! The encoder is fitted on all rows, including held-out rows: it learns only averages, spreads and levels, a single
//! row changes these by 1/n, and levels that occur only in held-out rows are then known.
//!
//! *Invariants:* same table, options and seed give the same bits on any number of threads · the findings of a row
//! depend only on that row, not on the rows around it · scores after loading equal scores before saving.

mod crossfit;
mod detection;
mod options;
mod saved;
mod spill;
mod streamed;
mod threshold;
mod unreadable;

use std::{io::Write as _, path::Path};

pub use self::{
    detection::{Detection, detect},
    options::{FitOptions, SplitOptions},
    streamed::Streaming,
    threshold::Threshold,
};
use crate::{
    Context, DetectorSpec, Error, Fitted, Matrix, Seed, Table,
    calibrate::Calibration,
    cells::{CellFindings, CellLearner, Tail, surprises, tail_p_value},
    detect::Expects,
    encode::{EncodeOptions, Encoder},
    error::ScoreError,
    judge::{Findings, Judge, Judgement, Outcome, Scorer},
    model_file::{self, ModelFileError, write_atomically},
    table::Rows,
    verdict::Rule,
};

/// What is normal in a table, learned from its rows.
#[derive(Debug)]
pub struct Model {
    encoder: Encoder,
    spec: DetectorSpec,
    seed: Seed,
    split: SplitOptions,
    encode: EncodeOptions,
    library: String,
    threshold: Option<Threshold>,
    /// At least one.
    members: Vec<Member>,
}

/// A fitted detector, and the scores of rows it was not trained on.
#[derive(Debug)]
pub struct Member {
    /// The fitted detector.
    pub fitted: Box<dyn Fitted>,
    /// The scores of the rows it was not trained on.
    pub calibration: Calibration,
    /// The number of rows it was trained on.
    pub n_training_rows: usize,
    /// What judges cells, unless the model does not.
    pub(crate) cells: Option<CellLearner>,
}

impl Member {
    /// What judges cells, with the surprises of held-out cells of each column.
    fn of_cells(&self) -> Option<(&dyn Fitted, &[Calibration])> {
        self.cells.as_ref().map(|cells| (cells.judge(&*self.fitted), cells.calibration()))
    }
}

impl Model {
    /// Learns what is normal from all rows of `table`.
    pub fn fit(table: &Table, options: &FitOptions, context: &Context<'_>) -> Result<Self, Error> {
        options.validate()?;
        options.detector.build()?;
        let encoder = Encoder::fit(table, &options.encode_options()?, options.label.as_deref())?;
        let options =
            &FitOptions { detector: options.detector.of_table(encoder.is_mixed()), ..options.clone() };
        let detector = options.detector.build()?;
        let (rows, unreadable) = encode_all(&encoder, table)?;
        let members = crossfit::fit_members(&*detector, rows, &unreadable, options, context)?;
        Ok(Self::of(encoder, members, options, context.seed))
    }

    fn of(encoder: Encoder, members: Vec<Member>, options: &FitOptions, seed: Seed) -> Self {
        let FitOptions { detector: spec, encode, split, .. } = options.clone();
        let library = env!("CARGO_PKG_VERSION").to_owned();
        Self { encoder, spec, seed, split, encode, library, threshold: None, members }
    }

    /// Judges some rows, including cells, without a verdict. [`Scorer`] judges whole tables and
    /// streams.
    pub fn judge(&self, rows: Rows) -> Result<Judgement, Error> {
        Scorer { cells: true, ..Scorer::new(self, Rule::FOR_NEW_ROWS) }.judgement(rows)
    }

    /// Writes the model to a file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_with(path, self.threshold)
    }

    /// Writes the model to a file, with this threshold instead of its own.
    pub fn save_with(&self, path: impl AsRef<Path>, threshold: Option<Threshold>) -> Result<(), Error> {
        let path = path.as_ref();
        threshold.map_or(Ok(()), Threshold::check)?;
        let bytes = saved::to_bytes(self, threshold)?;
        write_atomically(path, |writer| {
            let failed = |source| Error::File { action: "write", path: path.to_owned(), source };
            writer.write_all(&bytes).map_err(failed)
        })
    }

    /// Reads a model from a file. Nothing in the file is executed, and everything in it is checked.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = model_file::read(path)?;
        Ok(Self::from_bytes(&bytes).map_err(|error| error.in_file(path))?)
    }

    /// The model as the bytes of a model file. Equal models give equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelFileError> {
        saved::to_bytes(self, self.threshold)
    }

    /// The model that these bytes of a model file hold.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        saved::from_bytes(bytes)
    }

    /// From now on, a cell that cannot be read is an error if `strict`. A model starts with the strictness that it was
    /// fitted with.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.encoder.set_strict(strict);
        self
    }

    /// The threshold that came with its file.
    #[must_use]
    pub fn threshold(&self) -> Option<Threshold> {
        self.threshold
    }

    /// Which rows trained and which calibrated.
    #[must_use]
    pub fn split(&self) -> SplitOptions {
        self.split
    }

    /// The options for turning columns into features.
    #[must_use]
    pub fn encode_options(&self) -> &EncodeOptions {
        &self.encode
    }

    /// The version of the library that fitted it.
    #[must_use]
    pub fn library_version(&self) -> &str {
        &self.library
    }

    /// The fitted detectors: one, or several if the rows were cross-fitted.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The number of rows it learned from, including held-out rows.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        let calibrated = self.n_calibration_rows() as u64;
        let of_members = match &self.members[..] {
            [only] => calibrated.saturating_add(only.n_training_rows as u64),
            // Every row that can be read calibrates one member.
            _ => calibrated,
        };
        of_members.max(self.encoder.n_rows())
    }

    /// The number of rows that calibrate its p-values.
    #[must_use]
    pub fn n_calibration_rows(&self) -> usize {
        self.members.iter().map(|member| member.calibration.len()).sum()
    }
}

impl Judge for Model {
    fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    fn findings(&self, rows: &Rows, features: &Matrix, want_cells: bool) -> Result<Findings, Error> {
        let mut findings = judge_rows(&self.members, features, want_cells)?;
        if let Some(cells) = &mut findings.cells {
            self.encoder.quiet_constants(features, cells);
        }
        let unreadable = self.encoder.unreadable_cells(rows, features)?;
        let least = Calibration::pooled_p_value(0, self.n_calibration_rows());
        unreadable::lower(&mut findings.p_values, &self.encoder, &unreadable, true, least);
        Ok(findings)
    }

    fn rejudge(&self, _: &[usize], features: &Matrix) -> Result<Findings, Error> {
        Ok(judge_rows(&self.members, features, false)?)
    }

    fn cells(&self, _: &[usize], features: &Matrix) -> Result<Option<CellFindings>, Error> {
        Ok(judge_cells(&self.members, features)?)
    }

    fn cell_features(&self, _: &[usize], features: &Matrix) -> Result<Option<Matrix>, Error> {
        let Some((judge, _)) = self.members[0].of_cells() else { return Ok(None) };
        Ok(judge.judge(features, true)?.cells)
    }

    fn expects(&self, _: usize) -> Option<&dyn Expects> {
        self.members[0].of_cells().and_then(|(judge, _)| judge.expects())
    }

    /// The calibration scores of all members together. (In a cross-fitted model these are scores of single members,
    /// slightly more spread out than the mean scores of judged rows.)
    fn reference(&self) -> Calibration {
        Calibration::conformal(
            self.members.iter().flat_map(|member| member.calibration.sorted().iter().copied()).collect(),
        )
    }

    fn spec(&self) -> &DetectorSpec {
        &self.spec
    }

    fn seed(&self) -> Seed {
        self.seed
    }

    fn fitted(&self) -> Option<&dyn Fitted> {
        Some(&*self.members[0].fitted)
    }

    fn verdict_notes(&self, rule: Rule, outcome: &Outcome) -> Vec<String> {
        rule.too_coarse(self.n_calibration_rows(), outcome.n_rows, outcome.n_odd).into_iter().collect()
    }
}

/// All rows of a table as features, and the cells among them that cannot be read: row and column, sorted.
fn encode_all(encoder: &Encoder, table: &Table) -> Result<(Matrix, Vec<(u32, u32)>), Error> {
    use rayon::prelude::*;

    let batches: Vec<Rows> = table.rows().collect();
    let mut values = Vec::with_capacity(table.n_rows() * encoder.n_features());
    let (mut unreadable, mut first_row) = (Vec::new(), 0);
    // A few batches at a time: enough to keep all threads busy, without a second copy of everything.
    for some in batches.chunks(4 * rayon::current_num_threads()) {
        let encoded: Vec<_> = some.par_iter().map(|rows| encoder.encode_own(rows)).collect();
        // In row order, so that the first of several errors is reported.
        for encoded in encoded {
            let encoded = encoded?;
            values.extend_from_slice(encoded.matrix.values());
            unreadable.extend(encoded.unreadable.iter().map(|&(row, column)| (first_row + row, column)));
            first_row += encoded.matrix.n_rows() as u32;
        }
    }
    let matrix = Matrix::new(values, table.n_rows(), encoder.n_features());
    Ok((matrix.with_layout(encoder.layout()), unreadable))
}

/// Combines the members' judgements, by the formulas in the module docs.
fn judge_rows(members: &[Member], rows: &Matrix, want_cells: bool) -> Result<Findings, ScoreError> {
    let n_rows = rows.n_rows();
    let n_calibration = members.iter().map(|member| member.calibration.len()).sum();
    let (mut scores, mut counts) = (vec![0.0; n_rows], vec![0; n_rows]);
    let mut cells: Option<Matrix> = None;
    for member in members {
        let judged = member.fitted.judge(rows, want_cells)?;
        for ((sum, count), score) in scores.iter_mut().zip(&mut counts).zip(judged.scores) {
            *sum += score;
            *count += member.calibration.count_at_least(score);
        }
        match (&mut cells, judged.cells) {
            (Some(sums), Some(more)) => {
                sums.values_mut().iter_mut().zip(more.values()).for_each(|(sum, cell)| *sum += cell);
            }
            (None, more) => cells = more,
            (Some(_), None) => unreachable!("members are fitted by one detector"),
        }
    }
    let n_members = members.len() as f64;
    for value in scores.iter_mut().chain(cells.iter_mut().flat_map(Matrix::values_mut)) {
        *value /= n_members;
    }
    if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
        return Err(ScoreError::InfiniteScore { row: row + 1, score: scores[row] });
    }
    let p_values = counts.iter().map(|&count| Calibration::pooled_p_value(count, n_calibration)).collect();
    Ok(Findings { scores, p_values, cells })
}

/// Judges cells: the mean of what the members say, and p-values as for rows, column by column, which go on beyond the held-out
/// cells. `None` if the model learned nothing about cells.
fn judge_cells(members: &[Member], rows: &Matrix) -> Result<Option<CellFindings>, ScoreError> {
    let layout = rows.layout();
    let (n_rows, n_columns) = (rows.n_rows(), layout.0.len());
    let mut sums = Matrix::zeros(n_rows, n_columns);
    let mut counts = vec![0usize; n_rows * n_columns];
    let mut beyond = vec![0.0; n_rows * n_columns];
    let mut totals = vec![0usize; n_columns];
    for member in members {
        let Some((judge, calibration)) = member.of_cells() else { return Ok(None) };
        let tails: Vec<Tail> = calibration.iter().map(Tail::of).collect();
        let said = surprises(judge, rows, &layout)?;
        for (at, (sum, surprise)) in sums.values_mut().iter_mut().zip(said.values()).enumerate() {
            *sum += surprise;
            counts[at] += calibration[at % n_columns].count_at_least(*surprise);
            beyond[at] += tails[at % n_columns].beyond(*surprise);
        }
        for (total, calibration) in totals.iter_mut().zip(calibration) {
            *total += calibration.len();
        }
    }
    let n_members = members.len() as f64;
    sums.values_mut().iter_mut().for_each(|sum| *sum /= n_members);
    let p_value = |(at, &surprise): (usize, &f64)| {
        let conformal = Calibration::pooled_p_value(counts[at], totals[at % n_columns]);
        let beyond = if counts[at] == 0 { beyond[at] / n_members } else { 1.0 };
        tail_p_value(conformal, beyond, surprise)
    };
    let p_values = sums.values().iter().enumerate().map(p_value).collect();
    Ok(Some(CellFindings { p_values: Matrix::new(p_values, n_rows, n_columns), surprises: sums }))
}

#[cfg(test)]
mod tests;
