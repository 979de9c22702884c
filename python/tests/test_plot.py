"""What the figures show."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import oddcell

from conftest import short
from test_data import mixed


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_the_oddest_rows_are_on_top_with_their_cells_as_they_are():
    frame = mixed().set_index(np.arange(200) + 1000)
    frame.loc[1033, "amount"] = 5000.0
    model = short().fit(mixed())
    ax = oddcell.plot.cells(frame, model, rows=4)
    assert [label.get_text() for label in ax.get_xticklabels()] == list(frame.columns)
    assert ax.get_yticklabels()[0].get_text() == "1033"
    assert [text.get_text() for text in ax.texts[:2]] == ["5000", str(frame.loc[1033, "city"])]
    shown = ax.images[0].get_array()
    assert shown.shape == (4, 5) and np.array_equal(
        shown, model.explain(frame).loc[[int(label.get_text()) for label in ax.get_yticklabels()]]
    )


@pytest.mark.parametrize("make", [lambda f: pl.from_arrow(f), lambda f: f, lambda f: f.to_pandas()])
def test_any_table_can_be_drawn_with_and_without_a_model(make):
    X = make(pa.Table.from_pandas(mixed()))
    assert len(oddcell.plot.cells(X, rows=5, train_for="50 steps").get_yticks()) == 5
    assert oddcell.plot.scores(X, short().fit(X), alpha=0.05).get_xlabel() == "score (higher is odder)"


def test_the_color_bar_names_the_unit_of_the_cells():
    X = mixed()
    for params, unit in (({}, "surprise"), ({"train_for": "50 steps"}, "noise in standard deviations")):
        ax = oddcell.plot.cells(X, rows=5, **params)
        assert ax.images[0].colorbar.ax.get_ylabel() == unit


def test_the_histogram_counts_all_rows(rows):
    ax = oddcell.plot.scores(rows, detector="knn", top=4)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["normal: 296", "odd: 4"]


def test_wrong_arguments_are_refused(rows):
    with pytest.raises(TypeError, match="scores rows only, not cells"):
        oddcell.plot.cells(rows, oddcell.KNN().fit(rows))
    with pytest.raises(TypeError, match="`detector` cannot be combined with a model"):
        oddcell.plot.cells(rows, short().fit(rows), detector="knn")
