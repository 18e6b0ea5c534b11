"""A table in row blocks as the numeric columns that completers take.

What passes over its files have found need not be looked for again when cells are learned. The files of a
table stay as they are. Cells that are learned later fill holes, so what was found in the files and what the
learned cells add give what a new pass would find.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cellworth.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable
    from cellworth.blocks.row_source import Block

T = TypeVar("T")


@dataclass(frozen=True)
class LearnedRows:
    """The cells that fill holes of the files, as numeric columns.

    Attributes
    ----------
    rows : (k,) int array, increasing
        Row numbers in the whole table.
    X : (k, d) array
        The learned cells of these rows, NaN elsewhere.
    y : (k,) array or None
        Their learned labels, NaN elsewhere; None without a target.
    """

    rows: IntArray
    X: FloatArray
    y: FloatArray | None = None


class FileMemory:
    """Keeps what was found in the files of one table; shared by all tables that differ in learned cells."""

    def __init__(self) -> None:
        self._found: dict[Hashable, object] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[FileMemory], tuple[()]]:
        return FileMemory, ()  # in another process, it begins anew

    def recall(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return what was found under a key, or find it now. Nobody may change it."""
        with self._lock:
            if key in self._found:
                known: T = self._found[key]  # type: ignore[assignment]
                return known
        found = find()
        with self._lock:
            self._found[key] = found
        return found


@dataclass(frozen=True)
class EncodedTable:
    """A `BlockTable` as numeric columns: what completers take; see `StoredTable`."""

    table: BlockTable

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.n_rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the d numeric columns."""
        return self.table.layout.feature_names

    @property
    def named(self) -> bool:
        """True: columns of a `Table` have names."""
        return True

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 if all numbers in the files are, otherwise float64."""
        return self.table.stored.dtype

    @property
    def target(self) -> str | None:
        """Name of the label column."""
        return None if self.table.target is None else self.table.target.name

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The classes that the labels number; None for a number, and without a target."""
        return None if self.table.target is None else self.table.target.classes

    @property
    def row_id(self) -> str | None:
        """Name of the row id column."""
        return self.table.row_id

    def blocks(self, most_rows: int) -> list[Block]:
        """Split the table into blocks of 1 to ``most_rows`` rows."""
        return list(self.table.cell_blocks(most_rows))

    def as_files(self) -> tuple[EncodedTable, LearnedRows, FileMemory] | None:
        """Return the table without what was learned, that, and what is remembered of the files.

        None if the files and the learned cells are not all: where rows were added, values of the files were
        replaced, or values were made up for columns without any.
        """
        table, learned = self.table, self.table.learned
        if (
            table.more is not None
            or table.corrects
            or table.unmeasured.any()
            or (table.known_in_files == 0).any()
        ):
            return None
        in_files: dict[str, Any] = {"known": table.known_in_files, "labelled": table.labelled_in_files}
        bare = replace(table, learned=None, added_labels=0, **in_files)
        none = np.zeros(0, dtype=np.intp)
        rows, place = np.unique(none if learned is None else learned.rows, return_inverse=True)
        p, target = len(table.columns), table.target
        values = np.full((len(rows), p + 1), np.nan)
        if learned is not None:
            values[place, learned.columns] = learned.values
        X = table.layout.encode(values[:, :p]).astype(self.dtype, copy=False)
        y = None if target is None else target.codes_of(values[:, p])
        return EncodedTable(bare), LearnedRows(rows, X, y), table.memory

    def identity(self) -> dict[str, Any]:
        """Return plain data that identifies this table."""
        learned = self.table.learned
        so_far = 0 if learned is None else len(learned.rows)
        about = {"rows": self.n_rows, "columns": list(self.columns), "learned": so_far}
        return self.table.stored.identity() | about
