//! Rows through a model, batch by batch, on as many threads as there are: one reads, the pool judges, one writes.
//! At most a few batches are in flight, so memory does not grow with the table.

use std::sync::mpsc::{Receiver, sync_channel};

use arrow_array::RecordBatch;
use oddcell::{
    Error, Model,
    encode::Encoder,
    explain::Explainer,
    model::Findings,
    table::{Format, TableError, TableReader},
};
use rayon::prelude::*;

use crate::{failure::Failure, output::Found};

/// Reasons given per row.
pub(crate) const TOP_REASONS: usize = 3;
/// Batches waiting between two stages.
const IN_FLIGHT: usize = 2;
/// Rows whose reasons one thread writes at a time.
const REASON_ROWS: usize = 512;

/// A batch that was judged.
pub(crate) struct Judged {
    pub(crate) batch: RecordBatch,
    pub(crate) first_row: usize,
    pub(crate) findings: Findings,
    pub(crate) reasons: Vec<Option<String>>,
}

impl Judged {
    /// What goes into the output beside the input's columns.
    pub(crate) fn found(&mut self) -> Found {
        Found {
            scores: self.findings.scores.clone(),
            p_values: self.findings.p_values.clone(),
            reasons: std::mem::take(&mut self.reasons),
        }
    }
}

/// Judges everything `reader` gives and hands it to `consume` in order.
pub(crate) fn judge_all(
    model: &Model,
    reader: TableReader,
    format: Option<Format>,
    pool: &rayon::ThreadPool,
    mut consume: impl FnMut(Judged) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let origin = reader.origin().to_owned();
    let mut first_row = 0;
    let mut judge = |batch: RecordBatch| -> Result<Judged, Failure> {
        let start = first_row;
        first_row += batch.num_rows();
        judge_batch(model, batch, start, &origin, format)
    };
    if pool.current_num_threads() == 1 {
        for batch in reader {
            let batch = batch?;
            consume(pool.install(|| judge(batch))?)?;
        }
        return Ok(());
    }
    std::thread::scope(|scope| {
        let batches = read_ahead(scope, reader);
        let (judged_sender, judged) = sync_channel(IN_FLIGHT);
        scope.spawn(move || {
            for batch in batches {
                let judged = batch.map_err(Failure::from).and_then(|batch| pool.install(|| judge(batch)));
                let failed = judged.is_err();
                // A closed channel means that the writer gave up and has said why.
                if judged_sender.send(judged).is_err() || failed {
                    return;
                }
            }
        });
        judged.into_iter().try_for_each(|judged| consume(judged?))
    })
}

fn read_ahead<'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    reader: TableReader,
) -> Receiver<Result<RecordBatch, TableError>> {
    let (sender, receiver) = sync_channel(IN_FLIGHT);
    scope.spawn(move || {
        for batch in reader {
            let failed = batch.is_err();
            if sender.send(batch).is_err() || failed {
                return;
            }
        }
    });
    receiver
}

fn judge_batch(
    model: &Model,
    batch: RecordBatch,
    first_row: usize,
    origin: &str,
    format: Option<Format>,
) -> Result<Judged, Failure> {
    let findings = model.judge(&batch, first_row, origin, true)?;
    let reasons = match format {
        Some(format) => reasons(model.encoder(), &batch, first_row, origin, &findings, format)?,
        None => Vec::new(),
    };
    Ok(Judged { batch, first_row, findings, reasons })
}

/// The reasons of every row as the output format wants them: a line of text, or a JSON object.
pub(crate) fn reasons(
    encoder: &Encoder,
    batch: &RecordBatch,
    first_row: usize,
    origin: &str,
    findings: &Findings,
    format: Format,
) -> Result<Vec<Option<String>>, Failure> {
    let Some(cells) = &findings.cells else { return Ok(vec![None; batch.num_rows()]) };
    let explainer = Explainer::new(encoder, batch, first_row, origin).map_err(Error::from)?;
    let mut reasons = vec![None; batch.num_rows()];
    reasons.par_chunks_mut(REASON_ROWS).enumerate().try_for_each(
        |(chunk, reasons)| -> Result<(), Failure> {
            for (index, reason) in reasons.iter_mut().enumerate() {
                let row = chunk * REASON_ROWS + index;
                let mut text = String::with_capacity(160);
                if format == Format::JsonLines {
                    text = reasons_object(&explainer, row, cells.row(row))?;
                } else {
                    explainer.write_top(row, cells.row(row), TOP_REASONS, &mut text).map_err(Error::from)?;
                }
                *reason = Some(text);
            }
            Ok(())
        },
    )?;
    Ok(reasons)
}

/// The top reasons as a JSON object: column → figures, most noise first.
fn reasons_object(explainer: &Explainer<'_>, row: usize, cells: &[f64]) -> Result<String, Failure> {
    let mut text = String::from("{");
    for reason in explainer.top(row, cells, TOP_REASONS).map_err(Error::from)? {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&json(reason.column)?);
        text.push(':');
        text.push_str(&json(&reason)?);
    }
    text.push('}');
    Ok(text)
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::failed(format!("cannot write a reason: {error}")))
}
