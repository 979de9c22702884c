"""The library's errors become the usual Python exceptions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import oddcell

from conftest import short


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
        ({"one_hot": "yes"}, TypeError, "parameter `one_hot`.*: invalid type"),
        ({"keep_identifiers": "yes"}, TypeError, "parameter `keep_identifiers`: invalid type"),
        ({"fit_folds": 1}, ValueError, "parameter `folds` is 1, but must be from 2 to 100"),
        ({"ignore": ["z"]}, ValueError, "`z`"),
        ({"categorical": ["z"]}, ValueError, "`z`"),
    ],
)
def test_fit_refuses_wrong_parameters(rows, params, kind, message):
    model = short(**params)
    with pytest.raises(kind, match=message):
        model.fit(rows)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="there is no detector `nosie`; known: noise, knn"):
        oddcell.detect(np.zeros((9, 2)), "nosie")
    with pytest.raises(TypeError, match="detector `knn` has no parameter `k`; known: method, n_neighbors"):
        oddcell.detect(np.zeros((9, 2)), "knn", k=3)
    with pytest.raises(ValueError, match="has no preset `worst`"):
        oddcell.OddCell.from_preset("worst")


def test_an_error_names_the_cell_that_does_not_fit(rows):
    frame = pd.DataFrame(rows, columns=list("abc"))
    wrong = frame.head(5).astype(object)
    wrong["b"] = ["1", "2", "x", "4", "5"]
    assert short().fit(frame).judge(wrong)["odd_reasons"][2].startswith("b `x`: cannot be read as a number")
    model = short(strict=True).fit(frame)
    with pytest.raises(ValueError, match="row 3, column `b`: found `x`") as caught:
        model.predict(wrong)
    assert "hint: to treat the column as categories, fit with categorical=[COLUMN]" in str(caught.value)


def test_a_table_without_features_gives_an_error_with_a_hint():
    with pytest.raises(ValueError, match="keep_identifiers=True"):
        short().fit(np.arange(40.0).reshape(-1, 1))


def test_missing_and_wrong_files_are_refused(tmp_path, rows):
    with pytest.raises(FileNotFoundError, match=r"cannot read .*nothing\.oddcell"):
        oddcell.load(tmp_path / "nothing.oddcell")
    with pytest.raises(OSError, match="cannot create"):
        oddcell.KNN().fit(rows).save(tmp_path / "no-such-folder" / "m")
    (tmp_path / "m.oddcell").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not an oddcell model"):
        oddcell.load(tmp_path / "m.oddcell")


def test_an_unfitted_estimator_says_so(rows, tmp_path):
    model = short()
    for ask in (model.predict, model.score_samples, model.p_values, model.explain, model.judge, model.score_batches):
        with pytest.raises(NotFittedError):
            ask(rows)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "m")
