"""Scores at several depths."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cellworth.errors import DataError
from cellworth.forecasting.scores_at_depths import scores_at_depths
from cellworth.model.candidates import Candidate, candidate_named
from cellworth.model.feature_views import View
from cellworth.model.held_out_folds import DRAWN, make_folds
from cellworth.model.model_search import choose_model
from cellworth.model.score_on_complete_rows import complete_rows_score
from tests.model.holed_tables import holed

OWN = Candidate("own", View(), LogisticRegression())


def found(n_jobs=None, **changes):
    X, y, _ = holed(**changes)
    return scores_at_depths(
        X, y.astype(float), np.arange(4), OWN, is_number=False, depths=(0.4, 0.7), folds=3, n_jobs=n_jobs
    )


@pytest.fixture(scope="module")
def scores():
    return found()


def test_shares_are_those_of_the_cells_kept(scores):
    known = float((~np.isnan(holed()[0])).mean())
    assert scores.shares == pytest.approx(known * np.array([0.4, 0.7, 1.0]), abs=0.05)
    assert scores.shares[-1] == known
    assert len(scores.complete_rows) == len(scores.thinned) == 3


def test_the_last_depth_is_plain_cross_validation(scores):
    X, y, _ = holed()
    best = choose_model(X, y.astype(float), is_number=False, candidates=[OWN], averages=False, folds=3).best
    assert scores.thinned[-1].value == best.at_hand.value
    deals, folds = make_folds(X, y.astype(float), None, is_number=False, folds=3, repeats=1, seed=0)
    drawn = np.empty((DRAWN, len(y), 2))
    for fold in folds[0]:
        drawn[:, fold.held] = fold.predict(OWN, 2)[1]
    complete = complete_rows_score(y.astype(float), drawn, deals[0], best.at_hand, classes=True)
    assert scores.complete_rows[-1].value == complete.value


def test_fewer_cells_score_lower():
    """With held-out rows thinned, too, the loss is far beyond its error."""
    scores = found(n=400, known=0.8)
    values = [score.value for score in scores.thinned]
    assert values[0] < values[1] < values[2]
    assert scores.complete_rows[0].value > values[0]


def test_any_number_of_threads_gives_the_same(scores):
    other = found(n_jobs=2)
    for kind in ("complete_rows", "thinned"):
        pairs = zip(getattr(scores, kind), getattr(other, kind), strict=True)
        assert [first.value for first, _ in pairs] == [score.value for score in getattr(scores, kind)]
        assert [score.value for score in getattr(other, kind)] == [s.value for s in getattr(scores, kind)]


def test_a_category_is_hidden_whole():
    """Both columns of a cell go together, so the share counts it once."""
    X, y, _ = holed()
    X[:, 1] = np.where(np.isnan(X[:, 0]), np.nan, -X[:, 0])
    owner = np.array([0, 0, 1, 2])
    got = scores_at_depths(X, y.astype(float), owner, OWN, is_number=False, depths=(0.5,), folds=3)
    assert got.shares[-1] == float((~np.isnan(X[:, [0, 2, 3]])).mean())


def test_columns_with_few_cells_keep_them():
    X, y, _ = holed()
    X[6:, 3] = np.nan
    got = scores_at_depths(X, y.astype(float), np.arange(4), OWN, is_number=False, depths=(0.1,), folds=3)
    assert np.isfinite([score.value for score in (*got.thinned, *got.complete_rows)]).all()


def test_next_to_no_cell_known():
    X, y, _ = holed()
    X[1:] = np.nan
    with pytest.raises(DataError, match="too few cells are known"):
        scores_at_depths(X, y.astype(float), np.arange(4), OWN, is_number=False, folds=3)


def test_holes_made_by_the_same_generator_are_not_thinned_to_nothing():
    """Seed 0 here and there: cells would be kept exactly where they are missing."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 6))
    y = (X[:, 0] > 0).astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = np.nan
    linear = candidate_named("logistic regression", is_number=False)
    found = scores_at_depths(X, y, np.arange(6), linear, is_number=False, depths=(0.4,), folds=3, seed=0)
    np.testing.assert_allclose(found.shares, [0.2, 0.5], atol=0.05)


def test_finished_rows_are_scored_by_themselves_if_there_are_enough():
    """A tenth of the cells is known in 300 rows, all in as many; where rows are alike, all count."""
    X, y, whole = holed(n=600, known=0.1)
    X[:300] = whole[:300]
    settings = {"is_number": False, "depths": (0.5,), "folds": 3}
    finished = scores_at_depths(X, y.astype(float), np.arange(4), OWN, **settings)
    assert finished.unknown < 0.1
    assert found(n=160, known=0.3).unknown == 1.0
