#!/usr/bin/env python3
"""Rank the rows of spoiled tables with common outlier detectors, beside `oddcell bench spoil`.

usage: benchmarks/spoil/rivals.py SPOILED TABLES OUT [--methods NAMES] [--names NAMES]

SPOILED is the folder of `oddcell bench spoil --write`, TABLES that of benchmarks/spoil/fetch (its tables.csv says which half a
table belongs to). Writes OUT/rivals.csv, a line per table, seed and method, and OUT/rivals_kinds.csv, a line per half,
method and kind of error: its spoiled rows, and how many are among the top k. Prints the means. Needs numpy, scikit-learn and pyod.

Detectors: LOF (20 neighbors), kNN (distance to the fifth neighbor) and IForest (100 trees, seed 0) from scikit-learn, ECOD from
PyOD, each with two encodings of categories, and one forest per column. Nothing is chosen by the errors: every detector has its
default parameters, and ranks the rows of the table it was fitted on.

Encoding. A column is numeric if 95 % of its cells that are not missing are numbers (currency signs, percent signs and thousands
separators are removed; codes with leading zeros are not numbers), and a date if 95 % are dates. A cell that cannot be read
becomes missing. Missing numbers become the median, and a flag column says so if there are any. Dates become seconds. All of these
are standardized. Every other column is a category:
  onehot     a 0/1 column for each level with at least two rows, the 100 most frequent at most, and one for all other levels
  frequency  -log of the share of rows with the level, standardized
The forest per column (like RFOD): a random forest of 20 trees predicts each column from all others, in three folds. The surprise of
a cell is the distance of a number to its prediction in standard deviations of the column, or 1 minus the probability of a level;
the score of a row is the mean of these over the columns, each divided by its 99th percentile, plus the largest.
"""

import argparse, collections, csv, datetime, math, pathlib, re, sys, time, warnings

import numpy as np

warnings.filterwarnings("ignore")
MISSING = {"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"}
MOST_LEVELS = 100
MOST_FOREST_COLUMNS = 30
DATE = re.compile(r"^(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?.*)?$")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("spoiled", type=pathlib.Path)
    arguments.add_argument("tables", type=pathlib.Path)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--methods", default=",".join(METHODS))
    arguments.add_argument("--names", default="")
    arguments = arguments.parse_args()
    with open(arguments.tables / "tables.csv", newline="", encoding="utf-8") as file:
        halves = {line["name"]: line["half"] for line in csv.DictReader(file)}
    lines, kinds = [], []
    for path in sorted(arguments.spoiled.glob("*-truth.csv")):
        name, seed = path.name.removesuffix("-truth.csv").rsplit("-", 1)
        if arguments.names and name not in arguments.names.split(","):
            continue
        header, rows = read(arguments.spoiled / f"{name}-{seed}.csv")
        with open(path, newline="", encoding="utf-8") as file:
            kind_of = {int(line["row"]) - 1: line["kind"] for line in csv.DictReader(file)}
        truth = np.array([row in kind_of for row in range(len(rows))])
        columns = [column_of([row[at] for row in rows]) for at in range(len(header))]
        for method in arguments.methods.split(","):
            start = time.time()
            scores = METHODS[method](columns)
            seconds = time.time() - start
            precision, found = top_k(scores, truth)
            about = {"table": name, "half": halves.get(name, ""), "seed": seed, "method": method}
            sizes = {"rows": len(rows), "columns": len(header), "spoiled": len(kind_of)}
            figures = {"precision_at_k": precision, "ap": average_precision(scores, truth), "auc": auc(scores, truth)}
            lines.append(about | sizes | figures | {"seconds": round(seconds, 2)})
            for kind in sorted(set(kind_of.values())):
                of_kind = [row for row in kind_of if kind_of[row] == kind]
                kinds.append(about | {"kind": kind, "rows": len(of_kind), "found": int(sum(found[of_kind]))})
            print(f"{name} seed {seed} {method}: precision at k {precision:.3f}, {seconds:.1f} s", file=sys.stderr, flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write(arguments.out / "rivals.csv", lines)
    kinds = summed(kinds)
    write(arguments.out / "rivals_kinds.csv", kinds)
    print_means(lines, kinds)


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    return rows[0], rows[1:]


def write(path, lines):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.6f}" if isinstance(value, float) else value for key, value in line.items()} for line in lines)


# Columns


def number_of(cell):
    text = cell.strip().lstrip("$€£ ").rstrip("% ").replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def date_of(cell, order):
    match = DATE.match(cell.strip())
    if not match:
        return math.nan
    numbers = [int(part) if part else 0 for part in match.groups()]
    year, month, day = (numbers[at] for at in order)
    try:
        date = datetime.datetime(year, month, day, *numbers[3:])
    except ValueError:
        return math.nan
    return (date - datetime.datetime(1970, 1, 1)).total_seconds()


def column_of(cells):
    """("number", values with NaN) or ("category", texts with None)"""
    filled = [cell for cell in cells if cell.strip() not in MISSING]
    if filled:
        values = [number_of(cell) for cell in filled]
        codes = sum(bool(re.match(r"^0\d", cell.strip())) for cell in filled)
        if sum(map(math.isfinite, values)) >= 0.95 * len(filled) and codes <= 0.01 * len(filled):
            return "number", np.array([number_of(cell) for cell in cells])
        for order in ((0, 1, 2), (2, 1, 0), (2, 0, 1)):
            if sum(math.isfinite(date_of(cell, order)) for cell in filled) >= 0.95 * len(filled):
                return "number", np.array([date_of(cell, order) for cell in cells])
    return "category", [None if cell.strip() in MISSING else cell for cell in cells]


def standardized(values):
    deviation = values.std()
    return (values - values.mean()) / (deviation if deviation > 0 else 1.0)


def features(columns, encoding):
    made = []
    for kind, values in columns:
        if kind == "number":
            is_missing = np.isnan(values)
            if is_missing.all():
                continue
            made.append(standardized(np.where(is_missing, np.nanmedian(values), values)))
            if is_missing.any():
                made.append(standardized(is_missing.astype(float)))
            continue
        counts = collections.Counter(values)
        if encoding == "frequency":
            made.append(standardized(np.array([-math.log(counts[value] / len(values)) for value in values])))
            continue
        levels = [level for level, count in counts.most_common(MOST_LEVELS) if count >= 2]
        made.extend(np.array([value == level for value in values], float) for level in levels)
        known = set(levels)
        others = np.array([value not in known for value in values], float)
        if others.any():
            made.append(others)
    return np.column_stack(made)


# Detectors: higher scores are more anomalous.


def lof(matrix):
    from sklearn.neighbors import LocalOutlierFactor

    return -LocalOutlierFactor(n_neighbors=20).fit(matrix).negative_outlier_factor_


def knn(matrix):
    from sklearn.neighbors import NearestNeighbors

    # Without an argument, rows are not their own neighbors.
    return NearestNeighbors(n_neighbors=5).fit(matrix).kneighbors()[0][:, -1]


def iforest(matrix):
    from sklearn.ensemble import IsolationForest

    return -IsolationForest(random_state=0).fit(matrix).score_samples(matrix)


def ecod(matrix):
    from pyod.models.ecod import ECOD

    return ECOD().fit(matrix).decision_scores_


def forest_per_column(columns):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    n_rows = len(columns[0][1])
    coded = [(kind, codes_of(kind, values)) for kind, values in columns]
    coded = [(kind, values) for kind, values in coded if len(np.unique(values)) > 1][:MOST_FOREST_COLUMNS]
    folds = np.random.default_rng(0).permutation(n_rows) % 3
    surprises = []
    for at, (kind, target) in enumerate(coded):
        others = np.column_stack([values for place, (_, values) in enumerate(coded) if place != at])
        if kind == "category" and len(np.unique(target)) > 0.5 * n_rows:
            continue
        surprise = np.zeros(n_rows)
        for fold in range(3):
            train, test = folds != fold, folds == fold
            settings = {"n_estimators": 20, "min_samples_leaf": 3, "max_features": "sqrt", "random_state": 0, "n_jobs": 1}
            if kind == "number":
                forest = RandomForestRegressor(**settings).fit(others[train], target[train])
                surprise[test] = abs(forest.predict(others[test]) - target[test]) / (target.std() or 1.0)
            else:
                forest = RandomForestClassifier(**settings, max_depth=12).fit(others[train], target[train])
                places = {level: place for place, level in enumerate(forest.classes_)}
                given = forest.predict_proba(others[test])
                surprise[test] = [1 - (row[places[level]] if level in places else 0.0) for row, level in zip(given, target[test])]
        surprises.append(surprise / (np.quantile(surprise, 0.99) or 1.0))
    surprises = np.column_stack(surprises)
    return surprises.mean(axis=1) + surprises.max(axis=1)


def codes_of(kind, values):
    if kind == "number":
        return np.where(np.isnan(values), np.nanmedian(values) if not np.isnan(values).all() else 0.0, values)
    counts = collections.Counter(values)
    # In the order of frequency, so that trees can separate rare levels. Levels of one row stay levels of their own.
    places = {level: place for place, (level, _) in enumerate(counts.most_common())}
    return np.array([places[value] for value in values], float)


METHODS = {
    f"{name} {encoding}": lambda columns, detector=detector, encoding=encoding: detector(features(columns, encoding))
    for name, detector in {"lof": lof, "knn": knn, "iforest": iforest, "ecod": ecod}.items()
    for encoding in ("onehot", "frequency")
} | {"forests": forest_per_column}


# Measures, as in oddcell


def top_k(scores, truth):
    """The share of spoiled rows above the highest score that is not among the top k, and which rows are above it."""
    scores, k = np.asarray(scores, float), int(truth.sum())
    found = scores > np.sort(scores)[::-1][k]
    return float((found & truth).sum() / k), found


def average_precision(scores, truth):
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(truth, scores))


def auc(scores, truth):
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, scores))


def summed(kinds):
    """The rows of each kind, and how many were found, over all tables and seeds of a half."""
    sums = {}
    for line in kinds:
        key = {name: line[name] for name in ("half", "method", "kind")}
        total = sums.setdefault(tuple(key.values()), key | {"rows": 0, "found": 0})
        total["rows"] += line["rows"]
        total["found"] += line["found"]
    return [sums[key] for key in sorted(sums)]


def print_means(lines, kinds):
    for half in ("design", "confirm"):
        for method in dict.fromkeys(line["method"] for line in lines):
            some = [line for line in lines if line["half"] == half and line["method"] == method]
            if some:
                means = [sum(line[key] for line in some) / len(some) for key in ("precision_at_k", "ap", "auc", "seconds")]
                print(f"{half} {method}: precision at k {means[0]:.3f}, AP {means[1]:.3f}, AUC {means[2]:.3f}, {means[3]:.1f} s")
    for half in ("design", "confirm"):
        for kind in sorted({line["kind"] for line in kinds}):
            shares = []
            for method in dict.fromkeys(line["method"] for line in lines):
                some = [line for line in kinds if (line["half"], line["kind"], line["method"]) == (half, kind, method)]
                if some:
                    shares.append(f"{method} {sum(line['found'] for line in some) / sum(line['rows'] for line in some):.2f}")
            print(f"{half} {kind}: {', '.join(shares)}")


if __name__ == "__main__":
    main()
