//! Judged rows: what stands beside a row's own columns once it was judged.
//!
//! | column        | what it holds                                                                          |
//! |---------------|----------------------------------------------------------------------------------------|
//! | `odd_score`   | the score; higher = more anomalous                                                     |
//! | `odd_p`       | the p-value                                                                            |
//! | `odd_verdict` | whether the rule calls the row odd                                                     |
//! | `odd_reasons` | the columns that make it odd, most noise first; null if the detector knows no cells    |
//!
//! Judged rows can be judged again: columns of these names are what an earlier run found, and no features.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, builder::StringBuilder};
use arrow_schema::{DataType, Field, Schema};

use crate::{
    encode::{EncodeError, Encoder},
    explain::Explainer,
    model::Findings,
    table::{Format, Rows, json_field},
};

/// The column of scores.
pub const SCORE: &str = "odd_score";
/// The column of p-values.
pub const P: &str = "odd_p";
/// The column of verdicts.
pub const VERDICT: &str = "odd_verdict";
/// The column of reasons.
pub const REASONS: &str = "odd_reasons";

/// What judged rows have besides the input's columns.
pub const COLUMNS: [&str; 4] = [SCORE, P, VERDICT, REASONS];

/// Reasons given per row.
pub const TOP_REASONS: usize = 3;
/// Usual size of a row's reasons.
const REASON_BYTES: usize = 200;

/// What was found about the rows of one batch.
#[derive(Debug, Clone)]
pub struct Found {
    /// The scores, in row order.
    pub scores: Vec<f64>,
    /// The p-values, in row order.
    pub p_values: Vec<f64>,
    /// The reasons, where the detector knows cells.
    pub reasons: Option<StringArray>,
}

/// The columns that an earlier run had found, wherever its output came from and in whatever format.
#[must_use]
pub fn earlier_findings(input: &Schema) -> Vec<&'static str> {
    COLUMNS.into_iter().filter(|name| input.column_with_name(name).is_some()).collect()
}

/// The input's columns without what an earlier run had found.
fn input_columns(schema: &Schema) -> Vec<usize> {
    (0..schema.fields().len())
        .filter(|&index| !COLUMNS.contains(&schema.field(index).name().as_str()))
        .collect()
}

/// The columns of judged rows. The verdict may come later.
#[must_use]
pub fn judged_schema(input: &Schema, with_verdict: bool, format: Format) -> Schema {
    let mut fields: Vec<Field> =
        input_columns(input).into_iter().map(|index| input.field(index).clone()).collect();
    fields.push(Field::new(SCORE, DataType::Float64, false));
    fields.push(Field::new(P, DataType::Float64, false));
    if with_verdict {
        fields.push(Field::new(VERDICT, DataType::Boolean, false));
    }
    fields.push(if format == Format::JsonLines {
        json_field(REASONS)
    } else {
        Field::new(REASONS, DataType::Utf8, true)
    });
    Schema::new(fields)
}

/// The rows with what was found, and the verdicts if they are known already.
///
/// # Panics
/// If not one of everything was found for every row: a bug of the caller, not of the data.
#[must_use]
pub fn judged_batch(
    batch: &RecordBatch,
    found: Found,
    verdicts: Option<Vec<bool>>,
    format: Format,
) -> RecordBatch {
    let schema = judged_schema(&batch.schema(), verdicts.is_some(), format);
    let mut columns: Vec<ArrayRef> =
        input_columns(&batch.schema()).into_iter().map(|index| Arc::clone(batch.column(index))).collect();
    columns.push(Arc::new(Float64Array::from(found.scores)));
    columns.push(Arc::new(Float64Array::from(found.p_values)));
    if let Some(verdicts) = verdicts {
        columns.push(Arc::new(BooleanArray::from(verdicts)));
    }
    columns.push(Arc::new(found.reasons.unwrap_or_else(|| StringArray::new_null(batch.num_rows()))));
    RecordBatch::try_new(Arc::new(schema), columns).expect("one of everything for every row")
}

/// The reasons of every row as the output format wants them: a line of text, or a JSON object. `None` if the detector
/// knows no cells.
pub fn reasons(
    encoder: &Encoder,
    batch: &RecordBatch,
    first_row: usize,
    origin: &str,
    findings: &Findings,
    format: Format,
) -> Result<Option<StringArray>, EncodeError> {
    let Some(cells) = &findings.cells else { return Ok(None) };
    let rows = Rows::new(batch.clone(), first_row, origin);
    let columns = encoder.matched(&rows)?;
    let explainer = Explainer::new(encoder, &rows, &columns);
    let n_rows = batch.num_rows();
    let mut reasons = StringBuilder::with_capacity(n_rows, n_rows * REASON_BYTES);
    for row in 0..n_rows {
        if format == Format::JsonLines {
            reasons.append_value(reasons_object(&explainer, row, cells.row(row))?);
        } else {
            explainer.write_top(row, cells.row(row), TOP_REASONS, &mut reasons)?;
            // Ends the value that was written piece by piece.
            reasons.append_value("");
        }
    }
    Ok(Some(reasons.finish()))
}

/// The top reasons as a JSON object: column → figures, most noise first.
fn reasons_object(explainer: &Explainer<'_>, row: usize, cells: &[f64]) -> Result<String, EncodeError> {
    let mut text = String::from("{");
    for reason in explainer.top(row, cells, TOP_REASONS)? {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&json(reason.column));
        text.push(':');
        text.push_str(&json(&reason));
    }
    text.push('}');
    Ok(text)
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("reasons are plain data")
}

/// A batch of a table, and what was found about its rows.
#[derive(Debug, Clone)]
pub struct TablePart<'a> {
    /// The rows.
    pub batch: &'a RecordBatch,
    /// The number of rows before them.
    pub first_row: usize,
    /// What was found about them.
    pub findings: Findings,
}

/// The batches of a table with their part of the findings about all its rows.
pub fn parts<'a>(batches: &'a [RecordBatch], findings: &'a Findings) -> impl Iterator<Item = TablePart<'a>> {
    let mut first_row = 0;
    batches.iter().map(move |batch| {
        let rows = first_row..first_row + batch.num_rows();
        let part = Findings {
            scores: findings.scores[rows.clone()].to_vec(),
            p_values: findings.p_values[rows.clone()].to_vec(),
            cells: findings.cells.as_ref().map(|cells| cells.take(&rows.clone().collect::<Vec<_>>())),
            surprises: findings.surprises.clone(),
        };
        let part = TablePart { batch, first_row, findings: part };
        first_row = rows.end;
        part
    })
}
