"""Helpers that the tests share."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
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


def orders(n_rows: int = 600) -> pd.DataFrame:
    """Orders whose total and country follow from the other columns."""
    random = np.random.default_rng(3)
    city = random.choice(["Oslo", "Bergen", "Malmö", "Lund"], n_rows)
    price = random.gamma(4.0, 10.0, n_rows).round(2)
    items = random.integers(1, 9, n_rows)
    return pd.DataFrame(
        {
            "city": city,
            "country": np.where(np.isin(city, ["Oslo", "Bergen"]), "Norway", "Sweden"),
            "price": price,
            "items": items,
            "total": (price * items).round(2),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n_rows), unit="D"),
        }
    )


def spoiled() -> pd.DataFrame:
    """The same orders with a misspelled city, a wrong country and a price that is far off."""
    frame = orders()
    frame.loc[5, ["city", "country"]] = ["Begren", "Norway"]
    frame.loc[17, "country"] = "Norway" if frame.loc[17, "country"] == "Sweden" else "Sweden"
    frame.loc[33, "price"] = 99_000.0
    return frame


@pytest.fixture
def rows() -> np.ndarray:
    return normal_rows()
