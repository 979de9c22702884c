"""The same rows give the same bits, whatever type of table holds them."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import oddcell

from conftest import short


def mixed(n_rows: int = 200) -> pd.DataFrame:
    """A table of numbers, categories, dates and booleans, with nulls."""
    random = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "amount": random.gamma(2.0, 10.0, n_rows).round(2),
            "city": random.choice(["Oslo", "Bergen", "Bodø"], n_rows),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n_rows), unit="D"),
            "paid": pd.array(random.random(n_rows) < 0.9, dtype="boolean"),
            "items": random.integers(1, 9, n_rows),
        }
    )
    frame["city"] = frame["city"].astype("category")
    for at, name in enumerate(["amount", "city", "day", "paid"]):
        frame.loc[at::17, name] = None
    return frame


def scores(X, **params):
    return short(**params).fit(X).score_samples(X)


def test_numpy_arrays_of_any_layout_give_the_same_bits(rows, tmp_path):
    expected = scores(rows)
    np.save(tmp_path / "rows.npy", rows)
    readonly = rows.copy()
    readonly.flags.writeable = False
    wide = np.zeros((600, 7))
    wide[::2, 1:6:2] = rows
    unaligned = np.frombuffer(b"x" + rows.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(rows.shape)
    for array in (
        np.asfortranarray(rows),
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        readonly,
        wide[::2, 1:6:2],
        rows.astype(">f8"),
        rows[::-1][::-1],
        rows.astype(object),
        rows.astype(np.longdouble),
        unaligned,
        rows.tolist(),
    ):
        assert np.array_equal(scores(array), expected)


@pytest.mark.parametrize(
    "kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32"]
)
def test_numpy_numbers_of_any_size_are_numbers(rows, kind):
    rows = (rows * 5 + 40).round()
    assert np.array_equal(scores(rows.astype(kind)), scores(rows))


def test_truth_values_are_booleans_as_in_frames(rows):
    assert np.array_equal(scores(rows > 0), scores(pd.DataFrame(rows > 0, columns=["x1", "x2", "x3"])))


def test_nan_is_a_null_and_infinity_is_refused(rows):
    rows[::9, 0] = np.nan
    frame = pl.DataFrame(rows, schema=["x1", "x2", "x3"]).with_columns(pl.col("x1").fill_nan(None))
    assert np.array_equal(scores(rows), scores(frame))
    rows[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        short().fit(rows)
    with pytest.raises(ValueError, match="row 4, column `x2`: found `inf`"):
        short().fit(pd.DataFrame(rows, columns=["x1", "x2", "x3"]))


def test_frames_of_any_library_give_the_same_bits():
    frame = mixed()
    table = pa.Table.from_pandas(frame)
    polars = pl.DataFrame(table)
    expected = scores(frame)
    assert len(np.unique(expected)) > 100
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
    for same in (table, table.to_batches()[0], polars, polars.rechunk(), polars[:50].vstack(polars[50:])):
        assert np.array_equal(scores(same), expected), type(same)
    model = short().fit(reader)
    query = duckdb.from_arrow(table).filter("true")
    assert np.array_equal(model.score_samples(query), expected)


def test_an_index_is_not_a_column():
    frame = mixed()
    other = frame.set_index(np.arange(200) * 3 + 1)
    assert np.array_equal(scores(other), scores(frame))
    noise = short().fit(other).explain(other)
    assert list(noise.index) == list(other.index) and list(noise.columns) == list(frame.columns)


def test_kinds_of_columns_are_the_same_as_on_the_command_line():
    model = short().fit(mixed()).model_
    assert model.columns == ["amount", "city", "day", "paid", "items"]
    kinds = {"amount": "number", "city": "category", "day": "date", "paid": "boolean", "items": "number"}
    assert model.kinds == kinds
    # Numbers are categories if the frame or the user says so.
    frame = mixed().assign(zone=pd.Categorical(np.arange(200) % 4 + 10), code=np.arange(200) % 3)
    assert short().fit(frame).model_.kinds == {**kinds, "zone": "category", "code": "number"}
    model = short(categorical=["code"]).fit(frame).model_
    assert model.kinds == {**kinds, "zone": "category", "code": "category"}
    enum = pl.DataFrame({"a": np.random.default_rng(0).normal(size=90), "b": ["x", "y", "z"] * 30})
    for kind in (pl.Categorical, pl.Enum(["x", "y", "z"])):
        assert short().fit(enum.with_columns(pl.col("b").cast(kind))).model_.kinds["b"] == "category"


def test_columns_that_are_left_out_give_a_warning_and_are_nan():
    frame = mixed().assign(id=range(200), note="same")
    with pytest.warns(oddcell.OddCellWarning, match="`id`.*identifier"):
        model = short(ignore=["note"]).fit(frame)
    assert dict(model.model_.left_out).keys() == {"id", "note"}
    noise = model.explain(frame)
    assert noise[["id", "note"]].isna().all(axis=None) and noise["amount"].notna().all()
    kept = short(ignore=["note"], keep_identifiers=True).fit(frame)
    assert "id" in kept.model_.columns


def test_columns_of_an_earlier_run_are_no_features_and_are_replaced():
    frame = mixed()
    model = short().fit(frame)
    once = model.judge(frame)
    assert short().fit(once).model_.columns == list(frame.columns)
    again = oddcell.detect(once, top=3, detector="knn")
    assert list(again.columns) == list(once.columns)


def test_names_and_their_order_are_checked_as_in_scikit_learn(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    model = short().fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(rows[:, :2])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(model.score_samples(rows), model.score_samples(frame))
    unnamed = short().fit(rows)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        assert np.array_equal(unnamed.score_samples(frame), unnamed.score_samples(rows))


def test_frames_of_plain_numbers_need_no_pyarrow(rows, monkeypatch):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(flag=rows[:, 0] > 0, whole=range(300)[::-1])
    expected = scores(frame)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert np.array_equal(scores(frame), expected)
    with pytest.raises(ImportError, match=r"pip install 'oddcell\[pandas\]'"):
        short().fit(mixed())


def test_anything_but_a_table_gives_a_clear_error(rows):
    with pytest.raises(ValueError, match="2-dimensional"):
        short().fit(pd.Series(rows[:, 0]))
    with pytest.raises(TypeError, match="Sparse data"):
        short().fit(csr_array(rows))
    with pytest.raises(ValueError, match="Complex data"):
        short().fit(rows.astype(complex))
    nested = pa.table({"a": [[1], [2]] * 20, "b": list(np.random.default_rng(0).normal(size=40))})
    with pytest.raises(TypeError, match=r"column `a`.*\n?.*hint: to leave the column out, use ignore"):
        short().fit(nested)
    with pytest.raises(ValueError, match="no rows"):
        short().fit(pl.DataFrame({"a": [], "b": []}))


def test_dates_of_any_kind_are_dates():
    days = [
        datetime.date(2024, 1, 1) + datetime.timedelta(days=int(n))
        for n in np.random.default_rng(0).integers(0, 99, 90)
    ]
    texts = pl.DataFrame({"d": [day.isoformat() for day in days], "x": range(90)})
    typed = pl.DataFrame({"d": days, "x": range(90)})
    assert np.array_equal(scores(texts), scores(typed))
    assert np.array_equal(scores(typed.with_columns(pl.col("d").cast(pl.Datetime("us")))), scores(typed))


def lengths(n_rows: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(8)
    seconds = random.integers(10, 500, n_rows)
    return pd.DataFrame({"took": pd.to_timedelta(seconds, unit="s"), "size": random.normal(size=n_rows)})


def test_lengths_of_time_are_seconds_in_every_kind_of_frame():
    frame = lengths()
    frame.loc[3, "took"] = pd.NaT
    expected = scores(frame.assign(took=frame["took"].dt.total_seconds()))
    for same in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        np.testing.assert_allclose(scores(same), expected, rtol=1e-12)


def test_an_object_column_that_mixes_text_and_numbers_is_read_as_its_text():
    frame = pd.DataFrame({"size": np.arange(60) % 7 / 2, "n": [n * 3 % 11 for n in range(60)]})
    mixed = frame.assign(n=frame["n"].astype(object))
    mixed.loc[5, "n"] = "n/a"
    as_text = frame.assign(n=frame["n"].astype(str))
    as_text.loc[5, "n"] = "n/a"
    np.testing.assert_array_equal(scores(mixed), scores(as_text))
    assert oddcell.detect(mixed, "ecod", top=1)["n"].iloc[5] == "n/a"


@pytest.mark.parametrize(
    "cells",
    [
        [True, 3],
        [Decimal("1.5"), 2.5],
        [{"a": 1}, 3],
        [(1, 2), 3],
        [10**30, 7, None],
        [1 + 2j, 3],
    ],
)
def test_an_object_column_for_which_arrow_has_no_type_is_read_as_its_text(cells):
    frame = pd.DataFrame({"size": np.arange(60) % 7 / 2, "n": pd.Series((cells * 60)[:60], dtype=object)})
    as_text = frame.assign(n=frame["n"].map(str, na_action="ignore"))
    np.testing.assert_array_equal(scores(frame), scores(as_text))


def test_lengths_of_time_in_an_object_column_are_seconds():
    frame = lengths()
    objects = frame.assign(
        took=pd.Series(
            [None, *(datetime.timedelta(seconds=s) for s in frame["took"].dt.total_seconds()[1:])], dtype=object
        )
    )
    seconds = frame.assign(took=frame["took"].dt.total_seconds())
    seconds.loc[0, "took"] = None
    np.testing.assert_array_equal(scores(objects), scores(seconds))


def test_a_lazy_frame_is_collected_and_a_path_is_refused_with_what_to_do(tmp_path):
    frame = pl.from_pandas(lengths())
    np.testing.assert_array_equal(scores(frame.lazy()), scores(frame))
    for path in ("orders.csv", tmp_path / "orders.csv"):
        with pytest.raises(TypeError, match="read the file first"):
            oddcell.detect(path)
        with pytest.raises(TypeError, match="read the file first"):
            short().fit(path)


def test_detect_takes_a_preset_and_parameters_override_it(rows):
    fast = oddcell.detect(rows, preset="fast", train_for="30 steps", random_state=1)
    same = {name: value for name, value in oddcell._oddcell.preset("noise", "fast").items() if name != "train_for"}
    np.testing.assert_array_equal(
        fast.odd_score, oddcell.detect(rows, train_for="30 steps", random_state=1, **same).odd_score
    )
    with pytest.raises(ValueError, match="no-such"):
        oddcell.detect(rows, preset="no-such")
