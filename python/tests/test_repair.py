"""Odd cells replaced by what should stand there: the table, the changes, and the transformer of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import oddcell

from conftest import normal_rows, orders, spoiled

CHANGES = ["row", "column", "before", "after", "p", "sure", "reason"]


@pytest.fixture(scope="module")
def model():
    return oddcell.Columns().fit(orders())


def test_odd_cells_are_replaced_and_every_change_is_told():
    frame, right = spoiled(), orders()
    before = frame.copy()
    repaired, changes = oddcell.repair(frame, return_changes=True)
    pd.testing.assert_frame_equal(frame, before)
    assert list(changes.columns) == CHANGES
    assert repaired.dtypes.equals(frame.dtypes) and repaired.index.equals(frame.index)
    assert repaired.loc[5, "city"] == "Bergen" and repaired.loc[17, "country"] == right.loc[17, "country"]
    # Nothing else is changed.
    differs = (repaired != frame).stack()
    told = set(zip(changes["row"], changes["column"], strict=True))
    assert told == set(differs[differs].index) and {(5, "city"), (17, "country")} <= told
    for change in changes.itertuples():
        assert str(repaired.loc[change.row, change.column]).startswith(change.after.removesuffix(".0"))
        assert change.before != change.after and 0.5 <= change.sure <= 1


def test_the_least_certainty_and_blanking_are_the_users_choice(model):
    frame = spoiled().head(40)
    _, all_ = model.repair(frame, sure=0.0, return_changes=True)
    _, some = model.repair(frame, sure=0.9, return_changes=True)
    assert len(some) < len(all_) and some["sure"].min() >= 0.9
    blank, changes = model.repair(frame, blank=True, top=3, return_changes=True)
    assert len(changes) == 3 and changes["after"].isna().all() and changes["sure"].isna().all()
    assert blank.isna().sum().sum() == 3
    # Whole numbers with a hole become fractions, as in pandas; all others keep their types.
    kinds = {name: kind for name, kind in frame.dtypes.items() if name not in set(changes["column"])}
    assert all(blank.dtypes[name] == kind for name, kind in kinds.items())


def test_tables_of_any_kind_are_repaired_alike(model):
    frame = spoiled().head(40)
    expected = model.repair(frame, alpha=0.002)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for X in (pl.DataFrame(table), table, table.to_batches()[0]):
        repaired = model.repair(X, alpha=0.002)
        assert type(repaired) is type(X)
        assert pa.table(repaired).schema.types == pa.table(X).schema.types
        same = pa.Table.from_pandas(expected, preserve_index=False)
        assert pl.DataFrame(repaired).rows() == pl.DataFrame(same).rows()


def test_pandas_categories_indexes_and_lengths_of_time_stay():
    frame = orders().assign(took=lambda orders: pd.to_timedelta(orders["items"] * 60, unit="s"))
    frame = frame.astype({"city": "category"}).set_index(np.arange(600) * 2 + 10)
    model = oddcell.Columns().fit(frame)
    odd = frame.head(30).copy()
    odd.iloc[4, odd.columns.get_loc("took")] = pd.Timedelta(days=900)
    odd["city"] = odd["city"].cat.remove_categories(["Lund"]).cat.add_categories(["Lnud"])
    odd.iloc[6, 0] = "Lnud"
    repaired, changes = model.repair(odd, sure=0.0, top=60, return_changes=True)
    assert repaired.index.equals(odd.index) and isinstance(repaired["city"].dtype, pd.CategoricalDtype)
    assert repaired["took"].dtype == odd["took"].dtype
    told = set(zip(changes["row"], changes["column"], strict=True))
    assert {(18, "took"), (22, "city")} <= told
    assert repaired.loc[18, "took"] < pd.Timedelta(hours=1) and repaired.loc[22, "city"] == "Lund"


def test_arrays_keep_their_type_and_are_not_changed_in_place():
    rows = normal_rows(500).astype(np.float32)
    model = oddcell.Columns().fit(rows)
    odd = rows[:20].copy()
    odd[3, 2] = 80.0
    was = odd.copy()
    repaired, changes = model.repair(odd, alpha=0.003, return_changes=True)
    assert np.array_equal(odd, was) and repaired.dtype == np.float32 and repaired.shape == odd.shape
    assert abs(repaired[3, 2] - rows[3, 2]) < 1.5
    assert (3, "x3") in set(zip(changes.row, changes.column, strict=True))


def test_without_odd_cells_nothing_is_changed(model):
    frame = orders().head(20)
    repaired, changes = model.repair(frame, alpha=1e-9, return_changes=True)
    assert len(changes) == 0 and list(changes.columns) == CHANGES
    pd.testing.assert_frame_equal(repaired, frame)
    assert repaired is not frame


@parametrize_with_checks([oddcell.CellRepair()])
def test_scikit_learns_own_checks_of_the_transformer(estimator, check):
    check(estimator)


def test_the_transformer_repairs_mixed_frames_in_a_pipeline():
    frame, right = spoiled(), orders()
    repair = oddcell.CellRepair(alpha=0.002).fit(right)
    assert list(repair.get_feature_names_out()) == list(frame.columns)
    assert repair.transform(frame).loc[5, "city"] == "Bergen"
    assert (5, "city") in set(zip(repair.changes(frame)["row"], repair.changes(frame)["column"], strict=True))
    encode = make_column_transformer((OneHotEncoder(), ["city", "country"]), ("passthrough", ["price", "items"]))
    pipeline = make_pipeline(clone(repair), encode, LinearRegression()).fit(right, right["total"])
    # A city that no training row has would be an error of the encoder; it is repaired first.
    assert pipeline.predict(frame.iloc[[5]]).shape == (1,)


def test_the_transformer_is_cloned_pickled_and_set_like_any_other():
    frame = orders()
    repair = oddcell.CellRepair(top=3, blank=True, ignore=["day"])
    with pytest.raises(NotFittedError):
        clone(repair).transform(frame)
    fitted = clone(repair).fit(frame)
    again = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(again.transform(frame), fitted.transform(frame))
    assert fitted.transform(frame).isna().sum().sum() == 3
    assert fitted.set_params(top=1).transform(frame).isna().sum().sum() == 1
    assert "day" not in fitted.estimator_.model_.columns
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[frame.columns[::-1]])
    rows = normal_rows(200)
    for output, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        assert isinstance(oddcell.CellRepair().set_output(transform=output).fit(rows).transform(rows), kind)


def test_wrong_arguments_are_refused(model):
    frame = orders().head(20)
    with pytest.raises(TypeError, match="exclude each other"):
        model.repair(frame, alpha=0.1, fdr=0.1)
    with pytest.raises(TypeError, match="`ignore` cannot be combined with a model"):
        oddcell.repair(frame, model, ignore=["day"])
