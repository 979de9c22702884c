"""Cells that the library gives back, as the kind of table and in the types that the user gave."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from oddcell import _oddcell
from oddcell._data import is_frame, is_pandas, is_polars, over_columns

# The columns of lists of cells that are not text.
_KINDS = {"row": "int64", "p": "float64", "sure": "float64"}


def list_like(X: Any, names: Sequence[str], found: dict[str, list[Any]]) -> Any:
    """A list of cells of X as the kind of table that X is; `names` are the library's names of its columns."""
    if is_pandas(X):
        pandas = sys.modules["pandas"]
        labels = dict(zip(names, X.columns, strict=True))
        found = {**found, "column": [labels[name] for name in found["column"]]}
        frame = pandas.DataFrame(
            {name: pandas.Series(all_, dtype=_KINDS.get(name, object)) for name, all_ in found.items()}
        )
        frame["row"] = X.index[frame["row"].to_numpy()]
        return frame
    if is_polars(X):
        polars = sys.modules["polars"]
        kinds = {"int64": polars.Int64, "float64": polars.Float64}
        series = [
            polars.Series(name, all_, kinds.get(_KINDS.get(name, ""), polars.String)) for name, all_ in found.items()
        ]
        return polars.DataFrame(series)
    if is_frame(X):
        import pyarrow

        kinds = {"int64": pyarrow.int64(), "float64": pyarrow.float64()}
        arrays = [
            pyarrow.array(all_, kinds.get(_KINDS.get(name, ""), pyarrow.string())) for name, all_ in found.items()
        ]
        return arrow_like(X, arrays, list(found))
    columns = [np.array(all_, dtype=_KINDS.get(name, object)) for name, all_ in found.items()]
    return np.rec.fromarrays(columns, names=",".join(found))  # type: ignore[call-overload]


def arrow_like(X: Any, columns: Sequence[Any], names: Sequence[str]) -> Any:
    """Columns of pyarrow as a batch if X is one, otherwise as a table."""
    import pyarrow

    if not isinstance(X, pyarrow.RecordBatch):
        return pyarrow.table(list(columns), names=list(names))
    whole = [column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column for column in columns]
    return pyarrow.RecordBatch.from_arrays(whole, names=list(names))


def cells_like(X: Any, names: Sequence[str], cells: _oddcell.Table) -> Any:
    """Cells of some columns as a table like X, in X's types if they fit; the other columns are null. `names` are the
    library's names of X's columns."""
    if not is_frame(X):
        return over_columns(names, cells.names, cells.numbers())
    columns = columns_like(X, names, cells)
    if is_pandas(X):
        pandas = sys.modules["pandas"]
        null = pandas.Series(None, index=X.index, dtype=object)
        whole = [columns.get(name, None) for name in names]
        whole = [fitted(null, X.iloc[:, at].dtype) if column is None else column for at, column in enumerate(whole)]
        return pandas.concat(whole, axis=1, keys=list(X.columns))
    if is_polars(X):
        polars = sys.modules["polars"]
        null = [polars.lit(None, dtype=kind).alias(name) for name, kind in X.schema.items() if name not in columns]
        return polars.DataFrame(columns).with_columns(null).select(X.columns)
    import pyarrow

    null = {field.name: pyarrow.nulls(len(cells), field.type) for field in X.schema}
    return arrow_like(X, [columns.get(name, null[name]) for name in names], names)


def repaired_like(X: Any, names: Sequence[str], table: _oddcell.Table, changes: dict[str, list[Any]]) -> Any:
    """X with the cells of `changes` as they are in `table`, which has the same rows; X itself is left alone."""
    cells: dict[str, list[int]] = {}
    for row, column in zip(changes["row"], changes["column"], strict=True):
        cells.setdefault(column, []).append(row)
    if not is_frame(X):
        X = np.array(X)
        numbers = table.numbers()
        places = [(row, names.index(column)) for row, column in zip(changes["row"], changes["column"], strict=True)]
        if any(np.isnan(numbers[place]) for place in places) and X.dtype.kind != "f":
            X = X.astype(np.float64)
        for place in places:
            X[place] = numbers[place]
        return X
    if not cells:
        return X.copy() if is_pandas(X) else X
    columns = columns_like(X, names, table, only=list(cells))
    if is_polars(X):
        return X.with_columns(**columns)
    if not is_pandas(X):
        return arrow_like(X, [columns.get(name, X.column(at)) for at, name in enumerate(names)], names)
    X = X.copy()
    for name, rows in cells.items():
        at = list(names).index(name)
        new, old = columns[name].iloc[rows], X.iloc[:, at]
        # Only these cells: the others may be objects that the library has read as text.
        changed = widened(old, new)
        changed.iloc[rows] = new.to_numpy()
        X.isetitem(at, changed)
    return X


def columns_like(
    X: Any, names: Sequence[str], cells: _oddcell.Table, only: Sequence[str] | None = None
) -> dict[str, Any]:
    """Columns of the library by name, in the types that they have in the frame X, if they fit."""
    wanted = [name for name in cells.names if only is None or name in only]
    if is_polars(X):
        polars = sys.modules["polars"]
        frame = polars.DataFrame(cells)
        kinds = {name: X.schema[name] for name in wanted}
        return {name: polars_like(frame[name], kind) for name, kind in kinds.items()}
    if is_pandas(X) and all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes):
        # Frames of plain numbers need no pyarrow.
        pandas, numbers = sys.modules["pandas"], cells.numbers()
        series = {name: pandas.Series(numbers[:, cells.names.index(name)], index=X.index) for name in wanted}
        return {name: fitted(column, X.iloc[:, list(names).index(name)].dtype) for name, column in series.items()}
    import pyarrow

    table = pyarrow.table(cells)
    if is_pandas(X):
        series = {name: table.column(name).to_pandas().set_axis(X.index) for name in wanted}
        return {name: fitted(column, X.iloc[:, list(names).index(name)].dtype) for name, column in series.items()}
    kinds = {name: X.schema.field(name).type for name in wanted}
    return {name: arrow_column(table.column(name), kind) for name, kind in kinds.items()}


def polars_like(column: Any, kind: Any) -> Any:
    """A column of polars in this type. Lengths of time come in seconds."""
    polars = sys.modules["polars"]
    if isinstance(kind, polars.Duration):
        return (column * 1e6).cast(polars.Int64).cast(polars.Duration("us")).cast(kind)
    return column.cast(kind, strict=False)


def arrow_column(column: Any, kind: Any) -> Any:
    """A column of pyarrow in this type. Lengths of time come in seconds."""
    import pyarrow
    import pyarrow.compute as compute

    if pyarrow.types.is_duration(kind):
        column = compute.multiply(column, 1e6).cast(pyarrow.int64(), safe=False).cast(pyarrow.duration("us"))
    return column.cast(kind)


def fitted(column: Any, kind: Any) -> Any:
    """A column of pandas in this type, if it fits. Lengths of time come in seconds."""
    pandas = sys.modules["pandas"]
    if getattr(kind, "kind", "") == "m":
        return pandas.to_timedelta(column, unit="s").astype(kind)
    if isinstance(kind, pandas.CategoricalDtype):
        new = [level for level in column.dropna().unique() if level not in kind.categories]
        return column.astype(pandas.CategoricalDtype([*kind.categories, *new], ordered=kind.ordered))
    # A missing truth value would become true.
    if getattr(kind, "kind", "") == "b" and column.isna().any():
        return column
    try:
        return column.astype(kind)
    except (TypeError, ValueError):
        # For example whole numbers, some of which are missing.
        return column


def widened(old: Any, new: Any) -> Any:
    """A copy of a column of pandas whose type can hold `new`, too."""
    pandas = sys.modules["pandas"]
    if isinstance(old.dtype, pandas.CategoricalDtype):
        return old.astype(new.dtype)
    if new.isna().any() and old.dtype.kind in "iu":
        return old.astype(np.float64)
    if new.isna().any() and old.dtype.kind == "b":
        return old.astype(object)
    return old.copy()
