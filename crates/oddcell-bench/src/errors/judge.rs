//! Our own verdict on the cells of a table, on the road of `oddcell cells`.

use oddcell::{
    Context, DetectorSpec, Error, Seed, Table,
    cells::judge_table,
    encode::Encoder,
    explain::{Unit, noise_by_column},
    model::{FitOptions, detect},
    table::{ReadOptions, Source},
    verdict::Rule,
};

use super::{Grid, Pair, Said};

/// Judges every cell of a dirty table. Columns that were left out have a score of 0.
pub(super) fn cells(pair: &Pair, grid: &Grid, seed: Seed) -> Result<Said, Error> {
    let table = Table::read(&Source::Path(pair.dirty.clone()), &ReadOptions::default())?;
    let detection = detect(&table, &FitOptions::for_cells(), &Context::silent(seed))?;
    let judged = judge_table(&detection, &table, Rule::FOR_ONE_TABLE)?;
    let Some(judged) = judged else { unreachable!("these options judge cells") };
    let (n_rows, n_columns) = (grid.n_rows(), grid.n_columns());
    let mut said = Said {
        scores: vec![0.0; n_rows * n_columns],
        called: Some(vec![false; n_rows * n_columns]),
        expected: vec![None; n_rows * n_columns],
    };
    let places = places(&detection.encoder, grid);
    for row in 0..n_rows.min(judged.findings.surprises.n_rows()) {
        for (at, place) in places.iter().enumerate() {
            if let Some(place) = place {
                said.scores[row * n_columns + place] = judged.findings.surprises.row(row)[at];
            }
        }
    }
    for cell in &judged.called {
        if let (Some(place), Some(called)) = (places[cell.column], &mut said.called) {
            called[cell.row * n_columns + place] = true;
            said.expected[cell.row * n_columns + place] =
                cell.expected.as_ref().map(|expected| expected.value.clone());
        }
    }
    Ok(said)
}

/// The cells of `ecod`, column by column.
pub(super) fn ecod(pair: &Pair, grid: &Grid) -> Result<Said, Error> {
    let table = Table::read(&Source::Path(pair.dirty.clone()), &ReadOptions::default())?;
    let options = FitOptions { cells: false, ..FitOptions::new(DetectorSpec::new("ecod", None)?) };
    let detection = detect(&table, &options, &Context::silent(Seed(0)))?;
    let cells = detection.findings.cells.as_ref().expect("ecod knows cells");
    let surprises = noise_by_column(&detection.encoder, cells, Unit::StandardDeviations);
    let n_columns = grid.n_columns();
    let mut scores = vec![0.0; grid.n_rows() * n_columns];
    for (row, said) in surprises.rows().enumerate().take(grid.n_rows()) {
        for (place, surprise) in places(&detection.encoder, grid).iter().zip(said) {
            if let Some(place) = place {
                scores[row * n_columns + place] = *surprise;
            }
        }
    }
    Ok(Said::of_scores(scores))
}

/// The positions in the file of the encoder's columns.
fn places(encoder: &Encoder, grid: &Grid) -> Vec<Option<usize>> {
    let columns = encoder.columns().iter();
    columns.map(|column| grid.names.iter().position(|name| name == column.name())).collect()
}
