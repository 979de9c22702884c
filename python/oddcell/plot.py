"""Figures of judged rows. Needs matplotlib: pip install 'oddcell[plot]'.

Both functions take a table and optionally the fitted estimator that judges it. Without an estimator, the rows are
judged by each other, as in `oddcell.detect`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from oddcell._base import Detector
from oddcell._data import is_frame, is_pandas, is_polars
from oddcell._detect import found_in
from oddcell._rules import RULES, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# An odd cell, any other cell, and the text in each.
_ODD, _PLAIN, _ON_ODD, _ON_PLAIN = "#c04a00", "#f4f4f2", "white", "#50565e"
# The longest cell text shown, in characters.
_LONGEST = 14


def cells(X: Any, model: Detector | None = None, *, rows: int = 20, ax: Axes | None = None, **detect: Any) -> Axes:
    """Draw the oddest rows: the cells that make a row odd are solid, with what should stand there below their value.

    A row that the rule does not call odd has no solid cells.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    model : fitted estimator, optional
        Without a model, the rows are judged by each other.
    rows : int
        How many rows to show; the oddest is on top.
    ax : matplotlib Axes, optional
    **detect
        `alpha`, `fdr`, `top` or `contamination`, as in `judge` and `oddcell.detect`. Without a model also the other
        arguments of `oddcell.detect`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        If the model learned nothing about cells.

    Examples
    --------
    >>> import numpy as np, oddcell
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[7, 1] = 9.0
    >>> ax = oddcell.plot.cells(rows, rows=5, train_for="300 steps")
    >>> ax.get_yticklabels()[0].get_text()
    '7'
    """
    X, names, found = _judged(X, model, detect)
    if found["set"] is None:
        raise TypeError("this model learned about rows only; fit it again to draw their cells")
    oddest = np.argsort(-found["odd_score"], kind="stable")[:rows]
    place = {int(row): at for at, row in enumerate(oddest)}
    odd = np.zeros((len(oddest), len(names)))
    texts = _texts(X, oddest)
    for row, column, expected in zip(*(found["set"][part] for part in ("row", "column", "expected")), strict=True):
        if row in place and found["odd_verdict"][row]:
            at = place[row], names.index(column)
            odd[at] = 1
            if expected is not None:
                texts[at[0]][at[1]] += f"\n→ {_text(expected) or 'empty'}"
    if ax is None:
        ax = _axes(figsize=(1.5 + 1.1 * len(names), 1.2 + 0.42 * len(oddest)))
    # White lines between the cells.
    ax.pcolormesh(odd, cmap=_colors(), vmin=0, vmax=1, edgecolors="white", linewidth=1)
    ax.invert_yaxis()
    ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=35, ha="left", rotation_mode="anchor")
    ax.xaxis.tick_top()
    labels = X.index[oddest] if is_pandas(X) else oddest
    ax.set_yticks(np.arange(len(oddest)) + 0.5, [str(label) for label in labels])
    ax.set_ylabel("row, the oddest first")
    ax.set_xlabel("solid: the cells that make the row odd  ·  →: what should stand there")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for (row, column), is_odd in np.ndenumerate(odd):
        color, weight = (_ON_ODD, "bold") if is_odd else (_ON_PLAIN, "normal")
        text = texts[row][column]
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=color, weight=weight)
    return ax


def scores(X: Any, model: Detector | None = None, *, ax: Axes | None = None, **rule: Any) -> Axes:
    """Draw a histogram of the scores, with odd rows in another color.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    model : fitted estimator, optional
        Without a model, the rows are judged by each other.
    ax : matplotlib Axes, optional
    **rule
        `alpha`, `fdr`, `top` or `contamination`, as in `judge` and `oddcell.detect`. Without a model also the other
        arguments of `oddcell.detect`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, oddcell
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> ax = oddcell.plot.scores(rows, detector="knn", top=3)
    >>> ax.get_xlabel()
    'score (higher is odder)'
    """
    _, _, found = _judged(X, model, rule)
    odd, values = found["odd_verdict"], found["odd_score"]
    if ax is None:
        ax = _axes(figsize=(7, 3.6))
    edges = np.histogram_bin_edges(values, bins=60)
    ax.hist(
        [values[~odd], values[odd]],
        bins=edges.tolist(),
        stacked=True,
        color=["#9ab1c6", "#d9541a"],
        label=[f"normal: {np.sum(~odd):,}", f"odd: {np.sum(odd):,}"],
    )
    # On a linear scale, a few odd rows among many would be invisible.
    ax.set_yscale("symlog", linthresh=10)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("score (higher is odder)")
    ax.set_ylabel("rows")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def _judged(X: Any, model: Detector | None, arguments: dict[str, Any]) -> tuple[Any, list[str], dict[str, Any]]:
    """X as it was read, the library's names of its columns, and everything found in it."""
    rule = rule_of({name: arguments.pop(name) for name in RULES if name in arguments})
    if model is None:
        X, table, found = found_in(X, rule=rule, **arguments)
    else:
        if arguments:
            raise TypeError(f"`{min(arguments)}` cannot be combined with a model")
        X, table = model._to_judge(X)
        found = model.model_.found(table, rule)
    return X, table.names, found


def _texts(X: Any, rows: np.ndarray) -> list[list[str]]:
    """The cells of some rows of X as short texts."""
    if is_pandas(X):
        picked = X.iloc[rows].astype(object).to_numpy()
    elif is_polars(X):
        picked = [X.row(int(row)) for row in rows]
    elif is_frame(X):
        picked = [list(row.values()) for row in X.take(rows).to_pylist()]
    else:
        picked = np.asarray(X)[rows].tolist()
    return [[_text(cell) for cell in row] for row in picked]


def _colors() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([_PLAIN, _ODD])


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell).removesuffix(" 00:00:00")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _axes(figsize: tuple[float, float]) -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("oddcell.plot needs matplotlib: pip install 'oddcell[plot]'") from error
    _, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    return ax
