"""Random small problems for the solver's tests."""

import numpy as np
from hypothesis import strategies as st

from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.losses import LogisticLoss, MultinomialLoss, SquaredHingeLoss, SquaredLoss
from cellworth.complete.solver.proximal_gradient import minimise
from cellworth.complete.solver.step import Rows
from tests.complete.solver.loss_contract import random_targets

LOSSES = [
    (SquaredLoss(), 1),
    (SquaredLoss(), 3),
    (LogisticLoss(), 1),
    (SquaredHingeLoss(), 2),
    (MultinomialLoss(), 3),
]


ANY_LABELS = st.floats(0.0, 1.0)


@st.composite
def problems(draw, max_rows=9, max_columns=6, labelled=ANY_LABELS):
    """Draw (rows, model, trace penalty, rng): a table with holes, labels on some rows, and a model."""
    n, d = draw(st.integers(2, max_rows)), draw(st.integers(2, max_columns))
    loss, n_outputs = draw(st.sampled_from(LOSSES))
    penalty = draw(st.sampled_from([0.01, 0.1, 1.0]))
    weight = draw(st.sampled_from([0.01, 0.1, 1.0]))
    share = draw(labelled)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = make_rows(n, d, loss, n_outputs, rng, labelled=share)
    model = random_model(loss, d, n_outputs, weight, rng)
    return rows, model, penalty, rng


def make_rows(n, d, loss, n_outputs, rng, observed=0.6, labelled=1.0):
    rank = min(2, n, d)
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.1 * rng.normal(size=(n, d))
    seen = rng.random((n, d)) < observed
    targets = random_targets(loss, round(labelled * n), n_outputs, rng)
    return Rows(np.where(seen, X, 0.0), seen, targets, wide=n < d)


def random_model(loss, d, n_outputs, weight, rng, ridge=0.01):
    return LinearPart(loss, weight, ridge, rng.normal(size=(d, n_outputs)), rng.normal(size=n_outputs))


def objective(X, rows, model, penalty):
    """Compute F by the book: a full SVD for the trace norm, all terms on whole arrays."""
    residual = (X - rows.values)[rows.observed]
    scores = X[: len(rows.targets)] @ model.coef + model.intercept
    return (
        0.5 * (residual**2).sum()
        + penalty * np.linalg.svd(X, compute_uv=False).sum()
        + model.weight * model.loss.value(scores, rows.targets).sum()
        + model.ridge / 2 * (model.coef**2).sum()
    )


def solve(rows, model, penalty, method=minimise, first=None, engine=None, **options):
    X = np.zeros_like(rows.values) if first is None else first.copy()
    trace = np.linalg.svd(X, compute_uv=False).sum()
    options = {"tol": 1e-9, "max_iter": 20_000} | options
    blocks = RowBlocks(X.shape, 8, engine)
    return method(X, model, rows, trace_penalty=penalty, trace_norm=trace, blocks=blocks, **options)


def blank(loss, d, n_outputs, weight, ridge=0.01):
    return LinearPart(loss, weight, ridge, np.zeros((d, n_outputs)), np.zeros(n_outputs))
