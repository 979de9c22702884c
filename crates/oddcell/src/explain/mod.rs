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
    detect::CellUnit,
    encode::{EncodeError, EncodedColumn, Encoder},
    kinds::{CellAt, Wording},
    table::Rows,
};

/// The `k` columns with the most noise, as positions in [`Encoder::columns`], and their noise: most first, equal ones in
/// column order.
fn top(encoder: &Encoder, cells: &[f64], k: usize) -> Vec<(usize, f64)> {
    check_length(encoder, cells);
    let mut top: Vec<(usize, f64)> = Vec::with_capacity(k.min(encoder.columns().len()) + 1);
    for (at, column) in encoder.columns().iter().enumerate() {
        let noise = column_noise(column, cells);
        let place = top.partition_point(|&(_, other)| other >= noise);
        if place < k {
            top.insert(place, (at, noise));
            top.truncate(k);
        }
    }
    top
}

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
        top(self.encoder, cells, k).iter().map(|&(column, _)| self.reason(row, column, cells)).collect()
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
        let unfailing = "writing to memory cannot fail";
        for (at, &(column, _)) in top(self.encoder, cells, k).iter().enumerate() {
            if at > 0 {
                text.write_str("; ").expect(unfailing);
            }
            self.reason(row, column, cells)?.write(text).expect(unfailing);
        }
        Ok(())
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
        check_length(self.encoder, cells);
        let encoded = &self.encoder.columns()[column];
        let cell = CellAt {
            column: encoded.name(),
            reading: encoded.reading(),
            array: &self.columns[column],
            rows: self.rows,
            row,
        };
        let seen = encoded.content().as_kind().look(&cell, encoded.counts())?;
        let (about, amount) = amount(self.encoder, encoded, cells);
        Ok(Reason {
            column: encoded.name(),
            kind: encoded.kind(),
            noise: column_noise(encoded, cells),
            unit: self.unit,
            about,
            amount: match self.unit {
                CellUnit::StandardDeviations => Some(amount),
                CellUnit::Surprise => None,
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

/// What is odd, the value or whether there is one, and by how much.
fn amount(encoder: &Encoder, column: &EncodedColumn, cells: &[f64]) -> (About, f64) {
    let values = column.value_features();
    if column.nulls() > 0 {
        let sds = cells[values.end].max(0.0);
        if sds > greatest(&cells[values.clone()]) {
            return (About::Emptiness, (sds * encoder.features()[values.end].std).min(1.0));
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
fn column_noise(column: &EncodedColumn, cells: &[f64]) -> f64 {
    greatest(&cells[column.features()])
}

/// The greatest of these, at least 0; never NaN.
fn greatest(noise: &[f64]) -> f64 {
    noise.iter().fold(0.0, |most, &sds| sds.max(most))
}

fn check_length(encoder: &Encoder, cells: &[f64]) {
    assert_eq!(cells.len(), encoder.n_features(), "one noise estimate per feature");
}
