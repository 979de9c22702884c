"""`cells`, which lists the odd cells of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oddcell import _oddcell
from oddcell._base import Detector, warn_of
from oddcell._detect import learning_of, table_to_judge
from oddcell._progress import Progress, reported
from oddcell._rules import Rule
from oddcell._typed import list_like


def cells(
    X: Any,
    model: Detector | None = None,
    *,
    alpha: float | None = None,
    fdr: float | None = None,
    top: int | None = None,
    random_state: Any = 0,
    categorical: Sequence[str] = (),
    progress: Progress = None,
    **params: Any,
) -> Any:
    """List the odd cells of a table, with what should stand there.

    Every cell is compared with what the other cells of its row let expect. A cell that is odd only beside a wrong one
    is not listed.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    model : fitted estimator or None
        Judges the cells by what it learned. Without a model, the cells are judged by the other rows of X, and columns
        that identify rows are judged, too.
    alpha, fdr, top : number
        Which cells are odd; give at most one. `alpha`: cells with a p-value of at most `alpha`. `fdr`: as many cells as
        keep the false-discovery rate at `fdr`. `top`: the `top` oddest cells. Default: `fdr=0.1`, with a model
        `alpha=0.01`.
    random_state : int, RandomState instance or None
        The seed. The same rows, parameters and seed give the same bits.
    categorical : list of str
        Columns to treat as categories even if they hold numbers or dates.
    progress : None, "tqdm" or function of done, total and loss
    **params
        Without a model: options that all estimators share, such as `ignore=["note"]`, and parameters of the detector
        `columns`.

    Returns
    -------
    frame like X
        One row for each odd cell, row by row, the oddest cell of a row first. For an array, a record array.

        - `row`: the position of the row, counted from 0; for a frame of pandas, its label in the index
        - `column`: the name of the column
        - `value`: the cell as text; None if it is empty
        - `p`: its p-value, the share of normal cells of the column that are at least as odd
        - `expected`: what should stand there, as text; empty if the cell should be empty, None if nothing can be said
        - `low`, `high`: numbers and dates: nine in ten predicted cells lay in this range
        - `reason`: what is odd about the cell

    Examples
    --------
    >>> import numpy as np, pandas as pd, oddcell
    >>> random = np.random.default_rng(0)
    >>> boxes = pd.DataFrame({"length": random.normal(20, 2, 400).round(1)})
    >>> boxes["width"] = (boxes["length"] / 2).round(1)
    >>> boxes.loc[7, "width"] = 99.0
    >>> oddcell.cells(boxes, top=1)[["row", "column", "value"]]
       row column value
    0    7  width  99.0
    """
    rule = Rule(alpha=alpha, fdr=fdr, top=top, contamination=None)
    if model is not None:
        if params:
            raise TypeError(f"`{min(params)}` cannot be combined with a model")
        X, table = model._to_judge(X)
        with reported(progress, "judging") as callback:
            found = model.model_.cells(table, rule, callback)
    else:
        X, table = table_to_judge(X)
        learning = learning_of(None, params, random_state, categorical)
        with reported(progress, "learning") as callback:
            found = _oddcell.cells(table, learning, rule, callback)
        warn_of(found["notes"])
    return list_like(X, table.names, found["called"])
