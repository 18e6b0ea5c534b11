"""Fill the holes of a table in one call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from sklearn.base import clone

from cellworth.arrays import AnyArray, BoolArray, Float64Array, FloatArray
from cellworth.blocks.block_table import BlockTable
from cellworth.cached_property import cached_property
from cellworth.complete.filled_blocks import FilledBlocks, fill_blocks
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.hold_out import hide_cells
from cellworth.complete.labels import tell_target
from cellworth.errors import DataError, ParameterError
from cellworth.messages import count, shorten
from cellworth.table import Table
from cellworth.table.any_table import AnyTable, as_table
from cellworth.table.column import MEASURED, UNORDERED
from cellworth.table.encoded import ColumnLayout
from cellworth.table.frames import GivenFrame, as_array, frame_of_columns
from cellworth.table.target import label_kind_of
from cellworth.table.unmeasured_column import UniformPrior
from cellworth.table.write_table import Library, usual_library

CATEGORICAL = ("boolean", "category")
HIDDEN = 0.15  # share of the known cells of categories, to choose how far chances move to the shares
WEIGHTS = np.linspace(0.02, 1.0, 50)
COMMON_CELLS = 30.0


@dataclass(frozen=True, repr=False)
class FilledTable:
    """A filled table, the completer that filled it, and how far off its cells may be.

    Attributes
    ----------
    table : Table
        Without holes. Categories, whole numbers and bounds are respected.
    completer : estimator
        Fitted to the encoded table; its attributes refer to the columns of ``Table.encode``.
    variance : (n, p) array or None
        Uncertainty of each cell, in squared units of the encoded columns, summed over the encoded columns
        of a cell; 0 if observed. None if the completer has no variances.
    lower, upper : (n, p) arrays or None
        Ends of each cell's interval, as values of its column, within its bounds; equal if the cell is
        known. NaN in the holes of booleans and categories, which have no interval. None if no level was
        given, or the completer has no intervals.
    level : float or None
        The fraction of hidden cells that should fall inside their intervals; None if not given.
    guessed : (n, p) array of bool
        The cells that were holes, and now hold guesses.
    given : GivenFrame or None
        The frame that was filled, for results like it; None if it was a `Table`.
    """

    table: Table
    completer: Any
    variance: FloatArray | None
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    level: float | None = None
    guessed: BoolArray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    given: GivenFrame | None = None

    def __repr__(self) -> str:
        sure = "" if self.level is None else f", with {100 * self.level:g} % intervals"
        name = type(self.completer).__name__
        return f"Filled {self.table}\n  guessed: {count(int(self.guessed.sum()), 'cell')}, by {name}{sure}"

    def to_frame(self, library: Library | None = None, *, intervals: bool = False) -> Any:
        """Return the filled table as a frame.

        If a frame was filled, this is a copy of it with the guesses filled in: same library, index, columns,
        order and types. ``library`` asks for another one, "pandas", "polars" or "pyarrow". ``intervals`` adds
        the columns of `with_interval_columns`, last.
        """
        if self.given is None or library not in (None, self.given.library):
            return (self.with_interval_columns() if intervals else self.table).to_frame(library)
        extra = {}
        if intervals:
            wide = self.with_interval_columns()
            for j, column in enumerate(wide.columns):
                if column.name not in self.table.column_names:
                    extra[column.name] = as_array(column, wide.values[:, j])
        return self.given.filled(self.table, self.guessed, extra)

    def mask(self, library: Library | None = None) -> Any:
        """Return which cells were guessed, as a frame of booleans like `to_frame`, without the target."""
        columns = {name: self.guessed[:, j] for j, name in enumerate(self.table.column_names)}
        if self.given is not None and library in (None, self.given.library):
            return self.given.like(columns)
        return frame_of_columns(columns, library or usual_library())

    def interval(self, column: str) -> tuple[AnyArray, AnyArray]:
        """Return the lower and upper ends (n,) of one column's intervals.

        Datetimes for dates, and places in the categories for an ordered column.

        Raises DataError if there are none, or if the column is a boolean or a category.
        """
        if self.lower is None or self.upper is None:
            raise DataError(self._why_no_intervals())
        j = self.table.column_index(column)
        described = self.table.columns[j]
        if described.kind in UNORDERED:
            raise DataError(
                f"column {shorten(column)} holds {described.kind} values, which have no interval; only "
                "numbers, dates and ordered columns have."
            )
        lower, upper = (as_array(described, end[:, j].astype(np.float64)) for end in (self.lower, self.upper))
        return lower, upper

    def probabilities(self, column: str) -> Float64Array:
        """Return how likely each category of a column is in each row, (n, number of categories).

        In the order of the column's ``categories``; for a boolean, no and yes. A known cell has 1 for its own
        category. In a hole, the completer's estimates of the category's columns, which are regressions of
        0 and 1, are cut to [0, 1], add up to 1, and are mixed with the shares of the known cells. How far is
        chosen on known cells that are hidden for it, so the first call costs one more fit.

        Raises DataError if the column is neither a category nor a boolean.
        """
        j = self.table.column_index(column)
        described = self.table.columns[j]
        if described.kind not in CATEGORICAL:
            raise DataError(
                f"column {shorten(column)} holds {described.kind} values, which have no probabilities; only "
                "categories and booleans have. Use interval(...)."
            )
        holes = self.guessed[:, j] if self.guessed.size else np.zeros(len(self.table.values), dtype=bool)
        own = _indicators(self.table, j, ColumnLayout(self.table.columns).encode(self.table.values))
        if not holes.any():
            return own
        weight = self._weights_of_shares[j]
        estimate, shares = _chances(_indicators(self.table, j, self.completer.completed_), own, ~holes)
        return np.where(holes[:, None], (1 - weight) * estimate + weight * shares, own)

    @cached_property
    def _weights_of_shares(self) -> dict[int, float]:
        """How far the chances in each column of categories move towards the shares of its known cells.

        Some known cells are hidden, and the completer is fitted to the others. The weight of a column is the
        one with the least log-loss on its hidden cells, where those of all columns count as much as
        `COMMON_CELLS` of its own.
        """
        layout = ColumnLayout(self.table.columns)
        columns = [j for j, column in enumerate(self.table.columns) if column.kind in CATEGORICAL]
        rest = np.isin(np.arange(len(self.table.columns)), columns, invert=True)
        hidden = hide_cells(~self.guessed & ~rest, np.random.default_rng(0), share=HIDDEN, at_least_one=True)
        X = layout.encode(np.where(self.guessed | hidden, np.nan, self.table.values))
        usable = ~np.isnan(X).all(axis=0)
        trial = clone(getattr(self.completer, "best_completer_", self.completer))
        completed = np.zeros(X.shape)
        completed[:, usable] = trial.fit(X[:, usable]).completed_
        whole = layout.encode(self.table.values)
        losses, counts = np.zeros((len(columns), len(WEIGHTS))), np.zeros((len(columns), 1))
        for k, j in enumerate(columns):
            own, at = _indicators(self.table, j, whole), hidden[:, j]
            estimate, shares = _chances(_indicators(self.table, j, completed), own, ~self.guessed[:, j] & ~at)
            true = own[at].argmax(axis=1)
            of_estimate, of_share = estimate[at][np.arange(len(true)), true], shares[true]
            mixed = (1 - WEIGHTS) * of_estimate[:, None] + WEIGHTS * of_share[:, None]
            losses[k], counts[k] = -np.log(mixed).sum(axis=0), len(true)
        common = losses.sum(axis=0) / max(1.0, float(counts.sum()))
        chosen = WEIGHTS[(losses + COMMON_CELLS * common).argmin(axis=1)]
        return dict(zip(columns, chosen.tolist(), strict=True))

    def with_interval_columns(self) -> Table:
        """Return the filled table with two extra columns after each number, whole number and date; O(n p).

        They are named after their column plus ``_lower`` and ``_upper``, with another underscore if the name
        is taken. Raises DataError if there are no intervals.
        """
        if self.lower is None or self.upper is None:
            raise DataError(self._why_no_intervals())
        table = self.table
        taken = {*table.column_names, table.row_id, None if table.target is None else table.target.name}
        columns, values = [], []
        for place, column in enumerate(table.columns):
            columns.append(column)
            values.append(table.values[:, place])
            if column.kind in MEASURED:
                for end, cells in (("lower", self.lower), ("upper", self.upper)):
                    name = f"{column.name}_{end}"
                    while name in taken:
                        name += "_"
                    taken.add(name)
                    columns.append(replace(column, name=name))
                    values.append(cells[:, place].astype(np.float64))
        return Table(columns, np.column_stack(values), table.row_ids, table.target, table.row_id)

    def _why_no_intervals(self) -> str:
        if hasattr(self.completer, "predict_interval"):
            return "the table was filled without intervals; pass a level to get them: fill(..., level=0.9)."
        return (
            f"{type(self.completer).__name__}, which filled this table, has no intervals. Leave them out, or "
            "fill with a completer that has them, such as GaussianCompleter (in a campaign, use the "
            "strategy 'recommended')."
        )


@overload
def fill(
    table: BlockTable, completer: Any | None = None, *, target: None = None, level: float | None = None
) -> FilledBlocks: ...
@overload
def fill(
    table: AnyTable, completer: Any | None = None, *, target: str | None = None, level: float | None = None
) -> FilledTable: ...
def fill(
    table: AnyTable | BlockTable,
    completer: Any | None = None,
    *,
    target: str | None = None,
    level: float | None = None,
) -> FilledTable | FilledBlocks:
    """Fill the holes of a table, using the kinds of its columns and its target.

    Guesses have no more decimals than the known values of their column.

    Parameters
    ----------
    table : Table, pandas or polars DataFrame, pyarrow Table, path of a file, or BlockTable
        A `BlockTable`, from `Table.open`, is filled in blocks of rows.
    completer : estimator, optional
        Any completer, from this package or your own; by default ``GaussianCompleter()``. A clone of it is
        fitted. If its parameter ``target`` is "auto", the table's kind of target is used. The default trusts
        labels as far as held-out cells say it should; `Campaign.fill` uses the completer of its strategy,
        which ignores labels in the recommended one, ``GaussianCompleter(label_trust=0.0)``.
    target : str, optional
        The column of a frame or file to predict, which is not filled. A `Table` has its own.
    level : float, optional
        Also compute intervals that should contain this fraction of hidden cells; between 0 and 1. A
        completer without ``predict_interval`` gives none.

    Returns
    -------
    FilledTable
        Or `FilledBlocks`, for a `BlockTable`: its method ``write`` writes it block by block.

    Examples
    --------
    A frame comes back as a frame, with its index:

    >>> import pandas
    >>> from cellworth import Table, fill
    >>> frame = pandas.DataFrame({"size": [1.5, None, 3.0], "grade": ["low", "low", None]}, index=[7, 8, 9])
    >>> filled = fill(frame)
    >>> filled.to_frame().index.tolist(), filled.mask().values.tolist()
    ([7, 8, 9], [[False, False], [True, False], [False, True]])

    Tables and intervals:

    >>> rows = [[1.0, "low"], [1.1, "low"], [1.2, None], [3.0, "high"], [2.9, "high"], [None, "high"]]
    >>> table = Table.from_arrays(rows, columns=["size", "grade"])
    >>> fill(table).table.to_frame("pandas")["grade"].tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    >>> fill(table, level=0.9).with_interval_columns().column_names
    ('size', 'size_lower', 'size_upper', 'grade')
    """
    if isinstance(table, BlockTable):
        return fill_blocks(table, completer, level=level)
    if completer is not None and (isinstance(completer, type) or not hasattr(completer, "fit")):
        got = f"the class {completer.__name__}" if isinstance(completer, type) else shorten(completer)
        raise ParameterError(f"completer must be a completer, such as GaussianCompleter(); got {got}.")
    given = GivenFrame.of(table)
    table = as_table(table, target=target)
    fitted = clone(GaussianCompleter() if completer is None else completer)
    tell_target(fitted, label_kind_of(table.target))
    encoded = table.encode(prior=True)
    fitted.fit(encoded.X, table.y)
    variance = getattr(fitted, "variance_", None)
    if variance is not None:
        variance = np.array(encoded.sum_by_cell(variance))
    lower = upper = None
    if level is not None and hasattr(fitted, "predict_interval"):
        lower, upper = (_rounded(table, encoded.decode_ends(end)) for end in fitted.predict_interval(level))
    cells = _rounded(table, encoded.decode(fitted.completed_))
    for j in np.flatnonzero(encoded.unmeasured):  # the fit saw made-up values; this is what they stand for
        prior = UniformPrior(table.columns[j])
        cells[:, j] = prior.guess
        if variance is not None:
            variance[:, j] = prior.variance
        if lower is not None and upper is not None and prior.column.kind not in UNORDERED:
            lower[:, j], upper[:, j] = prior.interval(level or 0.0)
    return FilledTable(
        table=table.with_values(cells),
        completer=fitted,
        variance=variance,
        lower=lower,
        upper=upper,
        level=level,
        guessed=table.holes,
        given=given,
    )


def _indicators(table: Table, j: int, encoded: FloatArray) -> Float64Array:
    """Return the columns of an encoded table that belong to the categories of column j, (n, categories)."""
    block = np.asarray(encoded, dtype=np.float64)[:, ColumnLayout(table.columns).columns_of(j)]
    return np.hstack([1 - block, block]) if table.columns[j].kind == "boolean" else block


def _chances(
    completed: Float64Array, own: Float64Array, known: BoolArray
) -> tuple[Float64Array, Float64Array]:
    """Return the chances of categories by completed columns, (n, k), and their shares (k,) in known rows."""
    width = own.shape[1]
    shares = (own[known].sum(axis=0) + 1 / width) / (known.sum() + 1)
    inside = np.clip(completed, 0, 1)
    total = inside.sum(axis=1, keepdims=True)
    return np.divide(inside, total, out=np.tile(shares, (len(own), 1)), where=total > 0), shares


def _rounded(table: Table, cells: Float64Array) -> Float64Array:
    """Round the cells (n, p) in the holes of a table to the digits of its known cells; O(n p)."""
    for j, column in enumerate(table.columns):
        holes = table.holes[:, j]
        if holes.any():
            cells[holes, j] = column.rounded_like(cells[holes, j], table.values[~holes, j])
    return cells
