#!/usr/bin/env python3
"""Measures `oddcell detect` on tables without labels, with 1, 5 and 10 % of anomalies mixed in.

usage: benchmarks/ovrbench/detect.py DATA OUT [--oddcell PATH] [--methods NAMES] [--shares S,S,S] [--half HALF] [--most N]

DATA is a folder of .npz files with X and y (0 normal, else anomalous); the split is not used. Of every table, all normal rows and
a random sample of its anomalies (seed 0) become one table in random order. If there are too few anomalies, normal rows are left
out, too. A table needs at least 5 anomalies and 100 rows at a share; otherwise it is skipped there.

oddcell's detectors judge the table with `--fdr 0.1`. Beside them, PyOD's IForest, ECOD and KNN flag their `contamination` of 0.1,
after columns were standardized. Nothing is chosen by labels. Writes OUT/detect.csv, a line per table, share and method; lines that are
there are not measured again. Prints the means:

  auc, ap    of the ranking
  called     share of the rows that are flagged
  false      share of normal rows among them, as a mean over tables (0 where none is flagged): --fdr 0.1 promises 0.1 at most
  pooled     the same over all flagged rows of all tables
  found      share of the anomalies that are flagged

--half design or confirm: only that half. --most N: only the N tables whose names have the smallest SHA-256. PyOD's methods
(pyod-iforest, pyod-ecod, pyod-knn) need pyod; all need numpy and scikit-learn.
"""

import argparse
import csv
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

HALVES = Path(__file__).parents[2] / "crates/oddcell-bench/src/sets/ovrbench.csv"
LEAST_ANOMALIES, LEAST_ROWS = 5, 100
PYOD = ["pyod-iforest", "pyod-ecod", "pyod-knn"]
FIELDS = ["set", "half", "share", "method", "rows", "columns", "anomalies", "auc", "ap", "called", "false", "found", "seconds",
          "message"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--oddcell", default="oddcell")
    parser.add_argument("--methods", default="noise,knn,iforest,ecod," + ",".join(PYOD))
    parser.add_argument("--shares", default="0.01,0.05,0.1")
    parser.add_argument("--half", default="")
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args()
    halves = {line["set"]: line["half"] for line in csv.DictReader(HALVES.open())}
    paths = [path for path in arguments.data.glob("*.npz") if arguments.half in ("", halves.get(path.stem, ""))]
    paths.sort(key=lambda path: hashlib.sha256(path.stem.encode()).hexdigest())
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "detect.csv"
    lines = list(csv.DictReader(file.open())) if file.exists() else []
    known = {(line["set"], line["share"], line["method"]) for line in lines}
    with file.open("a", newline="") as handle:
        writer = csv.DictWriter(handle, FIELDS)
        if not lines:
            writer.writeheader()
        for path in paths[: arguments.most]:
            for share in arguments.shares.split(","):
                wanted = [method for method in arguments.methods.split(",") if (path.stem, share, method) not in known]
                mixed = mix(path, float(share)) if wanted else None
                if mixed is None:
                    continue
                for method in wanted:
                    line = {"set": path.stem, "half": halves.get(path.stem, ""), "share": share, "method": method}
                    line |= measure(*mixed, method, arguments.oddcell)
                    writer.writerow(line)
                    handle.flush()
                    lines.append(line)
    chosen = {path.stem for path in paths[: arguments.most]}
    print_means([line for line in lines if line["set"] in chosen])


def mix(path: Path, share: float) -> tuple[np.ndarray, np.ndarray] | None:
    with np.load(path) as data:
        rows, odd = data["X"].astype(float), data["y"] != 0
    rng = np.random.default_rng(0)
    normal, anomalous = rng.permutation(np.flatnonzero(~odd)), rng.permutation(np.flatnonzero(odd))
    n_odd = min(len(anomalous), max(LEAST_ANOMALIES, round(share / (1 - share) * len(normal))))
    n_normal = min(len(normal), round(n_odd * (1 - share) / share))
    if n_odd < LEAST_ANOMALIES or n_odd + n_normal < LEAST_ROWS:
        return None
    chosen = rng.permutation(np.concatenate([normal[:n_normal], anomalous[:n_odd]]))
    return rows[chosen], odd[chosen]


def measure(rows: np.ndarray, odd: np.ndarray, method: str, oddcell: str) -> dict[str, object]:
    start = time.time()
    try:
        scores, called = by_pyod(rows, method) if method in PYOD else by_oddcell(rows, method, oddcell)
    except (subprocess.CalledProcessError, ValueError) as error:
        return {"rows": len(rows), "columns": rows.shape[1], "anomalies": odd.sum(), "message": str(error)[:200]}
    right = (called & odd).sum()
    return {
        "rows": len(rows), "columns": rows.shape[1], "anomalies": odd.sum(),
        "auc": round(roc_auc_score(odd, scores), 5), "ap": round(average_precision_score(odd, scores), 5),
        "called": called.sum(), "false": called.sum() - right, "found": right, "seconds": round(time.time() - start, 2),
        "message": "",
    }


def by_oddcell(rows: np.ndarray, method: str, oddcell: str) -> tuple[np.ndarray, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        table, judged = Path(folder) / "table.csv", Path(folder) / "judged.csv"
        header = ",".join(f"x{at + 1}" for at in range(rows.shape[1]))
        np.savetxt(table, rows, fmt="%.9g", delimiter=",", header=header, comments="")
        command = [oddcell, "detect", table, "--detector", method, "--fdr", "0.1", "--keep-identifiers", "-o", judged]
        subprocess.run([*command, "--quiet"], check=True, capture_output=True, text=True)
        with judged.open(newline="") as handle:
            lines = list(csv.DictReader(handle))
    scores = np.array([float(line["odd_score"]) for line in lines])
    return scores, np.array([line["odd_verdict"] == "true" for line in lines])


def by_pyod(rows: np.ndarray, method: str) -> tuple[np.ndarray, np.ndarray]:
    from pyod.models.ecod import ECOD
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN

    models = {"pyod-iforest": IForest(random_state=0), "pyod-ecod": ECOD(), "pyod-knn": KNN()}
    spread = rows.std(0)
    model = models[method].fit((rows - rows.mean(0)) / np.where(spread > 0, spread, 1.0))
    return model.decision_scores_, model.labels_ == 1


def print_means(lines: list[dict]) -> None:
    print("| share | method | tables | auc | ap | called | false | pooled | found | nothing flagged |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    groups: dict[tuple[str, str], list[dict]] = {}
    for line in lines:
        if line["auc"] if "auc" in line else None:
            groups.setdefault((line["share"], line["method"]), []).append(line)
    for (share, method), some in sorted(groups.items()):
        of = {key: np.array([float(line[key]) for line in some]) for key in FIELDS[4:12]}
        false = of["false"] / np.maximum(of["called"], 1)
        figures = [of["auc"].mean(), of["ap"].mean(), (of["called"] / of["rows"]).mean(), false.mean(),
                   of["false"].sum() / max(of["called"].sum(), 1), (of["found"] / of["anomalies"]).mean(),
                   (of["called"] == 0).mean()]
        texts = " | ".join(f"{100 * figure:.1f}" for figure in figures)
        print(f"| {share} | `{method}` | {len(some)} | {texts} |")


if __name__ == "__main__":
    sys.exit(main())
