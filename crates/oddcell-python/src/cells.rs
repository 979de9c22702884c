//! Every cell judged, and what should stand in it.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use oddcell::{
    Context, Error, Seed,
    cells::{
        CalledCell, Cure, Expected, JudgedCells, OddCell, Repaired, expected_table, judge_table, repaired,
    },
    encode::EncodedColumn,
    judge::{Judge, Judgement, Observer},
    table,
    verdict::Rule,
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    model::matrix,
    settings::{Learning, RuleChoice},
    table::{ORIGIN, Table},
    work,
};

/// Judges all cells of `table` by each other: the names of its judged `columns`, the p-values `p` of their cells, those that
/// the rule calls odd as `called`, and `notes` about the table.
#[pyfunction]
#[pyo3(signature = (table, learning, rule, progress=None))]
pub(crate) fn cells<'py>(
    py: Python<'py>,
    table: &Table,
    learning: Learning<'py>,
    rule: RuleChoice,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = learning.cell_options()?;
    let Learning { categorical, seed, .. } = learning;
    let rule = rule.rule(Rule::FOR_ONE_TABLE)?;
    let (found, notes) = work::run(py, progress, |monitor| {
        let table = table.to_learn_from(&categorical)?;
        let detection = oddcell::model::detect(&table, &options, &Context { seed: Seed(seed), monitor })?;
        let mut notes = table.all_notes();
        notes.extend(detection.encoder.reports().iter().map(ToString::to_string));
        let found = judged(&detection, &table, rule)?.expect("the options ask for cells");
        Ok((found, notes))
    })?;
    let found = found.into_dict(py)?;
    found.set_item("notes", notes)?;
    Ok(found)
}

/// What becomes of odd cells; a dict with these keys in Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CureChoice {
    sure: Option<f64>,
    blank: bool,
}

impl CureChoice {
    pub(crate) fn cure(&self) -> Cure {
        match (self.blank, self.sure) {
            (true, _) => Cure::Blank,
            (false, None) => Cure::DEPENDABLE,
            (false, Some(sure)) => Cure::Expected { sure },
        }
    }
}

/// Repairs the odd cells of `table`, judged by each other: the repaired `table`, the `changes`, and `notes` about the table.
#[pyfunction]
#[pyo3(signature = (table, learning, rule, cure, progress=None))]
pub(crate) fn repair<'py>(
    py: Python<'py>,
    table: &Table,
    learning: Learning<'py>,
    rule: RuleChoice,
    cure: CureChoice,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = learning.cell_options()?;
    let Learning { categorical, seed, .. } = learning;
    let rule = rule.rule(Rule::FOR_ONE_TABLE)?;
    let (done, notes) = work::run(py, progress, |monitor| {
        let learned = table.to_learn_from(&categorical)?;
        let detection = oddcell::model::detect(&learned, &options, &Context { seed: Seed(seed), monitor })?;
        let mut notes = learned.all_notes();
        notes.extend(detection.encoder.reports().iter().map(ToString::to_string));
        let done = cured(&detection, table, rule, cure.cure())?.expect("the options ask for cells");
        Ok((done, notes))
    })?;
    let done = repaired_dict(py, table, done)?;
    done.set_item("notes", notes)?;
    Ok(done)
}

/// Repairs the cells that `rule` calls; `None` if `judge` does not judge cells.
pub(crate) fn cured(
    judge: &dyn Judge,
    table: &Table,
    rule: Rule,
    cure: Cure,
) -> Result<Option<Repaired>, Error> {
    let Some(judged) = judge_table(judge, &table_of(table)?, rule)? else { return Ok(None) };
    Ok(Some(repaired(&table.batches, judge.encoder(), &judged.called, cure)?))
}

/// The repaired `table`, and the `changes` by part.
pub(crate) fn repaired_dict<'py>(
    py: Python<'py>,
    table: &Table,
    done: Repaired,
) -> PyResult<Bound<'py, PyDict>> {
    let Repaired { batches, changes, .. } = done;
    let list = PyDict::new(py);
    list.set_item("row", changes.iter().map(|change| change.row).collect::<Vec<_>>())?;
    list.set_item("column", changes.iter().map(|change| &*change.column).collect::<Vec<_>>())?;
    list.set_item("before", changes.iter().map(|change| change.before.as_deref()).collect::<Vec<_>>())?;
    list.set_item("after", changes.iter().map(|change| change.after.as_deref()).collect::<Vec<_>>())?;
    list.set_item("p", changes.iter().map(|change| change.p_value).collect::<Vec<_>>())?;
    list.set_item("sure", changes.iter().map(|change| change.sure).collect::<Vec<_>>())?;
    list.set_item("reason", changes.iter().map(|change| &*change.reason).collect::<Vec<_>>())?;
    let dict = PyDict::new(py);
    dict.set_item("table", Table::repaired(table, batches))?;
    dict.set_item("changes", list)?;
    Ok(dict)
}

/// All cells of a table, with the names of the judged columns.
pub(crate) struct Found {
    columns: Vec<String>,
    judged: JudgedCells,
}

/// Judges all cells of `table` by `rule`; `None` if `judge` does not judge cells.
pub(crate) fn judged(judge: &dyn Judge, table: &table::Table, rule: Rule) -> Result<Option<Found>, Error> {
    let judged = judge_table(judge, table, rule)?;
    Ok(judged.map(|judged| Found { columns: names(judge), judged }))
}

fn names(judge: &dyn Judge) -> Vec<String> {
    judge.encoder().columns().iter().map(EncodedColumn::name).map(str::to_owned).collect()
}

impl Found {
    pub(crate) fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let Self { columns, judged: JudgedCells { findings, called } } = self;
        let list = PyDict::new(py);
        list.set_item("row", called.iter().map(|cell| cell.row).collect::<Vec<_>>())?;
        list.set_item("column", called.iter().map(|cell| &*columns[cell.column]).collect::<Vec<_>>())?;
        list.set_item("value", called.iter().map(|cell| cell.value.as_deref()).collect::<Vec<_>>())?;
        list.set_item("p", called.iter().map(|cell| cell.p_value).collect::<Vec<_>>())?;
        set_expected(&list, called.iter().map(|cell| cell.expected.as_ref()))?;
        list.set_item(
            "reason",
            called.iter().map(|CalledCell { reason, .. }| &**reason).collect::<Vec<_>>(),
        )?;
        let dict = PyDict::new(py);
        dict.set_item("p", matrix(py, findings.p_values)?)?;
        dict.set_item("called", list)?;
        dict.set_item("columns", columns)?;
        Ok(dict)
    }
}

/// Adds what should stand in cells: `expected`, and `low` and `high`, where that can be said.
fn set_expected<'a>(
    list: &Bound<'_, PyDict>,
    all: impl Iterator<Item = Option<&'a Expected>> + Clone,
) -> PyResult<()> {
    let part = |part: fn(&Expected) -> Option<&str>| {
        all.clone().map(|expected| expected.and_then(part)).collect::<Vec<_>>()
    };
    list.set_item("expected", part(|expected| Some(&expected.value)))?;
    list.set_item("low", part(|expected| expected.low.as_deref()))?;
    list.set_item("high", part(|expected| expected.high.as_deref()))
}

/// What should stand in every cell of the judged columns.
pub(crate) fn expected(judge: &dyn Judge, table: &table::Table) -> Result<Option<Table>, Error> {
    let Some(arrays) = expected_table(judge, table)? else { return Ok(None) };
    let fields = names(judge).into_iter().zip(&arrays);
    let fields: Vec<Field> =
        fields.map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("one cell for every row and column");
    Ok(Some(Table::of(schema, vec![batch])))
}

/// The table that these rows are.
pub(crate) fn table_of(table: &Table) -> Result<table::Table, Error> {
    Ok(table::Table::from_batches(ORIGIN, table.batches.clone())?)
}

/// The sets of odd cells of all rows, kept as they pass.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    /// Whether the judge looks for them.
    are_known: bool,
    cells: Vec<(usize, OddCell)>,
}

impl Observer for Sets {
    fn observe(&mut self, _: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        let Some(sets) = &judgement.sets else { return Ok(()) };
        self.are_known = true;
        let first_row = judgement.rows.first_row;
        for row in 0..sets.n_rows() {
            self.cells.extend(sets.of(row).iter().map(|cell| (first_row + row, cell.clone())));
        }
        Ok(())
    }
}

impl Sets {
    /// The cells by row and column, those of a row in the order of their repair; `None` if nobody looked for them.
    pub(crate) fn into_dict<'py>(
        self,
        py: Python<'py>,
        columns: &[String],
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        if !self.are_known {
            return Ok(None);
        }
        let list = PyDict::new(py);
        list.set_item("row", self.cells.iter().map(|(row, _)| *row).collect::<Vec<_>>())?;
        list.set_item(
            "column",
            self.cells.iter().map(|(_, cell)| &*columns[cell.column]).collect::<Vec<_>>(),
        )?;
        set_expected(&list, self.cells.iter().map(|(_, cell)| cell.expected.as_ref()))?;
        Ok(Some(list))
    }
}
