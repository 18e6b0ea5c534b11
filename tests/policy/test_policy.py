"""Which cell next, and when to stop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from cellworth import CompletingClassifier, Group, Prices, Table
from cellworth.errors import DataError, ParameterError
from cellworth.policy import Policy
from cellworth.testing import check_policy

PRICES = {"scan": 9.0, "blood": 2.0, "shoe": 1.0}


def complete_rows(table, seed=5):
    """Return complete rows with the columns of a table."""
    rng = np.random.default_rng(seed)
    cells = np.empty((6, len(table.columns)))
    for place, column in enumerate(table.columns):
        low, high = column.limits
        whole = column.kind != "number"
        cells[:, place] = rng.integers(low, high + 1, 6) if whole else rng.normal(size=6)
    return Table(table.columns, cells, [f"n{i}" for i in range(6)])


SETTINGS = [
    {"error_cost": 100.0},
    {"error_cost": 1e-6},
    {"confidence": 0.9},
    {"budget": 10.5},
    {"budget": 3.0, "error_cost": 50.0},
    {"error_cost": 100.0, "free": ("shoe",)},
    {"budget": 0.0, "free": ("shoe", "blood")},
]


@pytest.mark.parametrize("said", SETTINGS)
def test_the_contract_for_two_classes(ill, said):
    table, model = ill
    check_policy(Policy(table, model, prices=PRICES, draws=64, **said), complete_rows(table))


def test_the_contract_for_numbers_classes_groups_and_visits(number, three):
    group = Group("interview", ["smokes", "hue"], first=5.0, then=1.0)
    prices = Prices.per_column({"size": 3.0}, groups=[group], visit=2.0)
    for (table, model), said in (
        (number, {"error_cost": 10.0}),
        (number, {"deviation": 0.5, "budget": 9.0}),
        (three, {"error_cost": {"high": 100, "mid": 10, "low": 5}}),
        (three, {"confidence": 0.8}),
    ):
        check_policy(Policy(table, model, prices=prices, draws=64, **said), complete_rows(table))


@settings(max_examples=25, deadline=None)
@given(
    known=st.dictionaries(st.sampled_from(["scan", "blood", "shoe"]), st.floats(-3, 3), max_size=2),
    cost=st.floats(0, 1e4),
    free=st.booleans(),
)
def test_nothing_is_bought_that_cannot_pay(ill, known, cost, free):
    table, model = ill
    said = ("shoe",) if free else ()
    policy = Policy(table, model, prices=PRICES, error_cost=cost, free=said, draws=64)
    step = policy.next_cell(known)
    assert not set(step.take) & set(known)
    if free and "shoe" not in known:
        assert step.take == ("shoe",)
        return
    if step.take:
        assert step.gain > step.price
    # A plan saves at most what errors are expected to cost now.
    assert step.gain <= step.expected_cost + 1e-9


def test_a_column_that_tells_nothing_is_never_bought(ill):
    table, _ = ill
    two = ColumnTransformer([("kept", "passthrough", [0, 1])])  # the model does not look at the third
    model = CompletingClassifier(model=make_pipeline(two, LogisticRegression()), folds=2).fit(table)
    policy = Policy(table, model, prices=PRICES, error_cost=1000.0)
    rng = np.random.default_rng(0)
    rows = {f"r{i}": {"scan": float(rng.normal()), "blood": float(rng.normal())} for i in range(20)}
    steps = policy.next_cells(rows)
    assert not any(step.take for step in steps)
    nothing = policy.next_cells({f"r{i}": {"shoe": float(rng.normal())} for i in range(5)})
    assert {step.take for step in nothing} <= {("scan",), ("blood",)}


def test_when_to_stop(ill):
    table, model = ill
    far = {"scan": 4.0}
    sure = Policy(table, model, prices=PRICES, confidence=0.95).next_cell(far)
    assert sure.stop
    assert "enough" in sure.why
    assert sure.probabilities["ill"] > 0.95
    assert Policy(table, model, prices=PRICES, error_cost=100).next_cell(far).stop
    poor = Policy(table, model, prices=PRICES, budget=5.0)
    assert poor.next_cell({}).take in {("blood",), ("shoe",)}
    assert "budget" in poor.next_cell({}, spent=4.5).why
    assert Policy(table, model, error_cost=1).next_cell({}, refused=PRICES).stop
    assert poor.next_cells({}) == []
    assert poor.next_cell({"scan": None, "blood": "", "shoe": float("nan")}) == poor.next_cell({})
    cheap = Policy(table, model, prices=PRICES, error_cost=0.01).next_cell({})
    assert cheap.stop
    assert cheap.expected_cost == pytest.approx(0.01 * min(cheap.probabilities.values()))


def test_the_prediction_converges_on_that_of_the_complete_row(ill, number):
    table, model = ill
    row = {"scan": 0.3, "blood": -0.2, "shoe": 1.0}
    step = Policy(table, model, budget=1).next_cell(row)
    expected = model.predict_proba(np.array([list(row.values())]))[0]
    assert list(step.probabilities.values()) == pytest.approx(expected)
    assert step.low == pytest.approx(step.high)
    table, model = number
    step = Policy(table, model, budget=1).next_cell({"size": 0.5, "smokes": True, "hue": "blue"})
    assert step.prediction == pytest.approx(
        model.predict(
            Table.from_arrays(
                np.array([[0.5, True, "blue"]], dtype=object),
                columns=["size", "smokes", "hue"],
                categories={"hue": ["blue", "green", "red"]},
                kinds={"smokes": "boolean", "size": "number"},
            )
        )[0]
    )


def test_cells_that_share_a_visit_are_taken_together(ill):
    table, model = ill
    prices = Prices.per_column({"scan": 1.0, "blood": 1.0, "shoe": 1.0}, visit=20.0)
    step = Policy(table, model, prices=prices, error_cost=1000.0).next_cell({})
    assert set(step.take) == {"scan", "blood"}
    assert step.price == 22.0
    alone = Policy(table, model, prices=1.0, error_cost=1000.0).next_cell({})
    assert len(alone.take) == 1


def test_bad_input_is_refused_in_words(ill, number):
    table, model = ill
    with pytest.raises(ParameterError, match="when to stop"):
        Policy(table, model)
    for wrong in ({"confidence": 2}, {"confidence": 0}, {"deviation": 1}, {"budget": -1}, {"error_cost": -1}):
        with pytest.raises(ParameterError):
            Policy(table, model, **wrong)
    with pytest.raises(ParameterError, match="deviation"):
        Policy(*number, confidence=0.9)
    with pytest.raises(ParameterError, match="CompletingClassifier"):
        Policy(table, object(), budget=1)
    with pytest.raises(DataError, match="'scan'"):
        Policy(table, model, budget=1, free=["scann"])
    with pytest.raises(DataError, match="row to row"):
        Policy(table, model, budget=1, prices=Prices.per_cell({("0", "scan"): 3.0}, default=1.0))
    policy = Policy(table, model, budget=1)
    with pytest.raises(DataError, match="'blood'"):
        policy.next_cell({"blod": 1})
    with pytest.raises(DataError, match="is the target"):
        policy.next_cell({"target": "ill"})
    with pytest.raises(DataError, match="expected a number"):
        policy.next_cell({"blood": "much"})
    with pytest.raises(DataError, match="columns of the training table"):
        policy.next_cells(number[0])
    with pytest.raises(DataError, match="row"):
        policy.next_cells({"a": {}}, spent={"b": 1.0})
    with pytest.raises(DataError, match="mapping"):
        policy.next_cell([1, 2])


def test_a_table_in_row_blocks_gives_the_same_policy(ill, tmp_path):
    table, model = ill
    table.write(tmp_path / "ill.parquet")
    opened = Table.open(tmp_path / "ill.parquet", **table.keywords())
    rows = complete_rows(table)
    holes = Table(rows.columns, np.where(np.eye(6, 3) > 0, rows.values, np.nan), rows.row_ids)
    said = {"prices": PRICES, "draws": 64, "error_cost": 100.0}
    found, expected = (Policy(each, model, **said).next_cells(holes) for each in (opened, table))
    assert [step.to_json() for step in found] == [step.to_json() for step in expected]


def test_a_model_of_another_kind_of_target_is_refused(ill, number):
    (classes, classifier), (numbers, regressor) = ill, number
    with pytest.raises(ParameterError, match="'target' is a class, and the model a CompletingRegressor"):
        Policy(classes, regressor, budget=3)
    with pytest.raises(ParameterError, match="'target' is a number, and the model a CompletingClassifier"):
        Policy(numbers, classifier, budget=3)


def test_it_says_what_it_is(ill):
    assert repr(Policy(*ill, error_cost=9, budget=3)) == (
        "<policy for 'target', 3 columns; errors cost money, budget=3>"
    )
