"""The base class of all estimators: scikit-learn's conventions around a model of the library."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from oddcell import _oddcell
from oddcell._batches import judged
from oddcell._data import is_frame, like, over_columns, settled, table_of_array, table_of_frame, with_found
from oddcell._names import argument_name
from oddcell._progress import reported
from oddcell._rules import rule_of
from oddcell._typed import cells_like

_UNNAMED = re.compile(r"x[1-9][0-9]*")


class OddCellWarning(UserWarning):
    """Something worth knowing about the columns of a table, for example that one was left out."""


def warn_of(notes: Iterable[str]) -> None:
    """Warns about each note, at the line that called our caller."""
    for note in notes:
        warnings.warn(note, OddCellWarning, stacklevel=3)


def seed_of(random_state: Any) -> int:
    """The seed: `random_state` itself if it is an integer, otherwise drawn from it as scikit-learn does."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state is {random_state}, but must be from 0 to 2^64 - 1")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def checked(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X, checked as scikit-learn does: the number, the names and the order of its columns. Arrays become numbers."""
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    least = 2 if reset else 1
    return validate_data(
        estimator, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=least
    )


class Detector(OutlierMixin, BaseEstimator):
    """The base class of all estimators. Use one of its subclasses."""

    _detector: ClassVar[str]
    _detector_params: ClassVar[tuple[str, ...]]

    contamination: Any
    random_state: Any
    categorical: Any
    progress: Any
    model_: _oddcell.Model
    offset_: float
    # Of the training table; None for a loaded model that does not know their order.
    _column_names: list[str] | None

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn what normal rows look like.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows that are all or mostly normal. Frames keep their column names, categories, dates and nulls. In arrays,
            NaN is a null.
        y : ignored
            Present because scikit-learn's convention requires it.

        Returns
        -------
        self
        """
        # Check the share before training, which may take minutes.
        if self.contamination != "auto":
            _oddcell.threshold(np.empty(0), self.contamination)
        X = settled(X)
        table = self._table(X, reset=True)
        learning = {
            "detector": self._detector,
            "params": {name: getattr(self, argument_name(name)) for name in self._detector_params},
            "options": {name: getattr(self, name) for name in _oddcell.default_options()},
            "categorical": list(self.categorical),
            "seed": seed_of(self.random_state),
        }
        with reported(self.progress, "learning") as callback:
            self.model_ = _oddcell.Model.fit(table, learning, callback)
        self.offset_ = -self._threshold(table)
        warn_of(self.model_.notes)
        return self

    def _threshold(self, table: _oddcell.Table) -> float:
        if self.contamination == "auto":
            return self.model_.threshold()
        return _oddcell.threshold(self.model_.judge(table)[0], self.contamination)

    def score_samples(self, X: Any) -> np.ndarray:
        """The negated anomaly score of each row: lower is more anomalous.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return -self._judge(X)[0]

    def decision_function(self, X: Any) -> np.ndarray:
        """`score_samples(X) - offset_`: negative for anomalies.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """1 for normal rows, -1 for anomalies.

        Returns
        -------
        ndarray of int of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: Any) -> np.ndarray:
        """The p-value of each row: the share of normal rows that score at least as high.

        About 5 % of normal rows have a p-value of at most 0.05.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._judge(X)[1]

    def explain(self, X: Any, units: Literal["std", "column"] = "std") -> Any:
        """How anomalous each cell is: the noise that the detector finds in it.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        units : {"std", "column"}
            "std": in standard deviations of the training rows, which makes columns comparable. "column": in the unit of
            the column; numbers as they are, dates in seconds, categories and booleans from 0 (normal) to 1 (odd).

        Returns
        -------
        frame or ndarray like X
            With the same shape, column names and index. Columns that the model does not use (identifiers, ignored
            columns) are NaN.

        Raises
        ------
        TypeError
            If the detector scores rows only, not cells.
        """
        X, table = self._to_judge(X)
        noise = self.model_.explain(table, units)
        return like(X, over_columns(table.names, self.model_.columns, noise))

    def reasons(self, X: Any) -> list[dict[str, Any]]:
        """Why each row is odd: the cells that make it so, with figures. The command line writes the same to JSON lines.

        Returns
        -------
        list of dict
            One per row, empty if the row is normal: the name of a column, and a dict with `noise`, its `unit`, the
            `value`, the p-value `p` of the cell, and what is `normal`. It also has `tells` if more than the value is
            odd, such as a misspelled name, and `expected`, a dict with the `value` that should stand there, a range
            from `low` to `high` or the likely `levels`, and how `sure` that is, from 0 to 1.
        """
        _, table = self._to_judge(X)
        return [json.loads(row) for row in self.model_.reasons(table)]

    def cells(self, X: Any) -> Any:
        """The p-value of each cell: the share of normal cells of its column that are at least as odd.

        `oddcell.cells(X, model)` lists the odd ones.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        frame or ndarray like X
            With the same shape, column names and index. Columns that the model does not use are NaN.
        """
        X, table = self._to_judge(X)
        found = self.model_.cells(table, rule_of({}))
        return like(X, over_columns(table.names, found["columns"], found["p"]))

    def expected(self, X: Any) -> Any:
        """What should stand in each cell, by the other cells of its row.

        That is the likeliest value of a name, the middle of what is likely for a number or a date, and the common
        spelling of a misspelled name. A cell that differs from it need not be wrong: `cells` says how odd it is.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        frame or ndarray like X
            With the same shape, column names, index and types. Null where the cell should be empty, where nothing can
            be said, as of free text, and in columns that the model does not use.
        """
        X, table = self._to_judge(X)
        return cells_like(X, table.names, self.model_.expected(table))

    def repair(
        self,
        X: Any,
        *,
        sure: float | None = None,
        blank: bool = False,
        return_changes: bool = False,
        alpha: float | None = None,
        fdr: float | None = None,
        top: int | None = None,
    ) -> Any:
        """Replace the odd cells of X by what should stand there. X itself is not changed.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        sure, blank, return_changes, alpha, fdr, top
            As in `oddcell.repair`; the default rule is `alpha=0.01`.

        Returns
        -------
        frame or ndarray like X
            With `return_changes`, also a frame of the changes; see `oddcell.repair`.
        """
        from oddcell._repair import repair

        return repair(X, self, alpha=alpha, fdr=fdr, top=top, sure=sure, blank=blank, return_changes=return_changes)

    def judge(self, X: Any, **rule: Any) -> Any:
        """Return X with five more columns: `odd_score`, `odd_p`, `odd_verdict`, `odd_cells` and `odd_reasons`.

        `odd_cells` says how many cells make the row odd: those that would have to be repaired to make it normal.
        `odd_reasons` tells of these cells, and what should stand there.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        alpha, fdr, top, contamination : number
            Which rows are odd; give at most one. `alpha`: rows with a p-value of at most `alpha`. `fdr`: as many rows
            as keep the false-discovery rate at `fdr`. `top`: the `top` rows with the highest scores. `contamination`:
            rows that score higher than all but this share of the calibration rows. Default: `alpha=0.01`, which flags
            about one normal row in a hundred.

        Returns
        -------
        frame like X
            For an array, a record array of the five new columns.
        """
        X, table = self._to_judge(X)
        found = self.model_.found(table, rule_of(rule))
        return with_found(X, {name: found[name] for name in _oddcell.FOUND_COLUMNS})

    def score_batches(self, batches: Iterable[Any], **rule: Any) -> Iterator[Any]:
        """Judge a table batch by batch. Only one batch is in memory at a time.

        The verdicts are those of `judge` on the whole table. With `alpha` and `contamination`, each batch is judged
        when it is asked for. `fdr` and `top` compare all rows: the first call of `next` reads all batches and keeps
        them in temporary files, which are deleted when the generator ends. Errors count rows over all batches.

        Parameters
        ----------
        batches : iterable of frames or arrays
            For example a generator or a `pyarrow.RecordBatchReader`.
        alpha, fdr, top, contamination : number
            Which rows are odd, as in `judge`.

        Yields
        ------
        the result of `judge` for each batch
        """
        check_is_fitted(self)
        stream = _oddcell.Stream(self.model_, rule_of(rule))
        return judged((self._to_judge(batch) for batch in batches), stream)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file for `oddcell.load` and the command line. Loading it never executes code.

        A number as `contamination` is kept in the file with the threshold that it gave, so that the loaded estimator
        predicts the same.
        """
        check_is_fitted(self)
        threshold = None if self.contamination == "auto" else (float(self.contamination), -self.offset_)
        self.model_.save(path, threshold)

    @classmethod
    def from_preset(cls, name: str, **params: Any) -> Any:
        """Create an estimator with the parameters of a preset; `params` override them."""
        preset = {argument_name(key): value for key, value in _oddcell.preset(cls._detector, name).items()}
        return cls(**{**preset, **params})

    def _judge(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        _, table = self._to_judge(X)
        return self.model_.judge(table)

    def _to_judge(self, X: Any) -> tuple[Any, _oddcell.Table]:
        check_is_fitted(self)
        X = settled(X)
        return X, self._table(X, reset=False)

    def _table(self, X: Any, *, reset: bool) -> _oddcell.Table:
        """The rows of X, checked as scikit-learn does, with the column names of the training table."""
        # A loaded model may not know the column order of its training table, and then needs names.
        names = None if reset else self._column_names
        if not reset and names is None:
            if not is_frame(X):
                raise ValueError(
                    "this model was loaded from a file and does not know the order of the columns it left out; "
                    "pass a frame, whose columns have names"
                )
            return table_of_frame(X)
        X = checked(self, X, reset=reset)
        table = table_of_frame(X) if is_frame(X) else table_of_array(X)
        if reset:
            self._column_names = table.names
        elif names is not None and table.names != names:
            table = table.renamed(names)
        return table

    def _loaded(self, model: _oddcell.Model) -> None:
        """Makes this estimator a fitted one, with a model from a file."""
        self.model_ = model
        saved = model.saved_threshold
        if saved is not None and self.contamination is None:
            self.contamination, score = saved
        else:
            self.contamination = "auto" if self.contamination is None else self.contamination
            score = model.threshold(None if self.contamination == "auto" else self.contamination)
        self.offset_ = -score
        names = [*model.columns, *(name for name, _ in model.left_out)]
        self.n_features_in_ = len(names)
        unnamed = all(_UNNAMED.fullmatch(name) for name in names)
        if unnamed:
            self._column_names = [f"x{at + 1}" for at in range(len(names))]
        elif model.left_out:
            self._column_names = None
        else:
            self._column_names = names
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A null becomes the mean. Columns that had nulls in training also have a feature that says "null".
        tags.input_tags.allow_nan = True
        return tags
