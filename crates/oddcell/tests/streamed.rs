//! Learning from a stream: tables that are read twice and learned from block by block.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod tables;

use oddcell::{
    Context, DetectorSpec, Error, Matrix, Model, Seed, Table,
    encode::Encoder,
    error::FitError,
    judge::Judge,
    model::{FitOptions, Streaming},
    table::{Format, ReadOptions, Rows, TableError, TableReader, TableWriter},
};
use tables::{batch, normal_rows, table};

const N_ROWS: usize = 2_000;

/// Blocks of at most half of this: a few hundred rows of 36 bytes.
const TINY: usize = 25_000;

fn options() -> FitOptions {
    let mut spec = DetectorSpec::new("noise", None).unwrap();
    spec.set_text("hidden", "16").unwrap();
    spec.set_text("train_for", "600 steps").unwrap();
    FitOptions::new(spec)
}

fn rows(n_rows: usize) -> Table {
    table(normal_rows(n_rows, &mut Seed(100).stream("rows", &[0])))
}

fn parquet(table: &Table) -> Vec<u8> {
    let mut writer = TableWriter::create("test", Vec::new(), Format::Parquet, &table.schema(), &[]).unwrap();
    table.batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap()
}

fn reader(bytes: &[u8], batch_rows: usize) -> Result<TableReader, TableError> {
    let options = ReadOptions { batch_rows, ..ReadOptions::default() };
    TableReader::from_bytes("rows", bytes.to_vec(), &options)
}

fn fit_as(
    first: &[u8],
    second: &[u8],
    memory: usize,
    batch_rows: usize,
    options: &FitOptions,
) -> Result<Model, Error> {
    let streaming = Streaming { memory };
    let sample = streaming.sample(reader(first, 256)?, Seed(7))?;
    let reopen = |_: &Encoder| reader(second, batch_rows);
    streaming.fit(&sample, reopen, options, &Context::silent(Seed(7)))
}

fn fit(memory: usize) -> Model {
    let bytes = parquet(&rows(N_ROWS));
    fit_as(&bytes, &bytes, memory, 256, &options()).unwrap()
}

#[test]
fn threads_and_batches_change_no_bit_and_memory_does() {
    let bytes = parquet(&rows(N_ROWS));
    let on = |threads: usize, memory, batch_rows| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit_as(&bytes, &bytes, memory, batch_rows, &options()).unwrap().to_bytes().unwrap())
    };
    assert_eq!(on(1, TINY, 256), on(2, TINY, 1_000));
    assert_ne!(on(1, TINY, 256), on(1, 2 * TINY, 256));
}

#[test]
fn a_model_learned_in_many_blocks_is_as_good_as_one_learned_in_memory() {
    let whole = Model::fit(&rows(N_ROWS), &options(), &Context::silent(Seed(7))).unwrap();
    let streamed = fit(TINY);
    // All rows fit into the sample here.
    assert_eq!(streamed.encoder(), whole.encoder());
    let member = &streamed.members()[0];
    assert_eq!((streamed.members().len(), member.calibration.len()), (1, 400));
    assert_eq!((member.n_training_rows, streamed.n_rows()), (1_600, 2_000));

    // Of 2,000 fresh normal rows 10 % ± 0.7 % have a p-value of at most 0.1, and the 400 calibration rows that it comes
    // from scatter by another 1.5 %.
    let fresh = batch(normal_rows(2_000, &mut Seed(100).stream("rows", &[1])));
    let share = |model: &Model| {
        let p_values = model.judge(Rows::new(fresh.clone(), 0, "fresh")).unwrap().findings.p_values;
        p_values.iter().filter(|&&p| p <= 0.1).count() as f64 / 2_000.0
    };
    assert!((0.05..0.15).contains(&share(&streamed)), "{}", share(&streamed));

    // Far out in one feature, other features normal.
    let n_features = streamed.encoder().n_features();
    let mut odd = Matrix::zeros(2, n_features);
    odd.row_mut(1)[0] = 6.0;
    let scores = |model: &Model| model.members()[0].fitted.score(&odd).unwrap();
    assert!(scores(&streamed)[1] > 3.0 * scores(&streamed)[0], "{:?}", scores(&streamed));
    let ratio = scores(&streamed)[1] / scores(&whole)[1];
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
}

#[test]
fn a_streamed_model_can_be_saved_and_loaded() {
    let model = fit(TINY);
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.n_rows(), 2_000);
    assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap());
}

#[test]
fn what_cannot_be_streamed_is_told() {
    let bytes = parquet(&rows(N_ROWS));
    let message = |outcome: Result<Model, Error>| outcome.unwrap_err().to_string();
    let knn = FitOptions::new(DetectorSpec::new("knn", None).unwrap());
    assert!(matches!(Streaming::check(&knn), Err(Error::Fit(FitError::NotStreamed { detector: "knn", .. }))));
    assert_eq!(
        message(fit_as(&bytes, &bytes, TINY, 256, &knn)),
        "knn cannot learn from a stream: it needs all rows in memory at once"
    );
    let mut twice = options();
    twice.detector.set_text("trust", "0.5").unwrap();
    assert_eq!(
        message(fit_as(&bytes, &bytes, TINY, 256, &twice)),
        "noise cannot learn from a stream: with `trust` below 1 it needs all rows in memory at once"
    );
    // One of two rows is held out.
    let two = parquet(&rows(2));
    assert_eq!(
        message(fit_as(&two, &two, TINY, 256, &options())),
        "noise needs at least 2 rows to learn from, but got 1"
    );
    // 1,600 rows in 1,024 blocks are 2 rows a block, of 8 numbers and a place in the order: 2 · 2 · 36 bytes.
    assert_eq!(
        message(fit_as(&bytes, &bytes, 60, 256, &options())),
        "60 bytes of memory are too little to learn from 1,600 rows; at least 400 bytes are needed"
    );
    for (n_rows, then) in [(N_ROWS - 1, "fewer"), (N_ROWS + 1, "more")] {
        let changed = parquet(&rows(n_rows));
        assert_eq!(
            message(fit_as(&bytes, &changed, TINY, 256, &options())),
            format!("the table changed while it was read: at first it had 2,000 rows, then {then}")
        );
    }
}
