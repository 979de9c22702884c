"""
The compiled part of oddcell.
"""

from _typeshed import Incomplete
from collections.abc import Sequence
from os import PathLike
from typing import Any, final

@final
class Model:
    """
    What is normal in a table, learned from its rows.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[bytes]]: ...
    def cells(self, /, table: Table, rule: Incomplete, progress: Any | None = None) -> dict:
        """
        Judges all cells of `table`: the p-values `p` of its `columns`, and those that the rule calls odd as `called`.
        """
    @property
    def columns(self, /) -> list[str]:
        """
        The columns that it judges, in the order of the training table.
        """
    @property
    def detector(self, /) -> str:
        """
        The detector's name.
        """
    def expected(self, /, table: Table, progress: Any | None = None) -> Table:
        """
        What should stand in every cell of `columns`, by the other cells of its row; null where nothing can be said.
        """
    def explain(self, /, table: Table, units: str, progress: Any | None = None) -> Incomplete:
        """
        The noise in the cells of all rows of `table`, rows × `columns`; `units` is `std` or `column`.
        """
    @staticmethod
    def fit(table: Table, learning: Incomplete, progress: Any | None = None) -> Model:
        """
        Learns what is normal from all rows of `table`.
        """
    def found(self, /, table: Table, rule: Incomplete, progress: Any | None = None) -> dict:
        """
        What judged rows have besides their own columns: scores, p-values, verdicts, reasons; and the noise of `columns`
        in standard deviations.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Model:
        """
        The model that the bytes of a model file hold.
        """
    def judge(self, /, table: Table, progress: Any | None = None) -> tuple[Incomplete, Incomplete]:
        """
        Scores and p-values of all rows of `table`.
        """
    @property
    def kinds(self, /) -> dict:
        """
        What the cells of its columns mean: `number`, `boolean`, `date`, `text` or `category`, by name.
        """
    @property
    def left_out(self, /) -> list[tuple[str, str]]:
        """
        The columns of the training table that it does not judge, with the reason.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Model:
        """
        Reads a model file. Nothing in it is executed, and everything in it is checked.
        """
    @property
    def n_rows(self, /) -> int:
        """
        The number of rows that it learned from.
        """
    @property
    def notes(self, /) -> list[str]:
        """
        Notes about the training table.
        """
    @property
    def options(self, /) -> dict:
        """
        How columns became features, and which rows trained and calibrated.
        """
    @property
    def params(self, /) -> dict:
        """
        The detector's parameters.
        """
    def reasons(self, /, table: Table, progress: Any | None = None) -> list[str]:
        """
        The reasons of all rows of `table`, each as a JSON object: column → figures, of the cells that make the row odd.
        """
    def repair(self, /, table: Table, rule: Incomplete, cure: Incomplete, progress: Any | None = None) -> dict:
        """
        Repairs the cells of `table` that the rule calls odd: the repaired `table`, and the `changes`.
        """
    def report(self, /, table: Table, rule: Incomplete, page: Incomplete, progress: Any | None = None) -> None:
        """
        Judges all rows of `table` and writes the page that shows them.
        """
    def save(self, /, path: str | PathLike[str], threshold: tuple[float, float] | None = None) -> None:
        """
        Writes the model file, whole or not at all, with `threshold`: the share `contamination` and the score above which
        rows are odd.
        """
    @property
    def saved_threshold(self, /) -> tuple[float, float] | None:
        """
        The share `contamination` and the score above which rows are odd, if its file has them.
        """
    @property
    def seed(self, /) -> int:
        """
        The seed that it was fitted with.
        """
    def threshold(self, /, contamination: float | None = None) -> float:
        """
        The score that a share `contamination` of the calibration rows exceeds; by default the share of normal rows that
        is called odd of new rows.
        """
    def to_bytes(self, /) -> bytes:
        """
        The bytes of the model file.
        """

@final
class Stream:
    """
    Judges batches with one row count. Rows whose verdict needs all rows wait in a temporary file, without their cells.
    """
    def __new__(cls, /, model: Model, rule: Incomplete) -> Stream:
        """
        Starts a stream of rows that `model` judges.
        """
    def push(self, /, table: Table) -> dict | None:
        """
        Judges the rows of the next batch. Gives the columns found for them; `None` if the rows must wait.
        """
    def waited(self, /, n_rows: int) -> dict:
        """
        The columns found for the next `n_rows` of the rows that waited. Ends the stream.
        """

@final
class Table:
    """
    A table for the library.
    """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> Any:
        """
        The rows as a stream of Arrow batches, for everything that reads the `PyCapsule` interface.
        """
    def __len__(self, /) -> int: ...
    @staticmethod
    def from_arrays(names: Sequence[str], arrays: Sequence[Any]) -> Table:
        """
        The columns of two-dimensional `NumPy` arrays of the same length, side by side.
        """
    @staticmethod
    def from_arrow(data: Any) -> Table:
        """
        The rows of an object with the Arrow `PyCapsule` interface, without a copy.
        """
    @property
    def names(self, /) -> list[str]:
        """
        The names of the columns.
        """
    def numbers(self, /) -> Incomplete:
        """
        The rows as an array of numbers, NaN where there is none; all columns must hold numbers or booleans.
        """
    def renamed(self, /, names: Sequence[str]) -> Table:
        """
        The same rows with other column names.
        """

def cells(table: Table, learning: Incomplete, rule: Incomplete, progress: Any | None = None) -> dict:
    """
    Judges all cells of `table` by each other: the names of its judged `columns`, the p-values `p` of their cells, those that
    the rule calls odd as `called`, and `notes` about the table.
    """

def default_options() -> dict:
    """
    The options that all detectors share, with their defaults: how columns become features, and which rows train and
    calibrate.
    """

def detect(table: Table, learning: Incomplete, rule: Incomplete, progress: Any | None = None, page: Incomplete | None = None) -> dict:
    """
    Judges the rows of `table` by each other, and writes the page that shows them if there is to be one. Gives what
    `Model.found` gives, and `notes` about the table and the verdicts.
    """

def detectors() -> list[dict]:
    """
    All detectors: their names, summaries, presets, and parameters with defaults.
    """

def preset(detector: str | None, name: str) -> dict:
    """
    The parameters of a preset; without a detector, of the default of tables of numbers.
    """

def repair(table: Table, learning: Incomplete, rule: Incomplete, cure: Incomplete, progress: Any | None = None) -> dict:
    """
    Repairs the odd cells of `table`, judged by each other: the repaired `table`, the `changes`, and `notes` about the table.
    """

def set_threads(count: int | None = None) -> None:
    """
    Sets the number of threads; `None`: one per core. It does not change any result.
    """

def threads() -> int:
    """
    The number of threads in use.
    """

def threshold(scores: Incomplete, contamination: float) -> float:
    """
    The score that a share `contamination` of `scores` exceeds.
    """

def __getattr__(name: str) -> Incomplete: ...
