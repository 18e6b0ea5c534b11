"""A table with hidden cells whose values the simulator knows: the truth, the split and the holes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from cellworth.arrays import BoolArray, Float64Array, FloatArray, IntArray
from cellworth.complete.hold_out import hide_cells
from cellworth.errors import DataError, ParameterError
from cellworth.table import ColumnLayout, Table, Target
from cellworth.table.target import LabelKind


@dataclass(frozen=True, eq=False)
class World:
    """Training rows whose cells can be bought, and test rows that measure what the money bought.

    Values are as in ``Table.encode``, in the user's units.

    Attributes
    ----------
    truth : (n, d) array
        The training rows; NaN where even the simulator does not know the value.
    start : (n, d) array
        The same, with NaN in the hidden cells too.
    hidden : (n, p) array of bool
        The cells that can be bought.
    y : (n,) array
        The labels.
    hidden_labels : (n,) array of bool
        The labels that can be bought.
    X_test, y_test : arrays (m, d) and (m,)
        Rows in which nothing is hidden; NaN only where the table itself has holes.
    layout : ColumnLayout
        Which encoded columns belong to which cell.
    rows : (n,) array of int
        The positions of the training rows in the user's table.
    target : {"classes", "number"}
    lowest, width : (d,) arrays
        The minimum of each column over the whole table, and its range (1 for a constant column). `judge`
        scales columns to [0, 1], as in the paper.
    """

    truth: Float64Array
    start: Float64Array
    hidden: BoolArray
    y: Float64Array
    hidden_labels: BoolArray
    X_test: Float64Array
    y_test: Float64Array
    layout: ColumnLayout
    rows: IntArray
    target: LabelKind
    lowest: Float64Array
    width: Float64Array

    def scaled(self, X: FloatArray) -> FloatArray:
        """Return X (m, d) with each column scaled to [0, 1]."""
        return (X - self.lowest) / self.width

    @property
    def known_at_start(self) -> BoolArray:
        """The cells that are known before anything is bought, (n, p) bool."""
        return self.layout.known(self.start)

    @property
    def y_at_start(self) -> Float64Array:
        """The labels (n,) that are known before anything is bought; NaN where hidden."""
        return np.where(self.hidden_labels, np.nan, self.y)

    def reveal(self, X: Float64Array, cells: IntArray) -> Float64Array:
        """Return a copy of X (n, d) with the true values filled in at ``cells`` (k, 2)."""
        bought = np.zeros(self.hidden.shape, dtype=bool)
        bought[cells[:, 0], cells[:, 1]] = True
        return np.where(self.layout.by_column(bought), self.truth, X)


def make_world(table: Table, *, observed: float, train: float, seed: int, labelled: float = 1.0) -> World:
    """Split the labelled rows, and hide cells and labels of the training rows independently of each other.

    Parameters
    ----------
    table : Table
        With a target. Its own holes stay holes: they cannot be bought, and no error includes them.
    observed : float
        The share of the known cells of the training rows that stay visible, between 0 and 1.
    train : float
        The share of rows used for training.
    labelled : float
        The share of the training rows that keep their label, between 0 and 1: at least one row of each
        class, and two rows.
    seed : int
        For the split and the holes: all strategies with the same seed play in the same world.
    """
    target = _check(table, observed, train, labelled)
    rng = np.random.default_rng(seed)
    usable = np.flatnonzero(~np.isnan(target.values))
    y = target.values[usable]
    rows, test = train_test_split(
        usable,
        train_size=train,
        random_state=int(rng.integers(2**31)),
        stratify=y if _can_stratify(target, y) else None,
    )
    encoded = table.encode()
    X = encoded.X
    lowest, highest = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    known = ~table.holes[rows]
    _refuse_empty_columns(known, table.column_names)
    hidden = hide_cells(known, rng, keep=observed, spare="random")
    hidden_labels = _hide_labels(target.values[rows], rng, labelled, classes=not target.is_number)
    return World(
        truth=X[rows],
        start=np.where(encoded.layout.by_column(hidden), np.nan, X[rows]),
        hidden=hidden,
        y=target.values[rows],
        hidden_labels=hidden_labels,
        X_test=X[test],
        y_test=target.values[test],
        layout=encoded.layout,
        rows=rows,
        target=target.label_kind,
        lowest=lowest,
        width=np.where(highest > lowest, highest - lowest, 1.0),
    )


def _hide_labels(y: Float64Array, rng: np.random.Generator, keep: float, *, classes: bool) -> BoolArray:
    """Return the labels (n,) to hide: of rows at random, but for the first of each class, or the first two.

    Draws nothing if all are kept.
    """
    if keep == 1:
        return np.zeros(len(y), dtype=bool)
    order = rng.permutation(len(y))
    spared = order[np.unique(y[order], return_index=True)[1]] if classes else order[:2]
    rest = order[~np.isin(order, spared)]
    kept = max(0, round(keep * len(y)) - len(spared))
    hidden = np.zeros(len(y), dtype=bool)
    hidden[rest[kept:]] = True
    return hidden


def _check(table: Table, observed: float, train: float, labelled: float) -> Target:
    if table.target is None:
        raise DataError("a simulation needs labels; name the target when you make the table")
    if not 0 < observed <= 1:
        raise ParameterError(
            f"observed must be above 0 and at most 1, such as 0.6 for 60 %; got {observed!r}"
        )
    if not 0 < labelled <= 1:
        raise ParameterError(
            f"labelled must be above 0 and at most 1, such as 0.2 for 20 %; got {labelled!r}"
        )
    if not 0 < train < 1:
        raise ParameterError(f"train must be between 0 and 1, such as 0.7 for 70 %; got {train!r}")
    return table.target


def _can_stratify(target: Target, y: Float64Array) -> bool:
    """Return whether each class has enough rows for both sides of a split."""
    return not target.is_number and bool(np.bincount(y.astype(np.intp)).min() >= 2)


def _refuse_empty_columns(known: BoolArray, names: tuple[str, ...]) -> None:
    for column in np.flatnonzero(~known.any(axis=0)):
        raise DataError(
            f"column {names[column]!r} has no known value in the training rows; drop the column, or "
            "increase train"
        )
