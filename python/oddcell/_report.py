"""The HTML report of judged rows."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any

import numpy as np

from oddcell._base import Detector, warn_of
from oddcell._detect import found_in
from oddcell._progress import Progress, reported
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
    top: int | None = None,
    contamination: float | None = None,
    progress: Progress = None,
    **learning: Any,
) -> None:
    """Write an HTML page that shows which rows of a table are odd, and why. The page is one file and works offline.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    path : path
        Where to write the page. A failed run leaves no partial file.
    model : fitted estimator or None
        Judges the rows. Without a model, the rows are judged by each other, as in `oddcell.detect`.
    y : array-like of shape (n_samples,) or None
        Known labels: 1 or True for anomalies, 0 or False for other rows. They add curves and a confusion table to the
        page. The detector does not learn from them.
    name : str
        The name of the table on the page.
    alpha, fdr, top, contamination : number
        Which rows are odd, as in `judge` and `oddcell.detect`. Readers can change it on the page.
    progress : None, "tqdm" or function of done, total and loss
    **learning
        Without a model: the arguments of `oddcell.detect`, such as `detector="knn"`.

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
    rule = Rule(alpha=alpha, fdr=fdr, top=top, contamination=contamination)
    page = {
        "path": os.fspath(path),
        "data": name,
        "made": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "truths": None if y is None else truths_of(y),
    }
    if model is None:
        _, _, found = found_in(X, rule=rule, progress=progress, page=page, **learning)
        warn_of(found["notes"])
        return
    if learning:
        raise TypeError(f"{', '.join(learning)}: the model is already fitted; leave out this argument or the model")
    _, table = model._to_judge(X)
    with reported(progress, "judging") as callback:
        model.model_.report(table, rule, page, callback)


def truths_of(y: Any) -> list[bool]:
    """The labels as booleans."""
    values = np.asarray(y).ravel()
    if values.dtype == object or not np.isin(values, (0, 1)).all():
        raise ValueError("y must be 1 or True for anomalies and 0 or False for the other rows")
    return [bool(value) for value in values]
