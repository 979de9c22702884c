"""What all estimators share: scikit-learn's conventions around a model of the library."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from oddcell import _oddcell
from oddcell._data import is_frame, like, over_columns, settled, table_of_array, table_of_frame, with_found
from oddcell._names import argument_name
from oddcell._progress import told
from oddcell._rules import rule_of

_UNNAMED = re.compile(r"x[1-9][0-9]*")


class OddCellWarning(UserWarning):
    """Something worth knowing about the columns of a table, such as that one was left out."""


def tell(notes: Iterable[str]) -> None:
    """Warns the caller of the caller."""
    for note in notes:
        warnings.warn(note, OddCellWarning, stacklevel=3)


def seed_of(random_state: Any) -> int:
    """A whole number is the seed itself; otherwise one is drawn, as scikit-learn has it."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state is {random_state}, but must be from 0 to 2^64 - 1")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class Detector(OutlierMixin, BaseEstimator):
    """What all estimators share. Use its subclasses."""

    _detector: ClassVar[str]
    _detector_params: ClassVar[tuple[str, ...]]
    _options: ClassVar[tuple[str, ...]]

    contamination: Any
    random_state: Any
    categorical: Any
    progress: Any
    model_: _oddcell.Model
    offset_: float
    # Those of the training table; None where a file does not tell their order.
    _column_names: list[str] | None

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn what is normal.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows believed normal, or mostly so. Frames keep names, categories, dates and nulls; in arrays NaN is a null.
        y : ignored
            Only for scikit-learn's conventions.

        Returns
        -------
        self
        """
        # A wrong share should not be told after minutes of training.
        if self.contamination != "auto":
            _oddcell.threshold(np.empty(0), self.contamination)
        X = settled(X)
        table = self._table(X, reset=True)
        learning = {
            "detector": self._detector,
            "params": {name: getattr(self, argument_name(name)) for name in self._detector_params},
            "options": {name: getattr(self, name) for name in self._options},
            "categorical": list(self.categorical),
            "seed": seed_of(self.random_state),
        }
        with told(self.progress, "learning") as callback:
            self.model_ = _oddcell.Model.fit(table, learning, callback)
        self.offset_ = -self._threshold(table)
        tell(self.model_.notes)
        return self

    def _threshold(self, table: _oddcell.Table) -> float:
        if self.contamination == "auto":
            return self.model_.threshold()
        return _oddcell.threshold(self.model_.judge(table)[0], self.contamination)

    def score_samples(self, X: Any) -> np.ndarray:
        """How normal rows are: the negated score, so that lower is more anomalous.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return -self._judge(X)[0]

    def decision_function(self, X: Any) -> np.ndarray:
        """The same, moved so that what is below 0 is called anomalous: `score_samples(X) - offset_`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """1 for normal rows, -1 for anomalous ones.

        Returns
        -------
        ndarray of int of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: Any) -> np.ndarray:
        """How often a normal row scores at least as high. Of normal rows, a share of 5 % gets a p-value up to 0.05.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._judge(X)[1]

    def explain(self, X: Any, units: Literal["std", "column"] = "std") -> Any:
        """How much noise sits in every cell.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        units : {"std", "column"}
            In standard deviations of the training rows, comparable from column to column; or in the unit of the column:
            numbers as they are, dates in seconds, categories and booleans from 0 (not odd) to 1 (surely odd).

        Returns
        -------
        frame or ndarray like X
            The same shape, column names and index. Columns that make no features (identifiers, ignored ones) are NaN.
        """
        X, table = self._to_judge(X)
        noise = self.model_.explain(table, units)
        return like(X, over_columns(table.names, self.model_.columns, noise))

    def judge(self, X: Any, **rule: Any) -> Any:
        """X with four columns more: `odd_score`, `odd_p`, `odd_verdict` and `odd_reasons`.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        alpha, fdr, n_odd, contamination : number
            Which rows are called odd; at most one of them. p-value at most `alpha`; false-discovery rate `fdr`; the
            `n_odd` rows with the highest scores; the share `contamination` of the calibration rows lies above. By
            default one normal row in a hundred is called odd.

        Returns
        -------
        frame like X; of an array, a record array with the four columns only
        """
        X, table = self._to_judge(X)
        found = self.model_.found(table, rule_of(rule))
        return with_found(X, {name: found[name] for name in _oddcell.FOUND_COLUMNS})

    def score_batches(self, batches: Iterable[Any], **rule: Any) -> Iterator[Any]:
        """Judges batch after batch, as they come: a generator in, a generator out. No more than one batch is held.

        Parameters
        ----------
        batches : iterable of frames or arrays
            Also a `pyarrow.RecordBatchReader`.
        alpha, contamination : number
            As in `judge`. Rules that need all rows first (`fdr`, `n_odd`) are refused.

        Yields
        ------
        what `judge` returns, for every batch
        """
        check_is_fitted(self)
        choice = rule_of(rule)
        if choice["fdr"] is not None or choice["n_odd"] is not None:
            raise ValueError("fdr and n_odd need all rows before the first verdict; batches have alpha and contamination")
        return (self.judge(batch, **rule) for batch in batches)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file that `oddcell.load` and the command line read; nothing in it is ever executed.

        It holds the model and its parameters, but not `contamination`, which belongs to this estimator.
        """
        check_is_fitted(self)
        self.model_.save(path)

    @classmethod
    def from_preset(cls, name: str, **params: Any) -> Any:
        """An estimator with the parameters of a preset, and others that win over it."""
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
        """The rows of X, checked as scikit-learn has it, under the names of the training table."""
        # A loaded model may not know how all columns of its training table were ordered; names are enough.
        names = None if reset else self._column_names
        if not reset and names is None:
            if not is_frame(X):
                raise ValueError(
                    "the model was loaded, and columns of its training table were left out; give it a frame, whose "
                    "columns have names"
                )
            return table_of_frame(X)
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            table = table_of_frame(X)
        else:
            X = validate_data(
                self,
                X,
                reset=reset,
                dtype="numeric",
                ensure_all_finite="allow-nan",
                ensure_min_samples=2 if reset else 1,
            )
            table = table_of_array(X)
        if reset:
            self._column_names = table.names
        elif names is not None and table.names != names:
            table = table.renamed(names)
        return table

    def _loaded(self, model: _oddcell.Model) -> Any:
        """This estimator, fitted with a model out of a file."""
        self.model_ = model
        self.offset_ = -model.threshold(None if self.contamination == "auto" else self.contamination)
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
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A null takes the mean, and a column that had nulls in training has a feature for it.
        tags.input_tags.allow_nan = True
        return tags
