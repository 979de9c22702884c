"""`detect`, which judges one table by itself, and `load`, which reads a model file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from sklearn.utils import check_array

from oddcell import _oddcell
from oddcell._base import Detector, seed_of, warn_of
from oddcell._data import is_frame, settled, table_of_array, table_of_frame, with_found
from oddcell._names import argument_name
from oddcell._progress import Progress, reported
from oddcell._rules import Rule


def table_to_judge(X: Any) -> tuple[Any, _oddcell.Table]:
    """X as it was read, and its rows."""
    X = settled(X)
    if is_frame(X):
        return X, table_of_frame(X)
    X = check_array(X, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=2)
    return X, table_of_array(X)


def learning_of(
    detector: str | None, params: dict[str, Any], random_state: Any, categorical: Sequence[str]
) -> dict[str, Any]:
    """How to learn, for the library. `params` are the detector's parameters and options that all estimators share."""
    return {
        "detector": detector,
        "options": {name: params.pop(name) for name in _oddcell.default_options() if name in params},
        "params": params,
        "categorical": list(categorical),
        "seed": seed_of(random_state),
    }


def found_in(
    X: Any,
    detector: str | None = None,
    *,
    rule: Rule,
    preset: str | None = None,
    random_state: Any = 0,
    categorical: Sequence[str] = (),
    progress: Progress = None,
    page: dict[str, Any] | None = None,
    **params: Any,
) -> tuple[Any, _oddcell.Table, dict[str, Any]]:
    """X as it was read, its rows, and everything found in them."""
    X, table = table_to_judge(X)
    if preset is not None:
        params = {**_oddcell.preset(detector, preset), **params}
    learning = learning_of(detector, params, random_state, categorical)
    with reported(progress, "learning") as callback:
        found = _oddcell.detect(table, learning, rule, callback, page)
    return X, table, found


def detect(
    X: Any,
    detector: str | None = None,
    *,
    alpha: float | None = None,
    fdr: float | None = None,
    top: int | None = None,
    contamination: float | None = None,
    preset: str | None = None,
    random_state: Any = 0,
    categorical: Sequence[str] = (),
    progress: Progress = None,
    **params: Any,
) -> Any:
    """Find the odd rows of a table, without a training table.

    The rows are split into folds. Each fold is judged by a detector that learned from the other folds, so training rows
    may contain anomalies.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    detector : str or None
        The detector's name, one of `oddcell.detectors()`. Default: `noise` for a table of numbers, or if a parameter is
        given; `columns` for any other table.
    alpha, fdr, top, contamination : number
        Which rows are odd; give at most one. `alpha`: rows with a p-value of at most `alpha`. `fdr`: as many rows as
        keep the false-discovery rate at `fdr`. `top`: the `top` rows with the highest scores. `contamination`: this
        share of the rows, those with the highest scores. Default: `fdr=0.1`, so that about one in ten flagged rows is
        expected to be normal.
    preset : str, optional
        Named values of the detector's parameters, such as `"fast"`; `params` override them.
    random_state : int, RandomState instance or None
        The seed. The same rows, parameters and seed give the same bits.
    categorical : list of str
        Columns to treat as categories even if they hold numbers or dates.
    progress : None, "tqdm" or function of done, total and loss
    **params
        Parameters of the detector, and options that all estimators share, such as `ignore=["note"]`.

    Returns
    -------
    frame like X
        With five more columns: `odd_score`, `odd_p`, `odd_verdict`, `odd_cells` and `odd_reasons`. For an array, a
        record array of the five new columns.

    Examples
    --------
    >>> import numpy as np, oddcell
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[7, 1] = 9.0
    >>> found = oddcell.detect(rows, top=1, train_for="300 steps")  # shorter than the default, for this example
    >>> int(found.odd_verdict.argmax())
    7
    >>> found.odd_reasons[7].split(":")[0]
    'x2 9'
    """
    rule = Rule(alpha=alpha, fdr=fdr, top=top, contamination=contamination)
    X, _, found = found_in(
        X,
        detector,
        rule=rule,
        preset=preset,
        random_state=random_state,
        categorical=categorical,
        progress=progress,
        **params,
    )
    warn_of(found["notes"])
    return with_found(X, {name: found[name] for name in _oddcell.FOUND_COLUMNS})


def load(path: str | os.PathLike[str], *, contamination: float | str | None = None) -> Detector:
    """Load an estimator from a model file, written by `save` or the command line. Loading never executes code.

    Parameters
    ----------
    path : path
    contamination : "auto", float or None
        `predict` flags rows that score higher than all but this share of the calibration rows, whose scores are in the
        file. "auto" is one in a hundred. Default: as it was when `save` wrote the file, so that `predict` flags the
        same rows; "auto" for files of the command line.

    Examples
    --------
    >>> import numpy as np, oddcell, tempfile, os
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> path = os.path.join(tempfile.mkdtemp(), "normal.oddcell")
    >>> oddcell.KNN().fit(rows).save(path)
    >>> oddcell.load(path)
    KNN()
    """
    from oddcell import _estimators

    model = _oddcell.Model.load(path)
    kind = _estimators.BY_NAME[model.detector]
    params = {argument_name(key): value for key, value in model.params.items()}
    options = model.options
    # `one_hot` is a parameter of `noise` and an option of all detectors. It is on if either is.
    both = {name: params[name] or options[name] for name in params.keys() & options.keys()}
    estimator = kind(**{**params, **options, **both}, random_state=model.seed, contamination=contamination)
    estimator._loaded(model)
    return estimator
