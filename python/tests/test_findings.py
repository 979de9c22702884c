"""Cells, p-values, rules, tables judged by themselves, and model files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import oddcell

from conftest import normal_rows, short
from test_data import mixed

COLUMNS = ["odd_score", "odd_p", "odd_verdict", "odd_cells", "odd_reasons"]


def test_the_odd_cell_has_the_most_noise(rows):
    model = short(train_for="1000 steps", hidden=32).fit(rows)
    odd = rows[:50].copy()
    odd[:, 1] += 9
    assert (model.explain(odd).argmax(axis=1) == 1).mean() > 0.9
    assert model.explain(odd)[:, 1].mean() > model.explain(rows).mean() + 3


def test_noise_in_the_units_of_the_column_is_noise_times_its_standard_deviation():
    frame = mixed()
    model = short().fit(frame)
    std, own = model.explain(frame), model.explain(frame, units="column")
    assert std.shape == frame.shape and list(std.columns) == list(frame.columns)
    # items has no nulls, and so one feature.
    assert np.allclose(own["items"], std["items"] * frame["items"].std(ddof=0))
    assert own[["city", "paid"]].max(axis=None) <= 1
    with pytest.raises(ValueError, match="units is `cm`, but must be `std` or `column`"):
        model.explain(frame, units="cm")


def test_a_detector_of_surprises_gives_no_distances():
    frame = mixed()
    for name, detector in (("Columns", "columns"), ("ECOD", "ecod")):
        with pytest.raises(ValueError, match=f"`{detector}` says how rare cells are, not how far off"):
            short(name).fit(frame).explain(frame, units="column")


def test_reasons_say_what_is_odd_and_what_was_expected():
    frame = mixed()
    model = oddcell.Columns().fit(frame)
    odd = frame.head(3).astype({"city": object})
    odd.loc[1, "city"] = "Begren"
    reasons = model.reasons(odd)
    assert len(reasons) == 3
    column, reason = next(iter(reasons[1].items()))
    assert (column, reason["value"], reason["expected"]["value"]) == ("city", "Begren", "Bergen")
    assert reason["tells"].startswith("looks like `Bergen` (")
    assert reason["unit"] == "surprise in context" and reason["noise"] > 4.6
    assert model.judge(odd)["odd_reasons"][1].startswith("city `Begren`: looks like `Bergen`")


def test_the_table_chooses_the_detector_unless_a_parameter_is_set(rows):
    rows[5, 1] = 40.0
    assert " sd off" in oddcell.detect(rows[:60], top=1).odd_reasons[5]
    frame = mixed()
    pd.testing.assert_frame_equal(oddcell.detect(frame), oddcell.detect(frame, "columns"))
    shortly: Any = {"train_for": "50 steps", "hidden": 8}
    pd.testing.assert_frame_equal(oddcell.detect(frame, **shortly), oddcell.detect(frame, "noise", **shortly))
    with pytest.raises(TypeError, match="detector `noise` has no parameter `n_trees`"):
        oddcell.detect(frame, n_trees=3)


def test_the_result_has_the_type_of_the_table():
    frame = mixed()
    model = short().fit(frame)
    table = pa.Table.from_pandas(frame)
    assert isinstance(model.explain(frame), pd.DataFrame)
    assert isinstance(model.explain(pl.DataFrame(table)), pl.DataFrame)
    assert isinstance(model.explain(table), pa.Table)
    for X in (frame, pl.DataFrame(table), table, table.to_batches()[0]):
        judged = model.judge(X)
        assert type(judged) is type(X)
        names = judged.schema.names if isinstance(judged, (pa.Table, pa.RecordBatch)) else list(judged.columns)
        assert names == [*frame.columns, *COLUMNS]


def test_a_detector_that_scores_rows_only_says_so(rows):
    model = oddcell.KNN().fit(rows)
    with pytest.raises(TypeError, match="`knn` scores rows; it knows nothing about their cells"):
        model.explain(rows)


def test_whatever_scores_the_rows_their_odd_cells_are_named(rows):
    model = oddcell.KNN().fit(rows)
    odd = rows[:4].copy()
    odd[2, 1] = 30.0
    judged = model.judge(odd, alpha=0.01)
    assert list(judged.odd_verdict) == [False, False, True, False]
    assert judged.odd_cells[2] == 1 and judged.odd_reasons[2].startswith("x2 30: ")
    assert [list(row) for row in model.reasons(odd)][2] == ["x2"]
    # A normal row has no odd cells and no reasons.
    normal = int(model.p_values(odd).argmax())
    assert (judged.odd_cells[normal], judged.odd_reasons[normal], model.reasons(odd)[normal]) == (0, None, {})


def test_p_values_of_fresh_normal_rows_are_uniform_up_to_sampling():
    model = short(train_for="300 steps").fit(normal_rows(2_000))
    p_values = np.sort(model.p_values(normal_rows(2_000, 1)))
    distance = np.abs(p_values - np.arange(1, 2_001) / 2_000).max()
    # 400 calibration rows and 2,000 fresh ones; Kolmogorov-Smirnov, 0.1 %: 1.95 · √(1/400 + 1/2000).
    assert distance < 0.107


def test_every_rule_flags_its_rows(rows):
    model = short().fit(rows)
    judged = model.judge(rows, top=7)
    assert judged.odd_verdict.sum() == 7
    assert set(judged.odd_score.argsort()[-7:]) == set(np.flatnonzero(judged.odd_verdict))
    assert np.array_equal(model.judge(rows, alpha=0.2).odd_verdict, judged.odd_p <= 0.2)
    with pytest.raises(TypeError, match="exclude each other"):
        model.judge(rows, alpha=0.1, fdr=0.1)
    with pytest.raises(TypeError, match="no rule `beta`; known: alpha, fdr, top, contamination"):
        model.judge(rows, beta=0.1)
    with pytest.raises(ValueError, match="`top` is 0, but must be at least 1"):
        model.judge(rows, top=0)


def test_one_table_is_judged_by_itself(rows):
    rows[3, 1] = 15.0
    found = oddcell.detect(rows, train_for="300 steps", top=1)
    assert list(np.flatnonzero(found.odd_verdict)) == [3]
    assert found.odd_reasons[3].startswith("x2 15:")
    nearest = oddcell.detect(pd.DataFrame(rows, columns=list("abc")), "knn", top=1)
    assert list(np.flatnonzero(nearest["odd_verdict"])) == [3]


@pytest.mark.parametrize("name", ["OddCell", "KNN", "NeuTraLAD"])
def test_a_saved_model_is_the_same_again(tmp_path, rows, name):
    model = short(name, random_state=3, one_hot=True).fit(rows)
    model.save(tmp_path / "m.oddcell")
    again = oddcell.load(tmp_path / "m.oddcell")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.score_samples(rows), model.score_samples(rows))
    # The tenth of the training rows that `predict` called odd, it calls odd again.
    assert (model.predict(rows) == -1).sum() == 30
    assert np.array_equal(again.predict(rows), model.predict(rows))
    assert oddcell.load(tmp_path / "m.oddcell", contamination="auto").get_params()["contamination"] == "auto"
    again.save(tmp_path / "again.oddcell")
    assert (tmp_path / "again.oddcell").read_bytes() == (tmp_path / "m.oddcell").read_bytes()


def test_a_loaded_model_knows_its_columns(tmp_path):
    frame = mixed()
    short().fit(frame).save(tmp_path / "m")
    again = oddcell.load(tmp_path / "m", contamination=0.05)
    assert list(again.feature_names_in_) == list(frame.columns) and again.n_features_in_ == 5
    # 5 % of the 200 calibration scores lie above: at position 0.95 · 199.
    assert 0.02 < (again.predict(frame) == -1).mean() < 0.08
    with pytest.warns(oddcell.OddCellWarning):
        short().fit(frame.assign(id=range(200))).save(tmp_path / "n")
    by_name = oddcell.load(tmp_path / "n")
    shuffled = frame[["items", "paid", "day", "city", "amount"]]
    assert np.array_equal(by_name.score_samples(shuffled), by_name.score_samples(frame))
    with pytest.raises(ValueError, match="pass a frame"):
        by_name.score_samples(np.zeros((2, 6)))
    with pytest.raises(ValueError, match="`amount`"):
        by_name.score_samples(frame[["items"]])
