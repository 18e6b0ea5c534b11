r"""A start of the iterations from a fit to some of the rows.

What the rows of a solution have in common is a d x d matrix. The trace norm is

.. math:: \|\hat X\|_{tr} = \min_{M \succ 0}\ \tfrac12\,\mathrm{tr}(\hat X M^{-1}\hat X^\top)
          + \tfrac12\,\mathrm{tr}\,M, \qquad \text{attained by } M = (\hat X^\top\hat X)^{1/2},

so with M known, Eq. (1) without its labels separates into ridge regressions of single rows. Their hidden
cells are those that a Gaussian with mean 0 and covariance :math:`M + \lambda_1 I` expects: with its inverse
:math:`\Lambda`, row by row, :math:`\Lambda_{hh}x_h = -\Lambda_{ho}x_o`.

A part of the rows tells M nearly as well as all of them do. Of every k-th row, all sums are a k-th and the
singular values a :math:`\sqrt k`-th: the fit to these has the penalty :math:`\lambda_1/\sqrt k` and the ridge
:math:`\rho/k`, and gives :math:`M/\sqrt k`. The small systems of all rows are then solved by a few steps of
conjugate gradients, a product for each: a few large singular values apart, :math:`\Lambda` is nearly a
multiple of I. A sample of an eighth and these steps take as long as some six iterations, and save 10 to 50.

This only gives a starting point: the iterations that follow decide when to stop.
"""

from __future__ import annotations

from ctypes import byref
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.thread_engine import RowBlocks, ThreadEngine
from cellworth.complete.compiled.library import address, kernels
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.monitor import Solution
from cellworth.complete.solver.proximal_gradient import minimise, minimise_from_means
from cellworth.complete.solver.singular_value_thresholding import Shrinkage
from cellworth.complete.solver.step import Rows
from cellworth.complete.solver.warm_start import column_means, largest_trace_norm

EVERY = 8  # of so many rows, one is in the sample
LEAST_CELLS = 200_000  # of smaller tables an iteration takes hardly longer than one of their sample
LEAST_ROWS = 16  # of the sample, per column
MOST_LABEL_WEIGHT = 100.0
SAMPLE_TOL = 1e-3
SAMPLE_ITERATIONS = 50
STEPS = 8  # of conjugate gradients


class SampledStart(NamedTuple):
    """Where to start.

    Attributes
    ----------
    iterate : (n, d) array
        Observed values, and guesses of the hidden ones, rounded to single precision.
    trace_norm : float
        An upper bound on that of ``iterate``.
    model : LinearPart
    """

    iterate: FloatArray
    trace_norm: float
    model: LinearPart


def sampling_pays(rows: Rows, model: LinearPart, trace_penalty: float) -> bool:
    """Return whether a start from a sample takes less time than the iterations that it saves.

    Not where labels weigh so much that table and model are strongly coupled: then it saves nothing, and may
    lead to another stationary point.
    """
    n, d = rows.values.shape
    long = n * d >= LEAST_CELLS and n >= EVERY * LEAST_ROWS * d
    return long and trace_penalty > 0 and model.weight * len(rows.targets) <= MOST_LABEL_WEIGHT


def first_fit(
    rows: Rows, model: LinearPart, trace_penalty: float, engine: ThreadEngine | None, **settings: Any
) -> Solution:
    """Minimise F from nothing: from a sample of the rows if that pays, else from column means.

    ``settings`` are those of `minimise`. ``n_iter`` counts the iterations on all rows.
    """
    settings |= {"trace_penalty": trace_penalty, "blocks": _blocks(rows, engine)}
    if sampling_pays(rows, model, trace_penalty):
        dtype = np.dtype(np.float32) if settings.get("single") else rows.values.dtype
        iterate, trace_norm, model = start_from_sample(rows, model, trace_penalty, engine, dtype)
        return minimise(iterate, model, rows, trace_norm=trace_norm, **settings)
    iterate, trace_norm = column_means(rows)
    return minimise_from_means(iterate, model, rows, trace_norm=trace_norm, **settings)


def start_from_sample(
    rows: Rows,
    model: LinearPart,
    trace_penalty: float,
    engine: ThreadEngine | None,
    dtype: DTypeLike = np.float32,
) -> SampledStart:
    """Fit to some rows, in single precision, and return where to start with all of them, not wide."""
    part = _sample(rows)
    found = first_fit(
        part,
        replace(model, ridge=model.ridge / EVERY),
        trace_penalty / np.sqrt(EVERY),
        engine,
        tol=SAMPLE_TOL,
        max_iter=SAMPLE_ITERATIONS,
    )
    shape = Shrinkage(np.zeros((0, 0)), found.singular_values * np.sqrt(EVERY), found.basis)
    filled = np.empty(rows.values.shape, dtype)
    fill_given_shape(filled, rows, shape, trace_penalty, engine)
    return SampledStart(filled, largest_trace_norm(filled), replace(found.model, ridge=model.ridge))


def _blocks(rows: Rows, engine: ThreadEngine | None) -> RowBlocks:
    return RowBlocks(rows.values.shape, rows.values.itemsize, engine)


def _sample(rows: Rows) -> Rows:
    """Return every k-th row, rounded to single precision; the labelled ones first, as they were."""
    every = slice(None, None, EVERY)
    values, targets = rows.values[every], rows.targets[every]
    observed = np.ascontiguousarray(rows.observed[every])
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
    kept = shape.singular_values
    inverse = (shape.basis * (trace_penalty / (kept + trace_penalty) - 1)) @ shape.basis.T
    inverse.flat[:: len(inverse) + 1] += 1
    product = inverse.astype(np.float32)

    def of_run(r: slice) -> tuple[int]:
        part = rows.values[r].astype(np.float32)
        solve_in_holes(product, part, rows.observed[r], steps)
        filled[r] = part
        return (0,)

    _blocks(rows, engine).sum_runs(of_run)


def solve_in_holes(product: FloatArray, filled: FloatArray, observed: BoolArray, steps: int) -> None:
    """Fill holes with values that come near ``filled @ product = 0`` there; they have 0 on entry.

    Conjugate gradients in each row, in single precision; ``product`` (d, d) is positive definite.
    """
    compiled = kernels()
    if compiled is None:
        filled += plain_solution(product, filled, observed, steps)
        return
    (n, d), blas = filled.shape, compiled.passes[filled.dtype][1]
    if compiled.solve_in_holes(byref(blas), n, d, steps, *map(address, (product, filled, observed))):
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
