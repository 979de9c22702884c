#!/usr/bin/env python3
"""Makes the benchmark sets that cannot be downloaded as they are.

    python benchmarks/lab/prepare.py RAW_FOLDER OUT_FOLDER [NAMES]

RAW_FOLDER holds the downloaded originals, all in one folder, under the names they have at their source. Where to get
them stands in the registry of the sets (`oddcell bench sets` shows it); what is missing is named with its source, and the
other sets are made. OUT_FOLDER gets `occ/NAME.npz` and `adbench/NUMBER_NAME.npz`, as `oddcell bench --data OUT_FOLDER`
reads them: `X` (numbers first, then indicators), `y` (0 normal, 1 anomaly; or the classes), `n_numeric` (how many of the
leading columns are numbers), and `is_test` where the original came as two files. NAMES are names of sets; without any, all.

Needs numpy and pandas; pyreadr for letter and shuttle, python-calamine for cardio.

What was checked: from the real originals, fraud, letter, satimage, shuttle, vowels, wbc and wine come out as the very files
that our results were made with (numpy 2.4, pandas 3.1), and so does mulcross_regenerated, which needs no original. The
originals of the other sets could not be had when this was written: their recipes follow the notes taken when our files
were made, and were tried only on files written from ours in the originals' layout. Of abalone, arrhythmia, lympho,
mammography, optdigits, pendigits, seismic, thyroid and vertebral at least a part of the original was looked at for that. The order of the indicators of the two
census sets is taken to be that of the ARFF file's header. speech was never had. `oddcell bench sets --data OUT_FOLDER`
compares checksums and counts with ours.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from recipes import RECIPES

REGISTRY = Path(__file__).parents[2] / "crates/oddcell-bench/src/sets/registry.csv"


def made_sets():
    """The sets of the registry that are made of originals, by name."""
    with REGISTRY.open(newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file) if row["made"] == "true"}


def source(original):
    """Where an original comes from, in words: an address, or `INDEX:PACKAGE/PATH`."""
    if original.startswith("https:"):
        return original
    index, rest = original.split(":", 1)
    package, path = rest.split("/", 1)
    return f"{'PyPI' if index == 'pypi' else 'Debian'} package {package}, file {path}"


def counts(arrays):
    """Rows, columns, and anomalies if there are two classes, else the number of classes."""
    classes = np.unique(arrays["y"])
    labels = int((arrays["y"] == 1).sum()) if len(classes) == 2 else len(classes)
    return *arrays["X"].shape, labels


def make(info, raw, out):
    """Makes one set, or says why not."""
    originals = info["originals"].split()
    paths = [raw / original.rsplit("/", 1)[1] for original in originals]
    missing = [source(original) for original, path in zip(originals, paths) if not path.is_file()]
    if missing:
        return "\n    ".join([f"not made; missing in {raw}:", *missing])
    try:
        arrays = RECIPES[info["name"]](*paths)
    except ImportError as error:
        return f"not made; {error}: install that package"
    except Exception as error:  # Whatever is wrong with one file, the other sets are made.
        return f"not made; the original is not as expected ({type(error).__name__}: {error})"
    expected = tuple(int(info[key]) for key in ("rows", "columns")) + (int(info["anomalies"] or info["classes"]),)
    if counts(arrays) != expected:
        return f"not made; rows, columns and anomalies or classes are {counts(arrays)}, expected {expected}"
    path = out / info["benchmark"] / info["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)
    return f"written to {path}"


def main():
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("raw", type=Path, metavar="RAW_FOLDER")
    usage.add_argument("out", type=Path, metavar="OUT_FOLDER")
    usage.add_argument("names", nargs="*", metavar="NAMES")
    args = usage.parse_args()
    sets = made_sets()
    unknown = [name for name in args.names if name not in sets]
    if unknown:
        usage.error(f"there is no set to be made called {', '.join(unknown)}; there are: {', '.join(sets)}")
    if not args.raw.is_dir():
        usage.error(f"{args.raw} is no folder, expected one with the downloaded originals")
    is_whole = True
    for name in args.names or sets:
        report = make(sets[name], args.raw, args.out)
        print(f"{name}: {report}", flush=True)
        is_whole &= not report.startswith("not made")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
