"""Helpers that the tests share."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest

import oddcell

matplotlib.use("Agg")

ROOT = Path(__file__).parents[2]

# Parameters for short training. Enough to find an obvious outlier.
SHORT: dict[str, dict[str, object]] = {
    "OddCell": {"train_for": "100 steps", "hidden": 8},
    "AutoEncoder": {"train_for": "20 steps"},
    "DeepSVDD": {"train_for": "20 steps"},
    "AnoGAN": {"train_for": "5 steps", "search_steps": 2},
    "SCAD": {"train_for": "3 steps", "units": 8, "repeats": 1},
    "NeuTraLAD": {"train_for": "10 steps"},
    "PLAD": {"train_for": "10 steps"},
    "DPAD": {"train_for": "10 steps"},
}


def short(name: str = "OddCell", **params: object) -> oddcell.Detector:
    """An estimator that trains in a moment."""
    return getattr(oddcell, name)(**{**SHORT.get(name, {}), **params})


def normal_rows(n_rows: int = 300, seed: int = 0) -> np.ndarray:
    """Rows whose third column is nearly the sum of the first two."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_rows, 3))
    rows[:, 2] = rows[:, 0] + rows[:, 1] + 0.1 * random.normal(size=n_rows)
    return rows


@pytest.fixture
def rows() -> np.ndarray:
    return normal_rows()
