r"""A start of the iterations from what the rows have in common.

What the rows of a solution have in common is a d x d matrix. The trace norm is

.. math:: \|\hat X\|_{tr} = \min_{M \succ 0}\ \tfrac12\,\mathrm{tr}(\hat X M^{-1}\hat X^\top)
          + \tfrac12\,\mathrm{tr}\,M, \qquad \text{attained by } M = (\hat X^\top\hat X)^{1/2},

so with M known, Eq. (1) without its labels separates into ridge regressions of single rows. Their hidden
cells are those that a Gaussian with mean 0 and covariance :math:`M + \lambda_1 I` expects: with its inverse
:math:`\Lambda`, row by row, :math:`\Lambda_{hh}x_h = -\Lambda_{ho}x_o`.

The second moments of the columns, each from the rows in which both cells are observed, tell M roughly: the
Gram matrix of the complete table is n times them, and a proximal step takes :math:`\lambda_1` from the roots
of its eigenvalues. That alone saves tables of a few thousand rows up to 40 % of their iterations; some, none.

A part of the rows tells M nearly as well as all of them do. Of every k-th row, all sums are a k-th and the
singular values a :math:`\sqrt k`-th: the fit to these has the penalty :math:`\lambda_1/\sqrt k` and the ridge
:math:`\rho/k`, and gives :math:`M/\sqrt k`. The small systems of all rows are then solved by a few steps of
conjugate gradients, a product for each: a few large singular values apart, :math:`\Lambda` is nearly a
multiple of I. A sample of an eighth and these steps take as long as some six iterations, and save 10 to 50.

This only gives a starting point: the iterations that follow decide when to stop. On row blocks the sample has
the same rows and is fitted in the same way, in one process; `cellworth.complete.solver.cell_sums`
gathers it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, FloatArray
from cellworth.blocks.thread_engine import RowBlocks, ThreadEngine
from cellworth.complete.compiled.library import address, kernels
from cellworth.complete.solver.cell_sums import CellSums
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.monitor import Solution
from cellworth.complete.solver.proximal_gradient import WEAK, minimise, minimise_from_means
from cellworth.complete.solver.singular_value_thresholding import Shrinkage, shrinkage
from cellworth.complete.solver.step import Rows
from cellworth.complete.solver.warm_start import column_means, largest_trace_norm

EVERY = 8  # of so many rows, one is in the sample
MOST_CELLS = 4_000_000  # of the sample: of longer tables, fewer rows do
LEAST_CELLS = 200_000  # of smaller tables an iteration takes hardly longer than one of their sample
LEAST_CELLS_FOR_PAIRS = 20_000  # measured from here on: mostly 3 to 35 % less CPU time, once 5 to 15 % more
LEAST_ROWS = 16  # of the sample, per column
MOST_LABEL_WEIGHT = 100.0
SAMPLE_TOL = 1e-3
SAMPLE_ITERATIONS = 50
STEPS = 8  # of conjugate gradients


class SampleFit(NamedTuple):
    """What a fit to some of the rows, or pairs of columns, tell about all rows.

    Attributes
    ----------
    shape : Shrinkage
        Singular values and basis of M for all rows; without an operator.
    model : LinearPart
    """

    shape: Shrinkage
    model: LinearPart


def stride(shape: tuple[int, int]) -> int:
    """Return k, where every k-th row of a table (n, d) is its sample."""
    n, d = shape
    return max(EVERY, min(n * d // MOST_CELLS, n // (LEAST_ROWS * d)))


def sampling_pays(shape: tuple[int, int], n_targets: int, model: LinearPart, trace_penalty: float) -> bool:
    """Return whether a start from a sample takes less time than the iterations that it saves.

    Not where labels weigh so much that table and model are strongly coupled: then it saves nothing, and may
    lead to another stationary point.
    """
    n, d = shape
    long = n * d >= LEAST_CELLS and n >= EVERY * LEAST_ROWS * d
    return long and trace_penalty > 0 and model.weight * n_targets <= MOST_LABEL_WEIGHT


def pairs_pay(
    shape: tuple[int, int], n_targets: int, norm: float, model: LinearPart, trace_penalty: float
) -> bool:
    """Return whether a start from pairs of columns takes less time than the iterations that it saves.

    Not where the penalty is weak beside the ``norm`` of the observed values, and reached by way of stronger
    ones.
    """
    n, d = shape
    long = n * d >= LEAST_CELLS_FOR_PAIRS and n >= LEAST_ROWS * d
    strong = trace_penalty > 0 and trace_penalty >= WEAK * norm
    return long and strong and model.weight * n_targets <= MOST_LABEL_WEIGHT


def first_fit(
    rows: Rows, model: LinearPart, trace_penalty: float, engine: ThreadEngine | None, **settings: Any
) -> Solution:
    """Minimise F from nothing: from a sample of the rows or from pairs if that pays, else from column means.

    ``settings`` are those of `minimise`. ``n_iter`` counts the iterations on all rows.
    """
    settings |= {"trace_penalty": trace_penalty, "blocks": _blocks(rows, engine)}
    size, n_targets, found = rows.values.shape, len(rows.targets), None
    if sampling_pays(size, n_targets, model, trace_penalty):
        every = stride(size)
        found = fit_to_sample(_sample(rows, every), every, model, trace_penalty, engine)
    elif pairs_pay(size, n_targets, float(np.linalg.norm(rows.values)), model, trace_penalty):
        exact, observed = rows.values.astype(np.float64, copy=False), rows.observed.astype(np.float32)
        shape = shape_from_pairs(exact.T @ exact, observed.T @ observed, len(exact), trace_penalty)
        found = SampleFit(shape, model)
    if found is not None:
        filled = np.empty(size, np.float32 if settings.get("single") else rows.values.dtype)
        fill_given_shape(filled, rows, found.shape, trace_penalty, engine)
        return minimise(filled, found.model, rows, trace_norm=largest_trace_norm(filled), **settings)
    iterate, trace_norm = column_means(rows)
    return minimise_from_means(iterate, model, rows, trace_norm=trace_norm, **settings)


def fit_to_sample(
    part: Rows, every: int, model: LinearPart, trace_penalty: float, engine: ThreadEngine | None
) -> SampleFit:
    """Fit to every k-th row, in single precision, with the model and penalty of all rows; not wide."""
    found = first_fit(
        part,
        replace(model, ridge=model.ridge / every),
        trace_penalty / np.sqrt(every),
        engine,
        tol=SAMPLE_TOL,
        max_iter=SAMPLE_ITERATIONS,
    )
    shape = Shrinkage(np.zeros((0, 0)), found.singular_values * np.sqrt(every), found.basis)
    return SampleFit(shape, replace(found.model, ridge=model.ridge))


def shape_from_pairs(gram: FloatArray, together: AnyArray, n_rows: int, trace_penalty: float) -> Shrinkage:
    """Return about the singular values and basis of M, from the moments of pairs of columns. O(d^3).

    Parameters
    ----------
    gram : (d, d) array
        Of the table with zeros in its holes.
    together : (d, d) array
        In how many rows two columns are both observed; where in none, they count as unrelated.
    """
    return shrinkage(n_rows * (gram / np.maximum(together, 1)), trace_penalty)


def fit_to_sums(
    sums: CellSums, shape: tuple[int, int], n_targets: int, model: LinearPart, trace_penalty: float
) -> SampleFit | None:
    """Return what pairs of columns tell about a table in row blocks; None if such a start does not pay."""
    if not pairs_pay(shape, n_targets, sums.square**0.5, model, trace_penalty):
        return None
    return SampleFit(shape_from_pairs(sums.gram, sums.together, shape[0], trace_penalty), model)


def _blocks(rows: Rows, engine: ThreadEngine | None) -> RowBlocks:
    return RowBlocks(rows.values.shape, rows.values.itemsize, engine)


def _sample(rows: Rows, every: int) -> Rows:
    """Return every k-th row, rounded to single precision; the labelled ones first, as they were."""
    chosen = slice(None, None, every)
    values, targets = rows.values[chosen], rows.targets[chosen]
    observed = np.ascontiguousarray(rows.observed[chosen])
    return Rows(values.astype(np.float32), observed, targets.astype(np.float32), rows.wide)


def fill_given_shape(
    filled: FloatArray,
    rows: Rows,
    shape: Shrinkage,
    trace_penalty: float,
    engine: ThreadEngine | None,
    steps: int = STEPS,
) -> None:
    """Write the observed values into ``filled`` (n, d), and about what M and these imply in the holes.

    Parameters
    ----------
    shape : Shrinkage
        Singular values and basis of M; it is 0 across the basis.
    steps : int
        Of conjugate gradients, in single precision. d of them would be exact.
    """
    product = product_given_shape(shape, trace_penalty)

    def of_run(r: slice) -> tuple[int]:
        filled[r] = filled_rows(rows.values[r], rows.observed[r], product, steps)
        return (0,)

    _blocks(rows, engine).sum_runs(of_run)


def product_given_shape(shape: Shrinkage, trace_penalty: float) -> FloatArray:
    r"""Return :math:`\lambda_1\Lambda` (d, d) in single precision."""
    kept = shape.singular_values
    inverse = (shape.basis * (trace_penalty / (kept + trace_penalty) - 1)) @ shape.basis.T
    inverse.flat[:: len(inverse) + 1] += 1
    return inverse.astype(np.float32)


def filled_rows(
    values: FloatArray, observed: BoolArray, product: FloatArray, steps: int = STEPS
) -> FloatArray:
    """Return rows (m, d) in single precision, with what the product and the observed values imply in holes.

    ``values`` are 0 in the holes; the product is that of `product_given_shape`.
    """
    filled = values.astype(np.float32)
    solve_in_holes(product, filled, observed, steps)
    return filled


def solve_in_holes(product: FloatArray, filled: FloatArray, observed: BoolArray, steps: int) -> None:
    """Fill holes with values that come near ``filled @ product = 0`` there; they have 0 on entry.

    Conjugate gradients in each row, in single precision; ``product`` (d, d) is positive definite.
    """
    compiled = kernels()
    if compiled is None:
        filled += plain_solution(product, filled, observed, steps)
        return
    if compiled.solve_in_holes(*filled.shape, steps, *map(address, (product, filled, observed))):
        raise MemoryError("not enough memory for a block of rows")


def plain_solution(product: FloatArray, known: FloatArray, observed: BoolArray, steps: int) -> FloatArray:
    """Return what `solve_in_holes` fills in, 0 elsewhere, in NumPy."""
    residual = np.where(observed, 0, -known @ product)
    direction, found = residual, np.zeros_like(residual)
    square = _row_sums(residual**2)
    for _ in range(steps):
        moved = np.where(observed, 0, direction @ product)
        length = _ratio(square, _row_sums(direction * moved))
        found = found + length * direction
        residual = residual - length * moved
        before, square = square, _row_sums(residual**2)
        direction = residual + _ratio(square, before) * direction
    return found


def _row_sums(A: FloatArray) -> FloatArray:
    return np.asarray(A.sum(axis=1, keepdims=True))


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return the ratio, or 0 where ``below`` is not positive."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
