"""Every cell judged: p-values, what should stand there, and the list of odd cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import oddcell

from conftest import normal_rows, orders, spoiled

LIST = ["row", "column", "value", "p", "expected", "low", "high", "reason"]


@pytest.fixture(scope="module")
def model():
    return oddcell.Columns().fit(orders())


def test_the_odd_cells_of_a_table_are_listed_with_what_should_stand_there():
    frame = spoiled()
    found = oddcell.cells(frame)
    assert list(found.columns) == LIST
    at = {(cell.row, cell.column): cell for cell in found.itertuples()}
    assert {(5, "city"), (17, "country"), (33, "price")} <= at.keys()
    misspelled = at[5, "city"]
    assert (misspelled.value, misspelled.expected) == ("Begren", "Bergen") and "Bergen" in misspelled.reason
    assert at[17, "country"].expected == orders().loc[17, "country"]
    price = at[33, "price"]
    assert float(price.low) <= float(price.expected) <= float(price.high) < 200
    # One in ten may be normal, and is with few odd cells one or two.
    assert len(found) <= 8 and found["p"].max() < 0.01
    assert found["row"].is_monotonic_increasing


def test_a_model_judges_the_cells_of_new_rows(model):
    frame = spoiled().head(40)
    p_values = model.cells(frame)
    assert p_values.shape == frame.shape and list(p_values.columns) == list(frame.columns)
    assert (p_values.to_numpy() > 0).all() and (p_values.to_numpy() <= 1).all()
    found = oddcell.cells(frame, model, alpha=0.002)
    for cell in found.itertuples():
        assert p_values.loc[cell.row, cell.column] <= 0.002 and cell.p <= 0.002
    assert {(5, "city"), (33, "price")} <= set(zip(found["row"], found["column"], strict=True))
    assert len(oddcell.cells(frame, model, top=3)) == 3


def test_p_values_of_cells_of_fresh_normal_rows_are_valid():
    model = oddcell.Columns().fit(normal_rows(2_000))
    p_values = model.cells(normal_rows(2_000, 1))
    for level in (0.01, 0.05, 0.2):
        # 400 calibration cells a column: a standard deviation of the share is at most √(0.2 · 0.8 / 400) = 0.02.
        assert ((p_values <= level).mean(axis=0) < level + 0.05).all(), level


def test_expected_values_have_the_types_of_the_table(model):
    frame = orders().head(50)
    expected = model.expected(frame)
    assert expected.dtypes.equals(frame.dtypes) and expected.index.equals(frame.index)
    # The city determines the country; price and items, the total.
    assert (expected["country"] == frame["country"]).mean() > 0.95
    error = (expected["total"] - frame["total"]).abs().median()
    assert error < 0.5 * (frame["total"] - frame["total"].mean()).abs().median()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    polars = model.expected(pl.DataFrame(table))
    assert polars.schema == pl.DataFrame(table).schema
    assert polars["total"].to_list() == expected["total"].to_list()
    arrow = model.expected(table)
    assert arrow.schema.types == table.schema.types
    assert arrow.column("country").to_pylist() == list(expected["country"])
    assert isinstance(model.expected(table.to_batches()[0]), pa.RecordBatch)


def test_a_wrong_cell_hardly_changes_what_is_expected_in_its_place():
    rows = normal_rows(1_000)
    model = oddcell.Columns().fit(rows)
    odd = rows[:20].copy()
    odd[:, 2] = 50.0
    expected = model.expected(odd)
    assert expected.shape == odd.shape and expected.dtype == np.float64
    assert np.abs(expected[:, 2] - model.expected(rows[:20])[:, 2]).max() < 0.5
    assert np.abs(expected[:, 2] - rows[:20, 2]).mean() < 1


def test_the_list_has_the_type_of_the_table():
    frame = spoiled()
    labeled = oddcell.cells(frame.set_index(np.arange(600) + 1000), top=3)
    plain = oddcell.cells(frame, top=3)
    assert list(labeled["row"]) == [row + 1000 for row in plain["row"]]
    table = pa.Table.from_pandas(frame)
    for X in (pl.DataFrame(table), table, table.to_batches()[0]):
        found = oddcell.cells(X, top=3)
        assert type(found) is type(X)
        assert pl.DataFrame(found).rows() == list(plain.itertuples(index=False, name=None))
    array = normal_rows(400)
    array[7, 1] = 40.0
    found = oddcell.cells(array, top=1)
    assert (found.row[0], found.column[0], found.value[0]) == (7, "x2", "40.0")
    columns = oddcell.cells(pd.DataFrame(array, columns=[10, 20, 30]), top=1)["column"]
    assert list(columns) == [20]


def test_a_table_without_odd_cells_gives_an_empty_list(model):
    for X in (orders().head(20), pl.DataFrame(orders().head(20))):
        found = oddcell.cells(X, model, alpha=1e-9)
        assert list(found.columns) == LIST and len(found) == 0


def test_identifiers_are_judged_without_a_model_and_nan_with_one():
    frame = orders().assign(key=[f"K{at:05}" for at in range(600)])
    frame.loc[9, "key"] = "Q-9"
    found = oddcell.cells(frame)
    assert (9, "key") in set(zip(found["row"], found["column"], strict=True))
    with pytest.warns(oddcell.OddCellWarning, match="`key`.*identifier"):
        model = oddcell.Columns().fit(frame)
    assert model.cells(frame)["key"].isna().all() and model.expected(frame)["key"].isna().all()


def test_any_detector_of_rows_judges_cells():
    rows = normal_rows(400)
    odd = rows[:5].copy()
    odd[1, 0] = 25.0
    for name in ("KNN", "ECOD", "IForest"):
        model = getattr(oddcell, name)().fit(rows)
        p_values = model.cells(odd)
        assert np.unravel_index(p_values.argmin(), p_values.shape) == (1, 0), name
        assert abs(model.expected(odd)[1, 0]) < 4


def test_wrong_arguments_are_refused(model):
    frame = orders().head(20)
    with pytest.raises(TypeError, match="`ignore` cannot be combined with a model"):
        oddcell.cells(frame, model, ignore=["day"])
    with pytest.raises(TypeError, match="exclude each other"):
        oddcell.cells(frame, model, alpha=0.1, top=3)
    with pytest.raises(ValueError, match="`top` is 0, but must be at least 1"):
        oddcell.cells(frame, model, top=0)
    with pytest.raises(TypeError, match="no parameter `train_for`"):
        oddcell.cells(orders(), train_for="3 steps")
