#!/usr/bin/env python3
"""Writes baselines.json: scores of `hbos`, `mcd` and `dte-np` by PyOD and the formula.

Needs numpy, scipy, scikit-learn and pyod. The first tables are those of classical.json. The minimum covariance determinant is
searched at random: the script refuses a table on which twenty seeds of scikit-learn do not find the same rows.
"""

import json
from pathlib import Path

import numpy as np
import pyod
import scipy
import sklearn
from pyod.models.hbos import HBOS
from pyod.models.mcd import MCD
from sklearn.neighbors import NearestNeighbors

FOLDER = Path(__file__).parent


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    classical = json.loads((FOLDER / "classical.json").read_text())["tables"]
    found = {name: (np.array(one["train"]), np.array(one["test"])) for name, one in classical.items() if one["test"]}
    rng = np.random.default_rng(7)
    for name, rows, columns in [("M1", 80, 3), ("M2", 650, 2)]:
        mixed = rng.normal(size=(rows, columns)) @ (np.eye(columns) + 0.4)
        mixed[:: 9] = 6.0 + 0.5 * mixed[:: 9]
        queries = np.vstack([np.zeros(columns), np.ones(columns), 6.0 * np.ones(columns), 3.0 * np.eye(columns)[0]])
        found[name] = (mixed.round(6), queries)
    return found


def mcd(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    models = [MCD(random_state=seed).fit(train) for seed in range(20)]
    first = models[0].decision_scores_
    if not all(np.allclose(one.decision_scores_, first, rtol=1e-12) for one in models):
        return None
    return first, models[0].decision_function(test)


def dte_np(train: np.ndarray, test: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    near = NearestNeighbors(n_neighbors=k).fit(train)
    width = train.shape[1]
    return (near.kneighbors()[0] ** 2).mean(1) / width, (near.kneighbors(test)[0] ** 2).mean(1) / width


def main() -> None:
    cases = []
    all_tables = tables()
    for table, (train, test) in all_tables.items():

        def add(name: str, detector: str, params: dict, scores: tuple[np.ndarray, np.ndarray] | None) -> None:
            if scores is None:
                print(f"left out: {name} on {table}")
                return
            of_train, of_test = (one.tolist() for one in scores)
            cases.append(
                {"name": name, "table": table, "detector": detector, "params": params, "train": of_train,
                 "test": of_test, "each_alone": of_test}
            )

        for params in [{}, {"n_bins": 4, "alpha": 0.5, "tol": 0.1}]:
            model = HBOS(**params).fit(train)
            add(f"hbos {params}", "hbos", params, (model.decision_scores_, model.decision_function(test)))
        add("mcd", "mcd", {}, mcd(train, test))
        k = min(5, len(train) - 1)
        add("dte-np", "dte-np", {"n_neighbors": k}, dte_np(train, test, k))
    versions = f"pyod {pyod.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}"
    about = f"Scores of {versions}; dte-np by its formula. Written by baselines.py."
    new = {name: {"train": train.tolist(), "test": test.tolist()} for name, (train, test) in all_tables.items()}
    text = json.dumps({"about": about, "tables": new, "cases": cases}, separators=(",", ":"))
    (FOLDER / "baselines.json").write_text(text + "\n")
    print(f"wrote {len(cases)} cases")


if __name__ == "__main__":
    main()
