//! Rows through a model, batch by batch, on as many threads as there are: one reads ahead, the pool judges whole batches
//! side by side, and they come out in order. At most a few batches are in flight, so memory does not grow with the table.

use std::{
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use arrow_array::{RecordBatch, StringArray, builder::StringBuilder};
use oddcell::{
    Error, Model,
    encode::Encoder,
    explain::Explainer,
    model::Findings,
    table::{Format, Note, TableReader},
};

use crate::{failure::Failure, output::Found};

/// Reasons given per row.
pub(crate) const TOP_REASONS: usize = 3;
/// Usual size of a row's reasons.
const REASON_BYTES: usize = 200;

/// A batch that was judged.
pub(crate) struct Judged {
    pub(crate) batch: RecordBatch,
    pub(crate) first_row: usize,
    pub(crate) findings: Findings,
    pub(crate) reasons: Option<StringArray>,
}

impl Judged {
    /// What goes into the output beside the input's columns.
    pub(crate) fn found(&mut self) -> Found {
        Found {
            scores: self.findings.scores.clone(),
            p_values: self.findings.p_values.clone(),
            reasons: self.reasons.take(),
        }
    }
}

/// Judges everything `reader` gives and hands it to `consume` in order. Gives what is worth telling about the input.
pub(crate) fn judge_all(
    model: &Model,
    mut reader: TableReader,
    format: Option<Format>,
    pool: &rayon::ThreadPool,
    mut consume: impl FnMut(Judged) -> Result<(), Failure>,
) -> Result<Vec<Note>, Failure> {
    let origin = reader.origin().to_owned();
    let judge = |batch, first_row| judge_batch(model, batch, first_row, &origin, format);
    let mut first_row = 0;
    let n_threads = pool.current_num_threads();
    if n_threads == 1 {
        for batch in reader.by_ref() {
            let batch = batch?;
            let start = first_row;
            first_row += batch.num_rows();
            consume(pool.install(|| judge(batch, start))?)?;
        }
        return Ok(reader.notes().to_vec());
    }
    let judge = &judge;
    pool.in_place_scope_fifo(|tasks| {
        thread::scope(|threads| {
            // The judged batches in order; as many may wait here as there are threads.
            let (queue, judged) = sync_channel::<Receiver<Result<Judged, Failure>>>(n_threads);
            let reading = threads.spawn(move || {
                for batch in reader.by_ref() {
                    let (sender, receiver) = sync_channel(1);
                    let failed = batch.is_err();
                    // Nobody listening, here or below, means that the writer gave up and has said why.
                    match batch {
                        Ok(batch) => {
                            let start = first_row;
                            first_row += batch.num_rows();
                            tasks.spawn_fifo(move |_| drop(sender.send(judge(batch, start))));
                        }
                        Err(error) => drop(sender.send(Err(error.into()))),
                    }
                    if queue.send(receiver).is_err() || failed {
                        break;
                    }
                }
                reader.notes().to_vec()
            });
            for batch in judged {
                consume(batch.recv().expect("every task answers")?)?;
            }
            Ok(reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    })
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
        None => None,
    };
    Ok(Judged { batch, first_row, findings, reasons })
}

/// The reasons of every row as the output format wants them: a line of text, or a JSON object. `None` if the detector
/// knows no cells.
pub(crate) fn reasons(
    encoder: &Encoder,
    batch: &RecordBatch,
    first_row: usize,
    origin: &str,
    findings: &Findings,
    format: Format,
) -> Result<Option<StringArray>, Failure> {
    let Some(cells) = &findings.cells else { return Ok(None) };
    let explainer = Explainer::new(encoder, batch, first_row, origin).map_err(Error::from)?;
    let n_rows = batch.num_rows();
    let mut reasons = StringBuilder::with_capacity(n_rows, n_rows * REASON_BYTES);
    for row in 0..n_rows {
        if format == Format::JsonLines {
            reasons.append_value(reasons_object(&explainer, row, cells.row(row))?);
        } else {
            explainer.write_top(row, cells.row(row), TOP_REASONS, &mut reasons).map_err(Error::from)?;
            // Ends the value that was written piece by piece.
            reasons.append_value("");
        }
    }
    Ok(Some(reasons.finish()))
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
