//! Judging: any table and any detector give one finite score per row, or an error.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use oddcell::{
    Context, DetectorSpec, Model, Seed, Table,
    detect::DETECTORS,
    error::with_causes,
    judge::{Judge, ReasonForm, Scorer},
    model::{FitOptions, detect},
    verdict::Rule,
};

use super::{input::Input, readers::assert_plain};

/// The first byte chooses the detector; then come a table to learn from and one to judge.
pub fn judging(data: &[u8]) {
    let mut input = Input(data);
    let mut detector =
        DetectorSpec::new(DETECTORS[input.below(DETECTORS.len())].name, None).expect("on the list");
    detector.shorten();
    let mut options = FitOptions::new(detector);
    options.split.folds = 2;
    options.encode.keep_identifiers = input.below(2) == 1;
    options.encode.one_hot = input.below(4) == 1;
    let kinds: Vec<u8> = (0..=input.below(4)).map(|_| input.byte()).collect();
    let n_rows = 2 + input.below(40);
    let (Ok(good), Ok(new)) = (table(&mut input, &kinds, n_rows), table(&mut input, &kinds, 12)) else {
        return;
    };
    let context = Context::silent(Seed(u64::from(input.byte())));
    match Model::fit(&good, &options, &context) {
        Ok(model) => {
            check(&model, &new);
            let bytes = model.to_bytes().expect("a model can be saved");
            let again =
                Model::from_bytes(&bytes).unwrap_or_else(|error| panic!("our own model is refused: {error}"));
            assert_eq!(again.to_bytes().ok(), Some(bytes));
        }
        Err(error) => assert_plain(&with_causes(&error)),
    }
    match detect(&good, &options, &context) {
        Ok(detection) => check(&detection, &good),
        Err(error) => assert_plain(&with_causes(&error)),
    }
}

/// Checks every figure that is found in the rows of a table.
pub fn check(judge: &dyn Judge, table: &Table) {
    let scorer =
        Scorer { reasons: Some(ReasonForm::Json), cells: true, ..Scorer::new(judge, Rule::FOR_ONE_TABLE) };
    match scorer.collect("fuzzed", &table.batches, &mut []) {
        Ok((found, outcome)) => {
            assert_eq!((found.scores.len(), outcome.n_rows), (table.n_rows(), table.n_rows()));
            assert!(found.scores.iter().all(|score| score.is_finite()), "{:?}", found.scores);
            assert!(found.p_values.iter().all(|p| *p >= 0.0 && *p <= 1.0), "{:?}", found.p_values);
            for reasons in found.reasons().flatten() {
                assert!(serde_json::from_str::<serde_json::Value>(reasons).is_ok(), "{reasons}");
            }
        }
        Err(error) => assert_plain(&with_causes(&error)),
    }
}

/// A table with columns of these kinds.
fn table(input: &mut Input<'_>, kinds: &[u8], n_rows: usize) -> Result<Table, oddcell::table::TableError> {
    const NAMES: [&str; 8] = ["Oslo", "Bergen", "oslo", "Osl0", "", "\u{1b}[2J", "n/a", "ß"];
    let columns = kinds.iter().enumerate().map(|(index, kind)| {
        let cells = 0..n_rows;
        let column: ArrayRef = match kind % 6 {
            0 => {
                Arc::new(cells.map(|_| (input.byte() > 9).then(|| input.number())).collect::<Float64Array>())
            }
            1 => Arc::new(
                cells.map(|_| (input.byte() > 9).then(|| input.number() as i64)).collect::<Int64Array>(),
            ),
            2 => Arc::new(
                cells.map(|_| (input.byte() > 9).then(|| input.byte() & 1 == 1)).collect::<BooleanArray>(),
            ),
            3 => Arc::new(cells.map(|_| Some(input.of(&NAMES))).collect::<StringArray>()),
            4 => Arc::new(
                cells
                    .map(|_| {
                        Some(format!(
                            "20{:02}-{:02}-{:02} {:02}:00",
                            input.below(100),
                            1 + input.below(13),
                            1 + input.below(31),
                            input.below(24)
                        ))
                    })
                    .collect::<StringArray>(),
            ),
            _ => {
                let mut text = || {
                    let length = input.below(9);
                    String::from_utf8_lossy(input.bytes(length)).into_owned()
                };
                Arc::new(cells.map(|_| Some(text())).collect::<StringArray>())
            }
        };
        (format!("c{index}"), column)
    });
    let batch = RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).expect("columns of one length");
    Table::from_batches("fuzzed", vec![batch])
}
