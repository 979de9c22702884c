//! From cells to reasons: which columns make a row odd, how far off they are in their own units, and what would
//! be normal.
//!
//! A detector says how much noise sits in each *feature*, in standard deviations; a reader thinks in *columns*.
//! *Folding:* the noise of a column is the greatest of its features. Its amount is noise × standard deviation:
//! for numbers and dates of the value itself, in their own unit; for categories and booleans the greatest of
//! their 0/1 features, cut to 0..1, which reads like "how sure is it that this cell is wrong".
//!
//! Ranking columns ([`top`]) allocates nothing. Matching columns is done once per batch ([`Explainer`]), and a
//! [`Reason`] borrows what it can and is written out only when asked.

mod cell;
mod reason;

use std::{fmt, ops::Deref};

use arrow_array::ArrayRef;
pub use reason::{About, Reason, Side};

pub use crate::encode::{NormalRange, Share};
use crate::{
    Matrix,
    encode::{Content, EncodeError, EncodedColumn, Encoder, Part, Place},
    table::{ColumnKind, Rows},
};

use cell::Cell;

/// How much noise sits in a column.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ColumnNoise {
    /// The column, as a position in [`Encoder::columns`].
    pub column: usize,
    /// The estimated noise in standard deviations, ≥ 0.
    pub sds: f64,
}

/// The columns with the most noise, most first; a list that needs no heap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Top {
    items: [ColumnNoise; Top::CAPACITY],
    len: usize,
}

impl Top {
    /// The most columns [`top`] can rank.
    pub const CAPACITY: usize = 16;
}

impl Deref for Top {
    type Target = [ColumnNoise];

    fn deref(&self) -> &[ColumnNoise] {
        &self.items[..self.len]
    }
}

/// The `k` columns with the most noise (at most [`Top::CAPACITY`]), most first, equal ones in column order.
/// `cells` are the noise estimates of one row.
///
/// # Panics
/// If `cells` does not hold one estimate per feature: a bug of the caller, not of the data.
#[must_use]
pub fn top(encoder: &Encoder, cells: &[f64], k: usize) -> Top {
    check_length(encoder, cells);
    let k = k.min(Top::CAPACITY);
    let mut top = Top { items: [ColumnNoise::default(); Top::CAPACITY], len: 0 };
    for (at, column) in encoder.columns().iter().enumerate() {
        let sds = column_noise(column, cells);
        if top.len == k && top.last().is_none_or(|least| sds <= least.sds) {
            continue;
        }
        top.len = (top.len + 1).min(k);
        let mut place = top.len - 1;
        while place > 0 && top.items[place - 1].sds < sds {
            top.items[place] = top.items[place - 1];
            place -= 1;
        }
        top.items[place] = ColumnNoise { column: at, sds };
    }
    top
}

/// What noise is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Standard deviations of the training rows: comparable from column to column.
    StandardDeviations,
    /// The column's own: numbers as they are, dates in seconds; categories, booleans and everything about emptiness
    /// from 0 (not odd) to 1 (surely odd), as in [`Reason::amount`].
    Column,
}

/// The noise of whole columns, rows × [`Encoder::columns`], from that of features.
///
/// # Panics
/// If `cells` does not hold one estimate per row and feature: a bug of the caller, not of the data.
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

/// Gives reasons for rows of one batch.
#[derive(Debug)]
pub struct Explainer<'a> {
    encoder: &'a Encoder,
    rows: &'a Rows,
    columns: &'a [ArrayRef],
}

impl<'a> Explainer<'a> {
    /// Gives reasons for `rows`. `columns` are their arrays as [`Encoder::encode`] returns them.
    ///
    /// # Panics
    /// If `columns` does not hold one array per column of the encoder.
    #[must_use]
    pub fn new(encoder: &'a Encoder, rows: &'a Rows, columns: &'a [ArrayRef]) -> Self {
        assert_eq!(columns.len(), encoder.columns().len(), "one array per column");
        Self { encoder, rows, columns }
    }

    /// All columns of a row, most noise first, equal ones in column order.
    ///
    /// # Panics
    /// As [`Explainer::reason`].
    pub fn reasons(&self, row: usize, cells: &[f64]) -> Result<Vec<Reason<'a>>, EncodeError> {
        let columns = 0..self.encoder.columns().len();
        let mut reasons = columns.map(|at| self.reason(row, at, cells)).collect::<Result<Vec<_>, _>>()?;
        reasons.sort_by(|a, b| b.sds.total_cmp(&a.sds));
        Ok(reasons)
    }

    /// The `k` columns of a row with the most noise, at most [`Top::CAPACITY`].
    ///
    /// # Panics
    /// As [`Explainer::reason`].
    pub fn top(&self, row: usize, cells: &[f64], k: usize) -> Result<Vec<Reason<'a>>, EncodeError> {
        top(self.encoder, cells, k).iter().map(|noise| self.reason(row, noise.column, cells)).collect()
    }

    /// Writes the texts of the `k` columns with the most noise to `text` in memory, separated by "; ".
    ///
    /// # Panics
    /// As [`Explainer::reason`].
    pub fn write_top(
        &self,
        row: usize,
        cells: &[f64],
        k: usize,
        text: &mut impl fmt::Write,
    ) -> Result<(), EncodeError> {
        let unfailing = "text in memory takes everything";
        for (at, noise) in top(self.encoder, cells, k).iter().enumerate() {
            if at > 0 {
                text.write_str("; ").expect(unfailing);
            }
            self.reason(row, noise.column, cells)?.write(text).expect(unfailing);
        }
        Ok(())
    }

    /// What one column has to do with a row being odd.
    ///
    /// # Panics
    /// If `cells` does not hold one estimate per feature, or the batch has no such row, or the encoder no such
    /// column: bugs of the caller, not of the data.
    pub fn reason(&self, row: usize, column: usize, cells: &[f64]) -> Result<Reason<'a>, EncodeError> {
        check_length(self.encoder, cells);
        let encoded = &self.encoder.columns()[column];
        let cell = Cell::read(encoded, &self.columns[column], row, self.rows.first_row, &self.rows.origin)?;
        let (about, amount) = amount(self.encoder, encoded, cells);
        let n_rows = self.encoder.n_rows() as f64;
        let (side, training_share) = match (encoded.content(), &cell) {
            (Content::Number(spread) | Content::Date { spread, .. }, &Cell::Number { number, .. }) => {
                let side = match number {
                    _ if number > spread.high => Side::Above,
                    _ if number < spread.low => Side::Below,
                    _ => Side::Within,
                };
                (Some(side), None)
            }
            (Content::Boolean { true_rows }, &Cell::Number { number, .. }) => {
                let false_rows = self.encoder.n_rows() - encoded.nulls() - true_rows;
                let rows = if number == 0.0 { false_rows } else { *true_rows };
                (None, Some(rows as f64 / n_rows))
            }
            (Content::Category(levels), Cell::Name(name)) => {
                let rows = match levels.place(name) {
                    Place::Kept(level) => Some(levels.kept()[level].rows),
                    Place::Rare(rows) => Some(rows),
                    Place::Unseen => Some(0),
                    Place::Unknown => None,
                };
                (None, rows.map(|rows| rows as f64 / n_rows))
            }
            _ => (None, None),
        };
        Ok(Reason {
            column: encoded.name(),
            // Which of day and month comes first matters for reading a date, not for what it means.
            kind: match encoded.kind() {
                ColumnKind::DayFirstDate => ColumnKind::Date,
                kind => kind,
            },
            sds: column_noise(encoded, cells),
            about,
            amount,
            value: cell.into_text(encoded),
            normal: encoded.normal(),
            side,
            training_share,
            null_share: encoded.null_share(),
        })
    }
}

/// Whether it is the value that is odd or its being there, and by how much.
fn amount(encoder: &Encoder, column: &EncodedColumn, cells: &[f64]) -> (About, f64) {
    let of_value_in_own_unit = matches!(column.content(), Content::Number(_) | Content::Date { .. });
    let (mut value_sds, mut value_amount, mut null_sds, mut null_amount) = (0.0f64, 0.0f64, 0.0, 0.0);
    for at in column.features() {
        let (feature, sds) = (encoder.features()[at], cells[at].max(0.0));
        let amount = sds * feature.std;
        if feature.part == Part::IsNull {
            (null_sds, null_amount) = (sds, amount.min(1.0));
        } else {
            value_sds = value_sds.max(sds);
            value_amount = value_amount.max(amount);
        }
    }
    let value_amount = if of_value_in_own_unit { value_amount.min(f64::MAX) } else { value_amount.min(1.0) };
    if null_sds > value_sds { (About::Emptiness, null_amount) } else { (About::Value, value_amount) }
}

/// The greatest noise among the features of a column; never negative, never NaN.
fn column_noise(column: &EncodedColumn, cells: &[f64]) -> f64 {
    cells[column.features()].iter().fold(0.0, |most, &sds| sds.max(most))
}

fn check_length(encoder: &Encoder, cells: &[f64]) {
    assert_eq!(cells.len(), encoder.n_features(), "one noise estimate per feature");
}
