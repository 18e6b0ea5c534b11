"""What a fit leaves to the next one: its table, its scaled cells, and factors formed when asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.kept_between_fits import KeptBetweenFits
from cellworth.complete.scaling import (
    AS_THEY_ARE,
    Order,
    Scaling,
    changed_rows,
    in_order,
    same_order,
    scaled_cells,
    update_cells,
)
from cellworth.complete.solver.factors import factorise, left_factor
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.step import Rows
from cellworth.complete.solver.warm_start import WarmStart, refresh

Cells = tuple[FloatArray, BoolArray]


@dataclass(eq=False)
class EarlierFit:
    """A solution of Eq. (1), from which the next one starts.

    Attributes
    ----------
    iterate : (n, d) array
        In scaled units, its rows in ``order``; none if it is not known. Never written to.
    right : (rank, d) array
        Its balanced right factor.
    completed : (n, d) array
        The iterate in the user's units and order, with the observed cells in their places.
    scaling : Scaling
    penalty : float
        lambda_1.
    order : slice or (n,) array of int
        Of the rows, by their index in the user's table.
    """

    iterate: FloatArray
    right: FloatArray
    completed: FloatArray
    scaling: Scaling
    penalty: float
    order: Order
    _cells: list[Cells] = field(default_factory=list)  # to be taken by one
    _left: FloatArray | None = None

    @classmethod
    def without_rows(cls, right: FloatArray, scaling: Scaling, penalty: float) -> Self:
        """Return the fit to a table of which only the right factor is known: nothing can start from it."""
        none = np.zeros((0, right.shape[1]), dtype=right.dtype)
        return cls(none, right, none, scaling, penalty, AS_THEY_ARE)

    @classmethod
    def restored(cls, state: dict[str, Any], completed: FloatArray, scaling: Scaling, penalty: float) -> Self:
        """Return the fit from its `state`, or from that of an earlier version, which had both factors."""
        if "low_rank_" in state:
            left, right = state["low_rank_"]
            return cls(left @ right, right, completed, scaling, penalty, AS_THEY_ARE)
        return cls(state["iterate"], state["right"], completed, scaling, penalty, AS_THEY_ARE)

    def state(self) -> dict[str, FloatArray]:
        """Return the arrays from which `restored` makes it again; the rows are in the user's order."""
        return {"iterate": in_order(self.iterate, self.order), "right": self.right}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return vars(self) | {"_cells": [], "_left": None}

    def factors(self) -> tuple[FloatArray, FloatArray]:
        """Return balanced factors of the iterate, (n, rank) in the user's order and (rank, d)."""
        if self._left is None:
            self._left = in_order(left_factor(self.iterate, self.right), self.order)
        return self._left, self.right

    def keep_cells(self, cells: Cells) -> None:
        """Keep the scaled cells, in order, of the table that was completed: nobody else may write to them."""
        self._cells.append(cells)

    def cells_of(
        self, X: FloatArray, order: Order, scaling: Scaling, kept: KeptBetweenFits
    ) -> tuple[Cells, IntArray]:
        """Return what `scaled_cells` does for the next table X, and the rows with answers (c,), ascending.

        Where the cells of the last table are still there, in the same order and units, only those that
        changed are scaled anew. Of two copies of a completer, one has them; the result is the same.
        """
        try:
            cells = self._cells.pop()
        except IndexError:
            cells = kept.take(X.shape, X.dtype), kept.take(X.shape, bool)
        else:
            if cells[0].dtype == X.dtype and scaling.same_as(self.scaling) and same_order(order, self.order):
                return cells, np.flatnonzero(update_cells(X, self.completed, scaling, order, cells))
        cells = scaled_cells(X, scaling, order, cells if cells[0].dtype == X.dtype else None)
        return cells, np.flatnonzero(changed_rows(X, self.completed)[order])

    def start(
        self,
        X: FloatArray,
        rows: Rows,
        changed: IntArray,
        model: LinearPart,
        penalty: float,
        order: Order,
        scaling: Scaling,
    ) -> WarmStart:
        """Return where to start from for the next table X, whose ``rows`` have this order and scaling.

        ``changed`` are the rows with answers (c,), in that order, as from `cells_of`.
        """
        place = changed if isinstance(order, slice) else order[changed]
        fresh = (self.completed[place] != X[place]) & rows.observed[changed]
        iterate, right = self.iterate, self.right
        penalty_before: float | None = self.penalty
        if not same_order(order, self.order):
            iterate = in_order(iterate, self.order)[order]
        if not scaling.same_as(self.scaling):
            iterate = scaling.apply(self.scaling.undo_in_place(iterate.copy()))
            _, right = factorise(iterate, most=len(right) + 1)  # new offsets add one to the rank
            penalty_before = None  # it is no solution in these units
        return refresh(iterate, right, changed, fresh, rows, model, penalty, penalty_before)
