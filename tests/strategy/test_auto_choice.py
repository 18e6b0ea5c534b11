import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from cellworth import Prices, Table
from cellworth.errors import DataError
from cellworth.strategy.auto_choice import BuyingTask, Lead, StrategyChoice
from tests.strategy.tables import small_table


def choice(lead, strategy="recommended", **more):
    return StrategyChoice(
        strategy, "recommended", "Gaussian", "logistic regression", "AUC", "linear-impact", lead, 1.5, **more
    )


AHEAD = choice(Lead(0.021, 0.008, 7, 8), "linear-impact")
BEHIND = choice(Lead(-0.004, 0.006, 3, 8), completer_lead=Lead(0.01, 0.02))
THIN = choice(None, note="40 labelled rows are too few")


@given(value=st.floats(-1, 1), error=st.floats(1e-3, 1))
def test_the_probability_of_a_lead_is_that_of_a_normal_error(value, error):
    assert Lead(value, error).probability == pytest.approx(norm.cdf(value / error), abs=1e-12)


def test_a_lead_without_error_is_certain_and_no_lead_a_toss_up():
    assert (Lead(0.1, 0.0).errors, Lead(-0.1, 0.0).errors) == (math.inf, -math.inf)
    assert (Lead(0.1, 0.0).probability, Lead(0.0, 0.0).probability) == (1.0, 0.5)


def test_says_what_was_chosen_why_and_how_sure_it_is():
    assert AHEAD.sentence == (
        "auto chose linear-impact for a logistic regression: with cells hidden and bought back, its AUC "
        "minus that of recommended was +0.021 ± 0.008, ahead in 7 of 8 plays (99.6 % sure)."
    )
    assert BEHIND.sentence == (
        "auto chose recommended, its fallback, for a logistic regression: with cells hidden and bought back, "
        "the AUC of linear-impact minus that of recommended was -0.004 ± 0.006, ahead in 3 of 8 plays; a "
        "lead of 1.5 standard errors was needed. Holes are filled by the joint Gaussian: in cross-validation"
        ", SupervisedCompleter changed the model's AUC by +0.010 ± 0.020."
    )
    assert THIN.sentence == "auto chose recommended, its fallback: 40 labelled rows are too few."
    assert str(AHEAD) == AHEAD.sentence


def test_sureness_is_that_of_the_strategy_chosen():
    assert AHEAD.sure == pytest.approx(norm.cdf(0.021 / 0.008))
    assert BEHIND.sure == pytest.approx(norm.cdf(0.004 / 0.006))
    assert THIN.sure is None
    assert (AHEAD.fell_back, BEHIND.fell_back, THIN.fell_back) == (False, True, True)


@pytest.mark.parametrize("made", [AHEAD, BEHIND, THIN])
def test_survives_json(made):
    assert StrategyChoice.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.mark.parametrize("stored", [{}, {"lead": {"value": 1}}, {**AHEAD.to_json(), "other": 1}])
def test_damaged_data_are_refused(stored):
    with pytest.raises(DataError, match="choice of a strategy is damaged"):
        StrategyChoice.from_json(stored)


def test_holds_what_the_table_and_the_prices_say():
    table = small_table(n=20)
    task = BuyingTask.of(table, Prices.same(2.0), 3)
    np.testing.assert_array_equal(task.X, table.encode().X)
    np.testing.assert_array_equal(task.known, ~table.holes)
    np.testing.assert_array_equal(task.labelled, np.arange(20))
    assert (task.prices.own == 2.0).all()
    assert (task.target, task.is_number, task.seed) == ("classes", False, 3)


def test_without_prices_and_target_every_cell_costs_one_and_no_row_is_labelled():
    task = BuyingTask.of(Table.from_arrays([[1.0, np.nan], [2.0, 3.0]]), None, 0)
    assert (task.prices.own == 1.0).all()
    assert (task.y, task.target, len(task.labelled)) == (None, None, 0)
