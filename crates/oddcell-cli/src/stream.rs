//! Rows through a model, batch by batch, on as many threads as there are: one reads ahead, the pool judges whole batches
//! side by side, and they come out in order. At most a few batches are in flight, so memory does not grow with the table.

use std::{
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use arrow_array::{RecordBatch, StringArray};
use oddcell::{
    Model,
    judged::{self, Found},
    model::Findings,
    table::{Format, Note, Rows, TableReader},
};

use crate::{
    failure::Failure,
    timings::{Part, Timings},
};

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
    timings: &Timings,
    mut consume: impl FnMut(Judged) -> Result<(), Failure>,
) -> Result<Vec<Note>, Failure> {
    let origin = reader.origin().to_owned();
    let judge = |batch, first_row| judge_batch(model, batch, first_row, &origin, format, timings);
    let mut first_row = 0;
    let n_threads = pool.current_num_threads();
    if n_threads == 1 {
        while let Some(batch) = timings.time(Part::Reading, || reader.next()) {
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
                while let Some(batch) = timings.time(Part::Reading, || reader.next()) {
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
    timings: &Timings,
) -> Result<Judged, Failure> {
    let rows = Rows::new(batch.clone(), first_row, origin);
    let encoded = timings.time(Part::Encoding, || model.encoder().encode(&rows))?;
    let findings = timings.time(Part::Judging, || model.judge_encoded(encoded, true))?;
    let reasons = |format| judged::reasons(model.encoder(), &batch, first_row, origin, &findings, format);
    let reasons = match format {
        Some(format) => timings.time(Part::Reasons, || reasons(format))?,
        None => None,
    };
    Ok(Judged { batch, first_row, findings, reasons })
}
