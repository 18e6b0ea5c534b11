"""Intervals and variances in columns with atoms, and where rows or predictions differ in spread."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.interval_calibration import LEVELS, MAX_LEVERAGE, Calibration, leverage_unit
from cellworth.complete.gaussian.left_out_cells import LeftOut
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian


def zero_inflated(seed=0, n=600, d=6, zeros=0.7):
    """Return counts with many zeros that depend on one common factor, complete, and with holes."""
    rng = np.random.default_rng(seed)
    latent = 0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, d))
    cut = np.quantile(latent, zeros, axis=0)
    truth = np.where(latent > cut, np.exp(latent - cut), 0.0)
    return truth, np.where(rng.random((n, d)) < 0.6, truth, np.nan)


@pytest.mark.parametrize("margins", ["normal", "rank", "auto"])
@pytest.mark.parametrize("zeros", [0.4, 0.7, 0.97])
def test_intervals_of_zero_inflated_columns_end_at_zero_itself(margins, zeros):
    truth, X = zero_inflated(zeros=zeros)
    fitted = GaussianCompleter(margins=margins).fit(X)
    holes = np.isnan(X)
    lower, upper = fitted.predict_interval(0.9)
    covered = (lower <= truth) & (truth <= upper)
    for j in range(X.shape[1]):
        at = holes[:, j]
        assert covered[at, j].mean() > 0.85  # 240 cells: five standard errors would be 0.097
        # Where the truth is 0, an interval that reaches down to 0 contains it exactly.
        assert covered[at & (truth[:, j] == 0), j].mean() > 0.85


@pytest.mark.parametrize("zeros", [0.4, 0.7])
def test_variances_of_zero_inflated_columns_are_as_large_as_their_errors(zeros):
    ratios = []
    for seed in range(3):
        truth, X = zero_inflated(seed, zeros=zeros)
        fitted = GaussianCompleter(margins="rank").fit(X)
        holes = np.isnan(X)
        scale = np.nanvar(X, axis=0)
        error = ((fitted.completed_ - truth) ** 2 / scale)[holes].sum()
        ratios.append(error / (fitted.variance_ / scale)[holes].sum())
    assert 0.7 < np.mean(ratios) < 1.4  # about twice the spread over seeds, 0.1


def test_draws_of_columns_with_atoms_are_values_that_occur_as_often_as_they_should():
    _, X = zero_inflated()
    draws = GaussianCompleter().fit(X).sample(50, random_state=0)
    for j in range(X.shape[1]):
        at = np.isnan(X[:, j])
        assert np.isin(draws[:, at, j], X[~at, j]).all()
        # Shares of 360 cells: a standard error of 0.024, and one more for the rows that have holes here.
        assert (draws[:, at, j] == 0).mean() == pytest.approx((X[~at, j] == 0).mean(), abs=0.1)


def test_rows_of_larger_spread_get_wider_intervals():
    """Rows are normal times a factor of their own: a multivariate t with 3 degrees of freedom."""
    rng = np.random.default_rng(1)
    n, d = 1500, 10
    factor = np.sqrt(3 / rng.chisquare(3, size=(n, 1)))
    truth = factor * (rng.normal(size=(n, 1)) + rng.normal(size=(n, d)))
    X = np.where(rng.random((n, d)) < 0.6, truth, np.nan)
    fitted = GaussianCompleter(margins="normal").fit(X)
    lower, upper = fitted.predict_interval(0.9)
    holes = np.isnan(X)
    covered = (lower <= truth) & (truth <= upper)
    wild = np.repeat(factor > np.quantile(factor, 0.75), d, axis=1) & holes
    assert covered[wild].mean() > 0.76  # 0.716 if all rows had the same spread, and 0.794 here
    assert 0.87 < covered[holes].mean() < 0.93


def exact_cells(rng, n=4000, spread=1.0):
    """Return left-out cells of one column whose residuals are normal, with this spread."""
    mean = rng.normal(size=(n, 1))
    scores = mean + spread * rng.normal(size=(n, 1))
    ones = np.ones((n, 1))
    return LeftOut(scores, scores, mean, ones, 5 * ones, 5 * ones, 0 * ones, np.ones((n, 1), dtype=bool))


def test_a_column_whose_residuals_are_twice_too_large_gets_twice_the_deviation():
    rng = np.random.default_rng(2)
    learned = Calibration.of(exact_cells(rng, spread=2.0), Margins((None,)))
    at = np.linspace(-1.5, 1.5, 7)[:, None]
    np.testing.assert_allclose(
        learned.value_factors(at), 4, rtol=0.3
    )  # 500 cells a bin: 6 % a standard error
    lower, upper = learned.score_ends(at, 0.9)
    np.testing.assert_allclose(lower, -2 * 1.645, rtol=0.2)
    np.testing.assert_allclose(upper, 2 * 1.645, rtol=0.2)
    assert np.isinf(learned.tail)


def test_the_error_of_a_left_out_cell_is_that_of_a_fit_without_its_row():
    """The oracle fits again without the row: exact but for the covariance's divisor, n or n - 1."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
    X[0] *= 5  # a row that the fit follows closely
    model = DenseGaussian(X.mean(axis=0), np.cov(X.T, bias=True))
    fitted = FittedGaussian(model, Margins((None,) * 4), 0.0, 3.0, leverage=np.full(4, 1 / 40))
    cells = Cells(X, np.ones(X.shape, dtype=bool))
    found = fitted.left_out(X, cells, X).without_own_row()
    for i in (0, 1, 2):
        rest = np.delete(X, i, axis=0)
        for j in range(4):
            others = np.delete(np.arange(4), j)
            design = np.column_stack([np.ones(39), rest[:, others]])
            coefficients = np.linalg.lstsq(design, rest[:, j], rcond=None)[0]
            error, exact = (found.scores - found.mean)[i, j], X[i, j] - coefficients @ [1, *X[i, others]]
            if found.leverage[i, j] < MAX_LEVERAGE:
                assert error == pytest.approx(exact, rel=1e-6)
            else:  # at the limit: it moves towards the oracle, and no further
                assert 0 < error / exact < 1
    assert found.leverage[0].max() == MAX_LEVERAGE


def test_predictions_beyond_the_range_of_a_bounded_column_end_at_its_ends():
    """One row is far out in all other columns; its 0/1 column is no larger for that."""
    rng = np.random.default_rng(5)
    n = 300
    factor = rng.normal(size=n)
    X = np.column_stack(
        [factor + 0.3 * rng.normal(size=(4, n))[k] for k in range(4)] + [factor > 1.5]
    ).astype(float)
    X[0] = [30, 30, 30, 30, np.nan]
    completer = GaussianCompleter(margins="normal").fit(X)
    assert completer.completed_[0, 4] == 1
    assert GaussianCompleter(margins="normal", calibrate=False).fit(X).completed_[0, 4] > 2


def test_predictions_beyond_the_range_are_believed_where_rows_are_in_proportion():
    rng = np.random.default_rng(6)
    truth = np.exp(2 * rng.normal(size=(200, 1))) * (1 + 0.01 * rng.normal(size=(200, 6)))
    X = truth.copy()
    X[truth[:, 0].argmax(), 0] = np.nan
    filled = GaussianCompleter(margins="normal").fit(X).completed_
    assert filled[:, 0].max() == pytest.approx(truth[:, 0].max(), rel=0.05)


def test_value_quantiles_are_those_of_the_cells_around_the_prediction():
    """A column of 0 and 1 whose prediction is the chance of a 1."""
    rng = np.random.default_rng(4)
    chance = rng.uniform(size=(6000, 1))
    values = (rng.uniform(size=chance.shape) < chance).astype(float)
    ones = np.ones_like(chance)
    cells = LeftOut(values, values, chance, chance * (1 - chance), ones, ones, 0 * ones, ones.astype(bool))
    learned = Calibration.of(cells, Margins((None,)))
    assert learned.atoms.all()
    at = np.array([0.06, 0.5, 0.94])
    np.testing.assert_array_equal(learned.value_quantile(0, at, 0.05), [0, 0, 0])
    np.testing.assert_array_equal(learned.value_quantile(0, at, 0.95), [1, 1, 1])
    np.testing.assert_array_equal(learned.value_quantile(0, at, 0.25), [0, 0, 1])
    np.testing.assert_array_equal(learned.value_quantile(0, at, 0.75), [0, 1, 1])
    assert LEVELS.min() > 0
    # One value alone has 94 %: no interval of 90 % needs the other, though each tail has more than 5 %.
    lower, upper = learned.value_ends(0, at, 0.9)
    np.testing.assert_array_equal(lower, [0, 0, 1])
    np.testing.assert_array_equal(upper, [0, 1, 1])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_intervals_of_whole_numbers_have_no_end_that_they_could_do_without(level):
    """Against the probabilities themselves; levels are a hundredth apart."""
    rng = np.random.default_rng(7)
    n = 20_000
    for share in (0.9, 0.5, 0.35):
        values = np.minimum(rng.geometric(share, size=(n, 1)), 9) - 1.0
        ones = np.ones_like(values)
        cells = LeftOut(values, values, 0 * ones, ones, ones, ones, 0 * ones, ones.astype(bool))
        learned = Calibration.of(cells, Margins((None,)))
        assert learned.atoms.all()
        (low,), (high,) = learned.value_ends(0, np.zeros(1), level)

        def mass(low, high, values=values):
            return ((low <= values) & (values <= high)).mean()

        assert mass(low, high) >= level - 0.015
        for shorter in ((low + 1, high), (low, high - 1)):
            assert mass(*shorter) < level + 0.015
        central = [learned.value_quantile(0, np.zeros(1), p)[0] for p in ((1 - level) / 2, (1 + level) / 2)]
        assert central[0] <= low
        assert high <= central[1]


def test_draws_of_a_category_are_centred_on_its_prediction():
    """Its columns determine each other, so a left-out one says nothing of a cell that is missing whole."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=1500)
    category = np.digitize(x + rng.normal(size=1500), [-0.5, 0.8])
    X = np.column_stack([x, np.eye(3)[category]])
    X[:700, 1:] = np.nan
    completer = GaussianCompleter(label_trust=0.0).fit(X)
    draws = completer.sample(100, 0)[:, :700, 1:]
    # 70,000 draws of a variance below 1/4: five standard errors are 0.01.
    assert np.abs((draws.mean(axis=0) - completer.completed_[:700, 1:]).mean(axis=0)).max() < 0.02


def test_the_leverage_of_a_shrunk_fit_is_that_of_a_ridge_regression():
    """The oracle is the hat matrix of the ridge regression of a column on the others, shrunk by 30 rows."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    X -= X.mean(axis=0)
    penalty = np.diag(30.0 * X.var(axis=0))
    hat = np.diag(X @ np.linalg.solve(X.T @ X + penalty, X.T))
    shrunk = (X.T @ X + penalty) / (60 + 30)
    distance = np.einsum("ij,ij->i", X, np.linalg.solve(shrunk, X.T).T)
    np.testing.assert_allclose(distance * leverage_unit(np.array([60]), 30.0), hat, rtol=1e-12)


def test_bins_that_differ_in_scale_have_intervals_of_their_own_size():
    """Residuals are a hundred times larger where predictions are: neither half covers much more than 90 %."""
    rng = np.random.default_rng(5)
    mean = np.sort(rng.normal(size=(800, 1)), axis=0)
    deviation = np.where(mean > 0, 100.0, 1.0)
    scores, fresh = (mean + deviation * rng.normal(size=mean.shape) for _ in range(2))
    ones, zeros, observed = np.ones_like(mean), np.zeros_like(mean), np.ones(mean.shape, dtype=bool)
    cells = LeftOut(scores, scores, mean, ones, zeros, zeros, zeros, observed)
    lower, upper = Calibration.of(cells, Margins((None,))).score_ends(mean, 0.9)
    inside = ((mean + lower <= fresh) & (fresh <= mean + upper))[:, 0]
    # Away from the step, 350 cells each: the standard error of a share is 1.6 %.
    assert inside[:350].mean() == pytest.approx(0.9, abs=0.05)
    assert inside[-350:].mean() == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize(("n", "d", "share"), [(80, 120, 0.6), (60, 150, 0.3), (80, 60, 0.6)])
def test_uncertainties_hold_where_rows_are_few_and_columns_many(n, d, share):
    """Of some thousand hidden cells, a share has a standard error of 1 % and a mean square one of 3 %."""
    rng = np.random.default_rng(n + d)
    inside, squares, variances = [], [], []
    for _ in range(3):
        truth = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d))
        completer = GaussianCompleter(label_trust=0.0).fit(
            np.where(rng.random((n, d)) < share, truth, np.nan)
        )
        hidden = completer.variance_ > 0
        lower, upper = completer.predict_interval(0.9)
        inside.append(((lower <= truth) & (truth <= upper))[hidden])
        squares.append(((completer.completed_ - truth) ** 2)[hidden])
        variances.append(completer.variance_[hidden])
    assert 0.87 < np.concatenate(inside).mean() < 0.93
    assert 0.8 < np.concatenate(squares).mean() / np.concatenate(variances).mean() < 1.3


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(100, 900),
    booleans=st.integers(0, 2),
    block_rows=st.integers(10, 500),
)
def test_any_cut_into_blocks_gives_the_variances_of_the_whole_table(seed, n, booleans, block_rows):
    """Beside columns of two values, a number has few predictions: bins of one prediction are one bin."""
    rng = np.random.default_rng(seed)
    yes = (rng.random((n, booleans)) < 0.4).astype(float)
    X = np.column_stack([rng.exponential(size=n) + yes.sum(axis=1), yes])
    X[rng.random(X.shape) < 0.3] = np.nan
    whole = GaussianCompleter().fit(X)
    with ThreadEngine(n_jobs=1, block_rows=block_rows) as engine:
        completed, variance = GaussianCompleter().fit(open_blocks(X, engine=engine)).completed_.gather()
    # Sums over other blocks differ by rounding, as in the other comparisons of blocks with arrays.
    np.testing.assert_allclose(completed, whole.completed_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(variance, whole.variance_, rtol=1e-5, atol=1e-9)


def test_bins_of_one_prediction_hold_all_of_its_cells():
    """The factor at a prediction that most cells share is their mean square, whatever bins they fall in."""
    rng = np.random.default_rng(8)
    mean = np.concatenate([np.full(700, 0.5), np.linspace(1, 2, 100)])[:, None]
    scores = mean + rng.normal(size=mean.shape)
    ones = np.ones_like(mean)
    cells = LeftOut(scores, scores, mean, ones, 5 * ones, 5 * ones, 0 * ones, np.ones(mean.shape, dtype=bool))
    learned = Calibration.of(cells, Margins((None,)))
    assert np.unique(learned.centres[0]).tolist() == [0.5, pytest.approx(1.5, abs=0.01)]
    assert learned.cells is not None
    assert learned.cells[0, 0] == 700
    # Shrunk towards the whole column as by 20 of 720 cells; its factor is less than 20 % away.
    expected = float(((scores - mean)[:700] ** 2).mean())
    assert learned.value_factors(np.array([[0.5]]))[0, 0] == pytest.approx(expected, rel=20 / 720 * 0.2)
    around = learned.value_factors(np.array([[0.5 - 1e-15], [0.5 + 1e-15]]))
    assert around[0, 0] == pytest.approx(around[1, 0], rel=1e-12)
