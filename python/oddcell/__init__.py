"""Anomaly detection for tables: finds the odd rows, and the cells that make them odd.

>>> import numpy as np, oddcell
>>> normal = np.random.default_rng(0).normal(size=(300, 3))
>>> model = oddcell.OddCell(train_for="300 steps").fit(normal)
>>> rows = np.array([[0.1, -0.2, 0.3], [0.1, 12.0, 0.3]])
>>> model.predict(rows)
array([ 1, -1])
>>> int(model.explain(rows)[1].argmax())  # the column of the odd cell
1

Estimators follow scikit-learn's conventions: `predict` returns 1 for normal rows and -1 for anomalies, and a higher
`score_samples` is more normal. `oddcell.pyod` follows PyOD's conventions, `oddcell.plot` draws figures, and
`oddcell.report` writes an HTML report.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from oddcell._names import CLASS_NAMES
from oddcell._oddcell import __version__, detectors, set_threads, threads

if TYPE_CHECKING:
    from oddcell._base import Detector as Detector
    from oddcell._base import OddCellWarning as OddCellWarning
    from oddcell._cells import cells as cells
    from oddcell._detect import detect as detect
    from oddcell._detect import load as load
    from oddcell._estimators import *  # noqa: F403
    from oddcell._repair import CellRepair as CellRepair
    from oddcell._repair import repair as repair
    from oddcell._report import report as report

# Imported on first use: importing scikit-learn takes longer than everything else here.
_HOMES = {
    "CellRepair": "_repair",
    "Detector": "_base",
    "OddCellWarning": "_base",
    "cells": "_cells",
    "detect": "_detect",
    "load": "_detect",
    "plot": "plot",
    "pyod": "pyod",
    "repair": "_repair",
    "report": "_report",
}
_ESTIMATORS = dict.fromkeys(CLASS_NAMES.values(), "_estimators")

__all__ = ["__version__", "detectors", "set_threads", "threads", *_HOMES, *_ESTIMATORS]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name) or _ESTIMATORS.get(name)
    if home is None:
        raise AttributeError(f"module 'oddcell' has no attribute {name!r}")
    module = importlib.import_module(f"oddcell.{home}")
    return module if home == name else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
