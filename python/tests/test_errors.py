"""The library's messages arrive as the exceptions that Python has for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import short
from sklearn.exceptions import NotFittedError

import oddcell


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"sigma_max": -1.0}, ValueError, "parameter `sigma_max` is -1, but must be"),
        ({"sigma_max": float("nan")}, ValueError, "parameter `sigma_max` is NaN, but must be a finite number"),
        ({"sigma_max": "high"}, TypeError, 'parameter `sigma_max` of detector `noise`: invalid type: string "high"'),
        ({"sigma_max": object()}, TypeError, "parameter `sigma_max`: found a value of type object"),
        ({"levels": 2.5}, TypeError, "parameter `levels`.*expected a whole number"),
        ({"levels": 2**70}, ValueError, "parameter `levels` is 1180591620717411303424"),
        ({"net": "transformer"}, ValueError, "parameter `net` of detector `noise`: unknown variant `transformer`"),
        ({"train_for": "long"}, ValueError, "parameter `train_for`.*`long` is no length of training"),
        ({"max_levels": 0}, ValueError, "parameter `max_levels` is 0, but must be from 1 to 4096"),
        ({"max_levels": "many"}, TypeError, "parameter `max_levels`: invalid type"),
        ({"fit_folds": 1}, ValueError, "parameter `folds` is 1, but must be from 2 to 100"),
        ({"ignore": ["z"]}, ValueError, "`z`"),
        ({"categorical": ["z"]}, ValueError, "`z`"),
    ],
)
def test_wrong_parameters_are_told_when_it_learns(rows, params, kind, message):
    model = short(**params)
    with pytest.raises(kind, match=message):
        model.fit(rows)


def test_wrong_names_are_told():
    with pytest.raises(ValueError, match="there is no detector `nosie`; known: noise, knn"):
        oddcell.detect(np.zeros((9, 2)), "nosie")
    with pytest.raises(TypeError, match="detector `knn` has no parameter `k`; known: method, n_neighbors"):
        oddcell.detect(np.zeros((9, 2)), "knn", k=3)
    with pytest.raises(ValueError, match="has no preset `worst`"):
        oddcell.OddCell.from_preset("worst")


def test_cells_that_do_not_fit_are_named(rows):
    frame = pd.DataFrame(rows, columns=list("abc"))
    model = short().fit(frame)
    wrong = frame.head(5).astype(object)
    wrong["b"] = ["1", "2", "x", "4", "5"]
    with pytest.raises(ValueError, match="row 3, column `b`: found `x`") as caught:
        model.predict(wrong)
    assert "hint: to read the column as names, fit with categorical=[COLUMN]" in str(caught.value)


def test_columns_without_features_are_told_with_a_way_out():
    with pytest.raises(ValueError, match="keep_identifiers=True"):
        short().fit(np.arange(40.0).reshape(-1, 1))


def test_files_that_are_not_there_or_no_models(tmp_path, rows):
    with pytest.raises(FileNotFoundError, match="cannot read .*nothing.oddcell"):
        oddcell.load(tmp_path / "nothing.oddcell")
    with pytest.raises(OSError, match="cannot create"):
        oddcell.KNN().fit(rows).save(tmp_path / "no-such-folder" / "m")
    (tmp_path / "m.oddcell").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="is no oddcell model|not an oddcell|no model"):
        oddcell.load(tmp_path / "m.oddcell")


def test_what_was_not_fitted_says_so(rows, tmp_path):
    model = short()
    for ask in (model.predict, model.score_samples, model.p_values, model.explain, model.judge, model.score_batches):
        with pytest.raises(NotFittedError):
            ask(rows)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "m")
