"""Noise evaluation as a PyOD detector: higher scores are more anomalous, and labels are 0 and 1.

>>> import numpy as np
>>> from oddcell.pyod import OddCell
>>> rows = np.random.default_rng(0).normal(size=(200, 3))
>>> model = OddCell(contamination=0.01, train_for="300 steps").fit(rows)
>>> model.predict([[0.1, 0.2, 0.3], [0.1, 9.0, 0.3]])
array([0, 1])
>>> int(model.labels_.sum())
2
"""

from __future__ import annotations

import inspect
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

try:
    from pyod.models.base import BaseDetector
except ImportError as error:
    raise ImportError("oddcell.pyod needs PyOD: pip install 'oddcell[pyod]'") from error

from oddcell import _estimators

_SIGNATURE = inspect.signature(_estimators.OddCell.__init__)
_DEFAULTS = {name: argument.default for name, argument in _SIGNATURE.parameters.items() if name != "self"}


class OddCell(BaseDetector):
    """Noise evaluation: a small neural net estimates how much noise is in each cell.

    Takes the parameters of `oddcell.OddCell`. `contamination` is a share, or anything else that PyOD accepts.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n_samples,)
        The scores of the training rows. Higher is more anomalous.
    threshold_ : float
        Rows with a higher score are anomalies.
    labels_ : ndarray of shape (n_samples,)
        1 for training rows that are anomalies, 0 for the others.
    estimator_ : oddcell.OddCell
        The fitted estimator, with methods that PyOD does not have, such as `save`.
    """

    estimator_: _estimators.OddCell

    def __init__(self, **params: Any) -> None:
        params = {**_DEFAULTS, **params}
        unknown = params.keys() - _DEFAULTS.keys()
        if unknown:
            raise TypeError(f"OddCell has no parameter `{min(unknown)}`")
        super().__init__(contamination=params.pop("contamination"))
        for name, value in params.items():
            setattr(self, name, value)

    def fit(self, X: Any, y: Any = None) -> OddCell:
        """Learn what normal rows look like. `y` is ignored."""
        self._set_n_classes(y)
        params = {name: value for name, value in self.get_params(deep=False).items() if name != "contamination"}
        self.estimator_ = _estimators.OddCell(**params).fit(X)
        self.decision_scores_ = self.decision_function(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The anomaly score of each row. Higher is more anomalous."""
        check_is_fitted(self, "estimator_")
        return -self.estimator_.score_samples(X)

    def explain(self, X: Any, units: Literal["std", "column"] = "std") -> Any:
        """How anomalous each cell is; see `oddcell.OddCell.explain`."""
        return self.estimator_.explain(X, units)

    def p_values(self, X: Any) -> np.ndarray:
        """The p-value of each row; see `oddcell.OddCell.p_values`."""
        return self.estimator_.p_values(X)


# PyOD and scikit-learn read the parameter names from this signature.
OddCell.__init__.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
