//! Every cell judged: a p-value each, and a verdict over all of them.
//!
//! *How:* the oddest cell of a row is replaced by what is expected there, and the other cells are judged anew, as they look
//! beside it; then the oddest of them, and so on. A cell's p-value is the higher one of those before and after: a cell that is
//! odd only beside a wrong one is not odd. The rule then decides over the cells of all rows.

use super::{
    CellFindings, Expected,
    expected::Idea,
    stream::{Oddness, bound_of_top},
};
use crate::{
    Error, Matrix, Table,
    calibrate::Calibration,
    encode::{CellValue, Encoded, Encoder, ReadRows},
    judge::Judge,
    kinds::cell_text,
    table::Rows,
    verdict::{Rule, verdicts},
};

/// Rows judged at a time.
const PIECE_ROWS: usize = 2_048;
/// The most cells of a row that are replaced.
const MOST_CELLS: usize = 8;

/// A cell that is called odd.
#[derive(Debug, Clone, PartialEq)]
pub struct CalledCell {
    /// The row, counted from 0.
    pub row: usize,
    /// The column, as a position in [`Encoder::columns`](crate::encode::Encoder::columns).
    pub column: usize,
    /// The cell as it is; `None` if it is empty.
    pub value: Option<String>,
    /// How odd it is, as a surprise.
    pub surprise: f64,
    /// The share of normal cells of its column that are at least as odd.
    pub p_value: f64,
    /// What should stand there, if anything can be said.
    pub expected: Option<Expected>,
    /// What is odd about it, in a sentence.
    pub reason: String,
}

impl CalledCell {
    /// What is odd about the cell, and what should stand there. `encoder` is that of the judge that called it.
    #[must_use]
    pub fn told(&self, encoder: &Encoder) -> String {
        let kind = encoder.columns()[self.column].kind();
        match &self.expected {
            Some(expected) if !self.reason.contains(&format!("`{}`", expected.value)) => {
                format!("{}; {}", self.reason, expected.told(kind))
            }
            _ => self.reason.clone(),
        }
    }
}

/// All cells of a table, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedCells {
    /// How odd each cell is, rows × columns of the encoder.
    pub findings: CellFindings,
    /// Those that the rule calls odd, row by row, the oddest of a row first.
    pub called: Vec<CalledCell>,
}

/// The cells of some rows that a rule may call, and how odd all of them are.
pub(crate) struct Piece {
    pub(crate) findings: CellFindings,
    pub(crate) candidates: Vec<CalledCell>,
}

/// Judges all cells of a table in memory; `None` if `judge` does not judge cells.
pub fn judge_table(judge: &dyn Judge, table: &Table, rule: Rule) -> Result<Option<JudgedCells>, Error> {
    let n_columns = judge.encoder().columns().len();
    let most_p = match rule {
        Rule::Top(k) => match as_they_stand(judge, table)? {
            Some(p_values) => bound_of_top(k, &p_values),
            None => return Ok(None),
        },
        _ => most_p(rule),
    };
    let (mut surprises, mut p_values, mut candidates) = (Vec::new(), Vec::new(), Vec::new());
    for rows in table.rows() {
        for start in (0..rows.n_rows()).step_by(PIECE_ROWS) {
            let piece = rows.slice(start, PIECE_ROWS.min(rows.n_rows() - start));
            let numbers: Vec<usize> = (piece.first_row..piece.first_row + piece.n_rows()).collect();
            let Some(piece) = judge_piece(judge, &piece, &numbers, most_p)? else { return Ok(None) };
            surprises.extend_from_slice(piece.findings.surprises.values());
            p_values.extend_from_slice(piece.findings.p_values.values());
            candidates.extend(piece.candidates);
        }
    }
    let n_rows = surprises.len() / n_columns;
    if let Rule::Top(k) = rule {
        candidates.sort_by_key(Oddness::of);
        candidates.truncate(k);
        candidates.sort_by_key(|cell: &CalledCell| cell.row);
    }
    let called = if let Rule::Top(_) = rule {
        candidates
    } else {
        let reference = Calibration::conformal(surprises.clone());
        let odd = verdicts(rule, &surprises, &p_values, &reference);
        candidates.into_iter().filter(|cell| odd[cell.row * n_columns + cell.column]).collect()
    };
    let findings = CellFindings {
        surprises: Matrix::new(surprises, n_rows, n_columns),
        p_values: Matrix::new(p_values, n_rows, n_columns),
    };
    Ok(Some(JudgedCells { findings, called }))
}

/// The highest p-value that a rule may call.
pub(crate) fn most_p(rule: Rule) -> f64 {
    match rule {
        Rule::Alpha(level) | Rule::Fdr(level) => level,
        Rule::Top(_) | Rule::Contamination(_) => 1.0,
    }
}

/// The p-values of all cells as they stand.
fn as_they_stand(judge: &dyn Judge, table: &Table) -> Result<Option<Vec<f64>>, Error> {
    let mut p_values = Vec::new();
    for rows in table.rows() {
        let numbers: Vec<usize> = (rows.first_row..rows.first_row + rows.n_rows()).collect();
        let Some(found) = judge.cells(&numbers, &judge.encode(&rows)?.matrix)? else { return Ok(None) };
        p_values.extend_from_slice(found.p_values.values());
    }
    Ok(Some(p_values))
}

/// Judges the cells of some rows, which have these numbers in the table. Candidates have a p-value of at most `most_p`.
pub(crate) fn judge_piece(
    judge: &dyn Judge,
    rows: &Rows,
    numbers: &[usize],
    most_p: f64,
) -> Result<Option<Piece>, Error> {
    let Encoded { matrix: features, columns: arrays, .. } = judge.encode(rows)?;
    let Some(mut findings) = judge.cells(numbers, &features)? else { return Ok(None) };
    let encoder = judge.encoder();
    let oddest = |findings: &CellFindings, row: usize, done: &[(usize, CellValue)]| {
        let p_values = findings.p_values.row(row);
        let open = (0..p_values.len()).filter(|at| done.iter().all(|(column, _)| column != at));
        let best = open.min_by(|&a, &b| {
            let surprises = findings.surprises.row(row);
            p_values[a].total_cmp(&p_values[b]).then(surprises[b].total_cmp(&surprises[a])).then(a.cmp(&b))
        });
        best.filter(|&column| p_values[column] <= most_p)
    };
    let mut patients: Vec<(usize, Vec<(usize, CellValue)>)> = (0..rows.n_rows())
        .filter(|&row| oddest(&findings, row, &[]).is_some())
        .map(|row| (row, Vec::new()))
        .collect();
    let mut candidates: Vec<CalledCell> = Vec::new();
    if patients.is_empty() {
        return Ok(Some(Piece { findings, candidates }));
    }
    let read = encoder.read_rows(rows, &arrays)?;
    let told = {
        let chosen: Vec<usize> = patients.iter().map(|&(row, _)| row).collect();
        let own: Vec<usize> = chosen.iter().map(|&row| numbers[row]).collect();
        let features = features.take(&chosen);
        (chosen, judge.cell_features(&own, &features)?)
    };
    let explainer =
        crate::explain::Explainer::new(encoder, crate::detect::CellUnit::SurpriseInContext, rows, &arrays);
    let mut current: Vec<Vec<f64>> = patients.iter().map(|&(row, _)| features.row(row).to_vec()).collect();
    for _ in 0..MOST_CELLS {
        let mut next = Vec::new();
        for ((row, mut done), now) in patients.into_iter().zip(&current) {
            let Some(column) = oddest(&findings, row, &done) else { continue };
            let Some(expects) = judge.expects(numbers[row]) else { return Ok(None) };
            let text = cell_text(&arrays[column], row);
            let value = read.value(row, column);
            let idea = Idea::of(encoder, expects, now, column, value.as_ref(), text.as_deref());
            let at = told.0.binary_search(&row).expect("it was looked at");
            let reason = match &told.1 {
                Some(cells) => explainer.reason(row, column, cells.row(at))?.to_string(),
                None => String::new(),
            };
            candidates.push(CalledCell {
                row: numbers[row],
                column,
                value: text,
                surprise: findings.surprises.row(row)[column],
                p_value: findings.p_values.row(row)[column],
                expected: idea.expected,
                reason,
            });
            done.push((column, idea.value));
            next.push((row, done));
        }
        if next.is_empty() {
            patients = Vec::new();
            break;
        }
        let again = judge_changed(judge, &read, numbers, &next)?;
        for (at, (row, done)) in next.iter().enumerate() {
            let (new, old) = (again.1.p_values.row(at), findings.p_values.row_mut(*row));
            let surprises = findings.surprises.row_mut(*row);
            for column in 0..new.len() {
                let is_open = done.iter().all(|(changed, _)| *changed != column);
                if is_open && new[column] > old[column] {
                    old[column] = new[column];
                    surprises[column] = surprises[column].min(again.1.surprises.row(at)[column]);
                }
            }
        }
        current = again.0.rows().map(<[f64]>::to_vec).collect();
        patients = next;
    }
    drop(patients);
    candidates.sort_by(|a, b| {
        a.row.cmp(&b.row).then(a.p_value.total_cmp(&b.p_value)).then(b.surprise.total_cmp(&a.surprise))
    });
    Ok(Some(Piece { findings, candidates }))
}

/// The features of rows with other cells, and how odd their cells are then.
fn judge_changed(
    judge: &dyn Judge,
    read: &ReadRows,
    numbers: &[usize],
    rows: &[(usize, Vec<(usize, CellValue)>)],
) -> Result<(Matrix, CellFindings), Error> {
    let chosen: Vec<usize> = rows.iter().map(|&(row, _)| row).collect();
    let changes: Vec<_> = rows.iter().map(|(_, changes)| changes.clone()).collect();
    let (features, _) = judge.encoder().features_of(&read.pick(&chosen, &changes), true);
    let own: Vec<usize> = chosen.iter().map(|&row| numbers[row]).collect();
    let found = judge.rejudge_cells(&own, &features)?;
    Ok((features, found))
}
