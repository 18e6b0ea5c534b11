import numpy as np
import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import open_blocks
from cellworth.errors import DataError, ParameterError
from cellworth.score import PosteriorImpact, PosteriorVariance, Random, Round, Variance
from cellworth.score.block_scores import numbers_from, skip
from tests.blocks.tables import SAME, difference, make_table

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NORMAL = GaussianCompleter(margins="normal", label_trust=0)


def test_random_numbers_of_blocks_are_those_of_the_table():
    whole = np.random.default_rng(3).random((20, 3))
    generator = np.random.default_rng(3)
    parts = [numbers_from(generator, 3 * start, (5, 3)) for start in (0, 5, 10, 15)]
    assert (np.concatenate(parts) == whole).all()


def test_a_generator_that_cannot_jump_is_refused():
    with pytest.raises(ParameterError, match="PCG64 or Philox; got MT19937"):
        skip(np.random.Generator(np.random.MT19937(0)), 5)


def rounds_of(X, y, kind, completer):
    return Round(X, y, kind, completer, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("where", "kind"),
    [("local", "two"), ("local", "three"), ("local", "number"), ("local", "none"), ("dask", "number")],
)
def test_posterior_scores(where, kind, request):
    engine = request.getfixturevalue(where)
    engine.block_rows = 130
    X, y = make_table(400, 4, 0, labelled=0.7)
    y = {
        "two": y,
        "three": np.digitize(X[:, 1], [-1, 1]).astype(float),
        "number": X[:, 2] * 3 + 0.5,
        "none": None,
    }[kind]
    target = {"number": "number", "none": None}.get(kind, "classes")
    whole = GaussianCompleter(margins="normal", label_trust=0).fit(X, y)
    done = clone(NORMAL).fit(open_blocks(X, target=y, engine=engine)).completed_
    for scorer in (PosteriorVariance(), PosteriorImpact(), PosteriorImpact(power=1), Random()):
        scores = scorer.score_blocks(done, np.random.default_rng(0)).gather()
        assert difference(scores, scorer.score(rounds_of(X, y, target, whole))) < SAME


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize(
    "completer", [NORMAL, SupervisedCompleter(max_iter=20, tol=0)], ids=lambda c: type(c).__name__
)
def test_variance_over_rounds(window, completer, local):
    X, y = make_table(240, 3, 1, labelled=0.8)
    local.block_rows = 77
    whole, blocks, drawn = Variance(window=window), Variance(window=window), np.random.default_rng(0)
    rng = np.random.default_rng(5)
    for _ in range(4):
        fitted = type(completer)(**completer.get_params()).fit(X, y)
        done = clone(completer).fit(open_blocks(X, target=y, engine=local)).completed_
        expected = whole.score(rounds_of(X, y, "classes", fitted))
        assert difference(blocks.score_blocks(done, drawn).gather(), expected) < SAME
        X = np.where(np.isnan(X) & (rng.random(X.shape) < 0.1), rng.normal(size=X.shape), X)


def test_history_stays_on_the_workers(dask):
    X, y = make_table(200, 3, 2)
    dask.block_rows = 60
    scorer, rng = Variance(), np.random.default_rng(0)
    for _ in range(2):
        done = clone(NORMAL).fit(open_blocks(X, target=y, engine=dask)).completed_
        scores = scorer.score_blocks(done, rng)
        X[7, 1] = 3.0
    (history,) = scores.others
    assert all(type(item).__name__ == "Future" for item in history.items)
    assert scores.gather().shape == X.shape
    dask.block_rows = 50
    with pytest.raises(DataError, match="must stay the same from round to round"):
        scorer.score_blocks(clone(NORMAL).fit(open_blocks(X, target=y, engine=dask)).completed_, rng)
