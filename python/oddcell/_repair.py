"""Odd cells replaced by what should stand there: `repair`, and `CellRepair` for pipelines of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from oddcell import _oddcell
from oddcell._base import Detector, checked, seed_of, warn_of
from oddcell._data import settled
from oddcell._detect import learning_of, table_to_judge
from oddcell._progress import Progress, reported
from oddcell._rules import Rule
from oddcell._typed import list_like, repaired_like


def repair(
    X: Any,
    model: Detector | None = None,
    *,
    alpha: float | None = None,
    fdr: float | None = None,
    top: int | None = None,
    sure: float | None = None,
    blank: bool = False,
    return_changes: bool = False,
    random_state: Any = 0,
    categorical: Sequence[str] = (),
    progress: Progress = None,
    **params: Any,
) -> Any:
    """Replace the odd cells of a table by what should stand there. X itself is not changed.

    Repaired values are proposals: look at the changes.

    Parameters
    ----------
    X : frame or array-like of shape (n_samples, n_features)
    model : fitted estimator or None
        Judges the cells by what it learned. Without a model, the cells are judged by the other rows of X, and columns
        that identify rows are judged, too.
    alpha, fdr, top : number
        Which cells are odd, as in `oddcell.cells`.
    sure : float, optional
        Replaces only cells whose expected value is at least so sure, from 0 to 1. Default: 0.5. The others are left
        alone.
    blank : bool
        Empties all odd cells instead of replacing them.
    return_changes : bool
        Whether to return the changes, too.
    random_state, categorical, progress, **params
        As in `oddcell.cells`.

    Returns
    -------
    repaired : frame or ndarray like X
        With the same index, column names and types; a type is widened where a repaired cell does not fit into it.
    changes : frame like X
        Only if `return_changes`. One row for each changed cell: `row` and `column` as in `oddcell.cells`, the cell
        `before` and `after` as text (None if it is empty), its p-value `p`, how `sure` the new value is, and the
        `reason`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, oddcell
    >>> random = np.random.default_rng(0)
    >>> boxes = pd.DataFrame({"length": random.normal(20, 2, 400).round(1)})
    >>> boxes["width"] = (boxes["length"] / 2).round(1)
    >>> boxes.loc[7, "width"] = 99.0
    >>> repaired, changes = oddcell.repair(boxes, top=1, return_changes=True)
    >>> changes[["row", "column", "before"]]
       row column before
    0    7  width   99.0
    >>> bool(abs(repaired.loc[7, "width"] - boxes.loc[7, "length"] / 2) < 0.5)
    True
    """
    rule = Rule(alpha=alpha, fdr=fdr, top=top, contamination=None)
    cure = {"sure": sure, "blank": blank}
    if model is not None:
        if params:
            raise TypeError(f"`{min(params)}` cannot be combined with a model")
        X, table = model._to_judge(X)
        with reported(progress, "judging") as callback:
            done = model.model_.repair(table, rule, cure, callback)
    else:
        X, table = table_to_judge(X)
        learning = learning_of(None, params, random_state, categorical)
        with reported(progress, "learning") as callback:
            done = _oddcell.repair(table, learning, rule, cure, callback)
        warn_of(done["notes"])
    repaired = repaired_like(X, table.names, done["table"], done["changes"])
    return (repaired, list_like(X, table.names, done["changes"])) if return_changes else repaired


class CellRepair(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replaces odd cells by what should stand there, in a pipeline of scikit-learn.

    `fit` learns what is normal, `transform` repairs. The columns, their names and their order stay. Put it in front of
    imputers and encoders: it takes mixed frames with nulls.

    Parameters
    ----------
    alpha, fdr, top : number or None, default None
        Which cells are odd; give at most one. Default: `alpha=0.01`. `fdr` and `top` compare all rows given to
        `transform`; `alpha` judges each row by itself.
    sure : float or None, default None
        Replaces only cells whose expected value is at least so sure, from 0 to 1. None: 0.5.
    blank : bool, default False
        Empties odd cells instead of replacing them, for an imputer that follows.
    random_state : Any, default 0
        The seed. None or a RandomState instance draws a seed, as in scikit-learn.
    categorical : Sequence[str], default ()
        Columns to treat as categories even if they hold numbers or dates, such as postcodes.
    ignore : Sequence[str], default ()
        Columns that are neither judged nor used to judge others. They are passed through.

    Attributes
    ----------
    estimator_ : Columns
        The fitted estimator that judges cells.
    n_features_in_ : int
        The number of columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they have names.

    Examples
    --------
    >>> import numpy as np, oddcell
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X = np.column_stack([X, X.sum(axis=1)])
    >>> model = make_pipeline(oddcell.CellRepair(), LinearRegression()).fit(X, X[:, 0])
    >>> bool(abs(model.predict([[0.5, 0.2, 1000.0]])[0] - 0.5) < 0.5)
    True
    """

    estimator_: Detector

    def __init__(
        self,
        *,
        alpha: float | None = None,
        fdr: float | None = None,
        top: int | None = None,
        sure: float | None = None,
        blank: bool = False,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> None:
        self.alpha = alpha
        self.fdr = fdr
        self.top = top
        self.sure = sure
        self.blank = blank
        self.random_state = random_state
        self.categorical = categorical
        self.ignore = ignore

    def fit(self, X: Any, y: Any = None) -> CellRepair:
        """Learn what is normal from the rows of X. `y` is ignored."""
        from oddcell import _estimators

        estimator = _estimators.Columns(
            contamination="auto",
            random_state=seed_of(self.random_state),
            categorical=self.categorical,
            ignore=self.ignore,
        )
        self.estimator_ = estimator.fit(checked(self, settled(X), reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """Return X with its odd cells replaced.

        Returns
        -------
        frame or ndarray like X
        """
        return self._repair(X, return_changes=False)

    def changes(self, X: Any) -> Any:
        """What `transform` changes in X, as a list; see `oddcell.repair`."""
        return self._repair(X, return_changes=True)[1]

    def _repair(self, X: Any, *, return_changes: bool) -> Any:
        check_is_fitted(self)
        X = checked(self, settled(X), reset=False)
        return repair(
            X,
            self.estimator_,
            alpha=self.alpha,
            fdr=self.fdr,
            top=self.top,
            sure=self.sure,
            blank=self.blank,
            return_changes=return_changes,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
