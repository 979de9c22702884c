"""One table, nothing known; and models out of files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from sklearn.utils import check_array

from oddcell import _oddcell
from oddcell._base import Detector, seed_of, tell
from oddcell._data import is_frame, settled, table_of_array, table_of_frame, with_found
from oddcell._names import argument_name
from oddcell._progress import Progress, told
from oddcell._rules import Rule


def found_in(
    X: Any,
    detector: str = "noise",
    *,
    rule: Rule,
    random_state: Any = 0,
    categorical: Sequence[str] = (),
    progress: Progress = None,
    page: dict[str, Any] | None = None,
    **params: Any,
) -> tuple[Any, _oddcell.Table, dict[str, Any]]:
    """X as it was read, its rows, and all that was found in them."""
    X = settled(X)
    if is_frame(X):
        table = table_of_frame(X)
    else:
        table = table_of_array(check_array(X, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=2))
    learning = {
        "detector": detector,
        "options": {name: params.pop(name) for name in _oddcell.default_options() if name in params},
        "params": params,
        "categorical": list(categorical),
        "seed": seed_of(random_state),
    }
    with told(progress, "learning") as callback:
        found = _oddcell.detect(table, learning, rule, callback, page)
    return X, table, found


def detect(
    X: Any,
    detector: str = "noise",
    *,
    alpha: float | None = None,
    fdr: float | None = None,
    n_odd: int | None = None,
    contamination: float | None = None,
    random_state: Any = 0,
    categorical: Sequence[str] = (),
    progress: Progress = None,
    **params: Any,
) -> Any:
    """Finds the odd rows of one table by looking at nothing but the table.

    The rows are split into folds, and those of a fold are judged by a detector that learned from the others. Some rows
    may be anomalies, in training, too.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    detector : str
        Its name on the list of detectors, `oddcell.detectors()`.
    alpha, fdr, n_odd, contamination : number
        Which rows are called odd; at most one of them. p-value at most `alpha`; false-discovery rate `fdr`; the
        `n_odd` rows with the highest scores; the share `contamination` of the highest scores. By default the
        false-discovery rate is 0.1: about one in ten of the rows called odd is expected to be normal.
    random_state : int, RandomState instance or None
        Same rows, parameters and seed: same bits.
    categorical : list of str
        Columns to read as names, whatever they hold.
    progress : None, "tqdm" or function of done, total and loss
    **params
        Parameters of the detector, and the options that all estimators have, such as `ignore=["note"]`.

    Returns
    -------
    frame like X
        With four columns more: `odd_score`, `odd_p`, `odd_verdict`, `odd_reasons`. Of an array, a record array with
        those four only.

    Examples
    --------
    >>> import numpy as np, oddcell
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[7, 1] = 9.0
    >>> found = oddcell.detect(rows, n_odd=1, train_for="300 steps")  # shorter than the default, for this example
    >>> int(found.odd_verdict.argmax())
    7
    >>> found.odd_reasons[7].split(":")[0]
    'x2 9'
    """
    rule = Rule(alpha=alpha, fdr=fdr, n_odd=n_odd, contamination=contamination)
    X, _, found = found_in(
        X,
        detector,
        rule=rule,
        random_state=random_state,
        categorical=categorical,
        progress=progress,
        **params,
    )
    tell(found["notes"])
    return with_found(X, {name: found[name] for name in _oddcell.FOUND_COLUMNS})


def load(path: str | os.PathLike[str], *, contamination: float | str = "auto") -> Detector:
    """The estimator of a model file, written by `save` or by the command line. Nothing in the file is executed.

    Parameters
    ----------
    path : path
    contamination : "auto" or float
        What `predict` calls anomalous: rows that score higher than all but this share of the calibration rows, which
        the file holds; "auto" is one in a hundred.

    Examples
    --------
    >>> import numpy as np, oddcell, tempfile, os
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> path = os.path.join(tempfile.mkdtemp(), "normal.oddcell")
    >>> oddcell.KNN().fit(rows).save(path)
    >>> oddcell.load(path)
    KNN(contamination='auto')
    """
    from oddcell import _estimators

    model = _oddcell.Model.load(path)
    kind = _estimators.BY_NAME[model.detector]
    params = {argument_name(key): value for key, value in model.params.items()}
    estimator = kind(**params, **model.options, random_state=model.seed, contamination=contamination)
    return estimator._loaded(model)
