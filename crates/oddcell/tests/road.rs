//! The one road: for every detector, rows judged in memory and rows streamed from a file get the same answers to the
//! bit.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use arrow_array::{RecordBatch, cast::AsArray};
use arrow_select::concat::concat_batches;
use oddcell::{
    Context, DetectorSpec, Error, Model, Seed, Table, demo,
    detect::{DETECTORS, Entry},
    judge::{
        COLUMNS, Collected, Judge, Judgement, LabelError, Labels, Observer, Only, Outcome, ReasonForm,
        Scorer, Sink, Spool, Stream, Truths, VERDICT,
    },
    model::{FitOptions, detect},
    table::{ReadOptions, TableReader},
    verdict::Rule,
};

const RULES: [Rule; 4] = [Rule::Alpha(0.2), Rule::Fdr(0.5), Rule::Top(7), Rule::Contamination(0.1)];

fn options(entry: &Entry) -> FitOptions {
    let mut spec = DetectorSpec::new(entry.name, None).unwrap();
    spec.shorten();
    if spec.params().contains_key("train_for") {
        spec.set_text("train_for", "3 steps").unwrap();
    }
    FitOptions::new(spec)
}

/// Orders as CSV, every fortieth with a spoiled cell.
fn csv(n_rows: usize, seed: u64) -> Vec<u8> {
    demo::orders(n_rows, n_rows / 40, Seed(seed)).csv.into_bytes()
}

/// The table with one more column of whole numbers; rows are counted from 1.
fn with_column(csv: Vec<u8>, name: &str, cell: impl Fn(usize) -> usize) -> Vec<u8> {
    let text = String::from_utf8(csv).unwrap();
    let lines = text.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},{name}"),
        _ => format!("{line},{}", cell(row)),
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

fn reader(csv: Vec<u8>, batch_rows: usize) -> TableReader {
    let options = ReadOptions { batch_rows, ..ReadOptions::default() };
    TableReader::from_bytes("orders", csv, &options).unwrap()
}

fn table(csv: Vec<u8>) -> Table {
    Table::from_reader(reader(csv, 2_048)).unwrap()
}

/// Everything that comes out of the road, numbers by their bits.
#[derive(Debug, PartialEq)]
struct Answers {
    scores: Vec<u64>,
    p_values: Vec<u64>,
    odd: Vec<bool>,
    reasons: Vec<Option<String>>,
    outcome: Outcome,
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn answers(
    judge: &dyn Judge,
    rule: Rule,
    spool: Spool,
    threads: usize,
    batches: impl Iterator<Item = Result<RecordBatch, oddcell::table::TableError>> + Send,
) -> Answers {
    let scorer = Scorer { reasons: Some(ReasonForm::Text), spool, ..Scorer::new(judge, rule) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut found = Collected::default();
    let outcome = pool.install(|| scorer.run("orders", batches, &mut [], Some(&mut found))).unwrap();
    let reasons = found.reasons().map(|reason| reason.map(str::to_owned)).collect();
    Answers { reasons, scores: bits(&found.scores), p_values: bits(&found.p_values), odd: found.odd, outcome }
}

#[test]
fn rows_streamed_and_rows_in_memory_get_the_same_answers_from_every_detector() {
    let new = csv(200, 2);
    for entry in DETECTORS {
        let model = Model::fit(&table(csv(120, 1)), &options(entry), &Context::silent(Seed(3))).unwrap();
        for rule in RULES {
            let whole = table(new.clone());
            let in_memory = answers(&model, rule, Spool::Memory, 1, whole.batches.iter().cloned().map(Ok));
            assert_eq!(in_memory.outcome.n_rows, 200, "{}", entry.name);
            let n_odd = in_memory.odd.iter().filter(|&&odd| odd).count();
            assert_eq!(in_memory.outcome.n_odd, n_odd, "{} {rule}", entry.name);
            for (batch_rows, threads) in [(1, 2), (64, 3)] {
                let streamed = answers(&model, rule, Spool::Disk, threads, reader(new.clone(), batch_rows));
                assert_eq!(streamed, in_memory, "{} {rule}, batches of {batch_rows}", entry.name);
            }
        }
    }
}

#[test] // 5,000 rows are judged in pieces of 2,048.
fn a_large_batch_is_judged_like_many_small_ones() {
    let (model, rows) = (knn(), csv(5_000, 2));
    let batches = [concat_batches(&table(rows.clone()).schema(), &table(rows.clone()).batches).unwrap()];
    for rule in RULES {
        let whole = answers(&model, rule, Spool::Memory, 2, batches.iter().cloned().map(Ok));
        assert_eq!(whole.outcome.n_rows, 5_000);
        assert_eq!(whole, answers(&model, rule, Spool::Disk, 2, reader(rows.clone(), 64)), "{rule}");
    }
    let mut seen = Seen::default();
    let scorer = Scorer::new(&model, Rule::Top(3));
    scorer.run("orders", batches.into_iter().map(Ok), &mut [&mut seen], None).unwrap();
    assert_eq!(seen.0, (0..5_000).collect::<Vec<_>>());
}

/// The rows in batches of these lengths.
fn cut(rows: &RecordBatch, lengths: &[usize]) -> Vec<RecordBatch> {
    assert_eq!(lengths.iter().sum::<usize>(), rows.num_rows());
    let ends = lengths.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length)));
    ends.zip(lengths).map(|(start, &length)| rows.slice(start, length)).collect()
}

#[test]
fn a_stream_gives_each_batch_at_once_or_at_the_end_and_the_answers_of_the_whole_table() {
    let (model, table) = (knn(), table(csv(3_000, 2)));
    let rows = concat_batches(&table.schema(), &table.batches).unwrap();
    for (rule, waits) in RULES.into_iter().zip([false, true, true, false]) {
        let scorer = Scorer { reasons: Some(ReasonForm::Text), ..Scorer::new(&model, rule) };
        let (whole, of_whole) = scorer.collect("orders", &table.batches, &mut []).unwrap();
        for lengths in [&[3_000][..], &[1, 2_500, 499], &[0, 700, 0, 2_300, 0]] {
            for (spool, findings_only) in [(Spool::Memory, false), (Spool::Disk, false), (Spool::Disk, true)]
            {
                let scorer = Scorer { spool, findings_only, ..scorer };
                let mut stream = Stream::new(&scorer, "orders").unwrap();
                assert_eq!(stream.waits(), waits);
                let (mut judged, mut n_rows): (Vec<RecordBatch>, _) = (Vec::new(), 0);
                for batch in cut(&rows, lengths) {
                    n_rows += if waits { 0 } else { batch.num_rows() };
                    scorer.push(&mut stream, [Ok(batch)].into_iter(), &mut [], Some(&mut judged)).unwrap();
                    assert_eq!(judged.iter().map(RecordBatch::num_rows).sum::<usize>(), n_rows, "{rule}");
                }
                let (outcome, waited) = stream.finish().unwrap();
                let mut found = Collected::default();
                for batch in judged.into_iter().map(Ok).chain(waited) {
                    let batch = batch.unwrap();
                    let own = if findings_only { 0 } else { rows.num_columns() };
                    assert_eq!(batch.num_columns(), own + COLUMNS.len());
                    found.put(batch).unwrap();
                }
                assert_eq!(outcome, of_whole, "{rule} {lengths:?}");
                assert_eq!(bits(&found.scores), bits(&whole.scores), "{rule} {lengths:?}");
                assert_eq!(bits(&found.p_values), bits(&whole.p_values), "{rule} {lengths:?}");
                assert_eq!(found.odd, whole.odd, "{rule} {lengths:?}");
                assert!(found.reasons().eq(whole.reasons()), "{rule} {lengths:?}");
            }
        }
    }
}

#[test] // Rows 1 to 40 and 41 to 80 are readable. The last column is not judged, so it may change.
fn a_stream_counts_rows_over_all_batches_and_refuses_other_columns_only_if_they_must_wait() {
    let model = knn();
    let push = |scorer: &Scorer<'_>, tables: &[Vec<u8>]| {
        let mut stream = Stream::new(scorer, "orders")?;
        for csv in tables {
            let batches = reader(csv.clone(), 64);
            scorer.push(&mut stream, batches, &mut [], Some(&mut Collected::default()))?;
        }
        Ok::<_, Error>(())
    };
    let top = Scorer { spool: Spool::Disk, ..Scorer::new(&model, Rule::Top(3)) };
    let mixed = ["note", "remark"].map(|name| with_column(csv(40, 2), name, |_| 7));
    let error = push(&top, &mixed).unwrap_err().to_string();
    assert!(error.contains("the columns of the batches differ"), "{error}");
    push(&Scorer { findings_only: true, ..top }, &mixed).unwrap();
    let truth = Scorer { truths: Truths::Column("note"), ..top };
    let error = push(&truth, &[1, 0, 2].map(|cell| with_column(csv(40, 2), "note", |_| cell)))
        .unwrap_err()
        .to_string();
    assert!(error.contains("row 81, label column `note`"), "{error}");
}

#[test]
fn a_detection_and_truths_of_another_table_are_refused() {
    let spec = DetectorSpec::new("knn", None).unwrap();
    let detection = detect(&table(csv(60, 1)), &FitOptions::new(spec), &Context::silent(Seed(1))).unwrap();
    let longer = Scorer::new(&detection, Rule::Top(3)).run("orders", reader(csv(61, 1), 64), &mut [], None);
    assert_eq!(
        longer.unwrap_err().to_string(),
        "the detection knows 60 rows of its own table, but was asked about row 61"
    );
    let scorer = Scorer { truths: Truths::Known(&[true; 10]), ..Scorer::new(&detection, Rule::Top(3)) };
    let error = scorer.run("orders", reader(csv(60, 1), 64), &mut [], None).unwrap_err();
    assert_eq!(error.to_string(), "there are truths for 10 rows, but the table has at least 60");
}

#[test]
fn a_table_judged_by_itself_gets_the_same_answers_in_any_batches() {
    let orders = csv(150, 1);
    let spec = DetectorSpec::new("knn", None).unwrap();
    let detection =
        detect(&table(orders.clone()), &FitOptions::new(spec), &Context::silent(Seed(1))).unwrap();
    for rule in RULES {
        let whole = answers(&detection, rule, Spool::Memory, 1, reader(orders.clone(), 2_048));
        assert_eq!(whole.scores, bits(&detection.findings.scores));
        assert_eq!(whole, answers(&detection, rule, Spool::Disk, 3, reader(orders.clone(), 7)));
    }
}

fn knn() -> Model {
    let spec = DetectorSpec::new("knn", None).unwrap();
    Model::fit(&table(csv(120, 1)), &FitOptions::new(spec), &Context::silent(Seed(3))).unwrap()
}

#[test]
fn only_the_wanted_rows_reach_the_sink_and_all_are_counted() {
    let model = knn();
    for rule in [Rule::Top(7), Rule::Alpha(0.2)] {
        let rows = |only| {
            let mut sink: Vec<RecordBatch> = Vec::new();
            let scorer = Scorer { only, ..Scorer::new(&model, rule) };
            let outcome = scorer.run("orders", reader(csv(90, 2), 40), &mut [], Some(&mut sink)).unwrap();
            let verdicts =
                sink.iter().map(|batch| batch.column_by_name(VERDICT).unwrap().as_boolean().clone());
            (
                outcome.n_odd,
                verdicts.flat_map(|odd| odd.values().iter().collect::<Vec<_>>()).collect::<Vec<bool>>(),
            )
        };
        let (n_odd, all) = rows(None);
        let (of_odd, odd) = rows(Some(Only::Odd));
        let (of_normal, normal) = rows(Some(Only::Normal));
        assert_eq!((all.len(), of_odd, of_normal), (90, n_odd, n_odd));
        assert_eq!((odd, normal), (vec![true; n_odd], vec![false; 90 - n_odd]));
    }
}

#[test]
fn without_a_sink_the_odd_rows_are_counted_all_the_same() {
    let model = knn();
    for rule in RULES {
        let count = |sink: Option<&mut dyn Sink>| {
            Scorer::new(&model, rule).run("orders", reader(csv(90, 2), 40), &mut [], sink).unwrap()
        };
        assert_eq!(count(None), count(Some(&mut Vec::<RecordBatch>::new())), "{rule}");
    }
}

/// Remembers which rows it saw.
#[derive(Default)]
struct Seen(Vec<usize>);

impl Observer for Seen {
    fn observe(&mut self, _: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        self.0.extend(judgement.rows.first_row..judgement.rows.first_row + judgement.rows.n_rows());
        Ok(())
    }
}

#[test]
fn observers_see_every_row_once_and_in_order() {
    let model = knn();
    let mut seen = Seen::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let scorer = Scorer::new(&model, Rule::Top(3));
    pool.install(|| scorer.run("orders", reader(csv(500, 2), 9), &mut [&mut seen], None)).unwrap();
    assert_eq!(seen.0, (0..500).collect::<Vec<_>>());
}

#[test] // Scores and truths by hand: the truth of a row is whether its number is even.
fn labels_come_from_a_column_or_from_the_caller() {
    let model = knn();
    let labeled = with_column(csv(60, 2), "truth", |row| row % 2);
    let metrics = |truths| {
        let mut labels = Labels::default();
        let scorer = Scorer { truths, ..Scorer::new(&model, Rule::Top(3)) };
        scorer.run("orders", reader(labeled.clone(), 25), &mut [&mut labels], None)?;
        Ok::<_, Error>(labels.metrics())
    };
    let known: Vec<bool> = (1..=60).map(|row| row % 2 == 1).collect();
    let by_column = metrics(Truths::Column("truth")).unwrap();
    assert_eq!(by_column.map(|metrics| metrics.anomalies), Some(30));
    assert_eq!(metrics(Truths::Known(&known)).unwrap(), by_column);
    assert_eq!(metrics(Truths::Unknown).unwrap(), None);
    let learned = metrics(Truths::Column("quantity")).unwrap_err();
    assert!(matches!(learned, Error::Label(LabelError::Learned { .. })), "{learned}");
    let absent = metrics(Truths::Column("label")).unwrap_err().to_string();
    assert!(absent.contains("`label`") && absent.contains("`truth`"), "{absent}");
}
