#!/usr/bin/env python3
"""Deals the tables of OvRBench into a half to design on and a half to confirm on.

Usage: halves.py DIR > crates/oddcell-bench/src/sets/ovrbench.csv

DIR holds the tables as NAME.npz. Tables that come from the same source form a family and stay together: those whose names
start with the same `batchNpartM`, and the families below. Families are sorted by the SHA-256 of their first name in
alphabetical order. In that order, families join the design half as long as it has at most 120 tables; the others
confirm. No label and no result takes part.
"""

import hashlib
import re
import sys
from pathlib import Path

DESIGN = 120
FAMILIES = [
    {"ada", "adaprior"},
    {"allbp", "thyroid"},
    {"deltaailerons", "deltaelevators"},
]


def family(name: str) -> str:
    if found := re.match(r"batch\d+part\d+", name):
        return found[0]
    if "hazelnut" in name:
        return "hazelnut"
    return next((min(names) for names in FAMILIES if name in names), name)


def main() -> None:
    names = sorted(path.stem for path in Path(sys.argv[1]).glob("*.npz"))
    members: dict[str, list[str]] = {}
    for name in names:
        members.setdefault(family(name), []).append(name)
    by_digest = sorted(members.values(), key=lambda some: hashlib.sha256(some[0].encode()).hexdigest())
    design: set[str] = set()
    for some in by_digest:
        if len(design) + len(some) <= DESIGN:
            design.update(some)
    print("set,half")
    for name in names:
        print(f"{name},{'design' if name in design else 'confirm'}")


if __name__ == "__main__":
    main()
