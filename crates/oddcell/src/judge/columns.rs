//! The columns that judging adds to the input's own.
//!
//! | column        | content                                                                              |
//! |---------------|--------------------------------------------------------------------------------------|
//! | `odd_score`   | the score; higher = more anomalous                                                   |
//! | `odd_p`       | the p-value                                                                          |
//! | `odd_verdict` | whether the rule calls the row odd                                                   |
//! | `odd_cells`   | how many cells make it odd: those that would have to be repaired to make it normal    |
//! | `odd_reasons` | these cells, and what should stand there; null if the row is normal                  |
//!
//! Judged rows can be judged again: columns with these names are findings of an earlier run, not features.

use std::{fmt::Write as _, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, builder::StringBuilder,
};
use arrow_schema::{DataType, Field, Schema};

use super::{Judge, Judgement};
use crate::{
    Table,
    encode::EncodeError,
    explain::Reason,
    table::{ColumnKind, Format, Rows, TableError, json_field, quoted},
};

/// The column of scores.
pub const SCORE: &str = "odd_score";
/// The column of p-values.
pub const P: &str = "odd_p";
/// The column of verdicts.
pub const VERDICT: &str = "odd_verdict";
/// The column of the numbers of odd cells.
pub const CELLS: &str = "odd_cells";
/// The column of reasons.
pub const REASONS: &str = "odd_reasons";

/// The columns that judging adds.
pub const COLUMNS: [&str; 5] = [SCORE, P, VERDICT, CELLS, REASONS];

/// The number of reasons per row.
pub const TOP_REASONS: usize = 3;
/// The usual size of a row's reasons.
const REASON_BYTES: usize = 200;

/// How reasons are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonForm {
    /// One line of text.
    Text,
    /// A JSON object with one entry per column.
    Json,
}

impl From<Format> for ReasonForm {
    fn from(format: Format) -> Self {
        if format == Format::JsonLines { Self::Json } else { Self::Text }
    }
}

/// The columns of `input` that an earlier run wrote.
#[doc(hidden)]
#[must_use]
pub fn earlier_findings(input: &Schema) -> Vec<String> {
    let found = COLUMNS.into_iter().filter(|name| input.column_with_name(name).is_some());
    found.map(str::to_owned).collect()
}

/// The note that these columns of an earlier run are left out.
#[doc(hidden)]
#[must_use]
pub fn left_out_note(found: &[String]) -> String {
    format!("findings of an earlier run are left out: {}", quoted(found))
}

/// The table, ready to learn from: without the findings of an earlier run, and with the columns `categorical` read as
/// categories.
pub fn ready_to_learn(mut table: Table, categorical: &[String]) -> Result<Table, TableError> {
    let found = earlier_findings(&table.schema());
    if !found.is_empty() {
        table = table.without(&found)?;
        table.notes.insert(0, left_out_note(&found));
    }
    for name in categorical {
        table.set_kind(name, ColumnKind::Category)?;
    }
    Ok(table)
}

/// The input's columns without the findings of an earlier run.
fn input_columns(schema: &Schema) -> Vec<usize> {
    (0..schema.fields().len())
        .filter(|&index| !COLUMNS.contains(&schema.field(index).name().as_str()))
        .collect()
}

/// The columns of judged rows.
#[must_use]
pub fn judged_schema(input: &Schema, form: ReasonForm) -> Schema {
    let mut fields: Vec<Field> =
        input_columns(input).into_iter().map(|index| input.field(index).clone()).collect();
    fields.push(Field::new(SCORE, DataType::Float64, false));
    fields.push(Field::new(P, DataType::Float64, false));
    fields.push(Field::new(VERDICT, DataType::Boolean, false));
    fields.push(Field::new(CELLS, DataType::UInt32, true));
    fields.push(match form {
        ReasonForm::Json => json_field(REASONS),
        ReasonForm::Text => Field::new(REASONS, DataType::Utf8, true),
    });
    Schema::new(fields)
}

/// The judged rows with what was found about them.
pub(super) fn judged_batch(judgement: Judgement, verdicts: Vec<bool>, form: ReasonForm) -> RecordBatch {
    let Judgement { rows: Rows { batch, .. }, findings, reasons, sets, .. } = judgement;
    let schema = judged_schema(&batch.schema(), form);
    let input = batch.project(&input_columns(&batch.schema())).expect("columns of the batch");
    let n_rows = batch.num_rows();
    let reasons = reasons.unwrap_or_else(|| StringArray::new_null(n_rows));
    let n_cells = |row: usize| sets.as_ref().map(|sets| sets.of(row).len() as u32);
    let n_cells: UInt32Array = (0..n_rows).map(n_cells).collect();
    let [scores, p_values] = [findings.scores, findings.p_values].map(Float64Array::from);
    let verdicts = BooleanArray::from(verdicts);
    let found: [ArrayRef; 5] =
        [Arc::new(scores), Arc::new(p_values), Arc::new(verdicts), Arc::new(n_cells), Arc::new(reasons)];
    RecordBatch::try_new(Arc::new(schema), [input.columns(), &found].concat())
        .expect("one of everything for every row")
}

/// Judged rows with other verdicts.
pub(super) fn with_verdicts(judged: &RecordBatch, verdicts: Vec<bool>) -> RecordBatch {
    let column = judged.schema().index_of(VERDICT).expect("judged rows have verdicts");
    let mut columns = judged.columns().to_vec();
    columns[column] = Arc::new(BooleanArray::from(verdicts));
    RecordBatch::try_new(judged.schema(), columns).expect("one verdict for every row")
}

/// The reasons of every row: the cells of its set, or the oddest columns if there are no sets; `None` if the detector does not
/// judge cells either.
pub(super) fn reasons(
    judge: &dyn Judge,
    judgement: &Judgement,
    form: ReasonForm,
) -> Result<Option<StringArray>, EncodeError> {
    let explainer = judgement.explainer(judge);
    let n_rows = judgement.rows.n_rows();
    if judgement.sets.is_none() && judgement.findings.cells.is_none() {
        return Ok(None);
    }
    let mut texts = StringBuilder::with_capacity(n_rows, REASON_BYTES);
    for row in 0..n_rows {
        let reasons = explainer.why(row, judgement, TOP_REASONS)?;
        if reasons.is_empty() {
            texts.append_null();
            continue;
        }
        match form {
            ReasonForm::Json => texts.append_value(reasons_object(&reasons)),
            ReasonForm::Text => {
                for (at, reason) in reasons.iter().enumerate() {
                    let unfailing = "writing to memory cannot fail";
                    texts.write_str(if at == 0 { "" } else { "; " }).expect(unfailing);
                    write!(texts, "{reason}").expect(unfailing);
                }
                // Ends the value that was written piece by piece.
                texts.append_value("");
            }
        }
    }
    Ok(Some(texts.finish()))
}

/// Reasons as a JSON object: column → figures, in order.
fn reasons_object(reasons: &[Reason<'_>]) -> String {
    let entries: Vec<String> =
        reasons.iter().map(|reason| format!("{}:{}", json(reason.column), json(reason))).collect();
    format!("{{{}}}", entries.join(","))
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("reasons are plain data")
}
