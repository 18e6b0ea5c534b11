"""A fit that keeps no iterate: its sums against rows solved one by one, its result against one in memory."""

import numpy as np
import pytest

from cellworth import SupervisedCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.blocks.row_source import Part
from cellworth.complete.compiled.library import kernels
from cellworth.complete.labels import LabelSummary, label_code
from cellworth.complete.proximal_without_iterate import (
    FoldIn,
    Weights,
    moved_sums,
    pass_sums,
    point_of,
    proximal_step,
)
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart
from tests.complete.low_rank_cases import threshold_by_svd

pytestmark = pytest.mark.skipif(kernels() is None, reason="the compiled kernels are not built")


class NoRoom(ThreadEngine):
    """An engine that has no memory to keep anything in between passes."""

    def room(self):
        return 0


class KeepsNothing(NoRoom):
    """An engine that refuses to keep anything between passes, but for the completed rows at the end."""

    def map(self, function, *blocks, shared=()):
        assert "pass" not in function.__name__
        return super().map(function, *blocks, shared=shared)


def made_up(kind, n=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.4 * rng.normal(size=(n, d))
    score = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.3] = np.nan
    if kind is None:
        return X, None
    y = {"two": score > 0, "three": np.digitize(score, [-0.7, 0.7]), "number": score}[kind].astype(float)
    y[rng.random(n) < 0.3] = np.nan
    return X, y


def solved_by_rows(part, weights, scaling, code):
    """Return z (n, d), e (n, d) and the value of each row's problem, one row after another."""
    S, model = weights.S, weights.model
    targets, labelled = code.targets(part.y, len(part.X))
    cw = model.loss.curvature * model.weight
    z, e, value = np.zeros(part.X.shape), np.zeros(part.X.shape), 0.0
    for i, x in enumerate((part.X - scaling.offset) / scaling.width):
        seen = ~np.isnan(x)
        H, g = np.linalg.inv(S) + np.diag(seen.astype(float)), np.where(seen, x, 0.0)
        if labelled[i] and weights.n_targets:
            H = H + cw * model.coef @ model.coef.T
            g = g + cw * model.coef @ (targets[i] - model.intercept)
        z[i] = np.linalg.solve(H, g)
        e[i] = np.where(seen, np.where(seen, x, 0.0) - z[i], 0.0)
        value += 0.5 * np.sum(e[i] ** 2) + 0.5 * z[i] @ np.linalg.solve(S, z[i])
        if labelled[i] and weights.n_targets:
            left = targets[i] - model.intercept - model.coef.T @ z[i]
            e[i] += cw * model.coef @ left
            value += cw / 2 * left @ left
    return z, e, value, targets, labelled


@pytest.mark.parametrize("kind", [None, "two", "three", "number"])
def test_the_sums_of_a_pass_are_those_of_rows_solved_one_by_one(kind):
    X, y = made_up(kind, n=60)
    rng, d = np.random.default_rng(1), X.shape[1]
    code = label_code(None if y is None else LabelSummary.of(y), "squared", "auto", "y")
    scaling = Scaling.of(X, "minmax")
    n_targets = code.n_labelled
    q, root = code.n_outputs, rng.normal(size=(d, d))
    model = LinearPart(code.loss, 0.7, 0.1, rng.normal(size=(d, q)), rng.normal(size=q))
    weights = Weights(root @ root.T, model, n_targets)
    part = Part(X, y, None, 0)
    sums = pass_sums(part.some(slice(25)), weights, scaling, code)
    rest = pass_sums(part.some(slice(25, None)), weights, scaling, code)
    point = point_of(type(sums)(*map(np.add, sums, rest)), weights)
    z, e, value, targets, labelled = solved_by_rows(part, weights, scaling, code)
    np.testing.assert_allclose(z, e @ weights.S, atol=1e-8)
    assert point.misfit == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(point.residual, e.T @ e, rtol=1e-7, atol=1e-9)
    step = proximal_step(point, weights, penalty=0.8)
    L = model.lipschitz()
    shrunk = threshold_by_svd(z + e / L, 0.8 / L)
    np.testing.assert_allclose(e @ step.T, shrunk, atol=1e-7)
    assert step.gradient == pytest.approx(L * np.linalg.norm(z - shrunk), rel=1e-6)
    best = step.best_S(0.8)
    np.testing.assert_allclose(0.8**2 * best @ best, shrunk.T @ shrunk, atol=1e-7)
    if n_targets:
        expected = LabelledSums.of(shrunk[labelled], targets[labelled])
        for found, one in zip(moved_sums(point.of_labelled, step.T), expected, strict=True):
            np.testing.assert_allclose(found, one, atol=1e-7)
    vectors, values, _ = np.linalg.svd(weights.S)
    right = (vectors * np.sqrt(0.8 * values)).T
    folded = FoldIn(code, model, right, n_targets, 0.8).rows(part, scaling)
    np.testing.assert_allclose(folded, z, atol=1e-6)


@pytest.mark.parametrize("kind", [None, "two", "three", "number"])
@pytest.mark.parametrize(("penalty", "unit"), [(1.0, "absolute"), (0.1, "relative")])
def test_the_result_is_that_of_the_fit_in_memory(kind, penalty, unit):
    X, y = made_up(kind)
    said = {"trace_penalty": penalty, "penalty_unit": unit, "tol": 1e-7}
    whole = SupervisedCompleter(**said).fit(X, y)
    source = open_blocks(X, target=y, engine=NoRoom(1, block_rows=70))
    blocks = SupervisedCompleter(**said).fit(source)
    assert blocks.converged_
    if kind is None:  # without labels, it takes about half of them
        assert blocks.n_iter_ <= whole.n_iter_
    assert (np.diff(blocks.objective_) <= 0).all()
    if kind == "three" and unit == "absolute":  # not convex: this one has another stationary point nearby
        assert blocks.objective_[-1] == pytest.approx(whole.objective_[-1], rel=1e-3)
        return
    assert blocks.objective_[-1] == pytest.approx(whole.objective_[-1], rel=1e-9)
    assert blocks.rank_ == whole.rank_
    spread = np.nanstd(X)
    np.testing.assert_allclose(blocks.completed_.gather()[0], whole.completed_, atol=1e-3 * spread)
    np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-3)


@pytest.mark.parametrize("kind", [None, "two", "three", "number"])
def test_from_a_sample_it_ends_where_the_fit_in_memory_does(kind):
    """A large table starts from the same sample, so that of several stationary points both reach one."""
    X, y = made_up(kind, n=34_000)
    whole = SupervisedCompleter(tol=1e-7).fit(X, y)
    source = open_blocks(X, target=y, engine=NoRoom(1, block_rows=7001))
    blocks = SupervisedCompleter(tol=1e-7).fit(source)
    assert blocks.converged_
    assert blocks.n_iter_ < whole.n_iter_ / 2
    assert blocks.objective_[-1] == pytest.approx(whole.objective_[-1], rel=1e-9)
    assert blocks.rank_ == whole.rank_
    off = blocks.completed_.gather()[0] - whole.completed_
    assert np.sqrt(np.mean(off**2)) < 1e-3 * np.nanstd(X)
    np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-3)


@pytest.mark.parametrize("kind", ["two", "three"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_other_losses_end_where_the_fit_in_memory_does(kind, loss):
    X, y = made_up(kind, n=34_000)
    said = {"loss": loss, "tol": 1e-6}
    whole = SupervisedCompleter(**said).fit(X, y)
    engine = KeepsNothing(1, block_rows=7001)
    blocks = SupervisedCompleter(**said).fit(open_blocks(X, target=y, engine=engine))
    assert blocks.converged_
    assert (np.diff(blocks.objective_) <= 0).all()
    assert blocks.objective_[-1] == pytest.approx(whole.objective_[-1], rel=1e-8)
    assert blocks.rank_ == whole.rank_
    off = blocks.completed_.gather()[0] - whole.completed_
    assert np.sqrt(np.mean(off**2)) < 1e-3 * np.nanstd(X)
    np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-2)


@pytest.mark.parametrize("kind", [None, "two"])
def test_wide_tables_do_without_iterates_too(kind):
    X, y = made_up(kind, n=400, d=66)
    said = {"tol": 1e-6}
    whole = SupervisedCompleter(**said).fit(X, y)
    engine = KeepsNothing(1, block_rows=70)
    blocks = SupervisedCompleter(**said).fit(open_blocks(X, target=y, engine=engine))
    assert blocks.objective_[-1] == pytest.approx(whole.objective_[-1], rel=1e-8)
    off = blocks.completed_.gather()[0] - whole.completed_
    assert np.sqrt(np.mean(off**2)) < 1e-3 * np.nanstd(X)


def test_wide_tables_with_other_losses_keep_their_iterates():
    X, y = made_up("two", n=300, d=64)
    said = {"loss": "logistic", "tol": 1e-3}
    whole = SupervisedCompleter(**said).fit(X, y)
    blocks = SupervisedCompleter(**said).fit(open_blocks(X, target=y, engine=NoRoom(1, block_rows=70)))
    np.testing.assert_allclose(blocks.completed_.gather()[0], whole.completed_, atol=1e-10)


def test_an_interrupted_fit_goes_on_from_its_checkpoint(tmp_path):
    X, y = made_up("two")

    def fit(**said):
        source = open_blocks(X, target=y, engine=NoRoom(1, block_rows=70))
        return SupervisedCompleter(tol=1e-7, **said).fit(source, checkpoint=tmp_path / "saved")

    def fail(progress):
        if progress.iteration == 5:
            raise KeyboardInterrupt

    whole = SupervisedCompleter(tol=1e-7).fit(open_blocks(X, target=y, engine=NoRoom(1, block_rows=70)))
    with pytest.raises(KeyboardInterrupt):
        fit(callback=fail)
    resumed = fit()
    assert resumed.n_iter_ == whole.n_iter_ - 4  # the fifth is repeated
    assert resumed.objective_[-1] == pytest.approx(whole.objective_[-1], rel=1e-12)
