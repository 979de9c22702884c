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


def faces(ax):
    """Whether each cell is solid, rows × columns."""
    return np.asarray(ax.collections[0].get_array()).reshape(len(ax.get_yticks()), len(ax.get_xticks())) == 1


def test_the_oddest_rows_are_on_top_with_their_guilty_cells_solid_and_what_should_stand_there():
    frame = mixed().set_index(np.arange(200) + 1000)
    frame.loc[1033, "amount"] = 5000.0
    model = oddcell.Columns().fit(mixed())
    ax = oddcell.plot.cells(frame, model, rows=4, top=1)
    assert [label.get_text() for label in ax.get_xticklabels()] == list(frame.columns)
    assert ax.get_yticklabels()[0].get_text() == "1033"
    assert faces(ax)[0].tolist() == [True, False, False, False, False]
    # The other rows are not odd.
    assert not faces(ax)[1:].any()
    value, expected = ax.texts[0].get_text().split("\n→ ")
    assert value == "5000" and 1 < float(expected) < 100
    assert ax.texts[1].get_text() == str(frame.loc[1033, "city"])


@pytest.mark.parametrize("make", [lambda f: pl.from_arrow(f), lambda f: f, lambda f: f.to_pandas()])
def test_any_table_can_be_drawn_with_and_without_a_model(make):
    X = make(pa.Table.from_pandas(mixed()))
    assert len(oddcell.plot.cells(X, rows=5, train_for="50 steps").get_yticks()) == 5
    assert oddcell.plot.scores(X, short().fit(X), alpha=0.05).get_xlabel() == "score (higher is odder)"


def test_a_detector_that_scores_rows_only_shows_odd_cells_too(rows):
    rows[17, 1] = 30.0
    ax = oddcell.plot.cells(rows, detector="knn", rows=2, top=1)
    assert ax.get_yticklabels()[0].get_text() == "17" and faces(ax)[0].tolist() == [False, True, False]


def test_the_histogram_counts_all_rows(rows):
    ax = oddcell.plot.scores(rows, detector="knn", top=4)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["normal: 296", "odd: 4"]


def test_wrong_arguments_are_refused(rows):
    with pytest.raises(TypeError, match="`detector` cannot be combined with a model"):
        oddcell.plot.cells(rows, short().fit(rows), detector="knn")
