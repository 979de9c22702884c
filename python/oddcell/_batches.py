"""Judged batches, each as the type of table that the user gave.

`alpha` and `contamination` judge each row by itself, so a batch leaves as soon as it is judged. `fdr` and `top` compare
all rows: what the library finds waits in its temporary file, the batches themselves in another. Either way, only one
batch is in memory at a time.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from oddcell import _oddcell
from oddcell._data import compact, with_found


def judged(batches: Iterable[tuple[Any, _oddcell.Table]], stream: _oddcell.Stream) -> Iterator[Any]:
    """Yields every batch with the columns found for it. Each comes as the user gave it, and as its rows."""
    # Nothing is on disk up to a megabyte. The file has no name where the system allows that, and goes away with the
    # generator. So unpickling it is safe.
    with tempfile.SpooledTemporaryFile(max_size=2**20, prefix="oddcell-") as waiting:
        n_rows = []
        for batch, table in batches:
            found = stream.push(table)
            if found is not None:
                yield with_found(batch, found)
                continue
            pickle.dump(compact(batch), waiting, protocol=pickle.HIGHEST_PROTOCOL)
            n_rows.append(len(table))
        waiting.seek(0)
        for length in n_rows:
            yield with_found(pickle.load(waiting), stream.waited(length))
