//! Learns from a table that does not fit into memory.
//!
//! *How:* we read the table twice. The first pass counts the rows and keeps a random sample; the encoder learns from
//! the sample as if it were all rows. The second pass encodes every row and deals it at random to the held-out rows or
//! to a block in a temporary file ([`super::spill`]). If training is too short to reach all rows, the rows it will not
//! reach are left out. Training then visits block after block, in a new order each epoch.
//!
//! *Memory:* a block takes at most half of it; the sample, the encoded rows in flight and the file buffers take an
//! eighth each. The table reader has the rest. What is learned, net and kept rows, does not count.
//!
//! *Invariants:* same table, options, seed and memory give the same bits on any number of threads · no row is both held
//! out and trained on. A different memory limit gives different blocks, and so a different but equally good model.

use rayon::prelude::*;

use super::{
    FitOptions, Member, Model, crossfit, encode_all,
    spill::{Dealer, Spilled},
};
use crate::{
    Context, Detector, Error, Fitted, Seed,
    calibrate::Calibration,
    cells::{CellLearner, judges_cells, learner_spec},
    detect::BlockDetector,
    encode::Encoder,
    error::FitError,
    net::gemm::padded,
    table::{Rows, Sample, TableError, TableReader},
};

/// The most blocks. More would be too small to learn from and slow to write.
const MOST_BLOCKS: usize = 1_024;

/// Learns within a memory limit.
#[derive(Debug, Clone, Copy)]
pub struct Streaming {
    /// Bytes for the rows of the table.
    pub memory: usize,
}

impl Streaming {
    /// The default memory: 512 MB.
    pub const MEMORY: usize = 512_000_000;

    /// Checks that the detector can learn from a stream, before a large table is read.
    #[doc(hidden)]
    pub fn check(options: &FitOptions) -> Result<(), Error> {
        in_blocks(&*options.detector.build()?, options)?;
        Ok(())
    }

    /// The first pass over the table.
    pub fn sample(self, reader: TableReader, seed: Seed) -> Result<Sample, TableError> {
        // A sample exists twice while it shrinks.
        Sample::read(reader, self.memory / 16, seed)
    }

    /// Learns what is normal from the table that `sample` was drawn from; `reopen` opens it for the second pass. The
    /// model has one member, calibrated on held-out rows.
    pub fn fit(
        self,
        sample: &Sample,
        reopen: impl FnOnce(&Encoder) -> Result<TableReader, TableError>,
        options: &FitOptions,
        context: &Context<'_>,
    ) -> Result<Model, Error> {
        options.validate()?;
        let options = &FitOptions { detector: options.detector.of_stream(), ..options.clone() };
        let detector = options.detector.build()?;
        let learner = in_blocks(&*detector, options)?;
        let n_rows = crossfit::enough_rows(sample.n_rows, options)?;
        let (row_numbers, label) = (Some(&sample.row_numbers[..]), options.label.as_deref());
        let encoder = Encoder::fit_sample(&sample.table, row_numbers, &options.encode_options()?, label)?;
        let n_held_out = crossfit::n_held_out(n_rows, options);
        let n_training_rows = n_rows - n_held_out;
        let blocks = self.blocks(learner.rows_needed(n_training_rows), encoder.n_features())?;
        let sizes = [&[n_held_out], &blocks[..]].concat();
        let spilled = self.spill(reopen(&encoder)?, &encoder, n_rows, &sizes, context)?;
        let fitted = learner.fit_blocks(&spilled, context)?;
        let mut scores = Vec::new();
        for rows in spilled.held_out() {
            scores.extend(fitted.score(&rows.map_err(FitError::from)?)?);
        }
        let calibration = Calibration::conformal(scores);
        let cells = Self::learn_cells(&spilled, &*fitted, &encoder, sample, options, context)?;
        let members = vec![Member { fitted, calibration, n_training_rows, cells }];
        let options =
            &FitOptions { detector: options.detector.of_table(encoder.is_mixed()), ..options.clone() };
        Ok(Model::of(encoder, members, options, context.seed))
    }

    /// Learns from the sample what judges cells, and remembers how odd those of the held-out rows are.
    fn learn_cells(
        spilled: &Spilled,
        fitted: &dyn Fitted,
        encoder: &Encoder,
        sample: &Sample,
        options: &FitOptions,
        context: &Context<'_>,
    ) -> Result<Option<CellLearner>, Error> {
        let wanted = options.cells && judges_cells(&options.detector, encoder.n_features());
        let Some(spec) = learner_spec(&options.detector, encoder.n_features())?.filter(|_| wanted) else {
            return Ok(None);
        };
        let (train, _) = encode_all(encoder, &sample.table)?;
        let Some(held_out) = spilled.held_out().next() else { return Ok(None) };
        let held_out = held_out.map_err(FitError::from)?.with_layout(encoder.layout());
        Ok(Some(CellLearner::fit(Some(&spec), fitted, &train, &held_out, context)?))
    }

    /// The sizes of the blocks for `n_rows` rows; they differ by at most one row.
    fn blocks(self, n_rows: usize, n_features: usize) -> Result<Vec<usize>, FitError> {
        // In training a row is padded and also has an entry in the shuffled order.
        let row_bytes = padded(n_features) * size_of::<f32>() + size_of::<u32>();
        let most_rows = (self.memory / 2 / row_bytes).min(u32::MAX as usize);
        let n_blocks = n_rows.div_ceil(most_rows.max(1));
        if most_rows == 0 || n_blocks > MOST_BLOCKS {
            let needed = 2 * row_bytes * n_rows.div_ceil(MOST_BLOCKS);
            return Err(FitError::TooLittleMemory { got: self.memory, n_rows, needed });
        }
        let end = |block: usize| block * n_rows / n_blocks;
        Ok((0..n_blocks).map(|block| end(block + 1) - end(block)).collect())
    }

    /// Encodes all rows and deals them to parts of these sizes.
    fn spill(
        self,
        mut reader: TableReader,
        encoder: &Encoder,
        n_rows: usize,
        sizes: &[usize],
        context: &Context<'_>,
    ) -> Result<Spilled, Error> {
        let n_features = encoder.n_features();
        let mut dealer = Dealer::new([n_rows, n_features], sizes, self.memory / 8, context.seed)
            .map_err(FitError::from)?;
        let changed = |then| FitError::TableChanged { first: n_rows, then };
        let mut first_row = 0;
        loop {
            crate::context::go_on(context.monitor)?;
            let batches = self.some_batches(&mut reader, n_features, &mut first_row)?;
            if batches.is_empty() {
                break;
            }
            let encoded: Vec<_> = batches.par_iter().map(|rows| encoder.encode(rows)).collect();
            // In row order, so that the error of the first bad row is reported.
            for encoded in encoded {
                for row in encoded?.matrix.rows() {
                    if dealer.n_left() == 0 {
                        return Err(changed("more").into());
                    }
                    dealer.deal(row).map_err(FitError::from)?;
                }
            }
        }
        if dealer.n_left() > 0 {
            return Err(changed("fewer").into());
        }
        Ok(dealer.finish().map_err(FitError::from)?)
    }

    /// Reads some batches to encode in parallel.
    fn some_batches(
        self,
        reader: &mut TableReader,
        n_features: usize,
        first_row: &mut usize,
    ) -> Result<Vec<Rows>, TableError> {
        let mut batches = Vec::new();
        let mut bytes = 0;
        while batches.len() < 4 * rayon::current_num_threads() && bytes < self.memory / 16 {
            let Some(batch) = reader.next().transpose()? else { break };
            bytes += batch.num_rows() * n_features * size_of::<f64>();
            let rows = Rows::new(batch, *first_row, reader.origin());
            *first_row += rows.n_rows();
            batches.push(rows);
        }
        Ok(batches)
    }
}

fn in_blocks<'a>(
    detector: &'a dyn Detector,
    options: &FitOptions,
) -> Result<&'a dyn BlockDetector, FitError> {
    let name = options.detector.entry().name;
    detector.in_blocks().map_err(|reason| FitError::NotStreamed { detector: name, reason })
}
