"""Leading singular values and directions of a sparse table, a few passes at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.sparse_step import project
from cellworth.complete.sparse.blocks import Engine

Array = NDArray[np.float64]

EXTRA = 5  # directions that are carried along, so that those asked for settle sooner


def leading_directions(
    engine: Engine,
    n_columns: int,
    k: int,
    rng: np.random.Generator,
    *,
    outside: Array | None = None,
    tol: float,
    max_iter: int,
) -> tuple[Array, Array]:
    """Return the k largest singular values, descending, and their right vectors (d, k).

    There are fewer where there is no room for k. Subspace iteration from random directions: values come
    from below, and their error is of the order of the square of that of the vectors.

    Parameters
    ----------
    engine : Engine
        Of `CellBlock`; what is not observed counts as 0.
    outside : (d, j) array with orthonormal columns, or None
        Look only at directions at right angles to these.
    tol : float
        Ends when no value grew by more than this fraction of the largest.

    Notes
    -----
    One pass per iteration, O(cells k + d k^2).
    """
    known = np.zeros((n_columns, 0)) if outside is None else outside
    size = min(k + EXTRA, n_columns - known.shape[1])
    if min(size, k) <= 0:
        return np.zeros(0), np.zeros((n_columns, 0))
    V, last = _orthonormal(rng.standard_normal((n_columns, size)), known), np.zeros(size)
    for _ in range(max_iter):
        gram, product = engine.sum(project, V)
        squares, Q = np.linalg.eigh(gram)
        values, V = np.sqrt(np.maximum(squares[::-1], 0)), V @ Q[:, ::-1]
        settled = np.abs(values - last)[:k].max() <= tol * values[0]
        if settled:
            break
        last, best = values, V
        V = _orthonormal(product @ Q[:, ::-1], known)
    else:
        V = best  # the values belong to the directions before the last turn
    return values[:k], np.ascontiguousarray(V[:, :k])


def largest_singular_value(engine: Engine, n_columns: int, rng: np.random.Generator) -> float:
    """Return that of the table with 0 in its holes: a penalty of this size leaves nothing."""
    values, _ = leading_directions(engine, n_columns, 1, rng, tol=1e-6, max_iter=100)
    return float(values[0])


def _orthonormal(V: Array, known: Array) -> Array:
    """Return an orthonormal basis of the part of V at right angles to ``known``, also if V is 0 in parts."""
    Q, _ = np.linalg.qr(V - known @ (known.T @ V))
    Q -= known @ (known.T @ Q)  # once more, for what rounding left
    Q, _ = np.linalg.qr(Q)
    return np.asarray(Q)
