//! Cells become reasons: which columns make a row odd, how far off they are in their own units, and what would be
//! normal.
//!
//! A detector says how odd each *feature* is, in standard deviations or as a surprise ([`CellUnit`]); people think in
//! *columns*.
//! *Folding:* the noise of a column is the greatest of its features. Its amount is noise × standard deviation:
//! for numbers and dates in their own unit; for categories and booleans the greatest of their 0/1 features, at most
//! 1, which reads like "how sure is it that this cell is wrong".
//!
//! A [`Reason`] borrows what it can, and is written out on demand.
//!
//! ```
//! use oddcell::{Context, DetectorSpec, Model, Seed, Table, demo, model::FitOptions};
//! use oddcell::table::{ReadOptions, TableReader};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! let csv = demo::orders(200, 0, Seed(1)).csv.into_bytes();
//! let table = Table::from_reader(TableReader::from_bytes("orders", csv, &ReadOptions::default())?)?;
//! let ecod = FitOptions::new(DetectorSpec::new("ecod", None)?);
//! let model = Model::fit(&table, &ecod, &Context::silent(Seed(0)))?;
//! for rows in table.rows() {
//!     let judgement = model.judge(rows)?;
//!     let cells = judgement.findings.cells.as_ref().expect("ecod knows cells");
//!     let reasons = judgement.explainer(&model).top(0, cells.row(0), 2)?; // the two oddest columns of the first row
//!     assert!(reasons[0].noise >= reasons[1].noise);
//!     println!("{}", reasons[0]);
//! }
//! # Ok(())
//! # }
//! ```

mod reason;

use std::fmt;

use arrow_array::ArrayRef;
pub use reason::{About, Reason};

#[doc(no_inline)]
pub use crate::encode::{NormalRange, Share};
pub use crate::kinds::Side;
use crate::{
    Matrix,
    cells::{Expected, OddCell},
    detect::CellUnit,
    encode::{EncodeError, EncodedColumn, Encoder, Part, STD_FLOOR},
    judge::Judgement,
    kinds::{CellAt, Wording},
    layout::Role,
    table::Rows,
};

/// What noise is measured in.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Standard deviations of the training rows: comparable from column to column.
    StandardDeviations,
    /// The column's own, as in [`Reason::amount`]: numbers as they are, dates in seconds; categories, booleans and
    /// everything about emptiness from 0 (not odd) to 1 (surely odd).
    Column,
}

/// The noise of whole columns, rows × [`Encoder::columns`], from that of features.
///
/// # Panics
/// If `cells` does not hold one estimate per row and feature: a bug of the caller, not of the data.
#[doc(hidden)]
#[must_use]
pub fn noise_by_column(encoder: &Encoder, cells: &Matrix, unit: Unit) -> Matrix {
    let mut noise = Matrix::zeros(cells.n_rows(), encoder.columns().len());
    for (row, cells) in cells.rows().enumerate() {
        check_length(encoder, cells);
        for (noise, column) in noise.row_mut(row).iter_mut().zip(encoder.columns()) {
            *noise = match unit {
                Unit::StandardDeviations => column_noise(column, cells),
                Unit::Column => amount(encoder, column, cells).1,
            };
        }
    }
    noise
}

/// Makes the reasons for rows of one batch.
#[derive(Debug)]
pub struct Explainer<'a> {
    encoder: &'a Encoder,
    unit: CellUnit,
    rows: &'a Rows,
    columns: &'a [ArrayRef],
}

impl<'a> Explainer<'a> {
    /// Explains `rows`. `columns` are their arrays as [`Encoder::encode`] returns them, `unit` is that of the cells.
    ///
    /// # Panics
    /// If `columns` does not hold one array per column of the encoder.
    #[must_use]
    pub fn new(encoder: &'a Encoder, unit: CellUnit, rows: &'a Rows, columns: &'a [ArrayRef]) -> Self {
        assert_eq!(columns.len(), encoder.columns().len(), "one array per column");
        Self { encoder, unit, rows, columns }
    }

    /// All columns of a row, most noise first, equal ones in column order.
    ///
    /// # Panics
    /// As [`Explainer::reason`].
    pub fn reasons(&self, row: usize, cells: &[f64]) -> Result<Vec<Reason<'a>>, EncodeError> {
        self.top(row, cells, self.encoder.columns().len())
    }

    /// The `k` columns of a row with the most noise.
    ///
    /// # Panics
    /// As [`Explainer::reason`].
    pub fn top(&self, row: usize, cells: &[f64], k: usize) -> Result<Vec<Reason<'a>>, EncodeError> {
        self.ranked(cells, k).iter().map(|&(column, _)| self.reason(row, column, cells)).collect()
    }

    /// Why a row is odd: the cells of its set, in order, with what should stand there. The `k` oddest columns if the judge does
    /// not look for sets. `judgement` is that of these rows.
    pub fn why(&self, row: usize, judgement: &Judgement, k: usize) -> Result<Vec<Reason<'a>>, EncodeError> {
        let cells = judgement.findings.cells.as_ref();
        let Some(sets) = &judgement.sets else {
            let Some(cells) = cells else { return Ok(Vec::new()) };
            let columns = self.worth_telling(cells.row(row), k).into_iter();
            return columns.map(|column| self.reason(row, column, cells.row(row))).collect();
        };
        let reason = |cell: &OddCell| {
            let (cells, unit) = match (cells, sets.told(row)) {
                (Some(cells), _) => (cells.row(row), self.unit),
                (None, Some(told)) => (told, CellUnit::SurpriseInContext),
                (None, None) => unreachable!("a row with a set has been looked at"),
            };
            let mut reason = self.reason_in(row, cell.column, cells, unit)?;
            reason.p_value = Some(cell.p_value);
            reason.expected = cell.expected.clone().or(reason.expected);
            Ok(reason)
        };
        sets.of(row).iter().map(reason).collect()
    }

    /// All columns of a row: first the cells of its set, as in [`Explainer::why`], then the others, most noise first. Only the set
    /// if the detector of the rows says nothing about cells and the row is normal.
    pub fn every(&self, row: usize, judgement: &Judgement) -> Result<Vec<Reason<'a>>, EncodeError> {
        let sets = judgement.sets.as_ref();
        let own = judgement.findings.cells.as_ref().map(|cells| (cells.row(row), self.unit));
        let told = || sets.and_then(|sets| sets.told(row)).map(|cells| (cells, CellUnit::SurpriseInContext));
        let Some((cells, unit)) = own.or_else(told) else { return Ok(Vec::new()) };
        let mut all = if sets.is_some() { self.why(row, judgement, 0)? } else { Vec::new() };
        let n_columns = self.encoder.columns().len();
        for (column, _) in self.ranked(cells, n_columns) {
            let name = self.encoder.columns()[column].name();
            if all.iter().all(|reason| reason.column != name) {
                all.push(self.reason_in(row, column, cells, unit)?);
            }
        }
        Ok(all)
    }

    /// Writes the texts of the `k` columns with the most noise to `text` in memory, separated by "; ".
    ///
    /// # Panics
    /// As [`Explainer::reason`].
    #[doc(hidden)]
    pub fn write_top(
        &self,
        row: usize,
        cells: &[f64],
        k: usize,
        text: &mut impl fmt::Write,
    ) -> Result<(), EncodeError> {
        let unfailing = "writing to memory cannot fail";
        for (at, column) in self.worth_telling(cells, k).into_iter().enumerate() {
            if at > 0 {
                text.write_str("; ").expect(unfailing);
            }
            self.reason(row, column, cells)?.write(text).expect(unfailing);
        }
        Ok(())
    }

    /// The `k` columns of a row with the most noise, as positions in [`Encoder::columns`], and their noise: most first,
    /// equal ones in column order.
    ///
    /// # Panics
    /// If `cells` does not hold one estimate per feature.
    #[doc(hidden)]
    #[must_use]
    pub fn ranked(&self, cells: &[f64], k: usize) -> Vec<(usize, f64)> {
        check_length(self.encoder, cells);
        let columns = self.encoder.columns();
        let mut top: Vec<(usize, f64)> = Vec::with_capacity(k.min(columns.len()) + 1);
        for (at, column) in columns.iter().enumerate() {
            let noise = column_noise(column, cells);
            let place = top.partition_point(|&(_, other)| other >= noise);
            if place < k {
                top.insert(place, (at, noise));
                top.truncate(k);
            }
        }
        top
    }

    /// The columns among the `k` with the most noise that a reader should know of: the first, and all others whose noise is not
    /// 0, or whose surprise is not 0 as it is shown.
    pub(crate) fn worth_telling(&self, cells: &[f64], k: usize) -> Vec<usize> {
        let is_shown = |noise: f64| match self.unit {
            CellUnit::SurpriseInContext => noise >= 0.05,
            CellUnit::StandardDeviations | CellUnit::Surprise => noise > 0.0,
        };
        let ranked = self.ranked(cells, k).into_iter().enumerate();
        ranked.filter(|&(at, (_, noise))| at == 0 || is_shown(noise)).map(|(_, (column, _))| column).collect()
    }

    /// The noise of every column of a row, in the order of the encoder's columns.
    pub fn noise(&self, cells: &'a [f64]) -> impl Iterator<Item = f64> {
        check_length(self.encoder, cells);
        self.encoder.columns().iter().map(|column| column_noise(column, cells))
    }

    /// How one column makes a row odd.
    ///
    /// # Panics
    /// If `cells` does not hold one estimate per feature, or if there is no such row or column: bugs of the caller,
    /// not of the data.
    pub fn reason(&self, row: usize, column: usize, cells: &[f64]) -> Result<Reason<'a>, EncodeError> {
        self.reason_in(row, column, cells, self.unit)
    }

    /// The same for cells in this unit.
    fn reason_in(
        &self,
        row: usize,
        column: usize,
        cells: &[f64],
        unit: CellUnit,
    ) -> Result<Reason<'a>, EncodeError> {
        check_length(self.encoder, cells);
        let encoded = &self.encoder.columns()[column];
        let cell = self.cell(row, column);
        let seen = encoded.content().as_kind().look(&cell, encoded.counts())?;
        let (about, amount) = amount(self.encoder, encoded, cells);
        let told = match (seen.unreadable, oddest_sign(self.encoder, encoded, cells)) {
            (true, _) | (false, None) => None,
            (false, Some(sign)) => match sign.checked_sub(encoded.content().as_kind().hidden().len()) {
                Some(_) if encoded.copied_feature() == Some(encoded.first_sign() + sign) => {
                    self.encoder.tell_copied(column, |other| self.number(row, other))?
                }
                Some(compared) => {
                    match self.encoder.tell_since(column, compared, |other| self.number(row, other))? {
                        None => self.encoder.tell_within(column, |other| self.cell(row, other))?,
                        told => told,
                    }
                }
                None => encoded.content().as_kind().tell(&cell, sign, encoded.counts())?,
            },
        };
        // An empty cell where training had none has no feature of its own that says so.
        let is_new_gap = seen.value.is_none() && encoded.nulls() == 0;
        let amount = if is_new_gap { (column_noise(encoded, cells) * STD_FLOOR).min(1.0) } else { amount };
        let about = match seen.unreadable {
            true => About::Unreadable,
            false if told.is_some() => About::Sign,
            false if seen.value.is_none() => About::Emptiness,
            false => about,
        };
        let (tells, expected) = told.map_or((None, None), |told| (Some(told.text), told.expected));
        let expected = expected.map(Expected::spelled);
        Ok(Reason {
            tells,
            expected,
            column: encoded.name(),
            kind: encoded.kind(),
            noise: column_noise(encoded, cells),
            unit,
            p_value: None,
            about,
            amount: match unit {
                CellUnit::StandardDeviations if !seen.unreadable => Some(amount),
                CellUnit::StandardDeviations | CellUnit::Surprise | CellUnit::SurpriseInContext => None,
            },
            value: seen.value,
            normal: encoded.normal(),
            side: seen.side,
            place: seen.place,
            training_share: seen.training_share,
            null_share: encoded.null_share(),
        })
    }
}

impl<'a> Explainer<'a> {
    /// The cell of a column.
    fn cell(&self, row: usize, column: usize) -> CellAt<'a> {
        let encoded = &self.encoder.columns()[column];
        let (column, array) = (encoded.name(), &self.columns[column]);
        CellAt { column, reading: encoded.reading(), array, rows: self.rows, row }
    }

    /// The number in a cell, to be compared with others: of a date, the seconds.
    fn number(&self, row: usize, column: usize) -> Result<Option<f64>, EncodeError> {
        let cell = self.cell(row, column);
        Ok(CellAt { reading: cell.reading.in_utc(), ..cell }.number()?.ok())
    }
}

/// The oddest feature of a column, if it is a sign: its position among the hidden ones.
fn oddest_sign(encoder: &Encoder, column: &EncodedColumn, cells: &[f64]) -> Option<usize> {
    let mut features = column.features();
    let first = features.next()?;
    let oddest =
        features.fold(first, |most, feature| if cells[feature] > cells[most] { feature } else { most });
    // Of several ways in which a number is odd, the one within its group is the plainest.
    let within = column.within_feature().filter(|&feature| cells[feature] >= CellUnit::Surprise.odd_from());
    let oddest = within.unwrap_or(oddest);
    let Part::Sign(at) = encoder.features()[oddest].part else { return None };
    let hidden = column.content().as_kind().hidden();
    let role = |at: usize| hidden.get(at).map(|&(role, _)| role);
    // That a name is unlikely is plainer to say by what is wrong with it.
    let plainer = (0..hidden.len()).filter(|_| role(at) == Some(Role::Level)).filter_map(|other| {
        let surprise = cells[oddest - at + other];
        (role(other) == Some(Role::Sign) && surprise >= PLAINER * cells[oddest]).then_some((other, surprise))
    });
    let plainest = plainer.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(other, _)| other);
    (cells[oddest] > 0.0).then(|| plainest.unwrap_or(at))
}

/// A sign is told instead of a level if it is at least so many times as odd.
const PLAINER: f64 = 0.4;

/// What is odd, the value or whether there is one, and by how much.
fn amount(encoder: &Encoder, column: &EncodedColumn, cells: &[f64]) -> (About, f64) {
    let values = column.value_features();
    if let Some(flag) = column.null_flag() {
        let sds = cells[flag].max(0.0);
        if sds > greatest(&cells[values.clone()]) {
            return (About::Emptiness, (sds * encoder.features()[flag].std).min(1.0));
        }
    }
    let features = cells[values.clone()].iter().zip(&encoder.features()[values]);
    let amounts = features.map(|(sds, feature)| sds.max(0.0) * feature.std);
    let most = match column.kind().wording() {
        Wording::Distance { .. } => f64::MAX,
        Wording::Share => 1.0,
    };
    (About::Value, amounts.fold(0.0, f64::max).min(most))
}

/// The greatest noise among the features of a column.
pub(crate) fn column_noise(column: &EncodedColumn, cells: &[f64]) -> f64 {
    greatest(&cells[column.features()])
}

/// The greatest of these, at least 0; never NaN.
fn greatest(noise: &[f64]) -> f64 {
    noise.iter().fold(0.0, |most, &sds| sds.max(most))
}

fn check_length(encoder: &Encoder, cells: &[f64]) {
    assert_eq!(cells.len(), encoder.n_features(), "one noise estimate per feature");
}
