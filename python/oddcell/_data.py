"""Converts tables for the library, and its results back to the same kind of table.

Frames (pandas, polars, pyarrow, and everything else with the Arrow PyCapsule interface) keep their column names,
categories, dates and nulls. Everything else is an array of numbers, as scikit-learn understands it.
"""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from oddcell import _oddcell


def is_frame(X: Any) -> bool:
    """Whether X is a table with the Arrow interface. A single column (a series) is not."""
    speaks_arrow = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    return speaks_arrow and len(getattr(X, "shape", (0, 0))) == 2


def is_pandas(X: Any) -> bool:
    """Whether X is a pandas frame, without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_polars(X: Any) -> bool:
    """Whether X is a polars frame, without importing polars."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.DataFrame)


def settled(X: Any) -> Any:
    """X, or a table read from it: streams and queries can be read only once and do not know their length."""
    if isinstance(X, (str, bytes, os.PathLike)):
        raise TypeError(
            f"X is {X!r}, but a table was expected; read the file first, e.g. with pandas.read_csv, or use the command "
            "line: oddcell detect FILE"
        )
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        return X.collect()
    if not is_frame(X) or is_pandas(X) or is_polars(X) or hasattr(X, "column_names"):
        return X
    import pyarrow

    return pyarrow.table(X)


def compact(X: Any) -> Any:
    """What `with_found` needs of X, in memory of its own: pyarrow pickles a slice with the table that it belongs to."""
    if not is_frame(X):
        return None
    return X if is_pandas(X) or is_polars(X) else X.take(np.arange(len(X)))


def table_of_frame(X: Any) -> _oddcell.Table:
    """The rows of a frame, without a copy if its memory layout is Arrow's."""
    if is_polars(X):
        polars = sys.modules["polars"]
        # polars and arrow-rs disagree on how to export a column of type Null.
        if polars.Null in X.dtypes:
            X = X.with_columns(polars.col(polars.Null).cast(polars.Float64))
        lengths = [name for name, kind in X.schema.items() if isinstance(kind, polars.Duration)]
        X = X.with_columns(polars.col(name).dt.total_nanoseconds() / 1e9 for name in lengths)
    if not is_pandas(X):
        return _oddcell.Table.from_arrow(in_seconds(X))
    # Drop the index: pandas would export it as a column, and it would become a feature.
    X = plain(X.reset_index(drop=True))
    try:
        return _oddcell.Table.from_arrow(X)
    except ImportError as error:
        if all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes):
            columns = [X.iloc[:, [at]].to_numpy() for at in range(X.shape[1])]
            return _oddcell.Table.from_arrays([str(name) for name in X.columns], columns)
        message = "pandas needs pyarrow to export columns that are not numeric: pip install 'oddcell[pandas]'"
        raise ImportError(message) from error


def in_seconds(X: Any) -> Any:
    """A table of pyarrow with lengths of time in seconds; any other frame as it is."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return X
    import pyarrow.compute as compute

    per_second = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}
    for at, field in enumerate(X.schema):
        if pyarrow.types.is_duration(field.type):
            counts = X.column(at).cast(pyarrow.int64()).cast(pyarrow.float64(), safe=False)
            seconds = compute.divide(counts, float(per_second[field.type.unit]))
            X = X.set_column(at, field.name, seconds)
    return X


def plain(X: Any) -> Any:
    """A pandas frame with lengths of time in seconds, and as text the columns whose mixture of types Arrow has not.

    The library reads text as what it says: numbers, if all cells but a few are.
    """
    changed = {}
    for at, kind in enumerate(X.dtypes):
        column = X.iloc[:, at]
        if getattr(kind, "kind", "") == "m":
            changed[at] = column.dt.total_seconds()
        elif getattr(kind, "kind", "") == "O":
            known = column[column.notna()]
            types = set(map(type, known))
            if types and all(issubclass(one, datetime.timedelta) for one in types):
                changed[at] = known.map(lambda length: length.total_seconds()).reindex(column.index)
            elif mixes_text(types) or not fits_arrow(known, types):
                changed[at] = known.map(str).reindex(column.index)
    if not changed:
        return X
    columns = [changed.get(at, X.iloc[:, at]) for at in range(X.shape[1])]
    return sys.modules["pandas"].concat(columns, axis=1, keys=list(X.columns))


def mixes_text(types: set[type]) -> bool:
    """Whether some cells are text and others are not."""
    return len({issubclass(one, str) for one in types}) == 2


def fits_arrow(cells: Any, types: set[type]) -> bool:
    """Whether Arrow has a type for all these cells."""
    if all(issubclass(one, str) for one in types):
        return True
    try:
        import pyarrow
    except ImportError:
        return True  # whoever needs it says that it is missing
    try:
        pyarrow.array(cells)
    except (pyarrow.ArrowException, OverflowError):
        return False
    return True


def table_of_array(X: np.ndarray, names: Sequence[str] | None = None) -> _oddcell.Table:
    """The rows of a two-dimensional array of numbers. The default names are x1, x2, …, as for NPY files."""
    names = [f"x{at + 1}" for at in range(X.shape[1])] if names is None else list(names)
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        X = X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64)
    if not (X.dtype.isnative and X.flags.aligned):
        X = X.astype(X.dtype.newbyteorder("="))
    return _oddcell.Table.from_arrays(names, [X])


def over_columns(columns: Sequence[str], judged: Sequence[str], noise: np.ndarray) -> np.ndarray:
    """The noise of the columns `judged`, spread over all `columns`; the others are NaN."""
    whole = np.full((len(noise), len(columns)), np.nan)
    place = {name: at for at, name in enumerate(columns)}
    for at, name in enumerate(judged):
        whole[:, place[name]] = noise[:, at]
    return whole


def like(X: Any, values: np.ndarray) -> Any:
    """Values of X's shape as a table like X, with the same names and index."""
    if is_pandas(X):
        return sys.modules["pandas"].DataFrame(values, columns=X.columns, index=X.index)
    if is_polars(X):
        return sys.modules["polars"].DataFrame(values, schema=X.columns)
    if is_frame(X):
        import pyarrow

        return pyarrow.table(dict(zip(X.column_names, values.T, strict=True)))
    return values


def with_found(X: Any, found: dict[str, Any]) -> Any:
    """X with the columns found for it. For an array: a record array of the found columns alone."""
    if is_pandas(X):
        return X.drop(columns=list(found), errors="ignore").assign(**found)
    if is_polars(X):
        polars = sys.modules["polars"]
        X = X.drop(list(found), strict=False)
        kinds = {"odd_reasons": polars.String, "odd_cells": polars.UInt32}
        return X.with_columns(*[polars.Series(name, cells, dtype=kinds.get(name)) for name, cells in found.items()])
    if is_frame(X):
        import pyarrow

        kinds = {"odd_reasons": pyarrow.string(), "odd_cells": pyarrow.uint32()}
        old = [name for name in X.column_names if name not in found]
        new = [pyarrow.array(cells, type=kinds.get(name)) for name, cells in found.items()]
        make = pyarrow.RecordBatch if isinstance(X, pyarrow.RecordBatch) else pyarrow.Table
        return make.from_arrays([*(X.column(name) for name in old), *new], names=[*old, *found])
    columns = [np.asarray(cells, dtype=object if name == "odd_reasons" else None) for name, cells in found.items()]
    return np.rec.fromarrays(columns, names=",".join(found))  # type: ignore[call-overload]
