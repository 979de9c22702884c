"""Progress of long work, passed to a callback or shown as a tqdm bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

Progress: TypeAlias = Callable[[int, int, "float | None"], Any] | Literal["tqdm"] | None


@contextmanager
def reported(progress: Progress, what: str) -> Iterator[Callable[[int, int, float | None], Any] | None]:
    """Gives the function that the library calls as `callback(done, total, loss)`, or None."""
    if progress is None or callable(progress):
        yield progress
        return
    if progress != "tqdm":
        raise ValueError(f"progress is {progress!r}, but must be None, 'tqdm' or a function of done, total and loss")
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress='tqdm' needs tqdm: pip install 'oddcell[progress]'") from error
    with tqdm(desc=what) as bar:

        def show(done: int, total: int, loss: float | None) -> None:
            bar.total = total
            bar.update(done - bar.n)
            if loss is not None:
                bar.set_postfix(loss=f"{loss:.4g}", refresh=False)

        yield show
