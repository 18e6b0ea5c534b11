import re

import numpy as np
import pandas as pd
import pytest

from cellworth import FilledTable, GaussianCompleter, SupervisedCompleter, Table, fill
from cellworth.errors import DataError, ParameterError


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 120
    size = rng.normal(10, 3, size=n)
    frame = pd.DataFrame(
        {
            "size": size,
            "count": np.rint(size * 2 + rng.normal(size=n)),
            "grade": pd.cut(size, [-99, 8, 11, 99], labels=["low", "mid", "high"]).astype(str),
            "stage": pd.Categorical(np.where(size > 10, "late", "early"), ["early", "late"], ordered=True),
            "seen": size > 9,
            "visit": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.rint(size), unit="D"),
            "ill": np.where(size + rng.normal(size=n) > 10, "yes", "no"),
        }
    )
    for name in frame.columns[:-1]:
        frame[name] = frame[name].astype(object).where(rng.random(n) > 0.3, None)
    frame["stage"] = pd.Categorical(frame["stage"], ["early", "late"], ordered=True)
    return Table.from_frame(frame, target="ill", kinds={"count": "integer"}, bounds={"count": (0, 40)})


@pytest.mark.parametrize("completer", [None, SupervisedCompleter(scale="standard"), GaussianCompleter()])
def test_every_kind_comes_back_as_its_kind(table, completer):
    completion = fill(table, completer)
    assert isinstance(completion, FilledTable)
    filled = completion.table
    assert not filled.holes.any()
    np.testing.assert_array_equal(filled.values[~table.holes], table.values[~table.holes])
    for place, column in enumerate(table.columns):
        assert not column.invalid(filled.values[:, place]).any()
    frame = filled.to_frame("pandas")
    assert set(frame["grade"]) <= {"low", "mid", "high"}
    assert frame["count"].between(0, 40).all()


def test_the_variance_is_one_number_per_cell(table):
    completion = fill(table, GaussianCompleter())
    assert completion.variance.shape == table.shape
    assert (completion.variance[~table.holes] == 0).all()
    assert (completion.variance[table.holes] > 0).all()
    assert fill(table, SupervisedCompleter()).variance is None


def test_filling_recovers_what_the_other_columns_tell(table):
    """Stage, grade and count all follow size here; a guess of the commonest value is right for half."""
    filled = fill(table, GaussianCompleter()).table
    size, stage = (filled.values[:, table.column_index(name)] for name in ("size", "stage"))
    hidden = table.holes[:, table.column_index("stage")] & ~table.holes[:, table.column_index("size")]
    assert (stage[hidden] == (size[hidden] > 10)).mean() > 0.75


def test_the_users_completer_is_not_touched_and_the_target_kind_is_the_tables():
    X = np.column_stack([np.arange(40.0), np.arange(40.0) * 2])
    X[3, 1] = np.nan
    table = Table.from_arrays(X, np.arange(40) % 5, target_kind="number")
    mine = SupervisedCompleter()
    completion = fill(table, mine)
    assert not hasattr(mine, "completed_")
    assert mine.target == "auto"
    assert completion.completer.classes_ is None  # a number, though it looks like five classes


def test_intervals_are_as_cells_of_their_columns(table):
    filled = fill(table, level=0.9)
    assert filled.level == 0.9
    known = ~table.holes
    np.testing.assert_array_equal(filled.lower[known], table.values[known])
    np.testing.assert_array_equal(filled.upper[known], table.values[known])
    for name in ("size", "count", "visit"):
        place = table.column_index(name)
        assert (filled.lower[:, place] <= filled.upper[:, place]).all()
    grade = table.column_index("grade")
    assert np.isnan(filled.lower[table.holes[:, grade], grade]).all()


def test_intervals_become_columns_of_their_own(table):
    names = fill(table, level=0.9).with_interval_columns().column_names
    assert names[:3] == ("size", "size_lower", "size_upper")
    assert "grade_lower" not in names


@pytest.mark.parametrize(
    ("completer", "level", "reason"),
    [
        (None, None, "level=0.9"),
        (SupervisedCompleter(), 0.9, "SupervisedCompleter, which filled .* no interv"),
    ],
)
def test_columns_of_intervals_that_do_not_exist_are_refused(table, completer, level, reason):
    filled = fill(table, completer, level=level)
    assert filled.lower is None
    assert filled.upper is None
    with pytest.raises(DataError, match=reason):
        filled.with_interval_columns()


def coloured(n=1500):
    """Return a table whose hues follow two numbers, with holes in both, and the true hues."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    odds = np.exp(np.column_stack([1.5 * x[:, 0], 1.5 * x[:, 1], np.zeros(n)]))
    hue = np.array([rng.choice(3, p=each / each.sum()) for each in odds])
    names = np.array(["blue", "green", "red"], dtype=object)[hue]
    holed = np.where(rng.random(n) < 0.3, None, names)
    rows = [[a, b, c, c == "red" if c is not None else None] for a, b, c in zip(*x.T, holed, strict=True)]
    return Table.from_arrays(rows, columns=["a", "b", "hue", "is_red"]), hue


def test_probabilities_of_categories_are_calibrated():
    table, hue = coloured()
    filled = fill(table)
    chances = filled.probabilities("hue")
    hole = filled.guessed[:, 2]
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_array_equal(chances[~hole], np.eye(3)[hue[~hole]])
    of_truth = chances[hole, hue[hole]]
    shares = np.bincount(hue[~hole]) / (~hole).sum()
    # The log-loss of the true chances is 0.79, that of the shares 1.10.
    assert -np.log(of_truth).mean() < 0.95 < -np.log(shares[hue[hole]]).mean()
    likeliest = chances[hole].max(axis=1)
    right = chances[hole].argmax(axis=1) == hue[hole]
    for low, high in ((0.3, 0.5), (0.5, 0.7), (0.7, 1.01)):
        at = (low <= likeliest) & (likeliest < high)
        # About 150 cells: a standard error of 0.04.
        assert right[at].mean() == pytest.approx(likeliest[at].mean(), abs=0.12)
    both = filled.probabilities("is_red")
    assert both.shape == (1500, 2)
    np.testing.assert_allclose(both.sum(axis=1), 1)
    with pytest.raises(DataError, match=r"column 'a' holds number values, which have no probabilities"):
        filled.probabilities("a")


def test_probabilities_of_categories_that_nothing_predicts_are_their_shares():
    """Many categories in few rows: the completer follows noise, and its chances alone are overconfident."""
    rng = np.random.default_rng(3)
    codes = rng.choice(4, p=[0.4, 0.3, 0.2, 0.1], size=(150, 12))
    hidden = rng.random(codes.shape) < 0.3
    letters = np.array(list("abcd"), dtype=object)[codes]
    table = Table.from_arrays(np.where(hidden, None, letters), columns=[f"c{j}" for j in range(12)])
    filled, losses = fill(table), []
    for j in range(12):
        at = hidden[:, j]
        shares = np.bincount(codes[~at, j], minlength=4) / (~at).sum()
        of_truth = filled.probabilities(f"c{j}")[at, codes[at, j]]
        losses.append([-np.log(of_truth).mean(), -np.log(shares[codes[at, j]]).mean()])
    ours, of_shares = np.mean(losses, axis=0)
    assert (
        ours < of_shares + 0.02
    )  # 540 cells with a deviation of 0.5: a standard error of 0.02; 0.15 unmixed


def test_numbers_too_large_to_compute_with_are_refused_by_their_names():
    for number in ("1e+31", "1e+160"):
        table = Table.from_arrays(
            [[1.0, 2.0], [float(number), 3.0], [2.0, np.nan]], columns=["dose", "weight"]
        )
        with pytest.raises(DataError, match=rf"row '1', column 'dose': .*{re.escape(number)}.*another unit"):
            fill(table)


@pytest.mark.parametrize(
    ("completer", "got"), [("gaussian", "'gaussian'"), (GaussianCompleter, "the class GaussianCompleter")]
)
def test_what_is_no_completer_is_refused(table, completer, got):
    with pytest.raises(ParameterError, match=rf"such as GaussianCompleter\(\); got {got}"):
        fill(table, completer)
