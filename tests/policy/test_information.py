"""The value of information from one set of draws, against the truth by quadrature and nested draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from cellworth.policy.decision_costs import BeliefVariance, error_costs
from cellworth.policy.information import LEAST_TRUST, GrowingFit, Information, column_trust, orthonormal
from cellworth.table import ColumnLayout

LOSSES = {"cost": error_costs(100.0, (0, 1)), "squared": BeliefVariance()}


def told_by(chance, cells, tied=False):
    """Return the information of one row, from the chances (M,) of its draws and those of its cells (M, p)."""
    draws = [each.reshape(1, len(chance), -1) for each in (cells if isinstance(cells, list) else cells.T)]
    outputs = np.column_stack([1 - chance, chance])[np.newaxis]
    p = len(draws)
    return Information.made(outputs, draws, np.ones((1, p), dtype=bool), [tied] * p)


def logistic_row(weights, offset, draws, seed):
    """Return what draws of independent cells tell under a logistic model."""
    z = np.random.default_rng(seed).normal(size=(draws, len(weights)))
    return told_by(expit(z @ weights + offset), z)


def worth(information, cells, loss):
    """Return what a set of cells is worth in the first row."""
    fit = GrowingFit(information)
    for cell in cells:
        fit.add(np.full(len(information.outputs), cell), np.ones(len(information.outputs), dtype=bool))
    return float(information.worth_of(fit.beliefs(), loss)[0])


def true_worth(weights, offset, known, loss):
    """Return the worth of knowing some cells, by quadrature over them and over the rest."""
    x, w = np.polynomial.hermite_e.hermegauss(60)
    w = w / w.sum()
    inner = np.sqrt(sum(weights[j] ** 2 for j in range(len(weights)) if j not in known))
    outer = np.sqrt(sum(weights[j] ** 2 for j in known))
    chance = np.array([w @ expit(outer * value + inner * x + offset) for value in x])
    beliefs = np.column_stack([1 - chance, chance])
    now = w @ beliefs
    if isinstance(loss, BeliefVariance):
        return float(w @ ((beliefs - now) ** 2).sum(axis=1))
    return loss.expected(now) - float(w @ (beliefs @ loss.costs).min(axis=1))


@pytest.mark.parametrize("kind", LOSSES)
def test_worth_is_that_of_quadrature(kind):
    loss, weights, offset = LOSSES[kind], np.array([2.0, 1.0, 0.5]), -0.5
    found = np.array([logistic_row(weights, offset, 512, seed).worths(loss)[0] for seed in range(20)])
    truth = np.array([true_worth(weights, offset, {j}, loss) for j in range(3)])
    # Four standard errors of the mean of twenty, and 2 % of all that could be saved for the polynomials.
    whole = true_worth(weights, offset, {0, 1, 2}, loss)
    allowed = 4 * found.std(axis=0, ddof=1) / np.sqrt(20) + 0.02 * whole
    assert (np.abs(found.mean(axis=0) - truth) < allowed).all()
    pair = [worth(logistic_row(weights, offset, 512, seed), [0, 1], loss) for seed in range(20)]
    assert np.mean(pair) == pytest.approx(true_worth(weights, offset, {0, 1}, loss), abs=0.05 * whole)


def test_two_cells_that_tell_only_together():
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], size=(512, 3))
    chance = np.where(z[:, 0] * z[:, 1] > 0, 0.9, 0.1)
    information = told_by(chance, z, tied=True)
    loss = LOSSES["cost"]
    # One cell alone: at most what 512 draws by chance seem to tell.
    assert information.worths(loss).max() < 4.0
    # Knowing both: from 50 % (or what the draws are) to 90 % right.
    belief = information.belief[0]
    assert worth(information, [0, 1], loss) == pytest.approx(100 * belief.min() - 10, abs=0.5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_a_decision_that_no_draw_changes_is_worth_nothing_to_know_about(seed, p):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(64, p))
    chance = 0.5 + 0.4 * expit(z @ rng.normal(size=p))  # always above a half
    information = told_by(chance, z, tied=True)
    loss = error_costs(rng.uniform(1, 1e6), (0, 1))
    assert information.worths(loss) == pytest.approx(0, abs=1e-6)
    assert worth(information, range(p), loss) == pytest.approx(0, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_no_set_is_worth_more_than_all_cells(seed):
    information = logistic_row(np.random.default_rng(seed).normal(size=4), 0.1, 64, seed)
    for loss in LOSSES.values():
        whole = information.perfect(loss)[0]
        assert (information.worths(loss) <= whole + 1e-12).all()
        assert worth(information, [0, 1, 2, 3], loss) <= whole + 1e-12


def test_cells_that_tell_nothing_are_rarely_taken_for_telling():
    weights = np.array([1.5, *np.zeros(30)])
    wrong = 0
    for seed in range(20):
        information = logistic_row(weights, 0.0, 256, seed)
        told = information.significant(information.told()[1])[0]
        assert told[0]
        wrong += told[1:].any()
    # Each row has a chance of 1 % of any false alarm; more than 3 of 20 have a chance of 4e-5.
    assert wrong <= 3


def test_categories_and_constants():
    rng = np.random.default_rng(0)
    category = rng.integers(3, size=300)
    chance = np.array([0.1, 0.5, 0.9])[category]
    one_hot = np.eye(3)[category]
    information = told_by(chance, [one_hot, np.ones(300), rng.normal(size=300)], tied=True)
    assert information.sizes.tolist() == [[2, 0, 3]]
    (share,), (chance_of,) = information.told()
    assert share[0] == pytest.approx(1.0)
    assert (share[1], chance_of[1]) == (0.0, 1.0)


def test_orthonormal_lines():
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(2, 3, 50))
    raw[1, 1] = 2 * raw[1, 0] + 5  # depends on the first, and a constant
    lines, size = orthonormal(raw)
    assert size.tolist() == [3, 2]
    for block, k in zip(lines, size, strict=True):
        assert block[:k] @ block[:k].T == pytest.approx(np.eye(k), abs=1e-12)
        assert block[:k].sum(axis=1) == pytest.approx(0, abs=1e-12)
        assert not block[k:].any()


def test_cells_without_ties_are_prepared_as_those_with():
    z = np.random.default_rng(0).normal(size=(100, 2))
    chance = expit(z[:, 0])
    plain, tied = told_by(chance, z), told_by(chance, z, tied=True)
    assert plain.bases == pytest.approx(tied.bases, abs=1e-9)
    assert plain.worths(BeliefVariance()) == pytest.approx(tied.worths(BeliefVariance()))


def test_growing_fits_are_those_of_least_squares_and_rows_do_not_mix():
    rng = np.random.default_rng(0)
    z, outputs = rng.normal(size=(2, 80, 3)), rng.normal(size=(2, 80, 2))
    cells = [z[:, :, [place]] for place in range(3)]
    both = Information.made(outputs, cells, np.ones((2, 3), dtype=bool), [False] * 3)
    fit = GrowingFit(both)
    fit.add(np.array([0, 2]), np.array([True, True]))
    fit.add(np.array([1, 0]), np.array([True, False]))  # the second row has no second cell
    for row, chosen in ((0, (0, 1)), (1, (2,))):
        columns = [both.bases[row, cell] for cell in chosen]
        if len(chosen) == 2:
            columns.append((columns[0][:, 0] * columns[1][:, 0])[:, np.newaxis])
        design = np.column_stack([np.ones(80), *columns])
        by_hand = design @ np.linalg.lstsq(design, outputs[row], rcond=None)[0]
        assert outputs[row] - fit.residual[row] - both.belief[row] == pytest.approx(
            by_hand - both.belief[row], abs=1e-9
        )


def believed(weights, seed=0):
    """Return what a logistic model with these weights expects of independent cells."""
    z = np.random.default_rng(seed).normal(size=(1, 4000, len(weights)))
    chance = expit(z @ np.asarray(weights))
    cells = [z[:, :, [place]] for place in range(len(weights))]
    outputs = np.stack([1 - chance, chance], axis=2)
    return Information.made(outputs, cells, np.ones((1, len(weights)), dtype=bool), [False] * len(weights))


def rows(weights, n=2000, seed=1):
    """Return cells with holes and labels of a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(weights)))
    y = (rng.random(n) < expit(X @ np.asarray(weights))).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    y[rng.random(n) < 0.1] = np.nan
    return X, y


def trust(model, truth, **said):
    X, y = rows(truth, **said)
    return column_trust(believed(model), ColumnLayout.of_numbers(len(model)), X, y, is_number=False)


def test_a_model_that_is_right_is_trusted():
    found = np.array([trust((2.0, 1.0), (2.0, 1.0), seed=seed) for seed in range(10)])
    # Four standard errors of the mean of ten.
    assert np.abs(found.mean(axis=0) - 1).max() < 4 * found.std(axis=0, ddof=1).max() / np.sqrt(10) + 0.02


def test_a_column_that_the_model_moves_with_in_vain_is_not():
    vain, tells = trust((1.5, 1.5), (0.0, 1.5))
    assert vain < 0.3
    assert tells > 1
    assert vain >= LEAST_TRUST


def test_few_labels_change_little():
    few = trust((1.5, 1.5), (0.0, 1.5), n=12)
    many = trust((1.5, 1.5), (0.0, 1.5))
    assert np.abs(few - 1).max() < np.abs(many - 1).max()
    assert trust((1.0, 1.0), (1.0, 1.0), n=9).tolist() == [1, 1]


def test_numbers_and_labels_of_one_class():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1, 4000, 2))
    information = Information.made(
        z.sum(axis=2, keepdims=True), [z[:, :, [0]], z[:, :, [1]]], np.ones((1, 2), dtype=bool), [False] * 2
    )
    X = rng.normal(size=(500, 2))
    layout = ColumnLayout.of_numbers(2)
    first = column_trust(information, layout, X, 3 * X[:, 0] + rng.normal(size=500), is_number=True)
    assert first[0] > 1.2
    assert first[1] == pytest.approx(LEAST_TRUST, abs=0.1)
    assert column_trust(information, layout, X, np.ones(500), is_number=True).tolist() == [1, 1]
