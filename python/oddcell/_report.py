"""The page that shows which rows are odd and why."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any

import numpy as np

from oddcell._base import Detector, tell
from oddcell._detect import found_in
from oddcell._progress import Progress, told
from oddcell._rules import Rule


def report(
    X: Any,
    path: str | os.PathLike[str],
    model: Detector | None = None,
    *,
    y: Any = None,
    name: str = "the table",
    alpha: float | None = None,
    fdr: float | None = None,
    n_odd: int | None = None,
    contamination: float | None = None,
    progress: Progress = None,
    **learning: Any,
) -> None:
    """Writes one HTML file, without any network, that shows which rows of a table are odd and why.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    path : path
        Where the page goes; written whole or not at all.
    model : fitted estimator or None
        What judges the rows. Without one they are judged by each other, as by `oddcell.detect`.
    y : array-like of shape (n_samples,) or None
        1 or True for anomalies, 0 or False for the others, if that is known: the page then has curves and a confusion
        table. Nothing is learned from it.
    name : str
        What the table is called on the page.
    alpha, fdr, n_odd, contamination : number
        Which rows are called odd, as in `judge` and `oddcell.detect`; on the page it can be changed.
    progress : None, "tqdm" or function of done, total and loss
    **learning
        Without a model: what `oddcell.detect` takes, such as `detector="knn"`.

    Examples
    --------
    >>> import numpy as np, oddcell, tempfile, os
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = oddcell.KNN().fit(rows)
    >>> path = os.path.join(tempfile.mkdtemp(), "page.html")
    >>> oddcell.report(rows, path, model, name="two hundred rows")
    >>> "two hundred rows" in open(path, encoding="utf-8").read()
    True
    """
    rule = Rule(alpha=alpha, fdr=fdr, n_odd=n_odd, contamination=contamination)
    page = {
        "path": os.fspath(path),
        "data": name,
        "made": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "truths": None if y is None else truths_of(y),
    }
    if model is None:
        _, _, found = found_in(X, rule=rule, progress=progress, page=page, **learning)
        tell(found["notes"])
        return
    if learning:
        raise TypeError(f"{', '.join(learning)}: the model has learned already; leave it out, or leave out the model")
    _, table = model._to_judge(X)
    with told(progress, "judging") as callback:
        model.model_.report(table, rule, page, callback)


def truths_of(y: Any) -> list[bool]:
    """y as truth values."""
    values = np.asarray(y).ravel()
    if values.dtype == object or not np.isin(values, (0, 1)).all():
        raise ValueError("y must be 1 or True for anomalies and 0 or False for the other rows")
    return [bool(value) for value in values]
