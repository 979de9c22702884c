"""Verdicts on rows that arrive in batches.

`alpha` and `contamination` judge each row by itself, so a batch leaves as soon as it is judged. `fdr` and `top` compare
all rows: the first pass judges every batch and writes it to a temporary file, the second reads the batches back and
adds the verdicts. Either way, only one batch is in memory at a time.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from oddcell import _oddcell
from oddcell._data import compact, with_found

# A batch as the user gave it, and the columns found for it.
Judged = tuple[Any, dict[str, Any]]


def with_verdicts(judged: Iterable[Judged], first_pass: _oddcell.FirstPass) -> Iterator[Any]:
    """Yields every batch with the columns found for it, verdicts included."""
    if not first_pass.needs_all_rows:
        yield from _decided(judged, first_pass.decide())
        return
    # The file has no name where the system allows that, and goes away with the generator. So unpickling it is safe.
    with tempfile.TemporaryFile(prefix="oddcell-") as spool:
        n_batches = 0
        for batch, found in judged:
            first_pass.observe(found["odd_score"], found["odd_p"])
            pickle.dump((compact(batch), found), spool, protocol=pickle.HIGHEST_PROTOCOL)
            n_batches += 1
        spool.seek(0)
        yield from _decided((pickle.load(spool) for _ in range(n_batches)), first_pass.decide())


def _decided(judged: Iterable[Judged], cutoff: _oddcell.Cutoff) -> Iterator[Any]:
    for batch, found in judged:
        found["odd_verdict"] = cutoff.verdicts(found["odd_score"], found["odd_p"])
        yield with_found(batch, found)
