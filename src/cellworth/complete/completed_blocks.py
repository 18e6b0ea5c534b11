"""A completed table of row blocks, as `fit` stores it in ``completed_``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from os import PathLike
from typing import Any

import numpy as np

from cellworth.arrays import FloatArray, IntArray
from cellworth.blocks.engine_protocol import Blocks, Engine, join
from cellworth.blocks.row_source import Part, Source
from cellworth.blocks.writing import FilledPart, write_blocks
from cellworth.complete.row_finders import RowFinder, RowsAt, joined
from cellworth.complete.table_summary import TableSummary
from cellworth.errors import ParameterError


@dataclass(frozen=True)
class CompletedBlocks:
    """A completed table of row blocks, whose cells stay with the engine or are computed on demand.

    Attributes
    ----------
    source : Source
        The table. Its engine must still be open when cells are requested.
    completer : completer
        A fitted copy to send to workers, without the callback and anything of the table's size.
    summary : TableSummary
    """

    source: Source
    completer: Any
    summary: TableSummary
    _states: Blocks | None = field(repr=False)  # what `complete_rows` needs besides the rows of a block

    @property
    def engine(self) -> Engine:
        """The engine that processes the blocks."""
        return self.source.engine

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns of the whole table."""
        return self.source.n_rows, len(self.source.columns)

    @property
    def has_variance(self) -> bool:
        """Whether the variance of each cell is known."""
        return bool(self.completer.has_variance)

    def map(self, function: Callable[..., Any], *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(filled, *of_block, *shared)`` on each completed `FilledPart`; one pass."""
        return self.source.map(*self._on_filled(function, blocks), shared=shared)

    def reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        *blocks: Blocks,
        shared: tuple[Any, ...] = (),
    ) -> Any:
        """Do the same as `map` and merge the small results in a fixed order; see `Engine.reduce`."""
        do, *others = self._on_filled(function, blocks)
        return self.source.reduce(do, merge, *others, shared=shared)

    def rows(self, numbers: IntArray) -> FilledPart:
        """Return some completed rows, given by their numbers in increasing order, in one place.

        Reads the blocks that they are in, and completes these rows alone, unless the completer needs what is
        kept of whole blocks.
        """
        return self.only(self.source.places_of(numbers) or [0]).rows_where(RowsAt(numbers))[1]

    def only(self, places: Sequence[int]) -> CompletedBlocks:
        """Return the table with some of its blocks, by their places; see `Source.only`."""
        states = None if self._states is None else self._states.only(places)
        return replace(self, source=self.source.only(places), _states=states)

    def rows_where(self, *find: RowFinder) -> tuple[list[IntArray], FilledPart]:
        """Return the numbers of the rows that each function finds, and all of them, completed; one pass.

        Each is called on the `Part` of a block and returns places in it, increasing. The rows are returned by
        number, each once; see `rows`.
        """
        finders = list(find)  # older versions of Dask call the first of a tuple with the others
        if self._states is None:
            found = self.source.reduce(_pick, join, shared=(finders,))
            filled = _completed(joined([part for _, part in found]), self.completer)
        else:
            found = self.reduce(_pick_filled, join, shared=(finders,))
            filled = _filled_together([each for _, each in found])
        return _numbers(found), filled

    def rows_and_sum(
        self,
        find: Sequence[RowFinder],
        function: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        shared: tuple[Any, ...] = (),
    ) -> tuple[list[IntArray], FilledPart, Any]:
        """Do `rows_where` and `reduce` in one pass; return the results of both."""
        found, summed = self.reduce(_PickAndSum(function), _MergeSecond(merge), shared=(list(find), *shared))
        return _numbers(found), _filled_together([each for _, each in found]), summed

    def gather(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the completed table (n, d) and its variances or None; both must fit in memory."""
        parts = self.reduce(_both, join)
        completed, variances = zip(*parts, strict=True)
        whole = None if variances[0] is None else np.concatenate(variances)
        return np.concatenate(completed), whole

    def write(self, path: str | PathLike[str], *, variance: bool = False) -> None:
        """Write the completed table block by block; the folder appears only once it is complete.

        Parameters
        ----------
        path : path
            A new Parquet folder, with the row ids and the target besides the completed columns; or a Zarr
            array if the name ends in .zarr.
        variance : bool
            Also write the variance of each cell: in columns ``<name>_variance``, or in a second array next
            to the first whose name ends in .variance.zarr.
        """
        if variance and not self.has_variance:
            raise ParameterError(
                f"{type(self.completer).__name__} has no variances; write without variance=True"
            )
        write_blocks(self.source, self.reduce, path, variance=variance)

    def _on_filled(self, function: Callable[..., Any], blocks: tuple[Blocks, ...]) -> tuple[Any, ...]:
        states = () if self._states is None else (self._states,)
        return OnFilled(function, self.completer, len(states)), *states, *blocks


@dataclass(frozen=True)
class OnFilled:
    """Complete the rows of a block and call a function on the result.

    Attributes
    ----------
    function : callable
        Takes a `FilledPart` and any further arguments.
    completer : completer
    n_states : int
        How many arguments after the rows are for the completer: 0 or 1.
    """

    function: Callable[..., Any]
    completer: Any
    n_states: int

    def __call__(self, part: Part, *others: Any) -> Any:
        """Return the function's result on the completed rows."""
        completed, variance = self.completer.complete_rows(part, *others[: self.n_states])
        return self.function(FilledPart(part, completed, variance), *others[self.n_states :])


def _completed(part: Part, completer: Any) -> FilledPart:
    if not len(part.X):
        return FilledPart(part, part.X, part.X if completer.has_variance else None)
    return FilledPart(part, *completer.complete_rows(part))


def _places(part: Part, find: Sequence[RowFinder]) -> tuple[tuple[IntArray, ...], IntArray]:
    """Return the numbers of the rows that each function finds in a block, and the places of all of them."""
    found = tuple(each(part) for each in find)
    return tuple(each + part.start for each in found), reduce(np.union1d, found).astype(np.intp)


def _pick(part: Part, find: Sequence[RowFinder]) -> tuple[tuple[tuple[IntArray, ...], Part], ...]:
    """Return the wanted rows of a block; of the first one also if there are none, for its columns."""
    numbers, here = _places(part, find)
    return ((numbers, part.some(here)),) if len(here) or not part.start else ()


def _pick_filled(
    filled: FilledPart, find: Sequence[RowFinder]
) -> tuple[tuple[tuple[IntArray, ...], FilledPart], ...]:
    numbers, here = _places(filled.part, find)
    if not len(here) and filled.part.start:
        return ()
    variance = None if filled.variance is None else filled.variance[here]
    return ((numbers, FilledPart(filled.part.some(here), filled.completed[here], variance)),)


@dataclass(frozen=True)
class _PickAndSum:
    """Picks rows of a block, and calls a function on all of them."""

    function: Callable[..., Any]

    def __call__(self, filled: FilledPart, find: Sequence[RowFinder], *shared: Any) -> tuple[Any, Any]:
        return _pick_filled(filled, find), self.function(filled, *shared)


@dataclass(frozen=True)
class _MergeSecond:
    """Joins the first of two results, and merges the second."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        return a[0] + b[0], self.merge(a[1], b[1])


def _numbers(found: Sequence[tuple[tuple[IntArray, ...], Any]]) -> list[IntArray]:
    """Return the numbers of the rows that each function has found, over all blocks."""
    return [np.concatenate(each).astype(np.intp) for each in zip(*(each for each, _ in found), strict=True)]


def _filled_together(parts: Sequence[FilledPart]) -> FilledPart:
    variances = [filled.variance for filled in parts if filled.variance is not None]
    completed = np.concatenate([filled.completed for filled in parts])
    part = joined([filled.part for filled in parts])
    return FilledPart(part, completed, np.concatenate(variances) if variances else None)


def _both(filled: FilledPart) -> tuple[tuple[FloatArray, FloatArray | None], ...]:
    return ((filled.completed, filled.variance),)
