"""The HTML report: its content, and the arguments it refuses."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import oddcell


@pytest.fixture
def rows():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    rows[7, 1] = 30.0
    return pd.DataFrame(rows, columns=["length", "<b>width", "weight"])


def content(path):
    """The text of a page, and its data."""
    text = path.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
    return text, json.loads(data)


def test_a_page_of_rows_judged_by_a_model_has_the_oddest_row_and_its_cell(rows, tmp_path):
    model = oddcell.OddCell(train_for="300 steps").fit(rows.drop(index=7))
    path = tmp_path / "page.html"
    oddcell.report(rows, path, model, name="rows of a <test>")
    text, data = content(path)
    assert "<test>" not in text and "<b>width" not in text
    number, _, p, truth, cells, noise, *_ = data["oddest"][0]
    assert (number, truth, noise.index(max(noise))) == (8, None, 1)
    assert float(cells[1]) == 30.0 and p < 0.02
    assert data["columns"][1]["name"] == "<b>width"


def test_one_table_with_labels_gives_the_curves(rows, tmp_path):
    labels = np.arange(200) == 7
    path = tmp_path / "page.html"
    for y in (labels, labels.astype(int), list(labels)):
        oddcell.report(rows, path, y=y, detector="knn", top=1)
        assert content(path)[1]["curves"] is not None
        assert content(path)[1]["oddest"][0][3] is True
    oddcell.report(rows, path, detector="knn", top=1)
    assert content(path)[1]["curves"] is None


def test_wrong_arguments_are_refused_before_the_work(rows, tmp_path):
    path = tmp_path / "page.html"
    with pytest.raises(ValueError, match="y has 3 values, but the table has 200 rows"):
        oddcell.report(rows, path, y=[0, 1, 0], detector="knn")
    with pytest.raises(ValueError, match="y must be 1 or True for anomalies"):
        oddcell.report(rows, path, y=np.full(200, -1), detector="knn")
    model = oddcell.KNN().fit(rows)
    with pytest.raises(TypeError, match="detector: the model is already fitted"):
        oddcell.report(rows, path, model, detector="knn")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        oddcell.report(rows, tmp_path / "nowhere" / "page.html", model)
    assert list(tmp_path.iterdir()) == []
