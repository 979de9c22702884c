//! Cells on the road: streamed and in memory the same to the bit, and p-values that hold on clean tables.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use oddcell::{
    Context, DetectorSpec, Model, Seed, Table,
    cells::{CalledCell, CellOutcome, CellScorer, judge_table},
    demo,
    judge::{Judge, Spool},
    model::{FitOptions, detect},
    table::{ReadOptions, TableReader},
    verdict::Rule,
};

const RULES: [Rule; 3] = [Rule::Alpha(0.003), Rule::Fdr(0.2), Rule::Top(9)];

fn reader(csv: &str, batch_rows: usize) -> TableReader {
    let options = ReadOptions { batch_rows, ..ReadOptions::default() };
    TableReader::from_bytes("orders", csv.as_bytes().to_vec(), &options).unwrap()
}

fn table(csv: &str) -> Table {
    Table::from_reader(reader(csv, 2_048)).unwrap()
}

fn orders(n_rows: usize, spoiled: usize, seed: u64) -> String {
    demo::orders(n_rows, spoiled, Seed(seed)).csv
}

/// Called cells with all their numbers as bits.
type Called = Vec<(CalledCell, u64, u64)>;

fn run(
    judge: &dyn Judge,
    rule: Rule,
    spool: Spool,
    threads: usize,
    csv: &str,
    batch_rows: usize,
) -> (Called, CellOutcome) {
    let scorer = CellScorer { spool, ..CellScorer::new(judge, rule) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut called = Vec::new();
    let mut sink = |cells: Vec<CalledCell>| {
        called.extend(cells);
        Ok(())
    };
    let outcome = pool.install(|| scorer.run("orders", reader(csv, batch_rows), &mut [], &mut sink));
    let outcome = outcome.unwrap().unwrap();
    assert_eq!(outcome.n_odd, called.len());
    (with_bits(called), outcome)
}

fn with_bits(called: Vec<CalledCell>) -> Called {
    called
        .into_iter()
        .map(|cell| (cell.p_value.to_bits(), cell.surprise.to_bits(), cell))
        .map(|(p, s, cell)| (cell, p, s))
        .collect()
}

fn model(detector: &str, n_rows: usize) -> Model {
    let options = FitOptions::new(DetectorSpec::new(detector, None).unwrap());
    Model::fit(&table(&orders(n_rows, 0, 1)), &options, &Context::silent(Seed(3))).unwrap()
}

#[test] // 3,000 rows are judged in two pieces; `columns` judges cells itself, `ecod` has a second learner for them.
fn cells_streamed_and_cells_in_memory_are_the_same() {
    let new = orders(3_000, 60, 2);
    for (detector, n_rows) in [("columns", 1_200), ("ecod", 400)] {
        let model = model(detector, n_rows);
        for rule in RULES {
            let (in_memory, outcome) = run(&model, rule, Spool::Memory, 1, &new, 2_048);
            assert!(in_memory.len() >= 9, "{detector} {rule}: {}", in_memory.len());
            assert_eq!((outcome.n_rows, outcome.n_cells), (3_000, 3_000 * model.encoder().columns().len()));
            let rows: std::collections::BTreeSet<usize> =
                in_memory.iter().map(|(cell, ..)| cell.row).collect();
            assert_eq!(outcome.n_odd_rows, rows.len());
            assert!(in_memory.is_sorted_by_key(|(cell, ..)| cell.row));
            for (spool, threads, batch_rows) in
                [(Spool::Disk, 2, 2_048), (Spool::Disk, 3, 700), (Spool::Memory, 2, 1)]
            {
                let streamed = run(&model, rule, spool, threads, &new, batch_rows);
                assert!(
                    streamed == (in_memory.clone(), outcome.clone()),
                    "{detector} {rule}, batches of {batch_rows}"
                );
            }
            let judged = judge_table(&model, &table(&new), rule).unwrap().unwrap();
            assert_eq!(with_bits(judged.called), in_memory, "{detector} {rule}");
        }
    }
}

#[test]
fn cells_of_a_table_judged_by_itself_are_the_same_in_any_batches() {
    let csv = orders(600, 20, 4);
    let detection = detect(&table(&csv), &FitOptions::for_cells(), &Context::silent(Seed(3))).unwrap();
    for rule in RULES {
        let (in_memory, outcome) = run(&detection, rule, Spool::Memory, 1, &csv, 2_048);
        assert!(!in_memory.is_empty(), "{rule}");
        for (threads, batch_rows) in [(2, 2_048), (3, 77)] {
            let other = run(&detection, rule, Spool::Memory, threads, &csv, batch_rows);
            assert!(other == (in_memory.clone(), outcome.clone()), "{rule}, batches of {batch_rows}");
        }
        let judged = judge_table(&detection, &table(&csv), rule).unwrap().unwrap();
        assert_eq!(with_bits(judged.called), in_memory, "{rule}");
    }
}

#[test]
fn the_k_oddest_are_k_and_a_contamination_is_refused() {
    let (model, new) = (model("columns", 400), orders(300, 10, 2));
    for k in [1, 5, 100_000] {
        let (called, outcome) = run(&model, Rule::Top(k), Spool::Memory, 2, &new, 64);
        assert!(called.len() <= k && called.len() >= k.min(10), "{k}: {}", called.len());
        assert!(called.iter().all(|(cell, ..)| cell.row < outcome.n_rows));
    }
    let error = CellScorer::new(&model, Rule::Contamination(0.1))
        .collect("orders", &table(&new).batches)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameter `contamination` is 0.1, but must be left out: cells are called by alpha, fdr or top"
    );
}

#[test]
fn a_model_that_learned_nothing_about_cells_says_so() {
    let options = FitOptions { cells: false, ..FitOptions::new(DetectorSpec::new("ecod", None).unwrap()) };
    let model = Model::fit(&table(&orders(200, 0, 1)), &options, &Context::silent(Seed(3))).unwrap();
    let new = table(&orders(100, 5, 2));
    assert_eq!(CellScorer::new(&model, Rule::Alpha(0.1)).collect("orders", &new.batches).unwrap(), None);
}

// Clean rows judged by a model of clean rows, column by column: numbers, categories, dates, truth values. The held-out
// cells are a sample: n of them hold a share t up to √(t/n). Four of these errors are allowed, as 36 columns are looked at and
// small counts are skewed, but only one for the mean over the columns. Below 1/n, the tail is only measured: there it is five
// times the level, and two and a half times for the mean.
#[test]
fn p_values_of_clean_cells_hold_in_every_column() {
    for (detector, n_rows) in [("columns", 4_000), ("columns", 800), ("ecod", 1_500)] {
        let model = model(detector, n_rows);
        let n_held_out: f64 = if n_rows < 1_000 { n_rows as f64 } else { 0.2 * n_rows as f64 };
        let new = table(&orders(8_000, 0, 7));
        let names: Vec<&str> =
            model.encoder().columns().iter().map(oddcell::encode::EncodedColumn::name).collect();
        let mut p_values: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        for rows in new.rows() {
            let numbers: Vec<usize> = (rows.first_row..rows.first_row + rows.n_rows()).collect();
            let found = model.cells(&numbers, &model.encode(&rows).unwrap().matrix).unwrap().unwrap();
            for row in found.p_values.rows() {
                p_values.iter_mut().zip(row).for_each(|(column, &p)| column.push(p));
            }
        }
        for level in [0.1, 0.01, 0.001] {
            let shares: Vec<f64> = p_values
                .iter()
                .map(|column| column.iter().filter(|&&p| p <= level).count() as f64 / column.len() as f64)
                .collect();
            let error = (level / n_held_out).sqrt() + (level / 8_000.0_f64).sqrt();
            let most = if level * n_held_out >= 1.0 { level + 4.0 * error } else { 5.0 * level };
            for (name, &share) in names.iter().zip(&shares) {
                assert!(
                    share <= most,
                    "{detector} on {n_rows} rows, {name}: P(p ≤ {level}) = {share}, more than {most}"
                );
            }
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            let most = if level * n_held_out >= 1.0 { level + error } else { 2.5 * level };
            assert!(mean <= most, "{detector} on {n_rows} rows: P(p ≤ {level}) = {mean} on average");
        }
    }
}
