import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cellworth import GaussianCompleter, Prices, Table
from cellworth.complete import SupervisedCompleter
from cellworth.model import Candidate
from cellworth.model.cross_validation import deal
from cellworth.strategy.auto_choice import BuyingTask
from cellworth.strategy.auto_strategy import MODEL_FOLDS, completer_lead

GAUSSIAN = GaussianCompleter(margins="normal", label_trust=0.0, target="number")
LEAST_SQUARES = Candidate("least squares", learner=LinearRegression())


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(120, 4))
    y = X @ [1.0, 0.5, 0.0, -1.0]
    X[rng.random(X.shape) < 0.5] = np.nan
    y[:5] = np.nan
    return BuyingTask.of(Table.from_arrays(X, y), Prices.same(1.0), 4)


def test_the_lead_is_that_of_a_plain_loop(task):
    supervised = SupervisedCompleter(target="number")
    lead = completer_lead(task, LEAST_SQUARES, supervised, over=GAUSSIAN)
    y, rows = task.y[task.labelled], task.labelled
    fold = deal(y, MODEL_FOLDS, np.random.default_rng(task.seed), classes=False)
    off = np.empty((2, len(y)))
    for k in range(MODEL_FOLDS):
        held = np.zeros(len(task.X), dtype=bool)
        held[rows[fold == k]] = True
        filler = GaussianCompleter(**GAUSSIAN.get_params()).fit(task.X[~held])
        tested = filler.transform(task.X[held])
        labelled = ~np.isnan(task.y[~held])
        for place, completer in enumerate((SupervisedCompleter(target="number"), GAUSSIAN)):
            completed = completer.fit(task.X[~held], task.y[~held]).completed_
            model = LinearRegression().fit(completed[labelled], task.y[~held][labelled])
            off[place, fold == k] = (model.predict(tested) - task.y[held]) ** 2
    expected = (off[1].mean() - off[0].mean()) / y.var()
    assert lead.value == pytest.approx(expected, abs=1e-6)
    assert lead.error > 0


def test_a_completer_has_no_lead_over_itself(task):
    lead = completer_lead(task, LEAST_SQUARES, GAUSSIAN, over=GAUSSIAN)
    assert (lead.value, lead.error) == pytest.approx((0.0, 0.0), abs=1e-12)  # rounding, with older NumPy
