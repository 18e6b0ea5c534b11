"""Sparse tables that the tests share, and what they look like written out."""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.sparse.held_out_cells import table_of
from cellworth.complete.sparse.variable_projection import CellBlock


def sparse_of(values, observed):
    """Return the observed cells as a sparse matrix, observed zeros stored."""
    starts = np.concatenate([[0], np.cumsum(observed.sum(axis=1))])
    return csr_array((values[observed], np.nonzero(observed)[1], starts), shape=values.shape)


def block_of(values, observed):
    X = sparse_of(values, observed)
    return CellBlock(X.indptr, X.indices, X.data)


def table_from(values, observed):
    return table_of(block_of(values, observed), values.shape[1], ThreadEngine(n_jobs=1))


@st.composite
def tables(draw, most=12):
    """Draw values (n, d), 0 in the holes and in some observed cells, and which are observed.

    Each column has an observed cell; rows may be empty.
    """
    n, d = draw(st.integers(2, most)), draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    observed = rng.random((n, d)) < draw(st.sampled_from([0.1, 0.4, 0.9]))
    observed[rng.integers(n, size=d), np.arange(d)] = True
    values = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.3 * rng.normal(size=(n, d))
    values[rng.random((n, d)) < 0.1] = 0.0
    return values * observed, observed


def rank_five(n=2000, d=400, share=0.1, noise=0.5, seed=0):
    """Return observed cells of a table of rank 5 with noise, and the two factors of the clean table.

    A clean cell has variance 1.
    """
    rng = np.random.default_rng(seed)
    rows, columns = rng.normal(size=(n, 5)), rng.normal(size=(d, 5)) / np.sqrt(5)
    observed = rng.random((n, d)) < share
    i, j = np.nonzero(observed)
    values = np.zeros((n, d))
    values[i, j] = np.einsum("ij,ij->i", rows[i], columns[j]) + noise * rng.normal(size=len(i))
    return sparse_of(values, observed), rows, columns
